"""The examples that learn with PyTorch: every game trains, a resumed run is the run that was never
stopped, and a checkpoint plays."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import trainyard
from conftest import TOP

sys.path.insert(0, str(TOP / "examples"))
import evaluate
import train_ppo

#: The smallest ruleset of each game.
SMALL = {
    "convoi": ["--set", "board=tiny"],
    "nordic": ["--set", "map=tiny"],
    "express": ["--set", "map=tiny"],
    "chicago": ["--set", "turn_cap=100"],
}
STEPS = 32 * 16


def train(out: Path, rounds: int, *arguments: str) -> dict[str, object]:
    sizes = ["--envs", "32", "--horizon", "16", "--batch", "128", "--threads", "1"]
    end = ["--steps", str(rounds * STEPS), "--games", "4", "--evaluate", "60"]
    return train_ppo.main(["--out", str(out), *sizes, *end, *arguments])


def weights(run: Path) -> dict[str, torch.Tensor]:
    return torch.load(run / "policy.pt", weights_only=True)["weights"]


@pytest.mark.parametrize("game", [game.name for game in trainyard.games()])
def test_every_game_trains_resumes_exactly_and_evaluates(game: str, tmp_path: Path) -> None:
    small = ["--game", game, *SMALL.get(game, [])]
    train(tmp_path / "whole", 4, *small, "--backend", "inproc")
    train(tmp_path / "parts", 2, *small, "--backend", "shm")
    halfway = weights(tmp_path / "parts")
    resume = ["--resume", str(tmp_path / "parts"), "--backend", "inproc", "--threads", "1"]
    line = train_ppo.main([*resume, "--steps", str(4 * STEPS), "--games", "4"])
    assert line["steps"] == 4 * STEPS
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert whole.keys() == parts.keys()
    for key, value in whole.items():
        assert torch.equal(value, parts[key]), key
    assert any(not torch.equal(value, halfway[key]) for key, value in whole.items())
    curve = [json.loads(x) for x in (tmp_path / "parts" / "curve.jsonl").read_text().splitlines()]
    assert [x["steps"] for x in curve] == [0, 2 * STEPS, 2 * STEPS, 4 * STEPS]

    plot = tmp_path / "plot.png"
    found = evaluate.main(
        [
            str(tmp_path / "parts" / "policy.pt"),
            *("--games", "6", "--backend", "inproc", "--threads", "1", "--plot", str(plot)),
        ]
    )
    assert plot.read_bytes().startswith(b"\x89PNG")
    names = {"network", "random", "expert"} if game == "convoi" else {"random", "expert"}
    assert set(found) == names


def test_the_checkpoint_that_ships_delivers_goods(tmp_path: Path) -> None:
    plot = tmp_path / "plot.png"
    found = evaluate.main(["--games", "40", "--threads", "1", "--plot", str(plot)])
    assert found["network"]["goods"]["mean"] > 2.0 > found["random"]["goods"]["mean"]


def test_advantages_follow_each_seat_on_its_own_line() -> None:
    """Two seats move in turn; the rewards of one are not the other's, and what comes after the end
    of an episode does not reach back."""
    ruleset = trainyard.Ruleset("nordic", map="tiny")
    rollout = train_ppo.Rollout(5, 1, ruleset, 2)
    rollout.seat[:, 0] = [0, 1, 0, 1, 0, 1]
    rollout.value[:, 0] = [0.5, 0.25, 1.0, 2.0, 4.0, 8.0]
    rollout.earned[:, 0] = [[1, 0], [2, 3], [0, 5], [7, 11], [13, 17]]
    rollout.ended[3, 0] = True
    gain, valid = rollout.advantages(0.5, 0.0)
    # Seat 0 at step 0 earns 1 + 2 until its next decision, which is worth 1.
    assert gain[0, 0] == 1 + 2 + 0.5 * 1.0 - 0.5
    assert gain[1, 0] == 3 + 5 + 0.5 * 2.0 - 0.25
    # The episode ends with step 3: what was earned until then, and no value behind it.
    assert gain[2, 0] == 0 + 7 - 1.0
    assert gain[3, 0] == 11 - 2.0
    # Seat 0 does not decide again after step 4: nothing is known of it.
    assert valid[:, 0].tolist() == [True, True, True, True, False]
    assert np.isfinite(gain).all()
