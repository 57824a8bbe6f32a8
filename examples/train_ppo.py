"""Masked PPO in one file (PyTorch, CPU or GPU): one network learns to play every seat of a game.

    pip install '.[train]'
    python examples/train_ppo.py --minutes 20                    # Convoi Express, Europe, 2 players
    python examples/train_ppo.py --set board=tiny --minutes 2
    python examples/train_ppo.py --game nordic --minutes 20      # self-play on all seats
    python examples/train_ppo.py --resume runs/convoi --minutes 60

Writes into --out: policy.pt (the network, for evaluate.py), train.pt (everything, for --resume) and
curve.jsonl (one line per evaluation on held-out seeds).

Cooperative games are learned as one player who sits everywhere; in competitive ones each seat
learns from its own rewards, against itself. The pool is stepped in groups: while the network
thinks about one, the library plays the other.

The same arguments give the same weights after the same number of steps, on any backend, if PyTorch
runs on the same kind of processor with the same --threads. A run that is stopped and resumed ends
in the same weights as one that is not. With --minutes only the moment of the end is left to the
clock.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
import trainyard
from torch import nn
from tqdm import tqdm

#: What learners want to be told and paid, unless --set says otherwise.
SETTINGS: dict[str, dict[str, str]] = {
    "convoi": {"hints": "true", "reward": "shaped"},
    "nordic": {"reward": "score"},
    "express": {"reward": "score"},
    "chicago": {"reward": "score"},
}
#: Seeds from here on are kept from training, whose slots and episodes never reach them by counting.
HELD_OUT = 1 << 40
BAR = "{percentage:3.0f}% |{bar:20}| {remaining} left {postfix}"


@dataclass(frozen=True)
class Config:
    """What a run is; all of it is kept in its checkpoints."""

    game: str = "convoi"
    settings: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    envs: int = 512
    groups: int = 2
    horizon: int = 32
    epochs: int = 2
    batch: int = 2048
    rate: float = 1e-3
    decay: float = 4e6
    discount: float = 0.98
    trace: float = 0.9
    clip: float = 0.2
    entropy: float = 0.02
    scale: float = 0.5  # of rewards
    hidden: int = 128


# ---- The network


class Network(nn.Module):
    """Expanded rows to logits and a value: two hidden layers, no more than a CPU can feed."""

    def __init__(self, inputs: int, hidden: int, actions: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.logits = nn.Linear(hidden, actions)
        self.value = nn.Linear(hidden, 1)
        for layer in (self.first, self.second, self.logits, self.value):
            nn.init.orthogonal_(layer.weight, 0.01 if layer is self.logits else 2**0.5)
            nn.init.zeros_(layer.bias)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.logits(x), self.value(x)[:, 0]


class Policy:
    """A network with what it plays: rows and masks in, actions out."""

    def __init__(self, config: Config, device: str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        self.ruleset = trainyard.Ruleset(config.game, **config.settings)
        sizes = (self.ruleset.expanded_size, config.hidden, self.ruleset.action_count)
        self.network = Network(*sizes).to(self.device)

    def save(self, path: Path) -> None:
        weights = {key: value.cpu() for key, value in self.network.state_dict().items()}
        torch.save({"config": asdict(self.config), "weights": weights}, path)

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu") -> Policy:
        saved = torch.load(path, map_location=device, weights_only=True)
        policy = cls(Config(**saved["config"]), device)
        policy.network.load_state_dict(saved["weights"])
        return policy

    def think(self, rows: np.ndarray, mask: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the actions, -1e9 where the mask forbids, and values."""
        x = torch.from_numpy(self.ruleset.expand(rows)).to(self.device)
        logits, value = self.network(x)
        allowed = torch.tensor(mask, device=self.device)
        return torch.log_softmax(logits.masked_fill(~allowed, -1e9), dim=1), value


