"""Agents: what a baseline in Python is, and the built-in ones as such."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from . import _lib
from .errors import Error
from .inproc import InProcess

if TYPE_CHECKING:
    from .pool import Pool
    from .ruleset import Ruleset


class View:
    """What an agent sees when it is asked: its own seat's row and mask, never a state."""

    __slots__ = ("_pool", "mask", "row", "ruleset", "seat", "slot")

    def __init__(
        self,
        pool: Pool,
        slot: int,
        seat: int,
        row: npt.NDArray[np.uint8],
        mask: npt.NDArray[np.bool_],
    ) -> None:
        self._pool = pool
        self.ruleset: Ruleset = pool.ruleset
        self.slot = slot
        self.seat = seat
        self.row = row
        self.mask = mask

    @property
    def legal(self) -> npt.NDArray[np.intp]:
        """The numbers of the legal actions."""
        return np.flatnonzero(self.mask)

    @property
    def names(self) -> list[str]:
        """The names of the legal actions."""
        return self.ruleset.legal_names(self.mask)

    def text(self) -> str:
        """The position in words, as this seat sees it."""
        return self._pool.text(self.slot, self.seat)

    def value(self, block: str) -> npt.NDArray[np.uint8]:
        """The bytes of a named block of the row.

        >>> view.value("clock")[0]
        """
        return self.row[self.ruleset.block(block).bytes]


@runtime_checkable
class Agent(Protocol):
    """A baseline: a class with `act`. Enter the class to have one agent per seat and episode slot,
    or an instance to have it play everywhere.

    >>> class First:
    ...     def act(self, view):
    ...         return view.legal[0]
    >>> print(trainyard.arena("convoi", ["random", First], episodes=100))

    An agent may also have `start(ruleset, seat, seed)`, called when an episode begins, and take all
    its randomness from that seed.
    """

    def act(self, view: View) -> int:
        """The number of a legal action."""


class BuiltIn:
    """A built-in agent of one seat, played from Python."""

    def __init__(self, ruleset: Ruleset, name: str) -> None:
        self.name = name
        self._ruleset = ruleset
        self._pointer = ruleset.find_agent(name)
        self._agent = self._pointer.contents
        # A whole number of words, so that the address is a multiple of 8.
        self._memory = (ctypes.c_uint64 * (self._agent.memory_size // 8 + 1))()
        self._view = _lib.View(agent=ctypes.addressof(self._agent), ruleset=ruleset.handle)
        self._planner = _lib.Planner(ruleset=ruleset.handle)

    def start(self, ruleset: Ruleset, seat: int, seed: int) -> None:
        _lib.lib.ty_agent_start(
            self._pointer, ctypes.addressof(self._memory), ruleset.handle, seat, seed
        )

    def act(self, view: View) -> int:
        self._view.seat = view.seat
        self._view.row = view.row.ctypes.data
        self._view.mask = view.mask.ctypes.data
        if self._agent.plans:
            backend = view._pool.backend
            if not isinstance(backend, InProcess):
                raise Error(f'{self.name} plans ahead, and needs a pool with backend="inproc"')
            self._planner.state = backend.state_address(view.slot)
            self._planner.seat = view.seat
            self._view.planner = ctypes.addressof(self._planner)
        action: int = self._agent.act(ctypes.addressof(self._memory), ctypes.byref(self._view))
        return action


def agent_name(agent: Any) -> str:
    """How an agent is called in tables: its `name`, or that of its class."""
    if isinstance(agent, str):
        return agent
    name = getattr(agent, "name", None)
    if isinstance(name, str):
        return name
    return agent.__name__ if isinstance(agent, type) else type(agent).__name__
