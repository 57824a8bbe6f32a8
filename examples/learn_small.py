"""The smallest learner that works: a masked actor-critic in NumPy, no PyTorch.

    pip install . matplotlib
    python examples/learn_small.py                # two minutes on the tiny board of Convoi Express

A network with one hidden layer plays every seat. It learns from the reward that the library shapes
(`reward=shaped`) and sees what lies ahead of each train (`hints=true`); both are settings of the
game for learners. Goods are counted on seeds that it never learns from.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

# Small matrices, and a daemon beside it: more threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import trainyard

HELD_OUT = 1 << 40
SETTINGS = {"board": "tiny", "hints": True, "reward": "shaped"}


class Learner:
    def __init__(
        self, slots: int = 128, steps: int = 16, hidden: int = 64, seed: int = 0, **options: Any
    ) -> None:
        self.options = options
        self.pool = trainyard.make(
            "convoi",
            num_envs=slots,
            seed=seed * slots,
            autoreset="same_step",
            **SETTINGS,
            **options,
        )
        self.steps, self.rng, self.updates = steps, np.random.default_rng(seed), 0
        rules = self.pool.ruleset
        # Two layers; the last output is the value of the position, the others are logits.
        shapes = ((rules.expanded_size + 1, hidden), (hidden + 1, rules.action_count + 1))
        self.weights = [
            (self.rng.standard_normal(s) * scale / np.sqrt(s[0])).astype(np.float32)
            for s, scale in zip(shapes, (3.0, 0.1), strict=True)
        ]
        self.first = [np.zeros_like(w) for w in self.weights]
        self.second = [np.zeros_like(w) for w in self.weights]

    # ---- The network

    def look(self, pool: trainyard.Pool) -> tuple[np.ndarray, np.ndarray]:
        """Inputs of the network, with a constant one behind them, and what is legal."""
        x = np.ones((len(pool.obs), pool.ruleset.expanded_size + 1), np.float32)
        x[:, :-1] = pool.ruleset.expand(pool.obs)
        return x, pool.mask.copy()

    def paid(self, pool: trainyard.Pool) -> np.ndarray:
        """What the team earned by the last step."""
        return pool.earned[:, 0].copy()

    def think(self, x: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hidden layer, probabilities of the actions, values."""
        h = np.ones((len(x), len(self.weights[1])), np.float32)
        h[:, :-1] = np.maximum(0, x @ self.weights[0])
        out = h @ self.weights[1]
        logits = np.where(mask, out[:, :-1], -np.inf)
        # Where an episode is over nothing is legal, and nothing is asked.
        top = np.where(mask.any(axis=1), logits.max(axis=1), 0)
        p = np.exp(logits - top[:, None])
        return h, p / np.maximum(1e-9, p.sum(axis=1, keepdims=True)), out[:, -1]

    def choose(self, p: np.ndarray) -> np.ndarray:
        """One action per row, drawn by its probability: the one whose clock rings first."""
        clock = self.rng.standard_exponential(p.shape, np.float32) + 1e-9
        return (p / clock).argmax(axis=1)

    # ---- Learning

    def learn(self, discount: float = 0.97, trace: float = 0.9) -> None:
        """Plays `steps` decisions in every slot and learns from them once."""
        pool, story = self.pool, []
        for _ in range(self.steps):
            x, mask = self.look(pool)
            h, p, value = self.think(x, mask)
            action = self.choose(p)
            pool.step(action)
            story.append((x, h, p, value, action, self.paid(pool), ~pool.terminated))
        x, h, p, value, action, reward, alive = map(np.array, zip(*story, strict=True))
        after = self.think(*self.look(pool))[2]
        gain, running = np.zeros_like(value), np.zeros_like(after)
        for t in reversed(range(self.steps)):
            surprise = reward[t] + discount * alive[t] * after - value[t]
            running = surprise + discount * trace * alive[t] * running
            gain[t], after = running, value[t]
        self.improve(*(a.reshape(-1, *a.shape[2:]) for a in (x, h, p, action, gain)))

    def improve(
        self, x: np.ndarray, h: np.ndarray, p: np.ndarray, action: np.ndarray, gain: np.ndarray
    ) -> None:
        """One step along the gradient: actions with gains become likelier, values truer, and
        a little is paid for indecision."""
        scaled = (gain - gain.mean()) / (gain.std() + 1e-6)
        out = np.empty((len(x), p.shape[1] + 1), np.float32)
        out[:, :-1] = p * scaled[:, None]
        out[np.arange(len(x)), action] -= scaled
        logp = np.log(np.maximum(p, 1e-9))
        out[:, :-1] += 0.01 * p * (logp - (p * logp).sum(axis=1, keepdims=True))
        out[:, -1] = -0.5 * gain
        inner = (out @ self.weights[1].T) * (h > 0)
        self.adam([x.T @ inner[:, :-1] / len(x), h.T @ out / len(x)])

    def adam(self, gradients: list[np.ndarray], rate: float = 5e-3) -> None:
        self.updates += 1
        for w, g, first, second in zip(
            self.weights, gradients, self.first, self.second, strict=True
        ):
            first += 0.1 * (g - first)
            second += 0.01 * (g * g - second)
            mean = first / (1 - 0.9**self.updates)
            w -= rate * mean / (np.sqrt(second / (1 - 0.99**self.updates)) + 1e-6)

    # ---- Held-out games

    def goods(self, games: int = 200, *, random: bool = False) -> float:
        """Goods delivered per game on held-out seeds."""
        with trainyard.make(
            "convoi",
            num_envs=games,
            seed=HELD_OUT,
            autoreset="disabled",
            **SETTINGS,
            **self.options,
        ) as pool:
            while not pool.terminated.all():
                x, mask = self.look(pool)
                p = self.think(x, mask)[1]
                pool.step(pool.sample() if random else self.choose(p))
            return float(pool.metrics[:, pool.ruleset.metrics.index("goods")].mean())


