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
import bz2
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

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
#: Legal actions of a puzzle.
CHOICES = range(3, 41)
#: A look at the actions of a position: worlds of each round, and by how many standard deviations
#: the best must be ahead of the second after it. Positions that fall short are left: most have no
#: best move, and the look at them is what finding costs.
ROUNDS = ((4, 0.35), (4, 0.35), (8, 0.32), (16, 0.3), (32, 0.27))
LOOK = sum(worlds for worlds, _ in ROUNDS)
#: Standard errors by which an action is behind when it is not looked at any longer.
BEHIND = 2.5
#: How far the look must be ahead of what the proof needs, to make it likely.
HOPE = 1.4
#: Worlds of a proof.
PROOF_LEAST, PROOF_MOST = 32, 256
#: Decisions between two puzzles of an episode, at least.
APART = 6
#: The largest share of the puzzles that one kind of decision or one stretch may have.
SHARE = 0.4
#: Decisions of a stretch of an episode; puzzles are sought where they have been found.
STRETCH = 24


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
        #: Episodes that were played to their end, so far.
        self.playouts = 0

    def reset(self, seed: int) -> None:
        self.pool.reset(seeds=[seed, seed])

    def step(self, action: int) -> None:
        self._backend.step_slot(0, action)

    def legal(self) -> list[int]:
        """The legal actions of the position."""
        actions: list[int] = np.flatnonzero(self.pool.mask[0]).tolist()
        return actions

    def values(self, action: int, keys: Sequence[int]) -> npt.NDArray[np.float64]:
        """What the seat to act earns from here on with an action, in the world of each key."""
        seat = int(self.pool.seat[0])
        before = self._backend.save(0)
        result = np.empty(len(keys))
        self.playouts += len(keys)
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


@dataclass(frozen=True)
class _Look:
    """What a look at a position's actions came to: the two best, and the worlds that it takes to
    prove which of them is better."""

    best: int
    second: int
    worlds: int


def _lead(ahead: npt.NDArray[np.float64]) -> float:
    """By how many standard deviations one is ahead; 0 if the two are never different."""
    deviation, mean = float(ahead.std(ddof=1)), float(ahead.mean())
    return mean / deviation if deviation > 0 else np.inf * mean if mean != 0 else 0.0


def _look(bench: Bench, key: int) -> _Look | None:
    """Tries the actions in more and more worlds, fewer of them in each round. None as soon as no
    proof is likely."""
    tried = {action: np.empty(0) for action in bench.legal()}
    done = 0
    for worlds, least in ROUNDS:
        keys = range(key + done, key + done + worlds)
        tried = {a: np.append(values, bench.values(a, keys)) for a, values in tried.items()}
        done += worlds
        best, second = sorted(tried, key=lambda a: -tried[a].mean())[:2]
        lead = _lead(tried[best] - tried[second])
        if lead < least:
            return None
        needed = (PROOF * HOPE / lead) ** 2
        if needed <= done and done >= PROOF_LEAST:
            break
        behind = BEHIND / np.sqrt(done)
        tried = {a: v for a, v in tried.items() if a == second or _lead(tried[best] - v) < behind}
    return _Look(best, second, int(np.clip(needed, PROOF_LEAST, PROOF_MOST)))


def _expert_choice(bench: Bench, seats: Sequence[BuiltIn], seat: int) -> int:
    pool = bench.pool
    return seats[seat].act(View(pool, 0, seat, pool.obs[0], pool.mask[0]))


def _key(seed: int, at: int) -> int:
    """The first world in which the position after so many decisions is looked at; those of the
    proof follow the look's."""
    return int(np.random.SeedSequence([seed, at]).generate_state(1, np.uint64)[0] >> 16)


def _prove(bench: Bench, seed: int, actions: list[int], expert: int) -> Puzzle | None:
    """The puzzle of the position in slot 0, if there is one."""
    key = _key(seed, len(actions))
    look = _look(bench, key)
    if look is None:
        return None
    best, second, worlds = look.best, look.second, look.worlds
    proof = key + LOOK
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


