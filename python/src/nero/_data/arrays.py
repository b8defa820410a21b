"""Arrays, alone or by name, and lists of arrays of one shape."""

import sys
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from nero._data._read import Read

__all__ = ["accepts", "is_jax", "is_tensor", "prepare", "to_array"]


def accepts(data: Any) -> bool:
    """An array of any library, a mapping of such, or a list."""
    if isinstance(data, Mapping):
        return any(hasattr(v, "__array__") for v in data.values())
    return hasattr(data, "__array__") or isinstance(data, (list, tuple)) and len(data) > 0 and hasattr(data[0], "__array__")


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """The arrays as they are: no type is changed but half-known ones, and nothing is scaled."""
    entry: Dict[str, Any] = {"images": "data.npz"}
    tensors = jax = False
    if isinstance(data, Mapping) and "images" in data and not all(hasattr(v, "__array__") for v in data.values()):
        entry.update({k: v for k, v in data.items() if not hasattr(v, "__array__")})  # a block with arrays in it
        data = {k: v for k, v in data.items() if hasattr(v, "__array__")}
    if isinstance(data, Mapping):
        tensors, jax = any(map(is_tensor, data.values())), any(map(is_jax, data.values()))
        arrays = {str(k): to_array(v) for k, v in data.items()}
    else:
        first = data[0] if isinstance(data, (list, tuple)) else data
        tensors, jax = is_tensor(first), is_jax(first)
        arrays = {"images": to_array(data)}
    if labels is not None:
        arrays["labels"] = to_array(labels)
    for n, a in arrays.items():
        if a.dtype.kind not in "biuf" or a.ndim == 0:
            raise TypeError(f"the array {n} of the data is {a.dtype} of shape {list(a.shape)}; numbers are expected, with an axis of samples first")
    return Read(entry, arrays, torch=tensors, jax=jax)


def to_array(value: Any) -> "np.ndarray[Any, Any]":
    """The array of a value of NumPy, PyTorch, JAX, or of a list of such."""
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "__array__"):
        parts = [to_array(v) for v in value]
        shapes: Sequence[Tuple[int, ...]] = sorted({p.shape for p in parts})
        if len(shapes) > 1:
            raise ValueError(f"samples have different shapes, {list(shapes[0])} and {list(shapes[1])}; bring them to one, or give the folder of files")
        return np.stack(parts)
    if hasattr(value, "detach"):
        given: Any = value
        tensor: Any = given.detach().cpu()
        return np.asarray(tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor)
    return np.asarray(value)


def is_tensor(v: Any) -> bool:
    """Whether it is a tensor of PyTorch."""
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    return torch is not None and isinstance(v, torch.Tensor)


def is_jax(v: Any) -> bool:
    """Whether it is an array of JAX."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(v, jax.Array)
