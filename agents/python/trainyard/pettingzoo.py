"""PettingZoo: the seats as agents, one after the other (AEC) or all at once (Parallel).

>>> import trainyard.pettingzoo
>>> env = trainyard.pettingzoo.env("convoi", board="europe", players=2)
>>> env.reset(seed=7)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     over = terminated or truncated
...     env.step(None if over else policy(observation["observation"], observation["action_mask"]))

Agents are called player_0, player_1, ... by their seats. The mask is in the observation, with
mask="info" in `info` instead, and with mask="both" in both. In the parallel form everybody answers
at every step, and a seat that is not to act may only wait (action 0). `state()` is the privileged
row, everything there is to know. Actions that the mask forbids change nothing and are told in
`info["illegal"]`. `info` always has the same keys; its metrics are zero until the end. `max_cycles`
is PettingZoo's name for `max_steps`: decisions after which an episode is truncated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from .adapter import RENDER_MODES, Table, check_render_mode, close_pool, render
from .errors import Error
from .ruleset import games

# Seats do not act in a fixed order, so PettingZoo cannot convert one form into the other by itself;
# there is `parallel_env` for that.
_METADATA = {"render_modes": [*RENDER_MODES], "name": "trainyard_v0", "is_parallelizable": False}


class _Seated:
    """What both interfaces have: a table, and the agents that sit at it."""

    metadata: ClassVar[dict[str, Any]] = _METADATA

    def __init__(
        self,
        game: str = "convoi",
        *,
        seats: Sequence[str | None] = (),
        illegal: str = "noop",
        max_steps: int = 0,
        max_cycles: int = 0,
        mask: str = "obs",
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        super().__init__()
        check_render_mode(render_mode, *RENDER_MODES)
        if max_steps and max_cycles:
            raise Error("max_steps and max_cycles: they are the same, give one")
        self.table = Table(
            game,
            seats=seats,
            max_steps=max_steps or max_cycles,
            illegal=illegal,
            mask=mask,
            config=config,
        )
        self.possible_agents = list(self.table.seats)
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.state_space = self.table.state_space
        self.observation_spaces = self.table.observation_space
        self.action_spaces: dict[str, spaces.Space[Any]] = dict(self.table.action_space)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.table.observation_space[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def state(self) -> npt.NDArray[np.uint8]:
        return self.table.state()

    def render(self) -> Any:
        return render(self.table.pool, self.render_mode)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        close_pool(self.table.pool)


class AEC(_Seated, AECEnv[str, Any, Any]):
    """One agent after the other, in the order of the game. See `env`."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.table.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._tell(illegal=None)
        self.agent_selection = self.table.acting
        self._show()

    def _tell(self, illegal: str | None) -> None:
        terminated = bool(self.table.pool.terminated[0])
        truncated = bool(self.table.pool.truncated[0])
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {name: self.table.info(name, illegal=name == illegal) for name in self.agents}

    def observe(self, agent: str) -> Any:
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
        self._show()


class Parallel(_Seated, ParallelEnv[str, Any, Any]):
    """All agents at once; those who are not to act wait. See `parallel_env`."""

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
