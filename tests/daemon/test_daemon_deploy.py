"""The files with which the daemon is deployed: example configuration, systemd unit, container file.

tests/daemon/test_daemon_deploy.py BUILD_DIRECTORY [--long] [TEST]...

Neither systemd as the first process nor a container engine is needed: what these files say is
checked by systemd's own tools, and carried out here as far as one process can.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile

from daemon_client import BUILD, HERE, Client, main, play, start

TOP = os.path.abspath(os.path.join(HERE, "..", ".."))
FILES = os.path.join(TOP, "env", "daemon")


def read(name):
    with open(os.path.join(FILES, name)) as file:
        return file.read()


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, **options)


# ---- The example configuration


def shown_keys(text):
    """Every key that the file shows, set or as a comment, with its value."""
    return re.findall(r"^#?([a-z][a-z-]*) (.+)$", text, re.MULTILINE)


def test_the_example_configuration_shows_every_option_and_limit():
    told = run(f"{BUILD}/trainyardd", "--help").stdout
    options = set(re.findall(r"^  --([a-z-]+) [A-Z]", told, re.MULTILINE)) - {"config"}
    limits = dict(re.findall(r"^  (\w+) +.* \(default (\d+)\)$", told, re.MULTILINE))
    shown = shown_keys(read("trainyardd.conf"))
    assert {key for key, _ in shown} == options, {key for key, _ in shown} ^ options
    values = [value for key, value in shown if key == "limit"]
    missing = {f"{name}={value}" for name, value in limits.items()} ^ set(values)
    assert not missing and len(values) == len(limits), missing


def test_every_line_of_the_example_configuration_has_an_explanation():
    for part in read("trainyardd.conf").split("\n\n"):
        if shown_keys(part) and "#limit" not in part:
            assert part.startswith("# "), part


def moved(text, home):
    """The same in directories of a test."""
    return text.replace("/run/", f"{home}/run/").replace("/var/lib/", f"{home}/var/lib/")


def daemon_of(home, *words, **options):
    """A daemon that was started by these words; its endpoint, too."""
    for directory in ("run/trainyard", "var/lib/trainyard"):
        os.makedirs(f"{home}/{directory}", mode=0o700, exist_ok=True)
    process = start([*words], stderr=subprocess.PIPE, **options)
    line = process.stdout.readline()
    assert "ready" in line, (line, process.stderr.read())
    return process, next(word for word in line.split() if "://" in word)


def stop(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    said = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    return said


def test_the_example_configuration_is_accepted_as_it_is():
    home = tempfile.mkdtemp()
    with open(f"{home}/conf", "w") as file:
        file.write(moved(read("trainyardd.conf"), home))
    process, endpoint = daemon_of(home, f"{BUILD}/trainyardd", "--config", f"{home}/conf")
    assert endpoint == f"ipc://{home}/run/trainyard/trainyardd"
    client = Client(endpoint)
    play(client)
    client.close()
    assert "event=exit status=0" in stop(process)
    assert os.listdir(f"{home}/var/lib/trainyard/log") == ["episodes-000001.tylog"]
    shutil.rmtree(home)


def test_the_example_configuration_is_accepted_with_everything_in_it():
    home = tempfile.mkdtemp()
    os.makedirs(f"{home}/etc/trainyard/boards")
    os.makedirs(f"{home}/etc/trainyard/clients")
    etc = f"{home}/etc/trainyard"
    for name in ("token", "admin-token"):
        with open(f"{etc}/{name}", "w") as file:
            file.write("a secret of this test\n")
        os.chmod(f"{etc}/{name}", 0o600)
    for name in ("daemon", "clients/alice", "admins"):
        assert run(f"{BUILD}/trainyard", "keygen", f"{etc}/{name}").returncode == 0
    os.rename(f"{etc}/admins.pub", f"{etc}/admins")
    text = re.sub(r"^#([a-z][a-z-]* )", r"\1", read("trainyardd.conf"), flags=re.MULTILINE)
    text = re.sub(r"^(lease|load) .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r":(5555|5556|9464)$", ":*", text, flags=re.MULTILINE)
    with open(f"{home}/conf", "w") as file:
        file.write(moved(text.replace("/etc/", f"{home}/etc/"), home))
    process, endpoint = daemon_of(home, f"{BUILD}/trainyardd", "--config", f"{home}/conf")
    assert run(f"{BUILD}/trainyard", "health", endpoint).returncode == 0
    stop(process)
    shutil.rmtree(home)


# ---- The unit


def unit_settings(text):
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


def test_the_unit_is_what_systemd_understands_and_hardened():
    home = tempfile.mkdtemp()
    unit = read("trainyardd.service").replace("/usr/bin/trainyardd", f"{BUILD}/trainyardd")
    with open(f"{home}/trainyardd.service", "w") as file:
        file.write(re.sub(r"^(User|Group)=.*", r"\1=root", unit, flags=re.MULTILINE))
    done = run("systemd-analyze", "verify", "--man=no", f"{home}/trainyardd.service")
    own = [line for line in done.stderr.splitlines() if "trainyardd" in line]
    assert own == [], done
    with open(f"{home}/trainyardd.service", "w") as file:
        file.write(unit)
    done = run(
        "systemd-analyze",
        "security",
        "--offline=true",
        "--threshold=20",
        "--no-pager",
        f"{home}/trainyardd.service",
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr
    assert "MemoryMax" in unit_settings(unit)
    shutil.rmtree(home)


def test_the_unit_starts_reloads_and_stops_the_daemon():
    settings = unit_settings(read("trainyardd.service"))
    assert settings["Type"] == "notify" and "-HUP $MAINPID" in settings["ExecReload"]
    home = tempfile.mkdtemp()
    with open(f"{home}/trainyardd.conf", "w") as file:
        file.write(moved(read("trainyardd.conf"), home))
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(f"{home}/notify")
    manager.settimeout(10)
    command = settings["ExecStart"].replace("/usr/bin/trainyardd", f"{BUILD}/trainyardd")
    command = command.replace("/etc/trainyard", home)
    environment = dict(os.environ, NOTIFY_SOCKET=f"{home}/notify")
    process, _ = daemon_of(home, *shlex.split(command), env=environment)
    assert b"READY=1" in manager.recv(1000)
    words = shlex.split(settings["ExecReload"].replace("$MAINPID", str(process.pid)))
    assert run(*words).returncode == 0
    assert b"RELOADING=1" in manager.recv(1000)
    assert b"READY=1" in manager.recv(1000)
    stop(process)
    assert b"STOPPING=1" in manager.recv(1000)
    manager.close()
    shutil.rmtree(home)


# ---- Installing


def test_installing_brings_unit_configuration_and_guide():
    home = tempfile.mkdtemp()
    done = run("cmake", "--install", BUILD, "--prefix", f"{home}/usr")
    assert done.returncode == 0, done
    for name in (
        "lib/systemd/system/trainyardd.service",
        "lib/sysusers.d/trainyard.conf",
        "share/trainyard/trainyardd.conf",
        "share/trainyard/OPERATING.md",
    ):
        assert os.path.getsize(f"{home}/usr/{name}") > 0, name
    with open(f"{home}/usr/lib/systemd/system/trainyardd.service") as file:
        started = unit_settings(file.read())
    assert re.match(r"/\S+/trainyardd --config /etc/trainyard/", started["ExecStart"]), started
    shutil.rmtree(home)


# ---- The container


def container_steps():
    """Instructions of the container file: (word, rest), with lines that go on joined."""
    text = re.sub(r"^#.*\n", "", read("Containerfile"), flags=re.MULTILINE)
    text = re.sub(r"\\\n\s*", "", text)
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def test_the_container_has_the_libraries_that_the_programs_need():
    runs = [rest for word, rest in container_steps() if word == "RUN"]
    installed = re.search(r"no-install-recommends (.*?) &&", runs[-1])[1].split()
    needed = set()
    for program in ("trainyardd", "trainyard"):
        dynamic = run("readelf", "-d", f"{BUILD}/{program}").stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic))
    base = ("libc.so", "libm.so", "ld-linux", "libasan", "libubsan", "libstdc++")
    needed = {name for name in needed if not name.startswith(base)}
    owned = {
        name: run("sh", "-c", f"dpkg -S '*/{name}' | cut -d: -f1").stdout.split() for name in needed
    }
    assert all(set(packages) & set(installed) for packages in owned.values()), (owned, installed)
    assert len(installed) == len(needed), (installed, needed)


def test_the_container_builds_with_what_the_tests_install():
    runs = [rest for word, rest in container_steps() if word == "RUN"]
    packages = set(re.search(r"no-install-recommends (.*?)&&", runs[0])[1].split())
    with open(f"{TOP}/examples/quickstart.sh") as file:
        line = next(line for line in file if line.startswith("install_debian"))
    known = set(line.split()) | {"libmsgpack-dev"}
    assert packages <= known, packages - known
    options = set(re.findall(r"-D(TRAINYARD_\w+|BUILD_TESTING)", runs[1]))
    with open(f"{TOP}/CMakeLists.txt") as file:
        assert options - {"BUILD_TESTING"} <= set(re.findall(r"TRAINYARD_\w+", file.read()))


def test_the_container_copies_what_is_installed_and_its_commands_work():
    home = tempfile.mkdtemp()
    assert run("cmake", "--install", BUILD, "--prefix", f"{home}/image/usr").returncode == 0
    steps = container_steps()
    for word, rest in steps:
        if word == "COPY" and "--from=build" in rest:
            for source in rest.split()[1:-1]:
                assert os.path.exists(home + source), source
    words = dict(steps)
    environment = dict(os.environ, PATH=f"{home}/image/usr/bin:{os.environ['PATH']}")
    command = json.loads(words["ENTRYPOINT"]) + json.loads(moved(words["CMD"], home))
    process, endpoint = daemon_of(home, *command, env=environment)
    client = Client(endpoint)
    play(client)
    client.close()
    check = json.loads(moved(words["HEALTHCHECK"].split("CMD ")[1], home))
    assert run(*check, env=environment).returncode == 0
    lines = [json.loads(line) for line in stop(process).splitlines()]
    assert lines[0]["event"] == "ready" and lines[-1] == lines[-1] | {"event": "exit", "status": 0}
    assert run(*check, "--seconds", "0.2", env=environment).returncode == 1
    shutil.rmtree(home)


if __name__ == "__main__":
    main(globals())
