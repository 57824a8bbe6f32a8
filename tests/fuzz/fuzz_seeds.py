"""Writes first inputs for the fuzzers: every vector, and conversations of dispatch made of them,
every board of the repository, and the given logs.

fuzz_seeds.py OUTPUT_DIRECTORY LOG...
"""

import glob
import os
import re
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
BOARD_SIZE_MAX = 4096  # larger boards say the same more often, and take longer to read


def text(word):
    return bytes([0xA0 | len(word)]) + word.encode()


def value(item):
    """MessagePack of what a request needs."""
    if isinstance(item, bytes):
        return b"\xc4" + bytes([len(item)]) + item
    if isinstance(item, str):
        return text(item)
    return bytes([item]) if item < 128 else b"\xcd" + struct.pack(">H", item)


def message(op, number, **fields):
    entries = {"op": op, "id": number, **fields}
    return bytes([0x80 | len(entries)]) + b"".join(
        text(key) + value(item) for key, item in entries.items()
    )


def event(peer, content):
    return bytes([peer - 1, len(content)]) + content


def write_boards(output):
    """Every board, map and deck, and a dictionary of the words in them."""
    words = set()
    for path in glob.glob(f"{TOP}/env/games/*/data/*.json") + glob.glob(f"{TOP}/tests/data/*.json"):
        game = path.split("/")[-3]
        with open(path, encoding="utf-8") as file:
            content = file.read()
        if len(content) <= BOARD_SIZE_MAX:
            name = f"{output}/board/{game}_{os.path.basename(path)}"
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        words |= set(re.findall(r'"[ -~]{1,40}?"', content))
    with open(f"{output}/board.dict", "w", encoding="utf-8") as file:
        for word in sorted(words):
            file.write('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"\n')


def write_logs(output, logs):
    """Each log as it is, and as the list of records that fuzz_replay puts together again."""
    for number, path in enumerate(logs):
        with open(path, "rb") as file:
            content = file.read()
        with open(f"{output}/replay/file_{number}", "wb") as file:
            file.write(b"\0" + content)
        records = b"\1"
        at = 32
        while at + 24 <= len(content):
            kind, size = struct.unpack("<II", content[at + 4 : at + 12])
            if size < 1 << 16:
                records += (
                    bytes([kind]) + struct.pack("<H", size) + content[at + 24 : at + 24 + size]
                )
            at += 24 + size + 8
        with open(f"{output}/replay/records_{number}", "wb") as file:
            file.write(records)


def main():
    output = sys.argv[1]
    for kind in ("wire", "dispatch", "board", "replay"):
        os.makedirs(f"{output}/{kind}", exist_ok=True)
    for kind in ("wire", "dispatch"):
        shutil.copy(f"{HERE}/fuzz.dict", f"{output}/{kind}.dict")
    with open(f"{output}/replay.dict", "w") as file:
        file.write('"TYARDLOG"\n"TYR\\xa5"\n')
    write_boards(output)
    write_logs(output, sys.argv[2:])
    for name in sorted(os.listdir(f"{TOP}/tests/vectors")):
        if name.endswith(".msgpack"):
            with open(f"{TOP}/tests/vectors/{name}", "rb") as file:
                content = file.read()
            with open(f"{output}/wire/{name}", "wb") as file:
                file.write(content)
            if len(content) < 256:
                with open(f"{output}/dispatch/{name}", "wb") as file:
                    file.write(event(1, content))
    two = bytes(8)
    slots = struct.pack("<2I", 0, 1)
    keys = struct.pack("<2Q", 1, 2)
    # Pool 1 is there: peer 2 directs it and peer 3 plays in it. Peer 1 may open pool 6 for itself.
    mine = (1, message("open", 2, ruleset="convoi:board=tiny", slots=2))
    talks = {
        "step": [
            mine,
            (1, message("reset", 3, pool=6)),
            (1, message("step", 4, pool=6, actions=two)),
        ],
        "async": [
            (3, message("recv", 2, pool=1)),
            (2, message("recv", 2, pool=1)),
            (2, message("send", 3, pool=1, slots=slots, actions=two)),
        ],
        "snapshot": [
            (2, message("snapshot", 2, pool=1, slots=slots)),
            (
                2,
                message("restore", 3, pool=1, snapshots=struct.pack("<I", 0x01000040), slots=slots),
            ),
            (2, message("export", 4, pool=1, snapshot=0x40)),
        ],
        "fork": [
            (2, message("fork", 2, pool=1, slot=0, slots=slots, keys=keys)),
            (2, message("resample", 3, pool=1, slots=slots, keys=keys, seat=0)),
            (2, message("rollout", 4, pool=1, slot=0, agent="random", count=2)),
        ],
        "look": [
            (peer, message(op, 5, pool=1, slot=1))
            for peer in (2, 3)
            for op in ("observe", "legal", "text", "state")
        ],
        "leave": [
            (3, message("leave", 5, pool=1)),
            (2, message("reset", 5, pool=1)),
            (2, message("close", 6, pool=1)),
        ],
        "open": [mine, (1, message("stats", 10))],
    }
    with open(f"{output}/dispatch/time", "wb") as file:
        file.write(event(3, message("recv", 2, pool=1)) + b"\xfa\xff")
    for name, events in talks.items():
        with open(f"{output}/dispatch/{name}", "wb") as file:
            file.write(b"".join(event(peer, content) for peer, content in events))


main()
