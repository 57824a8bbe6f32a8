"""Frameworks beyond those that have an adapter of their own: how each takes our environments.

    python examples/frameworks.py [NAME ...]

Each function is a few lines to copy. Those whose framework is not installed are named and left out;
one that fails is reported, and the exit status is 1.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import trainyard.gym
import trainyard.pettingzoo

SMALL: dict[str, Any] = {"board": "tiny", "max_steps": 60}


def minari() -> str:
    """A dataset of random play, with infos."""
    from minari import DataCollector

    env = gymnasium.make("trainyard/Convoi-v0", **SMALL)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MINARI_DATASETS_PATH"] = folder
        collector = DataCollector(env, record_infos=True)
        for seed in range(2):
            _, info = collector.reset(seed=seed)
            over = False
            while not over:
                action = env.action_space.sample(info["action_mask"])
                _, _, terminated, truncated, info = collector.step(action)
                over = terminated or truncated
        dataset = collector.create_dataset("trainyard/random-v0")
        goods = [episode.infos["metric_goods"][-1] for episode in dataset]
        return f"{dataset.total_episodes} episodes, {dataset.total_steps} steps, goods {goods}"


def supersuit() -> str:
    """PettingZoo's parallel form through SuperSuit's wrappers, as a vector environment."""
    import supersuit

    env = trainyard.pettingzoo.parallel_env("convoi", mask="info", **SMALL)
    env = supersuit.dtype_v0(env, np.float32)
    envs = supersuit.concat_vec_envs_v1(
        supersuit.pettingzoo_env_to_vec_env_v1(env), 2, num_cpus=0, base_class="gymnasium"
    )
    _, infos = envs.reset(seed=0)
    total = 0.0
    for _ in range(100):
        masks = [info["action_mask"] for info in infos]
        _, rewards, _, _, infos = envs.step(np.array([mask.argmax() for mask in masks]))
        total += float(rewards.sum())
    return f"{envs.num_envs} agents, 100 steps, rewards {total}"


def skrl() -> str:
    """A native vector environment in skrl's wrapper, which has tensors."""
    import torch
    from skrl.envs.wrappers.torch import wrap_env

    envs = trainyard.gym.VectorEnv("convoi", 8, autoreset_mode="SameStep", expand=True, **SMALL)
    env = wrap_env(envs, wrapper="gymnasium")
    states, infos = env.reset()
    for _ in range(100):
        masks = torch.as_tensor(infos["action_mask"]).float()
        states, _, _, _, infos = env.step(torch.multinomial(masks, 1))
    return f"{env.num_envs} environments, 100 steps, {tuple(states.shape)} {states.dtype}"


def tianshou() -> str:
    """Tianshou's own vector of single environments."""
    from tianshou.env import DummyVectorEnv

    envs = DummyVectorEnv([lambda: trainyard.gym.Env("convoi", **SMALL) for _ in range(3)])
    _, infos = envs.reset()
    for _ in range(100):
        actions = np.array([info["action_mask"].argmax() for info in infos])
        _, _, terminated, truncated, infos = envs.step(actions)
        over = np.flatnonzero(terminated | truncated)
        if len(over):
            _, fresh = envs.reset(over)
            for place, info in zip(over, fresh, strict=True):
                infos[place] = info
    return f"{len(envs)} environments, 100 steps"


def pufferlib() -> str:
    """PufferLib's emulation, of a single environment and of one with agents.

    Its package (3.0.0) builds simulators in C with libraries from GitHub and wants NumPy below 2.
    Emulation is Python alone: its source on PYTHONPATH, with gym and shimmy, will do.
    """
    from pufferlib.emulation import GymnasiumPufferEnv, PettingZooPufferEnv

    env = GymnasiumPufferEnv(trainyard.gym.Env("convoi", **SMALL))
    _, info = env.reset(seed=0)
    for _ in range(100):
        _, _, terminated, truncated, info = env.step(info["action_mask"].argmax())
        if terminated or truncated:
            _, info = env.reset()
    form = trainyard.pettingzoo.parallel_env("convoi", mask="info", **SMALL)
    agents = PettingZooPufferEnv(form)
    _, infos = agents.reset(seed=0)
    for _ in range(100):
        actions = {name: info["action_mask"].argmax() for name, info in infos.items()}
        _, _, _, _, infos = agents.step(actions)
        if agents.done:
            _, infos = agents.reset()
    return f"100 steps of 1 agent, and of {agents.num_agents}, rows of {len(env.observations[0])}"


def agilerl() -> str:
    """AgileRL's vector of parallel environments, in processes of their own."""
    from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv

    envs = AsyncPettingZooVecEnv(
        [lambda: trainyard.pettingzoo.parallel_env("convoi", mask="info", **SMALL)] * 2
    )
    _, infos = envs.reset(seed=0)
    for _ in range(50):
        actions = {
            name: np.array([mask.argmax() for mask in infos[name]["action_mask"]])
            for name in envs.agents
        }
        _, _, _, _, infos = envs.step(actions)
    envs.close()
    return f"{envs.num_envs} environments, 50 steps"


FRAMEWORKS: list[Callable[[], str]] = [minari, supersuit, skrl, tianshou, pufferlib, agilerl]


def main(names: list[str]) -> int:
    failed = 0
    for try_it in FRAMEWORKS:
        name = try_it.__name__
        if names and name not in names:
            continue
        if importlib.util.find_spec(name) is None:
            print(f"{name:10} not installed")
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                print(f"{name:10} ok: {try_it()}")
        except ImportError as error:
            print(f"{name:10} not installed completely: {error}")
        except Exception:
            failed += 1
            print(f"{name:10} FAILED\n{traceback.format_exc(limit=-4)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
