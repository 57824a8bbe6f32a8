"""What is shipped: types that are sound, and a wheel that works where nothing else is."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
from conftest import TOP


def run(*command: str, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_types_are_sound():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    run(sys.executable, "-m", "mypy", cwd=TOP)


def test_plain_import_needs_nothing_but_numpy():
    code = (
        "import sys, trainyard; pool = trainyard.make('convoi', num_envs=2);"
        "pool.step(pool.sample());"
        "print(*{name.partition('.')[0] for name in sys.modules} & "
        "{'gymnasium', 'pettingzoo', 'torch', 'stable_baselines3', 'ray', 'torchrl'})"
    )
    assert run(sys.executable, "-c", code).strip() == ""


#: Plays through every backend, with the programs of the package.
PLAY = (
    "import trainyard; pool = trainyard.make('convoi', num_envs=8, hash=True);"
    "[pool.step(pool.sample()) for _ in range(200)];"
    "pools = [trainyard.make('convoi', num_envs=8, hash=True, backend=backend)"
    " for backend in ('shm', 'zmq')];"
    "[other.step(other.sample()) for _ in range(200) for other in pools];"
    "assert all((other.hash == pool.hash).all() for other in pools);"
    "print(trainyard.__file__, trainyard.arena('convoi', ['random', 'expert'], episodes=3))"
)


def environment(place: Path) -> str:
    """A new environment with everything that is here but the package. Returns its interpreter.

    `tests/packaging` has the wheel where there is nothing else.
    """
    venv.create(place, with_pip=True)
    paths = sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        link = Path(paths["purelib"], path.name)
        if "trainyard" not in path.name and not link.exists():
            link.symlink_to(path)
    return str(place / "bin/python")


@pytest.mark.slow
def test_sdist_builds_a_wheel_and_an_editable_install(tmp_path):
    if importlib.util.find_spec("build") is None:
        pytest.skip("the package `build` is not installed")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path)]
    run(*build, "--sdist", str(TOP))
    (archive,) = tmp_path.glob("trainyard_env-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert {path.name for path in source.iterdir()} == {
        *(
            "CMakeLists.txt",
            "CMakePresets.json",
            "LICENSE",
            "PKG-INFO",
            "README.md",
            "pyproject.toml",
        ),
        *("agents", "bench", "env", "proto"),
    }
    assert not [path for path in source.rglob("*") if path.suffix in (".pt", ".png", ".pyc")]

    # Not optimised, which would take most of the time and be seen no sooner; and compiled once.
    fast = ["-C", "cmake.build-type=Debug", "-C", f"build-dir={tmp_path / 'build'}"]
    fast += ["-C", "cmake.define.CMAKE_C_FLAGS_DEBUG=-O0"]
    run(*build, *fast, "--wheel", str(source))
    (wheel,) = tmp_path.glob("*.whl")
    python = environment(tmp_path / "venv")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    bare: dict[str, Any] = {"cwd": tmp_path, "env": {"PATH": "/usr/bin:/bin"}}
    run(*pip, str(wheel))
    assert str(tmp_path / "venv") in run(python, "-I", "-c", PLAY, **bare)
    for command in (["trainyard"], ["trainyardd"], ["python", "-m", "trainyard"]):
        program = str(tmp_path / "venv/bin" / command[0])
        assert "0.1.0" in run(program, *command[1:], "--version", **bare)

    # What is not Python is then elsewhere than the source.
    run(*pip, "--no-build-isolation", "--force-reinstall", *fast, "-e", str(source))
    assert str(source) in run(python, "-I", "-c", PLAY, **bare)
