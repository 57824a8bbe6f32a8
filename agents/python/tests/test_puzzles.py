"""Puzzles: those that come with the package, and how they are found, proved and graded."""

from __future__ import annotations

import bz2
import dataclasses
import json
import subprocess
import sys
from collections import Counter

import pytest
import trainyard
from trainyard import llm, puzzles

SHIPPED = ["convoi", "nordic", "express", "chicago"]


@pytest.fixture(scope="module")
def found() -> list[puzzles.Puzzle]:
    """Two puzzles of the smallest map, found here."""
    stream = puzzles.find("express:map=tiny,reward=score")
    return [next(stream) for _ in range(2)]


def test_found_puzzles_hold(found):
    for puzzle in found:
        assert puzzle.margin > 3 * puzzle.error
        assert puzzles.check(puzzle) == (puzzle, "")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"best": "second"}, "ahead by -"),
        ({"best": "claim nothing"}, "other choices"),
        ({"rules_version": 99}, "rules version 99"),
    ],
)
def test_wrong_puzzles_do_not_hold(found, change, says):
    puzzle = found[0]
    if change.get("best") == "second":
        change = {"best": puzzle.second, "second": puzzle.best}
    _, told = puzzles.check(dataclasses.replace(puzzle, **change))
    assert told
    assert says in told


def test_puzzle_is_a_table_and_a_grade(found):
    tables = trainyard.Tables()
    for puzzle in found:
        table = puzzle.open(tables)
        look = table.look()
        assert look.seat == puzzle.seat
        assert len(look.names) == puzzle.choices
        assert {puzzle.best, puzzle.second} <= set(look.names)
        assert puzzle.grade(f"Hm. <answer>{puzzle.best}</answer>") == 1
        for wrong in (f"<answer>{puzzle.second}</answer>", "", "x" * (1 << 20)):
            assert puzzle.grade(wrong) == 0
        assert llm.play(table, puzzle.best).taken


@pytest.mark.parametrize("game", SHIPPED)
def test_shipped_puzzles_hold(game):
    """A few of each game are proved again; `trainyard puzzles --check GAME` does all."""
    shipped = puzzles.load(game)
    assert len({(p.seed, len(p.actions)) for p in shipped}) == len(shipped) > 10
    assert {p.difficulty for p in shipped} == {1, 2, 3}
    verbs = Counter(p.best.split(" ")[0] for p in shipped)
    assert len(verbs) >= 5
    assert verbs.most_common(1)[0][1] < 0.6 * len(shipped)
    assert all(p.margin > 3 * p.error > 0 for p in shipped)
    for puzzle in shipped[:: max(1, len(shipped) // 3)][:3]:
        # A new version of the expert changes the numbers, and lets some puzzles fall: then
        # `trainyard puzzles --check FILE -o FILE` keeps those that still hold.
        assert puzzles.check(puzzle)[1] == ""


def test_packed_puzzles_are_the_same(found, tmp_path):
    """A packed file has every puzzle, its numbers with four digits."""
    other = next(puzzles.find("nordic:map=tiny,reward=score", 5))
    many = [*found, dataclasses.replace(found[0], key=7), other]
    plain, packed = tmp_path / "some.jsonl", tmp_path / "some.packed"
    puzzles._write(many, str(plain))
    assert puzzles.load(plain) == many
    puzzles._write(puzzles.load(plain)[1:], str(packed))

    def rounded(puzzle: puzzles.Puzzle) -> puzzles.Puzzle:
        lead = {"margin": puzzle.margin, "error": puzzle.error}
        return dataclasses.replace(puzzle, **{k: float(f"{v:.4g}") for k, v in lead.items()})

    def order(puzzle: puzzles.Puzzle) -> tuple[str, int, int, int]:
        return puzzle.ruleset, puzzle.seed, len(puzzle.actions), puzzle.key

    assert sorted(puzzles.load(packed), key=order) == sorted(map(rounded, many[1:]), key=order)
    for damaged in (packed.read_bytes()[:-9], b"no archive", bz2.compress(b'[7, "!"]\n')):
        packed.write_bytes(damaged)
        with pytest.raises(trainyard.Error, match="puzzles"):
            puzzles.load(packed)


def test_letters_hold_any_number():
    numbers = [0, 1, 90, 91, 182, 1000]
    assert list(puzzles._numbers("".join(map(puzzles._letter, numbers)))) == numbers


def test_command(tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "trainyard", "puzzles", *words]
        return subprocess.run(command, capture_output=True, text=True)

    path = tmp_path / "some.jsonl"
    assert run("express:map=tiny,reward=score", "--count", "1", "-o", str(path)).returncode == 0
    assert "1 of 1 puzzles hold" in run("--check", str(path)).stdout
    line = json.loads(path.read_text())
    wrong = line | {"best": line["second"], "second": line["best"]}
    path.write_text(json.dumps(line) + "\n" + json.dumps(wrong) + "\n")
    assert run("--check", str(path)).returncode == 1
    assert run("--check", str(path), "-o", str(path)).returncode == 0
    assert json.loads(path.read_text()) == line
    for words in (["chess"], [], ["--check", str(tmp_path / "none.jsonl")]):
        refused = run(*words)
        assert refused.returncode != 0
        assert "Traceback" not in refused.stderr
