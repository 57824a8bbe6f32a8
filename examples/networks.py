"""Trains the networks of RESULTS.md, draws their curves, and judges them on held-out seeds.

    python examples/networks.py express              # as examples/recipes/express.json says
    python examples/networks.py convoi --seeds 0     # one seed instead of three
    python examples/networks.py express --judge      # what was trained, on held-out seeds
    python examples/networks.py --quick              # all of them, two rounds of each stage

Training tells of the seeds of its curves only: a recipe can be changed until it does well there,
and is judged once, on seeds that nobody has looked at.

A recipe is a list of stages, each a configuration of the trainer with the decisions to learn from
(`steps`), which begins with the network of the one before; the first one may `start` with a file
of the repository. One with `tries` is begun that often, with different seeds; the run that does
best after `tried` decisions goes on. What is done is not done again: stages that the folder of runs
has are kept, and one that was stopped goes on.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard import net as nets
from trainyard.arena import Estimate
from trainyard.train import HELD_OUT, Budget, Config, Run, results
from trainyard.train.evaluate import of_agent
from trainyard.train.plot import plot
from trainyard.train.run import read

TOP = Path(__file__).parent.parent
RECIPES = TOP / "examples/recipes"
#: Games of a point of a curve, on the seeds from HELD_OUT on.
CURVE_GAMES = 500
#: Seeds on which --judge plays, and nobody else: the first, how many if all seats play together,
#: and how many against the expert.
JUDGED, TOGETHER, AGAINST = 1_300_000, 5000, 2000
#: What --quick changes: a stage is two rounds, and where several are tried, two are, for one round.
QUICK = {"slots": 16, "horizon": 32, "demonstrated": 512}
QUICK_ROUND, QUICK_TRIES, QUICK_GAMES = 16 * 32, 2, 4


@dataclass(frozen=True)
class Stage:
    """A configuration of the trainer, and the decisions to learn from."""

    values: dict[str, Any]
    steps: int
    tries: int
    tried: int  # decisions

    @classmethod
    def of(cls, values: dict[str, Any], *, quick: bool) -> Stage:
        values = {"tries": 1, "tried": values["steps"], **values}
        steps, tries, tried = (values.pop(key) for key in ("steps", "tries", "tried"))
        if quick:
            steps, tries = 2 * QUICK_ROUND, min(tries, QUICK_TRIES)
            tried = steps // tries
            values.update(QUICK)
        return cls(values, steps, tries, tried)


class Recipe:
    """The stages that lead to a network, and the folder of their runs."""

    def __init__(self, name: str, runs: Path, *, quick: bool) -> None:
        recipe = json.loads((RECIPES / f"{name}.json").read_text())
        self.name, self.about, self.quick = name, recipe["about"], quick
        self.stages = [Stage.of(values, quick=quick) for values in recipe["stages"]]
        self.runs = runs / ("quick" if quick else "") / name
        self.rules = Config.of(self.stages[0].values, name).ruleset
        self.figures = ["won", "goods"] if self.rules.cooperative else ["won_expert"]

    def _folders(self, seed: int, stage: int) -> list[Path]:
        """One for each try."""
        folder, tries = self.runs / f"{seed}" / f"{stage + 1}", self.stages[stage].tries
        return [folder / f"{i}" for i in range(tries)] if tries > 1 else [folder]

    def _best(self, seed: int, stage: int) -> int:
        """The try that had done best when all had been tried."""
        if self.stages[stage].tries == 1:
            return 0
        tried = self.stages[stage].tried
        figure = "earned" if self.rules.cooperative else "won_expert"
        curves = [read(folder / "curve.csv") for folder in self._folders(seed, stage)]
        lines = [next(line for line in curve if int(line["steps"]) >= tried) for curve in curves]
        return max(range(len(lines)), key=lambda i: float(lines[i][figure]))

    def _folder(self, seed: int, stage: int) -> Path:
        """Where the stage's last network is."""
        return self._folders(seed, stage)[self._best(seed, stage)]

    def _config(self, seed: int, stage: int, attempt: int) -> Config:
        own = seed * self.stages[stage].tries + attempt
        values = {**self.stages[stage].values, "seed": own}
        if "start" in values:
            values["start"] = str(TOP / values["start"])
        if stage > 0:
            values["start"] = str(self._folder(seed, stage - 1) / "policy.net")
        return Config.of(values, f"{self.name}, stage {stage + 1}")

    def train(self, seed: int, minutes: float, threads: int | None) -> None:
        for stage, wanted in enumerate(self.stages):
            for attempt in range(wanted.tries):
                self._go(seed, stage, attempt, wanted.tried, minutes, threads)
            if wanted.tried < wanted.steps:
                best = self._best(seed, stage)
                self._go(seed, stage, best, wanted.steps, minutes, threads)

    def _go(
        self, seed: int, stage: int, attempt: int, steps: int, minutes: float, threads: int | None
    ) -> None:
        """Learns from as many decisions as are missing."""
        folder = self._folders(seed, stage)[attempt]
        if (folder / "train.pt").exists():
            run = Run.resume(folder, threads=threads)
        else:
            run = Run.begin(self._config(seed, stage, attempt), folder, threads=threads)
        if run.trainer.steps < steps:
            print(f"{self.name}, seed {seed}, stage {stage + 1}: {folder}", flush=True)
            run.go(Budget(None, steps, minutes, self._games(CURVE_GAMES), ["expert"]))
        run.trainer.close()
        if run.trainer.steps < steps:
            raise SystemExit("stopped; the same command goes on")

    def has(self, seed: int) -> bool:
        """Whether its last stage has come to its end."""
        last = len(self.stages) - 1
        curves = [folder / "curve.csv" for folder in self._folders(seed, last)]
        ends = [int(read(curve)[-1]["steps"]) for curve in curves if curve.exists()]
        return max(ends, default=0) >= self.stages[last].steps

    def _games(self, count: int) -> int:
        return QUICK_GAMES if self.quick else count

    def draw(self, seeds: Sequence[int]) -> None:
        """The curves of the seeds, beside what the expert does in the same games."""
        expert, games = 0.5, self._games(CURVE_GAMES)
        if self.rules.cooperative:
            expert = of_agent(self.rules, "expert", count=games, first=HELD_OUT)["won"].mean
        runs, picture = [self._join(seed) for seed in seeds], self.runs / "curve.png"
        plot(runs, self.figures[0], picture, levels={"as good as the expert": expert})
        print(f"{self.name}: curves in {picture}", flush=True)

    def _join(self, seed: int) -> Path:
        """Writes the curves of the stages one behind the other; the folder."""
        names = [f"{name}{end}" for name in self.figures for end in ("", "_low", "_high")]
        lines: list[dict[str, Any]] = []
        for stage in range(len(self.stages)):
            before = int(lines[-1]["steps"]) if lines else 0
            curve = read(self._folder(seed, stage) / "curve.csv")
            lines += [{**line, "steps": before + int(line["steps"])} for line in curve]
        folder = self.runs / f"{seed}"
        with (folder / "curve.csv").open("w", newline="") as file:
            columns = ["steps", "games", *names]
            writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        return folder

    def judge(self, seeds: Sequence[int]) -> None:
        """Prints a table of held-out games of each seed's last network, and of the expert where all
        play together."""
        count = self._games(TOGETHER if self.rules.cooperative else AGAINST)
        print(f"{self.name}: {self.about} Held-out seeds {JUDGED} to {JUDGED + count - 1}.")
        print(f"| | {' | '.join(self.figures)} |\n|---|{'---|' * len(self.figures)}")
        for seed in seeds:
            net = nets.load(self._folder(seed, len(self.stages) - 1) / "policy.net")
            self._tell(f"seed {seed}", results(net, count=count, against=["expert"], first=JUDGED))
        if self.rules.cooperative:
            self._tell("`expert`", of_agent(self.rules, "expert", count=count, first=JUDGED))

    def _tell(self, who: str, found: dict[str, Estimate]) -> None:
        print(f"| {who} | {' | '.join(_cell(name, found[name]) for name in self.figures)} |")


