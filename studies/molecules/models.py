"""The networks of train.py, and the reader of extended XYZ that both scripts use.

Ports: `positions` float32 [N,A,3] in angstrom, `species` int64 [N,A] atomic numbers with 0 for padding; `energy` [N,1] in eV and
`forces` [N,A,3] in eV / angstrom. Gradients are written out as arithmetic, for an ONNX graph has no automatic ones.
"""

import re

import numpy as np
import torch
from onnx import load as load_onnx
from onnx.numpy_helper import to_array
from torch import nn

SPECIES = [1, 6, 7, 8]
SIZE = 24     # atoms of the plain network, and of padded batches
CUTOFF = 4.5  # angstrom
SHORT = 3.0   # where the neighbors of the faulty twin `cutoff` end
NEAREST = 8   # the neighbours that the faulty twin `capped` keeps


def read(path):
    """Frames of an extended XYZ file: names, and arrays padded to SIZE atoms with species 0."""
    number = {"H": 1, "C": 6, "N": 7, "O": 8}
    lines = open(path).read().splitlines()
    names, x, z, e, f = [], [], [], [], []
    at = 0
    while at < len(lines):
        n = int(lines[at])
        note = lines[at + 1]
        rows = [s.split() for s in lines[at + 2:at + 2 + n]]
        names.append(re.search(r"name=(\S+)", note).group(1))
        e.append([float(re.search(r"energy=(\S+)", note).group(1))])
        pad = np.zeros((SIZE - n, 6))
        both = np.concatenate([np.array([[float(v) for v in r[1:7]] for r in rows]), pad])
        x.append(both[:, :3])
        f.append(both[:, 3:])
        z.append([number[r[0]] for r in rows] + [0] * (SIZE - n))
        at += 2 + n
    return names, np.array(x), np.array(z, np.int64), np.array(e), np.array(f)


def silu(a):
    """The function and its derivative."""
    s = torch.sigmoid(a)
    return a * s, s * (1 + a * (1 - s))