def main(arguments: list[str] | None = None) -> list[tuple[float, float]]:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="shm", choices=("shm", "inproc", "zmq"))
    parser.add_argument("--plot", type=Path, default=Path("learn_small.png"))
    given = parser.parse_args(arguments)
    pyplot = plotting()
    learner = Learner(seed=given.seed, backend=given.backend)
    chance = learner.goods(random=True)
    print(f"goods delivered per game, of 4, on held-out seeds; random play: {chance:.3f}")
    start, curve = time.monotonic(), []
    while not curve or curve[-1][0] < given.minutes:
        minutes = (time.monotonic() - start) / 60
        if minutes >= len(curve) * given.minutes / 16:
            curve.append((minutes, learner.goods()))
            steps = learner.updates * learner.steps * len(learner.pool)
            bar = "#" * round(15 * curve[-1][1])
            print(f"{minutes:5.2f} min {steps:10,} steps {curve[-1][1]:6.3f} {bar}", flush=True)
        learner.learn()
    draw(pyplot, curve, chance, given.plot)
    print(f"learned {curve[-1][1]:.2f}, random {chance:.2f}; the curve is in {given.plot}")
    return curve


def plotting() -> Any:
    """Matplotlib, before two minutes are spent on a curve that cannot be drawn."""
    try:
        import matplotlib
    except ImportError as error:
        raise SystemExit(f"the curve needs matplotlib: pip install matplotlib ({error})") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def draw(pyplot: Any, curve: list[tuple[float, float]], chance: float, path: Path) -> None:
    figure, axes = pyplot.subplots(figsize=(6, 3.5), dpi=110)
    axes.plot(*zip(*curve, strict=True), marker=".", label="learner")
    axes.axhline(chance, linestyle="--", color="gray", label="random")
    axes.set(xlabel="minutes", ylabel="goods per game (of 4)", ylim=(0, 4))
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
