"""The daemon and its files: logs that survive kills, boards, options.

tests/daemon/test_daemon_logs.py BUILD_DIRECTORY [--long] [TEST]...
"""

import json
import math
import os
import random
import resource
import shutil
import struct
import subprocess
import tempfile

from daemon_client import (
    BUILD,
    DAEMON_KILLS,
    DATA,
    Client,
    Daemon,
    Shm,
    first_actions,
    main,
    wait_for,
)


def test_acknowledged_episodes_survive_a_kill():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    generator = random.Random(3)
    acknowledged = 0
    for _ in range(DAEMON_KILLS):
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
            assert reply["episode"] == -1, reply
            assert reply["agrees"] == (reply["gaps"] == 0) == (reply["why"] == ""), reply
    assert acknowledged > 10
    assert verified >= acknowledged, (verified, acknowledged)
    client.close()
    daemon.stop(None)  # a kill may have torn a record
    shutil.rmtree(log)


def play_to_an_ending(client, opened, reply):
    """Steps until an episode has ended; returns the slot and the reply."""
    for _ in range(2000):
        actions = first_actions(reply, opened["action_count"])
        reply = client.call("step", pool=opened["pool"], actions=actions)
        assert reply["ok"], reply
        if reply["ended"]:
            return struct.unpack_from("<I", reply["ended"])[0], reply
    raise AssertionError("no episode has ended")


def note(slot, action, probability=math.nan, value=math.nan, visits=math.nan):
    """What a member thinks of one action, as it is sent."""
    return struct.pack("<IIfff", slot, action, probability, value, visits)


def notes_in(content):
    """The notes of a log with one episode, as env/replay/FORMAT.md describes them."""
    at = 32
    while at < len(content):
        kind, size = content[at + 4], struct.unpack_from("<I", content, at + 8)[0]
        if kind == 3:
            count = struct.unpack_from("<I", content, at + 24 + 20)[0]
            assert size == 24 + 20 * count
            return list(struct.iter_unpack("<IIfff", content[at + 48 : at + 24 + size]))
        at += 32 + size
    return []


def told_of(reply, width):
    """A note for the first legal action of every row that asks, and for another one."""
    told = b""
    for slot, ready in enumerate(reply["ready"]):
        legal = [a for a in range(width) if reply["mask"][slot * width + a]]
        if ready and legal:
            told += note(slot, legal[0], 0.75, visits=3) + note(slot, legal[-1], 0.25, -1.5)
    return told


def test_what_members_tell_of_their_choices_is_in_the_log():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon = Daemon("--log", log)
    client = Client(daemon.endpoint)
    opened = client.call(
        "open",
        ruleset="convoi:board=tiny",
        slots=2,
        notes=True,
        max_steps=40,
        seats=["me", "random"],
    )
    pool, width = opened["pool"], opened["action_count"]
    reply = client.call("reset", pool=pool)
    while not reply["ended"]:
        actions = first_actions(reply, width)
        reply = client.call("step", pool=pool, actions=actions, notes=told_of(reply, width))
        assert reply["ok"], reply
    slot = struct.unpack_from("<I", reply["ended"])[0]
    got = client.call("replay_get", pool=pool, slot=slot)["data"]
    notes = notes_in(got)
    assert len(notes) > 4 and len(notes) % 2 == 0, notes
    for first, second in zip(notes[::2], notes[1::2], strict=True):
        assert first[0] == second[0] < 40 and first[2] == 0.75 and first[4] == 3
        assert math.isnan(first[3]) and second[2:4] == (0.25, -1.5) and math.isnan(second[4])
    assert client.call("replay_verify", content=got)["agrees"]
    daemon.stop()
    view = [f"{BUILD}/trainyard", "view", f"{log}/episodes-000001.tylog", "-o", f"{log}/page.html"]
    subprocess.run(view, check=True, capture_output=True)
    with open(f"{log}/page.html") as file:
        assert ",0.75,null,3]" in file.read()
    client.close()
    shutil.rmtree(log)


