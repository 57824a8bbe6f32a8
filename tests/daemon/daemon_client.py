"""A daemon, its clients and their shared memory, for the tests of real processes.

The first argument of a program that imports this is the build directory.
"""

import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

import msgpack
import zmq

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
BUILD = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv
CLIENT_KILLS, DAEMON_KILLS = (10000, 1000) if LONG else (100, 10)
CONTEXT = zmq.Context()
STARTED = []  # every process, so that a test that fails leaves none


def start(command, **options):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    STARTED.append(process)
    return process


def run_apart(code, **options):
    """A process that runs code which imports modules of this folder."""
    before = f"import sys; sys.argv = ['x', {BUILD!r}]; sys.path.insert(0, {HERE!r})\n"
    return start([sys.executable, "-c", before + code], **options)


class Daemon:
    """A daemon in a directory of its own."""

    def __init__(self, *options, listen=None, directory=None, stderr=subprocess.PIPE, **how):
        self.directory = directory or tempfile.mkdtemp(prefix="trainyard-test-")
        os.chmod(self.directory, 0o700)
        self.endpoint = listen or f"ipc://{self.directory}/d"
        command = [f"{BUILD}/trainyardd", "--listen", self.endpoint, *options]
        self.process = start(command, stderr=stderr, **how)
        line = self.process.stdout.readline()
        if "ready" not in line:
            said = self.process.stderr.read() if self.process.stderr else "see its file"
            raise AssertionError(f"not ready: {line!r} {said!r}")
        self.ready = line
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
        error = ""
        self.process.stdout.close()
        if self.process.stderr:
            error = self.process.stderr.read()
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

    WORDS = ("published", "served", "result", "ready", "illegal", "ignored", "renewed")

    def __init__(self, path, opened):
        self.lease = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.lease.settimeout(10)
        self.lease.connect(path)
        self.lease.sendall(
            struct.pack(
                "<II16sQII", 0x48535954, 2, opened["shm_token"], opened["pool"], opened["member"], 0
            )
        )
        reply, self.fds, _, _ = socket.recv_fds(self.lease, 256, 4)
        magic, version, self.status, count, _ = struct.unpack_from("<IIIII", reply)
        self.message = reply[20:].split(b"\0")[0].decode()
        assert (magic, version, count) == (0x48535954, 2, 0 if self.status else 4), reply
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
        at = self.words + 128 + 64 * group + 4 * self.WORDS.index(name)
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

    def submit(self, group, which=None, seen=None):
        """`seen` is what `published` was when we looked at the rows; None: we do so right now."""
        number = (self.word(group, "served") + 1) % 2**32
        if which is not None:
            at = self.groups[group][2]
            self.commands[at : at + len(which)] = which
        self.command_words[16 * group + 1] = 1 if which is None else 2
        self.command_words[16 * group + 3] = self.word(group, "published") if seen is None else seen
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


def rss_kb(pid):
    """Resident memory, counted exactly."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:"))


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


def main(names):
    """Runs the functions of a module whose names begin with test_. What they leave is removed."""
    tempfile.tempdir = tempfile.mkdtemp(prefix="trainyard-tests-")
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
            traceback.print_exc()
            print(f"FAILED {name}: {error}", flush=True)
        for process in STARTED:
            if process.poll() is None:
                process.kill()
                process.wait()
        STARTED.clear()
    shutil.rmtree(tempfile.tempdir)
    print(f"{passed} passed, {failed} failed")
    sys.stdout.flush()
    os._exit(1 if failed else 0)
