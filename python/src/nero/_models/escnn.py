"""Modules of escnn: group and types are read from them, and what they are in plain PyTorch is exported."""

import dataclasses
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from nero._errors import ExportError
from nero._models import torch
from nero._models._model import Asked, Prepared
from nero._models.functions import short

__all__ = ["accepts", "prepare"]


def accepts(model: Any) -> bool:
    """A module of theirs, which maps fields to fields."""
    nn = sys.modules.get("escnn.nn")  # whoever has such a module has imported it
    return nn is not None and isinstance(model, nn.EquivariantModule)


def prepare(model: Any, asked: Asked) -> Prepared:
    """The module as one of PyTorch, with the group of its space and the types of its fields."""
    name = asked.name or type(model).__name__
    group = _group(model.in_type.gspace)
    reads, gives = _kind(model.in_type), _kind(model.out_type)
    if group is None and not asked.grouped:
        raise TypeError(
            f"{name}: its group, {model.in_type.gspace.name}, is none of C<n>, D<n> with the mirror that exchanges left and right, SO(2) and O(2); say which with group=..."
        )
    if reads != "trivial":
        raise TypeError(f"{name}: it reads {_words(model.in_type)}, and pictures are trivial fields; give the whole network, from the picture on")
    moves: Any = gives
    if gives not in ("trivial", "regular"):
        # Of others the matrices go along, at the elements of its own group.
        if group is not None and not model.in_type.gspace.fibergroup.continuous and asked.keys.get("group", group) in (group, {"name": group}):
            moves = {"matrices": _write(asked.folder() / f"{short(name)}.types.npz", model.out_type)}
        elif "output" not in asked.keys:
            raise TypeError(
                f"{name}: it gives {_words(model.out_type)}; trivial fields alone or regular fields alone can be moved by a group that is not finite, or not its own. End it in "
                "one of them (escnn.nn.GroupPooling makes trivial fields of regular ones), or say with output={...} what comes out"
            )
    with torch.quiet(model):
        plain, why = _plain(model)
    if why is not None and asked.export is True:
        raise ExportError(f"{name}: escnn cannot export it: {why}")
    asked = dataclasses.replace(asked, name=name, export=asked.export if why is None else False)
    made = torch.prepare(plain, asked)
    keys: Dict[str, Any] = {"output": {"space": "tensor", "action": "same", "type": moves}}
    if group is not None:
        keys["group"] = {"name": group}
    taken = f"{name}: {asked.line(group or '', _words(model.in_type), _words(model.out_type))}: from the module"
    return dataclasses.replace(made, keys=keys, taken=taken)


def _group(space: Any) -> Optional[str]:
    """What nero calls the group; None if it is another, or acts otherwise."""
    group = space.fibergroup
    if space.dimensionality != 2:
        return None
    if group.continuous:
        return str(group.name) if group.name in ("SO(2)", "O(2)") else None
    have = [np.asarray(space.basespace_action(g)) for g in group.elements]
    n = len(have)
    turns = [[_turn(k, m) for k in range(m)] for m in (n, n // 2)]
    for name, want in ((f"C{n}", turns[0]), (f"D{n // 2}", turns[1] + [t @ np.diag([-1.0, 1.0]) for t in turns[1]])):
        if n > 1 and len(want) == n and np.allclose(want, have, atol=1e-6):
            return name
    return None


def _write(file: Path, type_: Any) -> str:
    """Writes the matrices of the fields at all elements, with the coordinates that nero has for those: an angle, and a mirror where there are any."""
    group, space = type_.fibergroup, type_.gspace
    rows: List[List[float]] = []
    matrices: "List[np.ndarray[Any, Any]]" = []
    for g in group.elements:
        a = np.asarray(space.basespace_action(g))
        turned = a if np.linalg.det(a) > 0 else a @ np.diag([-1.0, 1.0])
        angle = round(np.degrees(np.arctan2(turned[1, 0], turned[0, 0])) * len(group.elements) / 360) * 360 / len(group.elements) % 360
        rows.append([angle, float(a is not turned)])
        matrices.append(np.asarray(type_.representation(g), np.float64))
    mirrors = any(m for _, m in rows)
    np.savez(file, elements=np.asarray(rows if mirrors else [r[:1] for r in rows]), matrices=np.stack(matrices))
    return file.name


def _turn(k: int, n: int) -> "np.ndarray[Any, Any]":
    """The turn by k of n equal parts of a full turn."""
    a = 2 * np.pi * k / n
    return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])


def _kind(type_: Any) -> str:
    """What all fields are; "mixed" where they differ."""
    kinds = {"trivial" if r.is_trivial() else r.name for r in type_.representations}
    return str(kinds.pop()) if len(kinds) == 1 else "mixed"


def _words(type_: Any) -> str:
    """The fields, counted: "1 trivial field", "2 trivial and 3 regular fields"."""
    count: Dict[str, int] = {}
    for r in type_.representations:
        kind = "trivial" if r.is_trivial() else str(r.name)
        count[kind] = count.get(kind, 0) + 1
    return " and ".join(f"{n} {k}" for k, n in count.items()) + (" field" if len(type_) == 1 else " fields")


def _plain(model: Any) -> Tuple[Any, Optional[str]]:
    """The module in plain PyTorch; where it has none, one that wraps it, and why."""
    import torch as pytorch

    try:
        return model.export(), None
    except Exception as e:  # whatever one of its parts finds wrong, such as NotImplementedError
        why = f"{type(e).__name__}: {str(e).strip()}".split("\n")[0].rstrip(": ")

    class Wrapped(pytorch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()  # pyright: ignore[reportUnknownMemberType]
            self.model = model

        def forward(self, x: Any) -> Any:
            return self.model(self.model.in_type(x)).tensor

    return Wrapped(), why
