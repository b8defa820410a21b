"""What every kind of data is made into."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Tuple

import numpy as np

__all__ = ["LABELS", "Read"]

#: Names of the array of labels in data.npz, which the program knows.
LABELS = ("labels", "y")


@dataclass(frozen=True)
class Read:
    """Data as the program takes it."""

    #: The block data of the study.
    entry: Mapping[str, Any]
    #: What goes into data.npz; empty for files.
    arrays: "Mapping[str, np.ndarray[Any, Any]]" = field(default_factory=dict[str, "np.ndarray[Any, Any]"])
    #: Further keys of the study.
    keys: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""
    #: Whether it came as tensors of PyTorch, so that a function of it gets such.
    torch: bool = False
    #: Whether it came as jax.Array, likewise.
    jax: bool = False
    #: Writes into the folder of the study what is no array.
    write: Optional[Callable[[Path], None]] = None
    #: The first sample as it came, for models that read more of it than arrays hold.
    first: Any = None

    def inputs(self) -> "Tuple[np.ndarray[Any, Any], ...]":
        """What a model would read: all but the labels."""
        return tuple(a for n, a in self.arrays.items() if n not in LABELS)
