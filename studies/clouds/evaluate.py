"""Measures the exported networks on data/test.npz under rotations, mirrors and permutations; writes evaluation.json and prints the
tables of MODEL_CARDS.md.

    pip install onnxruntime==1.31.1 numpy
    python3 evaluate.py [NAME ...]

Clouds are centred, scaled and turned in 64-bit floats, then rounded to 32 bits. Every model sees the same rotations.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import hashlib
import json
import math
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).resolve().parent
SEED, HAAR, AXES, STEP = 20240612, 16, 6, 15
NAMES = ("pointnet_plain", "pointnet_aug", "transformer_plain", "transformer_aug", "invariant", "pointnet_gravity", "chiral")
CLASSES = ("bed", "cabinet", "chair", "lamp", "opening", "plant", "sofa", "table", "vehicle", "vessel")
MIRRORS = {"x -> -x": np.diag([-1.0, 1, 1]), "z -> -z": np.diag([1.0, 1, -1]), "-1": -np.eye(3)}


def matrices(q):
    """Rotation matrices (n, 3, 3) of quaternions w, x, y, z (n, 4) of any length but zero."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    return np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 1).reshape(-1, 3, 3)


def around(axes, angle):
    """Rotations by an angle in degrees about unit axes (n, 3)."""
    half = math.radians(angle) / 2
    return matrices(np.concatenate([np.full((len(axes), 1), math.cos(half)), math.sin(half) * axes], 1))


def load():
    with np.load(HERE / "data" / "test.npz") as f:
        p = f["points"].astype(np.float64)
        p -= p.mean(1, keepdims=True)
        return p / np.linalg.norm(p, axis=2).max(1)[:, None, None], f["labels"].astype(int)


class Model:
    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def __call__(self, points):
        parts = [self.session.run(["logits"], {"points": np.ascontiguousarray(points[i : i + 16], np.float32)})[0] for i in range(0, len(points), 16)]
        return np.concatenate(parts).astype(np.float64)


def turn(points, matrix):
    """Clouds (n, p, 3) by one matrix, or each by its own."""
    return points @ np.swapaxes(matrix, -1, -2)


def spread(d):
    """Median, 99th percentile and maximum of the largest change of a logit."""
    return dict(zip(("median", "p99", "max"), (float(f"{v:.3g}") for v in (np.median(d), np.percentile(d, 99), d.max()))))


def measure(path, points, labels):
    f, random = Model(path), np.random.default_rng(SEED)
    n = len(points)
    still = f(points)
    right = lambda out: float((out.argmax(1) == labels).mean())  # noqa: E731
    out = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
    out["upright"] = right(still)
    out["upright_by_class"] = [float((still.argmax(1) == labels)[labels == c].mean()) for c in range(len(CLASSES))]
    # How far the logits of different clouds lie apart: what a change is to be held against.
    out["logit_spread"] = float(f"{still.std(0).mean():.3g}")
    hits, same, change = [], [], []
    for _ in range(HAAR):
        got = f(turn(points, matrices(random.standard_normal((n, 4)))))
        hits.append(right(got))
        same.append(float((got.argmax(1) == still.argmax(1)).mean()))
        change.append(np.abs(got - still).max(1))
    out["haar"], out["haar_same_label"], out["haar_change"] = float(np.mean(hits)), float(np.mean(same)), spread(np.concatenate(change))
    axes = random.standard_normal((AXES, n, 3))
    axes /= np.linalg.norm(axes, axis=2, keepdims=True)
    out["angle"] = {str(a): float(np.mean([right(f(turn(points, around(x, a)))) for x in axes])) for a in range(0, 181, STEP)}
    for name, axis in (("vertical", [0.0, 0, 1]), ("lying", [1.0, 0, 0])):
        got = {a: f(turn(points, around(np.array([axis]), a)[0])) for a in range(0, 360, 30)}
        out[f"about_{name}"] = {str(a): right(g) for a, g in got.items()}
        out[f"about_{name}_change"] = spread(np.concatenate([np.abs(g - still).max(1) for a, g in got.items() if a]))
    out["mirror_change"] = {name: spread(np.abs(f(turn(points, m)) - still).max(1)) for name, m in MIRRORS.items()}
    out["shift_change"] = spread(np.abs(f(points + [0.1, 0.1, 0.1]) - still).max(1))
    order = random.permutation(points.shape[1])
    out["permutation_change"] = spread(np.abs(f(points[:, order]) - still).max(1))
    alone = np.concatenate([f(points[i : i + 1]) for i in range(n)])
    out["batch_change"] = spread(np.abs(alone - still).max(1))
    return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", help="networks; all when left out")
    names = arguments.parse_args().names or NAMES
    points, labels = load()
    path = HERE / "evaluation.json"
    result = json.loads(path.read_text()) if path.exists() else {}
    result.update(split="test", clouds=len(points), classes=list(CLASSES), haar_rotations=HAAR, axes_per_angle=AXES)
    result.setdefault("models", {})
    for name in names:
        if (HERE / "models" / f"{name}.onnx").exists():
            result["models"][name] = m = measure(HERE / "models" / f"{name}.onnx", points, labels)
            print(f"{name}: upright {m['upright']:.3f} haar {m['haar']:.3f} change {m['haar_change']} vertical {m['about_vertical_change']} mirror "
                  f"{m['mirror_change']} permuted {m['permutation_change']} batch {m['batch_change']} spread {m['logit_spread']}\n  {m['angle']}", flush=True)
    result["models"] = {n: result["models"][n] for n in NAMES if n in result["models"]}
    path.write_text(json.dumps(result, indent=1) + "\n")
    done = result["models"]
    print("| Model | Bytes | Upright % | Haar % | Same label % | About the vertical % | About x % |\n|---|---|---|---|---|---|---|")
    for n, m in done.items():
        a, b = (100 * np.mean([v for k, v in m[f"about_{w}"].items() if k != "0"]) for w in ("vertical", "lying"))
        print(f"| `{n}` | {m['bytes']:,} | {100 * m['upright']:.1f} | {100 * m['haar']:.1f} | {100 * m['haar_same_label']:.1f} | {a:.1f} | {b:.1f} |")
    angles = list(next(iter(done.values()))["angle"])
    print("\n| Angle | " + " | ".join(angles) + " |\n|" + "---|" * (len(angles) + 1))
    for n, m in done.items():
        print(f"| `{n}` | " + " | ".join(f"{100 * v:.0f}" for v in m["angle"].values()) + " |")
    print("\n| Model | Spread of logits | SO(3) | about the vertical | x -> -x | z -> -z | -1 | permutation | shift by 0.1 | alone or in a batch |\n|" + "---|" * 10)
    for n, m in done.items():
        row = [m["haar_change"], m["about_vertical_change"], *m["mirror_change"].values(), m["permutation_change"], m["shift_change"], m["batch_change"]]
        print(f"| `{n}` | {m['logit_spread']} | " + " | ".join(f"{r['median']:.1e} / {r['max']:.1e}" for r in row) + " |")
    print("\n| Model | File | Bytes | SHA-256 |\n|---|---|---|---|")
    for n, m in done.items():
        print(f"| {n} | `{m['file']}` | {m['bytes']:,} | `{m['sha256']}` |")


if __name__ == "__main__":
    main()
