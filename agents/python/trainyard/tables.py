"""Tables: single episodes that people and language models play, as slots of shared pools.

Every door for language models (`trainyard.mcp`, `.openenv`, `.verifiers`, `.trl`) sits on this
module. A table waits for nobody but its own players: a model that never answers keeps one slot.

>>> tables = trainyard.Tables()
>>> table = tables.open("convoi", seats=[None, "expert"], seed=7)
>>> print(table.look().text())
>>> turn = table.act(["move black.1", "pay move"])
>>> print(turn.why, turn.correction)
"""

from __future__ import annotations

import base64
import binascii
import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _lib
from .agents import View
from .backend import seat_agents
from .errors import Error
from .inproc import InProcess
from .pool import make
from .ruleset import Ruleset, near_names, spec_text

#: Slots of one pool; when they are taken, another pool of the same lineup is opened.
WING_SLOTS = 256
#: Pools that are open at a time.
WINGS_MAX = 64
#: Rulesets that are kept open for those who ask for them again.
ASKED_MAX = 256
#: Actions that one call of `act` takes.
ACTIONS_MAX = 64
#: Bytes of the longest text that is shown; longer ones end there.
TEXT_MAX = 1 << 17
#: Legal actions that a correction names.
NAMES_SHOWN = 40


@dataclass(frozen=True)
class Snapshot:
    """A position of a table, to be branched by `Tables.group`; as text it can be kept and sent."""

    spec: str
    seats: tuple[str | None, ...]
    state: bytes = field(repr=False)

    def __str__(self) -> str:
        seats = ",".join(seat or "me" for seat in self.seats)
        return f"{self.spec}|{seats}|{base64.b64encode(self.state).decode()}"

    @classmethod
    def read(cls, text: str) -> Snapshot:
        """The snapshot whose text this is. The position is checked when it is restored."""
        try:
            spec, seats, state = text.split("|")
            content = base64.b64decode(state, validate=True)
        except (ValueError, binascii.Error):
            raise Error(
                "snapshot: RULESET|SEATS|BASE64 expected, as str(snapshot) writes"
            ) from None
        return cls(spec, tuple(None if s == "me" else s for s in seats.split(",")), content)


@dataclass(frozen=True)
class Look:
    """What a seat sees: `text()`, the `names` of its legal actions (none if it is not to act)."""

    seat: int
    names: list[str]
    events: list[str]
    over: bool
    score: float
    _text: str = field(repr=False)

    def text(self) -> str:
        return self._text


@dataclass(frozen=True)
class Turn:
    """What came of the actions of one turn.

    taken       the actions that were taken, in order
    why         what ended the turn: "done" (all were taken), "chance" (something was drawn that
                the rest of the answer could not know), "seat" (others have played, or are to),
                "over", "illegal"
    correction  for the player, in words, if there is something to put right; else ""
    events      sentences of what happened, from the first action on
    """

    taken: list[str]
    why: str
    correction: str
    events: list[str]


class _Wing:
    """A pool of one lineup. Its lock is held during every call: ctypes lets other threads run."""

    def __init__(self, ruleset: Ruleset, seats: tuple[str | None, ...]) -> None:
        self.seats = seats
        self.lock = Lock()
        self.pool = make(
            ruleset._asked,
            files=ruleset._files,
            num_envs=WING_SLOTS,
            seats=seats,
            events=True,
            illegal="noop",
            autoreset="disabled",
        )
        assert isinstance(self.pool.backend, InProcess)
        self.backend = self.pool.backend
        self.rules = self.pool.ruleset
        self.goods = _goods_blocks(self.rules)
        self._buffer = ctypes.create_string_buffer(TEXT_MAX)
        self.free = list(range(WING_SLOTS - 1, -1, -1))
        self._which = np.zeros(WING_SLOTS, dtype=np.bool_)
        self._seeds = np.zeros(WING_SLOTS, dtype=np.uint64)

    def reset(self, slot: int, seed: int) -> None:
        self._seeds[slot] = seed
        self._which[slot] = True
        self.pool.reset(seeds=self._seeds, which=self._which)
        self._which[slot] = False

    def text(self, slot: int, seat: int) -> str:
        return self.backend.text_in(self._buffer, slot, seat)

    def head(self, slot: int) -> _lib.Head:
        return _lib.Head.from_address(self.backend.state_address(slot))


