"""Releases and checkpoints, watched: what the program wrote, read. No number is computed here."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from nero._program import start
from nero._study import PathLike, Progress, Providers, on
from nero._subject import several
from nero._temporary import Temporary

__all__ = ["WatchSeries", "Watch", "watch"]


@dataclass(frozen=True)
class WatchSeries:
    """One number of each input, release after release."""

    #: largest or mean of audits, or a metric of runs; set is what it was taken over.
    metric: str
    set: str
    #: "same inputs" or "new inputs".
    evidence: str
    #: ok, alarm, improved, open, incomparable, empty or not finite: that of the last release.
    state: str
    releases: Tuple[str, ...]
    #: The first release that was in alarm; "" for none.
    first_alarm: str
    #: learned, kept, lost or open, of checkpoints of a training; else "".
    course: str
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Watch:
    """Whether releases become worse, or what becomes of a symmetry in a training. It is no truth value: say `watch.alarm`."""

    #: The answer.
    sentence: str
    #: Of all series: alarm if one is, then empty, then not finite, then open.
    state: str
    series: Tuple[WatchSeries, ...]
    #: What the program says of it, and its page.
    text: str = field(repr=False)
    html: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        raise TypeError('what is watched has seven states and is neither true nor false; say watch.alarm, or watch.state == "ok"')

    @property
    def alarm(self) -> bool:
        """Whether a series is in alarm."""
        return self.state == "alarm"

    @property
    def empty(self) -> bool:
        """Whether a series ends with a release of which no error means anything, its outputs do not vary, and none is in alarm. It passes nothing."""
        return self.state == "empty"

    @property
    def course(self) -> str:
        """learned, kept, lost or open, of the checkpoints of a training; else ""."""
        return next((s.course for s in self.series if s.course), "")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<nero.Watch: {self.sentence}>"


def watch(
    folder: PathLike,
    *,
    by: Optional[str] = None,
    metrics: "str | Sequence[str]" = (),
    reference: str = "first",
    alarm: Optional[float] = None,
    allow_regression: float = 0.1,
    rate: Optional[float] = None,
    limit: Optional[float] = None,
    new_inputs: bool = False,
    study: Optional[PathLike] = None,
    after: Optional[PathLike] = None,
    out: Optional[PathLike] = None,
    engine: str = "auto",
    provider: Providers = None,
    workers: Optional[int] = None,
    allow_program: bool = False,
    progress: Progress = False,
) -> Watch:
    """Is it getting worse? The audits and runs of all releases below a folder, judged together.

    >>> nero.watch("audits", by="version").alarm  # doctest: +SKIP
    >>> nero.watch("checkpoints", study="light.yaml").course  # doctest: +SKIP

    by is the order of the releases: time, version or epoch. Each is compared with the reference, which is first, best, or the name of one; alarm is the
    probability of a false one, however many releases there are. Where the folder holds ONNX files and no audits, they are audited by the study, once each.
    With out the report is kept there in every form, and after="out/watch.json" goes on from it.
    """
    kept = Temporary()
    to = kept.path / "watch" if out is None else Path(out)
    args = ["watch", os.fspath(folder), "-f", "badge", "-o", str(to), "--reference", reference, "--allow-regression", repr(float(allow_regression))]
    said = {"by": by, "alarm": alarm, "rate": rate, "limit": limit, "study": study, "after": after, "workers": workers}
    for name, value in said.items():
        if value is not None:
            args += [f"--{name}", repr(value) if isinstance(value, float) else str(value)]
    for name in several(metrics):
        args += ["--metric", name]
    args += ["--new-inputs"] if new_inputs else []
    args += ["--allow-program"] if allow_program else []
    start([*args, "--engine", engine, *on(provider)], progress=progress).check()
    text, page = ((to / f"watch.{end}").read_text(encoding="utf-8") for end in ("txt", "html"))
    data = json.loads((to / "watch.json").read_text(encoding="utf-8"))
    return Watch(data["sentence"], data["state"], tuple(_series(s) for s in data["series"]), text, page, data)


def _series(s: Mapping[str, Any]) -> WatchSeries:
    points: List[Mapping[str, Any]] = s["points"]
    first: Mapping[str, Any] = s.get("first_alarm") or {}
    course: Mapping[str, Any] = s.get("course") or {}
    releases = tuple(p["release"] for p in points)
    return WatchSeries(s["metric"], s["set"], s["evidence"], s["state"], releases, first.get("release", ""), course.get("word", ""), s)
