"""MLflow: its module or a client of it, which log to the run that is under way, or a run."""

import re
import sys
from types import ModuleType
from typing import Any, Tuple

from nero._errors import NeroError
from nero._loggers._entry import Entry, made_by
from nero._loggers._figure import figures

__all__ = ["accepts", "write", "write_to"]


def accepts(to: Any) -> bool:
    """The module, a client, a run."""
    return made_by(to, "mlflow")


def write(to: Any, entry: Entry) -> None:
    """Metrics, tags and artifacts of the run."""
    client, run = _place(to)
    write_to(client, run, entry)


def write_to(client: Any, run: str, entry: Entry) -> None:
    """The same, of a run by its number."""
    for k, v in entry.numbers().items():
        client.log_metric(run, _name(k), v, step=entry.step)
    for k, text in entry.texts.items():
        client.set_tag(run, _name(k), text)
    at = "" if entry.step is None else f"step-{entry.step}/"
    for k, fig in figures(entry):
        client.log_figure(run, fig, f"{at}{_name(k)}.png")
    for k, text in entry.files.items():
        client.log_text(run, text, f"nero/{at}{k}")


def _place(to: Any) -> Tuple[Any, str]:
    """The client and the number of the run."""
    mlflow: Any = sys.modules["mlflow"]  # whoever has something of it has imported it
    if hasattr(to, "info"):
        return mlflow.MlflowClient(), to.info.run_id
    if isinstance(to, ModuleType):  # as its own functions do
        return mlflow.MlflowClient(), (mlflow.active_run() or mlflow.start_run()).info.run_id
    run = mlflow.active_run()
    if run is None:
        raise NeroError("a client of MLflow logs to a run, and none is under way; call mlflow.start_run() first, or log to the run itself")
    return to, run.info.run_id


def _name(name: str) -> str:
    """A name with the characters that MLflow takes."""
    return re.sub(r"[^\w\-./ ]", "_", name)
