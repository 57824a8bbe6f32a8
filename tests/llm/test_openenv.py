"""OpenEnv: its validator on our folder and on our server, its client in whole games."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import trainyard
from trainyard.openenv import Client, Play, TrainyardEnvironment

TOP = Path(__file__).resolve().parents[2]
SMALL = {game.name: game.small for game in trainyard.games()}


def spec(game: str) -> str:
    return trainyard.Ruleset(game, **SMALL[game]).spec


@pytest.fixture(scope="module")
def server():
    """The address of a server, started by the one command that serves."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "trainyard", "openenv", "--port", str(port)]
    with subprocess.Popen(command) as process:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.2)
                assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def validate(*arguments: str) -> str:
    tool = Path(sys.executable).parent / "openenv"
    done = subprocess.run(
        [tool, "validate", *arguments], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_validator_accepts_the_folder():
    told = validate(str(TOP / "examples/openenv"), "--level", "static", "--skip-build")
    assert "Verdict: PASS" in told
    assert "FAIL" not in told


def test_validator_accepts_the_server(server):
    told = validate("--url", server, "--timeout", "60")
    assert told.count("PASS ") == 6
    assert "Verdict: PASS" in told


def play(env, seed: int, **given) -> tuple[float, list[str]]:
    """A game of random choices: what it earned, and the actions."""
    chance, earned, taken = random.Random(seed), 0.0, []
    result = env.reset(**given)
    while not result.done:
        assert result.observation.legal_actions
        choice = chance.choice(result.observation.legal_actions)
        result = env.step(Play(actions=[choice]))
        assert result.metadata["taken"] == [choice]
        taken.append(choice)
        assert 0 <= result.reward <= 1
        earned += result.reward
    assert result.observation.legal_actions == []
    return earned, taken


@pytest.mark.parametrize("game", SMALL)
def test_whole_games_through_the_client(server, game):
    with Client(base_url=server).sync() as env:
        given = {"ruleset": spec(game), "split": "test", "index": 3, "partner": "random"}
        first = play(env, 1, **given)
        assert 0 <= first[0] <= 1
        assert play(env, 1, **given) == first
        state = env.state()
        assert (state.seed, state.step_count) == (2000003, len(first[1]))
        assert abs(state.score - first[0]) < 1e-6


def test_bad_actions_cost_a_correction(server):
    with Client(base_url=server).sync() as env:
        start = env.reset(seed=1)
        for bad in (["fly"], [], ["x" * (1 << 20)], ["turn.end"] * 1000):
            result = env.step(Play(actions=bad))
            assert (result.reward, result.done) == (0, False)
            assert result.metadata["taken"] == []
            assert result.metadata["correction"] in result.observation.text
            assert result.observation.legal_actions == start.observation.legal_actions


@pytest.mark.parametrize(
    "given",
    [
        {"ruleset": "chess"},
        {"ruleset": "convoi:board=/etc/passwd"},
        {"seat": 7},
        {"partner": "nobody"},
        {"split": "nothing"},
        {"split": "test", "index": -1},
        {"injected_state": "nonsense"},
        {"colour": "red"},
    ],
)
def test_bad_resets_are_refused_and_the_session_goes_on(server, given):
    with Client(base_url=server).sync() as env:
        with pytest.raises(RuntimeError):
            env.reset(**given)
        assert env.reset(seed=1).observation.legal_actions


def test_branch_through_the_server(server):
    with Client(base_url=server).sync() as env, Client(base_url=server).sync() as other:
        result = env.reset(ruleset="express", seed=5)
        for _ in range(4):
            result = env.step(Play(actions=[result.observation.legal_actions[0]]))
        branch = other.reset(injected_state=env.state().snapshot)
        assert branch.observation.legal_actions == result.observation.legal_actions
        choice = [branch.observation.legal_actions[0]]
        after = [session.step(Play(actions=choice)).observation for session in (env, other)]
        assert after[0].legal_actions == after[1].legal_actions
        assert after[0].text.partition("Choices")[2] == after[1].text.partition("Choices")[2]


def test_sessions_do_not_wait_for_a_silent_one(server):
    with Client(base_url=server).sync() as silent:
        silent.reset(seed=1)
        played = []

        def work(number: int) -> None:
            with Client(base_url=server).sync() as env:
                given = {"ruleset": spec("express"), "index": number, "partner": "random"}
                played.append(play(env, number, **given))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert len(played) == 8


def test_tasks_are_seeds():
    env = TrainyardEnvironment()
    assert env.list_splits() == ["train", "validation", "test"]
    assert env.get_task("test", 12) == {
        "id": "test-12",
        "split": "test",
        "index": 12,
        "seed": 2000012,
    }
    assert len(env.get_task_range("train", 5, 9)) == 4
    with pytest.raises(IndexError):
        env.get_task("test", 10_000)
