"""Questions about values of any type whose answers checkers of types believe: what `isinstance` alone finds has elements that they know nothing of."""

import os
from typing import Any, Collection, Dict, List, Mapping, Sequence, Tuple, TypeGuard, Union

import numpy as np

__all__ = ["is_block", "is_dict", "is_list", "is_path", "is_row", "is_scalar", "is_set", "is_tuple"]


def is_block(v: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether it has values by name, whatever its type."""
    return isinstance(v, Mapping)


def is_dict(v: Any) -> TypeGuard[Dict[Any, Any]]:
    """Whether it is a dict, as an object of JSON is."""
    return isinstance(v, dict)


def is_list(v: Any) -> TypeGuard[List[Any]]:
    """Whether it is a list, as an array of JSON is."""
    return isinstance(v, list)


def is_path(v: Any) -> TypeGuard[Union[str, "os.PathLike[str]"]]:
    """Whether it may name a file."""
    return isinstance(v, (str, os.PathLike))


def is_row(v: Any) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list or a tuple."""
    return isinstance(v, (list, tuple))


def is_scalar(v: Any) -> TypeGuard["np.generic[Any]"]:
    """Whether it is a number of NumPy."""
    return isinstance(v, np.generic)


def is_set(v: Any) -> TypeGuard[Collection[Any]]:
    """Whether it is a set or a range, which JSON has no word for."""
    return isinstance(v, (set, frozenset, range))


def is_tuple(v: Any) -> TypeGuard[Tuple[Any, ...]]:
    """Whether it is a tuple, such as a pair of a value and its label."""
    return isinstance(v, tuple)
