#!/usr/bin/env python3
"""Writes action files that steer Convoi Express to situations that random play rarely reaches.

usage: drive.py RULESET --board-dir DIR [--mode MODE] [--seed N] [--episodes N] [--won] > FILE
       trainyard trace RULESET --script FILE | convoi_oracle.py --board-dir DIR

The driver plays whole episodes on the referee's own rules, with players and chance of its choice,
and writes both in the form of a short trace. Modes:

deliver  players work towards the ports and the dice favour them
careless as deliver, but one answer in four is random and the dice do as they like
hoard    as deliver, but the cities are emptied one after the other
crash    players and dice look for the greatest loss of tokens
crowd    as many new trains as possible, which move as little as possible
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convoi_board import Board, Library, Segment
from convoi_oracle import settings_of
from convoi_rules import FACES, Config, Event, Game, Tells, Train

MODES = ("deliver", "careless", "hoard", "crash", "crowd")
WILD = {"deliver": 0.01, "careless": 0.25, "hoard": 0.01, "crash": 0.3, "crowd": 0.05}
FAR = 999
TRIES = 100

Line = dict[str, Any]

# A node of the routes: a city or start by name, or a space with a direction.
Node = str | tuple[str, int, int]


@dataclass(frozen=True)
class Hop:
    """A way from one node to the next, and what must be set for it."""

    to: Node
    place: str
    lights: tuple[str, ...]
    settings: tuple[tuple[str, frozenset[str]], ...]


class Routes:
    """All ways over a board, whatever lights and switches say."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.hops: dict[Node, list[Hop]] = {}
        for segment in board.segments.values():
            for index in range(1, segment.spaces + 1):
                for direction in (-1, 1):
                    node = (segment.id, index, direction)
                    self.hops[node] = self._onward(segment, index, direction, (), ())
        for start, line in board.line_of_start.items():
            self.hops[start] = self._leaving(board.segments[line], start)
        for city in board.cities:
            lines = (board.line_of_exit[x] for x in board.exits[city])
            self.hops[city] = [hop for line in lines for hop in self._leaving(line, city)]
        self.distance = {city: self._distances(city) for city in board.cities}

    def _leaving(self, line: Segment, place: str) -> list[Hop]:
        return self._onward(line, *line.outset(place), (), ())

    def _onward(
        self,
        segment: Segment,
        index: int,
        direction: int,
        lights: tuple[str, ...],
        settings: tuple[tuple[str, frozenset[str]], ...],
    ) -> list[Hop]:
        light = segment.lights.get(index if direction > 0 else index - 1)
        if light:
            lights += (light,)
        index += direction
        if 1 <= index <= segment.spaces:
            node = (segment.id, index, direction)
            return [Hop(node, segment.space(index), lights, settings)]
        end = segment.end(direction)
        if end not in self.board.legs:
            return [] if end in self.board.starts else [Hop(end, end, lights, settings)]
        found: list[Hop] = []
        for leg in self.board.legs[end]:
            if leg != segment.id:
                line = self.board.segments[leg]
                pair = (end, frozenset((segment.id, leg)))
                found += self._onward(line, *line.outset(end), lights, (*settings, pair))
        return found

    def _distances(self, city: str) -> dict[Node, int]:
        before: dict[Node, list[Node]] = {}
        for node, hops in self.hops.items():
            for hop in hops:
                before.setdefault(hop.to, []).append(node)
        distance: dict[Node, int] = {city: 0}
        queue: deque[Node] = deque([city])
        while queue:
            node = queue.popleft()
            for other in before.get(node, []):
                if other not in distance and other not in self.board.ports:
                    distance[other] = distance[node] + 1
                    queue.append(other)
        return distance

    def way(self, node: Node, goal: str) -> list[Hop]:
        """Give a shortest way to a city."""
        far = self.distance[goal]
        hops: list[Hop] = []
        while node != goal and self.hops.get(node):
            hop = min(self.hops[node], key=lambda h: far.get(h.to, FAR))
            if far.get(hop.to, FAR) >= FAR:
                break
            hops.append(hop)
            node = hop.to
        return hops


