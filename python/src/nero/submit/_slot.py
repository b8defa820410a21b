"""What works on shards, wherever an engine puts it. This file alone travels to the workers: it needs nothing but Python there, and the program."""

import collections
import contextlib
import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, Deque, Dict, List, Optional, Sequence, cast

__all__ = ["REFUSED", "Slot", "Slots", "ask", "close"]

#: Exit code of the program for what would fail again, everywhere.
REFUSED = 2
#: What the program begins a note with.
NOTE = "note: "
#: How long a program without work is kept, in seconds: whoever asked may be gone.
IDLE = 120.0


class Slot:
    """One program `nero shard --stdin`, which opens data and models once. It is started when it is asked, and again where it was killed."""

    def __init__(self, command: Sequence[str], environment: Dict[str, str]) -> None:
        self._command, self._environment = list(command), dict(environment)
        self._program: "Optional[subprocess.Popen[str]]" = None
        self._said: Optional[IO[bytes]] = None
        self._lock = threading.Lock()  # of starting, asking and closing, not of waiting for the answer
        self._timer: Optional[threading.Timer] = None
        self._closed = self._busy = self._noted = False

    def ready(self) -> str:
        """Where it is."""
        return socket.gethostname()

    def shard(self, i: int) -> Dict[str, Any]:
        """Has a shard evaluated: what the program says of it, or why it could not be, as {"shard", "failed", "final"}."""
        p: "Optional[subprocess.Popen[str]]" = None
        try:
            with self._lock:
                if self._closed:
                    return {"shard": i, "failed": "stopped", "final": False}
                if self._timer is not None:
                    self._timer.cancel()
                p = self._program
                if p is None or p.poll() is not None or p.stdin is None or p.stdin.closed:
                    p = self._start()
                if p.stdin is None or p.stdout is None:
                    raise BrokenPipeError
                self._busy = True
                p.stdin.write(f"{i}\n")
                p.stdin.flush()
            line = p.stdout.readline()
        except BrokenPipeError:  # it ended before it could be asked
            line = ""
        except UnicodeDecodeError:
            line = "what is no text\n"
        except OSError as e:  # it cannot be started: everywhere alike if it is not there
            why = f"{self._command[0]} cannot be started on {socket.gethostname()} ({e.strerror}); install it there, or name its path with --nero"
            return {"shard": i, "failed": why, "final": isinstance(e, (FileNotFoundError, PermissionError))}
        if not line.endswith("\n"):
            return self._ended(i)
        answer = _answer(line)
        if answer.get("shard") != i:
            if p is not None:  # nobody knows what it says next
                p.kill()
            self._ended(i)
            return {"shard": i, "failed": f"the program printed {line[:80]!r} in place of an answer (on {socket.gethostname()})", "final": False}
        with self._lock:
            self._busy = False
            notes, self._noted = ([] if self._noted else _notes(self._said)), True
            self._timer = threading.Timer(IDLE, self._hang_up)
            self._timer.daemon = True
            self._timer.start()
        if self._closed:
            self._hang_up()
        return {**answer, "host": socket.gethostname(), "notes": notes}

    def _start(self) -> "subprocess.Popen[str]":
        if self._program is not None and self._said is not None:  # which ended while nobody asked
            _gone(self._program, self._said)
        self._program = self._said = None
        command = list(self._command)
        if not os.path.isfile(command[0]):
            command[0] = shutil.which(os.path.basename(command[0])) or command[0]
        with contextlib.ExitStack() as stack:
            said = stack.enter_context(tempfile.TemporaryFile())
            # A session of its own: an interrupt of a terminal goes to who asks, and what is under way is finished.
            p = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8",
                env={**self._environment, **os.environ}, start_new_session=True,
            )  # fmt: skip
            stack.pop_all()
        self._program, self._said, self._noted = p, said, False
        return p

    def _ended(self, i: int) -> Dict[str, Any]:
        """Why the program ended instead of answering."""
        with self._lock:
            p, said, self._program, self._said, self._busy = self._program, self._said, None, None, False
        if p is None or said is None:
            return {"shard": i, "failed": "stopped", "final": False}
        code = p.wait()
        said.seek(0)
        text = said.read()[-4000:].decode("utf-8", "replace").rpartition("nero: ")[2].strip()
        _gone(p, said)
        if code < 0:
            text = f"the program was ended by signal {-code}"
        return {"shard": i, "failed": f"{text or f'the program ended with {code}'} (on {socket.gethostname()})", "final": code == REFUSED}

    def _hang_up(self) -> None:
        """Lets the program end when it has finished what is under way."""
        with self._lock:
            p, said = self._program, self._said
            if p is None or said is None:
                return
            _hang_up(p)
            if not self._busy:
                self._program = self._said = None
                threading.Thread(target=_gone, args=(p, said), daemon=True).start()

    def close(self) -> None:
        """Takes no more work. What is under way is finished by the program."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._hang_up()

    def kill(self) -> None:
        """Ends the program at once."""
        self._closed = True
        if self._program is not None:
            self._program.kill()


def _answer(line: str) -> Dict[str, Any]:
    """What the program says of a shard; nothing where it is something else, such as what a library of a model prints."""
    try:
        said: Any = json.loads(line)
    except ValueError:
        return {}
    return cast(Dict[str, Any], said) if isinstance(said, dict) else {}


def _notes(said: Optional[IO[bytes]]) -> List[str]:
    """What the program noted until now, such as that this is another kind of processor. Its own place in the file is left alone."""
    if said is None or sys.platform == "win32":
        return []
    lines = os.pread(said.fileno(), 1 << 16, 0).decode("utf-8", "replace").splitlines()
    return [line[len(NOTE) :] for line in lines if line.startswith(NOTE)]


def _hang_up(p: "subprocess.Popen[str]") -> None:
    """Ends what a program reads."""
    if p.stdin is not None:
        with contextlib.suppress(OSError):  # it ended before
            p.stdin.close()


def _gone(p: "subprocess.Popen[str]", said: IO[bytes]) -> None:
    """Waits for a program that ends, and leaves nothing of it."""
    p.wait()
    _hang_up(p)
    if p.stdout is not None:
        p.stdout.close()
    said.close()


class Slots:
    """The slots of a worker with several threads: as many as were asked at once."""

    def __init__(self, name: str, command: Sequence[str], environment: Dict[str, str]) -> None:
        self.name, self._how = name, (list(command), dict(environment))
        self._all: List[Slot] = []
        self._idle: Deque[Slot] = collections.deque()

    def shard(self, i: int) -> Dict[str, Any]:
        """Has a shard evaluated by a slot that has nothing to do."""
        try:
            slot = self._idle.pop()
        except IndexError:
            slot = Slot(*self._how)
            self._all.append(slot)
        answer = slot.shard(i)
        self._idle.append(slot)
        return answer

    def close(self) -> None:
        """Takes no more work."""
        for slot in self._all:
            slot.close()


def _held(worker: Any) -> Dict[str, Slots]:
    """What a worker keeps between its tasks: functions that travel have no module there in which it could stand."""
    held: Dict[str, Slots] = worker.__dict__.setdefault("nero_slots", {})
    return held


def ask(slots: Slots, i: int) -> Dict[str, Any]:
    """Has a shard evaluated on the worker of Dask that runs this, by the slots that were the first of their name there."""
    distributed: Any = importlib.import_module("distributed")
    held: Slots = _held(distributed.get_worker()).setdefault(slots.name, slots)
    return held.shard(i)


def close(name: str, dask_worker: Any) -> None:
    """Closes the slots of that name on a worker of Dask."""
    slots = _held(dask_worker).pop(name, None)
    if slots is not None:
        slots.close()
