"""What language models cost: `python -m trainyard.bench --llm`.

A step is one answer: its action is taken, and the text, the legal actions and the events of the
next question are written. All seats are the session's, so that no partner's thinking is measured.

    tables     the package alone: sessions take turns in one thread
    OpenEnv    its server in a process of its own, with a connection for each session
    bare       the same server with an environment that says the same words every time, which is
               what the server and its connections cost without us
    group      64 branches of a position

By the clock, over all the time and in the best tenth of its slices; and per second of processor
time of the process that plays. On a busy machine the first says how busy it is, and the best slices
are those in which nobody else had the processors. For OpenEnv the client here needs time too.
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
#: Seconds of a slice: of tables, and of servers, whose sessions' answers wait for each other.
SLICE, SERVER_SLICE = 0.02, 0.1
#: Rounds in which the servers take turns.
ROUNDS = 4


@dataclass
class Figure:
    """Steps of some sessions, by the clock and by the processor."""

    name: str
    sessions: int
    steps: int
    seconds: float
    processor: float
    best: float

    def __str__(self) -> str:
        rate, busy = self.steps / self.seconds, self.steps / max(self.processor, 1e-9)
        return (
            f"{self.name:8} {self.sessions:3} sessions {rate:8,.0f} steps/s by the clock "
            f"{self.best:8,.0f} in the best slices {busy:8,.0f} per second of processor time"
        )


class Counter:
    """Counts steps, slice by slice."""

    def __init__(self, seconds: float) -> None:
        self.steps = 0
        self._seconds = seconds
        self._rates: list[float] = []
        self.start()

    def start(self) -> None:
        """A slice begins."""
        self._begin, self._before = perf_counter(), self.steps

    def add(self, steps: int) -> None:
        self.steps += steps
        took = perf_counter() - self._begin
        if took >= self._seconds:
            self._rates.append((self.steps - self._before) / took)
            self.start()

    @property
    def best(self) -> float:
        """The rate that a tenth of the slices reaches."""
        rates = sorted(self._rates, reverse=True)
        return rates[len(rates) // 10] if rates else 0.0


def measure_tables(game: str, sessions: int, seconds: float) -> Figure:
    tables, chance = Tables(), random.Random(0)
    seed = sessions

    def sit(number: int) -> Table:
        return tables.open(game, seed=number)

    players = [sit(number) for number in range(sessions)]
    looks = [table.look() for table in players]
    count, begin, used = Counter(SLICE), perf_counter(), process_time()
    while perf_counter() - begin < seconds:
        for i, table in enumerate(players):
            table.act([chance.choice(looks[i].names)])
            looks[i] = table.look()
            if looks[i].over:
                table.close()
                players[i], seed = sit(seed), seed + 1
                looks[i] = players[i].look()
        count.add(sessions)
    took, used = perf_counter() - begin, process_time() - used
    tables.close()
    return Figure("tables", sessions, count.steps, took, used, count.best)


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


async def _session(url: str, seed: int, running: Callable[[], bool], count: Counter) -> None:
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
                count.add(1)


async def _sessions(url: str, sessions: int, seconds: float, count: Counter) -> None:
    begin = perf_counter()
    count.start()

    def running() -> bool:
        return perf_counter() - begin < seconds

    await asyncio.gather(*(_session(url, seed, running, count) for seed in range(sessions)))


def serve_bare(port: int) -> None:
    """OpenEnv's server with an environment that does nothing, and says as much as ours."""
    from openenv.core.env_server.http_server import create_app

    from .openenv import Play, Seen, TrainyardEnvironment, serve

    class Bare(TrainyardEnvironment):
        words = TrainyardEnvironment().reset(seed=1, partner="me")

        def reset(self, *_: Any, **given: Any) -> Seen:
            return self.words

        async def step_async(self, action: Play, timeout_s: float | None = None, **_: Any) -> Seen:
            return self.words

    serve(create_app(Bare, Play, Seen, max_concurrent_envs=1024), "127.0.0.1", port)


class Server:
    """A server in a process of its own, started by arguments of Python, and what it has done."""

    def __init__(self, name: str, arguments: list[str], port: int) -> None:
        self.name, self.port = name, port
        self.process = subprocess.Popen([sys.executable, *arguments])
        self.forget()

    def forget(self) -> None:
        """What was done so far does not count."""
        self.counts = {sessions: Counter(SERVER_SLICE) for sessions in SESSIONS}
        self.seconds = dict.fromkeys(SESSIONS, 0.0)
        self.processor = dict.fromkeys(SESSIONS, 0.0)

    def play(self, sessions: int, seconds: float) -> None:
        url, count = f"ws://127.0.0.1:{self.port}/ws", self.counts[sessions]
        before, begin = _processor_time(self.process.pid), perf_counter()
        asyncio.run(_sessions(url, sessions, seconds, count))
        self.seconds[sessions] += perf_counter() - begin
        self.processor[sessions] += _processor_time(self.process.pid) - before

    def figure(self, sessions: int) -> Figure:
        count, seconds = self.counts[sessions], self.seconds[sessions]
        used = self.processor[sessions]
        return Figure(self.name, sessions, count.steps, seconds, used, count.best)


def measure_openenv(game: str, seconds: float) -> list[Figure]:
    """The two servers take turns, so that a busy machine slows both."""
    port, other = _port(), _port()
    ours = ["-m", "trainyard", "openenv", "--port", str(port), "--ruleset", game]
    bare = ["-c", f"from trainyard.bench_llm import serve_bare; serve_bare({other})"]
    servers = [Server("OpenEnv", ours, port), Server("bare", bare, other)]
    try:
        for server in servers:
            _await_server(server.process, server.port)
            server.play(max(SESSIONS), 0.5)
            server.forget()
        for _ in range(ROUNDS):
            for sessions in SESSIONS:
                for server in servers:
                    server.play(sessions, seconds / ROUNDS)
        return [server.figure(sessions) for server in servers for sessions in SESSIONS]
    finally:
        for server in servers:
            server.process.terminate()
            server.process.wait()


def run(game: str, seconds: float) -> None:
    for sessions in SESSIONS:
        print(measure_tables(game, sessions, seconds))
    if importlib.util.find_spec("openenv") is None:
        print("openenv is not installed: its server was not measured", file=sys.stderr)
    else:
        for figure in measure_openenv(game, seconds):
            print(figure)
    print(f"group    64 branches in {measure_group(game):.2f} ms")
