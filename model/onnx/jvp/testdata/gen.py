# Writes cases.json: one-operator models with tangents computed by PyTorch in float64.
# usage: python3 gen.py      (made with Debian's torch 1.13.1 and onnx 1.12.0)
import base64, json, os, torch, torch.nn.functional as F
from onnx import TensorProto as T, helper as h, numpy_helper as nh
import numpy as np

torch.manual_seed(0)
cases = []

def tensor(v):
    return {"shape": list(v.shape), "data": [float("%.9g" % x) for x in v.detach().double().reshape(-1).tolist()]}

def batch(name, x):
    return x.dim() > 1 and x.shape[0] == 2 and name not in "ws"  # weights and scales have no batch axis

def case(name, fn, inputs, nodes, consts=None, opset=17, tangents=None, out="y"):
    """fn: torch function of the inputs in order; inputs: {name: shape or tensor}; nodes: (op, inputs, outputs, attributes);
    tangents: names of the inputs that move, all by default."""
    xs = {}
    for k, v in inputs.items():
        x = v if torch.is_tensor(v) else torch.randn(*v)
        xs[k] = x.float().double()
    moving = tangents or list(xs)
    vs = {k: torch.randn(xs[k].shape).float().double() for k in moving}
    def f(*args):
        vals = dict(xs); vals.update(zip(moving, args))
        return fn(*vals.values())
    y = fn(*xs.values())
    # rows of the Jacobian by reverse mode: not every operator of torch has the second derivatives that its own jvp needs
    jac = torch.autograd.functional.jacobian(f, tuple(xs[k].clone() for k in moving))
    d = sum((j * vs[k]).reshape(y.numel(), -1).sum(1) for j, k in zip(jac, moving)).reshape(y.shape)
    g = h.make_graph([h.make_node(op, i, o, **a) for op, i, o, a in nodes], name,
        [h.make_tensor_value_info(k, T.FLOAT, (["N"] if batch(k, x) else list(x.shape[:1])) + list(x.shape[1:])) for k, x in xs.items()],
        [h.make_empty_tensor_value_info(out)] if hasattr(h, "make_empty_tensor_value_info") else [h.make_tensor_value_info(out, T.FLOAT, None)],
        [nh.from_array(np.asarray(v), k) for k, v in (consts or {}).items()])
    m = h.make_model(g, opset_imports=[h.make_opsetid("", opset)], ir_version=8 if opset < 20 else 10, producer_name="gen.py")
    cases.append({"name": name, "model": base64.b64encode(m.SerializeToString()).decode(), "inputs": {k: tensor(x) for k, x in xs.items()},
        "tangents": {k: tensor(v) for k, v in vs.items()}, "output": out, "value": tensor(y), "tangent": tensor(d)})

i64 = lambda *v: np.array(v, dtype=np.int64)
f32 = lambda v: np.array(v, dtype=np.float32)
V, I = (2, 6), (2, 3, 4, 6)
spaced = lambda *s: torch.randperm(int(np.prod(s))).reshape(s).double() / 3 - 4  # no two elements are equal

def unary(op, fn, x=None, opset=17, name=None, **a):
    case(name or op.lower(), fn, {"x": V if x is None else x}, [(op, ["x"], ["y"], a)], opset=opset)

pos = torch.rand(2, 6) + .3
for op, fn in {"Neg": torch.neg, "Abs": torch.abs, "Exp": torch.exp, "Erf": torch.erf, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Relu": torch.relu,
    "Sin": torch.sin, "Cos": torch.cos, "Tan": torch.tan, "Sinh": torch.sinh, "Cosh": torch.cosh, "Atan": torch.atan, "Asinh": torch.asinh,
    "Softplus": F.softplus, "Softsign": F.softsign, "HardSwish": lambda x: F.hardswish(x), "Identity": lambda x: x * 1, "Floor": lambda x: x.floor() }.items():
    unary(op, fn, torch.randn(2, 6) * 2)
