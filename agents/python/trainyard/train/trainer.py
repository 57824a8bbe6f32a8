"""A run: rounds in which the library plays and PyTorch learns from what was played."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import Error
from ..net import Net, pack
from .collect import Collector, Decisions, Outcome, Rival
from .config import Config
from .evaluate import FIRST_SEED
from .learner import Learner


class Trainer:
    """Rounds of play and learning, one after the other: decisions that weights of a round before
    have taken teach far less. Each is done in `parts`, on as many threads as there are processors;
    what comes of it depends on the parts and not on the threads."""

    def __init__(self, config: Config, *, threads: int | None = None) -> None:
        config.check()
        self.config = config
        torch.set_num_threads(1)  # the parts have threads of their own
        torch.manual_seed(config.seed)
        self._workers = ThreadPoolExecutor(min(threads or processors(), config.parts))
        self.learner = Learner(config, self._workers)
        self.ruleset = config.ruleset
        self.steps = 0
        self.rounds = 0
        self.seconds = 0.0
        self.past: list[bytes] = []
        #: What the last round was like.
        self.figures: dict[str, float] = {}
        self._decisions = Decisions(self.ruleset, config.horizon, config.slots)
        self._stage = config.ruleset_at(0)
        self._collectors = self._open()

    # ---- Play

    @property
    def imitating(self) -> bool:
        return self._imitates(self.steps)

    def _imitates(self, steps: int) -> bool:
        return bool(self.config.demonstrations) and steps < self.config.demonstrated

    def _weights(self) -> bytes:
        return pack(self.ruleset, self.learner.network.layers()).tobytes()

    def _open(self) -> dict[int, Collector]:
        """The collectors of the present stage by their first slots: with a teacher as long as it is
        imitated."""
        teacher = self.config.demonstrations if self.imitating else None
        seed = FIRST_SEED * (self.config.seed + 1)
        collectors = {}
        for part in np.array_split(np.arange(self.config.slots), self.config.parts):
            first = int(part[0])
            collectors[first] = Collector(
                self._stage, slots=len(part), seed=seed + first, teacher=teacher
            )
        self._set_rivals(collectors.values())
        return collectors

    def _set_rivals(self, collectors: Iterable[Collector]) -> None:
        config = self.config
        rivals = [Rival(name, weight * 16) for name, weight in config.rivals.items()]
        nets = [Net(self._stage, data) for data in self.past]
        share = config.past_weight * 16 // max(1, len(nets))
        rivals += [Rival(net, share) for net in nets]
        for collector in collectors:
            collector.set_rivals(rivals, config.alone * 16)

    def _play(self) -> list[Outcome]:
        """Fills the decisions; how the episodes went that ended."""
        imitated = self.steps / self.config.demonstrated
        follow = max(0.0, 1 - imitated) if self.imitating else 0.0
        net = Net(self._stage, self._weights())

        def play(part: tuple[int, Collector]) -> list[Outcome]:
            first, collector = part
            collector.run(net, self._decisions, first=first, follow=follow)
            return collector.outcomes()

        found = self._workers.map(play, self._collectors.items())
        return [Outcome.of(outcomes) for outcomes in zip(*found, strict=True)]

    def _change(self) -> None:
        """Other rivals or another stage, when their time has come."""
        config = self.config
        stage = config.ruleset_at(self.steps)
        taught = self._imitates(self.steps - config.slots * config.horizon)
        if stage.spec != self._stage.spec or taught != self.imitating:
            self._stage = stage
            self._collectors = self._open()
        if config.past and self.rounds % config.past_every == 0 and not self.imitating:
            self.past = [*self.past, self._weights()][-config.past :]
            self._set_rivals(self._collectors.values())

    # ---- One round

    def round(self) -> None:
        began = time.monotonic()
        outcomes = self._play()
        imitate = self.imitating
        self.figures = self.learner.learn(self._decisions, self.steps, imitate=imitate)
        if imitate:
            agreed = self._decisions.action == self._decisions.advice
            self.figures["agreed"] = float(agreed.mean())
        alone = outcomes[0]
        self.figures.update(episodes=sum(o.episodes for o in outcomes), earned=alone.earned)
        self.figures["won"] = alone.won
        others = Outcome.of(outcomes[1:])
        if others.episodes:
            self.figures["won_rivals"] = others.won
        self.steps += self.config.slots * self.config.horizon
        self.rounds += 1
        self._change()
        self.seconds += time.monotonic() - began

    def close(self) -> None:
        self._workers.shutdown()

    # ---- Checkpoints

    def save_net(self, path: Path) -> None:
        """The network, for the library."""
        rewards = self.config.scale == 1
        _replace(path, pack(self.ruleset, self.learner.mean.layers(), rewards=rewards).tobytes())

    def save(self, path: Path) -> None:
        """Everything, for a run that goes on."""
        state = {
            "config": asdict(self.config),
            "network": self.learner.network.state_dict(),
            "mean": self.learner.mean.state_dict(),
            "optimiser": self.learner.optimiser.state_dict(),
            "rng": json.dumps(self.learner.rng.bit_generator.state),
            "played": [_tensor(collector.save()) for collector in self._collectors.values()],
            "past": [_tensor(data) for data in self.past],
            "steps": self.steps,
            "rounds": self.rounds,
            "seconds": self.seconds,
        }
        # If we are stopped while writing, the previous checkpoint is still there.
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    @classmethod
    def load(cls, path: Path, *, threads: int | None = None) -> Trainer:
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
            raise Error(f"{path} cannot be read: {error}") from None
        if "played" not in state:
            raise Error(f"{path}: a run of an earlier trainer; its policy.net can be a --start")
        # What it started from is in the checkpoint, and the file may be gone.
        trainer = cls(replace(Config(**state["config"]), start=""), threads=threads)
        trainer.learner.network.load_state_dict(state["network"])
        trainer.learner.mean.load_state_dict(state["mean"])
        trainer.learner.optimiser.load_state_dict(state["optimiser"])
        trainer.learner.rng.bit_generator.state = json.loads(state["rng"])
        trainer.past = [_bytes(data) for data in state["past"]]
        trainer.steps, trainer.rounds = state["steps"], state["rounds"]
        trainer.seconds = state["seconds"]
        trainer._stage = trainer.config.ruleset_at(trainer.steps)
        trainer._collectors = trainer._open()
        for collector, data in zip(trainer._collectors.values(), state["played"], strict=True):
            collector.restore(_bytes(data))
        return trainer


def processors() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0))


def _tensor(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def _bytes(tensor: torch.Tensor) -> bytes:
    array: np.ndarray[Any, Any] = tensor.numpy()
    return array.tobytes()


def _replace(path: Path, data: bytes) -> None:
    path.with_suffix(".new").write_bytes(data)
    path.with_suffix(".new").replace(path)