class Table:
    """One episode. `act` and `look` are for the seat to act unless another one is named."""

    def __init__(self, tables: Tables, wing: _Wing, slot: int, seed: int | None) -> None:
        self._tables = tables
        self._wing: _Wing | None = wing
        self._slot = slot
        self._resigned: int | None = None
        self._texts: dict[int, tuple[str, list[str]]] = {}
        self.seed = seed
        self.rules = wing.rules
        self.spec = wing.rules.spec
        self.seats = wing.seats
        self.touched = monotonic()

    def __repr__(self) -> str:
        return f"<Table of {self.spec}, seed {self.seed}>"

    @property
    def _home(self) -> _Wing:
        if self._wing is None:
            raise Error("the table is closed")
        self.touched = monotonic()
        return self._wing

    @property
    def ours(self) -> list[int]:
        """The seats that are not played by built-in agents."""
        return [seat for seat, agent in enumerate(self.seats) if agent is None]

    @property
    def over(self) -> bool:
        return self._resigned is not None or not self._home.pool.ready[self._slot]

    @property
    def seat(self) -> int | None:
        """Whose answer is waited for; None when the episode is over."""
        return None if self.over else int(self._home.pool.seat[self._slot])

    def _eyes(self, seat: int | None) -> int:
        if seat is None:
            return self.ours[0] if self.seat is None else self.seat
        if seat not in self.ours:
            raise Error(f"seat {seat}: yours are {', '.join(map(str, self.ours))}")
        return seat

    # ---- Looking

    def view(self) -> View:
        """What a `trainyard.Agent` gets."""
        pool, seat = self._home.pool, self._eyes(None)
        return View(pool, self._slot, seat, pool.obs[self._slot], pool.mask[self._slot])

    def look(self, seat: int | None = None) -> Look:
        """What a seat sees now, and what happened since its last decision."""
        wing = self._home
        with wing.lock:
            acting = self.seat
            eyes = self._eyes(seat) if seat is not None or acting is None else acting
            mask = wing.pool.mask[self._slot]
            names = wing.rules.legal_names(mask) if eyes == acting else []
            text, events = self._read(wing, eyes)
            return Look(eyes, names, events, acting is None, self._score(wing, eyes), text)

    def _read(self, wing: _Wing, seat: int) -> tuple[str, list[str]]:
        """The text of a seat and its events, which are kept until something is done."""
        found = self._texts.get(seat)
        if found is None:
            text = wing.text(self._slot, seat)
            found = self._texts[seat] = (text, told(text))
        return found

    def score(self, seat: int | None = None) -> float:
        """How well a seat has done, from 0 to 1: in games that deliver goods the share of them that
        is delivered, at any time; in others its share of the victory, when the game is over. Who
        resigns has none, and rivals share it."""
        return self._score(self._home, self._eyes(seat))

    def _score(self, wing: _Wing, eyes: int) -> float:
        if wing.goods:
            return _delivered_share(wing.goods, wing.pool.obs[self._slot])
        if self._resigned is not None:
            loses = self.rules.cooperative or self._resigned == eyes
            return 0.0 if loses else 1.0 / (self.rules.players - 1)
        return victory_share(self.rules, wing.pool.metrics[self._slot], eyes) if self.over else 0.0

    def metrics(self) -> dict[str, int]:
        """The metrics of an episode that is over."""
        if not self.over or self._resigned is not None:
            return {}
        values = self._home.pool.metrics[self._slot].tolist()
        return dict(zip(self.rules.metrics, values, strict=True))

    # ---- Playing

    def act(self, actions: Sequence[str], seat: int | None = None) -> Turn:
        """Takes actions of one turn, by name, until one of them is illegal or brings what the
        player could not know when it answered. An illegal one changes nothing."""
        wing = self._home
        with wing.lock:
            refusal = self._refusal(actions, seat)
            if refusal:
                return Turn([], "illegal", refusal, [])
            eyes = self._eyes(seat)
            taken: list[str] = []
            events: list[str] = []
            why = "done"
            while why == "done" and len(taken) < len(actions):
                name = str(actions[len(taken)])
                why = self._take(wing, name)
                if why != "illegal":
                    taken.append(name)
                    # A seat hears of the rest with its next row.
                    heard = self.seat in (eyes, None)
                    events += self._read(wing, eyes)[1] if heard else []
            if why in ("chance", "seat") and len(taken) == len(actions):
                why = "done"
            return Turn(taken, why, self._correct(wing, actions, taken, why), events)

    def _refusal(self, actions: Sequence[str], seat: int | None) -> str:
        """Why nothing can be taken at all."""
        if self.over:
            return "The game is over."
        if seat is not None and self._eyes(seat) != self.seat:
            return f"It is seat {self.seat}'s turn, not yours (seat {seat})."
        if isinstance(actions, str) or not all(isinstance(name, str) for name in actions):
            return "The actions must be a list of names."
        if not actions:
            return "There is no action in the answer. " + self._allowed(self._home)
        if len(actions) > ACTIONS_MAX:
            return f"There are {len(actions)} actions in the answer; at most {ACTIONS_MAX} fit."
        return ""

    def _take(self, wing: _Wing, name: str) -> str:
        """Takes one action; what stands between it and the next."""
        action = wing.rules.find_action(name)
        if action is None or not wing.pool.mask[self._slot, action]:
            return "illegal"
        head = wing.head(self._slot)
        seat, steps, draws = head.seat, head.steps, bytes(head.draws)
        wing.backend.step_slot(self._slot, action)
        self._texts.clear()
        if self.over:
            return "over"
        if head.seat != seat or head.steps != steps + 1:
            return "seat"
        return "chance" if bytes(head.draws) != draws else "done"

    def _correct(self, wing: _Wing, actions: Sequence[str], taken: list[str], why: str) -> str:
        left = len(actions) - len(taken)
        if why == "done" or left == 0:
            return ""
        rest = "the last action was" if left == 1 else f"the last {left} actions were"
        if why == "over":
            return f"The game is over; {rest} not taken."
        if why == "seat":
            return f"Others have their turn first; {rest} not taken."
        if why == "chance":
            return (
                f"Chance decided something after '{taken[-1]}'; {rest} not taken: look and decide "
                "anew."
            )
        wrong = quoted(actions[len(taken)])
        near = near_names(wrong.lower(), wing.pool.legal(self._slot))
        hint = f" Did you mean: {', '.join(near)}?" if near else ""
        done = f" Taken before it: {', '.join(taken)}." if taken else ""
        return f"'{wrong}' is not legal now; it changed nothing.{hint}{done} {self._allowed(wing)}"

    def _allowed(self, wing: _Wing) -> str:
        return legal_sentence(wing.pool.legal(self._slot))

    def resign(self, seat: int | None = None) -> None:
        """Ends the episode; see `score`."""
        eyes = self._eyes(seat)
        if not self.over:
            self._resigned = eyes

    # ---- Branches

    def snapshot(self) -> Snapshot:
        """The position, for `Tables.group`."""
        wing = self._home
        if self._resigned is not None:
            raise Error("snapshot: the game was resigned")
        with wing.lock:
            return Snapshot(self.spec, self.seats, wing.pool.save(self._slot))

    def close(self) -> None:
        """Gives the slot back. May be called twice."""
        if self._wing is not None:
            self._tables._leave(self, self._wing, self._slot)
            self._wing = None


