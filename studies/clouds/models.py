"""The networks of this study, and the clouds they are trained on.

A network takes clouds (n, p, 3), centred and scaled to the unit sphere, and returns logits (n, 10). None of them centres or scales
again. All of them are sums, means, maxima or softmaxes over the points, so the order of the points does not matter to any.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 10


class Dense(nn.Module):
    """Linear, batch normalisation over all other axes, ReLU. fold() leaves a linear map and ReLU."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear, self.norm = nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs)

    def forward(self, x):
        x = self.linear(x)
        if self.norm is not None:
            x = self.norm(x.flatten(0, -2)).view(x.shape)
        return torch.relu(x)

    def fold(self):
        n = self.norm
        gain = n.weight / torch.sqrt(n.running_var + n.eps)
        with torch.no_grad():
            self.linear.weight.mul_(gain[:, None])
            self.linear.bias.copy_((self.linear.bias - n.running_mean) * gain + n.bias)
        self.norm = None


class Head(nn.Sequential):
    def __init__(self, width):
        super().__init__(Dense(width, 128), nn.Dropout(0.3), nn.Linear(128, CLASSES))


class PointNet(nn.Module):
    """Every point by itself through three layers, the maximum over points, two more layers (Qi and others, CVPR 2017, without the
    two networks that align)."""

    def __init__(self):
        super().__init__()
        self.point = nn.Sequential(Dense(3, 32), Dense(32, 64), Dense(64, 256))
        self.head = Head(256)

    def forward(self, points):
        return self.head(self.point(points).amax(1))


