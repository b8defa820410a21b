"""Writes the fixtures of the gradient tests: small ONNX models with the gradients that PyTorch finds by automatic
differentiation in float64.

usage: python3 gen.py            (Debian: python3-torch 1.13.1, python3-onnx 1.12; writes *.npz beside itself)

Every case of a file holds, under CASE/: model (bytes of the ONNX file), in/NAME (graph inputs), out/NAME (what the model
returns), v (cotangent) and grad/NAME (gradients of sum(v * out)).
"""
import inspect
import io
import os
import warnings

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
files = {}
rng = np.random.default_rng(0)


def R(*s, lo=None, hi=None):
    """Random numbers: normal, or uniform between lo and hi. Rounded to float32, so that float64 starts from the same numbers."""
    a = rng.standard_normal(s) if lo is None else rng.uniform(lo, hi, s)
    return a.astype(np.float32)


def I(*v):
    return np.array(v, dtype=np.int64)


def node(op, i, o, **a):
    return helper.make_node(op, i if isinstance(i, list) else i.split(), o if isinstance(o, list) else o.split(), **a)


def case(group, name, fn, x, nodes, p=None, c=None, opset=16, out="y", wrt=None, dtype=np.float32, batch_axis=0):
    """One case. x: graph inputs with a batch axis, p: parameters, c: constants without a gradient; fn takes those that it
    names as keywords."""
    p, c = p or {}, c or {}
    nodes = nodes if isinstance(nodes, list) else [nodes]
    t = {}
    for k, a in {**x, **p, **c}.items():
        t[k] = torch.tensor(a.astype(np.float64) if a.dtype.kind == "f" else a)
        if a.dtype.kind == "f" and k not in c:
            t[k].requires_grad_(True)
    takes = inspect.signature(fn).parameters
    y = fn(**{k: a for k, a in t.items() if k in takes or any(q.kind == q.VAR_KEYWORD for q in takes.values())})
    v = rng.standard_normal(tuple(y.shape)).astype(dtype)
    (y * torch.tensor(v.astype(np.float64))).sum().backward()
    kind = lambda a: TYPES[str(a.dtype)]
    cast = lambda a: a.astype(dtype) if a.dtype.kind == "f" else a
    ins = [helper.make_tensor_value_info(k, kind(cast(a)), ["N"] + list(a.shape[1:]) if a.ndim else []) for k, a in x.items()]
    outs = [helper.make_tensor_value_info(out, TYPES[np.dtype(dtype).name], ["N" if a == batch_axis and l == x[next(iter(x))].shape[0] else "M" if a == batch_axis else l for a, l in enumerate(y.shape)])]
    inits = [numpy_helper.from_array(np.array(cast(a)), k) for k, a in {**p, **c}.items()]
    m = helper.make_model(helper.make_graph(nodes, name, ins, outs, inits), opset_imports=[helper.make_opsetid("", opset)], producer_name="gen.py")
    m.ir_version = 8
    f = files.setdefault(group, {})
    f[f"{name}/model"] = np.frombuffer(m.SerializeToString(), dtype=np.uint8)
    for k, a in x.items():
        f[f"{name}/in/{k}"] = cast(a)
    f[f"{name}/out/{out}"] = y.detach().numpy().astype(dtype)
    f[f"{name}/v"] = v
    for k in wrt or [k for k in t if t[k].requires_grad]:
        f[f"{name}/grad/{k}"] = t[k].grad.numpy().astype(dtype)


def one(group, name, op, fn, x, opset=16, p=None, c=None, **a):
    """A single node whose inputs are x, p and c in this order ('_' leaves one out)."""
    c = dict(c or {})
    ins = list(x) + list(p or {}) + list(c)
    ins = ["" if k.startswith("_") else k for k in ins]
    c = {k: v for k, v in c.items() if not k.startswith("_")}
    case(group, name, fn, x, node(op, ins, ["y"], **a), p=p, c=c, opset=opset)


