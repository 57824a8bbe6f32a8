"""The rules of Convoi Express as a program that runs from the set-up to the end of an episode.

It is written from the rulebook and the project's rulings, apart from the engine. A Game does not do
anything on its own account: it asks a Table for every answer and every outcome of chance and tells
it every event. The referee's table takes answers and outcomes from a trace and compares the rest
with it; the driver's table makes them up. Rulings are numbered as in the table of rulings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any, NoReturn, Protocol

from convoi_board import GOODS, Board, Card, Deck, Segment

COLOURS = ("black", "brown", "gray")
FACES = {"black": (2, 3, 4, 5), "brown": (1, 2, 3, 4), "gray": (1, 2, 3)}
KINDS = ("signal", "switch", "move")
NUMBERS = tuple(range(2, 13))
TRAINS_PER_COLOUR = 3
CARDS_PER_KIND = 27
DEAL = 5
HAND_LIMIT = 10
DEPOT = "depot"

Event = dict[str, Any]
Tells = Callable[[str], Event]


class EndOfEpisode(Exception):
    """Raised when the game is won or lost, to leave whatever was going on."""


class Table(Protocol):
    """The world outside the rules: players, dice and cards."""

    def ask(self, game: Game, phase: str, legal: Sequence[str]) -> str:
        """Return the active player's answer to a question."""

    def chance(self, source: str, possible: Sequence[str], event: Tells) -> str:
        """Return an outcome of chance; `event` tells what follows from an outcome."""

    def tell(self, event: Event) -> None:
        """Take note of something that happened."""

    def exercise(self, rule: str) -> None:
        """Count a rule that was used."""


@dataclass(frozen=True)
class Config:
    """The settings of a ruleset that matter for the rules."""

    players: int = 2
    placement: str = "first_game"
    clock: int = 7
    removed: int = 2
    goods: int = 8
    extra_light: bool = False
    starts: str = "dice"
    first_player: str = "seat0"
    ask_forced: bool = False

    @staticmethod
    def of(settings: dict[str, str]) -> Config:
        """Read the settings of a ruleset string; those of other matters are passed over."""
        default = Config()
        known: dict[str, Any] = {}
        for key in Config.__dataclass_fields__:
            if key not in settings:
                continue
            kind, text = type(getattr(default, key)), settings[key]
            known[key] = text == "true" if kind is bool else kind(text)
        return Config(**known)


@dataclass
class Train:
    """A train; it has a segment, an index and a direction on a track space, elsewhere none."""

    name: str
    colour: str
    place: str = DEPOT
    segment: Segment | None = None
    index: int = 0
    direction: int = 0
    cargo: str | None = None
    moved: bool = False

    def put(self, place: str, where: tuple[Segment, int, int] | None = None) -> None:
        """Stand the train on a space of a segment, or in a city, a start or the depot."""
        self.place = place
        self.segment, self.index, self.direction = where or (None, 0, 0)


@dataclass(frozen=True)
class Ahead:
    """What a train meets next: an obstacle, or a place and how it would stand there."""

    obstacle: str | None = None
    place: str = ""
    where: tuple[Segment, int, int] | None = None
    entry: str | None = None
    junctions: int = 0


@dataclass
class Metrics:
    """The counts that an episode ends with."""

    won: int = 0
    goods: int = 0
    turns: int = 0
    tokens_lost: int = 0
    cards_set_aside: int = 0
    collisions: int = 0
    derailments: int = 0
    loads: int = 0
    trains_placed: int = 0
    cards_played: int = 0


@dataclass
class Pending:
    """What the active player is in the middle of."""

    card: Card | None = None
    symbol: int = 0
    colour: str | None = None
    named: set[str] = field(default_factory=set)
    train: Train | None = None
    roll: int = 0
    points: int = 0
    entry: str | None = None
    act: str | None = None
    source: str | None = None
    target: str | None = None
    junction: str | None = None
    setting: list[str] | None = None


