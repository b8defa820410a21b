"""Makes data/*.npz, models/*.onnx and laws.json: networks whose symmetries are known because they were built in.

    python3 make.py

Nothing is trained. Weights are drawn from a fixed seed, then one scale (and, where the output is a scalar, one offset) is set so
that outputs have mean 0 and deviation 1 over the data. laws.json has, for each network and each law, the largest deviation from the
law over the data, divided by the root mean square of the output: measured in float64, before the export. Debian 12's python3-torch
1.13.1, python3-onnx 1.12.0 and python3-numpy 1.24.2; half a minute of one core.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import hashlib
import json
import warnings
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

HERE = Path(__file__).parent
SEED = 20240720
POINTS, STEPS, SIDE, LENGTH = 64, 8, 16, 128


# Data.

def clouds(rng, n=48):
    """Handed clouds: a helix of random pitch with a bent tail and a lump on it, tilted by at most 20 degrees, off the origin."""
    out = []
    for _ in range(n):
        t = np.sort(rng.uniform(0, 1, POINTS))
        turns, radius, pitch = rng.uniform(0.8, 1.8), rng.uniform(0.3, 0.7), rng.uniform(0.8, 1.6)
        a = 2 * np.pi * turns * t
        x = np.stack([radius * np.cos(a), radius * np.sin(a), pitch * (t - 0.5)], 1)
        x[:, 0] += rng.uniform(0.2, 0.8) * t ** 2
        lump = t > rng.uniform(0.6, 0.85)
        x[lump] += rng.normal(0, 0.12, (lump.sum(), 3)) + [0, 0.25, 0]
        x += rng.normal(0, 0.03, x.shape)
        axis = rng.normal(size=3)
        x = x @ rotation(axis / np.linalg.norm(axis), np.radians(rng.uniform(0, 20))).T
        out.append(x + rng.normal(0, 0.1, 3))
    return np.round(np.array(out), 3).astype(np.float32)


def frames(rng, n=24):
    """Two soft spots that drift over a torus, each at its own pace, over faint noise."""
    r, c = np.mgrid[:SIDE, :SIDE]
    out = np.zeros((n, STEPS, 1, SIDE, SIDE))
    for i in range(n):
        for _ in range(2):
            p, v, w = rng.uniform(0, SIDE, 2), rng.uniform(-1.5, 1.5, 2), rng.uniform(0.5, 1)
            for t in range(STEPS):
                d = [np.abs((g - p[k] - v[k] * t + SIDE / 2) % SIDE - SIDE / 2) for k, g in enumerate((r, c))]
                out[i, t, 0] += w * np.exp(-(d[0] ** 2 + d[1] ** 2) / (2 * 1.3 ** 2))
    return np.round(out + rng.normal(0, 0.02, out.shape), 3).astype(np.float32)


def signals(rng, n=32):
    """Bursts with a quick start and a slow end over a hum: what runs backwards looks otherwise."""
    t = np.arange(LENGTH)
    out = []
    for _ in range(n):
        x = 0.3 * np.sin(2 * np.pi * rng.integers(2, 6) * t / LENGTH + rng.uniform(0, 6.28))
        for _ in range(3):
            s = (t - rng.integers(LENGTH)) % LENGTH
            x = x + rng.uniform(0.5, 1.2) * np.exp(-s / rng.uniform(6, 16)) * np.sin(s * rng.uniform(0.3, 1.2))
        out.append(x + rng.normal(0, 0.02, LENGTH))
    return np.round(np.array(out)[:, None], 3).astype(np.float32)


def matrices(rng, n=24, size=12):
    """Weighted directed graphs without loops as matrices."""
    m = rng.uniform(0.2, 1, (n, size, size)) * (rng.uniform(size=(n, size, size)) < 0.35)
    m[:, np.arange(size), np.arange(size)] = 0
    return np.round(m, 3).astype(np.float32)


def save(path, **arrays):
    """An npz whose bytes depend on the arrays alone: numpy writes the time of day into each entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, a in arrays.items():
            buf = BytesIO()
            np.lib.format.write_array(buf, np.ascontiguousarray(a), version=(1, 0))
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, buf.getvalue())


