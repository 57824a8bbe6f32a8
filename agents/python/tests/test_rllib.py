"""Ray and RLlib: what crosses to workers, the environment, training, rollouts on a cluster."""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import trainyard
from conftest import TOP
from elsewhere import here_elsewhere, illegal_step, play_on

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")
import trainyard.cluster  # noqa: E402
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: E402

sys.path.insert(0, str(TOP / "examples"))
import cluster as example  # noqa: E402

LONG = os.environ.get("TRAINYARD_LONG") == "1"


@pytest.fixture(scope="module")
def cluster():
    """Four nodes on this machine; what is given kills one."""
    with example.simulated(4) as kill:
        yield kill


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
    assert result["nodes"] == 4
    assert result["decisions"] == 4 * 2 * 32 * 100
    assert result["episodes"] > 10


def endpoint_of(node: str) -> str:
    """What somebody on a node is told there."""
    place = NodeAffinitySchedulingStrategy(node, soft=False)
    told = ray.remote(num_cpus=0, scheduling_strategy=place)(here_elsewhere)
    return ray.get(told.remote())


def test_every_node_has_a_daemon_that_is_started_again(cluster):
    nodes = trainyard.cluster.nodes()
    endpoints = trainyard.cluster.endpoints()
    assert len(set(endpoints)) == len(nodes) == 4
    assert endpoint_of(nodes[1]) == endpoints[1]
    os.kill(ray.get(trainyard.cluster.keeper(nodes[0]).pid.remote()), signal.SIGKILL)
    pool = trainyard.make("express", backend="zmq", endpoint=endpoints[1])
    pool.step(pool.sample())
    patience = time.monotonic() + 60
    while (again := trainyard.cluster.endpoints()) == endpoints:
        assert time.monotonic() < patience
    assert again[1:] == endpoints[1:]
    with trainyard.make("express", backend="shm", endpoint=again[0]) as other:
        other.step(other.sample())


def test_nothing_is_lost_with_a_node_that_is_killed(cluster):
    given = example.parser().parse_args(["--board", "tiny", "--slots", "16", "--steps", "160"])
    found = example.loss(given, cluster)
    assert found["moved"] == 1
    assert found["episodes"] > 50


if LONG:

    @pytest.mark.parametrize("part", ["rates", "torchrl", "rllib"])
    def test_the_rest_of_the_example(part):
        """In a process and a cluster of its own."""
        command = [sys.executable, TOP / "examples/cluster.py", part]
        command += ["--board", "tiny", "--slots", "16", "--rounds", "4"]
        said = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=1200
        ).stdout
        if part == "rates":
            assert re.search(r"^ +4 +[\d,]+ +[\d,]+$", said, re.MULTILINE)
        elif part == "torchrl":
            assert "8,192 frames by 4 collectors" in said
        else:
            # Each round has all of its steps, also the one in which a node is killed.
            assert [line.split()[2] for line in said.splitlines() if line.startswith("round")] == [
                "512",
                "1,024",
                "1,536",
                "2,048",
            ]
