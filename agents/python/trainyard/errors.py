"""What can go wrong, as exceptions that say what to do."""

from __future__ import annotations

from collections.abc import Sequence

#: Codes of the C library by number; stable, also over the wire.
CODES = (
    "ok",
    "bad_argument",
    "bad_config",
    "bad_file",
    "bad_script",
    "illegal",
    "limit",
    "no_memory",
    "io",
)


class Error(Exception):
    """Something that Trainyard refuses. `code` is one of `trainyard.errors.CODES`.

    All our errors can be pickled, so they cross from a worker process to its parent: each can be
    made of its message alone, and carries the rest in attributes.

    >>> try:
    ...     trainyard.make("convoi", players=9)
    ... except trainyard.Error as error:
    ...     error.code
    'bad_config'
    """

    def __init__(self, message: str, code: str = "bad_argument") -> None:
        super().__init__(message)
        self.code = code


class BadKeyword(Error, TypeError):
    """A keyword that is neither an argument nor a setting of the game, or a mode that is not there:
    frameworks find out by a TypeError what they may pass."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "bad_config")


class IllegalAction(Error):
    """Actions that the mask forbids, in a pool with illegal="error".

    Nothing changed in `slots`: write legal actions there and step again. All other slots of the
    group did move on, and their next answer is due too.
    """

    def __init__(self, message: str, slots: Sequence[int] = ()) -> None:
        super().__init__(message, "illegal")
        self.slots = list(slots)


class DaemonGone(Error):
    """The daemon does not answer any more, or never did. Its pools are lost: open them again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "gone")


class ForeignProcess(Error):
    """A pool belongs to the process that opened it, and a forked child has called it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "foreign")
