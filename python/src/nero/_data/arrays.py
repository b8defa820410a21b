"""Arrays, alone or by name, and lists of arrays of one shape."""

import logging
import sys
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from nero._data._read import Read
from nero._guards import is_block, is_row
from nero.bridge._model import masked, to_numpy

__all__ = ["accepts", "is_jax", "is_tensor", "judge", "prepare", "to_array", "to_labels"]

log = logging.getLogger("nero")


def accepts(data: Any) -> bool:
    """An array of any library, a mapping of such, or a list."""
    if is_block(data):
        return any(hasattr(v, "__array__") for v in data.values())
    return hasattr(data, "__array__") or is_row(data) and len(data) > 0 and hasattr(data[0], "__array__")


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """The arrays as they are: no type is changed but half-known ones, and nothing is scaled."""
    entry: Dict[str, Any] = {"images": "data.npz"}
    tensors = jax = False
    if is_block(data) and "images" in data and not all(hasattr(v, "__array__") for v in data.values()):
        entry.update({k: v for k, v in data.items() if not hasattr(v, "__array__")})  # a block with arrays in it
        data = {k: v for k, v in data.items() if hasattr(v, "__array__")}
    if is_block(data):
        tensors, jax = any(map(is_tensor, data.values())), any(map(is_jax, data.values()))
        arrays = {str(k): to_array(v, f"the array {k} of the data") for k, v in data.items()}
    else:
        first = data[0] if is_row(data) else data
        tensors, jax = is_tensor(first), is_jax(first)
        arrays = {"images": to_array(data)}
    if labels is not None:
        arrays["labels"] = to_labels(labels)
    for n, a in arrays.items():
        judge(n, a)
    note = bright(arrays["images"]) if "images" in arrays else ""
    if note:
        log.warning("%s", note)
    return Read(entry, arrays, note=note, torch=tensors, jax=jax)


def bright(a: "np.ndarray[Any, Any]") -> str:
    """Says of pictures in floats that they have the numbers of bytes, which are not divided; empty for others."""
    if a.dtype.kind != "f" or a.ndim < 3:
        return ""
    with np.errstate(invalid="ignore"):
        darkest, brightest = float(a.min()), float(a.max())
    if not (darkest >= 0 and 128 <= brightest <= 255):
        return ""
    return (
        f"the data are {a.dtype} up to {brightest:g}, and floats are taken as they are; if the model reads 0 to 1, give them as bytes "
        '(astype("uint8"), which are divided by 255) or say input={"scale": 255}'
    )


def judge(name: str, a: "np.ndarray[Any, Any]") -> None:
    """Refuses what is no array of numbers by sample."""
    if a.dtype.kind not in "biuf" or a.ndim == 0:
        raise TypeError(f"the array {name} of the data is {a.dtype} of shape {list(a.shape)}; numbers are expected, with an axis of samples first")
    if a.dtype.kind == "f" and a.dtype.itemsize > 8:
        raise TypeError(f'the array {name} of the data is {a.dtype}, which is not read; give it as float64, with astype("float64")')
    if a.size == 0:
        raise ValueError(f"the array {name} of the data is empty: its shape is {list(a.shape)}; at least one sample is needed, and no axis of length 0")


def to_array(value: Any, what: str = "the data") -> "np.ndarray[Any, Any]":
    """The array of a value of NumPy, PyTorch, JAX, or of a list of such."""
    if is_row(value) and value and hasattr(value[0], "__array__"):
        parts = [to_array(v, what) for v in value]
        shapes: Sequence[Tuple[int, ...]] = sorted({p.shape for p in parts})
        if len(shapes) > 1:
            raise ValueError(f"samples have different shapes, {list(shapes[0])} and {list(shapes[1])}; bring them to one, or give the folder of files")
        return np.stack(parts)
    if n := masked(value):
        raise ValueError(f"{n} values of {what} are masked, and a model reads all of them; fill them in, as with filled(0), or leave those samples out")
    try:
        return to_numpy(value)
    except (TypeError, NotImplementedError, RuntimeError) as e:  # in the words of its library, such as of a sparse tensor
        raise TypeError(f"{what}: {type(value).__name__} cannot be read as an array: {e}") from e


def to_labels(value: Any) -> "np.ndarray[Any, Any]":
    """The classes of the samples."""
    found = to_array(value, "labels")
    if found.dtype.kind not in "biuf":
        raise TypeError(
            f"labels are {found.dtype}; whole numbers are expected, one for each sample: of names np.unique(labels, return_inverse=True) makes them"
        )
    return found


def is_tensor(v: Any) -> bool:
    """Whether it is a tensor of PyTorch."""
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    return torch is not None and isinstance(v, torch.Tensor)


def is_jax(v: Any) -> bool:
    """Whether it is an array of JAX."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(v, jax.Array)
