"""What the daemon tells its operator: the journal, and metrics for Prometheus.

tests/daemon/test_daemon_journal.py BUILD_DIRECTORY [--long] [TEST]...
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from daemon_client import BUILD, Client, Daemon, main, play, wait_for
from watched import Watched, http_get, metrics, metrics_address, secret_file

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


# ---- The journal


def test_journal_tells_sessions_pools_and_exit():
    daemon = Watched("--log-level", "info")
    client = Client(daemon.endpoint, name="a b")
    play(client)
    client.close()
    daemon.heard("session_begin", session="1", name="a b")
    daemon.heard("pool_open", session="1", slots="16")
    daemon.heard("session_end", session="1", why="disconnected")
    daemon.heard("pool_close")
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(10) == 0
    daemon.heard("exit", status="0")
    for line in daemon.text().splitlines():
        assert re.match(f"time={TIME} level=(info|warning) event=[a-z_]+( |$)", line), line
    shutil.rmtree(daemon.home)


def test_journal_as_json():
    daemon = Watched("--log-level=debug", "--log-format=json")
    client = Client(daemon.endpoint, name='"\n\x1b[2J\\')
    assert client.call("reset", pool=7)["error"]["code"] == "no_pool"
    daemon.heard("refusal", op="reset", code="no_pool", session=1)
    daemon.heard("session_begin", name='"__[2J\\')
    ready = daemon.lines("ready")[0]
    assert ready["pid"] == daemon.process.pid and ready["listen"] == daemon.endpoint, ready
    assert re.fullmatch(TIME, ready["time"]) and ready["level"] == "info"
    client.close()
    daemon.stop()


def test_journal_is_quiet_unless_there_is_trouble():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    play(client)
    client.close()
    daemon.stop(said="")


def test_wrong_tokens_are_told_and_do_not_fill_the_disk():
    home = tempfile.mkdtemp()
    token = secret_file(home, "token", "a secret of this test")
    daemon = Watched("--token", token, listen="tcp://127.0.0.1:*")
    clients = [Client(daemon.endpoint, hello=False) for _ in range(100)]
    for client in clients:
        client.send("hello", protocol=1, access="guess")
        client.send("hello", protocol=1, access="another")
    for client in clients:
        codes = [client.receive()["error"]["code"] for _ in range(2)]
        assert codes == ["busy", "denied"], codes  # the first is answered late
    daemon.heard("refused", peer="127.0.0.1", why="wrong access token")
    assert len(daemon.lines("refused")) <= 60, len(daemon.lines("refused"))
    for client in clients:
        client.close()
    daemon.stop()
    shutil.rmtree(home)


def test_strange_values_of_the_journal_options_are_refused():
    for words, said in (
        (["--log-level", "loud"], "error, warning, info, debug"),
        (["--log-format", "xml"], "text, json"),
    ):
        done = subprocess.run([f"{BUILD}/trainyardd", *words], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, done


def test_a_journal_that_nobody_reads_stops_nothing():
    daemon = Daemon("--log-level", "debug")  # its standard error is a pipe that is not read
    client = Client(daemon.endpoint)
    for _ in range(3000):
        assert client.call("reset", pool=7)["error"]["code"] == "no_pool"
    assert client.call("ping")["ok"]
    client.close()
    daemon.stop(said=None)


# ---- Metrics


def test_metrics_count_what_is_played():
    home = tempfile.mkdtemp()
    daemon = Watched("--metrics", "tcp://127.0.0.1:*", "--log", f"{home}/log")
    address = metrics_address(daemon.daemon.ready)
    before = metrics(address)
    assert before["trainyard_sessions"] == 0 and before["trainyard_decisions_total"] == 0
    client = Client(daemon.endpoint)
    opened = play(client, slots=16, steps=200)
    assert client.call("reset", pool=77)["error"]["code"] == "no_pool"
    client.socket.send(b"rubbish")
    assert not client.receive()["ok"]
    assert client.call("snapshot", pool=opened["pool"], slots=bytes(4))["ok"]
    stats = client.call("stats")
    page = metrics(address)
    assert page["trainyard_decisions_total"] == stats["decisions"] > 1000
    assert page["trainyard_episodes_total"] == stats["pools"][0]["episodes"] > 0
    assert page["trainyard_log_episodes_total"] == stats["pools"][0]["episodes"]
    assert page["trainyard_log_dropped_episodes_total"] == 0
    assert page["trainyard_sessions"] == 1 and page["trainyard_pools"] == 1
    assert page["trainyard_slots"] == 16
    assert page['trainyard_requests_total{op="step"}'] == 200
    assert page['trainyard_errors_total{op="reset",code="no_pool"}'] == 1
    assert page['trainyard_errors_total{op="unreadable",code="bad_message"}'] == 1
    assert page['trainyard_memory_bytes{kind="pools"}'] == stats["pools"][0]["bytes"] > 0
    assert page['trainyard_memory_bytes{kind="snapshots"}'] > 0
    assert page['trainyard_memory_bytes{kind="messages"}'] > 0
    assert page['trainyard_memory_bytes{kind="resident"}'] > 1 << 20
    client.call("close", pool=opened["pool"])
    after = metrics(address)
    assert after["trainyard_decisions_total"] == page["trainyard_decisions_total"]
    assert after["trainyard_pools"] == 0 and after["trainyard_slots"] == 0
    client.close()
    daemon.stop()
    shutil.rmtree(home)


def test_metrics_have_latencies_by_operation():
    home = tempfile.mkdtemp()
    os.chmod(home, 0o700)
    address = f"ipc://{home}/metrics"
    daemon = Watched("--metrics", address)
    assert metrics_address(daemon.daemon.ready) == address
    client = Client(daemon.endpoint)
    play(client, steps=50)
    page = metrics(address)
    for op, count in (("hello", 1), ("open", 1), ("step", 50)):
        buckets = [
            value
            for name, value in page.items()
            if name.startswith(f'trainyard_request_seconds_bucket{{op="{op}",')
        ]
        assert len(buckets) == 16 and buckets == sorted(buckets) and buckets[-1] == count
        assert page[f'trainyard_request_seconds_count{{op="{op}"}}'] == count
        assert 0 < page[f'trainyard_request_seconds_sum{{op="{op}"}}'] < 10
    assert 'trainyard_request_seconds_count{op="rollout"}' not in page
    client.close()
    daemon.stop()
    assert os.listdir(home) == []
    os.rmdir(home)


def test_metrics_are_for_this_machine_only():
    for endpoint in ("tcp://0.0.0.0:9464", "tcp://*:9464", "tcp://192.0.2.1:9464"):
        done = subprocess.run(
            [f"{BUILD}/trainyardd", "--metrics", endpoint], capture_output=True, text=True
        )
        assert done.returncode == 2 and "only for this machine" in done.stderr, done
    daemon = Watched("--metrics", "tcp://[::1]:*")
    address = metrics_address(daemon.daemon.ready)
    assert http_get(address)[0] == 200
    assert http_get(address, "/")[0] == 404
    assert http_get(address, method="POST")[0] == 405
    status, _, body = http_get(address, method="HEAD")
    assert status == 200 and body == ""
    daemon.stop()


def test_a_reader_of_metrics_that_sleeps_stops_nobody():
    daemon = Watched("--metrics", "tcp://127.0.0.1:*")
    host, port = metrics_address(daemon.daemon.ready)[len("tcp://") :].rsplit(":", 1)
    sleepers = [socket.create_connection((host, int(port))) for _ in range(20)]
    for sleeper in sleepers:
        sleeper.sendall(b"GET /metrics HTT")
    client = Client(daemon.endpoint)
    play(client)
    client.close()
    for sleeper in sleepers:
        sleeper.close()
    assert wait_for(lambda: http_get(f"tcp://{host}:{port}")[0] == 200, 10)
    daemon.stop()


if __name__ == "__main__":
    main(globals())
