"""A run: while PyTorch learns from what was played, the library plays with the weights before."""

from __future__ import annotations

import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..net import Net, pack
from .collect import Collector, Decisions, Outcome, Rival
from .config import Config
from .evaluate import FIRST_SEED
from .learner import Learner


class Trainer:
    """Rounds of play and learning. What is learned from was played with the weights of one round
    before, so that both have a processor of their own; that does not depend on the clock."""

    def __init__(self, config: Config) -> None:
        config.check()
        self.config = config
        torch.manual_seed(config.seed)
        self.learner = Learner(config)
        self.ruleset = config.ruleset
        self.steps = 0
        self.rounds = 0
        self.seconds = 0.0
        self.past: list[bytes] = []
        #: What the last round was like.
        self.figures: dict[str, float] = {}
        size = (config.horizon, config.slots)
        self._buffers = [Decisions(self.ruleset, *size) for _ in range(2)]
        self._worker = ThreadPoolExecutor(1)
        self._stage = config.ruleset_at(0)
        self._acting = b""
        self._before = b""
        self._collector = self._open()
        self._played: Future[list[Outcome]] = self._begin(0, self._weights())

    # ---- Play

    @property
    def imitating(self) -> bool:
        return self._imitates(self.steps)

    def _imitates(self, steps: int) -> bool:
        return bool(self.config.demonstrations) and steps < self.config.demonstrated

    def _weights(self) -> bytes:
        return pack(self.ruleset, self.learner.network.layers()).tobytes()

    def _open(self) -> Collector:
        """The collector of the present stage: with a teacher as long as it is imitated."""
        teacher = self.config.demonstrations if self.imitating else None
        collector = Collector(
            self._stage, slots=self.config.slots, seed=self._first_seed(), teacher=teacher
        )
        self._set_rivals(collector)
        return collector

    def _first_seed(self) -> int:
        return FIRST_SEED * (self.config.seed + 1)

    def _set_rivals(self, collector: Collector) -> None:
        config = self.config
        rivals = [Rival(name, weight) for name, weight in config.rivals.items()]
        nets = [Net(self._stage, data) for data in self.past]
        share = config.past_weight * 16 // max(1, len(nets))
        rivals = [Rival(rival.player, rival.weight * 16) for rival in rivals]
        collector.set_rivals([*rivals, *(Rival(net, share) for net in nets)], config.alone * 16)

    def _begin(self, steps: int, weights: bytes) -> Future[list[Outcome]]:
        """Plays the round after `steps` decisions in the other thread."""
        self._acting = weights
        self._before = self._collector.save()
        collector = self._collector
        net = Net(self._stage, weights)
        buffer = self._buffers[self.rounds % 2]
        follow = max(0.0, 1 - steps / self.config.demonstrated) if self._imitates(steps) else 0.0

        def play() -> list[Outcome]:
            collector.run(net, buffer, follow=follow)
            return collector.outcomes()

        return self._worker.submit(play)

    def _change(self) -> None:
        """Other rivals or another stage, when their time has come; nothing is being played."""
        config = self.config
        stage = config.ruleset_at(self.steps)
        taught = self._imitates(self.steps - config.slots * config.horizon)
        if stage.spec != self._stage.spec or taught != self.imitating:
            self._stage = stage
            self._collector = self._open()
        if config.past and self.rounds % config.past_every == 0 and not self.imitating:
            self.past = [*self.past, self._weights()][-config.past :]
            self._set_rivals(self._collector)

    # ---- One round

    def round(self) -> None:
        began = time.monotonic()
        outcomes = self._played.result()
        decisions = self._buffers[self.rounds % 2]
        before = self.steps
        imitate = self._imitates(before)
        self.steps += self.config.slots * self.config.horizon
        self.rounds += 1
        self._change()
        self._played = self._begin(self.steps, self._weights())
        self.figures = self.learner.learn(decisions, before, imitate=imitate)
        if imitate:
            agreed = decisions.action == decisions.advice
            self.figures["agreed"] = float(agreed.mean())
        alone = outcomes[0]
        self.figures.update(episodes=sum(o.episodes for o in outcomes), earned=alone.earned)
        self.figures["won"] = alone.won
        others = [outcome for outcome in outcomes[1:] if outcome.episodes]
        if others:
            count = sum(outcome.episodes for outcome in others)
            self.figures["won_rivals"] = sum(o.won * o.episodes for o in others) / count
        self.seconds += time.monotonic() - began

    def close(self) -> None:
        self._worker.shutdown()

    # ---- Checkpoints

    def save_net(self, path: Path) -> None:
        """The network, for the library."""
        _replace(path, pack(self.ruleset, self.learner.mean.layers()).tobytes())

    def save(self, path: Path) -> None:
        """Everything, for a run that goes on."""
        state = {
            "config": asdict(self.config),
            "network": self.learner.network.state_dict(),
            "mean": self.learner.mean.state_dict(),
            "optimiser": self.learner.optimiser.state_dict(),
            "rng": json.dumps(self.learner.rng.bit_generator.state),
            "acting": _tensor(self._acting),
            "before": _tensor(self._before),
            "past": [_tensor(data) for data in self.past],
            "stage": self._stage.spec,
            "steps": self.steps,
            "rounds": self.rounds,
            "seconds": self.seconds,
        }
        # If we are stopped while writing, the previous checkpoint is still there.
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    @classmethod
    def load(cls, path: Path) -> Trainer:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        # What it started from is in the checkpoint, and the file may be gone.
        trainer = cls(replace(Config(**state["config"]), start=""))
        trainer._played.result()
        trainer.learner.network.load_state_dict(state["network"])
        trainer.learner.mean.load_state_dict(state["mean"])
        trainer.learner.optimiser.load_state_dict(state["optimiser"])
        trainer.learner.rng.bit_generator.state = json.loads(state["rng"])
        trainer.past = [_bytes(data) for data in state["past"]]
        trainer.steps, trainer.rounds = state["steps"], state["rounds"]
        trainer.seconds = state["seconds"]
        trainer._stage = trainer.config.ruleset_at(trainer.steps)
        trainer._collector = trainer._open()
        trainer._collector.restore(_bytes(state["before"]))
        trainer._played = trainer._begin(trainer.steps, _bytes(state["acting"]))
        return trainer


def _tensor(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def _bytes(tensor: torch.Tensor) -> bytes:
    array: np.ndarray[Any, Any] = tensor.numpy()
    return array.tobytes()


def _replace(path: Path, data: bytes) -> None:
    path.with_suffix(".new").write_bytes(data)
    path.with_suffix(".new").replace(path)