class Tables:
    """Tables of any rulesets and lineups, at most `limit` at a time.

    When all are taken, those that were not touched for `patience` seconds are given to others.
    The methods may be called from several threads.
    """

    def __init__(self, limit: int = 4096, patience: float = 3600.0) -> None:
        if limit < 1:
            raise Error(f"limit={limit}: at least one table")
        self.limit = limit
        self.patience = patience
        self._lock = Lock()
        self._wings: dict[tuple[str, tuple[str | None, ...]], list[_Wing]] = {}
        self._rules: dict[str, Ruleset] = {}
        self._asked: dict[str, Ruleset] = {}
        self._taken: set[Table] = set()

    def __len__(self) -> int:
        return len(self._taken)

    def open(
        self, game: str | Ruleset, *, seats: Sequence[str | None] = (), seed: int = 0, **config: Any
    ) -> Table:
        """Begins an episode; `seats` as in `trainyard.make`, all of them yours by default.

        >>> table = tables.open("nordic", seats=[None, "expert"], seed=3)
        """
        if not isinstance(seed, int) or not 0 <= seed < 1 << 64:
            raise Error(f"seed={seed!r}: allowed is 0..2^64-1")
        ruleset = game if isinstance(game, Ruleset) else self._named(game, config)
        with self._lock:
            table = self._sit(ruleset, self._seating(ruleset, seats), 1, seed)[0]
        wing = table._home
        with wing.lock:
            wing.reset(table._slot, seed)
        return table

    def group(
        self,
        snapshot: Snapshot | str,
        count: int,
        *,
        keys: npt.ArrayLike | None = None,
        seat: int | None = None,
    ) -> list[Table]:
        """`count` tables that go on from a snapshot: with the same future, or, with keys, each with
        that of its own key; with `seat` too, what it cannot know is redealt (`Pool.restore`).

        >>> branches = tables.group(table.snapshot(), 64, keys=range(64))
        """
        given = Snapshot.read(snapshot) if isinstance(snapshot, str) else snapshot
        futures = None if keys is None else np.asarray(list(np.ravel(keys)), dtype=np.uint64)
        if count < 1 or (futures is not None and len(futures) != count):
            raise Error(f"group: at least one table, and a key for each, not {count}")
        with self._lock:
            ruleset = self._rules.get(given.spec) or builtin_ruleset(given.spec)
            tables = self._sit(ruleset, self._seating(ruleset, given.seats), count, None)
        try:
            for wing, part in _by_wing(tables):
                with wing.lock:
                    wing.pool.restore(
                        given.state,
                        [tables[i]._slot for i in part],
                        keys=None if futures is None else futures[part],
                        seat=seat,
                        foreign=isinstance(snapshot, str),
                    )
        except Error:
            for table in tables:
                table.close()
            raise
        return tables

    def close(self) -> None:
        """Closes every table and its pools."""
        for table in list(self._taken):
            table.close()
        for wings in self._wings.values():
            for wing in wings:
                wing.pool.close()
        self._wings.clear()

    def _named(self, game: str, config: dict[str, Any]) -> Ruleset:
        """A ruleset by its words. Opening one takes as long as a hundred answers, so it is kept,
        unless it reads files of the user's, which may change."""
        spec = spec_text(game, config)
        found = self._asked.get(spec)
        if found is None:
            found = Ruleset(game, **config)
            if not found.files and len(self._asked) < ASKED_MAX:
                self._asked[spec] = found
        return found

    @staticmethod
    def _seating(ruleset: Ruleset, seats: Sequence[str | None]) -> tuple[str | None, ...]:
        lineup = seat_agents(ruleset, seats)
        if "open" in lineup or None not in lineup:
            raise Error(f"seats={list(lineup)}: one of them is yours (None), none is open")
        for agent in lineup:
            if agent is not None:
                ruleset.find_agent(agent)
        return lineup

    def _sit(
        self, ruleset: Ruleset, seats: tuple[str | None, ...], count: int, seed: int | None
    ) -> list[Table]:
        """Takes free slots; the lock is ours."""
        if len(self._taken) + count > self.limit:
            self._clear_idle(len(self._taken) + count - self.limit)
        wings = self._wings.setdefault((ruleset.spec, seats), [])
        tables: list[Table] = []
        while len(tables) < count:
            wing = next((wing for wing in wings if wing.free), None)
            if wing is None:
                self._make_room()
                wing = _Wing(ruleset, seats)
                wings.append(wing)
                self._rules[ruleset.spec] = wing.rules
            while wing.free and len(tables) < count:
                tables.append(Table(self, wing, wing.free.pop(), seed))
        self._taken.update(tables)
        return tables

    def _make_room(self) -> None:
        """Closes pools without players if there are many."""
        if sum(map(len, self._wings.values())) < WINGS_MAX:
            return
        for wings in self._wings.values():
            for wing in [wing for wing in wings if len(wing.free) == WING_SLOTS]:
                wing.pool.close()
                wings.remove(wing)
        self._rules = {spec: self._rules[spec] for (spec, _), wings in self._wings.items() if wings}
        if sum(map(len, self._wings.values())) >= WINGS_MAX:
            raise Error(f"tables of {WINGS_MAX} pools are open: close some", "limit")

    def _clear_idle(self, wanted: int) -> None:
        idle = [t for t in self._taken if monotonic() - t.touched >= self.patience]
        if len(idle) < wanted:
            raise Error(
                f"{len(self._taken)} tables are open, at most {self.limit} can be: close some",
                "limit",
            )
        for table in sorted(idle, key=lambda table: table.touched)[:wanted]:
            wing = table._wing
            table._wing = None
            assert wing is not None
            self._taken.discard(table)
            wing.free.append(table._slot)

    def _leave(self, table: Table, wing: _Wing, slot: int) -> None:
        with self._lock:
            if table in self._taken:
                self._taken.discard(table)
                wing.free.append(slot)


