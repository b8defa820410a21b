"""Light audits of a model while it is trained."""

import contextlib
import functools
import inspect
import json
import logging
import math
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Sequence

from nero import _loggers
from nero._audit import Audit
from nero._callbacks import huggingface, lightning
from nero._errors import NeroError
from nero._guards import is_block, is_row
from nero._models import torch as modules_of_torch
from nero._models._random import untouched
from nero._models.functions import Function
from nero._study import PathLike, Providers, Study, study

__all__ = ["Monitor", "Row"]

log = logging.getLogger("nero")

Row = Dict[str, Any]

#: What is judged in an audit that has to be short: nothing is explained.
LIGHT = ("lattice", "endtoend")
#: How many samples it takes, where nobody says: with fewer a model that holds could not PASS.
SAMPLES = 72
#: What on_error may be.
SAY, RAISE = "say", "raise"


class Monitor:
    """Audits the live model every so many steps of a training, without disturbing it.

    >>> monitor = nero.Monitor(net, images, "C4", equivariant=False, every=500, log=writer)  # doctest: +SKIP
    >>> for step, batch in enumerate(loader):  # doctest: +SKIP
    ...     train(batch)
    ...     monitor(step)
    >>> print(monitor)  # what was found, and what it cost  # doctest: +SKIP

    model, data, group and further keywords are those of `nero.audit`, or model is a study of a live model, made with export=False. A module is asked
    as it is at each step, in evaluation mode, on the same samples; where a function asks a module, and it cannot be seen which, module= names it. An audit judges and does not
    explain, on 72 samples, unless audit= and samples= say otherwise.

    every counts steps and epochs counts epochs. Audits take at most the share budget of the time that the training takes: one that is due before the
    others are paid for is left out. An error within an audit is said once and the training goes on; on_error="raise" raises it. `history` has a row
    for every audit; file names a file that gets each as a line of JSON. log is what audits are logged to, or several of such; clock tells seconds.
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        group: "str | Mapping[str, Any] | None" = None,
        *,
        every: Optional[int] = None,
        epochs: Optional[int] = None,
        module: Any = None,
        log: Any = None,
        file: Optional[PathLike] = None,
        budget: float = 0.05,
        on_error: str = SAY,
        engine: str = "auto",
        provider: Providers = None,
        workers: Optional[int] = None,
        clock: Callable[[], float] = time.monotonic,
        **as_study: Any,
    ) -> None:
        for name, n in (("every", every), ("epochs", epochs)):
            if n is not None and (isinstance(n, bool) or n != int(n) or n < 1):
                raise ValueError(f"{name} is {n!r}; it counts {'steps' if name == 'every' else name}, and is 1 or more")
        if every is None and epochs is None:
            raise ValueError("say how often: every=500 for every 500 steps, or epochs=1 for every epoch")
        if not budget > 0:
            raise ValueError(f"budget is {budget!r}; it is the share of the training's time that audits may take, above 0, such as 0.05")
        if on_error not in (SAY, RAISE):
            raise ValueError(f'on_error is {on_error!r}; expected "{SAY}" or "{RAISE}"')
        self._loggers: Sequence[Any] = list(log) if is_row(log) else [] if log is None else [log]
        for to in self._loggers:
            _loggers.check(to)
        self._steps, self._epochs = _Beat(every), _Beat(epochs)
        self._budget, self._raises, self._clock = budget, on_error == RAISE, clock
        self._how: Dict[str, Any] = {"engine": engine, "provider": provider, "workers": workers, "progress": False}
        self._modules = [] if module is None else [_ready(m) for m in (module if is_row(module) else [module])]
        self._modules += [m for m in _within(model) if not any(m is have for have in self._modules)]
        with self._undisturbed():
            self.study: Study = _study(model, data, group, as_study)
        #: A row for every audit: step, epoch, time since the first call and what the audit took in seconds, verdict, and by model verdict, error,
        #: floor, interval, limit, and the worst error. Numbers that there are none of are None.
        self.history: List[Row] = []
        #: The steps at which an audit was due and too dear.
        self.left_out: List[int] = []
        #: The latest audit.
        self.last: Optional[Audit] = None
        #: What audits took, in seconds.
        self.spent: float = 0.0
        self.file: Optional[Path] = None if file is None else Path(file)
        self._calls, self._begun, self._waiting, self._said = 0, math.nan, 0, False

    def __call__(self, step: Optional[int] = None, *, epoch: Optional[int] = None) -> Optional[Row]:
        """To be called after every step, or after every epoch: audits if it is time to, and returns the row then. Without a step calls are counted."""
        now = self._looked()
        step = self._calls if step is None else int(step)
        self._calls += 1
        due = [self._steps.due(step), self._epochs.due(epoch)]
        if not any(due):
            return None
        trained = now - self._begun - self.spent
        if self.spent > self._budget * trained:
            self._leave_out(step, trained)
            return None
        return self.now(step, epoch=epoch)

    def now(self, step: Optional[int] = None, *, epoch: Optional[int] = None) -> Row:
        """Audits now, whatever the budget."""
        _settle()
        begun = self._looked()
        row: Row = {"step": step, "epoch": epoch, "time": begun - self._begun}
        with self._forgiven(row):
            with self._undisturbed():
                self.last = self.study.audit(**self._how)
            row.update(verdict=self.last.verdict, models={m.model: _of(m) for m in self.last.models})
            for to in self._loggers:
                _loggers.write(to, self.last.entry(step, whole=False))
        row.update(seconds=self._clock() - begun, left_out=self.left_out[self._waiting :])
        self.spent += row["seconds"]
        self._waiting = len(self.left_out)
        self.history.append(row)
        if self.file is not None:
            with self._forgiven(row):
                self.file.parent.mkdir(parents=True, exist_ok=True)
                with self.file.open("a", encoding="utf-8") as f:
                    f.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        return row

    def _looked(self) -> float:
        """What the clock says. With the first look the training's time begins."""
        now = self._clock()
        if math.isnan(self._begun):
            self._begun = now
        return now

    @contextlib.contextmanager
    def _forgiven(self, row: Row) -> Generator[None, None, None]:
        """An error within is kept in the row, and said if it is the first."""
        try:
            yield
        except Exception as e:
            if self._raises:
                raise
            row["failed"] = f"{type(e).__name__}: {e}"
            if not self._said:
                said = "the audit at step %s failed, and the training goes on; further failures are in the history alone: %s"
                log.warning(said, row["step"], row["failed"], exc_info=e)
            self._said = True

    @property
    def share(self) -> float:
        """What audits took of the time that the training took, since the first call."""
        trained = self._clock() - self._begun - self.spent
        return self.spent / trained if trained > 0 else math.nan

    def lightning(self) -> Any:
        """A callback of Lightning, for `Trainer(callbacks=[monitor.lightning()])`. The first process audits."""
        return lightning(self)

    def huggingface(self) -> Any:
        """A callback of Hugging Face's Trainer, for `Trainer(callbacks=[monitor.huggingface()])`. The first process audits."""
        return huggingface(self)

    def _leave_out(self, step: int, trained: float) -> None:
        self.left_out.append(step)
        tell = log.info if len(self.left_out) > 1 else log.warning
        tell(
            "the audit at step %d is left out: those before took %.2g s, and of %.2g s of training they may take %.3g %% (budget=%g); "
            "audit more rarely with every=, or on fewer samples, and call now() at the end, which asks for no budget", step, self.spent, trained, 100 * self._budget, self._budget,
        )  # fmt: skip

    @contextlib.contextmanager
    def _undisturbed(self) -> Generator[None, None, None]:
        """Afterwards the training's modules and sources of random numbers are as they were, and no graph was recorded."""
        torch: Any = sys.modules.get("torch")  # whoever trains with it has imported it
        if torch is None:
            with untouched():
                yield
        else:
            with torch.no_grad(), modules_of_torch.quiet(*self._modules):
                yield

    def __str__(self) -> str:
        """What was found last, and what it cost."""
        failed = sum("failed" in r for r in self.history)
        made = f"{len(self.history)} audit{'' if len(self.history) == 1 else 's'} in {self.spent:.3g} s"
        lines = [made + ("" if math.isnan(self.share) else f", {100 * self.share:.2g} % of the time of the training without them")]
        if failed:
            lines.append(f"{failed} of them failed, the last with {[r['failed'] for r in self.history if 'failed' in r][-1]}")
        if self.left_out:
            lines.append(f"{len(self.left_out)} more were left out for the budget of {100 * self._budget:g} %, the first at step {self.left_out[0]}")
        for row in [r for r in self.history if "verdict" in r][-1:]:
            for name, m in row["models"].items():
                error = "no error that is a number" if m["error"] is None else f"error {m['error']:.3g} (limit {m['limit']})"
                lines.append(f"step {row['step']}: {name}: {m['verdict']}, {error}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<nero.Monitor: {self}>"


class _Beat:
    """Counts: every so many it is time."""

    def __init__(self, every: Optional[int]) -> None:
        self._every = every
        self._last: Optional[int] = None

    def due(self, n: Optional[int]) -> bool:
        """Whether a multiple was passed since the last time, or this is the first."""
        if self._every is None or n is None:
            return False
        before, self._last = self._last, n // self._every
        return before != self._last


def _study(model: Any, data: Any, group: Any, keys: Dict[str, Any]) -> Study:
    """A study whose models are alive."""
    if isinstance(model, Study):
        if data is not None or group is not None or keys:
            raise TypeError(f"a study says all of it; {['data', 'group', *keys][0 if data is not None else 1 if group is not None else 2]} cannot be given beside it")
        made = model
    else:
        if keys.setdefault("export", False) is not False:
            raise ValueError("a file does not change while the module is trained; leave export away")
        if "preset" not in keys and "checks" not in (keys.get("audit") or {}) and not isinstance(keys.get("audit"), str):
            keys["audit"] = {**(keys.get("audit") or {}), "checks": list(LIGHT)}
        keys.setdefault("samples", SAMPLES)
        models = {n: _ready(m) for n, m in model.items()} if is_block(model) else _ready(model)
        made = study(models, data, group, **keys)
    if not made.live:
        raise NeroError("none of the models is alive: files do not change while a module is trained; give the module, or make the study with export=False")
    return made


def _within(model: Any, depth: int = 3) -> List[Any]:
    """The modules that functions ask, as far as it is seen: what they close over, are bound to, or name."""
    if modules_of_torch.accepts(model) or depth == 0:
        return []  # a module looks after itself
    if isinstance(model, Study):
        return [m for live in model._live if not model._during for m in _within(live.fn, depth)]  # pyright: ignore[reportPrivateUsage]
    if is_block(model):
        return [m for v in model.values() for m in _within(v, depth)]
    seen: List[Any] = [model.fn] if isinstance(model, Function) else []
    if isinstance(model, functools.partial):
        seen += [model.func, *model.args, *model.keywords.values()]
    elif inspect.isroutine(model):
        seen.append(getattr(model, "__self__", None))
        try:
            names = inspect.getclosurevars(getattr(model, "__func__", model))
            seen += [*names.nonlocals.values(), *names.globals.values()]
        except (TypeError, ValueError):
            pass  # it is not written in Python
    elif callable(model):
        seen += getattr(model, "__dict__", {}).values()
    found = [modules_of_torch.bare(v) for v in seen if modules_of_torch.accepts(v)]
    return found + [m for v in seen if callable(v) and not isinstance(v, type) for m in _within(v, depth - 1)]


def _settle() -> None:
    """Waits for what the training has still to do on its device, so that an audit does not pay for it."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _ready(model: Any) -> Any:
    """The model without what is wrapped around it for training."""
    if not modules_of_torch.accepts(model):
        return model
    if modules_of_torch.unready(model):
        raise NeroError(f"{type(model).__name__} has parameters that learn their shapes in the first call; call it once before, so that this is the training's call")
    return modules_of_torch.bare(model)


def _of(m: Any) -> Row:
    """A model's part of a row."""
    row: Row = {"verdict": m.verdict, "error": None, "floor": None, "interval": None, "limit": _finite(m.limit), "worst": None}
    for s in m.errors[:1]:
        of = {"error": s.error, "floor": s.floor, "worst": s.largest}
        row.update({k: _finite(v) for k, v in of.items()}, interval=[_finite(s.interval.lo), _finite(s.interval.hi)])
    return row


def _finite(x: float) -> Optional[float]:
    return float(x) if math.isfinite(x) else None
