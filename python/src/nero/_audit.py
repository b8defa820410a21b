"""Audits: what the program wrote, read. No number is computed here."""

import json
import math
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from nero._errors import EquivarianceError, NeroError
from nero._guards import is_row
from nero._html import framed
from nero._loggers import Curve, Entry, Series, write
from nero._models.functions import short
from nero._program import start
from nero._study import PathLike, Progress, Providers, Study, study

__all__ = ["Audit", "Diagnosis", "Errors", "Finding", "Interval", "ModelAudit", "Where", "Worst", "assert_equivariant", "audit"]

#: What a report asks of layers.
LAYER = "Which layer breaks it?"


@dataclass(frozen=True)
class Where:
    """One sample at one element."""

    #: Its name: of an array the row, counted from 0, so that it is images[int(where.sample)].
    sample: str
    #: Its place among the samples that were tested, which may be fewer than there are.
    index: int
    element: str
    coordinates: Tuple[float, ...]

    def __str__(self) -> str:
        return f"sample {self.sample} at {self.element}"


@dataclass(frozen=True)
class Interval:
    """An estimate over n inputs, with its limits of confidence."""

    value: float
    lo: float
    hi: float
    n: int


@dataclass(frozen=True)
class Errors:
    """What was measured on a set of elements that is judged on its own. Errors are relative to the spread of the output."""

    name: str
    #: Whether its elements act without resampling.
    exact: bool
    verdict: str
    reason: str
    #: The largest error of an input on the orbit, in the mean over inputs.
    error: float
    interval: Interval
    #: What would be there without any violation.
    floor: float
    #: The largest error of all, and where it is.
    largest: float
    worst: Optional[Where]
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Worst:
    """A worst case: an error, where it is, and the command that measures it again."""

    what: str
    where: Where
    value: float
    replay: str


@dataclass(frozen=True)
class Finding:
    """Something that a check saw and that somebody should know."""

    check: str
    category: str
    severity: str
    message: str
    location: str
    remedies: Tuple[str, ...]
    worst: Optional[Where]
    replay: str
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Diagnosis:
    """An explanation of what was seen, the most likely first."""

    id: str
    cause: str
    confidence: float
    location: str
    fix: str
    verify: str
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class ModelAudit:
    """The audit of one model."""

    model: str
    verdict: str
    #: What was found, in a few plain sentences.
    gist: Tuple[str, ...]
    reasons: Tuple[str, ...]
    answers: Tuple[str, ...]
    #: What is judged on its own: exact elements first, then resampled ones.
    errors: Tuple[Errors, ...]
    findings: Tuple[Finding, ...]
    diagnoses: Tuple[Diagnosis, ...]
    recommendations: Tuple[str, ...]
    worst_cases: Tuple[Worst, ...]
    #: The largest group that holds, whatever was claimed; "" where that was not asked.
    group_that_holds: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict == "PASS"

    @property
    def limit(self) -> float:
        """The error above which an input counts as one that breaks the symmetry."""
        return _number(self.data["policy"]["threshold"])

    @property
    def questions(self) -> Dict[str, Tuple[str, ...]]:
        """The questions that a report answers, in its words: is it real, is it tested right, which layer breaks it; and the answers."""
        asked: List[Dict[str, Any]] = self.data.get("questions") or []
        return {q["question"]: tuple(q["answers"] or ()) for q in asked}

    def scalars(self) -> Dict[str, float]:
        """The numbers that loggers keep, of the elements that are judged first: error, floor, and the error of the worst case."""
        first = {k: v for s in self.errors[:1] for k, v in (("error", s.error), ("floor", s.floor), ("worst", s.largest))}
        return {f"nero/{self.model}/{k}": v for k, v in first.items()}

    def curve(self) -> Optional[Curve]:
        """The error along the orbit, where the orbit is one line."""
        for c in self.data.get("checks") or ():
            for e in c.get("exhibits") or ():
                if e["name"] == "profile" and e.get("curve"):
                    return _curve(e["title"], e["curve"])
        return None


