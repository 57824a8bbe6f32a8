"""The checkers that frameworks have for environments, on our adapters: checkers.py FRAMEWORK."""

from __future__ import annotations

import sys
import warnings


def gymnasium() -> None:
    import gymnasium as gym
    import trainyard.gym
    from gymnasium.utils.env_checker import check_env

    for game in ("convoi", "nordic", "express", "chicago"):
        check_env(gym.make(trainyard.gym.env_id(game)).unwrapped, skip_render_check=True)
    gym.make_vec("trainyard/Convoi-v0", num_envs=4).reset(seed=0)


def pettingzoo() -> None:
    from pettingzoo.test import api_test, parallel_api_test
    from trainyard.pettingzoo import env, parallel_env

    for game in ("convoi", "nordic", "express", "chicago"):
        api_test(env(game), num_cycles=60)
        parallel_api_test(parallel_env(game), num_cycles=60)


def stable_baselines3() -> None:
    from stable_baselines3.common.env_checker import check_env
    from trainyard.gym import Env

    check_env(Env("convoi", board="tiny"), warn=False)


def torchrl() -> None:
    from torchrl.envs import GymWrapper, check_env_specs
    from trainyard.gym import Env

    env = GymWrapper(Env("convoi", mask="obs", board="tiny"), categorical_action_encoding=True)
    check_env_specs(env, seed=0)


def rllib() -> None:
    """RLlib has none any more: it checks environments while it trains."""
    import trainyard.rllib
    from ray.rllib.algorithms.ppo import PPOConfig

    config = PPOConfig().env_runners(num_env_runners=0)
    config = config.training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
    config = trainyard.rllib.configure(config, "convoi", board="tiny", reward="shaped")
    algorithm = config.build_algo()
    result = algorithm.train()
    algorithm.stop()
    assert result["env_runners"]["num_env_steps_sampled"] >= 128


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    globals()[sys.argv[1]]()
    print(sys.argv[1], "is content")
