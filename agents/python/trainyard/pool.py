"""The native object: many episodes of one ruleset stepped together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .backend import Backend, Group, Options, Rows, seat_agents
from .errors import DaemonGone, Error, IllegalAction
from .inproc import InProcess
from .ruleset import Ruleset

if TYPE_CHECKING:
    from .remote import Remote


def make(
    game: str,
    *,
    num_envs: int = 1,
    seed: int = 0,
    backend: str = "inproc",
    endpoint: str | None = None,
    groups: int = 1,
    threads: int = 1,
    autoreset: str = "next_step",
    illegal: str = "error",
    max_steps: int = 0,
    seats: Sequence[str | None] = (),
    full: bool = False,
    hash: bool = False,
    own_chance: bool = False,
    seat_timeout: float = 0.0,
    on_vanish: str = "truncate",
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
    seed        slot i has seed + i; each episode's own seed is in `pool.seed`
    groups      parts that are stepped on their own, see `Pool.send`
    threads     that step the pool
    autoreset   "next_step": the terminal row stands for one step; "same_step": the new episode
                begins at once and the ending is in the final columns; "disabled": call `reset`
    illegal     what an action that the mask forbids does: "error", "noop", "random_legal", "lose"
    max_steps   decisions after which an episode is truncated; 0: never
    seats       per player the name of a built-in agent, None for yours, or "open" for whoever
                joins (`trainyard.join`): [None, "expert"]
    full, hash  with the columns of privileged rows and of state hashes
    own_chance  you play the chance seat, if the ruleset has one

    For daemons only:

    seat_timeout  seconds that others may leave a question unanswered; 0: for ever
    on_vanish     what becomes of the seats of somebody who is gone: "truncate", or an agent's name
    token         a file with the daemon's secret, for tcp on this machine
    keys, server_key  your .secret file and the daemon's .pub file (`trainyard keygen`), for tcp
    """
    ruleset = Ruleset(game, **config)
    options = Options(
        num_envs=num_envs,
        seed=seed,
        groups=groups,
        threads=threads,
        autoreset=autoreset,
        illegal=illegal,
        max_steps=max_steps,
        seats=seat_agents(ruleset, seats),
        full=full,
        hash=hash,
        own_chance=own_chance,
        seat_timeout=seat_timeout,
        on_vanish=on_vanish,
    )
    if backend != "inproc":
        from .client import Access

        access = Access(token, keys, server_key)
        return Pool(ruleset, options, _door(backend).open(ruleset, options, endpoint, access))
    if (endpoint, token, keys, server_key) != (None,) * 4:
        raise Error('endpoint, token, keys, server_key: are for backend="shm" or "zmq"')
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
    """Takes open seats of somebody's pool: all of them, or those that `seats` names.

    The pool that is returned has the rows of these seats only. A slot whose row is not `ready` is
    somebody else's for now; `step` answers those that are, and returns as soon as one is again.

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


def _door(backend: str) -> type[Remote]:
    # Pools of this process need neither ZeroMQ nor MessagePack.
    from .remote import Messages, SharedMemory

    doors: dict[str, type[Remote]] = {"shm": SharedMemory, "zmq": Messages}
    if backend not in doors:
        raise Error(f"backend={backend!r}: allowed is inproc, {', '.join(doors)}")
    return doors[backend]


class Pool(Rows):
    """Slots that play episodes of one ruleset, seen through columns of NumPy arrays.

    The columns (`obs`, `mask`, ...; see `Rows`) are views on the memory that steps write: they show
    the present, and are valid until the next step of their group. Copy what you want to keep. A
    pool with one group has the columns itself; with several they are in `pool.groups[g]`. Nothing
    is allocated per step.

    Close a pool with `close`, with a `with` statement, or by forgetting it.
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
        self._slot_seeds = np.arange(options.num_envs, dtype=np.uint64) + np.uint64(options.seed)
        # Per group the number of its next step, and of the one in flight; 0: none.
        self._next = [1] * len(self.groups)
        self._in_flight = [0] * len(self.groups)
        self._closed = False
        if len(self.groups) == 1:
            self.__dict__.update(self.groups[0].__dict__)

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
        self.backend.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickling and copying keep every episode where it is, on the in-process backend."""
        self._be_home()
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

    def _be_home(self) -> None:
        if self._closed:
            raise Error("the pool is closed")
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
        which: npt.ArrayLike | None = None,
    ) -> Pool:
        """Begins new episodes, in all slots or in those that `which` (bool [N]) names.

        With `seed`, slot i gets seed + i for its own from now on; with `seeds`, seeds[i].
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
            given = np.ascontiguousarray(seeds, dtype=np.uint64)
            if given.shape != (self.num_envs,):
                raise Error(f"seeds: uint64 [{self.num_envs}] expected, not {given.shape}")
        self.backend.reset(mask, given)
        if given is not None:
            np.copyto(self._slot_seeds, given, where=True if mask is None else mask)
        return self

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
        if self._closed:
            raise Error("the pool is closed")
        if not 0 <= group < len(self.groups):
            raise Error(f"group {group}: there are {len(self.groups)}")
        if self._in_flight[group]:
            raise Error(f"group {group} is in flight already: recv({group}) first")
        if actions is not None:
            self._take(self.groups[group].action, actions)
        number = self._in_flight[group] = self._next[group]
        self.backend.send(group, number)

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
        if self._in_flight[group] or self._closed:
            self._be_home()
        self.backend.sample(group, self.options.seed if seed is None else seed)
        return self.groups[group].action

    # ---- For people and language models

    def text(self, slot: int = 0, seat: int | None = None) -> str:
        """What a seat (the one to act, if none is named) sees, in words."""
        return self.backend.text(self._slot(slot), self._acting_seat(slot, seat))

    def legal(self, slot: int = 0) -> list[str]:
        """The names of the legal actions of a slot.

        >>> pool.act(pool.legal()[0])
        """
        group, row = self._place(slot)
        return self.ruleset.legal_names(group.mask[row])

    def act(self, *names: str) -> Rows:
        """Steps by the names of actions, one per slot."""
        return self.step(np.array([self.ruleset.action(name) for name in names], dtype=np.int32))

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
        that key, as a fair planner needs it; with `seat` too, what that seat cannot know is dealt
        anew. `foreign` is for bytes from outside: built-in agents begin anew.

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
        """Where copies go, with which keys, and for whom they are dealt anew (-1: nobody)."""
        at = np.ascontiguousarray(slots, dtype=np.uint32)
        given = None
        if keys is not None:
            given = np.ascontiguousarray(keys, dtype=np.uint64)
            if given.shape != at.shape:
                raise Error(f"keys: one per slot expected, {len(at)}, not {given.shape}")
        elif seat is not None:
            raise Error("seat: dealing anew needs keys, one per slot")
        if seat is not None and not 0 <= seat < self.ruleset.players:
            raise Error(f"seat {seat}: there are {self.ruleset.players} players")
        return at, given, -1 if seat is None else seat

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
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """A built-in agent plays copies of a slot on, one per key; the slot stays as it is.

        Returns what each player earned [copies, players] and the metrics at the end.

        >>> earned, metrics = pool.rollout(0, "expert", keys=range(100))
        """
        slot = self._slot(slot)
        given = np.ascontiguousarray(
            list(keys) if isinstance(keys, range) else keys, dtype=np.uint64
        )
        return self.backend.rollout(slot, agent, given, -1 if seat is None else seat, max_steps)


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
