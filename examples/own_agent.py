"""A baseline of one's own: joins the seats of an invitation, and claims a route whenever it can.

trainyard arena express --agents random,open --start "python3 own_agent.py"
"""

import argparse

import numpy as np
from zmq_client import Client

WISHES = ["claim ", "pay", "keep ", "draw", ""]  # how actions begin, the dearest first


def ranks(names):
    """What the agent thinks of each action: lower is better."""
    return np.array([[name.startswith(wish) for wish in WISHES] for name in names]).argmax(axis=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--pool", type=int, required=True)
    parser.add_argument("--invite", required=True)
    parser.add_argument("--seats", default="")  # none: every open one
    given = parser.parse_args()
    client = Client(given.connect)
    seats = {"seats": bytes(map(int, given.seats.split(",")))} if given.seats else {}
    pool = client.call("join", pool=given.pool, invite=given.invite, **seats)
    rank = ranks(client.call("describe", ruleset=pool["ruleset"])["actions"])
    try:
        while True:
            rows = client.call("recv", pool=given.pool, min_rows=1)
            mask = np.frombuffer(rows["mask"], "u1").reshape(rows["count"], -1)
            actions = np.where(mask, rank, len(WISHES)).argmin(axis=1).astype("<i4")
            client.call("send", pool=given.pool, slots=rows["slots"], actions=actions.tobytes())
    except RuntimeError as end:  # the director has closed the pool
        print(f"own_agent ends: {end}")


if __name__ == "__main__":
    main()
