"""What is shipped: sources that are clean, and a wheel that works where nothing else is."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv

import pytest
from conftest import TOP


def run(*command: str, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("command", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]])
def test_sources_are_clean(command):
    if importlib.util.find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    where = ["agents/python", "examples", "tests"] if command[0] == "ruff" else []
    run(sys.executable, "-m", *command, *where, cwd=TOP)


def test_plain_import_needs_nothing_but_numpy():
    code = (
        "import sys, trainyard; pool = trainyard.make('convoi', num_envs=2);"
        "pool.step(pool.sample());"
        "print(*{name.partition('.')[0] for name in sys.modules} & "
        "{'gymnasium', 'pettingzoo', 'torch', 'stable_baselines3', 'ray', 'torchrl'})"
    )
    assert run(sys.executable, "-c", code).strip() == ""


@pytest.mark.slow
def test_wheel_from_the_sdist_works_in_a_fresh_environment(tmp_path):
    if importlib.util.find_spec("build") is None:
        pytest.skip("the package `build` is not installed")
    # Not optimised, which would take most of the time and be seen no sooner.
    fast = ["-C", "cmake.build-type=Debug"]
    run(sys.executable, "-m", "build", *fast, "--outdir", str(tmp_path), str(TOP))
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv/bin/python")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel))
    code = (
        "import trainyard; pool = trainyard.make('convoi', num_envs=8, hash=True);"
        "[pool.step(pool.sample()) for _ in range(200)];"
        "pools = [trainyard.make('convoi', num_envs=8, hash=True, backend=backend)"
        " for backend in ('shm', 'zmq')];"
        "[other.step(other.sample()) for _ in range(200) for other in pools];"
        "assert all((other.hash == pool.hash).all() for other in pools);"
        "print(trainyard.__file__, trainyard.arena('convoi', ['random', 'expert'], episodes=3))"
    )
    said = run(python, "-I", "-c", code, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})
    assert str(tmp_path / "venv") in said
