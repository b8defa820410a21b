"""Modules of e3nn, and modules that say irreps_in and irreps_out as those do: the types of inputs and outputs are read from them."""

import dataclasses
import sys
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from nero._data._read import LABELS
from nero._models import torch
from nero._models._model import Asked, Prepared

__all__ = ["accepts", "prepare"]

#: Turns and mirrors of space.
GROUP = "O(3)"
#: How the data of the program call their main array.
MAIN = "nodes"


def accepts(model: Any) -> bool:
    """A module with types on both sides."""
    return "e3nn" in sys.modules and torch.accepts(model) and _types(model) is not None


def prepare(model: Any, asked: Asked) -> Prepared:
    """The module as one of PyTorch, with a field for each input and for its output."""
    types = _types(model)
    assert types is not None
    reads, gives = types
    name = asked.name or type(model).__name__
    arrays, keys = _fields(name, reads, asked)
    read = dataclasses.replace(asked.data, arrays=arrays)
    made = torch.prepare(model, dataclasses.replace(asked, data=read, keys={**keys, **asked.keys}))
    keys["group"] = {"name": GROUP}
    keys["output"] = {"fields": [{"name": "output", "type": gives}]}
    rows = {n: a[:, None] if a.ndim == 2 and n not in LABELS else a for n, a in arrays.items()}
    taken = f"{name}: {asked.line(GROUP, ' and '.join(reads), gives)}: from the module"
    return dataclasses.replace(made, keys=keys, taken=taken, arrays=rows if "data" in keys else None)


def _types(model: Any) -> Optional[Tuple[List[str], str]]:
    """What the rows of each input and of the output are, in e3nn's words; None if it does not say."""
    import torch as pytorch

    first = last = model
    while isinstance(first, pytorch.nn.Sequential) and len(first):
        first = first[0]
    while isinstance(last, pytorch.nn.Sequential) and len(last):
        last = last[-1]
    reads = [_irreps(first, "irreps_in")] if getattr(first, "irreps_in", None) is not None else [_irreps(first, f"irreps_in{i}") for i in (1, 2)]
    gives = _irreps(last, "irreps_out")
    return None if gives is None or None in reads else ([r for r in reads if r is not None], gives)


def _irreps(module: Any, name: str) -> Optional[str]:
    from e3nn import o3

    try:
        said = getattr(module, name, None)
        irreps = None if said is None else o3.Irreps(said).remove_zero_multiplicities().simplify()
    except (TypeError, ValueError):  # something of that name that is none
        return None
    return str(irreps) if irreps is not None and irreps.dim > 0 else None


def _fields(name: str, reads: List[str], asked: Asked) -> "Tuple[Mapping[str, np.ndarray[Any, Any]], Dict[str, Any]]":
    """The arrays by the names of the study, and what it says of them: as many arrays as there are inputs, in their order."""
    block = asked.keys.get("input")
    if isinstance(block, Mapping) and "fields" in block or not asked.data.arrays:
        return asked.data.arrays, {}
    given = {n: a for n, a in asked.data.arrays.items() if n not in LABELS}
    if len(given) != len(reads):
        raise TypeError(f"{name} reads {len(reads)} inputs, {' and '.join(reads)}, and the data are the arrays {list(given)}; give as many, in the order of the inputs")
    from e3nn import o3

    for (n, a), type_ in zip(given.items(), reads):
        if a.ndim not in (2, 3) or a.shape[-1] != o3.Irreps(type_).dim:
            raise ValueError(
                f"{name} reads rows of {type_}, which are {o3.Irreps(type_).dim} numbers, and the array {n} has shape {list(a.shape)}; "
                "give (samples, numbers) or (samples, nodes, numbers)"
            )
    called = [MAIN, *list(given)[1:]]
    fields = [{"name": c, "type": t} if len(reads) > 1 else {"name": c, "type": t, "port": "x"} for c, t in zip(called, reads)]
    arrays = {**dict(zip(called, given.values())), **{n: a for n, a in asked.data.arrays.items() if n in LABELS}}
    return arrays, {"input": {"fields": fields}, "data": {"format": "graphs"}}