def test_notes_that_make_no_sense_are_refused_and_change_nothing():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon = Daemon("--log", log)
    client = Client(daemon.endpoint)
    opened = client.call("open", ruleset="convoi:board=tiny", slots=2, notes=True)
    pool, width = opened["pool"], opened["action_count"]
    reply = client.call("reset", pool=pool)
    actions = first_actions(reply, width)
    illegal = next(a for a in range(width) if not reply["mask"][a])
    before = [client.call("state", pool=pool, slot=slot)["state"] for slot in range(2)]
    for notes, code, word in [
        (b"x" * 19, "bad_request", "multiple of 20"),
        (note(2, 1), "bad_argument", "slot 2; the pool has slots 0..1"),
        (note(0, illegal), "bad_argument", f"action {illegal}, which is not legal in slot 0"),
        (note(0, 4000000000), "bad_argument", "4000000000"),
    ]:
        slots = struct.pack("<2I", 0, 1)
        for op, more in [("step", {}), ("send", {"slots": slots})]:
            error = client.call(op, pool=pool, actions=actions, notes=notes, **more)["error"]
            assert error["code"] == code and word in error["message"], error
    assert before == [client.call("state", pool=pool, slot=slot)["state"] for slot in range(2)]
    assert client.call("step", pool=pool, actions=actions)["count"] == 2
    daemon.stop()
    client.close()
    shutil.rmtree(log)


def test_notes_need_a_log():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    error = client.call("open", ruleset="convoi:board=tiny", notes=True)["error"]
    assert error["code"] == "unavailable" and "--log" in error["message"], error
    opened = client.call("open", ruleset="convoi:board=tiny")
    reply = client.call("reset", pool=opened["pool"])
    width = opened["action_count"]
    told = told_of(reply, width)
    assert client.call(
        "step", pool=opened["pool"], actions=first_actions(reply, width), notes=told
    )["ok"]
    daemon.stop()
    client.close()


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
        assert verified["episodes"] == 1 and verified["agrees"], verified
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
    verified = client.call("replay_verify", content=bytes(damaged))
    assert verified["episodes"] == 0 and not verified["agrees"], verified
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
    with open(os.path.join(DATA, "convoi_two_ports.json"), "rb") as file:
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
    source = os.path.join(DATA, "convoi_two_ports.json")
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


# ---- A disk that is full ----


def size_limit(daemon, bytes_):
    """How large files of the daemon may become: beyond, writing fails as on a full disk."""
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (bytes_, resource.RLIM_INFINITY))


def log_size(log):
    return sum(os.path.getsize(f"{log}/{name}") for name in os.listdir(log))


def play_into_a_full_disk(log, *options):
    """A pool of 16 slots that is played until its log is full, and what it has told until then."""
    daemon = Daemon("--log", log, *options)
    client = Client(daemon.endpoint, admin=True)
    opened = client.call("open", ruleset="convoi:board=tiny", slots=16, autoreset="same_step")
    reply = client.call("reset", pool=opened["pool"])
    size_limit(daemon, log_size(log) + 20000)
    told = 0
    for _ in range(3000):
        if reply["ready_count"] < 16 or told > 400:
            break
        actions = first_actions(reply, opened["action_count"])
        reply = client.call(
            "step", pool=opened["pool"], actions=actions, min_rows=16, timeout_ms=300
        )
        assert reply["ok"], reply
        told += len(reply["ended"]) // 4
    return daemon, client, opened, reply, told


def logged(log):
    done = subprocess.run(
        [f"{BUILD}/trainyard", "replay", "verify", log], capture_output=True, text=True
    )
    assert done.returncode == 0, done
    total = 0
    for name in os.listdir(log):
        with open(f"{log}/{name}", "rb") as file:
            total += file.read().count(b"convoi:board=tiny")
    return total


