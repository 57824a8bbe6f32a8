"""Pools in a daemon: the same object over ZeroMQ (`Messages`) or shared memory (`SharedMemory`)."""

from __future__ import annotations

import ctypes
import struct
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .backend import PATIENCE_MS, Group, Options, aligned, padded, slab_columns
from .client import Access, Connection, Reply, Request
from .daemon import Daemon
from .errors import Error
from .process import Owner
from .ruleset import Ruleset, agent_files

#: Copies of one request of a rollout: between requests Ctrl-C leaves the daemon idle.
_ROLLOUT_CHUNK = 256
#: Names of types in the protocol, in the order of the C enum.
_TYPES = ("u8", "i8", "u32", "i32", "f32", "u64")
_ACTION = _lib.COLUMNS.index("action")
#: What we ask for: everything, with the mask as bits. `full` and `hash` come with the options.
_ASKED = tuple(name for name in _lib.COLUMNS if name not in {"mask", "full", "hash", "action"})
#: TY_SHM_CLOSED of the C enum.
_SHM_CLOSED = 2

Bytes = npt.NDArray[np.uint8]


class Place:
    """Where a pool is: a connection, and the private daemon behind it if there is one."""

    def __init__(
        self, endpoint: str | None, access: Access, files: Mapping[str, bytes] | None = None
    ) -> None:
        self.daemon = Daemon(files) if endpoint is None else None
        gone = self.daemon.gone if self.daemon is not None else lambda: None
        self.connection = Connection(
            self.daemon.endpoint if self.daemon is not None else str(endpoint), access, gone
        )

    def leave(self, farewell: str | None = None, pool: int = 0) -> None:
        """Gives the pool up, and the daemon if it was ours."""
        self.connection.close(farewell, pool=pool)
        if self.daemon is not None:
            self.daemon.stop()


def _open_fields(ruleset: Ruleset, options: Options) -> Reply:
    seats = ["me" if agent is None else agent for agent in options.seats]
    if options.own_chance and ruleset.seats > ruleset.players:
        seats.append("me")
    fields: Reply = {
        "ruleset": ruleset.spec,
        "files": ruleset.files,
        "slots": options.num_envs,
        "groups": options.groups,
        "threads": options.threads,
        "autoreset": options.autoreset,
        "illegal": options.illegal,
        "max_steps": options.max_steps,
        "seats": seats,
        "full": options.full,
        "hash": options.hash,
        "events": options.events,
        "notes": options.notes,
        "seat_timeout_ms": int(options.seat_timeout * 1000),
        "on_vanish": options.on_vanish,
        "reveal_seeds": options.reveal_seeds,
    }
    if options.watch:
        fields |= {"watch": options.watch, "watch_delay": options.watch_delay}
    if options.seed is not None:
        fields["seed"] = options.seed
    if options.key is not None:
        fields["key"] = options.key
    # With nobody else at the table there is nothing to hide: episodes are those of every backend.
    elif "open" not in seats if options.plain_seeds is None else options.plain_seeds:
        fields["plain_seeds"] = True
    return fields


def _hand_over(options: Options) -> tuple[Options, dict[str, bytes]]:
    """Files that agents in the seats are opened with, and seats that name them as a daemon does
    that has them in its folder."""
    files: dict[str, bytes] = {}
    seats: list[str | None] = []
    for seat in options.seats:
        for path, (_, content) in agent_files(seat or "").items():
            name = f"agent{len(files)}"
            files[name] = content
            seat = (seat or "").replace(path, name, 1)
        seats.append(seat)
    return replace(options, seats=tuple(seats)), files


