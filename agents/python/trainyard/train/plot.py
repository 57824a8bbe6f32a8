"""Curves of runs, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arena import _student95
from ..errors import Error
from .run import read


def plotting() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise Error(f"{error}; pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _tables(runs: Sequence[Path], figure: str) -> list[list[dict[str, str]]]:
    """The evaluations of each run, all of which have the figure."""
    tables = [read(run / "curve.csv") for run in runs]
    for run, table in zip(runs, tables, strict=True):
        if figure not in table[0]:
            known = [name for name in table[0] if f"{name}_low" in table[0]]
            raise Error(f"{run}: no {figure} in its curve; there are {', '.join(known)}")
    return tables


def _column(table: list[dict[str, str]], name: str) -> npt.NDArray[Any]:
    return np.array([float(line[name]) for line in table])


def curves(
    runs: Sequence[Path], figure: str
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Decisions, and the figure's mean with its 95 % interval: over the seeds if there are several
    runs (Student's), otherwise over the games of each evaluation. That of a share, whose every
    evaluation lies between 0 and 1, stays there."""
    tables = _tables(runs, figure)
    low, high = f"{figure}_low", f"{figure}_high"
    if len(runs) == 1:
        only = [_column(tables[0], name) for name in ("steps", figure, low, high)]
        return only[0], only[1], only[2], only[3]
    end = min(float(table[-1]["steps"]) for table in tables)
    steps = np.unique(np.concatenate([_column(table, "steps") for table in tables]))
    steps = steps[steps <= end]
    values = np.array(
        [np.interp(steps, _column(table, "steps"), _column(table, figure)) for table in tables]
    )
    mean = values.mean(axis=0)
    half = _student95(len(runs) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(runs))
    share = all(_column(t, low).min() >= 0 and _column(t, high).max() <= 1 for t in tables)
    bounds = (0.0, 1.0) if share else (-np.inf, np.inf)
    return steps, mean, np.clip(mean - half, *bounds), np.clip(mean + half, *bounds)


def plot(
    runs: Sequence[Path], figure: str, path: Path, *, levels: dict[str, float] | None = None
) -> None:
    """Draws a figure of the curves of runs that differ in their seeds, and each of them thinly."""
    pyplot = plotting()
    steps, mean, low, high = curves(runs, figure)
    canvas, axes = pyplot.subplots(figsize=(6, 3.8), dpi=100)
    what = f"{len(runs)} seeds, 95 % interval" if len(runs) > 1 else "95 % interval of the games"
    axes.plot(steps / 1e6, mean, label=f"network ({what})")
    axes.fill_between(steps / 1e6, low, high, alpha=0.25)
    for table in _tables(runs, figure) if len(runs) > 1 else []:
        axes.plot(_column(table, "steps") / 1e6, _column(table, figure), "C0", lw=0.6, alpha=0.6)
    for (name, level), style in zip((levels or {}).items(), ("--", ":", "-."), strict=False):
        axes.axhline(level, linestyle=style, color="gray", label=name)
    axes.set(xlabel="million decisions", ylabel=figure)
    # Above the curves, where none of them strikes it through.
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", frameon=False, ncols=2)
    canvas.tight_layout()
    canvas.savefig(path)
    pyplot.close(canvas)
