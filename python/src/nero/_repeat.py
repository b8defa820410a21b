"""Models asked the same again: what the program wrote, read. No number is computed here."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Tuple

from nero._audit import Interval
from nero._guards import is_block
from nero._study import PathLike, Progress, Providers
from nero._subject import several, subject
from nero._temporary import Temporary

__all__ = ["Repeat", "RepeatModel", "RepeatView", "repeat"]


@dataclass(frozen=True)
class RepeatView:
    """One view of the objects beside the reference."""

    name: str
    #: same, differs or open: whether it is answered as the reference is; empty where it is the same, and answers are not shown to depend on the object.
    state: str
    #: How often an answer differs from one to the reference; of numbers how far, over the centred scale.
    difference: Interval
    #: By how much more than two answers to one view differ; None where each was asked once.
    excess: Optional[Interval]
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class RepeatModel:
    """What one model answered."""

    model: str
    #: PASS, FAIL, NEEDS_ATTENTION, or DESCRIBED where nothing is claimed.
    verdict: str
    sentence: str
    #: Share of pairs of answers to the same that are equal; None where each was asked once.
    agreement: Optional[Interval]
    #: Share of pairs of answers to different views of one object that are equal; None with one view.
    over_views: Optional[Interval]
    #: Mean distance of two answers to different views of one object, over the centred scale; None for labels, and with one view.
    apart: Optional[Interval]
    #: Share of the errors that asking again does not find; None where no right answers are known.
    consistent_errors: Optional[Interval]
    #: Those beside the reference, by how much they differ, most first.
    views: Tuple[RepeatView, ...]
    #: How many questions came to what, such as answered, rate_limited or timed_out.
    outcomes: Mapping[str, int]
    #: kept, broken or open, of all objects so far; "" without a contract.
    contract: str
    #: Whether repeats look as if somebody had kept the answers.
    cached: bool
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Repeat:
    """Whether models answer the same again, and the same in other words. It is no truth value: say `repeat.passed`, or look at the verdict."""

    #: The answer.
    sentence: str
    #: PASS, FAIL, NEEDS_ATTENTION, or DESCRIBED where nothing is claimed.
    verdict: str
    models: Tuple[RepeatModel, ...]
    #: What the program says of it, and its page.
    text: str = field(repr=False)
    html: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        raise TypeError('what was asked again has four verdicts and is neither true nor false; say repeat.passed, or repeat.verdict == "FAIL"')

    @property
    def passed(self) -> bool:
        """Whether something is claimed, and all of it is shown."""
        return self.verdict == "PASS"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<nero.Repeat: {self.sentence}>"


def repeat(
    study: Any,
    data: Any = None,
    group: "str | Mapping[str, Any] | None" = None,
    *,
    labels: Any = None,
    views: Optional[PathLike] = None,
    times: Optional[int] = None,
    normalise: "str | Sequence[str]" = (),
    reference: Optional[str] = None,
    excess: Optional[float] = None,
    seeds: Sequence[int] = (),
    bust: Optional[str] = None,
    only: "str | Sequence[str]" = (),
    contract: "str | Sequence[float] | Mapping[str, float] | None" = None,
    limit: Optional[int] = None,
    seed: Optional[int] = None,
    after: Optional[PathLike] = None,
    out: Optional[PathLike] = None,
    export: "str | bool" = "auto",
    engine: str = "auto",
    provider: Providers = None,
    workers: Optional[int] = None,
    progress: Progress = False,
) -> Repeat:
    """Asked again, is the answer the same? Asked in other words, is it still?

    >>> nero.repeat("http://127.0.0.1:8080/assistant", views="views.csv", normalise=["trim", "case"]).passed  # doctest: +SKIP
    >>> nero.repeat("study.yaml", times=10).models[0].consistent_errors  # doctest: +SKIP

    study is a file, a model, or the address of an endpoint; with data it may be any model that nero.audit takes. views lists what belongs together; with data
    and group the elements of the group are the views. contract is what must hold of inputs like these: (0.5, 0.05) says that answers to at most 5 % of them
    may be off by more than 0.5, (0.5, 0.05, 0.99) so with confidence 0.99.
    normalise are the rules that make texts equal which mean the same: trim, case, json, match=REGEXP, number. With out the report is kept there in every
    form, and after="out/repeat.json" goes on with its contract.
    """
    kept = Temporary()
    to = kept.path / "repeat" if out is None else Path(out)
    args = ["-f", "json", "-o", str(to)]
    said = {
        "views": views,
        "times": times,
        "reference": reference,
        "excess": excess,
        "seeds": ",".join(str(int(n)) for n in seeds) or None,
        "bust": bust,
        "limit": limit,
        "seed": seed,
        "after": after,
        "contract": _contract(contract),
    }
    for name, value in said.items():
        if value is not None:
            args += [f"--{name}", repr(value) if isinstance(value, float) else str(value)]
    for rule in several(normalise):
        args += ["--normalise", rule]
    for model in several(only):
        args += ["--only", model]
    subject(study, data, group, labels, export).ask("repeat", args, engine, provider, workers, progress)
    text, page = ((to / f"repeat.{end}").read_text(encoding="utf-8") for end in ("txt", "html"))
    found: Mapping[str, Any] = json.loads((to / "repeat.json").read_text(encoding="utf-8"))
    return Repeat(found["sentence"], found["verdict"], tuple(_model(m) for m in found["models"]), text, page, found)


def _contract(said: "str | Sequence[float] | Mapping[str, float] | None") -> Optional[str]:
    """A contract in the words of the command line."""
    if said is None or isinstance(said, str):
        return said
    if is_block(said):
        keys = ("error", "rate", "confidence")
        if not {"error", "rate"} <= set(said) <= set(keys):
            raise TypeError(f"contract has the keys {sorted(said)}; it has error and rate, and maybe confidence")
        said = [said[k] for k in keys if k in said]
    return ":".join(repr(float(x)) for x in said)


def _model(m: Mapping[str, Any]) -> RepeatModel:
    repeats: Mapping[str, Any] = m.get("repeats") or {}
    correct: Mapping[str, Any] = repeats.get("correct") or {}
    given: Sequence[Mapping[str, Any]] = m.get("views") or ()
    outcomes: Sequence[Mapping[str, Any]] = m["outcomes"]
    contract: Mapping[str, Any] = m.get("contract") or {}
    stream: Mapping[str, Any] = contract.get("stream") or {}
    return RepeatModel(
        m["name"],
        m["verdict"],
        m["sentence"],
        _estimate(repeats.get("agreement")),
        _estimate(m.get("over_views")),
        _estimate(m.get("apart")),
        _estimate(correct.get("consistent_errors")),
        tuple(_view(v) for v in given if not v.get("reference")),
        {o["name"]: o["n"] for o in outcomes},
        stream.get("state", ""),
        bool(m.get("cached")),
        m,
    )


def _view(v: Mapping[str, Any]) -> RepeatView:
    nothing = Interval(float("nan"), float("nan"), float("nan"), 0)
    return RepeatView(v["name"], v.get("state", ""), _estimate(v.get("difference")) or nothing, _estimate(v.get("excess")), v)


def _estimate(e: Optional[Mapping[str, Any]]) -> Optional[Interval]:
    """An estimate; numbers that are undefined, and limits that there are none of, are NaN."""
    return None if e is None else Interval(_number(e["value"]), _number(e["low"]), _number(e["high"]), int(e["n"]))


def _number(x: Optional[float]) -> float:
    return float("nan") if x is None else float(x)
