"""Shared memory as strangers use it, by proto/SHM.md alone.

tests/daemon/test_daemon_shm.py BUILD_DIRECTORY [--long] [TEST]...
"""

import os
import shutil
import struct
import subprocess
import tempfile
import time

from daemon_client import BUILD, Client, Daemon, Shm, first_actions, main, wait_for


def open_shm(client, **fields):
    opened = client.call("open", ruleset="convoi:board=tiny", shm=True, **fields)
    assert opened["ok"] and len(opened["shm_token"]) == 16, opened
    return opened, Shm(client.hello["shm"], opened)


def test_shm_by_the_document_alone():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    assert client.hello["shm"] == daemon.endpoint.removeprefix("ipc://") + ".shm", client.hello[
        "shm"
    ]
    assert "shm" in client.hello["capabilities"]
    opened, shm = open_shm(client, slots=8, groups=2)
    for _ in range(300):
        for group in range(2):
            shm.choose(group)
            shm.submit(group)
        for group in range(2):
            shm.wait(group)
            assert shm.word(group, "illegal") == 0 and shm.word(group, "ready") == 4
    stats = client.call("stats")
    assert stats["decisions"] == 2400, stats
    assert stats["pools"][0]["episodes"] > 8, stats
    again = Shm(client.hello["shm"], opened)
    assert again.status != 0 and "in use" in again.message, again.message
    wrong = Shm(client.hello["shm"], dict(opened, shm_token=bytes(16)))
    assert wrong.status != 0, wrong.message
    for op, fields in (
        ("step", {"actions": bytes(16)}),
        ("recv", {}),
        ("send", {"slots": b"", "actions": b""}),
    ):
        reply = client.call(op, pool=opened["pool"], **fields)
        assert (
            reply["error"]["code"] == "bad_argument"
            and "shared memory" in reply["error"]["message"]
        ), reply
    client.call("close", pool=opened["pool"])
    assert shm.is_closed()
    shm.close()
    client.close()
    daemon.stop()


def test_shm_with_every_other_operation():
    """Resets and snapshots go by message while rows go through memory, and are seen there before
    the reply."""
    daemon = Daemon()
    client = Client(daemon.endpoint)
    opened, shm = open_shm(client, slots=4, autoreset="disabled", hash=True)
    pool = opened["pool"]
    begin = shm.column(0, "hash", 8)
    kept = client.call("snapshot", pool=pool, slots=struct.pack("<4I", *range(4)))["snapshots"]
    while shm.word(0, "ready"):
        shm.choose(0)
        shm.step()
    assert shm.column(0, "terminated") == b"\1\1\1\1"
    shm.step()  # nobody waits: nothing happens
    assert shm.column(0, "episode", 4) == bytes(16)
    reply = client.call("reset", pool=pool, mask=b"\1\0\1\0")
    assert reply["ok"] and "obs" not in reply, reply
    assert shm.column(0, "terminated") == b"\0\1\0\1" and shm.word(0, "ready") == 2
    published = shm.word(0, "published")
    reply = client.call("restore", pool=pool, snapshots=kept, slots=struct.pack("<4I", *range(4)))
    assert reply["ok"] and "obs" not in reply, reply
    assert shm.column(0, "hash", 8) == begin and shm.word(0, "ready") == 4
    assert shm.word(0, "published") != published
    text = client.call("text", pool=pool, slot=0)
    assert text["ok"] and text["text"]
    shm.choose(0)
    shm.step()
    shm.close()
    client.close()
    daemon.stop()


def test_one_member_by_shm_and_one_by_messages():
    daemon = Daemon()
    for director_by_shm in (True, False):
        director, player = Client(daemon.endpoint), Client(daemon.endpoint, name="player")
        opened = director.call(
            "open", ruleset="convoi:board=tiny", slots=8, seats=["me", "open"], shm=director_by_shm
        )
        assert opened["ok"], opened
        joined = player.call(
            "join", pool=opened["pool"], invite=opened["invite"], shm=not director_by_shm
        )
        assert joined["ok"], joined
        shm = Shm(director.hello["shm"], opened if director_by_shm else joined)
        talker, pool = (player if director_by_shm else director), opened["pool"]
        ended = answered = 0
        for _ in range(2000):
            answered += shm.answer_ready()
            reply = talker.call("recv", pool=pool, timeout_ms=20)
            assert reply["ok"], reply
            ended += len(reply["ended"]) // 4
            if reply["count"]:
                actions = first_actions(reply, opened["action_count"])
                sent = talker.call("send", pool=pool, slots=reply["slots"], actions=actions)
                assert sent["accepted"] == reply["count"], sent
            if ended >= 16:
                break
        assert ended >= 16 and answered > 0, (ended, answered)
        director.call("ping")
        assert director.notices == [("joined", 1)], director.notices
        director.call("close", pool=pool)
        assert shm.is_closed()
        shm.close()
        director.close()
        player.close()
    daemon.stop()


