"""Boards without end: generated boards and maps of a split, alike in rows and actions.

    >>> train = boards.rulesets("convoi", "train", 64, size=5, hints=True)
    >>> test = boards.rulesets("convoi", "test", 20, size=5, hints=True)
    >>> net = trainyard.net.load("policy.net", test[0])     # trained on any of the others

Splits are ranges of seeds, those of `trainyard.tables.SPLITS`: a board of the train split has a
seed below 1,000,000, one of the validation split 1,000,000 to 1,009,999, one of the test split
2,000,000 to 2,009,999. Whoever writes that a network was tested on unseen boards means these.
"""

from __future__ import annotations

from typing import Any

from .errors import Error
from .ruleset import Ruleset
from .tables import split_seed

#: The setting of each game that generated boards are a value of.
SETTINGS = {"convoi": "board", "express": "map", "nordic": "map"}
LEVELS = ("easy", "normal", "hard")


def name(seed: int, *, size: int | None = None, level: str = "normal") -> str:
    """What a generated board is called in a ruleset.

    >>> name(7, size=16, level="hard")
    'gen:7-16-hard'
    """
    if level not in LEVELS:
        raise Error(f"level={level!r}: allowed is {', '.join(LEVELS)}")
    return "-".join([f"gen:{seed}", *([] if size is None else [str(size)]), level])


def ruleset(
    game: str,
    split: str,
    index: int,
    *,
    size: int | None = None,
    level: str = "normal",
    **settings: Any,
) -> Ruleset:
    """Board number `index` of a split, with other settings of the game.

    >>> ruleset("express", "test", 0, size=12, show_board=True)
    """
    if game not in SETTINGS:
        raise Error(f"game={game!r}: boards are generated for {', '.join(SETTINGS)}")
    board = name(split_seed(split, index), size=size, level=level)
    values: dict[str, Any] = {SETTINGS[game]: board, **settings}
    return Ruleset(game, **values)


def rulesets(
    game: str,
    split: str,
    count: int,
    *,
    first: int = 0,
    size: int | None = None,
    level: str = "normal",
    **settings: Any,
) -> list[Ruleset]:
    """`count` boards of a split from number `first` on: one schema, so that one network plays them.

    >>> len({rules.schema_hash for rules in rulesets("convoi", "train", 10, size=5)})
    1
    """
    return [
        ruleset(game, split, index, size=size, level=level, **settings)
        for index in range(first, first + count)
    ]
