"""Held-out games of a network: alone on all seats, or against built-in agents from every seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arena import Estimate, play
from ..net import Net
from ..pool import Pool, make
from ..ruleset import Ruleset

#: Seeds from here on are for evaluations, up to FIRST_SEED, from which on training has its own.
HELD_OUT = 1_000_000
FIRST_SEED = 1 << 24


@dataclass(frozen=True)
class Games:
    """Finished games: one row per seed."""

    metrics: npt.NDArray[np.int32]  # [games, metrics]
    earned: npt.NDArray[np.float64]  # [games, our seats]


def games(
    net: Net,
    seeds: npt.NDArray[np.uint64],
    *,
    seats: Sequence[str | None] = (),
    temperature: float = 0.0,
    slots: int = 512,
) -> Games:
    """Plays one game per seed; `seats` names built-in agents, None where the network sits."""
    rng = np.random.default_rng(int(seeds[0]))
    parts: list[Games] = []
    for start in range(0, len(seeds), slots):
        part = seeds[start : start + slots]
        with make(
            net.ruleset.spec,
            num_envs=len(part),
            autoreset="disabled",
            seats=list(seats),
            backend="inproc",
        ) as pool:
            pool.reset(seeds=part)
            parts.append(_play_out(net, pool, temperature, rng))
    return Games(
        np.concatenate([part.metrics for part in parts]),
        np.concatenate([part.earned for part in parts]),
    )


def _play_out(net: Net, pool: Pool, temperature: float, rng: np.random.Generator) -> Games:
    earned = np.zeros(pool.earned.shape)
    running = ~(pool.terminated | pool.truncated)
    while running.any():
        at = np.flatnonzero(running)
        chosen = net.choose(pool.obs[at], pool.mask[at], temperature=temperature, rng=rng)
        pool.action[at] = chosen.action
        pool.step()
        earned[at] += pool.earned[at]
        running[at] = ~(pool.terminated | pool.truncated)[at]
    return Games(pool.metrics.copy(), earned)


def versus(
    net: Net, seeds: npt.NDArray[np.uint64], opponent: str, *, temperature: float = 0.0
) -> npt.NDArray[np.float64]:
    """Per seed the share of games won (a shared win counts half) from every seat in turn."""
    players = net.ruleset.players
    columns = [net.ruleset.metrics.index(f"won_{seat}") for seat in range(players)]
    shares = []
    for seat in range(players):
        seats: list[str | None] = [opponent] * players
        seats[seat] = None
        winners = games(net, seeds, seats=seats, temperature=temperature).metrics[:, columns]
        shares.append(winners[:, seat] / np.maximum(1, winners.sum(axis=1)))
    won: npt.NDArray[np.float64] = np.mean(shares, axis=0)
    return won


def results(
    net: Net,
    *,
    count: int,
    against: Sequence[str],
    first: int = HELD_OUT,
    temperature: float = 0.0,
) -> dict[str, Estimate]:
    """The figures of a curve on `count` held-out seeds: the metrics of the network's own games in a
    cooperative ruleset, otherwise `won_AGENT` for each opponent."""
    seeds = np.arange(count, dtype=np.uint64) + np.uint64(first)
    if net.ruleset.cooperative:
        played = games(net, seeds, temperature=temperature)
        return {
            "earned": Estimate.of(played.earned[:, 0]),
            **of_metrics(net.ruleset, played.metrics),
        }
    found: dict[str, Estimate] = {}
    for name in against:
        won = versus(net, seeds, name, temperature=temperature)
        # A share between 0 and 1 varies at most as much as a victory does.
        found[f"won_{name.replace(':', '_')}"] = Estimate.of(won, rate=True)
    return found


def of_metrics(ruleset: Ruleset, metrics: npt.NDArray[Any]) -> dict[str, Estimate]:
    return {
        name: Estimate.of(column, rate=bool(((column == 0) | (column == 1)).all()))
        for name, column in zip(ruleset.metrics, metrics.T, strict=True)
    }


def of_agent(ruleset: Ruleset, agent: str, *, count: int, first: int) -> dict[str, Estimate]:
    """What a built-in agent on all seats of a cooperative ruleset reaches on the same seeds."""
    played = play(ruleset, [agent] * ruleset.players, episodes=count, seed=first)
    return of_metrics(ruleset, played.metrics)
