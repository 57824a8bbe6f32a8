"""Long work in a daemon: given up in time, cancelled; and notices that nobody has asked for."""

from __future__ import annotations

import time

import numpy as np
import pytest
import trainyard
from trainyard.client import Connection

SEARCHES = {"slot": 0, "agent": "search", "count": 65536}


@pytest.fixture
def pool():
    pool = trainyard.make("convoi", num_envs=1, backend="zmq")
    yield pool
    pool.close()


def test_a_rollout_gives_up_in_time(pool) -> None:
    with pytest.raises(trainyard.Error) as caught:
        pool.rollout(0, "search", keys=range(10_000), timeout=0.2)
    assert caught.value.code == "timeout"
    earned, _ = pool.rollout(0, "random", keys=range(10), timeout=60)
    assert len(earned) == 10


THINKERS = {"seats": ["search", None]}
SLOTS = 80  # about half of which begin with a search: many times longer than it is waited for


@pytest.mark.parametrize("backend", ["zmq", "shm"])
def test_opening_gives_up_in_time(backend) -> None:
    before = time.monotonic()
    with pytest.raises(trainyard.Error) as caught:
        trainyard.make("convoi", num_envs=400, **THINKERS, backend=backend, timeout=0.3)
    assert caught.value.code == "timeout"
    print(f"after {time.monotonic() - before:.1f} s")
    with trainyard.make("convoi", num_envs=4, backend=backend, timeout=60) as pool:
        pool.step(pool.sample())


@pytest.mark.parametrize("backend", ["inproc", "zmq", "shm"])
def test_a_reset_gives_up_in_time(backend) -> None:
    with trainyard.make("express", num_envs=SLOTS, **THINKERS, backend=backend) as pool:
        with pytest.raises(trainyard.Error) as caught:
            pool.reset(timeout=0.01)
        assert caught.value.code == "timeout"
        pool.step(pool.sample())
        while not pool.ready.all():  # agents that were interrupted think on
            pool.step(pool.sample())
        pool.reset(seed=5, timeout=600)
        assert pool.ready.all()
        assert (pool.seed == np.arange(5, 5 + SLOTS)).all()
        pool.step(pool.sample())


@pytest.mark.parametrize("timeout", [0, -1.0, 1e9])
def test_timeouts_have_a_range(timeout) -> None:
    with trainyard.make("convoi") as pool, pytest.raises(trainyard.Error, match="timeout="):
        pool.reset(timeout=timeout)
    with pytest.raises(trainyard.Error, match="timeout"):
        trainyard.make("convoi", timeout=1)


def test_a_request_is_cancelled(pool) -> None:
    connection = pool.backend._connection
    request = connection.request("rollout", pool=pool.backend.pool, **SEARCHES)
    connection.post(request)
    connection.cancel(request)
    with pytest.raises(trainyard.Error) as caught:
        connection.wait(request)
    assert caught.value.code == "cancelled"


def test_notices_come_without_being_asked_for() -> None:
    pool = trainyard.make("convoi", num_envs=1, backend="zmq", seats=[None, "open"])
    endpoint, number, invite = pool.invitation
    guest = Connection(endpoint)
    guest.call("join", pool=number, invite=invite)
    pool.close()
    deadline = time.monotonic() + 20
    while not guest.notices and time.monotonic() < deadline:
        guest._receive()
    assert [notice["what"] for notice in guest.notices] == ["closed"]
    guest.close()
