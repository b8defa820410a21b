"""Runs: what the program wrote, read. No number is computed here."""

import builtins
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from nero._errors import NeroError
from nero._guards import is_row
from nero._html import Page
from nero._loggers import Curve, Entry, Series, write
from nero._models.functions import short
from nero._program import start
from nero._study import PathLike, Progress, Providers, Study, study
from nero._temporary import Temporary

if TYPE_CHECKING:
    from nero._audit import Audit

__all__ = ["Run", "run"]


@dataclass(frozen=True)
class Run:
    """The orbits of all samples, in the folder that the program wrote."""

    folder: Path
    #: The means over samples, as JSON: summary.json.
    data: Mapping[str, Any] = field(repr=False)
    #: What was computed: job.json.
    job: Mapping[str, Any] = field(repr=False)
    #: Text, as the program prints it.
    text: str = field(default="", repr=False)
    study: Optional[Study] = field(default=None, repr=False)

    @staticmethod
    def read(folder: PathLike, of: Optional[Study] = None, text: str = "") -> "Run":
        """The run in a folder, or its coarse level if that alone is complete."""
        at = Path(folder)
        if not Path(at, "manifest.json").is_file() and Path(at, ".coarse", "manifest.json").is_file():
            at = at.joinpath(".coarse")
        if not Path(at, "manifest.json").is_file():
            raise NeroError(f"{at}: the run is not complete; what is there is kept, and the call or command that began it goes on from there")
        return Run(at, _read(Path(at, "summary.json")), _read(Path(at, "job.json")), text, of)

    @property
    def models(self) -> Tuple[str, ...]:
        """The names of the models."""
        return tuple(m["name"] for m in self.job["models"])

    @property
    def metrics(self) -> Tuple[str, ...]:
        """The names of the metrics."""
        return tuple(self.job["metrics"])

    @property
    def elements(self) -> "np.ndarray[Any, Any]":
        """The elements of the group: one row for each, one column for each axis of the chart, angles in degrees."""
        return np.asarray(self.job["elements"], np.float64)

    @property
    def samples(self) -> Tuple[str, ...]:
        """The names of the samples."""
        return tuple(r["sample"] for r in self._samples())

    @property
    def labels(self) -> "np.ndarray[Any, Any]":
        """The classes of the samples, -1 where there is none."""
        return np.asarray([-1 if r["label"] is None else r["label"] for r in self._samples()], np.int64)

    def _samples(self) -> List[Dict[str, Any]]:
        return [r for r in self.rows("samples") if r["model"] == self.models[0]]

    def curves(self, metric: Optional[str] = None, model: Optional[str] = None) -> "np.ndarray[Any, Any]":
        """A metric of every sample at every element: samples × elements, float32; NaN where it does not exist."""
        name = self.models[0] if model is None else model
        if name not in self.models:
            name = short(name)  # as it is called in files
        if name not in self.models:
            raise NeroError(f"the run has no model {model!r}; there are {list(self.models)}")
        return np.ascontiguousarray(self._values(metric)[:, self.models.index(name)])

    def _values(self, metric: Optional[str]) -> "np.ndarray[Any, Any]":
        """A metric of every sample: samples × models × elements."""
        d = Temporary()
        file = Path(d.path, "curves.npy")
        args = ["export", str(self.folder), "--table", "curves", "--out", str(file)]
        start([*args, *([] if metric is None else ["--metric", metric])]).check()
        found: "np.ndarray[Any, Any]" = np.load(file)
        return found

    def rows(self, table: str = "aggregate", **options: Any) -> List[Dict[str, Any]]:
        """A table of the run, as `nero export` writes it; options are those of the command, such as metric="confidence"."""
        args = ["export", str(self.folder), "--table", table, "--format", "jsonl"]
        for k, v in options.items():
            args += [f"--{k.replace('_', '-')}", ",".join(map(str, v)) if is_row(v) else str(v)]
        return [json.loads(line) for line in start(args).check().out.splitlines()]

    def to_pandas(self, table: str = "aggregate", **options: Any) -> Any:
        """A table of the run as a DataFrame: aggregate, samples, orbit (with sample= or index=), compare, confusion and others of `nero export`."""
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame(self.rows(table, **options))

    def to_xarray(self) -> Any:
        """Every value as a Dataset: dimensions sample, element and model, a variable for each metric, axes of the chart and labels as coordinates.

        >>> r.to_xarray().confidence.mean("sample").sel(model="b")  # doctest: +SKIP
        """
        import xarray  # type: ignore[import-not-found,unused-ignore]

        first, rows = self.models[0], self.rows()
        names = [r["element"] for r in rows if r["model"] == first][: len(self.elements)]
        coordinates: Dict[str, Any] = {"sample": list(self.samples), "element": names, "model": list(self.models), "label": ("sample", self.labels)}
        coordinates["exact"] = ("element", np.asarray(self.job["exact"], np.bool_))
        for k, axis in enumerate(self.data["chart"]):
            coordinates[axis["name"]] = ("element", self.elements[:, k], {"units": axis.get("unit", "")})
        about = {m["name"]: {k: m[k] for k in ("doc", "unit", "better", "ref") if k in m} for m in self.data["metrics"]}
        values = {m: (("sample", "element", "model"), np.moveaxis(self._values(m), 1, 2), about.get(m, {})) for m in self.metrics}
        return xarray.Dataset(values, coordinates, {k: self.data[k] for k in ("group", "measure", "job")})

    def log(self, to: Any, step: Optional[int] = None) -> None:
        """Logs it to MLflow (the module, a client, a run), W&B (the module, a run), a SummaryWriter of TensorBoard, or a logger of Lightning.

        Numbers are called nero/MODEL/METRIC/mean, over the orbit, and nero/MODEL/METRIC/worst, along it; summary, page and curves go along. A function
        gets a dict.
        """
        write(to, self.entry(step))

    def entry(self, step: Optional[int] = None) -> Entry:
        """What is logged."""
        scalars: Dict[str, float] = {}
        curves: Dict[str, Curve] = {}
        for c in self.data["curves"]:
            if c["slice"] != 0:  # the first is that of all samples
                continue
            of_model: int = c["model"]
            of_metric: int = c["metric"]
            model, metric = self.models[of_model], self.metrics[of_metric]
            name = f"nero/{model}/{metric}"
            for what, of in (("mean", "orbit"), ("worst", "worst")):
                if c.get(of) and c[of]["mean"] is not None:
                    scalars[f"{name}/{what}"] = float(c[of]["mean"])
            if len(self.data["chart"]) == 1:
                axis = self.data["chart"][0]
                at = [float(e[0]) for e in self.elements]
                series = (Series(model, at, c["mean"]),)
                curves[f"{name}/curve"] = Curve("Mean over all samples", f"{axis['name']} ({axis.get('unit', '')})", metric, series)
        d = Temporary()
        page = self.report(Path(d.path, "run.html")).read_text(encoding="utf-8")
        files = {"summary.json": Path(self.folder, "summary.json").read_text(encoding="utf-8"), "run.html": page}
        return Entry("run", scalars, {"nero/run/summary": str(self)}, curves, files, step=step)

    def report(self, path: PathLike) -> Path:
        """Writes the page of the run as one file, or a folder with pictures and tables where the name does not end in .html."""
        start(["report", str(self.folder), "--out", os.fspath(path)]).check()
        return Path(path)

    def show(self, height: int = 880) -> Page:
        """The page of the run in a frame, as the last line of a notebook's cell. It is kept with the notebook and works without a kernel; it has some
        megabytes, and so it is shown only when it is asked for.

        >>> r.show()  # doctest: +SKIP
        """
        place = Temporary()  # goes when nothing names it any more
        page = self.report(Path(place.path, "run.html")).read_text(encoding="utf-8")
        return Page(page, f"The run of {', '.join(self.models)}", height, repr(self))

    def audit(self, **how: Any) -> "Audit":
        """The same study audited."""
        if self.study is None:
            raise NeroError("the run was opened from its folder; audit the study that it was made from")
        return self.study.audit(**how)

    def save(self, folder: PathLike) -> Path:
        """Keeps all of it in a folder: the study with what it names, and the run."""
        to = Path(folder)
        shutil.copytree(self.study.folder if self.study is not None else self.folder, to, dirs_exist_ok=True)
        return to

    def __str__(self) -> str:
        said = self.text.strip() or f"{', '.join(self.models)}: {self.job['count']} samples, {len(self.job['elements'])} elements, {', '.join(self.metrics)}"
        if self.study is None or not self.study.passing:
            return said
        return f'{said}\n(as long as this process lives; out="folder" or save("folder") keeps it)'

    def __repr__(self) -> str:
        return f"{self}\nnero.Run in {self.folder}"


