"""Solves a whole small game with OpenSpiel: CFR+, and how much a best response still gains.

    python examples/solve.py [--iterations 10] [--map examples/duel.json]

Needs our package with [openspiel]. NashConv is what best responses gain over the average policy,
of both players together; it is 0 where neither can do better. A game won is 1, one lost -1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from open_spiel.python import policy
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability
from trainyard import openspiel


def solve(game: openspiel.Game, iterations: int) -> Iterator[tuple[str, float, float]]:
    """After each iteration NashConv, and what the first player earns if both play so."""

    def judge(name: str, judged: policy.Policy) -> tuple[str, float, float]:
        gain = exploitability.nash_conv(game, judged)
        value = expected_game_score.policy_value(game.new_initial_state(), [judged, judged])[0]
        return name, float(gain), float(value)

    yield judge("uniform", policy.UniformRandomPolicy(game))
    solver = cfr.CFRPlusSolver(game)
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        yield judge(f"CFR+ {iteration}", solver.average_policy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--map", type=Path, default=Path(__file__).parent / "duel.json")
    given = parser.parse_args()
    game = openspiel.game("express", map=str(given.map), first_player="seat0", deals="joined")
    for name, gain, value in solve(game, given.iterations):
        spent = f"{process_time():.0f} s of processor time"
        print(f"{name:>8}: NashConv {gain:.4f}, the first player earns {value:+.4f}, {spent}")


if __name__ == "__main__":
    main()
