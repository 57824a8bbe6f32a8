"""A daemon of one's own: started with a pool, gone with it or with this process."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import _lib
from .errors import DaemonGone, Error
from .ruleset import loaded

#: How long a daemon may take to start or to stop, in seconds.
_PATIENCE = 20.0


def daemon_path() -> Path:
    """Where `trainyardd` is: $TRAINYARD_DAEMON, beside $TRAINYARD_LIBRARY, or in the package."""
    override = os.environ.get("TRAINYARD_DAEMON")
    if not override:
        return _lib.program_path("trainyardd")
    if not os.access(override, os.X_OK):
        raise Error(f"TRAINYARD_DAEMON: {override} is not a program")
    return Path(override)


class Daemon:
    """A private daemon, in a directory that it makes and removes itself.

    It holds one end of a pipe whose other end is ours alone. Whatever becomes of this process, the
    kernel closes that end, and the daemon leaves.

    >>> daemon = Daemon()
    >>> daemon.endpoint
    'ipc:///tmp/trainyard-...'
    """

    def __init__(
        self, files: Mapping[str, bytes] | None = None, options: Sequence[str] = ()
    ) -> None:
        """`files` are those that agents may be opened with, by their names there; `options` are
        further ones of trainyardd."""
        directory = Path(tempfile.gettempdir()) / f"trainyard-{secrets.token_hex(8)}"
        self.endpoint = f"ipc://{directory}/daemon"
        path = daemon_path()
        read, write = os.pipe()
        try:
            command = [str(path), "--listen", self.endpoint, *options]
            command += [word for place in loaded for word in ("--load", str(place))]
            folder = _write(files) if files else None
            command += ["--boards", folder.name] if folder else []
            self._process = subprocess.Popen(
                [*command, "--lease", str(read)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(read,),
                # Ctrl-C on a terminal is for us, not for the daemon.
                start_new_session=True,
            )
        except BaseException:
            os.close(write)
            raise
        finally:
            os.close(read)
        _leases.add(lease := _Lease(write))
        self.stop = weakref.finalize(
            self, _stop, self._process, lease, directory, folder, os.getpid()
        )
        try:
            self._await_ready(path)
        except BaseException:
            self.stop()
            raise

    def _await_ready(self, path: Path) -> None:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], _PATIENCE)
        line = self._process.stdout.readline() if ready else b""
        if b" ready:" not in line:
            if ready:  # it closed its output: its end is near
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE)
            said = self.gone() or f"nothing for {_PATIENCE:.0f} seconds"
            raise DaemonGone(f"{path} did not start: {said}")
        words = line.decode().split(" ready:")[1].split()
        #: Everywhere it listens, our own first.
        self.endpoints = [word for word in words if not word.startswith("shm:")]

    @property
    def pid(self) -> int:
        return self._process.pid

    def gone(self) -> str | None:
        """What became of the daemon; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        assert self._process.stderr is not None
        said = "" if self._process.stderr.closed else self._process.stderr.read().decode()
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"the private daemon {how}" + (f", saying: {said.strip()}" if said else "")


class _Lease:
    """Our end of the pipe."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def end(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


_leases: weakref.WeakSet[_Lease] = weakref.WeakSet()


def _forked() -> None:
    # A child that outlives us must not keep our daemon alive.
    for lease in list(_leases):
        lease.end()


os.register_at_fork(after_in_child=_forked)


def _write(files: Mapping[str, bytes]) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="trainyard-files-")
    for name, content in files.items():
        (Path(folder.name) / name).write_bytes(content)
    return folder


def _stop(
    process: subprocess.Popen[bytes],
    lease: _Lease,
    directory: Path,
    folder: tempfile.TemporaryDirectory[str] | None,
    owner: int,
) -> None:
    if os.getpid() != owner:
        return
    lease.end()
    if folder is not None:
        folder.cleanup()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # Nothing is left of a daemon that ended by itself; one that was killed could not tidy up.
    shutil.rmtree(directory, ignore_errors=True)
    for stream in (process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            assert stream is not None
            stream.close()
