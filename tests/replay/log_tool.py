"""An episode log read as env/replay/FORMAT.md describes it, by nothing but that page.

log_tool.py list FILE                     one JSON line per episode, hashes checked
log_tool.py flip FILE EPISODE STEP OUT    a copy with one action changed, sealed again
log_tool.py void FILE EPISODE STEP OUT    the same, with an action that no game has
log_tool.py age FILE EPISODE VERSION OUT  a copy with another version of the rules
"""

import json
import struct
import sys

MASK = (1 << 64) - 1


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def add(h: int, v: int) -> int:
    return mix(h ^ (v + 0x9E3779B97F4A7C15 & MASK))


def hash_bytes(h: int, data: bytes) -> int:
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        h = add(h, word)
    return add(add(h, int.from_bytes(data[whole:], "little")), len(data))


def records(data: bytes):
    """Yields (offset, kind, payload) of every record, after checking every hash."""
    magic, version, file_id, check = struct.unpack("<8sH6xQQ", data[:32])
    start = add(0x74797264, file_id)
    assert magic == b"TYARDLOG" and version == 1 and check == hash_bytes(start, data[:24])
    at, number = 32, 0
    while at < len(data):
        mark, kind, size, sequence, check = struct.unpack("<4sI2IQ", data[at : at + 24])
        assert mark == b"\x54\x59\x52\xa5" and check == hash_bytes(start, data[at : at + 16])
        end = at + 24 + size
        assert sequence == number
        assert struct.unpack("<Q", data[end : end + 8])[0] == hash_bytes(start, data[at:end])
        yield at, kind, data[at + 24 : end]
        at, number = end + 8, number + 1


def episode(payload: bytes) -> dict:
    (
        version,
        seed,
        slot,
        number,
        steps,
        kept,
        cause,
        flags,
        forfeit,
        seats,
        players,
        metrics,
        contents,
        length,
        first,
        final,
    ) = struct.unpack("<IQIQIIBBbBBBBxH2xQQ", payload[:60])
    at = 60
    returns = struct.unpack(f"<{players}i", payload[at : at + 4 * players])
    at += 4 * players
    values = struct.unpack(f"<{metrics}i", payload[at : at + 4 * metrics])
    at += 4 * metrics + 8 * contents
    ruleset = payload[at : at + length].decode("ascii")
    at += length
    names = []
    for _ in range(seats):
        names.append(payload[at + 1 : at + 1 + payload[at]].decode("ascii"))
        at += 1 + payload[at]
    body, chain, actions = at, add(0, first), []
    for i in range(kept):
        action, check = struct.unpack("<HH", payload[at : at + 4])
        assert i > 0 or check == (chain ^ action) & 0xFFFF
        actions.append(action)
        at += 4 + (8 if (i + 1) % 64 == 0 else 0)
    assert at == len(payload) and flags == (kept < steps)
    return {
        "ruleset": ruleset,
        "rules_version": version,
        "seed": seed,
        "slot": slot,
        "number": number,
        "decisions": steps,
        "cause": cause,
        "forfeit": forfeit,
        "returns": [r / 64 for r in returns],
        "metrics": list(values),
        "seats": names,
        "hash": f"{final:016x}",
        "actions": actions,
        "body": body,
    }


def change(data: bytes, what: str, index: int, value: int) -> bytes:
    at, payload = [(at, payload) for at, kind, payload in records(data) if kind == 1][index]
    out = bytearray(data)
    if what == "age":
        out[at + 24 : at + 28] = struct.pack("<I", value)
    else:
        place = at + 24 + episode(payload)["body"] + 4 * (value - 1) + 8 * ((value - 1) // 64)
        flipped = bytes([out[place] ^ 1, out[place + 1]])
        out[place : place + 2] = b"\xff\xff" if what == "void" else flipped
    end = at + 24 + len(payload)
    start = add(0x74797264, struct.unpack("<Q", data[16:24])[0])
    out[end : end + 8] = struct.pack("<Q", hash_bytes(start, bytes(out[at:end])))
    return bytes(out)


def main() -> None:
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    if sys.argv[1] == "list":
        for _, kind, payload in records(data):
            if kind == 1:
                print(json.dumps(episode(payload)))
    else:
        with open(sys.argv[5], "wb") as file:
            file.write(change(data, sys.argv[1], int(sys.argv[3]), int(sys.argv[4])))


main()