def _by_wing(tables: list[Table]) -> Iterator[tuple[_Wing, list[int]]]:
    """The numbers of tables that share a wing; they follow each other."""
    start = 0
    for end in range(1, len(tables) + 1):
        if end == len(tables) or tables[end]._wing is not tables[start]._wing:
            yield tables[start]._home, list(range(start, end))
            start = end


# ---- Who plays, and which episodes there are

#: Splits are ranges of seeds: what is trained on is not tested on.
SPLITS = {
    "train": range(1_000_000),
    "validation": range(1_000_000, 1_010_000),
    "test": range(2_000_000, 2_010_000),
}


@lru_cache(maxsize=256)
def builtin_ruleset(spec: str) -> Ruleset:
    """A ruleset by name, as others may name it: it reads no files of this machine.

    >>> builtin_ruleset("nordic:players=3")
    """
    if not isinstance(spec, str) or len(spec) > 500:
        raise Error("ruleset: a game and its settings expected, as convoi:players=3")
    return Ruleset(spec, files={})


def seating(ruleset: Ruleset, seat: int = 0, partner: str = "expert") -> tuple[str | None, ...]:
    """You at one seat, a built-in agent at the others; partner "me": all seats are yours.

    >>> seating(trainyard.Ruleset("nordic", players=3), seat=1)
    ('expert', None, 'expert')
    """
    if not isinstance(seat, int) or not 0 <= seat < ruleset.players:
        raise Error(f"seat={seat!r}: allowed is 0..{ruleset.players - 1}")
    if partner == "me":
        return (None,) * ruleset.players
    if partner not in ruleset.agents:
        known = ", ".join(("me", *ruleset.agents))
        raise Error(f"partner={partner!r}: allowed is {known}")
    return tuple(None if other == seat else partner for other in range(ruleset.players))


