"""Gymnasium: its own checks, and its own vector environment as the referee of ours."""

from __future__ import annotations

import copy
import importlib.util
from typing import Any

import gymnasium
import numpy as np
import pytest
import trainyard
import trainyard.gym
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from trainyard.gym import Env, VectorEnv

SETTINGS: list[dict[str, Any]] = [
    {"board": "tiny"},
    {"board": "tiny", "mask": "obs", "max_steps": 25},
    {"board": "tiny", "players": 3, "reward": "shaped", "seats": [None, "random", None]},
    {"board": "tiny", "reward": "shaped", "seats": ["random", None]},
    {"board": "tiny", "illegal": "lose", "seats": [None, "expert"]},
    {"board": "tiny", "chance": "seat", "reward": "shaped"},
    {"board": "tiny", "expand": True, "mask": "obs", "max_steps": 20},
    {"board": "tiny", "players": 3, "expand": True, "seats": [None, "random", None]},
    {"game": "express", "seats": [None, "random"]},
    {"game": "nordic", "players": 3, "seats": ["random", None, "random"], "max_steps": 90},
    {"game": "chicago"},
    {"board": "tiny", "backend": "shm", "max_steps": 30},
    {"board": "tiny", "backend": "zmq", "max_steps": 30},
]


def ids(settings: Any) -> str:
    return ",".join(f"{key}={value}" for key, value in settings.items())


@pytest.mark.parametrize("settings", SETTINGS, ids=ids)
def test_check_env(settings):
    check_env(Env(**settings), skip_render_check=True)


def test_check_env_by_id_with_rendering():
    env = gymnasium.make("trainyard/Convoi-v0", board="tiny", render_mode="ansi")
    check_env(env.unwrapped)
    env.reset(seed=1)
    assert "seat" in env.render()


def test_every_game_has_an_id():
    for game in trainyard.games():
        env = gymnasium.make(trainyard.gym.env_id(game.name))
        env.reset(seed=0)
        envs = gymnasium.make_vec(trainyard.gym.env_id(game.name), num_envs=3)
        assert isinstance(envs, VectorEnv)
        envs.reset(seed=0)
        envs.close()


