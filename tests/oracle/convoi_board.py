"""Boards and decks of Convoi Express, read from the project's data files.

This module belongs to the referee in convoi_oracle.py. It shares no code with the engine:
everything here follows the description of the file formats in env/games/convoi/BOARDS.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

GOODS = ("blue", "yellow", "red", "white")


@dataclass(frozen=True)
class Segment:
    """A line of track without branches between the places a and b."""

    id: str
    a: str
    b: str
    spaces: int
    lights: dict[int, str] = field(hash=False)

    def end(self, direction: int) -> str:
        """Name the place that lies ahead of a train going in this direction."""
        return self.b if direction > 0 else self.a

    def space(self, index: int) -> str:
        """Name one of the track spaces, counted from 1 at the a end."""
        return f"{self.id}.{index}"

    def outset(self, place: str) -> tuple[int, int]:
        """Give the index and the direction of a train that leaves `place` along this segment."""
        return (0, 1) if self.a == place else (self.spaces + 1, -1)


class Board:
    """The network of one board file, with everything looked up by name."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.name: str = data["name"]
        self.america: bool = data["rules"] == "north_america"
        self.green_discs: int = data["green_discs"]
        self.first_green: list[str] = data["green"]
        self.segments = {s["id"]: _segment(s) for s in data["segments"]}
        goods_cities = [c for c in data["cities"] if "goods" in c]
        self.goods_of: dict[str, str] = {c["id"]: c["goods"] for c in goods_cities}
        self.city_of_goods = {goods: city for city, goods in self.goods_of.items()}
        self.cities: list[str] = [c["id"] for c in data["cities"]]
        self.ports = [c for c in self.cities if c not in self.goods_of]
        self.start_of = {n: s["id"] for s in data["starts"] for n in s["numbers"]}
        self.starts: list[str] = [s["id"] for s in data["starts"]]
        self.legs = {j["id"]: self._ending_in(j["id"]) for j in data["junctions"]}
        self.first_open: dict[str, tuple[str, str]] = {
            j["id"]: (j["open"][0], j["open"][1]) for j in data["junctions"]
        }
        self.setting_names = {j: self._name_settings(j) for j in self.legs}
        self.line_of_start = {s: self._ending_in(s)[0] for s in self.starts}
        self.lights: list[str] = []
        self.city_of_light: dict[str, str] = {}
        self.line_of_exit: dict[str, Segment] = {}
        self._index_lights()
        self.exits = {c: [x for x, y in self.city_of_light.items() if y == c] for c in self.cities}
        self.track_lights = [x for x in self.lights if x not in self.city_of_light]
        self.numbered_lights = [*self.city_of_light, *self.track_lights]

    def _ending_in(self, place: str) -> list[str]:
        return [s.id for s in self.segments.values() if place in (s.a, s.b)]

    def _index_lights(self) -> None:
        for segment in self.segments.values():
            for gap, light in segment.lights.items():
                self.lights.append(light)
                beside = {0: segment.a, segment.spaces: segment.b}.get(gap)
                if beside in self.cities:
                    self.city_of_light[light] = beside
                    self.line_of_exit[light] = segment

    def leg_name(self, junction: str, leg: str) -> str:
        """Name a leg of a junction by the place at its other end, as actions do."""
        segment = self.segments[leg]
        return segment.b if segment.a == junction else segment.a

    def settings(self, junction: str) -> list[tuple[str, str]]:
        """List all pairs of legs that the discs of a junction can leave open."""
        return list(combinations(self.legs[junction], 2))

    def _name_settings(self, junction: str) -> dict[str, tuple[str, str]]:
        names = {}
        for pair in self.settings(junction):
            first, second = (self.leg_name(junction, leg) for leg in pair)
            names[f"switch {junction} {first}+{second}"] = pair
        return names


def _segment(data: dict[str, Any]) -> Segment:
    lights = {light["gap"]: light["id"] for light in data.get("lights", [])}
    return Segment(data["id"], data["a"], data["b"], data["spaces"], lights)


@dataclass(frozen=True)
class Card:
    """An instruction card."""

    id: str
    new: tuple[str, ...]
    move: tuple[str, ...]

    def shown(self) -> dict[str, Any]:
        """Give the card as a trace shows it."""
        return {"id": self.id, "new": list(self.new), "move": list(self.move)}


class Deck:
    """The instruction cards of one deck file."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.name: str = data["name"]
        self.first = _card({"id": "FIRST", **data["first"]})
        self.cards = {c["id"]: _card(c) for c in data["cards"]}


def _card(data: dict[str, Any]) -> Card:
    return Card(data["id"], tuple(data["new"]), tuple(data["move"]))


class Library:
    """All boards and decks of some directories, found by the name inside the file."""

    def __init__(self, directories: list[Path]) -> None:
        self.boards: dict[str, Board] = {}
        self.decks: dict[str, Deck] = {}
        for path in (p for d in directories for p in sorted(d.glob("*.json"))):
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.get("format") == "convoi-board-1":
                self.boards[data["name"]] = Board(data)
            elif data.get("format") == "convoi-deck-1":
                self.decks[data["name"]] = Deck(data)