def sample(logp: torch.Tensor, rng: np.random.Generator) -> np.ndarray:
    """One action per row, drawn by its probability: the one whose clock rings first."""
    clock = rng.standard_exponential(logp.shape, np.float32) + 1e-9
    return (logp.exp().cpu().numpy() / clock).argmax(axis=1)


# ---- Held-out games


@dataclass
class Games:
    """Finished games: one row per seed."""

    metrics: np.ndarray  # [games, metrics]
    returns: np.ndarray  # [games, our seats]


@torch.inference_mode()
def play(
    policy: Policy,
    seeds: np.ndarray,
    *,
    seats: list[str | None] | None = None,
    backend: str = "shm",
    greedy: bool = True,
    slots: int = 512,
) -> Games:
    """Plays one game per seed; `seats` names built-in opponents, None where the network sits."""
    rng = None if greedy else np.random.default_rng(int(seeds[0]))
    parts: list[Games] = []
    for start in range(0, len(seeds), slots):
        part = seeds[start : start + slots]
        with trainyard.make(
            policy.config.game,
            num_envs=len(part),
            autoreset="disabled",
            seats=seats or [],
            backend=backend,
            **policy.config.settings,
        ) as pool:
            pool.reset(seeds=part)
            parts.append(_play_out(policy, pool, rng))
    return Games(
        np.concatenate([games.metrics for games in parts]),
        np.concatenate([games.returns for games in parts]),
    )


def _play_out(policy: Policy, pool: trainyard.Pool, rng: np.random.Generator | None) -> Games:
    returns = np.zeros(pool.earned.shape)
    running = ~(pool.terminated | pool.truncated)
    while running.any():
        at = np.flatnonzero(running)
        logp, _ = policy.think(pool.obs[at], pool.mask[at])
        pool.action[at] = logp.argmax(dim=1).cpu() if rng is None else sample(logp, rng)
        pool.step()
        returns[at] += pool.earned[at]
        running[at] = ~(pool.terminated | pool.truncated)[at]
    return Games(pool.metrics.copy(), returns)


def compare(policy: Policy, seeds: np.ndarray, *, backend: str, greedy: bool) -> dict[str, float]:
    """The figures of the curve: goods and wins together, or wins against the built-in agents."""
    ruleset = policy.ruleset
    if ruleset.cooperative:
        games = play(policy, seeds, backend=backend, greedy=greedy)
        means = dict(zip(ruleset.metrics, games.metrics.mean(axis=0).tolist(), strict=True))
        return {"return": float(games.returns[:, 0].mean()), **means}
    result: dict[str, float] = {}
    for opponent in ("random", "expert"):
        if opponent in ruleset.agents:
            won = versus(policy, seeds, opponent, backend=backend, greedy=greedy)
            result[f"won_{opponent}"] = float(won.mean())
    return result


def versus(
    policy: Policy, seeds: np.ndarray, opponent: str, *, backend: str, greedy: bool
) -> np.ndarray:
    """Per seed the share of games won (a shared win counts half) from every seat in turn."""
    shares = []
    for seat in range(policy.ruleset.players):
        seats: list[str | None] = [opponent] * policy.ruleset.players
        seats[seat] = None
        games = play(policy, seeds, seats=seats, backend=backend, greedy=greedy)
        columns = [policy.ruleset.metrics.index(f"won_{i}") for i in range(len(seats))]
        winners = games.metrics[:, columns]
        shares.append(winners[:, seat] / np.maximum(1, winners.sum(axis=1)))
    return np.mean(shares, axis=0)


# ---- Learning


