"""A pool whose slots lie in several daemons, and go on elsewhere when one is gone.

What a slot plays follows from its seed, the number of its episode and the actions since that began.
These are kept here, so that a lost slot is played again to where it was, in another daemon.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .backend import Group, Options, aligned, padded, slab_columns
from .client import Access
from .errors import DaemonGone, Error
from .remote import Remote
from .ruleset import Ruleset

#: Columns that say something where an episode has just ended.
_ENDINGS = ("metrics", "final_obs", "final_reward")
#: How many actions of a slot have room at first.
_ROOM = 64

Result = TypeVar("Result")
Ints = npt.NDArray[np.int64]
_Pair = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def divide(slots: int, parts: int) -> list[range]:
    """Slots in as many parts of nearly the same size.

    >>> divide(5, 2)
    [range(0, 2), range(2, 5)]
    """
    return [range(slots * i // parts, slots * (i + 1) // parts) for i in range(parts)]


@dataclass(frozen=True)
class _Restored:
    """The snapshot that a slot's episode goes on from."""

    snapshot: bytes
    key: int | None
    seat: int


class _Part:
    """A group of a daemon's pool: what is stepped there as a unit, and what happened in it.

    An interrupt may come between any two lines. `before` and `after` are each written at once, and
    whatever lies between them can be done again.
    """

    def __init__(self, shard: _Shard, index: int, rows: Group) -> None:
        self.shard = shard
        self.index = index
        #: Where its rows are in the daemon's pool, and in ours.
        self.there = slice(rows.first, rows.first + len(rows))
        self.here = slice(shard.first + rows.first, shard.first + rows.first + len(rows))
        self._every = np.arange(len(rows))
        #: The actions of each slot since its episode began, and the next one: there is always room.
        self.actions = np.zeros((len(rows), _ROOM), dtype=np.int32)
        #: Of the last step that began: its number, which rows asked, and in which episodes.
        self.before = (0, np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.uint32))
        #: Of the last one that is done: its number, how many actions were refused, and how many
        #: actions of each slot count.
        self.after = (0, 0, np.zeros(len(rows), dtype=np.int64))
        #: Our numbers of steps, less those that the daemon knows.
        self.ahead = 0
        #: Columns by name, ours and the daemon's; apart those that tell of endings.
        self.columns: dict[str, _Pair] = {}
        self.endings: dict[str, _Pair] = {}
        self.bound_to: Remote | None = None

    @property
    def lengths(self) -> Ints:
        return self.after[2]

    def begin(self, number: int, ours: Group) -> None:
        """Writes down what is going to be done."""
        self.actions[self._every, self.lengths] = ours.action[self.here]
        self.before = (number, ours.ready[self.here].copy(), ours.episode[self.here].copy())

    def due(self) -> npt.NDArray[np.int32]:
        """The actions of the step that is under way."""
        due: npt.NDArray[np.int32] = self.actions[self._every, self.lengths]
        return due

    def finish(self, number: int, refused: int, rows: Group, *, illegal_counts: bool) -> None:
        """Writes down what came of it: `rows` are the daemon's."""
        _, asked, episode = self.before
        counts = asked if illegal_counts else asked & ~rows.illegal
        same = rows.episode == episode
        lengths = np.where(same, self.lengths + counts, 0)
        if lengths.max() == self.actions.shape[1]:
            self.actions = np.pad(self.actions, ((0, 0), (0, self.actions.shape[1])))
        if self.shard.restored:
            self.shard.forget(self.there.start + np.flatnonzero(~same))
        self.after = (number, refused, lengths)

    def restart(self, rows: npt.NDArray[Any]) -> None:
        """Rows that begin anew."""
        number, refused, lengths = self.after
        lengths = lengths.copy()
        lengths[rows] = 0
        self.after = (number, refused, lengths)