def split_seed(split: str, index: int) -> int:
    """The seed of an episode of a split.

    >>> split_seed("test", 12)
    2000012
    """
    if split not in SPLITS:
        raise Error(f"split={split!r}: allowed is {', '.join(SPLITS)}")
    seeds = SPLITS[split]
    if not isinstance(index, int) or not 0 <= index < len(seeds):
        raise Error(f"index={index!r}: {split} has 0..{len(seeds) - 1}")
    return seeds[index]


# ---- Scores and words


def victory_share(rules: Ruleset, metrics: npt.NDArray[np.int32], seat: int) -> float:
    """One for the winner, shared by several; metrics `won` or `won_SEAT` say who won."""
    won = dict(zip(rules.metrics, metrics.tolist(), strict=True))
    if "won" in won:
        return float(won["won"] > 0)
    winners = [other for other in range(rules.players) if won.get(f"won_{other}", 0) > 0]
    return 1.0 / len(winners) if seat in winners else 0.0


def _goods_blocks(rules: Ruleset) -> tuple[slice, ...]:
    """Where a row has goods that wait, are carried and are delivered; nothing in other games."""
    blocks = {block.name: block.bytes for block in rules.blocks}
    names = ("goods", "cargo", "delivered")
    return tuple(blocks[name] for name in names) if blocks.keys() >= set(names) else ()


def _delivered_share(blocks: tuple[slice, ...], row: npt.NDArray[np.uint8]) -> float:
    waiting, carried, done = (bytes(row[block]) for block in blocks)
    delivered = sum(done)
    return delivered / (delivered + sum(waiting) + len(carried) - carried.count(0))


def told(text: str) -> list[str]:
    """What happened: the indented lines below the first one of a text."""
    sentences: list[str] = []
    start = text.find("\n") + 1
    while text.startswith("  ", start):
        end = text.find("\n", start)
        sentences.append(text[start + 2 : end])
        start = end + 1
    return sentences


def quoted(text: Any, longest: int = 60) -> str:
    """A player's words, to be shown again: short, on one line, without marks of ours."""
    line = "".join(c if c.isprintable() and c not in "<>[]`'" else " " for c in str(text)[:longest])
    return " ".join(line.split()) + ("..." if len(str(text)) > longest else "")


def legal_sentence(names: Sequence[str]) -> str:
    """Which actions are legal, the first NAMES_SHOWN of them by name."""
    more = f", and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"Legal are: {', '.join(names[:NAMES_SHOWN])}{more}."
