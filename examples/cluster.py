"""A daemon on every node of a Ray cluster: rates, and a node that is killed.

    pip install '.[rllib]' torchrl
    python examples/cluster.py                  # four nodes that Ray simulates on this machine
    python examples/cluster.py rates            # one of: rates, loss, rllib, torchrl
    python examples/cluster.py rates --address auto      # on a running cluster

cluster.md explains what it does.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import ray
import trainyard
import trainyard.cluster
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

#: Kills one of these nodes.
Kill = Callable[[Sequence[str]], None]


@contextmanager
def simulated(nodes: int) -> Iterator[Kill]:
    """So many Ray nodes on this machine. What is given kills one of those that are named, but not
    the first node, as `kill -9` does."""
    from ray.cluster_utils import Cluster

    each = {"num_cpus": 1, "resources": {"player": 1}}
    with ExitStack() as stack:
        made = Cluster(initialize_head=True, head_node_args=each)
        stack.callback(made.shutdown)
        added = [made.add_node(**each) for _ in range(nodes - 1)]
        ray.init(address=made.address, log_to_driver=False, runtime_env={"env_vars": variables()})
        stack.callback(ray.shutdown)
        stack.callback(trainyard.cluster.stop)

        def kill(among: Sequence[str]) -> None:
            node = next(each for each in added if each.node_id in among)
            added.remove(node)
            kill_node(made, node)

        yield kill


def variables() -> dict[str, str]:
    """With these, workers find the package where the driver does."""
    ours = {key: os.environ[key] for key in os.environ if key.startswith("TRAINYARD_")}
    return {**ours, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def kill_node(cluster: Any, node: Any) -> None:
    """A machine that is gone: its daemon and its Ray at once, without a farewell."""
    daemon = ray.get(trainyard.cluster.keeper(node.node_id).pid.remote())
    os.kill(daemon, signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)


# ---- Rates


def drive(pool: trainyard.Pool, seconds: float) -> float:
    """Random play of a pool over several daemons, driven from here; decisions per second."""
    for group in range(len(pool.groups)):
        pool.send(group, pool.sample(group))
    decisions, start = 0, time.perf_counter()
    while time.perf_counter() < start + seconds:
        group = pool.recv_any()
        decisions += len(pool.groups[group])
        pool.send(group, pool.sample(group))
    took = time.perf_counter() - start
    for group in range(len(pool.groups)):
        pool.recv(group)
    return decisions / took


@ray.remote(num_cpus=0)
class Player:
    """A pool in the daemon of its node, through shared memory, and who plays it."""

    def __init__(self, number: int, slots: int, settings: dict[str, Any]) -> None:
        self.pool = trainyard.make(
            num_envs=slots,
            seed=number * slots,
            backend="shm",
            endpoint=trainyard.cluster.here(),
            **settings,
        )

    def play(self, seconds: float) -> float:
        """Random play; decisions per second."""
        steps, start = 0, time.perf_counter()
        while time.perf_counter() < start + seconds:
            self.pool.step(self.pool.sample())
            steps += 1
        return steps * len(self.pool) / (time.perf_counter() - start)


def rates(given: argparse.Namespace, _: Any) -> dict[int, list[float]]:
    """Decisions per second at 1, 2, 4, ... nodes: the best of some rounds, which take turns, so
    that other work on the machine slows all alike."""
    settings = {"game": "convoi", "board": given.board}
    nodes, endpoints = trainyard.cluster.nodes(), trainyard.cluster.endpoints()
    counts = [1 << i for i in range(len(nodes).bit_length())]
    pools = {
        count: trainyard.make(
            num_envs=given.slots * count,
            backend="zmq",
            endpoints=endpoints[:count],
            groups=2 * count,
            **settings,
        )
        for count in counts
    }
    players = [
        Player.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(
            number, given.slots, settings
        )
        for number, node in enumerate(nodes)
    ]
    best = {count: [0.0, 0.0] for count in counts}
    for _ in range(given.rounds):
        for count, found in best.items():
            found[0] = max(found[0], drive(pools[count], given.seconds))
            each = ray.get([player.play.remote(given.seconds) for player in players[:count]])
            found[1] = max(found[1], sum(each))
    for player in players:
        ray.kill(player)
    for pool in pools.values():
        pool.close()
    print(f"{os.cpu_count()} processors, {given.slots} slots a node, decisions/s of random play")
    print("nodes   one pool over all, zmq   a pool on each, shm")
    for count, (one, each) in best.items():
        print(f"{count:5} {one:24,.0f} {each:21,.0f}")
    return best


# ---- A node that is killed


def loss(given: argparse.Namespace, kill: Kill) -> dict[str, Any]:
    """A pool over all nodes plays what a pool in this process plays, though a node is killed."""
    settings = {"game": "convoi", "board": given.board, "hash": True, "seed": 7}
    nodes = trainyard.cluster.nodes()
    slots = given.slots * len(nodes)
    one = trainyard.make(num_envs=slots, **settings)
    pool = trainyard.make(
        num_envs=slots,
        backend="zmq",
        endpoints=trainyard.cluster.endpoints(only=nodes),
        groups=len(nodes),
        **settings,
    )
    longest = 0.0
    for step in range(given.steps):
        one.step(one.sample())
        for group in range(len(pool.groups)):
            pool.send(group, pool.sample(group))
        if step == given.steps // 2:
            kill(nodes)
        start = time.perf_counter()
        for _ in pool.groups:
            pool.recv_any()
        longest = max(longest, time.perf_counter() - start)
        for name in ("hash", "obs", "mask", "reward", "earned", "terminated", "episode", "seed"):
            if not np.array_equal(getattr(one, name), getattr(pool, name)):
                raise SystemExit(f"step {step}: the column {name} differs")
    moved = len(pool.backend.moves)
    print(
        f"{slots} slots on {len(nodes)} nodes, of which one was killed at step {given.steps // 2}: "
        f"{given.steps * slots:,} decisions and {int(one.episode.sum()):,} episodes, each row that "
        f"of one pool in this process. {moved} of {len(nodes)} parts moved; the longest step took "
        f"{longest:.1f} s"
    )
    return {"moved": moved, "longest": longest, "episodes": int(one.episode.sum())}


# ---- RLlib and TorchRL


def rllib(given: argparse.Namespace, kill: Kill) -> dict[str, Any]:
    """PPO whose env runners play in the daemons of their nodes; a node is killed in the middle."""
    import trainyard.rllib
    from ray.rllib.algorithms.ppo import PPOConfig

    config = trainyard.rllib.configure(
        PPOConfig(), "convoi", board="tiny", reward="shaped", daemon=True, hidden=[32]
    )
    config = (
        config.environment(disable_env_checking=True)
        .env_runners(
            num_env_runners=len(trainyard.cluster.nodes()),
            # Two have room on a node: those of a node that is killed go to others.
            custom_resources_per_env_runner={"player": 0.5},
            num_cpus_per_env_runner=0,
        )
        .fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=0)
        .training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=1)
    )
    algorithm = config.build_algo()
    where: list[list[str]] = []
    steps: list[int] = []
    for number in range(given.rounds):
        if number == given.rounds // 2:
            kill(where[-1])
        results = algorithm.train()
        where.append(algorithm.env_runner_group.foreach_env_runner(_node, local_env_runner=False))
        steps.append(int(results["env_runners"]["num_env_steps_sampled_lifetime"]))
        used = len(set(where[-1]))
        print(f"round {number}: {steps[-1]:,} steps, {len(where[-1])} env runners on {used} nodes")
    algorithm.stop()
    return {"where": where, "steps": steps}


def _node(_: Any) -> str:
    node: str = ray.get_runtime_context().get_node_id()
    return node


def torchrl_env(board: str, slots: int) -> Any:
    """What a collector of TorchRL plays in: a pool in its node's daemon, through shared memory."""
    import trainyard.cluster
    import trainyard.gym
    from torchrl.envs import ActionMask, GymWrapper, TransformedEnv

    envs = trainyard.gym.VectorEnv(
        "convoi",
        slots,
        board=board,
        mask="obs",
        autoreset_mode="SameStep",
        backend="shm",
        endpoint=trainyard.cluster.here(),
    )
    return TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), ActionMask())


