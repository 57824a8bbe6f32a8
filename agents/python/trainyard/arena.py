"""Agents compared on shared seeds, with confidence intervals: Python beside C."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ._lib import lib
from .agents import BuiltIn, View, agent_name
from .backend import Options
from .errors import Error
from .inproc import InProcess
from .pool import Pool
from .ruleset import Ruleset

_Z95 = 1.959963984540054


def _student95(freedom: int) -> float:
    """97.5 % of Student's variable lies below this, as the command-line tool computes it."""
    if freedom < 3:
        return (math.inf, 12.706204736432095, 4.302652729911275)[freedom]
    z, z2 = _Z95, _Z95**2
    terms = (
        z * (z2 + 1) / 4,
        z * (5 * z2**2 + 16 * z2 + 3) / 96,
        z * (3 * z2**3 + 19 * z2**2 + 17 * z2 - 15) / 384,
        z * (79 * z2**4 + 776 * z2**3 + 1482 * z2**2 - 1920 * z2 - 945) / 92160,
    )
    return z + sum(term / math.pow(freedom, power) for power, term in enumerate(terms, 1))


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: npt.NDArray[Any], *, rate: bool = False) -> Estimate:
        """Wilson's interval for a rate of zeros and ones, Student's for anything else."""
        count = len(values)
        mean = float(np.mean(values))
        if rate:
            scale = 1 + _Z95**2 / count
            centre = (mean + _Z95**2 / (2 * count)) / scale
            spread = mean * (1 - mean) / count + _Z95**2 / (4 * count**2)
            half = _Z95 * math.sqrt(spread) / scale
            return cls(mean, min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half)))
        deviation = float(np.std(values, ddof=1)) if count > 1 else 0.0
        half = _student95(count - 1) * deviation / math.sqrt(count) if count > 1 else math.inf
        return cls(mean, mean - half, mean + half)

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class Results:
    """Episodes that were played: one row per seed."""

    seeds: npt.NDArray[np.uint64]
    returns: npt.NDArray[np.float64]  # [episodes, players]
    metrics: npt.NDArray[np.int32]  # [episodes, metrics]
    decisions: npt.NDArray[np.uint32]


def agent_seed(seed: int, seat: int) -> int:
    """The seed of the agent in a seat, as the command-line tool gives it."""
    return int(lib.ty_agent_seed(seed, seat))


def seated(ruleset: Ruleset, agent: Any) -> Any:
    """The agent that plays one seat of one slot."""
    if isinstance(agent, str):
        return BuiltIn(ruleset, agent)
    player = agent() if isinstance(agent, type) else agent
    if not callable(getattr(player, "act", None)):
        raise Error(f"{agent_name(agent)} is no agent: it has no method act(view)")
    return player


class _Table:
    """Slots in which the same seating plays one seed after the other."""

    def __init__(self, ruleset: Ruleset, seating: Sequence[Any], seeds: npt.NDArray[np.uint64]):
        slots = min(len(seeds), 64)
        options = Options(num_envs=slots, autoreset="disabled")
        self.pool = Pool(ruleset, options, InProcess(ruleset, options))
        self.seeds = seeds
        self.results = Results(
            seeds,
            np.zeros((len(seeds), ruleset.players)),
            np.zeros((len(seeds), len(ruleset.metrics)), dtype=np.int32),
            np.zeros(len(seeds), dtype=np.uint32),
        )
        self.players = [[seated(ruleset, agent) for agent in seating] for _ in range(slots)]
        self.episode = np.arange(slots)
        self.next = slots
        self._begin(np.ones(slots, dtype=np.bool_))

    def _begin(self, which: npt.NDArray[np.bool_]) -> None:
        self.pool.reset(which=which, seeds=self.seeds[self.episode])
        for slot in np.flatnonzero(which):
            seed = int(self.seeds[self.episode[slot]])
            for seat, player in enumerate(self.players[slot]):
                if hasattr(player, "start"):
                    player.start(self.pool.ruleset, seat, agent_seed(seed, seat))

    def _choose(self, slot: int) -> None:
        pool = self.pool
        seat = int(pool.seat[slot])
        view = View(pool, slot, seat, pool.obs[slot], pool.mask[slot])
        pool.action[slot] = int(self.players[slot][seat].act(view))

    def play(self) -> Results:
        pool, results = self.pool, self.results
        running = np.ones(pool.num_envs, dtype=np.bool_)
        while running.any():
            for slot in np.flatnonzero(running):
                self._choose(int(slot))
            pool.step()
            at = self.episode[running]
            results.returns[at] += pool.earned[running]
            results.decisions[at] = pool.step_count[running]
            ended = running & (pool.terminated | pool.truncated)
            if ended.any():
                results.metrics[self.episode[ended]] = pool.metrics[ended]
                self._next(ended, running)
        pool.close()
        return results

    def _next(self, ended: npt.NDArray[np.bool_], running: npt.NDArray[np.bool_]) -> None:
        again = np.zeros_like(ended)
        for slot in np.flatnonzero(ended):
            running[slot] = again[slot] = self.next < len(self.seeds)
            if again[slot]:
                self.episode[slot] = self.next
                self.next += 1
        if again.any():
            self._begin(again)


