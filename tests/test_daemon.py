"""The daemon as strangers use it: real processes, real sockets, real kills.

Run by tests/test_daemon.sh: test_daemon.py BUILD_DIRECTORY [--long]
"""

import json
import mmap
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import msgpack
import zmq

THIS = os.path.abspath(__file__)
BUILD = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv
KILLS = 1000 if LONG else 20
CONTEXT = zmq.Context()


STARTED = []  # every process, so that a test that fails leaves none


def start(command, **options):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    STARTED.append(process)
    return process


class Daemon:
    """A daemon in a directory of its own."""

    def __init__(self, *options, listen=None, directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="trainyard-test-")
        os.chmod(self.directory, 0o700)
        self.endpoint = listen or f"ipc://{self.directory}/d"
        command = [f"{BUILD}/trainyardd", "--listen", self.endpoint, *options]
        self.process = start(command, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if "ready" not in line:
            raise AssertionError(f"not ready: {line!r} {self.process.stderr.read()!r}")
        self.endpoint = next(word for word in line.split() if "://" in word)

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def segments(self):
        """How many segments of shared memory it has mapped."""
        with open(f"/proc/{self.process.pid}/maps") as file:
            return sum("memfd:trainyard" in line for line in file)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def stop(self, said=""):
        """Stops it. `said` is in what it complained of; None: it may have."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        error = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert status == 0, (status, error)
        assert said is None or (said in error and (said or not error)), error
        assert os.listdir(self.directory) == [], os.listdir(self.directory)
        os.rmdir(self.directory)


class Client:
    def __init__(self, endpoint, kind=zmq.DEALER, keys=None, hello=True, **fields):
        self.socket = CONTEXT.socket(kind)
        self.socket.linger = 0
        self.socket.rcvtimeo = 10000
        self.socket.sndtimeo = 10000
        if keys:
            (
                self.socket.curve_serverkey,
                self.socket.curve_publickey,
                self.socket.curve_secretkey,
            ) = keys
        self.socket.connect(endpoint)
        self.id = 0
        self.notices = []
        self.hello = self.call("hello", protocol=1, **fields) if hello else None

    def send(self, op, **fields):
        self.id += 1
        self.socket.send(msgpack.packb({"op": op, "id": self.id, **fields}))

    def receive(self):
        reply = msgpack.unpackb(self.socket.recv())
        self.notices += [(notice["what"], notice["seat"]) for notice in reply.get("notices", [])]
        return reply

    def call(self, op, **fields):
        self.send(op, **fields)
        return self.receive()

    def close(self):
        self.socket.close()


class Shm:
    """A client of the shared-memory door, written from proto/SHM.md alone. It wakes the daemon
    with every command, since Python has no fence."""

    def __init__(self, path, opened):
        self.lease = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.lease.settimeout(10)
        self.lease.connect(path)
        self.lease.sendall(
            struct.pack(
                "<II16sQII", 0x48535954, 1, opened["shm_token"], opened["pool"], opened["member"], 0
            )
        )
        reply, self.fds, _, _ = socket.recv_fds(self.lease, 256, 4)
        magic, version, self.status, count, _ = struct.unpack_from("<IIIII", reply)
        self.message = reply[20:].split(b"\0")[0].decode()
        assert (magic, version, count) == (0x48535954, 1, 0 if self.status else 4), reply
        if self.status:
            self.lease.close()
            return
        self.rows = mmap.mmap(self.fds[0], 0, mmap.MAP_SHARED, mmap.PROT_READ)
        self.commands = mmap.mmap(self.fds[1], 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        # Words are read and written whole; `struct` with a byte order goes byte by byte.
        self.row_words = memoryview(self.rows).cast("I")
        self.command_words = memoryview(self.commands).cast("I")
        assert self.rows[:8] == b"TYSHROWS"
        words, groups, _, self.slots, count, columns = struct.unpack_from("<QQQIII", self.rows, 48)
        assert len(self.rows) == struct.unpack_from("<Q", self.rows, 16)[0]
        self.words, self.groups = words, []
        for group in range(count):
            at = groups + group * (16 + 32 * columns)
            first, rows, which = struct.unpack_from("<IIQ", self.rows, at)
            table = {}
            for column in range(columns):
                name, _, width, offset = struct.unpack_from(
                    "<16sIIQ", self.rows, at + 16 + 32 * column
                )
                table[name.rstrip(b"\0").decode()] = (width, offset)
            self.groups.append((first, rows, which, table))

    def word(self, group, name):
        at = (
            self.words
            + 128
            + 64 * group
            + 4 * ("published", "served", "result", "ready", "illegal").index(name)
        )
        return self.row_words[at // 4]

    def column(self, group, name, size=1):
        _, rows, _, table = self.groups[group]
        width, offset = table[name]
        return self.rows[offset : offset + rows * width * size]

    def choose(self, group):
        """The first legal action of every row."""
        offset = self.groups[group][3]["action"][1]
        mask_width = self.groups[group][3]["mask"][0]
        actions = first_actions(
            {"mask": self.column(group, "mask"), "count": self.groups[group][1]}, mask_width
        )
        self.commands[offset : offset + len(actions)] = actions

    def submit(self, group, which=None):
        number = (self.word(group, "served") + 1) % 2**32
        if which is not None:
            at = self.groups[group][2]
            self.commands[at : at + len(which)] = which
        self.command_words[16 * group + 1] = 1 if which is None else 2
        self.command_words[16 * group] = number
        os.write(self.fds[2], struct.pack("<Q", 1))

    def step(self, group=0, which=None):
        self.submit(group, which)
        self.wait(group)

    def wait(self, group):
        number = self.command_words[16 * group]
        assert wait_for(lambda: self.word(group, "served") == number, 10, pause=0)
        assert self.word(group, "result") == 0

    def answer_ready(self, group=0):
        """Answers the rows that are ready; returns how many."""
        ready = self.column(group, "ready")
        if any(ready):
            self.choose(group)
            self.step(group, ready)
        return sum(ready)

    def is_closed(self, seconds=10):
        return bool(select.select([self.lease], [], [], seconds)[0]) and self.lease.recv(1) == b""

    def close(self):
        self.lease.close()
        for fd in self.fds:
            os.close(fd)
        self.row_words.release()
        self.command_words.release()
        self.rows.close()
        self.commands.close()


def wait_for(condition, seconds, *arguments, pause=0.02):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition(*arguments):
            return True
        time.sleep(pause)
    return condition(*arguments)


def first_actions(reply, width):
    mask = reply["mask"]
    rows = reply["count"]
    return b"".join(
        max(mask[i * width : (i + 1) * width].find(1), 0).to_bytes(4, "little") for i in range(rows)
    )


def play(client, slots=16, steps=50):
    opened = client.call("open", ruleset="convoi:board=tiny", slots=slots)
    assert opened["ok"], opened
    reply = client.call("reset", pool=opened["pool"])
    for _ in range(steps):
        reply = client.call(
            "step", pool=opened["pool"], actions=first_actions(reply, opened["action_count"])
        )
        assert reply["ok"], reply
    return opened


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
    daemon.stop()
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
    requests = client.call("stats")["requests"]
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
    assert client.call("stats")["requests"] == requests + 1
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
    daemon.stop()
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


def client_process(endpoint):
    """A process that plays until it is killed."""
    code = (
        "import sys; sys.argv = ['x', sys.argv[1], sys.argv[2]]\n"
        f"import runpy; module = runpy.run_path({THIS!r}, run_name='library')\n"
        "client = module['Client'](sys.argv[2])\n"
        "print('up', flush=True)\n"
        "while True:\n"
        "    opened = module['play'](client, 64, 20)\n"
        "    client.call('close', pool=opened['pool'])\n"
    )
    return start([sys.executable, "-c", code, BUILD, endpoint])


def test_killed_clients_leave_nothing():
    daemon = Daemon()
    watcher = Client(daemon.endpoint)
    time.sleep(0.2)
    fds, threads = daemon.fds(), daemon.threads()
    generator = random.Random(1)
    for _ in range((KILLS + 4) // 5):
        clients = [client_process(daemon.endpoint) for _ in range(5)]
        for client in clients:
            client.stdout.readline()
        for client in clients:
            time.sleep(generator.random() * 0.05)
            client.kill()
            client.wait()
            client.stdout.close()
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 20)
    stats = watcher.call("stats")
    assert stats["pools"] == [], stats
    assert wait_for(lambda: (daemon.fds(), daemon.threads()) == (fds, threads), 20), (
        daemon.fds(),
        fds,
    )
    watcher.close()
    daemon.stop()


def test_a_killed_client_is_gone_within_two_seconds():
    daemon = Daemon()
    watcher = Client(daemon.endpoint)
    client = client_process(daemon.endpoint)
    client.stdout.readline()
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 2, 5)
    client.kill()
    client.wait()
    begin = time.monotonic()
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 20)
    print(f"    gone after {time.monotonic() - begin:.2f} s")
    client.stdout.close()
    watcher.close()
    daemon.stop()


def test_a_killed_daemon_restarts_at_once():
    directory = tempfile.mkdtemp(prefix="trainyard-test-")
    generator = random.Random(2)
    worst = 0.0
    for _ in range(KILLS // 2):
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


def test_acknowledged_episodes_survive_a_kill():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    generator = random.Random(3)
    acknowledged = 0
    for _ in range(KILLS // 2):
        daemon = Daemon("--log", log)
        client = Client(daemon.endpoint)
        assert "log" in client.hello["capabilities"]
        opened = client.call("open", ruleset="convoi:board=tiny", slots=16, autoreset="same_step")
        reply = client.call("reset", pool=opened["pool"])
        for _ in range(generator.randrange(20, 200)):
            actions = first_actions(reply, opened["action_count"])
            reply = client.call("step", pool=opened["pool"], actions=actions)
            acknowledged += len(reply["ended"]) // 4
        client.send(
            "step", pool=opened["pool"], actions=first_actions(reply, opened["action_count"])
        )
        daemon.kill()
        client.close()
        shutil.rmtree(daemon.directory)
    daemon = Daemon("--log", log)
    client = Client(daemon.endpoint)
    verified = 0
    for name in sorted(os.listdir(log)):
        path = os.path.join(log, name)
        with open(path, "rb") as file:
            content = file.read()
        if not content or not os.path.isfile(path) or name.endswith("lock"):
            continue
        reply = client.call("replay_verify", content=content)
        if reply["ok"]:
            verified += reply["episodes"]
            assert "agree" in reply["report"], reply
    assert acknowledged > 10
    assert verified >= acknowledged, (verified, acknowledged)
    client.close()
    daemon.stop(None)  # a kill may have torn a record
    shutil.rmtree(log)


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
    daemon.stop()


def test_a_board_of_ones_own_travels_by_content():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    with open(os.path.join(os.path.dirname(__file__), "data", "convoi_yard.json"), "rb") as file:
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
            assert player.call("recv", pool=opened["pool"])["error"]["code"] == "no_pool"
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
    watcher = Client(daemon.endpoint)
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
    assert wait_for(lambda: watcher.call("stats")["pools"] == [], 5)
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


def play_to_an_ending(client, opened, reply):
    """Steps until an episode has ended; returns the slot and the reply."""
    for _ in range(2000):
        actions = first_actions(reply, opened["action_count"])
        reply = client.call("step", pool=opened["pool"], actions=actions)
        assert reply["ok"], reply
        if reply["ended"]:
            return struct.unpack_from("<I", reply["ended"])[0], reply
    raise AssertionError("no episode has ended")


def test_an_episode_that_was_just_played_can_be_fetched():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon = Daemon("--log", log)
    client = Client(daemon.endpoint, name="le chef")
    opened = client.call(
        "open", ruleset="convoi:board=tiny", slots=4, seats=["me", "expert"], autoreset="same_step"
    )
    pool = opened["pool"]
    assert client.call("replay_get", pool=pool, slot=0)["error"]["code"] == "bad_argument"
    assert client.call("replay_get", pool=pool, slot=4)["error"]["code"] == "bad_argument"
    reply, seeds = client.call("reset", pool=pool, seeds=struct.pack("<4Q", 11, 12, 13, 14)), {}
    for _ in range(12):
        slot, reply = play_to_an_ending(client, opened, reply)
        got = client.call("replay_get", pool=pool, slot=slot)
        assert got["ok"], got
        episode = (
            struct.unpack_from("<I", reply["episode"], 4 * slot)[0] - 1
        )  # the row is the next one's
        assert got["episode"] == episode
        assert (
            client.call("replay_get", pool=pool, slot=slot, episode=episode)["data"] == got["data"]
        )
        verified = client.call("replay_verify", content=got["data"])
        assert verified["episodes"] == 1 and "1 episodes agree" in verified["report"], verified
        path = f"{log}/one.fetched"
        with open(path, "wb") as file:
            file.write(got["data"])
        done = subprocess.run(
            [f"{BUILD}/trainyard", "replay", "show", path, "--json"], capture_output=True, text=True
        )
        shown = json.loads(done.stdout)
        assert shown["seats"] == ["le chef", "expert"] and shown["ruleset"] == opened["ruleset"], (
            shown
        )
        assert (slot, episode) not in seeds
        seeds[slot, episode] = shown["seed"]
        os.remove(path)
    assert seeds[min(seeds)] in (11, 12, 13, 14) and len(set(seeds.values())) == 12, seeds
    old = client.call("replay_get", pool=pool, slot=0, episode=1000)
    assert old["error"]["code"] == "bad_argument" and "last 4" in old["error"]["message"], old
    damaged = bytearray(got["data"])
    damaged[-20] ^= 1
    assert client.call("replay_verify", content=bytes(damaged))["episodes"] == 0
    client.close()
    daemon.stop()
    done = subprocess.run(
        [f"{BUILD}/trainyard", "replay", "verify", log], capture_output=True, text=True
    )
    assert done.returncode == 0 and "agree" in done.stdout, done
    shutil.rmtree(log)


def test_logs_name_those_who_joined_and_boards_of_ones_own():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon = Daemon("--log", log)
    director, player = (
        Client(daemon.endpoint, name="director"),
        Client(daemon.endpoint, name="player"),
    )
    with open(
        os.path.join(os.path.dirname(__file__), "data", "convoi_two_ports.json"), "rb"
    ) as file:
        board = file.read()
    opened = director.call(
        "open",
        ruleset="convoi:board=ports",
        files={"ports": board},
        seats=["me", "open"],
        max_steps=20,
    )
    assert opened["ok"], opened
    assert player.call("join", pool=opened["pool"], invite=opened["invite"])["ok"]
    assert player.call("replay_get", pool=opened["pool"], slot=0)["error"]["code"] == "denied"
    ended = False
    while not ended:
        for client in (director, player):
            reply = client.call("recv", pool=opened["pool"], timeout_ms=5)
            ended = ended or bool(reply["ended"])
            if reply["count"]:
                actions = first_actions(reply, opened["action_count"])
                client.call("send", pool=opened["pool"], slots=reply["slots"], actions=actions)
    got = director.call("replay_get", pool=opened["pool"], slot=0)
    assert board in got["data"]
    verified = director.call("replay_verify", content=got["data"])
    assert verified["episodes"] == 1, verified
    assert b"director" in got["data"] and b"player" in got["data"]
    director.close()
    player.close()
    daemon.stop()
    daemon = Daemon()
    client = Client(daemon.endpoint)
    opened = client.call("open", ruleset="convoi:board=tiny")
    reply = client.call("replay_get", pool=opened["pool"], slot=0)
    assert reply["error"]["code"] == "unavailable" and "--log" in reply["error"]["message"], reply
    client.close()
    daemon.stop()
    shutil.rmtree(log)


def test_options_from_a_file():
    directory = tempfile.mkdtemp()
    config = f"{directory}/config"
    with open(config, "w") as file:
        file.write(
            "# a comment\n\n  limit sessions=3\nlimit = slots=100  # another\n"
            f"log {directory}/log\nshm = none\n"
        )
    daemon = Daemon("--config", config, "--limit", "pools=2")
    client = Client(daemon.endpoint)
    limits = client.hello["limits"]
    assert (limits["sessions"], limits["slots"], limits["pools"]) == (3, 100, 2), limits
    assert client.hello["capabilities"] == ["log"], client.hello["capabilities"]
    assert client.call("open", ruleset="convoi", slots=101)["error"]["code"] == "limit"
    client.close()
    daemon.stop()
    for text, word in (
        ("listen\n", ":1: "),
        ("\nnonsense 3\n", ":2: "),
        ("config other\n", ":1: "),
        ("limit pools=0\n", "from 1"),
        ("limit poodles=1\n", "poodles"),
        ("shm here\n", "absolute"),
    ):
        with open(config, "w") as file:
            file.write(text)
        done = subprocess.run(
            [f"{BUILD}/trainyardd", "--config", config], capture_output=True, text=True
        )
        assert done.returncode == 2 and word in done.stderr, (text, done)
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--config", f"{directory}/none"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "No such file" in done.stderr, done
    shutil.rmtree(directory)


def test_boards_of_the_daemons_own_folder():
    directory = tempfile.mkdtemp()
    source = os.path.join(os.path.dirname(__file__), "data", "convoi_two_ports.json")
    shutil.copy(source, f"{directory}/ports.json")
    os.mkdir(f"{directory}/boards")
    shutil.copy(source, f"{directory}/boards/ports.json")
    with open(f"{directory}/boards/broken.json", "w") as file:
        file.write("{")
    os.symlink("/etc/passwd", f"{directory}/boards/link.json")
    daemon = Daemon("--boards", f"{directory}/boards")
    client = Client(daemon.endpoint)
    assert "boards" in client.hello["capabilities"]
    opened = client.call("open", ruleset="convoi:board=ports", slots=2)
    assert opened["ok"] and "board=ports@" in opened["ruleset"], opened
    reply = client.call("reset", pool=opened["pool"])
    play_to_an_ending(client, opened, reply)
    with open(source, "rb") as file:
        sent = client.call("describe", ruleset="convoi:board=ports", files={"ports": file.read()})
    assert sent["ruleset"] == opened["ruleset"] and sent["schema_hash"] == opened["schema_hash"]
    for name in ("nowhere", "broken", "link", "../ports", "/etc/passwd", f"{directory}/ports"):
        reply = client.call("open", ruleset=f"convoi:board={name}")
        assert reply["error"]["code"] in ("bad_file", "bad_config"), (name, reply)
        assert "root:" not in reply["error"]["message"], reply
    client.close()
    daemon.stop()
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--boards", f"{directory}/none"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "no such directory" in done.stderr, done
    shutil.rmtree(directory)


def test_a_torn_log_is_repaired_with_a_sentence():
    log = tempfile.mkdtemp(prefix="trainyard-test-")
    daemon = Daemon("--log", log)
    client = Client(daemon.endpoint)
    pool = client.call("open", ruleset="convoi:board=tiny", slots=4)
    width = pool["action_count"]
    rows = client.call("reset", pool=pool["pool"])
    for _ in range(300):
        rows = client.call("step", pool=pool["pool"], actions=first_actions(rows, width))
    client.close()
    daemon.stop()
    (name,) = [name for name in os.listdir(log) if name.endswith(".tylog")]
    with open(f"{log}/{name}", "rb+") as file:
        file.truncate(os.path.getsize(f"{log}/{name}") - 3)
    Daemon("--log", log).stop("an unfinished record, are cut off")
    Daemon("--log", log).stop()
    shutil.rmtree(log)


def main(names):
    """Runs the functions of a module whose names begin with test_."""
    failed = 0
    tests = [(name, value) for name, value in sorted(names.items()) if name.startswith("test_")]
    chosen = [word for word in sys.argv[2:] if not word.startswith("--")]
    passed = 0
    for name, test in tests:
        if chosen and name not in chosen:
            continue
        begin = time.monotonic()
        try:
            test()
            passed += 1
            print(f"ok     {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception as error:
            failed += 1
            import traceback

            traceback.print_exc()
            print(f"FAILED {name}: {error}", flush=True)
        for process in STARTED:
            if process.poll() is None:
                process.kill()
                process.wait()
        STARTED.clear()
    print(f"{passed} passed, {failed} failed")
    sys.stdout.flush()
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main(globals())
