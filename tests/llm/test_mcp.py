"""`trainyard mcp` as a process, played by the reference client of the protocol."""

from __future__ import annotations

import asyncio
import os
import re
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


def client(mode: str = "auto") -> Client:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "trainyard", "mcp"], env=dict(os.environ)
    )
    return Client(stdio_client(command), mode=mode)


def text(result) -> str:
    return result.content[0].text


def choices(shown: str) -> list[str]:
    """The actions that are named in brackets."""
    return re.findall(r"\[([a-z][^\]]*)\]", shown.partition("Choices")[2])


def run(play) -> None:
    async def connected() -> None:
        async with client() as session:
            await asyncio.wait_for(play(session), 120)

    asyncio.run(connected())


def test_tools_have_schemas_that_the_client_accepts():
    async def play(session: Client) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"rules", "new_game", "look", "act", "resign"}
        assert tools["act"].input_schema["required"] == ["table", "actions"]
        assert all(tool.description for tool in tools.values())

    run(play)


def test_whole_game_of_each_kind():
    async def play(session: Client) -> None:
        for game in ("convoi:board=tiny", "nordic:map=tiny", "express:map=tiny", "chicago"):
            shown = text(await session.call_tool("new_game", {"ruleset": game, "seed": 3}))
            table = re.match(r"Table (\d+):", shown).group(1)
            for turn in range(600):
                if "The game is over" in shown:
                    break
                found = choices(shown)
                name = found[turn % len(found)]
                arguments = {"table": table, "actions": [name]}
                shown = text(await session.call_tool("act", arguments))
                assert shown.startswith(f"Taken: {name}."), shown
            assert re.search(r"Score: [01]\.\d+", shown), game

    run(play)


def test_two_tables_and_a_silent_one():
    async def play(session: Client) -> None:
        for _ in range(3):
            await session.call_tool("new_game", {"ruleset": "convoi", "partner": "me"})
        first = text(await session.call_tool("look", {"table": "1"}))
        await session.call_tool("act", {"table": "2", "actions": ["turn.end"]})
        assert text(await session.call_tool("look", {"table": "1"})) == first
        assert text(await session.call_tool("look", {"table": "2"})) != first
        closed = await session.call_tool("resign", {"table": "3"})
        assert not closed.is_error
        assert (await session.call_tool("look", {"table": "3"})).is_error

    run(play)


def test_errors_reach_the_model():
    async def play(session: Client) -> None:
        result = await session.call_tool("new_game", {"ruleset": "chess"})
        assert result.is_error
        assert "chess" in text(result)
        await session.call_tool("new_game", {})
        shown = text(await session.call_tool("act", {"table": "1", "actions": ["fly"]}))
        assert "'fly' is not legal now" in shown

    run(play)
