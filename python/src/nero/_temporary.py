"""Folders of what nobody asked to keep.

Those of one process lie in one folder, which goes with the process. What a process leaves that was killed goes when the next one needs a folder:
each holds a lock on a file in its own, which ends with it.
"""

import contextlib
import os
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Generator, Optional

__all__ = ["Temporary", "temporary"]

#: What the folders of processes begin with, and the file in each that is locked.
PREFIX, ALIVE = "nero-python-", ".alive"


@contextlib.contextmanager
def temporary() -> Generator[None, None, None]:
    """Says what helps where temporary files cannot be made."""
    try:
        yield
    except OSError as e:
        raise type(e)(e.errno, f"{e.strerror}: temporary files cannot be made there; set the variable TMPDIR to a folder that can be written", e.filename) from e


class Temporary:
    """A folder that goes when nothing needs it any more, and at the latest with the process."""

    def __init__(self) -> None:
        self._in = _Process.this()
        with temporary():
            self.path = Path(tempfile.mkdtemp(prefix="", dir=self._in.path))
        weakref.finalize(self, _remove, str(self.path), os.getpid()).atexit = False  # it goes with that of the process


class _Process:
    """The folder of this process."""

    _last: "Optional[weakref.ref[_Process]]" = None

    def __init__(self) -> None:
        with temporary():
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.pid = os.getpid()
        weakref.finalize(self, _remove, str(self.path), self.pid, lock := _Lock())
        lock.take(self.path)

    @staticmethod
    def this() -> "_Process":
        """It, made if there is none: a process that was forked off has its own."""
        last = None if _Process._last is None else _Process._last()
        if last is None or last.pid != os.getpid() or not last.path.is_dir():
            _sweep()
            last = _Process()
            _Process._last = weakref.ref(last)
        return last


class _Lock:
    """On a file in a folder, as long as this process and what is forked off from it live."""

    def __init__(self) -> None:
        self._fd: Optional[int] = None

    def take(self, folder: Path) -> None:
        """Takes it. A file system that knows no locks is left alone: nothing is swept there."""
        if sys.platform == "win32":
            return
        import fcntl

        part = folder / f"{ALIVE}.part"
        self._fd = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except OSError:
            part.unlink()
        else:
            part.rename(folder / ALIVE)  # whoever finds it finds it locked

    def release(self) -> None:
        """Lets it go."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _remove(path: str, pid: int, lock: Optional[_Lock] = None) -> None:
    if os.getpid() == pid:  # else this process is a copy of the one that needs it
        try:
            shutil.rmtree(path, ignore_errors=True)
        except KeyboardInterrupt:  # who is impatient shall not find it afterwards
            shutil.rmtree(path, ignore_errors=True)
            raise
    if lock is not None:
        lock.release()


def _sweep() -> None:
    """Removes what processes left that are gone."""
    if sys.platform == "win32":
        return
    import fcntl

    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        try:
            if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
                continue
            fd = os.open(folder / ALIVE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # it is needed
        finally:
            os.close(fd)
