"""Loggers of Lightning: what is behind them, if it is known, else their own numbers."""

from typing import Any

from nero._loggers import mlflow, tensorboard, wandb
from nero._loggers._entry import Entry, made_by

__all__ = ["accepts", "write"]


def accepts(to: Any) -> bool:
    """A logger, such as one of `trainer.loggers`."""
    return made_by(to, "lightning", "pytorch_lightning", "lightning_fabric") and hasattr(to, "log_metrics")


def write(to: Any, entry: Entry) -> None:
    """The entry, by the writer or the run that the logger holds."""
    behind: Any = getattr(to, "experiment", None)
    if mlflow.accepts(behind):
        mlflow.write_to(behind, to.run_id, entry)
    elif wandb.accepts(behind):
        wandb.write(behind, entry)
    elif tensorboard.accepts(behind):
        tensorboard.write(behind, entry)
    else:
        to.log_metrics(entry.numbers(), step=entry.step)
