"""Our games for verifiers: seeds as tasks, and an environment with one agent for each seat.

    vf-eval trainyard-verifiers --env.taskset.ruleset nordic --env.taskset.models 2

Several models sit at one table, or a model and built-in agents: the first `models` seats are the
agents `seat0`, `seat1`, ..., each with its own model if you like (`--env.seat1.model`), the others
are the `partner`'s. Every seat's trace gets the reward `score`, from 0 to 1. Needs `verifiers`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import verifiers.v1 as vf
from openai import AsyncOpenAI
from verifiers.v1.dialects.chat import message_to_wire

from . import llm
from .arena import play
from .errors import Error
from .tables import SPLITS, Tables, builtin_ruleset, split_seed

#: The module by which verifiers loads this one.
PLUGIN = "trainyard_verifiers"

#: All environments of this process share their pools.
_tables = Tables()


class TrainyardHarnessConfig(vf.HarnessConfig):
    id: vf.ID = PLUGIN


class TrainyardHarness(vf.Harness[TrainyardHarnessConfig]):
    """A conversation without tools, in this process: a table needs no sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Asks the model once, with the whole conversation."""
        system, prompt = self.resolve_prompt(data)
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or []]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class TrainyardConfig(vf.TasksetConfig):
    ruleset: str = "convoi"
    """The game and its settings."""
    partner: str = "expert"
    """The built-in agent at the seats that no model plays."""
    models: int = 1
    """How many seats are models', from the first on."""
    split: str = "train"
    """Which seeds: train, validation or test."""


class TrainyardData(vf.TaskData):
    ruleset: str
    seats: list[str | None]
    """Who plays: the name of a built-in agent, or None for a model."""
    seed: int


class TrainyardTask(vf.Task[TrainyardData, vf.State, vf.TaskConfig]):
    """One episode: a ruleset, a lineup and a seed."""

    async def validate(self, runtime: vf.Runtime) -> bool:
        """The episode can be played to its end: random players do."""
        rules = builtin_ruleset(self.data.ruleset)
        results = await asyncio.to_thread(
            play, rules, ["random"] * rules.players, episodes=1, seed=self.data.seed
        )
        return bool(len(results.metrics) == 1)


class TrainyardTaskset(vf.Taskset[TrainyardTask, TrainyardConfig]):
    def load(self) -> Iterator[TrainyardTask]:
        config = self.config
        rules = builtin_ruleset(config.ruleset)
        if not 1 <= config.models <= rules.players:
            raise Error(f"models={config.models}: allowed is 1..{rules.players}")
        if config.partner not in rules.agents:
            raise Error(f"partner={config.partner!r}: allowed is {', '.join(rules.agents)}")
        split_seed(config.split, 0)
        others = rules.players - config.models
        seats: list[str | None] = [*[None] * config.models, *[config.partner] * others]
        instructions = llm.rules(rules)
        for index, seed in enumerate(SPLITS[config.split]):
            data = TrainyardData(
                id=f"{config.split}-{index}",
                name=f"{rules.spec}#{seed}",
                system_prompt=instructions,
                ruleset=config.ruleset,
                seats=seats,
                seed=seed,
            )
            yield TrainyardTask(data, config.task)


def _seat() -> vf.AgentConfig:
    """A seat runs the plugin's own harness, on this machine."""
    return vf.AgentConfig(runtime={"type": "subprocess"})


class TrainyardEnvConfig(vf.EnvConfig):
    seat0: vf.AgentConfig = _seat()
    seat1: vf.AgentConfig = _seat()
    seat2: vf.AgentConfig = _seat()
    seat3: vf.AgentConfig = _seat()


class TrainyardEnv(vf.Env[TrainyardEnvConfig]):
    """Models at one table. Each hears what its own seat may know, and answers when it is asked."""

    async def run(self, task: TrainyardTask, agents: vf.Agents) -> None:
        data = task.data
        rules = builtin_ruleset(data.ruleset)
        table = await asyncio.to_thread(_tables.open, rules, seats=data.seats, seed=data.seed)
        try:
            async with AsyncExitStack() as stack:
                seats = {
                    seat: await stack.enter_async_context(
                        getattr(agents, f"seat{seat}").interaction(task)
                    )
                    for seat in table.ours
                }
                await self._play(table, seats)
                for seat, interaction in seats.items():
                    interaction.trace.record_reward("score", table.score(seat), 1.0)
                    interaction.trace.info["metrics"] = table.metrics()
        finally:
            table.close()

    async def _play(self, table: Any, seats: dict[int, Any]) -> None:
        """Asks until the game is over, or a model's limits are reached."""
        corrections: dict[int, str] = {}
        while (seat := table.seat) is not None:
            question = llm.prompt(table.look(seat), corrections.get(seat, ""))
            segment = await seats[seat].turn(question)
            if segment.terminated:
                return
            turn = await asyncio.to_thread(llm.play, table, segment.last_reply, seat)
            corrections[seat] = turn.correction


__all__ = ["TrainyardEnv", "TrainyardHarness", "TrainyardTaskset"]
