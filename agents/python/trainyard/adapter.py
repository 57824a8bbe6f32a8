"""What the adapters share: spaces, who plays which seat, the ending as one learner sees it."""

from __future__ import annotations

import importlib.util
import inspect
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding

from .backend import seat_agents
from .errors import BadKeyword, Error
from .pool import Pool, make
from .ruleset import Block, Ruleset
from .window import Window


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


def terminal_mask(ruleset: Ruleset) -> npt.NDArray[np.int8]:
    """The mask at the end of an episode: waiting is legal and does nothing, so that a policy that
    samples from every row it gets has something to sample."""
    mask = np.zeros(ruleset.action_count, dtype=np.int8)
    mask[0] = 1
    return mask


def check_render_mode(mode: str | None, *allowed: str) -> None:
    if mode is not None and mode not in allowed:
        known = ", ".join(("None", *allowed))
        raise BadKeyword(f"render_mode={mode!r}: this environment has {known}")
    if mode == "rgb_array" and None in map(importlib.util.find_spec, ("resvg_py", "PIL")):
        raise BadKeyword(f"render_mode={mode!r}: pixels need pip install 'trainyard-env[render]'")


#: What every environment can render, and what one of a single table can.
RENDER_MODES_MANY = ("ansi", "svg", "rgb_array")
RENDER_MODES = (*RENDER_MODES_MANY, "human")

_windows: weakref.WeakKeyDictionary[Pool, Window] = weakref.WeakKeyDictionary()


def render(pool: Pool, mode: str | None, slot: int = 0) -> Any:
    """The position of a slot in one of RENDER_MODES; None if nothing is to be rendered, or if it
    is shown on a page."""
    if mode == "ansi":
        return pool.text(slot)
    if mode == "human":
        if pool not in _windows:
            _windows[pool] = Window()
        _windows[pool].show(pool.svg(slot))
        return None
    if mode == "svg":
        return pool.svg(slot)
    return pool.svg(slot).rgb() if mode == "rgb_array" else None


def close_pool(pool: Pool) -> None:
    """Closes a pool, and the page on which it is shown."""
    window = _windows.pop(pool, None)
    if window is not None:
        window.close()
    pool.close()


def learner_seats(
    game: str, seats: Sequence[str | None], config: Mapping[str, Any]
) -> tuple[str | None, ...]:
    """Which seats one learner plays: all that are not given away in a cooperative game, a single
    one in a competitive game. There the other seats are the expert's unless `seats` says otherwise.

    What rivals earn adds up to nothing that could be learned from, so nobody plays two of them.
    """
    keys = set(inspect.signature(make).parameters)
    ruleset = Ruleset(game, **{key: value for key, value in config.items() if key not in keys})
    given = seat_agents(ruleset, seats)
    if ruleset.cooperative:
        return given
    if not seats:
        rival = "expert" if "expert" in ruleset.agents else "random"
        return (None, *[rival] * (ruleset.players - 1))
    ours = [seat for seat, agent in enumerate(given) if agent is None]
    if len(ours) > 1:
        raise Error(
            f"seats={list(seats)!r}: seats {', '.join(map(str, ours))} of {ruleset.game.name} are "
            "rivals, and one learner gets one reward, which would be the sum of theirs. Leave one "
            'to it and name agents for the others (seats=[None, "expert"]); for self-play, where '
            "each seat has its own reward, use trainyard.pettingzoo, trainyard.rllib, or "
            "trainyard.make and its column `earned`"
        )
    return given


def metric_keys(ruleset: Ruleset) -> list[str]:
    """The keys of metrics in an info: flat, because some frameworks take no dictionary in it."""
    return [f"metric_{name}" for name in ruleset.metrics]


def metrics_of(pool: Pool, row: int) -> dict[str, int]:
    """The metrics of a row as they stand in its info."""
    return dict(zip(metric_keys(pool.ruleset), pool.metrics[row].tolist(), strict=True))


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
        self._place = {name: index for index, name in enumerate(self.seats)}
        self._wait = terminal_mask(ruleset)
        self._no_metrics = dict.fromkeys(metric_keys(ruleset), 0)
        self._noop = illegal == "noop"
        self._seeded = False
        self._carry = np.zeros(len(self.seats), dtype=np.float32)
        # Where the slot stands, looked up once per step.
        self.acting = ""
        self.over = False

    def _look(self) -> None:
        pool = self.pool
        self.over = bool(pool.terminated[0] or pool.truncated[0])
        if not self.over:
            self.acting = self.names[int(pool.seat[0])]

    def reset(self, seed: int | None) -> None:
        if seed is None and not self._seeded:
            seed = int(seeding.np_random()[0].integers(1 << 62))
        self._seeded = True
        self.pool.reset(seed=seed)
        np.copyto(self._carry, self.pool.earned[0])
        self._look()

    def take(self, action: Any) -> dict[str, float]:
        """The acting seat's answer; what everybody earned by it."""
        pool = self.pool
        pool.action[0] = action
        pool.step()
        self._look()
        earned = pool.earned[0]
        # What was earned before the first question comes with the first step that is taken.
        if self._carry.any() and not (self._noop and pool.illegal[0]):
            earned = earned + self._carry
            self._carry[:] = 0
        return dict(zip(self.seats, earned.tolist(), strict=True))

    def mask(self, name: str) -> npt.NDArray[np.int8]:
        """Whoever is not to act may wait, and at the end that is everybody."""
        if self.over or name != self.acting:
            return self._wait.copy()
        return self.pool.mask[0].view(np.int8).copy()

    def row(self, name: str) -> npt.NDArray[np.uint8]:
        if self.over:
            final: npt.NDArray[np.uint8] = self.pool.final_obs[0, self._place[name]].copy()
            return final
        if name == self.acting:
            return self.pool.obs[0].copy()
        return self.pool.observe(0, self.seats[name])

    def observe(self, name: str) -> Any:
        row = self.row(name)
        return row if self._mask == "info" else {"observation": row, "action_mask": self.mask(name)}

    def info(self, name: str, *, illegal: bool) -> dict[str, Any]:
        """Always the same keys, as some wrappers need it; metrics are zero until the end."""
        metrics = metrics_of(self.pool, 0) if self.over else self._no_metrics
        info: dict[str, Any] = {"illegal": illegal, **metrics}
        return info if self._mask == "obs" else {"action_mask": self.mask(name), **info}

    def state(self) -> npt.NDArray[np.uint8]:
        return self.pool.observe(0, 0, full=True)
