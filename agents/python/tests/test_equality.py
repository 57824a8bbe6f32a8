"""The same trajectories as in C: the pinned signature, computed through Python."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
import trainyard
from conftest import TOP, tool
from trainyard._lib import lib
from trainyard.errors import CODES

SEEDS = 20
WORD = (1 << 64) - 1


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & WORD
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def add(hash_: int, value: int) -> int:
    return mix(hash_ ^ (value + 0x9E3779B97F4A7C15 & WORD))


def add_bytes(hash_: int, data: bytes) -> int:
    whole = len(data) // 8 * 8
    for word in np.frombuffer(data[:whole], dtype="<u8").tolist():
        hash_ = add(hash_, word)
    return add(add(hash_, int.from_bytes(data[whole:], "little")), len(data))


class Log:
    """What one episode looked like, so that episodes can be played side by side and folded in
    order."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, bytes, bytes, int]] = []
        self.returns: np.ndarray | None = None
        self.metrics: np.ndarray | None = None
        self.last = 0


def play(pool: trainyard.Pool) -> list[Log]:
    logs = [Log() for _ in range(pool.num_envs)]
    returns = np.zeros((pool.num_envs, len(pool.seats)))
    running = np.ones(pool.num_envs, dtype=bool)
    count = pool.ruleset.action_count
    while running.any():
        for slot in np.flatnonzero(running):
            mask = pool.mask[slot]
            key = mix(int(slot) + 1)
            action = lib.ty_sample(mask.ctypes.data, count, key, int(pool.step_count[slot]))
            pool.action[slot] = action
            logs[slot].parts.append(
                (int(pool.hash[slot]), pool.obs[slot].tobytes(), mask.tobytes(), action)
            )
        pool.step()
        returns[running] += pool.earned[running]
        ended = running & (pool.terminated | pool.truncated)
        for slot in np.flatnonzero(ended):
            logs[slot].last = int(pool.hash[slot])
            logs[slot].returns = returns[slot, : pool.ruleset.players] * 64
            logs[slot].metrics = pool.metrics[slot].copy()
        running &= ~ended
    return logs


def told(spec: str, door: dict) -> Iterator[int | bytes]:
    """Everything of a ruleset that goes into the signature, in its order."""
    try:
        chance = "chance=seat" in spec
        pool = trainyard.make(
            spec, num_envs=SEEDS, autoreset="disabled", hash=True, own_chance=chance, **door
        )
    except trainyard.Error as error:
        yield CODES.index(error.code)
        return
    for log in play(pool):
        for part in log.parts:
            yield from part
        yield log.last
        for number in [*log.returns, *log.metrics]:
            yield int(number) & WORD
    pool.close()


def signature(items: Iterable[int | bytes]) -> str:
    hash_ = 0
    for item in items:
        hash_ = add_bytes(hash_, item) if isinstance(item, bytes) else add(hash_, item)
    return f"{hash_:016x}"


def digest(items: Iterable[int | bytes]) -> str:
    """The same for the same items only, and much faster than the signature."""
    state = hashlib.sha256()
    for item in items:
        data = item if isinstance(item, bytes) else item.to_bytes(8, "little")
        state.update(len(data).to_bytes(4, "little") + data)
    return state.hexdigest()


def specs() -> list[str]:
    """The rulesets of the signature, in its order."""
    result = []
    for game in trainyard.games():
        result.append(game.name)
        for field in game.fields:
            if field.kind == "flag":
                values = ["false" if field.standard else "true"]
            elif field.kind == "int":
                span = field.maximum - field.minimum
                stride = 1 if field.key == "players" or span == 0 else span
                numbers = range(field.minimum, field.maximum + 1, stride)
                values = [str(n) for n in numbers if n != field.standard]
            else:
                values = [c for i, c in enumerate(field.choices) if i != field.standard]
            result += [f"{game.name}:{field.key}={value}" for value in values]
    return result


@pytest.fixture(scope="module")
def pinned() -> str:
    """The digest of what has the pinned signature."""
    items = [item for spec in specs() for item in told(spec, {"backend": "inproc"})]
    assert signature(items) == (TOP / "tests/golden/signature.txt").read_text().strip()
    return digest(items)


def test_signature_through_every_door_is_the_pinned_one(door, pinned):
    assert digest(item for spec in specs() for item in told(spec, door)) == pinned


@pytest.mark.parametrize("agents", ["random", "expert"])
def test_arena_has_the_figures_of_the_command_line_tool(agents):
    command = [tool(), "arena", "convoi", "--agents", "random,expert"]
    command += ["--episodes", "60", "--seed", "5", "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    ours = trainyard.arena("convoi", ["random", "expert"], episodes=60, seed=5)
    for theirs in said["agents"]:
        if theirs["agent"] != agents:
            continue
        for name, value in theirs["metrics"].items():
            mine = ours.values[agents][name]
            for key in ("mean", "low", "high"):
                assert getattr(mine, key) == pytest.approx(value["value"][key], abs=1e-6), name


def test_arena_of_rivals_has_the_figures_of_the_command_line_tool():
    command = [tool(), "arena", "express", "--agents", "random,expert"]
    command += ["--episodes", "30", "--seed", "5", "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    ours = trainyard.arena("express", ["random", "expert"], episodes=30, seed=5)
    for theirs in said["agents"]:
        for name in ("win", "draw", "loss", "return"):
            mine = ours.values[theirs["agent"]][name]
            assert mine.mean == pytest.approx(theirs[name]["mean"], abs=1e-6), name