def play(
    game: str | Ruleset,
    seating: Sequence[Any],
    *,
    episodes: int = 100,
    seed: int = 0,
    **config: Any,
) -> Results:
    """Plays the episodes of seeds seed, seed + 1, ... with one agent per seat.

    An agent is the name of a built-in one, a class with `act(view)`, or an instance of such.

    >>> trainyard.play("convoi", ["expert", MyAgent], episodes=200).metrics.mean(axis=0)
    """
    ruleset = game if isinstance(game, Ruleset) else Ruleset(game, **config)
    if len(seating) != ruleset.players:
        raise Error(f"seating: {ruleset.players} agents expected, not {len(seating)}")
    if episodes < 1:
        raise Error(f"episodes={episodes}: at least 1")
    seeds = np.arange(episodes, dtype=np.uint64) + np.uint64(seed)
    return _Table(ruleset, seating, seeds).play()


@dataclass(frozen=True)
class Arena:
    """What an arena found: per agent and quantity an estimate, and its paired difference to the
    first agent's. Print it, or read `values["expert"]["delivered"].mean`."""

    spec: str
    episodes: int
    seed: int
    values: dict[str, dict[str, Estimate]] = field(default_factory=dict)
    differences: dict[str, dict[str, Estimate]] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"ruleset:  {self.spec}",
            f"episodes: {self.episodes}, seeds {self.seed}..{self.seed + self.episodes - 1}",
            "columns:  mean, its 95 % interval, paired difference to the first agent",
        ]
        quantities = next(iter(self.values.values()), {})
        for quantity in quantities:
            lines.append(f"\n{quantity}")
            for name, values in self.values.items():
                difference = self.differences.get(name, {}).get(quantity)
                tail = f"  {difference}" if difference else ""
                lines.append(f"  {name:16} {values[quantity]!s:32}{tail}".rstrip())
        return "\n".join(lines)


def arena(
    game: str | Ruleset,
    agents: Sequence[Any],
    *,
    episodes: int = 100,
    seed: int = 0,
    **config: Any,
) -> Arena:
    """Compares agents on the same seeds, built-in ones by name beside classes with `act(view)`.

    In a cooperative game each plays all seats by itself; otherwise they sit at one table, in every
    rotation of the seats.

    >>> print(trainyard.arena("convoi", ["expert", MyAgent], episodes=500, board="europe"))
    """
    ruleset = game if isinstance(game, Ruleset) else Ruleset(game, **config)
    names = _names(agents)
    if ruleset.cooperative:
        columns = [_cooperative(ruleset, agent, episodes, seed) for agent in agents]
    else:
        columns = _competitive(ruleset, agents, episodes, seed)
    result = Arena(ruleset.spec, episodes, seed)
    for name, own in zip(names, columns, strict=True):
        result.values[name] = {key: _estimate(value) for key, value in own.items()}
        if own is not columns[0]:
            result.differences[name] = {
                key: Estimate.of(value - columns[0][key]) for key, value in own.items()
            }
    return result


_Columns = dict[str, npt.NDArray[np.float64]]


def _names(agents: Sequence[Any]) -> list[str]:
    """The agents' names, told apart if some are alike."""
    names: list[str] = []
    for agent in agents:
        name = agent_name(agent)
        count = sum(known.partition("#")[0] == name for known in names)
        names.append(f"{name}#{count + 1}" if count else name)
    return names


def _estimate(values: npt.NDArray[np.float64]) -> Estimate:
    return Estimate.of(values, rate=bool(np.isin(values, (0, 1)).all()))


def _cooperative(ruleset: Ruleset, agent: Any, episodes: int, seed: int) -> _Columns:
    results = play(ruleset, [agent] * ruleset.players, episodes=episodes, seed=seed)
    columns = {
        name: results.metrics[:, index].astype(np.float64)
        for index, name in enumerate(ruleset.metrics)
    }
    columns["return"] = results.returns[:, 0]
    columns["decisions"] = results.decisions.astype(np.float64)
    return columns


def _competitive(
    ruleset: Ruleset, agents: Sequence[Any], episodes: int, seed: int
) -> list[_Columns]:
    """Per agent its shares of wins, draws and losses and its return, averaged over its places:
    rotations of one seed share their luck, so the seed is the unit."""
    count = len(agents)
    quantities = ("win", "draw", "loss", "return")
    sums = [{key: np.zeros(episodes) for key in quantities} for _ in agents]
    places = [0] * count
    for rotation in range(count):
        sitters = [(seat + rotation) % count for seat in range(ruleset.players)]
        results = play(ruleset, [agents[i] for i in sitters], episodes=episodes, seed=seed)
        best = results.returns.max(axis=1)
        shared = (results.returns == best[:, None]).sum(axis=1) > 1
        for seat, sitter in enumerate(sitters):
            own = results.returns[:, seat]
            places[sitter] += 1
            sums[sitter]["win"] += (own == best) & ~shared
            sums[sitter]["draw"] += (own == best) & shared
            sums[sitter]["loss"] += own < best
            sums[sitter]["return"] += own
    return [
        {key: value / max(1, places[i]) for key, value in sums[i].items()} for i in range(count)
    ]
