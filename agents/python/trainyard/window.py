"""A live page for environments that are rendered for people."""

from __future__ import annotations

import os
import select
import subprocess
import weakref
import webbrowser

from . import _lib
from .errors import Error

#: How long the page's server may take to start or to stop, in seconds.
_PATIENCE = 20.0


class Window:
    """A page in the browser that shows the last drawing: `trainyard serve --show` of our own.

    >>> window = Window()
    >>> window.show(pool.svg())
    >>> window.url
    'http://127.0.0.1:40123/#token=...&shown=1'
    """

    def __init__(self) -> None:
        command = [str(_lib.program_path("trainyard")), "serve", "--show", "--http", "127.0.0.1:0"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C on a terminal is for us
        )
        #: Ends the server; so does the end of this process, which closes its input.
        self.close = weakref.finalize(self, _stop, self._process, os.getpid())
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        ready, _, _ = select.select([self._process.stdout], [], [], _PATIENCE)
        words = self._process.stdout.readline().decode().split() if ready else []
        if len(words) != 2:
            self._process.kill()
            raise Error(f"no live page: {self._process.stderr.read().decode().strip()}")
        self.url = f"{words[1]}&shown=1"
        self._opened = False

    def show(self, drawing: str) -> None:
        """Shows a drawing; with the first one the page opens."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(drawing.encode())
            self._process.stdin.flush()
        except BrokenPipeError as gone:
            raise Error("the server of the live page is gone") from gone
        if not self._opened:
            self._opened = True
            webbrowser.open(self.url)


def _stop(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
