"""Functions and models of JAX: called with jax.Array, which they return."""

import sys
from typing import Any, Callable

import numpy as np

from nero._models._model import Asked, Prepared
from nero._models.functions import called

__all__ = ["accepts", "on_arrays", "prepare"]


def accepts(model: Any) -> bool:
    """What was compiled by jax.jit, or a model of Equinox or Flax that can be called; plain functions are told by their data."""
    jax = sys.modules.get("jax")  # whoever has one has imported it
    if jax is None or not callable(model):
        return False
    kind: type = type(model)
    return isinstance(model, jax.stages.Wrapped) or any(c.__module__.split(".")[0] in ("equinox", "flax") for c in kind.__mro__)


def prepare(model: Any, asked: Asked) -> Prepared:
    """The function as one that this process serves."""
    return called(model, on_arrays(model), asked, "python_jax")


def on_arrays(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of jax.Array as one of arrays."""
    import jax

    def back(v: Any) -> Any:
        a = np.asarray(v)
        return a.astype(np.float32) if a.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else a

    def call(*arrays: "np.ndarray[Any, Any]") -> Any:
        return jax.tree_util.tree_map(back, fn(*[jax.numpy.asarray(a) for a in arrays]))

    return call
