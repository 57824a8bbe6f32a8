"""Two clients share one cooperative episode: each sees and plays its own seat only.

python3 two_clients.py ipc:///run/user/1000/trainyard/trainyardd
"""

import sys
import threading

import numpy as np
from zmq_client import Client, random_legal


def play(client, pool, name, diary):
    """Answers whatever this client is asked, until it is told of the end."""
    generator = np.random.default_rng(len(name))
    while True:
        rows = client.call("recv", pool=pool["pool"])
        row = np.frombuffer(rows["mask"], "u1").reshape(rows["count"], -1)
        if rows["ended"]:
            reward = np.frombuffer(rows["final_reward"], "<f4")[0]
            diary.append(f"{name} is told of the end: reward {reward:+.0f}")
            return
        action = random_legal(row, generator)
        legal = client.call("legal", pool=pool["pool"], slot=0)
        chosen = legal["names"][list(np.frombuffer(legal["numbers"], "<i4")).index(action[0])]
        diary.append(f"{name} (seat {rows['seat'][0]}): {chosen}")
        client.call("send", pool=pool["pool"], slots=rows["slots"], actions=action.tobytes())


def main():
    diary = []
    director, guest = Client(sys.argv[1]), Client(sys.argv[1])
    # The director opens the pool, keeps seat 0 and hands the invitation for seat 1 to the guest.
    table = director.call(
        "open", ruleset="convoi:board=tiny", seed=3, seats=["me", "open"], autoreset="disabled"
    )
    place = guest.call("join", pool=table["pool"], invite=table["invite"])
    threads = [
        threading.Thread(target=play, args=(director, table, "director", diary)),
        threading.Thread(target=play, args=(guest, place, "guest", diary)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = diary.index(next(line for line in diary if line.startswith("guest")))
    print(
        *diary[max(0, first - 3) : first + 3],
        f"... of {len(diary) - 2} decisions",
        *diary[-2:],
        sep="\n",
    )
    director.close()
    guest.close()


if __name__ == "__main__":
    main()
