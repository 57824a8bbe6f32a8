"""examples/tour.md: its code runs and prints what it shows.

`TRAINYARD_GOLDEN=write pytest agents/python/tests/test_tour.py` writes what is printed into it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re

from conftest import TOP

TOUR = TOP / "examples/tour.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def played(text: str) -> str:
    """The tour with the output of each block behind it."""
    names: dict[str, object] = {}

    def play(block: re.Match[str]) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block[1], str(TOUR), "exec"), names)
        code = f"```python\n{block[1]}```\n"
        return code + (f"\n```text\n{said.getvalue()}```\n" if said.getvalue() else "")

    return BLOCK.sub(play, text)


def test_the_tour_runs_and_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = TOUR.read_text()
    assert len(BLOCK.findall(text)) >= 7
    now = played(text)
    if os.environ.get("TRAINYARD_GOLDEN") == "write":
        TOUR.write_text(now)
    else:
        assert now == text
