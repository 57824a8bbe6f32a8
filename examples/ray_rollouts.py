"""Rollouts on a Ray cluster: Ray schedules, Trainyard steps. Every node has its own pool.

    pip install '.[rllib]'
    python examples/ray_rollouts.py --board tiny                 # on this machine
    python examples/ray_rollouts.py --address auto --pools 8     # on a running cluster

One actor per node (more with --pools) holds a pool of its own with seeds of its own, receives the
weights of a policy by Ray's object store, plays a batch of steps and sends back what a learner
needs. The learner here only counts; put yours in its place.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import ray
import trainyard


@ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
class Player:
    """A pool on some node, and the policy that plays it."""

    def __init__(self, number: int, slots: int, settings: dict) -> None:
        # Pools of different actors have different seeds: slot i of a pool has seed + i.
        self.pool = trainyard.make("convoi", num_envs=slots, seed=number * slots, **settings)
        self.rng = np.random.default_rng(number)
        self.x = np.empty((slots, self.pool.ruleset.expanded_size), dtype=np.float32)

    def play(self, weights: np.ndarray, steps: int) -> dict:
        """Plays `steps` decisions in every slot with a masked softmax policy."""
        pool = self.pool
        actions = np.empty((steps, len(pool)), dtype=np.int32)
        rewards = np.empty((steps, len(pool)), dtype=np.float32)
        ended = np.empty((steps, len(pool)), dtype=np.bool_)
        metrics = []
        for step in range(steps):
            logits = pool.ruleset.expand(pool.obs, self.x) @ weights
            noise = self.rng.gumbel(size=logits.shape)
            # At the end of an episode nothing is legal, and the step only begins the next one.
            actions[step] = np.where(pool.mask, logits + noise, -np.inf).argmax(axis=1)
            pool.step(actions[step])
            rewards[step] = pool.earned[:, 0]
            ended[step] = pool.terminated | pool.truncated
            metrics.append(pool.metrics[ended[step]])
        return {
            "node": ray.get_runtime_context().get_node_id(),
            "actions": actions,
            "rewards": rewards,
            "ended": ended,
            "metrics": np.concatenate(metrics),
        }


def main(arguments: list[str] | None = None) -> dict:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", help="of a cluster; without it, one on this machine")
    parser.add_argument("--pools", type=int, help="(one per node)")
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument("--steps", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--board", default="europe")
    given = parser.parse_args(arguments)
    if not ray.is_initialized():
        ray.init(address=given.address)
    nodes = [node for node in ray.nodes() if node["Alive"]]
    settings = {"board": given.board, "reward": "shaped"}
    players = [
        Player.remote(number, given.slots, settings) for number in range(given.pools or len(nodes))
    ]
    ruleset = trainyard.Ruleset("convoi", **settings)
    weights = np.zeros((ruleset.expanded_size, ruleset.action_count), dtype=np.float32)
    used: set[str] = set()
    episodes = decisions = 0
    for number in range(given.rounds):
        start = time.perf_counter()
        # The weights are put once and fetched once per node.
        shared = ray.put(weights)
        batches = ray.get([player.play.remote(shared, given.steps) for player in players])
        took = time.perf_counter() - start
        count = sum(batch["actions"].size for batch in batches)
        decisions += count
        episodes += sum(len(batch["metrics"]) for batch in batches)
        used |= {batch["node"] for batch in batches}
        goods = np.concatenate([batch["metrics"] for batch in batches])[:, 1]
        print(
            f"round {number}: {count:,} decisions on {len(used)} nodes, {count / took:,.0f}/s, "
            f"{goods.mean() if len(goods) else 0:.3f} goods per episode"
        )
    return {"nodes": len(used), "decisions": decisions, "episodes": episodes}


if __name__ == "__main__":
    main()