class _Luck:
    """How often positions had a puzzle for the time that they took, by the verb of the expert's
    choice and the stretch of the episode: where it is seldom, less and less is tried."""

    def __init__(self) -> None:
        self._cost: Counter[tuple[str, int]] = Counter()
        self._found: Counter[tuple[str, int]] = Counter()
        self._shares: Counter[str | int] = Counter()
        self._puzzles = 0

    def worth(self, verb: str, stretch: int, chance: float) -> bool:
        """Whether a position is to be tried, for a number between 0 and 1."""
        if max(self._shares[verb], self._shares[stretch]) > 10 + SHARE * self._puzzles:
            return False
        kind = (verb, stretch)
        usual = (self._found.total() + 1) / (self._cost.total() + 1)
        here = (self._found[kind] + 1) / (self._cost[kind] + 1 / usual)
        return chance < max(0.05, here / usual)

    def count(self, verb: str, stretch: int, cost: int, puzzle: Puzzle | None) -> None:
        self._cost[verb, stretch] += cost
        if puzzle is not None:
            self._found[verb, stretch] += 1
            self._puzzles += 1
            self._shares.update((puzzle.best.split(" ")[0], stretch))


def find(ruleset: str, seed: int = 0) -> Iterator[Puzzle]:
    """Puzzles of a ruleset without end, from the episodes of one seed after the other.

    >>> next(trainyard.puzzles.find("express:reward=score"))
    """
    bench, luck = Bench(ruleset), _Luck()
    while True:
        yield from _episode(bench, luck, seed)
        seed += 1


