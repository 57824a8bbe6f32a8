"""A connection to the daemon: requests, replies, and what to do when it breaks.

proto/PROTOCOL.md describes the messages. A reply is read where ZeroMQ received it: its binaries are
views, which the caller copies to where they belong.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

import msgpack
import zmq
from zmq.utils.monitor import recv_monitor_message

from .errors import DaemonGone, Error

PROTOCOL = 1

#: How long a wait lasts before we ask whether the daemon is still there, in ms.
_LOOK_MS = 100
#: How long the first answer may take, in seconds.
_CONNECT = 5.0
#: How long messages that were sent last may linger when a connection closes, in ms.
_LINGER_MS = 200
#: How many notices are kept.
_NOTICES = 32
#: Lists and texts of a reply are short: so many bytes are looked at first.
_SHORT = 1 << 16

_DISCONNECTED = zmq.Event.DISCONNECTED
_REFUSED = (
    zmq.Event.HANDSHAKE_FAILED_AUTH
    | zmq.Event.HANDSHAKE_FAILED_PROTOCOL
    | zmq.Event.HANDSHAKE_FAILED_NO_DETAIL
)
#: What to do about a hello that is refused.
_ADVICE = {
    "bad_version": "; install the package and the daemon from the same version",
    "denied": "; give `token`, the file that the daemon was started with",
}

#: Errors that the library knows by another name.
_SAME = {"illegal_action": "illegal", "bad_request": "bad_argument"}

Reply = dict[str, Any]


# ---- Messages

_BINARY = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_FLAG = {0xC2: False, 0xC3: True}
_NUMBER = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}


def _nested(view: memoryview) -> tuple[Any, int]:
    """The value that begins the view, and how many bytes it has."""
    for end in (_SHORT, len(view)):
        unpacker = msgpack.Unpacker(max_buffer_size=0)
        unpacker.feed(view[:end])
        try:
            return unpacker.unpack(), unpacker.tell()
        except msgpack.OutOfData:
            continue
    raise ValueError("a reply that ends too early")


def scan(view: memoryview) -> Reply:
    """The entries of a reply. Binaries are views on the message: nothing large is copied."""
    kind, at = view[0], 3
    count = int.from_bytes(view[1:3], "big")
    if kind != 0xDE:
        count, at = kind & 0x0F, 1
    reply: Reply = {}
    for _ in range(count):
        end = at + 1 + (view[at] & 0x1F)
        key = str(view[at + 1 : end], "ascii")
        kind = view[end]
        at = end + 1
        if kind in _BINARY:
            start = at + _BINARY[kind]
            at = start + int.from_bytes(view[at:start], "big")
            reply[key] = view[start:at]
        elif kind in _NUMBER:
            start, at = at, at + _NUMBER[kind]
            reply[key] = int.from_bytes(view[start:at], "big")
        elif kind in _FLAG:
            reply[key] = _FLAG[kind]
        elif kind < 0x80:
            reply[key] = kind
        else:
            reply[key], size = _nested(view[end:])
            at = end + size
    return reply


def refusal(error: Reply) -> Error:
    """The exception that an error of the daemon becomes."""
    code, message = str(error["code"]), error["message"]
    if code == "no_session":
        return DaemonGone(f"the daemon does not know us any more ({message}); open the pool again")
    return Error(message, _SAME.get(code, code))


@dataclass(frozen=True)
class Access:
    """What a daemon on tcp wants to see: the file of its token, or CURVE keys (`trainyard keygen`):
    our .secret file and the daemon's .pub file."""

    token: str | Path | None = None
    keys: str | Path | None = None
    server_key: str | Path | None = None

    def __post_init__(self) -> None:
        if (self.keys is None) != (self.server_key is None):
            raise Error("keys and server_key belong together: our .secret file, the daemon's .pub")

    def secret(self) -> str | None:
        """The token."""
        return None if self.token is None else _read(self.token).split("\n")[0].strip()

    def apply(self, socket: zmq.Socket[bytes]) -> None:
        if self.keys is not None and self.server_key is not None:
            socket.curve_publickey = _key(self.keys, "public")
            socket.curve_secretkey = _key(self.keys, "secret")
            socket.curve_serverkey = _key(self.server_key, "public")


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", "io") from None


def _key(path: str | Path, which: str) -> bytes:
    for line in _read(path).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == which and len(words[1]) == 40:
            return words[1].encode()
    raise Error(f"{path}: has no line '{which} KEY'; `trainyard keygen NAME` makes key files")