@dataclass(frozen=True)
class Audit:
    """What an audit found. It is no truth value: say `audit.passed`."""

    #: The worst of the models: "PASS", "NEEDS_ATTENTION" or "FAIL".
    verdict: str
    models: Tuple[ModelAudit, ...]
    #: The JSON that the program wrote.
    file: Path
    data: Mapping[str, Any] = field(repr=False)
    study: Optional[Study] = field(default=None, repr=False)

    @staticmethod
    def read(file: PathLike, of: Optional[Study] = None) -> "Audit":
        """The audit in a file that the program wrote."""
        data = _document(Path(file))
        return Audit(data["verdict"], tuple(_model(m) for m in data["models"]), Path(file), data, of)

    def __bool__(self) -> bool:
        raise TypeError('an audit has three verdicts and is neither true nor false; say audit.passed, or audit.verdict == "FAIL"')

    def __getitem__(self, name: str) -> ModelAudit:
        for m in self.models:
            if m.model in (name, short(name)):  # as it was given, or as it is called in files
                return m
        raise KeyError(f"no model is called {name!r}; there are {[m.model for m in self.models]}")

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict == "PASS"

    @property
    def could_not_run(self) -> Optional[str]:
        """Why there is no verdict; None if there is one."""
        if self.verdict != "COULD_NOT_RUN":
            return None
        return "; ".join(f"{m['model']}: {m['error']}" for m in self.data["models"] if m.get("error")) or "the audit could not run"

    @property
    def only(self) -> ModelAudit:
        """The one model that was audited."""
        if len(self.models) != 1:
            raise NeroError(f"{len(self.models)} models were audited; say which, as in audit[{self.models[0].model!r}]" if self.models else "no model")
        return self.models[0]

    @property
    def judged(self) -> Errors:
        """The errors of the one model on the elements that are judged first: the exact ones, if there are any."""
        if not self.only.errors:
            raise NeroError(f"{self.only.model}: no errors were measured: {' '.join(self.only.reasons)}")
        return self.only.errors[0]

    @property
    def error(self) -> float:
        """The largest error of an input on the orbit, in the mean over inputs, relative to the spread of the output."""
        return self.judged.error

    @property
    def interval(self) -> Interval:
        """The error with its limits of confidence."""
        return self.judged.interval

    @property
    def floor(self) -> float:
        """The error that would be there without any violation."""
        return self.judged.floor

    @property
    def worst(self) -> Optional[Worst]:
        """The worst case: sample, element, error, and how to measure it again."""
        return self.only.worst_cases[0] if self.only.worst_cases else None

    @property
    def answers(self) -> Tuple[str, ...]:
        """What was found on each set of elements."""
        return self.only.answers

    @property
    def questions(self) -> Dict[str, Tuple[str, ...]]:
        """The questions that a report answers, in its words: is it real, is it tested right, which layer breaks it; and the answers."""
        return self.only.questions

    @property
    def findings(self) -> Tuple[Finding, ...]:
        """What checks saw, of all models."""
        return tuple(f for m in self.models for f in m.findings)

    @property
    def diagnoses(self) -> Tuple[Diagnosis, ...]:
        """Why, the most likely first, of all models."""
        return tuple(d for m in self.models for d in m.diagnoses)

    @property
    def recommendations(self) -> Tuple[str, ...]:
        """What to do next, of all models."""
        return tuple(r for m in self.models for r in m.recommendations)

    @property
    def group_that_holds(self) -> str:
        """The largest group that holds, whatever was claimed; "" where that was not asked."""
        return self.only.group_that_holds

    def to_html(self) -> str:
        """The report as a page."""
        return self._written("html")

    def to_markdown(self) -> str:
        """The report as Markdown."""
        return self._written("markdown")

    def to_text(self) -> str:
        """The report as text."""
        return self._written("text")

    def to_junit(self) -> str:
        """The report as JUnit's XML."""
        return self._written("junit")

    def to_sarif(self) -> str:
        """The report as SARIF."""
        return self._written("sarif")

    def _written(self, form: str) -> str:
        return start(["report", str(self.file), "--format", form]).check().out

    def save(self, folder: PathLike) -> Path:
        """Keeps all of it in a folder: the study with what it names, and the audit."""
        to = Path(folder)
        shutil.copytree(self.study.folder if self.study is not None else self.file.parent, to, dirs_exist_ok=True)
        return to

    def log(self, to: Any, step: Optional[int] = None) -> None:
        """Logs it to MLflow (the module, a client, a run), W&B (the module, a run), a SummaryWriter of TensorBoard, or a logger of Lightning.

        >>> audit.log(mlflow)  # doctest: +SKIP

        Numbers are called nero/MODEL/error, floor and worst, the verdict nero/MODEL/verdict; JSON, report and curve go along. A function gets a dict.
        """
        write(to, self.entry(step))

    def entry(self, step: Optional[int] = None, whole: bool = True) -> Entry:
        """What is logged; of the whole also files, curves and a card, which the program writes for it."""
        scalars = {k: v for m in self.models for k, v in m.scalars().items()}
        texts = {f"nero/{m.model}/verdict": m.verdict for m in self.models}
        if not whole:
            return Entry("audit", scalars, texts, step=step)
        texts.update({f"nero/{m.model}/gist": " ".join(m.gist or m.reasons) for m in self.models})
        curves = {f"nero/{m.model}/curve": c for m in self.models if (c := m.curve()) is not None}
        files = {"audit.json": self.file.read_text(encoding="utf-8"), "audit.html": self.to_html()}
        return Entry("audit", scalars, texts, curves, files, self.to_card(), step)

    def __str__(self) -> str:
        lines: List[str] = []
        for m in self.models:
            lines.append(f"{m.model}: {m.verdict}")
            lines += ["  " + g for g in m.gist or m.reasons]
            if m.gist and m.verdict == "NEEDS_ATTENTION":  # the gist alone may sound as if all were well
                lines += ["  " + r for r in m.reasons if r.startswith(m.verdict)]
            lines += ["  " + a for a in m.answers]  # the error beside its floor
            if m.verdict != "PASS":
                lines += [f"  {LAYER} {a}" for a in m.questions.get(LAYER, ())]
                lines += [f"  Most likely: {d.cause}" for d in m.diagnoses[:1]]
                lines += [f"  What to do: {do}" for do in m.recommendations[:1]]
            for w in m.worst_cases[:1]:
                lines += [f"  Worst case, {w.what}: {w.where}", *("    " + a for a in self._again(m, w))]
        return "\n".join(lines)

    def _again(self, m: ModelAudit, w: Worst) -> List[str]:
        """How a worst case is seen again: by a command, if what it needs is there for one."""
        if self.study is not None and m.model in self.study.live:
            return ["(the model is a function of this process: no command line can ask it again)"]
        passing = w.replay and self.study is not None and self.study.passing
        return [w.replay, '(as long as this process lives; out="folder" or save("folder") keeps it)'] if passing else [w.replay]

    def to_card(self) -> str:
        """The beginning of the report as one element of HTML without scripts: verdict, answers, curve and worst case."""
        return self._written("card")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        """What a notebook shows: the beginning of the report, and below it the whole, folded, in a frame that needs no kernel and no network."""
        return {"text/plain": repr(self), "text/html": "".join((self.to_card(), framed(self.to_html(), "The whole report")))}

    def __repr__(self) -> str:
        return f"{self}\nnero.Audit in {self.file.parent}"


