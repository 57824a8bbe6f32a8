"""Every door leads to the same pool: the same trajectories, the same errors, the same guests."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import trainyard
from conftest import TOP, tool, trajectory
from trainyard.daemon import Daemon, daemon_path

REMOTE = ["shm", "zmq"]
ENDINGS = ("metrics", "final_obs", "final_reward")
OPTIONS = [
    {"num_envs": 1},
    {"num_envs": 7, "groups": 3},
    {"num_envs": 64, "groups": 2, "threads": 2, "autoreset": "same_step"},
    {"num_envs": 33, "autoreset": "disabled"},
    {"num_envs": 16, "max_steps": 9, "full": True},
    {"num_envs": 16, "seats": [None, "expert"], "autoreset": "same_step"},
    {"num_envs": 16, "illegal": "random_legal"},
    {"num_envs": 16, "illegal": "lose"},
    {"num_envs": 5, "own_chance": True, "chance": "seat", "groups": 2, "max_steps": 50},
]


def name(options: dict) -> str:
    return ",".join(f"{key}={value}" for key, value in options.items())


def assert_alike(ours: trainyard.Pool, theirs: trainyard.Pool, where: str) -> None:
    for mine, other in zip(ours.groups, theirs.groups, strict=True):
        assert vars(mine).keys() == vars(other).keys()
        ended = mine.terminated | mine.truncated
        for column, values in vars(mine).items():
            rows = ended if column in ENDINGS else slice(None)
            expected = vars(other)[column]
            if column == "first":
                assert values == expected
            else:
                np.testing.assert_array_equal(values[rows], expected[rows], f"{where}: {column}")


@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_all_columns_are_alike_through_every_door(remote, options):
    """Random play, some of it illegal where that is allowed; resets by mask where they are due."""
    ours, theirs = (
        trainyard.make("convoi", board="tiny", seed=11, hash=True, **options, **where)
        for where in (remote, {})
    )
    assert ours.seats == theirs.seats
    assert_alike(ours, theirs, "at first")
    rng = np.random.default_rng(0)
    seeds = np.arange(ours.num_envs, dtype=np.uint64) * 7
    ended = 0
    for step in range(120):
        for pool in (ours, theirs):
            for group, rows in enumerate(pool.groups):
                pool.sample(group, seed=step)
                if options.get("illegal"):
                    rows.action[step % len(rows)] = step % 5
                pool.send(group)
            for group in range(len(pool.groups)):
                pool.recv(group)
        assert_alike(ours, theirs, f"step {step}")
        ended += sum(int((rows.terminated | rows.truncated).sum()) for rows in ours.groups)
        if options.get("autoreset") == "disabled":
            which = np.concatenate([rows.terminated for rows in ours.groups])
            which |= rng.random(ours.num_envs) < 0.01
            for pool in (ours, theirs):
                pool.reset(which=which, seeds=seeds + np.uint64(step))
            assert_alike(ours, theirs, f"reset at step {step}")
    assert ended > 0
    ours.close()


@pytest.mark.parametrize("game", [game.name for game in trainyard.games()])
def test_every_game_through_every_door(remote, game):
    ours = trainyard.make(game, num_envs=8, hash=True, seed=5, **remote)
    theirs = trainyard.make(game, num_envs=8, hash=True, seed=5)
    np.testing.assert_array_equal(trajectory(ours, 60), trajectory(theirs, 60))
    ours.close()


def test_what_one_slot_shows_is_alike(tiny):
    other = trainyard.make("convoi", num_envs=16, board="tiny", seed=3, hash=True)
    for pool in (tiny, other):
        trajectory(pool, 20)
    for seat in (0, 1):
        np.testing.assert_array_equal(tiny.observe(2, seat), other.observe(2, seat))
        np.testing.assert_array_equal(
            tiny.observe(2, seat, full=True), other.observe(2, seat, full=True)
        )
        np.testing.assert_array_equal(tiny.legal_mask(2, seat), other.legal_mask(2, seat))
        assert tiny.text(2, seat) == other.text(2, seat)
    assert tiny.state(2) == other.state(2)
    assert tiny.state_hash(2) == other.state_hash(2)
    assert tiny.legal(2) == other.legal(2)
    assert tiny.save(2) == other.save(2)
    for mine, theirs in zip(
        tiny.rollout(2, "expert", keys=range(300), seat=0),
        other.rollout(2, "expert", keys=range(300), seat=0),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_forks_and_restores_are_alike(tiny):
    other = trainyard.make("convoi", num_envs=16, board="tiny", seed=3, hash=True)
    for pool in (tiny, other):
        trajectory(pool, 10)
        pool.fork(0, [1, 2, 3], keys=[4, 5, 6], seat=1)
        pool.restore(pool.save(5), [6, 7])
        pool.restore(pool.save(5), [8, 9], keys=[1, 2])
    assert_alike(tiny, other, "after forks")
    np.testing.assert_array_equal(trajectory(tiny, 40), trajectory(other, 40))


def test_forks_keep_the_memory_of_built_in_agents(remote):
    pools = [
        trainyard.make("convoi", num_envs=4, seats=[None, "expert"], hash=True, **where)
        for where in (remote, {})
    ]
    for pool in pools:
        trajectory(pool, 30)
        pool.fork(0, [1, 2, 3])
    np.testing.assert_array_equal(trajectory(pools[0], 30), trajectory(pools[1], 30))
    pools[0].close()


def test_a_board_of_the_users_own_goes_to_the_daemon(remote):
    board = TOP / "tests/data/convoi_yard.json"
    pool = trainyard.make("convoi", num_envs=4, board=board, hash=True, **remote)
    other = trainyard.make("convoi", num_envs=4, board=board, hash=True)
    assert pool.ruleset.spec == other.ruleset.spec
    np.testing.assert_array_equal(trajectory(pool, 30), trajectory(other, 30))
    pool.close()


def test_illegal_actions_are_named_through_every_door(tiny):
    tiny.sample()
    tiny.action[[3, 9]] = 0
    with pytest.raises(trainyard.IllegalAction, match="slot 3, and 1 more") as caught:
        tiny.step()
    assert caught.value.slots == [3, 9]
    assert tiny.illegal.sum() == 2
    assert list(tiny.step_count) == [0 if slot in (3, 9) else 1 for slot in range(16)]
    tiny.step(tiny.sample())


# ---- Shared memory


def test_rows_are_views_that_cannot_be_written():
    with trainyard.make("convoi", num_envs=4, backend="shm") as pool:
        with pytest.raises(ValueError, match="read-only"):
            pool.obs[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            pool.obs.flags.writeable = True


def test_arrays_outlive_the_pool_and_its_daemon():
    pool = trainyard.make("convoi", num_envs=64, backend="shm")
    obs, action, before = pool.obs, pool.action, pool.obs.copy()
    pool.close()
    del pool
    np.testing.assert_array_equal(obs, before)
    action[:] = 1


def segments() -> int:
    maps = Path("/proc/self/maps").read_text()
    return sum("memfd" in line for line in maps.splitlines())


def test_memory_is_unmapped_when_nobody_looks_any_more():
    trainyard.make("convoi", backend="shm").close()  # ZeroMQ keeps some descriptors for good
    gc.collect()
    before, files = segments(), len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        pool = trainyard.make("convoi", num_envs=64, backend="shm")
        pool.step(pool.sample())
        assert segments() == before + 2
        pool.close()
        del pool
    assert segments() == before
    deadline = time.monotonic() + 20  # ZeroMQ closes its descriptors in a thread of its own
    while len(os.listdir("/proc/self/fd")) > files + 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= files + 2


# ---- Private daemons


def children() -> set[int]:
    here = str(os.getpid())
    return {
        int(entry)
        for entry in os.listdir("/proc")
        if entry.isdigit() and _field(entry, 1) == here and _field(entry, 0) != "Z"
    }


def _field(pid: str, index: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[index]
    except OSError:
        return ""


def directory(pool: trainyard.Pool) -> Path:
    return Path(pool.backend.endpoint.removeprefix("ipc://")).parent


@pytest.mark.parametrize("backend", REMOTE)
def test_a_private_daemon_comes_and_goes_with_its_pool(backend):
    before = children()
    pool = trainyard.make("convoi", num_envs=2, backend=backend)
    assert len(children() - before) == 1
    where = directory(pool)
    assert where.stat().st_mode & 0o777 == 0o700
    pool.close()
    pool.close()
    assert children() == before
    assert not where.exists()


@pytest.mark.parametrize("backend", REMOTE)
def test_a_forgotten_pool_takes_its_daemon_along(backend):
    gc.collect()
    before = children()
    pool = trainyard.make("convoi", num_envs=4, backend=backend, groups=2)
    where = directory(pool)
    pool.send(1, pool.sample(1))
    del pool
    gc.collect()
    assert children() == before
    assert not where.exists()


ENDS = {
    "kill": "os.kill(os.getpid(), 9)",
    "exit": "os._exit(3)",
    "crash": "ctypes.string_at(0)",
    "quit": "sys.exit(0)",
    "exception": "raise SystemExit(1)",
    "fork": "os.fork() or time.sleep(30); os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("backend", REMOTE)
@pytest.mark.parametrize("how", ENDS)
def test_an_interpreter_that_ends_leaves_nothing_behind(backend, how):
    program = f"""
