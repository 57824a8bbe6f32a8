"""Agents in Python beside the built-in ones."""

from __future__ import annotations

import numpy as np
import pytest
import trainyard


class First:
    """Takes the first legal action."""

    def act(self, view):
        assert view.mask.any()
        return view.legal[0]


class Careful:
    """Keeps an account of its own episode, which a shared instance could not."""

    def start(self, ruleset, seat, seed):
        self.seat, self.count, self.rng = seat, 0, np.random.default_rng(seed)

    def act(self, view):
        assert view.seat == self.seat
        self.count += 1
        return self.rng.choice(view.legal)


def test_python_agents_enter_the_arena():
    result = trainyard.arena("convoi", ["random", First(), Careful], episodes=30, board="tiny")
    assert list(result.values) == ["random", "First", "Careful"]
    assert result.values["random"]["goods"].low <= result.values["random"]["goods"].mean
    assert "random" not in result.differences
    assert "goods" in str(result)


def test_results_reproduce_and_do_not_depend_on_the_batch():
    few = trainyard.play("convoi", ["expert", Careful], episodes=10, seed=7)
    many = trainyard.play("convoi", ["expert", Careful], episodes=90, seed=7)
    assert (few.returns == many.returns[:10]).all()
    assert (few.metrics == many.metrics[:10]).all()
    assert (few.decisions == many.decisions[:10]).all()


def test_no_agent_without_act():
    with pytest.raises(trainyard.Error, match=r"act\(view\)"):
        trainyard.arena("convoi", [object()], episodes=1)


def test_estimates():
    rate = trainyard.Estimate.of(np.zeros(20), rate=True)
    assert rate.low == 0
    assert rate.high == pytest.approx(0.1611, abs=1e-4)
    assert trainyard.Estimate.of(np.zeros(500), rate=True).low == 0
    assert trainyard.Estimate.of(np.ones(500), rate=True).high == 1
    mean = trainyard.Estimate.of(np.array([1.0, 2.0, 3.0]))
    assert mean.high - mean.mean == pytest.approx(4.3027 / 3**0.5, abs=1e-3)  # Student, 2 degrees
