"""Stable-Baselines3: the VecEnv against its own DummyVecEnv, and a trainer on it."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import trainyard
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from trainyard.gym import Env
from trainyard.sb3 import VecEnv


def test_single_env_passes_their_checker():
    check_env(Env("convoi", board="tiny"), warn=False)


@pytest.mark.parametrize("backend", ["inproc", "shm", "zmq"])
@pytest.mark.parametrize("seats", [(), [None, "random"]])
def test_vec_env_does_what_dummy_vec_env_does(seats, backend):
    settings = {"board": "tiny", "max_steps": 30, "reward": "shaped", "seats": seats}
    ours = VecEnv("convoi", 4, expand=False, backend=backend, **settings)
    theirs = DummyVecEnv([lambda: Env("convoi", **settings) for _ in range(4)])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    ours.seed(17)
    theirs.seed(17)
    assert (ours.reset() == theirs.reset()).all()
    rng = np.random.default_rng(1)
    for _ in range(200):
        masks = get_action_masks(ours)
        assert (masks == get_action_masks(theirs)).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        if rng.random() < 0.1:
            actions[1] = 0
        a, b = ours.step(actions), theirs.step(actions)
        assert (a[0] == b[0]).all()
        assert (a[1] == b[1]).all()
        assert (a[2] == b[2]).all()
        for mine, other in zip(a[3], b[3], strict=True):
            assert mine.get("illegal", False) == other["illegal"]
            assert ("terminal_observation" in mine) == ("terminal_observation" in other)
            if "terminal_observation" in mine:
                assert (mine["terminal_observation"] == other["terminal_observation"]).all()
                assert mine["TimeLimit.truncated"] == other["TimeLimit.truncated"]
                assert mine["metric_goods"] == other["metric_goods"]


def test_arrays_of_three_steps_are_kept():
    for expand in (True, False):
        env = VecEnv("convoi", 4, board="tiny", max_steps=9, expand=expand)
        held = [env.reset()]
        kept = copy.deepcopy(held)
        for _ in range(25):
            held.append(env.step(env.pool.sample().copy())[0])
            kept.append(held[-1].copy())
        assert all((a == b).all() for a, b in zip(held, kept, strict=True))


def test_maskable_ppo_trains():
    env = VecMonitor(VecEnv("convoi", 8, board="tiny", reward="shaped", illegal="error"))
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=128, n_epochs=2, seed=0)
    before = [p.clone() for p in model.policy.parameters()]
    model.learn(1024)
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    assert model.num_timesteps >= 1024
    obs = env.reset()
    action, _ = model.predict(obs, action_masks=get_action_masks(env))
    assert get_action_masks(env)[np.arange(8), action].all()


def test_rivals():
    assert VecEnv("nordic").pool.options.seats == (None, "expert")
    with pytest.raises(trainyard.Error, match="are rivals"):
        VecEnv("nordic", seats=[None, None])


def test_modes_that_cannot_be_rendered_are_refused():
    with pytest.raises(trainyard.Error, match="render_mode='ansi'"):
        VecEnv("convoi", render_mode="ansi")


def test_make_vec_env_is_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make_vec_env("trainyard/Convoi-v0", n_envs=2, env_kwargs={"board": "tiny"})
        env.reset()
        for _ in range(20):
            actions = get_action_masks(env).argmax(axis=1)
            env.step(actions)
        env.close()
