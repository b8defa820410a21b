"""Where results are logged: each kind answers `accepts(to)` and `write(to, entry)`. A further kind is a file, and a line in `kinds`."""

from types import ModuleType
from typing import Any, List

from nero._loggers import functions, lightning, mlflow, tensorboard, wandb
from nero._loggers._entry import Curve, Entry, Series

__all__ = ["Curve", "Entry", "Series", "check", "write"]


def kinds() -> List[ModuleType]:
    """What there is, in the order in which it is asked."""
    return [mlflow, wandb, tensorboard, lightning, functions]


def check(to: Any) -> None:
    """Refuses what nothing can be logged to."""
    _kind(to)


def write(to: Any, entry: Entry) -> None:
    """Logs a result."""
    _kind(to).write(to, entry)


def _kind(to: Any) -> ModuleType:
    for kind in kinds():
        if kind.accepts(to):
            return kind
    raise TypeError(
        f"{type(to).__name__} is nothing that nero logs to; give the module or a run of MLflow or W&B, a SummaryWriter of TensorBoard, a logger of "
        "Lightning, or a function of a dict"
    )
