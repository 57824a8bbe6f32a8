"""What a step costs from Python, beside the C library's own figure and beside peers.

    python -m trainyard.bench [--game convoi] [--slots 1024 4096] [--seconds 2] [--peers] [--json]

All figures are decisions per second of one thread with uniformly random legal play: the mask and
the row of the seat to act are written at every decision. The three ways take turns within one run:

    C         the loop of sampling and stepping inside the library (ty_pool_step_random)
    library   pool.sample() and pool.step() from Python
    NumPy     the policy in Python: random scores, masked, and their argmax; then pool.step(actions)

"in Python" is the share of the time spent outside the library's calls.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .inproc import InProcess
from .pool import Pool, make

#: Rounds in which the ways take turns.
_ROUNDS = 8


@dataclass
class Way:
    """One way to play, and what it took."""

    name: str
    decisions: int = 0
    seconds: float = 0.0
    inside: float = 0.0  # of them in the library

    @property
    def rate(self) -> float:
        return self.decisions / self.seconds if self.seconds else 0.0

    @property
    def share_python(self) -> float:
        return 1 - self.inside / self.seconds if self.seconds else 0.0


def _inside(pool: Pool, way: Way, *, sample: bool) -> None:
    """One step, with the time in the library put on the way's account."""
    start = perf_counter()
    if sample:
        pool.sample()
    pool.step()
    way.inside += perf_counter() - start


def _numpy_policy(pool: Pool) -> Callable[[], None]:
    rng = np.random.default_rng(0)
    scores = np.empty(pool.mask.shape, dtype=np.float32)
    column = pool.action
    best = np.empty(len(column), dtype=np.intp)

    def choose() -> None:
        rng.random(dtype=np.float32, out=scores)
        np.multiply(scores, pool.mask, out=scores)
        np.argmax(scores, axis=1, out=best)
        np.copyto(column, best, casting="unsafe")

    return choose


def _play(way: Way, seconds: float, slots: int, turn: Callable[[], None], turns: int) -> None:
    """Takes turns of `turns` steps each until the time is up."""
    start = now = perf_counter()
    while now - start < seconds:
        turn()
        way.decisions += turns * slots
        now = perf_counter()
    way.seconds += now - start


def measure(game: str, slots: int, seconds: float, **config: Any) -> list[Way]:
    """The three ways for one number of slots."""
    pool = make(game, num_envs=slots, **config)
    backend = pool.backend
    assert isinstance(backend, InProcess)
    ways = [Way("C"), Way("library"), Way("NumPy")]
    choose = _numpy_policy(pool)
    turns = max(1, 8192 // slots)

    def c_turn() -> None:
        start = perf_counter()
        backend.step_random(0, 0, turns)
        ways[0].inside += perf_counter() - start

    def library_turn() -> None:
        for _ in range(turns):
            _inside(pool, ways[1], sample=True)

    def numpy_turn() -> None:
        for _ in range(turns):
            choose()
            _inside(pool, ways[2], sample=False)

    backend.step_random(0, 0, 200)  # spreads the slots over their episodes
    for _ in range(_ROUNDS):
        for way, turn in zip(ways, (c_turn, library_turn, numpy_turn), strict=True):
            _play(way, seconds / _ROUNDS, slots, turn, turns)
    pool.close()
    return ways


# ---- Peers, if they are installed. Each plays a small board game, as its users would.


def _peer_pettingzoo(seconds: float) -> Way:
    from pettingzoo.classic import connect_four_v3

    way, env = Way("PettingZoo connect_four, AEC, 1 environment"), connect_four_v3.env()
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def turn() -> None:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
        else:
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))

    _play(way, seconds, 1, turn, 1)
    return way


def _peer_openspiel(seconds: float) -> Way:
    import pyspiel

    way, game = (
        Way("OpenSpiel connect_four, 1 state, from Python"),
        pyspiel.load_game("connect_four"),
    )
    rng = np.random.default_rng(0)
    state = game.new_initial_state()

    def turn() -> None:
        nonlocal state
        if state.is_terminal():
            state = game.new_initial_state()
        state.observation_tensor(state.current_player())
        legal = state.legal_actions()
        state.apply_action(legal[int(rng.integers(len(legal)))])

    _play(way, seconds, 1, turn, 1)
    return way


def _peer_envpool(seconds: float) -> Way:
    import envpool

    way, slots = Way("EnvPool Taxi-v3 (not a board game), 1024 environments, 1 thread"), 1024
    env = envpool.make("Taxi-v3", env_type="gymnasium", num_envs=slots, num_threads=1)
    env.reset()
    rng = np.random.default_rng(0)
    _play(way, seconds, slots, lambda: env.step(rng.integers(6, size=slots)), 1)
    return way


def _peer_pgx(seconds: float) -> Way:
    import jax
    import jax.numpy as jnp
    import pgx

    way, slots = Way("Pgx connect_four on CPU, 1024 states, jit"), 1024
    env = pgx.make("connect_four")
    init = jax.jit(jax.vmap(env.init))

    @jax.jit
    def step(state: Any, key: Any) -> tuple[Any, Any]:
        key, draw = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
        action = jax.random.categorical(draw, logits, axis=1)
        after = jax.vmap(env.step)(state, action)
        fresh = jax.vmap(env.init)(jax.random.split(key, slots))
        over = after.terminated | after.truncated

        def pick(old: Any, new: Any) -> Any:
            return jnp.where(over.reshape((-1,) + (1,) * (old.ndim - 1)), new, old)

        return jax.tree_util.tree_map(pick, after, fresh), key

    key = jax.random.PRNGKey(0)
    state = init(jax.random.split(key, slots))
    state, key = step(state, key)

    def turn() -> None:
        nonlocal state, key
        state, key = step(state, key)
        state.observation.block_until_ready()

    _play(way, seconds, slots, turn, 1)
    return way


_PEERS: list[tuple[str, Callable[[float], Way]]] = [
    ("pettingzoo", _peer_pettingzoo),
    ("pyspiel", _peer_openspiel),
    ("envpool", _peer_envpool),
    ("pgx", _peer_pgx),
]


def peers(seconds: float) -> list[Way]:
    """Every peer that is installed; the others are named on stderr."""
    ways: list[Way] = []
    for module, run in _PEERS:
        if importlib.util.find_spec(module) is None:
            print(f"{module} is not installed: left out", file=sys.stderr)
            continue
        try:
            ways.append(run(seconds))
        except Exception as error:
            print(f"{module} does not run here ({error}): left out", file=sys.stderr)
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
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure (2)")
    parser.add_argument("--peers", action="store_true", help="measure installed peers too")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    results = {slots: measure(given.game, slots, given.seconds) for slots in given.slots}
    others = peers(given.seconds) if given.peers else []
    if given.json:
        print(json.dumps(_report(given.game, results, others)))
        return
    print(f"{given.game}, in process, one thread, random legal play; {_processor()}")
    print(f"{'slots':>6}  {'policy':8} {'decisions/s':>12} {'of C':>6} {'in Python':>10}")
    for slots, ways in results.items():
        for way in ways:
            share = way.rate / ways[0].rate
            print(
                f"{slots:6}  {way.name:8} {way.rate:12,.0f} {share:6.2f} {way.share_python:10.1%}"
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
        "peers": [entry(way) for way in others],
    }


if __name__ == "__main__":
    main()
