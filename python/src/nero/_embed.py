"""How features move: what the program wrote, read. No number is computed here."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from nero._study import PathLike, Progress, Providers
from nero._subject import several, subject
from nero._temporary import Temporary

__all__ = ["Features", "Embedding", "embed"]


@dataclass(frozen=True)
class Features:
    """The features of one model."""

    model: str
    #: The value of the graph that was read, and how many numbers it has for a sample.
    value: str
    width: int
    #: stay, move, lost, undecided, collapsed or not finite.
    state: str
    #: How far each element takes features, in distances between two objects.
    ratios: Mapping[str, float]
    #: compatible, worse or undecided: whether the other release can read the index; "" without one.
    index: str
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Embedding:
    """How the features of the models of a study move."""

    #: The answer.
    sentence: str
    #: Whether features stay, or move and keep the object, and the other release, if any, can read the index.
    passed: bool
    features: Tuple[Features, ...]
    text: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    @property
    def good(self) -> bool:
        """The same as passed, by its earlier name."""
        return self.passed

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<nero.Embedding: {self.sentence}>"


def embed(
    study: Any,
    data: Any = None,
    group: "str | Mapping[str, Any] | None" = None,
    *,
    labels: Any = None,
    views: Optional[PathLike] = None,
    value: Optional[str] = None,
    against: Optional[PathLike] = None,
    against_value: Optional[str] = None,
    what: "str | Sequence[str]" = (),
    only: "str | Sequence[str]" = (),
    limit: Optional[int] = None,
    seed: Optional[int] = None,
    samples: Optional[int] = None,
    elements: Optional[int] = None,
    export: "str | bool" = "auto",
    engine: str = "auto",
    provider: Providers = None,
    workers: Optional[int] = None,
    progress: Progress = False,
) -> Embedding:
    """How do the features of the models of a study move? Can another release read the index of this one?

    >>> nero.embed("study.yaml", group="C4").features[0].ratios  # doctest: +SKIP
    >>> nero.embed("study.yaml", only=["v1"], against="v2.onnx").features[0].index  # doctest: +SKIP
    >>> nero.embed(encoder, images, "C4").passed  # doctest: +SKIP

    study is a file, a model in a file, or with data any model that nero.audit takes, such as a torch module; so are the data. views lists which inputs show one thing, in place of a group; ratios are then empty, and what was found of pairs is in data["given"] of a model. value names a value of the graph, or the node that makes it, in place of the output, against_value one of the other release, by default that of the same name. what are the parts beside maps: split, generators.
    limit is how many samples of the data there are at most, samples how many of them are asked.
    """
    args: List[str] = []
    said = {
        "views": views,
        "value": value,
        "against": against,
        "against-value": against_value,
        "samples": samples,
        "elements": elements,
        "limit": limit,
        "seed": seed,
        "what": ",".join(several(what)) or None,
    }
    for name, given in said.items():
        if given is not None:
            args += [f"--{name}", str(given)]
    for model in several(only):
        args += ["--only", model]
    kept = Temporary()
    out = kept.path / "embedding.txt"
    args += ["-f", "json", "-o", str(out)]
    ended = subject(study, data, group, labels, export).ask("embed", args, engine, provider, workers, progress)
    report: Mapping[str, Any] = json.loads(ended.out)
    found: Sequence[Mapping[str, Any]] = report["features"]
    return Embedding(report["sentence"], ended.code == 0, tuple(_features(m) for m in found), Path(out).read_text(encoding="utf-8"), report)


def _features(m: Mapping[str, Any]) -> Features:
    moved: Sequence[Mapping[str, Any]] = m.get("transformations") or ()
    ratios = {str(t["element"]): _number(t["ratio"]["value"]) for t in moved}
    against: Mapping[str, Any] = m.get("against") or {}
    return Features(m["model"], m["value"], m["width"], m["state"], ratios, against.get("index", ""), m)


def _number(x: Optional[float]) -> float:
    return float("nan") if x is None else float(x)
