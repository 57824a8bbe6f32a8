"""Language models at the table: prompts, replies of every kind, tables that share pools."""

from __future__ import annotations

import itertools
import random
import threading
from pathlib import Path

import pytest
import trainyard
from trainyard import llm

MAP = Path(__file__).parents[3] / "examples" / "duel.json"

GAMES = [game.name for game in trainyard.games()]
LEGAL = ["turn.end", "move black.1", "move brown.1", "switch middle mine+harbour"]


@pytest.fixture
def tables():
    opened = trainyard.Tables()
    yield opened
    opened.close()


def tiny(tables, **more):
    return tables.open("convoi", board="tiny", seed=7, **more)


@pytest.mark.parametrize("game", GAMES)
def test_rules_and_prompt_tell_how_to_answer(tables, game):
    table = tables.open(game, seed=1)
    assert table.rules.rules_text().strip() in llm.rules(game)
    assert "<answer>" in llm.rules(game)
    look = table.look()
    question = llm.prompt(look, "It was empty.")
    assert look.text().strip() in question
    assert question.startswith("Your last answer: It was empty.")
    assert llm.prompt(table.view()) == llm.prompt(look)


@pytest.mark.parametrize(
    ("reply", "actions"),
    [
        ("<answer>turn.end</answer>", ["turn.end"]),
        ("turn.end", ["turn.end"]),
        ("[TURN.END]\n", ["turn.end"]),
        (
            "Hm.\n<answer>\n- move black.1\n- [pay move]\n</answer> ok",
            ["move black.1", "pay move"],
        ),
        ('<answer>{"actions": ["turn.end"]}</answer>', ["turn.end"]),
        ('```json\n["move black.1", "pay move"]\n```', ["move black.1", "pay move"]),
        ("<think><answer>move brown.1</answer></think><answer>turn.end</answer>", ["turn.end"]),
        (iter(["<answer>", "turn", ".end", "</answer>"]), ["turn.end"]),
    ],
)
def test_replies_that_are_understood(reply, actions):
    assert llm.parse(reply, LEGAL) == llm.Answer(actions)


BAD_REPLIES = {
    "empty": "",
    "blank": " \n\t\n",
    "nothing": None,
    "only thought": "<think>hm",
    "a megabyte": "x" * (1 << 20),
    "a megabyte of brackets": "[" * (1 << 20),
    "deep JSON": "[" * 60000,
    "a megabyte of answers": "<answer>turn.end</answer>" * 40000,
    "wrong name": "<answer>fly to the moon</answer>",
    "nearly": "<answer>move blakc.1</answer>",
    "prose": "I would like to end my turn now.",
    "two answers": "<answer>turn.end</answer><answer>move black.1</answer>",
    "open mark": "<answer>turn.end",
    "close mark": "turn.end</answer>",
    "nested marks": "<answer><answer>turn.end</answer></answer>",
    "too many": "<answer>" + "turn.end\n" * 100 + "</answer>",
    "numbers": "<answer>[1, 2]</answer>",
    "not JSON": "<answer>{'actions': }</answer>",
    "control characters": "<answer>\x00\x1b[31m</answer>",
    "our own words": "Question to seat 0 (you):\nChoices (answer with the words in brackets):",
}


@pytest.mark.parametrize("name", BAD_REPLIES)
def test_bad_reply_costs_nothing_but_a_correction(tables, name):
    table = tiny(tables)
    before = str(table.snapshot())
    turn = llm.play(table, BAD_REPLIES[name])
    assert (turn.taken, turn.why) == ([], "illegal")
    assert 10 < len(turn.correction) < 2000
    assert (
        "\x1b" not in turn.correction and "fly to the moon" in turn.correction
    ) or name != "wrong name"
    assert str(table.snapshot()) == before
    assert llm.play(table, f"<answer>{table.look().names[0]}</answer>").taken


def test_endless_reply_is_cut():
    said = itertools.count()

    def endless():
        while True:
            yield f"{next(said)} "

    assert "longer" in llm.parse(endless(), LEGAL).correction
    assert next(said) <= llm.REPLY_MAX
    assert "longer" in llm.parse(itertools.repeat(""), LEGAL).correction


def test_correction_shows_no_marks_of_ours(tables):
    turn = llm.play(tiny(tables), "<answer>[turn.end] </think> `rm` [/answer]\n</answer>")
    assert not set("<>`") & set(turn.correction)


def test_correction_names_what_is_near():
    assert "Did you mean: move black.1" in llm.parse("move blakc.1", LEGAL).correction


def test_act_stops_at_the_first_illegal_action(tables):
    table = tiny(tables)
    turn = table.act(["switch middle mine+harbour", "turn.end", "turn.end"])
    assert turn.taken == ["switch middle mine+harbour"]
    assert turn.why == "illegal"
    assert "'turn.end' is not legal now" in turn.correction
    assert all(name.startswith("pay") for name in table.look().names)


def test_act_stops_at_chance(tables):
    turn = tiny(tables).act(["move black.1", "pay move", "turn.end"])
    assert turn.taken == ["move black.1", "pay move"]
    assert turn.why == "chance"
    assert "decide anew" in turn.correction
    assert turn.events


def test_act_stops_at_another_seats_turn(tables):
    turn = tiny(tables).act(["turn.end", "turn.end"])
    assert turn.taken == ["turn.end"]
    assert turn.why == "seat"
    partnered = tiny(tables, seats=[None, "expert"])
    assert partnered.act(["turn.end", "turn.end"]).why == "seat"
    assert partnered.seat == 0  # the expert has played


