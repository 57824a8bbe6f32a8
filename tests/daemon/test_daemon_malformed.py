"""Malformed messages to a daemon: one error reply each, nothing changes, and nothing leaks.

tests/daemon/test_daemon_malformed.py BUILD_DIRECTORY [--long] [TEST]...
"""

import itertools
import os
import struct

import msgpack
import zmq
from daemon_client import BUILD, HERE, Client, Daemon, first_actions, main, rss_kb

# The allocator of ASan keeps what was freed, so that memory grows by design.
MEASURES_MEMORY = "asan" not in os.path.basename(BUILD)


def vectors():
    """The good message of every operation."""
    messages = []
    for name in sorted(os.listdir(f"{HERE}/../vectors")):
        if name.startswith("request_") and name.endswith(".msgpack"):
            with open(f"{HERE}/../vectors/{name}", "rb") as file:
                messages.append(file.read())
    return messages


def map_of(entries):
    """A map of key and value pairs, in which a key may stand twice."""
    return (
        b"\xde"
        + struct.pack(">H", len(entries))
        + b"".join(msgpack.packb(k) + msgpack.packb(v) for k, v in entries)
    )


def truncated(good):
    return [message[:size] for message in good for size in range(len(message))]


def with_more(good):
    return [message + tail for message in good for tail in (b"\x00", b"\xc0", message)]


SWAPS = [
    None,
    True,
    -7,
    1.5,
    "text",
    b"bytes",
    [1],
    {"a": 1},
    msgpack.ExtType(5, b"12345678"),
    [[[[[[[[[[1]]]]]]]]]],
]


def may_be(old, new):
    """True if a value of the new kind could be meant for the field."""
    texts = (str, bytes)
    return type(old) is type(new) or (isinstance(old, texts) and isinstance(new, texts))


def swapped(good):
    messages = []
    for message in good:
        fields = msgpack.unpackb(message)
        for key, old in fields.items():
            for new in SWAPS:
                if not may_be(old, new) and not (isinstance(old, int) and new is True):
                    messages.append(msgpack.packb({**fields, key: new}))
    return messages


def keys_changed(good):
    messages = []
    for message in good:
        fields = msgpack.unpackb(message)
        entries = list(fields.items())
        messages += [map_of([*entries, entry]) for entry in entries]
        messages += [map_of([*entries, (key, 1)]) for key in ("", "Op", "unknown", "x" * 300, 7)]
        messages += [msgpack.packb({k: v for k, v in entries if k != key}) for key in ("op", "id")]
        messages += [
            msgpack.packb({**fields, "op": op})
            for op in ("", "steps", "OPEN", "x" * 5000, "a\0b", "\ud7ff")
        ]
        messages += [msgpack.packb({**fields, "id": number}) for number in (0, -1, -(2**63))]
        messages.append(msgpack.packb(entries))
    messages += [
        msgpack.packb({"op": "hello", "id": 1, "protocol": n})
        for n in (0, 2, 255, 65536, 2**64 - 1)
    ]
    return messages


def bombs():
    messages = [bytes([byte]) for byte in range(256)]
    for size in (0x10, 0xFFFF, 0x0FFFFFFF, 0xFFFFFFFF):
        for head in (0xC6, 0xC9, 0xDB, 0xDD, 0xDF):
            messages.append(bytes([head]) + struct.pack(">I", size))
            messages.append(b"\x81\xa2op" + bytes([head]) + struct.pack(">I", size) + b"\x00" * 20)
    for depth in (9, 17, 33, 100, 1000, 10000, 60000):
        for opener in (b"\x91", b"\x81\xa1a", b"\xdc\x00\x01"):
            messages.append(opener * depth)
            messages.append(opener * depth + b"\xc0")
            messages.append(b"\x83\xa2op\xa4ping\xa2id\x07\xa1x" + opener * depth + b"\xc0")
    messages.append(b"\xdd\x00\x00\xff\xff" + b"\xc0" * 65535)
    messages.append(b"\x82\xa2op\xa4ping\xa2id\xcf" + b"\xff" * 8 + b"\xa0" * 3)
    return messages


