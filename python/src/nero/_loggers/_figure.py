"""Curves as figures, where Matplotlib is installed."""

import importlib.util
import math
from typing import Any, Iterator, Sequence, Tuple

from nero._loggers._entry import Curve, Entry

__all__ = ["figure", "figures"]


def figures(entry: Entry, *needed: str) -> Iterator[Tuple[str, Any]]:
    """The curves of an entry by name, as figures; none without Matplotlib, or without what else is needed."""
    if all(importlib.util.find_spec(n) is not None for n in ("matplotlib", *needed)):
        for name, curve in entry.curves.items():
            yield name, figure(curve)


def figure(curve: Curve) -> Any:
    """A figure that no window and no list of open figures knows of."""
    from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]

    made = Figure(figsize=(6.4, 4.0), layout="tight")
    axes = made.subplots()
    for s in curve.series:
        axes.plot(_numbers(s.x), _numbers(s.y), "o" if s.marks else "-", label=s.name)
    if curve.limit is not None:
        axes.axhline(curve.limit, color="#b3261e", linestyle="--", label="limit")
    if curve.log and any(y is not None and y > 0 for s in curve.series for y in s.y):
        axes.set_yscale("log")
    axes.set(title=curve.title, xlabel=curve.x, ylabel=curve.y)
    axes.legend()
    return made


def _numbers(values: "Sequence[float | None]") -> "list[float]":
    return [math.nan if v is None else float(v) for v in values]