def _episode(bench: Bench, luck: _Luck, seed: int) -> Iterator[Puzzle]:
    """The puzzles among some positions of an episode of experts, in which now and then chance
    plays: experts alone see little of the game."""
    chance, rules = np.random.default_rng(seed), bench.rules
    seats = [BuiltIn(rules, "expert") for _ in range(rules.players)]
    for seat, player in enumerate(seats):
        player.start(rules, seat, int(_lib.lib.ty_agent_seed(seed, seat)))
    bench.reset(seed)
    actions: list[int] = []
    after = 4
    while bench.pool.ready[0]:
        legal = bench.legal()
        action = _expert_choice(bench, seats, int(bench.pool.seat[0]))
        kind = (rules.action_name(action).split(" ")[0], len(actions) // STRETCH)
        fits = len(actions) >= after and len(legal) in CHOICES
        if fits and luck.worth(*kind, chance.random()):
            before = bench.playouts
            puzzle = _prove(bench, seed, list(actions), action)
            luck.count(*kind, bench.playouts - before, puzzle)
            if puzzle is not None:
                yield puzzle
                after = len(actions) + APART
        action = int(chance.choice(legal)) if chance.random() < 0.1 else action
        actions.append(action)
        bench.step(action)


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


# ---- Files: a puzzle in each line, or packed

#: Letters of a packed action, its number among the legal ones: "~" adds as many as there are.
LETTERS = "".join(chr(code) for code in range(33, 126) if chr(code) not in '"\\\\')


def _letter(number: int) -> str:
    return "~" * (number // len(LETTERS)) + LETTERS[number % len(LETTERS)]


def _numbers(letters: str) -> Iterator[int]:
    before = 0
    for letter in letters:
        if letter == "~":
            before += len(LETTERS)
        else:
            yield before + LETTERS.index(letter)
            before = 0


def _pack(puzzles: Iterable[Puzzle]) -> Iterator[str]:
    """The lines of a packed file, before it is compressed: puzzles of an episode share its actions,
    which are numbers among the legal ones. A ruleset has a line [name, rules version], an episode
    [seed, actions, [at, best, second, margin, error, worlds, difficulty, key unless as usual]...].
    """
    episodes: dict[tuple[str, int], dict[int, list[Puzzle]]] = {}
    for puzzle in sorted(puzzles, key=lambda puzzle: len(puzzle.actions)):
        of_rules = episodes.setdefault((puzzle.ruleset, puzzle.rules_version), {})
        of_rules.setdefault(puzzle.seed, []).append(puzzle)
    for header, seeds in episodes.items():
        yield json.dumps(header) + "\n"
        bench = Bench(header[0])
        for seed in sorted(seeds):
            yield _pack_episode(bench, seed, seeds[seed])


def _pack_episode(bench: Bench, seed: int, puzzles: list[Puzzle]) -> str:
    """The line of an episode; its puzzles are ordered, and each begins as the next one."""
    letters, rows = "", []
    bench.reset(seed)
    for at, action in enumerate([*puzzles[-1].actions, None]):
        legal = bench.legal()
        for puzzle in puzzles:
            if len(puzzle.actions) == at:
                numbers = [legal.index(bench.rules.action(n)) for n in (puzzle.best, puzzle.second)]
                lead = [float(f"{number:.4g}") for number in (puzzle.margin, puzzle.error)]
                key = [] if puzzle.key == _key(seed, at) + LOOK else [puzzle.key]
                rows.append([at, *numbers, *lead, puzzle.worlds, puzzle.difficulty, *key])
        if action is not None:
            letters += _letter(legal.index(action))
            bench.step(action)
    return json.dumps([seed, letters, *rows], separators=(",", ":")) + "\n"


def _unpack(lines: Iterable[str]) -> Iterator[Puzzle]:
    bench: Bench | None = None
    for line in lines:
        first, second, *rows = json.loads(line)
        if isinstance(first, str):
            bench = Bench(first)
            if bench.rules.game.rules_version != second:
                raise ValueError(f"{first} of rules version {second}")
        elif bench is None:
            raise ValueError("an episode before its ruleset")
        else:
            yield from _unpack_episode(bench, first, second, {row[0]: row for row in rows})


def _unpack_episode(
    bench: Bench, seed: int, letters: str, rows: dict[int, list[Any]]
) -> Iterator[Puzzle]:
    rules = bench.rules
    actions: list[int] = []
    bench.reset(seed)
    for number in (*_numbers(letters), None):
        legal = bench.legal()
        if len(actions) in rows:
            at, best, second, margin, error, worlds, difficulty, *key = rows[len(actions)]
            yield Puzzle(
                ruleset=rules.spec,
                rules_version=rules.game.rules_version,
                seed=seed,
                actions=list(actions),
                seat=int(bench.pool.seat[0]),
                choices=len(legal),
                best=rules.action_name(legal[best]),
                second=rules.action_name(legal[second]),
                margin=margin,
                error=error,
                worlds=worlds,
                key=key[0] if key else _key(seed, at) + LOOK,
                difficulty=difficulty,
            )
        if number is not None:
            actions.append(legal[number])
            bench.step(legal[number])


def load(source: str | Path) -> list[Puzzle]:
    """The puzzles of a file, or those of a game that come with the package.

    >>> len(trainyard.puzzles.load("express"))
    """
    place = Path(source)
    if not place.suffix:
        place = _lib.package_file(f"data/puzzles_{source}.packed")
    try:
        content = place.read_bytes()
    except OSError as error:
        raise Error(f"{place}: {error.strerror}", "io") from error
    try:
        if place.suffix == ".packed":
            return list(_unpack(bz2.decompress(content).decode().splitlines()))
        return [Puzzle(**json.loads(line)) for line in content.decode().splitlines()]
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise Error(f"{place}: not a file of puzzles: {error}", "bad_file") from None


def _write(puzzles: Iterable[Puzzle], path: str | None) -> None:
    """Writes puzzles as they come; packed ones when all are there."""
    if path is not None and Path(path).suffix == ".packed":
        Path(path).write_bytes(bz2.compress("".join(_pack(puzzles)).encode()))
        return
    with open(path, "w") if path else nullcontext(sys.stdout) as out:
        for puzzle in puzzles:
            out.write(json.dumps(asdict(puzzle)) + "\n")
            out.flush()


def _telling(puzzles: Iterable[Puzzle], every: int = 10) -> Iterator[Puzzle]:
    """The same puzzles, with a line on standard error now and then."""
    for count, puzzle in enumerate(puzzles, 1):
        yield puzzle
        if count % every == 0:
            seconds = f"{process_time():.0f} s of processor time"
            print(f"{count} puzzles, seed {puzzle.seed}, {seconds}", file=sys.stderr, flush=True)


def _check(sources: list[str], path: str | None) -> None:
    puzzles, begin = [puzzle for source in sources for puzzle in load(source)], process_time()
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
    parser.add_argument("-o", "--out", help="FILE.jsonl or FILE.packed; standard output without it")
    parser.add_argument(
        "--check",
        metavar="FILE",
        nargs="+",
        help="repeat the proofs of files, or of a game's; with -o, write those that hold",
    )
    given = parser.parse_args(arguments)
    if given.check:
        _check(given.check, given.out)
    elif given.ruleset:
        _write(_telling(islice(find(given.ruleset, given.seed), given.count)), given.out)
    else:
        parser.error("a ruleset, or --check FILE")
