"""Calculators of ase, and the potentials that come as such (MACE, NequIP, SevenNet): positions, species and cell in, energy,
forces and the stress of crystals out."""

import sys
from typing import Any, Dict, List, Mapping, Optional

import numpy as np

from nero._guards import is_block
from nero._models._model import Asked, Prepared
from nero._models.functions import entry, short
from nero.bridge._model import Model, Ports

__all__ = ["accepts", "prepare"]

INPUTS: Ports = {"positions": ("FP64", [-1, -1, 3]), "species": ("INT64", [-1, -1]), "cell": ("FP64", [-1, 3, 3])}
OUTPUTS: Ports = {"energy": ("FP64", [-1, 1]), "forces": ("FP64", [-1, -1, 3]), "stress": ("FP64", [-1, 9])}
#: How each of them moves.
MOVES: Mapping[str, Mapping[str, str]] = {
    "positions": {"type": "positions"},
    "species": {"type": "unchanged"},
    "cell": {"type": "vectors", "per": "sample"},
    "energy": {"type": "unchanged", "per": "sample", "unit": "eV"},
    "forces": {"type": "vectors", "per": "node", "unit": "eV/Å"},
    "stress": {"type": "tensors", "per": "sample", "unit": "eV/Å³"},
}
#: Where the rows of a symmetric matrix are among xx, yy, zz, yz, xz, xy.
VOIGT = [0, 5, 4, 5, 1, 3, 4, 3, 2]
#: Motions and mirrors of space, and the numbering of the atoms.
GROUP = "E(3) x S"


def accepts(model: Any) -> bool:
    """A calculator."""
    calculator = sys.modules.get("ase.calculators.calculator")  # whoever has one has imported it
    return calculator is not None and isinstance(model, getattr(calculator, "BaseCalculator", calculator.Calculator))


def prepare(model: Any, asked: Asked) -> Prepared:
    """The calculator as a function, of one sample after the other."""
    name = short(asked.name or type(model).__name__)
    inputs = {n: INPUTS[n] for n in _reads(name, asked)}
    first = asked.data.first
    pbc = np.asarray(first.pbc) if hasattr(first, "pbc") else np.full(3, "cell" in inputs)
    outputs = {n: p for n, p in OUTPUTS.items() if n in model.implemented_properties and (n != "stress" or pbc.all())}
    if not outputs:
        raise TypeError(f"{name}: the calculator computes {list(model.implemented_properties)}, and neither energy nor forces")

    def fn(*arrays: "np.ndarray[Any, Any]") -> "Dict[str, np.ndarray[Any, Any]]":
        given = dict(zip(inputs, arrays))
        cells = given.get("cell", [None] * len(arrays[0]))
        found = [_compute(model, list(outputs), pbc, *sample) for sample in zip(given["positions"], given["species"], cells)]
        return {n: np.stack([f[n] for f in found]) for n in outputs}

    keys = {
        "task": "molecules",
        "data": {"format": "molecules"},
        "group": {"name": GROUP},
        "input": {"fields": [{"name": n, **MOVES[n]} for n in inputs]},
        "output": {"fields": [{"name": n, **MOVES[n]} for n in outputs]},
    }
    taken = f"{name}: {asked.line(GROUP, _list(list(inputs)), _list(list(outputs)))}: from the calculator"
    return Prepared(entry(name), Model(name, fn, inputs, outputs, platform="python_ase"), keys, taken=taken)


def _reads(name: str, asked: Asked) -> List[str]:
    """What the calculator is told: the cell only where the data have one."""
    block = asked.keys.get("input")
    fields = block.get("fields") if is_block(block) else None
    if fields is not None:
        said = [f.get("name") if is_block(f) else f for f in ([fields] if isinstance(fields, str) or is_block(fields) else fields)]
        if not {"positions", "species"} <= set(said) <= set(INPUTS):
            raise TypeError(f"{name}: input.fields are {said}; a calculator reads positions, species and, where the data repeat, cell")
        return [n for n in INPUTS if n in said]
    return ["positions", "species"] + ["cell"] * ("cell" in asked.data.arrays)


def _compute(
    model: Any, outputs: List[str], pbc: Any, positions: "np.ndarray[Any, Any]", species: "np.ndarray[Any, Any]", cell: Optional[Any]
) -> "Dict[str, np.ndarray[Any, Any]]":
    """What the calculator says of one sample. Atoms of number 0 are none: rows that were filled up, or a sample that is nothing but zeros."""
    import ase

    there = species != 0
    found = {"energy": np.zeros(1), "forces": np.zeros(positions.shape), "stress": np.zeros(9)}
    if there.any():
        model.reset()  # else it answers for atoms that are off by the last digit what it answered before, or by the neighbours of then
        atoms = ase.Atoms(numbers=species[there], positions=positions[there], cell=cell, pbc=pbc)
        for n in outputs:
            value = model.get_property(n, atoms)
            if n == "forces":
                found[n][there] = value
            elif n == "stress":
                found[n][:] = np.asarray(value)[VOIGT] if np.shape(value) == (6,) else np.reshape(value, 9)
            else:
                found[n][:] = value
    return found


def _list(names: List[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
