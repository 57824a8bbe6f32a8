"""PufferLib: tripletriad, 1024 games stepped by a loop in C. Actions may be illegal: those change
nothing.

Its extension is loaded by itself: the wheels of some versions lack the modules that import it.
"""

from __future__ import annotations

import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import numpy as np
from peer import missing, serve

SLOTS = 1024
ACTIONS = 14
ROW = 114  # floats
DRAWING = (990, 690, 192, 224)  # what a window would need


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
rng = np.random.default_rng(0)


def turn() -> None:
    actions[:] = rng.integers(ACTIONS, size=SLOTS)
    games.step()


serve(f"PufferLib tripletriad, {SLOTS} games, from Python", SLOTS, turn)
