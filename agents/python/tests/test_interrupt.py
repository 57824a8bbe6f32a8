"""Ctrl-C is heard, and a killed interpreter leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import TOP

BACKENDS = ["inproc", "shm", "zmq"]
LONG = {
    "rollouts": "pool.rollout(0, 'expert', keys=range(10_000_000))",
    "steps": "[pool.step(pool.sample()) for _ in iter(int, 1)]",
    "arena": "trainyard.arena('convoi', ['random'], episodes=10_000_000)",
    "flight": "[pool2.step(pool2.sample(g), g) for _ in iter(int, 1) for g in (0, 1)]",
    "resets": "[pool.reset() for _ in iter(int, 1)]",
    "restores": "[pool.restore(saved, [1, 2]) for _ in iter(int, 1)]",
}

PROGRAM = """
import trainyard
pool = trainyard.make("convoi", num_envs=256, board="tiny", backend="{backend}")
pool2 = trainyard.make("convoi", num_envs=256, board="tiny", groups=2, backend="{backend}")
saved = pool.save()
print("ready", flush=True)
try:
    {long}
except KeyboardInterrupt:
    for pool_ in (pool, pool2):
        for group, flying in enumerate(pool_._in_flight):
            if flying:
                pool_.recv(group)
    pool.step(pool.sample())
    pool2.step(pool2.sample(1), 1)
    pool.save()
    print("heard", flush=True)
"""


#: What runs in the background of a script is born deaf to Ctrl-C.
HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def start(program: str) -> subprocess.Popen:
    command = [sys.executable, "-c", HEARING + program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    return process


def assert_hears(process: subprocess.Popen) -> None:
    """Presses Ctrl-C; once more if that was lost: pyzmq drops one that comes while it frees a
    message ("Exception ignored in Frame.__dealloc__")."""
    said = None
    try:
        for patience in (30, 60):
            os.kill(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                said, _ = process.communicate(timeout=patience)
                break
    finally:
        process.kill()
    assert said == "heard\n"
    assert process.returncode == 0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_is_heard_and_the_pool_goes_on(what, backend):
    assert_hears(start(PROGRAM.format(long=LONG[what], backend=backend)))


INTERRUPTED = """
import random, signal, trainyard
delay = random.Random(1)
pool = trainyard.make("convoi", num_envs=64, board="tiny", groups=2, hash=True, backend="{backend}")
alone = trainyard.make("convoi", num_envs=64, board="tiny", groups=2, hash=True)
armed, interrupts = False, 0
def alarm(*_):
    global armed, interrupts
    if armed:
        armed, interrupts = False, interrupts + 1
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, alarm)
def insist(call, group, done):
    # Interrupted once, at some moment, then as often as it takes.
    global armed
    signal.setitimer(signal.ITIMER_REAL, delay.uniform(1e-6, 5e-4))
    while not done():
        try:
            armed = True
            call(group)
            armed = False
            return
        except KeyboardInterrupt:
            pass
step = 0
while interrupts < 100:
    step += 1
    for group in (0, 1):
        insist(pool.sample, group, lambda: False)
        insist(pool.send, group, lambda: pool._in_flight[group])
    for group in (0, 1):
        insist(pool.recv, group, lambda: not pool._in_flight[group])
        alone.step(alone.sample(group), group)
        same = (alone.groups[group].hash == pool.groups[group].hash).all()
        assert same, f"step {{step}}, group {{group}}"
signal.setitimer(signal.ITIMER_REAL, 0)
print("same", flush=True)
"""


@pytest.mark.parametrize("backend", ["shm", "zmq"])
def test_interrupts_at_any_moment_lose_no_step_and_take_none_twice(backend):
    program = INTERRUPTED.format(backend=backend)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("same\n", 0), done.stderr


@pytest.mark.parametrize("backend", ["shm", "zmq"])
def test_ctrl_c_is_heard_by_a_guest_who_waits_for_others(backend):
    process = start(f"""
import os, threading, trainyard
pool = trainyard.make("convoi", num_envs=4, seats=[None, "open"], backend="{backend}")
player = trainyard.join(*pool.invitation, backend="{backend}")
print("ready", flush=True)
def host():
    while True:
        pool.step(pool.sample())
try:
    player.step(player.sample())
except KeyboardInterrupt:
    threading.Thread(target=host).start()
    player.recv()
    assert player.ready.any()
    print("heard", flush=True)
    os._exit(0)
""")
    assert_hears(process)


def test_a_killed_interpreter_leaves_nothing_behind():
    before = set(os.listdir("/dev/shm"))
    process = start(PROGRAM.format(long=LONG["flight"], backend="inproc"))
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    process.stdout.close()
    assert set(os.listdir("/dev/shm")) <= before
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_exit_with_a_group_in_flight_is_quiet(backend):
    program = PROGRAM.format(long="pool2.send(0, pool2.sample(0))", backend=backend)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_peers_beside_us_are_a_table():
    command = [sys.executable, str(TOP / "bench/peers/run.py"), "--seconds", "0.02", "--slice"]
    command += ["0.01", "--json", "nothing.py"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    report = json.loads(done.stdout)
    names = [player["name"] for player in report["players"]]
    assert len(names) == 5
    assert all(name.startswith("Trainyard ") for name in names)
    assert all(0 < player["median"] <= player["best"] for player in report["players"])
    assert "nothing.py ended with status 2: left out" in done.stderr
    assert report["processor"]


def test_bench_reports():
    command = [sys.executable, "-m", "trainyard.bench", "--game", "convoi:board=tiny"]
    command += ["--slots", "64", "--seconds", "0.05", "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    ways = [("inproc", "C")]
    ways += [(backend, policy) for backend in BACKENDS for policy in ("library", "NumPy")]
    assert [(way["backend"], way["name"]) for way in report["slots"]["64"]] == ways
    assert all(way["rate"] > 0 for way in report["slots"]["64"])
    names = [way["name"] for way in report["adapters"] if way["rate"] > 0]
    assert names == ["gymnasium.Env, 1 environment", "PettingZoo AEC, 1 environment"]