def audit(
    model: Any,
    data: Any,
    group: "str | Mapping[str, Any] | None" = None,
    *,
    labels: Any = None,
    output: "str | Mapping[str, Any] | None" = None,
    equivariant: Optional[bool] = None,
    preset: Optional[str] = None,
    threshold: Optional[float] = None,
    samples: Optional[int] = None,
    baseline: "Audit | PathLike | None" = None,
    out: Optional[PathLike] = None,
    export: "str | bool" = "auto",
    batch: Optional[int] = None,
    engine: str = "auto",
    provider: Providers = None,
    workers: Optional[int] = None,
    allow_program: bool = False,
    progress: Progress = True,
    **study_keys: Any,
) -> Audit:
    """Decides with evidence whether a model is equivariant.

    >>> a = nero.audit(model, images, "C4", equivariant=False)  # doctest: +SKIP
    >>> a.verdict, a.error, a.floor, a.worst  # doctest: +SKIP

    The model is the path of an ONNX file, the URL of an endpoint, a function of arrays, a torch module (of e3nn and escnn with its group and types), an
    estimator of scikit-learn, a calculator of ase, or several by name. The data are arrays, a path, a Dataset, a DataFrame, Atoms or graphs. equivariant says whether the answer moves with the input (True) or stays (False). Other
    keywords are keys of the study, such as input={"mean": [0.13]} and orbit=8. With out the folder is kept, else it goes with the result.
    """
    s = study(
        model, data, group, labels=labels, output=output, equivariant=equivariant, preset=preset, threshold=threshold, samples=samples,
        out=out, export=export, batch=batch, **study_keys,
    )  # fmt: skip
    return s.audit(
        baseline=baseline, engine=engine, provider=provider, workers=workers, allow_program=allow_program, progress=progress
    )  # fmt: skip


