"""An agent learns something on the smallest board.

With rewards of another slot, or none, it does not learn this, and a wrong mask raises. A wrong
observation is NOT found out: loading whenever it is legal needs no look at the board.
"""

from __future__ import annotations

import numpy as np
import trainyard

SETTINGS = {"board": "tiny", "reward": "shaped"}


class Adam:
    def __init__(self, weights: np.ndarray, rate: float) -> None:
        self.weights, self.rate = weights, rate
        self.first, self.second, self.count = np.zeros_like(weights), np.zeros_like(weights), 0

    def step(self, gradient: np.ndarray) -> None:
        self.count += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.01 * (gradient**2 - self.second)
        first = self.first / (1 - 0.9**self.count)
        second = self.second / (1 - 0.99**self.count)
        self.weights -= self.rate * first / (np.sqrt(second) + 1e-6)


class Learner:
    """A linear actor and critic on expanded rows, trained by advantages over short rollouts."""

    def __init__(
        self,
        slots: int = 64,
        steps: int = 16,
        rate: float = 0.005,
        entropy: float = 0.02,
        seed: int = 0,
    ) -> None:
        self.pool = trainyard.make("convoi", num_envs=slots, autoreset="same_step", **SETTINGS)
        rules = self.pool.ruleset
        self.actor = Adam(np.zeros((rules.expanded_size, rules.action_count), np.float32), rate)
        self.critic = Adam(np.zeros(rules.expanded_size, np.float32), rate)
        self.steps = steps
        self.entropy = entropy
        self.rng = np.random.default_rng(seed)

    def policy(self, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        logits = np.where(mask, x @ self.actor.weights, -np.inf)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def rollout(self) -> tuple[np.ndarray, ...]:
        pool, xs, ps, actions, rewards, ended = self.pool, [], [], [], [], []
        for _ in range(self.steps):
            x = pool.ruleset.expand(pool.obs)
            p = self.policy(x, pool.mask)
            noise = self.rng.random((len(x), 1))
            action = np.minimum((p.cumsum(axis=1) < noise).sum(axis=1), p.shape[1] - 1)
            action = np.where(pool.mask[np.arange(len(x)), action], action, p.argmax(axis=1))
            pool.step(action)
            xs.append(x)
            ps.append(p)
            actions.append(action)
            rewards.append(pool.earned[:, 0].copy())
            ended.append(pool.terminated | pool.truncated)
        last = pool.ruleset.expand(pool.obs) @ self.critic.weights
        return (*map(np.array, (xs, ps, actions, rewards, ended)), last)

    def learn(self) -> None:
        xs, ps, actions, rewards, ended, value_after = self.rollout()
        values = xs @ self.critic.weights
        advantages = np.zeros_like(values)
        running = np.zeros(values.shape[1], np.float32)
        for t in reversed(range(self.steps)):
            alive = ~ended[t]
            delta = rewards[t] + 0.99 * value_after * alive - values[t]
            running = delta + 0.99 * 0.95 * running * alive
            advantages[t], value_after = running, values[t]
        x, p = xs.reshape(-1, xs.shape[-1]), ps.reshape(-1, ps.shape[-1])
        gain = advantages.ravel()
        self.critic.step(-x.T @ gain / len(x))
        gain = (gain - gain.mean()) / (gain.std() + 1e-6)
        slope = p * gain[:, None]
        slope[np.arange(len(x)), actions.ravel()] -= gain
        surprise = -np.log(np.maximum(p, 1e-9))
        spread = (p * surprise).sum(axis=1, keepdims=True)
        slope -= self.entropy * p * (surprise - spread)
        self.actor.step(x.T @ slope.astype(np.float32) / len(x))


class Player:
    """The learner's policy as an agent of the arena."""

    learner: Learner

    def start(self, ruleset: trainyard.Ruleset, seat: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def act(self, view: trainyard.View) -> int:
        x = view.ruleset.expand(view.row[None])
        p = self.learner.policy(x, view.mask[None])[0].astype(np.float64)
        return int(self.rng.choice(len(p), p=p / p.sum()))


def loads(learner: Learner) -> float:
    """Trains loaded per game on seeds that training does not use."""
    player = type("Player", (Player,), {"learner": learner})
    results = trainyard.play("convoi", [player] * 2, episodes=100, seed=1 << 40, **SETTINGS)
    column = learner.pool.ruleset.metrics.index("loads")
    return float(results.metrics[:, column].mean())


def test_a_linear_policy_learns_to_load_trains():
    learner = Learner()
    before = loads(learner)
    for _ in range(300):
        learner.learn()
    # Uniformly random play loads 0.31 trains per game; six runs of this ended at 1.3 to 3.5.
    assert before < 0.5
    assert loads(learner) > 3 * before
