"""What an operator does with the daemon: health, administration, reloads, logs. Real processes,
files, sockets and signals.

tests/daemon/test_daemon_operate.py BUILD_DIRECTORY [--long] [TEST]...
"""

import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile

from daemon_client import (
    BUILD,
    Client,
    main,
    play,
    wait_for,
)
from watched import Watched, metrics, metrics_address, secret_file, tool

# ---- Health


def test_health_needs_no_session_and_no_token():
    home = tempfile.mkdtemp()
    token = secret_file(home, "token", "a secret of this test")
    daemon = Watched("--token", token, "--log-level", "info", listen="tcp://127.0.0.1:*")
    done = tool("health", daemon.endpoint)
    assert done.returncode == 0 and "healthy" in done.stdout, done
    done = tool("health", daemon.endpoint, "--json")
    assert json.loads(done.stdout)["healthy"] is True
    client = Client(daemon.endpoint, hello=False)
    reply = client.call("health")
    assert reply["ok"] and reply["healthy"] and reply["trouble"] == "", reply
    assert client.call("ping")["error"]["code"] == "no_session"
    client.close()
    assert daemon.lines("session_begin") == []
    daemon.stop()
    shutil.rmtree(home)


def test_health_of_nobody_fails():
    home = tempfile.mkdtemp()
    done = tool("health", f"ipc://{home}/nobody", "--seconds", "0.2")
    assert done.returncode == 1 and "no daemon answers" in done.stderr, done
    os.rmdir(home)


def test_a_log_that_cannot_be_written_is_trouble_everywhere():
    home = tempfile.mkdtemp()
    log = f"{home}/log"
    daemon = Watched("--log", log, "--log-full", "drop", "--metrics", "tcp://127.0.0.1:*")
    address = metrics_address(daemon.daemon.ready)
    client = Client(daemon.endpoint)
    play(client, slots=64, steps=300)
    assert tool("health", daemon.endpoint).returncode == 0
    full = (sum(log_sizes(log).values()), resource.RLIM_INFINITY)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, full)
    play(client, slots=64, steps=300)
    done = tool("health", daemon.endpoint)
    assert done.returncode == 1 and "trouble: log" in done.stdout, done
    assert "File too large" in daemon.lines("log")[-1]["message"]
    page = metrics(address)
    assert page["trainyard_log_dropped_episodes_total"] > 0
    assert page["trainyard_log_held_episodes"] == 0
    total = page["trainyard_log_episodes_total"] + page["trainyard_log_dropped_episodes_total"]
    assert total == page["trainyard_episodes_total"]
    room = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, room)
    play(client, slots=64, steps=300)
    assert tool("health", daemon.endpoint).returncode == 0
    assert "written again" in daemon.lines("log")[-1]["message"]
    client.close()
    daemon.stop()
    shutil.rmtree(home)


# ---- Administrators


def test_administrators_list_and_end_sessions_and_pools():
    daemon = Watched("--log-level", "info")
    players = [Client(daemon.endpoint, name=f"player{i}") for i in range(3)]
    pools = [play(player, slots=8)["pool"] for player in players]
    assert players[0].call("sessions")["error"]["code"] == "denied"
    assert players[0].call("end_session", number=2)["error"]["code"] == "denied"
    assert players[0].call("close", pool=pools[1])["error"]["code"] == "no_pool"
    assert [pool["pool"] for pool in players[0].call("stats")["pools"]] == [pools[0]]
    connect = ("--connect", daemon.endpoint, "--json")
    done = tool("admin", "sessions", *connect)
    listed = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert set(listed) == {"player0", "player1", "player2", "trainyard"}, done
    assert listed["player1"]["pools"] == 1 and listed["player1"]["bytes"] > 1000
    assert listed["trainyard"]["administrator"] and not listed["player0"]["administrator"]
    listed_pools = json.loads(tool("admin", "pools", *connect).stdout)
    assert sorted(pool["pool"] for pool in listed_pools) == sorted(pools)
    number = listed["player1"]["number"]
    assert next(pool for pool in listed_pools if pool["session"] == number)["pool"] == pools[1]
    done = tool("admin", "end-session", str(number), "--connect", daemon.endpoint)
    assert done.returncode == 0, done
    assert players[1].call("ping")["error"]["code"] == "no_session"
    daemon.heard("session_end", session=str(number), why="ended by an administrator")
    done = tool("admin", "close-pool", str(pools[2]), "--connect", daemon.endpoint)
    assert done.returncode == 0, done
    assert players[2].call("reset", pool=pools[2])["error"]["code"] == "closed"
    assert [pool["pool"] for pool in json.loads(tool("admin", "pools", *connect).stdout)] == [
        pools[0]
    ]
    assert "player0" in tool("admin", "sessions", "--connect", daemon.endpoint).stdout
    assert "convoi" in tool("admin", "pools", "--connect", daemon.endpoint).stdout
    for words in (["end-session", "999"], ["close-pool", "999"]):
        done = tool("admin", *words, "--connect", daemon.endpoint)
        assert done.returncode == 1 and "999" in done.stderr, done
    for words in (["dance"], ["end-session"], ["close-pool", "x"], ["pools", "1"]):
        assert tool("admin", *words, "--connect", daemon.endpoint).returncode == 2
    for player in players:
        player.close()
    daemon.stop()


