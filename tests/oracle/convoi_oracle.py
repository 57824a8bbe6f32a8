#!/usr/bin/env python3
"""Referee for traces of Convoi Express: plays along with a trace and compares everything.

usage: convoi_oracle.py --board-dir DIR [--board-dir DIR ...] [--coverage FILE] < trace.jsonl

The rules come from convoi_rules.py, which was written from the rulebook and shares nothing with the
engine. Only answers and outcomes of chance are taken from the trace. Who is asked, what is asked,
which answers are legal, the position before each decision, every event and the end must be as the
rules say; the first difference is printed and ends the check with status 1. --coverage adds the
number of times that each rule was used to a JSON file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from convoi_board import Library
from convoi_rules import KINDS, RULES, Config, Event, Game, Tells, Train

Line = dict[str, Any]
HASH = re.compile(r"[0-9a-f]{16}\Z")
DECISION_KEYS = {"step", "seat", "phase", "legal", "action", "rewards", "hash", "state"}
PENDING_KEYS = (
    *("card", "symbol", "colour", "named", "train", "roll", "points"),
    *("entry", "act", "from", "to", "junction", "open"),
)
LAST_KEYS = {"step", "over", "truncated", "metrics", "returns", "hash", "state"}


class Difference(Exception):
    """The trace is not what the rules say."""

    def __init__(self, what: str, expected: Any, found: Any) -> None:
        super().__init__(what)
        self.what, self.expected, self.found = what, expected, found


class Unfinished(Exception):
    """A scripted trace stops before the end of the episode."""


class Referee:
    """The table of an episode that is read from a trace."""

    def __init__(self, header: Line, lines: Sequence[Line], library: Library) -> None:
        self.header, self.lines = header, lines
        self.settings = settings_of(header["ruleset"])
        self.board = library.boards[header["board"].split("@")[0]]
        self.deck = library.decks[header["deck"].split("@")[0]]
        self.hashes: dict[str, Line] = {}
        self.position = 0
        self.step = 0
        self.end: Event | None = None
        self.earned = [0.0] * int(self.settings.get("players", "2"))
        self.draws: deque[Line] = deque()
        self.exercised: Counter[str] = Counter()

    def exercise(self, rule: str) -> None:
        """Count a rule that was used."""
        self.exercised[rule] += 1

    def next_line(self) -> Line | None:
        """Take the next line of the trace; decisions of the chance seat wait for their events."""
        while self.position < len(self.lines):
            line = self.lines[self.position]
            self.position += 1
            if line.get("phase") != "chance":
                return line
            self.step += 1
            same("step", self.step, line["step"])
            same("seat", int(self.settings.get("players", "2")), line["seat"])
            self.earn(line)
            self.draws.append(line)
        return None

    def ask(self, game: Game, phase: str, legal: Sequence[str]) -> str:
        """Check the next decision of the trace and return its action."""
        if len(legal) == 1 and self.settings.get("ask_forced") != "true":
            return legal[0]
        line = self.next_line()
        if line is None:
            raise Difference("end of the trace", f"question '{phase}'", "nothing")
        if line.get("over") is False and "script" in self.header["agents"]:
            raise Unfinished
        if "action" not in line or "event" in line:
            raise Difference("kind of line", f"question '{phase}' of {sorted(legal)}", line)
        self.step += 1
        same("members of the decision", sorted(DECISION_KEYS), sorted(line))
        same("step", self.step, line["step"])
        same("phase", phase, line["phase"])
        same("seat", game.active, line["seat"])
        same("legal actions", sorted(legal), sorted(line["legal"]))
        same_state(position(game, phase), line["state"])
        self.check_hash(line)
        self.earn(line)
        if line["action"] not in legal:
            raise Difference("action", sorted(legal), line["action"])
        action: str = line["action"]
        return action

    def check_hash(self, line: Line) -> None:
        """Check that a hash looks like one and does not stand for two positions."""
        if not HASH.match(line["hash"]):
            raise Difference("hash", "16 hexadecimal digits", line["hash"])
        before = self.hashes.setdefault(line["hash"], line["state"])
        same(f"position with the hash {line['hash']}", before, line["state"])

    def earn(self, line: Line) -> None:
        """Add up what the players earned by a decision."""
        same("rewards of all players", len(self.earned), len(line["rewards"]))
        self.earned = [sum(pair) for pair in zip(self.earned, line["rewards"], strict=True)]

    def chance(self, source: str, possible: Sequence[str], event: Tells) -> str:
        """Check the next draw of the trace and its event, and return the outcome."""
        line = self.next_line()
        if line is None or set(line) != {"step", "chance", "weights"}:
            raise Difference("chance", f"one of {source}: {possible}", line)
        same("step of the draw", self.step, line["step"])
        same("source of chance", source, line["chance"][0])
        outcome: str = line["chance"][1]
        if outcome not in possible:
            raise Difference(f"outcome of {source}", list(possible), outcome)
        same(f"outcomes of {source}", sorted(set(possible)), sorted(line["weights"]))
        if self.settings.get("chance") == "seat":
            self.check_chance_seat(source, possible, outcome)
        told = event(outcome)
        self.compare(told, self.next_event(told))
        return outcome

    def check_chance_seat(self, source: str, possible: Sequence[str], outcome: str) -> None:
        """Check that the chance seat was asked for this draw and gave this outcome."""
        if not self.draws:
            raise Difference("chance seat", f"a decision about {source}", "none")
        line = self.draws.popleft()
        names = {o: f"chance {self.outcome_number(source, o)}" for o in possible}
        same("answers of the chance seat", sorted(names.values()), sorted(line["legal"]))
        same("answer of the chance seat", names[outcome], line["action"])

    def outcome_number(self, source: str, outcome: str) -> int:
        """Number the outcomes of a source as the chance seat does."""
        if source == "actions":
            return KINDS.index(outcome)
        if source == "instructions":
            return list(self.deck.cards).index(outcome)
        if source == "lights":
            return self.board.numbered_lights.index(outcome)
        return int(outcome) - (2 if source == "start_tokens" else 0)

    def tell(self, event: Event) -> None:
        """Check that the next line of the trace is this event."""
        line = self.next_event(event)
        if event["event"] == "end":
            self.end = event
            event = {k: v for k, v in event.items() if k != "metrics"}
        self.compare(event, line)

    def next_event(self, event: Event) -> Line:
        """Take the next line, which must be an event of the same name and step."""
        line = self.next_line()
        if line is None or line.get("event") != event["event"]:
            raise Difference("event", event, line)
        same("step of the event", self.step, line["step"])
        return line

    @staticmethod
    def compare(event: Event, line: Line) -> None:
        """Compare an event with a line, leaving out the step."""
        found = {k: v for k, v in line.items() if k != "step"}
        if event["event"] == "switch":
            event = {**event, "open": sorted(event["open"])}
            found["open"] = sorted(found.get("open", []))
        same(f"event '{event['event']}'", event, found)

    def check_last(self, game: Game) -> None:
        """Check the last line of the trace: the position, the metrics and the returns."""
        line = self.next_line()
        if line is None or self.end is None:
            raise Difference("end of the trace", "the last position", line)
        same("members of the last line", sorted(LAST_KEYS), sorted(line))
        same("end", (self.step, True, False), (line["step"], line["over"], line["truncated"]))
        same("metrics", self.end["metrics"], line["metrics"])
        same("returns", self.earned, line["returns"])
        if self.settings.get("reward") not in ("shaped", "progress"):
            same("returns", self.returns(self.end), line["returns"])
        expected, found = position(game, "over"), dict(line["state"])
        for key in PENDING_KEYS:  # what the player was in the middle of is no longer of use
            del expected[key], found[key]
        same_state(expected, found)
        self.check_hash(line)

    def returns(self, end: Event) -> list[float]:
        """Work out what each player earned; rewards for progress are beyond the rulebook."""
        earned = 1.0 if end["result"] == "won" else -1.0
        if self.settings.get("reward") == "delivery":
            earned += end["metrics"]["goods"] / 8
        return [earned] * len(self.earned)


def same(what: str, expected: Any, found: Any) -> None:
    """Insist that two things are equal."""
    if expected != found:
        raise Difference(what, expected, found)


def same_state(expected: Line, found: Line) -> None:
    """Compare two positions member by member."""
    same("members of the state", sorted(expected), sorted(found))
    for key, value in expected.items():
        shown = found[key]
        if key in ("green", "named", "revealed", "staff_used", "tokens_spent"):
            shown = sorted(shown)
        elif key == "open":
            shown = shown and sorted(shown)
        elif key == "junctions":
            shown = {junction: sorted(pair) for junction, pair in shown.items()}
        if value != shown:
            if key == "trains":
                for one, other in zip(value, shown, strict=False):
                    same("state: trains", one, other)
            raise Difference(f"state: {key}", value, shown)


def position(game: Game, phase: str) -> Line:
    """Describe the position of a game as a trace does; lists that stand for sets are sorted."""
    pending = game.pending
    return {
        "turn": game.turn,
        "active": game.active,
        "phase": phase,
        "clock": game.clock,
        "card": pending.card and pending.card.shown(),
        "symbol": pending.symbol,
        "colour": pending.colour,
        "named": sorted(pending.named),
        "train": pending.train and pending.train.name,
        "roll": pending.roll,
        "points": pending.points,
        "entry": pending.entry,
        "act": pending.act,
        "from": pending.source,
        "to": pending.target,
        "junction": pending.junction,
        "open": pending.setting and sorted(pending.setting),
        "trains": [show_train(t) for t in game.trains.values()],
        "junctions": {
            j: sorted(game.board.leg_name(j, leg) for leg in pair) for j, pair in game.open.items()
        },
        "green": sorted(game.green),
        "goods": game.goods,
        "delivered": game.delivered,
        "seats": [{"hand": dict(hand)} for hand in game.hands],
        "deck": dict(game.cards),
        "discard": dict(game.discard),
        "pile": game.pile,
        "bottom": game.bottom,
        "revealed": sorted(game.revealed),
        "staff_used": sorted(game.staff_used),
        "crossing_on": game.crossing_on,
        "starts": {str(number): start for number, start in game.start_of.items()},
        "tokens_spent": sorted(game.tokens_spent),
        "first_tokens": game.first_tokens,
    }


def show_train(train: Train) -> Line:
    """Describe a train as the state of a trace does."""
    return {
        "train": train.name,
        "colour": train.colour,
        "place": train.place,
        "heading": train.segment.end(train.direction) if train.segment else None,
        "direction": train.direction or None,
        "cargo": train.cargo,
        "moved": train.moved,
    }


def episodes(lines: Iterable[str]) -> Iterator[tuple[Line, list[Line]]]:
    """Split a trace into headers and what follows them."""
    header: Line | None = None
    body: list[Line] = []
    for text in lines:
        line = json.loads(text)
        if "trace" in line:
            if header is not None:
                yield header, body
            header, body = line, []
        elif header is None:
            raise SystemExit("convoi_oracle: the trace does not begin with a header")
        else:
            body.append(line)
    if header is not None:
        yield header, body


def settings_of(ruleset: str) -> dict[str, str]:
    """Split a ruleset string into its settings."""
    name, _, rest = ruleset.partition(":")
    if name != "convoi":
        raise SystemExit(f"convoi_oracle: {ruleset} is not a ruleset of Convoi Express")
    return dict(part.split("=", 1) for part in rest.split(",") if part)


def check(header: Line, body: list[Line], library: Library) -> Referee:
    """Check one episode; raises Difference."""
    referee = Referee(header, body, library)
    try:
        game = Game(referee.board, referee.deck, Config.of(referee.settings), referee)
        game.play()
        referee.check_last(game)
        if referee.position != len(body):
            raise Difference("end of the episode", "nothing more", body[referee.position])
    except Unfinished:
        pass
    except Difference as difference:
        print(f"episode with seed {header['seed']} of {header['ruleset']}")
        print(f"step {referee.step}, line {referee.position + 1} of the episode: {difference.what}")
        print(f"  expected: {difference.expected}")
        print(f"  found:    {difference.found}")
        raise
    return referee


def save_coverage(path: Path, exercised: Counter[str]) -> None:
    """Add counts of rules to those of a file."""
    total = Counter(json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})
    unknown = set(exercised) - set(RULES)
    assert not unknown, f"rules missing from the list: {sorted(unknown)}"
    total.update(exercised)
    path.write_text(json.dumps(total, indent=1, sort_keys=True), encoding="utf-8")


def report_coverage(path: Path) -> None:
    """Print how many rules were used, and name the others."""
    total = json.loads(path.read_text(encoding="utf-8"))
    missing = [rule for rule in RULES if not total.get(rule)]
    print(f"{len(RULES) - len(missing)} of {len(RULES)} rules exercised", end="")
    print("; never: " + " ".join(missing) if missing else "")


def main() -> int:
    """Check a trace from the standard input."""
    parser = argparse.ArgumentParser(description="Referee for traces of Convoi Express.")
    parser.add_argument("--board-dir", type=Path, action="append", default=[])
    parser.add_argument("--coverage", type=Path, help="JSON file to add the use of rules to")
    parser.add_argument("--report", type=Path, help="only print what a coverage file says")
    options = parser.parse_args()
    if options.report:
        report_coverage(options.report)
        return 0
    library = Library(options.board_dir)
    count = decisions = 0
    exercised: Counter[str] = Counter()
    try:
        for header, body in episodes(sys.stdin):
            referee = check(header, body, library)
            count += 1
            decisions += referee.step
            exercised += referee.exercised
    except Difference:
        return 1
    if options.coverage:
        save_coverage(options.coverage, exercised)
    print(f"{count} episodes, {decisions} decisions checked, 0 differences")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