class Rollout:
    """What a group of slots went through: `horizon` decisions in each."""

    def __init__(self, steps: int, slots: int, ruleset: trainyard.Ruleset, seats: int) -> None:
        self.rows = np.zeros((steps, slots, ruleset.row_size), np.uint8)
        self.mask = np.zeros((steps, slots, ruleset.action_count), np.bool_)
        self.action = np.zeros((steps, slots), np.int64)
        self.logp = np.zeros((steps, slots), np.float32)
        self.value = np.zeros((steps + 1, slots), np.float32)
        self.seat = np.zeros((steps + 1, slots), np.int64)
        self.earned = np.zeros((steps, slots, seats), np.float32)
        self.ended = np.zeros((steps, slots), np.bool_)

    def advantages(self, discount: float, trace: float) -> tuple[np.ndarray, np.ndarray]:
        """Generalised advantages, each seat on its own line of decisions, and where they are known:
        a seat's last decision only serves to judge those before it."""
        steps, slots = self.action.shape
        at = np.arange(slots)
        shape = self.earned.shape[1:]
        value, gain, reward = (np.zeros(shape, np.float32) for _ in range(3))
        known = np.zeros(shape, np.bool_)
        value[at, self.seat[steps]] = self.value[steps]
        known[at, self.seat[steps]] = True
        result = np.zeros((steps, slots), np.float32)
        valid = np.zeros((steps, slots), np.bool_)
        for t in reversed(range(steps)):
            ended, seat = self.ended[t], self.seat[t]
            for array in (value, gain, reward):
                array[ended] = 0
            known[ended] = True
            reward += self.earned[t]
            valid[t] = known[at, seat]
            error = reward[at, seat] + discount * value[at, seat] - self.value[t]
            result[t] = np.where(valid[t], error + discount * trace * gain[at, seat], 0)
            value[at, seat], gain[at, seat], reward[at, seat] = self.value[t], result[t], 0
            known[at, seat] = True
        return result, valid


