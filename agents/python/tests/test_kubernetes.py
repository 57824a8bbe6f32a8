"""examples/kubernetes: what it says is valid, and what it starts serves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trainyard
from conftest import TOP, tool
from trainyard.daemon import daemon_path

kubernetes_validate = pytest.importorskip("kubernetes_validate")
yaml = pytest.importorskip("yaml")

FOLDER = TOP / "examples/kubernetes"
RESOURCES = [
    (path.name, resource)
    for path in sorted(FOLDER.glob("*.yaml"))
    for resource in yaml.safe_load_all(path.read_text())
]


def pod(kind: str) -> Any:
    """The specification of the pods of a kind of resource."""
    (found,) = (resource for _, resource in RESOURCES if resource["kind"] == kind)
    return found["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    "resource", [pytest.param(each, id=f"{name}-{each['kind']}") for name, each in RESOURCES]
)
def test_resources_have_their_schema(resource):
    # The oldest and the newest version that the validator knows well.
    for version in ("1.30", "1.37"):
        kubernetes_validate.validate(resource, version, strict=True)


def test_the_validator_would_find_a_mistake():
    wrong = {**RESOURCES[0][1], "spek": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.37", strict=True)


def test_containers_are_confined_and_limited():
    for kind in ("StatefulSet", "Job"):
        spec = pod(kind)
        assert spec["securityContext"]["runAsNonRoot"]
        for container in spec["containers"] + spec.get("initContainers", []):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
            assert container["resources"]["limits"]["memory"]
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            claimed = {"log"} if kind == "StatefulSet" else set()
            assert mounted <= {volume["name"] for volume in spec["volumes"]} | claimed


class Pod:
    """The daemon's pod as processes on this machine: its volumes are folders."""

    def __init__(self, folder: Path, secrets: Path) -> None:
        spec = pod("StatefulSet")
        self.folder = folder
        self.secrets = secrets
        for mount in spec["containers"][0]["volumeMounts"]:
            if mount["mountPath"] != "/secret":
                (folder / mount["mountPath"][1:]).mkdir(parents=True)
        (init,) = spec["initContainers"]
        subprocess.run([self.here(word) for word in init["command"]], check=True)
        command = [self.here(word) for word in spec["containers"][0]["args"]]
        command = [word.replace("tcp://*:5555", "tcp://127.0.0.1:*") for word in command]
        self.process = subprocess.Popen(
            [str(daemon_path()), *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        words = self.process.stdout.readline().decode().split()
        self.endpoint = next(word for word in words if word.startswith("tcp://"))
        self.probe = [self.here(word) for word in self._probe(spec["containers"][0])]

    def here(self, word: str) -> str:
        word = word.replace("/secret/", f"{self.secrets}/")
        for place in ("/keys/", "/run/trainyard/", "/var/lib/trainyard/"):
            word = word.replace(place, f"{self.folder}{place}")
        return word

    @staticmethod
    def _probe(container: Any) -> list[str]:
        probe: list[str] = container["readinessProbe"]["exec"]["command"]
        assert probe == container["livenessProbe"]["exec"]["command"]
        return probe

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_what_they_start_serves_a_learner_with_its_key(tmp_path):
    for name in ("daemon", "learner"):
        subprocess.run([tool(), "keygen", name], cwd=tmp_path, check=True, capture_output=True)
    secrets = tmp_path / "secret"
    secrets.mkdir()
    for name in ("daemon.secret", "learner.pub"):
        # As in a pod, where secrets are links to files that others may not write.
        shutil.copy(tmp_path / name, secrets / f".{name}")
        (secrets / name).symlink_to(f".{name}")
    # A socket's path may have a hundred letters.
    pods = [Pod(tmp_path / str(number), secrets) for number in range(2)]
    try:
        for each in pods:
            subprocess.run([tool(), *each.probe[1:]], check=True, capture_output=True)
        access = {"keys": tmp_path / "learner.secret", "server_key": tmp_path / "daemon.pub"}
        settings = {"num_envs": 4, "seed": 1, "max_steps": 5, "hash": True}
        one = trainyard.make("express", **settings)
        pool = trainyard.make(
            "express",
            backend="zmq",
            endpoints=[each.endpoint for each in pods],
            groups=2,
            **access,
            **settings,
        )
        for number in range(12):
            one.step(one.sample())
            for group in range(2):
                pool.step(pool.sample(group), group)
            assert (one.hash == pool.hash).all()
            if number == 6:
                pods[0].kill()
        assert pool.backend.where[pods[1].endpoint] == 4
    finally:
        for each in pods:
            if each.process.poll() is None:
                each.kill()
