"""Makes data/tensor.npz, models/tensor_*.onnx and tensor.json: networks of irreps inside, as e3nn exports them, and faulty twins of them.

    python3 tensor.py

Points -> spherical harmonics of degree 0 to 2 about the centre, times radial functions, summed over the points -> a product of irreps,
by Clebsch-Gordan coefficients or on a grid of the sphere -> linear maps within each degree -> a gate -> a second product -> four
scalars. Nothing is trained. Coefficients come from Racah's formula for complex harmonics and the change to real ones; here they are
held against matrices D that are fitted to harmonics of Rodrigues' formula. tensor.json has, for each network, the largest deviation
from rotations and from mirrors over the data, divided by the root mean square of the output, measured in float64. Debian 12's
python3-onnx 1.12.0 and python3-numpy 1.24.2.
"""

import hashlib
import json
import math
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
from numpy.polynomial import Polynomial
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
SEED, POINTS, WIDE = 20261128, 16, 6


def clouds(n=96):
    """Clouds of 16 points, bent and longer than wide, each turned at random and off the origin."""
    rng, out = np.random.default_rng(SEED + 9), []
    for _ in range(n):
        x = rng.normal(0, 0.6, (POINTS, 3)) * [1, 0.7, 0.4]
        x[:, 1] += 0.4 * x[:, 0] ** 2
        q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        out.append(x @ q.T + rng.normal(0, 0.2, 3))
    return np.round(np.array(out), 3).astype(np.float32)


def save(path, **arrays):
    """An npz whose bytes depend on the arrays alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, a in arrays.items():
            buf = BytesIO()
            np.lib.format.write_array(buf, np.ascontiguousarray(a), version=(1, 0))
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, buf.getvalue())


# Harmonics and coefficients.

def harmonics(top, p):
    """Real harmonics of degree 0 to top by Rodrigues' formula, m = -l..l, y the polar axis, squares summing to 2l+1 on the sphere."""
    p = p / np.linalg.norm(p, axis=-1, keepdims=True)
    x, y, z = p[..., 2], p[..., 0], p[..., 1]  # of textbooks: the polar axis is z there
    phi, out = np.arctan2(y, x), []
    for l in range(top + 1):
        legendre = (Polynomial([-1, 0, 1]) ** l) / (2.0 ** l * math.factorial(l))
        for m in range(-l, l + 1):
            a = abs(m)
            part = legendre.deriv(l + a)(z) * np.sqrt(np.maximum(1 - z * z, 0)) ** a
            norm = math.sqrt((2 * l + 1) * math.factorial(l - a) / math.factorial(l + a) * (2 if m else 1))
            out.append(norm * part * (np.cos(a * phi) if m >= 0 else np.sin(a * phi)))
    return np.stack(out, -1)


def racah(l1, m1, l2, m2, l3, m3):
    """<l1 m1 l2 m2 | l3 m3> by Racah's formula."""
    if m1 + m2 != m3 or not abs(l1 - l2) <= l3 <= l1 + l2:
        return 0.0
    f = math.factorial
    front = (2 * l3 + 1) * f(l3 + l1 - l2) * f(l3 - l1 + l2) * f(l1 + l2 - l3) / f(l1 + l2 + l3 + 1)
    front *= f(l3 + m3) * f(l3 - m3) * f(l1 - m1) * f(l1 + m1) * f(l2 - m2) * f(l2 + m2)
    total = 0.0
    for k in range(l1 + l2 - l3 + 1):
        below = (l1 + l2 - l3 - k, l1 - m1 - k, l2 + m2 - k, l3 - l2 + m1 + k, l3 - l1 - m2 + k)
        if min(below) >= 0:
            total += (-1) ** k / (f(k) * math.prod(f(b) for b in below))
    return math.sqrt(front) * total


def real_basis(l):
    """Rows: real harmonics without the Condon-Shortley phase in complex ones with it."""
    q = np.zeros((2 * l + 1, 2 * l + 1), complex)
    for m in range(-l, l + 1):
        a, s = abs(m), (-1) ** m
        if m == 0:
            q[l, l] = 1
        elif m > 0:
            q[l + m, l + a], q[l + m, l - a] = s / math.sqrt(2), 1 / math.sqrt(2)
        else:
            q[l + m, l + a], q[l + m, l - a] = -1j * s / math.sqrt(2), 1j / math.sqrt(2)
    return q


