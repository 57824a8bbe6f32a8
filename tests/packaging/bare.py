"""Run by test_wheel.sh inside a root directory that has Python, NumPy, pyzmq and our wheel only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import trainyard
import zmq  # with a libzmq of its own, in the same process
from trainyard import _lib

NAMES = ("libzmq", "libjansson", "libmsgpack", "libsodium", "libtrainyard")


def say(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def nothing_else_is_here() -> None:
    for program in ("cc", "gcc", "clang", "ld", "cmake", "pkg-config"):
        assert shutil.which(program) is None, program
    own = [Path(zmq.__file__).parents[1], Path(trainyard.__file__).parents[1]]
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) != "/proc"]
        if any(Path(folder).is_relative_to(place) for place in own):
            continue
        found = [name for name in files if name.startswith(NAMES)]
        assert not found, (folder, found)


def every_backend_plays_alike() -> None:
    def played(**options: object) -> list[int]:
        with trainyard.make("convoi", num_envs=8, seed=5, hash=True, **options) as pool:
            for _ in range(200):
                pool.step(pool.sample(seed=1))
            return pool.hash.tolist()

    expected = played()
    assert len(set(expected)) == 8
    for backend in ("shm", "zmq"):
        assert played(backend=backend) == expected, backend


def pyzmq_keeps_its_own_library() -> None:
    maps = Path("/proc/self/maps").read_text()
    libraries = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
    assert sum("libtrainyard" in name for name in libraries) == 1
    assert not hasattr(_lib.lib, "zmq_errno")
    context = zmq.Context()
    left, right = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    left.bind("inproc://here")
    right.connect("inproc://here")
    left.send(b"a word")
    assert right.recv() == b"a word"
    context.destroy()


def programs_are_on_the_path() -> None:
    version = f"trainyard {trainyard.__version__}\n"
    assert say("trainyard", "--version") == version
    assert say(sys.executable, "-m", "trainyard", "--version") == version
    assert say("trainyardd", "--version") == f"trainyardd {trainyard.__version__}\n"
    assert '"episodes":20' in say("trainyard", "sim", "express", "--episodes", "20", "--json")


def daemon_speaks_with_keys() -> None:
    """Encrypted connections: libsodium is inside, too. pyzmq's libzmq talks to ours."""
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for name in ("daemon", "me"):
            say("trainyard", "keygen", name)
        command = ["trainyardd", "--listen", "tcp://127.0.0.1:*", "--curve-secret", "daemon.secret"]
        with subprocess.Popen(
            [*command, "--curve-clients", "me.pub"], stdout=subprocess.PIPE, text=True
        ) as daemon:
            endpoint = daemon.stdout.readline().split()[-1]
            keys = {"keys": "me.secret", "server_key": "daemon.pub"}
            with trainyard.make("express", backend="zmq", endpoint=endpoint, **keys) as pool:
                pool.step(pool.sample())
            words = ["--connect", endpoint, "--keys", "me.secret", "--server-key", "daemon.pub"]
            assert "sessions" in say("trainyard", "stats", *words)
            daemon.terminate()
        assert daemon.returncode == 0, daemon.returncode
        os.chdir("/")


nothing_else_is_here()
every_backend_plays_alike()
pyzmq_keeps_its_own_library()
programs_are_on_the_path()
daemon_speaks_with_keys()
