"""Rulesets: a game with its settings, its schema and its action names."""

from __future__ import annotations

import ctypes
import difflib
import json
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .board import Board
from .errors import BadKeyword, Error


@dataclass(frozen=True)
class Block:
    """A named run of an observation row: `rows` x `columns` values from byte `offset` on.

    `expanded` is where the block lies in an expanded row: row[block.expanded].
    """

    name: str
    kind: str  # "category", "count", "flag" or "fixed"
    offset: int
    rows: int
    columns: int
    maximum: int
    width: int  # bytes of a value
    help: str
    expanded: slice

    @property
    def bytes(self) -> slice:
        """Where the block lies in a row of bytes: row[block.bytes]."""
        return slice(self.offset, self.offset + self.rows * self.columns * self.width)


@dataclass(frozen=True)
class Field:
    """One key of a game's configuration."""

    key: str
    kind: str  # "int", "flag", "choice" or "file"
    standard: int
    minimum: int
    maximum: int
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Game:
    """A game of the registry.

    >>> [game.name for game in trainyard.games()]
    ['convoi', ...]
    """

    name: str
    title: str
    rules_version: int
    fields: tuple[Field, ...]
    small: dict[str, str]  # settings of the smallest ruleset, for tests and first tries
    learning: dict[str, str]  # settings that learners start from


#: The shared objects that were loaded; private daemons load them too.
loaded: list[Path] = []


def load(path: str | os.PathLike[str]) -> None:
    """Adds the games and agents of a shared object of your own (examples/own_game).

    It runs code of that file, in this process and in the daemons that pools of this process start.

    >>> trainyard.load("build/own_game/libtictactoe.so")
    >>> pool = trainyard.make("tictactoe", num_envs=64)
    """
    place = Path(path).resolve()
    _lib.check(lib.ty_load(os.fsencode(place)))
    loaded.append(place)


def games() -> list[Game]:
    """The games that the library knows."""
    return [_game(lib.ty_game_at(index)) for index in range(lib.ty_game_count())]


def _game(pointer: int) -> Game:
    count = ctypes.c_uint32()
    fields = lib.ty_game_fields(pointer, ctypes.byref(count))
    return Game(
        name=_lib.text(lib.ty_game_name(pointer)),
        title=_lib.text(lib.ty_game_title(pointer)),
        rules_version=lib.ty_game_rules_version(pointer),
        fields=tuple(_field(fields[index]) for index in range(count.value)),
        small=_settings(_lib.text(lib.ty_game_small(pointer))),
        learning=_settings(_lib.text(lib.ty_game_learning(pointer))),
    )


def _settings(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(",") if pair)


def _field(field: _lib.Field) -> Field:
    return Field(
        key=_lib.text(field.key),
        kind=_lib.FIELD_KINDS[field.kind],
        standard=field.standard,
        minimum=field.minimum,
        maximum=field.maximum,
        choices=tuple(_lib.names(field.choices)),
        help=_lib.text(field.help),
    )


def _setting(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def spec_text(game: str, config: Mapping[str, Any]) -> str:
    """The ruleset string of a game and its settings.

    >>> spec_text("convoi", {"players": 3, "board": "europe"})
    'convoi:players=3,board=europe'
    """
    settings = ",".join(f"{key}={_setting(value)}" for key, value in config.items())
    if not settings:
        return game
    return f"{game}{',' if ':' in game else ':'}{settings}"


def _is_path(value: str) -> bool:
    return "/" in value or value.endswith(".json")


def _file_name(path: Path) -> str:
    """The short name of a user's file: its base name in [a-z0-9_-]."""
    stem = path.stem.lower()[:32] or "_"
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in stem)


def _read_files(spec: str) -> dict[str, tuple[str, bytes]]:
    """The user's own boards and decks that the ruleset string names by path."""
    files: dict[str, tuple[str, bytes]] = {}
    _, _, settings = spec.partition(":")
    for setting in settings.split(","):
        value = setting.partition("=")[2].partition("@")[0]
        if _is_path(value):
            try:
                files[value] = (_file_name(Path(value)), Path(value).read_bytes())
            except OSError as error:
                raise Error(f"{setting}: {error.strerror}", "io") from error
    return files


