"""Measures the networks on data/test.xyz: errors, and how far each law is kept; writes evaluation.json.

    python3 evaluate.py [NAME ...]

The ONNX files are what is measured: their weights are read back into models.py, in float64, so that a law that is kept shows as rounding.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import torch

import models

HERE = Path(__file__).parent
NAMES = ["conservative", "direct", "mlp", "cutoff", "capped", "uncentered"]
SEED, ELEMENTS = 11, 12  # group elements a frame


def rotation(rng):
    """Uniform over SO(3), from a unit quaternion."""
    w, x, y, z = (lambda q: q / np.linalg.norm(q))(rng.normal(size=4))
    return torch.tensor([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def summary(energy, forces):
    """Of deviations by frame and element: median, 99th percentile and maximum, and the share above 1e-3."""
    out = {}
    for name, d in (("energy", energy), ("forces", forces)):
        d = np.concatenate(d)
        out[name] = {"median": float(np.median(d)), "p99": float(np.percentile(d, 99)), "max": float(d.max()),
                     "above_0.001": float((d > 1e-3).mean())}
    return out


def moved(net, x, z, e, f, real, trials):
    """Deviations of the answer on a moved input from the moved answer, eV and eV / angstrom (largest component of a frame)."""
    energy, forces = [], []
    with torch.no_grad():
        for x2, z2, act in trials:
            e2, f2 = net(x2, z2)
            energy.append((e2 - e).abs().max(1).values.numpy())
            forces.append((f2 - act(f)).abs().flatten(1).max(1).values.numpy())
    return summary(energy, forces)


def gradient(net, x, z, f, real, rng, step=1e-5, chosen=(0, 60, 100, 130)):
    """Forces against central differences of the energy, eV / angstrom, all coordinates of four frames: [median, max, mean |F|]."""
    out, size = [], []
    with torch.no_grad():
        for i in chosen:
            n = int((z[i] > 0).sum())
            for a in range(n):
                for c in range(3):
                    d = torch.zeros_like(x[i:i + 1])
                    d[0, a, c] = step
                    slope = (net(x[i:i + 1] + d, z[i:i + 1])[0] - net(x[i:i + 1] - d, z[i:i + 1])[0]).item() / (2 * step)
                    out.append(abs(-slope - f[i, a, c].item()))
                    size.append(abs(f[i, a, c].item()))
    return {"median": float(np.median(out)), "max": float(np.max(out)), "size": float(np.mean(size))}


def work(net, x, z):
    """Work around a small loop, eV, mean of magnitudes over the frames: a square of 0.1 angstrom of two random directions of all atoms.
    A conservative field does none, up to the error of Simpson's rule."""
    rng = np.random.default_rng(SEED + 2)
    real = (z > 0).double().unsqueeze(2)
    a, b = (torch.tensor(rng.normal(size=x.shape)) * real for _ in range(2))
    a, b = (v / v.flatten(1).norm(dim=1)[:, None, None] for v in (a, b))
    corners = [x, x + 0.1 * a, x + 0.1 * a + 0.1 * b, x + 0.1 * b, x]
    total = 0
    with torch.no_grad():
        for p, q in zip(corners, corners[1:]):
            for t, w in ((0, 1), (0.25, 4), (0.5, 2), (0.75, 4), (1, 1)):
                total = total + w / 12 * (net(p + t * (q - p), z)[1] * (q - p)).sum((1, 2))
    return float(total.abs().mean())


def evaluate(name, names, x, z, e, f):
    path = HERE / "models" / ("molecules-%s.onnx" % name)
    net = models.load(name, path).double()
    real = (z > 0).double().unsqueeze(2)
    out = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
    with torch.no_grad():
        energy, forces = net(x, z)
    for part, s in (("known", slice(0, 100)), ("new", slice(100, None))):
        out[part] = {"energy_mae": float((energy - e)[s].abs().mean()),
                     "forces_mae": float(((forces - f) * real)[s].abs().sum() / (3 * real[s].sum()))}
    rng = np.random.default_rng(SEED)
    rots = [rotation(rng) for _ in range(ELEMENTS)]
    flip = torch.diag(torch.tensor([1.0, 1.0, -1.0])).double()
    laws = {"rotations": [(x @ r.T, z, lambda v, r=r: v @ r.T) for r in rots],
            "mirrors": [(x @ (r @ flip).T, z, lambda v, r=r: v @ (r @ flip).T) for r in rots],
            "translations": [((x + t) * real, z, lambda v: v) for t in torch.tensor(rng.normal(0, 1, (ELEMENTS, 1, 1, 3)))]}
    trials = []
    for _ in range(ELEMENTS):
        # Rows that are there change places; padding stays at the end.
        p = torch.stack([torch.from_numpy(np.concatenate([rng.permutation(n), np.arange(n, models.SIZE)]))
                         for n in (z > 0).sum(1).tolist()])
        trials.append((torch.gather(x, 1, p.unsqueeze(2).expand(-1, -1, 3)), torch.gather(z, 1, p),
                       lambda v, p=p: torch.gather(v, 1, p.unsqueeze(2).expand(-1, -1, 3))))
    laws["permutations"] = trials
    for law, cases in laws.items():
        out[law] = moved(net, x, z, energy, forces, real, cases)
    out["gradient"] = gradient(net, x, z, forces, real, rng)
    out["loop_work"] = work(net, x, z)
    out["net_force"] = float(forces.sum(1).norm(dim=1).mean())
    out["net_torque"] = float(torch.cross(x, forces, 2).sum(1).norm(dim=1).mean())
    if name != "mlp":
        junk = torch.cat([x, torch.zeros(len(x), 6, 3)], 1), torch.cat([z, torch.zeros(len(x), 6, dtype=torch.int64)], 1)
        with torch.no_grad():
            e2, f2 = net(*junk)
        out["padding"] = float(max((e2 - energy).abs().max(), (f2[:, :models.SIZE] - forces).abs().max(), f2[:, models.SIZE:].abs().max()))
    return out


def main():
    names, *arrays = models.read(HERE / "data" / "test.xyz")
    x, z, e, f = (torch.from_numpy(a) for a in arrays)
    report = HERE / "evaluation.json"
    out = json.loads(report.read_text()) if sys.argv[1:] else {}
    real = (z > 0).double().unsqueeze(2)
    for part, s in (("known", slice(0, 100)), ("new", slice(100, None))):
        out["zero_" + part] = {"energy_mae": float((e - e.median())[s].abs().mean()),
                               "forces_mae": float(f[s].abs().sum() / (3 * real[s].sum()))}
    for name in sys.argv[1:] or NAMES:
        out[name] = evaluate(name, names, x, z, e, f)
        print(name, json.dumps(out[name]), flush=True)
    report.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
