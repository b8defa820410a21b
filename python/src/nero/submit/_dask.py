"""Slots on the workers of a Dask cluster: one for each of their threads."""

import asyncio
import queue
import uuid
from collections import deque
from typing import Any, Deque, Dict, List

from nero.submit import _slot
from nero.submit._pool import Answer, GoneError, Place, engine

__all__ = ["Dask"]

#: How long the scheduler may take to answer at first, in seconds.
PATIENCE = 30


class Dask:
    """Tasks of a Dask scheduler, which runs those of a worker that was lost on another."""

    def __init__(self, address: str, place: Place) -> None:
        distributed: Any = engine("distributed", "dask")
        pickler: Any = engine("cloudpickle", "dask")
        pickler.register_pickle_by_value(_slot)  # workers need not have this package
        self._most = place.slots
        try:
            self._client: Any = distributed.Client(address, set_as_default=False, timeout=PATIENCE, name="nero")
        except (OSError, ValueError) as e:
            raise GoneError(f"no scheduler of Dask answers at {address} ({e}); it says its address when it starts: dask scheduler") from e
        self._slots = _slot.Slots(f"nero-{uuid.uuid4()}", place.command, place.environment)
        self._needs = {"GPU": place.gpus} if place.gpus else None
        self._todo: Deque[int] = deque()
        self._asked: Dict[Any, int] = {}
        self._done: "queue.SimpleQueue[Any]" = queue.SimpleQueue()

    def submit(self, shard: int) -> None:
        self._todo.append(shard)

    def wait(self, seconds: float) -> List[Answer]:
        while self._todo and (not self._most or len(self._asked) < self._most):
            i = self._todo.popleft()
            f: Any = self._client.submit(_slot.ask, self._slots, i, key=f"{self._slots.name}-{i}-{uuid.uuid4()}", pure=False, resources=self._needs)
            self._asked[f] = i
            f.add_done_callback(self._done.put)
        answers: List[Answer] = []
        try:
            answers.append(self._heard(self._done.get(timeout=seconds)))
            while not self._done.empty():
                answers.append(self._heard(self._done.get()))
        except queue.Empty:
            pass
        return answers

    def _heard(self, f: Any) -> Answer:
        i = self._asked.pop(f)
        if f.status == "finished":
            answer: Answer = f.result()
            return answer
        if f.status != "error":  # cancelled or lost, as nothing here does while it waits
            raise GoneError("the scheduler of Dask is gone")
        e: Any = f.exception()
        return {"shard": i, "failed": f"{type(e).__name__}: {e}", "final": False, "lost": True}

    def close(self) -> None:
        self._todo.clear()
        try:
            # A task that runs is not ended by being cancelled: its shard is kept, and its slot closed when it is.
            self._client.cancel(list(self._asked))
            self._client.run(_slot.close, self._slots.name, on_error="ignore")
        except (OSError, ValueError, asyncio.TimeoutError):  # the scheduler is gone, and slots without work end by themselves
            pass
        finally:
            self._client.close(timeout=5)
