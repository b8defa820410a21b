"""Functions of arrays, which run in the thread that asks. Their inputs and outputs are learned from one call, or declared."""

import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Tuple

import numpy as np

from nero._data._read import LABELS
from nero._guards import is_block, is_row
from nero._models._model import Asked, Prepared
from nero.bridge._model import DATATYPES, Model, Ports, returned

__all__ = ["Function", "accepts", "called", "entry", "learn", "on_tensors", "prepare", "sample", "short"]

NAMES = {d: n for n, d in DATATYPES.items()}
#: How many samples a function is tried on.
TRIED = 2


@dataclass(frozen=True)
class Function:
    """A function of arrays with its inputs and outputs, for one whose call is dear, or which several arrays go into.

    >>> nero.Function(net, inputs={"x": ("FP32", [-1, 1, 28, 28])}, outputs={"y": ("FP32", [-1, 10])})  # doctest: +SKIP

    -1 in a shape stands for any length; the first axis is that of samples. Types are BOOL, (U)INT8 to (U)INT64, FP16, FP32, FP64.
    """

    fn: Callable[..., Any]
    inputs: Ports
    outputs: Ports
    name: str = ""


def accepts(model: Any) -> bool:
    """Whatever can be called."""
    return isinstance(model, Function) or callable(model)


def prepare(model: Any, asked: Asked) -> Prepared:
    """The function as one that this process serves."""
    if isinstance(model, type):
        raise TypeError(f"the model is the class {model.__name__}; give an object of it, such as {model.__name__}()")
    if isinstance(model, Function):
        name = short(asked.name or model.name or getattr(model.fn, "__name__", ""))
        return Prepared(entry(name), Model(name, model.fn, model.inputs, model.outputs, platform="python"))
    if asked.data.jax:
        from nero._models.jax import on_arrays  # which needs this file

        return called(model, on_arrays(model), asked)
    return called(model, on_tensors(model) if asked.data.torch else model, asked)


def called(model: Any, fn: Callable[..., Any], asked: Asked, platform: str = "python") -> Prepared:
    """A model that is called as a function of arrays."""
    name = short(asked.name or getattr(model, "__name__", type(model).__name__))
    inputs, arrays = sample(name, asked)
    outputs = learn(name, fn, arrays)
    return Prepared(entry(name), Model(name, fn, inputs, outputs, platform=platform))


def entry(name: str) -> Dict[str, Any]:
    """The entry of a study for a function of this process."""
    return {"name": name, "endpoint": "live://" + name}


def short(name: Any) -> str:
    """A name that may stand in a URL and in the name of a file."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", str(name)).strip("-.") or "function"


def sample(name: str, asked: Asked, most: int = TRIED) -> "Tuple[Ports, List[np.ndarray[Any, Any]]]":
    """What the program will ask of a model that reads the data: the inputs that it has, and some of them."""
    given = asked.data.arrays
    if not given:
        raise TypeError(
            f"{name}: the data are files, so the shapes that the function reads cannot be seen; declare them with nero.Function(fn, inputs=..., outputs=...)"
        )
    block = asked.keys.get("input")
    fields = block.get("fields") if is_block(block) else None
    ports: Dict[str, Tuple[str, List[int]]] = {}
    arrays: "List[np.ndarray[Any, Any]]" = []
    if fields:
        for said in [fields] if isinstance(fields, str) or is_block(fields) else fields:
            f: Mapping[str, Any] = {"name": said} if isinstance(said, str) else said
            if f.get("name") not in given:
                raise KeyError(f"{name}: input.fields names {f.get('name')!r}, and the data are {list(given)}")
            a = given[f["name"]][:most]
            a = a.astype(np.float32 if a.dtype.kind == "f" else np.int64)
            ports[f.get("port") or f["name"]] = (NAMES[a.dtype], [-1, *a.shape[1:]])
            arrays.append(a)
        return ports, arrays
    key = asked.data.entry.get("key")
    rest = {n: a for n, a in given.items() if n not in LABELS} if key is None else {key: given[key]}
    if len(rest) != 1:
        raise TypeError(
            f"{name}: the data are the arrays {list(rest)}; say with input={{\"fields\": [...]}} which of them the function reads, or declare it with "
            "nero.Function(fn, inputs=..., outputs=...)"
        )
    (a,) = (v[:most] for v in rest.values())
    whole = a.dtype.kind in "ui"
    a = a.astype(np.float32)
    if whole:
        a /= np.float32(255 if next(iter(rest.values())).dtype.itemsize == 1 else 65535)
    if a.ndim == 3:
        a = a[:, None]  # a picture of one channel
    ports["input"] = ("FP32", [-1, *a.shape[1:]])
    return ports, [a]


def learn(name: str, fn: Callable[..., Any], arrays: "List[np.ndarray[Any, Any]]") -> Ports:
    """The outputs of a function, by calling it once."""
    answer = fn(*[a.copy() for a in arrays])
    parts: Dict[str, Any]
    if is_block(answer):
        parts = {str(k): v for k, v in answer.items()}
    elif is_row(answer):
        if not all(hasattr(v, "__array__") and np.ndim(v) > 0 for v in answer):
            raise TypeError(f"{name} returned a {type(answer).__name__} of {len(answer)} numbers or other things; an array is expected, with the samples first")
        parts = {f"output{i}": v for i, v in enumerate(answer)} if len(answer) != 1 else {"output": answer[0]}
    else:
        parts = {"output": answer}
    n = len(arrays[0])
    ports: Dict[str, Tuple[str, List[int]]] = {}
    for k, v in parts.items():
        if not hasattr(v, "__array__"):
            raise TypeError(f"{name} returned {k} as {type(v).__name__}; an array is expected, with the samples first")
        a = returned(v, name, k)
        a = a.astype(a.dtype.newbyteorder("="), copy=False)
        if a.dtype not in NAMES:
            raise TypeError(f"{name} returned {k} as {a.dtype}; expected numbers of one of the types {', '.join(str(d) for d in NAMES)}")
        if a.ndim == 0 or a.shape[0] != n:
            raise ValueError(f"{name} returned {k} in shape {list(a.shape)} for {n} samples; the first axis is that of samples, and {n} long")
        ports[k] = (NAMES[a.dtype], [-1, *a.shape[1:]] if a.ndim > 1 else [-1])
    return ports


def on_tensors(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors as one of arrays."""
    import torch

    def call(*arrays: "np.ndarray[Any, Any]") -> Any:
        return fn(*[torch.from_numpy(a) for a in arrays])

    return call
