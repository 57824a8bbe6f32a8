"""OpenSpiel: our games as pyspiel games, with explicit chance nodes.

>>> import trainyard.openspiel
>>> game = trainyard.openspiel.game("nordic", map="tiny")
>>> state = game.new_initial_state()
>>> state.is_chance_node(), state.chance_outcomes()[:2]

or, by OpenSpiel's registry, pyspiel.load_game("trainyard", {"ruleset": "nordic:map=tiny"}).

Everything that is drawn is asked of OpenSpiel: rulesets are opened with chance=seat. A player's
information state is what it saw whenever it was asked, and what it answered. `clone` copies plain
data; `resample_from_infostate` redeals what a player cannot know, so that IS-MCTS works. Use
OpenSpiel's searches in Python (open_spiel.python.algorithms): those in C++ crash on games that are
written in Python, their own included.

`exploitability` and CFR walk through whole games. With deals="joined" what is drawn in a row
without a decision between is one chance node, whose outcomes are the different positions that it
leads to: the order of a hand is nobody's business. So a small map of one's own is solved in
seconds (examples/duel.json); the tiny map of express, with 10^12 deals, is not, but its endgames
are (`Game.endgame`).

>>> game = trainyard.openspiel.game("express:map=examples/duel.json", deals="joined")
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from . import _lib
from ._lib import lib
from .errors import Error
from .ruleset import Ruleset, spec_text

#: Rewards of the library are in 1/64.
_REWARD_ONE = 64
#: Outcomes of one chance node of joined deals, at most.
_JOINED_MAX = 10_000
#: Decisions and draws of the longest game. None comes near; OpenSpiel only wants a bound.
_LENGTH_MAX = 100_000


@lru_cache(maxsize=64)
def _open(spec: str) -> Ruleset:
    """States name their ruleset instead of holding it: OpenSpiel copies what they hold."""
    return Ruleset(spec)


@dataclass(frozen=True)
class _Outcome:
    """A position to which draws lead, what was earned on the way, and how likely it is."""

    state: bytes
    earned: bytes
    chance: float


def _is_chance(state: npt.NDArray[np.uint8], ruleset: Ruleset) -> bool:
    head = _lib.Head.from_buffer(state.data)
    return not head.over and head.seat >= ruleset.players


def _weights(state: npt.NDArray[np.uint8], ruleset: Ruleset) -> npt.NDArray[np.float64]:
    """How likely each outcome of the next draw is."""
    row = np.empty(ruleset.row_size, dtype=np.uint8)
    lib.ty_observe(ruleset.handle, state.ctypes.data, ruleset.players, row.ctypes.data)
    weights = row[ruleset.block("chance_weight").bytes].astype(float)
    return weights / weights.sum()


def _draw_what_is_certain(
    state: npt.NDArray[np.uint8], earned: npt.NDArray[np.int32], ruleset: Ruleset
) -> None:
    """A draw with one outcome is no node: trees are walked as large as they have to be."""
    mask = np.empty(ruleset.action_count, dtype=np.uint8)
    while _is_chance(state, ruleset):
        lib.ty_legal(ruleset.handle, state.ctypes.data, mask.ctypes.data)
        outcomes = mask.nonzero()[0]
        if len(outcomes) > 1:
            return
        lib.ty_step(ruleset.handle, state.ctypes.data, int(outcomes[0]), earned.ctypes.data, None)


@lru_cache(maxsize=64)
def _beginning(spec: str) -> bytes:
    """The first position of every game; nothing is earned before it."""
    ruleset = _open(spec)
    state = np.zeros(ruleset.state_size, dtype=np.uint8)
    lib.ty_reset(ruleset.handle, state.ctypes.data, 0, None)
    _draw_what_is_certain(state, np.zeros(_lib.SEATS_MAX, dtype=np.int32), ruleset)
    return state.tobytes()


@lru_cache(maxsize=4096)
def _joined(spec: str, start: bytes, earned: bytes) -> list[_Outcome]:
    """The different positions of the next decision, or of the end, in a fixed order."""
    ruleset = _open(spec)
    first = _players_actions(ruleset)
    done: dict[tuple[bytes, bytes], float] = {}
    left = {(start, earned): 1.0}
    while left:
        drawn: dict[tuple[bytes, bytes], float] = {}
        for (content, had), chance in left.items():
            weights = _weights(np.frombuffer(bytearray(content), np.uint8), ruleset)
            for outcome in np.flatnonzero(weights):
                after = np.frombuffer(bytearray(content), np.uint8)
                has = np.frombuffer(bytearray(had), np.int32)
                action = first + int(outcome)
                lib.ty_step(ruleset.handle, after.ctypes.data, action, has.ctypes.data, None)
                goes_on = drawn if _is_chance(after, ruleset) else done
                key = (after.tobytes(), has.tobytes())
                goes_on[key] = goes_on.get(key, 0.0) + chance * float(weights[outcome])
        left = drawn
        if len(left) + len(done) > _JOINED_MAX:
            raise Error(
                f"{spec}: more than {_JOINED_MAX:,} deals; deals='joined' is for small maps"
            )
    return [_Outcome(*key, chance) for key, chance in sorted(done.items())]


def _players_actions(ruleset: Ruleset) -> int:
    """The actions of players; behind them come the outcomes of chance."""
    return ruleset.action_names.index("chance 0")


def _game_type(ruleset: Ruleset) -> pyspiel.GameType:
    utilities = pyspiel.GameType.Utility
    # Of several rivals each loses one to the winner: these sums differ with their number.
    rivals = utilities.ZERO_SUM if ruleset.players == 2 else utilities.GENERAL_SUM
    return pyspiel.GameType(
        short_name="trainyard",
        long_name=f"Trainyard: {ruleset.spec}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utilities.IDENTICAL if ruleset.cooperative else rivals,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=5,
        min_num_players=1,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"ruleset": "convoi", "deals": "single"},
    )


class Game(pyspiel.Game):
    """A ruleset as a game. See `game`."""

    def __init__(self, params: Mapping[str, Any] | None = None, start: State | None = None) -> None:
        asked = str((params or {}).get("ruleset", "convoi"))
        self.joined = _joins(str((params or {}).get("deals", "single")))
        self.spec = spec_text(asked, {} if "chance=" in asked else {"chance": "seat"})
        self.ruleset = _open(self.spec)
        kind = _game_type(self.ruleset)
        zero_sum = kind.utility == pyspiel.GameType.Utility.ZERO_SUM
        # A win is 1 and a defeat -1; what other rewards add up to stays within this.
        bound = 1.0 if "reward=" not in self.spec else 20.0
        info = pyspiel.GameInfo(
            num_distinct_actions=_players_actions(self.ruleset),
            max_chance_outcomes=_JOINED_MAX
            if self.joined
            else self.ruleset.action_count - _players_actions(self.ruleset),
            num_players=self.ruleset.players,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0 if zero_sum else None,
            max_game_length=_LENGTH_MAX,
        )
        super().__init__(
            kind, info, {"ruleset": asked, "deals": "joined" if self.joined else "single"}
        )
        self._start = None if start is None else (start.bytes.copy(), start.earned.copy())

    def new_initial_state(self) -> State:
        state = State(self, self.spec, joined=self.joined)
        if self._start is not None:
            np.copyto(state.bytes, self._start[0])
            np.copyto(state.earned, self._start[1])
        return state

    def endgame(self, start: State) -> Game:
        """The game that begins in a position, which everybody knows: small enough to be solved.

        >>> exploitability.nash_conv(game.endgame(state), policy)
        """
        return Game(self.get_parameters(), start)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> Observer:
        recall = bool(iig_obs_type.perfect_recall) if iig_obs_type is not None else False
        return Observer(self.ruleset, perfect_recall=recall)


class State(pyspiel.State):
    """A position. Its attributes are plain data: OpenSpiel clones a state by copying them."""

    def __init__(self, game: Game, spec: str, *, joined: bool = False) -> None:
        super().__init__(game)
        ruleset = _open(spec)
        self.spec = spec
        self.joined = joined
        self.first_chance = _players_actions(ruleset)
        # OpenSpiel makes a new state for every clone: it begins with a copy, not with a deal.
        self.bytes = np.frombuffer(bytearray(_beginning(spec)), np.uint8)
        self.earned = np.zeros(_lib.SEATS_MAX, dtype=np.int32)
        #: Per player a digest of the rows that it was asked with, and of its answers.
        self.memory = [b""] * ruleset.players

    @property
    def ruleset(self) -> Ruleset:
        return _open(self.spec)

    @property
    def _head(self) -> _lib.Head:
        return _lib.Head.from_buffer(self.bytes.data)

    # ---- Turns

    def is_terminal(self) -> bool:
        return bool(self._head.over)

    def current_player(self) -> int:
        head = self._head
        if head.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if head.seat >= len(self.memory) else int(head.seat)

    def _mask(self) -> npt.NDArray[np.uint8]:
        mask = np.empty(self.ruleset.action_count, dtype=np.uint8)
        lib.ty_legal(self.ruleset.handle, self.bytes.ctypes.data, mask.ctypes.data)
        return mask

    def _legal_actions(self, player: int) -> list[int]:
        if self.joined and player == pyspiel.PlayerId.CHANCE:
            return list(range(len(self._outcomes())))
        actions: list[int] = np.flatnonzero(self._mask()).tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self.joined:
            return [(i, outcome.chance) for i, outcome in enumerate(self._outcomes())]
        weights = _weights(self.bytes, self.ruleset)
        return [(int(i), float(weights[i])) for i in np.flatnonzero(weights)]

    def _outcomes(self) -> list[_Outcome]:
        return _joined(self.spec, self.bytes.tobytes(), self.earned.tobytes())

    def _deal(self, number: int) -> None:
        outcome = self._outcomes()[number]
        self.bytes = np.frombuffer(bytearray(outcome.state), np.uint8)
        self.earned = np.frombuffer(bytearray(outcome.earned), np.int32)

    def _apply_action(self, action: int) -> None:
        player = self.current_player()
        if player < 0 and self.joined:
            self._deal(action)
            return
        if player >= 0:
            self.memory[player] = self._remember(player, action)
        else:
            action += self.first_chance
        if not self._step(action):
            raise ValueError(f"{self.ruleset.action_name(action)} is not legal here")
        _draw_what_is_certain(self.bytes, self.earned, self.ruleset)

    def _step(self, action: int) -> bool:
        state, earned = self.bytes.ctypes.data, self.earned.ctypes.data
        return bool(lib.ty_step(self.ruleset.handle, state, action, earned, None))

    def _action_to_string(self, player: int, action: int) -> str:
        if player < 0:
            return f"chance {action}"
        return self.ruleset.action_name(action)

    # ---- What players earn and see

    def returns(self) -> list[float]:
        """What each player has earned, told at the end as OpenSpiel's searches want it."""
        if not self._head.over:
            return [0.0] * len(self.memory)
        result: list[float] = (self.earned[: len(self.memory)] / _REWARD_ONE).tolist()
        return result

    def row(self, seat: int) -> npt.NDArray[np.uint8]:
        """What a seat sees."""
        row = np.empty(self.ruleset.row_size, dtype=np.uint8)
        lib.ty_observe(self.ruleset.handle, self.bytes.ctypes.data, seat, row.ctypes.data)
        return row

    def _remember(self, player: int, action: int) -> bytes:
        seen = self.memory[player] + self.row(player).tobytes() + action.to_bytes(4, "little")
        return hashlib.blake2b(seen, digest_size=16).digest()

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        seen = self.memory[player] + self.row(player).tobytes()
        return f"{player} {hashlib.blake2b(seen, digest_size=16).hexdigest()}"

    def observation_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        return f"{player} {self.row(player).tobytes().hex()}"

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> State:
        """A position that the player cannot tell from this one."""
        state: State = self.clone()
        key = int(sampler() * (1 << 53))
        lib.ty_resample(self.ruleset.handle, state.bytes.ctypes.data, player, key)
        return state

    def __str__(self) -> str:
        if self.is_terminal():
            return f"over: {self.returns()}"
        seat = min(self._head.seat, len(self.memory) - 1)
        return _lib.write_text(lib.ty_text, self.ruleset.handle, self.bytes.ctypes.data, seat)


class Observer:
    """What a player sees, as OpenSpiel's observers tell it: the expanded row."""

    def __init__(self, ruleset: Ruleset, *, perfect_recall: bool) -> None:
        self._recall = perfect_recall
        self._ruleset = ruleset
        self.tensor = np.zeros(ruleset.expanded_size, dtype=np.float32)
        self.dict = {"row": self.tensor}

    def set_from(self, state: State, player: int) -> None:
        self._ruleset.expand(state.row(player), self.tensor)

    def string_from(self, state: State, player: int) -> str:
        if self._recall:
            return state.information_state_string(player)
        return state.observation_string(player)


def game(name: str, **settings: Any) -> Game:
    """A game of ours for OpenSpiel's algorithms.

    >>> game = trainyard.openspiel.game("express", map="tiny", players=2)
    """
    deals = str(settings.pop("deals", "single"))
    return Game({"ruleset": spec_text(name, settings), "deals": deals})


def _joins(deals: str) -> bool:
    if deals not in ("single", "joined"):
        raise Error(f"deals={deals!r}: 'single' or 'joined'")
    return deals == "joined"


pyspiel.register_game(_game_type(_open("convoi:chance=seat")), Game)