def test_an_administrator_cannot_end_itself_and_closing_answers_those_who_wait():
    daemon = Watched()
    admin = Client(daemon.endpoint, admin=True)
    player = Client(daemon.endpoint, push=True)
    me = next(s for s in admin.call("sessions")["sessions"] if s["administrator"])
    assert admin.call("end_session", number=me["number"])["error"]["code"] == "bad_argument"
    pool = player.call("open", ruleset="convoi:board=tiny", slots=2, seats=["open", "me"])["pool"]
    player.send("recv", pool=pool, min_rows=2)
    assert admin.call("close", pool=pool)["ok"]
    # The notice comes with the answer, or by itself before or after it.
    replies = []
    while all(reply["ok"] for reply in replies) or not player.notices:
        replies.append(player.receive())
    assert [reply["error"]["code"] for reply in replies if not reply["ok"]] == ["closed"]
    assert [reply["notices"][0]["pool"] for reply in replies if "notices" in reply] == [pool]
    other = player.call("open", ruleset="convoi:board=tiny", slots=2)["pool"]
    assert player.call("close", pool=other)["ok"]
    assert player.notices == [("closed", 0)], player.notices  # it has closed the other itself
    pool = player.call("open", ruleset="convoi:board=tiny", slots=2)["pool"]
    assert admin.call("close", pool=pool)["ok"]
    assert player.receive()["notices"][0]["pool"] == pool  # without a request
    admin.close()
    player.close()
    daemon.stop()


def test_administrators_on_tcp_need_their_token():
    home = tempfile.mkdtemp()
    token = secret_file(home, "token", "a secret of this test")
    admin = secret_file(home, "admin", "another secret of this test")
    daemon = Watched("--token", token, "--admin-token", admin, listen="tcp://127.0.0.1:*")
    for access in ("a secret of this test", "nothing of this test at all"):
        client = Client(daemon.endpoint, access=access, admin=True)
        assert client.hello["error"]["code"] == "denied", client.hello
        client.close()
    daemon.heard("refused", why="not an administrator")
    client = Client(daemon.endpoint, access="a secret of this test")
    assert client.call("sessions")["error"]["code"] == "denied"
    done = tool("admin", "sessions", "--connect", daemon.endpoint, "--token", admin)
    assert done.returncode == 0, done
    done = tool("admin", "sessions", "--connect", daemon.endpoint, "--token", token)
    assert done.returncode != 0 and "admin:" in done.stderr, done
    client.close()
    daemon.stop()
    shutil.rmtree(home)


# ---- Names


def keygen(home, *names):
    for name in names:
        assert tool("keygen", f"{home}/{name}").returncode == 0


def curve_client(home, who, endpoint, **fields):
    def key(file, word):
        with open(f"{home}/{file}") as lines:
            return next(line.split()[1] for line in lines if line.startswith(word)).encode()

    keys = (key("server.pub", "public"), *(key(f"{who}.secret", w) for w in ("public", "secret")))
    return Client(endpoint, keys=keys, **fields)


