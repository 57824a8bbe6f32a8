"""The daemon among clients that mean harm or cannot do better: crowds, silence,
scribbling.

tests/daemon/test_daemon_harm.py BUILD_DIRECTORY [--long] [TEST]...
"""

import contextlib
import mmap
import os
import random
import resource
import socket
import struct
import tempfile
import time

import msgpack
import zmq
from daemon_client import (
    CONTEXT,
    LONG,
    Client,
    Daemon,
    first_actions,
    main,
    rss_kb,
    run_apart,
    wait_for,
)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- A client that speaks ZMTP by hand: one descriptor, no thread, no manners ----


class Raw:
    GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)

    def __init__(self, endpoint, greet=True):
        kind, place = endpoint.split("://")
        if kind == "ipc":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(20)
            self.socket.connect(place)
        else:
            host, port = place.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)), 20)
        self.buffer = b""
        self.id = 0
        if greet:
            self.greet()

    def greet(self):
        body = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER"
        self.socket.sendall(self.GREETING + b"\x04" + bytes([len(body)]) + body)
        assert self.take(64)[10] == 3
        flags, command = self.frame()
        assert flags & 4 and command.startswith(b"\x05READY"), command

    def take(self, size):
        while len(self.buffer) < size:
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionError("closed by the daemon")
            self.buffer += part
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def frame(self):
        flags = self.take(1)[0]
        size = struct.unpack(">Q", self.take(8))[0] if flags & 2 else self.take(1)[0]
        return flags, self.take(size)

    def send(self, op, **fields):
        self.id += 1
        message = msgpack.packb({"op": op, "id": self.id, **fields})
        head = (
            b"\x00" + bytes([len(message)])
            if len(message) < 256
            else b"\x02" + struct.pack(">Q", len(message))
        )
        self.socket.sendall(head + message)

    def receive(self):
        flags, content = self.frame()
        while flags & 4:  # heartbeats
            flags, content = self.frame()
        return msgpack.unpackb(content)

    def call(self, op, **fields):
        self.send(op, **fields)
        return self.receive()

    def close(self):
        self.socket.close()


# ---- Crowds ----


