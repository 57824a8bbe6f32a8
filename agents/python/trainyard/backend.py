"""What a door to a pool offers: rows of columns, and a dozen calls.

A backend is one module with one class. `inproc` opens the pool in this process; `shm` and `zmq`
reach one in a daemon. `Pool` is the same object over each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _lib
from .errors import Error
from .ruleset import Ruleset

#: How long a wait in the library lasts before Python looks for signals, in ms.
PATIENCE_MS = 50
#: Columns of zeros and ones: views of these bytes as booleans.
FLAGS = frozenset({"mask", "ready", "terminated", "truncated", "illegal"})


@dataclass(frozen=True)
class Options:
    """How a pool is opened. `seats` has the name of a built-in agent, or None for ours."""

    num_envs: int = 1
    seed: int | None = None
    groups: int = 1
    threads: int = 1
    autoreset: str = "same_step"
    illegal: str = "error"
    max_steps: int = 0
    seats: tuple[str | None, ...] = ()
    full: bool = False
    hash: bool = False
    events: bool = False
    notes: bool = False
    own_chance: bool = False
    seat_timeout: float = 0.0
    on_vanish: str = "truncate"
    plain_seeds: bool | None = None
    reveal_seeds: bool = False
    watch: str = ""
    watch_delay: int = 0
    key: bytes | None = None

    def __post_init__(self) -> None:
        for key, allowed in (("autoreset", _lib.AUTORESET), ("illegal", _lib.ILLEGAL)):
            if getattr(self, key) not in allowed:
                raise Error(f"{key}={getattr(self, key)!r}: allowed is {', '.join(allowed)}")
        for key, least in (("num_envs", 1), ("groups", 0), ("threads", 0), ("max_steps", 0)):
            if not least <= int(getattr(self, key)) < 1 << 32:
                raise Error(f"{key}={getattr(self, key)}: allowed is {least}..2^32-1")
        if not 0 <= self.first_seed < 1 << 64:
            raise Error(f"seed={self.seed}: allowed is 0..2^64-1")
        if not 0 <= self.watch_delay <= 255:
            raise Error(f"watch_delay={self.watch_delay}: allowed is 0..255 decisions")
        if self.key is not None and (self.seed is not None or self.plain_seeds):
            raise Error("key: all seeds come from it; leave out seed and plain_seeds")
        if not 0 <= self.seat_timeout <= 86400:
            raise Error(f"seat_timeout={self.seat_timeout}: allowed is 0..86400 seconds")

    @property
    def first_seed(self) -> int:
        """The seed of slot 0 where seeds are plain."""
        return 0 if self.seed is None else self.seed


class Rows:
    """The columns of one group, one row per slot: views that the next step of the group rewrites.

    Write into `action` only: whatever else is written is lost with the next step. PyTorch takes
    them as they are (torch.from_numpy); through shared memory they are read-only, and PyTorch
    takes them without a warning by torch.from_dlpack, which does not copy, or torch.tensor.
    N rows, K seats that are ours, M metrics:

    obs           uint8 [N, row_size]   what the seat to act sees
    mask          bool [N, actions]     what it may do; all False in a terminal row, which stands
                                        for a step with autoreset="next_step" or "disabled"
    reward        float32 [N]           earned by the row's seat since its previous row
    earned        float32 [N, K]        earned by each of our seats since the slot's previous row
    seat          int8 [N]              whose row it is
    ready         bool [N]              an action is expected here
    terminated, truncated, illegal      bool [N]
    episode, step                       uint32 [N]; guests count their own decisions only
    seed          uint64 [N]            of the episode: it replays alone from it. 0 for guests
    metrics       int32 [N, M]          valid where an episode has just ended
    final_obs     uint8 [N, K, row_size], final_reward float32 [N, K]: the ending, for each seat
    full, hash    privileged row and hash of the state, if they were asked for
    action        int32 [N]             our answer
    """

    obs: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.bool_]
    reward: npt.NDArray[np.float32]
    earned: npt.NDArray[np.float32]
    seat: npt.NDArray[np.int8]
    ready: npt.NDArray[np.bool_]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    illegal: npt.NDArray[np.bool_]
    episode: npt.NDArray[np.uint32]
    step_count: npt.NDArray[np.uint32]
    seed: npt.NDArray[np.uint64]
    metrics: npt.NDArray[np.int32]
    final_obs: npt.NDArray[np.uint8]
    final_reward: npt.NDArray[np.float32]
    full: npt.NDArray[np.uint8]
    hash: npt.NDArray[np.uint64]
    action: npt.NDArray[np.int32]
    #: The slot of the first row.
    first: int

    def _take_columns(self, first: int, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self.first = first
        for name, column in columns.items():
            # `step` is a verb of the pool.
            setattr(self, "step_count" if name == "step" else name, column)


class Group(Rows):
    """One group of a pool: its columns, and where its slots begin."""

    def __init__(self, first: int, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._take_columns(first, columns)

    def __len__(self) -> int:
        return len(self.seat)


def padded(size: int) -> int:
    """The next multiple of 64."""
    return -(-size // 64) * 64


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """Zeroed memory at an address that is a multiple of 64."""
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]


def slab_columns(
    slab: Any,
    group: int,
    rows: npt.NDArray[np.uint8],
    commands: npt.NDArray[np.uint8],
) -> dict[str, npt.NDArray[Any]]:
    """The columns of a group as arrays over the memory of a slab."""
    layout = slab.group[group]
    per_seat = {"earned", "final_reward", "final_obs"}
    result: dict[str, npt.NDArray[Any]] = {}
    for index, name in enumerate(_lib.COLUMNS):
        column = layout.columns[index]
        if column.width == 0:
            continue
        dtype = np.dtype(np.bool_ if name in FLAGS else _lib.TYPES[column.type])
        size = layout.rows * column.width * dtype.itemsize
        memory = commands if name == "action" else rows
        array = memory[column.offset : column.offset + size].view(dtype)
        shape: tuple[int, ...] = (layout.rows,)
        if name in per_seat:
            shape = (layout.rows, slab.seat_count, column.width // slab.seat_count)
            shape = shape if name == "final_obs" else shape[:2]
        elif column.width > 1 or name in {"obs", "mask", "metrics", "full"}:
            shape = (layout.rows, column.width)
        result[name] = array.reshape(shape)
    return result


class Backend(Protocol):
    """What `Pool` needs of a door. Slots and groups are checked by the caller."""

    ruleset: Ruleset
    groups: list[Group]
    seats: tuple[int, ...]

    @property
    def whole(self) -> Group | None:
        """The columns of all slots as one, where several groups have them."""

    def check(self) -> None:
        """Raises what every call is to say once the pool is lost."""

    def send(self, group: int, number: int) -> None:
        """Begins a step of the group with the actions in its column. The steps of a group are
        numbered from 1 on: however often an interrupt makes us ask, each is taken once."""

    def recv(self, group: int, number: int) -> int:
        """Waits for the step, which is begun if it was not; says how many actions were refused
        (illegal="error")."""

    def arrived(self, group: int, number: int) -> bool:
        """Whether `recv` would hardly wait. Begins the step if it was not."""

    def sample(self, group: int, seed: int) -> None:
        """Writes random legal actions into the group's column."""

    def reset(
        self,
        which: npt.NDArray[np.bool_] | None,
        seeds: npt.NDArray[np.uint64] | None,
        episodes: npt.NDArray[np.uint64] | None,
        timeout: float | None,
    ) -> None:
        """Begins new episodes; an Error with code "timeout" if that takes longer than so many
        seconds."""

    def observe(self, slot: int, seat: int, *, full: bool) -> npt.NDArray[np.uint8]:
        """The row of any seat."""

    def legal(self, slot: int, seat: int) -> npt.NDArray[np.bool_]:
        """The mask of any seat."""

    def text(self, slot: int, seat: int) -> str:
        """What a seat sees, in words."""

    def svg(self, slot: int, seat: int, *, everything: bool) -> str:
        """What a seat sees, or everything, as a drawing."""

    def events_json(self, slot: int, seat: int) -> str:
        """What happened between the last two rows of a seat, as JSON."""

    def note(self, slot: int, notes: bytes) -> None:
        """What we think of our choices in a slot goes with its next action: 16 bytes for each."""

    def state_json(self, slot: int) -> str:
        """The whole state as JSON."""

    def state_hash(self, slot: int) -> int:
        """The identity of the state."""

    def save(self, slot: int) -> bytes:
        """A snapshot of a slot."""

    def restore(
        self,
        snapshot: bytes,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
        *,
        foreign: bool,
    ) -> None:
        """Puts a snapshot into slots."""

    def fork(
        self,
        slot: int,
        slots: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64] | None,
        seat: int,
    ) -> None:
        """Copies a slot into others."""

    def rollout(
        self,
        slot: int,
        agent: str,
        keys: npt.NDArray[np.uint64],
        seat: int,
        max_steps: int,
        timeout: float | None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Plays copies of a slot on; what each player earned, and the metrics at the end. Raises an
        Error with code "timeout" if that takes longer than so many seconds."""

    def close(self) -> None:
        """Gives everything back. May be called twice."""


def seat_agents(ruleset: Ruleset, seats: Sequence[str | None]) -> tuple[str | None, ...]:
    """Who plays which seat: checks `seats` and completes it."""
    if not seats:
        return (None,) * ruleset.players
    if len(seats) != ruleset.players:
        raise Error(
            f"seats has {len(seats)} entries for {ruleset.players} players; "
            "name a built-in agent or None (yours) for each"
        )
    return tuple(None if seat in (None, "me") else str(seat) for seat in seats)
