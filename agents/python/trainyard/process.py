"""Whose process we are in: what one opens belongs to it, and not to the children that it forks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .errors import ForeignProcess

#: How many forks lie between the first process and this one: cheaper to ask than the kernel.
_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)


class Owner:
    """Remembers the process that opened something.

    >>> owner = Owner()
    >>> if os.fork() == 0:
    ...     owner.check()
    trainyard.errors.ForeignProcess: ...
    """

    __slots__ = ("_born", "pid")

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._born = _forks

    @property
    def here(self) -> bool:
        return self._born == _forks

    def check(self) -> None:
        """Raises in a forked child."""
        if self._born != _forks:
            raise ForeignProcess(
                f"this pool belongs to process {self.pid}, which forked this one: open a pool of "
                "your own here with trainyard.make, or have children started by "
                "multiprocessing.get_context('spawn'), which get a copy of what you send them"
            )

    def only(self, function: Callable[..., object], *arguments: Any) -> None:
        """Calls a function that gives something back, unless we are a child: there it would take
        the parent's away."""
        if self.here:
            function(*arguments)
