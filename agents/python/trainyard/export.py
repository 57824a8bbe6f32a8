"""Logs as data sets.

    trainyard export LOG --to parquet|minari|sft -o OUT [--episodes N] [--without-text]

Every episode is played again from its seed and actions, and compared with what was logged. Beside
the data lies a card, OUT/README.md: ruleset, schema, agents, seeds, and the command.

    parquet   OUT/decisions.parquet, a row for each decision (needs pyarrow)
    minari    OUT/trainyard/GAME/seatK-v0, a data set for each seat (needs minari, gymnasium, h5py)
    sft       OUT/decisions.jsonl, a conversation of three messages for each decision
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import llm
from .agents import View
from .errors import Error
from .log import Episode, read
from .pool import Pool, make
from .ruleset import Ruleset

#: Episodes whose rows are written together.
BATCH = 256


@dataclass
class Decision:
    """One decision, as the seat that took it saw it. `reward` is what that seat earned until its
    next decision, or the end."""

    step: int
    seat: int
    obs: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.bool_]
    action: int
    text: str
    reward: float = 0.0


@dataclass
class Played:
    """An episode with its decisions, and what each seat saw at the end."""

    number: int
    log: Episode
    decisions: list[Decision] = field(default_factory=list)
    final_obs: list[npt.NDArray[np.uint8]] = field(default_factory=list)

    def of_seat(self, seat: int) -> list[Decision]:
        return [decision for decision in self.decisions if decision.seat == seat]


class Player:
    """Plays logged episodes of one ruleset again, in one slot."""

    def __init__(self, ruleset: Ruleset, *, text: bool) -> None:
        self._text = text
        self.rules = ruleset
        self._pool: Pool = make(
            ruleset._asked, files=ruleset._files, autoreset="disabled", events=text, hash=True
        )

    def play(self, number: int, episode: Episode) -> Played:
        """The episode again; an Error if it plays differently."""
        pool = self._pool.reset(seed=episode.seed)
        played = Played(number, episode)
        latest: dict[int, Decision] = {}
        for step, action in enumerate(episode.actions):
            seat = int(pool.seat[0])
            if not 0 <= action < self.rules.action_count or not pool.mask[0, action]:
                raise Error(f"episode {number}, decision {step + 1}: action {action} is not legal")
            view = View(pool, 0, seat, pool.obs[0].copy(), pool.mask[0].copy())
            text = llm.prompt(view) if self._text else ""
            latest[seat] = Decision(step, seat, view.row, view.mask, action, text)
            played.decisions.append(latest[seat])
            pool.step([action])
            for earner, earned in zip(pool.seats, pool.earned[0].tolist(), strict=True):
                if earner in latest:
                    latest[earner].reward += earned
        if int(pool.hash[0]) != episode.final_hash:
            raise Error(f"episode {number}: it ends differently than the log says", "bad_file")
        played.final_obs = [pool.observe(0, seat) for seat in range(self.rules.players)]
        return played


class Writer(Protocol):
    """A form of data. `add` gets the episodes in batches."""

    def add(self, batch: list[Played]) -> None: ...

    def close(self) -> None: ...


# ---- Parquet


class Parquet:
    COLUMNS = {
        "episode": "number of the episode in this data set",
        "seed": "of the episode",
        "step": "decisions taken before this one",
        "seat": "who decides",
        "agent": "what plays that seat",
        "obs": "the row of that seat, {row_size} bytes",
        "mask": "legal actions, a bit for each, the lowest first",
        "action": "number of the action",
        "name": "its name",
        "reward": "earned by the seat until its next decision, or the end",
        "return": "earned by the seat in the whole episode",
        "notes": "what the agent told of its choices, if the log kept it (`sim --log --notes`)",
        "text": "the prompt of the position",
    }

    def __init__(self, out: Path, ruleset: Ruleset, about: dict[str, str], *, text: bool) -> None:
        pyarrow, parquet = _needs("pyarrow"), _needs("pyarrow.parquet")
        self._rules, self._text, self._arrow = ruleset, text, pyarrow
        types = {
            "episode": pyarrow.uint32(),
            "seed": pyarrow.uint64(),
            "step": pyarrow.uint32(),
            "seat": pyarrow.uint8(),
            "agent": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
            "obs": pyarrow.binary(ruleset.row_size),
            "mask": pyarrow.binary((ruleset.action_count + 7) // 8),
            "action": pyarrow.uint16(),
            "name": pyarrow.dictionary(pyarrow.int16(), pyarrow.string()),
            "reward": pyarrow.float32(),
            "return": pyarrow.float32(),
            "notes": pyarrow.list_(
                pyarrow.struct(
                    {
                        "action": pyarrow.uint16(),
                        "probability": pyarrow.float32(),
                        "value": pyarrow.float32(),
                        "visits": pyarrow.float32(),
                    }
                )
            ),
        }
        if text:
            types["text"] = pyarrow.string()
        self._schema = pyarrow.schema(types, metadata=about)
        self._file = parquet.ParquetWriter(
            out / "decisions.parquet", self._schema, compression="zstd"
        )

    def _row(self, played: Played, decision: Decision) -> dict[str, Any]:
        log = played.log
        row: dict[str, Any] = {
            "episode": played.number,
            "seed": log.seed,
            "step": decision.step,
            "seat": decision.seat,
            "agent": log.seats[decision.seat],
            "obs": decision.obs.tobytes(),
            "mask": np.packbits(decision.mask, bitorder="little").tobytes(),
            "action": decision.action,
            "name": self._rules.action_name(decision.action),
            "reward": decision.reward,
            "return": log.returns[decision.seat],
            "notes": [note._asdict() for note in log.notes.get(decision.step, [])],
        }
        return row | {"text": decision.text} if self._text else row

    def add(self, batch: list[Played]) -> None:
        rows = [self._row(played, decision) for played in batch for decision in played.decisions]
        self._file.write_table(self._arrow.Table.from_pylist(rows, self._schema))

    def close(self) -> None:
        self._file.close()


# ---- Minari


class Minari:
    COLUMNS = {
        "observations": "a dictionary: `observation`, the row, and `action_mask`",
        "actions": "numbers of actions",
        "rewards": "earned by the seat until its next decision, or the end",
        "terminations, truncations": "at the last decision: by the rules, or cut short",
        "seed": "of the episode: with the same agents at the other seats it plays the same",
    }

    def __init__(self, out: Path, ruleset: Ruleset, about: dict[str, str], *, text: bool) -> None:
        os.environ["MINARI_DATASETS_PATH"] = str(out)
        self._minari, collector = _needs("minari"), _needs("minari.data_collector")
        self._buffer = collector.EpisodeBuffer
        self._rules, self._about = ruleset, about
        self._episodes: list[list[Any]] = [[] for _ in range(ruleset.players)]

    def add(self, batch: list[Played]) -> None:
        for played in batch:
            for seat, episodes in enumerate(self._episodes):
                mine = played.of_seat(seat)
                if mine:
                    episodes.append(self._episode(played, seat, mine, len(episodes)))

    def _episode(self, played: Played, seat: int, mine: list[Decision], number: int) -> Any:
        from .adapter import terminal_mask

        masks = [decision.mask.astype(np.int8) for decision in mine]
        rows = [*(decision.obs for decision in mine), played.final_obs[seat]]
        cut = played.log.cause in ("cap", "steps", "cut")
        last = [False] * (len(mine) - 1)
        return self._buffer(
            id=number,
            seed=played.log.seed,
            observations={
                "observation": np.stack(rows),
                "action_mask": np.stack([*masks, terminal_mask(self._rules)]),
            },
            actions=np.array([decision.action for decision in mine], dtype=np.int64),
            rewards=[decision.reward for decision in mine],
            terminations=[*last, not cut],
            truncations=[*last, cut],
            infos={},
        )

    def close(self) -> None:
        from gymnasium import spaces

        from .adapter import masked_space

        for seat, episodes in enumerate(self._episodes):
            if episodes:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # Minari misses an email, and an EnvSpec
                    self._minari.create_dataset_from_buffers(
                        f"trainyard/{self._rules.game.name}/seat{seat}-v0",
                        episodes,
                        observation_space=masked_space(self._rules),
                        action_space=spaces.Discrete(self._rules.action_count),
                        algorithm_name=self._about["agents"],
                        author="trainyard",
                        description=f"seat {seat} of {self._rules.spec}",
                    )


# ---- Conversations


class Chat:
    COLUMNS = {
        "messages": "system: rules and how to answer; user: the position; assistant: the answer",
        "episode, seed, step, seat, agent": "which decision it was, and whose",
        "return": "earned by the seat in the whole episode",
    }

    def __init__(self, out: Path, ruleset: Ruleset, about: dict[str, str], *, text: bool) -> None:
        if not text:
            raise Error("--without-text: conversations are made of text")
        self._rules = ruleset
        self._system = {"role": "system", "content": llm.rules(ruleset)}
        self._file = (out / "decisions.jsonl").open("w")

    def add(self, batch: list[Played]) -> None:
        for played in batch:
            for decision in played.decisions:
                answer = f"<answer>{self._rules.action_name(decision.action)}</answer>"
                line = {
                    "messages": [
                        self._system,
                        {"role": "user", "content": decision.text},
                        {"role": "assistant", "content": answer},
                    ],
                    "episode": played.number,
                    "seed": played.log.seed,
                    "step": decision.step,
                    "seat": decision.seat,
                    "agent": played.log.seats[decision.seat],
                    "return": played.log.returns[decision.seat],
                }
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._file.close()


FORMS: dict[str, Any] = {"parquet": Parquet, "minari": Minari, "sft": Chat}


# ---- All of them


def _needs(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise Error(f"{missing.name} is missing: pip install 'trainyard-env[export]'") from None


def _batches(
    player: Player, episodes: Iterator[Episode], most: int | None
) -> Iterator[list[Played]]:
    batch: list[Played] = []
    for number, episode in enumerate(episodes):
        if number == most:
            break
        if episode.spec != player.rules.spec:
            raise Error(
                f"episode {number} is of {episode.spec}, those before of {player.rules.spec}: a "
                "data set has one ruleset"
            )
        if not episode.complete:
            raise Error(f"episode {number}: the log does not hold all of its decisions")
        batch.append(player.play(number, episode))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def export(
    log: str | Path,
    to: str,
    out: str | Path,
    *,
    episodes: int | None = None,
    text: bool = True,
) -> dict[str, Any]:
    """Writes the episodes of a log as a data set, and its card; returns what the card says.

    >>> trainyard.export.export("logs", "parquet", "data", text=False)
    """
    if to not in FORMS:
        raise Error(f"--to {to}: allowed is {', '.join(FORMS)}")
    first = next(read(log), None)
    if first is None:
        raise Error(f"{log}: no episode in it")
    rules = first.ruleset()
    if first.rules_version != rules.game.rules_version:
        raise Error(
            f"{log}: played by rules version {first.rules_version}, these are "
            f"{rules.game.rules_version}"
        )
    place = Path(out)
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise Error(f"{out}: this directory is not empty")
    command = f"trainyard export {log} --to {to} -o {out}"
    command += f" --episodes {episodes}" if episodes is not None else ""
    command += "" if text else " --without-text"
    about = {
        "ruleset": rules.spec,
        "rules_version": str(rules.game.rules_version),
        "schema_hash": f"{rules.schema_hash:016x}",
        "agents": ", ".join(first.seats),
        "command": command,
    }
    writer: Writer = FORMS[to](place, rules, about, text=text)
    tally = _Tally(rules)
    for batch in _batches(Player(rules, text=text and to != "minari"), read(log), episodes):
        writer.add(batch)
        tally.add(batch)
    writer.close()
    card = about | tally.told()
    (place / "README.md").write_text(_card(rules, to, card))
    return card


class _Tally:
    """What a card says of the episodes."""

    def __init__(self, rules: Ruleset) -> None:
        self.episodes = self.decisions = 0
        self.seeds = [1 << 64, 0]
        self.lineups: Counter[str] = Counter()
        self.returns = np.zeros(rules.players)

    def add(self, batch: list[Played]) -> None:
        for played in batch:
            seed = played.log.seed
            self.episodes += 1
            self.decisions += len(played.decisions)
            self.seeds = [min(self.seeds[0], seed), max(self.seeds[1], seed)]
            self.lineups[", ".join(played.log.seats)] += 1
            self.returns += played.log.returns

    def told(self) -> dict[str, Any]:
        lineups = "; ".join(f"{names} ({count})" for names, count in self.lineups.items())
        return {
            "episodes": self.episodes,
            "decisions": self.decisions,
            "seeds": f"{self.seeds[0]} to {self.seeds[1]}",
            "lineups": lineups,
            "mean return": [round(float(r) / self.episodes, 4) for r in self.returns],
        }


def _card(rules: Ruleset, to: str, about: dict[str, Any]) -> str:
    columns = {key: help.format(row_size=rules.row_size) for key, help in FORMS[to].COLUMNS.items()}
    lines = ["---", "license: mit", "task_categories: [reinforcement-learning]", "---"]
    lines += [f"# {rules.game.title}: decisions", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in about.items()]
    lines += ["", "| column | |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in columns.items()]
    lines += [
        "",
        "Every episode was played again from its seed and actions, and compared with the log.",
    ]
    lines += [rules.note] if rules.note else []
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="trainyard export", description="Writes the episodes of a log as a data set."
    )
    parser.add_argument("log", help="a file or directory, as `trainyard sim --log` writes it")
    parser.add_argument("--to", required=True, choices=FORMS, help="the form of the data")
    parser.add_argument("-o", "--out", required=True, help="a directory that is empty or new")
    parser.add_argument("--episodes", type=int, help="at most so many")
    parser.add_argument("--without-text", action="store_true", help="parquet: no prompts")
    given = parser.parse_args(arguments)
    text = not given.without_text
    card = export(given.log, given.to, given.out, episodes=given.episodes, text=text)
    print(f"{card['episodes']} episodes, {card['decisions']} decisions: {given.out}")
