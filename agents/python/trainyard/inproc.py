"""The pool in this process: the library steps it directly into NumPy memory."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .backend import PATIENCE_MS, Group, Options, aligned, seat_agents, slab_columns
from .errors import Error
from .process import Owner
from .ruleset import Ruleset

#: Copies of one call of a rollout by `random`, which takes some milliseconds.
_ROLLOUT_CHUNK = 32


class Errand:
    """Calls of the library that may each take long, done in a thread of their own: an interrupt is
    heard while they last. The call that is under way then is finished before the pool is used
    again, and the rest is left undone."""

    def __init__(self, calls: Sequence[Callable[[], None]]) -> None:
        self._calls = calls
        self._given_up = False
        # A thread whose join was interrupted says that it has ended, whether it has or not.
        self._done = Event()
        self._error: Exception | None = None

    def _work(self) -> None:
        try:
            for call in self._calls:
                if self._given_up:
                    return
                call()
        except Exception as error:
            self._error = error
        finally:
            self._done.set()

    @property
    def under_way(self) -> bool:
        return not self._done.is_set()

    def run(self, known: list[Errand]) -> None:
        """Begins, waits, and raises what a call has raised. While it is under way it is among the
        `known` ones."""
        thread = Thread(target=self._work, daemon=True)
        try:
            known.append(self)
            thread.start()
            self.wait()
        except BaseException:
            self._given_up = True
            if thread.ident is None:
                self._done.set()  # it has not begun, and will do nothing if it does
            raise
        known.clear()
        if self._error is not None:
            raise self._error

    def wait(self) -> None:
        while not self._done.wait(PATIENCE_MS / 1000):
            pass


def _release(flight: int | None, pool: int, errands: list[Errand]) -> None:
    if any(errand.under_way for errand in errands):
        return  # interrupted, and the process ends: the thread may use the pool until then
    lib.ty_flight_close(flight)
    lib.ty_pool_close(pool)


class InProcess:
    """See `trainyard.backend.Backend`."""

    whole: Group | None = None

    def __init__(self, ruleset: Ruleset, options: Options) -> None:
        if "open" in options.seats:
            raise Error('seats: others can only join a daemon\'s pool; use backend="shm" or "zmq"')
        agents = [
            None if name is None else ruleset.find_agent(name)
            for name in seat_agents(ruleset, options.seats)
        ]
        if None not in agents:
            raise Error("seats: at least one must be yours (None)")
        config = _lib.PoolConfig(
            slots=options.num_envs,
            groups=options.groups,
            threads=options.threads,
            seed=options.first_seed,
            autoreset=_lib.AUTORESET.index(options.autoreset),
            illegal=_lib.ILLEGAL.index(options.illegal),
            max_steps=options.max_steps,
            full=options.full,
            hash=options.hash,
            events=options.events,
            own_chance=options.own_chance,
        )
        for seat, agent in enumerate(agents):
            if agent is not None:
                config.agent[seat] = ctypes.cast(agent, ctypes.c_void_p)
        handle = ctypes.c_void_p()
        _lib.check(lib.ty_pool_open(ruleset.handle, ctypes.byref(config), ctypes.byref(handle)))
        assert handle.value is not None
        self.ruleset = ruleset
        self._pool: int = handle.value
        self._events = options.events
        self._flight: int | None = None
        self._due = False
        self._threads = max(1, options.threads)
        self._refused = ctypes.c_uint32()
        self._refused_pointer = ctypes.byref(self._refused)
        self._ready = ctypes.c_uint32()
        if options.groups > 1 or any(agent and agent.contents.plans for agent in agents):
            _lib.check(lib.ty_flight_open(self._pool, 0, ctypes.byref(handle)))
            self._flight = handle.value
        # What an interrupted rollout has left behind.
        self._errands: list[Errand] = []
        self._close = weakref.finalize(
            self, Owner().only, _release, self._flight, self._pool, self._errands
        )
        self._slab = lib.ty_pool_slab(self._pool, 0)
        slab = self._slab.contents
        self._rows = aligned(slab.rows_size)
        self._commands = aligned(slab.commands_size)
        lib.ty_pool_attach(self._pool, 0, self._rows.ctypes.data, self._commands.ctypes.data)
        self.seats: tuple[int, ...] = tuple(slab.seats[: slab.seat_count])
        self.groups = [
            Group(slab.group[i].first, slab_columns(slab, i, self._rows, self._commands))
            for i in range(slab.groups)
        ]

    def close(self) -> None:
        self.check()
        self._close()

    def check(self) -> None:
        for errand in self._errands:
            errand.wait()
        self._errands.clear()

    # ---- Steps

    def send(self, group: int, number: int) -> None:
        if self._flight is None:
            self._due = True
        else:
            lib.ty_flight_send(self._flight, group)

    def recv(self, group: int, number: int) -> int:
        # An interrupt may come between any two lines: no step is taken twice.
        if self._flight is None:
            if self._due:
                self._due = False
                lib.ty_pool_step(self._pool, 0, group, self._refused_pointer)
        else:
            ready = ctypes.byref(self._ready)
            while not lib.ty_flight_recv(
                self._flight, group, PATIENCE_MS, ready, self._refused_pointer
            ):
                pass
        return self._refused.value

    def arrived(self, group: int, number: int) -> bool:
        return True  # nobody but us takes the steps of a pool in this process

    def step_slot(self, slot: int, action: int) -> None:
        """Takes an action in one slot of a pool with one group; the others are not touched."""
        self.groups[0].action[slot] = action
        lib.ty_pool_step_slots(self._pool, 0, ctypes.byref(ctypes.c_uint32(slot)), 1, None)

    def sample(self, group: int, seed: int) -> None:
        lib.ty_sample_rows(self._slab, group, seed)

    def step_random(self, group: int, seed: int, rounds: int) -> None:
        """Random play inside the library: the C figure that `trainyard.bench` compares with."""
        lib.ty_pool_step_random(self._pool, 0, group, seed, rounds)

    def reset(
        self,
        which: npt.NDArray[np.bool_] | None,
        seeds: npt.NDArray[np.uint64] | None,
        episodes: npt.NDArray[np.uint64] | None,
        timeout: float | None,
    ) -> None:
        if timeout is None:
            self._reset_some(which, seeds, episodes)
            return
        deadline = monotonic() + timeout
        slots = sum(len(group) for group in self.groups)
        wanted = np.arange(slots) if which is None else np.flatnonzero(which)
        for start in range(0, len(wanted), self._threads):
            if monotonic() > deadline:
                raise Error(f"timeout={timeout}: the reset took longer", "timeout")
            part = np.zeros(slots, dtype=np.bool_)
            part[wanted[start : start + self._threads]] = True
            self._reset_some(part, seeds, episodes)

    def _reset_some(
        self,
        which: npt.NDArray[np.bool_] | None,
        seeds: npt.NDArray[np.uint64] | None,
        episodes: npt.NDArray[np.uint64] | None,
    ) -> None:
        given = (None if array is None else array.ctypes.data for array in (which, seeds, episodes))
        lib.ty_pool_reset_to(self._pool, ctypes.byref(_lib.Reset(*given)))

    # ---- Looking at one slot

    def state_address(self, slot: int) -> int:
        """Where the state of a slot lies in memory, to be looked at."""
        state: int = lib.ty_pool_state(self._pool, slot)
        return state

    def observe(self, slot: int, seat: int, *, full: bool) -> npt.NDArray[np.uint8]:
        size = self.ruleset.full_size if full else self.ruleset.row_size
        row = np.empty(size, dtype=np.uint8)
        function = lib.ty_observe_full if full else lib.ty_observe
        function(self.ruleset.handle, self.state_address(slot), seat, row.ctypes.data)
        return row

    def legal(self, slot: int, seat: int) -> npt.NDArray[np.bool_]:
        mask = np.empty(self.ruleset.action_count, dtype=np.bool_)
        lib.ty_legal_seat(self.ruleset.handle, self.state_address(slot), seat, mask.ctypes.data)
        return mask

    def text(self, slot: int, seat: int) -> str:
        return _lib.write_text(lib.ty_pool_text, self._pool, slot, seat)

    def text_in(self, buffer: Any, slot: int, seat: int) -> str:
        """The same in a buffer of the caller's; a longer text is cut."""
        length = lib.ty_pool_text(self._pool, slot, seat, buffer, len(buffer))
        return ctypes.string_at(buffer, min(length, len(buffer) - 1)).decode(errors="ignore")

    def svg(self, slot: int, seat: int, *, everything: bool) -> str:
        eyes = 0xFFFFFFFF if everything else seat
        state = self.state_address(slot)
        return _lib.write_text(lib.ty_svg, self.ruleset.handle, state, eyes, None)

    def events_json(self, slot: int, seat: int) -> str:
        if not self._events:
            raise Error("the pool keeps no events: make(..., events=True)")
        return _lib.write_text(lib.ty_pool_events_json, self._pool, slot, seat)

    def note(self, slot: int, notes: bytes) -> None:
        raise Error('notes go into the log of a daemon: open the pool with backend="zmq"')

    def state_json(self, slot: int) -> str:
        return _lib.write_text(lib.ty_state_json, self.ruleset.handle, self.state_address(slot))

    def state_hash(self, slot: int) -> int:
        result: int = lib.ty_hash(self.ruleset.handle, self.state_address(slot))
        return result

    # ---- Snapshots and rollouts

    def save(self, slot: int) -> bytes:
        buffer = ctypes.create_string_buffer(lib.ty_pool_snapshot_size(self._pool))
        lib.ty_pool_save(self._pool, slot, buffer)
        return buffer.raw

    def restore(
        self,
        snapshot: bytes,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
        *,
        foreign: bool,
    ) -> None:
        size = lib.ty_pool_snapshot_size(self._pool)
        if len(snapshot) != size:
            raise Error(f"a snapshot of this pool has {size} bytes, not {len(snapshot)}")
        how = _lib.Restore(
            keys=None if keys is None else keys.ctypes.data, seat=seat, foreign=foreign
        )
        _lib.check(
            lib.ty_pool_restore(
                self._pool, snapshot, slots.ctypes.data, len(slots), ctypes.byref(how)
            )
        )

    def fork(
        self,
        slot: int,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
    ) -> None:
        self.restore(self.save(slot), slots, keys, seat, foreign=False)

    def playout(self, slot: int, agent: str, key: int) -> npt.NDArray[np.float32]:
        """One copy of a slot played on by a quick agent, here and now: what each player earned."""
        pointer: Any = ctypes.cast(self.ruleset.find_agent(agent), ctypes.c_void_p)
        earned = np.empty(self.ruleset.players, dtype=np.float32)
        future = ctypes.byref(ctypes.c_uint64(key))
        lib.ty_pool_rollout(self._pool, slot, pointer, 1, future, -1, 0, earned.ctypes.data, None)
        return earned

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
        pointer: Any = ctypes.cast(self.ruleset.find_agent(agent), ctypes.c_void_p)
        earned = np.empty((len(keys), self.ruleset.players), dtype=np.float32)
        metrics = np.empty((len(keys), len(self.ruleset.metrics)), dtype=np.int32)

        def play(start: int, count: int) -> None:
            part = slice(start, min(start + count, len(keys)))
            if deadline is not None and monotonic() > deadline:
                raise Error(f"timeout={timeout}: the rollout took longer", "timeout")
            lib.ty_pool_rollout(
                self._pool,
                slot,
                pointer,
                part.stop - part.start,
                keys[part].ctypes.data,
                seat,
                max_steps,
                earned[part].ctypes.data,
                metrics[part].ctypes.data,
            )

        if agent == "random":
            for start in range(0, len(keys), _ROLLOUT_CHUNK):
                play(start, _ROLLOUT_CHUNK)
        else:
            count = self._threads
            parts = [partial(play, start, count) for start in range(0, len(keys), count)]
            Errand(parts).run(self._errands)
        return earned, metrics