def coupling(l1, l2, l3):
    """C[i, j, k] with (C x y)_k of degree l3 for x of degree l1 and y of degree l2, of norm sqrt(2 l3 + 1)."""
    c = np.array([[[racah(l1, a, l2, b, l3, d) for d in range(-l3, l3 + 1)] for b in range(-l2, l2 + 1)]
                  for a in range(-l1, l1 + 1)])
    q1, q2, q3 = real_basis(l1), real_basis(l2), real_basis(l3)
    out = np.einsum("ia,jb,kd,abd->ijk", q1.conj(), q2.conj(), q3, c)
    out = out.real if np.abs(out.real).max() > np.abs(out.imag).max() else out.imag
    return out / np.linalg.norm(out) * math.sqrt(2 * l3 + 1)


def wigner(l, r):
    """D of degree l from its definition, harmonics(R x) = D harmonics(x), by least squares over fixed directions."""
    p = np.random.default_rng(1).normal(size=(80, 3))
    part = slice(l * l, (l + 1) ** 2)
    return np.linalg.lstsq(harmonics(l, p)[:, part], harmonics(l, p @ r.T)[:, part], rcond=None)[0].T


def sphere(polar, around):
    """A grid of the sphere: directions, and weights that integrate to 1."""
    z, w = np.polynomial.legendre.leggauss(polar)
    phi = 2 * np.pi * (np.arange(around) + 0.5) / around
    s = np.sqrt(1 - z * z)
    p = np.stack([s[:, None] * np.sin(phi), np.repeat(z[:, None], around, 1), s[:, None] * np.cos(phi)], -1)
    return p.reshape(-1, 3), np.repeat(w / 2 / around, around)


# Graphs that can be computed as they are written.

class Graph:
    def __init__(self, rng, points):
        self.rng, self.points = rng, points
        self.nodes, self.store, self.steps = [], [], []

    def const(self, a, integer=False):
        name = "c%d" % len(self.store)
        a = np.asarray(a, np.int64 if integer else np.float32)
        self.store.append(numpy_helper.from_array(a, name))
        value = a if integer else a.astype(np.float64)
        self.steps.append((name, (), lambda v=value: v))
        return name

    def op(self, name, kind, inputs, f, **attrs):
        out = name + "_out"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=name, **attrs))
        self.steps.append((out, tuple(inputs), f))
        return out

    def run(self, points, out):
        values = {"points": points}
        for name, inputs, f in self.steps:
            values[name] = f(*(values[i] for i in inputs))
        return values[out]

    def level(self, name, a, top):
        """Degrees 0 to top along the last axis, each times a number that brings it to root mean square 1 over the data."""
        v, by = self.run(self.points, a), []
        for l in range(top + 1):
            part = v[..., l * l:(l + 1) ** 2]
            by += [1 / np.sqrt((part ** 2).mean())] * (2 * l + 1)
        return self.mul(name, a, self.const(by))

    # The operators in use.

    def add(self, name, a, b): return self.op(name, "Add", [a, b], np.add)

    def sub(self, name, a, b): return self.op(name, "Sub", [a, b], np.subtract)

    def mul(self, name, a, b): return self.op(name, "Mul", [a, b], np.multiply)

    def matmul(self, name, a, b): return self.op(name, "MatMul", [a, b], np.matmul)

    def sigmoid(self, name, a): return self.op(name, "Sigmoid", [a], lambda x: 1 / (1 + np.exp(-x)))

    def tanh(self, name, a): return self.op(name, "Tanh", [a], np.tanh)

    def relu(self, name, a): return self.op(name, "Relu", [a], lambda x: np.maximum(x, 0))

    def einsum(self, name, eq, a, b):
        return self.op(name, "Einsum", [a, b], lambda x, y: np.einsum(eq, x, y), equation=eq)

    def total(self, name, a, axis, keep=False):
        return self.op(name, "ReduceSum", [a, self.const([axis], True)],
                       lambda x, _: x.sum(axis, keepdims=keep), keepdims=int(keep))

    def mean(self, name, a, axis):
        return self.op(name, "ReduceMean", [a], lambda x: x.mean(axis, keepdims=True), axes=[axis], keepdims=1)

    def concat(self, name, parts, axis):
        return self.op(name, "Concat", parts, lambda *x: np.concatenate(x, axis), axis=axis)

    def slice(self, name, a, lo, hi, axis):
        cut = (slice(None),) * axis + (slice(lo, hi),)
        return self.op(name, "Slice", [a, self.const([lo], True), self.const([hi], True), self.const([axis], True)],
                       lambda x, *_: x[cut])

    def unsqueeze(self, name, a, axis):
        return self.op(name, "Unsqueeze", [a, self.const([axis], True)], lambda x, _: np.expand_dims(x, axis))

    def transpose(self, name, a): return self.op(name, "Transpose", [a], lambda x: x.transpose(0, 2, 1), perm=[0, 2, 1])

    def reshape(self, name, a, *shape):
        return self.op(name, "Reshape", [a, self.const(shape, True)],
                       lambda x, _: x.reshape([x.shape[i] if s == 0 else s for i, s in enumerate(shape)]))

    def weights(self, *shape): return self.const(self.rng.normal(size=shape) / math.sqrt(shape[0]))