class Remote(ABC):
    """What both doors to a daemon share: everything but the way of rows and actions."""

    shm = False
    groups: list[Group]
    whole: Group | None = None
    #: The columns as the library knows them.
    _slab: Any
    _leave: weakref.finalize[Any, Any]

    def __init__(self, place: Place, opened: Reply, ruleset: Ruleset) -> None:
        if opened["schema_hash"] != ruleset.schema_hash:
            raise Error(
                f"the daemon's {opened['ruleset']} (rules version {opened['rules_version']}, "
                f"Trainyard {place.connection.hello['version']}) is not the one of this package "
                f"(rules version {ruleset.game.rules_version}): install both from the same version"
            )
        self.ruleset = ruleset
        self.pool: int = opened["pool"]
        self.invite: str = opened.get("invite", "")
        self.watch: str = opened.get("watch", "")
        self.key = bytes(opened.get("key", b""))
        self.endpoint = place.connection.endpoint
        self.seats: tuple[int, ...] = tuple(opened["own_seats"])
        # With other members rows come when they come, and some may be others' for a while.
        self._shared = bool(self.invite) or opened["member"] > 0
        self._place = place
        self._connection = place.connection
        self._changing: Request | None = None

    @classmethod
    def open(
        cls,
        ruleset: Ruleset,
        options: Options,
        endpoint: str | None,
        access: Access,
        timeout: float | None,
    ) -> Remote:
        """Opens a pool, in a private daemon if no endpoint is named."""
        files: dict[str, bytes] = {}
        if endpoint is None:
            options, files = _hand_over(options)
        place = Place(endpoint, access, files)
        try:
            fields = _open_fields(ruleset, options)
            if not cls.shm:
                extra = [name for name in ("full", "hash") if fields[name]]
                fields["columns"] = [*_ASKED, *extra]
            opened = place.connection.call("open", shm=cls.shm, **_limit(timeout), **fields)
            if opened["warning"]:
                warnings.warn(opened["warning"], stacklevel=3)
            return cls._enter(place, opened, ruleset, "close")
        except BaseException:
            place.leave()
            raise

    @classmethod
    def join(
        cls,
        endpoint: str,
        pool: int,
        invite: str,
        seats: tuple[int, ...],
        access: Access,
        files: Mapping[str, tuple[str, bytes]] | None,
    ) -> Remote:
        """Takes seats of another client's pool."""
        place = Place(endpoint, access)
        fields: Reply = {"seats": bytes(seats)} if seats else {}
        if not cls.shm:
            fields["columns"] = list(_ASKED)
        try:
            opened = place.connection.call("join", pool=pool, invite=invite, shm=cls.shm, **fields)
            return cls._enter(place, opened, Ruleset(opened["ruleset"], files=files), "leave")
        except BaseException:
            place.leave()
            raise

    @classmethod
    def _enter(cls, place: Place, opened: Reply, ruleset: Ruleset, farewell: str) -> Remote:
        self = cls(place, opened, ruleset)
        self._leave = weakref.finalize(self, Owner().only, place.leave, farewell, self.pool)
        return self

    @property
    def slab(self) -> Any:
        """The columns as the library knows them."""
        return self._slab.contents

    def close(self) -> None:
        self._leave()

    def check(self) -> None:
        self._connection.check()

    @abstractmethod
    def send(self, group: int, number: int) -> None: ...

    @abstractmethod
    def recv(self, group: int, number: int) -> int: ...

    @abstractmethod
    def arrived(self, group: int, number: int) -> bool: ...

    def sample(self, group: int, seed: int) -> None:
        self._settle()
        lib.ty_sample_rows(self._slab, group, seed)

    # ---- Calls that change rows: an interrupt must not leave us with old ones

    @abstractmethod
    def _rows_changed(self, reply: Reply) -> None:
        """Takes the rows of a reply that has some."""

    @abstractmethod
    def _rows_lost(self) -> None:
        """Rows may have changed by something that was given up."""

    def _change(self, op: str, **fields: Any) -> None:
        self._settle()
        self._changing = self._connection.request(op, self._rows_changed, pool=self.pool, **fields)
        self._settle()

    def _settle(self) -> None:
        if self._changing is not None:
            try:
                self._connection.wait(self._changing)
            except Error as error:
                self._changing = None
                if error.code == "timeout":
                    self._rows_lost()
                raise
            self._changing = None

    def _call(self, op: str, **fields: Any) -> Reply:
        self._settle()
        return self._connection.call(op, pool=self.pool, **fields)

    def _call_or_cancel(self, op: str, limit: Reply, **fields: Any) -> Reply:
        """Long work, which the daemon stops if we are interrupted."""
        self._settle()
        request = self._connection.request(op, pool=self.pool, **limit, **fields)
        try:
            reply: Reply = self._connection.wait(request)
        except BaseException:
            self._connection.cancel(request)
            raise
        return reply

    def reset(
        self,
        which: npt.NDArray[np.bool_] | None,
        seeds: npt.NDArray[np.uint64] | None,
        episodes: npt.NDArray[np.uint64] | None,
        timeout: float | None,
    ) -> None:
        fields = _limit(timeout)
        for name, given in (("mask", which), ("seeds", seeds), ("episodes", episodes)):
            if given is not None:
                fields[name] = given.tobytes()
        self._change("reset", **fields)

    # ---- Looking at one slot

    def observe(self, slot: int, seat: int, *, full: bool) -> Bytes:
        reply = self._call("observe", slot=slot, seat=seat, full=full)
        return np.array(reply["full" if full else "obs"], dtype=np.uint8)

    def legal(self, slot: int, seat: int) -> npt.NDArray[np.bool_]:
        reply = self._call("observe", slot=slot, seat=seat)
        return np.array(reply["mask"], dtype=np.uint8).view(np.bool_)

    def text(self, slot: int, seat: int) -> str:
        text: str = self._call("text", slot=slot, seat=seat)["text"]
        return text

    def svg(self, slot: int, seat: int, *, everything: bool) -> str:
        svg: str = self._call("svg", slot=slot, seat=seat, full=everything)["svg"]
        return svg

    def events_json(self, slot: int, seat: int) -> str:
        events: str = self._call("events", slot=slot, seat=seat)["events"]
        return events

    def note(self, slot: int, notes: bytes) -> None:
        raise Error('notes go with messages: open the pool with backend="zmq"')

    def state_json(self, slot: int) -> str:
        state: str = self._call("state", slot=slot)["state"]
        return state

    def state_hash(self, slot: int) -> int:
        for group in reversed(self.groups):
            if slot >= group.first:
                if not hasattr(group, "hash"):
                    raise Error(
                        "state_hash: a daemon tells hashes in a column only; open the pool with "
                        "hash=True"
                    )
                return int(group.hash[slot - group.first])
        raise AssertionError

    # ---- Snapshots and rollouts

    def save(self, slot: int) -> bytes:
        numbers = bytes(self._call("snapshot", slots=_numbers([slot]))["snapshots"])
        try:
            number = int.from_bytes(numbers, "little")
            return bytes(self._call("export", snapshot=number)["data"])
        finally:
            self._call("drop", snapshots=numbers)

    def restore(
        self,
        snapshot: bytes,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
        *,
        foreign: bool,
    ) -> None:
        # What comes in from outside is foreign to a daemon, also if it came from there.
        number = self._call("import", data=snapshot)["snapshot"]
        try:
            fields = _keys(keys)
            numbers = _numbers([number])
            self._change("restore", snapshots=numbers, slots=slots.tobytes(), seat=seat, **fields)
        finally:
            self._call("drop", snapshots=_numbers([number]))

    def fork(
        self,
        slot: int,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
    ) -> None:
        self._change("fork", slot=slot, slots=slots.tobytes(), seat=seat, **_keys(keys))

    def rollout(
        self,
        slot: int,
        agent: str,
        keys: npt.NDArray[np.uint64],
        seat: int,
        max_steps: int,
        timeout: float | None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        deadline = None if timeout is None else monotonic() + timeout
        earned = np.empty((len(keys), self.ruleset.players), dtype=np.float32)
        metrics = np.empty((len(keys), len(self.ruleset.metrics)), dtype=np.int32)
        for start in range(0, len(keys), _ROLLOUT_CHUNK):
            part = slice(start, min(start + _ROLLOUT_CHUNK, len(keys)))
            reply = self._call_or_cancel(
                "rollout",
                _limit(None if deadline is None else deadline - monotonic()),
                slot=slot,
                agent=agent,
                count=part.stop - part.start,
                keys=keys[part].tobytes(),
                seat=seat,
                max_steps=max_steps,
            )
            earned[part].ravel()[:] = np.frombuffer(reply["earned"], dtype="<f4")
            metrics[part].ravel()[:] = np.frombuffer(reply["metrics"], dtype="<i4")
        return earned, metrics


def _limit(seconds: float | None) -> Reply:
    """The field for a request that is to be given up after so many seconds."""
    return {} if seconds is None else {"timeout_ms": max(1, int(seconds * 1000))}


def _numbers(values: list[int]) -> bytes:
    return np.array(values, dtype="<u4").tobytes()


def _keys(keys: npt.NDArray[np.uint64] | None) -> Reply:
    return {} if keys is None else {"keys": keys.tobytes()}


# ---- Over ZeroMQ


def _unpack(content: memoryview, start: int, out: Bytes) -> None:
    """Writes the masks that lie as bits in a message, from row `start` of it on."""
    rows, width = out.shape
    bits = np.frombuffer(content, dtype=np.uint8, offset=start * ((width + 7) // 8))
    lib.ty_mask_unpack(bits.ctypes.data, width, rows, out.ctypes.data)


class _Rows:
    """Where the columns of a group lie in our memory, and how a message fills them."""

    def __init__(self, group: Group, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self.first, self.end = group.first, group.first + len(group)
        self.columns = dict(columns)
        self.flat = {name: column.reshape(-1).view(np.uint8) for name, column in columns.items()}

    def fill(self, name: str, content: memoryview, start: int) -> None:
        """Every row of the column, from row `start` of the content on."""
        if name == "mask":
            _unpack(content, start, self.columns[name].view(np.uint8))
            return
        flat = self.flat[name]
        size = len(flat)
        at = start * (size // (self.end - self.first))
        np.copyto(flat, np.frombuffer(content, dtype=np.uint8, count=size, offset=at))

    def scatter(self, name: str, content: memoryview, slots: npt.NDArray[np.uint32]) -> None:
        """One row of the content for each of the slots, of which some may be other groups'."""
        column = self.columns[name]
        if name == "mask":
            cells = np.empty((len(slots), column.shape[1]), dtype=column.dtype)
            _unpack(content, 0, cells.view(np.uint8))
        else:
            shape = (len(slots), *column.shape[1:])
            cells = np.frombuffer(content, dtype=column.dtype).reshape(shape)
        ours = (slots >= self.first) & (slots < self.end)
        if ours.all():
            column[slots - self.first] = cells
        elif ours.any():
            column[slots[ours] - self.first] = cells[ours]


class Messages(Remote):
    """A pool over ZeroMQ. Each reply is copied once, from the message into our columns.

    The action column of a group is a part of the request that steps it, so that sending it costs
    no packing.
    """

    def __init__(self, place: Place, opened: Reply, ruleset: Ruleset) -> None:
        super().__init__(place, opened, ruleset)
        self._sparse = {column["name"] for column in opened["columns"] if column["ended"]}
        self._lay_out(opened)
        # The last step of each group: its number and its request.
        self._flying = [(0, Request(bytes))] * len(self.groups)
        self._receiving: Request | None = None
        self._notes: dict[int, bytes] = {}
        place.connection.wait(
            place.connection.request("recv", self._take, pool=self.pool, min_rows=0)
        )

    # ---- Memory

    def _lay_out(self, opened: Reply) -> None:
        slab = _lib.Slab(groups=len(opened["groups"]), seat_count=len(self.seats))
        slab.seats[: len(self.seats)] = self.seats
        rows_size, heads = self._lay_out_rows(slab, opened)
        self._memory = aligned(rows_size)
        self._commands = aligned(slab.commands_size)
        slab.rows_size = rows_size
        slab.rows = self._memory.ctypes.data
        slab.commands = self._commands.ctypes.data
        self._slab = ctypes.pointer(slab)
        self._packers: list[Callable[[int], memoryview]] = []
        self.groups = []
        self._rows: list[_Rows] = []
        for index, (head, number_at) in enumerate(heads):
            layout = slab.group[index]
            action = layout.columns[_ACTION].offset
            message = self._commands[action - len(head) : action + 4 * layout.rows]
            message[: len(head)] = np.frombuffer(head, dtype=np.uint8)
            self._packers.append(partial(_stamp, message.data, number_at))
            columns = slab_columns(slab, index, self._memory, self._commands)
            self.groups.append(Group(layout.first, columns))
            del columns["action"]
            self._rows.append(_Rows(self.groups[-1], columns))

    def _lay_out_rows(self, slab: Any, opened: Reply) -> tuple[int, list[tuple[bytes, int]]]:
        """Sets the offsets of every column; the size of the rows and the heads of requests."""
        rows_at = commands_at = 0
        heads = []
        for index, group in enumerate(opened["groups"]):
            layout = slab.group[index]
            layout.first, layout.rows = group["first"], group["rows"]
            for column in opened["columns"]:
                name, width = column["name"], column["width"]
                if name not in _lib.COLUMNS:
                    continue
                if name == "mask_bits":  # that we unpack
                    name, width = "mask", opened["action_count"]
                place = layout.columns[_lib.COLUMNS.index(name)]
                place.type, place.width = _TYPES.index(column["type"]), width
                place.offset = rows_at
                size = np.dtype(_lib.TYPES[place.type]).itemsize * place.width * layout.rows
                rows_at += padded(size)
            heads.append(_step_head(self.pool, index, layout.rows))
            action = layout.columns[_ACTION]
            action.type, action.width = _TYPES.index("i32"), 1
            action.offset = padded(commands_at + len(heads[-1][0]))
            commands_at = action.offset + 4 * layout.rows
        slab.commands_size = commands_at
        return rows_at, heads

    # ---- Rows

    def _take(self, reply: Reply) -> int:
        """Copies the rows of a reply; says how many it has."""
        slots = np.frombuffer(reply["slots"], dtype="<u4") if "slots" in reply else None
        ended = np.frombuffer(reply["ended"], dtype="<u4")
        rows = self._rows
        start = 0
        if slots is not None:
            ended = slots[ended]
        elif "group" in reply:
            start = rows[reply["group"]].first
            ended = ended + np.uint32(start)
            rows = rows[reply["group"] : reply["group"] + 1]
        for place in rows:
            for name in place.columns:
                content = reply["mask_bits" if name == "mask" else name]
                if name in self._sparse:
                    if len(ended):
                        place.scatter(name, content, ended)
                elif slots is None:
                    place.fill(name, content, place.first - start)
                else:
                    place.scatter(name, content, slots)
        count: int = reply["count"]
        return count

    def _rows_changed(self, reply: Reply) -> None:
        if "count" in reply:
            self._take(reply)

    def _rows_lost(self) -> None:
        """Those that ask us are sent again; the others ask nothing for now."""
        for rows in self._rows:
            rows.columns["ready"][:] = False
        self._connection.wait(
            self._connection.request("recv", self._take, pool=self.pool, min_rows=0)
        )

    # ---- Steps

    def send(self, group: int, number: int) -> None:
        self._settle()
        self._flying[group] = number, self._request(group)
        self._connection.post(self._flying[group][1])

    def recv(self, group: int, number: int) -> int:
        if self._flying[group][0] != number:
            self.send(group, number)  # an interrupt came before
        refused: int = self._connection.wait(self._flying[group][1])
        if self._shared:
            self._await_ready(group)
        return refused

    def arrived(self, group: int, number: int) -> bool:
        if self._flying[group][0] != number:
            self.send(group, number)  # an interrupt came before
        return self._connection.arrived(self._flying[group][1])

    def note(self, slot: int, notes: bytes) -> None:
        self._notes[slot] = notes

    def _told(self, first: int, rows: int) -> Reply:
        """What was told of these slots, as a field of a request."""
        slots = [slot for slot in self._notes if first <= slot < first + rows]
        told = b"".join(_entries(slot, self._notes.pop(slot)) for slot in slots)
        return {"notes": told} if told else {}

    def _request(self, group: int) -> Request:
        rows = self._rows[group]
        told = self._told(rows.first, len(self.groups[group].action)) if self._notes else {}
        if self._shared:
            return self._answers(group, told)
        if not told:
            return Request(self._packers[group], self._take_step)
        actions = self.groups[group].action.astype("<i4").tobytes()
        return self._connection.request(
            "step", self._take_step, pool=self.pool, group=group, actions=actions, **told
        )

    def _take_step(self, reply: Reply) -> int:
        self._take(reply)
        return int(self.groups[reply["group"]].illegal.sum()) if "errors" in reply else 0

    # ---- Steps where others play too: rows come one by one

    def _answers(self, group: int, told: Reply) -> Request:
        """The actions of the rows that ask us; others may ask by the time they arrive."""
        rows = self._rows[group]
        at = np.flatnonzero(rows.columns["ready"])
        slots = (at + rows.first).astype("<u4").tobytes()
        actions = self.groups[group].action[at].tobytes()

        def taken(reply: Reply) -> int:
            rows.columns["ready"][at] = False
            return len(reply.get("errors", ()))

        return self._connection.request(
            "send", taken, pool=self.pool, slots=slots, actions=actions, **told
        )

    def _await_ready(self, group: int) -> None:
        """Waits until a row of the group asks us, or nobody is waited for any more."""
        rows = self.groups[group]
        count = 1
        while count > 0 and not rows.ready.any():
            if self._receiving is None or self._receiving.done:
                self._receiving = self._connection.request("recv", self._take, pool=self.pool)
            count = self._connection.wait(self._receiving)


def _entries(slot: int, notes: bytes) -> bytes:
    """Notes of a slot as they are sent: 16 bytes each, behind the slot's number."""
    head = struct.pack("<I", slot)
    return b"".join(head + notes[at : at + 16] for at in range(0, len(notes), 16))


def _stamp(message: memoryview, number_at: int, number: int) -> memoryview:
    struct.pack_into(">Q", message, number_at, number)
    return message


def _step_head(pool: int, group: int, rows: int) -> tuple[bytes, int]:
    """The bytes of a step's request before its actions, and where its number stands in them."""
    pack = msgpack.packb
    head = b"\x85" + pack("op") + pack("step") + pack("id") + b"\xcf"
    number_at = len(head)
    head += bytes(8) + pack("pool") + pack(pool) + pack("group") + pack(group)
    return head + pack("actions") + b"\xc6" + struct.pack(">I", 4 * rows), number_at


# ---- Through shared memory


class _Mapped:
    """A member's segments in our memory. They stay as long as an array looks at them."""

    def __init__(self, connection: Connection, opened: Reply) -> None:
        address = _lib.ShmAddress(
            path=connection.hello["shm"].encode(),
            token=(ctypes.c_uint8 * 16)(*opened["shm_token"]),
            pool=opened["pool"],
            member=opened["member"],
        )
        client = ctypes.c_void_p()
        _lib.check(lib.ty_shm_connect(ctypes.byref(address), ctypes.byref(client)))
        assert client.value is not None
        self.client: int = client.value
        # The end of the process unmaps them anyway; until then views may be read.
        weakref.finalize(self, Owner().only, lib.ty_shm_close, self.client).atexit = False

    def array(self, address: int, size: int, *, writeable: bool) -> Bytes:
        memory = (ctypes.c_uint8 * size).from_address(address)
        memory.owner = self  # type: ignore[attr-defined]
        view = memoryview(memory)
        return np.frombuffer(view if writeable else view.toreadonly(), dtype=np.uint8)


class SharedMemory(Remote):
    """A pool whose rows and actions lie in memory that we share with the daemon: nothing is copied,
    and while both sides are awake a step costs no system call. Everything else goes over ZeroMQ."""

    shm = True

    def __init__(self, place: Place, opened: Reply, ruleset: Ruleset) -> None:
        super().__init__(place, opened, ruleset)
        mapped = self._mapped = _Mapped(place.connection, opened)
        self._client = mapped.client
        self._slab = lib.ty_shm_slab(self._client)
        slab = self._slab.contents
        rows = mapped.array(slab.rows, slab.rows_size, writeable=False)
        commands = mapped.array(slab.commands, slab.commands_size, writeable=True)
        self.groups = [
            Group(slab.group[index].first, slab_columns(slab, index, rows, commands))
            for index in range(slab.groups)
        ]
        # The rows that we have seen ask, which is all that we answer where others play too.
        self._seen = [group.ready.copy() for group in self.groups]
        # The numbers of commands count on from here.
        self._base = [self._news(group).given for group in range(slab.groups)]

    def _news(self, group: int) -> Any:
        return lib.ty_shm_news(self._client, group)

    def _rows_changed(self, reply: Reply) -> None:
        """They are in place already."""
        self._rows_lost()

    def _rows_lost(self) -> None:
        for seen, group in zip(self._seen, self.groups, strict=True):
            np.copyto(seen, group.ready)

    def _command(self, group: int, number: int) -> int:
        return int(self._base[group] + number) % (1 << 32)

    def send(self, group: int, number: int) -> None:
        self._settle()
        if self._news(group).given != self._command(group, number):
            which = self._seen[group].ctypes.data if self._shared else None
            lib.ty_shm_submit(self._client, group, which)

    def recv(self, group: int, number: int) -> int:
        self.send(group, number)  # if an interrupt came before
        while (news := self._news(group)).served != self._command(group, number):
            self._wait(group)
        if self._shared:
            self._await_ready(group)
        illegal: int = news.illegal
        return illegal

    def arrived(self, group: int, number: int) -> bool:
        self.send(group, number)  # if an interrupt came before
        command = self._command(group, number)
        if self._news(group).served != command:
            self._wait(group, 0)
        return bool(self._news(group).served == command)

    def _wait(self, group: int, patience_ms: int = PATIENCE_MS) -> None:
        """Until something happens, or for a moment."""
        if lib.ty_shm_wait(self._client, group, patience_ms) == _SHM_CLOSED:
            self._connection.lost("the pool was closed, or the daemon is gone")

    def _await_ready(self, group: int) -> None:
        """Where others play too: waits until a row asks us, or all episodes are over."""
        rows, seen = self.groups[group], self._seen[group]
        while not rows.ready.any() and not (rows.terminated | rows.truncated).all():
            self._wait(group)
        np.copyto(seen, rows.ready)
