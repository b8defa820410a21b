"""Weights & Biases: its module, which logs to the run that is under way, or a run."""

import io
import re
import sys
from types import ModuleType
from typing import Any, Dict

from nero._errors import NeroError
from nero._loggers._entry import Entry, made_by
from nero._loggers._figure import figures

__all__ = ["accepts", "write"]


def accepts(to: Any) -> bool:
    """The module, or a run."""
    return made_by(to, "wandb")


def write(to: Any, entry: Entry) -> None:
    """Values of the run's current row, which is left open: the steps that the training counts by are not touched. Files become an artifact."""
    wandb: Any = sys.modules["wandb"]  # whoever has something of it has imported it
    run = to.run if isinstance(to, ModuleType) else to
    if run is None:
        raise NeroError("no run of W&B is under way; call wandb.init() first")
    row: Dict[str, Any] = {**entry.numbers(), **entry.texts}
    row.update({k: wandb.Image(_picture(fig)) for k, fig in figures(entry, "PIL")})
    if entry.card:
        row[f"nero/{entry.what}"] = wandb.Html(io.StringIO(entry.card))
    if entry.step is not None:
        # An axis of its own: a step of W&B is that of all values, and may not go back.
        run.define_metric("nero/step", hidden=True)
        run.define_metric("nero/*", step_metric="nero/step")
        row["nero/step"] = entry.step
    run.log(row, commit=False)
    run.summary.update(dict(entry.texts))
    if entry.files:
        made = wandb.Artifact(re.sub(r"[^\w.-]", "-", f"nero-{entry.what}-{run.id}"), type=f"nero-{entry.what}")
        for k, text in entry.files.items():
            with made.new_file(k, mode="w", encoding="utf-8") as f:
                f.write(text)
        run.log_artifact(made)


def _picture(fig: Any) -> Any:
    """A figure as a picture: W&B takes figures only where pyplot is in use."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]

    png = io.BytesIO()
    fig.savefig(png, format="png")
    return Image.open(png)