def test_nobody_is_called_as_a_built_in_agent():
    daemon = Watched()
    for name in ("expert", "Expert", "random", " search", "expert/2", "expert@0.9", "RANDOM+x"):
        client = Client(daemon.endpoint, name=name)
        assert client.hello["error"]["code"] == "denied", (name, client.hello)
        assert "built-in agent" in client.hello["error"]["message"]
        client.close()
    for name in ("experts", "random-forest", "my expert", ""):
        client = Client(daemon.endpoint, name=name)
        assert client.hello["ok"], (name, client.hello)
        client.close()
    daemon.stop()


def test_names_are_those_of_the_keys():
    home = tempfile.mkdtemp()
    keygen(home, "server", "alice", "boss")
    os.mkdir(f"{home}/clients")
    shutil.copy(f"{home}/alice.pub", f"{home}/clients")
    options = ["--curve-secret", f"{home}/server.secret", "--curve-clients", f"{home}/clients"]
    daemon = Watched(*options, "--admin-clients", f"{home}/boss.pub", listen="tcp://127.0.0.1:*")
    said = {"": "alice", "bob": "alice/bob", "alice/2": "alice/2", "expert": "alice/expert"}
    clients = [curve_client(home, "alice", daemon.endpoint, name=name) for name in said]
    boss = curve_client(home, "boss", daemon.endpoint, admin=True)
    names = sorted(entry["name"] for entry in boss.call("sessions")["sessions"])
    assert names == sorted([*said.values(), "boss"]), names
    denied = curve_client(home, "alice", daemon.endpoint, admin=True)
    assert denied.hello["error"]["code"] == "denied"
    for client in [*clients, boss, denied]:
        client.close()
    daemon.stop()
    shutil.copy(f"{home}/alice.pub", f"{home}/clients/expert.pub")
    done = subprocess.run(
        [f"{BUILD}/trainyardd", "--listen", "tcp://127.0.0.1:*", *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "name of a built-in agent" in done.stderr, done
    shutil.rmtree(home)


# ---- SIGHUP


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o600)


def reload(daemon, event="reload"):
    """Sends SIGHUP and waits until it has had its effect."""
    before = len(daemon.lines(event))
    daemon.process.send_signal(signal.SIGHUP)
    assert wait_for(lambda: len(daemon.lines(event)) > before, 10), daemon.text()


def test_hangup_reloads_limits():
    home = tempfile.mkdtemp()
    write(f"{home}/config", "limit pools_per_session=1\nlog-level info\n")
    daemon = Watched("--config", f"{home}/config")
    client = Client(daemon.endpoint)
    play(client)
    again = client.call("open", ruleset="convoi:board=tiny", slots=4)
    assert again["error"]["code"] == "limit"
    write(f"{home}/config", "limit pools_per_session=2\nlimit slots=5\nlimit pools=7\n")
    reload(daemon)
    daemon.heard("restart_needed", option="pools")
    daemon.heard("restart_needed", option="log-level")
    assert client.call("open", ruleset="convoi:board=tiny", slots=4)["ok"]
    other = Client(daemon.endpoint)
    assert other.hello["limits"]["slots"] == 5 and other.hello["limits"]["pools"] == 256
    refused = other.call("open", ruleset="convoi:board=tiny", slots=6)
    assert refused["error"]["code"] in ("limit", "bad_config"), refused
    write(f"{home}/config", "limit slots=many\n")
    reload(daemon, "reload_failed")
    assert other.call("open", ruleset="convoi:board=tiny", slots=5)["ok"]
    client.close()
    other.close()
    daemon.stop()
    shutil.rmtree(home)


def test_hangup_reloads_tokens_and_ends_sessions_of_the_old_one():
    home = tempfile.mkdtemp()
    token = secret_file(home, "token", "a secret of this test")
    daemon = Watched("--token", token, "--log-level", "info", listen="tcp://127.0.0.1:*")
    client = Client(daemon.endpoint, access="a secret of this test")
    play(client)
    reload(daemon)
    assert client.call("ping")["ok"]  # nothing has changed
    write(token, "a better secret of this test\n")
    reload(daemon)
    daemon.heard("session_end", session="1", why="token changed")
    assert client.call("ping")["error"]["code"] == "no_session"
    assert not client.call("hello", protocol=1, access="a secret of this test")["ok"]
    assert client.call("hello", protocol=1, access="a better secret of this test")["ok"]
    os.remove(token)
    reload(daemon, "reload_failed")
    assert client.call("ping")["ok"]
    client.close()
    daemon.stop()
    shutil.rmtree(home)


def test_hangup_takes_the_administrators_token_away():
    home = tempfile.mkdtemp()
    token = secret_file(home, "token", "a secret of this test")
    admin = secret_file(home, "admin", "another secret of this test")
    with_token = f"token {token}\nadmin-token {admin}\nlog-level info\n"
    write(f"{home}/config", with_token)
    daemon = Watched("--config", f"{home}/config", listen="tcp://127.0.0.1:*")
    client = Client(daemon.endpoint, access="a secret of this test")
    boss = Client(daemon.endpoint, access="another secret of this test", admin=True)
    guest = Client(daemon.endpoint, access="another secret of this test")
    assert boss.call("sessions")["ok"] and guest.call("ping")["ok"]
    write(token, "a better secret of this test\n")
    reload(daemon)
    assert client.call("ping")["error"]["code"] == "no_session"
    assert boss.call("ping")["ok"] and guest.call("ping")["ok"]  # they came with the other one
    write(f"{home}/config", f"token {token}\nlog-level info\n")
    reload(daemon)
    assert boss.call("sessions")["error"]["code"] == "no_session"
    assert guest.call("ping")["error"]["code"] == "no_session"
    again = boss.call("hello", protocol=1, access="another secret of this test", admin=True)
    assert again["error"]["code"] == "denied", again
    write(admin, "the third secret of this test\n")
    write(f"{home}/config", with_token)
    reload(daemon)
    again = boss.call("hello", protocol=1, access="the third secret of this test", admin=True)
    assert again["ok"] and boss.call("sessions")["ok"]
    reload(daemon)
    assert boss.call("sessions")["ok"]
    for one in (client, boss, guest):
        one.close()
    daemon.stop()
    shutil.rmtree(home)


def test_a_key_with_the_administrators_token_stays_one():
    home = tempfile.mkdtemp()
    keygen(home, "server", "alice")
    os.mkdir(f"{home}/clients")
    shutil.copy(f"{home}/alice.pub", f"{home}/clients")
    admin = secret_file(home, "admin", "another secret of this test")
    options = ["--curve-secret", f"{home}/server.secret", "--curve-clients", f"{home}/clients"]
    daemon = Watched(
        *options, "--admin-token", admin, "--log-level", "info", listen="tcp://127.0.0.1:*"
    )
    word = {"access": "another secret of this test", "admin": True}
    alice = curve_client(home, "alice", daemon.endpoint, **word)
    plain = curve_client(home, "alice", daemon.endpoint)
    assert alice.call("sessions")["ok"]
    reload(daemon)
    assert alice.call("sessions")["ok"]
    write(admin, "the third secret of this test\n")
    reload(daemon)
    assert wait_for(lambda: not alice.call("sessions")["ok"], 10)
    assert plain.call("ping")["ok"]
    for one in (alice, plain):
        one.close()
    daemon.stop()
    shutil.rmtree(home)


def test_hangup_reloads_keys_and_ends_sessions_of_those_that_are_gone():
    home = tempfile.mkdtemp()
    keygen(home, "server", "alice", "bob", "carol")
    clients = f"{home}/clients"
    os.mkdir(clients)
    for name in ("alice", "bob"):
        shutil.copy(f"{home}/{name}.pub", clients)
    options = ["--curve-secret", f"{home}/server.secret", "--curve-clients", clients]
    daemon = Watched(*options, "--log-level", "info", listen="tcp://127.0.0.1:*")
    alice = curve_client(home, "alice", daemon.endpoint)
    bob = curve_client(home, "bob", daemon.endpoint)
    os.remove(f"{clients}/bob.pub")
    shutil.copy(f"{home}/carol.pub", clients)
    reload(daemon)
    carol = curve_client(home, "carol", daemon.endpoint)
    assert carol.hello["ok"] and alice.call("ping")["ok"]
    assert bob.call("ping")["error"]["code"] == "no_session"
    denied = bob.call("hello", protocol=1)
    assert denied["error"]["code"] == "denied" and "taken away" in denied["error"]["message"]
    daemon.heard("session_end", name="bob", why="key revoked")
    for client in (alice, bob, carol):
        client.close()
    daemon.stop()
    shutil.rmtree(home)


# ---- The service manager


def test_the_service_manager_is_told():
    home = tempfile.mkdtemp()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(f"{home}/notify")
    manager.settimeout(10)
    environment = dict(os.environ, NOTIFY_SOCKET=f"{home}/notify", WATCHDOG_USEC="200000")
    environment.pop("WATCHDOG_PID", None)
    daemon = Watched(env=environment)
    assert manager.recv(1000).decode().splitlines() == ["READY=1", "STATUS=serving"]
    assert [manager.recv(1000) for _ in range(3)] == [b"WATCHDOG=1\n"] * 3
    daemon.process.send_signal(signal.SIGHUP)

    def until(word):
        while word not in (lines := manager.recv(1000).decode()):
            assert lines == "WATCHDOG=1\n", lines
        return lines

    assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+\n", until("RELOADING"))
    until("READY=1")
    daemon.stop()
    until("STOPPING=1")
    manager.close()
    shutil.rmtree(home)


# ---- The files of the episode log


def log_sizes(directory):
    return {name: os.path.getsize(f"{directory}/{name}") for name in sorted(os.listdir(directory))}


def test_logs_are_rotated_and_the_oldest_files_go():
    home = tempfile.mkdtemp()
    log = f"{home}/log"
    keep = ("--log-file-bytes", "8192", "--log-keep-bytes", "40000")
    daemon = Watched("--log", log, *keep, "--metrics", "tcp://127.0.0.1:*")
    client = Client(daemon.endpoint)
    opened = play(client, slots=64, steps=1500)
    page = metrics(metrics_address(daemon.daemon.ready))
    sizes = log_sizes(log)
    assert page["trainyard_log_bytes_total"] > 100000, page["trainyard_log_bytes_total"]
    assert page["trainyard_log_deleted_files_total"] > 5
    assert 3 <= len(sizes) <= 6 and sum(sizes.values()) <= 40000 + 16384, sizes
    assert "episodes-000001.tylog" not in sizes
    newest = client.call("replay_get", pool=opened["pool"], slot=0)
    assert newest["ok"], newest
    assert client.call("replay_verify", content=newest["data"])["ok"]
    for name in sizes:
        assert tool("replay", "verify", f"{log}/{name}").returncode == 0
    client.close()
    daemon.stop()
    shutil.rmtree(home)


def test_old_files_of_a_log_go_and_others_are_left_alone():
    home = tempfile.mkdtemp()
    log = f"{home}/log"
    daemon = Watched("--log", log, "--log-file-bytes", "4096")
    client = Client(daemon.endpoint)
    play(client, slots=64, steps=800)
    client.close()
    daemon.stop()
    names = sorted(os.listdir(log))
    assert len(names) > 4, names
    month_ago = os.path.getmtime(f"{log}/{names[0]}") - 30 * 86400
    write(f"{log}/episodes-1.tylog", "not ours")
    for name in (*names[:2], names[-1], "episodes-1.tylog"):
        os.utime(f"{log}/{name}", (month_ago, month_ago))
    daemon = Watched("--log", log, "--log-keep-days", "7", "--log-file-hours", "1")
    left = sorted(os.listdir(log))
    # The newest was last written a month ago: the next record begins another, at the start already.
    assert "episodes-1.tylog" in left
    assert names[0] not in left and names[1] not in left and names[2] in left, left
    assert f"episodes-{len(names) + 1:06}.tylog" in left, left
    daemon.stop()
    shutil.rmtree(home)


def test_strange_values_of_the_log_options_are_refused():
    for option in ("log-file-bytes", "log-file-hours", "log-keep-bytes", "log-keep-days"):
        for value in ("0", "x", "-1", "99999999999999999999", ""):
            done = subprocess.run(
                [f"{BUILD}/trainyardd", f"--{option}={value}"], capture_output=True, text=True
            )
            assert done.returncode == 2 and f"--{option}" in done.stderr, done


if __name__ == "__main__":
    main(globals())
