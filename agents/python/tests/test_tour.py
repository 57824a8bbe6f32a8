"""Documents whose code runs and prints what they show: README's first lines, the tour, and the
page of this package.

`TRAINYARD_GOLDEN=write pytest agents/python/tests/test_tour.py` writes what is printed into them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import trainyard
from conftest import TOP, tool
from trainyard.daemon import daemon_path

sys.path.insert(0, str(TOP / "tests/support"))
from document import BLOCK, played


@pytest.mark.parametrize(("name", "blocks"), [("README.md", 1), ("examples/tour.md", 7)])
def test_the_document_runs_and_prints_what_it_shows(name, blocks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (TOP / name).read_text()
    assert len(BLOCK.findall(text)) >= blocks
    now = played(text, name)
    if os.environ.get("TRAINYARD_GOLDEN") == "write":
        (TOP / name).write_text(now)
    else:
        assert now == text


PAGE = (TOP / "agents/python/README.md").read_text()


def test_the_loop_of_the_package_page_runs():
    (code, _), *_ = BLOCK.findall(PAGE)
    names = {"policy": lambda obs, mask: mask.argmax(axis=1)}
    exec(compile(code, "agents/python/README.md", "exec"), names)
    assert names["pool"].episode.min() > 0
    names["pool"].close()


@pytest.fixture
def daemons(tmp_path):
    """Where the daemons of the page are, by the endpoints that it shows."""
    (tmp_path / "token.txt").write_text("a secret of this test\n")
    (tmp_path / "token.txt").chmod(0o600)
    for who in ("daemon", "me"):
        subprocess.run([tool(), "keygen", tmp_path / who], check=True, capture_output=True)
    tmp_path.chmod(0o700)
    curve = ["--curve-secret", tmp_path / "daemon.secret", "--curve-clients", tmp_path / "me.pub"]
    wanted = {
        "ipc:///run/user/1000/trainyard/trainyardd": [f"ipc://{tmp_path}/d"],
        "tcp://127.0.0.1:5555": ["tcp://127.0.0.1:*", "--token", tmp_path / "token.txt"],
        "tcp://host:5555": ["tcp://127.0.0.1:*", *curve],
    }
    processes = []
    places = {}
    for shown, options in wanted.items():
        command = [daemon_path(), "--listen", *options]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        said = processes[-1].stdout.readline().split()
        places[shown] = next(word for word in said if "://" in word)
    yield places
    for process in processes:
        process.terminate()
        process.communicate()


def test_every_way_to_a_pool_on_the_package_page_works(daemons, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^    (trainyard\.make\(.*?\))\s*(?:#|$)", PAGE, re.MULTILINE)
    assert len(lines) == 1 + len(daemons), lines
    for line in lines:
        for shown, real in daemons.items():
            line = line.replace(f'"{shown}"', f'"{real}"')
        with eval(line, {"trainyard": trainyard}) as pool:
            pool.step(pool.sample())