class Trainer:
    """A run: pool, network, optimiser, and how far they are."""

    def __init__(self, config: Config, *, backend: str, device: str) -> None:
        self.config = config
        self.policy = Policy(config, device)
        self.optimiser = torch.optim.Adam(self.policy.network.parameters(), config.rate, eps=1e-5)
        self.rng = np.random.default_rng(config.seed)
        self.pool = trainyard.make(
            config.game,
            num_envs=config.envs,
            groups=config.groups,
            seed=config.seed * config.envs,
            autoreset="same_step",
            backend=backend,
            **config.settings,
        )
        # A team that shares its rewards is one player.
        self.team = self.policy.ruleset.cooperative
        seats = 1 if self.team else self.policy.ruleset.players
        self.rollouts = [
            Rollout(config.horizon, len(group), self.policy.ruleset, seats)
            for group in self.pool.groups
        ]
        self.steps = 0
        self.seconds = 0.0
        self.calm = 1.0

    # One round: play, judge, learn.

    def round(self) -> None:
        began = time.monotonic()
        self.play()
        self.learn()
        self.steps += self.config.horizon * self.config.envs
        self.seconds += time.monotonic() - began

    @torch.inference_mode()
    def play(self) -> None:
        for t in range(self.config.horizon + 1):
            for group, rollout in enumerate(self.rollouts):
                if t > 0:
                    self._collect(group, rollout, t - 1)
                self._think(group, rollout, t)

    def _think(self, group: int, rollout: Rollout, t: int) -> None:
        """Decides in every slot of a group and sends it off."""
        rows = self.pool.groups[group]
        logp, value = self.policy.think(rows.obs, rows.mask)
        rollout.value[t] = value.cpu()
        rollout.seat[t] = 0 if self.team else rows.seat
        if t < self.config.horizon:
            rollout.rows[t], rollout.mask[t] = rows.obs, rows.mask
            rollout.action[t] = action = sample(logp, self.rng)
            rollout.logp[t] = logp.cpu().numpy()[np.arange(len(action)), action]
            self.pool.send(group, action)

    def _collect(self, group: int, rollout: Rollout, t: int) -> None:
        rows = self.pool.recv(group)
        rollout.earned[t] = self.config.scale * rows.earned[:, : rollout.earned.shape[2]]
        rollout.ended[t] = rows.terminated | rows.truncated

    def learn(self) -> None:
        config, device = self.config, self.policy.device
        judged = [r.advantages(config.discount, config.trace) for r in self.rollouts]
        known = np.concatenate([valid.ravel() for _, valid in judged])

        def column(arrays: list[np.ndarray]) -> np.ndarray:
            return np.concatenate([a.reshape(-1, *a.shape[2:]) for a in arrays])[known]

        rows = column([r.rows for r in self.rollouts])
        mask = column([r.mask for r in self.rollouts])
        action = torch.from_numpy(column([r.action for r in self.rollouts])).to(device)
        before = torch.from_numpy(column([r.logp for r in self.rollouts])).to(device)
        gain = column([advantage for advantage, _ in judged])
        target = torch.from_numpy(gain + column([r.value[:-1] for r in self.rollouts])).to(device)
        gain = torch.from_numpy((gain - gain.mean()) / (gain.std() + 1e-6)).to(device)
        # Smaller steps and less indecision as time goes by, whatever the budget of the run is.
        self.calm = (1 + self.steps / config.decay) ** -0.5
        for group in self.optimiser.param_groups:
            group["lr"] = config.rate * self.calm
        for _ in range(config.epochs):
            order = self.rng.permutation(len(rows))
            for at in np.split(order, range(config.batch, len(order), config.batch)):
                logp, value = self.policy.think(rows[at], mask[at])
                here = torch.from_numpy(at).to(device)
                loss = self._loss(logp, action[here], before[here], gain[here])
                loss = loss + 0.5 * (value - target[here]).square().mean()
                self.optimiser.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.network.parameters(), 0.5)
                self.optimiser.step()

    def _loss(
        self, logp: torch.Tensor, action: torch.Tensor, before: torch.Tensor, gain: torch.Tensor
    ) -> torch.Tensor:
        """PPO's clipped objective, and a reward for indecision among what is legal."""
        ratio = (logp.gather(1, action[:, None])[:, 0] - before).exp()
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        entropy = -(logp.exp() * logp).sum(dim=1).mean()
        worth = torch.min(ratio * gain, clipped * gain).mean()
        return -worth - self.config.entropy * self.calm * entropy

    # Checkpoints.

    def save(self, path: Path) -> None:
        slots = [bytearray(self.pool.save(slot)) for slot in range(self.config.envs)]
        state = {
            "config": asdict(self.config),
            "weights": self.policy.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": json.dumps(self.rng.bit_generator.state),
            "slots": torch.stack([torch.frombuffer(slot, dtype=torch.uint8) for slot in slots]),
            "steps": self.steps,
            "seconds": self.seconds,
        }
        # Whoever stops us while we write finds the checkpoint before.
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    @classmethod
    def load(cls, path: Path, *, backend: str, device: str) -> Trainer:
        state = torch.load(path, map_location="cpu", weights_only=True)
        trainer = cls(Config(**state["config"]), backend=backend, device=device)
        trainer.policy.network.load_state_dict(state["weights"])
        trainer.optimiser.load_state_dict(state["optimiser"])
        trainer.rng.bit_generator.state = json.loads(state["rng"])
        for slot, snapshot in enumerate(state["slots"].numpy()):
            trainer.pool.restore(snapshot.tobytes(), [slot])
        trainer.steps, trainer.seconds = state["steps"], state["seconds"]
        return trainer


# ---- The command line


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Masked PPO on a game of Trainyard.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    standard = Config()
    parser.add_argument("--game", default=standard.game)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the game"
    )
    parser.add_argument("--minutes", type=float, help="of learning, evaluations aside")
    parser.add_argument("--steps", type=int, help="decisions to learn from")
    parser.add_argument("--out", type=Path, help="folder of the run (runs/GAME)")
    parser.add_argument("--resume", type=Path, help="go on with the run in this folder")
    parser.add_argument("--backend", default="shm", choices=("shm", "inproc", "zmq"))
    parser.add_argument("--device", default="cpu", help="of PyTorch")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch")
    parser.add_argument("--evaluate", type=float, default=2.0, help="every so many minutes")
    parser.add_argument("--games", type=int, default=200, help="per evaluation, on held-out seeds")
    for item in fields(Config):
        if item.name not in ("game", "settings"):
            value = getattr(standard, item.name)
            parser.add_argument(f"--{item.name}", type=type(value), default=value)
    given = parser.parse_args(arguments)
    if given.minutes is None and given.steps is None:
        given.minutes = 20.0
    return given


