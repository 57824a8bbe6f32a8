#!/usr/bin/env python3
"""Trainyard beside the peers that are installed, in one run: prints a table in Markdown.

    python bench/peers/run.py [--seconds 2] [--slice 0.004] [--json] [SCRIPT...]

Each is a process of its own that waits until it is its turn; the turns are slices of milliseconds,
so that other work on the machine meets all alike. Shown are the median of the slices and
the best tenth. Nothing is fetched or installed: what is missing is named on stderr and left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from peer import MISSING

FOLDER = Path(__file__).parent
GAMES = ("convoi", "nordic", "express", "chicago")
OURS = [["ours.py", game, "c"] for game in GAMES] + [["ours.py", "convoi", "python"]]
PEERS = [
    ["envpool_toy.py"],
    ["hanabi.py"],
    ["openspiel.py"],
    ["pettingzoo_aec.py"],
    ["pgx_cpu.py"],
    ["pufferlib_ocean.py", "any"],
    ["pufferlib_ocean.py", "legal"],
]


def named(script: str) -> list[list[str]]:
    """The peers of a script; one that is not listed above is run as it is."""
    return [words for words in PEERS if words[0] == script] or [[script]]


class Player:
    """One process, and the rates of its slices."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.rates: list[float] = []
        self.process = subprocess.Popen(
            [sys.executable, str(FOLDER / words[0]), *words[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.name = ""

    def ready(self) -> bool:
        """Waits until it can play; False if it cannot."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):  # some libraries say something first
                self.name = json.loads(line)["name"]
                return True
        status = self.process.wait()
        if status != MISSING:
            print(f"{' '.join(self.words)} ended with status {status}: left out", file=sys.stderr)
        return False

    def play(self, seconds: float) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(seconds, file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        self.rates.append(answer["decisions"] / answer["seconds"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def report(self) -> dict[str, object]:
        self.rates.sort()
        best = self.rates[(9 * len(self.rates)) // 10]
        return {"name": self.name, "median": statistics.median(self.rates), "best": best}


def processor() -> str:
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Trainyard beside installed peers")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each (2)")
    parser.add_argument("--slice", type=float, default=0.004, help="seconds of a turn (0.004)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help="peers to run (all)")
    given = parser.parse_args()
    peers = [words for script in given.scripts for words in named(script)] or PEERS
    players = [player for words in OURS + peers if (player := Player(words)).ready()]
    for _ in range(max(1, round(given.seconds / given.slice))):
        for player in players:
            player.play(given.slice)
    for player in players:
        player.close()
    reports = [player.report() for player in players]
    circumstances = {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "python": platform.python_version(),
    }
    if given.json:
        print(json.dumps(circumstances | {"players": reports}))
        return
    print("; ".join(circumstances.values()), end="\n\n")
    print("| random legal play | decisions/s, median | best tenth |\n|---|---|---|")
    for report in reports:
        print(f"| {report['name']} | {report['median']:,.0f} | {report['best']:,.0f} |")


if __name__ == "__main__":
    main()
