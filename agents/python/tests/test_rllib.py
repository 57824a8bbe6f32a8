"""Ray and RLlib: what crosses to workers, the environment, training, rollouts on a cluster."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys

import numpy as np
import pytest
import trainyard
from conftest import TOP
from elsewhere import illegal_step, play_on

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")


@pytest.fixture(scope="module")
def cluster():
    """Three nodes on this machine."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    # The workers find the tests, and the library that is tested.
    variables = {key: os.environ[key] for key in os.environ if key.startswith("TRAINYARD_")}
    variables["PYTHONPATH"] = os.pathsep.join(sys.path)
    ray.init(address=made.address, log_to_driver=False, runtime_env={"env_vars": variables})
    yield made
    ray.shutdown()
    made.shutdown()


def test_pools_and_errors_cross_to_workers(cluster):
    pool = trainyard.make("convoi", num_envs=2, board="tiny", seed=5, hash=True)
    pool.step(pool.sample())
    where, found = ray.get(ray.remote(play_on).remote(pickle.dumps(pool)))
    pool.step(pool.sample())
    assert (where, found) == ("InProcess", pool.state_hash())
    with pytest.raises(trainyard.IllegalAction, match="wait"):
        ray.get(ray.remote(illegal_step).remote())


@pytest.mark.parametrize("expand", [True, False])
def test_turns(expand):
    from trainyard.rllib import Env

    env = Env({"game": "convoi", "board": "tiny", "reward": "shaped", "expand": expand})
    observations, _ = env.reset(seed=3)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    rng = np.random.default_rng(0)
    over = False
    while not over:
        ((name, observation),) = observations.items()
        assert env.observation_spaces[name].contains(observation)
        action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        observations, rewards, terminateds, truncateds, infos = env.step({name: action})
        for agent, reward in rewards.items():
            totals[agent] += reward
        over = terminateds["__all__"] or truncateds["__all__"]
    assert set(observations) == set(env.possible_agents)
    assert any(value for key, value in infos["player_0"].items() if key.startswith("metric_"))
    assert totals["player_0"] == totals["player_1"]


def test_ppo_trains_with_an_environment_that_raises_on_illegal_actions(cluster):
    import trainyard.rllib
    from ray.rllib.algorithms.ppo import PPOConfig

    config = trainyard.rllib.configure(
        PPOConfig(), "convoi", board="tiny", reward="shaped", illegal="error", hidden=[32]
    )
    # Their check of environments samples without masks.
    config = config.environment(disable_env_checking=True)
    config = config.env_runners(num_env_runners=0).training(
        train_batch_size_per_learner=256, minibatch_size=64, num_epochs=2
    )
    algorithm = config.build_algo()
    results = algorithm.train()
    assert results["env_runners"]["num_episodes_lifetime"] > 0
    losses = results["learners"]["shared"]
    assert np.isfinite(losses["total_loss"])
    algorithm.stop()


def test_rollouts_on_a_cluster_of_several_nodes(cluster):
    path = TOP / "examples/ray_rollouts.py"
    spec = importlib.util.spec_from_file_location("ray_rollouts", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    result = example.main(["--board", "tiny", "--slots", "32", "--steps", "100", "--rounds", "2"])
    assert result["nodes"] == 3
    assert result["decisions"] == 3 * 2 * 32 * 100
    assert result["episodes"] > 10
