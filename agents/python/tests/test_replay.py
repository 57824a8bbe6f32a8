"""Episodes that are kept, read back and checked."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
import trainyard
from conftest import TOP, tool
from trainyard.daemon import daemon_path


def test_a_replay_verifies_and_survives_a_file(tmp_path):
    replay = trainyard.Replay.play("convoi", ["expert", "random"], seed=11, board="tiny")
    replay.verify()
    replay.save(tmp_path / "episode.jsonl")
    assert trainyard.Replay.load(tmp_path / "episode.jsonl") == replay
    *_, last = replay.frames()
    assert last.terminated[0]
    assert last.seed[0] == 11


def test_a_changed_replay_is_found_out():
    replay = trainyard.Replay.play("convoi", ["random", "random"], seed=2, board="tiny")
    replay.hashes[5] ^= 1
    with pytest.raises(trainyard.Error, match="decision 6"):
        replay.verify()
    replay.hashes[5] ^= 1
    replay.actions[3] = "wait"
    with pytest.raises(trainyard.Error, match="decision 4: 'wait' is not legal"):
        replay.verify()


def test_traces_of_the_command_line_tool(tmp_path):
    command = [tool(), "trace", "convoi:board=tiny", "--seed", "9", "--agent", "expert"]
    (tmp_path / "theirs.jsonl").write_bytes(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    theirs = trainyard.Replay.load(tmp_path / "theirs.jsonl")
    assert theirs.actions
    assert len(theirs.hashes) == len(theirs.actions)
    theirs.verify()
    ours = trainyard.Replay.play("convoi", ["expert", "expert"], seed=9, board="tiny")
    assert ours.actions == theirs.actions
    assert ours.hashes == theirs.hashes
    ours.save(tmp_path / "ours.jsonl")
    command = [tool(), "trace", "--script", str(tmp_path / "ours.jsonl")]
    again = subprocess.run(command, capture_output=True, check=True).stdout
    (tmp_path / "again.jsonl").write_bytes(again)
    assert trainyard.Replay.load(tmp_path / "again.jsonl").hashes == ours.hashes


def test_no_replay(tmp_path):
    for text in ("", "{", '{"action": "wait"}'):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(trainyard.Error) as caught:
            trainyard.Replay.load(tmp_path / "bad")
        assert caught.value.code == "bad_file"


def test_a_board_of_the_users_own_is_given_again(tmp_path):
    board = TOP / "tests/data/convoi_yard.json"
    replay = trainyard.Replay.play("convoi", ["random", "random"], seed=3, board=board)
    replay.verify()
    replay.save(tmp_path / "own.jsonl")
    (name,) = replay.files
    trainyard.Replay.load(tmp_path / "own.jsonl", files={name: board}).verify()
    with pytest.raises(trainyard.Error, match=name):
        trainyard.Replay.load(tmp_path / "own.jsonl").verify()
    other = {name: TOP / "tests/data/convoi_touching.json"}
    with pytest.raises(trainyard.Error, match="hash"):
        trainyard.Replay.load(tmp_path / "own.jsonl", files=other).verify()


def play_with_notes(endpoint):
    """Plays an episode in two slots, and tells what it thinks in the second one."""
    options = {"backend": "zmq", "endpoint": endpoint, "board": "tiny", "max_steps": 5}
    with trainyard.make("convoi", num_envs=2, notes=True, **options) as pool:
        with pytest.raises(trainyard.Error, match="a number for each of"):
            pool.note(0, value=[1.0])
        while pool.episode.min() == 0:
            chances = pool.mask[1] / pool.mask[1].sum()
            pool.note(1, probability=chances, visits=np.arange(len(chances)))
            pool.step(pool.sample(seed=1))


def test_what_a_policy_thinks_is_in_the_daemons_log(tmp_path):
    (tmp_path / "log").mkdir()
    command = [
        str(daemon_path()),
        *("--listen", f"ipc://{tmp_path}/daemon", "--log", str(tmp_path / "log")),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        play_with_notes(f"ipc://{tmp_path}/daemon")
    finally:
        process.terminate()
        process.communicate()
    log = tmp_path / "log" / "episodes-000001.tylog"
    page = tmp_path / "page.html"
    subprocess.run([tool(), "replay", "verify", str(log)], check=True)
    told = []
    for episode in ("0", "1"):
        view = [tool(), "view", str(log), "--episode", episode, "--out", str(page)]
        subprocess.run(view, check=True)
        told.append(page.read_text().count('"notes":'))
    assert sorted(told) == [0, 10], (
        told
    )  # five decisions, for all eyes and for those of their seats


def test_notes_need_a_daemon():
    for door in ("inproc", "shm"):
        with (
            trainyard.make("convoi", board="tiny", backend=door) as pool,
            pytest.raises(trainyard.Error, match='backend="zmq"'),
        ):
            pool.note(0, value=np.zeros(pool.ruleset.action_count))
