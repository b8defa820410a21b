"""Measures the networks on data/test.npz: errors, and how far answers move when rows are renumbered; writes evaluation.json.

    python3 evaluate.py

What is measured is the ONNX files: their weights are read back into models.py, in float64.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import hashlib
import json
from pathlib import Path

import numpy as np
import torch

import models

HERE = Path(__file__).parent
SEED, ELEMENTS = 12, 12


def spread(parts):
    d = np.concatenate([np.ravel(p) for p in parts])
    return {"mean": float(d.mean()), "p99": float(np.percentile(d, 99)), "max": float(d.max())}


def sets(net, graphs, rng):
    x = torch.from_numpy(models.pad(graphs)).double()
    y = torch.tensor(np.stack([g[2] for g in graphs])).double()
    out, moved, swapped = {}, [], []
    with torch.no_grad():
        got = net(x)
        out["y_mae"] = float((got - y).abs().mean())
        errors = []
        for _ in range(ELEMENTS):
            z, w = x.clone(), x.clone()
            for i, g in enumerate(graphs):
                n = len(g[0])
                z[i, :n] = x[i, torch.from_numpy(rng.permutation(n))]
                a = rng.integers(n - 1)
                w[i, [a, a + 1]] = x[i, [a + 1, a]]
            moved.append((net(z) - got).abs().numpy())
            swapped.append((net(w) - got).abs().numpy())
            errors.append(float((net(z) - y).abs().mean()))
        out["permutations"], out["neighbors_exchanged"], out["y_mae_permuted"] = spread(moved), spread(swapped), float(np.mean(errors))
        out["padding"] = float((net(torch.cat([x, torch.zeros(len(x), 6, x.shape[2])], 1)) - got).abs().max())
    return out


def graphs_(net, graphs, rng):
    e, eq, moved, movedq, shuffled, neutral, errors, errorsq = [], [], [], [], [], [], [], []
    with torch.no_grad():
        for nodes, edges, y, q, _ in graphs:
            x, k = torch.from_numpy(nodes).double(), torch.from_numpy(edges)
            gy, gq = net(x, k)
            e.append(abs(gy.item() - y[0]))
            eq.append((gq - torch.from_numpy(q)).abs().numpy())
            neutral.append(abs(gq.sum().item()))
            for _ in range(ELEMENTS):
                p = torch.from_numpy(rng.permutation(len(nodes)))  # row r of the new graph was row p[r]
                back = torch.argsort(p)
                y2, q2 = net(x[p], back[k])
                moved.append(abs((y2 - gy).item()))
                movedq.append((q2 - gq[p]).abs().numpy())
                errors.append(abs(y2.item() - y[0]))
                errorsq.append((q2 - torch.from_numpy(q)[p]).abs().numpy())
            y2, q2 = net(x, k[:, torch.from_numpy(rng.permutation(k.shape[1]))])
            shuffled.append(max((y2 - gy).abs().max().item(), (q2 - gq).abs().max().item()))
    mean = lambda a: float(np.concatenate([np.ravel(v) for v in a]).mean())
    return {"y_mae": mean(e), "q_mae": mean(eq), "y_mae_permuted": mean(errors), "q_mae_permuted": mean(errorsq), "permutations_y": spread(moved),
            "permutations_q": spread(movedq), "edge_order": float(max(shuffled)), "charge_sum": float(max(neutral))}


def main():
    graphs = models.read(HERE / "data" / "test.npz")
    y = np.stack([g[2] for g in graphs])
    q = np.concatenate([g[3] for g in graphs])
    out = {"constant": {"y_mae": float(np.abs(y - np.median(y)).mean()), "q_mae": float(np.abs(q - np.median(q)).mean())}}
    for name in ("deepsets", "ordered", "gcn", "gcn_ordered"):
        path = HERE / "models" / (name + ".onnx")
        net = models.load(name, path).double()
        measure = graphs_ if isinstance(net, models.Graph) else sets
        out[name] = measure(net, graphs, np.random.default_rng(SEED))
        out[name]["sha256"], out[name]["bytes"] = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size
        print(name, json.dumps(out[name]), flush=True)
    (HERE / "evaluation.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