# ---- one number at a time
def elementwise():
    g, X = "elementwise", {"x": R(3, 17) * 2}
    u = lambda op, fn, x=X, **k: one(g, k.pop("name", op.lower()), op, lambda x: fn(x), x, **k)
    pos, unit = {"x": R(3, 17, lo=.1, hi=4)}, {"x": R(3, 17, lo=-.95, hi=.95)}
    u("Identity", lambda x: x * 1)
    u("Neg", torch.neg); u("Abs", torch.abs); u("Exp", torch.exp); u("Log", torch.log, pos); u("Sqrt", torch.sqrt, pos)
    u("Reciprocal", torch.reciprocal, pos); u("Sin", torch.sin); u("Cos", torch.cos); u("Tan", torch.tan, unit); u("Asin", torch.asin, unit)
    u("Acos", torch.acos, unit); u("Atan", torch.atan); u("Sinh", torch.sinh); u("Cosh", torch.cosh); u("Asinh", torch.asinh)
    u("Acosh", torch.acosh, {"x": R(3, 17, lo=1.2, hi=4)}); u("Atanh", torch.atanh, unit); u("Tanh", torch.tanh); u("Erf", torch.erf)
    u("Sigmoid", torch.sigmoid); u("Relu", torch.relu); u("Softplus", F.softplus); u("Softsign", F.softsign); u("Mish", F.mish, opset=18)
    u("HardSwish", F.hardswish, {"x": R(3, 17) * 4})
    u("LeakyRelu", lambda x: F.leaky_relu(x, .01)); u("LeakyRelu", lambda x: F.leaky_relu(x, .3), name="leakyrelu_alpha", alpha=.3)
    u("ThresholdedRelu", lambda x: x * (x > .7), alpha=.7); u("Elu", F.elu); u("Elu", lambda x: F.elu(x, .4), name="elu_alpha", alpha=.4)
    u("Celu", lambda x: F.celu(x, .5), alpha=.5); u("Selu", F.selu); u("HardSigmoid", lambda x: F.hardsigmoid(x), {"x": R(3, 17) * 4}, alpha=1 / 6, beta=.5)
    u("HardSigmoid", lambda x: (x * .2 + .5).clamp(0, 1), {"x": R(3, 17) * 4}, name="hardsigmoid_default")
    u("Gelu", F.gelu, opset=20); u("Gelu", lambda x: F.gelu(x, approximate="tanh"), name="gelu_tanh", opset=20, approximate="tanh")
    u("Shrink", lambda x: torch.where(x < -.4, x + .2, torch.where(x > .4, x - .2, x * 0)), lambd=.4, bias=.2)
    # kinks, where PyTorch's choices are taken over
    kink = {"x": np.array([[-1, 0, 1, 0], [0, -0.0, 2, -2], [0, 0, 0, 0]], np.float32)}
    u("Relu", torch.relu, kink, name="relu_kink"); u("Abs", torch.abs, kink, name="abs_kink")
    u("LeakyRelu", lambda x: F.leaky_relu(x, .01), kink, name="leakyrelu_kink")
    one(g, "clip_kink", "Clip", lambda x, lo, hi: x.clamp(-1., 1.), {"x": kink["x"]}, c={"lo": np.float32(-1), "hi": np.float32(1)})
    edge = {"x": np.array([[-3, 3, 0, 1], [-4, 4, 2.5, -2.5]], np.float32)}  # of HardSwish, PyTorch has two derivatives at 3, by element type
    u("HardSigmoid", lambda x: F.hardsigmoid(x), edge, name="hardsigmoid_kink", alpha=1 / 6, beta=.5)
    # several operands, broadcast
    shapes = {"same": ((3, 4, 5), (3, 4, 5)), "row": ((3, 4, 5), (5,)), "channel": ((3, 4, 5), (4, 1)), "both": ((3, 1, 5), (3, 4, 1))}
    for n, (a, b) in shapes.items():
        for op, fn in {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div}.items():
            if op in ("Add", "Div") or n in ("row", "both"):
                bb = R(*b, lo=.5, hi=2)
                second = dict(x={"a": R(*a), "b": bb}) if b[0] == 3 else dict(x={"a": R(*a)}, p={"b": bb})
                case(g, f"{op.lower()}_{n}", lambda a, b, fn=fn: fn(a, b), nodes=node(op, "a b", "y"), **second)
    case(g, "square", lambda x: x * x, X, node("Mul", "x x", "y"))
    for e in (0., 1., 2., 3., .5, -1.5):
        one(g, f"pow_{e}", "Pow", lambda x, e: x ** float(e), pos, c={"e": np.float32(e)})
    one(g, "pow_cube_of_negative", "Pow", lambda x, e: x ** 3, X, c={"e": np.float32(3)})
    one(g, "pow_integer_exponent", "Pow", lambda x, e: x ** 3, X, c={"e": I(3).reshape(())})
    case(g, "pow_both", lambda x, e: x ** e, {"x": R(3, 17, lo=.1, hi=3)}, node("Pow", "x e", "y"), p={"e": R(17)})
    case(g, "pow_zeros", lambda x, e: x ** e, {"x": np.array([[0, 0, 2, 0]], np.float32)}, node("Pow", "x e", "y"), p={"e": np.array([0, 2, 0, 1], np.float32)})
    case(g, "pow_constant_node", lambda x: x ** 3, X, [node("Constant", [], ["e"], value_float=3.), node("Pow", "x e", "y")])
    case(g, "sum", lambda a, b, c: a + b + c, {"a": R(3, 4), "b": R(3, 4)}, node("Sum", "a b c", "y"), p={"c": R(4)})
    case(g, "mean", lambda a, b, c: (a + b + c) / 3, {"a": R(3, 4), "b": R(3, 4)}, node("Mean", "a b c", "y"), p={"c": R(4)})
    ties = {"a": np.array([[1, 2, 3, 0], [0, 0, 5, 1], [1, 1, 1, 1]], np.float32), "b": np.array([[1, 0, 4, 0], [0, 1, 5, 2], [2, 1, 0, 1]], np.float32)}
    case(g, "max", lambda a, b: torch.maximum(a, b), {"a": R(3, 4), "b": R(3, 4)}, node("Max", "a b", "y"))
    case(g, "max_ties", lambda a, b: torch.maximum(a, b), ties, node("Max", "a b", "y"))
    case(g, "min_ties", lambda a, b: torch.minimum(a, b), ties, node("Min", "a b", "y"))
    case(g, "max_three", lambda a, b, c: torch.maximum(torch.maximum(a, b), c), {"a": R(3, 4), "b": R(3, 4)}, node("Max", "a b c", "y"), p={"c": R(4)})
    case(g, "min_one", lambda a: a * 1, {"a": R(3, 4)}, node("Min", "a", "y"))
    case(g, "where", lambda a, b, k: torch.where(k, a, b), {"a": R(3, 4), "b": R(3, 1)}, node("Where", "k a b", "y"), c={"k": np.array([True, False, True, False])})
    case(g, "where_of_input", lambda x, z: torch.where(x > 0, x * x, x), {"x": R(3, 9)},
         [node("Greater", "x z", "k"), node("Mul", "x x", "q"), node("Where", "k q x", "y")], c={"z": np.float32(0)})
    one(g, "clip", "Clip", lambda x, lo, hi: x.clamp(-.5, 1.), X, c={"lo": np.float32(-.5), "hi": np.float32(1)})
    one(g, "clip_below", "Clip", lambda x, lo: x.clamp(min=-.5), X, c={"lo": np.float32(-.5)})
    one(g, "clip_above", "Clip", lambda x, hi: x.clamp(max=.5), X, c={"_": np.float32(0), "hi": np.float32(.5)})
    case(g, "prelu", lambda x, s: F.prelu(x, s.reshape(-1)), {"x": R(3, 4, 5)}, node("PRelu", "x s", "y"), p={"s": R(4, 1)})
    case(g, "prelu_shared", lambda x, s: F.prelu(x, s), {"x": R(3, 4, 5)}, node("PRelu", "x s", "y"), p={"s": R(1)})
    one(g, "dropout", "Dropout", lambda x: x * 1, X)
    case(g, "casts", lambda x: x.double() * 2, X, [node("Cast", "x", "d", to=TensorProto.DOUBLE), node("Add", "d d", "s"), node("Cast", "s", "y", to=TensorProto.FLOAT)])
    case(g, "castlike", lambda x: x * x, X, [node("CastLike", "x x", "c"), node("Mul", "c x", "y")])
    case(g, "round_stops", lambda x: x + x.round().detach(), X, [node("Round", "x", "r"), node("Add", "x r", "y")])
    case(g, "float64", lambda x, s: torch.tanh(x * s + .25), X, [node("Mul", "x s", "a"), node("Add", "a q", "b"), node("Tanh", "b", "y")], p={"s": R(17)},
         c={"q": np.float32(.25)}, dtype=np.float64)


# ---- reductions
def reductions():
    g = "reductions"
    pos = lambda *s: R(*s, lo=.3, hi=2)
    fns = {"ReduceSum": (lambda x, a, k: x.sum(a, k), R), "ReduceMean": (lambda x, a, k: x.mean(a, k), R), "ReduceMax": (lambda x, a, k: x.amax(a, k), R),
           "ReduceMin": (lambda x, a, k: x.amin(a, k), R), "ReduceSumSquare": (lambda x, a, k: (x * x).sum(a, k), R), "ReduceL1": (lambda x, a, k: x.abs().sum(a, k), R),
           "ReduceL2": (lambda x, a, k: (x * x).sum(a, k).sqrt(), R), "ReduceLogSum": (lambda x, a, k: x.sum(a, k).log(), pos),
           "ReduceLogSumExp": (lambda x, a, k: x.logsumexp(a, k), R)}
    for op, (fn, r) in fns.items():
        for name, axes, keep, opset in (("16", (1,), 1, 16), ("two", (-1, 1), 0, 16), ("18", (2,), 0, 18)):
            attr = opset < 18 and op != "ReduceSum"
            f = lambda x, over=axes, keep=keep, fn=fn: fn(x, over, bool(keep))
            one(g, f"{op.lower()}_{name}", op, f, {"x": r(3, 4, 5)}, opset=opset, keepdims=keep, **(dict(axes=list(axes)) if attr else dict(c={"axes": I(*axes)})))
    f = lambda x, fn=torch.prod: x.prod(1)
    one(g, "reduceprod", "ReduceProd", f, {"x": pos(3, 4, 5)}, axes=[1], keepdims=0)
    z = R(3, 4, 5); z[0, 1, 2] = 0; z[1, :2, 3] = 0
    one(g, "reduceprod_zeros", "ReduceProd", lambda x, axes: x.prod(1, keepdim=True), {"x": z}, opset=18, c={"axes": I(1)}, keepdims=1)
    t = np.round(R(3, 4, 5)); one(g, "reducemax_ties", "ReduceMax", lambda x: x.amax((1, 2)), {"x": t}, axes=[1, 2], keepdims=0)
    one(g, "reducemin_ties", "ReduceMin", lambda x: x.amin((1, 2)), {"x": t}, axes=[1, 2], keepdims=0)
    one(g, "reducesum_batch", "ReduceSum", lambda x, axes: x.sum(0, True), {"x": R(3, 4)}, c={"axes": I(0)})
    one(g, "reducemean_batch", "ReduceMean", lambda x: x.mean(0, True), {"x": R(3, 4)}, axes=[0])
    one(g, "reducemean_all", "ReduceMean", lambda x: x.mean().reshape(1, 1), {"x": R(3, 4)})
    one(g, "reducemax_batch", "ReduceMax", lambda x: x.amax(0, True), {"x": R(3, 4)}, axes=[0])
    one(g, "reducel2_zero", "ReduceL2", lambda x: x.norm(dim=1), {"x": np.array([[0, 0], [3, 4]], np.float32)}, axes=[1], keepdims=0)
    for n, a in {"": {}, "_exclusive": {"exclusive": 1}, "_reverse": {"reverse": 1}}.items():
        def f(x, axis, n=n):
            if n == "_reverse":
                return x.flip(1).cumsum(1).flip(1)
            return x.cumsum(1) - (x if n else 0)
        one(g, "cumsum" + n, "CumSum", f, {"x": R(3, 6, 2)}, c={"axis": I(1).reshape(())}, **a)
    case(g, "topk", lambda x, k: x.topk(3, 1)[0], {"x": R(3, 7, 2)}, node("TopK", "x k", "y i", axis=1), c={"k": I(3)})
    case(g, "topk_smallest", lambda x, k: x.topk(2, -1, largest=False)[0], {"x": R(3, 7)}, node("TopK", ["x", "k"], ["y", ""], largest=0), c={"k": I(2)})
    for op, fn in {"Softmax": torch.softmax, "LogSoftmax": torch.log_softmax}.items():
        one(g, op.lower(), op, lambda x, fn=fn: fn(x, -1), {"x": R(3, 4, 5)})
        one(g, op.lower() + "_axis", op, lambda x, fn=fn: fn(x, 1), {"x": R(3, 4, 5)}, axis=1)