def node_of(train: Train) -> Node:
    """Give the node on which a train stands."""
    if train.segment:
        return (train.segment.id, train.index, train.direction)
    return train.place


class Driver:
    """The table of an episode that the driver makes up."""

    def __init__(self, mode: str, routes: Routes, seed: int, ask_forced: bool) -> None:
        self.mode, self.routes, self.ask_forced = mode, routes, ask_forced
        self.random = random.Random(seed)
        self.lines: list[Line] = []
        self.game: Game | None = None
        self.light_to: str | None = None

    # ---------------------------------------------------------------- the table

    def tell(self, event: Event) -> None:
        """Events are of no interest here."""

    def exercise(self, rule: str) -> None:
        """Rules are counted by the referee."""

    def ask(self, game: Game, phase: str, legal: Sequence[str]) -> str:
        """Choose an answer and write it down."""
        if len(legal) == 1 and not self.ask_forced:
            return legal[0]
        self.game = game
        answer = self.random.choice(sorted(legal))
        if self.random.random() >= WILD[self.mode]:
            answer = self.choose(game, phase, sorted(legal)) or answer
        self.lines.append({"action": answer})
        return answer

    def chance(self, source: str, possible: Sequence[str], event: Tells) -> str:
        """Choose an outcome of chance and write it down."""
        outcome = self.random.choice(list(possible))
        if self.game and self.mode != "careless":
            outcome = self.favour(self.game, source, possible) or outcome
        self.lines.append({"chance": [source, outcome]})
        return outcome

    # ---------------------------------------------------------------- chance

    def favour(self, game: Game, source: str, possible: Sequence[str]) -> str | None:
        """Choose an outcome that suits the mode."""
        if source == "instructions" and self.mode in ("crowd", "crash"):
            cards = game.deck.cards
            return max(possible, key=lambda c: (len(cards[c].new), self.random.random()))
        if source == "instructions" and game.turn % 3:
            cards = game.deck.cards
            return min(possible, key=lambda c: (len(cards[c].move), self.random.random()))
        if source in ("start_dice", "start_tokens") and self.mode != "crash" and game.turn:
            free = [n for n in possible if not game.occupant(game.start_of[int(n)])]
            return min(free, key=lambda n: self.start_worth(game, int(n))) if free else None
        if source == "actions" and self.mode in ("deliver", "hoard") and game.turn:
            return min(possible, key=lambda kind: game.hand[kind] / (2 if kind == "move" else 1))
        train = game.pending.train
        if source.startswith("die_") and train:
            return min(possible, key=lambda face: self.worth(game, train, int(face)))
        return None

    def start_worth(self, game: Game, number: int) -> float:
        """Tell how far a start is from the next goods."""
        cities = [c for c, n in game.goods.items() if n]
        start = game.start_of[number]
        far = min((self.routes.distance[c].get(start, FAR) for c in cities), default=0)
        return far + self.random.random()

    def worth(self, game: Game, train: Train, points: int) -> float:
        """Tell how bad a roll is for the mode."""
        lost, node = self.preview(game, train, points)
        if self.mode == "crash":
            return -lost + self.random.random()
        if self.mode == "crowd":
            return lost + points / 10
        goal = self.goal(game, train)
        return lost + self.routes.distance[goal].get(node, 50) / 100

    def preview(self, game: Game, train: Train, points: int) -> tuple[int, Node]:
        """Tell how many tokens a roll costs and where it leads, by the cheapest exit."""
        if train.segment:
            return self.walk(game, train, train.segment, train.index, train.direction, points)
        if train.place in game.board.starts:
            line = game.board.segments[game.board.line_of_start[train.place]]
            return self.walk(game, train, line, *line.outset(train.place), points)
        lines = [game.board.line_of_exit[x] for x in game.greens_of(train.place)]
        ends = [self.walk(game, train, s, *s.outset(train.place), points) for s in lines]
        far = self.routes.distance[self.goal(game, train)]
        return min(ends, key=lambda end: (end[0], far.get(end[1], FAR)))

    @staticmethod
    def walk(
        game: Game, train: Train, segment: Segment, index: int, direction: int, points: int
    ) -> tuple[int, Node]:
        """Follow the track without changing anything."""
        node = node_of(train)
        while points:
            ahead = game.look_ahead(segment, index, direction)
            if ahead.obstacle:
                return points, node
            other = game.occupant(ahead.place)
            if other and other is not train:
                follows = ahead.where and other.direction == ahead.where[2]
                calm = follows or ahead.place in game.board.cities
                return points if calm else 2 * points, node
            if ahead.where is None:
                return 2 if ahead.place in game.board.starts else 0, ahead.place
            segment, index, direction = ahead.where
            node = (segment.id, index, direction)
            points -= 1
        return 0, node

    # ---------------------------------------------------------------- answers

    def choose(self, game: Game, phase: str, legal: list[str]) -> str | None:
        """Choose an answer that suits the mode; None leaves it to luck."""
        if phase == "actions":
            return self.choose_action(game, legal)
        if phase == "light.to" and self.light_to:
            answer, self.light_to = f"light.to {self.light_to}", None
            return answer if answer in legal else None
        if phase == "pay":
            return min(legal, key=lambda a: (a.count("+"), self.random.random()))
        if phase == "exit":
            return self.choose_exit(game, legal)
        if phase == "die":
            return "staff.logisticien" if self.random.random() < 0.2 else "die.keep"
        if phase == "colour" and self.mode in ("deliver", "hoard"):
            return self.choose_colour(game, legal)
        return None

    def choose_colour(self, game: Game, legal: list[str]) -> str:
        """Bring the fastest trains; move the colour that has the fewest."""
        card = game.pending.card
        if card and game.pending.symbol < len(card.new):
            return legal[0]
        counts = {a: len(game.on_network(a.split()[1])) for a in legal}
        return min(legal, key=lambda a: (counts[a], self.random.random()))

    def choose_exit(self, game: Game, legal: list[str]) -> str | None:
        """Leave a city towards the goal, or stop in it if it is the goal."""
        train = game.pending.train
        if train is None:
            return None
        goal = self.goal(game, train)
        if goal == train.place and "city.stop" in legal:
            return "city.stop"
        far = self.routes.distance[goal]
        here = far.get(train.place, FAR)
        exits = [a for a in legal if a != "city.stop"]
        costs = {a: self.exit_cost(game, train, a.split()[1], far) for a in exits}
        best = min(exits, key=lambda a: costs[a])
        if "city.stop" in legal and costs[best] > here:
            return "city.stop"
        return max(exits, key=lambda a: costs[a]) if self.mode == "crash" else best

    @staticmethod
    def exit_cost(game: Game, train: Train, exit_: str, far: dict[Node, int]) -> int:
        """Estimate how far the goal is by an exit, trains in the way included."""
        line = game.board.line_of_exit[exit_]
        ahead = game.look_ahead(line, *line.outset(train.place))
        if ahead.where is None:
            return FAR
        segment, index, direction = ahead.where
        blocked = 20 if game.occupant(ahead.place) else 0
        return far.get((segment.id, index, direction), FAR) + blocked

    def goal(self, game: Game, train: Train) -> str:
        """Give the city that a train is bound for."""
        board, distance = game.board, self.routes.distance
        if train.cargo:
            cargo = train.cargo
            wanting = [p for p in board.ports if game.wants(p, cargo)]
            ports = board.ports if self.mode == "careless" else wanting or board.ports
            return min(ports, key=lambda p: distance[p].get(node_of(train), FAR))
        cities = [c for c, n in game.goods.items() if n] or list(game.goods)
        if self.mode == "hoard":
            return cities[0]
        return min(cities, key=lambda c: distance[c].get(node_of(train), FAR))

    def choose_action(self, game: Game, legal: list[str]) -> str | None:
        """Load, clear the way of a train, or move it."""
        if self.mode == "crowd":
            return "turn.end"
        if self.mode == "crash":
            moves = [a for a in legal if a.startswith("move ")]
            return max(moves, key=lambda a: self.damage(game, a)) if moves else None
        loads = [a for a in legal if a.startswith("load ")]
        if loads:
            return self.random.choice(loads)
        trains = game.on_network()
        trains.sort(key=lambda t: (t.cargo is None, self.remaining(game, t), t.name))
        for train in trains:
            answer = self.help_train(game, train, legal)
            if answer:
                return answer
        return "turn.end"

    def damage(self, game: Game, answer: str) -> float:
        """Tell how many tokens the worst roll of a train would cost."""
        train = game.trains[answer.split()[1]]
        worst = max(self.preview(game, train, face)[0] for face in FACES[train.colour])
        return worst + (0.5 if train.cargo else 0) + self.random.random()

    def remaining(self, game: Game, train: Train) -> int:
        """Tell how far a train is from its goal."""
        return self.routes.distance[self.goal(game, train)].get(node_of(train), FAR)

    def help_train(self, game: Game, train: Train, legal: list[str]) -> str | None:
        """Find what brings a train nearer to its goal."""
        move = f"move {train.name}"
        way = self.routes.way(node_of(train), self.goal(game, train))
        least = FACES[train.colour][0]
        for done, hop in enumerate(way):
            if game.occupant(hop.place):
                return move if done >= least and move in legal else None
            need = self.first_need(game, hop, legal)
            if need == "blocked" or (need is None and done >= FACES[train.colour][-1]):
                return move if done >= least and move in legal else None
            if need:
                return need
        return move if way and move in legal else None

    def first_need(self, game: Game, hop: Hop, legal: list[str]) -> str | None:
        """Give an action that opens a hop, None if it is open, 'blocked' if nothing can be done."""
        for junction, pair in hop.settings:
            if set(game.open[junction]) != pair:
                names = game.board.setting_names[junction]
                answer = next(n for n, other in names.items() if set(other) == pair)
                return answer if answer in legal else "blocked"
        for light in hop.lights:
            if light not in game.green:
                sources = [x for x in sorted(game.green) if light in game.targets(x)]
                answers = [f"light.from {x}" for x in sources if f"light.from {x}" in legal]
                if not answers:
                    return "blocked"
                self.light_to = light
                return self.random.choice(answers)
        return None


