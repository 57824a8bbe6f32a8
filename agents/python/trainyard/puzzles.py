"""Puzzles: positions with a move that search proves best.

    trainyard puzzles express:reward=score --count 100 -o express.jsonl
    trainyard puzzles --check express.jsonl

>>> for puzzle in trainyard.puzzles.load("express"):
...     table = puzzle.open(tables)
...     right = puzzle.grade(model(llm.prompt(table.look())))

A position comes from games of experts with some random moves. Each legal action is tried in
imagined worlds, in which what the seat cannot know is redealt and the future drawn anew, and the
expert plays on; the ruleset's reward is what counts. The two best are then compared in fresh
worlds, the same for both: the puzzle stands if the best is ahead by more than three standard
errors. The worlds are drawn from keys that the puzzle holds, so that the proof can be repeated.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt

from . import _lib, llm
from .agents import BuiltIn, View
from .errors import Error
from .inproc import InProcess
from .pool import make
from .ruleset import Ruleset
from .tables import Table, Tables

#: Standard errors by which the best action is ahead.
PROOF = 3.0
#: Standard errors in the second look below which no proof is tried.
HOPE = 1.5
#: Legal actions of a puzzle.
CHOICES = range(3, 41)
#: Worlds of a first look at every action, and of a second at those that seem best.
FIRST, SECOND, KEPT = 8, 32, 3
#: Worlds of a proof, at most; as many as are played in about half a second.
PROOF_MOST, PROOF_LEAST, PROOF_SECONDS = 256, 16, 0.5


@dataclass(frozen=True)
class Puzzle:
    """A position, as the seed and the first actions of an episode, and what is best there.

    margin, error   by how much the best is ahead of the second in the ruleset's reward, and the
                    standard error of that
    difficulty      1: the expert finds it among fewer than 8 choices; 2: the expert finds it;
                    3: the expert plays something else
    """

    ruleset: str
    rules_version: int
    seed: int
    actions: list[int]
    seat: int
    choices: int
    best: str
    second: str
    margin: float
    error: float
    worlds: int
    key: int
    difficulty: int

    def open(self, tables: Tables) -> Table:
        """A table at the position; all seats are yours."""
        rules = Ruleset(self.ruleset)
        table = tables.open(rules, seed=self.seed)
        for action in self.actions:
            if not table.act([rules.action_name(action)]).taken:
                raise Error(f"{self.ruleset}, seed {self.seed}: the puzzle is of other rules")
        return table

    def grade(self, reply: str) -> float:
        """1 for a reply whose first action is the best one, else 0."""
        return float(llm.parse(reply, [self.best]).actions[:1] == [self.best])


class Bench:
    """Two slots on which positions are tried: 0 has the position, 1 is for imagined worlds."""

    def __init__(self, spec: str) -> None:
        self.pool = make(spec, num_envs=2, autoreset="disabled", illegal="noop")
        assert isinstance(self.pool.backend, InProcess)
        self._backend = self.pool.backend
        self.rules = self.pool.ruleset

    def reset(self, seed: int) -> None:
        self.pool.reset(seeds=[seed, seed])

    def step(self, action: int) -> None:
        self._backend.step_slot(0, action)

    def values(self, action: int, keys: Sequence[int]) -> npt.NDArray[np.float64]:
        """What the seat to act earns from here on with an action, in the world of each key."""
        seat = int(self.pool.seat[0])
        before = self._backend.save(0)
        result = np.empty(len(keys))
        one = np.array([1], dtype=np.uint32)
        for i, key in enumerate(keys):
            self._backend.restore(before, one, np.array([key], np.uint64), seat, foreign=False)
            self._backend.step_slot(1, action)
            now = float(self.pool.earned[1, seat])
            later = self._backend.playout(1, "expert", key) if self.pool.ready[1] else None
            result[i] = now + (float(later[seat]) if later is not None else 0.0)
        return result

    def compare(self, best: int, second: int, keys: Sequence[int]) -> tuple[float, float]:
        """By how much one action is ahead of another in the same worlds, and its error."""
        ahead = self.values(best, keys) - self.values(second, keys)
        return float(ahead.mean()), float(ahead.std(ddof=1) / np.sqrt(len(ahead)))

    def proof_worlds(self, action: int) -> int:
        """How many worlds fit into a check of half a second of this processor, from the time that
        some take."""
        begin = process_time()
        self.values(action, range(4))
        each = max(1e-6, process_time() - begin) / 4
        return int(np.clip(PROOF_SECONDS / each / 2, PROOF_LEAST, PROOF_MOST))


def _candidates(bench: Bench, key: int) -> tuple[int, int] | None:
    """The two actions that seem best: all are looked at, then those that did well again. None if
    they are so close that a proof is unlikely."""
    legal = np.flatnonzero(bench.pool.mask[0]).tolist()
    first = {action: bench.values(action, range(key, key + FIRST)).mean() for action in legal}
    kept = sorted(legal, key=lambda action: -first[action])[:KEPT]
    keys = range(key + FIRST, key + FIRST + SECOND)
    second = {action: bench.values(action, keys) for action in kept}
    best, next_best = sorted(kept, key=lambda action: -second[action].mean())[:2]
    ahead = second[best] - second[next_best]
    hopeful = ahead.mean() * np.sqrt(SECOND) > HOPE * ahead.std()
    return (best, next_best) if hopeful else None


def _expert_choice(bench: Bench, seats: Sequence[BuiltIn], seat: int) -> int:
    pool = bench.pool
    return seats[seat].act(View(pool, 0, seat, pool.obs[0], pool.mask[0]))


def _prove(bench: Bench, seed: int, actions: list[int], expert: int) -> Puzzle | None:
    """The puzzle of the position in slot 0, if there is one."""
    key = int(np.random.SeedSequence([seed, len(actions)]).generate_state(1, np.uint64)[0] >> 16)
    candidates = _candidates(bench, key)
    if candidates is None:
        return None
    best, second = candidates
    worlds = bench.proof_worlds(best)
    proof = key + FIRST + SECOND
    margin, error = bench.compare(best, second, range(proof, proof + worlds))
    if not margin > PROOF * error or error == 0:
        return None
    rules, choices = bench.rules, int(bench.pool.mask[0].sum())
    found = expert == best
    return Puzzle(
        ruleset=rules.spec,
        rules_version=rules.game.rules_version,
        seed=seed,
        actions=actions,
        seat=int(bench.pool.seat[0]),
        choices=choices,
        best=rules.action_name(best),
        second=rules.action_name(second),
        margin=round(margin, 6),
        error=round(error, 6),
        worlds=worlds,
        key=proof,
        difficulty=3 if not found else 1 if choices < 8 else 2,
    )


def find(ruleset: str, seed: int = 0) -> Iterator[Puzzle]:
    """Puzzles of a ruleset without end: one position of each seed's episode is tried.

    >>> next(trainyard.puzzles.find("express:reward=score"))
    """
    bench = Bench(ruleset)
    rules = bench.rules
    while True:
        chance = np.random.default_rng(seed)
        seats = [BuiltIn(rules, "expert") for _ in range(rules.players)]
        for seat, player in enumerate(seats):
            player.start(rules, seat, int(_lib.lib.ty_agent_seed(seed, seat)))
        bench.reset(seed)
        actions: list[int] = []
        wanted = int(chance.integers(4, 120))
        while bench.pool.ready[0]:
            legal = np.flatnonzero(bench.pool.mask[0])
            action = _expert_choice(bench, seats, int(bench.pool.seat[0]))
            if len(actions) >= wanted and len(legal) in CHOICES:
                puzzle = _prove(bench, seed, list(actions), action)
                if puzzle is not None:
                    yield puzzle
                break
            # Experts see little of the game: now and then chance plays.
            action = int(chance.choice(legal)) if chance.random() < 0.1 else action
            actions.append(action)
            bench.step(action)
        seed += 1


def check(puzzle: Puzzle) -> tuple[Puzzle, str]:
    """Repeats the proof: the puzzle with margin and error as they are here, and why it does not
    hold, or "". With another version of the expert the numbers change, and some puzzles fall.

    >>> _, why = trainyard.puzzles.check(puzzle)
    """
    bench = Bench(puzzle.ruleset)
    if puzzle.rules_version != bench.rules.game.rules_version:
        return puzzle, f"it is of rules version {puzzle.rules_version}"
    bench.reset(puzzle.seed)
    for action in puzzle.actions:
        bench.step(action)
    legal = bench.rules.legal_names(bench.pool.mask[0])
    if not bench.pool.ready[0] or puzzle.best not in legal or puzzle.second not in legal:
        return puzzle, "its position has other choices"
    keys = range(puzzle.key, puzzle.key + puzzle.worlds)
    best, second = (bench.rules.action(name) for name in (puzzle.best, puzzle.second))
    margin, error = bench.compare(best, second, keys)
    told = replace(puzzle, margin=round(margin, 6), error=round(error, 6))
    if margin > PROOF * error > 0:
        return told, ""
    return told, f"the best is ahead by {margin:.4f}, with an error of {error:.4f}"


def load(source: str | Path) -> list[Puzzle]:
    """The puzzles of a file, or those of a game that come with the package.

    >>> len(trainyard.puzzles.load("express"))
    """
    place = Path(source)
    if not place.suffix:
        place = _lib.package_file(f"data/puzzles_{source}.jsonl")
    try:
        lines = place.read_text().splitlines()
        return [Puzzle(**json.loads(line)) for line in lines]
    except OSError as error:
        raise Error(f"{place}: {error.strerror}", "io") from error
    except (ValueError, TypeError) as error:
        raise Error(f"{place}: not a file of puzzles: {error}", "bad_file") from None


def _write(puzzles: Iterable[Puzzle], path: str | None) -> None:
    with open(path, "w") if path else nullcontext(sys.stdout) as out:
        for puzzle in puzzles:
            out.write(json.dumps(asdict(puzzle)) + "\n")
            out.flush()


def _check(source: str, path: str | None) -> None:
    puzzles, begin = load(source), process_time()
    good: list[Puzzle] = []
    for number, puzzle in enumerate(puzzles):
        told, why = check(puzzle)
        if why:
            print(f"puzzle {number}: {why}")
        else:
            good.append(told)
    took = (process_time() - begin) / max(1, len(puzzles))
    print(f"{len(good)} of {len(puzzles)} puzzles hold, {took:.2f} s of processor time each")
    if path:
        _write(good, path)
    elif len(good) < len(puzzles):
        raise SystemExit(1)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="trainyard puzzles", description="Positions with a move that search proves best."
    )
    parser.add_argument("ruleset", nargs="?", help="for example express:reward=score")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the first episode (0)")
    parser.add_argument("-o", "--out", help="a file; standard output without it")
    parser.add_argument(
        "--check",
        metavar="FILE",
        help="repeat the proofs of a file, or of a game's; with -o, write those that hold",
    )
    given = parser.parse_args(arguments)
    if given.check:
        _check(given.check, given.out)
    elif given.ruleset:
        _write(islice(find(given.ruleset, given.seed), given.count), given.out)
    else:
        parser.error("a ruleset, or --check FILE")
