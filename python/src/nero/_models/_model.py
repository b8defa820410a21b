"""What every kind of model is made into."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, ContextManager, Mapping, Optional

import numpy as np

from nero._data._read import Read
from nero.bridge._model import Model

__all__ = ["Asked", "Prepared"]


@dataclass(frozen=True)
class Asked:
    """What somebody asks of a model."""

    #: The name it was given; None for that which it has.
    name: Optional[str]
    #: Where files of the study go.
    folder: Callable[[], Path]
    data: Read
    #: Keys of the study that were given.
    keys: Mapping[str, Any]
    export: "str | bool"
    batch: Optional[int]

    @property
    def grouped(self) -> bool:
        """Whether somebody said which group is meant."""
        said = self.keys.get("group")
        return isinstance(said, str) or isinstance(said, Mapping) and "name" in said

    def line(self, group: str, reads: str, gives: str) -> str:
        """What goes in and comes out, and the group where nobody said another."""
        return f"{'' if self.grouped else group + ', '}{reads} in, {gives} out"


@dataclass(frozen=True)
class Prepared:
    """A model as the program takes it."""

    #: Its entry among the models of the study.
    entry: Mapping[str, Any]
    #: The function that this process serves.
    live: Optional[Model] = None
    #: What it says of the study, where nobody else does.
    keys: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: What was done with it, in a sentence.
    note: str = ""
    #: What was taken from it that nobody said, in a line that is shown.
    taken: str = ""
    #: What holds while the program runs.
    during: Optional[Callable[[], ContextManager[None]]] = None
    #: The arrays of the data as the study of this model reads them, where that is not as they came.
    arrays: "Optional[Mapping[str, np.ndarray[Any, Any]]]" = None
