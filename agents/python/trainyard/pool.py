"""The native object: many episodes of one ruleset stepped together."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .backend import Backend, Group, Options, Rows, seat_agents
from .errors import DaemonGone, Error, IllegalAction
from .inproc import InProcess
from .process import Owner
from .ruleset import Ruleset

if TYPE_CHECKING:
    from .remote import Remote

#: How long we sleep at most before we ask again whether a group is there, in seconds.
_PAUSE = 0.001
#: What is told of one action.
_NOTE = np.dtype([("action", "<u4"), ("probability", "<f4"), ("value", "<f4"), ("visits", "<f4")])


def make(
    game: str,
    *,
    num_envs: int = 1,
    seed: int | None = None,
    backend: str = "inproc",
    endpoint: str | None = None,
    endpoints: Sequence[str] | None = None,
    groups: int = 1,
    threads: int = 1,
    autoreset: str | None = None,
    illegal: str = "error",
    max_steps: int = 0,
    seats: Sequence[str | None] = (),
    full: bool = False,
    hash: bool = False,
    events: bool = False,
    notes: bool = False,
    own_chance: bool = False,
    seat_timeout: float = 0.0,
    on_vanish: str = "truncate",
    plain_seeds: bool | None = None,
    reveal_seeds: bool = False,
    watch: str | int | None = None,
    watch_delay: int = 0,
    key: bytes | str | None = None,
    timeout: float | None = None,
    token: str | Path | None = None,
    keys: str | Path | None = None,
    server_key: str | Path | None = None,
    **config: Any,
) -> Pool:
    """Opens a pool of `num_envs` episodes of a game; every other keyword is a setting of the game.

    >>> pool = trainyard.make("convoi", num_envs=1024, board="europe", players=2, seed=0)
    >>> while pool.episode.min() == 0:
    ...     pool.step(policy(pool.obs, pool.mask))

    backend     where the pool is: "inproc", in this process; "shm", in a daemon, its rows through
                shared memory; "zmq", in a daemon, its rows in messages
    endpoint    of the daemon, "ipc:///path" or "tcp://host:port"; None: a private one of this pool
    seed        slot i has seed + i, from 0 on if it is None; each episode's own seed is in
                `pool.seed`. Pools with open seats: see `plain_seeds`
    endpoints   of several daemons: the slots are shared out among them and play the same episodes
                as in one pool. When a daemon is gone, its slots go on in the others, from where
                they were. Steps copy their rows; `pool.obs` and the like are the rows of all slots
    groups      parts that are stepped on their own, see `Pool.send`. With `endpoints` 1, for all
                daemons together, or a multiple of their number: then none waits for another
    threads     that step the pool
    autoreset   "same_step" (None): the new episode begins at once, the row with `terminated` is its
                first one and asks for an action, and the ending is in the final columns;
                "next_step" (None if seats are open): the terminal row stands for one step, in which
                any action is taken for an answer; its mask is all False, so do not sample from it;
                "disabled": call `reset`
    illegal     what an action that the mask forbids does: "error", "noop", "random_legal", "lose"
    max_steps   decisions after which an episode is truncated; 0: never
    seats       per player the name of a built-in agent, None for yours, or "open" for
                others to join (`trainyard.join`): [None, "expert"]
    full, hash  with the columns of privileged rows and of state hashes
    events      what happens is kept for `Pool.events` and `Pool.text`; steps take longer
    own_chance  you play the chance seat, if the ruleset has one

    For daemons only:

    notes         what members and built-in agents tell of their choices goes into the daemon's log
                  (`Pool.note`)
    seat_timeout  seconds that others may take for an action; 0: unlimited
    on_vanish     for members that are gone: "truncate" their episodes, or an agent's name
    plain_seeds   None: unless seats are open. Without plain seeds all come from a secret key, which
                  `seed` stands for if it is given, and the daemon draws otherwise; plain ones are
                  those of every backend, but a guest can compute or find them
    reveal_seeds  guests hear the seeds of episodes that are over
    watch         others may watch (`Pool.watching`) as "public" or through the eyes of a seat, by
                  its number; None: nobody may
    watch_delay   decisions that they are behind, until the episode is over
    key           the secret key itself, 16 bytes or 32 hexadecimal digits: a pool that is opened
                  with another's `pool.key` plays the same episodes
    timeout       seconds after which opening is given up, with an Error whose code is "timeout";
                  it takes long where agents that search play before your first row
    token         a file with the daemon's secret, for tcp on this machine
    keys, server_key  your .secret file and the daemon's .pub file (`trainyard keygen`), for tcp
    """
    ruleset = Ruleset(game, **config)
    options = Options(
        num_envs=num_envs,
        seed=seed,
        groups=groups,
        threads=threads,
        autoreset=autoreset or ("next_step" if "open" in seats else "same_step"),
        illegal=illegal,
        max_steps=max_steps,
        seats=seat_agents(ruleset, seats),
        full=full,
        hash=hash,
        events=events,
        notes=notes,
        own_chance=own_chance,
        seat_timeout=seat_timeout,
        on_vanish=on_vanish,
        plain_seeds=plain_seeds,
        reveal_seeds=reveal_seeds,
        watch="" if watch is None else str(watch),
        watch_delay=watch_delay,
        key=_key(key),
    )
    if backend != "inproc":
        from .client import Access

        access = Access(token, keys, server_key)
        door = _door(backend)
        if endpoints is None:
            remote = door.open(ruleset, options, endpoint, access, _seconds(timeout))
            return Pool(ruleset, options, remote)
        if endpoint is not None:
            raise Error("endpoint, endpoints: give one of them")
        from .shards import Shards

        shards = Shards(door, ruleset, options, endpoints, access, _seconds(timeout))
        return Pool(ruleset, options, shards)
    if (endpoint, endpoints, key, timeout, token, keys, server_key) != (None,) * 7:
        names = "endpoint, endpoints, key, timeout, token, keys, server_key"
        raise Error(f'{names}: are for backend="shm" or "zmq"')
    if options.watch:
        raise Error('watch: is for backend="shm" or "zmq"; others cannot see into this process')
    return Pool(ruleset, options, InProcess(ruleset, options))


def join(
    endpoint: str,
    pool: int,
    invite: str,
    *,
    seats: Sequence[int] = (),
    backend: str = "zmq",
    token: str | Path | None = None,
    keys: str | Path | None = None,
    server_key: str | Path | None = None,
    files: Mapping[str, tuple[str, bytes]] | None = None,
) -> Pool:
    """Takes open seats of another client's pool: all of them, or those that `seats` names.

    The pool that is returned has the rows of these seats only. A slot whose row is not `ready`
    waits for another member; `step` acts in those that are, and returns when one is ready again.

    >>> hosted = trainyard.make("convoi", seats=[None, "open"], backend="zmq")
    >>> player = trainyard.join(*hosted.invitation)     # from any process, with any language
    >>> player.step(player.sample())

    files       boards of the pool that are not built in, as in `trainyard.Ruleset`
    """
    from .client import Access

    access = Access(token, keys, server_key)
    remote = _door(backend).join(endpoint, pool, invite, tuple(seats), access, files)
    slots = sum(len(group) for group in remote.groups)
    return Pool(remote.ruleset, Options(num_envs=slots, groups=len(remote.groups)), remote)


def watch(
    endpoint: str,
    pool: int,
    token: str,
    slot: int = 0,
    *,
    access_token: str | Path | None = None,
    keys: str | Path | None = None,
    server_key: str | Path | None = None,
) -> Drawing:
    """What a spectator sees of a slot of another client's pool, as its director allows.

    >>> hosted = trainyard.make("express", backend="zmq", watch="public")
    >>> trainyard.watch(*hosted.watching)     # from any process
    """
    from .client import Access, Connection

    connection = Connection(endpoint, Access(access_token, keys, server_key))
    try:
        return Drawing(connection.call("watch", pool=pool, token=token, slot=slot)["svg"])
    finally:
        connection.close()


def _key(key: bytes | str | None) -> bytes | None:
    if isinstance(key, str):
        try:
            key = bytes.fromhex(key)
        except ValueError:
            raise Error(f"key={key!r}: 32 hexadecimal digits expected") from None
    if key is not None and len(key) != 16:
        raise Error(f"key: has {len(key)} bytes; wanted are 16")
    return key


def _seconds(timeout: float | None) -> float | None:
    if timeout is not None and not 0 < timeout <= 86400:
        raise Error(f"timeout={timeout}: allowed is more than 0 and up to 86400 seconds")
    return timeout


def _door(backend: str) -> type[Remote]:
    # Pools of this process need neither ZeroMQ nor MessagePack.
    from .remote import Messages, SharedMemory

    doors: dict[str, type[Remote]] = {"shm": SharedMemory, "zmq": Messages}
    if backend not in doors:
        raise Error(f"backend={backend!r}: allowed is inproc, {', '.join(doors)}")
    return doors[backend]


class Events(list[dict[str, Any]]):
    """What happened, the oldest first; `missed` events before these were not kept."""

    def __init__(self, events: list[dict[str, Any]], missed: int) -> None:
        super().__init__(events)
        self.missed = missed


class Drawing(str):
    """An SVG document, which notebooks show."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return self

    def rgb(self, width: int = 1200) -> npt.NDArray[np.uint8]:
        """The drawing as pixels, height x width x 3. Needs the extra `trainyard-env[render]`.

        >>> image = pool.svg().rgb()
        """
        try:
            import resvg_py
            from PIL import Image
        except ImportError as missing:
            raise Error(
                "pixels need resvg-py and pillow: pip install trainyard-env[render]"
            ) from missing
        png = bytes(resvg_py.svg_to_bytes(svg_string=str(self), width=width))
        return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


