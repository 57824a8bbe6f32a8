"""Networks that the library plays by itself: files of weights, written from PyTorch.

    >>> trainyard.net.save(module, ruleset, "mine.net")
    >>> net = trainyard.net.load("mine.net", ruleset)
    >>> pool.step(net.choose(pool.obs, pool.mask).action)

agents/NET.md describes the file. `trainyard sim convoi --agent net:mine.net` plays it without
Python.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _lib
from ._lib import lib
from .errors import Error
from .ruleset import Ruleset

MAGIC = b"TYARDNET"
LAYERS_MAX = 8
SPEC_MAX = 512
_SPEC_AT = 68
_WEIGHTS_AT = _SPEC_AT + SPEC_MAX
#: Each width is a multiple of this.
WIDTH_STEP = 32

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Layers:
    """The weights of a network, as they are multiplied from the right: [inputs, outputs]."""

    hidden: Sequence[tuple[Floats, Floats]]  # each followed by ReLU
    policy: tuple[Floats, Floats]
    value: tuple[Floats, Floats] | None = None


@dataclass(frozen=True)
class Choices:
    """What a network chose in each row."""

    action: npt.NDArray[np.uint32]
    logp: Floats
    value: Floats


class Net:
    """A network that is ready to play: it never changes, and threads can share it."""

    def __init__(self, ruleset: Ruleset, data: bytes | npt.NDArray[np.uint8]) -> None:
        content = np.frombuffer(data, dtype=np.uint8)
        handle = ctypes.c_void_p()
        _lib.check(
            lib.ty_net_open(ruleset.handle, content.ctypes.data, content.size, ctypes.byref(handle))
        )
        assert handle.value is not None
        self.ruleset = ruleset
        self.handle: int = handle.value
        self._close = weakref.finalize(self, lib.ty_net_close, self.handle)

    def _check(self, rows: Any, mask: Any) -> tuple[Any, Any]:
        rules = self.ruleset
        if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != rules.row_size:
            raise Error(f"rows are uint8 [n, {rules.row_size}], not {rows.dtype} {rows.shape}")
        if mask.shape != (len(rows), rules.action_count) or mask.dtype not in (np.bool_, np.uint8):
            raise Error(
                f"masks are bool [{len(rows)}, {rules.action_count}], not {mask.dtype} {mask.shape}"
            )
        return np.ascontiguousarray(rows), np.ascontiguousarray(mask)

    def think(
        self, rows: npt.NDArray[np.uint8], mask: npt.NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Logits [n, actions], minus infinity where the mask forbids, and values [n]."""
        rows, mask = self._check(rows, mask)
        logits = np.empty(mask.shape, np.float32)
        values = np.empty(len(rows), np.float32)
        lib.ty_net_think(
            self.handle,
            rows.ctypes.data,
            mask.ctypes.data,
            len(rows),
            logits.ctypes.data,
            values.ctypes.data,
        )
        return logits, values

    def choose(
        self,
        rows: npt.NDArray[np.uint8],
        mask: npt.NDArray[np.bool_],
        *,
        temperature: float = 0.0,
        rng: np.random.Generator | None = None,
    ) -> Choices:
        """The best actions, or with a temperature drawn ones. Each mask must allow something."""
        rows, mask = self._check(rows, mask)
        if not mask.any(axis=1).all():
            raise Error("a mask allows nothing")
        if temperature > 0 and rng is None:
            raise Error("a temperature needs an rng")
        count = len(rows)
        bits = np.zeros(count, np.uint64)
        if rng is not None:
            bits = rng.integers(0, 1 << 64, count, dtype=np.uint64)
        found = np.empty(count, np.dtype([("action", "u4"), ("logp", "f4"), ("value", "f4")]))
        lib.ty_net_choose_rows(
            self.handle,
            rows.ctypes.data,
            mask.ctypes.data,
            count,
            temperature,
            bits.ctypes.data,
            found.ctypes.data,
        )
        return Choices(found["action"], found["logp"], found["value"])


def load(path: str | Path, ruleset: Ruleset | None = None) -> Net:
    """The network in a file, for the ruleset that it was made for or another one with the same rows
    and actions."""
    data = Path(path).read_bytes()
    try:
        return Net(ruleset or Ruleset(_spec(data)), data)
    except Error as error:
        raise Error(f"{path}: {error}", error.code) from None


def _spec(data: bytes) -> str:
    """The ruleset that a network says it was made for."""
    spec = data[_SPEC_AT : _SPEC_AT + SPEC_MAX].split(b"\0")[0]
    if not data.startswith(MAGIC) or not spec.isascii():
        raise Error("not a network: it does not begin with TYARDNET")
    return spec.decode()


