"""Two clients share one cooperative episode: each sees and plays its own seat only.

python3 two_clients.py ipc:///run/user/1000/trainyard/trainyardd
"""

import sys
import threading

import numpy as np
from zmq_client import Client, random_legal


def play(client, pool, name):
    """Answers whatever this client is asked, until it is told of the end."""
    generator = np.random.default_rng(len(name))
    while not (rows := client.call("recv", pool=pool))["ended"]:
        action = random_legal(np.frombuffer(rows["mask"], "u1").reshape(1, -1), generator)
        legal = client.call("legal", pool=pool, slot=0)
        chosen = legal["names"][np.frombuffer(legal["numbers"], "<i4").tolist().index(action[0])]
        print(f"{name} (seat {rows['seat'][0]}): {chosen}")
        client.call("send", pool=pool, slots=rows["slots"], actions=action.tobytes())
    reward = np.frombuffer(rows["final_reward"], "<f4")[0]
    print(f"{name} is told of the end: reward {reward:+.0f}")


def main():
    director, guest = Client(sys.argv[1]), Client(sys.argv[1])
    # The director opens the pool, keeps seat 0 and hands the invitation for seat 1 to the guest.
    spec = {"ruleset": "convoi:board=tiny", "seed": 3, "autoreset": "disabled"}
    table = director.call("open", seats=["me", "open"], **spec)
    guest.call("join", pool=table["pool"], invite=table["invite"])
    other = threading.Thread(target=play, args=(guest, table["pool"], "guest"))
    other.start()
    play(director, table["pool"], "director")
    other.join()
    director.close()
    guest.close()


if __name__ == "__main__":
    main()
