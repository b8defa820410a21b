"""Keywords, models and data of Python become a folder with a study, which the program reads. Nothing is judged here."""

import contextlib
import difflib
import errno
import functools
import inspect
import json
import os
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, ContextManager, Dict, Generator, Iterable, List, Mapping, Optional, Sequence, TYPE_CHECKING, Tuple, Union

import numpy as np

from nero import _data, _models
from nero._errors import ExportError, NeroError
from nero._guards import is_block, is_path, is_scalar, is_set
from nero._live import Event
from nero._models._model import Asked, Prepared
from nero._program import Ended, start
from nero._progress import tell
from nero._temporary import Temporary
from nero.bridge._model import Model

if TYPE_CHECKING:
    from nero._audit import Audit
    from nero._run import Run

__all__ = ["PathLike", "Progress", "Providers", "Study", "on", "study"]

PathLike = Union[str, "os.PathLike[str]"]
Progress = Union[bool, Callable[[Event], None]]
#: Where models in files run: execution providers of ONNX Runtime such as "openvino" or "cuda:device_id=1+cpu", or several in their order.
Providers = Union[str, Sequence[str], None]

#: Blocks of a study for which a text alone stands, and the key that the text is.
ALONE = {"group": "name", "output": "space", "data": "images", "audit": "preset"}
#: Words of --orbit that a study spells otherwise.
SPELT = {"even": "low_discrepancy"}


class Folder:
    """A folder that was named, or one that goes when nothing needs it any more."""

    def __init__(self, path: Optional[PathLike]) -> None:
        self.kept = path is not None
        if path is None:
            self._lasts = Temporary()
            self.path = self._lasts.path
        else:
            given: Any = path
            if not isinstance(given, (str, os.PathLike)):
                raise TypeError(f"out is {type(given).__name__}; the path of a folder is expected")
            self.path = Path(path).absolute()
            with self.writing():
                self.path.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def writing(self) -> Generator[None, None, None]:
        """Says of what cannot be written that it belongs to out."""
        try:
            yield
        except OSError as e:
            remedy = "name another folder with out" if self.kept else "name a folder elsewhere with out, or set the variable TMPDIR to one"
            raise type(e)(e.errno or errno.EIO, f"{e.strerror or e}: the study cannot be written there; {remedy}", str(self.path)) from e


