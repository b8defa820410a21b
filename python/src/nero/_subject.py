"""What a command is asked about: a study or a model that the program reads by itself, or objects of this process, which become a study."""

import os
from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from nero._guards import is_path
from nero._program import Ended, start
from nero._study import PathLike, Progress, Providers, Study, on, study

__all__ = ["Subject", "several", "subject"]


@dataclass(frozen=True)
class Subject:
    """What is asked about."""

    #: Its words on the command line.
    words: Tuple[str, ...]
    #: The study that objects of this process became.
    made: Optional[Study] = field(default=None, repr=False)

    def ask(self, command: str, args: Sequence[str], engine: str, provider: Providers, workers: Optional[int], progress: Progress) -> Ended:
        """Asks a command about it."""
        args = [*self.words, *args]
        if self.made is not None:
            return self.made.ask(command, args, engine=engine, provider=provider, workers=workers, progress=progress)
        if workers is not None:
            args += ["--workers", str(workers)]
        return start([command, *args, "--engine", engine, *on(provider)], progress=progress).check()


def subject(model: Any, data: Any, group: "str | Mapping[str, Any] | None", labels: Any = None, export: "str | bool" = "auto") -> Subject:
    """Places are handed on as they are; all else is taken as an audit takes it."""
    if isinstance(model, Study):
        if data is not None or labels is not None:
            raise TypeError("a study says what its data are; leave data and labels out, or hand them to nero.study")
        return Subject(_flags(group=_name(group)), model)
    places = [v for v in (model, data, labels) if v is not None]
    if is_path(model) and all(is_path(v) for v in places) and not isinstance(group, Mapping):
        return Subject((os.fspath(model), *_flags(data=data, labels=labels, group=group)))
    if is_path(model) and os.fspath(model).endswith((".yaml", ".yml")):
        raise TypeError(f"{os.fspath(model)} is a study, which says what its data and its group are; give the path of other data and the name of another group, or the model in place of the study")
    if data is None and is_path(model):
        raise TypeError("a group that is a block of a study needs data beside the model; give them, or the name of the group")
    if data is None:
        raise TypeError(f"{type(model).__name__} is no path, and so needs data to be asked about: give an array or a path as data, as nero.audit takes them, or export the model and give the file")
    return Subject((), study(model, data, group, labels=labels, export=export))


def several(words: "str | Sequence[str]") -> Sequence[str]:
    """One word, or several."""
    return [words] if isinstance(words, str) else words


def _name(group: "str | Mapping[str, Any] | None") -> Optional[str]:
    if isinstance(group, Mapping):
        raise TypeError("a study says how its group is sampled; give the name of another group, or hand the block to nero.study")
    return group


def _flags(**said: Optional[PathLike]) -> Tuple[str, ...]:
    out: List[str] = []
    for name, value in said.items():
        if value is not None:
            out += [f"--{name}", os.fspath(value)]
    return tuple(out)
