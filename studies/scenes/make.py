"""Makes data/*.npz, models/*.onnx and laws.json: networks of scenes and of sets within sets, whose symmetries were built in.

    python3 make.py

Nothing is trained. Each network has faulty twins that differ in one term. laws.json has, for each network and each law, the largest
deviation from it over the data, divided by the root mean square of the output: measured in float64, before the export. Debian 12's
python3-torch 1.13.1, python3-onnx 1.12.0 and python3-numpy 1.24.2; a few seconds of one core.
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
SEED = 20261128
SCENES, POINTS, OBJECTS, NEXT = 76, 64, 5, 48
NODES, BAG, WIDTH = 24, 6, 4
FULL = 2 * np.pi


# Data.

def turn(a):
    """The rotation matrices about z by angles (n)."""
    c, s, z, o = np.cos(a), np.sin(a), np.zeros_like(a), np.ones_like(a)
    return np.stack([np.stack([c, -s, z], -1), np.stack([s, c, z], -1), np.stack([z, z, o], -1)], -2)


def scenes(rng):
    """Boxes on the ground and points on and about them; headings lie in [0, 2 pi), as many detectors answer, some turns further."""
    at = np.concatenate([rng.uniform(-6, 6, (SCENES, OBJECTS, 2)), rng.normal(0.8, 0.2, (SCENES, OBJECTS, 1))], 2)
    size = np.array([3.6, 1.7, 1.5]) * rng.uniform(0.8, 1.2, (SCENES, OBJECTS, 3))
    yaw = rng.uniform(0, FULL, (SCENES, OBJECTS, 1)) + FULL * rng.integers(-1, 2, (SCENES, OBJECTS, 1))
    of = rng.integers(0, OBJECTS, (SCENES, POINTS))
    local = rng.uniform(-0.6, 0.6, (SCENES, POINTS, 3)) + [0.1, 0.05, 0.02]
    pick = np.arange(SCENES)[:, None]
    points = at[pick, of] + (turn(yaw[pick, of, 0]) @ (local * size[pick, of])[..., None])[..., 0]
    boxes = np.concatenate([at, size, yaw], 2)
    q = rng.normal(size=(SCENES, OBJECTS, 4))  # either sign
    tilted = np.concatenate([at, size, q / np.linalg.norm(q, axis=2, keepdims=True)], 2)
    return [np.round(x, 4).astype(np.float32) for x in (points, boxes)] + [tilted.astype(np.float32)]


def motions(rng):
    """Two clouds of one scene that moves: the second sees other points, and counts them in its own order."""
    points = rng.uniform(-2, 2, (SCENES, POINTS, 3)) * [1, 1, 0.5] + rng.normal(0, 1, (SCENES, 1, 3))
    middle = points.mean(1, keepdims=True)
    shift = rng.normal(0, 0.12, (SCENES, 1, 3))
    flow = ((points - middle) @ turn(rng.normal(0, 0.05, SCENES)).transpose(0, 2, 1) + middle + shift) - points
    seen = np.stack([rng.permutation(POINTS)[:NEXT] for _ in range(SCENES)])
    after = np.take_along_axis(points + flow, seen[..., None], 1) + rng.normal(0, 0.005, (SCENES, NEXT, 3))
    return [np.round(x, 4).astype(np.float32) for x in (points, after, flow)]


def subsets(rng):
    """Sets of elements, of which some are chosen; weighted graphs on them; bags of subgraphs."""
    nodes = rng.normal(size=(SCENES, NODES, WIDTH))
    chosen = (rng.uniform(size=(SCENES, NODES, 1)) < 0.4).astype(np.float32)
    matrix = rng.uniform(0.2, 1, (SCENES, NODES, NODES)) * (rng.uniform(size=(SCENES, NODES, NODES)) < 0.2)
    matrix = matrix + matrix.transpose(0, 2, 1)
    matrix[:, np.arange(NODES), np.arange(NODES)] = 0
    bag = (rng.uniform(size=(SCENES, BAG, NODES)) < 0.5).astype(np.float32)
    return [np.round(x, 3).astype(np.float32) for x in (nodes, chosen, matrix, bag)]


def save(path, **arrays):
    """An npz whose bytes depend on the arrays alone: numpy writes the time of day into each entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, a in arrays.items():
            buf = BytesIO()
            np.lib.format.write_array(buf, np.ascontiguousarray(a), version=(1, 0))
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, buf.getvalue())


