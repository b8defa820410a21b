"""The digits study in PyTorch, to compare nero's speed with.

    python3 bench/torch_digits.py --samples 1000 --threads 1

Every digit is turned to 72 angles with grid_sample, scaled, run through a model in batches, and the softmax's value at the
true class is kept: what `nero run studies/digits/full.yaml` does, without the other metrics and without writing anything.
Sampling grids are made once and shared by all digits, and nothing is kept for gradients, so this is PyTorch at its best.
Weights come from the exported ONNX files. Needs python3-torch and python3-onnx (Debian 12: 1.13.1 and 1.12.0), or the environment
that .ci/dynamo makes, which has PyTorch 2.15.

--turn rotate is the loop that users write: batches of digits, and for every angle torchvision's rotate. --compile has torch.compile make one
function of scaling, network and, with grids, turning, which costs a minute before anything is counted and needs a C++ compiler.

Prints one JSON object: predictions (digits times angles) per second of processor time and of the clock for each model, the
median of the rounds, the models taking turns. Take figures with several threads only on an idle machine: waiting OpenMP
threads burn processor time. `confidence` is the mean over the orbit and the digits, to be held against a run's.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STUDY = HERE.parent / "studies" / "digits"
NAMES = ("original", "augmented", "c4")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", nargs="+", choices=NAMES, default=list(NAMES), metavar="NAME", help="default: all three")
    p.add_argument("--samples", type=int, default=1000, help="digits, from the first (default: 1000)")
    p.add_argument("--elements", type=int, default=72, help="angles, evenly over the circle (default: 72)")
    p.add_argument("--batch", type=int, default=64, help="pictures a forward pass; nero's native engine takes 64 (default: 64)")
    p.add_argument("--threads", type=int, default=1, help="of PyTorch and of its BLAS (default: 1)")
    p.add_argument("--turn", choices=("grid", "rotate"), default="grid", help="grid_sample with grids made once, or torchvision's rotate (default: grid)")
    p.add_argument("--compile", action="store_true", help="with torch.compile")
    p.add_argument("--rounds", type=int, default=3, help="over all models (default: 3)")
    p.add_argument("--images", default=STUDY / "data" / "t10k-images-idx3-ubyte.gz", metavar="FILE")
    p.add_argument("--labels", default=STUDY / "data" / "t10k-labels-idx1-ubyte.gz", metavar="FILE")
    a = p.parse_args()
    for name in ("samples", "elements", "batch", "threads", "rounds"):
        if getattr(a, name) < 1:
            p.error(f"--{name} must be at least 1")
    return a


def main():
    a = arguments()
    # Before torch is loaded, and both: the BLAS has a pool of its own, and "one thread" would be two.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)
    sys.path.insert(0, str(STUDY))
    import numpy as np
    import torch
    from torch.nn import functional as F

    import models

    if a.turn == "rotate":
        from torchvision.transforms import InterpolationMode
        from torchvision.transforms.functional import rotate

    torch.set_num_threads(a.threads)
    images = torch.from_numpy(models.read_idx(a.images)[: a.samples].copy()).float()[:, None]
    labels = torch.from_numpy(models.read_idx(a.labels)[: a.samples].astype(np.int64))
    nets = {n: models.load(n, str(STUDY / "models" / f"digits-{n}.onnx")) for n in a.models}
    # Digits are taken a few at a time, so that their orbits fill whole batches.
    few = math.lcm(a.elements, a.batch) // a.elements
    grid = models.grid(torch.arange(a.elements, dtype=torch.float64) * (360 / a.elements))

    def probabilities(net):
        def of(x):
            return net(models.scale(x)).softmax(1)

        return of

    def turned(net):
        of = probabilities(net)

        def turn(x, grids):
            return of(F.grid_sample(x, grids, mode="bilinear", padding_mode="zeros", align_corners=True))

        return turn

    def study(net, x, y):
        conf = torch.empty(len(x), a.elements)
        if a.turn == "rotate":
            for lo in range(0, len(x), a.batch):
                c = y[lo : lo + a.batch, None]
                for k in range(a.elements):
                    moved = rotate(x[lo : lo + a.batch], k * 360 / a.elements, InterpolationMode.BILINEAR)
                    conf[lo : lo + a.batch, k] = calls[net](moved).gather(1, c)[:, 0]
            return conf
        for lo in range(0, len(x), few):
            b = x[lo : lo + few].repeat_interleave(a.elements, 0)
            p = torch.cat([calls[net](m, g) for m, g in zip(b.split(a.batch), grids[: len(b)].split(a.batch))])
            c = y[lo : lo + few].repeat_interleave(a.elements)
            conf[lo : lo + few] = p.gather(1, c[:, None]).view(-1, a.elements)
        return conf

    cpu, wall, mean = ({n: [] for n in nets} for _ in range(3))
    calls = {net: (probabilities if a.turn == "rotate" else turned)(net) for net in nets.values()}
    if a.compile:
        calls = {net: torch.compile(call) for net, call in calls.items()}
    with torch.inference_mode():
        grids = grid.repeat(few, 1, 1, 1)
        for net in nets.values():  # first runs pick and compile kernels
            study(net, images[: 2 * few] if a.turn == "grid" else images, labels[: 2 * few] if a.turn == "grid" else labels)
        for _ in range(a.rounds):
            for n, net in nets.items():
                c, w = time.process_time(), time.perf_counter()
                conf = study(net, images, labels)
                cpu[n].append(time.process_time() - c)
                wall[n].append(time.perf_counter() - w)
                mean[n] = conf.double().mean().item()
    count = len(images) * a.elements
    json.dump({
        "torch": torch.__version__, "threads": a.threads, "batch": a.batch, "turn": a.turn, "compiled": a.compile, "rounds": a.rounds,
        "samples": len(images), "elements": a.elements,
        "models": {n: {
            "per_cpu_second": round(count / statistics.median(cpu[n]), 1),
            "per_second": round(count / statistics.median(wall[n]), 1),
            "cpu_seconds": [round(v, 3) for v in cpu[n]],
            "seconds": [round(v, 3) for v in wall[n]],
            "confidence": round(mean[n], 6),
        } for n in nets},
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