def embed(g):
    """Points about their centre, radial functions times harmonics of degree 0 to 2, summed: [N, WIDE, 9]."""
    x = g.sub("centred", "points", g.mean("centre", "points", 1))
    far = g.total("far", g.mul("far-square", x, x), 2, True)
    size = g.op("size", "Sqrt", [g.add("size-square", far, g.const([1.0]))], np.sqrt)
    x = g.op("inside", "Div", [x, size], np.divide)  # the ball of radius 1, so that nothing overflows
    a, b, c = (g.slice("xyz"[k], x, k, k + 1, 2) for k in range(3))
    r2 = g.total("square-sum", g.mul("square", x, x), 2, True)
    s = math.sqrt
    scaled = lambda name, v, by: g.mul(name, v, g.const([by]))
    bb = g.mul("yy", b, b)
    y = g.concat("harmonics", [
        g.op("one", "Exp", [g.mul("nothing", r2, g.const([0.0]))], np.exp), scaled("y1", x, s(3)),
        scaled("y2-2", g.mul("xz", a, c), s(15)), scaled("y2-1", g.mul("xy", a, b), s(15)),
        scaled("y20", g.sub("axial", scaled("yy3", bb, 3), r2), s(5) / 2), scaled("y2+1", g.mul("yz", b, c), s(15)),
        scaled("y2+2", g.sub("planar", g.mul("zz", c, c), g.mul("xx", a, a)), s(15) / 2)], 2)
    h = g.tanh("radial-bend", g.add("radial-offset", g.matmul("radial1", r2, g.const(np.linspace(1, 6, 8)[None])),
                                    g.const(g.rng.normal(size=8))))
    w = g.matmul("radial2", h, g.weights(8, WIDE))
    return g.level("levelled", g.matmul("density", g.transpose("weights", w), y), 2)


def parts(g, name, a, tops):
    """A value [N, WIDE, ...] of degrees one after another, cut into them."""
    out, at = {}, 0
    for l in tops:
        out[l] = g.slice("%s-%d" % (name, l), a, at, at + 2 * l + 1, 2)
        at += 2 * l + 1
    return out


def linear(g, name, v):
    """A map of the copies of each degree."""
    return {l: g.matmul("%s-%d" % (name, l), g.weights(WIDE, WIDE), x) for l, x in v.items()}


def clebsch(g, name, v, w, paths, fault):
    """The product copy by copy: every path l1 x l2 -> l3 with weights of its own, summed by l3."""
    out = {}
    for l1, l2, l3 in paths:
        path = "%s-%dx%d-%d" % (name, l1, l2, l3)
        c = coupling(l1, l2, l3)
        if fault == "sign" and path == "tp1-1x2-1":
            c = c.copy()
            k = np.unravel_index(np.abs(c).argmax(), c.shape)
            c[k] = -c[k]
        if fault == "order" and path == "tp1-1x1-2":
            c = c[:, :, [1, 0, 2, 3, 4]]
        o = g.einsum(path + "-outer", "nui,nuj->nuij", v[l1], w[l2])
        if (l1 + l2 + l3) % 3:  # two ways in which exporters write the sum
            y = g.einsum(path, "nuij,ijk->nuk", o, g.const(c))
        else:
            n = (2 * l1 + 1) * (2 * l2 + 1)
            y = g.matmul(path, g.reshape(path + "-flat", o, 0, 0, n), g.const(c.reshape(n, 2 * l3 + 1)))
        size = np.sqrt((g.run(g.points, y) ** 2).mean())
        y = g.mul(path + "-weighted", y, g.const(g.rng.normal(size=(WIDE, 1)) / size))
        out[l3] = g.add(path + "-sum", out[l3], y) if l3 in out else y
    return out