# Boxes.

def mean_of(w, x):
    """The means over the points of x [N,B,P,k], weighted by w [N,B,P]."""
    return (w.unsqueeze(3) * x).mean(2)


def seen(points, at, axes, size):
    """Every point from every box, in its frame and in lengths of its sides [N,B,P,3], and weights that know no left from right."""
    d = points.unsqueeze(1) - at.unsqueeze(2)
    u = torch.matmul(d, axes) / size.clamp(min=1e-3).unsqueeze(2)
    return u, torch.exp(-(u * u).sum(3))


class Refine(nn.Module):
    """Moves, resizes and turns upright boxes by the points that they hold: Eg(3), magnifications, permutations of both."""
    inputs, outputs, free = ["points", "boxes"], ["refined"], {"points": "points", "boxes": "objects", "refined": "objects"}
    north, left, origin = 0.0, 0.0, 0.0

    def forward(self, points, boxes):
        at, size, yaw = boxes[..., 0:3], boxes[..., 3:6], boxes[..., 6:7]
        c, s = torch.cos(yaw), torch.sin(yaw)
        zero = torch.zeros_like(c)
        axes = torch.stack([torch.cat([c, s, zero], 2), torch.cat([-s, c, zero], 2), torch.cat([zero, zero, zero + 1], 2)], 3)
        u, w = seen(points, at, axes, size)
        step = torch.tanh(8 * mean_of(w, u)) * size
        if self.left:
            step = step + self.left * size * torch.tensor([0.0, 1.0, 0.0], dtype=size.dtype)
        at = at + torch.matmul(axes, step.unsqueeze(3)).squeeze(3)
        bend = torch.tanh(40 * mean_of(w, u[..., 0:1] * u[..., 1:2]))
        yaw = yaw + bend + self.north * s
        size = size * torch.exp(torch.tanh(4 * mean_of(w, u * u)) - 0.3)
        if self.origin:
            size = size * torch.exp(-self.origin * (at * at).sum(2, keepdim=True))
        yaw = yaw - FULL * torch.floor(yaw / FULL)
        return torch.cat([at, size, yaw], 2)


def columns(q):
    """The rotation matrices of quaternions, over the square of their length."""
    w, x, y, z = q[..., 0:1], q[..., 1:2], q[..., 2:3], q[..., 3:4]
    a = torch.cat([w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)], 2)
    b = torch.cat([2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)], 2)
    c = torch.cat([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z], 2)
    return torch.stack([a, b, c], 3) / (q * q).sum(2, keepdim=True).clamp(min=1e-6).unsqueeze(3)


def product(a, b):
    aw, ax, ay, az = (a[..., k:k + 1] for k in range(4))
    bw, bx, by, bz = (b[..., k:k + 1] for k in range(4))
    return torch.cat([aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
                      aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw], 2)


class Tilted(nn.Module):
    """The same of boxes in any orientation: E(3), magnifications, permutations of both."""
    inputs, outputs, free = ["points", "tilted"], ["refined"], {"points": "points", "tilted": "objects", "refined": "objects"}
    gravity = 0.0

    def forward(self, points, tilted):
        at, size, q = tilted[..., 0:3], tilted[..., 3:6], tilted[..., 6:10]
        axes = columns(q)
        u, w = seen(points, at, axes, size)
        at = at + torch.matmul(axes, (torch.tanh(8 * mean_of(w, u)) * size).unsqueeze(3)).squeeze(3)
        # A mirror exchanges left and right of the box: turns about its length and its height change their sign.
        bend = torch.tanh(20 * mean_of(w, torch.cat([u[..., 1:2] * u[..., 2:3], u[..., 0:1] * u[..., 2:3], u[..., 0:1] * u[..., 1:2]], 3)))
        q = product(q, torch.cat([torch.ones_like(bend[..., 0:1]), bend], 2))
        q = q / torch.sqrt((q * q).sum(2, keepdim=True).clamp(min=1e-6))
        size = size * torch.exp(torch.tanh(4 * mean_of(w, u * u)) - 0.3 + self.gravity * axes[..., 2, :] ** 2)
        return torch.cat([at, size, q], 2)