for op, fn in {"Log": torch.log, "Sqrt": torch.sqrt, "Reciprocal": torch.reciprocal}.items(): unary(op, fn, pos)
for op, fn in {"Asin": torch.asin, "Acos": torch.acos, "Atanh": torch.atanh}.items(): unary(op, fn, torch.rand(2, 6) * 1.6 - .8)
unary("Acosh", torch.acosh, pos + 1)
unary("Mish", F.mish, opset=18)
unary("Gelu", F.gelu, opset=20)
unary("Gelu", lambda x: F.gelu(x, approximate="tanh"), opset=20, name="gelu_tanh", approximate="tanh")
unary("LeakyRelu", F.leaky_relu); unary("LeakyRelu", lambda x: F.leaky_relu(x, .2), name="leakyrelu_alpha", alpha=.2)
unary("Elu", F.elu); unary("Elu", lambda x: F.elu(x, .7), name="elu_alpha", alpha=.7)
unary("Celu", lambda x: F.celu(x, .7), alpha=.7); unary("Selu", F.selu)
unary("ThresholdedRelu", lambda x: torch.where(x > .3, x, 0 * x), alpha=.3)
unary("Shrink", lambda x: F.hardshrink(x, .4), lambd=.4)
unary("HardSigmoid", lambda x: (x * .2 + .5).clamp(0, 1), torch.randn(2, 6) * 3)
unary("HardSigmoid", lambda x: F.hardsigmoid(x), torch.randn(2, 6) * 4, name="hardsigmoid_sixth", alpha=1 / 6.)
case("clip", lambda x: x.clamp(-.5, .75), {"x": torch.cat([torch.randn(1, 6), torch.tensor([[-.5, .75, 0, 1, -1, .5]])])}, [("Clip", ["x", "lo", "hi"], ["y"], {})], {"lo": f32(-.5), "hi": f32(.75)})
case("clip_min", lambda x: x.clamp(min=.1), {"x": V}, [("Clip", ["x", "lo"], ["y"], {})], {"lo": f32(.1)})
case("clip_max", lambda x: x.clamp(max=.1), {"x": V}, [("Clip", ["x", "", "hi"], ["y"], {})], {"hi": f32(.1)})
case("cast", lambda x: x * 1, {"x": V}, [("Cast", ["x"], ["d"], {"to": T.DOUBLE}), ("Mul", ["d", "d"], ["e"], {}), ("Cast", ["x"], ["i"], {"to": T.INT64}), ("Cast", ["d"], ["y"], {"to": T.FLOAT})])
case("castlike", lambda x: x * 2, {"x": V}, [("Cast", ["x"], ["d"], {"to": T.DOUBLE}), ("Add", ["d", "d"], ["e"], {}), ("CastLike", ["e", "x"], ["y"], {})])

