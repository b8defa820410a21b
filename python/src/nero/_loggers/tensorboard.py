"""TensorBoard: a SummaryWriter, that of PyTorch or that of tensorboardX."""

from pathlib import Path
from typing import Any

from nero._loggers._entry import Entry, made_by
from nero._loggers._figure import figures

__all__ = ["accepts", "write"]


def accepts(to: Any) -> bool:
    """A SummaryWriter."""
    return made_by(to, "torch.utils.tensorboard", "tensorboardX")


def write(to: Any, entry: Entry) -> None:
    """Scalars, texts and figures; files go beside those of the writer, since TensorBoard keeps none."""
    for k, v in entry.numbers().items():
        to.add_scalar(k, v, entry.step)
    for k, text in entry.texts.items():
        to.add_text(k, text, entry.step)
    for k, fig in figures(entry):
        to.add_figure(k, fig, entry.step)
    folder = str(getattr(to, "log_dir", None) or getattr(to, "logdir", None) or "")
    if folder and "://" not in folder:
        at = Path(folder, "nero") if entry.step is None else Path(folder, "nero", f"step-{entry.step}")
        for k, text in entry.files.items():
            at.mkdir(parents=True, exist_ok=True)
            (at / k).write_text(text, encoding="utf-8")
