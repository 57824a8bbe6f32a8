#!/usr/bin/env python3
"""Draws a Convoi Express board file as SVG, with the position of a trace line if one is given.

examples/draw_board.py env/games/convoi/data/europe.json > europe.svg
build/release/trainyard trace convoi --seed 1 | grep '"step":40,"seat"' |
    examples/draw_board.py env/games/convoi/data/europe.json --state - > position.svg
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from html import escape
from pathlib import Path
from typing import Any

WIDTH = 1000
MARGIN = 60
GOODS = {"blue": "#3b78c2", "yellow": "#e8b92e", "red": "#c8443c", "white": "#f4f4f0"}
TRAINS = {"black": "#1d1d1d", "brown": "#8a5a2b", "gray": "#8f959b"}
INK = "#3d4248"
Point = tuple[float, float]


def mix(a: Point, b: Point, share: float) -> Point:
    """The point between `a` and `b`, `share` of the way along."""
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


class Drawing:
    """Shapes in board coordinates, collected as SVG."""

    def __init__(self, board: dict[str, Any]) -> None:
        self.board = board
        things = board["cities"] + board["starts"] + board["junctions"]
        xs = [thing["xy"][0] for thing in things]
        ys = [thing["xy"][1] for thing in things]
        middle = math.radians((min(ys) + max(ys)) / 2)
        stretch = 1 / math.cos(middle) if max(abs(y) for y in ys) > 20 else 1.0
        scale = (WIDTH - 2 * MARGIN) / (max(xs) - min(xs))
        self.height = round((max(ys) - min(ys)) * scale * stretch + 2 * MARGIN)
        self.points: dict[str, Point] = {
            thing["id"]: (
                MARGIN + (thing["xy"][0] - min(xs)) * scale,
                MARGIN + (max(ys) - thing["xy"][1]) * scale * stretch,
            )
            for thing in things
        }
        self.places: dict[str, Point] = dict(self.points)
        self.shapes: list[str] = []

    def line(self, a: Point, b: Point, colour: str, width: float) -> None:
        self.shapes.append(
            f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" '
            f'stroke="{colour}" stroke-width="{width}" stroke-linecap="round"/>'
        )

    def circle(self, at: Point, radius: float, fill: str, edge: str = INK) -> None:
        self.shapes.append(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius}" fill="{fill}" '
            f'stroke="{edge}" stroke-width="1.5"/>'
        )

    def text(self, at: Point, words: str, size: int = 13, colour: str = INK) -> None:
        self.shapes.append(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="middle">{escape(words)}</text>'
        )

    def segment(self, segment: dict[str, Any], green: set[str]) -> None:
        """A line with its spaces, and its lights in the gaps between them."""
        a, b = self.points[segment["a"]], self.points[segment["b"]]
        count = segment["spaces"]
        self.line(a, b, "#c9c3b4", 7)
        for index in range(1, count + 1):
            at = mix(a, b, index / (count + 1))
            self.places[f"{segment['id']}.{index}"] = at
            self.circle(at, 7, "#fbfaf6")
        for light in segment.get("lights", []):
            at = mix(a, b, (light["gap"] + 0.5) / (count + 1))
            self.circle(at, 4.5, "#3aa655" if light["id"] in green else "#d2493f", "#ffffff")

    def junction(self, junction: dict[str, Any], opened: list[str]) -> None:
        """A switch: its open legs are joined by a dark line."""
        at = self.points[junction["id"]]
        for segment in self.board["segments"]:
            ends = {segment["a"]: segment["b"], segment["b"]: segment["a"]}
            if junction["id"] in ends:
                other = ends[junction["id"]]
                if segment["id"] in opened or other in opened:
                    toward = mix(at, self.points[other], 0.22)
                    self.line(at, toward, INK, 4)
        self.circle(at, 5, "#ffffff")
        self.text((at[0], at[1] - 10), junction["title"], 11)

    def svg(self, title: str) -> str:
        body = "\n".join(self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'font-family="sans-serif"><title>{escape(title)}</title>\n'
            f'<rect width="{WIDTH}" height="{self.height}" fill="#f1ecdf"/>\n{body}\n</svg>\n'
        )


def draw(board: dict[str, Any], state: dict[str, Any] | None) -> str:
    """The board in its first-game placement, or in the position `state` of a trace."""
    drawing = Drawing(board)
    green = set(state["green"] if state else board["green"])
    for segment in board["segments"]:
        drawing.segment(segment, green)
    for junction in board["junctions"]:
        opened = state["junctions"][junction["id"]] if state else junction["open"]
        drawing.junction(junction, opened)
    for start in board["starts"]:
        at = drawing.points[start["id"]]
        drawing.circle(at, 13, "#ee8f3c")
        drawing.text((at[0], at[1] + 4), "/".join(map(str, start["numbers"])), 11, "#ffffff")
        drawing.text((at[0], at[1] - 18), start["title"], 11)
    for city in board["cities"]:
        at = drawing.points[city["id"]]
        drawing.circle(at, 20, GOODS.get(city.get("goods", ""), "#2f4858"))
        drawing.text((at[0], at[1] + 38), city["title"], 16)
    for train in state["trains"] if state else []:
        if train["place"] != "depot":
            at = drawing.places[train["place"]]
            drawing.circle(at, 9, TRAINS[train["colour"]], "#ffffff")
            if train["cargo"]:
                drawing.circle(at, 4, GOODS[train["cargo"]], "#ffffff")
    return drawing.svg(f"{board['title']} ({board.get('status', '')})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("board", type=Path, help="a board file")
    parser.add_argument(
        "--state", help="a file with a decision line of a trace; - for standard input"
    )
    arguments = parser.parse_args()
    board = json.loads(arguments.board.read_text(encoding="utf-8"))
    state = None
    if arguments.state:
        text = (
            sys.stdin.read()
            if arguments.state == "-"
            else Path(arguments.state).read_text(encoding="utf-8")
        )
        state = json.loads(text.splitlines()[0])["state"]
    print(draw(board, state), end="")


if __name__ == "__main__":
    main()
