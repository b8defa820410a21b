"""Trains the flow estimators and writes models/flow-NAME.onnx.

    go run ./studies/flow/render -o DIR -n 480 -seed 20240701
    python3 studies/flow/train.py DIR/pairs.npz

Both see random 80x80 windows of 480 rendered pairs, the same in the same order: `plain` as they are, with the mean flow to the right as
in a wind tunnel; `augmented` each moved by a random one of the 16 symmetries (mirrors, quarter turns, reversal of time). Two processes
of one thread each. Debian 12's python3-torch 1.13.1 and python3-onnx 1.12.0 write the same bytes again on the same kind of
processor; other versions and processors round differently.
"""

import os

# Before torch is loaded: one thread a network, so that the order of sums does not depend on how busy the machine is.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch

import models

# SEED and the rest were set once and not tuned on the pairs that evaluate.py uses.
SEED, STEPS, BATCH, CROP, RATE, DECAY = 20240708, 2000, 4, 80, 1.5e-3, 1e-4


def error(got, want):
    """Mean end-point error, px. The root is kept away from 0, where it has no slope."""
    return ((got - want).square().sum(1) + 1e-4).sqrt().mean()


def train(name, pairs, flow, steps):
    """One network, from scratch."""
    torch.manual_seed(SEED)
    net = models.Net()
    pick, turn = np.random.default_rng(SEED + 1), np.random.default_rng(SEED + 2)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, RATE, total_steps=steps, pct_start=0.1)
    start, total = time.perf_counter(), []
    net.train()
    for step in range(steps):
        x, y = [], []
        for _ in range(BATCH):
            i = pick.integers(len(pairs))
            r, c = pick.integers(pairs.shape[-2] - CROP + 1), pick.integers(pairs.shape[-1] - CROP + 1)
            g = int(turn.integers(16)) if name == "augmented" else 0
            x.append(models.move_pair(pairs[i, :, r:r + CROP, c:c + CROP].astype(np.float32), g))
            y.append(models.move_field(flow[i, :, r:r + CROP, c:c + CROP], g))
        x, y = torch.from_numpy(np.stack(x)), torch.from_numpy(np.stack(y))
        fine, coarse = net(x)
        loss = error(fine, y)
        opt.zero_grad()
        (loss + 0.3 * error(coarse, y)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        plan.step()
        total.append(loss.item())
        if (step + 1) % 100 == 0:
            print(f"{name} step {step + 1}/{steps} error {np.mean(total):.3f} px, {time.perf_counter() - start:.0f} s", flush=True)
            total = []
    return net.eval()


def make(name, file, folder, steps):
    """Trains and exports one network; what to print about it."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    with np.load(file) as z:
        pairs, flow = z["frames"], z["flow"]
    path = folder / f"flow-{name}.onnx"
    net = train(name, pairs, flow, steps)
    models.export(net, str(path))
    b = path.read_bytes()
    n = sum(p.numel() for p in net.parameters())
    return f"{hashlib.sha256(b).hexdigest()}  {path.name}  {len(b)} bytes, {n} parameters"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pairs", type=Path, help="pairs.npz of the renderer")
    p.add_argument("--models", nargs="+", choices=models.NAMES, default=models.NAMES, metavar="NAME", help="default: all")
    p.add_argument("--jobs", type=int, default=2, help="networks trained at once; changes no number (default: 2)")
    p.add_argument("--steps", type=int, default=STEPS, help=f"(default: {STEPS})")
    p.add_argument("-o", type=Path, default=Path(__file__).resolve().parent / "models", metavar="DIR", help="where to write")
    a = p.parse_args()
    a.o.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(a.jobs) as pool:
        for line in pool.starmap(make, [(n, a.pairs, a.o, a.steps) for n in a.models], chunksize=1):
            print(line)


if __name__ == "__main__":
    main()
