"""PufferLib: tripletriad, 1024 games stepped by a loop in C.

pufferlib_ocean.py any      actions most of which are illegal and change nothing
pufferlib_ocean.py legal    a card that is in hand, then a place that is free, both from the row

Its extension is loaded by itself: the wheels of some versions lack the modules that import it. It
has to prefer its own functions, one of which the C library has too.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import numpy as np
from peer import missing, serve

SLOTS = 1024
ACTIONS = 15
ROW = 114  # floats
DRAWING = (990, 690, 192, 224)  # what a window would need
TAKEN, CHOSEN, LAID = slice(15, 24), 24, slice(104, 109)  # in a row: places, card, own cards


def extension(name: str) -> ModuleType:
    package = find_spec("pufferlib")
    if package is None or not package.submodule_search_locations:
        raise ImportError("No module named 'pufferlib'")
    folder = Path(package.submodule_search_locations[0]) / "ocean" / name
    file = folder / f"cy_{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not file.exists():
        raise ImportError(f"this pufferlib has no {file.name}")
    loader = ExtensionFileLoader(f"cy_{name}", str(file))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


try:
    tripletriad = extension("tripletriad")
except ImportError as error:
    missing(error)

observations = np.zeros((SLOTS, ROW), np.float32)
actions = np.zeros(SLOTS, np.int32)
rewards = np.zeros(SLOTS, np.float32)
terminals = np.zeros(SLOTS, np.uint8)
games = tripletriad.CyTripleTriad(observations, actions, rewards, terminals, SLOTS, *DRAWING)
games.reset()
(kind,) = sys.argv[1:]
rng = np.random.default_rng(0)


def sample() -> np.ndarray:
    if kind == "any":
        return rng.integers(ACTIONS, size=SLOTS)
    legal = np.zeros((SLOTS, ACTIONS), bool)
    choosing = observations[:, CHOSEN, None] < 0
    legal[:, 1:6] = choosing & (observations[:, LAID] == 0)
    legal[:, 6:] = ~choosing & (observations[:, TAKEN] == 0)
    return (rng.random((SLOTS, ACTIONS), np.float32) * legal).argmax(axis=1)


def turn() -> None:
    actions[:] = sample()
    games.step()


serve(f"PufferLib tripletriad, {kind} actions, {SLOTS} games, from Python", SLOTS, turn)
