"""A player who looks for seeds, on a real daemon, through every door and in every game.

It is told the seeds of episodes that are over, and opens a mirror pool with every seed that it can
compute from them or that is small: the mirror must not show what the player sees in other episodes
and slots. Where seeds are plain, the same player foresees everything.

tests/daemon/test_daemon_secrets.py BUILD_DIRECTORY [--long] [TEST]...
"""

import struct
import tempfile

from daemon_client import LONG, Client, Daemon, Shm, main, wait_for
from test_daemon_harm import token_daemon

GAMES = ("nordic:players=2", "express:players=2", "chicago:players=2", "convoi:hands=hidden")
SLOTS, EPISODES, ROWS = 2, 2, 12  # rows of an episode that are compared
SMALL = 2000 if LONG else 200  # numbers that are tried as seeds
WORD = 2**64


def mix(x):
    """How the library makes one seed from another: anyone can do that, and undo it."""
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % WORD
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % WORD
    return x ^ x >> 31


def next_seed(seed):
    return mix((seed + mix(1)) % WORD)


class Messages:
    """A player's seat by messages."""

    def __init__(self, client, pool):
        self.client, self.pool = client, pool

    def turn(self, choose):
        reply = self.client.call("recv", pool=self.pool)
        assert reply["ok"], reply
        slots = struct.unpack(f"<{reply['count']}I", reply["slots"])
        actions = [
            choose(slot, *(cell(reply[name], i, reply["count"]) for name in Spy.COLUMNS))
            for i, slot in enumerate(slots)
        ]
        packed = struct.pack(f"<{len(actions)}i", *actions)
        sent = self.client.call("send", pool=self.pool, slots=reply["slots"], actions=packed)
        assert sent["ok"] and sent["accepted"] == len(actions), sent


class Memory:
    """A player's seat in shared memory."""

    def __init__(self, client, opened):
        self.shm = Shm(client.hello["shm"], opened)

    def turn(self, choose):
        assert wait_for(lambda: any(self.shm.column(0, "ready")), 10, pause=0)
        ready = self.shm.column(0, "ready")
        columns = [self.shm.column(0, name, 8 if name == "seed" else 1) for name in Spy.COLUMNS]
        offset = self.shm.groups[0][3]["action"][1]
        for slot in range(SLOTS):
            if ready[slot]:
                action = choose(slot, *(cell(column, slot, SLOTS) for column in columns))
                at = offset + 4 * slot
                self.shm.commands[at : at + 4] = struct.pack("<i", action)
        self.shm.step(0, ready)


def cell(column, row, count):
    width = len(column) // count
    return column[row * width : (row + 1) * width]


class Spy:
    """What a player sees of two episodes in each slot, and the seeds that it hears."""

    COLUMNS = ("obs", "mask", "terminated", "truncated", "seed")

    def __init__(self, daemon, door, ruleset, access, **wish):
        self.director, self.player = (Client(daemon.endpoint, **access) for _ in range(2))
        self.ruleset = ruleset
        opened = self.director.call(
            "open",
            ruleset=ruleset,
            slots=SLOTS,
            max_steps=60,
            seats=["random", "open"],
            reveal_seeds=True,
            **wish,
        )
        joined = self.player.call(
            "join", pool=opened["pool"], invite=opened["invite"], shm=door == "shm"
        )
        assert joined["ok"], joined
        self.width = joined["action_count"]
        seat = (
            Memory(self.player, joined) if door == "shm" else Messages(self.player, opened["pool"])
        )
        self.seen = [[[] for _ in range(EPISODES)] for _ in range(SLOTS)]
        self.heard = [[] for _ in range(SLOTS)]
        while min(map(len, self.heard)) < EPISODES:
            seat.turn(self.choose)

    def choose(self, slot, obs, mask, terminated, truncated, seed):
        over = terminated[0] or truncated[0]
        action = max(mask.find(1), 0)
        number = len(self.heard[slot])
        if number < EPISODES and not over:
            assert seed == bytes(8)  # of an episode that is not over it hears nothing
            self.seen[slot][number].append((obs, mask, action))
        if over:
            self.heard[slot].append(int.from_bytes(seed, "little"))
        return action

    def candidates(self):
        """Seeds that follow from what was heard, and small ones."""
        found = set(range(SMALL))
        for first in (seeds[0] for seeds in self.heard):
            for seed in (first - 1, first, first + 1):
                found |= {seed % WORD, next_seed(seed % WORD)}
        return sorted(found)

    def shows(self, seeds, rows):
        """How many of the seeds show these rows, in a mirror where the same is played."""
        opened = self.player.call(
            "open",
            ruleset=self.ruleset,
            slots=len(seeds),
            seats=["random", "me"],
            plain_seeds=True,
            illegal="noop",
        )
        packed = struct.pack(f"<{len(seeds)}Q", *seeds)
        reply = self.player.call("reset", pool=opened["pool"], seeds=packed)
        alive = set(range(len(seeds)))
        for obs, mask, action in rows[:ROWS]:
            assert reply["ok"], reply
            alive = {
                i
                for i in alive
                if cell(reply["obs"], i, len(seeds)) == obs
                and cell(reply["mask"], i, len(seeds)) == mask
            }
            actions = struct.pack("<i", action) * len(seeds)
            reply = self.player.call("step", pool=opened["pool"], actions=actions)
        assert self.player.call("close", pool=opened["pool"])["ok"]
        return len(alive)

    def foreseen(self):
        """Which episodes the mirror shows, but for the one whose seed was heard first."""
        seeds = self.candidates()
        return [
            self.shows(seeds, self.seen[slot][number]) for slot, number in ((0, 1), (1, 0), (1, 1))
        ]

    def close(self):
        self.director.close()
        self.player.close()


def each_game(daemon, door, access):
    for game in GAMES:
        spy = Spy(daemon, door, game, access)
        assert spy.foreseen() == [0, 0, 0], (game, door, spy.foreseen())
        # Not even of the episode itself, whose agent has a seed of its own.
        assert spy.shows([spy.heard[0][0]], spy.seen[0][0]) == 0, (game, door)
        spy.close()
        spy = Spy(daemon, door, game, access, plain_seeds=True, seed=5000000)
        assert min(spy.foreseen()) > 0, (game, door, spy.foreseen())
        spy.close()


def test_no_seed_is_found_by_ipc():
    daemon = Daemon()
    each_game(daemon, "ipc", {})
    daemon.stop()


def test_no_seed_is_found_through_shared_memory():
    daemon = Daemon()
    each_game(daemon, "shm", {})
    daemon.stop()


def test_no_seed_is_found_by_tcp():
    with tempfile.TemporaryDirectory() as directory:
        daemon = token_daemon(directory)
        each_game(daemon, "tcp", {"access": "a secret of this test"})
        daemon.stop()


if __name__ == "__main__":
    main(globals())
