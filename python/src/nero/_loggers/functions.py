"""A function of a dict, for whatever else keeps numbers."""

from typing import Any

from nero._loggers._entry import Entry

__all__ = ["accepts", "write"]


def accepts(to: Any) -> bool:
    """Whatever can be called."""
    return callable(to)


def write(to: Any, entry: Entry) -> None:
    """Numbers and texts by name, and the step, if there is one."""
    to({**entry.numbers(), **entry.texts, **({} if entry.step is None else {"step": entry.step})})
