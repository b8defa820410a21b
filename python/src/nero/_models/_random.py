"""Sources of random numbers."""

import contextlib
import random
import sys
from typing import Any, Callable, Generator, List, Tuple

import numpy as np

__all__ = ["untouched"]


@contextlib.contextmanager
def untouched() -> Generator[None, None, None]:
    """They are afterwards as they were: those of Python, of NumPy, and of PyTorch on every device that is in use."""
    kept = [(put, get()) for get, put in _sources()]
    try:
        yield
    finally:
        for put, state in kept:
            put(state)


def _sources() -> List[Tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """How the state of each is had, and how it is put back."""
    found: List[Tuple[Callable[[], Any], Callable[[Any], Any]]] = [(random.getstate, random.setstate), (np.random.get_state, np.random.set_state)]
    torch: Any = sys.modules.get("torch")  # whoever draws from it has imported it
    if torch is not None:
        found.append((torch.get_rng_state, torch.set_rng_state))
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found.append((torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all))
        if hasattr(torch, "mps") and torch.backends.mps.is_available():
            found.append((torch.mps.get_rng_state, torch.mps.set_rng_state))
    return found
