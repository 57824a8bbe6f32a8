"""A run in a folder: progress, curves, checkpoints, and an end that loses nothing.

The folder has config.json (what the run is), policy.net (the network, for the library), train.pt
(everything, to go on), rounds.csv (a line per round) and curve.csv (a line per evaluation on
held-out seeds, each figure with its 95 % interval).
"""

from __future__ import annotations

import csv
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..arena import Estimate
from ..errors import Error
from ..net import Net
from .config import Config
from .evaluate import results
from .trainer import Trainer


@dataclass(frozen=True)
class Budget:
    """When a run ends, and how often it is looked at."""

    minutes: float | None = None  # of learning, evaluations aside
    steps: int | None = None  # decisions
    every: float = 2.0  # minutes between evaluations
    games: int = 200  # of each evaluation
    against: Sequence[str] = ("random", "expert")

    def spent(self, trainer: Trainer) -> float:
        steps = trainer.steps / self.steps if self.steps else 0.0
        return max(steps, trainer.seconds / (60 * self.minutes) if self.minutes else 0.0)


class Journal:
    """What is written about a run, by decisions played."""

    def __init__(self, out: Path, *, tensorboard: bool = False) -> None:
        self._out = out
        self._board: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError as error:
                raise Error(f"--tensorboard: {error}; pip install tensorboard") from None
            self._board = SummaryWriter(str(out / "tensorboard"))

    def add(self, name: str, trainer: Trainer, figures: dict[str, float]) -> None:
        path = self._out / f"{name}.csv"
        line = {"minutes": round(trainer.seconds / 60, 3), "steps": trainer.steps, **figures}
        known = _columns(path) or list(line)
        if any(key not in known for key in line):
            _widen(path, list(dict.fromkeys([*known, *line])))
            known = _columns(path)
        fresh = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, known, restval="")
            if fresh:
                writer.writeheader()
            writer.writerow({k: f"{v:.6g}" if k != "steps" else v for k, v in line.items()})
        if self._board is not None:
            for key, value in figures.items():
                self._board.add_scalar(f"{name}/{key}", value, trainer.steps)

    def close(self) -> None:
        if self._board is not None:
            self._board.close()


def _columns(path: Path) -> list[str]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return next(csv.reader(file))


def _widen(path: Path, columns: list[str]) -> None:
    """Gives a table more columns, which are empty in the lines that there are."""
    if not path.exists():
        return
    lines = read(path)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(lines)


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a table of a run."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Stop:
    """Ctrl-C: the first one ends the run after its round, the second one at once."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> Stop:
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _hear(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("ends after this round, and saves; Ctrl-C again to end at once", file=sys.stderr)


class Run:
    """A trainer with its folder.

    >>> Run.begin(Config(game="express"), Path("runs/express")).go(Budget(minutes=20))
    """

    def __init__(self, trainer: Trainer, out: Path, *, tensorboard: bool = False) -> None:
        self.trainer = trainer
        self.out = out
        self._journal = Journal(out, tensorboard=tensorboard)
        self._figures: dict[str, Estimate] = {}

    @classmethod
    def begin(
        cls,
        config: Config,
        out: Path,
        *,
        overwrite: bool = False,
        tensorboard: bool = False,
        threads: int | None = None,
    ) -> Run:
        if (out / "train.pt").exists() and not overwrite:
            raise Error(f"{out} has a run: resume it, give another folder, or overwrite it")
        config.check()
        out.mkdir(parents=True, exist_ok=True)
        for name in ("curve.csv", "rounds.csv", "train.pt", "policy.net"):
            (out / name).unlink(missing_ok=True)
        config.save(out / "config.json")
        return cls(Trainer(config, threads=threads), out, tensorboard=tensorboard)

    @classmethod
    def resume(cls, out: Path, *, tensorboard: bool = False, threads: int | None = None) -> Run:
        """Goes on as if it had never been stopped."""
        if not (out / "train.pt").exists():
            raise Error(f"{out}: there is no train.pt to go on from")
        trainer = Trainer.load(out / "train.pt", threads=threads)
        return cls(trainer, out, tensorboard=tensorboard)

    def save(self) -> None:
        self.trainer.save_net(self.out / "policy.net")
        self.trainer.save(self.out / "train.pt")

    def evaluate(self, budget: Budget) -> dict[str, Estimate]:
        """Plays held-out games and adds a line to the curve."""
        self.save()
        trainer = self.trainer
        net = Net(trainer.ruleset, (self.out / "policy.net").read_bytes())
        found = results(net, count=budget.games, against=budget.against)
        figures: dict[str, float] = {"games": budget.games}
        for name, estimate in found.items():
            figures[name] = estimate.mean
            figures[f"{name}_low"], figures[f"{name}_high"] = estimate.low, estimate.high
        self._journal.add("curve", trainer, figures)
        self._figures = found
        return found

    def go(self, budget: Budget) -> dict[str, Estimate]:
        """Plays and learns until the budget is spent or Ctrl-C is pressed; the last evaluation."""
        trainer = self.trainer
        clock = _Clock(budget.spent(trainer))
        self.evaluate(budget)
        self._tell(budget, clock)
        due = trainer.seconds + 60 * budget.every
        with Stop() as stop:
            while budget.spent(trainer) < 1 and not stop.asked:
                trainer.round()
                self._journal.add("rounds", trainer, trainer.figures)
                if trainer.seconds >= due and budget.spent(trainer) < 1:
                    self.evaluate(budget)
                    due = trainer.seconds + 60 * budget.every
                    self._tell(budget, clock)
                self._show(budget, clock)
        if not stop.asked:
            self.evaluate(budget)
        self.save()
        self._tell(budget, clock)
        self._journal.close()
        trainer.close()
        return self._figures

    # ---- For people

    def _line(self, budget: Budget, clock: _Clock) -> str:
        trainer = self.trainer
        rate = trainer.steps / max(1e-9, trainer.seconds)
        names = ("goods", "loads", "won", *(f"won_{name}" for name in budget.against), "earned")
        figures = [
            f"{name} {self._figures[name].mean:.3f}" for name in names if name in self._figures
        ]
        names = ("agreed", "won_rivals", "reward", "kl", "entropy", "explained")
        figures += [f"{k} {trainer.figures[k]:.3g}" for k in names if k in trainer.figures]
        left = clock.left(budget.spent(trainer))
        return (
            f"{trainer.seconds / 60:6.1f} min {trainer.steps:12,} decisions {rate:8,.0f}/s  "
            f"{', '.join(figures)}  {left}"
        )

    def _tell(self, budget: Budget, clock: _Clock) -> None:
        print(self._line(budget, clock), flush=True)

    def _show(self, budget: Budget, clock: _Clock) -> None:
        """The same on a line that the next one overwrites, where somebody looks."""
        if sys.stderr.isatty():
            print("\r" + self._line(budget, clock)[:150], end="\r", file=sys.stderr, flush=True)


class _Clock:
    """How long the rest takes if it goes on as since the start, evaluations included."""

    def __init__(self, spent: float) -> None:
        self._began = time.monotonic()
        self._from = spent

    def left(self, spent: float) -> str:
        if spent >= 1:
            return "done"
        done = spent - self._from
        if done <= 0:
            return ""
        seconds = (time.monotonic() - self._began) / done * (1 - spent)
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"
