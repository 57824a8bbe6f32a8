"""PettingZoo's own conformance suites."""

from __future__ import annotations

import copy

import numpy as np
import pettingzoo
import pytest
import trainyard
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.test.state_test import state_test
from trainyard.pettingzoo import env, parallel_env

SETTINGS = [
    {"board": "tiny"},
    {"board": "europe", "players": 4, "reward": "shaped"},
    {"board": "tiny", "players": 3, "seats": [None, "random", None], "reward": "shaped"},
    {"board": "tiny", "chance": "seat", "max_steps": 40},
    {"board": "tiny", "mask": "both"},
    {"board": "tiny", "mask": "info"},
    {"board": "tiny", "backend": "shm"},
    {"board": "tiny", "backend": "zmq"},
]


@pytest.fixture(params=SETTINGS, ids=lambda s: ",".join(f"{k}={v}" for k, v in s.items()))
def settings(request):
    return request.param


def test_aec_api(settings):
    api_test(env("convoi", **settings), num_cycles=400)


def test_parallel_api(settings):
    parallel_api_test(parallel_env("convoi", **settings), num_cycles=400)


def test_aec_seeds(settings):
    seed_test(lambda: env("convoi", **settings), num_cycles=200)


def test_parallel_seeds(settings):
    parallel_seed_test(lambda: parallel_env("convoi", **settings), num_cycles=200)


def test_state(settings):
    state_test(env("convoi", **settings), parallel_env("convoi", **settings), num_cycles=50)


def test_names_are_those_of_the_seats():
    assert env("convoi", players=3, seats=[None, "random", None]).possible_agents == [
        "player_0",
        "player_2",
    ]


def test_aec_and_parallel_play_alike():
    one = env("convoi", board="tiny", reward="shaped")
    all_ = parallel_env("convoi", board="tiny", reward="shaped")
    one.reset(seed=9)
    observations, infos = all_.reset(seed=9)
    totals = dict.fromkeys(one.agents, 0.0)
    rng = np.random.default_rng(0)
    while all_.agents:
        agent = one.agent_selection
        mask = one.observe(agent)["action_mask"]
        idle = next(name for name in one.agents if name != agent)
        assert np.flatnonzero(observations[idle]["action_mask"]).tolist() == [0]
        action = int(rng.choice(np.flatnonzero(mask)))
        one.step(action)
        observations, rewards, *_, infos = all_.step(
            {name: action if name == agent else 0 for name in all_.agents}
        )
        for name in observations:
            ours = one.observe(name)
            assert (ours["observation"] == observations[name]["observation"]).all()
            assert (ours["action_mask"] == observations[name]["action_mask"]).all()
            assert one.rewards[name] == rewards[name]
            totals[name] += rewards[name]
        assert (one.state() == all_.state()).all()
    assert all(one.terminations.values())
    metrics = [f"metric_{name}" for name in all_.table.pool.ruleset.metrics]
    assert any(infos["player_0"][key] for key in metrics)
    assert all(infos["player_0"][key] == one.infos["player_1"][key] for key in metrics)
    assert totals["player_0"] == totals["player_1"]


def test_illegal_actions_change_nothing_and_are_told():
    one = env("convoi", board="tiny")
    one.reset(seed=1)
    agent, before = one.agent_selection, one.state()
    one.step(0)
    assert one.agent_selection == agent
    assert one.infos[agent]["illegal"]
    assert (one.state() == before).all()


def test_a_copy_goes_on_from_where_it_is():
    one = env("convoi", board="tiny")
    one.reset(seed=4)
    for _ in range(7):
        one.step(int(np.argmax(one.last()[0]["action_mask"])))
    other = copy.deepcopy(one)
    assert other.table.pool.state_hash() == one.table.pool.state_hash()
    for _ in range(15):
        action = int(np.argmax(one.last()[0]["action_mask"]))
        one.step(action)
        other.step(action)
        assert (one.state() == other.state()).all()


def test_arrays_of_three_steps_are_kept():
    all_ = parallel_env("convoi", board="tiny")
    held = [all_.reset(seed=0)[0]]
    kept = copy.deepcopy(held)
    for _ in range(20):
        if not all_.agents:
            break
        actions = {n: int(np.argmax(held[-1][n]["action_mask"])) for n in all_.agents}
        held.append(all_.step(actions)[0])
        kept.append(copy.deepcopy(held[-1]))
    for a, b in zip(held, kept, strict=True):
        for name in a:
            for key in a[name]:
                assert (a[name][key] == b[name][key]).all()


def test_every_game():
    for game in trainyard.games():
        api_test(env(game.name), num_cycles=60)
        parallel_api_test(parallel_env(game.name), num_cycles=60)


def test_ids_in_the_registry():
    if not hasattr(pettingzoo, "register"):
        pytest.skip("this PettingZoo has no registry")
    for kind in ("aec", "parallel"):
        made = pettingzoo.make(kind, "trainyard/Convoi-v0", board="tiny")
        made.reset(seed=1)
        assert made.agents == ["player_0", "player_1"]


@pytest.mark.parametrize("make", [env, parallel_env])
def test_max_cycles_is_their_name_for_max_steps(make):
    assert make("convoi", board="tiny", max_cycles=7).table.pool.options.max_steps == 7
    with pytest.raises(trainyard.Error, match="max_steps and max_cycles"):
        make("convoi", max_steps=7, max_cycles=7)


def test_max_cycles_truncates():
    one = parallel_env("convoi", board="tiny", max_cycles=7)
    one.reset(seed=0)
    for _ in range(7):
        assert one.agents
        acting = one.table.acting
        action = int(one.table.pool.sample()[0])
        _, _, _, truncated, _ = one.step({n: action if n == acting else 0 for n in one.agents})
    assert truncated == {"player_0": True, "player_1": True}
    assert not one.agents


def test_conversion_to_parallel_is_refused_as_pettingzoo_does():
    from pettingzoo.utils.conversions import aec_to_parallel

    assert not env("convoi").metadata["is_parallelizable"]
    with pytest.raises(AssertionError, match="parallel"):
        aec_to_parallel(env("convoi"))


@pytest.mark.parametrize("make", [env, parallel_env])
def test_spaces_are_there_as_dictionaries_too(make):
    made = make("convoi", players=3)
    assert list(made.observation_spaces) == list(made.action_spaces) == made.possible_agents
    for name in made.possible_agents:
        assert made.observation_space(name) is made.observation_spaces[name]
        assert made.action_space(name) is made.action_spaces[name]


@pytest.mark.parametrize("make", [env, parallel_env])
def test_modes_that_cannot_be_rendered_are_refused(make):
    with pytest.raises(trainyard.Error, match="render_mode='html'"):
        make("convoi", render_mode="html")


def test_infos_have_the_same_keys_in_every_step():
    one = env("convoi", board="tiny", max_cycles=20)
    one.reset(seed=0)
    first = one.infos["player_0"]
    for _ in one.agent_iter():
        _, _, terminated, truncated, info = one.last()
        assert info.keys() == first.keys()
        one.step(None if terminated or truncated else int(one.table.pool.sample()[0]))
