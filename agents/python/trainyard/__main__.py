"""The programs inside the package: `trainyard`, also `python -m trainyard`, and `trainyardd`."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

from . import _lib
from .daemon import daemon_path
from .errors import Error

#: Commands that are written in Python; the tool has the others, and names these in its help.
COMMANDS = {name: f".{name}" for name in ("mcp", "openenv", "export", "puzzles")}


def tool() -> None:
    """Runs a command of this package, or becomes the command-line tool."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        _become(_lib.program_path("trainyard"))
    try:
        importlib.import_module(COMMANDS[sys.argv[1]], __package__).main(sys.argv[2:])
    except Error as error:
        sys.exit(f"trainyard {sys.argv[1]}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def daemon() -> NoReturn:
    """Becomes the daemon."""
    _become(daemon_path())


def _become(program: Path) -> NoReturn:
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    tool()