class Pool(Rows):
    """Slots that play episodes of one ruleset, seen through columns of NumPy arrays.

    The columns (`obs`, `mask`, ...; see `Rows`) are views on the memory that steps write: they show
    the present, and are valid until the next step of their group. Copy what you want to keep. A
    pool with one group has the columns itself; with several they are in `pool.groups[g]`. Nothing
    is allocated per step.

    Close a pool with `close`, with a `with` statement, or by forgetting it. A pool belongs to the
    process that opened it: a forked child may read its columns, and every call there raises.
    """

    def __init__(self, ruleset: Ruleset, options: Options, backend: Backend) -> None:
        self.ruleset = ruleset
        self.options = options
        self.backend = backend
        #: The seats that are ours, in the order of the columns `earned` and `final_obs`.
        self.seats: tuple[int, ...] = backend.seats
        self.groups: list[Group] = backend.groups
        self.num_envs: int = options.num_envs
        # Slot seeds wrap around as they do in C.
        self._slot_seeds = np.arange(options.num_envs, dtype=np.uint64) + np.uint64(
            options.first_seed
        )
        # Per group the number of its next step, and of the one in flight; 0: none.
        self._next = [1] * len(self.groups)
        self._in_flight = [0] * len(self.groups)
        self._closed = False
        self._owner = Owner()
        self._last_group = -1
        whole = self.groups[0] if len(self.groups) == 1 else backend.whole
        if whole is not None:
            self.__dict__.update(whole.__dict__)

    def __getattr__(self, name: str) -> Any:
        if name in Rows.__annotations__ and "groups" in self.__dict__:
            if hasattr(self.groups[0], name):
                raise AttributeError(
                    f"this pool has {len(self.groups)} groups: use pool.groups[g].{name}"
                )
            raise AttributeError(f"this pool has no column '{name}': make(..., {name}=True)")
        raise AttributeError(f"a pool has no '{name}'")

    def __repr__(self) -> str:
        return f"<Pool of {self.num_envs} x {self.ruleset.spec}>"

    def __len__(self) -> int:
        return self.num_envs

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives threads and memory back. Arrays that you hold stay readable."""
        self._closed = True
        self._owner.only(self.backend.close)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickling and copying keep every episode where it is, on the in-process backend."""
        self._be_home()
        if not isinstance(self.backend, InProcess):
            warnings.warn(
                'a pool in a daemon is pickled and copied as one in process (backend="inproc"), '
                "with the same episodes at the same point and without the daemon",
                stacklevel=2,
            )
        snapshots = [self.backend.save(slot) for slot in range(self.num_envs)]
        return _rebuild, (self.ruleset, self.options, self._slot_seeds.copy(), snapshots)

    @property
    def invitation(self) -> tuple[str, int, str]:
        """What others need to join: endpoint, number of the pool, and the invite.

        >>> player = trainyard.join(*pool.invitation)
        """
        invite = getattr(self.backend, "invite", "")
        if not invite:
            raise Error('nobody can join: make(..., seats=[None, "open"], backend="zmq" or "shm")')
        return self.backend.endpoint, self.backend.pool, invite  # type: ignore[attr-defined]

    @property
    def watching(self) -> tuple[str, int, str]:
        """What others need to watch: endpoint, number of the pool, and the token.

        >>> drawing = trainyard.watch(*pool.watching)     # or on the pages of `trainyard serve`
        """
        token = getattr(self.backend, "watch", "")
        if not token:
            raise Error('nobody may watch: make(..., watch="public", backend="zmq" or "shm")')
        return self.backend.endpoint, self.backend.pool, token  # type: ignore[attr-defined]

    @property
    def key(self) -> bytes:
        """The key from which all seeds come, with which the pool can be opened again; b"" where
        seeds are plain, and for guests."""
        key: bytes = getattr(self.backend, "key", b"")
        return key

    def _be_usable(self) -> None:
        """Every call begins here: of the right process, with a pool that is open and not lost."""
        self._owner.check()
        if self._closed:
            raise Error("the pool is closed")
        self.backend.check()

    def _be_home(self) -> None:
        self._be_usable()
        if any(self._in_flight):
            group = next(g for g, number in enumerate(self._in_flight) if number)
            raise Error(f"group {group} is in flight: recv({group}) first")

    def _slot(self, slot: int) -> int:
        self._be_home()
        if not -self.num_envs <= slot < self.num_envs:
            raise Error(f"slot {slot}: the pool has {self.num_envs}")
        return int(slot) % self.num_envs

    def _place(self, slot: int) -> tuple[Group, int]:
        slot = self._slot(slot)
        for group in reversed(self.groups):
            if slot >= group.first:
                return group, slot - group.first
        raise AssertionError

    def _acting_seat(self, slot: int, seat: int | None) -> int:
        if seat is None:
            group, row = self._place(slot)
            return int(group.seat[row])
        if not 0 <= seat < self.ruleset.seats:
            raise Error(f"seat {seat}: there are {self.ruleset.seats}")
        return seat

    # ---- Stepping

    def reset(
        self,
        *,
        seed: int | None = None,
        seeds: npt.ArrayLike | None = None,
        episodes: npt.ArrayLike | None = None,
        which: npt.ArrayLike | None = None,
        timeout: float | None = None,
    ) -> Pool:
        """Begins new episodes, in all slots or in those that `which` (bool [N]) names.

        With `seed`, slot i gets seed + i for its own from now on; with `seeds`, seeds[i]. The
        episodes are the next ones of their slots, or 0 with new seeds, or `episodes`: so a run goes
        on where another was left.

        >>> pool.reset(seed=0, episodes=last)     # `last` is a copy of the other's pool.episode

        After `timeout` seconds it gives up, with an Error whose code is "timeout": some slots have
        new episodes then, and others go on with the old ones.
        """
        self._be_home()
        mask = None
        if which is not None:
            mask = np.ascontiguousarray(which, dtype=np.bool_)
            if mask.shape != (self.num_envs,):
                raise Error(f"which: bool [{self.num_envs}] expected, not {mask.shape}")
        given = None
        if seed is not None:
            if not 0 <= seed < 1 << 64:
                raise Error(f"seed={seed}: allowed is 0..2^64-1")
            given = np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed)
        elif seeds is not None:
            given = self._per_slot("seeds", seeds)
        numbers = None if episodes is None else self._per_slot("episodes", episodes)
        self.backend.reset(mask, given, numbers, _seconds(timeout))
        if given is not None:
            np.copyto(self._slot_seeds, given, where=True if mask is None else mask)
        return self

    def _per_slot(self, name: str, given: npt.ArrayLike) -> npt.NDArray[np.uint64]:
        numbers = np.ascontiguousarray(given, dtype=np.uint64)
        if numbers.shape != (self.num_envs,):
            raise Error(f"{name}: uint64 [{self.num_envs}] expected, not {numbers.shape}")
        return numbers

    def step(self, actions: npt.ArrayLike | None = None, group: int = 0) -> Rows:
        """Takes one action per slot of the group and plays on to the next question of each.

        >>> rows = pool.step(actions)           # an integer array
        >>> pool.action[:] = actions; pool.step()   # the same
        """
        self.send(group, actions)
        return self.recv(group)

    def send(self, group: int = 0, actions: npt.ArrayLike | None = None) -> None:
        """Begins a step of a group and returns at once; `recv` has its rows.

        >>> pool.send(0)
        >>> while True:
        ...     think(pool.groups[1]); pool.send(1); pool.recv(0)
        ...     think(pool.groups[0]); pool.send(0); pool.recv(1)
        """
        self._be_usable()
        if not 0 <= group < len(self.groups):
            raise Error(f"group {group}: there are {len(self.groups)}")
        if self._in_flight[group]:
            raise Error(f"group {group} is in flight already: recv({group}) first")
        if actions is not None:
            self._take(self.groups[group].action, actions)
        number = self._in_flight[group] = self._next[group]
        try:
            self.backend.send(group, number)
        except DaemonGone:
            self._in_flight = [0] * len(self.groups)
            raise

    @staticmethod
    def _take(column: npt.NDArray[np.int32], actions: npt.ArrayLike) -> None:
        if actions is column:
            return
        array = np.asarray(actions)
        if array.shape != column.shape or array.dtype.kind not in "iu":
            raise Error(
                f"actions: integers {column.shape} expected, not {array.dtype} {array.shape}"
            )
        np.copyto(column, array, casting="unsafe")

    def recv(self, group: int = 0) -> Rows:
        """Waits for the step of a group that was sent. Its columns are what is returned.

        After Ctrl-C a group may still be in flight: call `recv` again.
        """
        self._be_usable()
        if not 0 <= group < len(self.groups) or not self._in_flight[group]:
            raise Error(f"group {group} is not in flight: send({group}) first")
        number = self._in_flight[group]
        try:
            refused = self.backend.recv(group, number)
        except DaemonGone:
            self._in_flight = [0] * len(self.groups)
            raise
        self._next[group] = number + 1
        self._in_flight[group] = 0
        rows = self.groups[group]
        if refused:
            self._refuse(rows)
        return rows

    def recv_any(self) -> int:
        """Waits until a group that was sent is there, whichever is first, and says which: a slow
        group, or a slow machine, holds up no other.

        >>> for group in range(len(pool.groups)):
        ...     pool.send(group)
        >>> while True:
        ...     group = pool.recv_any()
        ...     think(pool.groups[group]); pool.send(group)
        """
        self._be_usable()
        if not any(self._in_flight):
            raise Error("no group is in flight: send one first")
        pause = 0.0
        while (group := self._arrived()) is None:
            sleep(pause)
            pause = min(pause + _PAUSE / 50, _PAUSE)
        self._last_group = group
        self.recv(group)
        return group

    def _arrived(self) -> int | None:
        """A group that is there; every one has its turn."""
        count = len(self.groups)
        for group in ((self._last_group + 1 + i) % count for i in range(count)):
            number = self._in_flight[group]
            try:
                if number and self.backend.arrived(group, number):
                    return group
            except DaemonGone:
                self._in_flight = [0] * count
                raise
        return None

    def _refuse(self, rows: Group) -> None:
        at = np.flatnonzero(rows.illegal)
        slots = [int(row) + rows.first for row in at]
        action = int(rows.action[at[0]])
        known = 0 <= action < self.ruleset.action_count
        name = f" ({self.ruleset.action_names[action]})" if known else ""
        raise IllegalAction(
            f"action {action}{name} is not legal in slot {slots[0]}"
            + (f", and {len(slots) - 1} more slots refused theirs" if len(slots) > 1 else "")
            + "; nothing changed there. Choose where `mask` is True, or make the pool with "
            'illegal="noop"',
            slots,
        )

    def in_flight(self, group: int = 0) -> bool:
        """True from `send` until `recv` has returned."""
        return self._in_flight[group] != 0

    def sample(self, group: int = 0, *, seed: int | None = None) -> npt.NDArray[np.int32]:
        """Uniformly random legal actions for the group, written into its `action` column.

        They depend on seed, slot, episode and step only, not on batches.

        >>> pool.step(pool.sample())
        """
        self._be_usable()
        if not 0 <= group < len(self.groups):
            raise Error(f"group {group}: there are {len(self.groups)}")
        if self._in_flight[group]:
            self._be_home()
        self.backend.sample(group, self.options.first_seed if seed is None else seed)
        return self.groups[group].action

    # ---- For people and language models

    def text(self, slot: int = 0, seat: int | None = None) -> str:
        """What a seat (the one to act, if none is named) sees, in words."""
        return self.backend.text(self._slot(slot), self._acting_seat(slot, seat))

    def svg(self, slot: int = 0, seat: int | None = None, *, everything: bool = False) -> Drawing:
        """What a seat (the one to act, if none is named) sees as a drawing, which notebooks show.

        With `everything`, hidden cards too: for the pool's director. `rgb` is the drawing as an
        array of pixels.

        >>> Path("position.svg").write_text(pool.svg(0))
        """
        slot = self._slot(slot)
        seat = 0 if everything else self._acting_seat(slot, seat)
        return Drawing(self.backend.svg(slot, seat, everything=everything))

    def _repr_svg_(self) -> str:
        return self.svg(0)

    def legal(self, slot: int = 0) -> list[str]:
        """The names of the legal actions of a slot.

        >>> pool.act(pool.legal()[0])
        """
        group, row = self._place(slot)
        return self.ruleset.legal_names(group.mask[row])

    def act(self, *names: str) -> Rows:
        """Steps by the names of actions, one per slot."""
        return self.step(np.array([self.ruleset.action(name) for name in names], dtype=np.int32))

    def note(
        self,
        slot: int,
        *,
        probability: npt.ArrayLike | None = None,
        value: npt.ArrayLike | None = None,
        visits: npt.ArrayLike | None = None,
    ) -> None:
        """Tells what you think of the choices in a slot, together with the next action there.

        Each is a number per action, of which the legal ones count. It goes into the log of the
        daemon, if the pool has `make(..., backend="zmq", notes=True)`, and onto the page of
        `trainyard view`.

        >>> pool.note(0, probability=policy[0])
        >>> pool.step(actions)
        """
        self._be_usable()
        legal = np.flatnonzero(self.mask[slot])
        notes = np.zeros(len(legal), dtype=_NOTE)
        notes["action"] = legal
        for name, told in (("probability", probability), ("value", value), ("visits", visits)):
            notes[name] = np.nan
            if told is not None:
                numbers = np.asarray(told, dtype=np.float32)
                if numbers.shape != (self.ruleset.action_count,):
                    raise Error(
                        f"{name} has the shape {numbers.shape}; wanted is a number for each of "
                        f"{self.ruleset.action_count} actions"
                    )
                notes[name] = numbers[legal]
        self.backend.note(slot, notes.tobytes())

    def events(self, slot: int = 0, seat: int | None = None) -> Events:
        """What happened between the last row of a seat and the one before, hidden things hidden.

        Needs `make(..., events=True)`. A list of dictionaries: `event`, its members, `hidden` (the
        details are another seat's) and `text`, a sentence.

        >>> for event in pool.events(0):
        ...     print(event["text"])
        """
        slot = self._slot(slot)
        told = json.loads(self.backend.events_json(slot, self._acting_seat(slot, seat)))
        return Events(told["events"], told["missed"])

    def state(self, slot: int = 0) -> dict[str, Any]:
        """Everything about a slot as a dictionary: not for agents that are to play fair."""
        result: dict[str, Any] = json.loads(self.backend.state_json(self._slot(slot)))
        return result

    def state_hash(self, slot: int = 0) -> int:
        """The 64-bit identity of a slot's state."""
        return self.backend.state_hash(self._slot(slot))

    def observe(
        self, slot: int = 0, seat: int | None = None, *, full: bool = False
    ) -> npt.NDArray[np.uint8]:
        """The row of any seat of a slot; with `full` the privileged one."""
        slot = self._slot(slot)
        return self.backend.observe(slot, self._acting_seat(slot, seat), full=full)

    def legal_mask(self, slot: int = 0, seat: int | None = None) -> npt.NDArray[np.bool_]:
        """The mask of any seat of a slot: a seat that is not to act may only wait."""
        slot = self._slot(slot)
        return self.backend.legal(slot, self._acting_seat(slot, seat))

    # ---- Snapshots, forks, rollouts

    def save(self, slot: int = 0) -> bytes:
        """A snapshot of a slot: bytes to keep, send and restore in a pool of the same make."""
        return self.backend.save(self._slot(slot))

    def restore(
        self,
        snapshot: bytes,
        slots: Sequence[int] | npt.NDArray[Any] = (0,),
        *,
        keys: npt.ArrayLike | None = None,
        seat: int | None = None,
        foreign: bool = False,
    ) -> None:
        """Puts a snapshot into each of the slots.

        Exactly as saved, future dice included; or, with one key per slot, with a future drawn by
        that key, as a fair planner needs it; with `seat` too, what that seat cannot know is
        redealt. `foreign` is for bytes from outside: built-in agents start with empty memory.

        >>> pool.restore(pool.save(0), [1, 2, 3], keys=[7, 8, 9], seat=0)
        """
        self._be_home()
        at, given, deal = self._copies(slots, keys, seat)
        self.backend.restore(snapshot, at, given, deal, foreign=foreign)

    def _copies(
        self,
        slots: Sequence[int] | npt.NDArray[Any],
        keys: npt.ArrayLike | None,
        seat: int | None,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64] | None, int]:
        """Where copies go, with which keys, and for which seat they are redealt (-1: none)."""
        at = np.ascontiguousarray(slots, dtype=np.uint32)
        given = None
        if keys is not None:
            given = np.ascontiguousarray(keys, dtype=np.uint64)
            if given.shape != at.shape:
                raise Error(f"keys: one per slot expected, {len(at)}, not {given.shape}")
        elif seat is not None:
            raise Error("seat: redealing needs keys, one per slot")
        return at, given, self._dealt_for(seat)

    def _dealt_for(self, seat: int | None) -> int:
        """The seat for which hidden cards are redealt; -1: they are not."""
        if seat is not None and not 0 <= seat < self.ruleset.players:
            raise Error(f"seat {seat}: there are {self.ruleset.players} players")
        return -1 if seat is None else seat

    def fork(
        self,
        slot: int,
        slots: Sequence[int] | npt.NDArray[Any],
        *,
        keys: npt.ArrayLike | None = None,
        seat: int | None = None,
    ) -> None:
        """Copies one slot into others; `keys` and `seat` as in `restore`.

        >>> pool.fork(0, range(1, 64), keys=range(1, 64))
        """
        slot = self._slot(slot)
        at, given, deal = self._copies(slots, keys, seat)
        self.backend.fork(slot, at, given, deal)

    def rollout(
        self,
        slot: int = 0,
        agent: str = "random",
        *,
        keys: npt.ArrayLike,
        seat: int | None = None,
        max_steps: int = 0,
        timeout: float | None = None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """A built-in agent plays copies of a slot on, one per key; the slot stays as it is.

        Returns what each player earned [copies, players] and the metrics at the end. After
        `timeout` seconds it gives up, with an Error whose code is "timeout".

        >>> earned, metrics = pool.rollout(0, "expert", keys=range(100))
        """
        slot = self._slot(slot)
        given = np.ascontiguousarray(
            list(keys) if isinstance(keys, range) else keys, dtype=np.uint64
        )
        if given.ndim != 1:
            raise Error(f"keys: a list of numbers expected, not an array of shape {given.shape}")
        player = self._dealt_for(seat)
        return self.backend.rollout(slot, agent, given, player, max_steps, _seconds(timeout))


def _rebuild(
    ruleset: Ruleset,
    options: Options,
    seeds: npt.NDArray[np.uint64],
    snapshots: list[bytes],
) -> Pool:
    pool = Pool(ruleset, replace(options), InProcess(ruleset, options))
    pool.reset(seeds=seeds)
    for slot, snapshot in enumerate(snapshots):
        pool.restore(snapshot, [slot])
    return pool