def _cell(name: str, figure: Estimate) -> str:
    mean, low, high = figure.mean, figure.low, figure.high
    if name.startswith("won"):
        return f"{100 * mean:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = sorted(path.stem for path in RECIPES.glob("*.json"))
    parser.add_argument("recipes", nargs="*", help=f"some of {', '.join(known)} (all)")
    parser.add_argument("--seeds", default="0,1,2", help="by commas (0,1,2)")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="a folder (runs)")
    parser.add_argument("--evaluate", type=float, default=1.0, help="every so many minutes (1)")
    parser.add_argument("--threads", type=int, help="(as many as processors)")
    parser.add_argument(
        "--judge", action="store_true", help="train nothing: play the held-out seeds"
    )
    parser.add_argument("--quick", action="store_true", help="two rounds of each stage, few games")
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    for name in options.recipes or known:
        if name not in known:
            parser.error(f"no recipe {name}; there are {', '.join(known)}")
        recipe = Recipe(name, options.runs, quick=options.quick)
        for seed in seeds:
            if not options.judge:
                recipe.train(seed, options.evaluate, options.threads)
            elif not recipe.has(seed):
                parser.error(f"--judge: {recipe.runs} has no network of seed {seed} yet")
        recipe.draw(seeds)
        if options.judge:
            recipe.judge(seeds)


if __name__ == "__main__":
    main()
