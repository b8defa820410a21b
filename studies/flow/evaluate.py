"""Measures the exported flow estimators and OpenCV's Farnebäck method under the 16 symmetries and writes evaluation.json.

    go run ./studies/flow/render -o DIR -n 24 -seed 7
    python3 studies/flow/evaluate.py DIR/pairs.npz

Errors are mean end-point errors in px, over all pixels of all pairs. *To the truth*: of the answer to the moved pair, against the moved
true field. *To itself*: of the answer to the moved pair, against the moved answer to the pair as it is. The tables of MODEL_CARDS.md are
what this prints. `--runtime onnxruntime` runs the files with ONNX Runtime instead of PyTorch.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before torch is loaded

import argparse
import hashlib
import json
import re
import time
from pathlib import Path

import numpy as np
import torch

import models

KINDS = ("uniform", "step", "cylinder", "sqg", "isotropic", "vortices")
# pyr_scale, levels, winsize, iterations, poly_n, poly_sigma, flags
FARNEBACK = (0.5, 3, 15, 3, 5, 1.1, 0)


def farneback(pair):
    """OpenCV's field of one pair (2, n, n) uint8."""
    import cv2

    cv2.setNumThreads(1)
    return cv2.calcOpticalFlowFarneback(np.ascontiguousarray(pair[0]), np.ascontiguousarray(pair[1]), None, *FARNEBACK).transpose(2, 0, 1)


def runner(path, runtime):
    """A function from a pair of bytes to a field."""
    if runtime == "onnxruntime":
        import onnxruntime

        o = onnxruntime.SessionOptions()
        o.intra_op_num_threads = 1
        s = onnxruntime.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])
        return lambda pair: s.run(["flow"], {"pair": pair[None].astype(np.float32)})[0][0]
    net = models.load(str(path))

    def run(pair):
        with torch.no_grad():
            return net(torch.from_numpy(pair[None].astype(np.float32)))[0].numpy()

    return run


def endpoint(a, b):
    return float(np.hypot(*(a.astype(np.float64) - b)).mean())


def measure(f, pairs, flow, kind):
    truth, itself, seconds = np.zeros((len(pairs), 16)), np.zeros((len(pairs), 16)), []
    for i, (pair, field) in enumerate(zip(pairs, flow)):
        for g in range(16):
            start = time.perf_counter()
            got = f(models.move_pair(pair, g))
            seconds.append(time.perf_counter() - start)
            if g == 0:
                first = got
            truth[i, g] = endpoint(got, models.move_field(field, g))
            itself[i, g] = endpoint(got, models.move_field(first, g))
    r = lambda v: [float(f"{x:.4g}") for x in v]  # noqa: E731
    return {
        "error_to_truth": r(truth.mean(0)), "error_to_itself": r(itself.mean(0)),
        "error_by_kind": {KINDS[k]: r(truth[kind == k].mean(0)) for k in np.unique(kind)},
        "summary": {
            "identity": round(truth[:, 0].mean(), 4), "orbit": round(truth.mean(), 4), "worst": round(truth.mean(0).max(), 4),
            "d4_to_itself": float(f"{itself[:, 1:8].mean():.4g}"), "d4_to_itself_max": float(f"{itself[:, 1:8].max():.4g}"),
            "time_to_itself": float(f"{itself[:, 8].mean():.4g}"),
        },
    }, np.median(seconds)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pairs", type=Path, help="pairs.npz of the renderer")
    p.add_argument("--limit", type=int, help="only the first pairs")
    p.add_argument("--runtime", choices=["torch", "onnxruntime"], default="torch")
    here = Path(__file__).resolve().parent
    p.add_argument("--models", type=Path, default=here / "models", metavar="DIR", help="where the ONNX files are")
    p.add_argument("-o", type=Path, default=here / "evaluation.json", metavar="FILE")
    a = p.parse_args()
    torch.set_num_threads(1)
    with np.load(a.pairs) as z:
        pairs, flow, kind = z["frames"][: a.limit], z["flow"][: a.limit], z["kind"][: a.limit]
    out = {"pairs": len(pairs), "elements": list(models.ELEMENTS) + [e + ", time reversed" for e in models.ELEMENTS], "models": {}}
    for name in (*models.NAMES, "farneback"):
        if name == "farneback":
            f, entry = farneback, {"parameters": dict(zip(
                ("pyr_scale", "levels", "winsize", "iterations", "poly_n", "poly_sigma", "flags"), FARNEBACK))}
        else:
            path = a.models / f"flow-{name}.onnx"
            b = path.read_bytes()
            f = runner(path, a.runtime)
            entry = {"file": path.name, "sha256": hashlib.sha256(b).hexdigest(), "bytes": len(b),
                     "parameters": sum(q.numel() for q in models.Net().parameters()), "multiply_adds": models.multiply_adds()}
        result, seconds = measure(f, pairs, flow, kind)
        out["models"][name] = {**entry, **result}
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in result["error_to_truth"]) + " |")
        print(f"| {name}, to itself | " + " | ".join(f"{v:.2g}" for v in result["error_to_itself"]) + " |")
        print(f"| {name} | " + " | ".join(f"{v[0]:.3f}" for v in result["error_by_kind"].values()) + " |")
        print(name, result["summary"], f"{1e3 * seconds:.0f} ms a pair", flush=True)
    # One line per curve.
    a.o.write_text(re.sub(r"\[[^\[\]{}]+\]", lambda m: re.sub(r"\s+", " ", m[0]), json.dumps(out, indent=1)) + "\n")


if __name__ == "__main__":
    main()