@dataclass(frozen=True)
class Study:
    """What is asked, as a folder that the command line goes on with: study.yaml, and what it names."""

    keys: Mapping[str, Any]
    #: What was taken from models and data, in sentences.
    notes: Tuple[str, ...] = ()
    _folder: Folder = field(default_factory=lambda: Folder(None), repr=False)
    _live: Tuple[Model, ...] = field(default=(), repr=False)
    _during: Tuple[Callable[[], ContextManager[None]], ...] = field(default=(), repr=False)
    _taken: Tuple[str, ...] = field(default=(), repr=False)

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._folder.path

    @property
    def passing(self) -> bool:
        """Whether the folder goes with this process, because nobody named one."""
        return not self._folder.kept

    @property
    def live(self) -> Tuple[str, ...]:
        """The models that are functions of this process: the command line cannot run them."""
        return tuple(m.name for m in self._live)

    def to_yaml(self) -> str:
        """The text of study.yaml."""
        return "".join(f"{k}: {json.dumps(v, ensure_ascii=False, default=_plain)}\n" for k, v in self.keys.items())

    def command(self, what: str = "audit") -> str:
        """The command line that does the same."""
        words = ["nero", what, str(self.folder / "study.yaml"), "-o", str(self.folder / what)]
        return shlex.join(words + (["-f", "json,html,text"] if what == "audit" else []))

    def audit(
        self,
        *,
        baseline: "Audit | PathLike | None" = None,
        engine: str = "auto",
        provider: Providers = None,
        workers: Optional[int] = None,
        fail_on: str = "attention",
        allow_program: bool = False,
        progress: Progress = True,
    ) -> "Audit":
        """Audits it."""
        from nero._audit import Audit

        out = self.folder / "audit"
        args = ["-f", "json", "-o", str(out), "--fail-on", fail_on]
        if baseline is not None:
            args += ["--baseline", str(baseline.file if isinstance(baseline, Audit) else os.fspath(baseline))]
        file = out / "audit.json"
        file.unlink(missing_ok=True)  # an earlier answer is none to this question
        ended = self._start("audit", args, engine, provider, workers, allow_program, progress)
        if not file.is_file():
            self._check(ended)
            raise NeroError(ended.refusal, ended.field, ended.command)
        made = Audit.read(file, self)
        if (why := made.could_not_run) is not None:
            raise NeroError(why, ended.field, ended.command)
        return made

    def run(
        self,
        *,
        engine: str = "auto",
        provider: Providers = None,
        workers: Optional[int] = None,
        keep_going: bool = False,
        allow_program: bool = False,
        progress: Progress = True,
        budget: Optional[float] = None,
        answers: Optional[str] = None,
    ) -> "Run":
        """Runs it, or goes on where an earlier run of it was stopped; `nero.run` says what the keywords are."""
        from nero._run import Run

        out = self.folder / "run"
        args = ["-o", str(out)] + (["--keep-going"] if keep_going else [])
        if budget is not None:
            args.append(f"--budget={budget:f}s")
        if answers is not None:
            args.append(f"--answers={answers}")
        ended = self._start("run", args, engine, provider, workers, allow_program, progress)
        self._check(ended)
        return Run.read(out, self, ended.out)

    def ask(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        engine: str = "auto",
        provider: Providers = None,
        workers: Optional[int] = None,
        allow_program: bool = False,
        progress: Progress = True,
    ) -> Ended:
        """Asks a command of the program about it, with the functions of this process at hand."""
        ended = self._start(command, list(args), engine, provider, workers, allow_program, progress)
        self._check(ended)
        return ended

    def _check(self, ended: Ended) -> None:
        """Raises what the program refused; of a file that was exported here it is said that there is another way."""
        place = re.fullmatch(r"models\[(\d+)\]\.(onnx|witness)", ended.field)
        if place is not None and "witness" in self.keys["models"][int(place[1])]:
            why = "; torch.onnx.export wrote another model than the module, as PyTorch 1.13 does with circular padding" if place[2] == "witness" else ""
            raise ExportError(f"{ended.refusal}{why}; with export=False the module runs in this process", ended.field, ended.command)
        if ended.code not in (0, 1) and ended.field in self.keys and (near := difflib.get_close_matches(ended.field, _keywords(), 1, 0.8)):
            said = f"{ended.refusal}; did you mean the keyword {near[0]}?"
            raise NeroError(said, ended.field, ended.command)
        ended.check()

    def _start(
        self, what: str, args: List[str], engine: str, provider: Providers, workers: Optional[int], programs: bool, progress: Progress
    ) -> Ended:
        args = [what, "-q", str(self.folder / "study.yaml"), *args]
        if engine != "auto":
            args += ["--engine", engine]
        args += on(provider)
        if workers is not None:
            args += ["--workers", str(workers)]
        if programs:
            args.append("--allow-program")
        with contextlib.ExitStack() as stack:
            for during in self._during:
                stack.enter_context(during())
            tell(self._taken, progress)
            return start(args, self._live, progress)


def on(provider: Providers) -> List[str]:
    """The options that say where models run."""
    return [word for p in ([provider] if isinstance(provider, str) else provider or ()) for word in ("--provider", p)]


