"""What a run is: everything that its weights depend on, in one file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import Error
from ..ruleset import Ruleset


@dataclass(frozen=True)
class Config:
    """A run; all of it is kept in its checkpoints.

    >>> Config(game="express", settings={"reward": "score"}, past=8)
    """

    game: str = "convoi"
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    hidden: list[int] = field(default_factory=lambda: [128, 128])
    start: str = ""  # a file: a network of these layers to begin with, instead of a random one
    # Play: `slots` episodes at once, `horizon` decisions in each between two updates.
    slots: int = 512
    horizon: int = 32
    # Play and every batch are shared out into so many parts, which run at once. The weights depend
    # on how many there are: their slopes are added up.
    parts: int = 2
    # PPO.
    epochs: int = 2
    batch: int = 2048
    rate: float = 1e-3
    # Nearly 1: a reward for progress pays less for losing it later than for having it first, so
    # that with a discount it pays to go to and fro. `trace` says how far chance reaches back.
    discount: float = 0.9998
    trace: float = 0.9
    clip: float = 0.2
    entropy: float = 0.015
    scale: float = 0.2  # of rewards
    # Rate and entropy fall in a straight line from all to `end` of it, over `planned` decisions.
    planned: int = 50_000_000
    end: float = 0.1
    # policy.net has the mean of the weights over about so many rounds; 1: the last ones. What is
    # learned wavers from round to round, and its mean plays better.
    average: int = 1
    # Who else plays: the network alone has weight `alone`, each built-in agent its own, and `past`
    # selves together `past_weight`. Every `past_every` rounds a self is kept instead of the oldest.
    alone: int = 4
    rivals: dict[str, int] = field(default_factory=dict)
    past: int = 0
    past_every: int = 40
    past_weight: int = 4
    # A start by imitation: the agent advises in `demonstrated` decisions, of which it plays all at
    # first and none at last. They cost more than others, so that more is learned from each.
    # The rate falls to `end` of it meanwhile.
    demonstrations: str = ""
    demonstrated: int = 2_000_000
    demonstration_rate: float = 1e-3
    demonstration_epochs: int = 4
    demonstration_batch: int = 512
    # Other settings until so many decisions were played: [[5000000, {"clock": "12"}], ...].
    curriculum: list[list[Any]] = field(default_factory=list)

    @property
    def ruleset(self) -> Ruleset:
        return Ruleset(self.game, **self.settings)

    def ruleset_at(self, steps: int) -> Ruleset:
        """What is played after so many decisions, according to the curriculum."""
        for until, settings in self.curriculum:
            if steps < until:
                return Ruleset(self.game, **{**self.settings, **settings})
        return self.ruleset

    def check(self) -> None:
        """Raises if a value cannot be."""
        for name in (
            "slots",
            "horizon",
            "parts",
            "epochs",
            "batch",
            "planned",
            "average",
            "past_every",
            "demonstrated",
            "demonstration_epochs",
            "demonstration_batch",
        ):
            if getattr(self, name) < 1:
                raise Error(f"{name}={getattr(self, name)}; allowed is 1 or more")
        if not 0 <= self.discount <= 1:
            raise Error(f"discount={self.discount}; allowed is 0 to 1")
        if self.parts > self.slots:
            raise Error(f"parts={self.parts}; allowed are as many as slots, {self.slots}")
        if not self.hidden or any(width % 32 or not 32 <= width <= 1024 for width in self.hidden):
            raise Error(f"hidden={self.hidden}; allowed are multiples of 32 up to 1024")
        rules = self.ruleset
        for until, settings in self.curriculum:
            stage = Ruleset(self.game, **{**self.settings, **settings})
            if stage.schema_hash != rules.schema_hash:
                raise Error(
                    f"curriculum until {until}: the rows of {stage.spec} are not those of "
                    f"{rules.spec}; only settings that leave them alone can change"
                )

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def of(cls, values: dict[str, Any], source: str) -> Config:
        """A configuration of named values; the others are standard."""
        known = {item.name: item for item in fields(cls)}
        standard = cls()
        for name, value in values.items():
            if name not in known:
                raise Error(f"{source}: no {name}; there are {', '.join(known)}")
            wanted = type(getattr(standard, name))
            if wanted is float and isinstance(value, int):
                wanted = int
            if not isinstance(value, wanted) or isinstance(value, bool):
                raise Error(f"{source}: {name}={value!r}; wanted is {wanted.__name__}")
        return cls(**values)

    @classmethod
    def load(cls, path: Path) -> dict[str, Any]:
        """The values in a JSON file, of which each may be left out."""
        try:
            values = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise Error(f"{path}: {error}") from None
        if not isinstance(values, dict):
            raise Error(f"{path}: an object with names and values was expected")
        cls.of(values, str(path))
        return values
