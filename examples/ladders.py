"""Ladders of the built-in agents of every game, and README's table of them.

    python examples/ladders.py            # plays what examples/ladders lacks, and prints the table
    python examples/ladders.py --write    # and puts it into README.md
    python examples/ladders.py --show     # plays nothing
    python examples/ladders.py --quick --to DIRECTORY    # a few seeds of each, elsewhere

Games are played by `trainyard ladder`, on seeds on which nothing was learned or tuned. A run can be
stopped: what was played is kept and not played again.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).parent.parent
SEED = 2_100_000
#: Of each game its settings, its network, search with the expert and with the network, and on how
#: many seeds these play.
GAMES = {
    "convoi": ("hints=true", "convoi_win", "", "turns=4,", 200),
    "nordic": ("", "nordic", "", "", 50),
    "express": ("", "express", ":playouts=256", "playouts=256,", 50),
    "chicago": ("", "chicago", ":playouts=256", "", 50),
}
#: Seeds of agents that answer at once.
SEEDS_FAST = 1000
MARKS = ("<!-- made by examples/ladders.py -->\n", "<!-- until here -->\n")


class Ladder:
    """The agents of a game, from `random` to search with a network, and the file that holds their
    games."""

    def __init__(self, tool: str, game: str, place: Path) -> None:
        settings, net, search, guided, self.slow = GAMES[game]
        self.game, self.file = game, place / f"{game}.json"
        path = f"agents/nets/{net}.net"
        searches = [f"search{search}", f"search:{guided}net={path}"]
        self.agents = ["random", "expert", f"net:file={path}", *searches]
        self._command = [tool, "ladder", f"{game}:{settings}".rstrip(":"), "--file", str(self.file)]

    def run(self, *options: str) -> str:
        command = [*self._command, *options]
        return subprocess.run(
            command, cwd=TOP, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def play(self, fast: int, slow: int) -> None:
        for agents, seeds in ((self.agents[:3], fast), (self.agents, slow)):
            seats = ("--agents", ",".join(agents))
            self.run(*seats, "--episodes", str(seeds), "--seed", str(SEED))

    def row(self) -> str:
        """What the file says of each agent; a network is known there by what its own file holds."""
        shown = json.loads(self.run("--json"))
        known = {re.sub("@.*", "", agent["agent"]): agent for agent in shown["agents"]}
        found = [known[re.sub(r"=[\w/]*/(\w+)\.net$", r"=\1", name)] for name in self.agents]
        if shown["cooperative"]:
            cells = ["{:.1f} % [{:.1f}, {:.1f}]".format(*self._figures(of, 100)) for of in found]
            return " | ".join([f"| {self.game}, games won", *cells]) + " |"
        cells = ["{:.0f} [{:.0f}, {:.0f}]".format(*self._figures(of, 1)) for of in found]
        return " | ".join([f"| {self.game}, rating", *cells]) + " |"

    @staticmethod
    def _figures(agent: dict[str, Any], times: float) -> list[float]:
        return [times * agent[key] for key in ("mean", "low", "high")]


def put_into_readme(table: str) -> None:
    readme = TOP / "README.md"
    before, mark, rest = readme.read_text().partition(MARKS[0])
    if not mark:
        sys.exit(f"README.md has no line {MARKS[0]}")
    readme.write_text(before + mark + table + MARKS[1] + rest.partition(MARKS[1])[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", default="trainyard", help="the command-line tool")
    parser.add_argument("--to", type=Path, default=TOP / "examples/ladders", help="for the files")
    parser.add_argument("--games", default=",".join(GAMES), help="some of the games")
    parser.add_argument("--quick", action="store_true", help="ten seeds, two of search")
    parser.add_argument("--show", action="store_true", help="play nothing")
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args()
    options.to.mkdir(exist_ok=True)
    columns = ["`random`", "`expert`", "network", "`search`", "`search:net=`"]
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for game in options.games.split(","):
        ladder = Ladder(options.tool, game, options.to)
        if not options.show:
            print(f"{game}: {', '.join(ladder.agents)}", file=sys.stderr)
            ladder.play(*((10, 2) if options.quick else (SEEDS_FAST, ladder.slow)))
        lines.append(ladder.row())
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if options.write:
        put_into_readme(table)


if __name__ == "__main__":
    main()
