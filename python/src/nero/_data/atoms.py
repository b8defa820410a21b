"""Molecules and crystals of ase: Atoms, alone, in a list, or in a trajectory."""

import logging
import sys
from typing import Any, Dict, List, Optional

import numpy as np

from nero._data._read import Read
from nero._data.arrays import to_labels
from nero._data.items import some
from nero._guards import is_row

__all__ = ["accepts", "prepare"]

log = logging.getLogger("nero")


def accepts(data: Any) -> bool:
    """Atoms, or a sequence that begins with some."""
    ase = sys.modules.get("ase")  # whoever has Atoms has imported it
    if ase is None:
        return False
    trajectory = type(data).__module__.startswith("ase.")
    return isinstance(data, ase.Atoms) or (is_row(data) or trajectory) and len(data) > 0 and isinstance(data[0], ase.Atoms)


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """Positions and atomic numbers, the cell where it repeats, and energies and forces that were stored with them as targets."""
    what = type(data).__name__
    frames, note = ([data], "") if hasattr(data, "get_positions") else some(data, what, samples)
    for i, a in enumerate(frames):
        if len(a) == 0:
            raise ValueError(f"sample {i} of the {what} has no atoms; leave it out")
        if not np.array_equal(a.pbc, frames[0].pbc):
            raise ValueError(
                f"sample {i} of the {what} repeats along {a.pbc.tolist()}, and sample 0 along {frames[0].pbc.tolist()}; give those that repeat alike together"
            )
    arrays: "Dict[str, np.ndarray[Any, Any]]" = {
        "positions": np.concatenate([a.get_positions() for a in frames]),
        "species": np.concatenate([a.get_atomic_numbers() for a in frames]).astype(np.int64),
        "node_count": np.array([len(a) for a in frames], np.int64),
    }
    arrays.update(_stored(frames))
    if len({len(a) for a in frames}) == 1:  # of one atom each, rows of atoms and rows of samples would look alike
        del arrays["node_count"]
        arrays = {n: a if n == "energy" else a.reshape(len(frames), -1, *a.shape[1:]) for n, a in arrays.items()}
    if frames[0].pbc.any():
        arrays["cell"] = np.stack([np.asarray(a.get_cell()) for a in frames])
    if labels is not None:
        arrays["labels"] = to_labels(labels)
    if note:
        log.warning("%s", note)
    return Read({"format": "molecules", "images": "data.npz"}, arrays, note=note, first=frames[0])


def _stored(frames: List[Any]) -> "Dict[str, np.ndarray[Any, Any]]":
    """Energies and forces that all frames carry as numbers: a calculator that would compute them now is another model."""
    from ase.calculators.singlepoint import SinglePointCalculator

    results: List[Dict[str, Any]] = [a.calc.results if isinstance(a.calc, SinglePointCalculator) else {} for a in frames]
    found: "Dict[str, np.ndarray[Any, Any]]" = {}
    if all(r.get("energy") is not None for r in results):
        found["energy"] = np.array([r["energy"] for r in results], np.float64)
    if all(r.get("forces") is not None for r in results):
        found["forces"] = np.concatenate([np.asarray(r["forces"], np.float64) for r in results])
    return found