# ---- The connection


class Request:
    """Something asked. `pack` makes its message when it has got its number, `take` makes of the
    reply what `wait` returns; without it that is the reply itself, whose views keep the whole
    message in memory."""

    def __init__(
        self,
        pack: Callable[[int], bytes | memoryview],
        take: Callable[[Reply], Any] | None = None,
    ) -> None:
        self.pack = pack
        self.take = take
        self.number = 0
        self.message: bytes | memoryview = b""
        self.sent = False
        self.done = False
        self.result: Any = None
        self.error: Error | None = None

    def answer(self, reply: Reply) -> None:
        if self.done:
            return
        if reply["ok"]:
            self.result = reply if self.take is None else self.take(reply)
        else:
            self.error = refusal(reply["error"])
        self.done = True
        self.take = None  # it may refer to an object that refers to us


class Connection:
    """One session. It belongs to one thread.

    An interrupt may come between any two lines and take a message away from us, on its way out or
    in. Whatever has no reply is then sent once more: the daemon does nothing twice that has the
    same number, and repeats its reply.

    >>> connection = Connection("ipc:///run/user/1000/trainyard/trainyardd")
    >>> connection.call("stats")["uptime_ms"]
    """

    def __init__(
        self,
        endpoint: str,
        access: Access | None = None,
        gone: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`gone` says what became of the daemon, if that is known."""
        self.endpoint = endpoint
        self._gone = gone
        self._dead: str | None = None
        self._numbers = itertools.count(1)
        # The caller holds the request: what is no longer waited for is forgotten.
        self._pending: weakref.WeakValueDictionary[int, Request] = weakref.WeakValueDictionary()
        self._last: Request | None = None
        self._in_doubt = False
        self._held: zmq.Frame | None = None
        self._resuming = False
        self._fields: dict[str, Any] = {"protocol": PROTOCOL, "name": "python", "push": True}
        #: What happened to our pools: maps with pool, seat, what and by; the oldest give way.
        self.notices: deque[Reply] = deque(maxlen=_NOTICES)
        access = access or Access()
        if secret := access.secret():
            self._fields["access"] = secret
        context: Any = zmq.Context
        self._socket = context.instance().socket(zmq.DEALER)
        self._socket.linger = _LINGER_MS
        self._socket.rcvtimeo = _LOOK_MS
        if endpoint.startswith("tcp://"):
            self._socket.heartbeat_ivl = 500
            self._socket.heartbeat_timeout = 1500
        access.apply(self._socket)
        self._monitor = self._socket.get_monitor_socket(_DISCONNECTED | _REFUSED)
        try:
            self._socket.connect(endpoint)
            self.hello = self._say_hello(_CONNECT)
        except zmq.ZMQError as error:
            self.close()
            raise Error(
                f"endpoint={endpoint!r}: {error}; give ipc:///PATH or tcp://HOST:PORT"
            ) from None
        except BaseException:
            self.close()
            raise
        self._fields["session"] = self.hello["session"]

    def close(self, farewell: str | None = None, **fields: Any) -> None:
        """Ends the connection, with a last request whose answer nobody waits for."""
        if self._socket.closed:
            return
        if farewell is not None and self._dead is None:
            self.post(self.request(farewell, **fields))
        self._socket.disable_monitor()
        self._monitor.close()
        self._socket.close()

    # ---- Asking

    def check(self) -> None:
        """Raises DaemonGone, again and again, once the daemon was found to be gone."""
        if self._dead is not None:
            raise DaemonGone(self._dead)

    @staticmethod
    def request(op: str, take: Callable[[Reply], Any] | None = None, **fields: Any) -> Request:
        """A request that `post` or `wait` sends."""
        return Request(lambda number: msgpack.packb({"op": op, "id": number, **fields}), take)

    def post(self, request: Request) -> None:
        """Sends a request. Its message must stay as it is until it is answered."""
        self.check()
        last = self._last
        if last is not None and last is not request and not last.sent:
            self._send(last)
        if last is not request:
            # Numbers go out in their order: whatever is not the last was not sent under its own.
            request.number = next(self._numbers)
            request.message = request.pack(request.number)
            self._last = request
        self._send(request)

    def _send(self, request: Request) -> None:
        self._pending[request.number] = request
        self._socket.send(request.message)
        request.sent = True
        self._last = None

    def call(self, op: str, **fields: Any) -> Reply:
        """Asks and waits."""
        reply: Reply = self.wait(self.request(op, **fields))
        return reply

    def cancel(self, request: Request) -> None:
        """Lets the daemon stop what was asked for; its reply is then an error, if it was not done
        before. Nobody waits for it any more.

        >>> connection.cancel(request)
        """
        if request.sent and not request.done and self._dead is None:
            self.post(self.request("cancel", request=request.number))

    def wait(self, request: Request) -> Any:
        """Waits for the reply, for as long as the daemon lives. Raises what the daemon refuses."""
        if self._held is not None:
            self._deliver()
        if not request.sent and not request.done:
            self.post(request)
        while not request.done:
            self.check()
            self._receive()
        if request.error is not None:
            raise request.error
        return request.result

    def arrived(self, request: Request) -> bool:
        """Whether the reply is there, without waiting for it."""
        if self._held is not None:
            self._deliver()
        if not request.sent and not request.done:
            self.post(request)
        # After an interrupt only a wait can tell whether a message was lost.
        while not request.done and (self._in_doubt or self._socket.poll(0)):
            self._receive()
        if not request.done:
            self.check()
            self._look()
        return request.done

    # ---- Receiving

    def _receive(self) -> None:
        doubt, self._in_doubt = self._in_doubt, True
        try:
            self._held = self._socket.recv(copy=False)
        except zmq.Again:
            self._in_doubt = False
            if doubt:
                self._repeat()
            self._look()
            return
        self._in_doubt = doubt
        self._deliver()

    def _deliver(self) -> None:
        """Hands over the reply that is held. Done twice, it does no harm."""
        assert self._held is not None
        reply = scan(self._held.buffer)
        self.notices.extend(reply.pop("notices", ()))
        request = self._pending.get(reply["id"])
        if request is not None:
            request.answer(reply)
            self._pending.pop(request.number, None)
        self._held = None

    def _repeat(self) -> None:
        for request in sorted(self._pending.values(), key=lambda request: request.number):
            self._send(request)

    # ---- When nothing comes

    def _look(self) -> None:
        """Nothing has come for a while: is the daemon still there?"""
        if (why := self._gone()) is not None:
            self._die(f"{why}; its pools are lost, open them again")
        lost = False
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)["event"]
            if event & _REFUSED:
                self._die(
                    f"{self.endpoint} refuses the connection: give `keys` (your .secret file, "
                    "whose .pub the daemon knows) and `server_key` (the daemon's .pub file)"
                )
            lost = lost or event == _DISCONNECTED
        if lost and "session" in self._fields and not self._resuming:
            self._resume()

    def lost(self, why: str) -> NoReturn:
        """The pool is found to be gone by other means. Raises what can be said about it."""
        deadline = monotonic() + _CONNECT / 10
        while monotonic() < deadline:
            self._look()
            self._monitor.poll(_LOOK_MS / 4)
        self._die(f"{why}; open the pool again")

    def _die(self, why: str) -> NoReturn:
        self._dead = why
        raise DaemonGone(why)

    def _resume(self) -> None:
        """Takes the session up again on a new connection, and asks again what has no answer."""
        unanswered, self._pending = self._pending, weakref.WeakValueDictionary()
        self._resuming = True
        try:
            self._say_hello(self.hello["limits"]["resume_ms"] / 1000 + 0.5)
        except Error as error:
            self._die(
                f"the daemon at {self.endpoint} is gone ({error}): see whether it still runs, and "
                "open the pool again"
            )
        finally:
            self._pending = unanswered
            self._resuming = False
        self._repeat()

    def _say_hello(self, seconds: float) -> Reply:
        request = self.request("hello", **self._fields)
        self.post(request)
        deadline = monotonic() + seconds
        while not request.done and monotonic() < deadline:
            self._receive()
        self._pending.pop(request.number, None)
        if not request.done:
            raise DaemonGone(
                f"no daemon answers at {self.endpoint}: start one with `trainyardd --listen "
                f"{self.endpoint}`, or leave `endpoint` out to have a private one"
            )
        if request.error is not None and request.error.code in _ADVICE:
            code = request.error.code
            raise Error(f"{self.endpoint}: {request.error}{_ADVICE[code]}", code)
        reply: Reply = self.wait(request)
        return reply
