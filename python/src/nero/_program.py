"""Starts the program nero, serves functions to it, listens to what it tells, and knows how it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Sequence

from nero._errors import NeroError, ProgramMismatch
from nero._find import REMEDY, find_nero, find_onnxruntime, wrong
from nero._live import Channel, Event
from nero._progress import Listener, listener
from nero._temporary import temporary
from nero.bridge._model import Model

__all__ = ["Ended", "program", "start"]

#: Exit code of the program when it could not do what it was asked for.
REFUSED = 2
#: How long an interrupted program may take to end in good order, in seconds; twice, for it is told twice. What is done is kept in any case.
PATIENCE = 3.0


@dataclass(frozen=True)
class Ended:
    """How the program ended."""

    code: int
    #: What it printed.
    out: str
    #: Its sentence, where it refused something.
    refusal: str
    #: The field of the study that it refused.
    field: str
    command: "tuple[str, ...]"

    def check(self) -> "Ended":
        """Raises NeroError where the program refused something."""
        if self.code not in (0, 1):
            raise NeroError(self.refusal, self.field, self.command)
        return self


def program(*args: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Runs the program with arguments of the command line, for all that this package has no function for.

    >>> nero.program("metrics").stdout  # doctest: +SKIP

    With check, an exit code of 2 raises NeroError with the program's sentence.
    """
    command = [find_nero(), *args]
    try:
        p = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    except OSError as e:
        raise _unstarted(command, e) from e
    if check and p.returncode not in (0, 1):
        raise NeroError(_sentence(p.stderr, p.returncode), command=p.args)
    return p


def _environment() -> Dict[str, str]:
    """That of this process, with the library of ONNX Runtime that is installed beside this package, for all calls alike."""
    env = dict(os.environ)
    if (hint := find_onnxruntime()) is not None:
        env.setdefault("NERO_ORT_HINT", hint)
    return env


def start(args: Sequence[str], models: Sequence[Model] = (), progress: "bool | Callable[[Event], None]" = False) -> Ended:
    """Runs the program until it ends. Its questions to the models are answered in the thread that calls.

    What a function raises is raised again as itself. An interrupt goes to the program once, which keeps what is done; then it is raised.
    """
    command = [find_nero(), *args]
    refused: List[Event] = []
    env = _environment()
    with contextlib.ExitStack() as stack:
        tell: Listener = stack.enter_context(listener(progress))

        def heard(e: Event) -> None:
            if e["event"] == "refused":
                refused.append(e)
            else:
                tell(e)

        with temporary():
            out = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", newline=""))
            said = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", newline=""))
        channel = stack.enter_context(Channel(models, heard))
        how: "dict[str, Any]" = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": said, "env": env}
        try:
            if sys.platform == "win32" and not models:
                p = subprocess.Popen(command, creationflags=subprocess.CREATE_NEW_PROCESS_GROUP, **how)
            else:
                # A session of its own: an interrupt of the terminal comes here alone, and the program gets one and not two.
                p = channel.start(command, start_new_session=True, **how)
        except OSError as e:
            raise _unstarted(command, e) from e
        try:
            if channel.started:
                channel.serve()
            code = p.wait()
        except BaseException:
            channel.close()
            _end(p)
            raise
        if channel.error is not None:
            raise channel.error
        out.seek(0)
        said.seek(0)
        printed, spoken = out.read(), said.read()
        if channel.started and not channel.greeted:
            if code < 0 or code == REFUSED and spoken.startswith("nero: "):
                raise NeroError(_sentence(spoken, code), command=command)
            why = wrong(command[0]) or "is not the program of this package: it does not say hello"
            raise ProgramMismatch(f"{command[0]} {why}; {REMEDY}", command=command)
    if refused:
        return Ended(code, printed, refused[-1]["text"], refused[-1].get("field", ""), tuple(command))
    return Ended(code, printed, _sentence(spoken, code), "", tuple(command))


def _unstarted(command: Sequence[str], e: OSError) -> Exception:
    """What is to be raised where the program does not start."""
    if e.filename != command[0]:  # of something else, such as too many open files
        return e
    return ProgramMismatch(f"{command[0]} cannot be started ({e.strerror}); {REMEDY}", command=command)


def _end(p: "subprocess.Popen[Any]") -> None:
    """Ends the program: at first so that it keeps what is done."""
    for how in _interrupts():
        if p.poll() is None:
            p.send_signal(how)
        try:
            p.wait(PATIENCE)
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
        except BaseException:  # of a handler of signals: it goes before
            p.kill()
            p.wait()
            raise
    p.kill()
    p.wait()


def _interrupts() -> "tuple[int, ...]":
    """What a program is told to end by, the gentle ways first."""
    if sys.platform == "win32":
        return (signal.CTRL_BREAK_EVENT,)
    return (signal.SIGINT, signal.SIGINT, signal.SIGKILL)


def _sentence(said: str, code: int) -> str:
    """What the program said when it ended."""
    _, found, text = said.rpartition("\nnero: ")
    if not found:
        text = said.removeprefix("nero: ")
    if code < 0:
        text = f"it was ended by signal {-code}"
    return text.strip() or f"it ended with exit code {code} and said nothing"