def test_an_ending_is_not_told_before_it_is_written():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon, client, opened, reply, told = play_into_a_full_disk(log)
    pool = opened["pool"]
    assert 0 < told <= 400 and reply["ready_count"] < 16, (told, reply["ready_count"])
    assert ("log_full", -1) in client.notices, client.notices
    stats = client.call("stats")
    held = 16 - reply["ready_count"]
    assert stats["log"]["held"] == stats["pools"][0]["held"] == held, stats
    assert stats["log"]["full"] == "stop" and stats["log"]["episodes"] == told, stats
    assert stats["log"]["lost"] == 0 and "large" in stats["log"]["trouble"], stats
    other = Client(daemon.endpoint).call("stats")
    assert set(other["log"]) == {"full", "trouble"} and other["pools"] == [], other
    health = client.call("health")
    assert not health["healthy"] and "large" in health["trouble"], health
    slot = next(i for i in range(16) if not reply["ready"][i])
    for op in ("observe", "legal", "text", "state"):
        refused = client.call(op, pool=pool, slot=slot)
        assert refused["error"]["code"] == "io" and "log" in refused["error"]["message"], refused
    refused = client.call("snapshot", pool=pool, slots=struct.pack("<I", slot))
    assert refused["error"]["code"] == "io", refused
    # The disk has room again: what was held is told, and everything that was told is there.
    size_limit(daemon, resource.RLIM_INFINITY)
    reply = client.call("recv", pool=pool, min_rows=held)
    told += len(reply["ended"]) // 4
    assert reply["ready_count"] == 16, reply["ready_count"]
    assert wait_for(lambda: client.call("stats")["log"]["held"] == 0, 10)
    assert wait_for(lambda: client.call("ping")["ok"] and ("log_written", -1) in client.notices, 10)
    assert client.call("health")["healthy"]
    client.close()
    daemon.stop("large")
    assert logged(log) == told, (logged(log), told)
    shutil.rmtree(log)


def test_a_pool_with_a_full_log_can_be_closed():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon, client, opened, reply, told = play_into_a_full_disk(log)
    assert client.call("close", pool=opened["pool"])["ok"]
    stats = client.call("stats")
    assert stats["log"]["held"] == 0 and stats["log"]["lost"] == 16 - reply["ready_count"], stats
    client.close()
    daemon.stop("large")
    assert logged(log) == told
    shutil.rmtree(log)


def test_with_drop_endings_are_told_and_the_loss_is_counted():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon, client, _, reply, told = play_into_a_full_disk(log, "--log-full", "drop")
    stats = client.call("stats")["log"]
    assert told > 400 and reply["ready_count"] == 16
    assert stats["full"] == "drop" and stats["held"] == 0 and "large" in stats["trouble"], stats
    assert stats["lost"] > 0 and stats["episodes"] + stats["lost"] == told, (stats, told)
    client.close()
    daemon.stop("large")
    assert logged(log) == stats["episodes"]
    shutil.rmtree(log)


def test_a_full_log_stops_shared_memory_too():
    log = tempfile.mkdtemp(prefix="trainyard-log-")
    daemon = Daemon("--log", log)
    client = Client(daemon.endpoint, admin=True)
    opened = client.call(
        "open", ruleset="convoi:board=tiny", slots=8, autoreset="same_step", shm=True
    )
    shm = Shm(client.hello["shm"], opened)
    size_limit(daemon, log_size(log) + 5000)
    told = 0
    for _ in range(3000):
        if sum(shm.column(0, "ready")) < 8:
            break
        shm.answer_ready()
        told += sum(shm.column(0, "terminated")) + sum(shm.column(0, "truncated"))
    held = 8 - sum(shm.column(0, "ready"))
    assert held > 0 and client.call("stats")["log"]["held"] == held
    published = shm.word(0, "published")
    size_limit(daemon, resource.RLIM_INFINITY)
    assert wait_for(lambda: shm.word(0, "published") != published, 10)
    assert wait_for(lambda: sum(shm.column(0, "ready")) == 8, 10)
    stats = client.call("stats")["log"]
    assert stats["episodes"] >= told + held and stats["held"] == stats["lost"] == 0, (stats, told)
    shm.close()
    client.close()
    daemon.stop("large")
    shutil.rmtree(log)


if __name__ == "__main__":
    main(globals())
