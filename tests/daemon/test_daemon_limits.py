"""What clients can make a daemon take, before and after they have said hello.

tests/daemon/test_daemon_limits.py BUILD_DIRECTORY [--long] [TEST]...
"""

import random
import struct
import tempfile
import threading
import time

from daemon_client import Client, Daemon, main, rss_kb, wait_for
from test_daemon_harm import Raw, seconds_until_closed, token_daemon

MEGABYTE = 1024


class Peak:
    """The most memory that a process has while something is done to it, beyond what it had."""

    def __init__(self, pid):
        self.pid, self.most, self.over = pid, 0, False
        self.before = rss_kb(pid)

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.over:
            self.most = max(self.most, rss_kb(self.pid) - self.before)
            time.sleep(0.005)

    def __exit__(self, *unused):
        self.over = True
        self.thread.join()


def test_sessions_without_a_pool_stay_within_the_memory_limit():
    limit = 64 * MEGABYTE
    daemon = Daemon("--limit", f"memory_bytes={limit << 10}")
    empty = rss_kb(daemon.process.pid)
    clients = [Client(daemon.endpoint) for _ in range(250)]
    for _ in range(12):
        for client in clients:
            client.send("describe", ruleset="chicago")
        for client in clients:
            reply = client.receive()
            assert reply["ok"], reply
    grown = rss_kb(daemon.process.pid) - empty
    assert grown < limit, (grown, limit)
    for client in clients:
        client.close()
    daemon.stop()


def random_actions(reply, width):
    chosen = []
    for row in range(reply["count"]):
        mask = reply["mask"][row * width : (row + 1) * width]
        chosen.append(random.choice([i for i in range(width) if mask[i]] or [0]))
    return struct.pack(f"<{len(chosen)}i", *chosen)


def test_what_the_log_keeps_of_running_episodes_counts():
    slots, first = 64, 1024
    with tempfile.TemporaryDirectory() as directory:
        plain = Daemon()
        logging = Daemon("--log", directory, "--limit", "replies_kept=1")
        clients = [Client(daemon.endpoint) for daemon in (plain, logging)]
        watcher = Client(logging.endpoint, admin=True)
        before = watcher.call("stats")["bytes"]
        opened = [
            client.call("open", ruleset="chicago", slots=slots, seats=["me", "random"])
            for client in clients
        ]
        bytes_ = [client.call("stats")["pools"][0]["bytes"] for client in clients]
        assert bytes_[1] - bytes_[0] > slots * first, bytes_
        # Episodes of this game are longer than what a slot gets at first.
        reply = clients[1].call("reset", pool=opened[1]["pool"])
        while clients[1].call("stats")["pools"][0]["episodes"] < slots // 2:
            actions = random_actions(reply, opened[1]["action_count"])
            reply = clients[1].call("step", pool=opened[1]["pool"], actions=actions)
        grown = clients[1].call("stats")["pools"][0]["bytes"]
        assert grown > bytes_[1] + slots * first // 4, (grown, bytes_)
        for client in clients:
            client.close()  # a session less than before, and a reply more that is kept
        assert wait_for(lambda: watcher.call("stats")["bytes"] <= before + 65536, 10)
        watcher.close()
        plain.stop()
        logging.stop()


