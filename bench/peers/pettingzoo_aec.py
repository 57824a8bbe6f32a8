"""PettingZoo: connect_four as an AEC environment."""

from __future__ import annotations

import numpy as np
from peer import missing, serve

try:
    from pettingzoo.classic import connect_four_v3
except ImportError as error:
    missing(error)

env = connect_four_v3.env()
rng = np.random.default_rng(0)
env.reset(seed=0)


def turn() -> None:
    played = 0
    while played < 16:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
        else:
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
            played += 1


serve("PettingZoo connect_four, AEC, 1 environment", 16, turn)
