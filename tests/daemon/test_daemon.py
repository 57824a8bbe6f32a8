"""The daemon as strangers use it: real processes, real sockets, real kills.

tests/daemon/test_daemon.py BUILD_DIRECTORY [--long] [TEST]...
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import msgpack
import zmq
from daemon_client import (
    BUILD,
    CLIENT_KILLS,
    CONTEXT,
    DAEMON_KILLS,
    DATA,
    Client,
    Daemon,
    first_actions,
    main,
    play,
    run_apart,
    start,
    wait_for,
)


def test_dealer_and_req_clients_both_work():
    daemon = Daemon()
    for kind in (zmq.DEALER, zmq.REQ):
        client = Client(daemon.endpoint, kind)
        assert client.hello["ok"]
        play(client)
        client.close()
    daemon.stop()


def test_the_default_endpoint_is_private():
    runtime = tempfile.mkdtemp(prefix="trainyard-runtime-")
    environment = dict(os.environ, XDG_RUNTIME_DIR=runtime)
    process = start([f"{BUILD}/trainyardd"], env=environment)
    line = process.stdout.readline()
    assert f"ipc://{runtime}/trainyard/trainyardd" in line, line
    assert os.stat(f"{runtime}/trainyard").st_mode & 0o777 == 0o700
    done = subprocess.run(
        [f"{BUILD}/trainyard", "stats"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and "sessions" in done.stdout, done
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert os.listdir(runtime) == []
    process.stdout.close()
    os.rmdir(runtime)


def test_a_second_daemon_is_refused():
    daemon = Daemon()
    for endpoint in (daemon.endpoint,):
        done = subprocess.run(
            [f"{BUILD}/trainyardd", "--listen", endpoint], capture_output=True, text=True
        )
        assert done.returncode == 1 and "another daemon" in done.stderr, done
    client = Client(daemon.endpoint)
    assert client.call("ping")["ok"]
    client.close()
    daemon.stop()


def test_a_directory_that_others_can_enter_is_refused():
    directory = tempfile.mkdtemp()
    os.chmod(directory, 0o755)
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--listen", f"ipc://{directory}/d"], capture_output=True, text=True
    )
    assert done.returncode == 1 and "0700" in done.stderr, done
    os.rmdir(directory)


def test_tcp_needs_a_secret():
    for endpoint, word in (
        ("tcp://127.0.0.1:*", "--token"),
        ("tcp://0.0.0.0:*", "--curve"),
        ("tcp://*:5999", "--curve"),
    ):
        done = subprocess.run(
            [f"{BUILD}/trainyardd", "--listen", endpoint],
            capture_output=True,
            text=True,
            timeout=10,
        )
        assert done.returncode == 1 and word in done.stderr, done
    directory = tempfile.mkdtemp()
    token = f"{directory}/token"
    with open(token, "w") as file:
        file.write("a secret of this test\n")
    os.chmod(token, 0o600)
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--listen", "tcp://0.0.0.0:*", "--token", token],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "--curve" in done.stderr, done
    daemon = Daemon("--token", token, listen="tcp://127.0.0.1:*")
    client = Client(daemon.endpoint)
    assert client.hello["error"]["code"] == "denied", client.hello
    assert client.call("ping")["error"]["code"] == "no_session"
    client.close()
    client = Client(daemon.endpoint, access="a secret of this test")
    assert client.hello["ok"], client.hello
    play(client)
    client.close()
    daemon.stop("wrong access token")
    os.chmod(token, 0o644)
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--listen", "tcp://127.0.0.1:*", "--token", token],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "chmod" in done.stderr, done
    shutil.rmtree(directory)


def test_only_known_keys_get_through():
    directory = tempfile.mkdtemp()
    for name in ("daemon", "friend", "stranger"):
        subprocess.run(
            [f"{BUILD}/trainyard", "keygen", f"{directory}/{name}"], check=True, capture_output=True
        )

    def key(name, kind):
        with open(f"{directory}/{name}.secret") as file:
            words = file.read().split()
        return words[words.index(kind) + 1].encode()

    assert os.stat(f"{directory}/daemon.secret").st_mode & 0o777 == 0o600
    daemon = Daemon(
        "--curve-secret",
        f"{directory}/daemon.secret",
        "--curve-clients",
        f"{directory}/friend.pub",
        listen="tcp://127.0.0.1:*",
    )
    server = key("daemon", "public")
    friend = (server, key("friend", "public"), key("friend", "secret"))
    client = Client(daemon.endpoint, keys=friend)
    assert client.hello["ok"]
    play(client)
    wrong = [
        (server, key("stranger", "public"), key("stranger", "secret")),
        (key("stranger", "public"), key("friend", "public"), key("friend", "secret")),
        None,
    ]
    for keys in wrong:
        stranger = Client(daemon.endpoint, keys=keys, hello=False)
        stranger.socket.rcvtimeo = 700
        try:
            stranger.call("hello", protocol=1)
            raise AssertionError("a stranger got an answer")
        except zmq.Again:
            pass
        stranger.close()
    plain = CONTEXT.socket(zmq.DEALER)
    plain.linger = 0
    plain.rcvtimeo = 700
    plain.plain_username, plain.plain_password = b"user", b"word"
    plain.connect(daemon.endpoint)
    plain.send(msgpack.packb({"op": "hello", "id": 1, "protocol": 1}))
    try:
        plain.recv()
        raise AssertionError("PLAIN got an answer")
    except zmq.Again:
        pass
    plain.close()
    assert client.call("stats")["sessions"] == 1
    client.close()
    done = subprocess.run(
        [
            f"{BUILD}/trainyard",
            "stats",
            "--connect",
            daemon.endpoint,
            "--keys",
            f"{directory}/friend.secret",
            "--server-key",
            f"{directory}/daemon.pub",
            "--json",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    daemon.stop("unknown key")
    shutil.rmtree(directory)


def test_nonsense_gets_exactly_one_reply():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    generator = random.Random(7)
    for _ in range(500):
        message = bytes(generator.randrange(256) for _ in range(generator.randrange(1, 60)))
        client.socket.send(message)
        reply = client.receive()
        assert reply["ok"] is False
    client.socket.send_multipart([b"one", b"two"])
    assert client.receive()["ok"] is False
    client.socket.send(bytes.fromhex("dd0f000000"))
    assert client.receive()["error"]["code"] == "bad_message"
    named = CONTEXT.socket(zmq.DEALER)
    named.linger = 0
    named.rcvtimeo = 5000
    named.routing_id = b"me"
    named.connect(daemon.endpoint)
    named.send(msgpack.packb({"op": "hello", "id": 1, "protocol": 1}))
    assert msgpack.unpackb(named.recv())["error"]["code"] == "denied"
    named.close()
    assert client.call("ping")["ok"]
    client.close()
    daemon.stop()


def test_an_oversize_frame_costs_the_connection():
    daemon = Daemon("--limit", "message_bytes=65536")
    client = Client(daemon.endpoint)
    client.socket.send(b"\x80" + b"\0" * 70000)
    other = Client(daemon.endpoint)
    assert other.call("ping")["ok"]
    assert wait_for(lambda: other.call("stats")["sessions"] == 1, 4)
    client.close()
    other.close()
    daemon.stop()


def test_a_session_survives_a_reconnect():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    opened = client.call("open", ruleset="convoi:board=tiny", slots=4)
    reply = client.call("reset", pool=opened["pool"])
    actions = first_actions(reply, opened["action_count"])
    first = client.call("step", pool=opened["pool"], actions=actions)
    number, token = client.id, client.hello["session"]
    client.close()
    again = Client(daemon.endpoint, session=token)
    assert again.hello["ok"] and again.hello["session"] == token
    assert again.hello["last_id"] == number
    again.id = number - 1
    assert again.call("step", pool=opened["pool"], actions=actions) == first
    stats = again.call("stats")
    assert stats["decisions"] == 4, stats
    again.close()
    daemon.stop()


class Players:
    """Processes that play until they are killed. They are forks of one, which is soon done."""

    def __init__(self, endpoint):
        self.nursery = run_apart(
            "import os, signal, sys, daemon_client, zmq\n"
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
            "while sys.stdin.readline():\n"
            "    if os.fork() == 0: break\n"
            "else: sys.exit()\n"
            "daemon_client.CONTEXT = zmq.Context()\n"
            f"client = daemon_client.Client({endpoint!r})\n"
            "os.write(1, b'%d\\n' % os.getpid())\n"
            "while True:\n"
            "    opened = daemon_client.play(client, 64, 20)\n"
            "    client.call('close', pool=opened['pool'])\n",
            stdin=subprocess.PIPE,
        )

    def start(self, count):
        """The numbers of that many new ones, all connected."""
        self.nursery.stdin.write(count * "\n")
        self.nursery.stdin.flush()
        return [int(self.nursery.stdout.readline()) for _ in range(count)]

    def close(self):
        self.nursery.stdin.close()
        assert self.nursery.wait(60) == 0
        self.nursery.stdout.close()


def test_killed_clients_leave_nothing():
    daemon = Daemon()
    watcher = Client(daemon.endpoint, admin=True)
    time.sleep(0.2)
    fds, threads = daemon.fds(), daemon.threads()
    generator = random.Random(1)
    players = Players(daemon.endpoint)
    for _ in range(CLIENT_KILLS // 5):
        for player in players.start(5):
            time.sleep(generator.random() * 0.05)
            os.kill(player, signal.SIGKILL)
        assert watcher.call("ping")["ok"]
    players.close()
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 20)
    assert wait_for(lambda: watcher.call("stats")["bytes"] < 1 << 20, 20), watcher.call("stats")
    assert wait_for(lambda: (daemon.fds(), daemon.threads()) == (fds, threads), 20), (
        daemon.fds(),
        fds,
    )
    watcher.close()
    daemon.stop()


def test_a_killed_client_is_gone_within_two_seconds():
    daemon = Daemon()
    watcher = Client(daemon.endpoint)
    players = Players(daemon.endpoint)
    (player,) = players.start(1)
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 2, 5)
    os.kill(player, signal.SIGKILL)
    begin = time.monotonic()
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 20)
    print(f"    gone after {time.monotonic() - begin:.2f} s")
    players.close()
    watcher.close()
    daemon.stop()


def test_a_killed_daemon_restarts_at_once():
    directory = tempfile.mkdtemp(prefix="trainyard-test-")
    generator = random.Random(2)
    worst = 0.0
    for _ in range(DAEMON_KILLS):
        begin = time.monotonic()
        daemon = Daemon(directory=directory)
        worst = max(worst, time.monotonic() - begin)
        client = Client(daemon.endpoint)
        opened = client.call("open", ruleset="convoi:board=tiny", slots=64, threads=2)
        client.send("reset", pool=opened["pool"])
        time.sleep(generator.random() * 0.02)
        daemon.kill()
        client.close()
    print(f"    worst restart {worst:.2f} s")
    daemon = Daemon(directory=directory)
    daemon.stop()


def test_sigterm_answers_those_who_wait():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    opened = client.call("open", ruleset="convoi:board=tiny", slots=1, seats=["me", "open"])
    for _ in range(100):
        reply = client.call("recv", pool=opened["pool"], timeout_ms=200)
        if reply["count"] == 0:
            break
        actions = first_actions(reply, opened["action_count"])
        client.call("send", pool=opened["pool"], slots=reply["slots"], actions=actions)
    client.send("recv", pool=opened["pool"])
    time.sleep(0.1)
    daemon.process.send_signal(signal.SIGTERM)
    assert client.receive()["error"]["code"] == "closed"
    assert daemon.process.wait(10) == 0  # another signal would hurry it
    client.close()
    daemon.stop()


def test_a_client_that_never_reads_is_dropped():
    daemon = Daemon(
        "--limit",
        "replies_queued=4",
        "--limit",
        "requests_in_flight=1000",
        "--limit",
        "resume_ms=200",
    )
    other = Client(daemon.endpoint)
    client = Client(daemon.endpoint)
    client.socket.close()
    slow = CONTEXT.socket(zmq.DEALER)
    slow.linger = 0
    slow.rcvhwm = 1
    slow.rcvbuf = 4096
    slow.connect(daemon.endpoint)
    slow.send(msgpack.packb({"op": "hello", "id": 1, "protocol": 1}))
    time.sleep(0.2)
    for number in range(2, 2000):
        try:
            slow.send(
                msgpack.packb({"op": "describe", "id": number, "ruleset": "convoi"}), zmq.NOBLOCK
            )
        except zmq.Again:
            break
    assert wait_for(lambda: other.call("stats")["sessions"] == 1, 30)
    slow.close()
    other.close()
    daemon.stop()


def test_two_processes_share_a_pool():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    opened = client.call("open", ruleset="convoi", slots=32, seats=["me", "open"])
    agent = start(
        [
            f"{BUILD}/trainyard",
            "agent",
            "expert",
            "--connect",
            daemon.endpoint,
            "--pool",
            str(opened["pool"]),
            "--invite",
            opened["invite"],
            "--seats",
            "1",
        ],
        stderr=subprocess.PIPE,
    )
    reply = client.call("recv", pool=opened["pool"])
    ended = 0
    for _ in range(20000):
        if ended >= 32:
            break
        actions = first_actions(reply, opened["action_count"])
        sent = client.call("send", pool=opened["pool"], slots=reply["slots"], actions=actions)
        assert sent["ok"] and sent["accepted"] == reply["count"], sent
        reply = client.call("recv", pool=opened["pool"])
        assert reply["ok"] and reply["count"] > 0, reply
        ended += len(reply["ended"]) // 4
        assert set(reply["seat"]) <= {0}
    assert ended > 0
    client.call("close", pool=opened["pool"])
    assert agent.wait(20) == 0, agent.stderr.read()
    assert "decisions" in agent.stdout.read()
    agent.stdout.close()
    agent.stderr.close()
    client.close()
    daemon.stop()


def test_silent_connections_are_closed():
    directory = tempfile.mkdtemp()
    token = f"{directory}/token"
    with open(token, "w") as file:
        file.write("a secret of this test\n")
    os.chmod(token, 0o600)
    daemon = Daemon("--token", token, listen="tcp://127.0.0.1:*")
    port = int(daemon.endpoint.rsplit(":", 1)[1])
    before = daemon.fds()
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    assert wait_for(lambda: daemon.fds() >= before + 100, 5)
    assert wait_for(lambda: daemon.fds() <= before + 1, 15)
    for connection in silent:
        connection.close()
    client = Client(daemon.endpoint, access="a secret of this test")
    assert client.hello["ok"]
    client.close()
    daemon.stop()
    shutil.rmtree(directory)


def test_clients_above_the_cap_are_refused():
    daemon = Daemon("--limit", "sessions=8")
    clients = [Client(daemon.endpoint) for _ in range(8)]
    assert all(client.hello["ok"] for client in clients)
    extra = Client(daemon.endpoint)
    assert extra.hello["error"]["code"] == "limit", extra.hello
    assert clients[0].call("ping")["ok"]
    for client in [*clients, extra]:
        client.close()
    assert wait_for(lambda: daemon.process.poll() is None, 1)
    daemon.stop("sessions=8")


def test_describe_says_what_the_tool_says():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    for spec in ("convoi:players=3,hints=true", "nordic", "express:chance=seat", "chicago"):
        reply = client.call("describe", ruleset=spec)
        said = subprocess.run(
            [f"{BUILD}/trainyard", "describe", spec, "--json"], capture_output=True, check=True
        )
        told = json.loads(said.stdout)
        told["schema_hash"] = int(told["schema_hash"], 16)
        found = {key: value for key, value in reply.items() if key not in ("id", "ok", "notices")}
        assert list(found) == list(told), spec
        assert found == told, spec
    client.close()
    daemon.stop()


def test_a_board_of_ones_own_travels_by_content():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    with open(os.path.join(DATA, "convoi_yard.json"), "rb") as file:
        board = file.read()
    for kind in (board, board.decode()):
        reply = client.call("describe", ruleset="convoi:board=yard", files={"yard": kind})
        if not reply["ok"]:
            assert reply["error"]["code"] in ("bad_config", "bad_file"), reply
        else:
            assert "board=yard@" in reply["ruleset"]
    reply = client.call("describe", ruleset="convoi:board=yard")
    assert reply["error"]["code"] == "bad_file", reply
    client.close()
    daemon.stop()


def test_endpoints_are_understood():
    directory = tempfile.mkdtemp()
    token = f"{directory}/token"
    with open(token, "w") as file:
        file.write("a secret of this test\n")
    os.chmod(token, 0o600)
    for endpoint, serves in (("tcp://localhost:*", "127.0.0.1"), ("tcp://[::1]:*", "[::1]")):
        daemon = Daemon("--token", token, listen=endpoint)
        assert serves in daemon.endpoint, daemon.endpoint
        client = Client(daemon.endpoint, hello=False)
        client.close()
        socket_ = CONTEXT.socket(zmq.DEALER)
        socket_.linger, socket_.rcvtimeo, socket_.ipv6 = 0, 10000, True
        socket_.connect(daemon.endpoint)
        hello = {"op": "hello", "id": 1, "protocol": 1, "access": "a secret of this test"}
        socket_.send(msgpack.packb(hello))
        assert msgpack.unpackb(socket_.recv())["ok"]
        socket_.close()
        daemon.stop()
    for port in ("99999", "65536", "12x", "-1"):
        command = [f"{BUILD}/trainyardd", "--token", token, "--listen", f"tcp://127.0.0.1:{port}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        assert done.returncode != 0 and "65535" in done.stderr, done
    shutil.rmtree(directory)


def test_a_file_in_the_place_of_a_socket_stays():
    directory = tempfile.mkdtemp()
    path = f"{directory}/precious"
    with open(path, "w") as file:
        file.write("do not delete")
    for words in (
        ["--listen", f"ipc://{path}"],
        ["--listen", f"ipc://{directory}/d", "--shm", path],
    ):
        command = [f"{BUILD}/trainyardd", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        assert done.returncode != 0 and "no socket" in done.stderr, done
        with open(path) as file:
            assert file.read() == "do not delete"
    shutil.rmtree(directory)


def decoded(row, blocks):
    """An observation, as PROTOCOL.md says that it is read: block by block, a list of lists each."""
    out, end = {}, 0
    for block in blocks:
        assert block["offset"] == end, block
        rows, columns, width = block["rows"], block["columns"], block["width"]
        end += rows * columns * width
        values = [
            int.from_bytes(row[at : at + width], "little")
            for at in range(block["offset"], end, width)
        ]
        assert max(values) <= block["maximum"], (block, values)
        if block["kind"] == "category":
            values = [block["values"][value] for value in values]
        out[block["name"]] = [values[i * columns : (i + 1) * columns] for i in range(rows)]
        assert [len(labels) for labels in block["labels"]] == [columns] * rows, block
    assert end == len(row)
    return out


def test_an_observation_is_decoded_from_the_document_alone():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    for game in client.hello["games"]:
        described = client.call("describe", ruleset=game["ruleset"])
        kinds = {block["kind"] for block in described["row"] + described["full_row"]}
        assert kinds <= {"category", "count", "flag", "fixed"}, kinds
        opened = client.call("open", ruleset=game["ruleset"], full=True)
        reply = client.call("reset", pool=opened["pool"])
        for _ in range(60):
            seen = client.call("observe", pool=opened["pool"], slot=0, full=True)
            row = decoded(seen["obs"], described["row"])
            decoded(seen["full"], described["full_row"])
            assert seen["phase"] == "over" or row["phase"] == [[seen["phase"]]], (row, seen)
            actions = first_actions(reply, opened["action_count"])
            reply = client.call("step", pool=opened["pool"], actions=actions)
    client.close()
    daemon.stop()


if __name__ == "__main__":
    main(globals())
