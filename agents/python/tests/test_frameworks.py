"""examples/frameworks.py: what is installed runs."""

from __future__ import annotations

import sys

import pytest
from conftest import TOP

sys.path.insert(0, str(TOP / "examples"))
import frameworks


@pytest.mark.parametrize("name", ["supersuit", "skrl"])
def test_frameworks_that_are_quick_to_install(name, capsys):
    assert frameworks.main([name]) == 0
    assert f"{name:10} ok: " in capsys.readouterr().out


def test_those_that_are_not_installed_are_named(capsys, monkeypatch):
    monkeypatch.setattr(frameworks.importlib.util, "find_spec", lambda name: None)
    assert frameworks.main([]) == 0
    said = capsys.readouterr().out
    for try_it in frameworks.FRAMEWORKS:
        assert f"{try_it.__name__:10} not installed" in said


def test_one_that_fails_is_told(capsys, monkeypatch):
    def json():
        raise ValueError("broken")

    monkeypatch.setattr(frameworks, "FRAMEWORKS", [json])
    assert frameworks.main([]) == 1
    assert "FAILED" in capsys.readouterr().out
