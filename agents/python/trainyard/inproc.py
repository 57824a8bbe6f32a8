"""The pool in this process: the library steps it directly into NumPy memory."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .backend import PATIENCE_MS, Group, Options, aligned, seat_agents, slab_columns
from .errors import Error
from .ruleset import Ruleset

#: Copies of one call of a rollout: between calls Ctrl-C is heard.
_ROLLOUT_CHUNK = 32


def _release(flight: int | None, pool: int) -> None:
    lib.ty_flight_close(flight)
    lib.ty_pool_close(pool)


class InProcess:
    """See `trainyard.backend.Backend`."""

    def __init__(self, ruleset: Ruleset, options: Options) -> None:
        if "open" in options.seats:
            raise Error('seats: others can only join a daemon\'s pool; use backend="shm" or "zmq"')
        agents = [
            None if name is None else ruleset.find_agent(name)
            for name in seat_agents(ruleset, options.seats)
        ]
        config = _lib.PoolConfig(
            slots=options.num_envs,
            groups=options.groups,
            threads=options.threads,
            seed=options.seed,
            autoreset=_lib.AUTORESET.index(options.autoreset),
            illegal=_lib.ILLEGAL.index(options.illegal),
            max_steps=options.max_steps,
            full=options.full,
            hash=options.hash,
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
        self._flight: int | None = None
        self._due = False
        self._refused = ctypes.c_uint32()
        self._refused_pointer = ctypes.byref(self._refused)
        self._ready = ctypes.c_uint32()
        if options.groups > 1 or any(agent and agent.contents.plans for agent in agents):
            _lib.check(lib.ty_flight_open(self._pool, 0, ctypes.byref(handle)))
            self._flight = handle.value
        self._close = weakref.finalize(self, _release, self._flight, self._pool)
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
        self._close()

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

    def sample(self, group: int, seed: int) -> None:
        lib.ty_sample_rows(self._slab, group, seed)

    def step_random(self, group: int, seed: int, rounds: int) -> None:
        """Random play inside the library: the C figure that `trainyard.bench` compares with."""
        lib.ty_pool_step_random(self._pool, 0, group, seed, rounds)

    def reset(
        self, which: npt.NDArray[np.bool_] | None, seeds: npt.NDArray[np.uint64] | None
    ) -> None:
        lib.ty_pool_reset(
            self._pool,
            None if which is None else which.ctypes.data,
            None if seeds is None else seeds.ctypes.data,
        )

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
        return _lib.write_text(lib.ty_text, self.ruleset.handle, self.state_address(slot), seat)

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

    def rollout(
        self,
        slot: int,
        agent: str,
        keys: npt.NDArray[np.uint64],
        seat: int,
        max_steps: int,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        pointer: Any = ctypes.cast(self.ruleset.find_agent(agent), ctypes.c_void_p)
        earned = np.empty((len(keys), self.ruleset.players), dtype=np.float32)
        metrics = np.empty((len(keys), len(self.ruleset.metrics)), dtype=np.int32)
        for start in range(0, len(keys), _ROLLOUT_CHUNK):
            part = slice(start, min(start + _ROLLOUT_CHUNK, len(keys)))
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
        return earned, metrics