def factors(top, polar, around):
    """Harmonics on a grid as products, as e3nn has them: of the polar angle [m, polar, i], and of the other one [around, m]."""
    z, w = np.polynomial.legendre.leggauss(polar)
    phi = 2 * np.pi * (np.arange(around) + 0.5) / around
    first, i = np.zeros((2 * top + 1, polar, (top + 1) ** 2)), 0
    for l in range(top + 1):
        for m in range(-l, l + 1):
            at = np.pi / 2 / abs(m) if m < 0 else 0  # where the other factor is 1
            s = np.sqrt(1 - z * z)
            first[top + m, :, i] = harmonics(l, np.stack([s * np.sin(at), z, s * np.cos(at)], -1))[:, i]
            i += 1
    second = np.stack([np.cos(m * phi) if m >= 0 else np.sin(-m * phi) for m in range(-top, top + 1)], 1)
    return first, second, w / 2 / around


def gaunt(g, name, v, w, fault):
    """The product of functions on the sphere: degrees 0 to 2 of each to a grid, times each other, back to degrees 0 to 4."""
    if fault == "steps":  # no fault: polar angle and the other one behind each other
        (p, f, _), (p4, f4, weight) = factors(2, 6, 10), factors(4, 6, 10)
        values = []
        for k, x in ((1, v), (2, w)):
            x = g.einsum("%s-polar%d" % (name, k), "nui,mbi->nubm", x, g.const(p))
            values.append(g.einsum("%s-to%d" % (name, k), "nubm,am->nuba", x, g.const(f)))
        y = g.einsum(name + "-around", "nuba,am->nubm", g.mul(name + "-product", *values), g.const(f4))
        y = g.einsum(name + "-from", "nubm,mbi->nui", y, g.const(p4 * weight[:, None]))
        return g.level(name + "-levelled", y, 4)
    p, weight = sphere(3, 5) if fault == "grid" else sphere(6, 10)
    to = harmonics(2, p).T
    a, b = g.matmul(name + "-to1", v, g.const(to)), g.matmul(name + "-to2", w, g.const(to))
    y = g.mul(name + "-product", a, b)
    if fault == "places":
        y = g.add(name + "-offset", y, g.const(0.5 * g.rng.normal(size=len(p))))
    return g.level(name + "-levelled", g.matmul(name + "-from", y, g.const(weight[:, None] * harmonics(4, p))), 4)


PATHS = [(0, 0, 0), (1, 1, 0), (2, 2, 0), (0, 1, 1), (1, 2, 1), (0, 2, 2), (1, 1, 2), (2, 2, 2)]


def gate(g, v, fault):
    """Scalars are bent, the others are multiplied by bent scalars; the row of e3nn between: WIDE of each degree, one after another."""
    tops = sorted(v)
    row = g.concat("row", [g.reshape("row-%d" % l, v[l], 0, WIDE * (2 * l + 1)) for l in tops], 1)
    out, at = {}, 0
    for l in tops:
        part = g.slice("cut-%d" % l, row, at, at + WIDE * (2 * l + 1), 1)
        out[l], at = g.reshape("copies-%d" % l, part, 0, WIDE, 2 * l + 1), at + WIDE * (2 * l + 1)
    flat = g.reshape("scalars", out[0], 0, WIDE)
    for l in tops[1:]:
        if fault == "relu" and l == 1:
            out[l] = g.relu("act-relu", out[l])
        elif fault == "swish" and l == 2:
            out[l] = g.mul("act-swish", out[l], g.sigmoid("act-sigmoid", out[l]))
        else:
            gates = g.sigmoid("gate-%d" % l, g.matmul("gates-%d" % l, flat, g.weights(WIDE, WIDE)))
            out[l] = g.mul("gated-%d" % l, out[l], g.unsqueeze("wide-%d" % l, gates, 2))
    out[0] = g.reshape("scalars-back", g.tanh("act-0", flat), 0, WIDE, 1)
    return out