def test_what_recording_needs_is_refused_beyond_the_limit():
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon("--log", directory, "--limit", "memory_bytes=16000000")
        client = Client(daemon.endpoint)
        small = client.call("open", ruleset="convoi:board=tiny", slots=100)
        slots = 14000000 // (small["slot_bytes"] + 600)  # which would fit without a log
        refused = client.call("open", ruleset="convoi:board=tiny", slots=slots)
        assert refused["error"]["code"] == "limit", refused
        assert f"record {slots} slots" in refused["error"]["message"], refused
        less = {"ruleset": "convoi:board=tiny", "slots": slots // 2}
        assert wait_for(lambda: client.call("open", **less)["ok"], 10)
        client.close()
        daemon.stop()


def test_an_agent_that_may_have_to_play_counts_from_the_beginning():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    wanted = {"ruleset": "express", "slots": 1000, "seats": ["me", "open"]}
    bytes_ = []
    for fallback in ("truncate", "search"):
        opened = client.call("open", **wanted, on_vanish=fallback)
        bytes_.append(client.call("stats")["pools"][0]["bytes"])
        assert client.call("close", pool=opened["pool"])["ok"]
    assert bytes_[1] - bytes_[0] >= 2 * 1000 * 64, bytes_
    client.close()
    daemon.stop()


def send_until_cut(peer, bytes_, most):
    """Sends until the daemon hangs up; returns how many bytes it took."""
    sent = 0
    try:
        while sent < most:
            peer.socket.sendall(bytes_)
            sent += len(bytes_)
    except OSError:
        pass
    return sent


def test_an_endless_message_of_a_stranger_is_cut():
    part = (b"\x03" + struct.pack(">Q", 65536) + bytes(65536)) * 4
    with tempfile.TemporaryDirectory() as directory:
        daemon = token_daemon(directory)
        with Peak(daemon.process.pid) as peak:
            peer = Raw(daemon.endpoint)
            sent = send_until_cut(peer, part, 1 << 30)
        print(f"    cut after {sent >> 20} MB; the daemon grew by {peak.most >> 10} MB at most")
        assert sent < 1 << 30 and peak.most < 256 * MEGABYTE, (sent, peak.most)
        # With a session the budget is one message, and the parts still have no end.
        peer = Raw(daemon.endpoint)
        assert peer.call("hello", protocol=1, access="a secret of this test")["ok"]
        with Peak(daemon.process.pid) as peak:
            sent = send_until_cut(peer, part, 1 << 30)
        print(f"    a session after {sent >> 20} MB, {peak.most >> 10} MB")
        assert sent < 1 << 30 and peak.most < 256 * MEGABYTE, (sent, peak.most)
        client = Client(daemon.endpoint, access="a secret of this test")
        assert client.call("ping")["ok"]
        client.close()
        daemon.stop("unfinished message")


def test_an_endless_message_on_ipc_is_cut_before_hello():
    part = (b"\x03" + struct.pack(">Q", 65536) + bytes(65536)) * 4
    daemon = Daemon()
    client = Client(daemon.endpoint)
    with Peak(daemon.process.pid) as peak:
        peer = Raw(daemon.endpoint)
        sent = send_until_cut(peer, part, 1 << 30)
    print(f"    cut after {sent >> 20} MB; the daemon grew by {peak.most >> 10} MB at most")
    assert sent < 1 << 30, sent
    assert client.call("ping")["ok"]
    peer.close()
    client.close()
    daemon.stop("unfinished message")


def test_frames_that_are_too_large_are_cut_on_ipc():
    daemon = Daemon("--limit", "message_bytes=65536")
    peer = Raw(daemon.endpoint)
    with Peak(daemon.process.pid) as peak:
        sent = send_until_cut(peer, b"\x02" + struct.pack(">Q", 1 << 40) + bytes(1 << 20), 1 << 28)
    assert sent < 1 << 28 and peak.most < 16 * MEGABYTE, (sent, peak.most)
    peer.close()
    daemon.stop(None)


def test_large_messages_in_pieces_are_no_attack_on_ipc():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    for _ in range(20):
        reply = client.call("replay_verify", content=bytes(8 << 20))
        assert reply["error"]["code"] == "bad_file", reply
    client.close()
    daemon.stop()


def test_unfinished_frames_of_strangers_are_cut():
    size = 16 << 20
    start = b"\x02" + struct.pack(">Q", size)
    with tempfile.TemporaryDirectory() as directory:
        daemon = token_daemon(directory)
        with Peak(daemon.process.pid) as peak:
            peers = [Raw(daemon.endpoint) for _ in range(60)]
            for peer in peers:
                send_until_cut(peer, start + bytes(size - 1), 1)
            seconds_until_closed(peers)
        print(f"    60 unfinished frames: {peak.most >> 10} MB at most")
        assert peak.most < 300 * MEGABYTE, peak.most
        assert wait_for(lambda: rss_kb(daemon.process.pid) - peak.before < 100 * MEGABYTE, 10)
        for peer in peers:
            peer.close()
        daemon.stop("unfinished message")


def test_large_messages_in_pieces_are_no_attack():
    with tempfile.TemporaryDirectory() as directory:
        daemon = token_daemon(directory)
        peer = Raw(daemon.endpoint)
        assert peer.call("hello", protocol=1, access="a secret of this test")["ok"]
        content = bytes(8 << 20)
        body = b"\x83\xa2op\xadreplay_verify\xa2id\x07\xa7content\xc6"
        body += struct.pack(">I", len(content)) + content
        message = b"\x02" + struct.pack(">Q", len(body)) + body
        for at in range(0, len(message), 1 << 18):
            peer.socket.sendall(message[at : at + (1 << 18)])
            time.sleep(0.01)
        reply = peer.receive()
        assert reply["id"] == 7 and not reply["ok"], reply
        peer.close()
        daemon.stop(None)


def test_connections_that_never_say_hello_are_closed():
    daemon = Daemon("--limit", "hello_ms=300")
    silent = [Raw(daemon.endpoint) for _ in range(5)]
    client = Client(daemon.endpoint)
    took = seconds_until_closed(silent)
    print(f"    gone after {took:.2f} s")
    assert client.call("ping")["ok"]
    client.close()
    for peer in silent:
        peer.close()
    daemon.stop("no hello")


if __name__ == "__main__":
    main(globals())