# ---- normalizations
def norms():
    g = "norms"
    ln = lambda x, s, b=None, n=1, e=1e-5: F.layer_norm(x, x.shape[-n:], s, b, e)
    case(g, "layernorm", ln, {"x": R(3, 4, 8)}, node("LayerNormalization", "x s b", "y"), p={"s": R(8), "b": R(8)}, opset=17)
    case(g, "layernorm_axis", lambda x, s, b: ln(x, s, b, 2, 1e-3), {"x": R(3, 4, 8)}, node("LayerNormalization", "x s b", "y", axis=1, epsilon=1e-3), p={"s": R(4, 8), "b": R(4, 8)}, opset=17)
    case(g, "layernorm_no_bias", ln, {"x": R(3, 8)}, node("LayerNormalization", "x s", "y"), p={"s": R(8)}, opset=17)
    case(g, "instancenorm", lambda x, s, b: F.instance_norm(x, weight=s, bias=b), {"x": R(3, 4, 5, 5)}, node("InstanceNormalization", "x s b", "y"), p={"s": R(4), "b": R(4)})
    case(g, "instancenorm_1d", lambda x, s, b: F.instance_norm(x, weight=s, bias=b, eps=1e-2), {"x": R(3, 4, 6)}, node("InstanceNormalization", "x s b", "y", epsilon=1e-2), p={"s": R(4), "b": R(4)})
    bn = lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b)
    P = {"s": R(4), "b": R(4), "m": R(4), "v": R(4, lo=.5, hi=2)}
    case(g, "batchnorm", bn, {"x": R(3, 4, 5, 5)}, node("BatchNormalization", "x s b m v", "y"), p={k: P[k] for k in "sb"}, c={k: P[k] for k in "mv"})
    case(g, "batchnorm_statistics", lambda x, s, b, m, v: (x - m[:, None]) / (v[:, None] + 1e-5).sqrt() * s[:, None] + b[:, None], {"x": R(3, 4, 5)}, node("BatchNormalization", "x s b m v", "y"), p=P)
    case(g, "batchnorm_flat", lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b, eps=.1), {"x": R(3, 4)}, node("BatchNormalization", "x s b m v", "y", epsilon=.1), p={k: P[k] for k in "sb"}, c={k: P[k] for k in "mv"})
    case(g, "batchnorm_training", lambda x, s, b, m, v: F.batch_norm(x, m.clone(), v.clone(), s, b, training=True), {"x": R(3, 4, 5, 5)},
         node("BatchNormalization", "x s b m v", "y rm rv", training_mode=1), p={k: P[k] for k in "sb"}, c={k: P[k] for k in "mv"})
    case(g, "groupnorm_18", lambda x, s, b: F.group_norm(x, 2, s.repeat_interleave(3), b.repeat_interleave(3)), {"x": R(3, 6, 4, 4)},
         node("GroupNormalization", "x s b", "y", num_groups=2), p={"s": R(2), "b": R(2)}, opset=18)
    case(g, "groupnorm_21", lambda x, s, b: F.group_norm(x, 2, s, b), {"x": R(3, 6, 4, 4)}, node("GroupNormalization", "x s b", "y", num_groups=2), p={"s": R(6), "b": R(6)}, opset=21)
    case(g, "rmsnorm", lambda x, s: x / ((x * x).mean((1, 2), True) + 1e-2).sqrt() * s, {"x": R(3, 4, 8)}, node("RMSNormalization", "x s", "y", axis=1, epsilon=1e-2), p={"s": R(4, 8)}, opset=23)
    one(g, "lpnorm", "LpNormalization", lambda x: F.normalize(x, dim=-1), {"x": R(3, 6)})
    case(g, "lpnorm_1", lambda x: F.normalize(x, p=1., dim=1), {"x": R(3, 6, 2)}, node("LpNormalization", "x", "y", axis=1, p=1))
    one(g, "lrn", "LRN", lambda x: F.local_response_norm(x, 3, alpha=.3, beta=.6, k=1.5), {"x": R(3, 7, 4, 4)}, size=3, alpha=.3, beta=.6, bias=1.5)
    one(g, "meanvariance", "MeanVarianceNormalization", lambda x: F.instance_norm(x, eps=0), {"x": R(3, 4, 5, 5)}, axes=[2, 3])
    # decomposed, as exporters before operator set 17 write it
    case(g, "layernorm_decomposed", lambda x, s, b, two, eps: ln(x, s, b), {"x": R(3, 4, 8)},
         [node("ReduceMean", "x", "m", axes=[-1]), node("Sub", "x m", "c"), node("Pow", "c two", "q"), node("ReduceMean", "q", "v", axes=[-1]), node("Add", "v eps", "w"),
          node("Sqrt", "w", "r"), node("Div", "c r", "n"), node("Mul", "n s", "t"), node("Add", "t b", "y")], p={"s": R(8), "b": R(8)},
         c={"two": np.float32(2), "eps": np.float32(1e-5)}, opset=13)


