"""Slots that are processes of this machine."""

import os
import queue
import threading
import time
from typing import List

from nero.submit._pool import Answer, Place
from nero.submit._slot import Slot

__all__ = ["Local"]


class Local:
    """A thread for each slot, which asks its program for one shard after another."""

    def __init__(self, place: Place) -> None:
        self._grace = place.grace
        self._todo: "queue.SimpleQueue[int | None]" = queue.SimpleQueue()
        self._done: "queue.SimpleQueue[Answer]" = queue.SimpleQueue()
        self._slots = [Slot(place.command, place.environment) for _ in range(place.slots or max(1, (os.cpu_count() or 1) // place.workers))]
        self._threads = [threading.Thread(target=self._work, args=(s,), daemon=True) for s in self._slots]
        for t in self._threads:
            t.start()

    def _work(self, slot: Slot) -> None:
        while (i := self._todo.get()) is not None:
            self._done.put(slot.shard(i))

    def submit(self, shard: int) -> None:
        self._todo.put(shard)

    def wait(self, seconds: float) -> List[Answer]:
        try:
            answers = [self._done.get(timeout=seconds)]
        except queue.Empty:
            return []
        while not self._done.empty():
            answers.append(self._done.get())
        return answers

    def close(self) -> None:
        while not self._todo.empty():
            try:
                self._todo.get_nowait()
            except queue.Empty:  # a thread was faster
                break
        for s in self._slots:
            s.close()
        for _ in self._threads:
            self._todo.put(None)
        until = time.monotonic() + self._grace
        try:
            for t in self._threads:
                t.join(max(0.0, until - time.monotonic()))
        finally:  # also when interrupted once more
            for s in self._slots:
                s.kill()
