"""Kinds of models: each answers `accepts(model)` and `prepare(model, asked)`. A further kind is a file, and a line in `kinds`."""

from types import ModuleType
from typing import Any, List

from nero._models import ase, e3nn, escnn, functions, jax, paths, sklearn, timm, torch, torchvision
from nero._models._model import Asked, Prepared

__all__ = ["Asked", "Prepared", "prepare"]


def kinds() -> List[ModuleType]:
    """What there is, in the order in which it is asked."""
    return [paths, ase, e3nn, escnn, timm, torchvision, torch, sklearn, jax, functions]


def prepare(model: Any, asked: Asked) -> Prepared:
    """A model as the program takes it."""
    for kind in kinds():
        if kind.accepts(model):
            made: Prepared = kind.prepare(model, asked)
            return made
    raise TypeError(
        f"{type(model).__name__} is no model that nero knows; give the path of an ONNX file, the URL of an endpoint, a function of arrays, "
        "a torch module, an estimator of scikit-learn or a calculator of ase"
    )
