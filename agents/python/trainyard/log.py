"""Episode logs, read from Python: the files that `trainyard sim --log` and the daemon write.

>>> for episode in trainyard.log.read("logs"):
...     print(episode.spec, episode.seed, episode.seats, episode.returns)

The format is described in env/replay/FORMAT.md. Every record's hash is checked; a record that the
end of the newest file cuts off is left out, any other damage is an error.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .errors import Error
from .ruleset import Ruleset

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_MARK = b"\x54\x59\x52\xa5"
_HEAD = struct.Struct("<IQIQIIBBbBBBBxH2xQQ")
_CAUSES = ("rules", "cap", "steps", "cut", "forfeit")


class Note(NamedTuple):
    """What an agent told of one action that it might have chosen; NaN: it did not tell."""

    action: int
    probability: float
    value: float
    visits: float


@dataclass
class Episode:
    """One episode as it was logged: it replays from its ruleset, its seed and its actions."""

    spec: str
    rules_version: int
    seed: int
    seats: list[str]
    actions: list[int]
    returns: list[float]
    metrics: list[int]
    cause: str  # of the end: "rules", "cap", "steps", "cut" or "forfeit"
    complete: bool  # all of its decisions are there
    final_hash: int
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    #: What agents told of their choices, by decision from 0 on; empty if the log kept no notes.
    notes: dict[int, list[Note]] = field(default_factory=dict, repr=False)

    def ruleset(self) -> Ruleset:
        """Opens its ruleset, with the boards and decks of the user's own that the log holds."""
        named = {name: (name, content) for name, content in self.files.items()}
        return Ruleset(self.spec, files=named)


def read(log: str | Path) -> Iterator[Episode]:
    """The episodes of a log: of one file, or of all files of a directory, in their order."""
    place = Path(log)
    files = sorted(place.glob("episodes-*.tylog")) if place.is_dir() else [place]
    if not files:
        raise Error(f"{log}: no episodes-NUMBER.tylog in it", "bad_file")
    for number, file in enumerate(files):
        yield from _read_file(file, newest=number == len(files) - 1)


def _mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31


def _add(h: int, value: int) -> int:
    return _mix(h ^ (value + _STEP & _MASK))


def _hash(h: int, data: bytes) -> int:
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        h = _add(h, word)
    return _add(_add(h, int.from_bytes(data[whole:], "little")), len(data))


def _read_file(path: Path, *, newest: bool) -> Iterator[Episode]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", "io") from error
    if len(data) < 32 or data[:8] != b"TYARDLOG":
        raise Error(f"{path}: this is not an episode log", "bad_file")
    version, file_id, check = struct.unpack("<H6xQQ", data[8:32])
    start = _add(0x74797264, file_id)
    if version != 1 or check != _hash(start, data[:24]):
        raise Error(f"{path}: the head is damaged, or of format {version}", "bad_file")
    contents: dict[int, bytes] = {}
    notes = b""
    at = 32
    while at < len(data):
        kind, payload, after = _record(path, data, at, start, newest=newest)
        if after == 0:
            return
        if kind == 2:
            (key, size) = struct.unpack("<QI", payload[:12])
            contents[key] = payload[12 : 12 + size]
        elif kind == 3:
            notes = payload
        elif kind == 1:
            episode = _episode(payload, contents)
            # Notes tell of the slot, number and first state that the next episode has.
            if notes[:20] == payload[12:24] + payload[44:52]:
                episode.notes = _notes(notes)
            notes = b""
            yield episode
        at = after


def _record(
    path: Path, data: bytes, at: int, start: int, *, newest: bool
) -> tuple[int, bytes, int]:
    """Kind, payload and where the next record begins; 0 for an unfinished one at the end."""
    head = data[at : at + 24]
    size = int.from_bytes(head[8:12], "little")
    end = at + 24 + size
    if newest and (len(head) < 24 or end + 8 > len(data)):
        return 0, b"", 0
    sound = len(head) == 24 and head[:4] == _MARK and end + 8 <= len(data)
    if not sound or int.from_bytes(data[end : end + 8], "little") != _hash(start, data[at:end]):
        raise Error(
            f"{path}: the record at byte {at} is damaged; `trainyard replay verify` says more",
            "bad_file",
        )
    return head[4], data[at + 24 : end], end + 8


def _episode(payload: bytes, contents: dict[int, bytes]) -> Episode:
    head = _HEAD.unpack(payload[: _HEAD.size])
    version, seed, _, _, steps, kept, cause = head[:7]
    seats, players, metrics, own, length, _, final = head[9:]
    at = _HEAD.size
    returns = struct.unpack_from(f"<{players}i", payload, at)
    at += 4 * players
    values = struct.unpack_from(f"<{metrics}i", payload, at)
    at += 4 * metrics
    keys = struct.unpack_from(f"<{own}Q", payload, at)
    at += 8 * own
    spec = payload[at : at + length].decode("ascii")
    at += length
    names = []
    for _seat in range(seats):
        names.append(payload[at + 1 : at + 1 + payload[at]].decode("ascii"))
        at += 1 + payload[at]
    return Episode(
        spec=spec,
        rules_version=version,
        seed=seed,
        seats=names,
        actions=_actions(payload, at, kept),
        returns=[value / 64 for value in returns],
        metrics=list(values),
        cause=_CAUSES[cause],
        complete=kept == steps,
        final_hash=final,
        files=_files(spec, [(key, contents[key]) for key in keys]),
    )


def _notes(payload: bytes) -> dict[int, list[Note]]:
    result: dict[int, list[Note]] = {}
    for decision, *note in struct.iter_unpack("<IIfff", payload[24:]):
        result.setdefault(decision, []).append(Note(*note))
    return result


def _actions(payload: bytes, at: int, count: int) -> list[int]:
    """Every decision is an action and a check; a hash follows each 64th."""
    result: list[int] = []
    while count > 0:
        part = min(count, 64)
        result += struct.unpack_from(f"<{2 * part}H", payload, at)[::2]
        at += 4 * part + 8
        count -= part
    return result


def _files(spec: str, contents: list[tuple[int, bytes]]) -> dict[str, bytes]:
    """The names in the ruleset (`board=mine@89e5898a`) with what the log holds for them."""
    files: dict[str, bytes] = {}
    for setting in spec.partition(":")[2].split(","):
        name, _, mark = setting.partition("=")[2].partition("@")
        for key, content in contents:
            if mark == f"{key >> 32:08x}":
                files[name] = content
    return files