def pack(ruleset: Ruleset, layers: Layers, *, rewards: bool = False) -> npt.NDArray[np.uint8]:
    """The bytes of a network, for `Net` or a file. `rewards` says that its values are what a seat
    still earns in this ruleset, so that search can judge by them."""
    widths = [bias.size for _, bias in layers.hidden]
    if len(widths) > LAYERS_MAX:
        raise Error(f"{len(widths)} hidden layers; allowed are 1..{LAYERS_MAX}")
    head = struct.pack(
        f"<8sIIQIII{LAYERS_MAX}I{SPEC_MAX}s",
        MAGIC,
        1,
        len(widths),
        ruleset.schema_hash,
        ruleset.expanded_size,
        ruleset.action_count,
        0 if layers.value is None else 2 if rewards else 1,
        *widths,
        *[0] * (LAYERS_MAX - len(widths)),
        ruleset.spec.encode()[: SPEC_MAX - 1],
    )
    parts = [array for pair in layers.hidden for array in pair]
    parts += [layers.policy[0].T, layers.policy[1]]
    if layers.value is not None:
        parts += [layers.value[0].T, layers.value[1]]
    numbers = [np.ascontiguousarray(part, dtype="<f4").view(np.uint8).ravel() for part in parts]
    data = np.concatenate([np.frombuffer(head, np.uint8), *numbers, np.zeros(8, np.uint8)])
    lib.ty_net_seal(data.ctypes.data, data.size)
    return data


def unpack(data: bytes) -> Layers:
    """The layers in the bytes of a network, which `Net` has accepted."""
    count, _, inputs, actions, value, *widths = struct.unpack_from(f"<IQIII{LAYERS_MAX}I", data, 12)
    numbers = np.frombuffer(data, "<f4", (len(data) - _WEIGHTS_AT - 8) // 4, _WEIGHTS_AT)

    def take(size: int) -> Floats:
        nonlocal numbers
        taken, numbers = numbers[:size], numbers[size:]
        return taken

    hidden = []
    for width in widths[:count]:
        hidden.append((take(inputs * width).reshape(inputs, width), take(width)))
        inputs = width
    policy = take(actions * inputs).reshape(actions, inputs).T, take(actions)
    return Layers(hidden, policy, (take(inputs)[:, None], take(1)) if value else None)


def layers_of(module: Any) -> Layers:
    """The layers of a PyTorch module that reads expanded rows: its own `layers()` if it has that;
    otherwise its nn.Linear in the order of their definition, the hidden ones first, then the head
    for actions and, with one output, that for values.
    """
    if hasattr(module, "layers"):
        found: Layers = module.layers()
        return found
    linear = [part for part in module.modules() if type(part).__name__ == "Linear"]

    def arrays(part: Any) -> tuple[Floats, Floats]:
        weight = part.weight.detach().cpu().numpy().T
        bias = np.zeros(weight.shape[1], np.float32) if part.bias is None else part.bias.detach()
        return weight, np.asarray(bias, dtype=np.float32)

    value = arrays(linear.pop()) if linear and linear[-1].out_features == 1 else None
    if len(linear) < 2:
        raise Error("a network has at least one hidden layer and a head for actions")
    return Layers([arrays(part) for part in linear[:-1]], arrays(linear[-1]), value)


def net_of(module: Any, ruleset: Ruleset) -> Net:
    """A PyTorch module as a network of the library, without a file."""
    return Net(ruleset, pack(ruleset, layers_of(module)))


def save(module: Any, ruleset: Ruleset, path: str | Path, *, rewards: bool = False) -> None:
    """Writes a PyTorch module that reads expanded rows and gives logits (or logits and values) as a
    file of weights. A module that computes something else than its layers do is refused. `rewards`
    says that its values are what a seat still earns in this ruleset, so that search can judge by
    them.

    >>> trainyard.net.save(module, trainyard.Ruleset("convoi", hints=True), "mine.net")
    """
    data = pack(ruleset, layers_of(module), rewards=rewards)
    _compare(module, Net(ruleset, data))
    Path(path).write_bytes(data.tobytes())


def _compare(module: Any, net: Net) -> None:
    """Raises if the module's logits on some rows are not those of the network."""
    import torch

    rules = net.ruleset
    rng = np.random.default_rng(0)
    rows = np.zeros((16, rules.row_size), np.uint8)
    for block in rules.blocks:
        if block.width == 1:
            shape = (len(rows), block.rows * block.columns)
            rows[:, block.bytes] = rng.integers(0, min(block.maximum, 255) + 1, shape)
    logits, _ = net.think(rows, np.ones((len(rows), rules.action_count), np.bool_))
    with torch.no_grad():
        out = module(torch.from_numpy(rules.expand(rows)))
    theirs = (out[0] if isinstance(out, tuple) else out).cpu().numpy()
    if theirs.shape != logits.shape or not np.allclose(theirs, logits, rtol=1e-3, atol=1e-3):
        raise Error(
            "the module does not compute what its layers say: hidden nn.Linear with ReLU, then the "
            "head for actions"
        )
