"""Serves functions of this process to the program nero, which this process starts, over a socket that it hands down.

No port is opened, no file is made, and nobody else on the machine can reach the functions. What goes over the socket is described in the
program's package model/engine/parent. Functions run in the thread that calls `Channel.serve`, so that they see its settings (autocast,
device, context of JAX) and a debugger, and an exception is raised there again, with its own traceback.
"""

import contextlib
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from nero._errors import NeroError, ProgramMismatch
from nero._find import REMEDY, release
from nero.bridge._model import DATATYPES, Model

__all__ = ["Channel"]

PROTOCOL = 1
HEAD = struct.Struct("<4sIIQ")
MAGIC = b"NRL1"
MOST_JSON = 16 << 20
MOST_TENSORS = 512 << 20
NAMES = {d: n for n, d in DATATYPES.items()}
#: Versions of releases, which are compared.
RELEASE = re.compile(r"\d+(\.\d+)+\w*")
#: How often it is asked whether the program is there while nothing comes, in milliseconds.
GLANCE = 500

Event = Mapping[str, Any]


class _Gone(Exception):
    """The program has ended."""


class Channel:
    """The way to one program. `with Channel(models) as c: p = c.start([program, ...]); c.serve(); p.wait()`."""

    def __init__(self, models: Sequence[Model], on_event: Optional[Callable[[Event], None]] = None) -> None:
        self._models = {m.name: m for m in models}
        if len(self._models) < len(models):
            raise ValueError(f"two models have one name: {sorted(m.name for m in models)}")
        self._event = on_event
        self._ours: Optional[socket.socket] = None
        self._program: "Optional[subprocess.Popen[Any]]" = None
        #: What a function raised, if one did. The program is told and ends.
        self.error: Optional[BaseException] = None
        #: Whether a program was started, and whether it has said hello.
        self.started, self.greeted = False, False

    def __enter__(self) -> "Channel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the program go: it notices at its next question."""
        if self._ours is not None:
            self._ours.close()
            self._ours = None

    def start(self, args: Sequence[str], **kw: Any) -> "subprocess.Popen[Any]":
        """Starts the program, as subprocess.Popen does, with one end of the channel."""
        if sys.platform == "win32":
            raise NeroError("functions cannot be served on Windows yet; export the model to an ONNX file")
        ours, theirs = socket.socketpair()
        try:
            env = {**(kw.pop("env", None) or os.environ), "NERO_LIVE": f"fd:{theirs.fileno()}"}
            p = subprocess.Popen(args, pass_fds=[theirs.fileno()], env=env, **kw)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()  # so that the end of the program is the end of the stream
        self._ours, self._program = ours, p
        self.started = True
        _channels.add(self)
        return p

    def serve(self) -> None:
        """Answers the program until it ends. What a function raises is kept in `error`, and the program is told."""
        if self._ours is None:
            raise RuntimeError("no program was started")
        try:
            self._send(0, {"hello": {"protocol": PROTOCOL, "program": "python"}}, [])
            while (frame := self._receive()) is not None:
                call, message, tensors = frame
                if call == 0:
                    self._heard(message)
                    continue
                try:
                    answer, out = self._answer(message, tensors)
                except BaseException as e:  # whatever it is: who called shall get it, the program only its name
                    answer, out = {"error": _said(e)}, []
                    if not isinstance(e, Exception):  # an interrupt: nobody waits for what the program has to say
                        with contextlib.suppress(_Gone):
                            self._send(call, answer, out)
                        raise
                    self.error = self.error or e
                self._send(call, answer, out)
        except _Gone:
            pass  # its exit code says how

    def _heard(self, message: Dict[str, Any]) -> None:
        if "hello" in message:
            self.greeted = True
            theirs, ours = str(message["hello"].get("program", "")).removeprefix("nero "), release()
            of = f"the program is nero {theirs} and this package {ours or 'one from its sources'}"
            if (protocol := message["hello"].get("protocol")) != PROTOCOL:
                raise ProgramMismatch(f"{of}: they speak protocols {protocol} and {PROTOCOL}; {REMEDY}")
            if ours and RELEASE.fullmatch(theirs) and theirs != ours:
                raise ProgramMismatch(f"{of}; {REMEDY}")
        elif self._event is not None and "event" in message:
            self._event(message)

    def _exactly(self, n: int) -> Optional[memoryview]:
        """n bytes; None at the end of the stream."""
        ours = self._open()
        into = memoryview(bytearray(n))
        at = 0
        while at < n:
            self._wait()
            try:
                got = ours.recv_into(into[at:])
            except ConnectionResetError:
                raise _Gone from None
            if got == 0:
                if at == 0:
                    return None
                raise _Gone
            at += got
        return into

    def _open(self) -> socket.socket:
        if self._ours is None:
            raise RuntimeError("the channel is closed: this process was forked off from the one that the program asks")
        return self._ours

    def _wait(self) -> None:
        """Until something can be read. A process that was forked off in an unlucky moment may hold the other end, so that no end comes when the program ends."""
        ready = select.poll()
        ready.register(self._open(), select.POLLIN)
        while not ready.poll(GLANCE):
            if self._program is not None and self._program.poll() is not None and not ready.poll(0):
                raise _Gone

    def _receive(self) -> Optional[Tuple[int, Dict[str, Any], memoryview]]:
        head = self._exactly(HEAD.size)
        if head is None:
            return None
        magic, call, length, size = HEAD.unpack(head)
        if magic != MAGIC or length > MOST_JSON or size > MOST_TENSORS:
            raise NeroError(f"what the program wrote is no frame: {bytes(head)!r}")
        text, tensors = self._exactly(length), self._exactly(size)
        if text is None or tensors is None:
            return None
        message = json.loads(bytes(text)) if length else {}
        return call, message, tensors

    def _send(self, call: int, message: Mapping[str, Any], tensors: "Sequence[np.ndarray[Any, Any]]") -> None:
        ours = self._open()
        text = json.dumps(message).encode()
        try:
            ours.sendall(HEAD.pack(MAGIC, call, len(text), sum(t.nbytes for t in tensors)) + text)
            for t in tensors:
                if t.nbytes:
                    ours.sendall(t.reshape(-1).view(np.uint8).data)  # without a copy
        except (BrokenPipeError, ConnectionResetError):
            raise _Gone from None

    def _answer(self, m: Mapping[str, Any], tensors: memoryview) -> "Tuple[Dict[str, Any], List[np.ndarray[Any, Any]]]":
        model = self._models.get(m["model"])
        if model is None:
            raise NeroError(f"no function is called {m['model']}; there are {sorted(self._models)}")
        if m["method"] == "describe":
            return model.metadata(), []
        arrays, at = {}, 0
        for x in m["inputs"]:
            n = x["parameters"]["binary_data_size"]
            arrays[x["name"]] = np.frombuffer(tensors[at : at + n], DATATYPES[x["datatype"]]).reshape(x["shape"])
            at += n
        found = model.run(arrays, [o["name"] for o in m["outputs"]])
        outputs = [
            {"name": n, "datatype": NAMES[a.dtype], "shape": list(a.shape), "parameters": {"binary_data_size": a.nbytes}}
            for n, a in found.items()
        ]
        return {"model_name": model.name, "model_version": model.version, "outputs": outputs}, list(found.values())


def _said(e: BaseException) -> str:
    """An exception in a line; some cannot say what they are."""
    try:
        return f"{type(e).__name__}: {e}"
    except Exception:
        return type(e).__name__


#: What is to be let go in processes that are forked off, such as workers of a DataLoader: with a copy of this end, the program would not notice that
#: this process ended.
_channels: "weakref.WeakSet[Channel]" = weakref.WeakSet()


def _forked() -> None:
    for c in list(_channels):
        c.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
