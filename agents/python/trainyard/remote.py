"""Pools in a daemon: the same object over ZeroMQ (`Messages`) or shared memory (`SharedMemory`)."""

from __future__ import annotations

import ctypes
import struct
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .backend import PATIENCE_MS, Group, Options, aligned, slab_columns
from .client import Access, Connection, Reply, Request
from .daemon import Daemon
from .errors import Error
from .ruleset import Ruleset

#: Copies of one request of a rollout: between requests Ctrl-C leaves the daemon idle.
_ROLLOUT_CHUNK = 256
#: Names of types in the protocol, in the order of the C enum.
_TYPES = ("u8", "i8", "u32", "i32", "f32", "u64")
_ACTION = _lib.COLUMNS.index("action")
_ALIGN = 64
#: TY_SHM_CLOSED of the C enum.
_SHM_CLOSED = 2

Bytes = npt.NDArray[np.uint8]


def _up(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


class Place:
    """Where a pool is: a connection, and the private daemon behind it if there is one."""

    def __init__(self, endpoint: str | None, access: Access) -> None:
        self.daemon = Daemon() if endpoint is None else None
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
        "seed": options.seed,
        "autoreset": options.autoreset,
        "illegal": options.illegal,
        "max_steps": options.max_steps,
        "seats": seats,
        "full": options.full,
        "hash": options.hash,
        "seat_timeout_ms": int(options.seat_timeout * 1000),
        "on_vanish": options.on_vanish,
    }
    return fields


