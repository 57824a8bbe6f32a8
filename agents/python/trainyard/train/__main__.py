"""The trainer's command line: python -m trainyard.train --help."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from .. import net as nets
from ..errors import Error
from ..ruleset import games as all_games
from . import __doc__ as about
from .config import Config
from .evaluate import HELD_OUT, of_agent, results
from .run import Budget, Run


def _settings(items: list[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals:
            raise Error(f"--set {item}: KEY=VALUE expected")
        settings[key] = value
    return settings


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 1 on")
    return int(text)


def _add_budget(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--minutes", type=float, help="of learning, evaluations aside (20, or none with --steps)")
    add("--steps", type=int, help="decisions to learn from, in all")
    add("--evaluate", type=float, default=2.0, help="every so many minutes (2)")
    add("--games", type=int, default=200, help="per evaluation, on held-out seeds (200)")
    add("--against", default="random,expert", help="opponents in competitive games, by commas")
    add("--threads", type=_count, help="for the parts (as many as processors)")
    add("--tensorboard", action="store_true", help="write for TensorBoard too")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m trainyard.train",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="begin a run")
    run.add_argument("game", nargs="?", help="the game; also in --config")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    run.add_argument("--config", type=Path, help="a JSON file with any of the values below")
    run.add_argument("--out", type=Path, help="folder of the run (runs/GAME-SEED)")
    run.add_argument("--overwrite", action="store_true", help="the run that is in --out")
    run.add_argument("--seeds", type=int, help="so many runs, with seeds 0, 1, ...")
    run.add_argument("--jobs", type=int, default=1, help="of them at once (1)")
    _add_budget(run)
    standard = Config()
    for item in fields(Config):
        value = getattr(standard, item.name)
        if item.name not in ("game", "settings"):
            kind = json.loads if isinstance(value, (list, dict)) else type(value)
            run.add_argument(f"--{item.name}", type=kind, help=f"({value})")
    resume = commands.add_parser("resume", help="go on with a run")
    resume.add_argument("out", type=Path)
    _add_budget(resume)
    judge = commands.add_parser("evaluate", help="a network on held-out seeds")
    judge.add_argument("net", type=Path)
    judge.add_argument("--games", type=int, default=1000)
    judge.add_argument("--seed", type=int, default=HELD_OUT, help=f"of the first ({HELD_OUT})")
    judge.add_argument("--against", default="random,expert")
    judge.add_argument("--temperature", type=float, default=0.0, help="0: the best action (0)")
    speed = commands.add_parser(
        "speed", help="decisions in a second: played in the library and in PyTorch, learned from"
    )
    speed.add_argument("net", type=Path)
    speed.add_argument("--seconds", type=float, default=10.0, help="(10)")
    plot = commands.add_parser("plot", help="curves of runs that differ in their seeds")
    plot.add_argument("runs", type=Path, nargs="+")
    plot.add_argument("--figure", required=True, help="a column of curve.csv")
    plot.add_argument("-o", "--output", type=Path, default=Path("curve.png"))
    plot.add_argument("--level", action="append", default=[], metavar="NAME=VALUE")
    return parser.parse_args(arguments)


def _budget(given: argparse.Namespace) -> Budget:
    minutes = 20.0 if given.minutes is None and given.steps is None else given.minutes
    return Budget(minutes, given.steps, given.evaluate, given.games, given.against.split(","))


def _config(given: argparse.Namespace) -> Config:
    """The file's values, then those of the command line; learners' settings unless others are
    given."""
    values: dict[str, Any] = Config.load(given.config) if given.config else {}
    for item in fields(Config):
        asked = getattr(given, item.name, None)
        if asked is not None:
            values[item.name] = asked
    values.setdefault("game", Config.game)
    known = {game.name: game for game in all_games()}
    if values["game"] not in known:
        raise Error(f"no game is named '{values['game']}'; there are {', '.join(known)}")
    settings = {**known[values["game"]].learning, **values.get("settings", {})}
    values["settings"] = {**settings, **_settings(given.set)}
    return Config.of(values, str(given.config or "the command line"))


def _run(given: argparse.Namespace) -> None:
    config = _config(given)
    out = given.out or Path("runs") / f"{config.game}-{config.seed}"
    run = Run.begin(
        config,
        out,
        overwrite=given.overwrite,
        tensorboard=given.tensorboard,
        threads=given.threads,
    )
    _go(run, given)


def _go(run: Run, given: argparse.Namespace) -> None:
    count = sum(p.numel() for p in run.trainer.learner.network.parameters())
    print(f"{run.trainer.ruleset.spec}: {count:,} weights, into {run.out}", flush=True)
    run.go(_budget(given))
    print(f"saved: go on with `resume {run.out}`, play with net:{run.out / 'policy.net'}")


def _run_seeds(given: argparse.Namespace, arguments: list[str]) -> None:
    """One process for each seed, `jobs` at a time."""
    out = given.out or Path("runs") / _config(given).game
    waiting = list(range(given.seeds))
    running: list[tuple[int, subprocess.Popen[bytes]]] = []
    failed = []
    plain = _without(arguments, ("--seeds", "--jobs", "--out", "--seed"))
    while waiting or running:
        while waiting and len(running) < max(1, given.jobs):
            seed = waiting.pop(0)
            folder = out.with_name(f"{out.name}-{seed}")
            own = ["--seed", str(seed), "--out", str(folder)]
            command = [sys.executable, "-m", "trainyard.train", *plain, *own]
            running.append((seed, subprocess.Popen(command)))
        seed, process = running.pop(0)
        if process.wait() != 0:
            failed.append(seed)
    if failed:
        raise Error(f"the runs with seeds {', '.join(map(str, failed))} failed")


def _without(arguments: list[str], names: tuple[str, ...]) -> list[str]:
    """The arguments but for these options and their values."""
    result = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in names:
            skip = True
        elif not argument.startswith(tuple(f"{name}=" for name in names)):
            result.append(argument)
    return result


def _evaluate(given: argparse.Namespace) -> None:
    net = nets.load(given.net)
    rules = net.ruleset
    print(f"{rules.spec}, seeds {given.seed}..{given.seed + given.games - 1}")
    against = given.against.split(",")
    how = {"count": given.games, "first": given.seed}
    found = results(net, against=against, temperature=given.temperature, **how)
    for name, estimate in found.items():
        print(f"  {'network':10} {name:20} {estimate}")
    if rules.cooperative:
        for agent in against:
            for name, estimate in of_agent(rules, agent, **how).items():
                print(f"  {agent:10} {name:20} {estimate}")


def _speed(given: argparse.Namespace) -> None:
    from .speed import measure, measure_training

    torch.set_num_threads(1)
    net, data = nets.load(given.net), given.net.read_bytes()
    measure(net, data, given.seconds)
    game, _, settings = net.ruleset.spec.partition(":")
    hidden = [bias.size for _, bias in nets.unpack(data).hidden]
    for epochs in (1, 2):
        config = Config(
            game=game, settings=_settings(settings.split(",")), hidden=hidden, epochs=epochs
        )
        measure_training(config, given.seconds)


def _plot(given: argparse.Namespace) -> None:
    from .plot import plot

    levels = {name: float(value) for name, value in _settings(given.level).items()}
    plot(given.runs, given.figure, given.output, levels=levels)
    print(f"plot: {given.output}")


def main(arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    given = parse(arguments)
    try:
        if given.command == "evaluate":
            _evaluate(given)
        elif given.command == "plot":
            _plot(given)
        elif given.command == "speed":
            _speed(given)
        elif given.command == "resume":
            resumed = Run.resume(given.out, tensorboard=given.tensorboard, threads=given.threads)
            _go(resumed, given)
        elif given.seeds is not None:
            _run_seeds(given, arguments)
        else:
            _run(given)
    except Error as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
