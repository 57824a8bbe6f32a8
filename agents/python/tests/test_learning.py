"""The small learner learns the tiny board, and not if its rows, its mask or its rewards are wrong.

Everything is drawn from seeds. The margin is wide on both sides, because another processor may add
numbers up in another order: see the figures at MARGIN.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import trainyard
from conftest import TOP

sys.path.insert(0, str(TOP / "examples"))
from learn_small import Learner

UPDATES = 200
#: Goods per game, of 4. Five seeds reached 0.72 to 1.23, two of each broken learner at most 0.17.
MARGIN = 0.5


class Blind(Learner):
    """Rows that say nothing."""

    def look(self, pool: trainyard.Pool) -> tuple[np.ndarray, np.ndarray]:
        x, mask = super().look(pool)
        x[:, :-1] = 0
        return x, mask


class Elsewhere(Learner):
    """Rows of the slot before."""

    def look(self, pool: trainyard.Pool) -> tuple[np.ndarray, np.ndarray]:
        x, mask = super().look(pool)
        return np.roll(x, 1, axis=0), mask


class Unmasked(Learner):
    """A mask that allows everything; what is illegal is played at random."""

    def look(self, pool: trainyard.Pool) -> tuple[np.ndarray, np.ndarray]:
        x, mask = super().look(pool)
        return x, np.ones_like(mask)


class Mispaid(Learner):
    """Rewards of the slot before."""

    def paid(self, pool: trainyard.Pool) -> np.ndarray:
        return np.roll(super().paid(pool), 1)


def learned(kind: type[Learner], seed: int = 0, **options: str) -> float:
    """Goods per game on held-out seeds after a short training."""
    learner = kind(seed=seed, backend="inproc", **options)
    for _ in range(UPDATES):
        learner.learn()
    return learner.goods()


def test_the_small_learner_delivers_goods():
    assert Learner(backend="inproc").goods(random=True) < 0.1
    assert learned(Learner) > MARGIN


@pytest.mark.parametrize("broken", [Blind, Elsewhere, Mispaid])
def test_with_a_broken_row_or_reward_it_does_not(broken: type[Learner]):
    assert learned(broken) < MARGIN


def test_with_a_broken_mask_it_does_not():
    assert learned(Unmasked, illegal="random_legal") < MARGIN


def test_a_broken_mask_is_refused():
    with pytest.raises(trainyard.IllegalAction):
        learned(Unmasked)