def network(kind, fault, points):
    g = Graph(np.random.default_rng(SEED + (kind == "gaunt")), points)
    a = embed(g)
    if kind == "clebsch":
        v = parts(g, "a", a, (0, 1, 2))
        v = clebsch(g, "tp1", v, linear(g, "mix", v), PATHS, fault)
        if fault == "parity":  # an axial vector among polar ones
            one = parts(g, "b", a, (0, 1, 2))[1]
            o = g.einsum("tp1-1x1-1-outer", "nui,nuj->nuij", one, g.matmul("mix-axial", g.weights(WIDE, WIDE), one))
            v[1] = g.add("sum-axial", v[1], g.einsum("tp1-1x1-1", "nuij,ijk->nuk", o, g.const(coupling(1, 1, 1))))
    else:
        v = parts(g, "b", gaunt(g, "gaunt", a, g.matmul("mix", g.weights(WIDE, WIDE), a), fault), range(5))
        v = {l: x for l, x in v.items() if l < 4}
    v = gate(g, linear(g, "linear", v), fault)
    ends = [(l, l, 0) for l in sorted(v)]
    y = clebsch(g, "tp2", v, linear(g, "mix2", v), ends, "")[0]
    y = g.matmul("head", g.reshape("flat", y, 0, WIDE), g.weights(WIDE, 4))
    return g, y


# Kinds and faults: those before the bar were looked at while the rules were made, those after it were not.
NETS = {
    "tensor_clebsch": ("clebsch", ""), "tensor_gaunt": ("gaunt", ""), "tensor_steps": ("gaunt", "steps"),
    "tensor_sign": ("clebsch", "sign"), "tensor_relu": ("clebsch", "relu"), "tensor_grid": ("gaunt", "grid"),
    # |
    "tensor_order": ("clebsch", "order"), "tensor_parity": ("clebsch", "parity"), "tensor_swish": ("clebsch", "swish"),
    "tensor_places": ("gaunt", "places"),
}


def rotations(n, sign):
    rng = np.random.default_rng(SEED + 5)
    for _ in range(n):
        q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        yield q * (sign * np.sign(np.linalg.det(q)))


def main():
    for l1, l2, l3 in [*PATHS, (1, 1, 1), (3, 3, 0)]:  # the coefficients bring matrices D to matrices D
        c = coupling(l1, l2, l3)
        for r in rotations(3, 1):
            moved = np.einsum("ia,jb,kd,abd->ijk", wigner(l1, r), wigner(l2, r), wigner(l3, r), c)
            assert np.abs(moved - c).max() < 1e-9, (l1, l2, l3)
    p, w = sphere(6, 10)  # exact to degree 9: degree 4 times degree 4 is integrated
    assert np.abs((harmonics(4, p).T * w) @ harmonics(4, p) - np.eye(25)).max() < 1e-12
    save(HERE / "data" / "tensor.npz", points=clouds())
    points = clouds().astype(np.float64)
    report = {}
    for name, (kind, fault) in NETS.items():
        g, y = network(kind, fault, points)
        scale = np.float64(np.float32(1 / np.sqrt((g.run(points, y) ** 2).mean())))
        y = g.mul("scaled", y, g.const([scale]))
        base = g.run(points, y)
        laws = {law: max(np.abs(g.run(points @ r.T, y) - base).max() for r in rotations(8, sign))
                for law, sign in (("SO(3)", 1), ("mirrors", -1))}
        g.nodes[-1].output[0] = "y"
        graph = helper.make_graph(
            g.nodes, name, [helper.make_tensor_value_info("points", TensorProto.FLOAT, ["batch", POINTS, 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])], g.store)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="nero")
        onnx.checker.check_model(model, full_check=True)
        path = HERE / "models" / (name + ".onnx")
        onnx.save(model, str(path))
        data = path.read_bytes()
        report[name] = {**{k: float(v) for k, v in laws.items()}, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        print("%-16s %7d  SO(3) %.1e  mirrors %.1e  %s" % (name, len(data), *laws.values(), report[name]["sha256"]))
    (HERE / "tensor.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
