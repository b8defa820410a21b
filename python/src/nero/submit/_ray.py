"""Slots that are actors of a Ray cluster."""

import contextlib
import os
import time
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Tuple

from nero.submit import _slot
from nero.submit._pool import Answer, GoneError, Place, engine

__all__ = ["Ray"]

#: How often the cluster is asked whether it has grown, in seconds.
AGAIN = 10.0
#: How many slots may fail to come up before one did.
STILLBORN = 5


class Ray:
    """Actors that are asked one shard after another. One that is lost is replaced, and gets work only once it is there: a node may never return."""

    def __init__(self, address: str, place: Place) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        self._ray: Any = engine("ray", "ray")
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError) as e:
            raise GoneError(f"no cluster of Ray answers at {address} ({e}); one is started with: ray start --head") from e
        self._ray.cloudpickle.register_pickle_by_value(_slot)  # workers need not have this package
        self._place = place
        self._actor: Any = self._ray.remote(num_cpus=place.workers, num_gpus=place.gpus)(_slot.Slot)
        self._todo: Deque[int] = deque()
        # What each slot was asked: a shard, or None for whether it is there.
        self._asked: "Dict[Any, Tuple[Any, Optional[int]]]" = {}
        self._idle: List[Any] = []
        self._grown, self._failed = 0.0, 0

    def submit(self, shard: int) -> None:
        self._todo.append(shard)

    def _grow(self) -> None:
        """Asks for as many slots as there may be, for there may be more machines than before, or fewer."""
        if time.monotonic() < self._grown + AGAIN and self._grown:
            return
        self._grown = time.monotonic()
        p, has = self._place, self._ray.cluster_resources()
        room = int(has.get("GPU", 0) / p.gpus) if p.gpus else int(has.get("CPU", 0) / p.workers)
        for _ in range((p.slots or max(1, room)) - len(self._asked) - len(self._idle)):
            self._one_more()

    def _one_more(self) -> None:
        actor = self._actor.remote(list(self._place.command), self._place.environment)
        self._asked[actor.ready.remote()] = (actor, None)

    def wait(self, seconds: float) -> List[Answer]:
        self._grow()
        while self._idle and self._todo:
            actor, i = self._idle.pop(), self._todo.popleft()
            self._asked[actor.shard.remote(i)] = (actor, i)
        if not self._asked:
            time.sleep(min(seconds, 0.1))
            return []
        some, _ = self._ray.wait(list(self._asked), num_returns=1, timeout=seconds)
        if not some:
            return []
        all_of_them, _ = self._ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        return [a for ref in all_of_them for a in self._heard(ref)]

    def _heard(self, ref: Any) -> List[Answer]:
        actor, i = self._asked.pop(ref)
        try:
            answer: Any = self._ray.get(ref)
        except self._ray.exceptions.RayError as e:
            why = str(e).strip().partition("\n")[0]
            with contextlib.suppress(self._ray.exceptions.RayError):  # it may be there and out of reach, and holds its place
                self._ray.kill(actor)
            if i is not None:
                self._grown = 0.0
                return [{"shard": i, "failed": f"{type(e).__name__}: {why}", "final": False, "lost": True}]
            self._failed += 1
            if self._failed >= STILLBORN:
                raise GoneError(f"Ray starts no worker: {why}") from e
            return []
        self._idle.append(actor)
        self._failed = 0
        return [] if i is None else [answer]

    def close(self) -> None:
        self._todo.clear()
        try:
            for actor in {id(a): a for a, i in self._asked.values() if i is not None}.values():
                self._idle.append(actor)
            under_way = [ref for ref, (_, i) in self._asked.items() if i is not None]
            if under_way:
                self._ray.wait(under_way, num_returns=len(under_way), timeout=self._place.grace)
            closing = [a.close.remote() for a in self._idle]
            if closing:
                self._ray.wait(closing, num_returns=len(closing), timeout=5)
        except self._ray.exceptions.RayError:  # the cluster is gone
            pass
        finally:
            self._ray.shutdown()
