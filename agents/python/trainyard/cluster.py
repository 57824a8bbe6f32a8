"""A daemon on every node of a Ray cluster; Ray places and Trainyard steps.

>>> import ray, trainyard.cluster
>>> ray.init(address="auto")
>>> endpoints = trainyard.cluster.endpoints()
>>> pool = trainyard.make("convoi", num_envs=4096, backend="zmq", endpoints=endpoints)

That is one pool over all nodes. A task or an actor of Ray has a pool of its own in the daemon of
the node that it is on, through shared memory:

>>> trainyard.make("convoi", num_envs=256, backend="shm", endpoint=trainyard.cluster.here())

examples/cluster.md has more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .daemon import Daemon

#: Where our actors have their names.
_NAMESPACE = "trainyard"
#: How long a keeper may take to stop, in seconds.
_PATIENCE = 30.0


class Keeper:
    """Keeps a daemon: an actor on the node that the daemon is for, gone with it."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._options = list(options)
        self._daemon = Daemon(options=self._options)

    def endpoints(self) -> list[str]:
        """Where the daemon listens, on ipc first. One that has died is started again."""
        if self._daemon.gone() is not None:
            self._daemon = Daemon(options=self._options)
        host = ray.util.get_node_ip_address()
        return [each.replace("0.0.0.0", host) for each in self._daemon.endpoints]

    def pid(self) -> int:
        """The daemon's process."""
        return self._daemon.pid

    def stop(self) -> None:
        self._daemon.stop()


def keeper(node: str, options: Sequence[str] = ()) -> Any:
    """The `Keeper` of a node, which is started if there is none.

    >>> ray.get(trainyard.cluster.keeper(node).pid.remote())
    """
    place = NodeAffinitySchedulingStrategy(node, soft=False)
    actor: Any = ray.remote(Keeper).options(
        name=f"keeper-{node}",
        namespace=_NAMESPACE,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=0,
        scheduling_strategy=place,
    )
    return actor.remote(options)


def nodes() -> list[str]:
    """The ids of the nodes that live.

    >>> trainyard.cluster.nodes()
    ['4d0b...', '9c21...']
    """
    return sorted(node["NodeID"] for node in ray.nodes() if node["Alive"])


def here() -> str:
    """The endpoint of this node's daemon, for shared memory.

    >>> trainyard.make("convoi", backend="shm", endpoint=trainyard.cluster.here())
    """
    node = ray.get_runtime_context().get_node_id()
    endpoint: str = ray.get(keeper(node).endpoints.remote())[0]
    return endpoint


def endpoints(options: Sequence[str] = (), *, only: Sequence[str] | None = None) -> list[str]:
    """An endpoint for each node, or for `only` these, for `make(..., endpoints=...)`.

    Without `options` they are those of ipc, for nodes of one machine. `options` are those of
    trainyardd; with `--listen tcp://...` among them the endpoints are the last that each daemon
    listens on, which machines reach from each other:

    >>> keys = ["--curve-secret", "/keys/daemon.secret", "--curve-clients", "/keys/clients"]
    >>> endpoints(["--listen", "tcp://*:5555", *keys])
    """
    keepers = [keeper(node, options) for node in (nodes() if only is None else only)]
    found: list[list[str]] = ray.get([keeper.endpoints.remote() for keeper in keepers])
    return [each[-1] for each in found]


def stop() -> None:
    """Ends the daemons of all nodes. They end with their nodes otherwise.

    >>> trainyard.cluster.stop()
    """
    for named in ray.util.list_named_actors(all_namespaces=True):
        if named["namespace"] == _NAMESPACE:
            # Some may have ended with their nodes in this moment.
            with contextlib.suppress(ray.exceptions.RayError, ValueError):
                actor = ray.get_actor(named["name"], _NAMESPACE)
                ray.get(actor.stop.remote(), timeout=_PATIENCE)
                ray.kill(actor)
