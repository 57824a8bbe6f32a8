"""RLlib: the seats as agents that act in turn, and a network that respects the masks.

>>> from ray.rllib.algorithms.ppo import PPOConfig
>>> import trainyard.rllib
>>> config = trainyard.rllib.configure(PPOConfig(), "convoi", board="tiny", reward="shaped")
>>> config.build_algo().train()

Only the seat that is to act is in the observations, which is how RLlib knows turns. One network
plays all seats (rows are relative to their seat); give `policies` of your own to tell them apart.
For rollouts on a cluster, with a whole pool on every node, see examples/ray_rollouts.py; for env
runners with a daemon on every node, examples/cluster.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from torch import nn

from .adapter import Table, expanded_space, metrics_of, row_space
from .cluster import here

#: Logits of actions that the mask forbids: far below any other, and still finite.
_NEVER = -1e30


class Env(MultiAgentEnv):
    """A game in which players player_0, player_1, ... act in turn.

    Settings come as RLlib gives them, in one dictionary:

    >>> env = trainyard.rllib.Env({"game": "convoi", "board": "tiny", "expand": False})

    Besides those of the game there are `seats`, `max_steps` and `illegal` as in `trainyard.make`
    and `expand` (True): observations as float32 for a network instead of bytes. `daemon` (False)
    has the episodes in the daemon of the node that the environment is on (`trainyard.cluster`),
    through shared memory.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        settings = dict(config or {})
        self._expand: bool = settings.pop("expand", True)
        if settings.pop("daemon", False):
            settings |= {"backend": "shm", "endpoint": here()}
        self.table = Table(
            settings.pop("game", "convoi"),
            seats=settings.pop("seats", ()),
            max_steps=settings.pop("max_steps", 0),
            illegal=settings.pop("illegal", "noop"),
            mask="both",
            config=settings,
        )
        ruleset = self.table.pool.ruleset
        rows = expanded_space(ruleset) if self._expand else row_space(ruleset)
        masks = spaces.Box(0.0, 1.0, (ruleset.action_count,), dtype=np.float32)
        self.possible_agents = list(self.table.seats)
        self.agents = list(self.possible_agents)
        self.observation_spaces = {
            name: spaces.Dict({"observations": rows, "action_mask": masks})
            for name in self.possible_agents
        }
        self.action_spaces = dict(self.table.action_space)

    def _observe(self, name: str) -> dict[str, Any]:
        row = self.table.row(name)
        return {
            "observations": self.table.pool.ruleset.expand(row) if self._expand else row,
            "action_mask": self.table.mask(name).astype(np.float32),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self.table.reset(seed)
        self.agents = list(self.possible_agents)
        return {self.table.acting: self._observe(self.table.acting)}, {}

    def step(
        self, action_dict: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        table, acting = self.table, self.table.acting
        rewards = table.take(action_dict[acting])
        over = table.over
        names = self.possible_agents if over else [table.acting]
        observations = {name: self._observe(name) for name in names}
        infos: dict[str, Any] = {name: {} for name in names}
        if acting in infos and table.pool.illegal[0]:
            infos[acting]["illegal"] = True
        if over:
            for name in names:
                infos[name] |= metrics_of(table.pool, 0)
        terminated = bool(table.pool.terminated[0])
        truncated = bool(table.pool.truncated[0])
        terminateds = dict.fromkeys(names, terminated) if over else {}
        truncateds = dict.fromkeys(names, truncated) if over else {}
        terminateds["__all__"], truncateds["__all__"] = terminated, truncated
        return observations, rewards, terminateds, truncateds, infos

    def render(self) -> Any:
        return self.table.pool.text()

    def close(self) -> None:
        self.table.pool.close()


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """An actor and a critic on one body; forbidden actions get no probability.

    model_config: {"hidden": [256, 256]}
    """

    def setup(self) -> None:
        assert isinstance(self.observation_space, spaces.Dict)
        assert isinstance(self.action_space, spaces.Discrete)
        box = self.observation_space["observations"]
        assert isinstance(box, spaces.Box)
        width = int(np.prod(box.shape))
        layers: list[nn.Module] = []
        for size in (self.model_config or {}).get("hidden", [256, 256]):
            layers += [nn.Linear(width, size), nn.Tanh()]
            width = size
        self._body = nn.Sequential(*layers)
        self._actor = nn.Linear(width, int(self.action_space.n))
        self._critic = nn.Linear(width, 1)

    def _features(self, batch: dict[str, Any]) -> torch.Tensor:
        features: torch.Tensor = self._body(batch[Columns.OBS]["observations"].float())
        return features

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        features = self._features(batch)
        allowed = batch[Columns.OBS]["action_mask"] > 0.5
        logits = self._actor(features).masked_fill(~allowed, _NEVER)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: features}

    def compute_values(
        self, batch: dict[str, Any], embeddings: torch.Tensor | None = None
    ) -> torch.Tensor:
        features = self._features(batch) if embeddings is None else embeddings
        values: torch.Tensor = self._critic(features).squeeze(-1)
        return values


def configure(
    config: Any,
    game: str = "convoi",
    *,
    seats: Sequence[str | None] = (),
    hidden: Sequence[int] = (256, 256),
    **settings: Any,
) -> Any:
    """Completes an algorithm's configuration: environment, one policy, masked network. `settings`
    are those of `Env`.

    >>> configure(PPOConfig(), "convoi", board="europe", reward="shaped").env_runners(...)
    """
    return (
        config.environment(Env, env_config={"game": game, "seats": list(seats), **settings})
        .multi_agent(policies={"shared"}, policy_mapping_fn=_shared)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule, model_config={"hidden": list(hidden)}
            )
        )
    )


def _shared(agent: Any, *_: Any, **__: Any) -> str:
    return "shared"
