"""Ctrl-C is heard, and a killed interpreter leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

LONG = {
    "rollouts": "pool.rollout(0, 'expert', keys=range(10_000_000))",
    "steps": "[pool.step(pool.sample()) for _ in iter(int, 1)]",
    "arena": "trainyard.arena('convoi', ['random'], episodes=10_000_000)",
    "flight": "[pool2.step(pool2.sample(g), g) for _ in iter(int, 1) for g in (0, 1)]",
}

PROGRAM = """
import trainyard
pool = trainyard.make("convoi", num_envs=256, board="tiny")
pool2 = trainyard.make("convoi", num_envs=256, board="tiny", groups=2)
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


def start(program: str) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    return process


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_is_heard_and_the_pool_goes_on(what):
    process = start(PROGRAM.format(long=LONG[what]))
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert said == "heard\n"
    assert process.returncode == 0


def test_a_killed_interpreter_leaves_nothing_behind():
    before = set(os.listdir("/dev/shm"))
    process = start(PROGRAM.format(long=LONG["flight"]))
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    process.stdout.close()
    assert set(os.listdir("/dev/shm")) <= before
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_exit_with_a_group_in_flight_is_quiet():
    program = PROGRAM.format(long="pool2.send(0, pool2.sample(0))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_bench_reports():
    command = [sys.executable, "-m", "trainyard.bench", "--game", "convoi:board=tiny"]
    command += ["--slots", "64", "--seconds", "0.05", "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert [way["name"] for way in report["slots"]["64"]] == ["C", "library", "NumPy"]
    assert all(way["rate"] > 0 for way in report["slots"]["64"])
