"""Masked PPO, and imitation of a teacher: what is learned from decisions that were played."""

from __future__ import annotations

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


class Learner:
    """A network, its optimiser, and how far they are."""

    def __init__(self, config: Config) -> None:
        self.config = config
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
        chosen, entropy, value = self.network.judge(
            batch.rows[at], batch.mask[at], batch.action[at]
        )
        error = (value - batch.target[at]).square().mean()
        indecision = entropy.mean()
        if imitate:
            worth, bonus = chosen.mean(), 0.0
            note: dict[str, float] = {}
        else:
            worth, note = self._worth(chosen, batch.before[at], batch.gain[at])
            bonus = self.config.entropy * calm
        loss = 0.5 * error - worth - bonus * indecision
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
        self.optimiser.step()
        return {
            "policy_loss": -worth.item(),
            "value_loss": error.item(),
            "entropy": indecision.item(),
            "kl": note.get("kl", 0.0),
            "clipped": note.get("clipped", 0.0),
        }

    def _worth(
        self, chosen: torch.Tensor, before: torch.Tensor, gain: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """PPO's clipped objective."""
        change = chosen - before
        ratio = change.exp()
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        with torch.no_grad():
            note = {
                # Schulman's estimate of the divergence from the policy that played.
                "kl": (ratio - 1 - change).mean().item(),
                "clipped": (ratio != clipped).float().mean().item(),
            }
        return torch.min(ratio * gain, clipped * gain).mean(), note


def _start(network: Network, path: Path) -> None:
    """Gives it the weights of a file."""
    try:
        data = path.read_bytes()
        Net(network.ruleset, data)  # checks them
        network.take(unpack(data))
    except (OSError, Error) as error:
        raise Error(f"start={path}: {error}") from None