def wrong_for_the_pool(pool, slots, data):
    """Well-formed requests to a live pool whose binaries have the wrong length or content."""
    four = struct.pack(f"<{slots}I", *range(slots))
    requests = []
    for size in [*list(range(4 * slots)), 4 * slots + 4, 4 * slots + 1, 100000]:
        requests.append(("step", {"actions": bytes(size)}))
        requests.append(("send", {"actions": bytes(size), "slots": four}))
    for size in (1, 2, 3, 5, 4 * slots - 1, 4 * slots + 1):
        for op, more in (
            ("snapshot", {}),
            ("send", {"actions": four}),
            ("fork", {"slot": 0}),
            ("restore", {"snapshots": four[:4]}),
        ):
            requests.append((op, {**more, "slots": bytes(size)}))
    for size in (1, 7, 9, 8 * slots - 8, 8 * slots + 8):
        requests.append(("reset", {"seeds": bytes(size)}))
        requests.append(("resample", {"slots": four, "keys": bytes(size)}))
        requests.append(("fork", {"slot": 0, "slots": four, "keys": bytes(size)}))
    for size in (1, slots - 1, slots + 1, 1000):
        requests.append(("reset", {"mask": bytes(size)}))
    for slot in (slots, slots + 1, 2**20 - 1):
        far = struct.pack("<I", slot)
        requests += [(op, {"slot": slot}) for op in ("observe", "legal", "text", "state")]
        requests += [
            ("snapshot", {"slots": far}),
            ("fork", {"slot": slot, "slots": four}),
            ("fork", {"slot": 0, "slots": far}),
        ]
        requests.append(("rollout", {"slot": slot, "agent": "random"}))
    requests += [
        ("restore", {"slots": four, "snapshots": struct.pack("<I", n)})
        for n in (0, 1, 77, 2**32 - 1)
    ]
    requests += [("export", {"snapshot": n}) for n in (1, 77, 2**32 - 1)]
    requests += [("import", {"data": data[:size]}) for size in range(1, len(data), 7)]
    requests += [("rollout", {"slot": 0, "agent": name}) for name in ("", "nobody", "x" * 64)]
    requests += [("rollout", {"slot": 0, "agent": "random", "seat": 3})]
    requests += [
        ("open", {"ruleset": name})
        for name in ("", "chess", "convoi:x", "convoi:clock=99", "convoi:board=../x", "x" * 500)
    ]
    requests += [
        ("open", {"ruleset": "convoi", "seats": seats})
        for seats in (["me"], ["me"] * 5, ["me", "nobody"], [""])
    ]
    requests += [("open", {"ruleset": "convoi", "slots": 2**20, "threads": 256})]
    requests += [
        ("open", {"ruleset": "convoi:board=b", "files": {"b": b"{" * n}}) for n in (1, 100, 5000)
    ]
    requests += [("join", {"invite": word}) for word in ("", "0" * 32, "x" * 64)]
    requests += [("replay_verify", {"content": bytes(n)}) for n in (1, 31, 32, 33, 5000)]
    return [
        (op, fields if op in ("open", "replay_verify") else {"pool": pool, **fields})
        for op, fields in requests
    ]


def send_corpus(client, corpus):
    """Every message gets one error reply, in its turn."""
    for message in corpus:
        client.socket.send(message)
        reply = client.receive()
        assert reply["ok"] is False and reply["error"]["message"], (message[:100], reply)


def send_wrong(client, requests):
    for op, fields in requests:
        reply = client.call(op, **fields)
        assert reply["id"] == client.id, (op, reply)
        refused = reply["ok"] is False or len(reply.get("errors", [])) > 0
        assert refused and (op != "send" or reply.get("accepted", 0) == 0), (op, fields, reply)


def states(client, pool, slots):
    """Everything that the slots hold, as bytes."""
    saved = client.call("snapshot", pool=pool, slots=struct.pack(f"<{slots}I", *range(slots)))
    numbers = struct.unpack(f"<{slots}I", saved["snapshots"])
    exported = [client.call("export", pool=pool, snapshot=number)["data"] for number in numbers]
    assert client.call("drop", pool=pool)["dropped"] == slots
    return exported


def test_malformed_messages_change_nothing():
    daemon = Daemon()
    client = Client(daemon.endpoint)
    slots = 8
    opened = client.call("open", ruleset="convoi:board=tiny", slots=slots)
    reply = client.call("reset", pool=opened["pool"])
    for _ in range(10):
        reply = client.call(
            "step", pool=opened["pool"], actions=first_actions(reply, opened["action_count"])
        )
    before = states(client, opened["pool"], slots)
    assert len(set(before)) > 1
    good = vectors()
    assert len(good) >= 26
    kinds = [truncated(good), with_more(good), swapped(good), keys_changed(good), bombs()]
    corpus = list(dict.fromkeys(message for kind in kinds for message in kind))
    wrong = wrong_for_the_pool(opened["pool"], slots, before[0])
    print(f"    {len(corpus)} malformed messages, {len(wrong)} requests that do not fit")
    assert len(corpus) >= 500
    sizes = []
    for _ in range(8 if MEASURES_MEMORY else 2):
        send_corpus(client, corpus)
        send_wrong(client, wrong)
        sizes.append(rss_kb(daemon.process.pid))
    assert states(client, opened["pool"], slots) == before
    stats = client.call("stats")
    assert stats["sessions"] == 1 and len(stats["pools"]) == 1, stats
    client.socket.rcvtimeo = 200
    try:
        raise AssertionError(f"one reply too many: {client.receive()}")
    except zmq.Again:
        pass
    print(
        f"    resident after each round: {sizes} KB"
        + ("" if MEASURES_MEMORY else ", not judged under ASan")
    )
    # A leak grows in every round, by some bytes for each message; threads that meet by chance make
    # the allocator grow in some.
    growth = sorted(after - before for before, after in itertools.pairwise(sizes))
    assert not MEASURES_MEMORY or (growth[len(growth) // 4] <= 24 and sum(growth) <= 2048), sizes
    client.close()
    daemon.stop()


if __name__ == "__main__":
    main(globals())