def agent_files(spec: str) -> dict[str, tuple[str, bytes]]:
    """The files that the settings of an agent name: `net:FILE`, `net:file=FILE`."""
    files: dict[str, tuple[str, bytes]] = {}
    for setting in spec.partition(":")[2].split(","):
        value = setting.partition("=")[2] or setting
        path = Path(value)
        if value and path.is_file():
            files[value] = (_file_name(path), path.read_bytes())
    return files


def _file_array(files: Mapping[str, tuple[str, bytes]]) -> Any:
    array = (_lib.FileBytes * max(1, len(files)))()
    for entry, (value, (name, content)) in zip(array, files.items(), strict=False):
        entry.value, entry.name = value.encode(), name.encode()
        entry.bytes, entry.size = content, len(content)
    return array


def _check_keywords(game: str, config: Mapping[str, Any], why: str) -> None:
    """Keywords that are no settings of the game are a TypeError, as everywhere in Python."""
    pointer = lib.ty_game_find(game.partition(":")[0].encode())
    known = {field.key for field in _game(pointer).fields} if pointer else set(config)
    for key in config:
        if key not in known:
            raise BadKeyword(f"got an unexpected keyword argument '{key}': {why}")


def near_names(asked: str, names: Sequence[str]) -> list[str]:
    """Up to five of the names that are spelt like what was asked for, or begin with its word."""
    known = {name.lower(): name for name in names}
    near = difflib.get_close_matches(asked, known, n=5)
    near += [name for name in known if name.startswith(asked.split(" ")[0])]
    return [known[name] for name in dict.fromkeys(near)][:5]


