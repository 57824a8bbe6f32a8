"""What language models cost: `python -m trainyard.bench --llm`.

A step is one answer: its action is taken, and the text, the legal actions and the events of the
next question are written. All seats are the session's, so that no partner's thinking is measured.

    tables     the package alone: sessions take turns in one thread
    OpenEnv    its server in a process of its own, with a connection for each session
    group      64 branches of a position

By the clock, and per second of processor time of the process that plays: on a busy machine the
second is what the machine would do for us alone. For OpenEnv the client here needs time too.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from .errors import Error
from .tables import Table, Tables

SESSIONS = (1, 32)


@dataclass
class Figure:
    """Steps of some sessions, by the clock and by the processor."""

    name: str
    sessions: int
    steps: int
    seconds: float
    processor: float

    def __str__(self) -> str:
        rate, busy = self.steps / self.seconds, self.steps / max(self.processor, 1e-9)
        return (
            f"{self.name:8} {self.sessions:3} sessions {rate:10,.0f} steps/s by the clock "
            f"{busy:10,.0f} per second of processor time"
        )


def measure_tables(game: str, sessions: int, seconds: float) -> Figure:
    tables, chance = Tables(), random.Random(0)
    seed = sessions

    def sit(number: int) -> Table:
        return tables.open(game, seed=number)

    players = [sit(number) for number in range(sessions)]
    looks = [table.look() for table in players]
    steps, begin, used = 0, perf_counter(), process_time()
    while perf_counter() - begin < seconds:
        for i, table in enumerate(players):
            table.act([chance.choice(looks[i].names)])
            looks[i] = table.look()
            if looks[i].over:
                table.close()
                players[i], seed = sit(seed), seed + 1
                looks[i] = players[i].look()
        steps += sessions
    figure = Figure("tables", sessions, steps, perf_counter() - begin, process_time() - used)
    tables.close()
    return figure


def measure_group(game: str, count: int = 64, rounds: int = 50) -> float:
    """Milliseconds for `count` branches, the median of some rounds."""
    tables = Tables()
    table = tables.open(game, seed=1)
    for _ in range(10):
        table.act([table.look().names[0]])
    times = []
    for _ in range(rounds):
        snapshot = table.snapshot()
        begin = perf_counter()
        branches = tables.group(snapshot, count, keys=range(count))
        times.append(perf_counter() - begin)
        for branch in branches:
            branch.close()
    tables.close()
    return 1e3 * sorted(times)[rounds // 2]


# ---- OpenEnv's server


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _processor_time(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _await_server(process: subprocess.Popen[bytes], port: int, patience: float = 120.0) -> None:
    begin = perf_counter()
    while perf_counter() - begin < patience and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            sleep(0.2)
    raise Error("the OpenEnv server did not start")


async def _session(url: str, seed: int, running: Callable[[], bool], count: list[int]) -> None:
    import websockets

    chance = random.Random(seed)
    async with websockets.connect(url, compression=None, max_size=None) as connection:

        async def ask(kind: str, **data: Any) -> dict[str, Any]:
            await connection.send(json.dumps({"type": kind, "data": data}))
            reply = json.loads(await connection.recv())
            if reply["type"] == "error":
                raise Error(f"OpenEnv: {reply['data']}")
            told: dict[str, Any] = reply["data"]
            return told

        seen = await ask("reset", seed=seed, partner="me")
        while running():
            if seen["done"]:
                seen = await ask("reset", seed=chance.randrange(1 << 32), partner="me")
            else:
                choice = chance.choice(seen["observation"]["legal_actions"])
                seen = await ask("step", actions=[choice])
                count[0] += 1


async def _sessions(url: str, sessions: int, seconds: float) -> tuple[int, float]:
    begin, count = perf_counter(), [0]

    def running() -> bool:
        return perf_counter() - begin < seconds

    await asyncio.gather(*(_session(url, seed, running, count) for seed in range(sessions)))
    return count[0], perf_counter() - begin


def measure_openenv(game: str, sessions: list[int], seconds: float) -> list[Figure]:
    port = _port()
    command = [sys.executable, "-m", "trainyard", "openenv", "--port", str(port)]
    figures = []
    with subprocess.Popen([*command, "--ruleset", game]) as server:
        try:
            _await_server(server, port)
            url = f"ws://127.0.0.1:{port}/ws"
            asyncio.run(_sessions(url, max(sessions), 0.5))
            for count in sessions:
                before = _processor_time(server.pid)
                steps, took = asyncio.run(_sessions(url, count, seconds))
                used = _processor_time(server.pid) - before
                figures.append(Figure("OpenEnv", count, steps, took, used))
        finally:
            server.terminate()
    return figures


def run(game: str, seconds: float) -> None:
    for sessions in SESSIONS:
        print(measure_tables(game, sessions, seconds))
    if importlib.util.find_spec("openenv") is None:
        print("openenv is not installed: its server was not measured", file=sys.stderr)
    else:
        for figure in measure_openenv(game, list(SESSIONS), seconds):
            print(figure)
    print(f"group    64 branches in {measure_group(game):.2f} ms")
