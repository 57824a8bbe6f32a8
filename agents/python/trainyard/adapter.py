"""What the adapters share: spaces, team rewards, the ending as one learner sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding

from .backend import Rows
from .errors import Error
from .pool import Pool, make
from .ruleset import Block, Ruleset


def _bytes_high(blocks: list[Block], size: int) -> npt.NDArray[np.uint8]:
    """The largest value of every byte of a row."""
    high = np.zeros(size, dtype=np.uint8)
    for block in blocks:
        if block.width == 1:
            high[block.bytes] = min(block.maximum, 255) if block.kind != "flag" else 1
        else:
            high[block.bytes] = 255
    return np.maximum(high, 1)


def row_space(ruleset: Ruleset, *, full: bool = False) -> spaces.Box:
    """The space of observation rows, or of privileged ones."""
    blocks, size = ruleset.blocks, ruleset.row_size
    if full:
        blocks, size = ruleset.full_blocks, ruleset.full_size
    return spaces.Box(np.zeros(size, dtype=np.uint8), _bytes_high(blocks, size), dtype=np.uint8)


def expanded_space(ruleset: Ruleset) -> spaces.Box:
    """The space of expanded rows."""
    return spaces.Box(0.0, 1.0, (ruleset.expanded_size,), dtype=np.float32)


def mask_space(ruleset: Ruleset) -> spaces.Box:
    return spaces.Box(0, 1, (ruleset.action_count,), dtype=np.int8)


def masked_space(ruleset: Ruleset) -> spaces.Dict:
    """A row with its mask beside it."""
    return spaces.Dict({"observation": row_space(ruleset), "action_mask": mask_space(ruleset)})


def observation_space(ruleset: Ruleset, *, mask: str, expand: bool) -> spaces.Space[Any]:
    """The space of what a learner sees: bytes, or expanded to float32; with the mask in `info`, or
    in the observation too."""
    if mask not in ("info", "obs"):
        raise Error(f"mask={mask!r}: allowed is info, obs")
    space = expanded_space(ruleset) if expand else row_space(ruleset)
    if mask == "info":
        return space
    return spaces.Dict({"observation": space, "action_mask": mask_space(ruleset)})


def team_reward(pool: Pool, rows: Rows) -> npt.NDArray[np.float64]:
    """What our seats have earned since the slot's previous row, as one number.

    Partners share one result, so it counts once; rivals' results are added up.
    """
    if pool.ruleset.cooperative or len(pool.seats) == 1:
        return rows.earned[:, 0].astype(np.float64)
    return rows.earned.sum(axis=1, dtype=np.float64)


class Endings:
    """The terminal row of one learner that drives several seats: that of the seat it acted for
    last, also when a built-in agent made the last move."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.acting = np.zeros(pool.num_envs, dtype=np.int8)
        self._index = np.zeros(pool.ruleset.seats, dtype=np.intp)
        self._index[list(pool.seats)] = np.arange(len(pool.seats))

    def before_step(self) -> None:
        np.copyto(self.acting, self._pool.seat)

    def rows(self, ended: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
        """What the learner sees at the end of the episodes that have `ended`: [count, row_size]."""
        at = np.flatnonzero(ended)
        result: npt.NDArray[np.uint8] = self._pool.final_obs[at, self._index[self.acting[at]]]
        return result


class Table:
    """One slot, seen by the seats that are ours."""

    def __init__(
        self,
        game: str,
        *,
        seats: Sequence[str | None],
        max_steps: int,
        illegal: str,
        mask: str,
        config: Mapping[str, Any],
    ) -> None:
        if mask not in ("both", "obs", "info"):
            raise Error(f"mask={mask!r}: allowed is both, obs, info")
        self._mask = mask
        self.pool = make(
            game, seats=seats, max_steps=max_steps, autoreset="disabled", illegal=illegal, **config
        )
        self.seats = {f"player_{seat}": seat for seat in self.pool.seats}
        self.names = {seat: name for name, seat in self.seats.items()}
        ruleset = self.pool.ruleset
        self.observation_space: dict[str, spaces.Space[Any]] = {
            name: row_space(ruleset) if mask == "info" else masked_space(ruleset)
            for name in self.seats
        }
        self.action_space = {
            name: spaces.Discrete(self.pool.ruleset.action_count) for name in self.seats
        }
        self.state_space = row_space(self.pool.ruleset, full=True)
        self._seeded = False
        self._carry = np.zeros(len(self.seats), dtype=np.float32)

    def reset(self, seed: int | None) -> None:
        if seed is None and not self._seeded:
            seed = int(seeding.np_random()[0].integers(1 << 62))
        self._seeded = True
        self.pool.reset(seed=seed)
        np.copyto(self._carry, self.pool.earned[0])

    @property
    def acting(self) -> str:
        return self.names[int(self.pool.seat[0])]

    @property
    def over(self) -> bool:
        return bool(self.pool.terminated[0] or self.pool.truncated[0])

    def take(self, action: Any) -> dict[str, float]:
        """The acting seat's answer; what everybody earned by it."""
        self.pool.action[0] = action
        self.pool.step()
        earned = self.pool.earned[0].astype(float)
        if not (self.pool.illegal[0] and self.pool.options.illegal == "noop"):
            earned += self._carry
            self._carry[:] = 0
        return {name: float(earned[i]) for i, name in enumerate(self.seats)}

    def mask(self, name: str) -> npt.NDArray[np.int8]:
        if self.over:
            return np.zeros(self.pool.ruleset.action_count, dtype=np.int8)
        return self.pool.legal_mask(0, self.seats[name]).view(np.int8)

    def observe(self, name: str) -> Any:
        row = self.pool.observe(0, self.seats[name])
        return row if self._mask == "info" else {"observation": row, "action_mask": self.mask(name)}

    def info(self, name: str, *, illegal: bool) -> dict[str, Any]:
        """Always the same keys, as some wrappers need it; metrics are zero until the end."""
        metrics = self.pool.metrics[0]
        info = {"illegal": illegal, "metrics": metrics.copy() if self.over else metrics * 0}
        return info if self._mask == "obs" else {"action_mask": self.mask(name), **info}

    def state(self) -> npt.NDArray[np.uint8]:
        return self.pool.observe(0, 0, full=True)
