"""A baseline of one's own: joins the open seats of a pool, and claims a route whenever it can.

trainyard arena express --agents random,open --start "python3 own_agent.py"
"""

import argparse

import numpy as np
from zmq_client import Client

WISHES = ["claim ", "pay", "keep ", "draw", ""]  # how actions begin, the dearest first


def ranks(names):
    """What the agent thinks of each action: lower is better."""
    return np.array(
        [next(i for i, wish in enumerate(WISHES) if name.startswith(wish)) for name in names]
    )


def choose(mask, rank):
    """The agent: the best legal action of each row. Where an episode is over, anything will do."""
    return np.where(mask, rank, len(WISHES)).argmin(axis=1).astype("<i4")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--pool", type=int, required=True)
    parser.add_argument("--invite", required=True)
    parser.add_argument("--seats", default="")
    given = parser.parse_args()
    client = Client(given.connect)
    seats = {"seats": bytes(int(seat) for seat in given.seats.split(","))} if given.seats else {}
    pool = client.call("join", pool=given.pool, invite=given.invite, **seats)
    rank = ranks(client.call("describe", ruleset=pool["ruleset"])["actions"])
    while True:
        try:
            rows = client.call("recv", pool=given.pool, timeout_ms=1000)
        except RuntimeError as end:  # the director has closed the pool
            print(f"own_agent ends: {end}")
            return
        if rows["count"]:
            mask = np.frombuffer(rows["mask"], "u1").reshape(rows["count"], pool["action_count"])
            client.call(
                "send", pool=given.pool, slots=rows["slots"], actions=choose(mask, rank).tobytes()
            )


if __name__ == "__main__":
    main()
