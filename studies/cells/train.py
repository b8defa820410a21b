"""Trains the cell detectors and writes models/cells-LEVEL.onnx.

    git clone https://github.com/Shenggan/BCCD_Dataset
    python3 train.py BCCD_Dataset/BCCD

The argument is the folder that holds JPEGImages, Annotations and ImageSets. The 205 photos of `train` are read; evaluate.py
reads the test photos, and those of `val` are left for choices. Two processes of one thread each, about three minutes a pair. Debian
12's python3-torch 1.13.1 and python3-onnx 1.12.0 were used; other versions and processors round differently.
"""

import os

# Before torch is loaded. One thread a network: with two, the order of sums, and with it the last digits, differ between runs.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import models

SEED, STEPS, BATCH, RATE, DECAY = 20240611, 1500, 32, 3e-3, 1e-2
# How often a key object is a red cell, a white cell, a platelet.
SHARES = (0.6, 0.2, 0.2)
# Cells of the grid whose centre is this near, in pixels and on both axes, to the centre of an object answer for it; up to OUTER
# they are free to.
INNER, OUTER = 12, 18


class Windows:
    """An endless, seeded stream of windows with their targets."""

    def __init__(self, photos, level, seed):
        self.photos, self.reach = photos, round(level / 100 * models.SIZE / 2)
        self.random = np.random.default_rng(seed)
        # A training key need not fit into its window (most white cells do not), but must not be a speck.
        found = [[(p, k) for p, photo in enumerate(photos) for k in range(len(photo.labels))
                  if photo.labels[k] == c and photo.areas()[k] >= 0.01 * models.SIZE ** 2] for c in range(3)]
        self.keys = found
        self.pixels = [np.ascontiguousarray(p.pixels.transpose(2, 0, 1) / 255).astype(np.float32) for p in photos]
        y, x = np.mgrid[: models.GRID, : models.GRID]
        self.at = (np.stack([x, y], -1).reshape(-1, 2) + 0.5) * models.STRIDE

    def draw(self):
        """One window: pixels, edges and labels of its positive objects."""
        r, n = self.random, models.SIZE
        while True:
            own = self.keys[r.choice(3, p=SHARES)]
            p, k = own[r.integers(len(own))]
            photo = self.photos[p]
            x, y = models.corner(photo.centres[k]) - r.integers(-self.reach, self.reach + 1, 2)
            h, w, _ = photo.pixels.shape
            if 0 <= x <= w - n and 0 <= y <= h - n:
                break
        pixels = self.pixels[p][:, y : y + n, x : x + n]
        boxes = photo.boxes - [x, y, x, y]
        # Every object as near to the window's centre as the key may be drawn would make the same window with the same chance.
        # All of them are positives; objects farther out are background like any other.
        centres = photo.centres - [x, y]
        mine = (np.abs(centres - n / 2) <= self.reach + 0.5).all(1)
        boxes, labels, centres = boxes[mine], photo.labels[mine], centres[mine]
        boxes = np.clip(boxes, 0, n)
        if r.random() < 0.5:
            pixels, boxes, centres = pixels[:, :, ::-1], (boxes * [-1, 1, -1, 1] + [n, 0, n, 0])[:, [2, 1, 0, 3]], centres * [-1, 1] + [n, 0]
        if r.random() < 0.5:
            pixels, boxes, centres = pixels[:, ::-1], (boxes * [1, -1, 1, -1] + [0, n, 0, n])[:, [0, 3, 2, 1]], centres * [1, -1] + [0, n]
        if r.random() < 0.5:
            pixels, boxes, centres = pixels.transpose(0, 2, 1), boxes[:, [1, 0, 3, 2]], centres[:, ::-1]
        gain = r.uniform(0.9, 1.1, (3, 1, 1)) * r.uniform(0.9, 1.1)
        return (pixels * gain + r.uniform(-0.05, 0.05)).astype(np.float32), boxes, labels, centres

    def batch(self, size):
        cells = models.GRID ** 2
        images = np.empty((size, 3, models.SIZE, models.SIZE), np.float32)
        score = np.zeros((size, cells, 3), np.float32)
        weight = np.ones((size, cells, 3), np.float32)
        boxes = np.zeros((size, cells, 4), np.float32)
        for i in range(size):
            images[i], b, labels, centres = self.draw()
            far = np.abs(self.at[:, None] - centres[None]).max(-1)  # (cells, objects)
            nearest = np.where(far <= INNER, far, np.inf).argmin(1)
            hit = far.min(1) <= INNER
            for o, c in enumerate(labels):
                weight[i, far[:, o] <= OUTER, c] = 0
            own = np.flatnonzero(hit)
            score[i, own, labels[nearest[own]]] = 1
            weight[i, own] = 1
            boxes[i, own] = b[nearest[own]]
        return tuple(map(torch.from_numpy, (images, score, weight, boxes)))


def box_loss(a, b):
    """1 - GIoU and a smaller share of the distance between edges, for edges (n, 4)."""
    i = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
    u = (a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - i
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(1)
    return (1 - i / u + (hull - u) / hull + (a - b).abs().mean(1) / models.UNIT).mean()


def train(level, photos, steps, seed=SEED):
    """One network, from scratch. All levels start from the same weights."""
    torch.manual_seed(seed)
    net = models.Net()
    torch.nn.init.constant_(net.answer.bias[4:], -3)
    stream = Windows(photos, level, seed + 1)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, RATE, total_steps=steps, pct_start=0.15)
    start, seen = time.perf_counter(), np.zeros(2)
    net.train()
    for step in range(steps):
        x, score, weight, boxes = stream.batch(BATCH)
        b, logits = net(x)
        own = score.sum(-1) > 0
        s = (F.binary_cross_entropy_with_logits(logits, score, reduction="none") * weight).sum() / own.sum()
        g = box_loss(torch.cat([b[own][:, :2] - b[own][:, 2:] / 2, b[own][:, :2] + b[own][:, 2:] / 2], 1), boxes[own])
        opt.zero_grad()
        (s + g).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 10)
        opt.step()
        plan.step()
        seen += s.item(), g.item()
        if (step + 1) % 250 == 0:
            print(f"{level} % step {step + 1}/{steps} score {seen[0] / 250:.4f} box {seen[1] / 250:.4f} {time.perf_counter() - start:.0f} s", flush=True)
            seen[:] = 0
    return models.fold(net.eval())


def make(level, folder, split, steps, out):
    """Trains and exports one network; what to print about it."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    path = out / f"cells-{level}.onnx"
    models.export(train(level, models.read(folder, split), steps), path)
    b = path.read_bytes()
    return f"{hashlib.sha256(b).hexdigest()}  {path.name}  {len(b)} bytes"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path, help="the folder with JPEGImages, Annotations and ImageSets")
    p.add_argument("--levels", nargs="+", type=int, choices=models.LEVELS, default=models.LEVELS, help="default: all")
    p.add_argument("--split", default="train", help="photos to train on (default: train)")
    p.add_argument("--steps", type=int, default=STEPS, help=f"default: {STEPS}")
    p.add_argument("--jobs", type=int, default=2, help="networks trained at once; changes no number (default: 2)")
    p.add_argument("-o", type=Path, default=Path(__file__).resolve().parent / "models", metavar="DIR", help="where to write")
    a = p.parse_args()
    a.o.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(a.jobs) as pool:
        for line in pool.starmap(make, [(n, a.folder, a.split, a.steps, a.o) for n in a.levels], chunksize=1):
            print(line)


if __name__ == "__main__":
    main()