# Scene flow.

class Flow(nn.Module):
    """Displacements to where the second cloud is, by soft matching: E(3), permutations of each cloud by itself."""
    inputs, outputs, free = ["points", "next"], ["flow"], {"points": "points", "next": "seen", "flow": "points"}
    drift, first = 0.0, 0.0

    def forward(self, points, next):
        d = next.unsqueeze(1) - points.unsqueeze(2)
        w = torch.softmax(-30 * (d * d).sum(3), 2)
        flow = (w.unsqueeze(3) * d).sum(2)
        if self.drift:
            flow = flow + self.drift * points.mean(1, keepdim=True)
        if self.first:
            flow = flow + self.first * (next[:, 0:1] - next.mean(1, keepdim=True))
        return flow


# Sets within sets.

def mlp(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Subset(nn.Module):
    """A value of a chosen subset within its superset: permutations of the elements, which take along what is chosen."""
    inputs, outputs, free = ["nodes", "chosen"], ["value"], {"nodes": "nodes", "chosen": "nodes"}
    ordered, alone = False, False

    def __init__(self):
        super().__init__()
        self.inner, self.outer, self.head = mlp(WIDTH, 16, 8), mlp(WIDTH, 16, 8), mlp(16, 16, 1)

    def forward(self, nodes, chosen):
        h = self.inner(nodes) * chosen
        if self.ordered:  # the first of the chosen counts most
            h = h / torch.cumsum(chosen, 1).clamp(min=1)
        rest = self.outer(nodes)
        if self.alone:
            rest = rest * chosen
        return self.head(torch.cat([h.sum(1), rest.sum(1)], 1))


class Induced(nn.Module):
    """Which nodes make a subgraph, and the weight of the edges within it: permutations of the nodes."""
    inputs, outputs, free = ["nodes", "matrix"], ["chosen", "weight"], {"nodes": "nodes", "matrix": "nodes nodes", "chosen": "nodes"}
    ordered = 0.0

    def __init__(self):
        super().__init__()
        self.embed, self.score = mlp(WIDTH, 16, 8), mlp(16, 16, 1)

    def forward(self, nodes, matrix):
        h = torch.tanh(self.embed(nodes))
        score = self.score(torch.cat([h, torch.matmul(matrix, h) / 4], 2))
        if self.ordered:  # earlier nodes are preferred
            score = score - self.ordered * torch.cumsum(torch.ones_like(score), 1)
        chosen = torch.sigmoid(6 * (score - score.mean(1, keepdim=True)))
        weight = torch.matmul(chosen.transpose(1, 2), torch.matmul(matrix, chosen)).squeeze(2)
        return chosen, weight


class Bag(nn.Module):
    """A score for every subgraph of a bag, by its nodes and by the other subgraphs: permutations of nodes and of the bag."""
    inputs, outputs, free = ["nodes", "bag"], ["scores"], {"nodes": "nodes", "bag": "bag nodes", "scores": "bag"}
    first, ordered = 0.0, False

    def __init__(self):
        super().__init__()
        self.embed, self.head = mlp(WIDTH, 16, 8), mlp(16, 16, 2)

    def forward(self, nodes, bag):
        x = self.embed(nodes)
        if self.ordered:
            x = x / torch.cumsum(torch.ones_like(x), 1)
        h = torch.tanh(torch.matmul(bag, x) / 3)
        h = torch.cat([h, h.mean(1, keepdim=True).expand_as(h)], 2)
        y = self.head(h)
        if self.first:
            y = y + self.first * y[:, 0:1]
        return y


def twin(of, **changes):
    return lambda: type(of.__name__, (of,), changes)()


NETS = {
    "refine": Refine, "refine_north": twin(Refine, north=0.3), "refine_handed": twin(Refine, left=0.2), "refine_origin": twin(Refine, origin=0.02),
    "tilted": Tilted, "tilted_gravity": twin(Tilted, gravity=0.5),
    "flow": Flow, "flow_drift": twin(Flow, drift=0.3), "flow_first": twin(Flow, first=0.1),
    "subset": Subset, "subset_ordered": twin(Subset, ordered=True), "subset_alone": twin(Subset, alone=True),
    "induced": Induced, "induced_ordered": twin(Induced, ordered=0.05),
    "bag": Bag, "bag_first": twin(Bag, first=0.5), "bag_ordered": twin(Bag, ordered=True),
}


# What the laws say of inputs and outputs.

def motion(rng, mirror, tilt, shift):
    """(A, t): a turn about z or any axis, a mirror that holds z, a shift."""
    if tilt:
        q = rng.normal(size=4)
        a = columns(torch.from_numpy(q / np.linalg.norm(q)).reshape(1, 1, 4))[0, 0].numpy()
    else:
        a = turn(np.array(rng.uniform(0, FULL)))
    if mirror:
        a = a @ np.diag([-1.0, 1, 1])
    return torch.from_numpy(a), torch.from_numpy(rng.normal(0, 2, 3) * shift), 1.0


def quaternion(a):
    """Of a rotation matrix."""
    w = np.sqrt(max(0, 1 + np.trace(a))) / 2
    if w < 1e-3:
        return quaternion_of_half_turn(a)
    return np.array([w, (a[2, 1] - a[1, 2]) / (4 * w), (a[0, 2] - a[2, 0]) / (4 * w), (a[1, 0] - a[0, 1]) / (4 * w)])


def quaternion_of_half_turn(a):
    k = int(np.argmax(np.diag(a)))
    v = (a + np.eye(3))[:, k]
    return np.concatenate([[0], v / np.linalg.norm(v)])


def moved(name, x, g):
    """What a motion makes of the numbers of a name."""
    a, t, k = g
    if name in ("points", "next"):
        return k * x @ a.T + t
    if name == "flow":
        return k * x @ a.T
    if name in ("boxes", "tilted", "refined"):
        at, size = k * x[..., :3] @ a.T + t, k * x[..., 3:6]
        if x.shape[2] == 7:
            head = torch.cat([torch.cos(x[..., 6:]), torch.sin(x[..., 6:]), torch.zeros_like(x[..., 6:])], 2) @ a.T
            return torch.cat([at, size, torch.atan2(head[..., 1:2], head[..., 0:1])], 2)
        proper = a if torch.det(a) > 0 else -a
        q = torch.from_numpy(quaternion(proper.numpy())).expand(x.shape[0], x.shape[1], 4)
        q = product(q, x[..., 6:])
        if torch.det(a) < 0:
            q = product(q, torch.tensor([0.0, 0, 1, 0], dtype=q.dtype).expand_as(q))
        return torch.cat([at, size, q], 2)
    return x


def permuted(net, name, x, by):
    for axis, of in enumerate(net.free.get(name, "").split()):
        if of in by:
            x = x.index_select(axis + 1, by[of])
    return x


def apart(name, a, b):
    """Headings a full turn apart are one, and so are quaternions of either sign."""
    if name == "refined" and a.shape[2] == 7:
        a, b = (torch.cat([x[..., :6], torch.cos(x[..., 6:]), torch.sin(x[..., 6:])], 2) for x in (a, b))
    elif name == "refined":
        sign = torch.sign((a[..., 6:] * b[..., 6:]).sum(2, keepdim=True))
        a = torch.cat([a[..., :6], a[..., 6:] * sign], 2)
    return float((a - b).abs().max() / b.pow(2).mean().sqrt())


def laws(net, args):
    rng = np.random.default_rng(SEED)
    plain = net(*args)
    plain = plain if isinstance(plain, tuple) else (plain,)

    def law(change_in, change_out):
        out = net(*(change_in(n, x) for n, x in zip(net.inputs, args)))
        out = out if isinstance(out, tuple) else (out,)
        return max(apart(n, o, change_out(n, p)) for n, o, p in zip(net.outputs, out, plain))

    found = {}
    if "points" in net.inputs:
        tilts = not isinstance(net, Refine)
        for what, mirror, tilt, shift in (("turns about z", False, False, 0), ("mirrors", True, False, 0), ("shifts", None, False, 1),
                                          ("all turns", False, True, 0)):
            if tilt and not tilts:
                continue
            worst = 0.0
            for _ in range(4):
                g = motion(rng, bool(mirror), tilt, shift)
                if mirror is None:
                    g = (torch.eye(3, dtype=torch.float64), g[1], 1.0)
                worst = max(worst, law(lambda n, x, g=g: moved(n, x, g), lambda n, x, g=g: moved(n, x, g)))
            found[what] = worst
        if not isinstance(net, Flow):
            g = (torch.eye(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64), 1.7)
            found["magnifications"] = law(lambda n, x: moved(n, x, g), lambda n, x: moved(n, x, g))
    sets = {}
    for n, x in zip(net.inputs, args):
        for axis, of in enumerate(net.free[n].split()):
            sets[of] = x.shape[axis + 1]
    for of, size in sets.items():
        by = {of: torch.from_numpy(rng.permutation(size))}
        found["permutations of " + of] = law(lambda n, x, by=by: permuted(net, n, x, by), lambda n, x, by=by: permuted(net, n, x, by))
    return found


def main():
    warnings.filterwarnings("ignore")
    rng = np.random.default_rng(SEED)
    data = dict(zip(("points", "boxes", "tilted"), scenes(rng)))
    two = dict(zip(("points", "next", "flow"), motions(rng)))
    sets = dict(zip(("nodes", "chosen", "matrix", "bag"), subsets(rng)))
    (HERE / "data").mkdir(exist_ok=True)
    (HERE / "models").mkdir(exist_ok=True)
    save(HERE / "data" / "scenes.npz", **data)
    save(HERE / "data" / "motions.npz", **two)
    save(HERE / "data" / "subsets.npz", **sets)
    report = {}
    for name, make in NETS.items():
        torch.manual_seed(SEED + list(NETS).index(name.split("_")[0]))
        net = make().double().eval()
        of = two if isinstance(net, Flow) else sets if "nodes" in net.inputs else data
        args = [torch.from_numpy(of[i].astype(np.float64)) for i in net.inputs]
        with torch.no_grad():
            report[name] = laws(net, args)
        net.float()
        path = HERE / "models" / (name + ".onnx")
        axes = {p: {0: "batch"} for p in net.inputs + net.outputs}
        for p, names in net.free.items():
            for axis, of in enumerate(names.split()):
                axes[p][axis + 1] = of
        small = tuple(a[:2].float() for a in args)
        torch.onnx.export(net, small, str(path), opset_version=13, input_names=net.inputs, output_names=net.outputs, dynamic_axes=axes)
        model = onnx.load(str(path))
        with torch.no_grad():
            out = net(*small)
        for port, o in zip(model.graph.output, out if isinstance(out, tuple) else (out,)):
            for axis, (dim, size) in enumerate(zip(port.type.tensor_type.shape.dim, o.shape)):
                if axis not in axes[port.name]:
                    dim.dim_value = size  # the exporter loses some sizes that are fixed
        onnx.save(model, str(path))
        onnx.checker.check_model(model, full_check=True)
        report[name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        report[name]["bytes"] = path.stat().st_size
        print("%-16s %6d  %s" % (name, path.stat().st_size,
                                 "  ".join("%s %.1e" % kv for kv in report[name].items() if kv[0] not in ("sha256", "bytes"))))
    (HERE / "laws.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
