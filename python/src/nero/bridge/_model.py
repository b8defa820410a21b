"""What is served: functions with declared inputs and outputs, and checks on both sides of a call."""

import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from nero._guards import is_block, is_row

#: Name -> (datatype, shape) in the order in which a function takes or returns them; -1 in a shape stands for any length.
Ports = Mapping[str, Tuple[str, Sequence[int]]]

#: Element types of the protocol that NumPy has.
DATATYPES: Dict[str, "np.dtype[Any]"] = {
    "BOOL": np.dtype("?"),
    "UINT8": np.dtype("u1"), "UINT16": np.dtype("<u2"), "UINT32": np.dtype("<u4"), "UINT64": np.dtype("<u8"),
    "INT8": np.dtype("i1"), "INT16": np.dtype("<i2"), "INT32": np.dtype("<i4"), "INT64": np.dtype("<i8"),
    "FP16": np.dtype("<f2"), "FP32": np.dtype("<f4"), "FP64": np.dtype("<f8"),
}


class BadRequest(ValueError):
    """A request that does not go with what the model declares. Its text goes to the client."""


class NoModel(LookupError):
    """There is no model of that name and version."""


@dataclass(frozen=True)
class Layers:
    """Inner values that a second function returns besides the outputs.

    fn takes the model's inputs and returns the model's outputs followed by the layers, or a dict of all by name.
    """

    fn: Callable[..., Any]
    outputs: Ports


@dataclass
class Model:
    """A function under a name. It is called with one array for each input, in their order."""

    name: str
    fn: Callable[..., Any]
    inputs: Ports
    outputs: Ports
    version: str = "1"
    platform: str = "nero_bridge_numpy"

    def __post_init__(self) -> None:
        if not self.name or any(c in self.name for c in "?#\n"):
            raise ValueError(f"{self.name!r} cannot be the name of a model: it stands in URLs; expected letters, digits, - . _")
        for side, ports in (("inputs", self.inputs), ("outputs", self.outputs)):
            if not ports:
                raise ValueError(f"{self.name}: {side} is empty; declare at least one as name: (datatype, shape)")
            for name, port in ports.items():
                try:
                    datatype, shape = port
                    ok = datatype in DATATYPES and all(int(n) == n and n >= -1 for n in shape)
                except (TypeError, ValueError):
                    ok = False
                if not ok:
                    raise ValueError(
                        f"{self.name}: {side}[{name!r}] is {port!r}; expected (datatype, shape) with a datatype of "
                        f"{', '.join(DATATYPES)} and lengths of 0 or more, or -1 for any, such as ('FP32', [-1, 1, 28, 28])"
                    )

    def metadata(self) -> Dict[str, Any]:
        """What a client is told of the model."""

        def ports(ps: Ports) -> List[Dict[str, Any]]:
            return [{"name": n, "datatype": d, "shape": [int(x) for x in s]} for n, (d, s) in ps.items()]

        return {
            "name": self.name, "versions": [self.version], "platform": self.platform,
            "inputs": ports(self.inputs), "outputs": ports(self.outputs),
        }

    def run(self, arrays: Mapping[str, "np.ndarray[Any, Any]"], wanted: Sequence[str] = ()) -> Dict[str, "np.ndarray[Any, Any]"]:
        """Calls the function and returns the wanted outputs by name, all of them if none is named.

        BadRequest says that the arrays are not those that the model declares; TypeError or ValueError, that its answer is not.
        """
        if set(arrays) != set(self.inputs):
            raise BadRequest(f"inputs {sorted(arrays)} came; the model {self.name} reads {list(self.inputs)}")
        for name, (datatype, shape) in self.inputs.items():
            a = arrays[name]
            if a.dtype != DATATYPES[datatype] or not fits(a.shape, shape):
                raise BadRequest(f"the input {name} came as {a.dtype} {list(a.shape)}; the model {self.name} reads {datatype} {list(shape)}")
        for name in wanted:
            if name not in self.outputs:
                raise BadRequest(f"the output {name} is asked for; the model {self.name} returns {list(self.outputs)}")
        answer = named(self.fn(*[arrays[n] for n in self.inputs]), list(self.outputs), self.name)
        return {name: self._output(name, answer[name]) for name in (wanted or self.outputs)}

    def _output(self, name: str, value: Any) -> "np.ndarray[Any, Any]":
        datatype, shape = self.outputs[name]
        a = returned(value, self.name, name)
        want = DATATYPES[datatype]
        if a.dtype != want:
            if not np.can_cast(a.dtype, want, "same_kind"):
                raise TypeError(f"the function of {self.name} returned {name} as {a.dtype}; {datatype} is declared")
            a = a.astype(want)
        if not fits(a.shape, shape):
            raise ValueError(f"the function of {self.name} returned {name} in shape {list(a.shape)}; {list(shape)} is declared")
        return np.ascontiguousarray(a).reshape(a.shape)  # the first makes vectors of scalars


def fits(have: Sequence[int], want: Sequence[int]) -> bool:
    """Tells whether an array of one shape goes with a declared one."""
    return len(have) == len(want) and all(w in (-1, h) for h, w in zip(have, want))


def named(answer: Any, names: List[str], who: str) -> Dict[str, Any]:
    """Gives the values that a function returned their names."""
    if is_block(answer):
        if set(answer) != set(names):
            raise ValueError(f"the function of {who} returned {sorted(answer)}; {names} is declared")
        return dict(answer)
    values = list(answer) if is_row(answer) else [answer]
    if len(values) != len(names):
        raise ValueError(f"the function of {who} returned {len(values)} values; {names} is declared")
    return dict(zip(names, values))


