"""What networks of photos say of their input: size, kernel, mean and deviation, as keys of a study."""

import dataclasses
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from nero._models import torch
from nero._models._model import Asked, Prepared

__all__ = ["Photos", "prepare"]

#: Inputs of noise that stand for photos in files, of which nothing is known before the program reads them.
STANDINS = 8


@dataclasses.dataclass(frozen=True)
class Photos:
    """What is done with photos in front of a network."""

    mean: Sequence[float]
    std: Sequence[float]
    #: Height and width of the input; None if any will do.
    size: Optional[Tuple[int, int]]
    #: data.resize of a study; None if nothing is said that a study could say.
    resize: Optional[Mapping[str, Any]]
    #: Who says so.
    source: str


def prepare(module: Any, asked: Asked, photos: Photos, name: str) -> Prepared:
    """The module as one of PyTorch; photos in files get all of it, bytes mean and deviation, and numbers are taken as they are."""
    given = asked.data.arrays
    files = not given
    if files and photos.size is not None:
        noise = np.random.default_rng(0).standard_normal((STANDINS, len(photos.mean), *photos.size)).astype(np.float32)
        asked = dataclasses.replace(asked, data=dataclasses.replace(asked.data, arrays={"input": noise}))
    made = torch.prepare(module, dataclasses.replace(asked, name=name))
    keys: Dict[str, Any] = {}
    if not files and any(a.dtype.kind == "f" for a in asked.data.inputs()):
        return dataclasses.replace(made, taken=f"{name}: the data are floats, so they are taken as they are; {photos.source} has {_scaling(photos)}")
    keys["input"] = {"mean": list(photos.mean), "std": list(photos.std)}
    said = _scaling(photos)
    if files and photos.resize is not None:
        keys["data"] = {"resize": dict(photos.resize)}
        said = f"{_sizing(photos.resize)}, {said}"
    return dataclasses.replace(made, keys=keys, taken=f"{name}: {said}: from {photos.source}")


def _scaling(p: Photos) -> str:
    return f"mean {' '.join(f'{v:g}' for v in p.mean)}, std {' '.join(f'{v:g}' for v in p.std)}"


def _sizing(r: Mapping[str, Any]) -> str:
    if "short" not in r:
        return "{} x {} pixels ({})".format(*r["stretch"], r["kernel"])
    return "shorter side to {}, middle {} x {} ({})".format(r["short"], *r["crop"], r["kernel"])