class _Shard:
    """Slots of the pool that lie in one daemon."""

    def __init__(self, first: int, seeds: npt.NDArray[np.uint64]) -> None:
        self.first = first
        self.seeds = seeds
        self.restored: dict[int, _Restored] = {}
        self.parts: list[_Part] = []
        self.endpoint = ""
        self.remote: Remote
        #: A change of its rows was interrupted: nobody knows where its slots are.
        self.unsure = False

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def here(self) -> slice:
        return slice(self.first, self.first + len(self))

    @contextmanager
    def changing(self, *, whole: bool) -> Iterator[None]:
        """What is interrupted in here leaves us unsure, until the whole shard begins anew."""
        before, self.unsure = self.unsure, True
        try:
            yield
        except Error as error:
            self.unsure = before or error.code == "timeout"
            raise
        self.unsure = before and not whole

    def forget(self, slots: npt.NDArray[Any]) -> None:
        """The episodes of these slots begin by their seeds."""
        for slot in slots.tolist() if self.restored else ():
            self.restored.pop(slot, None)

    def restart(self, slots: npt.NDArray[Any]) -> None:
        """These slots begin anew."""
        self.forget(slots)
        for part in self.parts:
            ours = (slots >= part.there.start) & (slots < part.there.stop)
            part.restart(slots[ours] - part.there.start)


