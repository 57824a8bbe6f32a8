"""Helpers of the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trainyard

TOP = Path(__file__).resolve().parents[3]


@pytest.fixture
def tiny() -> trainyard.Pool:
    """Sixteen slots of the smallest board."""
    return trainyard.make("convoi", num_envs=16, board="tiny", seed=3, hash=True)


def trajectory(pool: trainyard.Pool, steps: int) -> np.ndarray:
    """The state hashes of random play, [steps, slots], for a pool of any number of groups."""
    hashes = []
    for _ in range(steps):
        for group in range(len(pool.groups)):
            pool.step(pool.sample(group, seed=1), group)
        hashes.append(np.concatenate([group.hash for group in pool.groups]))
    return np.array(hashes)