def to_numpy(value: Any) -> "np.ndarray[Any, Any]":
    """The array of a NumPy, PyTorch or JAX value."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # which NumPy has no type for
            value = value.float()
    return np.asarray(value)


def masked(value: Any) -> int:
    """How many numbers of a masked array stand for none."""
    return int(np.count_nonzero(value.mask)) if np.ma.isMaskedArray(value) else 0


def returned(value: Any, who: str, name: str) -> "np.ndarray[Any, Any]":
    """The array that a function returned."""
    if n := masked(value):
        raise TypeError(f"the function of {who} returned {name} with {n} masked values; fill them in, with NaN where there is none")
    try:
        return to_numpy(value)
    except (TypeError, ValueError, NotImplementedError, RuntimeError) as e:  # in the words of its library, such as of a tensor on a device
        raise TypeError(f"the function of {who} returned {name} as {type(value).__name__}, which cannot be read as an array: {e}") from e


def _is_torch_module(fn: Any) -> bool:
    torch = sys.modules.get("torch")  # whoever has a module has imported it
    return torch is not None and isinstance(fn, torch.nn.Module)


def _on_torch(module: Any) -> Callable[..., Any]:
    import torch

    def call(*arrays: "np.ndarray[Any, Any]") -> Any:
        with torch.no_grad():
            return module(*[torch.from_numpy(a) for a in arrays])

    return call


def torch_layers(module: Any, names: Sequence[str], outputs: Sequence[str] = ("output",)) -> Callable[..., Dict[str, Any]]:
    """A function for :class:`Layers`: it runs a torch module and returns its outputs and those of the named submodules.

    outputs are the names of what the module returns, in its order, as they are declared; by default one, "output". A module that returns a dict
    has named them itself.
    """
    import torch

    known = dict(module.named_modules())
    missing = [n for n in names if n not in known]
    if missing:
        raise ValueError(f"the module has no submodules {missing}; it has {[n for n in known if n]}")

    def call(*arrays: "np.ndarray[Any, Any]") -> Dict[str, Any]:
        seen: Dict[str, Any] = {}

        def keeper(name: str) -> Callable[[Any, Any, Any], None]:
            def keep(_module: Any, _inputs: Any, out: Any) -> None:
                seen[name] = out.detach().clone()

            return keep

        hooks = [known[n].register_forward_hook(keeper(n)) for n in names]
        try:
            with torch.no_grad():
                answer = module(*[torch.from_numpy(a) for a in arrays])
                seen.update(answer if is_block(answer) else named(answer, list(outputs), "torch_layers"))
        finally:
            for h in hooks:
                h.remove()
        return seen

    return call


def torch_vjp(module: Any) -> Callable[..., List[Any]]:
    """A function for the argument vjp of serve: inputs and cotangents of a torch module, to gradients of its inputs.

    Cotangents belong to the outputs of floating-point types, in the module's order; inputs of integers have no gradient, and an input that no
    output depends on has zeros.
    """
    import torch

    def call(inputs: Sequence["np.ndarray[Any, Any]"], cotangents: Sequence["np.ndarray[Any, Any]"]) -> List[Any]:
        xs = [torch.from_numpy(a).requires_grad_(a.dtype.kind == "f") for a in inputs]
        with torch.enable_grad():
            answer = module(*xs)
            values = answer.values() if is_block(answer) else answer if is_row(answer) else [answer]
            ys = [y for y in values if y.is_floating_point()]
            floats = [x for x in xs if x.requires_grad]
            pairs = [(y, torch.from_numpy(c)) for y, c in zip(ys, cotangents) if y.requires_grad]  # the others are constants
            if not pairs:
                return [torch.zeros_like(x) for x in floats]
            found = torch.autograd.grad([y for y, _ in pairs], floats, [c for _, c in pairs], allow_unused=True)
            return [torch.zeros_like(x) if g is None else g for x, g in zip(floats, found)]

    return call


def functions(
    fn: Callable[..., Any],
    inputs: Ports,
    outputs: Ports,
    *,
    name: str = "model",
    version: str = "1",
    layers: Optional[Layers] = None,
    vjp: Optional[Callable[[List[Any], List[Any]], Any]] = None,
) -> List[Model]:
    """The models that serve(fn, ...) serves: NAME, and if they are given NAME.layers and NAME.vjp.

    NAME.layers has the same inputs and returns the outputs and the layers. NAME.vjp reads the inputs and, for each output of a
    floating-point type, cotangent.OUTPUT; it returns gradient.INPUT for each input of such a type.
    """
    platform = "nero_bridge_numpy"
    call = fn
    if _is_torch_module(fn):
        platform, call = "nero_bridge_torch", _on_torch(fn)
    models = [Model(name, call, inputs, outputs, version, platform)]
    if layers is not None:
        both = {**outputs, **layers.outputs}
        if len(both) != len(outputs) + len(layers.outputs):
            raise ValueError(f"{name}: a layer has the name of an output; give each its own")
        models.append(Model(name + ".layers", layers.fn, inputs, both, version, platform))
    if vjp is not None:
        given = {n: p for n, p in outputs.items() if p[0].startswith("FP")}
        found = {"gradient." + n: p for n, p in inputs.items() if p[0].startswith("FP")}
        if not given or not found:
            raise ValueError(f"{name}: a VJP needs floating-point inputs and outputs")
        back = vjp

        def pull(*arrays: "np.ndarray[Any, Any]") -> Any:
            return back(list(arrays[: len(inputs)]), list(arrays[len(inputs) :]))

        models.append(Model(name + ".vjp", pull, {**inputs, **{"cotangent." + n: p for n, p in given.items()}}, found, version, platform))
    return models


