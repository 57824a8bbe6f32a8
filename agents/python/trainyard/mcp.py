"""Tables as tools: a server of the Model Context Protocol on standard input and output.

    trainyard mcp                  (or: python -m trainyard mcp)

A client configures it as the command `trainyard` with the argument `mcp`. The tools are `rules`,
`new_game`, `look`, `act` and `resign`; a client may have several tables at once. It needs no other
package: the protocol is a JSON object in each line.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from . import __version__
from .errors import Error
from .ruleset import games
from .tables import Table, Tables, builtin_ruleset, seating

#: Revisions of the protocol that begin with `initialize`, the newest last.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: Bytes of a message that are read; what is longer is answered unread.
LINE_MAX = 1 << 22

_INSTRUCTIONS = (
    "Train board games. Call `rules` to learn one, `new_game` for a table, then `act` with the "
    "names of actions until the game is over."
)


class Refusal(Exception):
    """An error of the protocol: its code and what to say."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_TABLE = {"type": "string", "description": "the table, as new_game named it"}
_RULESET = {
    "type": "string",
    "description": "a game, with settings if you like: convoi, nordic:players=3. Games: "
    + ", ".join(f"{game.name} ({game.title})" for game in games()),
}


class Server:
    """The tools of one client, and the messages around them."""

    def __init__(self, limit: int = 64) -> None:
        self.tables = Tables(limit, patience=600)
        self._open: dict[str, Table] = {}
        self._number = 0
        self._methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": [entry for entry, _ in self._tools.values()]},
            "tools/call": self._call,
        }
        self._tools: dict[str, tuple[dict[str, Any], Callable[..., str]]] = {}
        self._add(self.rules, "How to play a game, and its board.", _schema([], ruleset=_RULESET))
        self._add(
            self.new_game,
            "Begins a game and shows your first question.",
            _schema(
                [],
                ruleset=_RULESET,
                seat={"type": "integer", "minimum": 0, "description": "your seat (0)"},
                partner={
                    "type": "string",
                    "description": "who plays the other seats: expert (default), random, search "
                    "(slow), or me for yourself",
                },
                seed={"type": "integer", "minimum": 0, "description": "of cards and dice (0)"},
            ),
        )
        self._add(
            self.look,
            "What you see at a table now, and your choices.",
            _schema(["table"], table=_TABLE),
        )
        self._add(
            self.act,
            "Takes one action or several of your turn, by the words in brackets.",
            _schema(
                ["table", "actions"],
                table=_TABLE,
                actions={"type": "array", "items": {"type": "string"}, "minItems": 1},
            ),
        )
        self._add(self.resign, "Gives a game up.", _schema(["table"], table=_TABLE))

    def _add(self, tool: Callable[..., str], help: str, schema: dict[str, Any]) -> None:
        name = tool.__name__
        self._tools[name] = ({"name": name, "description": help, "inputSchema": schema}, tool)

    # ---- Tools

    def rules(self, ruleset: str = "convoi") -> str:
        return builtin_ruleset(ruleset).rules_text()

    def new_game(
        self, ruleset: str = "convoi", seat: int = 0, partner: str = "expert", seed: int = 0
    ) -> str:
        opened = builtin_ruleset(ruleset)
        table = self.tables.open(opened, seats=seating(opened, seat, partner), seed=seed)
        self._number += 1
        name = str(self._number)
        self._open[name] = table
        return f"Table {name}: {opened.game.title}, {opened.spec}.\n\n{self.look(name)}"

    def look(self, table: str) -> str:
        found = self._find(table)
        look = found.look()
        text = look.text().rstrip()
        return f"{text}\nThe game is over. Score: {look.score:.3f}" if look.over else text

    def act(self, table: str, actions: list[str]) -> str:
        turn = self._find(table).act(actions)
        told = [f"Taken: {', '.join(turn.taken) or 'nothing'}."]
        told += [turn.correction] if turn.correction else []
        told += [f"  {event}" for event in turn.events]
        return "\n".join(told) + f"\n\n{self.look(table)}"

    def resign(self, table: str) -> str:
        found = self._find(table)
        found.resign()
        score = found.score()
        found.close()
        del self._open[table]
        return f"Table {table} is closed. Score: {score:.3f}"

    def _find(self, name: str) -> Table:
        if name not in self._open:
            known = ", ".join(self._open) or "none"
            raise Error(f"no table is named '{str(name)[:40]}'; open are: {known}")
        return self._open[name]

    # ---- The protocol

    def _initialize(self, given: dict[str, Any]) -> dict[str, Any]:
        asked = given.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "trainyard", "version": __version__},
            "instructions": _INSTRUCTIONS,
        }

    def _call(self, given: dict[str, Any]) -> dict[str, Any]:
        name, arguments = given.get("name"), given.get("arguments") or {}
        if name not in self._tools:
            raise Refusal(-32602, f"no tool is named '{str(name)[:40]}'")
        entry, tool = self._tools[name]
        try:
            text = tool(**_checked(entry["inputSchema"], arguments))
        except Error as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        return {"content": [{"type": "text", "text": text}], "isError": False}

    def answer(self, line: bytes) -> dict[str, Any] | None:
        """The reply to one message; None for those that want none."""
        number = None
        try:
            message = _message(line)
            number = message.get("id")
            if number is None:
                return None
            method = self._methods.get(message.get("method", ""))
            if method is None:
                raise Refusal(-32601, f"no method is named '{str(message.get('method'))[:40]}'")
            params = message.get("params") or {}
            if not isinstance(params, dict):
                raise Refusal(-32602, "params: an object expected")
            return {"jsonrpc": "2.0", "id": number, "result": method(params)}
        except Refusal as refusal:
            told = {"code": refusal.code, "message": str(refusal)}
            return {"jsonrpc": "2.0", "id": number, "error": told}

    def run(self, source: BinaryIO, sink: BinaryIO) -> None:
        """Answers messages until there are no more."""
        while line := source.readline(LINE_MAX):
            reply = None
            if line.endswith(b"\n") or len(line) < LINE_MAX:
                reply = self.answer(line) if line.strip() else None
            else:
                while line and not line.endswith(b"\n"):
                    line = source.readline(LINE_MAX)
                told = {"code": -32700, "message": f"a message has at most {LINE_MAX} bytes"}
                reply = {"jsonrpc": "2.0", "id": None, "error": told}
            if reply is not None:
                sink.write(json.dumps(reply).encode() + b"\n")
                sink.flush()


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise Refusal(-32700, "not JSON") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refusal(-32600, 'an object with "jsonrpc": "2.0" expected')
    return message


_TYPES: dict[str, type] = {"string": str, "integer": int, "array": list}


def _checked(schema: dict[str, Any], arguments: Any) -> dict[str, Any]:
    """The arguments of a tool, if they are as its schema says."""
    if not isinstance(arguments, dict):
        raise Error("arguments: an object expected")
    known = schema["properties"]
    for key in (*schema["required"], *arguments):
        if key not in known:
            raise Error(f"{str(key)[:40]}: no such argument; allowed is {', '.join(known)}")
        if key not in arguments:
            raise Error(f"{key}: is missing")
        value, kind = arguments[key], known[key]["type"]
        if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
            raise Error(f"{key}: {kind} expected, not {str(value)[:40]}")
    return arguments


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="trainyard mcp", description=_INSTRUCTIONS)
    parser.add_argument("--tables", type=int, default=64, help="tables at a time (64)")
    given = parser.parse_args(arguments)
    Server(given.tables).run(sys.stdin.buffer, sys.stdout.buffer)
