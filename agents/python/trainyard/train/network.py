"""The network that learns: rows as bytes in, logits and values out.

Its first layer reads rows as they are: the library adds up the table's entries of what is not 0,
and on the way back spreads the slopes over them. Its head for actions computes the legal ones only.
PyTorch's own layers on expanded rows give the same, at several times the cost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from .. import _lib
from .._lib import lib
from ..errors import Error
from ..net import Layers
from ..ruleset import Ruleset


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, table: torch.Tensor, ruleset: Ruleset) -> Any:
        out = torch.empty(len(rows), table.shape[1])
        _lib.check(
            lib.ty_rows_multiply(
                ruleset.handle,
                rows.data_ptr(),
                len(rows),
                table.data_ptr(),
                table.shape[1],
                out.data_ptr(),
            )
        )
        ctx.rows, ctx.ruleset, ctx.shape = rows, ruleset, table.shape
        return out

    @staticmethod
    def backward(ctx: Any, *change: torch.Tensor) -> Any:
        slope = torch.empty(ctx.shape)
        given = change[0].contiguous()
        _lib.check(
            lib.ty_rows_slope(
                ctx.ruleset.handle,
                ctx.rows.data_ptr(),
                len(ctx.rows),
                given.data_ptr(),
                ctx.shape[1],
                slope.data_ptr(),
            )
        )
        return None, slope, None


class _Judge(torch.autograd.Function):
    """The head for actions, of which only the legal ones are computed."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        weights: torch.Tensor,
        bias: torch.Tensor,
        mask: torch.Tensor,
        action: torch.Tensor,
    ) -> Any:
        count, actions = mask.shape
        hidden = hidden.contiguous()
        ctx.head = _lib.HeadInput(
            hidden.data_ptr(),
            weights.data_ptr(),
            bias.data_ptr(),
            mask.data_ptr(),
            action.data_ptr(),
            count,
            hidden.shape[1],
            actions,
        )
        logp = torch.empty(count, actions)
        chosen, entropy = torch.empty(count), torch.empty(count)
        _lib.check(
            lib.ty_head_judge(
                ctypes.byref(ctx.head), logp.data_ptr(), chosen.data_ptr(), entropy.data_ptr()
            )
        )
        ctx.kept = (hidden, weights, bias, mask, action, logp, entropy)
        return chosen, entropy.clone()

    @staticmethod
    def backward(ctx: Any, *change: torch.Tensor) -> Any:
        hidden, weights, bias, _, _, logp, entropy = ctx.kept
        given = [part.contiguous() for part in change]
        slopes = [torch.empty_like(part) for part in (hidden, weights, bias)]
        _lib.check(
            lib.ty_head_slope(
                ctypes.byref(ctx.head),
                logp.data_ptr(),
                entropy.data_ptr(),
                ctypes.byref(_lib.HeadChange(*(part.data_ptr() for part in given))),
                ctypes.byref(_lib.HeadSlopes(*(part.data_ptr() for part in slopes))),
            )
        )
        return (*slopes, None, None)


class Network(nn.Module):
    """Hidden layers with ReLU, a head for actions and one for values, on the CPU.

    >>> logits, values = Network(ruleset, [128, 128])(torch.from_numpy(pool.obs))
    """

    def __init__(self, ruleset: Ruleset, hidden: Sequence[int]) -> None:
        super().__init__()
        self.ruleset = ruleset
        self.table = nn.Parameter(torch.empty(ruleset.expanded_size, hidden[0]))
        self.bias = nn.Parameter(torch.zeros(hidden[0]))
        nn.init.orthogonal_(self.table, 2**0.5)
        self.hidden = nn.ModuleList(
            nn.Linear(inputs, outputs) for inputs, outputs in pairwise(hidden)
        )
        self.policy = nn.Linear(hidden[-1], ruleset.action_count)
        self.value = nn.Linear(hidden[-1], 1)
        for layer in (*self.hidden, self.policy, self.value):
            nn.init.orthogonal_(layer.weight, 0.01 if layer is self.policy else 2**0.5)
            nn.init.zeros_(layer.bias)

    def last(self, rows: torch.Tensor) -> torch.Tensor:
        """The last hidden layer. `rows` are contiguous bytes, or floats that are expanded."""
        if rows.dtype == torch.uint8:
            x = _Multiply.apply(rows, self.table, self.ruleset)
        else:
            x = rows @ self.table
        x = torch.relu(x + self.bias)
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return x

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of all actions, and values."""
        x = self.last(rows)
        return self.policy(x), self.value(x)[:, 0]

    def judge(
        self, rows: torch.Tensor, mask: torch.Tensor, action: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """For each row the logarithm of its action's probability among the legal ones, the entropy
        of these, and the value. `mask` is bool, `action` int32, all contiguous."""
        x = self.last(rows)
        chosen, entropy = _Judge.apply(x, self.policy.weight, self.policy.bias, mask, action)
        return chosen, entropy, self.value(x)[:, 0]

    def take(self, layers: Layers) -> None:
        """Takes the weights of a network of the library; without a head for values, ours stays."""
        theirs = [bias.size for _, bias in layers.hidden]
        own = self.layers()  # views of the parameters
        widths = [bias.size for _, bias in own.hidden]
        if theirs != widths:
            raise Error(f"its hidden layers are {theirs}, not {widths}")
        pairs = [*zip(own.hidden, layers.hidden, strict=True), (own.policy, layers.policy)]
        if own.value is not None and layers.value is not None:
            pairs.append((own.value, layers.value))
        for mine, given in pairs:
            for array, other in zip(mine, given, strict=True):
                array[...] = other

    def layers(self) -> Layers:
        """The weights, for the library."""

        def arrays(layer: nn.Linear) -> tuple[Any, Any]:
            return layer.weight.detach().numpy().T, layer.bias.detach().numpy()

        first = (self.table.detach().numpy(), self.bias.detach().numpy())
        hidden = [first, *(arrays(layer) for layer in self.hidden)]
        return Layers(hidden, arrays(self.policy), arrays(self.value))
