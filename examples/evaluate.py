"""A checkpoint of train_ppo.py against the built-in agents on shared held-out seeds.

    python examples/evaluate.py                                   # the checkpoint that ships
    python examples/evaluate.py runs/convoi/policy.pt --games 2000 --curve runs/convoi/curve.jsonl

In a cooperative game every agent plays the same seeds alone on all seats; in a competitive one the
network takes every seat in turn against each built-in agent. Figures are means with 95 % intervals,
and in the cooperative case the paired difference to the network. The plot goes into --plot.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import trainyard
from train_ppo import HELD_OUT, Policy, play, versus

SHIPPED = Path(__file__).parent / "convoi_europe_2p.pt"


def cooperative(
    policy: Policy, seeds: np.ndarray, agents: list[str], *, backend: str, greedy: bool
) -> dict[str, np.ndarray]:
    """The metrics of every game, by agent."""
    games = {"network": play(policy, seeds, backend=backend, greedy=greedy).metrics}
    for agent in agents:
        games[agent] = trainyard.play(
            policy.ruleset,
            [agent] * policy.ruleset.players,
            episodes=len(seeds),
            seed=int(seeds[0]),
        ).metrics
    return games


def table(policy: Policy, games: dict[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """Prints and returns goods and wins by agent."""
    result: dict[str, dict[str, Any]] = {}
    for quantity in ("goods", "won"):
        column = policy.ruleset.metrics.index(quantity)
        own = games["network"][:, column]
        print(f"{quantity} per game: mean, its 95 % interval, paired difference to the network")
        for name, metrics in games.items():
            values = metrics[:, column]
            estimate = trainyard.Estimate.of(values, rate=quantity == "won")
            result.setdefault(name, {})[quantity] = vars(estimate)
            apart = "" if name == "network" else f"  {trainyard.Estimate.of(values - own)}"
            print(f"  {name:10} {estimate}{apart}")
    return result


def plot_cooperative(
    policy: Policy, games: dict[str, np.ndarray], curve: Path | None, path: Path
) -> None:
    pyplot = plotting()
    column = policy.ruleset.metrics.index("goods")
    panels = 1 if curve is None else 2
    figure, axes = pyplot.subplots(1, panels, figsize=(5 * panels, 3.6), dpi=100, squeeze=False)
    bars = axes[0, -1]
    most = max(int(metrics[:, column].max()) for metrics in games.values())
    for number, (name, metrics) in enumerate(games.items()):
        share = np.bincount(metrics[:, column], minlength=most + 1) / len(metrics)
        bars.bar(np.arange(most + 1) + 0.27 * (number - 1), share, 0.27, label=name)
    bars.set(xlabel="goods delivered", ylabel="share of games")
    bars.legend()
    if curve is not None:
        lines = [json.loads(line) for line in curve.read_text().splitlines()]
        rising = axes[0, 0]
        rising.plot([x["minutes"] for x in lines], [x["goods"] for x in lines], marker=".")
        for name, metrics in games.items():
            if name != "network":
                rising.axhline(metrics[:, column].mean(), linestyle="--", color="gray")
                rising.text(0, metrics[:, column].mean(), f" {name}", va="bottom", color="gray")
        rising.set(xlabel="minutes of training", ylabel="goods per game", ylim=(0, None))
    save(figure, path)


def competitive(
    policy: Policy, seeds: np.ndarray, agents: list[str], *, backend: str, greedy: bool
) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    print("share of games won (a shared win counts half), seats in turn, with its 95 % interval")
    for agent in agents:
        won = versus(policy, seeds, agent, backend=backend, greedy=greedy)
        estimate = trainyard.Estimate.of(won)
        result[agent] = {"won": vars(estimate)}
        print(f"  against {agent:10} {estimate}")
    return result


def plot_competitive(result: dict[str, dict[str, Any]], players: int, path: Path) -> None:
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(5, 3.6), dpi=100)
    won = [entry["won"] for entry in result.values()]
    middle = np.array([w["mean"] for w in won])
    spread = [middle - [w["low"] for w in won], [w["high"] for w in won] - middle]
    axes.bar(list(result), middle, yerr=spread, capsize=4)
    axes.axhline(1 / players, linestyle="--", color="gray")
    axes.set(ylabel="share of games won", ylim=(0, 1))
    save(figure, path)


def plotting() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path)
    print(f"plot: {path}")


def main(arguments: list[str] | None = None) -> dict[str, dict[str, Any]]:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("policy", nargs="?", type=Path, default=SHIPPED)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seed", type=int, default=HELD_OUT, help="of the first game")
    parser.add_argument("--agents", default="random,expert", help="built-in ones, by commas")
    parser.add_argument("--backend", default="shm", choices=("shm", "inproc", "zmq"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch")
    parser.add_argument("--sampled", action="store_true", help="draw actions instead of the best")
    parser.add_argument("--curve", type=Path, help="curve.jsonl of the run, to be drawn too")
    parser.add_argument("--plot", type=Path, default=Path("evaluate.png"))
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    policy = Policy.load(given.policy, given.device)
    seeds = np.arange(given.games, dtype=np.uint64) + np.uint64(given.seed)
    agents = given.agents.split(",")
    how = {"backend": given.backend, "greedy": not given.sampled}
    print(f"{policy.ruleset.spec}, seeds {given.seed}..{given.seed + given.games - 1}")
    if not policy.ruleset.cooperative:
        result = competitive(policy, seeds, agents, **how)
        plot_competitive(result, policy.ruleset.players, given.plot)
        return result
    games = cooperative(policy, seeds, agents, **how)
    plot_cooperative(policy, games, given.curve, given.plot)
    return table(policy, games)


if __name__ == "__main__":
    main()