def raise_descriptor_limit(wanted):
    """As many descriptors as are wanted, or as there can be; says so if they are fewer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted and soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
        soft = min(wanted, hard)
    if soft < wanted:
        print(f"    ONLY {soft} descriptors are allowed here, {wanted} were wanted: fewer clients")
    return soft


def test_a_crowd_of_clients_loses_no_reply():
    idle, active, rounds = (10000, 1000, 20) if LONG else (2000, 200, 20)
    room = raise_descriptor_limit(idle + active + 600) - 600
    if room < idle + active:
        idle, active = room * 10 // 11, room // 11
    assert idle >= 300, "too few descriptors for a crowd"
    daemon = Daemon()
    pid = daemon.process.pid
    empty = rss_kb(pid)
    begin = time.monotonic()
    sleepers = []
    for _ in range(idle):
        client = Raw(daemon.endpoint)
        assert client.call("hello", protocol=1)["ok"]
        sleepers.append(client)
    per_client = (rss_kb(pid) - empty) / idle
    print(f"    {idle} idle clients in {time.monotonic() - begin:.1f} s, {per_client:.1f} KB each")
    workers = [Raw(daemon.endpoint) for _ in range(active)]
    for client in workers:
        client.send("hello", protocol=1)
    assert all(client.receive()["ok"] for client in workers)
    begin = time.monotonic()
    for _ in range(rounds):
        for client in workers:
            client.send("ping")
            client.send("stats")
        for client in workers:
            assert client.receive()["id"] == client.id - 1
            assert client.receive()["sessions"] == idle + active
    seconds = time.monotonic() - begin
    replies = 2 * active * rounds
    print(f"    {active} active clients: {replies} replies, none lost, {replies / seconds:.0f}/s")
    spent = cpu_seconds(pid)
    time.sleep(2)
    share = (cpu_seconds(pid) - spent) / 2
    print(f"    {100 * share:.1f} % of a processor while nobody asks")
    assert share < 0.5, share
    assert all(client.call("ping")["ok"] for client in random.Random(4).sample(sleepers, 100))
    for client in sleepers + workers:
        client.close()
    watcher = Client(daemon.endpoint)
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 60)
    watcher.close()
    daemon.stop()


def test_clients_above_the_cap_hear_a_sentence():
    daemon = Daemon("--limit", "sessions=50")
    members = [Client(daemon.endpoint) for _ in range(50)]
    assert all(client.hello["ok"] for client in members)
    extra = [Client(daemon.endpoint) for _ in range(20)]
    for client in extra:
        error = client.hello["error"]
        assert error["code"] == "limit" and "sessions=50" in error["message"], client.hello
    # Far more come and try again and again. They are not let in, and cost little.
    crowd = [Client(daemon.endpoint, hello=False) for _ in range(300)]
    for client in crowd:
        with contextlib.suppress(zmq.Again):  # a client that is already rejected has no peer
            client.socket.send(msgpack.packb({"op": "hello", "id": 1, "protocol": 1}), zmq.NOBLOCK)
    time.sleep(0.5)
    spent = cpu_seconds(daemon.process.pid)
    begin = time.monotonic()
    while time.monotonic() < begin + 2:
        assert all(client.call("ping")["ok"] for client in members)
        time.sleep(0.2)
    share = (cpu_seconds(daemon.process.pid) - spent) / (time.monotonic() - begin)
    print(f"    {100 * share:.1f} % of a processor while 300 more try to come in")
    assert share < 0.5, share
    for client in crowd + extra + members[1:]:
        client.close()
    assert wait_for(lambda: members[0].call("stats")["sessions"] == 1, 20)
    late = Client(daemon.endpoint)
    assert late.hello["ok"], late.hello
    late.close()
    members[0].close()
    daemon.stop("sessions=50")


# ---- Silence ----


def token_daemon(directory, *options):
    path = f"{directory}/token"
    with open(path, "w") as file:
        file.write("a secret of this test\n")
    os.chmod(path, 0o600)
    return Daemon("--token", path, *options, listen="tcp://127.0.0.1:*")


def is_closed(raw):
    """True if the daemon has closed the connection. Whatever it has sent before is read."""
    raw.socket.setblocking(False)
    try:
        while raw.socket.recv(1 << 16):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def seconds_until_closed(peers):
    begin = time.monotonic()
    assert wait_for(lambda: all(is_closed(peer) for peer in peers), 20)
    return time.monotonic() - begin


def cut_off(endpoint):
    """Peers that fall silent at every byte of the greeting and of the handshake."""
    peers = [Raw(endpoint, greet=False) for _ in range(len(Raw.GREETING) + 1)]
    for size, peer in enumerate(peers):
        peer.socket.sendall(Raw.GREETING[:size])
    return peers


def test_silent_peers_are_reaped():
    with tempfile.TemporaryDirectory() as directory:
        daemon = token_daemon(directory, "--limit", "heartbeat_ms=1800")
        fds = daemon.fds()
        early = cut_off(daemon.endpoint)
        took = seconds_until_closed(early)
        print(f"    {len(early)} peers silent in the handshake are gone after {took:.2f} s")
        # Or after it, with a session or without, never answering a heartbeat.
        late = [Raw(daemon.endpoint) for _ in range(20)]
        for peer in late[::2]:
            assert peer.call("hello", protocol=1, access="a secret of this test")["ok"]
        took = seconds_until_closed(late)
        print(f"    {len(late)} peers without heartbeats are gone after {took:.2f} s")
        for peer in early + late:
            peer.close()
        client = Client(daemon.endpoint, access="a secret of this test")
        assert wait_for(lambda: client.call("stats")["sessions"] == 1, 20)
        assert wait_for(lambda: daemon.fds() <= fds + 1, 20)
        client.close()
        daemon.stop()


def test_a_pause_costs_no_pool():
    with tempfile.TemporaryDirectory() as directory:
        daemon = token_daemon(directory)
        peer = Raw(daemon.endpoint)
        assert peer.call("hello", protocol=1, access="a secret of this test")["ok"]
        pool = peer.call("open", ruleset="convoi:board=tiny")["pool"]
        time.sleep(3)  # answers no heartbeat meanwhile, as a process that is stopped
        assert peer.call("reset", pool=pool)["ok"]
        peer.close()
        daemon.stop()


def test_silent_peers_of_local_sockets_are_reaped():
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon("--shm", f"{directory}/shm")
        fds = daemon.fds()
        peers = cut_off(daemon.endpoint)
        took = seconds_until_closed(peers)
        print(f"    {len(peers)} peers by ipc are gone after {took:.2f} s")
        shm = [Raw(f"ipc://{directory}/shm", greet=False) for _ in range(31)]
        for size, peer in enumerate(shm):
            peer.socket.sendall(bytes(size))
        took = seconds_until_closed(shm)
        print(f"    {len(shm)} peers of shared memory are gone after {took:.2f} s")
        for peer in peers + shm:
            peer.close()
        assert wait_for(lambda: daemon.fds() <= fds, 20), (daemon.fds(), fds)
        daemon.stop()


def test_a_client_that_never_reads_is_dropped_and_others_go_on():
    daemon = Daemon()
    other = Client(daemon.endpoint)
    assert other.hello["limits"]["replies_queued"] == 128
    greedy = Raw(daemon.endpoint)
    greedy.send("hello", protocol=1)
    greedy.socket.setblocking(False)
    assert wait_for(lambda: other.call("stats")["sessions"] == 2, 10)
    worst = 0.0
    begin = time.monotonic()
    gone = False
    while not gone and time.monotonic() < begin + 20:
        try:
            for _ in range(20):
                greedy.send("describe", ruleset="convoi")
        except (BlockingIOError, ConnectionError):
            pass
        asked = time.monotonic()
        gone = other.call("stats")["sessions"] == 1
        worst = max(worst, time.monotonic() - asked)
    print(
        f"    dropped after {greedy.id} requests and {time.monotonic() - begin:.2f} s; "
        f"others waited {1000 * worst:.0f} ms at most"
    )
    assert gone
    assert other.call("ping")["ok"]
    greedy.close()
    other.close()
    daemon.stop()


def test_clients_that_go_with_requests_under_way_are_forgotten():
    """What they sent is read after they are gone, when another client may have their descriptor."""
    daemon = Daemon()
    watcher = Client(daemon.endpoint)
    for _ in range(30 if LONG else 10):
        crowd = [Raw(daemon.endpoint) for _ in range(20)]
        assert all(hasty.call("hello", protocol=1)["ok"] for hasty in crowd)
        for hasty in crowd:
            for _ in range(60):
                hasty.send("describe", ruleset="convoi:board=tiny")
        for hasty in crowd:
            hasty.close()
    assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 20), watcher.call("stats")
    watcher.close()
    daemon.stop()


# ---- Shared memory ----


class Segments:
    """The segments of a member, fetched as proto/SHM.md says."""

    def __init__(self, path, opened):
        self.lease = socket.socket(socket.AF_UNIX)
        self.lease.connect(path)
        token = opened["shm_token"]
        self.lease.sendall(
            struct.pack("<II16sQII", 0x48535954, 2, token, opened["pool"], opened["member"], 0)
        )
        answer, self.fds, _, _ = socket.recv_fds(self.lease, 256, 4)
        assert struct.unpack_from("<I", answer, 8) == (0,) and len(self.fds) == 4, answer
        self.commands = mmap.mmap(self.fds[1], os.fstat(self.fds[1]).st_size)


def scribble(endpoint, seconds, seed):
    """Writes nonsense into everything that a client may write to."""
    generator = random.Random(seed)
    client = Client(endpoint)
    opened = client.call(
        "open", ruleset="convoi:board=tiny", slots=64, groups=2, illegal="lose", shm=True
    )
    segments = Segments(client.hello["shm"], opened)
    size = len(segments.commands)
    for fd in segments.fds[:2]:
        try:
            os.ftruncate(fd, 64)
            raise AssertionError("a segment could be resized")
        except PermissionError:
            pass
    print("up", flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        at = generator.randrange(size)
        noise = generator.randbytes(min(size - at, generator.choice((1, 4, 64, 4096))))
        segments.commands[at : at + len(noise)] = noise
        # Words that mean something come up too rarely by chance.
        segments.commands[generator.randrange(128)] = generator.randrange(4)
        if generator.randrange(8) == 0:
            os.set_blocking(segments.fds[2], False)
            with contextlib.suppress(BlockingIOError):
                os.write(segments.fds[2], struct.pack("<Q", generator.choice((1, 2**64 - 2))))
                if generator.randrange(2):
                    os.read(segments.fds[2], 8)
            os.set_blocking(segments.fds[2], True)


def own_process(call):
    """A process that runs one function of this file."""
    return run_apart(f"import test_daemon_harm; test_daemon_harm.{call}")


STALL = 0.01  # seconds that a round trip may take, as is promised
HELD = 1.0  # seconds in longer ones that are a busy machine's,
HELD_SHARE = 0.5  # and this part of the whole time: who can be stopped is stopped always;
HELD_TIMES = 3  # besides so many times what it does to others at the same time


class Player:
    """Plays a pool of its own, and notes how long the round trips take."""

    HOW = {"ruleset": "convoi:board=tiny", "slots": 16, "hash": True, "seed": 5}

    def __init__(self, endpoint):
        self.client = Client(endpoint)
        self.opened = self.client.call("open", **self.HOW)
        self.reply = self.client.call("reset", pool=self.opened["pool"])
        self.steps, self.longest, self.held = 0, 0.0, 0.0

    def step(self):
        actions = first_actions(self.reply, self.opened["action_count"])
        begin = time.monotonic()
        self.reply = self.client.call("step", pool=self.opened["pool"], actions=actions)
        taken = time.monotonic() - begin
        assert self.reply["ok"] and not self.reply.get("errors"), self.reply
        self.steps += 1
        self.longest = max(self.longest, taken)
        self.held += taken if taken > STALL else 0

    def close(self):
        self.client.call("close", pool=self.opened["pool"])
        self.client.close()


def play_spared(endpoint, seconds):
    """Plays with a daemon that nobody attacks: what happens to it is the machine's doing."""
    player = Player(endpoint)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        player.step()
    print(player.steps, player.longest, player.held)