class Field(nn.Module):
    """Energies that are invariant under E(3) and permutations, and forces.

    Around each atom, K radial functions of the neighbours, weighted by C learned numbers an element, are summed times 1, the direction
    u, and u u^T: moments of degree 0, 1, 2. Their norms go through two layers, of which the first and the last have weights of each
    element. `variant`:

      conservative  forces are minus the gradient of the energy
      direct        forces from a second head, a sum of the moments of degree 1: equivariant, the gradient of nothing
      cutoff        as conservative, but the list of neighbors ends at SHORT, before the functions of distance have come to 0, and it is
                    made of coordinates in whole steps of 1/4096 angstrom
      capped        as conservative, but only the NEAREST nearest neighbours of each atom count, by distances in whole steps of
                    1/64 angstrom, equal ones in the order of rows
      uncentered    as conservative, and each atom knows its squared distance from the origin
    """

    K, C, H = 8, 6, 48

    def __init__(self, variant="conservative"):
        super().__init__()
        self.variant = variant
        self.eta = (self.K / CUTOFF) ** 2
        self.register_buffer("mu", torch.linspace(0.7, CUTOFF - 0.3, self.K))
        self.register_buffer("table", torch.tensor(SPECIES))
        weight = torch.randn(len(SPECIES), self.C) * 0.5
        weight[:, :4] += torch.eye(4)
        self.weight = nn.Parameter(weight)
        width = 3 * self.C * self.K
        self.register_buffer("norm", torch.ones(width))
        self.w1 = nn.Parameter(torch.randn(width, len(SPECIES) * self.H) / width ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(len(SPECIES), self.H))
        self.w2 = nn.Parameter(torch.randn(self.H, self.H) * (1.5 / self.H) ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(self.H))
        self.w3 = nn.Parameter(torch.randn(len(SPECIES), self.H) / self.H ** 0.5)
        self.b3 = nn.Parameter(torch.zeros(len(SPECIES), 1))
        if variant == "direct":
            self.out = nn.Linear(self.H, 2 * self.C * self.K)
            self.back = nn.Linear(self.H, len(SPECIES) * self.K)
        if variant == "uncentered":
            self.away = nn.Parameter(torch.randn(len(SPECIES), self.H) * 0.1)

    def pairs(self, x, z):
        """What one pair of atoms has: direction from i to j, distance, radial functions and their derivatives."""
        real = (z > 0).to(x.dtype)
        r = x.unsqueeze(1) - x.unsqueeze(2)
        d2 = (r * r).sum(3, keepdim=True)
        pair = (real.unsqueeze(1) * real.unsqueeze(2)).unsqueeze(3) * (d2 > 1e-6).to(x.dtype)
        d = torch.sqrt(d2 + (1 - pair))
        u = r / d
        if self.variant == "cutoff":
            q = torch.floor(x * 4096 + 0.5) / 4096
            s = q.unsqueeze(1) - q.unsqueeze(2)
            pair = pair * ((s * s).sum(3, keepdim=True) < SHORT ** 2).to(x.dtype)
        if self.variant == "capped":
            s = torch.floor(d * 64 + 0.5) + (1 - pair) * 1e6
            nearest = torch.topk(s.squeeze(3), NEAREST, 2, largest=False, sorted=True).indices
            pair = pair * torch.zeros_like(s.squeeze(3)).scatter(2, nearest, 1.0).unsqueeze(3)
        t = torch.relu(1 - (d / CUTOFF) ** 2)
        bell = torch.exp(-self.eta * (d - self.mu) ** 2) * pair
        return u, d, bell * t ** 3, bell * (-2 * self.eta * (d - self.mu) * t ** 3 - 6 * d / CUTOFF ** 2 * t ** 2)

    def moments(self, x, z):
        kind = (z.unsqueeze(2) == self.table).to(x.dtype)  # [N,A,4]
        w = torch.matmul(kind, self.weight)                # [N,A,C]
        u, d, g, slope = self.pairs(x, z)
        a, b, c = u[..., 0:1], u[..., 1:2], u[..., 2:3]
        s = 2 ** 0.5
        y = [torch.ones_like(a), a, b, c, a * a, b * b, c * c, s * a * b, s * a * c, s * b * c]
        m = torch.matmul(w.transpose(1, 2).unsqueeze(1), torch.cat([g * v for v in y], 3))  # [N,A,C,10K]
        return kind, w, u, d, g, slope, y, m

    def parts(self, m):
        return [m[..., k * self.K:(k + 1) * self.K] for k in range(10)]

    def descriptors(self, m):
        p = self.parts(m)
        one = p[1] ** 2 + p[2] ** 2 + p[3] ** 2
        two = p[4] ** 2 + p[5] ** 2 + p[6] ** 2 + p[7] ** 2 + p[8] ** 2 + p[9] ** 2
        return torch.cat([p[0], one, two], 3)  # [N,A,C,3K]

    def forward(self, positions, species):
        x = positions
        kind, w, u, d, g, slope, y, m = self.moments(x, species)
        flat = self.descriptors(m).flatten(2) * self.norm
        each = torch.matmul(flat, self.w1)  # [N,A,4H], one block an element
        blocks = range(len(SPECIES))
        a1 = sum(kind[..., k:k + 1] * each[..., k * self.H:(k + 1) * self.H] for k in blocks) + torch.matmul(kind, self.b1)
        if self.variant == "uncentered":
            away = torch.matmul(kind, self.away)
            a1 = a1 + away * ((x * x).sum(2, keepdim=True) / 16)
        h1, s1 = silu(a1)
        h2, s2 = silu(torch.matmul(h1, self.w2) + self.b2)
        w3 = torch.matmul(kind, self.w3)
        energy = ((h2 * w3).sum(2, keepdim=True) + torch.matmul(kind, self.b3)).sum(1)
        if self.variant == "direct":
            return energy, self.head(h2, m, kind, u, g)
        g1 = torch.matmul(w3 * s2, self.w2.t()) * s1
        gf = torch.matmul(torch.cat([g1 * kind[..., k:k + 1] for k in blocks], 2), self.w1.t()) * self.norm
        gf = gf.reshape(-1, x.shape[1], self.C, 3 * self.K)
        g0, gv, gt = gf[..., :self.K], 2 * gf[..., self.K:2 * self.K], 2 * gf[..., 2 * self.K:]
        p = self.parts(m)
        gm = torch.cat([g0] + [gv * v for v in p[1:4]] + [gt * v for v in p[4:]], 3)
        gz = self.parts(torch.matmul(w.unsqueeze(1), gm))  # of each pair, by degree
        radial = sum(v * k for v, k in zip(gz, y))
        gy = [(v * g).sum(3, keepdim=True) for v in gz]
        a, b, c = y[1:4]
        s = 2 ** 0.5
        gu = torch.cat([gy[1] + 2 * a * gy[4] + s * (b * gy[7] + c * gy[8]),
                        gy[2] + 2 * b * gy[5] + s * (a * gy[7] + c * gy[9]),
                        gy[3] + 2 * c * gy[6] + s * (a * gy[8] + b * gy[9])], 3)
        pull = (radial * slope).sum(3, keepdim=True) * u + (gu - (gu * u).sum(3, keepdim=True) * u) / d
        forces = pull.sum(2) - pull.sum(1)
        if self.variant == "uncentered":
            forces = forces - (g1 * away).sum(2, keepdim=True) * x / 8
        return energy, forces

    def head(self, h, m, kind, u, g):
        """Forces without a potential: moments of degree 1, as they are and through those of degree 2, and what the neighbours say."""
        p = self.parts(m)
        mix = self.out(h).reshape(-1, m.shape[1], self.C, 2 * self.K)
        one, two = mix[..., :self.K], mix[..., self.K:]
        a, b, c = p[1:4]
        s = 0.5 ** 0.5
        tv = [p[4] * a + s * (p[7] * b + p[8] * c), p[5] * b + s * (p[7] * a + p[9] * c), p[6] * c + s * (p[8] * a + p[9] * b)]
        own = torch.cat([(one * v + 0.3 * two * t).sum(3).sum(2, keepdim=True) for v, t in zip((a, b, c), tv)], 2)
        said = self.back(h).reshape(-1, m.shape[1], len(SPECIES), self.K)  # of atom j, to each element
        to = torch.einsum("nie,njek->nijk", kind, said)
        return own + ((to * g).sum(3, keepdim=True) * u).sum(2)


