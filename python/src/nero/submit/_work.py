"""Which shards are worked on, how often, and until when: the same with every engine."""

import sys
import time
from collections import deque
from typing import Callable, Deque, Dict, Iterable, List, Set, Tuple

from nero._errors import NeroError
from nero.submit._pool import Answer, GoneError, Pool

__all__ = ["Progress", "Work", "indexes", "ranges"]

#: How long a pool is asked to wait at most before it is looked whether something else is to be done, in seconds.
LOOKING = 0.5
#: How long a shard that failed is left alone, in seconds; four times as long whenever it fails again.
PAUSE = 1.0
#: After so many failures without a shard that was kept in between all stops: it is not the shards.
IN_A_ROW = 40


def indexes(text: str) -> List[int]:
    """What "0-4,7" names."""
    found: List[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def ranges(numbers: Iterable[int]) -> str:
    """The reverse of indexes."""
    parts: List[List[int]] = []
    for i in sorted(numbers):
        if parts and parts[-1][1] == i - 1:
            parts[-1][1] = i
        else:
            parts.append([i, i])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


class Progress:
    """How far it is, for people: a line that is written again in a terminal, and one now and then elsewhere."""

    #: How often a line is written, in seconds, in a terminal and elsewhere.
    OFTEN, SELDOM = 0.5, 10.0

    def __init__(self, shards: int, kept: int, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._shards, self._kept, self._quiet, self._clock = shards, kept, quiet, clock
        self._terminal = sys.stderr.isatty()
        self._times: Deque[float] = deque(maxlen=200)  # of the last shards that were kept
        self._before, self._next = "", 0.0
        self._hosts: Set[str] = set()
        self._noted: Set[str] = set()

    def kept(self, answer: Answer) -> None:
        """A shard more."""
        self._kept += 1
        self._hosts.add(str(answer.get("host", "")))
        for note in answer.get("notes", []):
            if note not in self._noted:
                self._noted.add(note)
                self.note(f"note: {note} (on {answer.get('host', '')})")
        if answer.get("computed", True):
            self._times.append(self._clock())

    def line(self) -> str:
        """How far it is."""
        text = f"{self._kept} of {self._shards} shards are kept"
        if len(self._times) > 1 and (took := self._times[-1] - self._times[0]) > 0 and self._kept < self._shards:
            rate = (len(self._times) - 1) / took
            text += f", {rate:.3g} a second, about {_time((self._shards - self._kept) / rate)} left"
        return text + (f"; {len(self._hosts)} machines" if len(self._hosts) > 1 else "")

    def tell(self, last: bool = False) -> None:
        """Writes the line where it is time, and it is another."""
        now, line = self._clock(), self.line()
        if self._quiet or line == self._before or now < self._next and not last:
            return
        self._before, self._next = line, now + (self.OFTEN if self._terminal else self.SELDOM)
        sys.stderr.write(f"\r{line}\x1b[K" if self._terminal else line + "\n")
        sys.stderr.flush()

    def note(self, text: str) -> None:
        """Says what happened, on a line of its own."""
        if not self._quiet:
            sys.stderr.write(("\r\x1b[K" if self._terminal else "") + text + "\n")
            self._before = ""

    def end(self) -> None:
        """Says how far it came."""
        self.tell(last=True)
        if self._terminal and not self._quiet:
            sys.stderr.write("\n")


def _time(seconds: float) -> str:
    n = round(seconds)
    if n < 60:
        return f"{n}s"
    return f"{n // 60}m{n % 60}s" if n < 3600 else f"{n // 3600}h{n % 3600 // 60}m"


class Work:
    """Shards of a run that are not kept yet."""

    def __init__(self, pool: Pool, todo: Iterable[int], tries: int, progress: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool, self._tries, self._progress, self._clock = pool, tries, progress, clock
        self._left = set(todo)
        self._failures: Dict[int, int] = {}
        self._later: "List[Tuple[float, int]]" = []
        self._row = 0
        #: The shards that failed too often, with the last reason.
        self.given_up: Dict[int, str] = {}

    def run(self) -> None:
        """Works until all are kept or given up. NeroError for what would fail again everywhere, GoneError where the engine does not work."""
        for i in sorted(self._left):
            self._pool.submit(i)
        while self._left:
            now = self._clock()
            for due in [x for x in self._later if x[0] <= now]:
                self._later.remove(due)
                self._pool.submit(due[1])
            for answer in self._pool.wait(LOOKING):
                self._heard(answer)
            self._progress.tell()

    def _heard(self, answer: Answer) -> None:
        i = int(answer["shard"])
        if "failed" not in answer:
            self._row = 0
            if i in self._left:
                self._left.remove(i)
                self._progress.kept(answer)
            return
        why = str(answer["failed"])
        if answer["final"]:
            raise NeroError(f"shard {i}: {why}")
        self._failures[i] = n = self._failures.get(i, 0) + 1
        self._row += not answer.get("lost", False)  # machines go by the dozen
        if self._row >= IN_A_ROW:
            raise GoneError(f"{self._row} shards failed without one that was kept in between, the last one: {why}")
        if n > self._tries:
            self._left.discard(i)
            self.given_up[i] = why
            self._progress.note(f"shard {i}: {why}; given up after {n} times")
            return
        self._later.append((self._clock() + PAUSE * 4 ** (n - 1), i))
        self._progress.note(f"shard {i}: {why}; once more ({n} of {self._tries})")
