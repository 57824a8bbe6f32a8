"""Decisions in a second: a network in the library beside the same one in PyTorch, by turns."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from ..net import Net, unpack
from ..pool import make
from .config import Config
from .trainer import Trainer

#: Rows that PyTorch thinks about at once.
BATCH = 1024


def module(data: bytes) -> nn.Sequential:
    """The network in the bytes as PyTorch has it, on expanded rows, without values."""
    layers = unpack(data)
    parts: list[nn.Module] = []
    for weight, bias in (*layers.hidden, layers.policy):
        layer = nn.Linear(*weight.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight.T.copy()))
            layer.bias.copy_(torch.from_numpy(bias.copy()))
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def measure(net: Net, data: bytes, seconds: float) -> dict[str, float]:
    """Lets both choose in positions of the network's own games, in turns of 50 ms and more, and
    prints how many decisions a second of one processor's time each has taken: the median turn."""
    rules = net.ruleset
    rows, masks = [], []
    rng = np.random.default_rng(0)
    with make(rules.spec, num_envs=BATCH, backend="inproc", seed=1) as pool:
        for _ in range(64):
            rows.append(pool.obs.copy())
            masks.append(pool.mask.copy())
            chosen = net.choose(pool.obs, pool.mask, temperature=1.0, rng=rng).action
            pool.step(chosen.astype(np.int32))
    model = module(data)

    def ours(at: int) -> None:
        net.choose(rows[at], masks[at])

    @torch.inference_mode()
    def theirs(at: int) -> None:
        logits = model(torch.from_numpy(rules.expand(rows[at])))
        logits.masked_fill_(~torch.from_numpy(masks[at]), -torch.inf).argmax(dim=1)

    turns: dict[str, list[float]] = {"library": [], "PyTorch": []}
    players: dict[str, Callable[[int], None]] = {"library": ours, "PyTorch": theirs}
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        for name, player in players.items():
            turns[name].append(_turn(player, len(rows)))
    found = {name: float(np.median(rates)) for name, rates in turns.items()}
    print(f"{rules.spec}, one thread, PyTorch in batches of {BATCH}")
    for name, rate in found.items():
        print(f"  {name:8} {rate:12,.0f} decisions/s of processor time")
    return found


def measure_training(config: Config, seconds: float) -> dict[str, float]:
    """Trains a fresh network for a while, and prints how many decisions it learned from in a second
    of time, and of all processors' time."""
    trainer = Trainer(config)
    trainer.round()
    steps, spent, began = trainer.steps, time.process_time(), time.monotonic()
    while time.monotonic() - began < seconds:
        trainer.round()
    steps = trainer.steps - steps
    found = {
        "training": steps / (time.monotonic() - began),
        "processor": steps / (time.process_time() - spent),
    }
    trainer.close()
    print(f"training, {config.epochs} epochs, hidden layers {config.hidden}")
    print(f"  {found['training']:12,.0f} decisions/s")
    print(
        f"  {found['processor']:12,.0f} decisions/s of processor time, play and learning together"
    )
    return found


def _turn(player: Callable[[int], None], batches: int) -> float:
    count = 0
    began = time.process_time()
    while (taken := time.process_time() - began) < 0.05:
        player(count % batches)
        count += 1
    return count * BATCH / taken
