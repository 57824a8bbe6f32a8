"""Play to learn from: the library's network decides in many episodes at once, and writes down what
a learner needs to know of each decision."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _lib
from .._lib import lib
from ..net import Net
from ..ruleset import Ruleset


@dataclass(frozen=True)
class Rival:
    """Who has the other seats in some of the episodes: a built-in agent by name, or a network."""

    player: str | Net
    weight: int
    temperature: float = 1.0


@dataclass(frozen=True)
class Outcome:
    """How the episodes with one rival, or of the network alone, went."""

    episodes: int
    earned: float  # by a seat of the network
    won: float

    @classmethod
    def of(cls, parts: Sequence[Outcome]) -> Outcome:
        """Of the episodes of all parts."""
        episodes = sum(part.episodes for part in parts)
        earned = sum(part.earned * part.episodes for part in parts)
        won = sum(part.won * part.episodes for part in parts)
        return cls(episodes, earned / max(1, episodes), won / max(1, episodes))


class Decisions:
    """`steps` decisions in each of `slots` episodes; those of one moment side by side."""

    def __init__(self, ruleset: Ruleset, steps: int, slots: int) -> None:
        shape = (steps, slots)
        self.rows = np.zeros((*shape, ruleset.row_size), np.uint8)
        self.mask = np.zeros((*shape, ruleset.action_count), np.bool_)
        self.action = np.zeros(shape, np.int32)
        self.advice = np.zeros(shape, np.int32)
        self.logp = np.zeros(shape, np.float32)
        # One moment more: where the slots stand afterwards.
        self.value = np.zeros((steps + 1, slots), np.float32)
        self.seat = np.zeros((steps + 1, slots), np.int8)
        self.earned = np.zeros((*shape, ruleset.players), np.float32)
        self.ended = np.zeros(shape, np.bool_)
        # A team that shares its rewards is one player.
        self.team = ruleset.cooperative

    def pointers(self, first: int = 0) -> _lib.Collected:
        """Where the library writes, from slot `first` on."""
        columns = (
            self.rows,
            self.mask,
            self.action,
            self.advice,
            self.logp,
            self.value,
            self.seat,
            self.earned,
            self.ended,
        )
        at = (column.ctypes.data + first * column.strides[1] for column in columns)
        return _lib.Collected(*at, self.action.shape[1])

    def advantages(
        self, discount: float, trace: float, scale: float, *, whole: bool = False
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Generalised advantages, each seat on its own line of decisions, and where they are known:
        a seat's last decision only serves to judge those before it. With `whole`, only decisions
        whose episode has ended are known."""
        steps, slots = self.action.shape
        earned = scale * (self.earned[:, :, :1] if self.team else self.earned)
        seats = np.zeros_like(self.seat) if self.team else self.seat
        at = np.arange(slots)
        value, gain, reward = (np.zeros(earned.shape[1:], np.float32) for _ in range(3))
        known = np.zeros(earned.shape[1:], np.bool_)
        if not whole:
            value[at, seats[steps]] = self.value[steps]
            known[at, seats[steps]] = True
        result = np.zeros((steps, slots), np.float32)
        valid = np.zeros((steps, slots), np.bool_)
        for t in reversed(range(steps)):
            ended, seat = self.ended[t], seats[t]
            for array in (value, gain, reward):
                array[ended] = 0
            known[ended] = True
            reward += earned[t]
            valid[t] = known[at, seat]
            error = reward[at, seat] + discount * value[at, seat] - self.value[t]
            result[t] = np.where(valid[t], error + discount * trace * gain[at, seat], 0)
            value[at, seat], gain[at, seat], reward[at, seat] = self.value[t], result[t], 0
            known[at, seat] |= not whole
        return result, valid


class Collector:
    """Episodes that go on from call to call.

    >>> collector = Collector(ruleset, slots=512, seed=0)
    >>> collector.run(net, decisions)
    """

    def __init__(
        self,
        ruleset: Ruleset,
        *,
        slots: int,
        seed: int,
        teacher: str | None = None,
        rivals: Sequence[Rival] = (),
        alone: int = 1,
        max_steps: int = 0,
    ) -> None:
        self.ruleset = ruleset
        config = _lib.CollectorConfig(
            slots=slots, seed=seed, max_steps=max_steps, self_weight=alone, rival_count=len(rivals)
        )
        if teacher is not None:
            config.teacher = self._agent(teacher)
        self._fill(config.rivals, rivals)
        handle = ctypes.c_void_p()
        _lib.check(
            lib.ty_collector_open(ruleset.handle, ctypes.byref(config), ctypes.byref(handle))
        )
        assert handle.value is not None
        self._handle: int = handle.value
        self._close = weakref.finalize(self, lib.ty_collector_close, self._handle)

    def _agent(self, name: str) -> int:
        found: Any = ctypes.cast(self.ruleset.find_agent(name), ctypes.c_void_p).value
        return int(found)

    def _fill(self, array: Any, rivals: Sequence[Rival]) -> None:
        # The library plays with these networks until there are others.
        self._rivals = list(rivals)
        for entry, rival in zip(array, rivals, strict=False):
            if isinstance(rival.player, str):
                entry.agent = self._agent(rival.player)
            else:
                entry.net = rival.player.handle
            entry.weight, entry.temperature = rival.weight, rival.temperature

    def set_rivals(self, rivals: Sequence[Rival], alone: int) -> None:
        """Who has other seats in episodes that begin from now on."""
        before = self._rivals
        array = (_lib.Rival * max(1, len(rivals)))()
        self._fill(array, rivals)
        _lib.check(lib.ty_collector_set_rivals(self._handle, array, len(rivals), alone))
        del before

    def run(
        self, net: Net | None, decisions: Decisions, *, first: int = 0, follow: float = 0.0
    ) -> None:
        """Fills `decisions`, from slot `first` on: others can fill theirs at the same time. With
        probability `follow` the teacher's advice is played; without a network it must be 1."""
        lib.ty_collector_run(
            self._handle,
            None if net is None else net.handle,
            len(decisions.action),
            follow,
            ctypes.byref(decisions.pointers(first)),
        )

    def outcomes(self) -> list[Outcome]:
        """Of the episodes that ended since the last call: of the network alone, then by rival."""
        found = _lib.Outcomes()
        lib.ty_collector_outcomes(self._handle, ctypes.byref(found))
        return [
            Outcome(
                found.episodes[i],
                found.earned[i] / max(1, found.episodes[i]),
                found.won[i] / max(1, found.episodes[i]),
            )
            for i in range(1 + len(self._rivals))
        ]

    def save(self) -> bytes:
        data = ctypes.create_string_buffer(lib.ty_collector_save_size(self._handle))
        lib.ty_collector_save(self._handle, data)
        return data.raw

    def restore(self, data: bytes) -> None:
        _lib.check(lib.ty_collector_restore(self._handle, data, len(data)))
