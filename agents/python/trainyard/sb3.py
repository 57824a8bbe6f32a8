"""Stable-Baselines3: a pool as its VecEnv, with the masks that MaskablePPO asks for.

>>> from sb3_contrib import MaskablePPO
>>> from trainyard.sb3 import VecEnv
>>> env = VecEnv("convoi", num_envs=64, board="europe", reward="shaped")
>>> MaskablePPO("MlpPolicy", env).learn(100_000)

Observations are expanded (one-hot float32) by the library; expand=False gives the rows of bytes.
The masks stand beside the observations in the pool: `action_masks` costs a copy, no traffic.
In a competitive game the learner has one seat, the first unless `seats` says otherwise, against the
expert; several rival seats are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from stable_baselines3.common.vec_env import VecEnv as BaseVecEnv

from .adapter import (
    Endings,
    check_render_mode,
    expanded_space,
    learner_seats,
    metrics_of,
    row_space,
)
from .pool import make


class VecEnv(BaseVecEnv):
    """Many episodes for one learner, which drives every seat of a team, or one against rivals.

    Arrays are the caller's own; with copy=False observations are rewritten by the next step.
    """

    def __init__(
        self,
        game: str = "convoi",
        num_envs: int = 1,
        *,
        seats: Sequence[str | None] = (),
        expand: bool = True,
        illegal: str = "noop",
        max_steps: int = 0,
        copy: bool = True,
        threads: int = 1,
        backend: str = "inproc",
        endpoint: str | None = None,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        check_render_mode(render_mode)
        self.pool = make(
            game,
            num_envs=num_envs,
            seats=learner_seats(game, seats, config),
            autoreset="same_step",
            illegal=illegal,
            max_steps=max_steps,
            threads=threads,
            backend=backend,
            endpoint=endpoint,
            **config,
        )
        ruleset = self.pool.ruleset
        space = expanded_space(ruleset) if expand else row_space(ruleset)
        self.render_mode = render_mode
        self._expand = expand
        self._copy = copy
        self._buffer = None if copy or not expand else np.empty((num_envs, *space.shape), "f4")
        self._endings = Endings(self.pool)
        self._carry = np.zeros(num_envs)
        self._seeded = False
        super().__init__(num_envs, space, spaces.Discrete(ruleset.action_count))

    def _observation(self, rows: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        if self._expand:
            return self.pool.ruleset.expand(rows, self._buffer)
        return rows.copy() if self._copy else rows

    def reset(self) -> npt.NDArray[Any]:
        if self._seeds[0] is not None:
            self.pool.reset(seeds=np.array(self._seeds, dtype=np.uint64))
        elif not self._seeded:
            self.pool.reset(seeds=seeding.np_random()[0].integers(1 << 62, size=self.num_envs))
        else:
            self.pool.reset()
        self._seeded = True
        self._reset_seeds()
        self._reset_options()
        self._carry = self.pool.earned[:, 0].astype(np.float64)
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return self._observation(self.pool.obs)

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        self._endings.before_step()
        self.pool.send(0, np.asarray(actions))

    def step_wait(
        self,
    ) -> tuple[
        npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]
    ]:
        pool = self.pool
        pool.recv(0)
        # What was earned before the first question comes with the first step that is taken.
        taken = ~pool.illegal if pool.options.illegal == "noop" else True
        reward = pool.earned[:, 0].astype(np.float64) + np.where(taken, self._carry, 0.0)
        self._carry = np.where(taken, 0.0, self._carry)
        ended = pool.terminated | pool.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for slot in np.flatnonzero(pool.illegal):
            infos[slot]["illegal"] = True
        if ended.any():
            self._add_endings(infos, ended)
        return self._observation(pool.obs), reward.astype(np.float32), ended, infos

    def _add_endings(self, infos: list[dict[str, Any]], ended: npt.NDArray[np.bool_]) -> None:
        rows = self._endings.rows(ended)
        last = self.pool.ruleset.expand(rows) if self._expand else rows
        for slot, observation in zip(np.flatnonzero(ended), last, strict=True):
            infos[slot]["terminal_observation"] = observation
            infos[slot]["TimeLimit.truncated"] = bool(self.pool.truncated[slot])
            infos[slot] |= metrics_of(self.pool, int(slot))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The masks of all environments: [num_envs, actions]."""
        return self.pool.mask.copy()

    def close(self) -> None:
        self.pool.close()

    def get_images(self) -> Sequence[Any]:
        return [None] * self.num_envs

    # ---- What SB3 asks of "each environment". There is one pool, so there is one answer.

    def _count(self, indices: int | Iterable[int] | None) -> int:
        return len(list(self._get_indices(indices)))

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        return [getattr(self, attr_name)] * self._count(indices)

    def set_attr(
        self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None
    ) -> None:
        setattr(self, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: int | Iterable[int] | None = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        if method_name == "action_masks":
            return [self.pool.mask[index] for index in self._get_indices(indices)]
        method = getattr(self, method_name)
        return [method(*method_args, **method_kwargs)] * self._count(indices)

    def env_is_wrapped(
        self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        return [False] * self._count(indices)
