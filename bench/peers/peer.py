"""What the scripts of this folder share: a process that plays in slices when it is told to.

A script calls `serve(name, decisions, turn)`: `turn()` plays `decisions` decisions. It says its
name, then answers every line with a number of seconds by what it played in that time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter

#: Exit status of a script whose library is not installed.
MISSING = 3


def missing(error: ImportError) -> None:
    print(f"{error}: left out", file=sys.stderr)
    sys.exit(MISSING)


def play(decisions: int, turn: Callable[[], None], seconds: float) -> tuple[int, float]:
    """Takes turns until the time is up; what was played, and in what time."""
    count = 0
    start = now = perf_counter()
    while now - start < seconds:
        turn()
        count += decisions
        now = perf_counter()
    return count, now - start


def serve(name: str, decisions: int, turn: Callable[[], None]) -> None:
    play(decisions, turn, 0.2)  # what is compiled or cached at first
    print(json.dumps({"name": name}), flush=True)
    for line in sys.stdin:
        count, seconds = play(decisions, turn, float(line))
        print(json.dumps({"decisions": count, "seconds": seconds}), flush=True)
