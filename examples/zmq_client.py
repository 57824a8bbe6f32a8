"""A client in plain Python: pyzmq, msgpack, numpy, and the page proto/PROTOCOL.md.

python3 zmq_client.py ipc:///run/user/1000/trainyard/trainyardd
"""

import sys

import msgpack
import numpy as np
import zmq


class Client:
    """One request, one reply. Numbers grow, so that a repeated request is done once."""

    def __init__(self, endpoint):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.connect(endpoint)
        self.number = 0
        self.call("hello", protocol=1)

    def call(self, op, **fields):
        self.number += 1
        self.socket.send(msgpack.packb({"op": op, "id": self.number, **fields}))
        reply = msgpack.unpackb(self.socket.recv())
        if not reply["ok"]:
            raise RuntimeError(f"{op}: {reply['error']['code']}: {reply['error']['message']}")
        return reply

    def close(self):
        self.socket.close(linger=0)


def random_legal(mask, generator):
    """One legal action per row, all equally likely; 0 where there is none."""
    return (mask * generator.random(mask.shape)).argmax(axis=1).astype("<i4")


def main():
    generator = np.random.default_rng(7)
    client = Client(sys.argv[1])
    pool = client.call("open", ruleset="convoi:board=tiny,reward=delivery", slots=64, seed=7)
    rows = client.call("reset", pool=pool["pool"])
    episodes, total = 0, 0.0
    while episodes < 300:
        mask = np.frombuffer(rows["mask"], "u1").reshape(64, pool["action_count"])
        actions = random_legal(mask, generator)  # here a network would look at rows["obs"]
        rows = client.call("step", pool=pool["pool"], actions=actions.tobytes())
        episodes += len(rows["ended"]) // 4  # u32 each
        total += np.frombuffer(rows["earned"], "<f4").reshape(64, -1)[:, 0].sum()
    print(f"plain Python: {episodes} episodes, mean return {total / episodes:+.3f}")
    client.close()


if __name__ == "__main__":
    main()