# Networks on points.

def rotation(axis, angle):
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def mlp(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def centered(x):
    return x - x.mean(1, keepdim=True)


class Radial(nn.Module):
    """K smooth functions of a squared distance: sin(w r2 + b) exp(-r2 / 2)."""

    def __init__(self, k, low=0.5, high=6.0):
        super().__init__()
        self.w = nn.Parameter(torch.linspace(low, high, k))
        self.b = nn.Parameter(torch.rand(k) * 6.28)

    def forward(self, r2):
        return torch.sin(r2 * self.w + self.b) * torch.exp(-0.5 * r2)


def vectors(radial, x):
    """K vectors [N,K,3]: sums of the points, weighted by functions of their norm."""
    w = radial((x * x).sum(2, keepdim=True))
    return torch.matmul(w.transpose(1, 2), x) / 16


def cross(a, b):
    a0, a1, a2 = a[..., 0:1], a[..., 1:2], a[..., 2:3]
    b0, b1, b2 = b[..., 0:1], b[..., 1:2], b[..., 2:3]
    return torch.cat([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1)


def dots(v):
    """The K * K scalar products of the K vectors."""
    return torch.matmul(v, v.transpose(1, 2)).flatten(1)


def triples(v):
    """Signed volumes of neighbouring triples of the vectors [N,K-2]."""
    return (cross(v[:, :-2], v[:, 1:-1]) * v[:, 2:]).sum(2)


class Base(nn.Module):
    """Outputs are scaled by `scale` and shifted by `offset`, both set from the data by calibrate."""
    inputs, outputs, free = ["points"], ["y"], "points"

    def __init__(self):
        super().__init__()
        for name in self.outputs:
            self.register_buffer("scale_" + name, torch.ones(1))
            self.register_buffer("offset_" + name, torch.zeros(1))

    def forward(self, *args):
        out = self.raw(*args)
        out = out if isinstance(out, tuple) else (out,)
        out = tuple((o - getattr(self, "offset_" + n)) * getattr(self, "scale_" + n) for n, o in zip(self.outputs, out))
        return out if len(out) > 1 else out[0]


class SO3(Base):
    """Invariant under rotations and permutations; a mirror turns the sign of the volumes. The origin counts."""

    def __init__(self):
        super().__init__()
        self.radial, self.head = Radial(6), mlp(36 + 4, 24, 4)

    def raw(self, x):
        v = vectors(self.radial, x)
        return self.head(torch.cat([dots(v), 40 * triples(v)], 1))


class OG3(Base):
    """Invariant under rotations about z and mirrors that contain z, and permutations: knows heights and distances from the origin."""

    def __init__(self):
        super().__init__()
        self.radial, self.point, self.head = Radial(6), mlp(2, 24, 12), mlp(12 + 36, 24, 4)

    def raw(self, x):
        z = x[:, :, 2:3]
        h = self.point(torch.cat([(x * x).sum(2, keepdim=True), 2 * z], 2))
        return self.head(torch.cat([3 * h.mean(1), dots(vectors(self.radial, x))], 1))


class Gravity(Base):
    """OG3 with the direction as an input: invariant under all of O(3) if `gravity` moves too. Its length counts, in units of 9.81."""
    inputs = ["points", "gravity"]

    def __init__(self):
        super().__init__()
        self.radial, self.point, self.head = Radial(6), mlp(2, 24, 12), mlp(12 + 36 + 6, 24, 4)

    def raw(self, x, g):
        g = g / 9.81
        z = torch.matmul(x, g.unsqueeze(2))
        h = self.point(torch.cat([(x * x).sum(2, keepdim=True), 2 * z], 2))
        v = vectors(self.radial, x)
        return self.head(torch.cat([3 * h.mean(1), dots(v), torch.matmul(v, g.unsqueeze(2)).flatten(1)], 1))


class SN(Base):
    """Invariant under permutations alone: plain coordinates, a shared network, mean and maximum."""

    def __init__(self):
        super().__init__()
        self.point, self.head = mlp(3, 32, 24), mlp(48, 24, 4)

    def raw(self, x):
        h = self.point(2 * x)
        return self.head(torch.cat([3 * h.mean(1), h.max(1).values], 1))


class Translation(Base):
    """Invariant under translations alone: differences of consecutive rows into a dense network. 64 points, no other number."""
    free = ""

    def __init__(self):
        super().__init__()
        self.head = mlp((POINTS - 1) * 3, 32, 4)

    def raw(self, x):
        return self.head(4 * (x[:, 1:] - x[:, :-1]).flatten(1))


class E3SN(Base):
    """Invariant under all of E(3) and permutations: functions of all pairs of distances."""

    def __init__(self):
        super().__init__()
        self.radial, self.atom, self.head = Radial(8), mlp(8, 24, 12), mlp(12, 24, 4)

    def raw(self, x):
        d = x.unsqueeze(2) - x.unsqueeze(1)
        h = self.radial((d * d).sum(3, keepdim=True)).mean(2)
        return self.head(4 * self.atom(4 * h).mean(1))


class VectorE3(Base):
    """A polar vector a cloud and one a point, both unmoved by translations: 1x1o."""
    outputs = ["vector", "forces"]

    def __init__(self):
        super().__init__()
        self.pair, self.weight = Radial(4), nn.Parameter(torch.randn(4, 1))
        self.radial, self.mix = Radial(6), nn.Parameter(torch.randn(1, 6, 1))

    def raw(self, x):
        d = x.unsqueeze(2) - x.unsqueeze(1)
        w = torch.matmul(self.pair((d * d).sum(3, keepdim=True)), self.weight)
        v = vectors(self.radial, centered(x))
        return (v * self.mix).sum(1), (w * d).mean(2)


class Pseudo(Base):
    """An axial vector, 1x1e: sums of cross products. Mirrors keep its sign as they keep that of an angular momentum."""
    outputs = ["axial"]

    def __init__(self):
        super().__init__()
        self.radial, self.mix = Radial(6), nn.Parameter(torch.randn(1, 5, 1))

    def raw(self, x):
        v = vectors(self.radial, centered(x))
        return (cross(v[:, :-1], v[:, 1:]) * self.mix).sum(1)


def harmonics2(x):
    """Real harmonics of degree 2 in e3nn's order (m = -2..2, y is the polar axis), normalisation 'component', not normalised input."""
    a, b, c = x[..., 0:1], x[..., 1:2], x[..., 2:3]
    s = 15 ** 0.5
    return torch.cat([s * a * c, s * a * b, 5 ** 0.5 * (b * b - 0.5 * (a * a + c * c)), s * b * c, 0.5 * s * (c * c - a * a)], -1)


class Irreps2(Base):
    """1x2e in the convention of e3nn. `variant` plants a fault: polar axis z ("order"), or a factor that is odd ("parity")."""
    outputs = ["tensor"]

    def __init__(self, variant=""):
        super().__init__()
        self.variant, self.radial, self.mix = variant, Radial(6), nn.Parameter(torch.randn(1, 6, 1))

    def raw(self, x):
        x = centered(x)
        y = harmonics2(torch.cat([x[..., 1:2], x[..., 2:3], x[..., 0:1]], -1) if self.variant == "order" else x)
        w = self.radial((x * x).sum(2, keepdim=True))
        y = (torch.matmul(w.transpose(1, 2), y) * self.mix).sum(1) / 16
        if self.variant == "parity":
            y = y * torch.tanh(20 * triples(vectors(self.radial, x)).sum(1, keepdim=True))
        return y


class Mixed(Base):
    """4x0e+2x1o+1x1e+1x2e in one port of width 18."""
    outputs = ["features"]

    def __init__(self):
        super().__init__()
        self.radial, self.mix, self.scalars = Radial(6), nn.Parameter(torch.randn(3, 6)), mlp(36, 16, 4)

    def raw(self, x):
        x = centered(x)
        v = vectors(self.radial, x)
        odd = torch.matmul(self.mix[:2], v)
        w = torch.matmul(self.radial((x * x).sum(2, keepdim=True)), self.mix[2])
        two = (w.unsqueeze(2) * harmonics2(x)).sum(1) / 16
        return torch.cat([self.scalars(dots(v)), odd.flatten(1), 2 * cross(odd[:, 0], odd[:, 1]), two], 1)


# Networks on sequences of frames, on signals, on matrices.

class Circular(nn.Module):
    """A convolution on a torus of any dimension."""

    def __init__(self, conv, a, b, size, bias=True):
        super().__init__()
        self.conv, self.pad = conv(a, b, size, bias=bias), size // 2

    def forward(self, x):
        p = self.pad
        x = torch.cat([x[..., -p:], x, x[..., :p]], -1)
        if x.dim() == 4:
            x = torch.cat([x[:, :, -p:], x, x[:, :, :p]], 2)
        return self.conv(x)


class FlowStatic(Base):
    """A recurrent network whose state stays where it is: equivariant if all frames shift alike, not if they drift."""
    inputs, outputs, free = ["frames"], ["fields"], ""

    def __init__(self):
        super().__init__()
        self.inp, self.rec = Circular(nn.Conv2d, 1, 6, 3), Circular(nn.Conv2d, 6, 6, 3, bias=False)
        self.out = Circular(nn.Conv2d, 6, 1, 3)
        with torch.no_grad():
            self.inp.conv.weight *= 3
            self.rec.conv.weight *= 2.5

    def raw(self, x):
        h, out = torch.zeros(1, 6, 1, 1, dtype=x.dtype), []
        for t in range(STEPS):
            h = torch.tanh(self.inp(x[:, t]) + (self.rec(h) if t else h))
            out.append(self.out(h))
        return torch.stack(out, 1)


class FlowMoving(Base):
    """Each frame by itself: equivariant under any shift of any frame, so under drifts too."""
    inputs, outputs, free = ["frames"], ["fields"], "frames"

    def __init__(self):
        super().__init__()
        self.a, self.b = Circular(nn.Conv2d, 1, 6, 3), Circular(nn.Conv2d, 6, 1, 3)
        with torch.no_grad():
            self.a.conv.weight *= 3

    def raw(self, x):
        return self.b(torch.tanh(self.a(x.reshape(-1, 1, SIDE, SIDE)))).reshape(-1, x.shape[1], 1, SIDE, SIDE)


class FlowMemory(FlowStatic):
    """A state for each of the 16 drifts along columns, shifted by its own drift at every step, maximum over drifts: a memory that is
    equivariant under every drift of whole columns a step (and no other), as in Keller's flow-equivariant recurrent networks."""

    def __init__(self):
        super().__init__()
        shift = torch.zeros(1, SIDE, SIDE, SIDE)
        for v in range(SIDE):
            shift[0, v, torch.arange(SIDE), (torch.arange(SIDE) + v) % SIDE] = 1
        self.register_buffer("shift", shift)

    def raw(self, x):
        out = []
        for t in range(STEPS):
            u = self.inp(x[:, t]).unsqueeze(1)  # [N,1,6,16,16]
            if t == 0:
                h = torch.tanh(u)  # alike for all drifts
            else:
                moved = torch.matmul(h.flatten(2, 3), self.shift)  # [N,16,6*16,16]: each drift by its own
                h = torch.tanh(u + self.rec(moved.reshape(-1, 6, SIDE, SIDE)).reshape(-1, SIDE, 6, SIDE, SIDE))
            out.append(self.out(h.max(1).values))
        return torch.stack(out, 1)


class Signal(Base):
    """Two convolutions of width 9. `variant`: "circular", "zero" (zero padding), "strided" (every fourth sample, then repeated)."""
    inputs, outputs, free = ["signal"], ["filtered"], "signal"

    def __init__(self, variant):
        super().__init__()
        self.variant, self.free = variant, "" if variant == "strided" else "signal"
        make = (lambda a, b: nn.Conv1d(a, b, 9, padding=4)) if variant == "zero" else (lambda a, b: Circular(nn.Conv1d, a, b, 9))
        self.a, self.b = make(1, 6), make(6, 1)
        conv = self.a if variant == "zero" else self.a.conv
        with torch.no_grad():
            conv.weight *= 3

    def raw(self, x):
        h = torch.tanh(self.a(x))
        if self.variant == "strided":
            h = torch.cat([h[:, :, ::4].unsqueeze(3)] * 4, 3).flatten(2)
        return self.b(h)


class Reversal(Base):
    """f(x) + f(x reversed), or the difference: even or odd under time reversal; f is a convolution and two sums over time, of which the
    second is weighted from start to end."""
    inputs, outputs, free = ["signal"], ["y"], ""

    def __init__(self, sign):
        super().__init__()
        self.sign, self.conv, self.head = sign, nn.Conv1d(1, 8, 9), mlp(16, 16, 1)
        self.register_buffer("ramp", torch.linspace(0, 1, LENGTH - 8))
        with torch.no_grad():
            self.conv.weight *= 3

    def f(self, x):
        h = torch.tanh(self.conv(x))
        return self.head(torch.cat([3 * h.mean(2), 5 * (h * self.ramp).mean(2)], 1))

    def raw(self, x):
        return self.f(x) + self.sign * self.f(torch.flip(x, [2]))


class Matrix(Base):
    """Invariant if rows and columns of a matrix are permuted alike (a relabelled graph), not if each has a permutation of its own."""
    inputs, outputs, free = ["matrix"], ["y"], "matrix"

    def __init__(self):
        super().__init__()
        self.node, self.head = mlp(4, 24, 12), mlp(12, 24, 4)

    def raw(self, m):
        two = torch.matmul(m, m)
        n = torch.stack([m.sum(2), m.sum(1), two.sum(2), (m * m.transpose(1, 2)).sum(2)], 2)
        return self.head(4 * self.node(0.5 * n).mean(1))


NETS = {
    "so3_not_o3": SO3, "og3_not_o3": OG3, "gravity_o3": Gravity, "sn_not_e3": SN, "translation_only": Translation, "e3_sn": E3SN,
    "vector_e3": VectorE3, "pseudovector": Pseudo, "irreps_l2": Irreps2, "irreps_l2_order": lambda: Irreps2("order"),
    "irreps_l2_parity": lambda: Irreps2("parity"), "irreps_mixed": Mixed,
    "flow_static": FlowStatic, "flow_moving": FlowMoving, "flow_memory": FlowMemory,
    "conv_circular": lambda: Signal("circular"), "conv_zero": lambda: Signal("zero"), "strided": lambda: Signal("strided"),
    "reversal_even": lambda: Reversal(1), "reversal_odd": lambda: Reversal(-1), "matrix_joint": Matrix,
}
SCALARS = {"y", "filtered", "fields"}  # outputs that may have an offset: those of which every component is a number by itself


def calibrate(net, args):
    """Deviation 1 over the data, and mean 0 where an offset breaks no law."""
    with torch.no_grad():
        out = net(*args)
    for name, o in zip(net.outputs, out if isinstance(out, tuple) else (out,)):
        odd = isinstance(net, Reversal) and net.sign < 0
        mean = o.mean() if name in SCALARS and not odd else torch.zeros(())
        getattr(net, "offset_" + name).fill_(mean)
        getattr(net, "scale_" + name).fill_(1 / ((o - mean) ** 2).mean().sqrt())


# Laws.

def wigner2(r):
    """D of degree 2 from its definition, harmonics(R x) = D harmonics(x), by least squares over fixed directions."""
    p = torch.from_numpy(np.random.default_rng(1).normal(size=(40, 3)))
    return torch.linalg.lstsq(harmonics2(p), harmonics2(p @ r.T)).solution.T


def act(name, y, r):
    """The element r of O(3) on an output."""
    det = torch.linalg.det(r)
    if name in ("vector", "forces"):
        return y @ r.T
    if name == "axial":
        return det * y @ r.T
    if name == "tensor":
        return y @ wigner2(r).T
    if name == "features":
        one = [y[:, 4 + 3 * k:7 + 3 * k] @ r.T for k in range(3)]
        return torch.cat([y[:, :4], one[0], one[1], det * one[2], y[:, 13:] @ wigner2(r).T], 1)
    return y


def laws(net, args):
    """(law, largest deviation / rms of the output, over the outputs) pairs. Deviations are taken over 12 elements a law."""
    rng = np.random.default_rng(SEED + 5)
    tens = lambda a: torch.from_numpy(np.asarray(a, dtype=np.float64))

    def outputs(*a):
        with torch.no_grad():
            o = net(*a)
        return o if isinstance(o, tuple) else (o,)

    y = outputs(*args)

    def worst(trials):
        w = 0.0
        for moved, want in trials:
            for got, target, o in zip(outputs(*moved), want, y):
                w = max(w, ((got - target).abs().max() / (o ** 2).mean().sqrt()).item())
        return w

    def turned(r, g=True):
        return (args[0] @ r.T, *([args[1] @ r.T if g else args[1]] if len(args) > 1 else []))

    def orthogonal(sign):
        q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        return tens(q * (sign * np.sign(np.linalg.det(q))))

    def about(angle, flip):
        return tens(rotation(np.array([0, 0, 1.0]), angle) @ np.diag([1, -1 if flip else 1, 1]))

    out = {}
    x = args[0]
    if net.inputs[0] == "points":
        rot, mir = [orthogonal(1) for _ in range(12)], [orthogonal(-1) for _ in range(12)]
        out["SO(3)"] = worst([(turned(r), [act(n, o, r) for n, o in zip(net.outputs, y)]) for r in rot])
        out["O(3)"] = worst([(turned(r), [act(n, o, r) for n, o in zip(net.outputs, y)]) for r in rot[:6] + mir[:6]])
        if len(args) > 1:
            out["SO(3), gravity at rest"] = worst([(turned(r, False), y) for r in rot])
        vert = [about(a, f) for a in np.linspace(0.3, 6, 6) for f in (False, True)]
        out["O_z"] = worst([(turned(r), [act(n, o, r) for n, o in zip(net.outputs, y)]) for r in vert])
        out["translations"] = worst([((x + tens(rng.normal(0, 0.5, 3)), *args[1:]), y) for _ in range(12)])
        perms = [torch.from_numpy(rng.permutation(POINTS)) for _ in range(12)]
        out["permutations"] = worst([((x[:, p], *args[1:]), [o[:, p] if n == "forces" else o for n, o in zip(net.outputs, y)])
                                     for p in perms])
    elif net.inputs[0] == "frames":
        shifts = [tuple(int(v) for v in rng.integers(1, SIDE, 2)) for _ in range(12)]
        roll = lambda a, s: torch.roll(a, s, (3, 4))
        drift = lambda a, v: torch.stack([torch.roll(a[:, t], (t * v[0], t * v[1]), (2, 3)) for t in range(STEPS)], 1)
        out["static shifts"] = worst([((roll(x, s),), [roll(y[0], s)]) for s in shifts])
        out["drifts along columns"] = worst([((drift(x, (0, v)),), [drift(y[0], (0, v))]) for v in range(-6, 7) if v])
        out["drifts"] = worst([((drift(x, s),), [drift(y[0], s)]) for s in shifts])
        out["drift of 1 column, last frame"] = (outputs(drift(x, (0, 1)))[0] - drift(y[0], (0, 1)))[:, -1].square().mean().sqrt().item()
    elif net.outputs[0] == "filtered":
        for step in (1, 4):
            out["cyclic shifts by multiples of %d" % step] = worst([((torch.roll(x, s, 2),), [torch.roll(y[0], s, 2)])
                                                                    for s in range(step, 13 * step, step)])
    elif net.inputs[0] == "signal":
        flipped = torch.flip(x, [2])
        out["reversal, even"], out["reversal, odd"] = worst([((flipped,), y)]), worst([((flipped,), [-y[0]])])
    else:
        both = [(torch.from_numpy(rng.permutation(12)), torch.from_numpy(rng.permutation(12))) for _ in range(12)]
        out["rows and columns alike"] = worst([((x[:, p][:, :, p],), y) for p, _ in both])
        out["rows and columns apart"] = worst([((x[:, p][:, :, q],), y) for p, q in both])
    return out


def main():
    warnings.filterwarnings("ignore")
    rng = np.random.default_rng(SEED)
    data = {"points": clouds(rng), "frames": frames(rng), "signal": signals(rng), "matrix": matrices(rng)}
    data["gravity"] = np.tile(np.array([0, 0, -9.81], np.float32), (len(data["points"]), 1))
    (HERE / "data").mkdir(exist_ok=True)
    (HERE / "models").mkdir(exist_ok=True)
    save(HERE / "data" / "clouds.npz", points=data["points"], gravity=data["gravity"])
    for file, key in (("frames", "frames"), ("signals", "signal"), ("matrices", "matrix")):
        save(HERE / "data" / (file + ".npz"), **{key: data[key]})
    report = {}
    for k, (name, make) in enumerate(NETS.items()):
        # Twins share their weights: the name's stem seeds them.
        stem = {"irreps_l2_order": "irreps_l2", "irreps_l2_parity": "irreps_l2", "flow_memory": "flow_static", "conv_zero": "conv_circular",
                "strided": "conv_circular", "reversal_odd": "reversal_even"}.get(name, name)
        torch.manual_seed(SEED + list(NETS).index(stem))
        net = make().double().eval()
        args = [torch.from_numpy(data[i].astype(np.float64)) for i in net.inputs]
        calibrate(net, args)
        report[name] = laws(net, args)
        net.float()
        path = HERE / "models" / (name + ".onnx")
        axes = {p: {0: "batch"} for p in net.inputs + net.outputs}
        if net.free == "points":
            axes["points"][1] = "points"
            if "forces" in net.outputs:
                axes["forces"][1] = "points"
        elif net.free == "frames":
            axes["frames"][1] = axes["fields"][1] = "time"
        elif net.free == "signal":
            axes["signal"][2] = axes["filtered"][2] = "time"
        torch.onnx.export(net, tuple(a[:2].float() for a in args), str(path), opset_version=13, input_names=net.inputs,
                          output_names=net.outputs, dynamic_axes=axes)
        model = onnx.load(str(path))
        with torch.no_grad():
            out = net(*(a[:2].float() for a in args))
        for port, o in zip(model.graph.output, out if isinstance(out, tuple) else (out,)):
            for axis, (dim, size) in enumerate(zip(port.type.tensor_type.shape.dim, o.shape)):
                if axis not in axes[port.name]:
                    dim.dim_value = size  # the exporter loses some sizes that are fixed
        onnx.save(model, str(path))
        onnx.checker.check_model(model, full_check=True)
        report[name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        report[name]["bytes"] = path.stat().st_size
        print("%-18s %7d  %s" % (name, path.stat().st_size,
                                 "  ".join("%s %.1e" % kv for kv in report[name].items() if kv[0] not in ("sha256", "bytes"))))
        print("   ", " ".join(sorted({n.op_type for n in model.graph.node})))
    (HERE / "laws.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