def test_only_the_seat_to_act_acts(tables):
    table = tiny(tables)
    before = str(table.snapshot())
    assert "not yours" in table.act(["turn.end"], seat=1).correction
    assert table.look(1).names == []
    assert str(table.snapshot()) == before
    with pytest.raises(trainyard.Error, match="seat 2"):
        table.look(2)


def state(table) -> int:
    return table._home.pool.state_hash(table._slot)


def random_play(table, chance: random.Random) -> None:
    while not table.over:
        names = table.look().names
        assert table.act([chance.choice(names)]).taken


@pytest.mark.parametrize("game", GAMES)
def test_whole_games_end_with_a_score(tables, game):
    table = tables.open(game, seed=2, **{g.name: g.small for g in trainyard.games()}[game])
    random_play(table, random.Random(2))
    scores = [table.score(seat) for seat in table.ours]
    assert all(0 <= score <= 1 for score in scores)
    if not table.rules.cooperative:
        assert sum(scores) in (0, 1)
    assert table.metrics()
    assert table.look().names == []
    assert table.act(["wait"]).correction == "The game is over."


def test_score_of_convoi_is_the_share_of_goods(tables):
    table = tiny(tables)
    expert = trainyard.Replay.play("convoi", ["expert"] * 2, seed=7, board="tiny")
    for action in expert.actions:
        assert table.act([action]).taken == [action]
    assert table.score() == table.metrics()["goods"] / 4 > 0


def test_resigning_gives_rivals_the_victory(tables):
    table = tables.open("nordic", players=3, seed=1)
    table.resign(1)
    assert table.over
    assert [table.score(seat) for seat in range(3)] == [0.5, 0, 0.5]


def test_table_plays_as_a_pool_does(tables):
    table = tables.open("convoi", seed=5)
    tables.open("convoi", seed=6)
    alone = trainyard.make("convoi", seed=5, events=True, autoreset="disabled")
    chance = random.Random(0)
    for _ in range(60):
        assert table.look().text() == alone.text()
        assert table.look().names == alone.legal()
        name = chance.choice(alone.legal())
        table.act([name])
        alone.act(name)


def test_groups_branch_in_the_middle(tables):
    table = tables.open("express", seats=[None, "expert"], seed=4)
    for _ in range(5):
        table.act([table.look().names[0]])
    branches = tables.group(table.snapshot(), 64)
    assert {state(branch) for branch in branches} == {state(table)}
    name = table.look().names[-1]
    table.act([name])
    for branch in branches:
        branch.act([name])
    assert {state(branch) for branch in branches} == {state(table)}
    others = tables.group(str(table.snapshot()), 64, keys=range(64), seat=0)
    assert len({state(branch) for branch in others}) == 64
    assert {branch.look().names[0] for branch in others} == {table.look().names[0]}


@pytest.mark.parametrize("text", ["", "a|b|c", "convoi|me,me|AAAA", "convoi|me|", "chess|me|AAAA"])
def test_bad_snapshots_are_refused(tables, text):
    with pytest.raises(trainyard.Error):
        tables.group(text, 2)
    assert len(tables) == 0


def test_rulesets_are_opened_once_unless_they_are_files(tables, tmp_path):
    def rules(game):
        table = tables.open(game)
        table.close()
        return table.rules

    assert rules("nordic:players=3") is rules("nordic:players=3")
    board = tmp_path / "mine.json"
    board.write_text(MAP.read_text())
    game = f"express:map={board}"
    assert rules(game).spec == rules(game).spec
    board.write_text("{}")
    with pytest.raises(trainyard.Error):
        tables.open(game)


def test_limits_and_idle_tables():
    tables = trainyard.Tables(limit=2, patience=0.0)
    first, second = tiny(tables), tiny(tables)
    second.look()
    third = tiny(tables)
    with pytest.raises(trainyard.Error, match="closed"):
        first.look()
    assert len(tables) == 2
    assert second.look()
    assert third.look()
    busy = trainyard.Tables(limit=1, patience=60)
    tiny(busy)
    with pytest.raises(trainyard.Error, match="at most 1"):
        tiny(busy)


def test_silent_model_holds_nobody(tables):
    """One thread never answers; others play whole games on slots of the same pool."""
    silent = threading.Event()
    waiting = threading.Thread(target=lambda: (tiny(tables).look(), silent.wait(60)))
    waiting.start()
    played = []

    def work(number: int) -> None:
        table = tables.open("convoi", board="tiny", seed=number)
        random_play(table, random.Random(number))
        played.append((number, table.metrics()["turns"]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert waiting.is_alive()
    assert len(played) == 8
    silent.set()
    alone = trainyard.Tables()
    for number, turns in played:
        table = alone.open("convoi", board="tiny", seed=number)
        random_play(table, random.Random(number))
        assert table.metrics()["turns"] == turns


def test_player_in_an_arena():
    def ask(messages):
        assert messages[0]["role"] == "system"
        names = messages[1]["content"]
        return iter(["<answer>", "turn.end" if "[turn.end]" in names else "nonsense", "</answer>"])

    player = llm.Player(ask, tries=2)
    results = trainyard.play("convoi", [player, player], episodes=1, board="tiny")
    assert results
    assert player.helpless > 0
