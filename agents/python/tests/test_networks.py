"""examples/networks.py: every recipe can be followed, and what was done is not done again."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TOP

RECIPES = sorted(path.stem for path in (TOP / "examples/recipes").glob("*.json"))


def follow(runs: Path, *options: str) -> str:
    command = [sys.executable, str(TOP / "examples/networks.py"), "--quick", "--runs", str(runs)]
    done = subprocess.run([*command, *options], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder in which all recipes were followed with two seeds, and what was told."""
    runs = tmp_path_factory.mktemp("runs")
    return runs / "quick", follow(runs, "--seeds", "3,4")


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipe_is_followed_to_a_curve(recipe, followed):
    runs, told = followed
    stages = re.findall(rf"^{recipe}, seed (\d), stage (\d)", told, re.M)
    assert stages == sorted(stages)
    assert {seed for seed, _ in stages} == {"3", "4"}
    assert f"\n{recipe}: curves in {runs / recipe}/curve.png\n" in told
    assert (runs / recipe / "curve.png").read_bytes().startswith(b"\x89PNG")
    # Two rounds of each stage, one behind the other.
    curve = (runs / recipe / "3" / "curve.csv").read_text().splitlines()
    steps = [int(line.split(",")[curve[0].split(",").index("steps")]) for line in curve[1:]]
    assert steps == sorted(steps)
    assert steps[-1] == 1024 * len({stage for _, stage in stages})


def test_held_out_games_are_told_by_judge_alone(followed):
    runs, told = followed
    assert "Held-out" not in told
    judged = follow(runs.parent, "--seeds", "3,4", "--judge")
    assert "stage" not in judged
    tables = judged.split(" Held-out seeds 1300000 to 1300003.\n")
    assert len(tables) == 1 + len(RECIPES)
    for recipe, table in zip(RECIPES, tables[1:], strict=True):
        rows = re.findall(r"^\| (seed \d|`expert`) \| \d+\.\d % \[\d", table, re.M)
        assert rows == ["seed 3", "seed 4"] + ["`expert`"] * recipe.startswith("convoi")


def test_the_best_of_several_beginnings_goes_on(followed):
    runs, _ = followed
    ends, earned, weights = [], [], []
    for folder in sorted((runs / "convoi_from_nothing/3/1").iterdir()):
        curve = list(csv.DictReader((folder / "curve.csv").open()))
        ends.append(int(curve[-1]["steps"]))
        earned.append(next(float(line["earned"]) for line in curve if line["steps"] == "512"))
        weights.append((folder / "policy.net").read_bytes())
        assert json.loads((folder / "config.json").read_text())["seed"] == 6 + len(weights) - 1
    best = earned.index(max(earned))
    assert ends[best] == 1024
    assert ends[1 - best] == 512
    started = json.loads((runs / "convoi_from_nothing/3/2/config.json").read_text())["start"]
    assert Path(started).read_bytes() == weights[best]


def test_what_was_trained_is_not_trained_again(followed):
    runs, told = followed
    net = runs / "express/3/1/policy.net"
    before = net.stat().st_mtime_ns
    again = follow(runs.parent, "express", "--seeds", "3,4")
    assert "stage 1" not in again
    assert net.stat().st_mtime_ns == before
    assert again in told


def test_unknown_recipe_is_named(tmp_path):
    command = [sys.executable, str(TOP / "examples/networks.py"), "poker", "--runs", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no recipe poker; there are chicago, convoi" in done.stderr


@pytest.mark.parametrize("trained", ["nothing", "a round of two"])
def test_what_was_not_trained_to_its_end_is_not_judged(trained, followed, tmp_path):
    runs, _ = followed
    if trained == "a round of two":
        shutil.copytree(runs / "express/3", tmp_path / "quick/express/3")
        curve = tmp_path / "quick/express/3/1/curve.csv"
        lines = curve.read_text().splitlines()
        curve.write_text("\n".join(line for line in lines if ",1024," not in line) + "\n")
    command = [sys.executable, str(TOP / "examples/networks.py"), "express", "--judge", "--quick"]
    done = subprocess.run(
        [*command, "--seeds", "3", "--runs", str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"{tmp_path}/quick/express has no network of seed 3 yet" in done.stderr


@pytest.mark.parametrize(
    "curve",
    sorted((TOP / "examples/curves").glob("*/*/curve.csv")),
    ids=lambda curve: "/".join(curve.parts[-3:-1]),
)
def test_curve_that_ships_goes_to_the_end_of_its_recipe(curve):
    recipe = json.loads((TOP / f"examples/recipes/{curve.parts[-3]}.json").read_text())
    with curve.open(newline="") as file:
        steps = [int(line["steps"]) for line in csv.DictReader(file)]
    assert steps == sorted(steps)
    # A stage ends with a whole round.
    planned = [stage["steps"] for stage in recipe["stages"]]
    assert sum(planned) <= steps[-1] < sum(planned) * 1.01
