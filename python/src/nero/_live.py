"""Serves functions of this process to the program nero, which this process starts, over a socket that it hands down.

No port is opened, and nobody else on the machine can reach the functions. What goes over the socket, and that large arrays lie in memory that
both processes see, is described in the program's package model/engine/parent. Functions run in the thread that calls `Channel.serve`, so that
they see its settings (autocast, device, context of JAX) and a debugger, and an exception is raised there again, with its own traceback.
"""

import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import sys
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from nero._errors import NeroError, ProgramMismatch
from nero._find import REMEDY, another, release
from nero._memory import Bytes, Memory, share
from nero.bridge._model import DATATYPES, Model

__all__ = ["Channel"]

PROTOCOL = 1
HEAD = struct.Struct("<4sIIQ")
MAGIC = b"NRL1"
#: Follows the head of a frame whose tensors lie in memory that both see: slot, and where in it.
PLACE = struct.Struct("<IQ")
MAGIC_SHARED = b"NRLM"
#: How many bytes are sent at once, since a copy is cheaper than another call of the system.
AT_ONCE = 64 << 10
MOST_JSON = 16 << 20
MOST_TENSORS = 512 << 20
NAMES = {d: n for n, d in DATATYPES.items()}
#: How often it is asked whether the program is there while nothing comes, in milliseconds.
GLANCE = 500

Event = Mapping[str, Any]


class _Gone(Exception):
    """The program has ended."""


