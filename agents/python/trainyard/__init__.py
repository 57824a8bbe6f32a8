"""Train board games for learning agents: many episodes at once, a mask with every observation.

>>> import trainyard
>>> pool = trainyard.make("convoi", num_envs=1024, board="europe", players=2, seed=0)
>>> pool.step(pool.sample())
"""

from __future__ import annotations

from .agents import Agent, View
from .arena import Arena, Estimate, arena, play
from .backend import Group, Options, Rows
from .errors import DaemonGone, Error, IllegalAction
from .pool import Pool, join, make
from .replay import Replay
from .ruleset import Block, Field, Game, Ruleset, games

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Arena",
    "Block",
    "DaemonGone",
    "Error",
    "Estimate",
    "Field",
    "Game",
    "Group",
    "IllegalAction",
    "Options",
    "Pool",
    "Replay",
    "Rows",
    "Ruleset",
    "View",
    "arena",
    "games",
    "join",
    "make",
    "play",
]
