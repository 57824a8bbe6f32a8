"""The C library as ctypes sees it: structs, functions, and statuses that become exceptions."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any

from .errors import CODES, Error

SEATS_MAX = 5
GROUPS_MAX = 64
STREAMS_MAX = 16
NAME_MAX = 160
MESSAGE_MAX = 320
METRICS_MAX = 48
RIVALS_MAX = 32

#: The columns of a slab in the order of the C enum.
COLUMNS = (
    "obs",
    "mask",
    "reward",
    "earned",
    "seat",
    "ready",
    "terminated",
    "truncated",
    "illegal",
    "episode",
    "step",
    "seed",
    "metrics",
    "final_obs",
    "final_reward",
    "full",
    "hash",
    "mask_bits",
    "action",
)
#: NumPy names of the types of columns, in the order of the C enum.
TYPES = ("u1", "i1", "<u4", "<i4", "<f4", "<u8")
AUTORESET = ("next_step", "same_step", "disabled")
ILLEGAL = ("error", "noop", "random_legal", "lose")
BLOCK_KINDS = ("category", "count", "flag", "fixed")
FIELD_KINDS = ("int", "flag", "choice", "file")


class Status(Structure):
    _fields_ = [("code", c_int), ("message", c_char * MESSAGE_MAX)]


class Field(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("kind", c_int),
        ("standard", c_int32),
        ("minimum", c_int32),
        ("maximum", c_int32),
        ("choices", POINTER(c_char_p)),
        ("shown", c_bool),
        ("help", c_char_p),
    ]


class FileBytes(Structure):
    _fields_ = [
        ("value", c_char_p),
        ("name", c_char_p),
        ("bytes", c_char_p),
        ("size", c_size_t),
    ]


class Block(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("offset", c_uint16),
        ("rows", c_uint16),
        ("columns", c_uint16),
        ("maximum", c_uint16),
        ("width", c_uint8),
        ("help", c_char_p),
    ]


class Shape(Structure):
    _fields_ = [
        ("spec", c_char_p),
        ("note", c_char_p),
        ("cooperative", c_bool),
        ("players", c_uint32),
        ("seats", c_uint32),
        ("action_count", c_uint32),
        ("state_size", c_uint32),
        ("row_size", c_uint32),
        ("full_size", c_uint32),
        ("row_blocks", POINTER(Block)),
        ("row_block_count", c_uint32),
        ("full_blocks", POINTER(Block)),
        ("full_block_count", c_uint32),
        ("metrics", POINTER(c_char_p)),
        ("metric_count", c_uint32),
        ("streams", POINTER(c_char_p)),
        ("schema_hash", c_uint64),
    ]


class Head(Structure):
    _fields_ = [
        ("seed", c_uint64),
        ("draws", c_uint32 * STREAMS_MAX),
        ("steps", c_uint32),
        ("seat", c_int8),
        ("over", c_uint8),
        ("truncated", c_uint8),
        ("phase", c_uint8),
    ]


class Split(Structure):
    _fields_ = [("categories", c_uint32), ("numbers", c_uint32), ("values", c_uint32)]


class View(Structure):
    _fields_ = [
        ("agent", c_void_p),
        ("ruleset", c_void_p),
        ("seat", c_uint32),
        ("row", c_void_p),
        ("mask", c_void_p),
        ("planner", c_void_p),
        ("stop", c_void_p),
        ("notes", c_void_p),
    ]


class Planner(Structure):
    _fields_ = [("ruleset", c_void_p), ("state", c_void_p), ("seat", c_uint32)]


class Agent(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("game", c_char_p),
        ("help", c_char_p),
        ("plans", c_bool),
        ("memory_size", c_size_t),
        ("start", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, c_uint32, c_uint64)),
        ("act", CFUNCTYPE(c_uint32, c_void_p, POINTER(View))),
        ("build", c_void_p),
        ("tables_size", c_size_t),
        ("fields", c_void_p),
        ("open", c_void_p),
        ("close", c_void_p),
        ("values", c_void_p),
        ("data", c_void_p),
    ]


class ColumnLayout(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_int),
        ("width", c_uint32),
        ("offset", c_uint64),
    ]


class GroupLayout(Structure):
    _fields_ = [
        ("first", c_uint32),
        ("rows", c_uint32),
        ("columns", ColumnLayout * len(COLUMNS)),
    ]


class Slab(Structure):
    _fields_ = [
        ("groups", c_uint32),
        ("seat_count", c_uint32),
        ("seats", c_uint8 * SEATS_MAX),
        ("rows_size", c_uint64),
        ("commands_size", c_uint64),
        ("rows", c_void_p),
        ("commands", c_void_p),
        ("group", GroupLayout * GROUPS_MAX),
    ]


class PoolConfig(Structure):
    _fields_ = [
        ("slots", c_uint32),
        ("groups", c_uint32),
        ("threads", c_uint32),
        ("seed", c_uint64),
        ("autoreset", c_int),
        ("illegal", c_int),
        ("max_steps", c_uint32),
        ("full", c_bool),
        ("hash", c_bool),
        ("events", c_bool),
        ("members", c_uint32),
        ("agent", c_void_p * SEATS_MAX),
        ("owner", c_uint8 * SEATS_MAX),
        ("own_chance", c_bool),
        ("keyed", c_bool),
        ("reveal_seeds", c_bool),
        ("key", c_uint8 * 16),
    ]


class Reset(Structure):
    _fields_ = [("which", c_void_p), ("seeds", c_void_p), ("episodes", c_void_p)]


class Restore(Structure):
    _fields_ = [("keys", c_void_p), ("seat", c_int32), ("foreign", c_bool)]


class ShmAddress(Structure):
    _fields_ = [
        ("path", c_char_p),
        ("token", c_uint8 * 16),
        ("pool", c_uint64),
        ("member", c_uint32),
        ("timeout_ms", c_uint32),
    ]


class ShmNews(Structure):
    _fields_ = [
        ("ready", c_uint32),
        ("illegal", c_uint32),
        ("result", c_uint32),
        ("given", c_uint32),
        ("served", c_uint32),
        ("ignored", c_uint32),
    ]


class NetChoice(Structure):
    _fields_ = [("action", c_uint32), ("logp", c_float), ("value", c_float)]


class HeadInput(Structure):
    _fields_ = [
        ("hidden", c_void_p),
        ("weights", c_void_p),
        ("bias", c_void_p),
        ("masks", c_void_p),
        ("action", c_void_p),
        ("count", c_uint32),
        ("width", c_uint32),
        ("actions", c_uint32),
    ]


class HeadChange(Structure):
    _fields_ = [("chosen", c_void_p), ("entropy", c_void_p)]


class HeadSlopes(Structure):
    _fields_ = [("hidden", c_void_p), ("weights", c_void_p), ("bias", c_void_p)]


class Rival(Structure):
    _fields_ = [
        ("agent", c_void_p),
        ("net", c_void_p),
        ("temperature", c_float),
        ("weight", c_uint32),
    ]


class CollectorConfig(Structure):
    _fields_ = [
        ("slots", c_uint32),
        ("seed", c_uint64),
        ("max_steps", c_uint32),
        ("teacher", c_void_p),
        ("self_weight", c_uint32),
        ("rival_count", c_uint32),
        ("rivals", Rival * RIVALS_MAX),
    ]


class Collected(Structure):
    _fields_ = [
        *(
            (name, c_void_p)
            for name in (
                "rows",
                "masks",
                "action",
                "advice",
                "logp",
                "value",
                "seat",
                "earned",
                "ended",
            )
        ),
        ("stride", c_uint32),
    ]


class Outcomes(Structure):
    _fields_ = [
        ("episodes", c_uint64 * (RIVALS_MAX + 1)),
        ("earned", c_double * (RIVALS_MAX + 1)),
        ("won", c_double * (RIVALS_MAX + 1)),
    ]


_STRUCTS: dict[str, type[Structure]] = {
    "TyStatus": Status,
    "TyField": Field,
    "TyFileBytes": FileBytes,
    "TyBlock": Block,
    "TyShape": Shape,
    "TyHead": Head,
    "TySplit": Split,
    "TyView": View,
    "TyPlanner": Planner,
    "TyAgent": Agent,
    "TyColumnLayout": ColumnLayout,
    "TyGroupLayout": GroupLayout,
    "TySlab": Slab,
    "TyPoolConfig": PoolConfig,
    "TyRestore": Restore,
    "TyNetChoice": NetChoice,
    "TyHeadInput": HeadInput,
    "TyHeadChange": HeadChange,
    "TyHeadSlopes": HeadSlopes,
    "TyRival": Rival,
    "TyCollectorConfig": CollectorConfig,
    "TyCollected": Collected,
    "TyOutcomes": Outcomes,
}

# Result type, then argument types. Arrays travel as addresses: what is checked is checked before.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "ty_size_of": (c_size_t, c_char_p),
    "ty_load": (Status, c_char_p),
    "ty_game_count": (c_uint32,),
    "ty_game_at": (c_void_p, c_uint32),
    "ty_game_find": (c_void_p, c_char_p),
    "ty_game_name": (c_char_p, c_void_p),
    "ty_game_title": (c_char_p, c_void_p),
    "ty_game_rules_version": (c_uint32, c_void_p),
    "ty_game_small": (c_char_p, c_void_p),
    "ty_game_learning": (c_char_p, c_void_p),
    "ty_game_fields": (POINTER(Field), c_void_p, POINTER(c_uint32)),
    "ty_ruleset_open_bytes": (Status, c_char_p, POINTER(FileBytes), c_uint32, POINTER(c_void_p)),
    "ty_ruleset_close": (None, c_void_p),
    "ty_ruleset_game": (c_void_p, c_void_p),
    "ty_shape": (POINTER(Shape), c_void_p),
    "ty_action_name": (None, c_void_p, c_uint32, c_char_p),
    "ty_block_label": (None, c_void_p, POINTER(Block), c_uint32, c_uint32, c_char_p),
    "ty_value_label": (None, c_void_p, POINTER(Block), c_uint32, c_char_p),
    "ty_expand_size": (c_uint32, c_void_p, c_bool),
    "ty_expand_width": (c_uint32, POINTER(Block)),
    "ty_expand": (None, c_void_p, c_bool, c_void_p, c_uint32, c_void_p),
    "ty_split_size": (Split, c_void_p),
    "ty_split": (None, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p),
    "ty_reset": (c_bool, c_void_p, c_void_p, c_uint64, c_void_p),
    "ty_step": (c_bool, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p),
    "ty_resample": (None, c_void_p, c_void_p, c_uint32, c_uint64),
    "ty_legal": (None, c_void_p, c_void_p, c_void_p),
    "ty_legal_seat": (None, c_void_p, c_void_p, c_uint32, c_void_p),
    "ty_observe": (None, c_void_p, c_void_p, c_uint32, c_void_p),
    "ty_observe_full": (None, c_void_p, c_void_p, c_uint32, c_void_p),
    "ty_metrics": (None, c_void_p, c_void_p, c_void_p),
    "ty_hash": (c_uint64, c_void_p, c_void_p),
    "ty_phase_name": (c_char_p, c_void_p, c_void_p),
    "ty_svg": (c_size_t, c_void_p, c_void_p, c_uint32, c_void_p, c_char_p, c_size_t),
    "ty_rules_text": (c_size_t, c_void_p, c_char_p, c_size_t),
    "ty_board_json": (c_size_t, c_void_p, c_char_p, c_size_t),
    "ty_text": (c_size_t, c_void_p, c_void_p, c_uint32, c_char_p, c_size_t),
    "ty_state_json": (c_size_t, c_void_p, c_void_p, c_char_p, c_size_t),
    "ty_episode_seed": (c_uint64, c_uint64, c_uint64),
    "ty_sample": (c_uint32, c_void_p, c_uint32, c_uint64, c_uint64),
    "ty_agent_at": (POINTER(Agent), c_void_p, c_uint32),
    "ty_agent_open_bytes": (
        Status,
        c_void_p,
        c_char_p,
        POINTER(FileBytes),
        c_uint32,
        POINTER(POINTER(Agent)),
    ),
    "ty_agent_close": (None, c_void_p),
    "ty_agent_start": (None, POINTER(Agent), c_void_p, c_void_p, c_uint32, c_uint64),
    "ty_agent_seed": (c_uint64, c_uint64, c_uint32),
    "ty_pool_open": (Status, c_void_p, POINTER(PoolConfig), POINTER(c_void_p)),
    "ty_pool_close": (None, c_void_p),
    "ty_pool_slot_bytes": (c_uint64, c_void_p),
    "ty_pool_slab": (POINTER(Slab), c_void_p, c_uint32),
    "ty_pool_attach": (None, c_void_p, c_uint32, c_void_p, c_void_p),
    "ty_pool_step": (c_uint32, c_void_p, c_uint32, c_uint32, POINTER(c_uint32)),
    "ty_pool_step_slots": (c_uint32, c_void_p, c_uint32, c_void_p, c_uint32, POINTER(c_uint32)),
    "ty_pool_step_random": (None, c_void_p, c_uint32, c_uint32, c_uint64, c_uint32),
    "ty_pool_ready": (c_uint32, c_void_p, c_uint32, c_uint32),
    "ty_pool_reset_to": (None, c_void_p, POINTER(Reset)),
    "ty_pool_state": (c_void_p, c_void_p, c_uint32),
    "ty_pool_events_json": (c_size_t, c_void_p, c_uint32, c_uint32, c_char_p, c_size_t),
    "ty_pool_text": (c_size_t, c_void_p, c_uint32, c_uint32, c_char_p, c_size_t),
    "ty_pool_snapshot_size": (c_uint32, c_void_p),
    "ty_pool_save": (None, c_void_p, c_uint32, c_void_p),
    "ty_pool_restore": (Status, c_void_p, c_void_p, c_void_p, c_uint32, POINTER(Restore)),
    "ty_pool_rollout": (
        None,
        c_void_p,
        c_uint32,
        c_void_p,
        c_uint32,
        c_void_p,
        c_int32,
        c_uint32,
        c_void_p,
        c_void_p,
    ),
    "ty_net_open": (Status, c_void_p, c_void_p, c_size_t, POINTER(c_void_p)),
    "ty_net_close": (None, c_void_p),
    "ty_net_seal": (None, c_void_p, c_size_t),
    "ty_net_think": (None, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p),
    "ty_net_choose_rows": (
        None,
        c_void_p,
        c_void_p,
        c_void_p,
        c_uint32,
        c_float,
        c_void_p,
        c_void_p,
    ),
    "ty_rows_multiply": (
        Status,
        c_void_p,
        c_void_p,
        c_uint32,
        c_void_p,
        c_uint32,
        c_void_p,
    ),
    "ty_rows_slope": (Status, c_void_p, c_void_p, c_uint32, c_void_p, c_uint32, c_void_p),
    "ty_head_judge": (Status, POINTER(HeadInput), c_void_p, c_void_p, c_void_p),
    "ty_head_slope": (
        Status,
        POINTER(HeadInput),
        c_void_p,
        c_void_p,
        POINTER(HeadChange),
        POINTER(HeadSlopes),
    ),
    "ty_collector_open": (Status, c_void_p, POINTER(CollectorConfig), POINTER(c_void_p)),
    "ty_collector_close": (None, c_void_p),
    "ty_collector_run": (None, c_void_p, c_void_p, c_uint32, c_float, POINTER(Collected)),
    "ty_collector_set_rivals": (Status, c_void_p, POINTER(Rival), c_uint32, c_uint32),
    "ty_collector_outcomes": (None, c_void_p, POINTER(Outcomes)),
    "ty_collector_save_size": (c_size_t, c_void_p),
    "ty_collector_save": (None, c_void_p, c_void_p),
    "ty_collector_restore": (Status, c_void_p, c_void_p, c_size_t),
    "ty_mask_unpack": (None, c_void_p, c_uint32, c_uint32, c_void_p),
    "ty_sample_rows": (None, POINTER(Slab), c_uint32, c_uint64),
    "ty_flight_open": (Status, c_void_p, c_uint32, POINTER(c_void_p)),
    "ty_flight_close": (None, c_void_p),
    "ty_flight_send": (c_bool, c_void_p, c_uint32),
    "ty_flight_recv": (
        c_bool,
        c_void_p,
        c_uint32,
        c_uint32,
        POINTER(c_uint32),
        POINTER(c_uint32),
    ),
    "ty_shm_connect": (Status, POINTER(ShmAddress), POINTER(c_void_p)),
    "ty_shm_close": (None, c_void_p),
    "ty_shm_slab": (POINTER(Slab), c_void_p),
    "ty_shm_submit": (c_bool, c_void_p, c_uint32, c_void_p),
    "ty_shm_wait": (c_int, c_void_p, c_uint32, c_int),
    "ty_shm_news": (ShmNews, c_void_p, c_uint32),
}


def package_file(name: str) -> Path:
    """Where a file of the installed package is that is not Python: a library or a program.

    An editable install has them in a folder of their own, apart from the source: both are in the
    package's path. The first place is the answer if there is none.
    """
    places = [Path(folder) / name for folder in sys.modules[__package__].__path__]
    return next((place for place in places if place.exists()), places[0])


def library_path() -> Path:
    """Where the library is: $TRAINYARD_LIBRARY, or inside the installed package."""
    override = os.environ.get("TRAINYARD_LIBRARY")
    return Path(override) if override else package_file("lib/libtrainyard.so")


def program_path(name: str) -> Path:
    """Where a program of ours is: beside $TRAINYARD_LIBRARY, or in the package."""
    places = [library_path().parent / name, package_file(f"bin/{name}")]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise Error(
        f"no {name} in {', '.join(map(str, places))}: install the package with `pip install .`"
    )


def _load() -> ctypes.CDLL:
    path = library_path()
    try:
        lib = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"the C library of trainyard cannot be loaded ({error}); install the package with "
            "`pip install .`, or set TRAINYARD_LIBRARY to a libtrainyard.so of the same version"
        ) from error
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(lib, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}: it is of another version than this package")
        function.restype = result
        function.argtypes = arguments
    for name, struct in _STRUCTS.items():
        size = lib.ty_size_of(name.encode())
        if size != ctypes.sizeof(struct):
            raise ImportError(
                f"{path}: {name} has {size} bytes, expected {ctypes.sizeof(struct)}; "
                "library and package are of different versions"
            )
    return lib


lib = _load()


def check(status: Status) -> None:
    """Raises trainyard.Error if the status is not OK."""
    if status.code != 0:
        raise Error(status.message.decode(), CODES[status.code])


def text(pointer: bytes | None) -> str:
    """A C string as a Python one; NULL is empty."""
    return "" if pointer is None else pointer.decode()


def names(pointer: Any) -> list[str]:
    """A NULL-terminated array of strings."""
    result: list[str] = []
    while pointer and pointer[len(result)] is not None:
        result.append(pointer[len(result)].decode())
    return result


def write_text(function: Any, *arguments: Any) -> str:
    """Calls a function that fills a buffer as snprintf does, with a buffer that is long enough."""
    size = 16384
    while True:
        buffer = ctypes.create_string_buffer(size)
        length = function(*arguments, buffer, size)
        if length < size:
            return buffer.value.decode()
        size = length + 1


__all__ = [
    "AUTORESET",
    "BLOCK_KINDS",
    "COLUMNS",
    "FIELD_KINDS",
    "ILLEGAL",
    "TYPES",
    "check",
    "lib",
    "library_path",
    "names",
    "package_file",
    "program_path",
    "text",
    "write_text",
]
