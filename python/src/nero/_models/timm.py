"""Networks of timm: size, kernel, mean and deviation are read from their pretrained_cfg. No weights are asked for."""

import math
import sys
from typing import Any, Dict, Mapping, Optional

from nero._guards import is_block
from nero._models import _photos, torch
from nero._models._model import Asked, Prepared
from nero._models.functions import short

__all__ = ["accepts", "prepare"]

#: Kernels that a study knows.
KERNELS = ("bilinear", "bicubic", "nearest", "lanczos")


def accepts(model: Any) -> bool:
    """A network that timm made."""
    return "timm" in sys.modules and torch.accepts(model) and {"mean", "std", "input_size"} <= set(_config(model))


def prepare(model: Any, asked: Asked) -> Prepared:
    """The network as a module of PyTorch, behind what its configuration says."""
    config = _config(model)
    _, height, width = config["input_size"]
    name = short(asked.name or config.get("architecture") or type(model).__name__)
    photos = _photos.Photos(config["mean"], config["std"], (height, width), _resize(config, height, width), "its pretrained_cfg")
    return _photos.prepare(model, asked, photos, name)


def _config(model: Any) -> Mapping[str, Any]:
    said = getattr(model, "pretrained_cfg", None)
    return said if is_block(said) else {}


def _resize(config: Mapping[str, Any], height: int, width: int) -> Optional[Dict[str, Any]]:
    """As timm's transforms for evaluation do; None for what a study has no word for."""
    kernel, mode = config.get("interpolation", "bicubic"), config.get("crop_mode", "center")
    if kernel not in KERNELS or height != width:
        return None
    if mode == "squash":
        return {"stretch": [height, width], "kernel": kernel}
    if mode != "center":
        return None
    return {"short": math.floor(height / (config.get("crop_pct") or 0.875)), "crop": [height, width], "kernel": kernel}
