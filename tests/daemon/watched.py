"""A daemon whose journal is read, and what operators' tests ask it with."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile

from daemon_client import BUILD, Daemon, wait_for


class Watched:
    """A daemon in a directory that is removed, whose standard error goes to a file there."""

    def __init__(self, *options, listen=None, **how):
        self.home = tempfile.mkdtemp(prefix="trainyard-operate-")
        self.journal = open(f"{self.home}/journal", "w+")  # noqa: SIM115
        directory = f"{self.home}/run"
        os.mkdir(directory)
        self.daemon = Daemon(
            *options, listen=listen, directory=directory, stderr=self.journal, **how
        )
        self.endpoint = self.daemon.endpoint
        self.process = self.daemon.process

    def text(self):
        with open(f"{self.home}/journal") as file:
            return file.read()

    def lines(self, event):
        """The lines of an event, as maps."""
        found = []
        for line in self.text().splitlines():
            fields = json.loads(line) if line[0] == "{" else fields_of(line)
            if fields["event"] == event:
                found.append(fields)
        return found

    def heard(self, event, **wanted):
        """Waits for a line of the event with these values."""

        def there():
            return any(
                all(line.get(key) == value for key, value in wanted.items())
                for line in self.lines(event)
            )

        assert wait_for(there, 10), (event, wanted, self.text())

    def stop(self):
        self.daemon.stop()
        self.journal.close()
        shutil.rmtree(self.home)


def fields_of(line):
    """A line of text: words key=value, quoted where they have to be."""
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)
    assert " ".join(f"{key}={value}" for key, value in pairs) == line, line
    return {key: json.loads(value) if value[0] == '"' else value for key, value in pairs}


def secret_file(directory, name, text):
    path = f"{directory}/{name}"
    with open(path, "w") as file:
        file.write(text + "\n")
    os.chmod(path, 0o600)
    return path


def tool(*words):
    return subprocess.run(
        [f"{BUILD}/trainyard", *words], capture_output=True, text=True, timeout=60
    )


def http_get(address, target="/metrics", method="GET"):
    """Status, headers and body, by hand: the socket may be a unix one."""
    if address.startswith("ipc://"):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address[len("ipc://") :])
    else:
        host, port = address[len("tcp://") :].rsplit(":", 1)
        connection = socket.create_connection((host.strip("[]"), int(port)))
    connection.settimeout(10)
    connection.sendall(
        f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    )
    answer = b""
    while part := connection.recv(65536):
        answer += part
    connection.close()
    head, body = answer.split(b"\r\n\r\n", 1)
    return int(head.split()[1]), head.decode(), body.decode()


def metrics(address):
    """The page as a map from names with labels to values, after every line has been checked."""
    status, head, body = http_get(address)
    assert status == 200 and "text/plain; version=0.0.4" in head, head
    kinds, values = {}, {}
    for line in body.splitlines():
        if match := re.fullmatch(r"# TYPE (\w+) (counter|gauge|histogram)", line):
            assert match[1] not in kinds
            kinds[match[1]] = match[2]
        elif not re.fullmatch(r"# HELP \w+ [^\\]+", line):
            match = re.fullmatch(r'(\w+)(\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? ([0-9.e+-]+)', line)
            assert match, line
            family = re.sub("_(bucket|sum|count)$", "", match[1])
            assert match[1] in kinds or kinds[family] == "histogram", line
            assert (match[1] + (match[2] or "")) not in values, line
            values[match[1] + (match[2] or "")] = float(match[3])
    return values


def metrics_address(line):
    return next(word for word in line.split() if word.startswith("metrics:"))[len("metrics:") :]