def test_a_player_by_shm_that_vanishes_or_is_late():
    daemon = Daemon("--limit", "resume_ms=100")
    director = Client(daemon.endpoint)
    opened = director.call(
        "open",
        ruleset="convoi:board=tiny",
        slots=4,
        seats=["open", "me"],
        seat_timeout_ms=400,
        on_vanish="truncate",
    )

    def director_plays():
        reply = director.call("recv", pool=opened["pool"], timeout_ms=10)
        if reply["count"]:
            actions = first_actions(reply, opened["action_count"])
            director.call("send", pool=opened["pool"], slots=reply["slots"], actions=actions)
        return True

    def director_is_told(what):
        return director_plays() and (what, 0) in director.notices

    def director_alone_has(fds):
        return director_plays() and daemon.fds() == fds

    fds = None
    for what in ("left", "late", "left", "late"):
        player = Client(daemon.endpoint)
        joined = player.call("join", pool=opened["pool"], invite=opened["invite"], shm=True)
        assert joined["ok"], joined
        shm = Shm(player.hello["shm"], joined)
        shm.answer_ready()
        director.notices.clear()
        if what == "left":
            shm.close()
        assert wait_for(director_is_told, 10, what), (what, director.notices)
        if what == "late":
            assert shm.is_closed()
            assert player.call("recv", pool=opened["pool"])["error"]["code"] == "closed"
            shm.close()
        player.close()
        assert wait_for(lambda: director_plays() and director.call("stats")["sessions"] == 1, 10)
        assert wait_for(lambda: director_plays() and daemon.segments() == 0, 10)
        fds = fds or daemon.fds()
        assert wait_for(director_alone_has, 10, fds), (daemon.fds(), fds)
    director.close()
    daemon.stop()


def test_shm_keeps_a_session_alive():
    daemon = Daemon("--limit", "idle_ms=300", "--limit", "resume_ms=200")
    watcher = Client(daemon.endpoint, admin=True)
    client = Client(daemon.endpoint)
    opened, shm = open_shm(client, slots=2)
    for _ in range(12):
        time.sleep(0.1)
        assert watcher.call("stats")["sessions"] == 2
    token = client.hello["session"]
    client.close()
    for _ in range(6):
        time.sleep(0.1)
        assert watcher.call("stats")["sessions"] == 2
    shm.choose(0)
    shm.step()
    again = Client(daemon.endpoint, session=token)
    assert again.hello["ok"], again.hello
    assert again.call("reset", pool=opened["pool"])["ok"]
    shm.close()
    assert wait_for(lambda: watcher.call("stats")["bytes"] < 1 << 20, 5)
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 5)
    assert daemon.segments() == 0
    again.close()
    watcher.close()
    daemon.stop()


def test_a_killed_daemon_is_noticed_through_the_lease():
    directory = tempfile.mkdtemp(prefix="trainyard-test-")
    daemon = Daemon(directory=directory)
    client = Client(daemon.endpoint)
    _, shm = open_shm(client, slots=2)
    daemon.kill()
    assert shm.is_closed()
    assert shm.column(0, "ready") == b"\1\1"  # the rows stay readable
    shm.close()
    client.close()
    Daemon(directory=directory).stop()  # the leftovers of the killed one are in nobody's way


def test_where_shared_memory_is_offered():
    directory = tempfile.mkdtemp()
    with open(f"{directory}/token", "w") as file:
        file.write("a secret of this test\n")
    os.chmod(f"{directory}/token", 0o600)
    tcp = ("--token", f"{directory}/token", "--listen", "tcp://127.0.0.1:*")
    cases = (
        (("--shm", "none"), None, ""),
        (("--shm", f"{directory}/own/door"), None, f"{directory}/own/door"),
        (tcp, "tcp://127.0.0.1:*", ""),
    )
    for options, listen, path in cases:
        daemon = Daemon(*options, listen=listen)
        client = Client(daemon.endpoint, access="a secret of this test")
        assert client.hello["shm"] == path, client.hello["shm"]
        assert ("shm" in client.hello["capabilities"]) == bool(path)
        if path:
            open_shm(client)[1].close()
        else:
            reply = client.call("open", ruleset="convoi", shm=True)
            assert (
                reply["error"]["code"] == "unavailable" and "--shm" in reply["error"]["message"]
            ), reply
        client.close()
        daemon.stop()
    assert os.listdir(directory) == ["token"]
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--shm", "relative"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "absolute" in done.stderr, done
    shutil.rmtree(directory)


if __name__ == "__main__":
    main(globals())
