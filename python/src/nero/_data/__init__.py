"""Kinds of data: each answers `accepts(data)` and `prepare(data, labels, samples)`. A further kind is a file, and a line in `kinds`."""

from types import ModuleType
from typing import Any, List, Optional

from nero._data import arrays, atoms, graphs, hf, items, pandas, paths
from nero._data._read import Read

__all__ = ["Read", "prepare"]


def kinds() -> List[ModuleType]:
    """What there is, in the order in which it is asked."""
    return [hf, pandas, paths, atoms, graphs, arrays, items]


def prepare(data: Any, labels: Any = None, samples: Optional[int] = None) -> Read:
    """Data as the program takes it."""
    for kind in kinds():
        if kind.accepts(data):
            made: Read = kind.prepare(data, labels, samples)
            return made
    raise TypeError(f"{type(data).__name__} is no data that nero knows; give a path, an array, a mapping of arrays by name, a list of arrays, or data of datasets, pandas, ase or torch_geometric")