def assert_equivariant(model: Any, data: Any, group: "str | Mapping[str, Any] | None" = None, *, fail_on: str = "attention", **as_audit: Any) -> Audit:
    """Audits, and raises EquivarianceError where the verdict is not good enough: for tests.

    >>> nero.assert_equivariant(model, images, "C4", equivariant=False)  # doctest: +SKIP
    """
    __tracebackhide__ = True  # pytest shows the line that called, and what the program found
    how = {k: as_audit.pop(k) for k in ("baseline", "engine", "provider", "workers", "allow_program", "progress") if k in as_audit}
    made = study(model, data, group, **as_audit).audit(fail_on=fail_on, **how)
    if made.data["exit_code"] == 1:
        raise EquivarianceError(str(made), made)
    return made


def _document(file: Path) -> "Dict[str, Any]":
    """The JSON of a file, with the infinities that JSON has no number for."""
    with open(file, encoding="utf-8") as f:
        data: Dict[str, Any] = json.load(f)
    for place in data.get("infinite", []):
        at: Any = data
        *way, last = place.removeprefix("-").split(".")
        for step in way:
            at = at[int(step) if is_row(at) else step]
        at[int(last) if is_row(at) else last] = -math.inf if place.startswith("-") else math.inf
    return data


def _number(x: Optional[float]) -> float:
    return math.nan if x is None else float(x)


def _where(w: Optional[Mapping[str, Any]]) -> Optional[Where]:
    if w is None:
        return None
    return Where(w["sample"], w["index"], w["element"], tuple(_number(x) for x in w.get("coordinates", [])))


def _interval(i: Mapping[str, Any]) -> Interval:
    return Interval(_number(i["value"]), _number(i["lo"]), _number(i["hi"]), i["n"])


def _errors(s: Mapping[str, Any]) -> Errors:
    of = _interval(s["largest_per_input"])
    return Errors(
        s["name"], s["exact"], s["verdict"], s["reason"], of.value, of, _number(s.get("floor")), _number(s["relative"]["max"]),
        _where(s.get("worst")), s,
    )  # fmt: skip


def _curve(title: str, c: Mapping[str, Any]) -> Curve:
    def axis(a: Mapping[str, Any]) -> str:
        return f"{a['name']} ({a['unit']})" if a.get("unit") else str(a["name"])

    series = tuple(Series(s["name"], s["x"], s["y"], s.get("marks", False)) for s in c["series"])
    return Curve(title, axis(c["x"]), axis(c["y"]), series, c["y"].get("log", False), c.get("limit"))


def _finding(check: str, f: Mapping[str, Any]) -> Finding:
    return Finding(
        check, f["category"], f["severity"], f["message"], f["location"], tuple(f["remedies"] or ()), _where(f.get("worst")), f.get("replay", ""), f
    )


def _diagnosis(d: Mapping[str, Any]) -> Diagnosis:
    return Diagnosis(d["id"], d["cause"], _number(d["confidence"]), d.get("location", ""), d["fix"], d["verify"], d)


def _worst(w: Mapping[str, Any]) -> Optional[Worst]:
    where = _where(w["where"])
    return None if where is None else Worst(w["what"], where, _number(w["value"]), w.get("replay", ""))


def _model(m: Mapping[str, Any]) -> ModelAudit:
    checks = m.get("checks") or ()
    worst = (_worst(w) for w in m.get("worst_cases") or ())
    return ModelAudit(
        model=m["model"],
        verdict=m["verdict"],
        gist=tuple(m.get("gist") or ()),
        reasons=tuple(m.get("reasons") or ()),
        answers=tuple(m.get("answers") or ()),
        errors=tuple(_errors(s) for c in checks for s in c["sets"] or ()),
        findings=tuple(_finding(c["check"], f) for c in checks for f in c["findings"] or ()),
        diagnoses=tuple(_diagnosis(d) for d in m.get("diagnoses") or ()),
        recommendations=tuple(r["do"] for r in m.get("recommendations") or ()),
        worst_cases=tuple(w for w in worst if w is not None),
        group_that_holds=m.get("largest_symmetry", ""),
        data=m,
    )
