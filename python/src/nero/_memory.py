"""Memory that this process and the program both see, cut into slots: large arrays need not go through the socket.

It is a file without a name, which the system takes back when both have ended, however they end. What the slots are for, the program's packages
model/engine/frame and model/engine/parent describe.
"""

import contextlib
import mmap
import os
import tempfile
import weakref
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from nero._errors import NeroError

__all__ = ["Bytes", "Memory", "share"]

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

#: A slot holds what goes in and what comes out. Only what is written takes memory.
SLOT_BYTES = 256 << 20
SLOTS = 4
#: Where outputs may begin.
ALIGNED = 64


def share(slot_bytes: int = SLOT_BYTES, slots: int = SLOTS) -> "Optional[Memory]":
    """Memory to share; None where the system gives none."""
    fd = -1
    try:
        fd = _file(slot_bytes * slots)
        return Memory(fd, slot_bytes, slots)
    except (OSError, OverflowError, ValueError):  # a limit on files or addresses
        if fd >= 0:
            os.close(fd)
        return None


def _file(size: int) -> int:
    if hasattr(os, "memfd_create"):
        import fcntl

        fd = os.memfd_create("nero", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, size)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)  # so that both can rely on its length
        except BaseException:
            os.close(fd)
            raise
        return fd
    with tempfile.TemporaryFile() as f:
        os.ftruncate(f.fileno(), size)
        return os.dup(f.fileno())


class Memory:
    """The slots, seen from the side that answers."""

    def __init__(self, fd: int, slot_bytes: int, slots: int) -> None:
        self.fd, self.slot_bytes, self.slots = fd, slot_bytes, slots
        self._map = mmap.mmap(fd, slot_bytes * slots)
        # Of slots that cannot be used again yet: what holds the question that lies there.
        self._held: "Dict[int, weakref.ref[Bytes]]" = {}

    def handed_down(self) -> None:
        """Closes the file once the program has it."""
        os.close(self.fd)

    def close(self) -> None:
        """Lets the memory go, as soon as nobody holds an array in it."""
        with contextlib.suppress(BufferError):
            self._map.close()

    def at(self, slot: int, offset: int, size: int) -> Bytes:
        """A piece of a slot, as the program says where it lies. Every array that is made of it holds it."""
        if not 0 <= slot < self.slots:
            raise NeroError(f"the program says that tensors lie in slot {slot}; there are {self.slots}, numbered from 0")
        if offset < 0 or size < 0 or offset + size > self.slot_bytes:
            raise NeroError(f"the program says that {size} bytes of tensors lie from byte {offset} of a slot, which has {self.slot_bytes}")
        if slot in self._held:
            raise NeroError(f"the program uses slot {slot}, which it was not given back")
        return np.frombuffer(self._map, np.uint8, size, slot * self.slot_bytes + offset) if size else np.empty(0, np.uint8)

    def put(self, slot: int, offset: int, arrays: "Sequence[np.ndarray[Any, Any]]") -> Optional[Tuple[int, Bytes]]:
        """Copies arrays into a slot, one after the other, behind what lies there up to offset: where they begin. None if there is no room."""
        at, size = -(-offset // ALIGNED) * ALIGNED, sum(a.nbytes for a in arrays)
        if at + size > self.slot_bytes:
            return None
        piece, n = self.at(slot, at, size), 0
        for a in arrays:
            piece[n : n + a.nbytes] = a.reshape(-1).view(np.uint8)
            n += a.nbytes
        return at, piece

    def leave(self, slot: int, question: "weakref.ref[Bytes]") -> bool:
        """Whether nobody holds an array of the question any more. Otherwise the slot is kept until then."""
        if question() is None:
            return True
        self._held[slot] = question
        return False

    def back(self) -> List[int]:
        """The slots that were kept, and whose arrays have gone since."""
        gone = [slot for slot, question in self._held.items() if question() is None]
        for slot in gone:
            del self._held[slot]
        return gone
