"""Graphs of PyTorch Geometric: a list of Data, or a data set of such."""

import logging
import sys
from typing import Any, Dict, List, Optional

import numpy as np

from nero._data._read import Read
from nero._data.arrays import to_array, to_labels
from nero._data.items import some
from nero._guards import is_row

__all__ = ["accepts", "prepare"]

log = logging.getLogger("nero")

#: What is read of a graph, and what the study calls it: of atoms, and of other graphs.
ATOMS = {"pos": "positions", "z": "species"}
GRAPHS = {"x": "nodes", "pos": "positions"}
#: What both may have besides.
EDGES, TARGET = {"edge_index": "edges", "edge_attr": "edge_attr"}, "y"


def accepts(data: Any) -> bool:
    """A graph, or a sequence that begins with one."""
    pyg = sys.modules.get("torch_geometric.data")  # whoever has one has imported it
    if pyg is None:
        return False
    return isinstance(data, (pyg.Data, pyg.Dataset)) or is_row(data) and len(data) > 0 and isinstance(data[0], pyg.Data)


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """Rows of all graphs one after another, with how many each has; whole numbers in y are classes, others targets."""
    what = type(data).__name__
    graphs, note = ([data], "") if isinstance(data, sys.modules["torch_geometric.data"].Data) else some(data, what, samples)
    notes = [note] if note else []
    keys: Any = graphs[0].keys  # a method, but an attribute in old versions
    names: Any = keys() if callable(keys) else keys
    have: List[str] = sorted(names)
    atoms = all(k in have for k in ATOMS)
    named = ATOMS if atoms else GRAPHS
    rows = {k: n for k, n in {**named, **EDGES}.items() if k in have}
    if not any(k in have for k in named):
        raise TypeError(f"the graphs of the {what} have {have}, and neither x nor pos: nothing says what their nodes are")
    for i, g in enumerate(graphs):
        missing = [k for k in (*rows, *([TARGET] if TARGET in have else [])) if getattr(g, k, None) is None]
        if missing:
            raise ValueError(f"graph {i} of the {what} has no {missing[0]}, which graph 0 has; all must have the same")
    arrays: "Dict[str, np.ndarray[Any, Any]]" = {}
    for k, n in rows.items():
        parts = [to_array(getattr(g, k)) for g in graphs]
        arrays[n] = np.concatenate([p.T if k == "edge_index" else p for p in parts])
    arrays["node_count"] = np.array([int(g.num_nodes) for g in graphs], np.int64)
    if "edges" in arrays:
        arrays["edge_count"] = np.array([int(g.num_edges) for g in graphs], np.int64)
    if TARGET in have:
        arrays.update(_target([to_array(g.y) for g in graphs], arrays["node_count"]))
    if labels is not None:
        arrays["labels"] = to_labels(labels)
    left = [k for k in have if k not in rows and k != TARGET]
    if left:
        notes.append(f"{', '.join(left)} of the graphs {'is' if len(left) == 1 else 'are'} left out")
    for text in notes:
        log.warning("%s", text)
    entry = {"format": "molecules" if atoms else "graphs", "images": "data.npz"}
    if not atoms and "nodes" not in arrays:
        entry["key"] = "positions"
    return Read(entry, arrays, note="; ".join(notes))


def _target(values: "List[np.ndarray[Any, Any]]", nodes: "np.ndarray[Any, Any]") -> "Dict[str, np.ndarray[Any, Any]]":
    """What is predicted: of graphs one row each, of nodes as many as there are."""
    if all(v.size == 1 for v in values):
        y = np.concatenate([v.reshape(1) for v in values])
        return {"labels" if y.dtype.kind in "iu" else "y": y}
    if all(v.shape[:1] == (n,) for v, n in zip(values, nodes)):
        return {"y": np.concatenate(values)}
    return {"y": np.concatenate([v.reshape(1, -1) for v in values])}
