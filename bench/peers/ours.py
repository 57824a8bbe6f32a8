"""Trainyard: random legal play in a pool of 1024 slots, with row and mask of every decision.

ours.py GAME c         the loop inside the library
ours.py GAME python    sample and step called from Python
"""

from __future__ import annotations

import sys

from peer import missing, serve

try:
    import trainyard
except ImportError as error:
    missing(error)

SLOTS = 1024
game, loop = sys.argv[1:]
pool = trainyard.make(game, num_envs=SLOTS, seed=0)
direct = pool.backend
direct.step_random(0, 0, 200)  # spreads the slots over their episodes


def turn() -> None:
    if loop == "c":
        direct.step_random(0, 0, 8)
    else:
        for _ in range(8):
            pool.step(pool.sample())


where = "loop in C" if loop == "c" else "from Python"
serve(f"Trainyard {game}, {where}, {SLOTS} slots", 8 * SLOTS, turn)