A = {"a": (2, 3, 4), "b": (2, 1, 4)}
for op, fn in {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Max": torch.maximum, "Min": torch.minimum}.items():
    for k in (["a", "b"], ["a"], ["b"]): case(op.lower() + "_" + "".join(k), fn, A, [(op, ["a", "b"], ["y"], {})], tangents=k)
for k in (["a", "b"], ["a"], ["b"]): case("div_" + "".join(k), torch.div, {"a": (2, 3, 4), "b": torch.rand(2, 1, 4) + .5}, [("Div", ["a", "b"], ["y"], {})], tangents=k)
case("max_ties", torch.maximum, {"a": torch.tensor([[1., 2, 3]]), "b": torch.tensor([[1., 3, 2]])}, [("Max", ["a", "b"], ["y"], {})])
for op in ("Sum", "Mean", "Max", "Min"):
    fn = {"Sum": lambda a, b, c: a + b + c, "Mean": lambda a, b, c: (a + b + c) / 3, "Max": lambda a, b, c: torch.maximum(torch.maximum(a, b), c), "Min": lambda a, b, c: torch.minimum(torch.minimum(a, b), c)}[op]
    for k in (["a", "b", "c"], ["b"], ["b", "c"]):
        case(op.lower() + "3_" + "".join(k), fn, {"a": (2, 3, 4), "b": (2, 1, 4), "c": (2, 3, 1)}, [(op, ["a", "b", "c"], ["y"], {})], tangents=k)
for p in (1., 2., 3., .5, 0., -1.5):
    case("pow_%g" % p, lambda x: x ** p, {"x": pos}, [("Pow", ["x", "p"], ["y"], {})], {"p": f32(p)})
case("pow_negative_base", lambda x: x ** 3, {"x": V}, [("Pow", ["x", "p"], ["y"], {})], {"p": i64(3)})
case("pow_vector", lambda x: x ** torch.arange(6.).double(), {"x": V}, [("Pow", ["x", "p"], ["y"], {})], {"p": f32(range(6))})
case("pow_moving", torch.pow, {"a": torch.rand(2, 1, 3) + .3, "b": (2, 4, 3)}, [("Pow", ["a", "b"], ["y"], {})])
case("prelu", lambda x, s: torch.where(x > 0, x, x * s), {"x": (2, 3, 4), "s": (1, 3, 1)}, [("PRelu", ["x", "s"], ["y"], {})])
case("prelu_x", lambda x, s: torch.where(x > 0, x, x * s), {"x": (2, 3, 4), "s": (1, 3, 1)}, [("PRelu", ["x", "s"], ["y"], {})], tangents=["x"])
for k in (["a", "b"], ["a"], ["b"]):
    case("where_" + "".join(k), lambda a, b: torch.where(b > 0, a, b), {"a": (2, 1, 4), "b": (2, 3, 4)}, [("Greater", ["b", "z"], ["c"], {}), ("Where", ["c", "a", "b"], ["y"], {})], {"z": f32(0)}, tangents=k)

case("reshape", lambda x: x.reshape(2, 8, 9) ** 2, {"x": I}, [("Reshape", ["x", "s"], ["r"], {}), ("Mul", ["r", "r"], ["y"], {})], {"s": i64(0, 8, -1)})
case("flatten", lambda x: x.flatten(1), {"x": I}, [("Flatten", ["x"], ["y"], {"axis": 1})])
case("squeeze", lambda x: x.squeeze(1), {"x": (2, 1, 4)}, [("Squeeze", ["x", "a"], ["y"], {})], {"a": i64(1)})
case("unsqueeze", lambda x: x.unsqueeze(1), {"x": V}, [("Unsqueeze", ["x", "a"], ["y"], {})], {"a": i64(1)})
case("transpose", lambda x: x.permute(0, 2, 3, 1), {"x": I}, [("Transpose", ["x"], ["y"], {"perm": [0, 2, 3, 1]})])
case("concat", lambda x: torch.cat([x, x * x, torch.ones(2, 2).double()], 1), {"x": V}, [("Mul", ["x", "x"], ["q"], {}), ("Concat", ["x", "q", "c"], ["y"], {"axis": 1})], {"c": f32(np.ones((2, 2)))})
case("split", lambda x: x[:, :2] * x[:, 4:], {"x": V}, [("Split", ["x", "s"], ["a", "b", "c"], {"axis": 1}), ("Mul", ["a", "c"], ["y"], {})], {"s": i64(2, 2, 2)})
case("split_18", lambda x: x[:, :3] * x[:, 3:], {"x": V}, [("Split", ["x"], ["a", "b"], {"axis": 1, "num_outputs": 2}), ("Mul", ["a", "b"], ["y"], {})], opset=18)
case("slice", lambda x: x[:, :, 1:5:2], {"x": (2, 3, 6)}, [("Slice", ["x", "s", "e", "a", "t"], ["y"], {})], {"s": i64(1), "e": i64(5), "a": i64(2), "t": i64(2)})
P = {"p": i64(0, 0, 1, 2, 0, 0, 2, 1)}
case("pad", lambda x: F.pad(x, (2, 1, 1, 2)), {"x": I}, [("Pad", ["x", "p"], ["y"], {})], P)
case("pad_value", lambda x: F.pad(x, (2, 1, 1, 2), value=3), {"x": I}, [("Pad", ["x", "p", "v"], ["y"], {})], dict(P, v=f32(3)))
case("pad_moving_value", lambda x, v: torch.cat([x, v.reshape(1, 1).expand(2, 2)], 1), {"x": V, "v": torch.tensor(.7)}, [("Pad", ["x", "p", "v"], ["y"], {})], {"p": i64(0, 0, 0, 2)})
case("pad_reflect", lambda x: F.pad(x, (2, 1, 1, 2), mode="reflect"), {"x": I}, [("Pad", ["x", "p"], ["y"], {"mode": "reflect"})], P)
case("pad_edge", lambda x: F.pad(x, (2, 1, 1, 2), mode="replicate"), {"x": I}, [("Pad", ["x", "p"], ["y"], {"mode": "edge"})], P)
case("pad_axes", lambda x: F.pad(x, (2, 1)), {"x": I}, [("Pad", ["x", "p", "", "a"], ["y"], {})], {"p": i64(2, 1), "a": i64(3)}, opset=18)
case("expand", lambda x: x.expand(2, 3, 4), {"x": (2, 1, 4)}, [("Expand", ["x", "s"], ["y"], {})], {"s": i64(1, 3, 1)})
case("tile", lambda x: x.repeat(1, 2), {"x": V}, [("Tile", ["x", "r"], ["y"], {})], {"r": i64(1, 2)})
case("gather", lambda x: x[:, [3, 0, 3]], {"x": V}, [("Gather", ["x", "i"], ["y"], {"axis": 1})], {"i": i64(3, 0, -3)})
case("gather_table", lambda x: x[torch.tensor([[1, 0], [2, 2]])], {"x": (3, 4)}, [("Gather", ["x", "i"], ["y"], {})], {"i": np.array([[1, 0], [2, 2]])})
case("gatherelements", lambda x: x.gather(1, torch.tensor([[0, 2], [5, 5]])), {"x": V}, [("GatherElements", ["x", "i"], ["y"], {"axis": 1})], {"i": np.array([[0, 2], [5, 5]])})
case("gathernd", lambda x: torch.stack([x[0, 2], x[1, 0]]), {"x": V}, [("GatherND", ["x", "i"], ["y"], {})], {"i": np.array([[0, 2], [1, 0]])})
case("gathernd_batch", lambda x: torch.stack([x[0, 2], x[1, 0]]), {"x": V}, [("GatherND", ["x", "i"], ["y"], {"batch_dims": 1})], {"i": np.array([[2], [0]])})
idx = torch.tensor([[0, 2], [5, 1]])
case("scatterelements", lambda x, u: x.scatter(1, idx, u), {"x": V, "u": (2, 2)}, [("ScatterElements", ["x", "i", "u"], ["y"], {"axis": 1})], {"i": idx.numpy()})
case("scatterelements_add", lambda x, u: x.scatter_add(1, idx, u), {"x": V, "u": (2, 2)}, [("ScatterElements", ["x", "i", "u"], ["y"], {"axis": 1, "reduction": "add"})], {"i": idx.numpy()}, tangents=["u"])
case("scatternd", lambda x, u: x.index_put((torch.tensor([1]),), u), {"x": V, "u": (1, 6)}, [("ScatterND", ["x", "i", "u"], ["y"], {})], {"i": np.array([[1]])})
case("cumsum", lambda x: x.cumsum(1), {"x": V}, [("CumSum", ["x", "a"], ["y"], {})], {"a": np.array(1)})
case("cumsum_reverse", lambda x: x.flip(1).cumsum(1).flip(1) - x, {"x": V}, [("CumSum", ["x", "a"], ["y"], {"reverse": 1, "exclusive": 1})], {"a": np.array(1)})
case("depthtospace", lambda x: F.pixel_shuffle(x, 2), {"x": (2, 4, 2, 3)}, [("DepthToSpace", ["x"], ["y"], {"blocksize": 2, "mode": "CRD"})])
case("spacetodepth", lambda x: x.reshape(2, 1, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(2, 4, 2, 3), {"x": (2, 1, 4, 6)}, [("SpaceToDepth", ["x"], ["y"], {"blocksize": 2})])
case("trilu", torch.tril, {"x": (2, 4, 4)}, [("Trilu", ["x"], ["y"], {"upper": 0})])
case("compress", lambda x: x[:, [0, 3, 4]], {"x": V}, [("Compress", ["x", "c"], ["y"], {"axis": 1})], {"c": np.array([1, 0, 0, 1, 1, 0], dtype=bool)})
case("reversesequence", lambda x: torch.stack([x[0, [1, 0, 2]], x[1, [2, 1, 0]]]), {"x": (2, 3, 4)}, [("ReverseSequence", ["x", "l"], ["y"], {"batch_axis": 0, "time_axis": 1})], {"l": i64(2, 3)})
case("topk", lambda x: x.topk(3, 1)[0], {"x": spaced(2, 6)}, [("TopK", ["x", "k"], ["y", ""], {"axis": 1})], {"k": i64(3)})
case("dropout", lambda x: x * 1, {"x": V}, [("Dropout", ["x", "r"], ["y"], {})], {"r": f32(.5)})
case("resize_nearest", lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), {"x": (2, 2, 3, 4)}, [("Resize", ["x", "", "s"], ["y"], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})], {"s": f32([1, 1, 2, 2])})
case("resize_linear", lambda x: F.interpolate(x, size=(7, 6), mode="bilinear"), {"x": (2, 2, 3, 4)}, [("Resize", ["x", "", "", "s"], ["y"], {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"})], {"s": i64(2, 2, 7, 6)})
case("resize_cubic", lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), {"x": (2, 2, 3, 4)}, [("Resize", ["x", "", "s"], ["y"], {"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel", "cubic_coeff_a": -.75})], {"s": f32([1, 1, 2, 2])})
grid = (torch.rand(2, 4, 3, 2) * 2.4 - 1.2).float()
case("gridsample", lambda x: F.grid_sample(x, grid.double(), align_corners=False), {"x": (2, 2, 3, 4)}, [("GridSample", ["x", "g"], ["y"], {"mode": "bilinear"})], {"g": grid.numpy()})

S = spaced(2, 3, 4)
R = {"ReduceMax": lambda x, d, k: x.amax(d, k), "ReduceMin": lambda x, d, k: x.amin(d, k), "ReduceMean": lambda x, d, k: x.mean(d, k),
    "ReduceL1": lambda x, d, k: x.abs().sum(d, k), "ReduceL2": lambda x, d, k: x.pow(2).sum(d, k).sqrt(),
    "ReduceSumSquare": lambda x, d, k: x.pow(2).sum(d, k), "ReduceLogSumExp": lambda x, d, k: x.logsumexp(d, k), "ReduceSum": lambda x, d, k: x.sum(d, k)}
for op, fn in R.items():
    for keep in (0, 1):
        for opset in (13, 18):
            new = opset == 18 or op == "ReduceSum"
            case("%s_%d_%d" % (op.lower(), keep, opset), lambda x: fn(x, (1, 2), bool(keep)), {"x": S}, [(op, ["x", "a"] if new else ["x"], ["y"], {"keepdims": keep} if new else {"keepdims": keep, "axes": [1, 2]})], {"a": i64(1, 2)} if new else None, opset=opset)
    case(op.lower() + "_all", lambda x: fn(x, (0, 1, 2), False), {"x": S}, [(op, ["x"], ["y"], {"keepdims": 0})])
case("reducemax_ties", lambda x: x.amax(1), {"x": torch.tensor([[1., 2, 2], [3, 1, 2]])}, [("ReduceMax", ["x"], ["y"], {"axes": [1], "keepdims": 0})])
case("reducelogsum", lambda x: x.sum(1).log(), {"x": pos}, [("ReduceLogSum", ["x"], ["y"], {"axes": [1], "keepdims": 0})])
case("reduceprod", lambda x: x.prod(1), {"x": torch.tensor([[1., 2, 3], [0, 2, 3], [0, 0, 5]])}, [("ReduceProd", ["x"], ["y"], {"axes": [1], "keepdims": 0})])
case("softmax", lambda x: x.softmax(-1), {"x": (2, 3, 4)}, [("Softmax", ["x"], ["y"], {})])
case("softmax_axis", lambda x: x.softmax(1), {"x": (2, 3, 4)}, [("Softmax", ["x"], ["y"], {"axis": 1})])
case("logsoftmax", lambda x: x.log_softmax(1), {"x": (2, 3, 4)}, [("LogSoftmax", ["x"], ["y"], {"axis": 1})])

case("layernorm", lambda x, s, b: F.layer_norm(x, (4,), s, b), {"x": (2, 3, 4), "s": (4,), "b": (4,)}, [("LayerNormalization", ["x", "s", "b"], ["y"], {})])
case("layernorm_x", lambda x: F.layer_norm(x, (4,), torch.full((4,), 2.).double()), {"x": (2, 3, 4)}, [("LayerNormalization", ["x", "s"], ["y"], {})], {"s": f32([2] * 4)})
case("layernorm_axis", lambda x, s, b: F.layer_norm(x, (3, 4), s, b, .1), {"x": (2, 3, 4), "s": (3, 4), "b": (3, 4)}, [("LayerNormalization", ["x", "s", "b"], ["y"], {"axis": 1, "epsilon": .1})])
case("layernorm_b", lambda x, b: F.layer_norm(x, (4,), None, b), {"x": (2, 3, 4), "b": (4,)}, [("LayerNormalization", ["x", "s", "b"], ["y"], {})], {"s": f32([1] * 4)}, tangents=["b"])
B = {"x": I, "s": (3,), "b": (3,), "m": (3,), "v": torch.rand(3) + .5}
bn = lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b)
bn2 = lambda x, s, b, m, v: (x - m[:, None, None]) / (v[:, None, None] + 1e-5).sqrt() * s[:, None, None] + b[:, None, None]
for k in (list(B), ["x"], ["s"], ["b"], ["m"], ["v"]): case("batchnorm_" + "".join(k), bn2, B, [("BatchNormalization", list(B), ["y"], {})], tangents=k)
for k in (["x", "s", "b"], ["x"]): case("batchnorm_training_" + "".join(k), lambda x, s, b: F.batch_norm(x, None, None, s, b, training=True), {k: B[k] for k in "xsb"}, [("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "rm", "rv"], {"training_mode": 1})], {"m": f32([0] * 3), "v": f32([1] * 3)}, tangents=k)
case("batchnorm_vector", lambda x, s, b: F.batch_norm(x, torch.zeros(6).double(), torch.ones(6).double(), s, b), {"x": V, "s": (6,), "b": (6,)}, [("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], {})], {"m": f32([0] * 6), "v": f32([1] * 6)})
for k in (["x", "s", "b"], ["x"], ["b"]):
    case("instancenorm_" + "".join(k), lambda x, s, b: F.instance_norm(x, weight=s, bias=b), {"x": I, "s": (3,), "b": (3,)}, [("InstanceNormalization", ["x", "s", "b"], ["y"], {})], tangents=k)
G = {"x": (2, 4, 3, 3), "s": (4,), "b": (4,)}
case("groupnorm_21", lambda x, s, b: F.group_norm(x, 2, s, b), G, [("GroupNormalization", ["x", "s", "b"], ["y"], {"num_groups": 2})], opset=21)
case("groupnorm_18", lambda x, s, b: F.group_norm(x, 2, s.repeat_interleave(2), b.repeat_interleave(2)), {"x": (2, 4, 3, 3), "s": (2,), "b": (2,)}, [("GroupNormalization", ["x", "s", "b"], ["y"], {"num_groups": 2})], opset=18)
case("lpnorm_2", lambda x: F.normalize(x, dim=1), {"x": (2, 3, 4)}, [("LpNormalization", ["x"], ["y"], {"axis": 1})])
case("lpnorm_1", lambda x: F.normalize(x, p=1, dim=-1), {"x": (2, 3, 4)}, [("LpNormalization", ["x"], ["y"], {"p": 1})])

for k in (["a", "b"], ["a"], ["b"]): case("matmul_" + "".join(k), torch.matmul, {"a": (2, 3, 4), "b": (4, 5)}, [("MatMul", ["a", "b"], ["y"], {})], tangents=k)
case("matmul_batch", torch.matmul, {"a": (2, 1, 3, 4), "b": (2, 2, 4, 3)}, [("MatMul", ["a", "b"], ["y"], {})])
gemm = lambda a, b, c: .7 * a @ b.t() + 1.3 * c
for k in (["a", "b", "c"], ["a"], ["b"], ["c"], ["b", "c"]): case("gemm_" + "".join(k), gemm, {"a": (2, 4), "b": (3, 4), "c": (3,)}, [("Gemm", ["a", "b", "c"], ["y"], {"alpha": .7, "beta": 1.3, "transB": 1})], tangents=k)
case("gemm_transA", lambda a, b: a.t() @ b, {"a": (4, 2), "b": (4, 3)}, [("Gemm", ["a", "b"], ["y"], {"transA": 1})])
case("einsum", lambda a, b: torch.einsum("nij,nkj->nik", a, b), {"a": (2, 3, 4), "b": (2, 5, 4)}, [("Einsum", ["a", "b"], ["y"], {"equation": "nij,nkj->nik"})])
case("einsum3", lambda a, b, c: torch.einsum("ni,nj,ij->n", a, b, c), {"a": (2, 3), "b": (2, 4), "c": (3, 4)}, [("Einsum", ["a", "b", "c"], ["y"], {"equation": "ni,nj,ij->n"})])
W = {"x": I, "w": (4, 3, 3, 3), "b": (4,)}
for k in (["x", "w", "b"], ["x"], ["w"], ["b"], ["w", "b"]): case("conv_" + "".join(k), lambda x, w, b: F.conv2d(x, w, b, padding=1), W, [("Conv", ["x", "w", "b"], ["y"], {"pads": [1] * 4})], tangents=k)
case("conv_stride", lambda x, w, b: F.conv2d(F.pad(x, (0, 1, 1, 0)), w, b, stride=2, dilation=(1, 2)), W, [("Conv", ["x", "w", "b"], ["y"], {"strides": [2, 2], "dilations": [1, 2], "pads": [1, 0, 0, 1]})])
case("conv_group", lambda x, w: F.conv2d(x, w, groups=3), {"x": I, "w": (6, 1, 3, 3)}, [("Conv", ["x", "w"], ["y"], {"group": 3})])
case("conv_same", lambda x, w: F.conv2d(x, w, padding=1), {"x": I, "w": (4, 3, 3, 3)}, [("Conv", ["x", "w"], ["y"], {"auto_pad": "SAME_UPPER"})])
case("conv1d", lambda x, w: F.conv1d(x, w), {"x": (2, 3, 6), "w": (4, 3, 3)}, [("Conv", ["x", "w"], ["y"], {})])
case("conv3d", lambda x, w: F.conv3d(x, w), {"x": (2, 1, 3, 3, 3), "w": (2, 1, 2, 2, 2)}, [("Conv", ["x", "w"], ["y"], {})])
case("convtranspose", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1), {"x": (2, 3, 3, 4), "w": (3, 2, 3, 3), "b": (2,)}, [("ConvTranspose", ["x", "w", "b"], ["y"], {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]})])
case("convtranspose_group", lambda x, w: F.conv_transpose2d(x, w, groups=3), {"x": (2, 3, 3, 4), "w": (3, 2, 2, 2)}, [("ConvTranspose", ["x", "w"], ["y"], {"group": 3})])
M = {"x": spaced(*I)}
case("maxpool", lambda x: F.max_pool2d(x, 2), M, [("MaxPool", ["x"], ["y"], {"kernel_shape": [2, 2], "strides": [2, 2]})])
case("maxpool_overlap", lambda x: F.max_pool2d(x, 3, 2, 1), M, [("MaxPool", ["x"], ["y"], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4})])
case("maxpool_dilated_ceil", lambda x: F.max_pool2d(x, 2, 2, 0, 2, ceil_mode=True), M, [("MaxPool", ["x"], ["y"], {"kernel_shape": [2, 2], "strides": [2, 2], "dilations": [2, 2], "ceil_mode": 1})])
case("maxpool_1d", lambda x: F.max_pool1d(x, 2), {"x": spaced(2, 3, 6)}, [("MaxPool", ["x"], ["y"], {"kernel_shape": [2], "strides": [2]})])
case("maxpool_ties", lambda x: F.max_pool2d(x, 2), {"x": torch.ones(2, 1, 2, 4)}, [("MaxPool", ["x"], ["y"], {"kernel_shape": [2, 2], "strides": [2, 2]})])
case("avgpool", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), {"x": I}, [("AveragePool", ["x"], ["y"], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4})])
case("avgpool_padded", lambda x: F.avg_pool2d(x, 3, 2, 1), {"x": I}, [("AveragePool", ["x"], ["y"], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4, "count_include_pad": 1})])
case("globalavgpool", lambda x: x.mean((2, 3), True), {"x": I}, [("GlobalAveragePool", ["x"], ["y"], {})])
case("globalmaxpool", lambda x: F.adaptive_max_pool2d(x, 1), M, [("GlobalMaxPool", ["x"], ["y"], {})])
case("globalmaxpool_ties", lambda x: F.adaptive_max_pool2d(x, 1), {"x": torch.ones(2, 2, 2, 2)}, [("GlobalMaxPool", ["x"], ["y"], {})])

# several operators: attention, and a block as exporters write it, with shapes taken from values
case("attention", lambda x, w: (x @ w @ x.transpose(1, 2) / 2).softmax(-1) @ x, {"x": (2, 3, 4), "w": (4, 4)}, [
    ("MatMul", ["x", "w"], ["q"], {}), ("Transpose", ["x"], ["k"], {"perm": [0, 2, 1]}), ("MatMul", ["q", "k"], ["l"], {}), ("Div", ["l", "two"], ["m"], {}),
    ("Softmax", ["m"], ["p"], {"axis": -1}), ("MatMul", ["p", "x"], ["y"], {})], {"two": f32(2)})
case("view", lambda x: (x * x).reshape(2, -1).tanh(), {"x": I}, [("Mul", ["x", "x"], ["q"], {}), ("Shape", ["q"], ["s"], {}), ("Gather", ["s", "zero"], ["n"], {}), ("Unsqueeze", ["n", "ax"], ["n1"], {}),
    ("Concat", ["n1", "rest"], ["sh"], {"axis": 0}), ("Reshape", ["q", "sh"], ["r"], {}), ("Tanh", ["r"], ["y"], {})], {"zero": np.array(0), "ax": i64(0), "rest": i64(-1)})

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(len(cases), "cases")
