"""The server for language models: its tools over standard input and output, and bad messages."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import trainyard
from trainyard import mcp


@pytest.fixture
def server():
    opened = mcp.Server(limit=3)
    yield opened
    opened.tables.close()


def ask(server, method: str, **params):
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return server.answer(line.encode())


def call(server, tool: str, **arguments) -> tuple[bool, str]:
    result = ask(server, "tools/call", name=tool, arguments=arguments)["result"]
    return result["isError"], result["content"][0]["text"]


def test_tools_are_listed(server):
    tools = {tool["name"] for tool in ask(server, "tools/list")["result"]["tools"]}
    assert tools == {"rules", "new_game", "look", "act", "resign"}


def test_version_is_negotiated(server):
    for asked, given in (("2025-06-18", "2025-06-18"), ("1999-01-01", mcp.VERSIONS[-1])):
        assert (
            ask(server, "initialize", protocolVersion=asked)["result"]["protocolVersion"] == given
        )


def test_several_tables(server):
    for game in ("convoi", "nordic"):
        wrong, text = call(server, "new_game", ruleset=game)
        assert not wrong
        assert "Choices" in text
    assert "turn.end" in call(server, "look", table="1")[1]
    assert call(server, "look", table="2")[1] != call(server, "look", table="1")[1]
    assert call(server, "act", table="1", actions=["turn.end"])[1].startswith("Taken: turn.end.")
    assert call(server, "resign", table="1")[1] == "Table 1 is closed. Score: 0.000"
    assert call(server, "look", table="1")[0]
    assert not call(server, "look", table="2")[0]


def test_rules_are_told(server):
    assert call(server, "rules", ruleset="express")[1] == trainyard.Ruleset("express").rules_text()


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("new_game", {"ruleset": "chess"}, "chess"),
        ("new_game", {"ruleset": 7}, "ruleset: string expected"),
        ("new_game", {"seat": 9}, "seat=9: allowed is 0..1"),
        ("new_game", {"partner": "me too"}, "allowed is me, random, expert, search"),
        ("new_game", {"seed": -1}, "seed=-1"),
        ("new_game", {"colour": "red"}, "no such argument"),
        ("look", {}, "table: is missing"),
        ("look", {"table": "x" * 1000}, "no table is named"),
        ("act", {"table": "1", "actions": "turn.end"}, "array expected"),
        ("rules", {"ruleset": "convoi:players=99"}, "players"),
    ],
)
def test_bad_arguments_are_named(server, tool, arguments, says):
    call(server, "new_game")
    wrong, text = call(server, tool, **arguments)
    assert wrong
    assert says in text
    assert len(text) < 500


@pytest.mark.parametrize(
    ("actions", "says"),
    [
        (["fly"], "'fly' is not legal now"),
        ([], "There is no action in the answer"),
        (["turn.end", 7], "must be a list of names"),
        (["x" * (1 << 20)], "is not legal now"),
        (["turn.end"] * 100, "at most 64"),
    ],
)
def test_bad_actions_cost_a_correction(server, actions, says):
    call(server, "new_game")
    before = call(server, "look", table="1")
    wrong, text = call(server, "act", table="1", actions=actions)
    assert not wrong
    assert says in text
    assert call(server, "look", table="1") == before


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"hello", -32700),
        (b"[" * 100000, -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "fly"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}', -32602),
    ],
)
def test_bad_messages_get_one_error(server, line, code):
    assert server.answer(line)["error"]["code"] == code


def test_full_server_says_so(server):
    for _ in range(3):
        assert not call(server, "new_game")[0]
    assert "at most 3" in call(server, "new_game")[1]


def test_program_answers_line_by_line():
    lines = [
        b"x" * (mcp.LINE_MAX + 5),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b"",
        b'{"jsonrpc": "2.0", "id": "a", "method": "ping"}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "trainyard", "mcp"],
        input=b"\n".join(lines),
        capture_output=True,
        check=True,
        timeout=60,
    )
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert replies[0]["error"]["code"] == -32700
    assert replies[1] == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert len(replies) == 2
