"""Boards as graphs: what is where, and rows as features of nodes and edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import Error

if TYPE_CHECKING:
    from .ruleset import Block, Ruleset

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class GraphRows:
    """Rows as features of a graph, all in 0..1; leading dimensions are those of the rows.

    nodes   float32 [..., nodes, F], edges float32 [..., edges, G], as `Board.node_features` and
            `Board.edge_features` name them
    rest    float32 [..., R]: everything that stands nowhere, expanded as `Ruleset.expand` does
    """

    nodes: Floats
    edges: Floats
    rest: Floats


@dataclass(frozen=True)
class _Feature:
    """A block that tells of nodes or edges: `at` has the place of each row, column or value."""

    block: Block
    on: str
    by: str
    optional: bool
    at: npt.NDArray[np.intp]
    start: int  # its first channel
    names: tuple[str, ...]  # of its channels


class Board:
    """The board of a ruleset as a graph.

    `nodes` and `edges` are dictionaries with what each has: nodes `id`, `title`, `kind` and, where
    the board has a layout, `x` and `y`; edges `a` and `b` (numbers of nodes), `kind`, `length` and
    the like.

    >>> board = trainyard.Ruleset("nordic").board
    >>> board.nodes[0]["title"], board.edges[0]["length"], board.edge_index.shape
    >>> graph = board.observe(pool.obs)     # graph.nodes, graph.edges, graph.rest
    """

    def __init__(self, ruleset: Ruleset, data: dict[str, Any]) -> None:
        self._ruleset = ruleset
        self.nodes: list[dict[str, Any]] = data["nodes"]
        self.edges: list[dict[str, Any]] = data["edges"]
        for node in self.nodes:
            for axis in ("x", "y"):
                if axis in node:
                    node[axis] /= 1000
        #: int64 [2, edges]: the ends of every edge, as graph libraries want them.
        self.edge_index: npt.NDArray[np.int64] = np.array(
            [[edge["a"] for edge in self.edges], [edge["b"] for edge in self.edges]],
            dtype=np.int64,
        ).reshape(2, -1)
        #: The names of the features of nodes and of edges, in order.
        self.node_features: list[str] = []
        self.edge_features: list[str] = []
        self._features = [self._feature(entry) for entry in data["features"]]
        placed = {feature.block.name for feature in self._features}
        self._rest = [block.expanded for block in ruleset.blocks if block.name not in placed]

    def __repr__(self) -> str:
        return f"<Board of {self._ruleset.spec}: {len(self.nodes)} nodes, {len(self.edges)} edges>"

    def to_networkx(self) -> Any:
        """The board as a `networkx.MultiGraph`, with all that nodes and edges have as attributes.

        >>> import networkx
        >>> networkx.shortest_path(board.to_networkx(), 0, 5, weight="length")
        """
        try:
            import networkx
        except ImportError as error:
            raise Error("to_networkx: install networkx first") from error
        graph = networkx.MultiGraph()
        for number, node in enumerate(self.nodes):
            graph.add_node(number, **node)
        for edge in self.edges:
            rest = {key: value for key, value in edge.items() if key not in ("a", "b")}
            graph.add_edge(edge["a"], edge["b"], **rest)
        return graph

    # ---- Features

    def _feature(self, entry: dict[str, Any]) -> _Feature:
        block = self._ruleset.block(entry["block"])
        names = tuple(self._channel_names(block, entry["by"]))
        all_names = self.node_features if entry["on"] == "node" else self.edge_features
        start = len(all_names)
        all_names.extend(names)
        at = np.array(entry["at"], dtype=np.intp)
        return _Feature(block, entry["on"], entry["by"], entry["optional"], at, start, names)

    def _channel_names(self, block: Block, by: str) -> list[str]:
        """One channel for each thing that the block tells of every node or edge."""
        label = self._ruleset.label
        if by == "values":
            things = [
                label(block, row, column)
                for row in range(block.rows)
                for column in range(block.columns)
            ]
            return [f"{block.name} {thing}".strip() for thing in things]
        count = block.rows if by == "columns" else block.columns
        channels = [f"{block.name} {i}" if count > 1 else block.name for i in range(count)]
        if block.kind != "category":
            return channels
        values = [self._ruleset.value_label(block, value) for value in range(block.maximum + 1)]
        return [f"{channel} = {value}" for channel in channels for value in values]

    def observe(self, rows: npt.NDArray[np.uint8]) -> GraphRows:
        """Rows (uint8 [..., row_size]) as features of nodes and edges."""
        expanded = self._ruleset.expand(rows)
        lead = rows.shape[:-1]
        nodes = np.zeros((*lead, len(self.nodes), len(self.node_features)), dtype=np.float32)
        edges = np.zeros((*lead, len(self.edges), len(self.edge_features)), dtype=np.float32)
        for feature in self._features:
            out = nodes if feature.on == "node" else edges
            channels = slice(feature.start, feature.start + len(feature.names))
            out[..., feature.at, channels] = self._values(feature, expanded)
        rest = [expanded[..., part] for part in self._rest]
        return GraphRows(nodes, edges, np.concatenate(rest, axis=-1) if rest else expanded[..., :0])

    @staticmethod
    def _values(feature: _Feature, expanded: Floats) -> Floats:
        """What the block tells: [..., places, channels]."""
        block = feature.block
        lead = expanded.shape[:-1]
        width = block.maximum + 1 if block.kind == "category" else 1
        cells = expanded[..., block.expanded].reshape(*lead, block.rows, block.columns, width)
        if feature.by == "values":
            # One-hot over the places already: a thing is a channel, the places come first.
            things = cells.reshape(*lead, block.rows * block.columns, width)
            places = things[..., 1 if feature.optional else 0 :]
            return np.swapaxes(places, -1, -2)
        if feature.by == "columns":
            cells = np.swapaxes(cells, -2, -3)
        return cells.reshape(*lead, cells.shape[-3], -1)
