"""Trains the networks of models.py and writes models/*.onnx.

    python3 train.py pool.npz [NAME ...]

`pool.npz` is what make_data.py wrote: 16,384 points a training mesh. Nothing of data/test.npz is read. One thread a network, so
that the order of sums does not depend on timing; two to nine minutes a network on an idle core. Debian 12's python3-torch 1.13 and
python3-onnx 1.12.0 were used; other versions and processors round differently.
"""

import os

# Before torch is loaded.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import time
from pathlib import Path

import numpy as np
import onnx
import torch
from torch.nn import functional as F

import models

HERE = Path(__file__).resolve().parent
SEED, BATCH, RATE, DECAY = 20240611, 32, 3e-3, 0.02
# Points a cloud: fewer at first, for speed; the last steps have what the test clouds have.
FEW, ALL, FULL_FROM = 384, 1024, 0.95


class Clouds:
    """An endless, seeded stream of augmented clouds."""

    def __init__(self, points, labels, rotate, seed):
        self.points, self.labels, self.rotate = points, labels, rotate
        self.random = np.random.default_rng(seed)
        # Between evenly by mesh and evenly by class.
        count = np.bincount(labels, minlength=models.CLASSES)
        self.chance = count[labels] ** -0.5
        self.chance /= self.chance.sum()

    def batch(self, size, count):
        r = self.random
        rows = r.choice(len(self.labels), size, p=self.chance)
        # A mesh's samples are in random order: any run of them is a sample.
        starts = r.integers(self.points.shape[1] - count + 1, size=size)
        x = np.stack([self.points[i, s : s + count] for i, s in zip(rows, starts)]).astype(np.float32)
        # Upright still: furniture wider, deeper or taller, left for right, and rough.
        x *= r.uniform(0.8, 1.25, (size, 1, 3)).astype(np.float32)
        x[:, :, 0] *= r.choice(np.float32([-1, 1]), (size, 1))
        x += r.normal(0, 1, x.shape).astype(np.float32) * r.uniform(0, 0.02, (size, 1, 1)).astype(np.float32)
        if self.rotate:
            x = np.einsum("nij,npj->npi", models.haar(size, r).astype(np.float32), x)
        x = models.normalise(x)
        # A reader scales exactly; the networks should not lean on it to the last percent.
        x *= r.uniform(0.95, 1.05, (size, 1, 1)).astype(np.float32)
        return torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(self.labels[rows])


def train(name, points, labels, steps=None, report=None):
    build, rotate, usual = models.MODELS[name]
    steps = steps or usual
    torch.manual_seed(SEED)
    net = build()
    stream = Clouds(points, labels, rotate, SEED + 1)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, RATE, total_steps=steps, pct_start=0.1)
    start, seen = time.perf_counter(), np.zeros(2)
    net.train()
    for step in range(steps):
        x, y = stream.batch(BATCH, FEW if step < FULL_FROM * steps else ALL)
        logits = net(x)
        loss = F.cross_entropy(logits, y, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        plan.step()
        seen += loss.item(), (logits.argmax(1) == y).float().mean().item()
        if (step + 1) % 200 == 0:
            print(f"{name} {step + 1} loss {seen[0] / 200:.3f} right {seen[1] / 200:.3f} {time.perf_counter() - start:.0f} s", flush=True)
            seen[:] = 0
            if report:
                net.eval()
                report(net, name)
                net.train()
    net.eval()
    if isinstance(net, models.Chiral):
        # The scale of the triple product: its median size over clouds as a test has them.
        x = torch.from_numpy(models.normalise(points[:, :ALL].astype(np.float32)))
        with torch.no_grad():
            net.scale.copy_(net.triple(net.features(x), x).abs().median())
    return net


def export(net, path):
    """ONNX with free numbers of clouds and points."""
    net = models.fold(net).eval()
    torch.onnx.export(net, torch.zeros(2, 1024, 3), str(path), opset_version=13, input_names=["points"], output_names=["logits"],
                      dynamic_axes={"points": {0: "N", 1: "P"}, "logits": {0: "N"}})
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    raw = path.read_bytes()
    print(path.name, len(raw), hashlib.sha256(raw).hexdigest(), sorted({n.op_type for n in model.graph.node}), flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("pool", type=Path)
    arguments.add_argument("names", nargs="*", help="networks; all when left out")
    arguments.add_argument("--steps", type=int, help="instead of those of models.py")
    arguments.add_argument("--out", type=Path, default=HERE / "models")
    arguments.add_argument("--hold", action="store_true",
                           help="leave every fifth training mesh out, print accuracy on those as training goes, and write nothing")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    with np.load(options.pool) as f:
        points, labels = f["points"], f["labels"].astype(np.int64)
    for name in options.names or models.MODELS:
        if not options.hold:
            options.out.mkdir(exist_ok=True)
            export(train(name, points, labels, options.steps), options.out / f"{name}.onnx")
            continue
        held = np.arange(len(labels)) % 5 == 2
        x, y = models.normalise(points[held, :ALL].astype(np.float32)), labels[held]
        turns = models.haar(len(x), np.random.default_rng(SEED)).astype(np.float32)
        both = [torch.from_numpy(np.ascontiguousarray(c)) for c in (x, np.einsum("nij,npj->npi", turns, x))]

        def report(net, name):
            with torch.no_grad():
                print(f"{name} held out: upright {(net(both[0]).argmax(1).numpy() == y).mean():.3f}, "
                      f"rotated {(net(both[1]).argmax(1).numpy() == y).mean():.3f}", flush=True)

        train(name, points[~held], labels[~held], options.steps, report)


if __name__ == "__main__":
    main()