# ---- positions
def shapes():
    g = "shapes"
    X = {"x": R(3, 4, 6)}
    one(g, "reshape", "Reshape", lambda x, s: x.reshape(-1, 8, 3), X, c={"s": I(-1, 8, 3)})
    one(g, "reshape_merges_batch", "Reshape", lambda x, s: x.reshape(-1, 6), X, c={"s": I(-1, 6)})
    one(g, "flatten", "Flatten", lambda x: x.reshape(x.shape[0], -1), X)
    one(g, "squeeze", "Squeeze", lambda x, a: x.squeeze(1), {"x": R(3, 1, 6)}, c={"a": I(1)})
    one(g, "unsqueeze", "Unsqueeze", lambda x, a: x.unsqueeze(1).unsqueeze(3), X, c={"a": I(1, 3)})
    one(g, "transpose", "Transpose", lambda x: x.permute(0, 2, 1), X, perm=[0, 2, 1])
    case(g, "transpose_batch_last", lambda x: x.permute(2, 1, 0), X, node("Transpose", "x", "y"), batch_axis=2)
    case(g, "transpose_cycle", lambda x: x.permute(1, 2, 0).permute(1, 2, 0).permute(1, 2, 0) * 2, X,
         [node("Transpose", "x", "a", perm=[1, 2, 0]), node("Transpose", "a", "b", perm=[1, 2, 0]), node("Transpose", "b", "c", perm=[1, 2, 0]), node("Add", "c c", "y")])
    case(g, "concat", lambda a, b: torch.cat([a, b, a], 1), {"a": R(3, 2, 4), "b": R(3, 3, 4)}, node("Concat", "a b a", "y", axis=1))
    case(g, "concat_batch", lambda a, b: torch.cat([a, b], 0), {"a": R(3, 4), "b": R(3, 4)}, node("Concat", "a b", "y", axis=0))
    case(g, "class_token", lambda x, t, z, o, m: torch.cat([t.expand(x.shape[0], -1, -1), x], 1), {"x": R(3, 2, 4)},
         [node("Shape", "x", "s"), node("Slice", "s z o", "n"), node("Concat", "n m m", "e", axis=0), node("Expand", "t e", "te"), node("Concat", "te x", "y", axis=-2)],
         p={"t": R(1, 1, 4)}, c={"z": I(0), "o": I(1), "m": I(1)})
    case(g, "split", lambda x, s: x.split([1, 2, 1], 1)[2] * x.split([1, 2, 1], 1)[0], X, [node("Split", "x s", "a b c", axis=1), node("Mul", "a c", "y")], c={"s": I(1, 2, 1)})
    case(g, "split_18", lambda x: x.chunk(2, 2)[0] * 2 + x.chunk(2, 2)[1], X, [node("Split", "x", "a b", axis=2, num_outputs=2), node("Add", "a a", "c"), node("Add", "c b", "y")], opset=18)
    one(g, "expand", "Expand", lambda x, s: x.expand(3, 5, 4), {"x": R(3, 1, 4)}, c={"s": I(1, 5, 1)})
    one(g, "tile", "Tile", lambda x, s: x.repeat(1, 2, 3), X, c={"s": I(1, 2, 3)})
    one(g, "tile_batch", "Tile", lambda x, s: x.repeat(2, 1), {"x": R(3, 4)}, c={"s": I(2, 1)})
    IM = {"x": R(2, 2, 5, 6)}
    one(g, "pad", "Pad", lambda x, p: F.pad(x, (2, 1, 0, 1)), IM, c={"p": I(0, 0, 0, 2, 0, 0, 1, 1)})
    one(g, "pad_value", "Pad", lambda x, p, v: F.pad(x, (2, 1, 0, 1), value=3.), IM, c={"p": I(0, 0, 0, 2, 0, 0, 1, 1), "v": np.float32(3)})
    one(g, "pad_negative", "Pad", lambda x, p: F.pad(x, (-2, 1, 0, -1)), IM, c={"p": I(0, 0, 0, -2, 0, 0, -1, 1)})
    case(g, "pad_axes", lambda x, p, axes: F.pad(x, (2, 1)), IM, node("Pad", ["x", "p", "", "axes"], ["y"]), c={"p": I(2, 1), "axes": I(3)}, opset=18)
    one(g, "pad_reflect", "Pad", lambda x, p: F.pad(x, (2, 1, 1, 3), mode="reflect"), IM, c={"p": I(0, 0, 1, 2, 0, 0, 3, 1)}, mode="reflect")
    one(g, "pad_edge", "Pad", lambda x, p: F.pad(x, (2, 1, 1, 3), mode="replicate"), IM, c={"p": I(0, 0, 1, 2, 0, 0, 3, 1)}, mode="edge")
    one(g, "pad_wrap", "Pad", lambda x, p: F.pad(x, (2, 1, 1, 3), mode="circular"), IM, c={"p": I(0, 0, 1, 2, 0, 0, 3, 1)}, mode="wrap", opset=19)
    case(g, "slice", lambda x, s, e, a: x[:, 1:3], X, node("Slice", "x s e a", "y"), c={"s": I(1), "e": I(3), "a": I(1)})
    case(g, "slice_from_end", lambda x, s, e, a: x[:, -3:-1, 2:], X, node("Slice", "x s e a", "y"), c={"s": I(-3, 2), "e": I(-1, 2 ** 62), "a": I(1, -1)})
    case(g, "slice_step", lambda x, s, e, a, t: x[:, :, 1::2], X, node("Slice", "x s e a t", "y"), c={"s": I(1), "e": I(100), "a": I(2), "t": I(2)})
    case(g, "slice_back", lambda x, s, e, a, t: x.flip(2)[:, :, 1:], X, node("Slice", "x s e a t", "y"), c={"s": I(-2), "e": I(-100), "a": I(2), "t": I(-1)})
    case(g, "slice_clamped", lambda x, s, e, a: x[:, 1:], X, node("Slice", "x s e a", "y"), c={"s": I(1, -100), "e": I(100, 100), "a": I(1, 2)})
    case(g, "slice_batch", lambda x, s, e, a: x[1:], X, node("Slice", "x s e a", "y"), c={"s": I(1), "e": I(1000), "a": I(0)})
    case(g, "slice_batch_from_end", lambda x, s, e, a: x[-1:], X, node("Slice", "x s e a", "y"), c={"s": I(-1), "e": I(1000), "a": I(0)})
    case(g, "differences", lambda x, z, o, e, m: x[:, 1:] - x[:, :-1], {"x": R(3, 8)}, [node("Slice", "x o e o", "a"), node("Slice", "x z m o", "b"), node("Sub", "a b", "y")],
         c={"z": I(0), "o": I(1), "e": I(1000), "m": I(-1)})
    one(g, "gather", "Gather", lambda x, i: x[:, [2, 0, 2]], X, c={"i": I(2, 0, 2)}, axis=1)
    one(g, "gather_matrix", "Gather", lambda x, i: x[:, :, torch.tensor([[5, -1], [0, 2]])], X, c={"i": I(5, -1, 0, 2).reshape(2, 2)}, axis=2)
    one(g, "gather_scalar", "Gather", lambda x, i: x[:, -2], X, c={"i": I(-2).reshape(())}, axis=1)
    case(g, "gather_constant_node", lambda x: x[:, -2], X, [node("Constant", [], ["i"], value_int=-2), node("Gather", "x i", "y", axis=1)])
    case(g, "slice_constant_nodes", lambda x: x[:, -3:-1], X, [node("Constant", [], ["s"], value_ints=[-3]), node("Constant", [], ["e"], value_ints=[-1]), node("Constant", [], ["a"], value_ints=[1]),
         node("Slice", "x s e a", "y")])
    one(g, "gather_single", "Gather", lambda x, i: x[:, :, [3]], X, c={"i": I(3)}, axis=2)
    case(g, "embedding", lambda i, w: F.embedding(i, w), {"i": np.array([[0, 2, 2], [4, 1, 0]], np.int64)}, node("Gather", "w i", "y"), p={"w": R(5, 3)})
    one(g, "gatherelements", "GatherElements", lambda x, i: x.gather(1, i), {"x": R(2, 4), "i": np.array([[1, 1, 3], [0, 2, 0]], np.int64)}, axis=1)
    one(g, "gathernd", "GatherND", lambda x, i: x[[0, 2, 2], [1, 3, 3]], {"x": R(3, 4, 2)}, c={"i": I(0, 1, 2, 3, 2, 3).reshape(3, 2)})
    one(g, "gathernd_batch", "GatherND", lambda x, i: torch.stack([x[k, i[k, 0]] for k in range(3)]), {"x": R(3, 4, 2), "i": I(1, 0, 3).reshape(3, 1)}, batch_dims=1)
    si = np.array([[1, 0], [3, 2], [0, 1]], np.int64)
    case(g, "scatterelements", lambda x, u, i: x.scatter(1, i, u), {"x": R(3, 4), "i": si, "u": R(3, 2)}, node("ScatterElements", "x i u", "y", axis=1))
    case(g, "scatterelements_add", lambda x, u, i: x.scatter_add(1, i, u), {"x": R(3, 4), "i": np.array([[1, 1], [3, 2], [0, 0]], np.int64), "u": R(3, 2)},
         node("ScatterElements", "x i u", "y", axis=1, reduction="add"))
    def nd(x, u, i):
        y = x.clone(); y[i[:, 0], i[:, 1]] = u
        return y
    case(g, "scatternd", nd, {"x": R(3, 4, 2)}, node("ScatterND", "x i u", "y"), p={"u": R(2, 2)}, c={"i": I(0, 1, 2, 3).reshape(2, 2)})
    one(g, "trilu", "Trilu", lambda x, k: x.triu(1), {"x": R(3, 4, 5)}, c={"k": I(1).reshape(())})
    one(g, "trilu_lower", "Trilu", lambda x: x.tril(), {"x": R(3, 4, 5)}, upper=0)
    D = {"x": R(2, 8, 2, 3)}
    one(g, "depthtospace_crd", "DepthToSpace", lambda x: F.pixel_shuffle(x, 2), D, blocksize=2, mode="CRD")
    dcr = lambda x: x.reshape(-1, 2, 2, 2, 2, 3).permute(0, 3, 4, 1, 5, 2).reshape(-1, 2, 4, 6)
    one(g, "depthtospace", "DepthToSpace", dcr, D, blocksize=2)
    one(g, "spacetodepth", "SpaceToDepth", lambda x: x.reshape(-1, 2, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(-1, 8, 2, 3), {"x": R(2, 2, 4, 6)}, blocksize=2)
    case(g, "shape_arithmetic", lambda x, z, h: x.reshape(x.shape[0], -1) * x.shape[2], X,
         [node("Shape", "x", "s"), node("Gather", "s z", "n"), node("Concat", "n h", "t", axis=0), node("Reshape", "x t", "r"), node("Shape", "x", "s2", start=2, end=3),
          node("Cast", "s2", "f", to=TensorProto.FLOAT), node("Mul", "r f", "y")], c={"z": I(0), "h": I(-1)})


# ---- resizing and sampling
def sampling():
    g = "sampling"
    X = {"x": R(2, 2, 4, 5)}
    def rs(name, fn, scales=None, sizes=None, opset=16, x=X, **a):
        c = {"scales": np.array(scales, np.float32)} if scales else {"size": I(*sizes)}
        ins = ["x", "", "scales"] if scales else ["x", "", "", "sizes"]
        nodes = [] if scales else [node("Shape", "x", "front", end=2), node("Concat", "front size", "sizes", axis=0)]
        case(g, "resize_" + name, lambda x, **_: fn(x), x, nodes + [node("Resize", ins, ["y"], **a)], c=c, opset=opset)
    ip = lambda mode, s=None, z=None, ac=None: (lambda x: F.interpolate(x, scale_factor=s, size=z, mode=mode, align_corners=ac))
    rs("bilinear_up", ip("bilinear", 2., ac=False), [1, 1, 2, 2], mode="linear", coordinate_transformation_mode="half_pixel")
    rs("bilinear_sizes", ip("bilinear", z=(7, 3), ac=False), sizes=[7, 3], mode="linear", coordinate_transformation_mode="half_pixel", x={"x": R(2, 2, 4, 5)})
    rs("bilinear_corners", ip("bilinear", z=(7, 9), ac=True), sizes=[7, 9], mode="linear", coordinate_transformation_mode="align_corners")
    rs("bilinear_pytorch", ip("bilinear", 2., ac=False), [1, 1, 2, 2], mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
    rs("nearest", ip("nearest", 2.), [1, 1, 2, 2], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    rs("nearest_sizes", ip("nearest", z=(7, 11)), sizes=[7, 11], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    rs("bicubic", ip("bicubic", 2., ac=False), [1, 1, 2, 2], mode="cubic", coordinate_transformation_mode="half_pixel", cubic_coeff_a=-.75)
    rs("linear_1d", ip("linear", 2., ac=False), [1, 1, 2], mode="linear", coordinate_transformation_mode="half_pixel", x={"x": R(2, 3, 5)})
    rs("axes", ip("bilinear", 2., ac=False), [2, 2], mode="linear", coordinate_transformation_mode="half_pixel", axes=[2, 3], opset=18)
    grid = R(2, 3, 4, 2, lo=-1.3, hi=1.3)
    for pad in ("zeros", "border"):
        for ac in (0, 1):
            case(g, f"gridsample_{pad}_{ac}", lambda x, grid, pad=pad, ac=ac: F.grid_sample(x, grid, padding_mode=pad, align_corners=bool(ac)), {"x": R(2, 3, 5, 6), "grid": grid},
                 node("GridSample", "x grid", "y", mode="bilinear", padding_mode=pad, align_corners=ac))
    case(g, "gridsample_nearest", lambda x, grid: F.grid_sample(x, grid, mode="nearest", align_corners=False), {"x": R(2, 3, 5, 6)}, node("GridSample", "x grid", "y", mode="nearest"), c={"grid": grid})
    case(g, "gridsample_20", lambda x, grid: F.grid_sample(x, grid, align_corners=False), {"x": R(2, 3, 5, 6), "grid": grid}, node("GridSample", "x grid", "y", mode="linear"), opset=20)


# ---- products
def products():
    g = "products"
    mm = lambda a, b: torch.matmul(a, b)
    def m(name, a, b, both=False):
        case(g, "matmul_" + name, mm, {"a": R(*a), "b": R(*b)} if both else {"a": R(*a)}, node("MatMul", "a b", "y"), p=None if both else {"b": R(*b)})
    m("dense", (3, 4), (4, 5)); m("tall", (3, 2, 4), (4, 5)); m("batched", (3, 2, 4), (3, 4, 5), True); m("heads", (3, 2, 4, 5), (3, 2, 5, 4), True)
    m("shared", (3, 2, 4, 5), (2, 5, 3)); m("broadcast", (3, 2, 4, 5), (1, 5, 3)); m("vector", (3, 4), (4,)); m("tall_vector", (3, 2, 4), (4,))
    m("broadcast_left", (3, 1, 4, 5), (2, 5, 3))
    case(g, "matmul_left_parameter", lambda b, a: a @ b, {"b": R(3, 4, 5)}, node("MatMul", "a b", "y"), p={"a": R(2, 4)})
    case(g, "matmul_left_vector", lambda b, a: a @ b, {"b": R(3, 4, 5)}, node("MatMul", "a b", "y"), p={"a": R(4)})
    gm = lambda ta, tb, al, be: (lambda a, b, c=0: al * (a.T if ta else a) @ (b.T if tb else b) + be * c)
    for ta in (0, 1):
        for tb in (0, 1):
            case(g, f"gemm_{ta}{tb}", gm(ta, tb, .5, 2.), {"a": R(4, 3) if ta else R(3, 4)}, node("Gemm", "a b c", "y", transA=ta, transB=tb, alpha=.5, beta=2.), p={"b": R(5, 4) if tb else R(4, 5), "c": R(5)})
    case(g, "gemm_plain", gm(0, 0, 1, 1), {"a": R(3, 4)}, node("Gemm", "a b", "y"), p={"b": R(4, 5)})
    case(g, "gemm_scalar_bias", gm(0, 1, 1, 1), {"a": R(3, 4)}, node("Gemm", "a b c", "y", transB=1), p={"b": R(5, 4), "c": R(1)})
    es = lambda eq: (lambda a, b: torch.einsum(eq, a, b))
    for n, eq, a, b, both in (("attention", "bhid,bhjd->bhij", (3, 2, 4, 5), (3, 2, 6, 5), True), ("dense", "bi,oi->bo", (3, 4), (5, 4), False), ("outer", "bi,bj->bij", (3, 4), (3, 5), True),
                              ("implicit", "bi,ij", (3, 4), (4, 5), False), ("summed", "bij,bk->bk", (3, 4, 5), (3, 2), True), ("transposed", "bij,kj->kbi", (3, 4, 5), (2, 5), False)):
        case(g, "einsum_" + n, es(eq), {"a": R(*a), "b": R(*b)} if both else {"a": R(*a)}, node("Einsum", "a b", "y", equation=eq), p=None if both else {"b": R(*b)}, batch_axis=eq.partition("->")[2].find("b") if "->" in eq else 0)
    case(g, "einsum_three", lambda a, b, c: torch.einsum("bi,ij,bj->b", a, b, c), {"a": R(3, 4), "c": R(3, 5)}, node("Einsum", "a b c", "y", equation="bi,ij,bj->b"), p={"b": R(4, 5)})
    case(g, "einsum_trace", lambda a: torch.einsum("bij->bj", a), {"a": R(3, 4, 5)}, node("Einsum", "a", "y", equation="bij->bj"))


# ---- recurrent operators, written from their definitions
def recurrent():
    g = "recurrent"
    def run(op, x, W, R_, B, h, c, lbr, act):
        n, out, ys = R_.shape[2], [], []
        for k in range(W.shape[0]):
            hk, ck, y = h[k], c[k], [None] * x.shape[0]
            wb, rb = B[k].chunk(2)
            steps = range(x.shape[0])
            for t in reversed(steps) if k else steps:
                a, u = x[t] @ W[k].T + wb, hk @ R_[k].T + rb
                if op == "LSTM":
                    i, o, f, q = (a + u).chunk(4, -1)
                    ck = torch.sigmoid(f) * ck + torch.sigmoid(i) * torch.tanh(q)
                    hk = torch.sigmoid(o) * torch.tanh(ck)
                elif op == "GRU":
                    (az, ar, ah), (uz, ur, uh) = a.chunk(3, -1), u.chunk(3, -1)
                    z, r = torch.sigmoid(az + uz), torch.sigmoid(ar + ur)
                    if not lbr:
                        uh = (r * hk) @ R_[k][2 * n:].T + rb[2 * n:]
                    q = torch.tanh(ah + (r * uh if lbr else uh))
                    hk = (1 - z) * q + z * hk
                else:
                    hk = act(a + u)
                y[t] = hk
            ys.append(torch.stack(y)); out.append((hk, ck))
        return torch.stack(ys, 1), torch.stack([o[0] for o in out]), torch.stack([o[1] for o in out])
    def rec(name, op, gates, dirs=1, lbr=0, act=torch.tanh, start=True, y=True, bias=True, **a):
        n, i, T, N = 3, 2, 4, 3
        P = {"W": R(dirs, gates * n, i), "R": R(dirs, gates * n, n), **({"B": R(dirs, 2 * gates * n)} if bias else {})}
        X = {"x": R(N, T, i), **({"h": R(N, dirs, n)} if start else {}), **({"c": R(N, dirs, n)} if start and op == "LSTM" else {})}
        def fn(x, W, R, B=None, h=None, c=None):
            z = torch.zeros(dirs, x.shape[0], n, dtype=x.dtype)
            B = torch.zeros(dirs, 2 * gates * n, dtype=x.dtype) if B is None else B
            Y, H, C = run(op, x.permute(1, 0, 2), W, R, B, z if h is None else h.permute(1, 0, 2), z if c is None else c.permute(1, 0, 2), lbr, act)
            parts = ([Y.permute(2, 0, 1, 3).flatten(1)] if y else []) + [H.permute(1, 0, 2).flatten(1)] + ([C.permute(1, 0, 2).flatten(1)] if op == "LSTM" else [])
            return torch.cat(parts, 1)
        nodes = [node("Transpose", "x", "xt", perm=[1, 0, 2])] + [node("Transpose", k, k + "t", perm=[1, 0, 2]) for k in X if k != "x"]
        ins = ["xt", "W", "R", "B" if bias else "", "", "ht" if start else "", "ct" if start and op == "LSTM" else ""]
        while not ins[-1]:
            ins.pop()
        outs, parts = ["Y" if y else "", "H"], []
        nodes.append(node(op, ins, outs + (["C"] if op == "LSTM" else []), hidden_size=n, **({"direction": "bidirectional"} if dirs == 2 else {}), **({"linear_before_reset": 1} if lbr else {}), **a))
        if y:
            nodes += [node("Transpose", "Y", "Yt", perm=[2, 0, 1, 3]), node("Flatten", "Yt", "Yf")]; parts.append("Yf")
        for k in ["H"] + (["C"] if op == "LSTM" else []):
            nodes += [node("Transpose", k, k + "t2", perm=[1, 0, 2]), node("Flatten", k + "t2", k + "f")]; parts.append(k + "f")
        nodes.append(node("Concat", parts, ["y"], axis=1))
        case(g, name, fn, X, nodes, p=P)
    rec("lstm", "LSTM", 4); rec("lstm_bidirectional", "LSTM", 4, 2); rec("lstm_last", "LSTM", 4, start=False, y=False); rec("lstm_no_bias", "LSTM", 4, bias=False)
    rec("gru", "GRU", 3, lbr=1); rec("gru_bidirectional", "GRU", 3, 2, lbr=1, start=False); rec("gru_reset_first", "GRU", 3); rec("gru_reset_first_no_bias", "GRU", 3, 2, bias=False)
    rec("rnn", "RNN", 1); rec("rnn_relu", "RNN", 1, act=torch.relu, activations=["Relu"], start=False); rec("rnn_bidirectional", "RNN", 1, 2)


# ---- convolutions and pools
def convs():
    g = "convs"
    def cv(name, fn, shape, k, out=None, bias=True, op="Conv", opset=16, **a):
        oc = k[0] if op == "Conv" else k[1] * a.get("group", 1)
        p = {"w": R(*k)}
        if bias:
            p["b"] = R(oc)
        case(g, name, fn, {"x": R(*shape)}, node(op, list({"x": 0, **p}), ["y"], **a), p=p, opset=opset)
    c2 = lambda **k: (lambda x, w, b=None: F.conv2d(x, w, b, **k))
    S = (2, 3, 7, 8)
    cv("conv", c2(), S, (4, 3, 3, 3)); cv("conv_pad", c2(padding=1), S, (4, 3, 3, 3), pads=[1, 1, 1, 1]); cv("conv_stride", c2(stride=2, padding=1), S, (4, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    cv("conv_stride3", c2(stride=(3, 2)), S, (4, 3, 2, 3), strides=[3, 2]); cv("conv_dilated", c2(dilation=2, padding=2), S, (4, 3, 3, 3), dilations=[2, 2], pads=[2, 2, 2, 2])
    cv("conv_1x1", c2(), S, (4, 3, 1, 1), bias=False); cv("conv_1x1_padded", c2(padding=1), S, (4, 3, 1, 1), pads=[1, 1, 1, 1]); cv("conv_1x1_stride", c2(stride=2), S, (4, 3, 1, 1), strides=[2, 2])
    cv("conv_groups", c2(groups=2, padding=1), (2, 4, 6, 5), (6, 2, 3, 3), group=2, pads=[1, 1, 1, 1]); cv("conv_depthwise", c2(groups=4), (2, 4, 6, 6), (4, 1, 3, 3), group=4)
    cv("conv_groups_stride", c2(groups=2, stride=2, padding=1), (2, 4, 7, 6), (6, 2, 3, 3), group=2, pads=[1, 1, 1, 1], strides=[2, 2])
    cv("conv_depthwise_multiplier", c2(groups=3, stride=2), (2, 3, 6, 6), (6, 1, 2, 2), group=3, strides=[2, 2])
    cv("conv_dilated_stride", c2(dilation=2, stride=2, padding=1), (2, 2, 9, 9), (3, 2, 3, 3), dilations=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1])
    cv("conv_uneven_pads", lambda x, w, b: F.conv2d(F.pad(x, (2, 1, 0, 1)), w, b), S, (4, 3, 3, 3), pads=[0, 2, 1, 1])
    cv("conv_same_upper", lambda x, w, b: F.conv2d(F.pad(x, (1, 2, 1, 1)), w, b, stride=(2, 1)), S, (2, 3, 3, 4), auto_pad="SAME_UPPER", strides=[2, 1])
    cv("conv_same_lower", lambda x, w, b: F.conv2d(F.pad(x, (2, 1, 1, 1)), w, b, stride=(2, 1)), S, (2, 3, 3, 4), auto_pad="SAME_LOWER", strides=[2, 1])
    cv("conv_valid", c2(stride=2), S, (2, 3, 3, 3), auto_pad="VALID", strides=[2, 2])
    cv("conv_1d", lambda x, w, b: F.conv1d(x, w, b, padding=1), (2, 3, 9), (4, 3, 3), pads=[1, 1]); cv("conv_1d_stride", lambda x, w, b: F.conv1d(x, w, b, stride=2), (2, 3, 9), (4, 3, 2), strides=[2])
    cv("conv_3d", lambda x, w, b: F.conv3d(x, w, b, padding=1), (2, 2, 4, 4, 3), (2, 2, 3, 3, 3), pads=[1] * 6); cv("conv_3d_stride", lambda x, w, b: F.conv3d(x, w, b, stride=2), (2, 2, 4, 5, 4), (2, 2, 2, 2, 2), strides=[2] * 3)
    case(g, "conv_of_weights", lambda x, w, s: F.conv2d(x, w * s), {"x": R(2, 2, 5, 5)}, [node("Mul", "w s", "k"), node("Conv", "x k", "y")], p={"w": R(3, 2, 3, 3), "s": R(3, 1, 1, 1)})
    ct = lambda **k: (lambda x, w, b=None: F.conv_transpose2d(x, w, b, **k))
    T = dict(op="ConvTranspose")
    cv("convt", ct(stride=2), (2, 3, 4, 5), (3, 4, 2, 2), strides=[2, 2], **T); cv("convt_pad", ct(stride=2, padding=1, output_padding=1), (2, 3, 4, 5), (3, 2, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1], **T)
    cv("convt_groups", ct(stride=2, groups=2), (2, 4, 3, 3), (4, 3, 3, 3), strides=[2, 2], group=2, **T); cv("convt_1", ct(padding=1), (2, 3, 4, 5), (3, 4, 3, 3), pads=[1, 1, 1, 1], **T)
    cv("convt_wide_output_padding", ct(stride=3, output_padding=2, padding=1), (2, 2, 3, 3), (2, 2, 2, 2), strides=[3, 3], output_padding=[2, 2], pads=[1, 1, 1, 1], **T)
    cv("convt_dilated", ct(dilation=2), (2, 2, 3, 4), (2, 3, 2, 2), dilations=[2, 2], **T)
    cv("convt_1d", lambda x, w, b: F.conv_transpose1d(x, w, b, stride=2), (2, 3, 5), (3, 2, 3), strides=[2], **T)
    X, O = {"x": R(2, 3, 7, 8)}, {"x": np.round(R(2, 2, 7, 8) * 1.5)}
    pl = lambda name, op, fn, x=X, opset=16, **a: one(g, name, op, fn, x, opset=opset, **a)
    ap, mp = lambda *k, **q: (lambda x: F.avg_pool2d(x, *k, **q)), lambda *k, **q: (lambda x: F.max_pool2d(x, *k, **q))
    pl("avgpool", "AveragePool", ap(2), kernel_shape=[2, 2], strides=[2, 2]); pl("avgpool_overlap", "AveragePool", ap(3, 2), kernel_shape=[3, 3], strides=[2, 2])
    pl("avgpool_pad", "AveragePool", ap(3, 2, 1), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    pl("avgpool_uncounted", "AveragePool", ap(3, 2, 1, count_include_pad=False), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    pl("avgpool_ceil", "AveragePool", ap(2, ceil_mode=True), kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1); pl("avgpool_1d", "AveragePool", lambda x: F.avg_pool1d(x, 3, 2), {"x": R(2, 3, 9)}, kernel_shape=[3], strides=[2])
    pl("avgpool_one", "AveragePool", ap(2, 1), kernel_shape=[2, 2])
    pl("avgpool_gaps", "AveragePool", lambda x: F.avg_pool2d(x, 2, 3), {"x": R(2, 2, 8, 9)}, kernel_shape=[2, 2], strides=[3, 3])
    pl("avgpool_padded_in_front", "AveragePool", lambda x: F.avg_pool2d(F.pad(x, (1, 0, 1, 0)), 2), {"x": R(2, 2, 8, 8)}, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0], count_include_pad=1)
    pl("maxpool", "MaxPool", mp(2), kernel_shape=[2, 2], strides=[2, 2]); pl("maxpool_overlap", "MaxPool", mp(3, 2, 1), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    pl("maxpool_ties", "MaxPool", mp(3, 1), O, kernel_shape=[3, 3]); pl("maxpool_ceil", "MaxPool", mp(2, ceil_mode=True), kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    pl("maxpool_dilated", "MaxPool", mp(2, 1, dilation=2), kernel_shape=[2, 2], dilations=[2, 2]); pl("maxpool_1d", "MaxPool", lambda x: F.max_pool1d(x, 2), {"x": R(2, 3, 9)}, kernel_shape=[2], strides=[2])
    pl("maxpool_3d", "MaxPool", lambda x: F.max_pool3d(x, 2), {"x": R(2, 2, 4, 4, 4)}, kernel_shape=[2] * 3, strides=[2] * 3)
    pl("globalaveragepool", "GlobalAveragePool", lambda x: x.mean((2, 3), True)); pl("globalmaxpool", "GlobalMaxPool", lambda x: x.flatten(2).max(2)[0][:, :, None, None])
    pl("globalmaxpool_ties", "GlobalMaxPool", lambda x: F.adaptive_max_pool2d(x, 1), O)


# ---- whole models
class Digits(nn.Module):
    def __init__(s, pool):
        super().__init__()
        block = lambda i, o, k, p: nn.Sequential(nn.Conv2d(i, o, k, padding=p, bias=False), nn.BatchNorm2d(o), nn.ReLU())
        s.f = nn.Sequential(block(1, 4, 5, 1), block(4, 6, 3, 1), pool(2), block(6, 6, 3, 1), pool(3, 2), nn.Flatten())
        s.h = nn.Sequential(nn.Linear(6 * 3 * 3, 12), nn.BatchNorm1d(12), nn.ELU(), nn.Linear(12, 10))
    def forward(s, x): return torch.softmax(s.h(s.f(x)), 1)


class Residual(nn.Module):
    def __init__(s, i, o, stride):
        super().__init__()
        s.c1, s.b1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        s.c2, s.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        s.d = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride > 1 or i != o else nn.Identity()
    def forward(s, x): return torch.relu(s.b2(s.c2(torch.relu(s.b1(s.c1(x))))) + s.d(x))


class ResNet(nn.Module):
    def __init__(s):
        super().__init__()
        s.f = nn.Sequential(nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Residual(4, 4, 1), Residual(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    def forward(s, x): return s.f(x)


class TNet(nn.Module):
    def __init__(s, k):
        super().__init__()
        s.k = k
        s.c = nn.Sequential(nn.Conv1d(k, 8, 1), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 12, 1), nn.BatchNorm1d(12), nn.ReLU())
        s.f = nn.Linear(12, k * k)
    def forward(s, x): return (s.f(torch.max(s.c(x), 2)[0]) + torch.eye(s.k, dtype=x.dtype).reshape(1, -1)).view(-1, s.k, s.k)


class PointNet(nn.Module):
    def __init__(s):
        super().__init__()
        s.t = TNet(3)
        s.c = nn.Sequential(nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 16, 1), nn.BatchNorm1d(16))
        s.f = nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 5))
    def forward(s, p): return s.f(torch.max(s.c(torch.bmm(p, s.t(p.transpose(1, 2))).transpose(1, 2)), 2)[0])


class Block(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        s.h, s.d = h, d
        s.n1, s.n2, s.q, s.o = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        s.m = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(s, x):
        b, t, d = x.shape
        q, k, v = s.q(s.n1(x)).reshape(b, t, 3, s.h, d // s.h).permute(2, 0, 3, 1, 4).unbind(0)
        a = torch.softmax(q @ k.transpose(-1, -2) / (d // s.h) ** .5, -1)
        x = x + s.o((a @ v).transpose(1, 2).reshape(b, t, d))
        return x + s.m(s.n2(x))


class Transformer(nn.Module):
    def __init__(s):
        super().__init__()
        s.e, s.p, s.cls = nn.Linear(3, 8), nn.Parameter(torch.randn(1, 6, 8) * .1), nn.Parameter(torch.randn(1, 1, 8))
        s.b, s.n, s.f = nn.Sequential(Block(8, 2), Block(8, 2)), nn.LayerNorm(8), nn.Linear(8, 4)
    def forward(s, x): return s.f(s.n(s.b(torch.cat([s.cls.expand(x.shape[0], -1, -1), s.e(x)], 1) + s.p))[:, 0])


class UNet(nn.Module):
    def __init__(s, c=3):
        super().__init__()
        b = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.LeakyReLU(.1))
        s.d1, s.d2, s.d3, s.u2, s.e2, s.e1, s.o, s.pool = b(2, c), b(c, 2 * c), b(2 * c, 2 * c), nn.ConvTranspose2d(2 * c, 2 * c, 2, 2), b(4 * c, 2 * c), b(3 * c, c), nn.Conv2d(c, 2, 1), nn.MaxPool2d(2)
    def forward(s, x):
        a = s.d1(x); b = s.d2(s.pool(a)); c = s.d3(s.pool(b))
        b = s.e2(torch.cat([s.u2(c), b], 1))
        return s.o(s.e1(torch.cat([F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False), a], 1)))


class Depthwise(nn.Module):
    def __init__(s):
        super().__init__()
        c = lambda i, o, k, st=1, g=1: nn.Sequential(nn.Conv2d(i, o, k, st, k // 2, groups=g, bias=False), nn.BatchNorm2d(o))
        s.f = nn.Sequential(c(3, 8, 3, 2), nn.Hardswish(), c(8, 8, 3, 1, 8), nn.ReLU6(), c(8, 12, 1), nn.SiLU(), c(12, 12, 3, 2, 12), nn.PReLU(12), nn.GroupNorm(3, 12), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        s.q = nn.Sequential(nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 12), nn.Hardsigmoid())
        s.o = nn.Linear(12, 4)
    def forward(s, x):
        z = s.f(x)
        return torch.log_softmax(s.o(z * s.q(z)), 1)


def models():
    torch.manual_seed(0)
    nets = {"digits_average": (Digits(nn.AvgPool2d), (1, 18, 18)), "digits_max": (Digits(nn.MaxPool2d), (1, 18, 18)), "resnet": (ResNet(), (3, 20, 20)), "pointnet": (PointNet(), (12, 3)),
            "transformer": (Transformer(), (5, 3)), "unet": (UNet(), (2, 12, 12)), "depthwise": (Depthwise(), (3, 13, 13))}
    for n, (net, shape) in nets.items():
        for m in net.modules():
            if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
                m.running_mean.normal_(0, .1); m.running_var.uniform_(.5, 1.5); m.weight.data.uniform_(.5, 1.5); m.bias.data.normal_(0, .1)
            if isinstance(m, (nn.LayerNorm, nn.GroupNorm)):  # the exporter stores equal parameters once
                m.weight.data.uniform_(.5, 1.5); m.bias.data.normal_(0, .1)
        net.eval()
        x = torch.tensor(R(3, *shape))
        for suffix, opset in (("", 16), ("_17", 17)) if n == "transformer" else (("", 13),) if n in ("digits_average", "digits_max") else (("", 16),):
            for folded in (False, True) if n in ("resnet", "depthwise") else (False,):
                b = io.BytesIO()
                kw = {} if folded else dict(do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
                torch.onnx.export(net, x, b, opset_version=opset, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, **kw)
                d = net.double()
                xd = x.double().requires_grad_(True)
                y = d(xd); v = torch.tensor(rng.standard_normal(tuple(y.shape)).astype(np.float32))
                for p in d.parameters():
                    p.grad = None
                (y * v.double()).sum().backward()
                f, key = files.setdefault("models", {}), n + suffix + ("_folded" if folded else "")
                f[f"{key}/model"], f[f"{key}/in/x"], f[f"{key}/out/y"], f[f"{key}/v"] = np.frombuffer(b.getvalue(), np.uint8), x.numpy(), y.detach().numpy().astype(np.float32), v.numpy()
                f[f"{key}/grad/x"] = xd.grad.numpy().astype(np.float32)
                names = {t.name for t in onnx.load_from_string(b.getvalue()).graph.initializer}
                for k, p in d.named_parameters():
                    if k in names and not folded:
                        f[f"{key}/grad/{k}"] = p.grad.numpy().astype(np.float32)
                net.float()


for make in (elementwise, reductions, norms, shapes, sampling, products, convs, models, recurrent):
    rng = np.random.default_rng(len(make.__name__) * 1000 + 7)
    make()
total = 0
for group, arrays in files.items():
    path = os.path.join(HERE, group + ".npz")
    np.savez_compressed(path, **{k: np.ascontiguousarray(a) if a.ndim else a for k, a in arrays.items()})
    total += os.path.getsize(path)
    print(group, len({k.split("/")[0] for k in arrays}), "cases", os.path.getsize(path), "bytes")
print(total, "bytes")
