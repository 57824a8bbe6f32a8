"""Masked PPO, and imitation of a teacher: what is learned from decisions that were played."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ..errors import Error
from ..net import Net, unpack
from .collect import Decisions
from .config import Config
from .network import Network


@dataclass(frozen=True)
class _Batch:
    """Decisions whose advantages are known, in a row."""

    rows: torch.Tensor
    mask: torch.Tensor
    action: torch.Tensor
    before: torch.Tensor  # logp by the network that played
    gain: torch.Tensor
    target: torch.Tensor  # of the value


@dataclass(frozen=True)
class _Part:
    """What a part of a batch says: its share of the loss' slopes, and of the means to note."""

    slopes: Sequence[torch.Tensor]
    notes: dict[str, float]


class Learner:
    """A network, its optimiser, and how far they are. The parts of a batch are judged by `workers`,
    or one after the other."""

    def __init__(self, config: Config, workers: Executor | None = None) -> None:
        self.config = config
        self._map = workers.map if workers is not None else map
        self.network = Network(config.ruleset, config.hidden)
        if config.start:
            _start(self.network, Path(config.start))
        #: The network to play with afterwards.
        self.mean = self.network
        if config.average > 1:
            self.mean = Network(config.ruleset, config.hidden)
            self.mean.load_state_dict(self.network.state_dict())
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), config.rate, eps=1e-5, fused=True
        )
        self.rng = np.random.default_rng(config.seed)

    def learn(self, decisions: Decisions, steps: int, *, imitate: bool) -> dict[str, float]:
        """Learns from decisions, after `steps` earlier ones; returns what it was like. To imitate
        is to make the teacher's advice more probable, whatever was played."""
        config = self.config
        planned = config.demonstrated if imitate else config.planned
        calm = max(config.end, 1 - (1 - config.end) * steps / planned)
        rate = config.demonstration_rate if imitate else config.rate
        for group in self.optimiser.param_groups:
            group["lr"] = rate * calm
        gain, valid = decisions.advantages(config.discount, config.trace, config.scale)
        batch, explained = self._batch(decisions, gain, valid, imitate)
        notes: list[dict[str, float]] = []
        size = config.demonstration_batch if imitate else config.batch
        for _ in range(config.demonstration_epochs if imitate else config.epochs):
            order = self.rng.permutation(len(batch.rows))
            for at in np.split(order, range(size, len(order), size)):
                notes.append(self._step(batch, torch.from_numpy(at), calm, imitate))
        self._average()
        means = {key: float(np.mean([note[key] for note in notes])) for key in notes[0]}
        earned = decisions.earned[:, :, 0] if decisions.team else decisions.earned
        return {"reward": float(earned.mean()), "explained": explained, **means}

    def _average(self) -> None:
        if self.mean is not self.network:
            with torch.no_grad():
                for mean, last in zip(
                    self.mean.parameters(), self.network.parameters(), strict=True
                ):
                    mean.lerp_(last, 1 / self.config.average)

    def _batch(
        self,
        decisions: Decisions,
        gain: npt.NDArray[np.float32],
        valid: npt.NDArray[np.bool_],
        imitate: bool,
    ) -> tuple[_Batch, float]:
        guess = decisions.value[:-1][valid]
        known = gain[valid]
        target = known + guess
        explained = 1 - float(known.var()) / (float(target.var()) + 1e-9)
        known = (known - known.mean()) / (known.std() + 1e-6)
        action = decisions.advice if imitate else decisions.action
        columns = (
            decisions.rows[valid],
            decisions.mask[valid],
            action[valid],
            decisions.logp[valid],
            known,
            target,
        )
        return _Batch(*(torch.from_numpy(column) for column in columns)), explained

    def _step(
        self, batch: _Batch, at: torch.Tensor, calm: float, imitate: bool
    ) -> dict[str, float]:
        def judge(part: torch.Tensor) -> _Part:
            return self._judge(batch, part, len(at), calm, imitate)

        parts = list(self._map(judge, at.tensor_split(self.config.parts)))
        for parameter, *slopes in zip(
            self.network.parameters(), *(part.slopes for part in parts), strict=True
        ):
            parameter.grad = slopes[0]
            for slope in slopes[1:]:
                parameter.grad += slope
        nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
        self.optimiser.step()
        return {key: sum(part.notes[key] for part in parts) for key in parts[0].notes}

    def _judge(
        self, batch: _Batch, at: torch.Tensor, size: int, calm: float, imitate: bool
    ) -> _Part:
        """Decisions `at` of a batch that has `size` of them."""
        chosen, entropy, value = self.network.judge(
            batch.rows[at], batch.mask[at], batch.action[at]
        )
        error = (value - batch.target[at]).square().sum() / size
        indecision = entropy.sum() / size
        if imitate:
            worth, bonus = chosen.sum() / size, 0.0
            note = {"kl": 0.0, "clipped": 0.0}
        else:
            worth, note = self._worth(chosen, batch.before[at], batch.gain[at], size)
            bonus = self.config.entropy * calm
        loss = 0.5 * error - worth - bonus * indecision
        slopes = torch.autograd.grad(loss, list(self.network.parameters()))
        means = {"policy_loss": -worth, "value_loss": error, "entropy": indecision}
        return _Part(slopes, {**{key: mean.item() for key, mean in means.items()}, **note})

    def _worth(
        self, chosen: torch.Tensor, before: torch.Tensor, gain: torch.Tensor, size: int
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """PPO's clipped objective."""
        change = chosen - before
        ratio = change.exp()
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        with torch.no_grad():
            note = {
                # Schulman's estimate of the divergence from the policy that played.
                "kl": (ratio - 1 - change).sum().item() / size,
                "clipped": (ratio != clipped).float().sum().item() / size,
            }
        return torch.min(ratio * gain, clipped * gain).sum() / size, note


def _start(network: Network, path: Path) -> None:
    """Gives it the weights of a file."""
    try:
        data = path.read_bytes()
        Net(network.ruleset, data)  # checks them
        network.take(unpack(data))
    except (OSError, Error) as error:
        raise Error(f"start={path}: {error}") from None