class Remote(ABC):
    """What both doors to a daemon share: everything but the way of rows and actions."""

    shm = False
    groups: list[Group]
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
        self.endpoint = place.connection.endpoint
        self.seats: tuple[int, ...] = tuple(opened["own_seats"])
        # With other members rows come when they come, and some may be others' for a while.
        self._shared = bool(self.invite) or opened["member"] > 0
        self._place = place
        self._connection = place.connection
        self._changing: Request | None = None

    @classmethod
    def open(
        cls, ruleset: Ruleset, options: Options, endpoint: str | None, access: Access
    ) -> Remote:
        """Opens a pool, in a private daemon if no endpoint is named."""
        place = Place(endpoint, access)
        try:
            fields = _open_fields(ruleset, options)
            opened = place.connection.call("open", shm=cls.shm, **fields)
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
        """Takes seats of somebody's pool."""
        place = Place(endpoint, access)
        fields: Reply = {"seats": bytes(seats)} if seats else {}
        try:
            opened = place.connection.call("join", pool=pool, invite=invite, shm=cls.shm, **fields)
            return cls._enter(place, opened, Ruleset(opened["ruleset"], files=files), "leave")
        except BaseException:
            place.leave()
            raise

    @classmethod
    def _enter(cls, place: Place, opened: Reply, ruleset: Ruleset, farewell: str) -> Remote:
        self = cls(place, opened, ruleset)
        self._leave = weakref.finalize(self, place.leave, farewell, self.pool)
        return self

    def close(self) -> None:
        self._leave()

    @abstractmethod
    def send(self, group: int, number: int) -> None: ...

    @abstractmethod
    def recv(self, group: int, number: int) -> int: ...

    def sample(self, group: int, seed: int) -> None:
        self._settle()
        lib.ty_sample_rows(self._slab, group, seed)

    # ---- Calls that change rows: an interrupt must not leave us with old ones

    @abstractmethod
    def _rows_changed(self, reply: Reply) -> None:
        """Takes the rows of a reply that has some."""

    def _change(self, op: str, **fields: Any) -> None:
        self._settle()
        self._changing = self._connection.request(op, self._rows_changed, pool=self.pool, **fields)
        self._settle()

    def _settle(self) -> None:
        if self._changing is not None:
            try:
                self._connection.wait(self._changing)
            except Error:
                self._changing = None
                raise
            self._changing = None

    def _call(self, op: str, **fields: Any) -> Reply:
        self._settle()
        return self._connection.call(op, pool=self.pool, **fields)

    def reset(
        self, which: npt.NDArray[np.bool_] | None, seeds: npt.NDArray[np.uint64] | None
    ) -> None:
        fields: Reply = {}
        if which is not None:
            fields["mask"] = which.tobytes()
        if seeds is not None:
            fields["seeds"] = seeds.tobytes()
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
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        earned = np.empty((len(keys), self.ruleset.players), dtype=np.float32)
        metrics = np.empty((len(keys), len(self.ruleset.metrics)), dtype=np.int32)
        for start in range(0, len(keys), _ROLLOUT_CHUNK):
            part = slice(start, min(start + _ROLLOUT_CHUNK, len(keys)))
            reply = self._call(
                "rollout",
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


def _numbers(values: list[int]) -> bytes:
    return np.array(values, dtype="<u4").tobytes()


def _keys(keys: npt.NDArray[np.uint64] | None) -> Reply:
    return {} if keys is None else {"keys": keys.tobytes()}


# ---- Over ZeroMQ


class _Rows:
    """Where the columns of a group lie in our memory, and how a message fills them."""

    def __init__(self, group: Group, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self.first, self.end = group.first, group.first + len(group)
        self.columns = dict(columns)
        self.flat = {name: column.reshape(-1).view(np.uint8) for name, column in columns.items()}

    def fill(self, name: str, content: memoryview, start: int) -> None:
        """Every row of the column, from row `start` of the content on."""
        flat = self.flat[name]
        size = len(flat)
        at = start * (size // (self.end - self.first))
        np.copyto(flat, np.frombuffer(content, dtype=np.uint8, count=size, offset=at))

    def scatter(self, name: str, content: memoryview, slots: npt.NDArray[np.uint32]) -> None:
        """One row of the content for each of the slots, of which some may be other groups'."""
        column = self.columns[name]
        cells = np.frombuffer(content, dtype=column.dtype).reshape(len(slots), *column.shape[1:])
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
            self._rows.append(_Rows(self.groups[-1], self._writable(slab, index)))

    def _writable(self, slab: Any, group: int) -> dict[str, npt.NDArray[Any]]:
        columns = slab_columns(slab, group, self._memory, self._commands, writeable=True)
        del columns["action"]
        return columns

    def _lay_out_rows(self, slab: Any, opened: Reply) -> tuple[int, list[tuple[bytes, int]]]:
        """Sets the offsets of every column; the size of the rows and the heads of requests."""
        rows_at = commands_at = 0
        heads = []
        for index, group in enumerate(opened["groups"]):
            layout = slab.group[index]
            layout.first, layout.rows = group["first"], group["rows"]
            for column in opened["columns"]:
                if column["name"] not in _lib.COLUMNS:
                    continue
                place = layout.columns[_lib.COLUMNS.index(column["name"])]
                place.type, place.width = _TYPES.index(column["type"]), column["width"]
                place.offset = rows_at
                size = np.dtype(_lib.TYPES[place.type]).itemsize * place.width * layout.rows
                rows_at += _up(size)
            heads.append(_step_head(self.pool, index, layout.rows))
            action = layout.columns[_ACTION]
            action.type, action.width = _TYPES.index("i32"), 1
            action.offset = _up(commands_at + len(heads[-1][0]))
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
                if name in self._sparse:
                    if len(ended):
                        place.scatter(name, reply[name], ended)
                elif slots is None:
                    place.fill(name, reply[name], place.first - start)
                else:
                    place.scatter(name, reply[name], slots)
        count: int = reply["count"]
        return count

    def _rows_changed(self, reply: Reply) -> None:
        if "count" in reply:
            self._take(reply)

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

    def _request(self, group: int) -> Request:
        if self._shared:
            return self._answers(group)
        return Request(self._packers[group], self._take_step)

    def _take_step(self, reply: Reply) -> int:
        self._take(reply)
        return int(self.groups[reply["group"]].illegal.sum()) if "errors" in reply else 0

    # ---- Steps where others play too: rows come one by one

    def _answers(self, group: int) -> Request:
        """The actions of the rows that ask us; others may ask by the time they arrive."""
        rows = self._rows[group]
        at = np.flatnonzero(rows.columns["ready"])
        slots = (at + rows.first).astype("<u4").tobytes()
        actions = self.groups[group].action[at].tobytes()

        def taken(reply: Reply) -> int:
            rows.columns["ready"][at] = False
            return len(reply.get("errors", ()))

        return self._connection.request("send", taken, pool=self.pool, slots=slots, actions=actions)

    def _await_ready(self, group: int) -> None:
        """Waits until a row of the group asks us, or nobody is waited for any more."""
        rows = self.groups[group]
        count = 1
        while count > 0 and not rows.ready.any():
            if self._receiving is None or self._receiving.done:
                self._receiving = self._connection.request("recv", self._take, pool=self.pool)
            count = self._connection.wait(self._receiving)


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
        # The end of the process unmaps them anyway; until then somebody may look.
        weakref.finalize(self, lib.ty_shm_close, self.client).atexit = False

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

    def _wait(self, group: int) -> None:
        """Until something happens, or for a moment."""
        if lib.ty_shm_wait(self._client, group, PATIENCE_MS) == _SHM_CLOSED:
            self._connection.lost("the pool was closed, or the daemon is gone")

    def _await_ready(self, group: int) -> None:
        """Where others play too: waits until a row asks us, or all episodes are over."""
        rows, seen = self.groups[group], self._seen[group]
        while not rows.ready.any() and not (rows.terminated | rows.truncated).all():
            self._wait(group)
        np.copyto(seen, rows.ready)
