"""What tests run in other processes, which import this module and nothing large with it."""

from __future__ import annotations

import pickle

import numpy as np
import trainyard


def illegal_step(_: object = None) -> None:
    pool = trainyard.make("convoi", board="tiny")
    pool.step(np.zeros(1, dtype=np.int32))


def play_on(pool: trainyard.Pool | bytes) -> tuple[str, int]:
    """Where a pool, or a pickled one, is played on, and what it comes to."""
    if isinstance(pool, bytes):
        pool = pickle.loads(pool)
    pool.step(pool.sample())
    return type(pool.backend).__name__, pool.state_hash()


def here_elsewhere() -> str:
    """The endpoint of the daemon of the node that this runs on."""
    import trainyard.cluster

    return trainyard.cluster.here()