class Attention(nn.Module):
    """Multi-head attention of some rows (n, q, d) to others (n, p, d), and a layer for each row, both added, both normalised."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.each = heads, width // heads
        self.ask, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, rows, others):
        def apart(x):
            return x.reshape(x.shape[0], -1, self.heads, self.each).transpose(1, 2)

        q, k, v = apart(self.ask(self.before(rows))), apart(self.key(others)), apart(self.value(others))
        weight = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(self.each), -1)
        rows = rows + self.out((weight @ v).transpose(1, 2).reshape(rows.shape))
        return rows + self.down(torch.relu(self.up(self.between(rows))))


class Transformer(nn.Module):
    """32 learned rows look at the points, at each other, at the points again and at each other again; their maximum is classified
    (an encoder in the manner of the Set Transformer, Lee and others, ICML 2019)."""

    def __init__(self, width=64, rows=32, heads=4):
        super().__init__()
        self.point = nn.Sequential(Dense(3, 32), Dense(32, width), nn.Linear(width, width), nn.LayerNorm(width))
        self.rows = nn.Parameter(torch.randn(1, rows, width))
        self.blocks = nn.ModuleList(Attention(width, heads) for _ in range(4))
        self.last, self.head = nn.LayerNorm(width), Head(width)

    def forward(self, points):
        x = self.point(points)
        # Adding a multiple of zero makes the rows a batch with no shape in the graph.
        rows = self.rows + 0 * x[:, :1]
        look, think, again, end = self.blocks
        for cross, own in ((look, think), (again, end)):
            rows = cross(rows, x)
            rows = own(rows, rows)
        return self.head(self.last(rows).amax(1))


class Monomials(nn.Module):
    """All products of p coordinates, for p = 1 to `degree`, each times the root of how often it occurs in the p-th power of a sum:
    the inner product of two points' monomials of degree p is the p-th power of the points' inner product."""

    def __init__(self, axes, degree):
        super().__init__()
        self.degree, last = degree, {tuple(int(a == b) for b in range(axes)): a for a in range(axes)}
        for p in range(2, degree + 1):
            ways = lambda e: math.factorial(sum(e)) / math.prod(map(math.factorial, e))
            now, earlier, axis, gain = {}, [], [], []
            for e, at in last.items():
                # Multiplying by axes from the last one used on makes every product once.
                for a in range(max(i for i, n in enumerate(e) if n), axes):
                    f = tuple(n + (i == a) for i, n in enumerate(e))
                    now[f] = len(now)
                    earlier.append(at), axis.append(a), gain.append(math.sqrt(ways(f) / ways(e)))
            last = now
            # Columns are picked by products with matrices of 0 and 1: the same numbers to the last bit, and engines copy
            # single numbers much more slowly than they multiply.
            for name, value, width in (("earlier", earlier, max(earlier) + 1), ("axis", axis, axes)):
                self.register_buffer(f"{name}{p}", torch.eye(width)[:, torch.tensor(value)])
            self.register_buffer(f"gain{p}", torch.tensor(gain))

    def forward(self, x):
        out = [x]
        for p in range(2, self.degree + 1):
            earlier, axis, gain = (getattr(self, f"{name}{p}") for name in ("earlier", "axis", "gain"))
            out.append((out[-1] @ earlier) * (x @ axis) * gain)
        return out


def mean(a, b):
    """Mean over the points of the products of their features: (n, p, k) and (n, p, l) give (n, k, l)."""
    ones = torch.ones_like(a[:1, :, :1])
    return a.transpose(1, 2) @ b / ones.sum()


class Invariant(nn.Module):
    """Points through inner products alone: a point i has features that start from its norm; from them come k weights w; the sums
    over all points j of w_jk <x_i, x_j>^p, p = 1 to `degree`, are its next features. Sums go by way of monomials, in time linear
    in the number of points. No network of this kind can tell a cloud from its rotations and mirror images.

    With axes = 2 the inner products are those of x and y, and z is one more scalar: what is left of the invariance is that under
    rotations about the vertical and mirrors that contain it.
    """

    def __init__(self, axes=3, degree=6, weights=12, width=64, rounds=2, final=256):
        super().__init__()
        self.axes, scalars = axes, 1 if axes == 3 else 2
        self.monomials = Monomials(axes, degree)
        self.first = Dense(scalars, width)
        self.weigh = nn.ModuleList(nn.Linear(width, weights) for _ in range(rounds))
        self.mix = nn.ModuleList(Dense(width + degree * weights, width) for _ in range(rounds))
        self.last, self.head = Dense(width, final), Head(2 * final)

    def features(self, points):
        norm = torch.sqrt((points[:, :, : self.axes] ** 2).sum(2, keepdim=True) + 1e-4)
        scalars = norm if self.axes == 3 else torch.cat([norm, points[:, :, 2:]], 2)
        # Directions drawn to the sphere, softly, so that high powers are not small.
        powers = self.monomials(points[:, :, : self.axes] / (0.5 + 0.5 * norm))
        x = self.first(scalars)
        for weigh, mix in zip(self.weigh, self.mix):
            w = weigh(x)
            parts = [m @ mean(m, w) for m in powers]
            x = mix(torch.cat([x, *parts], 2))
        return x

    def answer(self, x):
        x = self.last(x)
        return self.head(torch.cat([x.amax(1), x.mean(1)], 1))

    def forward(self, points):
        return self.answer(self.features(points))


class Chiral(Invariant):
    """Inner products as above, and one triple product: three vectors are means of the points with weights from invariant features,
    and the sign and size of their determinant, on the scale it has over the training clouds, is added to the logits along a fixed
    direction. Rotations keep it, reflections turn its sign."""

    def __init__(self):
        super().__init__(degree=3, weights=8, width=32, rounds=1, final=64)
        self.three = nn.Linear(32, 3)
        self.register_buffer("scale", torch.ones(()))
        self.register_buffer("direction", torch.tensor([1.0, -1.0] * (CLASSES // 2)))

    def triple(self, x, points):
        v = mean(torch.tanh(self.three(x)), points)
        a, b, c = v[:, 0], v[:, 1], v[:, 2]
        # a x b, written out: the exporter's own cross product is of a later operator set.
        d, e = [1, 2, 0], [2, 0, 1]
        return ((a[:, d] * b[:, e] - a[:, e] * b[:, d]) * c).sum(1, keepdim=True)

    def forward(self, points):
        x = self.features(points)
        return self.answer(x) + torch.tanh(self.triple(x, points) / self.scale) * self.direction


# What is trained: network, whether the clouds are rotated at random, and steps.
MODELS = {
    "pointnet_plain": (PointNet, False, 1500),
    "pointnet_aug": (PointNet, True, 3000),
    "transformer_plain": (Transformer, False, 1200),
    "transformer_aug": (Transformer, True, 4000),
    "invariant": (Invariant, False, 1200),
    "pointnet_gravity": (lambda: Invariant(axes=2, degree=4, weights=12, width=48, final=128), False, 1000),
    "chiral": (Chiral, False, 600),
}


def fold(net):
    """Batch normalisation into the linear maps, for export."""
    for m in net.modules():
        if isinstance(m, Dense):
            m.fold()
    return net


def normalise(points):
    """Mean to zero, largest norm to one, as everything that reads clouds does (n, p, 3)."""
    points = points - points.mean(1, keepdims=True)
    return points / np.linalg.norm(points, axis=2).max(1)[:, None, None]


def matrices(q):
    """Rotation matrices (n, 3, 3) of quaternions w, x, y, z (n, 4) of any length but zero."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    return np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 1).reshape(-1, 3, 3)


def haar(count, random):
    """Rotations evenly over SO(3)."""
    return matrices(random.standard_normal((count, 4)))