def test_a_scribbling_client_harms_nobody():
    seconds = 600 if LONG else 10
    with tempfile.TemporaryDirectory() as directory:
        patient = ("--limit", "idle_ms=7200000")  # while one plays, others are silent
        daemon = Daemon("--shm", f"{directory}/shm", *patient)
        other = Daemon(*patient)
        watcher = Client(daemon.endpoint)
        fds = daemon.fds()
        player = Player(daemon.endpoint)
        spared = own_process(f"play_spared({other.endpoint!r}, {seconds})")
        hostile = own_process(f"scribble({daemon.endpoint!r}, {seconds}, 1)")
        assert hostile.stdout.readline() == "up\n"
        while hostile.poll() is None:
            player.step()
        assert hostile.returncode == 0 and spared.wait(60) == 0
        hostile.stdout.close()
        steps, longest, held = (float(word) for word in spared.stdout.read().split())
        spared.stdout.close()
        print(
            f"    {player.steps} steps, longest {1000 * player.longest:.1f} ms, "
            f"held up {player.held:.2f} s; at the same time one that is spared: "
            f"{steps:.0f}, {1000 * longest:.1f} ms, {held:.2f} s"
        )
        assert player.steps > 100
        # A busy machine has pauses of its own, which everybody meets.
        assert player.held < HELD + HELD_SHARE * seconds + HELD_TIMES * held
        # What was played is what would have been played alone.
        alone = Player(other.endpoint)
        while alone.steps < player.steps:
            alone.step()
        assert alone.reply["hash"] == player.reply["hash"]
        assert alone.reply["obs"] == player.reply["obs"]
        player.close()
        alone.close()
        assert wait_for(lambda: watcher.call("stats")["sessions"] == 1, 20)
        assert wait_for(lambda: daemon.fds() <= fds, 20), (daemon.fds(), fds)
        watcher.close()
        daemon.stop()
        other.stop()


if __name__ == "__main__":
    CONTEXT.set(zmq.MAX_SOCKETS, 4096)
    main(globals())