def assert_same(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        assert len(ours) == len(theirs), where
        for i in range(len(theirs)):
            assert_same(ours[i], theirs[i], f"{where}[{i}]")
    elif theirs is None:
        assert ours is None, where
    else:
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype, where
        assert np.array_equal(ours, theirs), where


def choose(infos: Any, rng: np.random.Generator, before: np.ndarray) -> np.ndarray:
    """Mostly legal actions; now and then one that the mask forbids."""
    masks = infos["action_mask"]
    actions = before.copy()
    for i in np.flatnonzero(infos["_action_mask"]):
        legal = np.flatnonzero(masks[i])
        wild = len(legal) == 0 or rng.random() < 0.03
        actions[i] = rng.integers(masks.shape[1]) if wild else rng.choice(legal)
    return actions


@pytest.mark.parametrize("settings", SETTINGS, ids=ids)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_env_does_what_sync_vector_env_does(mode, settings):
    count = 5
    ours = VectorEnv(num_envs=count, autoreset_mode=mode, **settings)
    theirs = SyncVectorEnv([lambda: Env(**settings) for _ in range(count)], autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    rng = np.random.default_rng(5)
    a, b = ours.reset(seed=40), theirs.reset(seed=40)
    assert_same(a[0], b[0], "reset obs")
    assert_same(a[1], b[1], "reset infos")
    actions = np.zeros(count, dtype=np.int64)
    endings = 0
    for step in range(500):
        actions = choose(b[-1], rng, actions)
        a, b = ours.step(actions), theirs.step(actions)
        for part, name in enumerate(("obs", "reward", "terminated", "truncated", "infos")):
            assert_same(a[part], b[part], f"step {step} {name}")
        done = b[2] | b[3]
        endings += int(done.sum())
        if mode is AutoresetMode.DISABLED and done.any():
            seeds = [None if i % 2 else 1000 + step + i for i in range(count)]
            extra = done | (rng.random(count) < 0.1)
            a = ours.reset(seed=seeds, options={"reset_mask": extra.copy()})
            b = theirs.reset(seed=seeds, options={"reset_mask": extra.copy()})
            assert_same(a[0], b[0], f"reset {step} obs")
            assert_same(a[1], b[1], f"reset {step} infos")
    assert endings >= 3


def test_disabled_mode_wants_a_reset():
    envs = VectorEnv("convoi", 2, board="tiny", max_steps=3, autoreset_mode="Disabled")
    envs.reset(seed=0)
    for _ in range(3):
        *_, truncated, _ = envs.step(envs.pool.sample())
    assert truncated.all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        envs.step(envs.pool.sample())


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False], TypeError),
        (np.ones(2, dtype=int), TypeError),
        (np.ones(3, dtype=bool), ValueError),
        (np.zeros(2, dtype=bool), ValueError),
    ],
)
def test_wrong_reset_masks(mask, error):
    envs = VectorEnv("convoi", 2, board="tiny", autoreset_mode="Disabled")
    envs.reset(seed=0)
    with pytest.raises(error, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
@pytest.mark.parametrize("mask", ["info", "obs"])
@pytest.mark.parametrize("expand", [False, True])
def test_arrays_of_three_steps_are_kept(mode, mask, expand):
    envs = VectorEnv(
        "convoi", 8, board="tiny", max_steps=9, autoreset_mode=mode, mask=mask, expand=expand
    )
    held = [envs.reset(seed=0)]
    kept = [copy.deepcopy(held[0])]
    for _ in range(40):
        held.append(envs.step(envs.pool.sample().copy()))
        kept.append(copy.deepcopy(held[-1]))
        for a, b in zip(held[-3:], kept[-3:], strict=True):
            for part in range(len(a)):
                assert_same(a[part], b[part], "held")


def test_copy_false_hands_out_views():
    envs = VectorEnv("convoi", 4, board="tiny", copy=False)
    obs, infos = envs.reset(seed=0)
    assert np.shares_memory(obs, envs.pool.obs)
    assert np.shares_memory(infos["action_mask"], envs.pool.mask)


def test_single_env_keeps_its_arrays():
    env = Env("convoi", board="tiny")
    held = [env.reset(seed=0)]
    kept = copy.deepcopy(held)
    for _ in range(30):
        step = env.step(env.action_space.sample(held[-1][-1]["action_mask"]))
        held.append(step)
        kept.append(copy.deepcopy(step))
        if step[2]:
            break
    for a, b in zip(held, kept, strict=True):
        assert_same(a[0], b[0], "held")
        assert_same(a[-1], b[-1], "held")


def test_return_is_the_sum_of_team_rewards():
    env = Env("convoi", board="tiny", reward="shaped", seats=["random", None])
    for seed in range(5):
        env.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            _, reward, done, _, _ = env.step(int(env.pool.sample()[0]))
            total += reward
        alone = trainyard.make("convoi", board="tiny", reward="shaped", seats=["random", None])
        alone.reset(seed=seed)
        earned = alone.earned[0, 0].astype(float)
        while not alone.terminated[0]:
            alone.step(alone.sample())
            earned += alone.earned[0, 0]
        assert total == earned


# ---- Rivals


@pytest.mark.parametrize("game", ["nordic", "express", "chicago"])
def test_a_learner_has_one_seat_of_a_competitive_game_and_its_reward(game):
    envs = gymnasium.make_vec(trainyard.gym.env_id(game), num_envs=4)
    assert envs.pool.options.seats == (None, "expert")
    envs.reset(seed=0)
    total = np.zeros(4)
    returns: list[float] = []
    while len(returns) < 6:
        _, reward, terminated, truncated, _ = envs.step(envs.pool.sample())
        total += reward
        for slot in np.flatnonzero(terminated | truncated):
            returns.append(total[slot])
            total[slot] = 0
    # Random play loses to the expert; a sum over both seats would be 0.
    assert np.mean(returns) < 0


@pytest.mark.parametrize("adapter", [Env, VectorEnv])
def test_rivals_on_one_learner_are_refused(adapter):
    with pytest.raises(trainyard.Error, match=r"seats 0, 1 of nordic are rivals.*expert"):
        adapter("nordic", seats=[None, None])
    with pytest.raises(trainyard.Error, match="seats 0, 2 of express are rivals"):
        adapter("express", players=3, seats=[None, "random", None])


def test_partners_are_one_team():
    assert Env("convoi").pool.options.seats == (None, None)


# ---- The end of an episode, names, and what is refused


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
@pytest.mark.parametrize("copied", [True, False])
def test_a_policy_that_samples_from_every_mask_never_crashes(mode, copied):
    torch = pytest.importorskip("torch")
    envs = VectorEnv("convoi", 8, board="tiny", max_steps=12, autoreset_mode=mode, copy=copied)
    _, infos = envs.reset(seed=0)
    ends = 0
    for _ in range(60):
        mask = torch.from_numpy(infos["action_mask"].copy()).bool()
        logits = torch.randn(mask.shape).masked_fill(~mask, -torch.inf)
        action = torch.distributions.Categorical(logits=logits).sample().numpy()
        _, _, terminated, truncated, infos = envs.step(action)
        ends += int((terminated | truncated).sum())
        assert not infos["illegal"].any()
    assert ends >= 16


def test_info_has_the_same_keys_in_every_step():
    env = Env("convoi", board="tiny", max_steps=30)
    _, first = env.reset(seed=0)
    done = False
    while not done:
        *_, terminated, truncated, info = env.step(int(env.pool.sample()[0]))
        done = terminated or truncated
        assert info.keys() == first.keys()
        assert {key: type(value) for key, value in info.items()} == {
            key: type(value) for key, value in first.items()
        }
    metrics = [f"metric_{name}" for name in env.pool.ruleset.metrics]
    assert any(info[key] for key in metrics)
    assert not any(first[key] for key in metrics)


def test_unknown_keywords_are_a_type_error():
    for make in (trainyard.make, Env, VectorEnv):
        with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
            make("convoi", frameskip=4)
    with pytest.raises(trainyard.Error, match=r"did you mean board\?"):
        Env("convoi", bord="tiny")


def test_modes_that_cannot_be_rendered_are_refused():
    for adapter, mode in ((Env, "html"), (VectorEnv, "html"), (VectorEnv, "human")):
        with pytest.raises(trainyard.Error, match=f"render_mode='{mode}'.*None, ansi"):
            adapter("convoi", render_mode=mode)


def test_pixels_are_refused_where_nothing_can_draw_them(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TypeError, match=r"render_mode='rgb_array'.*trainyard-env\[render\]"):
        Env("convoi", render_mode="rgb_array")
