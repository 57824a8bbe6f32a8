"""PettingZoo: the seats as agents, one after the other (AEC) or all at once (Parallel).

>>> import trainyard.pettingzoo
>>> env = trainyard.pettingzoo.env("convoi", board="europe", players=2)
>>> env.reset(seed=7)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     over = terminated or truncated
...     env.step(None if over else policy(observation["observation"], observation["action_mask"]))

Agents are called player_0, player_1, ... by their seats. The mask is in the observation and in
`info`. In the parallel form everybody answers at every step, and a seat that is not to act may only
wait (action 0). `state()` is the privileged row, everything there is to know. Actions that the mask
forbids change nothing and are told in `info["illegal"]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv, ParallelEnv

from .adapter import masked_space, row_space
from .pool import make
from .ruleset import games

_METADATA = {"render_modes": ["ansi"], "name": "trainyard_v0", "is_parallelizable": True}


class _Table:
    """One slot, seen by the seats that are ours."""

    def __init__(self, game: str, seats: Sequence[str | None], max_steps: int, config: Any) -> None:
        self.pool = make(
            game, seats=seats, max_steps=max_steps, autoreset="disabled", illegal="noop", **config
        )
        self.seats = {f"player_{seat}": seat for seat in self.pool.seats}
        self.names = {seat: name for name, seat in self.seats.items()}
        self.observation_space = {name: masked_space(self.pool.ruleset) for name in self.seats}
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
        if not self.pool.illegal[0]:
            earned += self._carry
            self._carry[:] = 0
        return {name: float(earned[i]) for i, name in enumerate(self.seats)}

    def mask(self, name: str) -> npt.NDArray[np.int8]:
        if self.over:
            return np.zeros(self.pool.ruleset.action_count, dtype=np.int8)
        return self.pool.legal_mask(0, self.seats[name]).view(np.int8)

    def observe(self, name: str) -> dict[str, Any]:
        return {
            "observation": self.pool.observe(0, self.seats[name]),
            "action_mask": self.mask(name),
        }

    def info(self, name: str, *, illegal: bool) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.mask(name), "illegal": illegal}
        if self.over:
            info["metrics"] = self.pool.metrics[0].copy()
        return info

    def state(self) -> npt.NDArray[np.uint8]:
        return self.pool.observe(0, 0, full=True)


class AEC(AECEnv[str, Any, Any]):
    """One agent after the other, in the order of the game. See `env`."""

    metadata: ClassVar[dict[str, Any]] = _METADATA

    def __init__(
        self,
        game: str = "convoi",
        *,
        seats: Sequence[str | None] = (),
        max_steps: int = 0,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        super().__init__()
        self.table = _Table(game, seats, max_steps, config)
        self.possible_agents = list(self.table.seats)
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.state_space = self.table.state_space

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.table.observation_space[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.table.action_space[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.table.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._tell(illegal=None)
        self.agent_selection = self.table.acting

    def _tell(self, illegal: str | None) -> None:
        terminated = bool(self.table.pool.terminated[0])
        truncated = bool(self.table.pool.truncated[0])
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {name: self.table.info(name, illegal=name == illegal) for name in self.agents}

    def observe(self, agent: str) -> dict[str, Any]:
        return self.table.observe(agent)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.rewards = self.table.take(action)
        self._tell(illegal=agent if self.table.pool.illegal[0] else None)
        if not self.table.over:
            self.agent_selection = self.table.acting
        self._accumulate_rewards()

    def state(self) -> npt.NDArray[np.uint8]:
        return self.table.state()

    def render(self) -> Any:
        return self.table.pool.text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        self.table.pool.close()


class Parallel(ParallelEnv[str, Any, Any]):
    """All agents at once; those who are not to act wait. See `parallel_env`."""

    metadata: ClassVar[dict[str, Any]] = _METADATA

    def __init__(
        self,
        game: str = "convoi",
        *,
        seats: Sequence[str | None] = (),
        max_steps: int = 0,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        self.table = _Table(game, seats, max_steps, config)
        self.possible_agents = list(self.table.seats)
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.state_space = self.table.state_space

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.table.observation_space[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.table.action_space[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self.table.reset(seed)
        self.agents = list(self.possible_agents)
        observations = {name: self.table.observe(name) for name in self.agents}
        return observations, {name: self.table.info(name, illegal=False) for name in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        table, names = self.table, self.agents
        if not names:
            return {}, {}, {}, {}, {}
        acting = table.acting
        illegal = {name: int(actions.get(name, 0)) != 0 for name in names}
        rewards = table.take(actions[acting])
        illegal[acting] = bool(table.pool.illegal[0])
        observations = {name: table.observe(name) for name in names}
        infos = {name: table.info(name, illegal=illegal[name]) for name in names}
        terminated = dict.fromkeys(names, bool(table.pool.terminated[0]))
        truncated = dict.fromkeys(names, bool(table.pool.truncated[0]))
        if table.over:
            self.agents = []
        return observations, rewards, terminated, truncated, infos

    def state(self) -> npt.NDArray[np.uint8]:
        return self.table.state()

    def render(self) -> Any:
        return self.table.pool.text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        self.table.pool.close()


#: PettingZoo's names for the two.
env = raw_env = AEC
parallel_env = Parallel


def register_envs() -> None:
    """Registers an id for every game where PettingZoo has a registry (1.27 and later).

    >>> pettingzoo.make("aec", "trainyard/Convoi-v0", board="europe")
    """
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return
    for game in games():
        name = f"trainyard/{game.name.title().replace('_', '')}-v0"
        kwargs = {"game": game.name}
        pettingzoo.register("aec", name, "trainyard.pettingzoo:AEC", kwargs=kwargs)
        pettingzoo.register("parallel", name, "trainyard.pettingzoo:Parallel", kwargs=kwargs)


register_envs()
