"""Does a network play boards that it has never seen? It is trained on some generated boards and
tested on others.

    python examples/generalise.py --boards 1,4,16,64 --steps 3000000

For each number of boards a network learns from nothing, with the same number of decisions, by
masked PPO; then it plays its own boards and those of the test split, beside the expert and
`random`. What is printed is the share of all goods that was delivered, with the error of its mean
over boards. Needs our package and torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import numpy as np
import torch
import trainyard
from trainyard import Ruleset, boards
from trainyard.net import Net, pack
from trainyard.train import HELD_OUT, Collector, Config, Decisions, Learner, games


class Player:
    """Plays all boards at once, some episodes on each, and hands over what a learner needs."""

    def __init__(self, rulesets: Sequence[Ruleset], slots: int, steps: int) -> None:
        each = max(1, slots // len(rulesets))
        self.rulesets = rulesets
        self.collectors = [
            Collector(rules, slots=each, seed=(1 << 24) + (i << 16))
            for i, rules in enumerate(rulesets)
        ]
        self.whole = Decisions(rulesets[0], steps, each * len(rulesets))
        self.each = each

    def play(self, weights: bytes) -> Decisions:
        for i, (rules, collector) in enumerate(zip(self.rulesets, self.collectors, strict=True)):
            collector.run(Net(rules, weights), self.whole, first=i * self.each)
        return self.whole


def learn(rulesets: Sequence[Ruleset], config: Config, steps: int) -> bytes:
    """The weights after so many decisions on these boards."""
    torch.manual_seed(config.seed)
    learner = Learner(config)
    player = Player(rulesets, config.slots, config.horizon)
    done = 0
    while done < steps:
        decisions = player.play(pack(config.ruleset, learner.network.layers()).tobytes())
        learner.learn(decisions, done, imitate=False)
        done += decisions.action.size
    return pack(config.ruleset, learner.network.layers()).tobytes()


def wanted(rules: Ruleset) -> int:
    """Goods of a board: two of each colour."""
    return 2 * sum(node["kind"] == "city" for node in rules.board.nodes)


def shares(rulesets: Sequence[Ruleset], count: int, player: bytes | str) -> list[float]:
    """The share of the goods that a network or an agent delivers, on each board."""
    found = []
    for rules in rulesets:
        column = rules.metrics.index("goods")
        if isinstance(player, str):
            seats = [player] * rules.players
            played = trainyard.play(rules, seats, episodes=count, seed=HELD_OUT).metrics
        else:
            seeds = np.arange(count, dtype=np.uint64) + np.uint64(HELD_OUT)
            played = games(Net(rules, player), seeds).metrics
        found.append(float(played[:, column].mean()) / wanted(rules))
    return found


def told(values: Sequence[float]) -> str:
    error = np.std(values) / max(1, len(values) - 1) ** 0.5
    return f"{np.mean(values):6.3f} ± {error:.3f}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--boards", default="1,4,16,64", help="numbers of train boards (1,4,16,64)")
    parser.add_argument("--size", type=int, default=5, help="junctions of every board (5)")
    parser.add_argument("--level", default="normal", choices=boards.LEVELS)
    parser.add_argument("--steps", type=int, default=3_000_000, help="decisions to learn from")
    parser.add_argument("--unseen", type=int, default=32, help="boards of the test split (32)")
    parser.add_argument("--games", type=int, default=50, help="on each board tested (50)")
    parser.add_argument("--blind", action="store_true", help="rows without the board itself")
    parser.add_argument("--unaided", action="store_true", help="rows without hints")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the networks")
    return parser.parse_args()


def main() -> None:
    given = parse()
    torch.set_num_threads(1)
    settings = {"hints": not given.unaided, "show_board": not given.blind, "reward": "shaped"}
    how = {"size": given.size, "level": given.level, **settings}
    test = boards.rulesets("convoi", "test", given.unseen, **how)
    print(
        f"{test[0].spec} and {given.unseen - 1} others, {test[0].row_size} bytes a row", flush=True
    )
    for agent in ("random", "expert"):
        print(f"{agent:>10}: unseen {told(shares(test, given.games, agent))}", flush=True)
    for count in map(int, given.boards.split(",")):
        began = monotonic()
        train = boards.rulesets("convoi", "train", count, **how)
        board = {"board": boards.name(0, size=given.size, level=given.level), **settings}
        config = Config(
            game="convoi",
            settings=board,
            seed=given.seed,
            planned=given.steps,
            discount=0.98,
            entropy=0.02,
            scale=0.5,
        )
        weights = learn(train, config, given.steps)
        minutes = (monotonic() - began) / 60
        seen = told(shares(train[: given.unseen], given.games, weights))
        unseen = told(shares(test, given.games, weights))
        expert = told(shares(train[: given.unseen], given.games, "expert"))
        print(
            f"{count:>3} boards: own {seen}, unseen {unseen}; expert on its own {expert} "
            f"({minutes:.1f} min)",
            flush=True,
        )
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
            (given.out / f"boards-{count}.net").write_bytes(weights)


if __name__ == "__main__":
    main()
