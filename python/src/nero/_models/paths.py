"""ONNX files, endpoints, programs and what is built in: texts that the program reads by itself."""

import os
from typing import Any, Dict

from nero._guards import is_path
from nero._models._model import Asked, Prepared

__all__ = ["accepts", "prepare"]


def accepts(model: Any) -> bool:
    """A text or a path."""
    return is_path(model)


def prepare(model: "str | os.PathLike[str]", asked: Asked) -> Prepared:
    """The model, by its place."""
    text = os.fspath(model)
    entry: Dict[str, Any] = {} if asked.name is None else {"name": asked.name}
    if "://" in text:
        return Prepared({**entry, "endpoint": text})
    if not text.startswith(("exec:", "builtin:")):
        text = os.path.abspath(text)
    return Prepared({**entry, "onnx": text})