class Shards:
    """See `trainyard.backend.Backend`. The columns are ours, one array for all slots; each step
    copies the rows of its group from the daemon's.

    >>> pool = trainyard.make("convoi", num_envs=512, backend="zmq", endpoints=[a, b], groups=2)
    >>> pool.backend.where
    {'ipc:///a': 256, 'ipc:///b': 256}
    """

    def __init__(
        self,
        door: type[Remote],
        ruleset: Ruleset,
        options: Options,
        endpoints: Sequence[str],
        access: Access,
        timeout: float | None,
    ) -> None:
        self._door = door
        self.ruleset = ruleset
        self._options = options
        self._access = access
        self._timeout = timeout
        self._endpoints = list(dict.fromkeys(endpoints))
        self._lost: dict[str, str] = {}
        #: What became of daemons: (endpoint that was lost, endpoint that goes on, first slot).
        self.moves: list[tuple[str, str, int]] = []
        self._per_shard = self._checked()
        seeds = np.arange(options.num_envs, dtype=np.uint64) + np.uint64(options.first_seed)
        self._shards: list[_Shard] = []
        self._close = weakref.finalize(self, _close_all, self._shards)
        try:
            for slots, endpoint in zip(
                divide(options.num_envs, len(self._endpoints)), self._endpoints, strict=True
            ):
                shard = _Shard(slots.start, seeds[slots.start : slots.stop].copy())
                shard.remote = self._open(shard, endpoint)
                shard.endpoint = endpoint
                self._shards.append(shard)
        except BaseException:
            self._close()
            raise
        self.seats: tuple[int, ...] = self._shards[0].remote.seats
        for shard in self._shards:
            shard.parts = [_Part(shard, i, g) for i, g in enumerate(shard.remote.groups)]
        parts = [part for shard in self._shards for part in shard.parts]
        self._parts = [parts] if options.groups == 1 else [[part] for part in parts]
        self._lay_out()
        for part in parts:
            self._take(part, None)

    def _checked(self) -> int:
        """How many groups each daemon has."""
        options, daemons = self._options, len(self._endpoints)
        if not daemons:
            raise Error("endpoints: at least one is needed")
        if options.num_envs < daemons:
            raise Error(f"num_envs={options.num_envs}: allowed is at least one per endpoint")
        if options.groups != 1 and (options.groups == 0 or options.groups % daemons):
            raise Error(
                f"groups={options.groups}: allowed is 1, for all {daemons} endpoints together, or "
                "a multiple of them, for groups of one endpoint each"
            )
        only = 'is for a pool in one daemon: make(..., endpoint="...")'
        if "open" in options.seats:
            raise Error(f"seats: open {only}")
        for name in ("key", "notes", "watch", "seat_timeout"):
            if getattr(options, name):
                raise Error(f"{name}: {only}")
        if options.plain_seeds is False:
            raise Error(f"plain_seeds=False: {only}")
        return max(1, options.groups // daemons)

    def _open(self, shard: _Shard, endpoint: str) -> Remote:
        """A pool for these slots, at the beginning of their first episodes."""
        options = replace(
            self._options,
            num_envs=len(shard),
            groups=self._per_shard,
            seed=int(shard.seeds[0]),
            plain_seeds=True,
        )
        return self._door.open(self.ruleset, options, endpoint, self._access, self._timeout)

    def _lay_out(self) -> None:
        """Memory for all slots, as the library knows it: as a whole, and as groups."""
        model = self._shards[0].remote.slab
        whole = _lib.Slab(groups=1, seat_count=model.seat_count, seats=model.seats)
        whole.group[0].rows = self._options.num_envs
        size = 0
        for column, like in zip(whole.group[0].columns, model.group[0].columns, strict=True):
            column.type, column.width, column.offset = like.type, like.width, size
            item = np.dtype(_lib.TYPES[like.type]).itemsize
            size += padded(like.width * item * self._options.num_envs)
        self._memory = aligned(size)
        columns = slab_columns(whole, 0, self._memory, self._memory)
        #: The columns of all slots.
        self.whole = Group(0, columns)
        self._slab = _lib.Slab(groups=len(self._parts), seat_count=model.seat_count)
        self._slab.seats = model.seats
        self._slab.rows = self._slab.commands = self._memory.ctypes.data
        self.groups: list[Group] = []
        for layout, parts in zip(self._slab.group, self._parts, strict=False):
            here = slice(parts[0].here.start, parts[-1].here.stop)
            layout.first, layout.rows = here.start, here.stop - here.start
            ours = {name: column[here] for name, column in columns.items()}
            for index, name in enumerate(_lib.COLUMNS):
                if name in ours:
                    layout.columns[index].type = whole.group[0].columns[index].type
                    layout.columns[index].width = whole.group[0].columns[index].width
                    layout.columns[index].offset = ours[name].ctypes.data - self._slab.rows
            self.groups.append(Group(here.start, ours))

    @property
    def where(self) -> dict[str, int]:
        """How many slots each daemon has now."""
        counts = dict.fromkeys(self._endpoints, 0)
        for shard in self._shards:
            counts[shard.endpoint] += len(shard)
        return counts

    def close(self) -> None:
        self._close()

    def check(self) -> None:
        """A daemon that is gone is no reason to raise: its slots move when they are used."""

    # ---- Rows

    def _bind(self, part: _Part) -> None:
        """Finds the columns of a part, here and in the pool where it is now."""
        theirs = part.shard.remote.groups[part.index]
        for name, column in vars(self.whole).items():
            if name not in ("action", "first"):
                pairs = part.endings if name in _ENDINGS else part.columns
                pairs[name] = (column[part.here], getattr(theirs, name))
        part.bound_to = part.shard.remote

    def _take(self, part: _Part, rows: npt.NDArray[Any] | None) -> None:
        """Copies rows of a part, by their places in it (None: all)."""
        if part.bound_to is not part.shard.remote:
            self._bind(part)
        for ours, theirs in part.columns.values():
            if rows is None:
                np.copyto(ours, theirs)
            else:
                ours[rows] = theirs[rows]
        ended = part.columns["terminated"][1] | part.columns["truncated"][1]
        if ended.any():
            at = np.flatnonzero(ended)
            at = at if rows is None else np.intersect1d(at, rows)
            for ours, theirs in part.endings.values():
                ours[at] = theirs[at]

    # ---- Steps

    def send(self, group: int, number: int) -> None:
        for part in self._parts[group]:
            self._begin(part, number)

    def _begin(self, part: _Part, number: int) -> None:
        if part.shard.unsure:
            raise Error("a reset or restore was interrupted: reset all slots, and go on from there")
        part.begin(number, self.whole)

        def submit(remote: Remote) -> None:
            remote.groups[part.index].action[:] = part.due()
            remote.send(part.index, number - part.ahead)

        self._on(part.shard, submit)

    def recv(self, group: int, number: int) -> int:
        return sum(self._finish(part, number) for part in self._parts[group])

    def _finish(self, part: _Part, number: int) -> int:
        if part.before[0] != number:
            self._begin(part, number)  # an interrupt came before
        if part.after[0] != number:
            refused = self._on(
                part.shard, lambda remote: remote.recv(part.index, number - part.ahead)
            )
            self._take(part, None)
            part.finish(
                number,
                refused,
                part.shard.remote.groups[part.index],
                illegal_counts=self._illegal_counts,
            )
        return part.after[1]

    @property
    def _illegal_counts(self) -> bool:
        """Whether illegal actions change anything."""
        return self._options.illegal in ("random_legal", "lose")

    def arrived(self, group: int, number: int) -> bool:
        return all(self._part_arrived(part, number) for part in self._parts[group])

    def _part_arrived(self, part: _Part, number: int) -> bool:
        return part.after[0] == number or self._on(
            part.shard, lambda remote: remote.arrived(part.index, number - part.ahead)
        )

    def sample(self, group: int, seed: int) -> None:
        lib.ty_sample_rows(ctypes.byref(self._slab), group, seed)

    # ---- When a daemon is gone

    def _on(self, shard: _Shard, ask: Callable[[Remote], Result]) -> Result:
        """What a shard's pool answers; if its daemon is gone, what the pool that takes its place
        does."""
        while True:
            try:
                shard.remote.check()
                return ask(shard.remote)
            except Error as error:
                # One that is told to stop closes its pools before it is gone.
                if not isinstance(error, DaemonGone) and error.code != "closed":
                    raise
                self._move(shard, str(error))

    def _begin_anew(
        self, shard: _Shard, slots: npt.NDArray[Any], change: Callable[[Remote], None]
    ) -> None:
        """Changes these slots of a shard, and takes their rows."""
        self._on(shard, change)
        shard.restart(slots)
        for part in shard.parts:
            ours = (slots >= part.there.start) & (slots < part.there.stop)
            self._take(part, slots[ours] - part.there.start)

    def _move(self, shard: _Shard, why: str) -> None:
        """Lets the slots of a shard go on in another daemon, where they were."""
        self._lost[shard.endpoint] = why
        load = self.where
        # The least loaded of those that live; then those that may have been started again.
        for endpoint in sorted(load, key=lambda each: (each in self._lost, load[each])):
            try:
                self._move_to(shard, endpoint)
            except Error as error:
                self._lost[endpoint] = str(error)
            else:
                return
        raise DaemonGone(
            "no daemon is left: " + "; ".join(f"{at}: {why}" for at, why in self._lost.items())
        )

    def _move_to(self, shard: _Shard, endpoint: str) -> None:
        remote = self._open(shard, endpoint)
        try:
            rounds = self._replay(shard, remote)
        except BaseException:
            remote.close()
            raise
        for part in shard.parts:
            part.ahead = part.after[0] - rounds
            # A step that is under way is begun by whoever waits for it.
            remote.groups[part.index].action[:] = part.due()
        self.moves.append((shard.endpoint, endpoint, shard.first))
        self._lost.pop(endpoint, None)
        lost = shard.remote
        shard.remote, shard.endpoint = remote, endpoint
        lost.close()

    def _replay(self, shard: _Shard, remote: Remote) -> int:
        """Plays the slots of a new pool to where they were; says in how many steps. All arrive at
        the same time: the shorter an episode is so far, the later it begins."""
        lengths = np.concatenate([part.lengths for part in shard.parts])
        episodes = self.whole.episode[shard.here].astype(np.uint64)
        rounds = int(lengths.max())
        for number in range(rounds + 1):
            left = rounds - number
            # Who waits is to do nothing, and where `wait` is punished it begins again and again.
            begins = lengths <= left if self._illegal_counts else lengths == left
            if begins.any():
                remote.reset(begins, shard.seeds, episodes, self._timeout)
                self._put_back(remote, shard, np.flatnonzero(begins))
            if left == 0:
                break
            for part in shard.parts:
                at = np.maximum(part.lengths - left, 0)
                action = part.actions[np.arange(len(at)), at]
                remote.groups[part.index].action[:] = np.where(part.lengths >= left, action, 0)
                remote.send(part.index, number + 1)
            for part in shard.parts:
                remote.recv(part.index, number + 1)
        return rounds

    def _put_back(self, remote: Remote, shard: _Shard, slots: npt.NDArray[Any]) -> None:
        for slot in slots.tolist():
            if (was := shard.restored.get(slot)) is not None:
                keys = None if was.key is None else np.array([was.key], dtype=np.uint64)
                _restore(was.snapshot, np.array([slot], dtype=np.uint32), keys, was.seat, remote)

    # ---- Calls that change rows

    def reset(
        self,
        which: npt.NDArray[np.bool_] | None,
        seeds: npt.NDArray[np.uint64] | None,
        episodes: npt.NDArray[np.uint64] | None,
        timeout: float | None,
    ) -> None:
        for shard in self._shards:
            here = shard.here
            mask = np.ones(len(shard), dtype=np.bool_) if which is None else which[here]
            if not mask.any():
                continue
            given = None if seeds is None else np.ascontiguousarray(seeds[here])
            numbers = None if episodes is None else np.ascontiguousarray(episodes[here])
            with shard.changing(whole=bool(mask.all())):
                change = partial(_reset, mask, given, numbers, timeout)
                self._begin_anew(shard, np.flatnonzero(mask), change)
                if given is not None:
                    np.copyto(shard.seeds, given, where=mask)

    def restore(
        self,
        snapshot: bytes,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
        *,
        foreign: bool,
    ) -> None:
        for shard in self._shards:
            ours = (slots >= shard.first) & (slots < shard.first + len(shard))
            if not ours.any():
                continue
            at = slots[ours] - np.uint32(shard.first)
            own = None if keys is None else keys[ours]
            with shard.changing(whole=False):
                change = partial(_restore, snapshot, at, own, seat)
                self._begin_anew(shard, at.astype(np.int64), change)
                for index, slot in enumerate(at.tolist()):
                    key = None if own is None else int(own[index])
                    shard.restored[slot] = _Restored(snapshot, key, seat)

    def fork(
        self,
        slot: int,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
    ) -> None:
        """Copies may go to other daemons: built-in agents begin there with empty memory."""
        self.restore(self.save(slot), slots, keys, seat, foreign=True)

    # ---- Looking at one slot

    def _at(self, slot: int, ask: Callable[[Remote, int], Result]) -> Result:
        shard = next(each for each in reversed(self._shards) if slot >= each.first)
        return self._on(shard, lambda remote: ask(remote, slot - shard.first))

    def observe(self, slot: int, seat: int, *, full: bool) -> npt.NDArray[np.uint8]:
        return self._at(slot, lambda remote, at: remote.observe(at, seat, full=full))

    def legal(self, slot: int, seat: int) -> npt.NDArray[np.bool_]:
        return self._at(slot, lambda remote, at: remote.legal(at, seat))

    def text(self, slot: int, seat: int) -> str:
        return self._at(slot, lambda remote, at: remote.text(at, seat))

    def svg(self, slot: int, seat: int, *, everything: bool) -> str:
        return self._at(slot, lambda remote, at: remote.svg(at, seat, everything=everything))

    def events_json(self, slot: int, seat: int) -> str:
        return self._at(slot, lambda remote, at: remote.events_json(at, seat))

    def note(self, slot: int, notes: bytes) -> None:
        raise Error('notes are for a pool in one daemon: make(..., endpoint="...")')

    def state_json(self, slot: int) -> str:
        return self._at(slot, lambda remote, at: remote.state_json(at))

    def state_hash(self, slot: int) -> int:
        return self._at(slot, lambda remote, at: remote.state_hash(at))

    def save(self, slot: int) -> bytes:
        return self._at(slot, lambda remote, at: remote.save(at))

    def rollout(
        self,
        slot: int,
        agent: str,
        keys: npt.NDArray[np.uint64],
        seat: int,
        max_steps: int,
        timeout: float | None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        return self._at(
            slot, lambda remote, at: remote.rollout(at, agent, keys, seat, max_steps, timeout)
        )


def _reset(
    which: npt.NDArray[np.bool_],
    seeds: npt.NDArray[np.uint64] | None,
    episodes: npt.NDArray[np.uint64] | None,
    timeout: float | None,
    remote: Remote,
) -> None:
    remote.reset(which, seeds, episodes, timeout)


def _restore(
    snapshot: bytes,
    slots: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.uint64] | None,
    seat: int,
    remote: Remote,
) -> None:
    remote.restore(snapshot, slots, keys, seat, foreign=True)


def _close_all(shards: list[_Shard]) -> None:
    for shard in shards:
        shard.remote.close()