import ctypes, os, sys, time, threading, trainyard
pool = trainyard.make("convoi", num_envs=8, groups=2, backend={backend!r})
daemon = pool.backend._place.daemon
print(daemon._process.pid, daemon.endpoint, flush=True)
pool.send(1, pool.sample(1))
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
{ENDS[how]}
"""
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    pid, endpoint = process.stdout.readline().split()
    process.wait(60)
    process.stdout.close()
    where = Path(endpoint.removeprefix("ipc://")).parent
    deadline = time.monotonic() + 30
    while (Path(f"/proc/{pid}").exists() or where.exists()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
    assert not where.exists()
    if how == "fork":
        # The child sleeps on, and did not hold the daemon.
        os.killpg(process.pid, signal.SIGKILL)


def test_a_daemon_that_cannot_start_says_why(monkeypatch, tmp_path):
    broken = tmp_path / "trainyardd"
    broken.write_text("#!/bin/sh\necho no luck today >&2\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setenv("TRAINYARD_DAEMON", str(broken))
    with pytest.raises(trainyard.DaemonGone, match="status 7, saying: no luck today"):
        trainyard.make("convoi", backend="zmq")


# ---- Daemons that die


def stop(pid: int) -> None:
    """Stops a process, and waits until all of its threads stand still."""
    os.kill(pid, signal.SIGSTOP)
    while any(_field(f"{pid}/task/{task}", 0) != "T" for task in os.listdir(f"/proc/{pid}/task")):
        time.sleep(0.01)


@pytest.mark.parametrize("backend", REMOTE)
@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("what", ["step", "flight", "text", "reset"])
def test_a_dead_daemon_raises(backend, private, what):
    daemon = None if private else Daemon()
    endpoint = None if private else daemon.endpoint
    pool = trainyard.make("convoi", num_envs=8, groups=2, backend=backend, endpoint=endpoint)
    pool.step(pool.sample(0), 0)
    victim = pool.backend._place.daemon if private else daemon
    if what == "flight":
        stop(victim._process.pid)
        pool.send(0, pool.sample(0))
    os.kill(victim._process.pid, signal.SIGKILL)
    calls = {
        "step": lambda: [pool.step(pool.sample(0), 0) for _ in range(3)],
        "flight": lambda: pool.recv(0),
        "text": pool.text,
        "reset": pool.reset,
    }
    for _ in range(2):
        with pytest.raises(trainyard.DaemonGone, match="again"):
            calls[what]()
        what = "text"
    pool.close()
    if daemon is not None:
        daemon.stop()
    assert not directory(pool).exists()


def test_a_restarted_daemon_does_not_know_us(tmp_path):
    tmp_path.chmod(0o700)
    endpoint = f"ipc://{tmp_path}/d"
    command = [str(daemon_path()), "--listen", endpoint]
    first = subprocess.Popen(command, stdout=subprocess.PIPE)
    first.stdout.readline()
    pool = trainyard.make("convoi", num_envs=2, backend="zmq", endpoint=endpoint)
    first.kill()
    first.wait()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as second:
        second.stdout.readline()
        with pytest.raises(trainyard.DaemonGone, match="open the pool again"):
            pool.step(pool.sample())
        pool.close()
        with trainyard.make("convoi", backend="zmq", endpoint=endpoint) as again:
            again.step(again.sample())
        second.terminate()
    first.stdout.close()


def test_nobody_at_the_endpoint(monkeypatch):
    monkeypatch.setattr("trainyard.client._CONNECT", 0.3)
    with pytest.raises(trainyard.DaemonGone, match="trainyardd --listen"):
        trainyard.make("convoi", backend="zmq", endpoint="ipc:///nowhere/at/all")
    with pytest.raises(trainyard.Error, match="give ipc:///PATH"):
        trainyard.make("convoi", backend="zmq", endpoint="pigeon")
    with pytest.raises(trainyard.Error, match="inproc, shm, zmq"):
        trainyard.make("convoi", backend="pigeon")
    with pytest.raises(trainyard.Error, match='backend="shm" or "zmq"'):
        trainyard.make("convoi", endpoint="ipc:///somewhere")


# ---- Access


def test_wrong_tokens_are_explained(tcp, tmp_path):
    arguments = {**tcp, "token": tmp_path / "token"}
    with pytest.raises(trainyard.Error, match="No such file"):
        trainyard.make("convoi", **arguments)
    arguments["token"].write_text("not the secret of the tests\n")
    for token in (arguments["token"], None):
        with pytest.raises(trainyard.Error, match="give `token`") as caught:
            trainyard.make("convoi", **{**arguments, "token": token})
        assert caught.value.code == "denied"
    with pytest.raises(trainyard.Error, match="shm"):
        trainyard.make("convoi", **{**tcp, "backend": "shm"})


def test_curve_keys(tmp_path):
    for who in ("daemon", "ours", "stranger"):
        subprocess.run([tool(), "keygen", tmp_path / who], check=True, capture_output=True)
    command = [str(daemon_path()), "--listen", "tcp://127.0.0.1:*"]
    command += ["--curve-secret", f"{tmp_path}/daemon.secret"]
    command += ["--curve-clients", f"{tmp_path}/ours.pub"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        where = {"backend": "zmq", "endpoint": process.stdout.readline().split()[-1]}
        server = tmp_path / "daemon.pub"
        keys = tmp_path / "ours.secret"
        with trainyard.make("convoi", keys=keys, server_key=server, **where) as pool:
            pool.step(pool.sample())
        stranger = tmp_path / "stranger.secret"
        with pytest.raises(trainyard.DaemonGone, match="refuses the connection"):
            trainyard.make("convoi", keys=stranger, server_key=server, **where)
        with pytest.raises(trainyard.Error, match="belong together"):
            trainyard.make("convoi", keys=keys, **where)
        with pytest.raises(trainyard.Error, match="has no line 'secret KEY'"):
            trainyard.make("convoi", keys=server, server_key=server, **where)
        process.terminate()


def test_another_version_is_explained(monkeypatch):
    monkeypatch.setattr("trainyard.client.PROTOCOL", 2)
    with pytest.raises(trainyard.Error, match="from the same version") as caught:
        trainyard.make("convoi", backend="zmq")
    assert caught.value.code == "bad_version"


def test_another_schema_is_explained(monkeypatch):
    rules = trainyard.Ruleset("convoi")
    monkeypatch.setattr(rules, "schema_hash", rules.schema_hash ^ 1)
    monkeypatch.setattr("trainyard.pool.Ruleset", lambda *_, **__: rules)
    with pytest.raises(trainyard.Error, match="install both from the same version"):
        trainyard.make("convoi", backend="zmq")


# ---- Guests


def by_sight(pool: trainyard.Pool) -> np.ndarray:
    """Actions that depend on what each row shows alone: host and guest count steps differently."""
    choices = [np.flatnonzero(mask) for mask in pool.mask]
    return np.array(
        [
            legal[int(obs.sum()) % len(legal)] if len(legal) else 0
            for legal, obs in zip(choices, pool.obs, strict=True)
        ],
        dtype=np.int32,
    )


def play_as_a_guest(player: trainyard.Pool, episodes: int, done: list) -> None:
    try:
        while player.episode.min() < episodes:
            player.step(by_sight(player))
    except trainyard.Error as error:
        done.append(error)
    done.append(player.episode.min())


@pytest.mark.parametrize("host", REMOTE)
@pytest.mark.parametrize("guest", REMOTE)
def test_a_guest_plays_a_seat_of_the_same_episodes(host, guest):
    """Host and guest play as one player of both seats would: the same episodes come about."""
    options: dict = {"num_envs": 4, "board": "tiny", "hash": True, "plain_seeds": True}
    with pytest.warns(UserWarning, match="found by trying"):
        pool = trainyard.make("convoi", seats=[None, "open"], backend=host, **options)
    alone = trainyard.make("convoi", autoreset="next_step", **options)
    endings: dict[tuple[int, int], list[int]] = {}
    while alone.episode.min() < 3:
        alone.step(by_sight(alone))
        for slot in np.flatnonzero(alone.terminated):
            endings[slot, int(alone.episode[slot])] = [int(alone.hash[slot])]
    player = trainyard.join(*pool.invitation, backend=guest)
    assert player.seats == (1,)
    assert player.num_envs == 4
    done: list = []
    thread = threading.Thread(target=play_as_a_guest, args=(player, 3, done))
    thread.start()
    while pool.episode.min() < 3:
        pool.step(by_sight(pool))
        for slot in np.flatnonzero(pool.terminated & pool.ready):
            key = slot, int(pool.episode[slot])
            if key in endings:
                endings[key].append(int(pool.hash[slot]))
    pool.close()
    thread.join(30)
    assert not thread.is_alive()
    assert done
    # A row that comes while we look is seen again after the next step.
    assert sum(len(hashes) >= 2 for hashes in endings.values()) >= 12
    assert all(len(set(hashes)) == 1 for hashes in endings.values())
    player.close()


def host(**options) -> trainyard.Pool:
    return trainyard.make(
        "convoi", num_envs=2, board="tiny", seats=[None, "open"], backend="zmq", **options
    )


def test_seeds_of_pools_with_open_seats_come_from_a_secret_key():
    def seeds(**options) -> list[int]:
        with host(**options) as pool:
            assert pool.ready.all()
            return [int(seed) for seed in pool.seed]

    assert seeds() != seeds()
    with pytest.warns(UserWarning, match="found by trying"):
        numbered = seeds(seed=7)
    assert numbered == seeds(seed=7) != [7, 8]
    assert seeds(seed=7, plain_seeds=True) == [7, 8]


@pytest.mark.parametrize("backend", ["zmq", "shm"])
def test_a_key_opens_the_same_pool_again(backend):
    def episodes(**options):
        with trainyard.make("convoi", num_envs=4, backend=backend, hash=True, **options) as pool:
            return pool.key, list(pool.seed), list(pool.hash)

    key, seeds, hashes = episodes(plain_seeds=False)
    assert len(key) == 16
    assert episodes(key=key) == (key, seeds, hashes)
    assert episodes(key=key.hex()) == (key, seeds, hashes)
    assert episodes(plain_seeds=False)[1] != seeds
    assert episodes()[0] == b""
    for wrong in (b"short", "ab" * 15, "no digits"):
        with pytest.raises(trainyard.Error, match="key"):
            trainyard.make("convoi", backend=backend, key=wrong)
    with pytest.raises(trainyard.Error, match="leave out seed"):
        trainyard.make("convoi", backend=backend, key=key, seed=1)


@pytest.mark.parametrize("reveal", [False, True])
def test_guests_hear_seeds_only_if_the_host_wishes(reveal):
    pool = host(max_steps=1, reveal_seeds=reveal)
    player = trainyard.join(*pool.invitation)
    pool.step(pool.sample())
    player.step()
    assert player.truncated.all()
    assert player.seed.tolist() == (pool.seed.tolist() if reveal else [0, 0])
    player.close()
    pool.close()


def test_guests_may_not_do_what_is_the_directors():
    pool = trainyard.make("convoi", num_envs=2, seats=[None, "open"], backend="zmq")
    player = trainyard.join(*pool.invitation, seats=[1])
    for call in (player.reset, player.save, player.state, lambda: player.observe(0, 0)):
        with pytest.raises(trainyard.Error) as caught:
            call()
        assert caught.value.code == "denied"
    with pytest.raises(trainyard.Error, match="nobody can join"):
        _ = player.invitation
    endpoint, number, _ = pool.invitation
    with pytest.raises(trainyard.Error):
        trainyard.join(endpoint, number, "0" * 32)
    pool.close()
    player.close()


def test_open_seats_need_a_daemon():
    with pytest.raises(trainyard.Error, match="daemon"):
        trainyard.make("convoi", seats=[None, "open"])
    with trainyard.make("convoi") as pool, pytest.raises(trainyard.Error, match="nobody can join"):
        _ = pool.invitation


def test_an_agent_plays_on_for_a_guest_who_is_gone():
    pool = trainyard.make(
        "convoi", num_envs=2, board="tiny", seats=[None, "open"], on_vanish="random", backend="zmq"
    )
    player = trainyard.join(*pool.invitation)
    player.close()
    while pool.episode.min() < 1:
        pool.step(pool.sample())
    pool.close()