def study(
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
    orbit: "float | str | np.number[Any] | Iterable[Any] | Mapping[str, Any] | None" = None,
    out: Optional[PathLike] = None,
    export: "str | bool" = "auto",
    batch: Optional[int] = None,
    **keys: Any,
) -> Study:
    """A study of a model, or of several by name, as a folder: hand it to the command line, a cluster, a colleague.

    >>> s = nero.study("model.onnx", images, "C4", equivariant=False)  # doctest: +SKIP
    >>> print(s.to_yaml(), s.command())  # doctest: +SKIP

    Keywords that are no parameters are keys of the study, such as input={"mean": [0.13]}; `nero schema` lists them.
    """
    folder = Folder(out)
    given: Dict[str, Any] = {k: dict(v) if is_block(v) else v for k, v in keys.items()}

    def put(block: str, key: str, value: Any) -> None:
        if value is not None:
            have = given.get(block, {})
            given[block] = {**(have if isinstance(have, dict) else {ALONE[block]: have}), key: value}

    for block, value in (("group", group), ("output", output)):
        if value is not None:
            given[block] = dict(value) if isinstance(value, Mapping) else {ALONE[block]: value}
    put("group", "orbit", _orbit(orbit))
    put("output", "action", None if equivariant is None else "same" if equivariant else "invariant")
    put("audit", "preset", preset)
    put("audit", "threshold", threshold)
    put("audit", "samples", samples)

    read = _data.prepare(data, labels, samples)
    models: Mapping[Any, Any] = model if is_block(model) else {None: model}
    made: List[Prepared] = []
    staged: List[Temporary] = []

    def place() -> Path:
        """Where models are exported to: not yet into a folder that may hold another study."""
        if folder.kept and not staged:
            staged.append(Temporary())
        return staged[0].path if folder.kept else folder.path

    for name, m in models.items():
        made.append(_models.prepare(m, Asked(None if name is None else str(name), place, read, given, export, batch)))
    _agreed(made, given)
    entries = [dict(p.entry) for p in made]
    if batch is not None:
        for e in entries:
            if "endpoint" in e:
                e["batch"] = batch
    all_keys: Dict[str, Any] = {"version": 1, "models": entries, "data": read.entry}
    for p in (read.keys, *(p.keys for p in made), given):
        all_keys = _over(all_keys, p)
    s = Study(
        all_keys, tuple(n for n in (read.note, *(n for p in made for n in (p.taken, p.note))) if n), folder,
        tuple(p.live for p in made if p.live is not None), tuple(p.during for p in made if p.during is not None),
        tuple(p.taken for p in made if p.taken),
    )  # fmt: skip
    arrays = next((p.arrays for p in made if p.arrays is not None), read.arrays)
    text = s.to_yaml()
    at = folder.path / "study.yaml"
    if folder.kept and at.is_file() and at.read_text(encoding="utf-8") != text:
        raise NeroError(f"{folder.path} holds another study; name another folder with out, or remove its study.yaml")
    with folder.writing():
        for file in [f for t in staged for f in t.path.iterdir()]:
            _write(folder.path / file.name, functools.partial(shutil.copyfile, file))  # it may be on another disk
        if arrays:
            _write(folder.path / "data.npz", lambda p: np.savez(p, **dict(arrays)))  # type: ignore[arg-type]
    if read.write is not None:
        read.write(folder.path)
    with folder.writing():
        _write(at, lambda p: p.write_text(text, encoding="utf-8"))
    return s


def _agreed(made: Sequence[Prepared], given: Mapping[str, Any]) -> None:
    """Refuses models that say different things of themselves: a study makes one claim, and one of them would be held to that of another."""
    first: Dict[str, Tuple[str, Any]] = {}
    for p in made:
        for key, value in p.keys.items():
            said, said_by = _over({key: value}, {key: given[key]} if key in given else {})[key], p.entry["name"]
            by, before = first.setdefault(key, (said_by, said))
            if before != said:
                raise NeroError(
                    f"{by} and {said_by} say different things of themselves, and a study makes one claim: {key} of {by} is {json.dumps(before, default=_plain)}, "
                    f"of {said_by} {json.dumps(said, default=_plain)}; ask them one by one, or say with {key}={{...}} what holds for all"
                )


def _orbit(o: Any) -> Any:
    """The block of a study for the short forms 72, "all", "haar:100", "even:64" and [0, 90, 180]."""
    if o is None or is_block(o):
        return o
    if isinstance(o, str):
        word, _, n = o.partition(":")
        return {SPELT.get(word, word): int(n) if n.isdigit() else n or True}
    if isinstance(o, (int, float, np.number)):  # whether it is a whole one the program judges
        return {"grid": [np.asarray(o).item()]}
    return {"values": [list(np.atleast_1d(np.asarray(v)).tolist()) for v in o]}


def _over(under: Mapping[str, Any], over: Mapping[str, Any]) -> Dict[str, Any]:
    """One study over another, block by block."""
    out = dict(under)
    for k, v in over.items():
        have = out.get(k)
        if isinstance(v, str) and k in ALONE and isinstance(have, Mapping):
            v = {ALONE[k]: v}
        out[k] = _over(have, v) if is_block(v) and is_block(have) else v
    return out


def _keywords() -> List[str]:
    """The keywords that are parameters, which the program cannot know of."""
    return sorted({*inspect.signature(study).parameters, *inspect.signature(Study.audit).parameters} - {"self", "model", "data", "keys"})


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a file whole."""
    part = path.with_name(".part-" + path.name)
    try:
        write(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _plain(v: Any) -> Any:
    """What JSON has for a value of NumPy or a path."""
    if isinstance(v, np.ndarray):
        return v.tolist()
    if is_scalar(v):
        return v.item()
    if is_path(v):
        return os.fspath(v)
    if is_set(v):
        return list(v)
    if is_block(v):
        return dict(v)
    raise TypeError(f"a study holds numbers, texts, lists and blocks of them, and not {type(v).__name__}: {v!r}")
