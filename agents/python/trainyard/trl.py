"""Our games for TRL: an environment factory of GRPOTrainer.

>>> from trainyard.trl import environment_factory
>>> trainer = GRPOTrainer(
...     model="Qwen/Qwen3-0.6B",
...     args=GRPOConfig(max_steps=100),
...     environment_factory=environment_factory("convoi", partner="expert"),
... )

The trainer calls `reset` with the columns of an example (`seed`, or `split` and `index`), lets the
model call the tools `look` and `play`, and asks `get_reward`, from 0 to 1, at the end. Rollouts are
slots of shared pools. Nothing here imports TRL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ruleset import Ruleset
from .tables import SPLITS, Table, Tables, seating, split_seed

#: Said before the rules, to a model that plays by calling tools.
_INTRODUCTION = (
    "Play this game by calling the tool `play` with the names of actions, the words in brackets, "
    "until it is over. `look` shows the position again.\n\n"
)


class TrainyardEnv:
    """One rollout at a time. What has no underscore before it is a tool of the model."""

    def __init__(self, tables: Tables, ruleset: Ruleset, seat: int, partner: str) -> None:
        self._tables = tables
        self._ruleset = ruleset
        self._seats = seating(ruleset, seat, partner)
        self._seat = seat
        self._table: Table | None = None
        self._index = 0

    def reset(
        self,
        seed: int | None = None,
        split: str = "train",
        index: int | None = None,
        **_: Any,
    ) -> str:
        """Begins the episode of an example and returns its rules and first question."""
        if self._table is not None:
            self._table.close()
        if seed is None:
            chosen = self._index % len(SPLITS["train"]) if index is None else int(index)
            seed = split_seed(split, chosen)
            self._index += index is None
        self._table = self._tables.open(self._ruleset, seats=self._seats, seed=int(seed))
        return f"{_INTRODUCTION}{self._ruleset.rules_text().rstrip()}\n\n{self.look()}"

    def look(self) -> str:
        """
        Shows the position, what has happened, and the choices.

        Returns:
            The position in words.
        """
        look = self._at_table().look()
        text = look.text().rstrip()
        return f"{text}\nThe game is over. Score: {look.score:.3f}" if look.over else text

    def play(self, actions: list[str]) -> str:
        """
        Takes one action or several of your turn.

        Args:
            actions: The names of the actions, in order, as the choices give them in brackets.

        Returns:
            What was taken, what is to be put right, and the new position in words.
        """
        turn = self._at_table().act(actions)
        taken = f"Taken: {', '.join(turn.taken) or 'nothing'}. {turn.correction}".rstrip()
        return f"{taken}\n\n{self.look()}"

    def get_reward(self) -> float:
        """The score of the seat, from 0 to 1."""
        return self._at_table().score(self._seat)

    def _at_table(self) -> Table:
        if self._table is None:
            self.reset()
        assert self._table is not None
        return self._table


def environment_factory(
    game: str = "convoi", *, seat: int = 0, partner: str = "expert", **config: Any
) -> Callable[[], TrainyardEnv]:
    """What GRPOTrainer calls for each rollout; they share their pools.

    >>> environment_factory("nordic", players=3, partner="random")
    """
    tables, ruleset = Tables(), Ruleset(game, **config)
    seating(ruleset, seat, partner)

    def factory() -> TrainyardEnv:
        return TrainyardEnv(tables, ruleset, seat, partner)

    return factory
