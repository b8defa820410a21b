"""Symmetries of weights: what the program wrote, read. No number is computed here."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Tuple

from nero._guards import is_path
from nero._program import start
from nero._study import PathLike, Progress, Providers, on
from nero._temporary import Temporary

__all__ = ["Weights", "WeightSymmetry", "weights"]


@dataclass(frozen=True)
class WeightSymmetry:
    """A way to move stored numbers, and what the answers did."""

    #: permutation, rescaling, signs, rotation, matrix, scale invariance or joint scale.
    kind: str
    where: str
    #: holds, refuted or untested.
    state: str
    #: The largest change of an answer over the scale of the output; NaN where an answer is not finite.
    error: float
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Weights:
    """Which stored numbers may be moved, or what two checkpoints are to each other."""

    #: The answer.
    sentence: str
    #: same file, same up to symmetries, same function, other weights, not told apart, or different; "" of one model.
    verdict: str
    #: Whether all that the graph promises holds, or the two compute the same.
    passed: bool
    symmetries: Tuple[WeightSymmetry, ...]
    #: The file with the model in canonical form, where it was asked for and the answers stay.
    canonical: Optional[Path]
    text: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    @property
    def good(self) -> bool:
        """The same as passed, by its earlier name."""
        return self.passed

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<nero.Weights: {self.sentence}>"


def weights(
    model: PathLike,
    other: Optional[PathLike] = None,
    *,
    study: Optional[PathLike] = None,
    shape: Optional[Sequence[int]] = None,
    probes: Optional[int] = None,
    seed: Optional[int] = None,
    canonical: Optional[PathLike] = None,
    engine: str = "auto",
    provider: Providers = None,
    workers: Optional[int] = None,
    progress: Progress = False,
) -> Weights:
    """Which weights may be moved without a change of the answers? Are two checkpoints the same model?

    >>> nero.weights("model.onnx").symmetries  # doctest: +SKIP
    >>> nero.weights("epoch9.onnx", "epoch10.onnx").verdict  # doctest: +SKIP

    Answers are compared at samples of the study, else at noise from the seed; shape is that of the first input, where the file leaves axes free.
    canonical names a file that is written: the model in the form in which no choice is left.
    """
    for m in [model] if other is None else [model, other]:
        if not is_path(m):
            raise TypeError(
                f"{type(m).__name__} is no path, and weights are read from ONNX files: write one with torch.onnx.export, or with "
                f'nero.study(model, data, export=True, out="folder"), which makes folder/{type(m).__name__}.onnx, and give that'
            )
    args = ["weights", os.fspath(model)] + ([] if other is None else [os.fspath(other)])
    for name, value in {"study": study, "probes": probes, "seed": seed, "workers": workers}.items():
        if value is not None:
            args += [f"--{name}", str(value)]
    args += [] if shape is None else ["--shape", ",".join(str(int(n)) for n in shape)]
    kept = Temporary()
    out = kept.path / "weights.txt" if canonical is None else Path(canonical)
    args += ["-f", "json", "-o", str(out), "--engine", engine, *on(provider)] + ([] if canonical is None else ["--canonical"])
    ended = start(args, progress=progress).check()
    data: Mapping[str, Any] = json.loads(ended.out)
    text = data["sentence"] + "\n" if canonical is not None else out.read_text(encoding="utf-8")
    symmetries: Sequence[Mapping[str, Any]] = data.get("symmetries") or ()
    moved = tuple(_symmetry(s) for s in symmetries)
    form: Mapping[str, Any] = data.get("canonical") or {}
    file: str = form.get("file", "")
    return Weights(data["sentence"], data.get("verdict", ""), ended.code == 0, moved, Path(file) if file else None, text, data)


def _symmetry(s: Mapping[str, Any]) -> WeightSymmetry:
    error = s.get("error")
    return WeightSymmetry(s["kind"], s["where"], s["state"], float("nan") if error is None else float(error), s)
