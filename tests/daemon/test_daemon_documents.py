"""What the documents show is what happens: their commands are run, and their conversations held.

tests/daemon/test_daemon_documents.py BUILD_DIRECTORY [--long] [TEST]...

The Python of README.md and of the tour is run by agents/python/tests/test_tour.py; SHM.md and
FORMAT.md show no examples, but a client and a reader of logs were written from them alone
(daemon_client.Shm, tests/replay/log_tool.py).
"""

import contextlib
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

from daemon_client import BUILD, DATA, HERE, Client, Daemon, main, play, start

TOP = os.path.abspath(os.path.join(HERE, "..", ".."))


def lines_of(document, start):
    """The examples of a document, which are indented, that begin with a word."""
    with open(os.path.join(TOP, document)) as file:
        found = [line.strip() for line in file if re.match(r" {4}" + re.escape(start), line)]
    assert found, (document, start)
    return found


# ---- PROTOCOL.md


def request_of(line, width):
    """A request as the document shows it; actions are the first of every row."""
    fields = json.loads(re.sub(r"<[^>]*>", "null", line[len("-> ") :]))
    if "actions" in fields:
        fields["actions"] = width
    return fields


def check_reply(reply, line):
    """The keys that the document shows are there, with these values or sizes."""
    shown = re.sub(r", \.\.\.}$", "}", line[len("<- ") :])
    shown = re.sub(r"<(\d+) x (\d+) bytes>", lambda m: str(int(m[1]) * int(m[2])), shown)
    for key, value in json.loads(shown).items():
        if isinstance(reply[key], bytes):
            assert len(reply[key]) == value, (key, value)
        elif isinstance(value, str):
            assert value.endswith("...") and len(reply[key]) > len(value), (key, reply[key])
        else:
            assert reply[key] == value, (key, value, reply[key])


def test_the_session_by_hand_is_held():
    daemon = Daemon()
    client = Client(daemon.endpoint, hello=False)
    with open(os.path.join(TOP, "proto", "PROTOCOL.md")) as file:
        talk = file.read().partition("## A session by hand")[2].partition("## ")[0]
    lines = [line.strip() for line in talk.splitlines() if line.strip()]
    assert len(lines) >= 7, lines
    actions, reply = b"", {}
    for line in lines:
        if line.startswith("<-"):
            check_reply(reply, line)
            continue
        fields = request_of(line, actions)
        client.id = fields.pop("id") - 1
        reply = client.call(**fields)
        assert reply["ok"], (line, reply)
        if "mask" in reply:
            width = len(reply["mask"]) // reply["count"]
            rows = [reply["mask"][i * width :][:width] for i in range(reply["count"])]
            actions = struct.pack(f"<{len(rows)}i", *(row.find(1) for row in rows))
    assert reply["count"] == 64 and reply["id"] == 4, reply["id"]
    client.close()
    daemon.stop()


def test_the_refusal_that_is_shown_is_what_is_said():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    wanted, good, bad = (
        lines_of("proto/PROTOCOL.md", "-> ")[0],
        *lines_of("proto/PROTOCOL.md", "<-")[:2],
    )
    fields = request_of(wanted, b"")
    client.id = fields.pop("id") - 1
    reply = client.call(**fields)
    assert reply == json.loads(bad[len("<- ") :]), (reply, bad)
    assert '"ok": true' in good
    client.close()
    daemon.stop()


# ---- TRACE.md


def matches(shown, line):
    """True if the line is as shown, where three points stand for anything."""
    pattern = re.sub(r"(, )?\\.\\.\\.", ".*", re.escape(shown).replace(r",\ ", ", "))
    return re.fullmatch(pattern, line) is not None