def begin(given: argparse.Namespace) -> tuple[Trainer, Path]:
    torch.set_num_threads(given.threads)
    if given.resume:
        trainer = Trainer.load(
            given.resume / "train.pt", backend=given.backend, device=given.device
        )
        return trainer, given.resume
    settings = dict(SETTINGS.get(given.game, {}))
    for item in given.set:
        key, equals, value = item.partition("=")
        if not equals:
            raise SystemExit(f"--set {item}: KEY=VALUE expected")
        settings[key] = value
    names = [item.name for item in fields(Config) if item.name != "settings"]
    config = Config(settings=settings, **{name: getattr(given, name) for name in names})
    torch.manual_seed(config.seed)
    out = given.out or Path("runs") / config.game
    out.mkdir(parents=True, exist_ok=True)
    (out / "curve.jsonl").write_text("")
    return Trainer(config, backend=given.backend, device=given.device), out


def measure(trainer: Trainer, out: Path, given: argparse.Namespace) -> dict[str, float]:
    """Evaluates on held-out seeds, adds a line to the curve and writes the checkpoints."""
    seeds = np.arange(given.games, dtype=np.uint64) + np.uint64(HELD_OUT)
    figures = compare(trainer.policy, seeds, backend=given.backend, greedy=True)
    line = {
        "minutes": round(trainer.seconds / 60, 3),
        "steps": trainer.steps,
        "games": given.games,
        **{key: round(value, 4) for key, value in figures.items()},
    }
    with (out / "curve.jsonl").open("a") as curve:
        curve.write(json.dumps(line) + "\n")
    trainer.policy.save(out / "policy.pt")
    trainer.save(out / "train.pt")
    return line


def told(trainer: Trainer, line: dict[str, float]) -> str:
    """How far the run is and how well it played last."""
    names = ("goods", "won", "won_random", "won_expert", "return")
    figures = ", ".join(f"{name} {line[name]:.3f}" for name in names if name in line)
    rate = trainer.steps / max(1e-9, trainer.seconds)
    minutes = trainer.seconds / 60
    return f"{minutes:6.1f} min {trainer.steps:11,} steps {rate:8,.0f}/s  {figures}"


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    given = parse(arguments)
    trainer, out = begin(given)
    weights = sum(p.numel() for p in trainer.policy.network.parameters())
    print(f"{trainer.policy.ruleset.spec}: {weights:,} weights, {given.backend}, into {out}")

    def spent() -> float:
        """The part of the budget that is used up."""
        steps = trainer.steps / given.steps if given.steps else 0
        return max(steps, trainer.seconds / (60 * given.minutes) if given.minutes else 0)

    def report() -> dict[str, Any]:
        line = measure(trainer, out, given)
        tqdm.write(told(trainer, line), file=sys.stdout)
        sys.stdout.flush()
        return line

    line = report()
    due = trainer.seconds + 60 * given.evaluate
    with tqdm(total=1, disable=not sys.stderr.isatty(), leave=False, bar_format=BAR) as bar:
        while spent() < 1:
            trainer.round()
            bar.n = min(1, spent())
            bar.set_postfix_str(told(trainer, line))
            if trainer.seconds >= due or spent() >= 1:
                line = report()
                due = trainer.seconds + 60 * given.evaluate
    trainer.pool.close()
    return line


if __name__ == "__main__":
    main()