class Ruleset:
    """A game with a checked configuration: immutable, shared by any number of pools.

    >>> rules = trainyard.Ruleset("convoi", board="europe", players=3)
    >>> rules.action_name(1), rules.row_size
    """

    def __init__(
        self,
        game: str,
        *,
        files: Mapping[str, tuple[str, bytes]] | None = None,
        **config: Any,
    ) -> None:
        spec = spec_text(game, config)
        self._files = dict(files) if files is not None else _read_files(spec)
        self._agents: dict[tuple[str | bytes, ...], Any] = {}
        handle = ctypes.c_void_p()
        status = lib.ty_ruleset_open_bytes(
            spec.encode(), _file_array(self._files), len(self._files), ctypes.byref(handle)
        )
        if status.code != 0:
            _check_keywords(game, config, status.message.decode())
        _lib.check(status)
        assert handle.value is not None
        self.handle: int = handle.value
        self._close = weakref.finalize(self, lib.ty_ruleset_close, self.handle)
        # The end of the process frees it anyway; until then a thread may play by it.
        self._close.atexit = False
        self._asked = spec
        shape = lib.ty_shape(self.handle).contents
        self._shape = shape
        self.spec: str = _lib.text(shape.spec)
        self.note: str = _lib.text(shape.note)
        self.cooperative: bool = shape.cooperative
        self.players: int = shape.players
        self.seats: int = shape.seats
        self.action_count: int = shape.action_count
        self.row_size: int = shape.row_size
        self.full_size: int = shape.full_size
        self.state_size: int = shape.state_size
        self.schema_hash: int = shape.schema_hash
        self.metrics: list[str] = _lib.names(shape.metrics)
        self.expanded_size: int = lib.ty_expand_size(self.handle, False)
        self.expanded_full_size: int = lib.ty_expand_size(self.handle, True)

    def __repr__(self) -> str:
        return f"Ruleset({self.spec!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._asked, self._files)

    @property
    def files(self) -> dict[str, bytes]:
        """The user's own boards and decks, by the names that they have in `spec`."""
        return dict(self._files.values())

    @cached_property
    def game(self) -> Game:
        return _game(lib.ty_ruleset_game(self.handle))

    # ---- The schema of rows

    def _blocks(self, blocks: Any, count: int) -> list[Block]:
        result: list[Block] = []
        start = 0
        for index in range(count):
            block = blocks[index]
            stop = start + lib.ty_expand_width(ctypes.byref(block))
            result.append(
                Block(
                    name=_lib.text(block.name),
                    kind=_lib.BLOCK_KINDS[block.kind],
                    offset=block.offset,
                    rows=block.rows,
                    columns=block.columns,
                    maximum=block.maximum,
                    width=block.width,
                    help=_lib.text(block.help),
                    expanded=slice(start, stop),
                )
            )
            start = stop
        return result

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks of an observation row, in order."""
        return self._blocks(self._shape.row_blocks, self._shape.row_block_count)

    @cached_property
    def full_blocks(self) -> list[Block]:
        """The blocks of a privileged row."""
        return self._blocks(self._shape.full_blocks, self._shape.full_block_count)

    def block(self, name: str) -> Block:
        """The block of that name.

        >>> rows.obs[:, rules.block("clock").bytes]
        """
        for block in self.blocks:
            if block.name == name:
                return block
        known = ", ".join(block.name for block in self.blocks)
        raise Error(f"no block is named '{name}'; there are {known}")

    def label(self, block: Block, row: int = 0, column: int = 0) -> str:
        """What one value of a block is about ("black.2")."""
        if not (0 <= row < block.rows and 0 <= column < block.columns):
            raise Error(f"block {block.name} has {block.rows} x {block.columns} values")
        buffer = ctypes.create_string_buffer(_lib.NAME_MAX)
        lib.ty_block_label(self.handle, self._c_block(block), row, column, buffer)
        return buffer.value.decode()

    def value_label(self, block: Block, value: int) -> str:
        """What category `value` of a block means ("paris"), or "" if it has no name."""
        buffer = ctypes.create_string_buffer(_lib.NAME_MAX)
        lib.ty_value_label(self.handle, self._c_block(block), value, buffer)
        return buffer.value.decode()

    def _c_block(self, block: Block) -> Any:
        for blocks, pointer in (
            (self.blocks, self._shape.row_blocks),
            (self.full_blocks, self._shape.full_blocks),
        ):
            if block in blocks:
                return ctypes.byref(pointer[blocks.index(block)])
        raise Error(f"block '{block.name}' is not of {self.spec}")

    def expand(
        self,
        rows: npt.NDArray[np.uint8],
        out: npt.NDArray[np.float32] | None = None,
        *,
        full: bool = False,
    ) -> npt.NDArray[np.float32]:
        """Rows as float32 for a network: one-hot categories, everything else in 0..1.

        >>> x = rules.expand(pool.obs)          # a new array
        >>> rules.expand(pool.obs, out=x)       # no allocation
        """
        size = self.full_size if full else self.row_size
        width = self.expanded_full_size if full else self.expanded_size
        if rows.dtype != np.uint8 or rows.shape[-1:] != (size,):
            raise Error(f"expand: rows are uint8 [..., {size}], not {rows.dtype} {rows.shape}")
        rows = np.ascontiguousarray(rows)
        if out is None:
            out = np.empty((*rows.shape[:-1], width), dtype=np.float32)
        elif (
            out.shape != (*rows.shape[:-1], width)
            or out.dtype != np.float32
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            raise Error(
                f"expand: `out` must be contiguous float32 {(*rows.shape[:-1], width)}, "
                f"not {out.dtype} {out.shape}"
            )
        lib.ty_expand(self.handle, full, rows.ctypes.data, rows.size // size, out.ctypes.data)
        return out

    @cached_property
    def embedding_size(self) -> int:
        """Entries of the table that the categories of `split` point into."""
        size: int = lib.ty_split_size(self.handle).values
        return size

    def split(
        self, rows: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Rows for a network that embeds: categories [..., C] as numbers of one table, in which
        every item has entries of its own, and everything else [..., M] in 0..1.

        >>> table = torch.nn.Embedding(rules.embedding_size, 16)
        >>> categories, numbers = rules.split(pool.obs)
        """
        if rows.dtype != np.uint8 or rows.shape[-1:] != (self.row_size,):
            raise Error(f"split: rows are uint8 [..., {self.row_size}], not {rows.shape}")
        rows = np.ascontiguousarray(rows)
        size = lib.ty_split_size(self.handle)
        categories = np.empty((*rows.shape[:-1], size.categories), dtype=np.int32)
        numbers = np.empty((*rows.shape[:-1], size.numbers), dtype=np.float32)
        count = rows.size // self.row_size
        lib.ty_split(
            self.handle, rows.ctypes.data, count, categories.ctypes.data, numbers.ctypes.data
        )
        return categories, numbers

    # ---- For people, drawings and graph networks

    def rules_text(self) -> str:
        """How to play, in plain words, with the settings and the board of this ruleset."""
        return _lib.write_text(lib.ty_rules_text, self.handle)

    @cached_property
    def board(self) -> Board:
        """The board as a graph: its nodes and edges, and rows as their features.

        >>> rules.board.edges[0]["colour"], rules.board.to_networkx()
        >>> rules.board.observe(pool.obs).nodes
        """
        data = json.loads(_lib.write_text(lib.ty_board_json, self.handle))
        if not data:
            raise Error(f"{self.game.name} has no board")
        return Board(self, data)

    # ---- Actions

    @cached_property
    def action_names(self) -> list[str]:
        """The name of every action, by its number."""
        buffer = ctypes.create_string_buffer(_lib.NAME_MAX)
        result: list[str] = []
        for action in range(self.action_count):
            lib.ty_action_name(self.handle, action, buffer)
            result.append(buffer.value.decode())
        return result

    @cached_property
    def _actions(self) -> dict[str, int]:
        return {name.lower(): action for action, name in enumerate(self.action_names)}

    def action_name(self, action: int) -> str:
        return self.action_names[action]

    def action(self, name: str) -> int:
        """The number of a named action, in capitals or not.

        >>> rules.action("wait")
        0
        """
        asked = name.strip().lower()
        try:
            return self._actions[asked]
        except KeyError:
            near = near_names(asked, self.action_names)
            hint = f"; similar: {', '.join(near)}" if near else ""
            raise Error(f"no action is named '{name}'{hint}") from None

    def find_action(self, name: str) -> int | None:
        """The same; None if no action has that name."""
        return self._actions.get(name.strip().lower())

    def legal_names(self, mask: npt.NDArray[np.bool_]) -> list[str]:
        """The names of the actions that a mask allows."""
        names = self.action_names
        return [names[action] for action in np.flatnonzero(mask).tolist()]

    # ---- Built-in agents

    @cached_property
    def agents(self) -> dict[str, str]:
        """The built-in agents that play this game: name and one line about it."""
        game = lib.ty_ruleset_game(self.handle)
        result: dict[str, str] = {}
        index = 0
        while pointer := lib.ty_agent_at(game, index):
            result[_lib.text(pointer.contents.name)] = _lib.text(pointer.contents.help)
            index += 1
        return result

    def find_agent(self, name: str) -> Any:
        """A pointer to the built-in agent of that name, which may have settings
        (`search:playouts=256`). It lives as long as the ruleset."""
        files = agent_files(name)
        key: tuple[str | bytes, ...] = (name, *(content for _, content in files.values()))
        if key not in self._agents:
            pointer = ctypes.POINTER(_lib.Agent)()
            status = lib.ty_agent_open_bytes(
                self.handle,
                name.encode(),
                _file_array(files),
                len(files),
                ctypes.byref(pointer),
            )
            if status.code != 0:
                raise Error(status.message.decode())
            self._agents[key] = pointer
            address = ctypes.cast(pointer, ctypes.c_void_p).value
            weakref.finalize(self, lib.ty_agent_close, address).atexit = False
        return self._agents[key]


def _reopen(spec: str, files: dict[str, tuple[str, bytes]]) -> Ruleset:
    return Ruleset(spec, files=files)
