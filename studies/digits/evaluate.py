"""Measures the exported digit classifiers on MNIST's official test set and writes evaluation.json.

    python3 evaluate.py data/t10k-images-idx3-ubyte.gz data/t10k-labels-idx1-ubyte.gz

The tables of MODEL_CARDS.md are what this prints. Every digit is turned to 72 angles, bilinear, zero outside, about its
centre; quarter turns are index permutations. Two processes of one thread each, about ten minutes. `--runtime onnxruntime`
runs the files with ONNX Runtime instead of PyTorch.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before torch is loaded

import argparse
import hashlib
import json
import multiprocessing
import re
from pathlib import Path

import numpy as np
import torch

import models

ANGLES = range(0, 360, 5)
TABLE = (0, 15, 30, 45, 60, 90, 180)


def moved(images, degrees):
    if degrees % 90 == 0:
        return torch.rot90(images, degrees // 90, (-2, -1))
    return models.turn(images, float(degrees))


def runner(name, path, runtime):
    """A function from scaled images to logits, both float32 tensors."""
    if runtime == "onnxruntime":
        import onnxruntime

        o = onnxruntime.SessionOptions()
        o.intra_op_num_threads = 1
        s = onnxruntime.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])
        return lambda x: torch.from_numpy(s.run(["logits"], {"image": x.numpy()})[0])
    return models.load(name, str(path))


@torch.no_grad()
def measure(f, x, y):
    """Curves over ANGLES and the error under quarter turns."""
    logits = {}
    for a in ANGLES:
        logits[a] = torch.cat([f(models.scale(moved(b, a))) for b in x.split(250)]).double()
    conf = torch.stack([logits[a].softmax(1).gather(1, y[:, None])[:, 0] for a in ANGLES], 1)
    right = torch.stack([logits[a].argmax(1) == y for a in ANGLES], 1)
    # Self error: |f(gx) - f(x)| over the root mean square of f about its mean over the digits.
    s = (logits[0] - logits[0].mean(0)).square().sum(1).mean().sqrt()
    quarter = {a: ((logits[a] - logits[0]).norm(dim=1) / s).tolist() for a in (90, 180, 270)}
    acc = right.double().mean(0)
    low = int(acc.argmin())
    return {
        "accuracy": {str(a): round(acc[a // 5].item(), 4) for a in TABLE},
        "orbit": {
            "accuracy_mean": round(acc.mean().item(), 4),
            "accuracy_lowest": round(acc[low].item(), 4), "accuracy_lowest_degrees": ANGLES[low],
            "right_at_every_angle": round(right.all(1).double().mean().item(), 4),
            "confidence_mean": round(conf.mean().item(), 4),
            "confidence_lowest_of_orbit_mean": round(conf.min(1).values.mean().item(), 4),
        },
        "self_error_quarter_turns": {
            "scale": round(s.item(), 4),
            "mean": float(f"{np.mean(list(quarter.values())):.3g}"), "max": float(f"{np.max(list(quarter.values())):.3g}"),
        },
        "confidence_by_class": [[round(v, 4) for v in conf[y == c].mean(0).tolist()] for c in range(10)],
    }


def evaluate(name, a):
    """One model's entry of evaluation.json."""
    torch.set_num_threads(1)
    x = torch.from_numpy(models.read_idx(a.images)[: a.limit].copy()).float()[:, None]
    y = torch.from_numpy(models.read_idx(a.labels)[: a.limit].astype(np.int64))
    path = a.models / f"digits-{name}.onnx"
    b = path.read_bytes()
    return len(x), {
        "file": path.name, "sha256": hashlib.sha256(b).hexdigest(), "bytes": len(b),
        "multiply_adds": models.multiply_adds(models.PLANS[name]), **measure(runner(name, path, a.runtime), x, y)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("images", help="IDX, gzip-compressed")
    p.add_argument("labels", help="IDX, gzip-compressed")
    p.add_argument("--limit", type=int, help="only the first digits")
    p.add_argument("--runtime", choices=["torch", "onnxruntime"], default="torch")
    p.add_argument("--jobs", type=int, default=2, help="models measured at once (default: 2)")
    here = Path(__file__).resolve().parent
    p.add_argument("--models", type=Path, default=here / "models", metavar="DIR", help="where the ONNX files are")
    p.add_argument("-o", type=Path, default=here / "evaluation.json", metavar="FILE")
    a = p.parse_args()
    with multiprocessing.get_context("spawn").Pool(a.jobs) as pool:
        entries = pool.starmap(evaluate, [(n, a) for n in models.NAMES], chunksize=1)
    out = {"digits": entries[0][0], "degrees": list(ANGLES), "models": {n: e for n, (_, e) in zip(models.NAMES, entries)}}
    for n, m in out["models"].items():
        print(f"| {n} | " + " | ".join(f"{100 * v:.2f}" for v in m["accuracy"].values()) + " |")
    for n, m in out["models"].items():
        print(n, m["orbit"], m["self_error_quarter_turns"])
    # One line per curve.
    a.o.write_text(re.sub(r"\[[\d\s.,]+\]", lambda m: re.sub(r"\s+", " ", m[0]), json.dumps(out, indent=1)) + "\n")


if __name__ == "__main__":
    main()
