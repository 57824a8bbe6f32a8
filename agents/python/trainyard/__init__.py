"""Train board games for learning agents: many episodes at once, a mask with every observation.

>>> import trainyard
>>> pool = trainyard.make("convoi", num_envs=1024, board="europe", players=2, seed=0)
>>> pool.step(pool.sample())
"""

from __future__ import annotations

from . import net
from .agents import Agent, View
from .arena import Arena, Estimate, arena, play
from .backend import Group, Options, Rows
from .board import Board, GraphRows
from .errors import DaemonGone, Error, IllegalAction
from .pool import Events, Pool, join, make, watch
from .replay import Replay
from .ruleset import Block, Field, Game, Ruleset, games, load
from .tables import Look, Snapshot, Table, Tables, Turn

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Arena",
    "Block",
    "Board",
    "DaemonGone",
    "Error",
    "Estimate",
    "Events",
    "Field",
    "Game",
    "GraphRows",
    "Group",
    "IllegalAction",
    "Look",
    "Options",
    "Pool",
    "Replay",
    "Rows",
    "Ruleset",
    "Snapshot",
    "Table",
    "Tables",
    "Turn",
    "View",
    "arena",
    "games",
    "join",
    "load",
    "make",
    "net",
    "play",
    "watch",
]
