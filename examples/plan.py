"""Search with forks: the daemon copies the position, redeals what the seat cannot know,
draws another future, and lets an agent play each copy to its end.

    python3 plan.py ipc:///run/user/1000/trainyard/trainyardd
"""

import sys

import numpy as np
from zmq_client import Client

COPIES = 16  # imagined futures per action


def values(client, pool, seat, legal, key):
    """What each legal action led to on average: every action meets the same imagined futures."""
    result = np.zeros(len(legal))
    slots = np.arange(1, len(legal) + 1, dtype="<u4")
    for future in range(COPIES):
        keys = np.full(len(legal), key + future, "<u8").tobytes()
        client.call("fork", pool=pool, slot=0, slots=slots.tobytes(), keys=keys, seat=seat)
        client.call("step", pool=pool, slots=slots.tobytes(), actions=legal.tobytes(), min_rows=0)
        for i, slot in enumerate(slots.tolist()):
            ask = {"pool": pool, "slot": slot, "agent": "expert", "keys": keys[:8], "seat": -1}
            result[i] += np.frombuffer(client.call("rollout", **ask)["earned"], "<f4")[seat]
    return result / COPIES


def main():
    client = Client(sys.argv[1])
    spec = "express:map=tiny"
    slots = 1 + client.call("describe", ruleset=spec)["action_count"]
    pool = client.call("open", ruleset=spec, slots=slots, seed=5, seats=["me", "me"])["pool"]
    client.call("reset", pool=pool)
    for decision in range(5):
        asked = client.call("legal", pool=pool, slot=0)
        seat, legal = asked["seat"], np.frombuffer(asked["numbers"], "<i4")
        value = values(client, pool, seat, legal, key=1000 * decision)
        best = value.argmax()
        print(f"seat {seat}: {asked['names'][best]} ({value[best]:+.2f}, of {len(legal)} actions)")
        client.call("step", pool=pool, slots=b"\0\0\0\0", actions=legal[best : best + 1].tobytes())
    client.close()


if __name__ == "__main__":
    main()
