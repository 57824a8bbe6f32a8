"""Logs as data sets: every form, read back by its own reader and compared with the episodes."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import trainyard
import trainyard.llm
from conftest import TOP, tool
from trainyard import export, log

EPISODES = 6


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A log of each game: the expert against chance, on the smallest boards."""
    top = tmp_path_factory.mktemp("logs")
    for game in trainyard.games():
        spec = trainyard.Ruleset(game.name, **game.small).spec
        command = [tool(), "sim", spec, "--agent", "expert", "--episodes", str(EPISODES)]
        subprocess.run([*command, "--log", str(top / game.name)], check=True, capture_output=True)
    return top


GAMES = [game.name for game in trainyard.games()]


@pytest.mark.parametrize("game", GAMES)
def test_log_is_read_as_the_tool_reads_it(logs, game):
    episodes = list(log.read(logs / game))
    command = [tool(), "replay", "show", str(logs / game), "--json"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in told.splitlines()]
    assert len(episodes) == len(lines) == EPISODES
    for episode, line in zip(episodes, lines, strict=True):
        assert (episode.spec, episode.seed, episode.seats) == (
            line["ruleset"],
            line["seed"],
            line["seats"],
        )
        assert len(episode.actions) == line["decisions"]
        assert f"{episode.final_hash:016x}" == line["hash"]
        assert episode.returns == line["returns"]


def test_damage_is_found_and_an_unfinished_record_left_out(logs, tmp_path):
    whole = next((logs / "convoi").iterdir()).read_bytes()
    path = tmp_path / "episodes-000001.tylog"
    path.write_bytes(whole[:-20])
    assert len(list(log.read(tmp_path))) == EPISODES - 1
    for at in (3, 20, 40, 100, len(whole) - 30):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(trainyard.Error):
            list(log.read(tmp_path))
    for content in (b"", b"hello", b"TYARDLOG" + bytes(100)):
        path.write_bytes(content)
        with pytest.raises(trainyard.Error):
            list(log.read(tmp_path))


@pytest.mark.parametrize("game", GAMES)
def test_parquet_has_every_decision(logs, tmp_path, game):
    from pyarrow import parquet

    card = export.export(logs / game, "parquet", tmp_path / "data")
    table = parquet.read_table(tmp_path / "data" / "decisions.parquet")
    assert table.schema.metadata[b"ruleset"].decode() == card["ruleset"]
    assert card["episodes"] == EPISODES
    rows = table.to_pylist()
    assert len(rows) == card["decisions"]
    rules = trainyard.Ruleset(card["ruleset"])
    for number, episode in enumerate(log.read(logs / game)):
        mine = [row for row in rows if row["episode"] == number]
        assert [row["action"] for row in mine] == episode.actions
        pool = trainyard.make(
            card["ruleset"], seed=mine[0]["seed"], autoreset="disabled", events=True
        )
        for row in mine[:30]:
            assert row["obs"] == pool.obs[0].tobytes()
            bits = np.unpackbits(np.frombuffer(row["mask"], np.uint8), bitorder="little")
            assert bits[: rules.action_count].astype(bool).tolist() == pool.mask[0].tolist()
            assert row["name"] in pool.legal()
            assert row["seat"] == pool.seat[0]
            assert pool.text().strip() in row["text"]
            pool.act(row["name"])
        for seat, total in enumerate(episode.returns):
            earned = sum(row["reward"] for row in mine if row["seat"] == seat)
            assert earned == pytest.approx(total)
            assert {row["return"] for row in mine if row["seat"] == seat} <= {total}


def test_numbers_of_agents_are_exported(tmp_path):
    from pyarrow import parquet

    command = [tool(), "sim", "express:map=tiny", "--agent", "search", "--episodes", "1", "--notes"]
    subprocess.run([*command, "--log", str(tmp_path / "log")], check=True, capture_output=True)
    (episode,) = log.read(tmp_path / "log")
    assert episode.notes
    export.export(tmp_path / "log", "parquet", tmp_path / "data", text=False)
    rows = parquet.read_table(tmp_path / "data" / "decisions.parquet").to_pylist()
    told = [row for row in rows if row["notes"]]
    assert len(told) == len(episode.notes)
    for row in told:
        mask = np.unpackbits(np.frombuffer(row["mask"], np.uint8), bitorder="little")
        assert all(mask[note["action"]] for note in row["notes"])
        assert row["action"] in {note["action"] for note in row["notes"]}


