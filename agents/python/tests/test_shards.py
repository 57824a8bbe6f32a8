"""Pools whose slots lie in several daemons: the trajectories of one pool, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainyard
from trainyard.daemon import Daemon, daemon_path
from trainyard.shards import divide

#: What says something where an episode has just ended.
ENDINGS = {"metrics", "final_obs", "final_reward"}

Started = Callable[..., list["Killable"]]


class Killable:
    """A daemon that can be killed, and started again where it was."""

    def __init__(self, place: Path) -> None:
        self.endpoint = f"ipc://{place}/daemon"
        self.start()

    def start(self) -> None:
        # Who is gone is given up soon: a session could be resumed for a second and a half.
        command = [str(daemon_path()), "--listen", self.endpoint, "--limit", "resume_ms=50"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert b" ready:" in self.process.stdout.readline()

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        os.kill(self.process.pid, how)
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def started(tmp_path) -> Iterator[Started]:
    """Starts so many daemons, which are gone after the test."""
    with ExitStack() as stack:

        def start(count: int) -> list[Killable]:
            made = [Killable(tmp_path / str(number)) for number in range(count)]
            for daemon in made:
                stack.callback(lambda daemon=daemon: daemon.process.poll() is None and daemon.end())
            return made

        yield start


def sharded(game: str, daemons: list[Killable], **options: Any) -> trainyard.Pool:
    options = {"backend": "zmq", **options}
    return trainyard.make(game, endpoints=[daemon.endpoint for daemon in daemons], **options)


def step(pool: trainyard.Pool) -> None:
    """One step of every group, in the order in which they are done."""
    for group in range(len(pool.groups)):
        pool.send(group, pool.sample(group, seed=1))
    for _ in pool.groups:
        pool.recv_any()


def assert_same(one: trainyard.Pool, other: trainyard.Pool) -> None:
    """Every column of one pool is that of the other."""
    ended = one.terminated | one.truncated
    for name in vars(one.groups[0]):
        if name != "first":
            which = ended if name in ENDINGS else slice(None)
            ours, theirs = getattr(one, name)[which], getattr(other, name)[which]
            assert np.array_equal(ours, theirs), name


def test_slots_are_divided_evenly():
    assert [len(part) for part in divide(10, 4)] == [2, 3, 2, 3]
    assert [slot for part in divide(7, 3) for slot in part] == list(range(7))


@pytest.mark.parametrize("backend", ["shm", "zmq"])
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_two_daemons_play_what_one_pool_plays(started, backend, autoreset):
    daemons = started(2)
    options = {"num_envs": 7, "seed": 2**64 - 3, "max_steps": 9, "autoreset": autoreset}
    options |= {"seats": [None, "random"], "hash": True, "full": True}
    one = trainyard.make("express", **options)
    both = sharded("express", daemons, backend=backend, groups=4, **options)
    assert both.backend.where == {daemons[0].endpoint: 3, daemons[1].endpoint: 4}
    assert_same(one, both)
    for number in range(40):
        step(one)
        step(both)
        assert_same(one, both)
        if autoreset == "disabled" and number % 5 == 0:
            over = one.terminated | one.truncated
            one.reset(which=over)
            both.reset(which=over)
            assert_same(one, both)


@pytest.mark.parametrize("backend", ["shm", "zmq"])
def test_slots_of_a_killed_daemon_go_on_from_where_they_were(started, backend):
    """Whether a daemon dies while a step is under way, between steps, or while its successor takes
    over a second time."""
    daemons = started(3)
    options = {"num_envs": 11, "seed": 5, "max_steps": 30, "seats": [None, "random"], "hash": True}
    one = trainyard.make("nordic", **options)
    many = sharded("nordic", daemons, backend=backend, groups=6, **options)
    for number in range(70):
        step(one)
        for group in range(len(many.groups)):
            many.send(group, many.sample(group, seed=1))
        if number == 25:
            daemons[1].end()
        for _ in many.groups:
            many.recv_any()
        if number == 40:
            daemons[0].end()
        assert_same(one, many)
        assert one.text(5) == many.text(5)
    assert one.episode.min() >= 1
    assert many.backend.where[daemons[2].endpoint] == 11
    assert len(many.backend.moves) >= 2


@pytest.mark.parametrize("illegal", ["error", "lose", "random_legal"])
def test_what_illegal_actions_did_is_done_again(started, illegal):
    daemons = started(2)
    options = {"num_envs": 6, "seed": 1, "illegal": illegal, "max_steps": 40, "hash": True}
    one = trainyard.make("express", **options)
    both = sharded("express", daemons, **options)
    rng = np.random.default_rng(0)
    for number in range(60):
        actions = one.sample(seed=1).copy()
        actions[rng.random(6) < 0.1] = 0
        refused = illegal == "error" and not one.mask[np.arange(6), actions].all()
        for pool in (one, both):
            if refused:
                with pytest.raises(trainyard.IllegalAction):
                    pool.step(actions)
            else:
                pool.step(actions)
        assert np.array_equal(one.hash, both.hash)
        if number == 35:
            daemons[0].end()
    assert len(both.backend.moves) == 1


def test_long_episodes_are_kept_whole(started):
    """Room for actions is doubled, also when nothing is under way as the daemon dies."""
    daemons = started(2)
    options = {"num_envs": 4, "seed": 2, "hash": True}
    one = trainyard.make("convoi", **options)
    both = sharded("convoi", daemons, groups=2, **options)
    for number in range(140):
        step(one)
        step(both)
        if number == 63:
            assert one.step_count.max() == 64
            daemons[0].end()
            assert one.text(0) == both.text(0)
        assert_same(one, both)
    assert len(both.backend.moves) == 1


def test_resets_and_snapshots_are_done_again(started):
    daemons = started(2)
    options = {"num_envs": 6, "seed": 9, "max_steps": 50, "hash": True}
    one = trainyard.make("express", **options)
    both = sharded("express", daemons, groups=2, **options)

    def play(steps: int) -> None:
        for _ in range(steps):
            step(one)
            step(both)
            assert_same(one, both)

    play(5)
    for pool in (one, both):
        pool.reset(seeds=[40, 41, 42, 43, 44, 45], which=[True, False, True, False, True, False])
        pool.restore(pool.save(1), [0, 5])
        pool.fork(2, [3], keys=[77])
    play(4)
    daemons[0].end()
    play(60)
    daemons[0].start()
    daemons[1].end()
    play(20)
    assert both.backend.where == {daemons[0].endpoint: 6, daemons[1].endpoint: 0}


def test_a_daemon_that_is_told_to_stop_hands_its_slots_over(started):
    daemons = started(2)
    options = {"num_envs": 4, "seed": 3, "hash": True}
    one = trainyard.make("express", **options)
    both = sharded("express", daemons, groups=2, **options)
    for number in range(20):
        step(one)
        step(both)
        assert_same(one, both)
        if number == 10:
            daemons[1].end(signal.SIGTERM)
    assert both.backend.where[daemons[0].endpoint] == 4


def test_a_slow_daemon_holds_up_no_other(started):
    daemons = started(2)
    pool = sharded("express", daemons, num_envs=4, groups=2)
    os.kill(daemons[0].process.pid, signal.SIGSTOP)
    try:
        for group in (0, 1):
            pool.send(group, pool.sample(group))
        for _ in range(50):
            assert pool.recv_any() == 1
            pool.send(1, pool.sample(1))
    finally:
        os.kill(daemons[0].process.pid, signal.SIGCONT)
    assert {pool.recv_any(), pool.recv_any()} == {0, 1}
    assert not pool.backend.moves
    with pytest.raises(trainyard.Error, match="no group is in flight"):
        pool.recv_any()


def test_no_daemon_is_left_until_one_is_started_again(started, monkeypatch):
    (daemon,) = started(1)
    one = trainyard.make("express", num_envs=2, hash=True)
    pool = sharded("express", [daemon], num_envs=2, hash=True)
    for each in (one, pool):
        each.step(each.sample())
    daemon.end()
    with monkeypatch.context() as patched:
        patched.setattr("trainyard.client._CONNECT", 0.3)
        with pytest.raises(trainyard.DaemonGone, match="no daemon is left"):
            pool.step(pool.sample())
    daemon.start()
    for each in (one, pool):
        each.step(each.sample())
    assert_same(one, pool)


def test_adapters_take_endpoints(started):
    gym = pytest.importorskip("trainyard.gym")
    daemons = started(2)
    settings = {"board": "tiny", "autoreset_mode": "SameStep"}
    one = gym.VectorEnv("convoi", 4, **settings)
    both = gym.VectorEnv(
        "convoi", 4, backend="shm", endpoints=[each.endpoint for each in daemons], **settings
    )
    for env in (one, both):
        env.reset(seed=3)
    for _ in range(20):
        actions = one.pool.sample(seed=1).copy()
        ours, theirs = one.step(actions), both.step(actions)
        assert np.array_equal(ours[0], theirs[0])
        assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_envs": 1}, "num_envs=1: allowed is at least one per endpoint"),
        ({"groups": 3}, "groups=3: allowed is 1"),
        ({"key": bytes(16)}, "key: is for a pool in one daemon"),
        ({"seats": [None, "open"]}, "seats: open is for a pool in one daemon"),
        ({"plain_seeds": False}, "plain_seeds=False: is for"),
        ({"watch": "public"}, "watch: is for"),
        ({"endpoint": "ipc:///nowhere"}, "endpoint, endpoints: give one of them"),
        ({"backend": "inproc"}, "endpoints, .*: are for backend="),
        ({"endpoints": []}, "endpoints: at least one"),
    ],
)
def test_what_several_daemons_cannot_have(options, said):
    daemon = Daemon()
    given = {"num_envs": 4, "backend": "zmq", "endpoints": [daemon.endpoint, "ipc:///nowhere"]}
    with pytest.raises(trainyard.Error, match=said):
        trainyard.make("express", **(given | options))
    daemon.stop()


def test_an_interrupted_reset_is_told(started, monkeypatch):
    pool = sharded("express", started(1), num_envs=2)
    shard = pool.backend._shards[0]

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(shard.remote), "_settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.reset()
    with pytest.raises(trainyard.Error, match="a reset or restore was interrupted"):
        pool.step(pool.sample())


def test_episodes_can_be_named(door):
    with trainyard.make("express", num_envs=3, max_steps=3, seed=4, hash=True, **door) as pool:
        for _ in range(3 * 3):
            pool.step(pool.sample(seed=1))
        hashes, episodes = pool.hash.copy(), pool.episode.copy()
        pool.reset(seed=4, episodes=episodes)
        assert np.array_equal(pool.hash, hashes)
        with pytest.raises(trainyard.Error, match="episodes: uint64"):
            pool.reset(episodes=[1])