def run(
    model: Any,
    data: Any,
    group: "str | Mapping[str, Any] | None" = None,
    *,
    labels: Any = None,
    output: "str | Mapping[str, Any] | None" = None,
    equivariant: Optional[bool] = None,
    out: Optional[PathLike] = None,
    export: "str | builtins.bool" = "auto",
    batch: Optional[int] = None,
    engine: str = "auto",
    provider: Providers = None,
    workers: Optional[int] = None,
    keep_going: bool = False,
    allow_program: bool = False,
    progress: Progress = True,
    budget: Optional[float] = None,
    answers: Optional[str] = None,
    **study_keys: Any,
) -> Run:
    """Evaluates the orbit of every sample.

    >>> r = nero.run({"a": "a.onnx", "b": net}, images, "SO(2)", orbit=72, labels=classes)  # doctest: +SKIP
    >>> r.curves("confidence", "b").shape  # samples, elements  # doctest: +SKIP

    Models, data and keywords are those of `nero.audit`. With out the folder is kept, and the same call goes on where it was stopped.

    With budget it ends after about so many seconds. If not all is there by then, the result is the coarse level of the run: all samples at one in eight of the
    elements, which `elements` lists. The same call goes on later, and the numbers of that level are to be read before. With answers, a size such as "2GB",
    models that are files are not asked again for what they have answered on this machine, in whichever run.
    """
    s = study(
        model, data, group, labels=labels, output=output, equivariant=equivariant, out=out, export=export, batch=batch, **study_keys,
    )  # fmt: skip
    return s.run(
        engine=engine, provider=provider, workers=workers, keep_going=keep_going, allow_program=allow_program, progress=progress,
        budget=budget, answers=answers,
    )  # fmt: skip


def _read(file: Path) -> Dict[str, Any]:
    with builtins.open(file, encoding="utf-8") as f:
        found: Dict[str, Any] = json.load(f)
    return found
