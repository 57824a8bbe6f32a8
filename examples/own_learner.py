"""Masked PPO with the parts of the trainer, to change as you like: play, judge, learn.

    python3 examples/own_learner.py                      # a minute on express

The library plays with the network's weights and writes its decisions down; PyTorch learns from
them. `python -m trainyard.train` does the same with everything around it.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
import trainyard
from trainyard.train import Collector, Decisions, Network, versus

SLOTS, STEPS, BATCH = 256, 64, 2048


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=60, help=f"of {SLOTS * STEPS} decisions (60)")
    parser.add_argument("--map", default="standard", help="of express (standard)")
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    rules = trainyard.Ruleset("express", map=given.map, reward="score")
    network = Network(rules, [128, 128])
    optimiser = torch.optim.Adam(network.parameters(), 7e-4)
    collector = Collector(rules, slots=SLOTS, seed=1 << 24)
    played = Decisions(rules, STEPS, SLOTS)
    for _ in range(given.rounds):
        collector.run(trainyard.net.net_of(network, rules), played)
        gain, known = played.advantages(discount=0.995, trace=0.95, scale=0.5)
        target = torch.from_numpy((gain + played.value[:-1])[known])
        worth = torch.from_numpy((gain[known] - gain[known].mean()) / (gain[known].std() + 1e-6))
        columns = (played.rows, played.mask, played.action, played.logp)
        rows, mask, action, before = (torch.from_numpy(column[known]) for column in columns)
        order = torch.from_numpy(rng.permutation(len(rows)))
        for at in order.split(BATCH):
            logp, entropy, value = network.judge(rows[at], mask[at], action[at])
            ratio = (logp - before[at]).exp()
            clipped = torch.min(ratio * worth[at], ratio.clamp(0.8, 1.2) * worth[at])
            error = (value - target[at]).square()
            loss = (0.5 * error - clipped - 0.01 * entropy).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    net = trainyard.net.net_of(network, rules)
    seeds = np.arange(1_000_000, 1_000_200, dtype=np.uint64)
    won = float(versus(net, seeds, "random").mean())
    print(f"{given.rounds * SLOTS * STEPS:,} decisions: wins {won:.1%} against random")
    return won


if __name__ == "__main__":
    main()
