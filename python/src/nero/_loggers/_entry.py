"""What is logged, whatever it is logged to."""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

__all__ = ["Curve", "Entry", "Series", "made_by"]


@dataclass(frozen=True)
class Series:
    """One line, or marks, of a curve; None where there is no value."""

    name: str
    x: Sequence[Optional[float]]
    y: Sequence[Optional[float]]
    marks: bool = False


@dataclass(frozen=True)
class Curve:
    """What an axis of the group does to a value."""

    title: str
    x: str
    y: str
    series: Tuple[Series, ...]
    log: bool = False
    limit: Optional[float] = None


@dataclass(frozen=True)
class Entry:
    """A result as loggers take it. Names have parts, nero/MODEL/WHAT."""

    #: What the result is: "audit" or "run".
    what: str
    scalars: Mapping[str, float]
    #: Verdicts, and what was found, in words.
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    curves: Mapping[str, Curve] = field(default_factory=dict[str, Curve])
    #: Files by name, with what is in them.
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    #: A page without scripts, for loggers that show such.
    card: str = ""
    #: The step of a training.
    step: Optional[int] = None

    def numbers(self) -> Dict[str, float]:
        """The scalars that there are: NaN stands for what was not measured."""
        return {k: v for k, v in self.scalars.items() if v == v}


def made_by(to: Any, *libraries: str) -> bool:
    """Whether something is a module of a library, or its type or a type above that comes from one."""
    names = [to.__name__] if isinstance(to, ModuleType) else [c.__module__ for c in type(to).__mro__]
    return any(n == lib or n.startswith(lib + ".") for n in names for lib in libraries)
