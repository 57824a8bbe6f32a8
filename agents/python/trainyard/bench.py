"""What a step costs from Python, beside the C library's own figure.

    python -m trainyard.bench [--game convoi] [--slots 1024 4096] [--backends inproc shm zmq]
                              [--seconds 2] [--json]
    python -m trainyard.bench --llm             language models: see trainyard.bench_llm

All figures are decisions per second of one stepping thread with uniformly random legal play: the
mask and the row of the seat to act are written at every decision. The ways take turns within one
run:

    C         the loop of sampling and stepping inside the library (ty_pool_step_random)
    library   pool.sample(), pool.send() and pool.recv() from Python
    NumPy     the policy in Python: random scores, masked, and their argmax

Then come the adapters of single environments, with a policy that samples from the mask.

In process a pool has one group, and everything happens in one thread. In a daemon it has two, as a
learner would have them: the daemon steps one while Python thinks about the other.

"in Python" is the share of the time spent outside the package's calls, so in the policy.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from . import bench_llm
from .inproc import InProcess
from .pool import Pool, make

#: Rounds in which the ways take turns.
_ROUNDS = 8


@dataclass
class Way:
    """One way to play, and what it took."""

    name: str
    backend: str = ""
    decisions: int = 0
    seconds: float = 0.0
    inside: float = 0.0  # of them in calls of the package

    @property
    def rate(self) -> float:
        return self.decisions / self.seconds if self.seconds else 0.0

    @property
    def share_python(self) -> float:
        return 1 - self.inside / self.seconds if self.seconds else 0.0


def _numpy_policy(pool: Pool) -> Callable[[int], None]:
    rng = np.random.default_rng(0)
    rows = pool.groups[0]
    scores = np.empty(rows.mask.shape, dtype=np.float32)
    best = np.empty(len(rows), dtype=np.intp)

    def choose(group: int) -> None:
        rng.random(dtype=np.float32, out=scores)
        np.multiply(scores, pool.groups[group].mask, out=scores)
        np.argmax(scores, axis=1, out=best)
        np.copyto(pool.groups[group].action, best, casting="unsafe")

    return choose


def _play(way: Way, seconds: float, slots: int, turn: Callable[[], None], turns: int) -> None:
    """Takes turns of `turns` steps each until the time is up."""
    start = now = perf_counter()
    while now - start < seconds:
        turn()
        way.decisions += turns * slots
        now = perf_counter()
    way.seconds += now - start


def _turn(pool: Pool, way: Way, turns: int) -> Callable[[], None]:
    """Some steps of every group. Each is in flight while the others are thought about."""
    numpy = way.name == "NumPy"
    choose: Callable[[int], object] = _numpy_policy(pool) if numpy else pool.sample

    def turn() -> None:
        for _ in range(turns):
            for group in range(len(pool.groups)):
                start = perf_counter()
                if pool.in_flight(group):
                    pool.recv(group)
                begin = perf_counter()
                choose(group)
                end = perf_counter()
                pool.send(group)
                way.inside += perf_counter() - start - (end - begin if numpy else 0.0)

    return turn


def measure(
    game: str, slots: int, seconds: float, backends: Sequence[str] = ("inproc",), **config: Any
) -> list[Way]:
    """The ways for one number of slots: C first, then two for each backend."""
    turns = max(1, 8192 // slots)
    alone = make(game, num_envs=slots, **config)
    direct = alone.backend
    assert isinstance(direct, InProcess)
    pools = [alone]
    ways = [Way("C", "inproc")]

    def c_turn() -> None:
        start = perf_counter()
        direct.step_random(0, 0, turns)
        ways[0].inside += perf_counter() - start

    plays: list[Callable[[], None]] = [c_turn]
    for backend in backends:
        groups = 1 if backend == "inproc" else 2
        for name in ("library", "NumPy"):
            ways.append(Way(name, backend))
            pools.append(make(game, num_envs=slots, backend=backend, groups=groups, **config))
            plays.append(_turn(pools[-1], ways[-1], turns))
    direct.step_random(0, 0, 200)  # spreads the slots over their episodes
    for turn in plays[1:]:
        for _ in range(-(-200 // turns)):
            turn()
    for way in ways:
        way.inside = 0.0
    for _ in range(_ROUNDS):
        for way, turn in zip(ways, plays, strict=True):
            _play(way, seconds / _ROUNDS, slots, turn, turns)
    for pool in pools:
        pool.close()
    return ways


# ---- Adapters, one environment each, as their users would play them.


def _choose(mask: Any, dice: Iterator[float]) -> int:
    legal = mask.nonzero()[0]
    return int(legal[int(next(dice) * len(legal))])


def _dice() -> Iterator[float]:
    rng = np.random.default_rng(0)
    while True:
        yield from rng.random(4096).tolist()


def _adapter_gym(game: str, seconds: float) -> Way:
    from .gym import Env

    way, env, dice = Way("gymnasium.Env, 1 environment"), Env(game), _dice()
    _, info = env.reset(seed=0)

    def turn() -> None:
        nonlocal info
        _, _, terminated, truncated, info = env.step(_choose(info["action_mask"], dice))
        if terminated or truncated:
            _, info = env.reset()

    _play(way, seconds, 1, turn, 1)
    return way


def _adapter_aec(game: str, seconds: float) -> Way:
    from .pettingzoo import AEC

    way, env, dice = Way("PettingZoo AEC, 1 environment"), AEC(game), _dice()
    env.reset(seed=0)

    def turn() -> None:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
        else:
            env.step(_choose(observation["action_mask"], dice))

    _play(way, seconds, 1, turn, 1)
    return way


_ADAPTERS: list[tuple[str, Callable[[str, float], Way]]] = [
    ("gymnasium", _adapter_gym),
    ("pettingzoo", _adapter_aec),
]


def adapters(game: str, seconds: float) -> list[Way]:
    """Every adapter of single environments whose framework is installed."""
    ways: list[Way] = []
    for module, run in _ADAPTERS:
        if importlib.util.find_spec(module) is None:
            print(f"{module} is not installed: left out", file=sys.stderr)
        else:
            ways.append(run(game, seconds))
    return ways


# ---- The command


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m trainyard.bench")
    parser.add_argument("--game", default="convoi", help="a game or ruleset (convoi)")
    parser.add_argument("--slots", type=int, nargs="+", default=[1024, 4096])
    parser.add_argument("--backends", nargs="+", default=["inproc", "shm", "zmq"])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure (2)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--llm", action="store_true", help="sessions of language models instead")
    given = parser.parse_args(arguments)
    if given.llm:
        bench_llm.run(given.game, given.seconds)
        return
    results = {
        slots: measure(given.game, slots, given.seconds, given.backends) for slots in given.slots
    }
    others = adapters(given.game, given.seconds)
    if given.json:
        print(json.dumps(_report(given.game, results, others)))
        return
    print(f"{given.game}, one stepping thread, random legal play; {_processor()}")
    print(" slots  backend  policy    decisions/s   of C  in Python")
    for slots, ways in results.items():
        for way in ways:
            print(
                f"{slots:6}  {way.backend:8} {way.name:8} {way.rate:12,.0f} "
                f"{way.rate / ways[0].rate:6.2f} {way.share_python:10.1%}"
            )
    for way in others:
        print(f"{way.name}: {way.rate:,.0f} decisions/s")


def _report(game: str, results: dict[int, list[Way]], others: list[Way]) -> dict[str, Any]:
    def entry(way: Way) -> dict[str, Any]:
        return asdict(way) | {"rate": way.rate, "share_python": way.share_python}

    return {
        "game": game,
        "processor": _processor(),
        "python": platform.python_version(),
        "slots": {slots: [entry(way) for way in ways] for slots, ways in results.items()},
        "adapters": [entry(way) for way in others],
    }


if __name__ == "__main__":
    main()