def test_the_trace_that_is_shown_is_written():
    shown = lines_of("env/cli/TRACE.md", '{"')
    head = json.loads(re.sub(r", \.\.\.}$", "}", shown[0]))
    ends = []
    for agent in ("random", "expert"):
        command = [f"{BUILD}/trainyard", "trace", head["ruleset"], "--seed", str(head["seed"])]
        done = subprocess.run([*command, "--agent", agent], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        assert done.returncode == 0, done.stderr
        assert [matches(shown[i], lines[i]) for i in range(3)] == [True] * 3, lines[:3]
        ends.append(matches(shown[-1], lines[-1]))
    assert any(ends), shown[-1]


# ---- README.md and OPERATING.md

#: What the documents say in general, and what stands for it here.
STAND_INS = {
    "--episodes 10000": "--episodes 20",
    "sim convoi --log": "sim convoi --episodes 5 --log",
    "arena convoi --agents expert,random": "arena convoi --agents expert,random --episodes 4",
    "--start ./my_agent": f"--episodes 2 --start {BUILD}/examples/own_agent",
    "mybox.json": f"{DATA}/convoi_yard.json",
    "trainyard bench": "trainyard bench convoi:board=tiny --seconds 0.01 --doors shm",
    "nordic --agents search,expert": "express --agents search,expert",  # which is quicker
    "sim tictactoe": "sim tictactoe --episodes 5",
    " [ENDPOINT]": "",
}


@contextlib.contextmanager
def standard_daemon():
    """A daemon at the standard place of a user who has a home of its own, and its environment."""
    home = tempfile.mkdtemp(prefix="trainyard-documents-")
    environment = dict(os.environ, XDG_RUNTIME_DIR=home, PATH=f"{BUILD}:{os.environ['PATH']}")
    process = start([f"{BUILD}/trainyardd"], env=environment)
    endpoint = next(word for word in process.stdout.readline().split() if "://" in word)
    yield endpoint, environment, home
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()
    shutil.rmtree(home)


def run_line(line, environment, home, **stand_ins):
    for word, other in {**STAND_INS, **stand_ins}.items():
        line = line.replace(word, other)
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, (line, done.stderr[-2000:])
    return done.stdout


def serve_line(command, environment, home):
    """What a command that serves until it is stopped says first."""
    line = command.replace("serve", "serve --http 127.0.0.1:0", 1)
    process = start(["bash", "-c", f"exec {line}"], env=environment, cwd=home)
    said = process.stdout.readline()
    process.terminate()
    assert process.wait(60) == 0, line
    process.stdout.close()
    return said


def is_of_the_package(command):
    """Some commands are in Python, as the tool says; the package's own tests run them."""
    words = [f"{BUILD}/trainyard", command.split()[1], "--help"]
    said = subprocess.run(words, capture_output=True, text=True).stderr
    return "is a command of the Python package" in said


def test_the_commands_of_the_readme_work():
    commands = [line.removeprefix("$ ") for line in lines_of("README.md", "$ trainyard")]
    commands = [command for command in commands if not is_of_the_package(command)]
    assert len(commands) >= 12, commands
    with standard_daemon() as (_, environment, home):
        build = next(iter(lines_of("examples/own_game/README.md", "cc -shared")))
        build = build.replace("build/libtictactoe.so", f"{home}/libtictactoe.so")
        run_line(f"cd {TOP} && {build.replace('build/gcc', BUILD)}", environment, home)
        for command in commands:
            name = command.split()[1]
            if name == "play":  # needs somebody who plays
                said = run_line(f"echo quit | {command}", environment, home)
            elif name == "serve":
                said = serve_line(command, environment, home)
            else:
                said = run_line(command, environment, home)
            assert said, command


def test_the_commands_for_operators_work():
    commands = lines_of("env/daemon/OPERATING.md", "trainyard ")
    assert len(commands) >= 5, commands
    with standard_daemon() as (endpoint, environment, home):
        client = Client(endpoint, name="somebody")
        numbers = {}
        for command in commands:
            if "close-pool" in command:
                numbers = {"NUMBER": str(play(client, slots=2)["pool"])}
            if "end-session" in command:
                other = Client(endpoint, name="other")
                listed = json.loads(run_line("trainyard admin sessions --json", environment, home))
                numbers = {"NUMBER": str(next(s["number"] for s in listed if s["name"] == "other"))}
                other.close()
            run_line(command, environment, home, **numbers)
        assert client.call("ping")["ok"]
        client.close()


if __name__ == "__main__":
    main(globals())
