"""Networks of torchvision with the weights that say what is done with photos, as a pair: (resnet18(), ResNet18_Weights.DEFAULT)."""

import sys
from typing import Any, Dict, Optional

from nero._guards import is_tuple
from nero._models import _photos, torch
from nero._models._model import Asked, Prepared
from nero._models.functions import short

__all__ = ["accepts", "prepare"]


def accepts(model: Any) -> bool:
    """A module and weights, or what weights.transforms() gives."""
    return "torchvision" in sys.modules and is_tuple(model) and len(model) == 2 and torch.accepts(model[0]) and _preset(model[1]) is not None


def prepare(model: Any, asked: Asked) -> Prepared:
    """The network as a module of PyTorch, behind the transforms of its weights. The weights are not loaded."""
    module, said = model
    preset = _preset(said)
    crop = _sides(getattr(preset, "crop_size", None))
    source = f"the weights {type(said).__name__}.{said.name}" if hasattr(said, "transforms") else type(preset).__name__
    name = short(asked.name or type(module).__name__)
    return _photos.prepare(module, asked, _photos.Photos(preset.mean, preset.std, crop, _resize(preset, crop), source), name)


def _preset(said: Any) -> Any:
    """What is done with photos; None if it is something else."""
    preset = said.transforms() if callable(getattr(said, "transforms", None)) else said
    return preset if hasattr(preset, "mean") and hasattr(preset, "std") and hasattr(preset, "interpolation") else None


def _resize(preset: Any, crop: Any) -> Optional[Dict[str, Any]]:
    side = getattr(preset, "resize_size", None)
    if crop is None or side is None or len(side) != 1:
        return None
    return {"short": side[0], "crop": list(crop), "kernel": str(preset.interpolation.value)}


def _sides(crop: Any) -> Any:
    return None if crop is None else (crop[0], crop[-1])
