"""How far the program is: events for a function, or lines for people."""

import contextlib
import logging
import sys
from typing import Any, Callable, Generator, Optional, Sequence

from nero._live import Event

__all__ = ["Listener", "listener", "tell"]

Listener = Callable[[Event], None]

log = logging.getLogger("nero")


@contextlib.contextmanager
def listener(progress: "bool | Listener") -> Generator[Listener, None, None]:
    """What hears events: a function of the user's, or a bar. Notes go to the logger "nero" as well."""
    if callable(progress):
        yield progress
        return
    shown = _Bar() if progress and _terminal() else None
    try:

        def heard(e: Event) -> None:
            if e["event"] in ("note", "engine"):
                log.info("%s", e.get("text", ""))
            elif shown is not None:
                shown.heard(e)

        yield heard
    finally:
        if shown is not None:
            shown.close()


def tell(lines: Sequence[str], progress: "bool | Listener") -> None:
    """Says lines where people look: in a terminal or a notebook, where what is no error is not on stderr, and to the logger "nero"."""
    for line in lines:
        log.info("%s", line)
        with contextlib.suppress(OSError, ValueError):  # nobody looks
            if progress is True and "ipykernel" in sys.modules:
                print(line)
            elif progress is True and _terminal():
                print(line, file=sys.stderr)


def _terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # none, one that is no file, or a closed one
        return False


class _Bar:
    """A bar of tqdm if that is installed, else a line that is written again."""

    def __init__(self) -> None:
        self._label, self._unit, self._done, self._total = "", "", 0, 0
        self._bar: Optional[Any] = None
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]

            self._tqdm: Any = tqdm
        except ImportError:
            self._tqdm = None

    def heard(self, e: Event) -> None:
        kind = e["event"]
        if kind == "started":
            self._label, self._unit = f"nero {e.get('task', '')} {e.get('model', '')}".strip(), e.get("unit", "")
        elif kind == "sized":
            self._done, self._total = 0, e["total"]
            if self._tqdm is not None:
                self.close()
                self._bar = self._tqdm(total=self._total, desc=self._label, unit=" " + self._unit, leave=False)
        elif kind == "stepped":
            self._done += e.get("done", 0)
            if self._bar is not None:
                self._bar.update(e.get("done", 0))
            elif self._tqdm is None:
                sys.stderr.write(f"\r{self._label}: {self._done} of {self._total} {self._unit}\x1b[K")
                sys.stderr.flush()
        elif kind == "ended":
            self.close()

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._done and self._tqdm is None:
            sys.stderr.write("\r\x1b[K")
            self._done = 0
