"""Helpers of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainyard
from trainyard.daemon import daemon_path

TOP = Path(__file__).resolve().parents[3]


#: Every way to a pool. The last one is a daemon on tcp, with a token.
DOORS = ["inproc", "shm", "zmq", "tcp"]


@pytest.fixture(scope="session")
def tcp(tmp_path_factory) -> Iterator[dict[str, Any]]:
    """The arguments of `make` for a daemon on tcp, with a token."""
    token = tmp_path_factory.mktemp("tcp") / "token"
    token.write_text("a secret of the tests\n")
    token.chmod(0o600)
    command = [str(daemon_path()), "--listen", "tcp://127.0.0.1:*", "--token", str(token)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        endpoint = process.stdout.readline().split()[-1]
        yield {"backend": "zmq", "endpoint": endpoint, "token": token}
        process.terminate()


def _door(request) -> dict[str, Any]:
    if request.param == "tcp":
        return request.getfixturevalue("tcp")
    return {"backend": request.param}


@pytest.fixture(params=DOORS)
def door(request) -> dict[str, Any]:
    """The arguments of `make` for every door."""
    return _door(request)


@pytest.fixture(params=DOORS[1:])
def remote(request) -> dict[str, Any]:
    """The same for those to a daemon."""
    return _door(request)


@pytest.fixture
def tiny(door) -> Iterator[trainyard.Pool]:
    """Sixteen slots of the smallest board."""
    with trainyard.make("convoi", num_envs=16, board="tiny", seed=3, hash=True, **door) as pool:
        yield pool


def trajectory(pool: trainyard.Pool, steps: int) -> np.ndarray:
    """The state hashes of random play, [steps, slots], for a pool of any number of groups."""
    hashes = []
    for _ in range(steps):
        for group in range(len(pool.groups)):
            pool.step(pool.sample(group, seed=1), group)
        hashes.append(np.concatenate([group.hash for group in pool.groups]))
    return np.array(hashes)


def tool() -> str:
    """The command-line tool of the build that is being tested."""
    library = os.environ.get("TRAINYARD_LIBRARY", "")
    for path in (
        os.path.join(os.path.dirname(library), "trainyard"),
        TOP / "build/gcc/trainyard",
        shutil.which("trainyard") or "",
    ):
        if path and os.access(path, os.X_OK) and os.path.isfile(path):
            return str(path)
    pytest.skip("no command-line tool is built")