def torchrl(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    """TorchRL's RayCollector, with a collector on every node."""
    from functools import partial

    from torchrl.collectors.distributed import RayCollector
    from torchrl.modules import RandomPolicy

    nodes = len(trainyard.cluster.nodes())
    make = partial(torchrl_env, given.board, 16)
    local = make()
    collector = RayCollector(
        [make] * nodes,
        RandomPolicy(local.action_spec),
        frames_per_batch=512 * nodes,
        total_frames=512 * nodes * given.rounds,
        sync=True,
        remote_configs={"num_cpus": 0, "resources": {"player": 1}},
        ray_init_config={"address": "auto", "ignore_reinit_error": True},
    )
    frames = sum(batch.numel() for batch in collector)
    print(f"{frames:,} frames by {nodes} collectors")
    collector.shutdown()
    local.close()
    return {"frames": frames, "collectors": nodes}


PARTS: dict[str, Callable[[argparse.Namespace, Any], Any]] = {
    "rates": rates,
    "loss": loss,
    "rllib": rllib,
    "torchrl": torchrl,
}


def _spare(_: Sequence[str]) -> None:
    """Nodes of a real cluster are yours to kill."""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="(all)")
    parser.add_argument("--address", help="of a cluster that runs; without it, one is simulated")
    parser.add_argument("--nodes", type=int, default=4, help="of a simulated cluster")
    parser.add_argument("--slots", type=int, default=256, help="of a node")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each rate and round")
    parser.add_argument("--board", default="europe")
    return parser


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    given = parser().parse_args(arguments)
    found: dict[str, Any] = {}
    for part in given.parts or PARTS:
        if given.address:
            ray.init(address=given.address, ignore_reinit_error=True)
            found[part] = PARTS[part](given, _spare)
            continue
        with simulated(given.nodes) as kill:
            found[part] = PARTS[part](given, kill)
    return found


if __name__ == "__main__":
    main()