class Game:
    """One episode."""

    def __init__(self, board: Board, deck: Deck, config: Config, table: Table) -> None:
        self.board, self.deck, self.config, self.table = board, deck, config, table
        self.trains = {
            f"{colour}.{i}": Train(f"{colour}.{i}", colour)
            for colour in COLOURS
            for i in range(1, TRAINS_PER_COLOUR + 1)
        }
        self.open = {j: board.settings(j)[0] for j in board.legs}
        self.green: set[str] = set()
        per_colour = 3 if config.goods == 10 else 2
        self.goods = dict.fromkeys(board.goods_of, per_colour)
        self.delivered = {port: dict.fromkeys(GOODS, 0) for port in board.ports}
        self.clock = config.clock
        self.pile = len(deck.cards) - config.removed
        self.bottom: str | None = None
        self.revealed: set[str] = set()
        self.cards = Counter(dict.fromkeys(KINDS, CARDS_PER_KIND))
        self.discard = Counter(dict.fromkeys(KINDS, 0))
        self.hands = [Counter(dict.fromkeys(KINDS, 0)) for _ in range(config.players)]
        self.staff_used: set[str] = set()
        self.crossing_on = False
        self.start_of = dict(board.start_of)
        self.tokens_spent: set[int] = set()
        self.first_tokens: list[int | None] = []
        self.active = 0
        self.turn = 0
        self.pending = Pending()
        self.metrics = Metrics()

    # ---------------------------------------------------------------- small questions

    @property
    def hand(self) -> Counter[str]:
        """The hand of the active player."""
        return self.hands[self.active]

    @property
    def side(self) -> str:
        """The rules of the board's side, as the names of rules have it."""
        return "america" if self.board.america else "europe"

    def has_staff(self, name: str) -> bool:
        """Tell whether a member of the staff belongs to this board and is still available."""
        america = name in ("garde_voie", "agent_de_manoeuvre", "cheffe_de_section")
        return america == self.board.america and name not in self.staff_used

    def use_staff(self, name: str) -> None:
        """Use up a member of the staff."""
        self.staff_used.add(name)
        self.table.tell({"event": "staff", "staff": name})
        self.table.exercise(f"staff.{name}")

    def depot_train(self, colour: str) -> Train | None:
        """Give the first train of a colour that waits in the depot."""
        for train in self.trains.values():
            if train.colour == colour and train.place == DEPOT:
                return train
        return None

    def on_network(self, colour: str | None = None) -> list[Train]:
        """List the trains outside the depot."""
        return [t for t in self.trains.values() if t.place != DEPOT and colour in (None, t.colour)]

    def occupant(self, place: str) -> Train | None:
        """Give the train that stands in a place."""
        return next((t for t in self.trains.values() if t.place == place), None)

    def greens_of(self, city: str) -> list[str]:
        """List the exits of a city whose light is green."""
        return [x for x in self.board.exits[city] if x in self.green]

    def ask(self, phase: str, legal: Sequence[str]) -> str:
        """Ask the active player."""
        return self.table.ask(self, phase, legal)

    # ---------------------------------------------------------------- set-up

    def play(self) -> None:
        """Run the episode to its end."""
        try:
            self.set_up()
            while True:
                self.take_turn()
        except EndOfEpisode:
            pass

    def set_up(self) -> None:
        """Bring the game to the first turn."""
        if self.config.first_player == "random":
            self.choose_first_player()
        if self.config.starts == "shuffled":
            self.shuffle_starts()
        if self.config.starts == "drawn":
            self.draw_first_tokens()
        if self.config.placement == "random":
            self.place_at_random()
        elif self.config.placement == "free":
            self.place_freely()
        else:
            self.place_as_in_first_game()
        for i in range(self.config.players):
            self.draw_cards((self.active + i) % self.config.players, DEAL)

    def choose_first_player(self) -> None:
        """Let chance say who begins."""
        seats = [str(s) for s in range(self.config.players)]
        seat = self.table.chance(
            "first_player", seats, lambda s: {"event": "first_player", "seat": int(s)}
        )
        self.active = int(seat)
        self.table.exercise("setup.first_player_random")

    def shuffle_starts(self) -> None:
        """Lay the tokens 2 to 12 on the printed numbers of the starts in random order."""
        free = [str(n) for n in NUMBERS]
        for number in NUMBERS:
            slot = self.table.chance("start_tokens", free, self._token_laid(number))
            free.remove(slot)
            self.start_of[number] = self.board.start_of[int(slot)]
        self.table.exercise("setup.starts_shuffled")

    def _token_laid(self, number: int) -> Tells:
        return lambda slot: {
            "event": "start_token",
            "number": number,
            "start": self.board.start_of[int(slot)],
        }

    def draw_first_tokens(self) -> None:
        """Draw an open token for each train of the first card (ruling 40)."""
        for colour in self.deck.first.new:
            left = [str(n) for n in NUMBERS if n not in self.tokens_spent]
            token = int(self.table.chance("start_tokens", left, self._token_open(colour)))
            self.tokens_spent.add(token)
            self.first_tokens.append(token)
        self.table.exercise("setup.first_tokens_drawn")

    def _token_open(self, colour: str) -> Tells:
        return lambda token: {
            "event": "first_token",
            "colour": colour,
            "number": int(token),
            "start": self.start_of[int(token)],
        }

    def place_as_in_first_game(self) -> None:
        """Use the placement of the board file; an additional disc is free (ruling 39)."""
        self.green = set(self.board.first_green)
        self.open = dict(self.board.first_open)
        if self.config.extra_light:
            self.ask_disc("place.extra", self.board.lights)

    def place_freely(self) -> None:
        """Let the first player place all discs (ruling 38)."""
        for city in self.board.cities:
            self.ask_disc("place.city", self.board.exits[city])
        for _ in range(self.board.green_discs - len(self.board.cities)):
            self.ask_disc("place.track", self.board.track_lights)
        if self.config.extra_light:
            self.ask_disc("place.extra", self.board.lights)
        for junction in self.board.legs:
            names = self.board.setting_names[junction]
            self.set_switch(junction, names[self.ask("place.switch", list(names))])
        self.table.exercise("setup.placement_free")

    def ask_disc(self, phase: str, lights: Sequence[str]) -> None:
        """Let the player put a disc of the reserve on one of the red lights among `lights`."""
        answer = self.ask(phase, [f"light.to {x}" for x in lights if x not in self.green])
        light = answer.split()[1]
        self.green.add(light)
        self.table.tell({"event": "light", "from": None, "to": light})
        if phase == "place.extra":
            self.table.exercise("setup.extra_light_chosen")

    def place_at_random(self) -> None:
        """Let chance place all discs under the same restrictions."""
        for junction in self.board.legs:
            self.draw_setting(junction)
        for city in self.board.cities:
            self.draw_disc(self.board.exits[city])
        for _ in range(self.board.green_discs - len(self.board.cities)):
            self.draw_disc(self.board.track_lights)
        if self.config.extra_light:
            self.draw_disc(self.board.lights)
            self.table.exercise("setup.extra_light_random")
        self.table.exercise("setup.placement_random")

    def draw_setting(self, junction: str) -> None:
        """Let chance set a junction; the outcome is the number of the setting."""
        settings = self.board.settings(junction)
        outcomes = [str(i) for i in range(len(settings))]
        chosen = self.table.chance(
            "switches", outcomes, lambda i: self.switch_event(junction, settings[int(i)])
        )
        self.open[junction] = settings[int(chosen)]

    def draw_disc(self, lights: Sequence[str]) -> None:
        """Let chance put a disc on one of the red lights among `lights`."""
        red = [x for x in lights if x not in self.green]
        light = self.table.chance(
            "lights", red, lambda x: {"event": "light", "from": None, "to": x}
        )
        self.green.add(light)

    def draw_cards(self, seat: int, number: int) -> None:
        """Draw action cards; the discards become the deck when it is empty and a card is wanted."""
        for _ in range(number):
            if not self.cards.total():
                self.cards, self.discard = self.discard, Counter(dict.fromkeys(KINDS, 0))
                self.table.tell({"event": "reshuffle"})
                self.table.exercise("draw.reshuffle")
            kinds = [k for k in KINDS if self.cards[k]]
            kind = self.table.chance(
                "actions", kinds, lambda k: {"event": "draw", "card": k, "seat": seat}
            )
            self.cards[kind] -= 1
            self.hands[seat][kind] += 1

    # ---------------------------------------------------------------- the turn

    def take_turn(self) -> None:
        """Reveal and follow a card, play action cards, draw, pass on."""
        self.turn += 1
        self.metrics.turns += 1
        self.crossing_on = False
        self.table.tell({"event": "turn", "turn": self.turn, "seat": self.active})
        self.follow(self.reveal())
        self.play_actions()
        if self.pile == 0:
            self.table.exercise("end.last_turn")
            self.finish("lost", "last_turn")
        number = min(DEAL, HAND_LIMIT - self.hand.total())
        if number < DEAL:
            self.table.exercise("draw.hand_limit")
        self.draw_cards(self.active, number)
        self.active = (self.active + 1) % self.config.players

    def reveal(self) -> Card:
        """Turn up the card of this turn."""
        if self.turn == 1:
            self.table.tell({"event": "card", "card": self.deck.first.shown()})
            return self.deck.first
        card = self.draw_instruction()
        if not self.has_staff("garde_voie") or self.pile == 0:
            return card
        self.pending = Pending(card=card)
        if self.ask("card", ["card.play", "staff.garde_voie"]) == "card.play":
            return card
        self.use_staff("garde_voie")
        self.table.tell({"event": "card_under", "card": card.id})
        self.pile += 1
        self.bottom = card.id
        return self.draw_instruction()

    def draw_instruction(self) -> Card:
        """Take the top card of the pile; the last one is known if it was put under the pile."""
        if self.pile == 1 and self.bottom:
            name, self.bottom = self.bottom, None
            self.table.tell(self.card_event(name))
            self.table.exercise("pile.bottom_revealed")
        else:
            unseen = [c for c in self.deck.cards if c not in self.revealed]
            name = self.table.chance("instructions", unseen, self.card_event)
        self.pile -= 1
        self.revealed.add(name)
        return self.deck.cards[name]

    def card_event(self, name: str) -> Event:
        """Describe the reveal of a card."""
        return {"event": "card", "card": self.deck.cards[name].shown()}

    def follow(self, card: Card) -> None:
        """Carry out a card: new trains first, then the moves from top to bottom (ruling 21)."""
        self.pending = Pending(card=card)
        for symbol in card.new:
            self.bring_train(symbol)
            self.next_symbol()
        self.pending.named = set()
        for symbol in card.move:
            self.move_colour(symbol)
            self.next_symbol()
        for train in self.trains.values():
            train.moved = False
        if self.turn == 1:
            self.tokens_spent.clear()
            self.first_tokens = [None] * len(self.first_tokens)
        self.pending = Pending()

    def next_symbol(self) -> None:
        """Count a symbol of the card as done."""
        self.pending.symbol += 1
        self.pending.colour = None

    # ---------------------------------------------------------------- new trains

    def bring_train(self, symbol: str) -> None:
        """Follow a symbol for a new train (rulings 18 to 20 and 41)."""
        pending = self.pending
        taken = pending.named | set(pending.card.new)
        wanted = [symbol] if symbol != "any" else [c for c in COLOURS if c not in taken]
        options = [c for c in wanted if self.depot_train(c)]
        if not options:
            self.no_train(symbol)
            return
        pending.colour = self.ask("colour", [f"colour {c}" for c in options]).split()[1]
        pending.named.add(pending.colour)
        self.table.tell({"event": "colour", "colour": pending.colour})
        self.find_start(pending.colour)

    def no_train(self, symbol: str) -> None:
        """Pay for a new train that the depot does not have."""
        if any(self.depot_train(c) for c in COLOURS):
            rule = "new.colour_used_up" if symbol == "any" else "new.printed_colour_missing"
        else:
            rule = "new.depot_empty"
        self.table.exercise(rule)
        self.table.tell(
            {"event": "not_placed", "colour": None, "start": None, "why": "depot_empty"}
        )
        self.lose_tokens(2, "depot_empty")

    def find_start(self, colour: str) -> None:
        """Place a new train by dice, token or agent."""
        legal = ["start.roll"]
        if self.has_staff("agent_de_manoeuvre"):
            free = [s for s in self.board.starts if not self.occupant(s)]
            legal += [f"staff.agent_de_manoeuvre {s}" for s in free]
        answer = self.ask("start", legal)
        if answer != "start.roll":
            self.use_staff("agent_de_manoeuvre")
            self.place_train(colour, answer.split()[1])
            if self.turn == 1 and self.open_start():
                self.table.exercise("new.first_token_unused")
            return
        start = self.open_start() or self.draw_start()
        while self.occupant(start):
            self.table.tell(
                {"event": "not_placed", "colour": colour, "start": start, "why": "start_occupied"}
            )
            if self.turn > 1:
                self.table.exercise("new.start_occupied")
                self.lose_tokens(2, "start_occupied")
                return
            self.table.exercise("new.first_card_again")
            start = self.draw_start()
        self.place_train(colour, start)

    def open_start(self) -> str | None:
        """Use the token that lies open for a train of the first card (ruling 40)."""
        if self.turn > 1 or not self.first_tokens:
            return None
        token, self.first_tokens[self.pending.symbol] = (
            self.first_tokens[self.pending.symbol],
            None,
        )
        assert token is not None
        return self.start_of[token]

    def draw_start(self) -> str:
        """Roll for a start, or draw its token (ruling 40)."""
        if self.config.starts != "drawn":
            roll = self.table.chance("start_dice", [str(n) for n in NUMBERS], _roll_event("start"))
            return self.start_of[int(roll)]
        if len(self.tokens_spent) == len(NUMBERS):
            self.tokens_spent.clear()
            self.table.exercise("new.token_stack_made_anew")
        left = [str(n) for n in NUMBERS if n not in self.tokens_spent]
        token = int(self.table.chance("start_tokens", left, _roll_event("start_token")))
        self.tokens_spent.add(token)
        return self.start_of[token]

    def place_train(self, colour: str, start: str) -> None:
        """Put a train of the depot on a free start."""
        train = self.depot_train(colour)
        assert train is not None
        train.put(start)
        self.metrics.trains_placed += 1
        self.table.tell({"event": "place", "train": train.name, "start": start})
        self.table.exercise("new.placed")

    # ---------------------------------------------------------------- moves of a card

    def move_colour(self, symbol: str) -> None:
        """Follow a move symbol (rulings 21 to 23, 33)."""
        pending = self.pending
        pending.colour = self.name_colour() if symbol == "multi" else symbol
        waiting = self.unmoved(pending.colour)
        if not waiting:
            self.table.exercise("card.colour_in_depot")
        rolled = False
        while waiting:
            answer = self.ask("train", self.train_answers(waiting, rolled)).split()
            if answer[0] == "staff.chef_de_train":
                self.use_staff("chef_de_train")
                self.table.tell({"event": "skip", "colour": pending.colour})
                for held in self.trains.values():
                    held.moved = held.moved or held.colour == pending.colour
                return
            train = self.trains[answer[1]]
            train.moved = True
            if answer[0] == "staff.cheffe_de_section":
                self.use_staff("cheffe_de_section")
                self.table.tell({"event": "hold", "train": train.name})
            else:
                rolled = True
                self.run_train(train)
            waiting = self.unmoved(pending.colour)

    def name_colour(self) -> str:
        """Ask which colour a multicolour symbol stands for (rulings 22 and 41)."""
        pending = self.pending
        assert pending.card is not None
        taken = pending.named | set(pending.card.move)
        answer = self.ask("colour", [f"colour {c}" for c in COLOURS if c not in taken])
        colour = answer.split()[1]
        pending.named.add(colour)
        self.table.tell({"event": "colour", "colour": colour})
        self.table.exercise("card.multicolour")
        return colour

    def unmoved(self, colour: str) -> list[Train]:
        """List the trains of a colour that the card still has to move."""
        return [t for t in self.on_network(colour) if not t.moved]

    def train_answers(self, waiting: list[Train], rolled: bool) -> list[str]:
        """List the trains to move next, and the staff that may act before the colour rolls."""
        answers = [f"move {t.name}" for t in waiting]
        if rolled:
            return answers
        if self.has_staff("chef_de_train"):
            answers.append("staff.chef_de_train")
        if self.has_staff("cheffe_de_section"):
            answers += [f"staff.cheffe_de_section {t.name}" for t in waiting]
        return answers

    # ---------------------------------------------------------------- movement

    def run_train(self, train: Train) -> None:
        """Roll for a train and move it."""
        pending = self.pending
        pending.train = train
        self.roll_die(train)
        choices = ["die.keep", "staff.logisticien"]
        if self.has_staff("logisticien") and self.ask("die", choices) == choices[1]:
            self.use_staff("logisticien")
            self.roll_die(train)
        self.set_off(train)
        pending.train, pending.roll, pending.points = None, 0, 0

    def roll_die(self, train: Train) -> None:
        """Roll the die of a train's colour."""
        faces = [str(f) for f in FACES[train.colour]]
        roll = int(self.table.chance(f"die_{train.colour}", faces, _roll_event(train.colour)))
        self.pending.roll = self.pending.points = roll

    def set_off(self, train: Train) -> None:
        """Start a move from the track, a start or a city."""
        if train.segment:
            self.advance(train, train.segment, train.index, train.direction)
        elif train.place in self.board.starts:
            line = self.board.segments[self.board.line_of_start[train.place]]
            self.advance(train, line, *line.outset(train.place))
        else:
            exits = self.greens_of(train.place)
            if len(exits) > 1:
                self.table.exercise("city.exit_choice")
            self.leave_city(train, self.ask("exit", [f"exit {x}" for x in exits]))

    def leave_city(self, train: Train, answer: str) -> None:
        """Move on through the exit that was named."""
        line = self.board.line_of_exit[answer.split()[1]]
        self.advance(train, line, *line.outset(train.place))

    def look_ahead(self, segment: Segment, index: int, direction: int) -> Ahead:
        """Find what lies before a train: lights and junctions come before the place behind them."""
        junctions = 0
        while True:
            light = segment.lights.get(index if direction > 0 else index - 1)
            if light and light not in self.green:
                return Ahead(obstacle="red_light", junctions=junctions)
            index += direction
            if 1 <= index <= segment.spaces:
                where = (segment, index, direction)
                return Ahead(place=segment.space(index), where=where, junctions=junctions)
            node = segment.end(direction)
            if node not in self.open:
                return Ahead(place=node, entry=light, junctions=junctions)
            pair = self.open[node]
            if segment.id not in pair:
                return Ahead(obstacle="closed_switch", junctions=junctions)
            junctions += 1
            segment = self.board.segments[pair[1] if pair[0] == segment.id else pair[0]]
            index, direction = segment.outset(node)

    def advance(self, train: Train, segment: Segment, index: int, direction: int) -> None:
        """Move a train by its points until it must stop."""
        path: list[str] = []
        while self.pending.points:
            ahead = self.look_ahead(segment, index, direction)
            if ahead.obstacle:
                self.tell_path(train, path)
                if ahead.obstacle == "red_light" and ahead.junctions:
                    self.table.exercise("move.red_light_behind_junction")
                self.table.exercise(f"move.{ahead.obstacle}")
                self.lose_tokens(self.pending.points, ahead.obstacle)
                return
            other = self.occupant(ahead.place)
            if other:
                self.tell_path(train, path)
                self.meet(train, other, ahead, bool(path))
                return
            self.pending.points -= 1
            path.append(ahead.place)
            train.put(ahead.place, ahead.where)
            if ahead.where is None:
                self.tell_path(train, path)
                self.arrive(train, ahead)
                return
            segment, index, direction = ahead.where
        self.tell_path(train, path)

    def tell_path(self, train: Train, path: list[str]) -> None:
        """Tell which places a train entered, if any."""
        if path:
            self.table.tell({"event": "move", "train": train.name, "path": path})

    def meet(self, train: Train, other: Train, ahead: Ahead, moved: bool) -> None:
        """Meet a train in the next place (rulings 7 to 10)."""
        points = self.pending.points
        if ahead.place in self.board.cities:
            self.table.exercise("move.city_occupied")
            self.lose_tokens(points, "city_occupied")
            return
        if ahead.where and other.direction == ahead.where[2]:
            rule = "move.train_ahead_outside_city" if self.in_city(train) else "move.train_ahead"
            self.table.exercise(rule)
            self.lose_tokens(points, "train_ahead")
            return
        self.metrics.collisions += 1
        self.count_head_on(train, ahead, moved)
        self.send_back(train)
        self.lose_tokens(2 * points, "head_on")

    def in_city(self, train: Train) -> bool:
        """Tell whether a train stands in a city."""
        return train.place in self.board.cities

    def count_head_on(self, train: Train, ahead: Ahead, moved: bool) -> None:
        """Count the kinds of head-on collision."""
        self.table.exercise("head_on")
        if train.cargo:
            self.table.exercise("head_on.loaded")
        if not moved:
            self.table.exercise("head_on.without_a_step")
        if ahead.where is None:
            self.table.exercise("head_on.at_occupied_start")
        if ahead.junctions:
            self.table.exercise("head_on.across_junction")
        if self.in_city(train):
            self.table.exercise("head_on.outside_city")

    def send_back(self, train: Train) -> None:
        """Return a train to the depot and its cargo to the city it came from."""
        cargo = train.cargo
        if cargo:
            self.goods[self.board.city_of_goods[cargo]] += 1
        train.cargo = None
        train.put(DEPOT)
        self.table.tell({"event": "depot", "train": train.name, "goods_back": cargo})

    def arrive(self, train: Train, ahead: Ahead) -> None:
        """Enter a start, a port or a goods city."""
        place = ahead.place
        if place in self.board.starts:
            self.table.exercise("start.reached_loaded" if train.cargo else "start.reached")
            self.metrics.derailments += 1
            self.send_back(train)
            self.lose_tokens(2, "start_reached")
        elif place in self.board.ports and (train.cargo or not self.board.america):
            self.unload(train, place)
        else:
            self.stop_or_cross(train, ahead)

    def stop_or_cross(self, train: Train, ahead: Ahead) -> None:
        """Stop in a city, or cross it where that is allowed (rulings 13, 15, 32, 43)."""
        if not self.pending.points:
            return
        if not (self.board.america or self.crossing_on or self.has_staff("gestionnaire")):
            self.table.exercise("city.must_stop")
            return
        exits = [x for x in self.greens_of(ahead.place) if x != ahead.entry]
        if not exits:
            self.table.exercise("city.no_other_exit")
            return
        self.pending.entry = ahead.entry
        self.offer_crossing(train, exits)
        self.pending.entry = None

    def offer_crossing(self, train: Train, exits: list[str]) -> None:
        """Ask whether a train stops in the city it has entered, and where it leaves if not."""
        if not (self.board.america or self.crossing_on):
            if self.ask("city", ["city.stop", "staff.gestionnaire"]) == "city.stop":
                self.table.exercise("city.stop_without_gestionnaire")
                return
            self.use_staff("gestionnaire")
            self.crossing_on = True
        answer = self.ask("exit", ["city.stop", *(f"exit {x}" for x in exits)])
        kind = "port" if train.place in self.board.ports else "city"
        if answer == "city.stop":
            self.table.exercise(f"{kind}.stop_{self.side}")
            return
        self.table.exercise(f"{kind}.cross_{self.side}")
        self.pending.entry = None
        self.leave_city(train, answer)

    def unload(self, train: Train, port: str) -> None:
        """Deliver the cargo of a train, if it has one the port wants, and send it to the depot."""
        cargo = train.cargo
        if cargo is None:
            self.table.exercise("port.empty_train_europe")
        elif self.wants(port, cargo):
            self.delivered[port][cargo] += 1
            if self.delivered[port][cargo] > self.quota()[0]:
                self.table.exercise(f"port.extra_good_{self.side}")
            self.metrics.goods += 1
            train.cargo = None
            self.table.tell(
                {
                    "event": "deliver",
                    "train": train.name,
                    "goods": cargo,
                    "city": port,
                    "total": self.metrics.goods,
                }
            )
            self.table.exercise(f"port.deliver_{self.side}")
        else:
            self.table.exercise(f"port.surplus_goes_back_{self.side}")
        self.send_back(train)
        if self.metrics.goods == self.goods_to_win():
            self.metrics.won = 1
            self.table.exercise("end.won_by_card" if self.pending.card else "end.won_by_action")
            self.table.exercise(f"end.won_{self.config.goods}_goods_{self.side}")
            self.finish("won", "all_delivered")

    def quota(self) -> tuple[int, int]:
        """Give how many goods of each colour, and how many more of any, each port wants."""
        more = 2 if self.config.goods == 10 else 0
        return (1, more // 2) if self.board.america else (2, more)

    def goods_to_win(self) -> int:
        """Count the goods that all ports want."""
        each, more = self.quota()
        return len(self.board.ports) * (each * len(self.board.goods_of) + more)

    def wants(self, port: str, goods: str) -> bool:
        """Tell whether a port takes one more good of a colour (ruling 17)."""
        each, more = self.quota()
        held = self.delivered[port]
        if held[goods] < each:
            return True
        return sum(max(0, n - each) for n in held.values()) < more

    # ---------------------------------------------------------------- the clock

    def lose_tokens(self, number: int, why: str) -> None:
        """Take tokens off the clock; an empty clock costs an instruction card (rulings 24, 25)."""
        debt = max(0, number - self.clock)
        self.clock = max(0, self.clock - number)
        self.metrics.tokens_lost += number
        self.table.tell({"event": "tokens", "lost": number, "why": why, "clock": self.clock})
        again = False
        while self.clock == 0:
            self.set_aside_card()
            self.table.exercise("clock.debt" if debt else "clock.no_debt")
            if again:
                self.table.exercise("clock.two_cards_at_once")
            self.clock = max(0, self.config.clock - debt)
            debt = max(0, debt - self.config.clock)
            self.table.tell({"event": "set_aside", "pile": self.pile, "clock": self.clock})
            again = True

    def set_aside_card(self) -> None:
        """Put the top card of the pile away unseen, or lose the game."""
        if self.pile == 0:
            rule = "end.clock_on_card" if self.pending.card else "end.clock_on_action"
            self.table.exercise(rule)
            self.finish("lost", "clock")
        self.pile -= 1
        self.metrics.cards_set_aside += 1
        if self.pile == 0:
            self.table.exercise("clock.takes_last_card")
            if self.bottom:
                self.table.exercise("pile.bottom_set_aside")
            self.bottom = None

    def finish(self, result: str, why: str) -> NoReturn:
        """End the episode."""
        self.table.tell(
            {"event": "end", "result": result, "why": why, "metrics": vars(self.metrics)}
        )
        raise EndOfEpisode

    # ---------------------------------------------------------------- action cards

    def play_actions(self) -> None:
        """Let the active player play action cards until the end of the turn is announced."""
        while True:
            answer = self.ask("actions", self.action_answers())
            if answer == "turn.end":
                if self.hand.total():
                    self.table.exercise("action.end_with_cards")
                return
            self.perform(answer.split())

    def action_answers(self) -> list[str]:
        """List what the active player can begin and pay for."""
        hand, total = self.hand, self.hand.total()
        answers = ["turn.end"]
        if hand["move"] or total >= 2:
            answers += [f"move {t.name}" for t in self.on_network()]
        if total:
            answers += [f"load {t.name}" for t in self.on_network() if self.can_load(t)]
        if hand["signal"] or total >= 2:
            answers += [f"light.from {x}" for x in self.green if self.targets(x)]
        if hand["switch"] or total >= 2:
            for junction, pair in self.open.items():
                names = self.board.setting_names[junction]
                answers += [name for name, other in names.items() if set(other) != set(pair)]
        return answers

    def can_load(self, train: Train) -> bool:
        """Tell whether a train stands empty in a city that has goods left."""
        return train.cargo is None and self.goods.get(train.place, 0) > 0

    def targets(self, source: str) -> list[str]:
        """List the red lights that a green disc can go to; each city keeps one (ruling 27)."""
        city = self.board.city_of_light.get(source)
        bound = city is not None and len(self.greens_of(city)) == 1
        lights = self.board.exits[city] if bound and city else self.board.lights
        return [x for x in lights if x not in self.green]

    def perform(self, answer: list[str]) -> None:
        """Carry out one action of the active player, with its payment."""
        pending = self.pending
        if answer[0] == "light.from":
            self.move_disc(answer[1])
        elif answer[0] == "switch":
            pair = self.board.setting_names[answer[1]][" ".join(answer)]
            pending.act, pending.junction = "switch", answer[1]
            pending.setting = [self.board.leg_name(answer[1], leg) for leg in pair]
            self.pay("switch")
            self.set_switch(answer[1], pair)
        elif answer[0] == "load":
            pending.act, pending.train = "load", self.trains[answer[1]]
            self.pay("load")
            self.load(self.trains[answer[1]])
        else:
            pending.act, pending.train = "move", self.trains[answer[1]]
            self.pay("move")
            pending.act = None
            self.run_train(self.trains[answer[1]])
            self.table.exercise("action.move")
        self.pending = Pending()

    def move_disc(self, source: str) -> None:
        """Move a green disc to a red light."""
        self.pending.source = source
        city = self.board.city_of_light.get(source)
        if city and len(self.greens_of(city)) == 1:
            self.table.exercise("action.only_disc_of_city")
        answer = self.ask("light.to", [f"light.to {x}" for x in self.targets(source)])
        target = answer.split()[1]
        self.pending.act, self.pending.target = "signal", target
        self.pay("signal")
        self.green.remove(source)
        self.green.add(target)
        self.table.tell({"event": "light", "from": source, "to": target})
        self.table.exercise("action.signal")

    def set_switch(self, junction: str, pair: tuple[str, str]) -> None:
        """Open another pair of legs."""
        self.open[junction] = pair
        self.table.tell(self.switch_event(junction, pair))
        self.table.exercise(f"action.switch_{len(self.board.legs[junction])}_way")

    def switch_event(self, junction: str, pair: tuple[str, str]) -> Event:
        """Describe the setting of a junction."""
        names = [self.board.leg_name(junction, leg) for leg in pair]
        return {"event": "switch", "junction": junction, "open": names}

    def load(self, train: Train) -> None:
        """Put a good of the city on a train."""
        train.cargo = self.board.goods_of[train.place]
        self.goods[train.place] -= 1
        self.metrics.loads += 1
        self.table.tell(
            {"event": "load", "train": train.name, "goods": train.cargo, "city": train.place}
        )
        self.table.exercise("action.load")

    def payments(self, act: str) -> list[tuple[str, ...]]:
        """List the cards that pay for an action (ruling 29)."""
        hand = self.hand
        if act == "load":
            return [(k,) for k in KINDS if hand[k]]
        pairs = [
            (a, b)
            for a, b in combinations_with_replacement(KINDS, 2)
            if hand[a] >= 1 + (a == b) and hand[b]
        ]
        return [(act,), *pairs] if hand[act] else list(pairs)

    def pay(self, act: str) -> None:
        """Ask for the payment and discard it."""
        options = {"pay " + "+".join(cards): cards for cards in self.payments(act)}
        cards = options[self.ask("pay", list(options))]
        for kind in cards:
            self.hand[kind] -= 1
            self.discard[kind] += 1
        self.metrics.cards_played += len(cards)
        self.table.tell({"event": "discard", "seat": self.active, "cards": list(cards)})
        self.table.exercise(f"pay.{act}_with_{len(cards)}")


def _roll_event(die: str) -> Tells:
    return lambda value: {"event": "roll", "die": die, "value": int(value)}


RULES = [
    "action.end_with_cards",
    "action.load",
    "action.move",
    "action.only_disc_of_city",
    "action.signal",
    "action.switch_3_way",
    "action.switch_4_way",
    "card.colour_in_depot",
    "card.multicolour",
    "city.cross_america",
    "city.cross_europe",
    "city.exit_choice",
    "city.must_stop",
    "city.no_other_exit",
    "city.stop_america",
    "city.stop_europe",
    "city.stop_without_gestionnaire",
    "clock.debt",
    "clock.no_debt",
    "clock.takes_last_card",
    "clock.two_cards_at_once",
    "draw.hand_limit",
    "draw.reshuffle",
    "end.clock_on_action",
    "end.clock_on_card",
    "end.last_turn",
    "end.won_by_action",
    "end.won_by_card",
    "end.won_10_goods_america",
    "end.won_10_goods_europe",
    "end.won_8_goods_america",
    "end.won_8_goods_europe",
    "head_on",
    "head_on.across_junction",
    "head_on.at_occupied_start",
    "head_on.loaded",
    "head_on.outside_city",
    "head_on.without_a_step",
    "move.city_occupied",
    "move.closed_switch",
    "move.red_light",
    "move.red_light_behind_junction",
    "move.train_ahead",
    "move.train_ahead_outside_city",
    "new.colour_used_up",
    "new.depot_empty",
    "new.first_card_again",
    "new.first_token_unused",
    "new.placed",
    "new.printed_colour_missing",
    "new.start_occupied",
    "new.token_stack_made_anew",
    "pay.load_with_1",
    "pay.move_with_1",
    "pay.move_with_2",
    "pay.signal_with_1",
    "pay.signal_with_2",
    "pay.switch_with_1",
    "pay.switch_with_2",
    "pile.bottom_revealed",
    "pile.bottom_set_aside",
    "port.cross_america",
    "port.deliver_america",
    "port.deliver_europe",
    "port.empty_train_europe",
    "port.extra_good_america",
    "port.extra_good_europe",
    "port.stop_america",
    "port.surplus_goes_back_america",
    "port.surplus_goes_back_europe",
    "setup.extra_light_chosen",
    "setup.extra_light_random",
    "setup.first_player_random",
    "setup.first_tokens_drawn",
    "setup.placement_free",
    "setup.placement_random",
    "setup.starts_shuffled",
    "staff.agent_de_manoeuvre",
    "staff.chef_de_train",
    "staff.cheffe_de_section",
    "staff.garde_voie",
    "staff.gestionnaire",
    "staff.logisticien",
    "start.reached",
    "start.reached_loaded",
]
