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


def curves(
    runs: Sequence[Path], figure: str
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Decisions, and the figure's mean with its 95 % interval: over the seeds if there are several
    runs (Student's), otherwise over the games of each evaluation."""
    tables = [read(run / "curve.csv") for run in runs]
    for run, table in zip(runs, tables, strict=True):
        if figure not in table[0]:
            known = [name for name in table[0] if f"{name}_low" in table[0]]
            raise Error(f"{run}: no {figure} in its curve; there are {', '.join(known)}")
    if len(runs) == 1:
        columns = [
            np.array([float(line[name]) for line in tables[0]])
            for name in ("steps", figure, f"{figure}_low", f"{figure}_high")
        ]
        return columns[0], columns[1], columns[2], columns[3]
    end = min(float(table[-1]["steps"]) for table in tables)
    steps = np.unique([float(line["steps"]) for table in tables for line in table])
    steps = steps[steps <= end]
    values = np.array(
        [
            np.interp(steps, [float(x["steps"]) for x in table], [float(x[figure]) for x in table])
            for table in tables
        ]
    )
    mean = values.mean(axis=0)
    half = _student95(len(runs) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return steps, mean, mean - half, mean + half


def plot(
    runs: Sequence[Path], figure: str, path: Path, *, levels: dict[str, float] | None = None
) -> None:
    """Draws a figure of the curves of runs that differ in their seeds."""
    pyplot = plotting()
    steps, mean, low, high = curves(runs, figure)
    canvas, axes = pyplot.subplots(figsize=(6, 3.8), dpi=100)
    what = f"{len(runs)} seeds, 95 % interval" if len(runs) > 1 else "95 % interval of the games"
    axes.plot(steps / 1e6, mean, label=f"network ({what})")
    axes.fill_between(steps / 1e6, low, high, alpha=0.25)
    for (name, level), style in zip((levels or {}).items(), ("--", ":", "-."), strict=False):
        axes.axhline(level, linestyle=style, color="gray", label=name)
    axes.set(xlabel="million decisions", ylabel=figure)
    axes.legend(loc="best", fontsize="small")
    canvas.tight_layout()
    canvas.savefig(path)
    pyplot.close(canvas)