class Channel:
    """The way to one program. `with Channel(models) as c: p = c.start([program, ...]); c.serve(); p.wait()`."""

    def __init__(self, models: Sequence[Model], on_event: Optional[Callable[[Event], None]] = None, shared: bool = True) -> None:
        self._models = {m.name: m for m in models}
        if len(self._models) < len(models):
            raise ValueError(f"two models have one name: {sorted(m.name for m in models)}")
        self._event = on_event
        self._ours: Optional[socket.socket] = None
        self._program: "Optional[subprocess.Popen[Any]]" = None
        self._shared = shared
        self._memory: Optional[Memory] = None
        # What has come and was not read yet: from self._from to self._to of self._came.
        self._came = memoryview(bytearray(AT_ONCE))
        self._from = self._to = 0
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
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def start(self, args: Sequence[str], **kw: Any) -> "subprocess.Popen[Any]":
        """Starts the program, as subprocess.Popen does, with one end of the channel."""
        if sys.platform == "win32":
            raise NeroError("functions cannot be served on Windows yet; export the model to an ONNX file")
        ours, theirs = socket.socketpair()
        memory = share() if self._shared and self._models else None
        try:
            env = {**(kw.pop("env", None) or os.environ), "NERO_LIVE": f"fd:{theirs.fileno()}"}
            p = subprocess.Popen(args, pass_fds=[theirs.fileno()] + ([memory.fd] if memory else []), env=env, **kw)
        except BaseException:
            ours.close()
            if memory is not None:
                memory.close()
            raise
        finally:
            theirs.close()  # so that the end of the program is the end of the stream
            if memory is not None:
                memory.handed_down()
        self._ours, self._memory, self._program = ours, memory, p
        self.started = True
        _channels.add(self)
        return p

    def serve(self) -> None:
        """Answers the program until it ends. What a function raises is kept in `error`, and the program is told."""
        if self._ours is None:
            raise RuntimeError("no program was started")
        try:
            hello: Dict[str, Any] = {"protocol": PROTOCOL, "program": "python"}
            if self._memory is not None:
                hello["shm"] = [self._memory.fd, self._memory.slot_bytes, self._memory.slots]
            self._send(0, {"hello": hello}, [])
            answer: Dict[str, Any]
            out: "List[np.ndarray[Any, Any]]"
            while (frame := self._receive()) is not None:
                call, message, tensors, slot = frame
                frame = None
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
                if slot is None:
                    self._send(call, answer, out)
                else:
                    length, question = len(tensors), weakref.ref(tensors)
                    del tensors  # else it would be held here
                    self._reply(call, answer, out, slot, length, question)
        except _Gone:
            pass  # its exit code says how

    def _heard(self, message: Dict[str, Any]) -> None:
        if "hello" in message:
            self.greeted = True
            theirs = str(message["hello"].get("program", "")).removeprefix("nero ")
            if why := another(theirs):
                raise ProgramMismatch(f"the program {why}; {REMEDY}")
            if (protocol := message["hello"].get("protocol")) != PROTOCOL:
                of = f"the program is nero {theirs} and this package {release() or 'one from its sources'}"
                raise ProgramMismatch(f"{of}: they speak protocols {protocol} and {PROTOCOL}; {REMEDY}")
        elif self._event is not None and "event" in message:
            self._event(message)

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

    def _take(self, into: memoryview) -> int:
        """Receives what there is, at least one byte; 0 at the end of the stream."""
        self._wait()
        try:
            return self._open().recv_into(into)
        except ConnectionResetError:
            raise _Gone from None

    def _more(self, into: memoryview) -> bool:
        """Fills it with what comes next. False at the end of the stream."""
        at = min(len(into), self._to - self._from)
        into[:at] = self._came[self._from : self._from + at]
        self._from += at
        while at < len(into):
            if len(into) - at >= AT_ONCE:
                got = self._take(into[at:])
                at += got
            else:  # what follows comes along
                got = self._take(self._came)
                self._from, self._to = min(got, len(into) - at), got
                into[at : at + self._from] = self._came[: self._from]
                at += self._from
            if got == 0:
                if at == 0:
                    return False
                raise _Gone
        return True

    def _exactly(self, n: int) -> Optional[Bytes]:
        """n bytes; None at the end of the stream."""
        into = np.empty(n, np.uint8)  # which nobody fills with zeros first
        return into if self._more(into.data) else None

    def _receive(self) -> Optional[Tuple[int, Dict[str, Any], Bytes, Optional[int]]]:
        """A frame: number, message, tensors, and the slot in which they lie."""
        head = self._exactly(HEAD.size)
        if head is None:
            return None
        magic, call, length, size = HEAD.unpack(head.data)
        shared = magic == MAGIC_SHARED and self._memory is not None
        if (magic != MAGIC and not shared) or length > MOST_JSON or size > MOST_TENSORS:
            raise NeroError(f"what the program wrote is no frame: {head.tobytes()!r}")
        slot: Optional[int] = None
        offset = 0
        if shared:
            place = self._exactly(PLACE.size)
            if place is None:
                return None
            slot, offset = PLACE.unpack(place.data)
        text = self._exactly(length)
        if text is None:
            return None
        message: Dict[str, Any] = json.loads(text.tobytes()) if length else {}
        if slot is not None:
            assert self._memory is not None
            tensors: Optional[Bytes] = self._memory.at(slot, offset, size)
        else:
            tensors = self._exactly(size)
        return None if tensors is None else (call, message, tensors, slot)

    def _send(self, call: int, message: Mapping[str, Any], tensors: "Sequence[np.ndarray[Any, Any]]") -> None:
        text = json.dumps(message).encode()
        size = sum(t.nbytes for t in tensors)
        head = HEAD.pack(MAGIC, call, len(text), size) + text
        views = [t.reshape(-1).view(np.uint8).data for t in tensors if t.nbytes]  # without a copy
        if len(head) + size <= AT_ONCE:
            self._put(b"".join([head, *views]))
        else:
            self._put(head, *views)

    def _put(self, *parts: "bytes | memoryview") -> None:
        ours = self._open()
        try:
            for p in parts:
                ours.sendall(p)
        except (BrokenPipeError, ConnectionResetError):
            raise _Gone from None

    def _send_shared(self, call: int, message: Mapping[str, Any], slot: int, offset: int, size: int) -> None:
        text = json.dumps(message).encode()
        self._put(HEAD.pack(MAGIC_SHARED, call, len(text), size) + PLACE.pack(slot, offset) + text)

    def _reply(self, call: int, message: Mapping[str, Any], out: "List[np.ndarray[Any, Any]]", slot: int, length: int, question: "weakref.ref[Bytes]") -> None:
        """Answers a question that lies in a slot: there, unless the answer has no room or somebody holds the arrays of the question."""
        assert self._memory is not None
        for back in self._memory.back():
            self._send_shared(0, {}, back, 0, 0)
        put = self._memory.put(slot, length, out)
        if put is None:
            out = [t.copy() for t in out]  # some may be those of the question
        else:
            out.clear()
        left = self._memory.leave(slot, question)
        if put is None:
            self._send(call, message, out)
            if left:
                self._send_shared(0, {}, slot, 0, 0)
        elif left:
            self._send_shared(call, message, slot, put[0], len(put[1]))
        else:
            self._send(call, message, [put[1]])

    def _answer(self, m: Mapping[str, Any], tensors: Bytes) -> "Tuple[Dict[str, Any], List[np.ndarray[Any, Any]]]":
        model = self._models.get(m["model"])
        if model is None:
            raise NeroError(f"no function is called {m['model']}; there are {sorted(self._models)}")
        if m["method"] == "describe":
            return model.metadata(), []
        arrays: "Dict[str, np.ndarray[Any, Any]]" = {}
        at = 0
        for x in m["inputs"]:
            n, dtype = x["parameters"]["binary_data_size"], DATATYPES[x["datatype"]]
            arrays[x["name"]] = tensors[at : at + n].view(dtype).reshape(x["shape"])
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