def test_minari_reads_its_own_and_episodes_play_the_same(logs, tmp_path, monkeypatch):
    import minari

    card = export.export(logs / "express", "minari", tmp_path / "data")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    data = minari.load_dataset("trainyard/express/seat0-v0")
    assert data.total_episodes == EPISODES
    assert data.action_space.n == trainyard.Ruleset(card["ruleset"]).action_count
    for episode, logged in zip(data.iterate_episodes(), log.read(logs / "express"), strict=True):
        pool = trainyard.make(
            card["ruleset"], seed=logged.seed, seats=[None, "expert"], autoreset="disabled"
        )
        masks = episode.observations["action_mask"]
        for step, action in enumerate(episode.actions):
            assert episode.observations["observation"][step].tolist() == pool.obs[0].tolist()
            assert masks[step].astype(bool).tolist() == pool.mask[0].tolist()
            pool.step([action])
        assert not pool.ready[0]
        assert int(pool.state_hash()) == logged.final_hash
        assert sum(episode.rewards) == pytest.approx(logged.returns[0])
        assert episode.terminations[-1]
        assert len(episode.observations["observation"]) == len(episode.actions) + 1


def test_conversations_can_be_played(logs, tmp_path):
    export.export(logs / "chicago", "sft", tmp_path / "data", episodes=1)
    lines = [json.loads(line) for line in (tmp_path / "data/decisions.jsonl").open()]
    tables = trainyard.Tables()
    table = tables.open("chicago", seed=lines[0]["seed"])
    for line in lines:
        system, user, assistant = line["messages"]
        assert [m["role"] for m in line["messages"]] == ["system", "user", "assistant"]
        assert system["content"] == trainyard.llm.rules(table.rules)
        assert user["content"] == trainyard.llm.prompt(table.look())
        assert trainyard.llm.play(table, assistant["content"]).taken
    assert table.over


def test_card_says_what_it_is(logs, tmp_path):
    card = export.export(logs / "convoi", "sft", tmp_path / "data", episodes=2)
    text = (tmp_path / "data/README.md").read_text()
    for word in ("ruleset", "schema_hash", "expert, expert (2)", card["command"], "seeds"):
        assert word in text


def test_command_and_its_refusals(logs, tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "trainyard", "export", *words]
        return subprocess.run(command, capture_output=True, text=True)

    out = str(tmp_path / "data")
    done = run(str(logs / "express"), "--to", "sft", "-o", out, "--episodes", "1")
    assert done.returncode == 0
    assert "1 episodes" in done.stdout
    for words, says in (
        ((str(logs / "express"), "--to", "sft", "-o", out), "not empty"),
        ((str(tmp_path / "nothing"), "--to", "sft", "-o", out + "2"), "nothing"),
        ((str(tmp_path), "--to", "sft", "-o", out + "3"), "no episodes"),
        ((str(logs), "--to", "csv", "-o", out + "4"), "invalid choice"),
    ):
        refused = run(*words)
        assert refused.returncode != 0
        assert says in refused.stderr
        assert "Traceback" not in refused.stderr


def test_logs_of_several_rulesets_are_refused(logs, tmp_path):
    for number, game in enumerate(("express", "chicago")):
        content = next((logs / game).iterdir()).read_bytes()
        (tmp_path / f"episodes-00000{number + 1}.tylog").write_bytes(content)
    with pytest.raises(trainyard.Error, match="one ruleset"):
        export.export(tmp_path, "sft", tmp_path / "data")


def test_example_clones_the_expert(logs, tmp_path):
    """examples/clone_expert.py, for a moment: it learns something and plays."""
    export.export(logs / "express", "parquet", tmp_path / "data", text=False)
    example = TOP / "examples/clone_expert.py"
    command = [sys.executable, example, tmp_path / "data", "--minutes", "0.02", "--episodes", "2"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "agrees with" in told
    assert [line.split()[0] for line in told.splitlines()[-3:]] == ["clone", "expert", "random"]