class Plain(nn.Module):
    """A dense network of all coordinates and elements in the order of rows: nothing is built in. SIZE atoms, padded with zeros."""

    H = 320

    def __init__(self):
        super().__init__()
        self.variant = "mlp"
        self.register_buffer("table", torch.tensor(SPECIES))
        self.net = nn.Sequential(nn.Linear(SIZE * 7, self.H), nn.SiLU(), nn.Linear(self.H, self.H), nn.SiLU(),
                                 nn.Linear(self.H, 1 + SIZE * 3))

    def forward(self, positions, species):
        kind = (species.unsqueeze(2) == self.table).to(positions.dtype)
        out = self.net(torch.cat([positions.flatten(1) / 2, kind.flatten(1)], 1))
        real = (species > 0).to(positions.dtype).unsqueeze(2)
        return out[:, :1], out[:, 1:].reshape(-1, SIZE, 3) * real


def make(variant):
    return Plain() if variant == "mlp" else Field(variant)


def load(name, path):
    """A network of train.py with the weights of its ONNX file. The exporter transposes some matrices and drops their names; their shapes
    tell which they are."""
    net = make(name)
    kept = {i.name: torch.from_numpy(to_array(i).copy()) for i in load_onnx(str(path)).graph.initializer}
    state = {}
    for key, want in net.state_dict().items():
        if key in kept:
            state[key] = kept[key]
            continue
        found = [v for k, v in kept.items() if k.startswith("onnx::") and v.shape == want.t().shape]
        if len(found) != 1:
            raise ValueError("%s: %d matrices may be %s" % (path, len(found), key))
        state[key] = found[0].t()
    net.load_state_dict(state)
    return net.eval()
