"""Modules of PyTorch: exported to an ONNX file, with a witness that the file is the module; else called in this process, which is said."""

import contextlib
import inspect
import io
import logging
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Generator, List, Tuple

import numpy as np

from nero._errors import ExportError
from nero._guards import is_dict, is_row
from nero._models._model import Asked, Prepared
from nero._models._random import untouched
from nero._models.functions import entry, learn, sample, short
from nero.bridge._model import Model, to_numpy

__all__ = ["accepts", "bare", "prepare", "quiet", "unready"]

log = logging.getLogger("nero")

#: Samples whose outputs the file has to give as well.
WITNESSES = 8
#: Two answers to one input that are further apart than this part of the largest number are no rounding: a device that adds up in any order is closer.
CHANGES = 1e-3
#: The opset of the exporter that traces; the newer one knows better.
OPSET = 17


def accepts(model: Any) -> bool:
    """A module, compiled or not."""
    torch = sys.modules.get("torch")  # whoever has a module has imported it
    return torch is not None and isinstance(model, torch.nn.Module)


def prepare(model: Any, asked: Asked) -> Prepared:
    """The module as a file, or as a function of this process."""
    name = short(asked.name or type(model).__name__)
    call = _call(model)

    def during() -> "contextlib.AbstractContextManager[None]":
        return quiet(model)

    with quiet(model):
        ports, arrays = sample(name, asked, WITNESSES)
        outputs = learn(name, call, arrays[:])
        why = "export=False was said"
        if asked.export is not False:
            begun = time.monotonic()
            try:
                folder = asked.folder()
                file = folder / f"{name}.onnx"
                _export(model, file, list(ports), list(outputs), [a[:2] for a in arrays])
                _witness(folder / f"{name}.witness.npz", call, list(ports), list(outputs), arrays)
                note = f"{name}: exported to {file.name} in {time.monotonic() - begun:.1f} s"
                log.info("%s", note)
                return Prepared({"name": name, "onnx": file.name, "witness": f"{name}.witness.npz"}, note=note)
            except ExportError as e:
                if asked.export is True:
                    raise
                why = str(e)
    note = f"{name} runs in this process, and layers, gradients and float64 are not looked at: {why}"
    (log.info if asked.export is False else log.warning)("%s", note)
    return Prepared(entry(name), Model(name, call, ports, outputs, platform="python_torch"), note=note, during=during)


@contextlib.contextmanager
def quiet(*modules: Any) -> Generator[None, None, None]:
    """The modules in evaluation mode. Afterwards every part of them is as it was, and so are the sources of random numbers.

    Parts work on copies of their buffers meanwhile, and so do those on their parameters whose change of mode does more than set the mode, as one that
    merges weights: what the training holds is not touched, not even to be put back. Casts of weights are not kept by autocast: they would come
    without gradients, and the training would go on with them.
    """
    import torch

    parts = [_Part(m, torch) for m in {id(p): p for root in modules for p in root.modules()}.values()]
    caches = torch.is_autocast_cache_enabled()
    with untouched():
        torch.set_autocast_cache_enabled(False)
        try:
            copies: Dict[int, Any] = {}
            for p in parts:
                p.copy(copies)
            for m in modules:
                m.eval()
            yield
        finally:
            torch.set_autocast_cache_enabled(caches)
            for p in parts:
                p.restore()


def bare(module: Any) -> Any:
    """The module within a wrapper that compiles it or spreads it over devices."""
    import torch

    wrappers = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while isinstance(module, wrappers) or hasattr(module, "_orig_mod"):
        module = module.module if isinstance(module, wrappers) else module._orig_mod
    return module


def unready(module: Any) -> bool:
    """Whether parameters wait for a first call to learn their shapes."""
    import torch

    return any(torch.nn.parameter.is_lazy(p) for p in module.parameters())


class _Part:
    """A part of a module, and what is to be there afterwards."""

    #: Dicts of a module that are kept as the dicts they are.
    TABLES = ("_parameters", "_buffers", "_modules")

    def __init__(self, module: Any, torch: Any) -> None:
        lazy = torch.nn.parameter.is_lazy
        self.module, self.mode, self.torch = module, module.training, torch
        self.parameters = [p for p in module.parameters(recurse=False) if not lazy(p)]
        self.versions = [p._version for p in self.parameters]
        self.wanted = [(p, p.requires_grad, p.grad) for p in self.parameters]
        # What is compiled keeps no dict, and what has yet to learn its shapes is to keep what it learns.
        self.open = not isinstance(module, torch.jit.ScriptModule) and not any(map(lazy, (*module.parameters(recurse=False), *module.buffers(recurse=False))))
        self.own = dict(module.__dict__) if self.open else {}
        self.tables = {t: dict(self.own[t]) for t in self.TABLES if t in self.own}
        self.passing = set(self.own.get("_non_persistent_buffers_set", ()))
        self.values = [] if self.open else [(b, b.clone()) for b in module.buffers(recurse=False) if not lazy(b)]

    def copy(self, copies: Dict[int, Any]) -> None:
        """Lets it work on copies."""
        for p in self.parameters:
            p.grad = None  # what a module adds to gradients while it is asked, it adds to none of the training's
        if not self.open:
            return
        merges = type(self.module).train is not self.torch.nn.Module.train  # pyright: ignore[reportUnknownMemberType]
        for table in ("_parameters", "_buffers") if merges else ("_buffers",):
            for name, t in self.tables[table].items():
                if t is not None and (table == "_buffers" or type(t) is self.torch.nn.Parameter):  # others know how they are copied
                    if id(t) not in copies:
                        c = t.detach().clone()
                        copies[id(t)] = self.torch.nn.Parameter(c, t.requires_grad) if table == "_parameters" else c
                    self.own[table][name] = copies[id(t)]

    def restore(self) -> None:
        """Makes it what it was."""
        if self.open:
            d = self.module.__dict__
            for k in [k for k in d if k not in self.own]:
                del d[k]
            d.update(self.own)
            for t, entries in self.tables.items():
                d[t].clear()
                d[t].update(entries)
            if "_non_persistent_buffers_set" in d:
                d["_non_persistent_buffers_set"].clear()
                d["_non_persistent_buffers_set"].update(self.passing)
        else:
            with self.torch.no_grad():
                for b, value in self.values:
                    if not self.torch.equal(b, value):
                        b.copy_(value)
        self.module.training = self.mode
        for p, wanted, grad in self.wanted:
            p.requires_grad_(wanted)
            p.grad = grad
        if self.versions != [p._version for p in self.parameters]:
            log.error("%s changed its own parameters while it was asked; they stay changed", type(self.module).__name__)


