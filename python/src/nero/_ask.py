"""Questions to the program that need no study: folders, comparisons, models, groups, engines."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from nero._audit import Audit
from nero._errors import NeroError
from nero._program import start
from nero._run import Run
from nero._study import PathLike, Providers, on

__all__ = ["Comparison", "EngineInfo", "Group", "Inspection", "compare", "engine", "groups", "inspect", "open"]

#: What stands in a folder of the program, and what it is read as.
AUDIT, RUN = "audit.json", "job.json"


def open(folder: PathLike) -> Union[Audit, Run]:
    """The audit or the run in a folder, whoever made it: `nero.open("nero-run")`."""
    at = Path(folder)
    places = [at, at / "audit", at / "run"]
    found = [p for p in places if (p / AUDIT).is_file() or (p / RUN).is_file()]
    if len(found) != 1:
        what = f"holds {' and '.join(p.name for p in found)}; open one of them" if found else "holds no audit (audit.json) and no run (job.json)"
        raise NeroError(f"{at} {what}")
    return Run.read(found[0]) if (found[0] / RUN).is_file() else Audit.read(found[0] / AUDIT)


@dataclass(frozen=True)
class Comparison:
    """Two audits of one study, or two runs, held against each other."""

    #: Whether something became worse by more than was allowed.
    regressed: bool
    #: What the program says of it.
    text: str
    data: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.strip()


def compare(
    before: "Audit | Run | PathLike",
    after: "Audit | Run | PathLike",
    *,
    model_before: Optional[str] = None,
    model_after: Optional[str] = None,
    allow_regression: float = 0.1,
) -> Comparison:
    """Did a fix help, is a model worse? Two audits, runs or folders of such.

    The only model of each is compared, and of several those of the same name, or the two that model_before and model_after name.
    """
    args = ["compare", _place(before), _place(after), "--allow-regression", repr(float(allow_regression))]
    args += ["--before", model_before] if model_before is not None else []
    args += ["--after", model_after] if model_after is not None else []
    text = start(args).check()
    data = start([*args, "--format", "json"]).check()
    return Comparison(data.code == 1, text.out, json.loads(data.out))


def _place(x: "Audit | Run | PathLike") -> str:
    if isinstance(x, Audit):
        return str(x.file)
    return str(x.folder) if isinstance(x, Run) else os.fspath(x)


@dataclass(frozen=True)
class Inspection:
    """What a model's file says without being run."""

    text: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def inputs(self) -> Tuple[str, ...]:
        """The names of its inputs."""
        return tuple(p["name"] for p in self.data["signature"]["inputs"])

    @property
    def outputs(self) -> Tuple[str, ...]:
        """The names of its outputs."""
        return tuple(p["name"] for p in self.data["signature"]["outputs"])

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.strip()


def inspect(model: PathLike) -> Inspection:
    """Signature, operators, size, cost of a model, and what its graph says about symmetry."""
    place = os.fspath(model)
    return Inspection(start(["inspect", place]).check().out, _json("inspect", place))


@dataclass(frozen=True)
class Group:
    """A group that a study may name."""

    name: str
    doc: str
    axes: str
    #: The elements that act without resampling.
    exact: str
    data: Mapping[str, Any] = field(repr=False)


def groups(*names: str) -> List[Group]:
    """All groups, or what there is to know of some: `nero.groups("C4", "D4 x T(2,Z)")`."""
    return [Group(g["name"], g["doc"], g.get("axes", ""), g.get("exact", ""), g) for g in _json("groups", *names)]


@dataclass(frozen=True)
class EngineInfo:
    """What runs the models here, and why."""

    name: str
    version: str
    reason: str
    data: Mapping[str, Any] = field(repr=False)


def engine(kind: str = "auto", provider: Providers = None) -> EngineInfo:
    """What runs the models: a library of ONNX Runtime (native), on an execution provider such as "openvino" or "cuda+cpu", or that in the program (wasm)."""
    e: Dict[str, Any] = _json("engine", "--engine", kind, *on(provider))
    return EngineInfo(e["name"], e["version"], e.get("reason", ""), e)


def _json(*args: str) -> Any:
    return json.loads(start([*args, "--json"]).check().out)
