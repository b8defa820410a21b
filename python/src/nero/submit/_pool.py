"""What an engine has to give: places where shards are worked on. Which, how often and until when is said by _work."""

import importlib
from dataclasses import dataclass
from typing import Any, Dict, List, Protocol

from nero._errors import NeroError
from nero._find import NAME

__all__ = ["Answer", "GoneError", "Place", "Pool", "engine"]

#: What is said of a shard: by the program (shard, computed, seconds, pid, host), or why it failed (shard, failed, final; lost where its worker was).
Answer = Dict[str, Any]


class GoneError(Exception):
    """The engine is not there, or not any more. The same command goes on with what is missing."""


@dataclass(frozen=True)
class Place:
    """What a slot is to be, and how many there are."""

    #: The program with its arguments, which reads indexes of shards line by line.
    command: "tuple[str, ...]"
    #: Variables that it gets where the worker has none of their name.
    environment: Dict[str, str]
    #: How many at most; 0 for as many as there is room for.
    slots: int
    #: Processors and GPUs of each.
    workers: int
    gpus: float
    #: How long what is under way may take to its end when all is stopped, in seconds.
    grace: float


class Pool(Protocol):
    """Slots of an engine."""

    def submit(self, shard: int) -> None:
        """Has a shard evaluated, some time, somewhere."""

    def wait(self, seconds: float) -> List[Answer]:
        """What came in, after that time at the latest."""
        ...

    def close(self) -> None:
        """Takes back what was not begun, lets what is under way end, and leaves nothing running."""


def engine(module: str, extra: str) -> Any:
    """The module of an engine, which nobody needs who does not ask for it."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        if e.name is not None and e.name.partition(".")[0] != module:
            raise
        raise NeroError(f'{module} is not installed for this Python; install it with: pip install "{NAME}[{extra}]"') from e
