"""Masked PPO on any game: the library plays with its network, PyTorch learns.

    python -m trainyard.train run convoi --minutes 20
    python -m trainyard.train run express --past 8 --seeds 3 --minutes 10
    python -m trainyard.train resume runs/express-0 --minutes 60
    python -m trainyard.train evaluate runs/express-0/policy.net --games 2000
    python -m trainyard.train plot runs/express-* --figure won_expert -o express.png

Cooperative games are learned as one player who sits everywhere; in competitive ones each seat
learns from its own rewards, against itself, past selves and built-in agents. The same configuration
gives the same weights after the same number of decisions, on any number of threads, if PyTorch runs
on the same kind of processor. A run that is stopped and resumed ends in the same weights as one
that is not, but for built-in agents who teach or play in it: they forget. With --minutes only the
moment of the end is left to the clock.
"""

from __future__ import annotations

from .collect import Collector, Decisions, Rival
from .config import Config
from .evaluate import HELD_OUT, games, results, versus
from .learner import Learner
from .network import Network
from .run import Budget, Run
from .trainer import Trainer

__all__ = [
    "HELD_OUT",
    "Budget",
    "Collector",
    "Config",
    "Decisions",
    "Learner",
    "Network",
    "Rival",
    "Run",
    "Trainer",
    "games",
    "results",
    "versus",
]
