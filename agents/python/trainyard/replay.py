"""Replays: an episode as its ruleset, its seed and its actions, with a hash before every action.

>>> replay = trainyard.Replay.play("convoi", ["expert", MyAgent], seed=7, board="europe")
>>> replay.save("episode.jsonl")                     # `trainyard trace --script` reads it too
>>> trainyard.Replay.load("episode.jsonl").verify()  # raises where it plays differently
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .agents import View
from .arena import agent_seed, seated
from .errors import Error
from .pool import Pool, make
from .ruleset import Ruleset


@dataclass
class Replay:
    """One episode. `hashes` has the state's hash before each action; it may be empty. `files` has
    the boards and decks of one's own that the ruleset names, by their names there."""

    spec: str
    seed: int
    actions: list[str] = field(default_factory=list)
    hashes: list[int] = field(default_factory=list)
    rules_version: int = 0
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def play(cls, game: str, seating: Sequence[Any], *, seed: int = 0, **config: Any) -> Replay:
        """Lets agents play one episode and keeps it; agents as in `trainyard.play`."""
        pool = _table(game, seed, **config)
        rules = pool.ruleset
        if len(seating) != rules.players:
            raise Error(f"seating: {rules.players} agents expected, not {len(seating)}")
        players = [seated(rules, agent) for agent in seating]
        for seat, player in enumerate(players):
            if hasattr(player, "start"):
                player.start(rules, seat, agent_seed(seed, seat))
        version = rules.game.rules_version
        replay = cls(rules.spec, seed, rules_version=version, files=rules.files)
        while pool.ready[0]:
            seat = int(pool.seat[0])
            action = int(players[seat].act(View(pool, 0, seat, pool.obs[0], pool.mask[0])))
            replay.hashes.append(int(pool.hash[0]))
            replay.actions.append(rules.action_name(action))
            pool.step([action])
        return replay

    def frames(self) -> Iterator[Pool]:
        """Plays the episode again: the pool of one slot before each action, and at the end.

        >>> for pool in replay.frames():
        ...     print(pool.text())
        """
        pool = _table(self.spec, self.seed, files=self._named())
        for action in self.actions:
            yield pool
            pool.act(action)
        yield pool

    def _named(self) -> dict[str, tuple[str, bytes]] | None:
        return {name: (name, content) for name, content in self.files.items()} or None

    def verify(self) -> None:
        """Plays the episode again and raises trainyard.Error at the first difference."""
        for number, (pool, action) in enumerate(zip(self.frames(), self.actions, strict=False)):
            if number < len(self.hashes) and int(pool.hash[0]) != self.hashes[number]:
                raise Error(
                    f"decision {number + 1}: the state has hash {int(pool.hash[0]):016x}, the "
                    f"replay says {self.hashes[number]:016x} (rules version "
                    f"{pool.ruleset.game.rules_version} here, {self.rules_version} there)"
                )
            if action not in pool.legal():
                raise Error(f"decision {number + 1}: '{action}' is not legal there", "illegal")

    def save(self, path: str | Path) -> None:
        """Writes the episode in the trace format, without states and events."""
        rules = Ruleset(self.spec, files=self._named())
        head = {
            "trace": 2,
            "ruleset": self.spec,
            "game": rules.game.name,
            "rules_version": self.rules_version,
            "seed": self.seed if self.seed <= 1 << 53 else str(self.seed),
        }
        lines = [json.dumps(head)]
        for number, action in enumerate(self.actions):
            line: dict[str, Any] = {"step": number + 1, "action": action}
            if number < len(self.hashes):
                line["hash"] = f"{self.hashes[number]:016x}"
            lines.append(json.dumps(line))
        Path(path).write_text("\n".join(lines) + "\n")

    @classmethod
    def load(cls, path: str | Path, files: Mapping[str, str | Path] | None = None) -> Replay:
        """Reads the first episode of a trace, of `save` or of `trainyard trace`.

        A trace names boards and decks of one's own, and does not hold them: `files` says where
        they are.

        >>> trainyard.Replay.load("episode.jsonl", files={"mybox": "boards/mybox.json"}).verify()
        """
        replay: Replay | None = None
        for number, text in enumerate(Path(path).read_text().splitlines()):
            try:
                line = json.loads(text)
            except json.JSONDecodeError as error:
                raise Error(f"{path}:{number + 1}: not JSON: {error}", "bad_file") from None
            if "trace" in line:
                if replay is not None:
                    break
                replay = cls(
                    line["ruleset"], int(line["seed"]), rules_version=line.get("rules_version", 0)
                )
            elif replay is None:
                raise Error(f"{path}: the first line is no header of a trace", "bad_file")
            elif "action" in line and "event" not in line:
                replay.actions.append(line["action"])
                if "hash" in line:
                    replay.hashes.append(int(line["hash"], 16))
        if replay is None:
            raise Error(f"{path}: no episode in it", "bad_file")
        for name, place in (files or {}).items():
            replay.files[name] = Path(place).read_bytes()
        return replay


def _table(game: str, seed: int, **config: Any) -> Pool:
    return make(game, seed=seed, autoreset="disabled", hash=True, **config)