def drive(ruleset: str, mode: str, seed: int, library: Library) -> tuple[bool, list[Line]]:
    """Play an episode; give whether it was won, and the lines of its action file."""
    settings = settings_of(ruleset)
    board = library.boards[Path(settings.get("board", "europe")).stem]
    deck = library.decks[Path(settings.get("deck", "standard")).stem]
    config = Config.of(settings)
    driver = Driver(mode, Routes(board), seed, config.ask_forced)
    game = Game(board, deck, config, driver)
    driver.game = game
    game.play()
    return bool(game.metrics.won), [{"trace": 2, "seed": seed}, *driver.lines]


def main() -> int:
    """Write an action file to the standard output."""
    parser = argparse.ArgumentParser(description="Writes action files for Convoi Express.")
    parser.add_argument("ruleset")
    parser.add_argument("--board-dir", type=Path, action="append", default=[])
    parser.add_argument("--mode", choices=MODES, default="deliver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=1)
    parser.add_argument("--won", action="store_true", help="write only episodes that are won")
    options = parser.parse_args()
    library = Library(options.board_dir)
    wanted, seed = options.episodes, options.seed
    while wanted and seed < options.seed + TRIES * options.episodes:
        won, lines = drive(options.ruleset, options.mode, seed, library)
        seed += 1
        if won or not options.won:
            wanted -= 1
            for line in lines:
                print(json.dumps(line))
    return 0 if wanted == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
