"""Language models at the table: rules and positions as prompts, replies as actions.

Nothing of this needs a framework or talks to a model; `Player` takes a function that does.

>>> tables = trainyard.Tables()
>>> table = tables.open("convoi", seats=[None, "expert"], seed=7)
>>> messages = [{"role": "system", "content": llm.rules(table.rules)}]
>>> while not table.over:
...     messages.append({"role": "user", "content": llm.prompt(table.look())})
...     turn = llm.play(table, model(messages))     # turn.correction goes into the next prompt
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import Error
from .ruleset import Ruleset, near_names
from .tables import ACTIONS_MAX, Table, Turn, legal_sentence, quoted

#: Characters of a reply that are read; a longer one is corrected unread.
REPLY_MAX = 65536

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_MARKS = re.compile(r"</?answer>")

#: How to answer, said once, behind the rules.
HOW_TO_ANSWER = """\
How to answer
You are asked one question at a time. Think as long as you like, then answer once, at the end:
<answer>
the words in brackets of one choice, on a line
</answer>
You may give several actions, one on each line, if you know all of what you want to do: they are
taken in order until chance decides something, another seat has its turn, or one is not legal. The
rest is not taken, and you are asked again."""

_REMINDER = "Answer with <answer> and </answer> around your actions, one on each line."


class Reading(Protocol):
    """What can be put into a prompt: a `trainyard.View`, or what `Table.look` gives."""

    @property
    def names(self) -> list[str]: ...

    def text(self) -> str: ...


@dataclass(frozen=True)
class Answer:
    """What a reply says: actions, or a correction in words; one of them is empty."""

    actions: list[str]
    correction: str = ""


def rules(ruleset: Ruleset | str) -> str:
    """How to play and how to answer: a system prompt.

    >>> llm.rules("convoi:players=3")
    """
    opened = Ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    return f"{opened.rules_text().rstrip()}\n\n{HOW_TO_ANSWER}"


def prompt(view: Reading, correction: str = "") -> str:
    """A position as a question, after what is to be put right in the answer before.

    >>> llm.prompt(table.look(), turn.correction)
    """
    said = f"Your last answer: {correction}\n\n" if correction else ""
    asked = f"\n\n{_REMINDER}" if view.names else ""
    return f"{said}{view.text().rstrip()}{asked}"


def parse(reply: str | Iterable[str], legal: Sequence[str]) -> Answer:
    """The actions of a reply, or what is wrong with it in words that the model can be told.

    A reply is text, or pieces of it as they arrive, of which no more than REPLY_MAX characters are
    read. It has one answer, `<answer>...</answer>`, with a name in each line, or as JSON
    (`{"actions": [...]}` or a list); a reply without marks is an answer as a whole. The first
    action is legal now; `Table.act` tries the others.

    >>> llm.parse("I wait.\\n<answer>turn.end</answer>", pool.legal())
    Answer(actions=['turn.end'], correction='')
    """
    text = _collected(reply)
    if text is None:
        return Answer([], f"It is longer than {REPLY_MAX:,} characters and was not read.")
    inner = _inner(text)
    if isinstance(inner, Answer):
        return inner
    names = _names(inner)
    if not names:
        return Answer([], f"There is no action in it. {legal_sentence(legal)}")
    if len(names) > ACTIONS_MAX:
        return Answer([], f"It has {len(names):,} lines of actions; at most {ACTIONS_MAX} fit.")
    known = {name.lower(): name for name in legal}
    first = names[0].lower()
    if first not in known:
        wrong = quoted(names[0])
        near = near_names(wrong.lower(), legal) if wrong else []
        hint = f" Did you mean: {', '.join(near)}?" if near else ""
        return Answer([], f"'{wrong}' is not legal now.{hint} {legal_sentence(legal)}")
    return Answer([known[first], *names[1:]])


def play(table: Table, reply: str | Iterable[str], seat: int | None = None) -> Turn:
    """Parses a reply and takes its actions; a reply that cannot be read changes nothing.

    >>> turn = llm.play(table, "<answer>turn.end</answer>")
    """
    look = table.look(seat)
    if not look.names:
        return table.act([], seat)
    answer = parse(reply, look.names)
    if answer.correction:
        return Turn([], "illegal", answer.correction, [])
    return table.act(answer.actions, seat)


def _collected(reply: Any) -> str | None:
    """The text of a reply; None if it is too long."""
    if isinstance(reply, str):
        return reply if len(reply) <= REPLY_MAX else None
    pieces: list[str] = []
    size = 0
    for piece in reply or ():
        pieces.append(str(piece))
        size += len(pieces[-1]) + 1
        if size > REPLY_MAX:
            return None
    return "".join(pieces)


def _inner(text: str) -> str | Answer:
    """What stands in the one answer of a reply, its thoughts left out."""
    said = _THOUGHT.sub("", text)
    answers = _ANSWER.findall(said)
    marks = len(_MARKS.findall(said))
    if marks == 0:
        return said
    if len(answers) == 1 and marks == 2:
        return str(answers[0])
    if len(answers) > 1:
        return Answer([], f"It has {len(answers)} answers. Give one, with all its actions in it.")
    return Answer([], "Its answer is not between one <answer> and one </answer>.")


def _names(text: str) -> list[str]:
    """The actions of an answer: JSON, or one in each line, in brackets or not."""
    text = text.strip().removeprefix("```json").strip("`").strip()
    if text[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        value = value.get("actions") if isinstance(value, dict) else value
        if isinstance(value, list):
            return [str(name).strip() for name in value if isinstance(name, (str, int))]
    lines = (line.strip().strip("-*").strip().strip("[]`").strip() for line in text.splitlines())
    return [line for line in lines if line]


class Player:
    """A model as a `trainyard.Agent`: plays in arenas and replays.

    `ask` gets messages (`role`, `content`) and returns the reply, as text or in pieces. After
    `tries` replies that cannot be used the first legal action is taken, and counted in `helpless`.

    >>> trainyard.arena("express", [llm.Player(ask), "expert"], episodes=10)
    """

    name = "model"

    def __init__(
        self, ask: Callable[[list[dict[str, str]]], str | Iterable[str]], tries: int = 3
    ) -> None:
        if tries < 1:
            raise Error(f"tries={tries}: at least one")
        self.ask = ask
        self.tries = tries
        self.helpless = 0
        self._rules: dict[str, str] = {}

    def act(self, view: Any) -> int:
        ruleset: Ruleset = view.ruleset
        system = self._rules.setdefault(ruleset.spec, rules(ruleset))
        correction = ""
        for _ in range(self.tries):
            messages = [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt(view, correction)},
            ]
            answer = parse(self.ask(messages), view.names)
            if answer.actions:
                return ruleset.action(answer.actions[0])
            correction = answer.correction
        self.helpless += 1
        return int(view.legal[0])
