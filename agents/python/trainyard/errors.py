"""What can go wrong, as exceptions that say what to do."""

from __future__ import annotations

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

    >>> try:
    ...     trainyard.make("convoi", players=9)
    ... except trainyard.Error as error:
    ...     error.code
    'bad_config'
    """

    def __init__(self, message: str, code: str = "bad_argument") -> None:
        super().__init__(message)
        self.code = code


class IllegalAction(Error):
    """Actions that the mask forbids, in a pool with illegal="error".

    Nothing changed in `slots`: write legal actions there and step again. All other slots of the
    group did move on, and their next answer is due too.
    """

    def __init__(self, message: str, slots: list[int]) -> None:
        super().__init__(message, "illegal")
        self.slots = slots


class DaemonGone(Error):
    """The daemon does not answer any more, or never did. Its pools are lost: open them again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "gone")