def _like(module: Any) -> Tuple[Any, Any]:
    """Device and type of the numbers of a module."""
    for p in (*module.parameters(), *module.buffers()):
        if p.is_floating_point():
            return p.device, p.dtype
    return None, None


def _tensors(module: Any, arrays: "List[np.ndarray[Any, Any]]") -> List[Any]:
    import torch

    device, dtype = _like(module)
    made = [torch.from_numpy(np.ascontiguousarray(a)) for a in arrays]
    return [t.to(device=device, dtype=dtype if t.is_floating_point() else None) for t in made]


def _call(module: Any) -> Callable[..., Any]:
    """The module as a function of arrays."""
    import torch

    def back(v: Any) -> Any:
        if isinstance(v, torch.Tensor):
            v = v.detach().cpu()
            return (v.float() if v.dtype == torch.bfloat16 else v).numpy()
        if is_dict(v):
            return {k: back(x) for k, x in v.items()}
        return type(v)(back(x) for x in v) if type(v) in (list, tuple) else v

    def call(*arrays: "np.ndarray[Any, Any]") -> Any:
        with torch.no_grad():  # not in inference mode: what a module keeps of a call, a training could not use
            return back(module(*_tensors(module, list(arrays))))

    return call


def _export(module: Any, file: Path, inputs: List[str], outputs: List[str], arrays: "List[np.ndarray[Any, Any]]") -> None:
    """Writes the module as an ONNX file; ExportError says why it cannot be."""
    import torch

    args = tuple(_tensors(module, arrays))
    if any(a.is_floating_point() and a.dtype != torch.float32 for a in args):
        raise ExportError(f"its parameters are {args[0].dtype}, and files are exported of float32 alone")
    how: Dict[str, Any] = {"input_names": inputs, "output_names": outputs}
    dynamo = "dynamo" in inspect.signature(torch.onnx.export).parameters and _installed("onnxscript")
    if dynamo:
        how.update(dynamo=True, dynamic_shapes=tuple({0: "batch"} for _ in args), external_data=False, optimize=False)
    else:
        how.update(opset_version=OPSET, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes={n: {0: "batch"} for n in inputs + outputs})
        if "dynamo" in inspect.signature(torch.onnx.export).parameters:
            how["dynamo"] = False
    part = file.with_name(".part-" + file.name)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
            warnings.simplefilter("ignore")  # what a trace loses is found by the witness
            try:
                torch.onnx.export(module, args, str(part), **how)
            except Exception as e:
                why = e.__cause__ or e  # the newer exporter wraps what it met into advice of many lines
                text = re.sub(r"\x1b\[[0-9;]*m", "", str(why)).strip().split("\n")[0].split(" Please feel free")[0]
                raise ExportError(f"torch.onnx.export gave up with {type(why).__name__}: {text}") from e
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _witness(file: Path, call: Callable[..., Any], inputs: List[str], outputs: List[str], arrays: "List[np.ndarray[Any, Any]]") -> None:
    """Writes what the module answers, which the program holds the answers of the file against."""
    values, again = (_values(call(*[a.copy() for a in arrays])) for _ in range(2))
    for n, v, w in zip(outputs, values, again):
        if np.abs(np.subtract(v, w, dtype=np.float64)).max(initial=0) > CHANGES * np.abs(np.asarray(v, np.float64)).max(initial=0):
            raise ExportError(f"its output {n} changes from call to call with the same input, so no file can be held against it")
    held: Dict[str, Any] = {f"input.{n}": a for n, a in zip(inputs, arrays)}
    held.update({f"output.{n}": v for n, v in zip(outputs, values)})
    part = file.with_name(".part-" + file.name)
    try:
        np.savez(part, **held)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _values(answer: Any) -> "List[np.ndarray[Any, Any]]":
    parts = list(answer.values()) if is_dict(answer) else list(answer) if is_row(answer) else [answer]
    return [to_numpy(v) for v in parts]


def _installed(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None
