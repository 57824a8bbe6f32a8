#!/usr/bin/env python3
"""Long work ends when nobody wants it: cancelled, too late, its client gone, its pool closed, or
the daemon told to stop. Searches take so long here that none of these tests could wait for them.

The first argument is the build directory.
"""

import os
import signal
import struct
import time

from daemon_client import Client, Daemon, first_actions, main, wait_for

FOREVER = 60  # seconds that everything here would take at least, if it were not stopped
SEARCHES = {"slot": 0, "agent": "search", "count": 65536}


def open_pool(client, **fields):
    reply = client.call("open", **{"ruleset": "convoi", **fields})
    assert reply["ok"], reply
    return reply


def rollout(client, pool, **fields):
    client.send("rollout", pool=pool, **SEARCHES, **fields)
    return client.id


def answers(client, count):
    """The next replies, by their request."""
    replies = [client.receive() for _ in range(count)]
    return {reply["id"]: reply for reply in replies}


def code(reply):
    return reply["error"]["code"]


def busy(daemon):
    """Processor time of the daemon so far, in seconds."""
    with open(f"/proc/{daemon.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def is_idle(daemon):
    """True if the daemon hardly works for a while."""
    before = busy(daemon)
    time.sleep(0.3)
    return busy(daemon) - before < 0.1


def test_a_rollout_is_cancelled():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    pool = open_pool(client, threads=2)["pool"]
    first = rollout(client, pool)
    second = rollout(client, pool)
    client.send("cancel", request=second)  # it has not begun
    client.send("cancel", request=first)
    replies = answers(client, 4)
    assert replies[second + 1]["cancelled"] and replies[second + 2]["cancelled"]
    assert code(replies[first]) == code(replies[second]) == "cancelled"
    assert client.call("cancel", request=first)["cancelled"] is False
    assert client.call("observe", pool=pool, slot=0)["ok"]
    assert wait_for(is_idle, 10, daemon)
    client.close()
    daemon.stop()


def test_a_rollout_that_takes_too_long_is_given_up():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    pool = open_pool(client)["pool"]
    reply = client.call("rollout", pool=pool, timeout_ms=200, **SEARCHES)
    assert code(reply) == "timeout", reply
    fast = client.call("rollout", pool=pool, slot=0, agent="random", count=100, timeout_ms=60000)
    assert fast["ok"], fast
    client.close()
    daemon.stop()


def test_a_late_request_does_not_hold_up_the_one_before():
    """It has to be told once that it is late, not at every tick."""
    daemon = Daemon()
    client = Client(daemon.endpoint)
    pool = open_pool(client)["pool"]
    fields = {"pool": pool, "slot": 0, "agent": "expert", "count": 64}
    client.send("rollout", **fields)
    first = client.id
    client.send("rollout", timeout_ms=1, **fields)
    replies = answers(client, 2)
    assert replies[first]["ok"], replies[first]
    assert code(replies[first + 1]) == "timeout"
    client.close()
    daemon.stop()


def test_cancelling_what_closes_leaves_nothing_behind():
    """A daemon that stops says what it had to leave unfinished; here it says nothing."""
    daemon = Daemon()
    client = Client(daemon.endpoint)
    for _ in range(30):
        pool = open_pool(client)["pool"]
        client.send("close", pool=pool)
        client.send("cancel", request=client.id)
        answers(client, 2)
    client.close()
    daemon.stop()


def test_a_join_that_fails_after_its_leave_is_undone_once():
    daemon = Daemon("--limit", "pools_per_session=2")
    director = Client(daemon.endpoint)
    opened = open_pool(director, ruleset="express", seats=["me", "open"])
    client = Client(daemon.endpoint)
    for _ in range(3):
        client.send("join", pool=opened["pool"], invite=opened["invite"], columns=["colour"])
        client.send("leave", pool=opened["pool"])
        assert not answers(client, 2)[client.id - 1]["ok"]
    assert open_pool(client)["ok"] and open_pool(client)["ok"]
    assert code(client.call("open", ruleset="convoi")) == "limit"
    joined = director.call("stats")
    assert joined["ok"]
    client.close()
    director.close()
    daemon.stop()


def test_a_pool_is_closed_while_it_works():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    pool = open_pool(client)["pool"]
    work = [rollout(client, pool), rollout(client, pool)]
    client.send("reset", pool=pool)
    close = client.id + 1
    client.send("close", pool=pool)
    replies = answers(client, 4)
    assert replies[close]["ok"]
    assert [code(replies[number]) for number in work] == ["closed", "closed"]
    client.close()
    daemon.stop()


def test_work_ends_with_its_client():
    daemon = Daemon()
    watcher = Client(daemon.endpoint)
    client = Client(daemon.endpoint)
    pool = open_pool(client, threads=2)["pool"]
    rollout(client, pool)
    rollout(client, pool)
    time.sleep(0.3)
    threads = daemon.threads()
    client.close()
    assert wait_for(lambda: daemon.threads() < threads, 20)
    assert wait_for(is_idle, 20, daemon)
    watcher.close()
    daemon.stop()


def test_opening_with_searching_agents_ends():
    """2,000 slots in which `search` is to act first."""
    daemon = Daemon()
    client = Client(daemon.endpoint)
    fields = {"ruleset": "convoi", "slots": 2000, "seats": ["search", "me"], "threads": 2}
    for timeout in 10 * [1, 20, 40] + [300]:  # some end before every slot has begun
        assert code(client.call("open", timeout_ms=timeout, **fields)) == "timeout"
    client.send("open", **fields)
    opening = client.id
    client.send("cancel", request=opening)
    assert code(answers(client, 2)[opening]) == "cancelled"
    assert wait_for(lambda: client.call("stats")["pools"] == [], 10)
    assert wait_for(is_idle, 10, daemon)
    client.close()
    daemon.stop()


def test_searching_agents_do_not_hold_up_others():
    """A pool whose agents search: a step is cancelled, rows come as they are ready, `send` is
    answered at once, and the pool can be played on."""
    daemon = Daemon()
    client = Client(daemon.endpoint)
    opened = open_pool(client, ruleset="express", slots=60, seats=["me", "search"])
    pool, width = opened["pool"], opened["action_count"]
    rows = client.call("reset", pool=pool)
    received = {"count": 0}
    while received["count"] == 0:  # a step may be done before the word comes, or not begun
        client.send("step", pool=pool, actions=first_actions(rows, width))
        step = client.id
        client.socket.poll(50)
        client.send("cancel", request=step)
        replies = answers(client, 2)
        if replies[step]["ok"]:
            rows = replies[step]
            continue
        assert code(replies[step]) == "cancelled", replies[step]
        # The agents think on beside, and what they have done is received.
        received = client.call("recv", pool=pool, min_rows=1, timeout_ms=60000)
    rows = received
    assert rows["ok"] and rows["count"] > 0, rows["count"]
    slots = rows["slots"][:4]
    sent = client.call("send", pool=pool, slots=slots, actions=first_actions(rows, width)[:4])
    assert sent["accepted"] == 1, sent
    rows = client.call("recv", pool=pool, min_rows=60, timeout_ms=100)
    assert rows["ok"], rows
    everything = struct.pack("<60I", *range(60))
    forked = client.call("snapshot", pool=pool, slots=everything)
    assert forked["ok"], forked
    assert client.call("close", pool=pool)["ok"]
    assert wait_for(is_idle, 10, daemon)
    client.close()
    daemon.stop()


def stop_time(daemon, signals=1):
    """Seconds until the daemon has ended."""
    for _ in range(signals):
        daemon.process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        time.sleep(0.02)
    status = daemon.process.wait(FOREVER)
    return time.monotonic() - begun, status


def busy_daemon():
    daemon = Daemon()
    clients = [Client(daemon.endpoint) for _ in range(2)]
    pool = open_pool(clients[0], threads=2)["pool"]
    rollout(clients[0], pool)
    clients[1].send("open", ruleset="convoi", slots=2000, seats=["search", "me"])
    time.sleep(0.3)
    return daemon, clients


def test_sigterm_ends_the_daemon_whatever_runs():
    daemon, clients = busy_daemon()
    seconds, status = stop_time(daemon)
    assert status == 0
    # How long it took is shown, not judged: that it ended without the work is what counts.
    print(f"    ended after {seconds:.2f} s")
    for client in clients:
        assert code(client.receive()) == "closed"
        client.close()


def test_a_second_sigterm_ends_it_at_once():
    daemon, clients = busy_daemon()
    seconds, status = stop_time(daemon, signals=2)
    assert status in (0, 1)
    assert os.listdir(daemon.directory) == []
    print(f"    ended after {seconds:.3f} s")
    for client in clients:
        client.close()


def test_draining_lets_episodes_end():
    daemon = Daemon("--drain", "60")
    client = Client(daemon.endpoint)
    opened = client.call("open", ruleset="convoi:board=tiny", slots=8, max_steps=40)
    pool, width = opened["pool"], opened["action_count"]
    reply = client.call("reset", pool=pool)
    reply = client.call("step", pool=pool, actions=first_actions(reply, width))
    daemon.process.send_signal(signal.SIGTERM)

    # Asked by a ping: a reset that is faster than the signal begins episodes anew, and the daemon
    # does not wait for those that have no step yet.
    assert wait_for(lambda: client.call("ping")["ok"] and ("stopping", 0) in client.notices, 10)
    assert code(client.call("reset", pool=pool)) == "closed"
    ended = 0
    for _ in range(200):
        reply = client.call("step", pool=pool, actions=first_actions(reply, width))
        assert reply["ok"], reply
        ended += len(reply["ended"]) // 4
        if ended == 8:
            break
    assert ended == 8, ended
    assert daemon.process.wait(20) == 0
    client.close()


if __name__ == "__main__":
    main(globals())
