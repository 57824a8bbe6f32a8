"""Our games for OpenEnv: an environment of its server, a client, and one command that serves them.

    trainyard openenv --port 8000               (or: python -m trainyard openenv)

>>> from trainyard.openenv import Client, Play
>>> with Client(base_url="http://localhost:8000").sync() as env:
...     result = env.reset(ruleset="convoi", seat=0, partner="expert", split="train", index=3)
...     while not result.done:
...         result = env.step(Play(actions=model(result.observation.text)))

Rewards add up to the score of the seat, which lies between 0 and 1. Sessions are slots of one pool
for each ruleset and lineup. Needs `openenv`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from functools import partial
from typing import Any
from uuid import uuid4

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

from . import __version__
from .errors import Error
from .tables import (
    SPLITS,
    Table,
    Tables,
    Turn,
    builtin_ruleset,
    seating,
    split_seed,
)

#: Tasks that a listing shows; a split has many more.
TASKS_SHOWN = 100


class Play(Action):
    """Actions of one turn, by name."""

    actions: list[str] = Field(description="names of actions, in the order in which to take them")


class Seen(Observation):
    """What a seat sees."""

    text: str = Field(default="", description="the position, the question and the choices")
    legal_actions: list[str] = Field(default_factory=list, description="names of legal actions")
    seat: int = Field(default=0, description="whose observation it is")
    events: list[str] = Field(default_factory=list, description="what has happened, in sentences")


class Progress(State):
    """Where an episode is: for trainers, not for players."""

    ruleset: str = Field(default="", description="the game and its settings")
    seed: int | None = Field(default=None, description="of the episode")
    score: float = Field(default=0.0, description="of the seat, from 0 to 1")
    snapshot: str = Field(default="", description="the position, for reset(injected_state=...)")


class TrainyardEnvironment(Environment[Play, Seen, Progress]):
    """One session: a table among the others of the server."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, tables: Tables | None = None, ruleset: str = "convoi") -> None:
        super().__init__()
        self._tables = Tables() if tables is None else tables
        self._ruleset = ruleset
        self._table: Table | None = None
        self._episode = ""
        self._steps = 0
        self._score = 0.0

    # ---- Episodes

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        ruleset: str | None = None,
        seat: int = 0,
        partner: str = "expert",
        split: str | None = None,
        index: int | None = None,
        injected_state: str | None = None,
        **unknown: Any,
    ) -> Seen:
        """Begins an episode: of a seed, of a task (split and index), or from a snapshot."""
        if unknown:
            raise Error(f"reset: no such argument: {', '.join(sorted(unknown))[:80]}")
        if split is not None or index is not None:
            if seed is not None:
                raise Error("reset: a seed, or split and index, not both")
            seed = split_seed(split or "train", 0 if index is None else index)
        self.close()
        if injected_state is not None:
            self._table = self._tables.group(injected_state, 1)[0]
        else:
            rules = builtin_ruleset(ruleset or self._ruleset)
            chosen = random.choice(SPLITS["train"]) if seed is None else seed
            self._table = self._tables.open(rules, seats=seating(rules, seat, partner), seed=chosen)
        self._episode = episode_id or str(uuid4())
        self._steps = 0
        self._score = self._table.score()
        return self._seen(None, None)

    def step(self, action: Play, timeout_s: float | None = None, **_: Any) -> Seen:
        """Takes actions of one turn. What cannot be taken costs a correction in the text."""
        table = self._at_table()
        seat = table.seat
        turn = table.act(action.actions)
        self._steps += 1
        return self._seen(seat, turn)

    async def reset_async(self, seed: int | None = None, **given: Any) -> Seen:  # type: ignore[override]
        """The same; it takes microseconds with most partners, for which a thread would be slow."""
        return self.reset(seed=seed, **given)

    async def step_async(self, action: Play, timeout_s: float | None = None, **_: Any) -> Seen:
        """The same. A partner that thinks for long does so in a thread: other sessions go on."""
        if "search" in self._at_table().seats:
            return await asyncio.to_thread(self.step, action)
        return self.step(action)

    def _at_table(self) -> Table:
        if self._table is None:
            raise Error("reset the environment first")
        return self._table

    def _seen(self, seat: int | None, turn: Turn | None) -> Seen:
        table = self._at_table()
        look = table.look(seat if table.over else None)
        earned, self._score = look.score - self._score, look.score
        text, metadata = look.text(), {}
        if turn is not None:
            metadata = {"taken": turn.taken, "why": turn.why, "correction": turn.correction}
            if turn.correction:
                text = f"Your last answer: {turn.correction}\n\n{text}"
        # Nothing here comes from outside: the model's own checks would cost a third of a step.
        return Seen.model_construct(
            text=text,
            legal_actions=look.names,
            seat=look.seat,
            events=look.events if turn is None else turn.events,
            done=look.over,
            reward=None if turn is None else earned,
            metadata=metadata,
        )

    @property
    def state(self) -> Progress:
        table = self._table
        if table is None:
            return Progress(episode_id=self._episode or None, step_count=0)
        return Progress(
            episode_id=self._episode,
            step_count=self._steps,
            ruleset=table.spec,
            seed=table.seed,
            score=table.score(),
            snapshot=str(table.snapshot()),
        )

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(
            name="trainyard",
            description="Train board games for one model or several, with experts as partners",
            version=__version__,
        )

    def close(self) -> None:
        if self._table is not None:
            self._table.close()
            self._table = None

    # ---- Tasks: ranges of seeds

    def list_splits(self) -> list[str]:
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        split_seed(split, 0)
        return len(SPLITS[split])

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        try:
            seed = split_seed(split, index)
        except Error as error:
            raise IndexError(str(error)) from None
        return {"id": f"{split}-{index}", "split": split, "index": index, "seed": seed}

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        return self.get_task_range(split, 0, TASKS_SHOWN)

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        indices = range(self.num_tasks(split))[start:stop]
        return [self.get_task(split, index) for index in indices[: TASKS_SHOWN * 100]]


class Client(EnvClient[Play, Seen, Progress]):
    """A session with a server, from any machine."""

    def _step_payload(self, action: Play) -> dict[str, Any]:
        return {"actions": action.actions}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Seen]:
        reward, done = payload.get("reward"), payload.get("done", False)
        seen = Seen(**payload["observation"], reward=reward, done=done)
        return StepResult(
            observation=seen, reward=reward, done=done, metadata=payload.get("metadata")
        )

    def _parse_state(self, payload: dict[str, Any]) -> Progress:
        return Progress(**payload)


def app(ruleset: str = "convoi", sessions: int = 1024) -> Any:
    """The server as an ASGI application, whose sessions share their pools."""
    builtin_ruleset(ruleset)
    factory = partial(TrainyardEnvironment, Tables(limit=4 * sessions), ruleset)
    return create_app(
        factory, Play, Seen, env_name="trainyard", max_concurrent_envs=sessions, state_cls=Progress
    )


def serve(application: Any, host: str, port: int) -> None:
    """Serves an ASGI application until it is interrupted."""
    import uvicorn

    # Compressing an observation takes longer than making it.
    uvicorn.run(
        application,
        host=host,
        port=port,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        log_level="warning",
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="trainyard openenv", description="Serves OpenEnv.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--ruleset", default="convoi", help="if reset names none (convoi)")
    parser.add_argument("--sessions", type=int, default=1024, help="at a time (1024)")
    given = parser.parse_args(arguments)
    serve(app(given.ruleset, given.sessions), given.host, given.port)
