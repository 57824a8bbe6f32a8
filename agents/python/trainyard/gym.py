"""Gymnasium: one environment, a native vector of them, and their ids.

>>> import gymnasium, trainyard.gym
>>> env = gymnasium.make("trainyard/Convoi-v0", board="europe", players=2)
>>> envs = gymnasium.make_vec("trainyard/Convoi-v0", num_envs=1024, seats=[None, "expert"])

One learner plays. In a cooperative game it drives every seat that is not given to a built-in agent,
and the reward is what the team earned since its previous observation. In a competitive game it has
one seat, the first unless `seats` says otherwise, against the expert; several rival seats are
refused. Observations are rows of bytes, with expand=True float32 for
a network (one-hot categories, everything in 0..1). The mask is in `info["action_mask"]`, with
mask="obs" in the observation too; at the end of an episode it allows `wait` alone, which does
nothing. Actions that it forbids change nothing and are told in `info["illegal"]`. `info` always has
the same keys; metrics (`info["metric_goods"]`) are zero until the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from .adapter import (
    RENDER_MODES,
    RENDER_MODES_MANY,
    Endings,
    check_render_mode,
    close_pool,
    learner_seats,
    metric_keys,
    metrics_of,
    observation_space,
    render,
    terminal_mask,
)
from .pool import make
from .ruleset import games

_MODES = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "disabled",
}


class Env(gymnasium.Env[Any, Any]):
    """One episode at a time, for one learner.

    >>> env = trainyard.gym.Env("convoi", board="tiny", seats=[None, "expert"])
    >>> obs, info = env.reset(seed=7)
    >>> env.step(env.action_space.sample(info["action_mask"]))
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [*RENDER_MODES], "render_fps": 4}

    def __init__(
        self,
        game: str = "convoi",
        *,
        seats: Sequence[str | None] = (),
        illegal: str = "noop",
        max_steps: int = 0,
        mask: str = "info",
        expand: bool = False,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        check_render_mode(render_mode, *RENDER_MODES)
        self.pool = make(
            game,
            seats=learner_seats(game, seats, config),
            illegal=illegal,
            max_steps=max_steps,
            autoreset="disabled",
            **config,
        )
        ruleset = self.pool.ruleset
        self.observation_space = observation_space(ruleset, mask=mask, expand=expand)
        self.action_space = spaces.Discrete(ruleset.action_count)
        self.render_mode = render_mode
        self._mask = mask
        self._expand = expand
        self._noop = illegal == "noop"
        self._wait = terminal_mask(ruleset)
        self._no_metrics = dict.fromkeys(metric_keys(ruleset), 0)
        self._place = {seat: index for index, seat in enumerate(self.pool.seats)}
        self._seat = 0
        self._carry = 0.0
        self._seeded = False
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(1 << 62))
        self._seeded = True
        pool = self.pool
        pool.reset(seed=seed)
        self._over = not pool.ready[0]
        self._seat = int(pool.seat[0])
        # What others earned for us before our first question comes with the first step taken.
        self._carry = float(pool.earned[0, 0])
        if self.render_mode == "human":
            self.render()
        return self._told(pool.obs[0].copy(), illegal=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise ResetNeeded("the episode is over: call reset() before step()")
        pool = self.pool
        pool.action[0] = action
        pool.step()
        reward = float(pool.earned[0, 0])
        illegal = bool(pool.illegal[0])
        if self._carry and not (illegal and self._noop):
            reward, self._carry = reward + self._carry, 0.0
        terminated, truncated = bool(pool.terminated[0]), bool(pool.truncated[0])
        if terminated or truncated:
            # What the seat that we acted for sees, also if a built-in agent made the last move.
            self._over = True
            row = pool.final_obs[0, self._place[self._seat]]
        else:
            self._seat = int(pool.seat[0])
            row = pool.obs[0]
        if self.render_mode == "human":
            self.render()
        seen, info = self._told(row.copy(), illegal=illegal)
        return seen, reward, terminated, truncated, info

    def _told(self, row: npt.NDArray[np.uint8], *, illegal: bool) -> tuple[Any, dict[str, Any]]:
        """Observation and info."""
        mask = self._wait if self._over else self.pool.mask[0].view(np.int8)
        info = {
            "action_mask": mask.copy(),
            "seat": self._seat,
            "illegal": illegal,
            **(metrics_of(self.pool, 0) if self._over else self._no_metrics),
        }
        seen: Any = self.pool.ruleset.expand(row) if self._expand else row
        if self._mask == "obs":
            seen = {"observation": seen, "action_mask": mask.copy()}
        return seen, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The mask, as sb3-contrib asks for it."""
        return self._wait.view(np.bool_).copy() if self._over else self.pool.mask[0].copy()

    def render(self) -> Any:
        return render(self.pool, self.render_mode)

    def close(self) -> None:
        close_pool(self.pool)


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A pool as Gymnasium's vector environment, with its three autoreset modes.

    >>> envs = trainyard.gym.VectorEnv("convoi", num_envs=1024, autoreset_mode="SameStep")
    >>> obs, infos = envs.reset(seed=0)
    >>> envs.step(envs.pool.sample())

    Arrays are the caller's own; with copy=False observations and masks are views that the next
    step rewrites.
    """

    def __init__(
        self,
        game: str = "convoi",
        num_envs: int = 1,
        *,
        seats: Sequence[str | None] = (),
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal: str = "noop",
        max_steps: int = 0,
        mask: str = "info",
        expand: bool = False,
        copy: bool = True,
        threads: int = 1,
        backend: str = "inproc",
        endpoint: str | None = None,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        check_render_mode(render_mode, *RENDER_MODES_MANY)
        mode = AutoresetMode(autoreset_mode)
        self.pool = make(
            game,
            num_envs=num_envs,
            seats=learner_seats(game, seats, config),
            autoreset=_MODES[mode],
            illegal=illegal,
            max_steps=max_steps,
            threads=threads,
            backend=backend,
            endpoint=endpoint,
            **config,
        )
        ruleset = self.pool.ruleset
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": mode, "render_modes": [*RENDER_MODES_MANY]}
        self.autoreset_mode = mode
        self.render_mode = render_mode
        self.single_observation_space = observation_space(ruleset, mask=mask, expand=expand)
        self.single_action_space = spaces.Discrete(ruleset.action_count)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._mask = mask
        self._expand = expand
        self._copy = copy
        self._endings = Endings(self.pool)
        # A built-in agent (chance is one) may make the last move: then the pool's terminal row is
        # that of our first seat.
        self._patch = 1 < len(self.pool.seats) < ruleset.seats
        self._buffer = np.empty_like(self.pool.obs) if self._patch and not copy else None
        self._expanded = (
            np.empty((num_envs, ruleset.expanded_size), dtype=np.float32)
            if expand and not copy
            else None
        )
        self._carry = np.zeros(num_envs)
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._seeded = False

    # ---- Resetting

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed if isinstance(seed, int) else None)
        which = self._reset_mask(options)
        for part, seeds in self._seeds(seed, which):
            self.pool.reset(which=part, seeds=seeds)
        self._seeded = True
        self._over[which] = False
        self._carry[which] = self.pool.earned[which, 0]
        return self._observation(self._rows(self._over)), self._infos(which, self._over)

    def _reset_mask(self, options: dict[str, Any] | None) -> npt.NDArray[np.bool_]:
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, dtype=np.bool_)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError("options['reset_mask'] must be a NumPy array of np.bool_")
        if mask.shape != (self.num_envs,):
            raise ValueError(
                f"options['reset_mask'] must have shape ({self.num_envs},), not {mask.shape}"
            )
        if not mask.any():
            raise ValueError("options['reset_mask'] must have at least one True value")
        return mask

    def _seeds(
        self, seed: int | Sequence[int | None] | None, which: npt.NDArray[np.bool_]
    ) -> list[tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint64] | None]]:
        """The slots to reset, in up to two lots: with new seeds, and with their own."""
        if seed is None and not self._seeded:
            drawn = self.np_random.integers(1 << 62, size=self.num_envs)
            return [(which, drawn.astype(np.uint64))]
        if seed is None:
            return [(which, None)]
        if isinstance(seed, (int, np.integer)):
            return [(which, np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed))]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} environments")
        given = np.array([one is not None for one in seed])
        seeds = np.array([0 if one is None else one for one in seed], dtype=np.uint64)
        lots = [(which & given, seeds), (which & ~given, None)]
        return [(part, values) for part, values in lots if part.any()]

    # ---- Stepping

    def step(
        self, actions: Any
    ) -> tuple[
        Any,
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        pool = self.pool
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            raise ResetNeeded(
                f"{int(self._over.sum())} environments are over: "
                'reset(options={"reset_mask": terminated | truncated}) before step()'
            )
        self._endings.before_step()
        pool.step(np.asarray(actions))
        reward = self._settle(pool.earned[:, 0].astype(np.float64))
        terminated, truncated = pool.terminated.copy(), pool.truncated.copy()
        ended = terminated | truncated
        same = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._over = np.zeros_like(ended) if same else ended
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        infos = self._infos(everywhere, self._over)
        if same and ended.any():
            self._add_final(infos, ended)
        return self._observation(self._rows(self._over)), reward, terminated, truncated, infos

    def _settle(self, reward: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Rewards as Gymnasium wants them: none on the row of a reset. What built-in agents earned
        for us before our first question comes with the first step that is taken."""
        if not (self._over.any() or self._carry.any()):
            return reward
        taken = ~self._pool_refused()
        due = np.where(taken, self._carry, 0.0)
        self._carry = np.where(self._over, reward, np.where(taken, 0.0, self._carry))
        return np.where(self._over, 0.0, reward + due)

    def _pool_refused(self) -> npt.NDArray[np.bool_]:
        if self.pool.options.illegal == "noop":
            return self.pool.illegal
        return np.zeros(self.num_envs, dtype=np.bool_)

    def _rows(self, ended: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
        """The rows to hand out; `ended` are those that stand at the end of an episode."""
        if self._buffer is None and (not self._copy or (self._expand and not self._patch)):
            return self.pool.obs
        rows = self.pool.obs.copy() if self._buffer is None else self._buffer
        if self._buffer is not None:
            np.copyto(rows, self.pool.obs)
        if self._patch and ended.any():
            rows[ended] = self._endings.rows(ended)
        return rows

    def _masks(self) -> npt.NDArray[np.int8]:
        masks = self.pool.mask.view(np.int8)
        if self._copy or self._over.any():
            masks = masks.copy()
            masks[self._over, 0] = 1
        return masks

    def _observation(self, rows: npt.NDArray[np.uint8]) -> Any:
        seen = self.pool.ruleset.expand(rows, self._expanded) if self._expand else rows
        if self._mask == "info":
            return seen
        return {"observation": seen, "action_mask": self._masks()}

    def _infos(
        self, present: npt.NDArray[np.bool_], ended: npt.NDArray[np.bool_]
    ) -> dict[str, Any]:
        """The infos of the rows that are `present`, in Gymnasium's form."""
        pool = self.pool
        masks, illegal = self._masks(), pool.illegal.copy()
        seat = np.where(ended, self._endings.acting, pool.seat).astype(int)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            illegal &= ~(pool.terminated | pool.truncated)
        if not present.all():
            masks, seat = np.where(present[:, None], masks, np.int8(0)), np.where(present, seat, 0)
            illegal &= present
        infos: dict[str, Any] = {"action_mask": masks, "seat": seat, "illegal": illegal}
        infos |= self._metrics(ended & present)
        return infos | {f"_{key}": present.copy() for key in infos}

    def _metrics(self, ended: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.int64]]:
        """The metrics of all rows by name; zero but where one has `ended`."""
        table = np.where(ended, self.pool.metrics.T, 0).astype(np.int64)
        return dict(zip(metric_keys(self.pool.ruleset), table, strict=True))

    def _add_final(self, infos: dict[str, Any], ended: npt.NDArray[np.bool_]) -> None:
        """What stood at the end of episodes whose rows show the next one already."""
        pool = self.pool
        final: npt.NDArray[Any] = np.full(self.num_envs, None, dtype=object)
        blank = np.zeros((self.num_envs, pool.ruleset.action_count), dtype=np.int8)
        blank[ended, 0] = 1
        last: npt.NDArray[Any] = self._endings.rows(ended)
        if self._expand:
            last = pool.ruleset.expand(last)
        for slot, row in zip(np.flatnonzero(ended), last, strict=True):
            masked = {"observation": row, "action_mask": blank[slot].copy()}
            final[slot] = row if self._mask == "info" else masked
        info: dict[str, Any] = {
            "action_mask": blank,
            "seat": np.where(ended, self._endings.acting, 0).astype(int),
            "illegal": pool.illegal & ended,
            **self._metrics(ended),
        }
        info |= {f"_{key}": ended.copy() for key in list(info)}
        infos |= {"final_obs": final, "_final_obs": ended.copy()}
        infos |= {"final_info": info, "_final_info": ended.copy()}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The masks of all rows, as booleans."""
        return self._masks().view(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            return None
        return tuple(render(self.pool, self.render_mode, slot) for slot in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        self.pool.close()


def env_id(game: str) -> str:
    """The id of a game in Gymnasium's registry.

    >>> env_id("convoi")
    'trainyard/Convoi-v0'
    """
    return f"trainyard/{game.title().replace('_', '')}-v0"


def make_env(**settings: Any) -> Env:
    """What `gymnasium.make` calls. Of a class Gymnasium looks at the render modes, and warns before
    the class can refuse one."""
    return Env(**settings)


def register_envs() -> None:
    """Registers an id for every game of the library. Importing this module does it."""
    for game in games():
        if env_id(game.name) not in gymnasium.registry:
            gymnasium.register(
                id=env_id(game.name),
                entry_point="trainyard.gym:make_env",
                vector_entry_point="trainyard.gym:VectorEnv",
                kwargs={"game": game.name},
            )


register_envs()
