"""Trains the detector that keeps every whole shift by construction, and writes models/cells-exact.onnx.

    git clone https://github.com/Shenggan/BCCD_Dataset
    python3 dense.py BCCD_Dataset/BCCD
    python3 dense.py --evaluate BCCD_Dataset/BCCD    # prints the row of its card

One network looks at every place of the window alike: convolutions of stride 1 without padding, nothing that knows where it is. What it
says of a pixel depends on the pixels up to REACH from it, and it is silent about places whose surroundings leave the window. A maximum
over the places up to ALONE away takes the place of a suppression by overlap, which would look farther. No box is smaller than what its
score was read from, less the 2 pixels by which the measures keep away from the edge: so a box that is whole in two windows was read
from pixels that both have, and is the same in both.
"""

import os

# Before torch is loaded. One thread: with two, the order of sums, and with it the last digits, differ between runs.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import models

SEED, STEPS, BATCH, RATE = 20240611, 1500, 8, 4e-3
# (input channels, output channels, kernel, dilation)
LAYERS = ((3, 8, 5, 1), (8, 8, 3, 2), (8, 12, 3, 4), (12, 12, 3, 6), (12, 16, 3, 8), (16, 16, 3, 8))
REACH = sum(k // 2 * d for _, _, k, d in LAYERS)
ALONE = 3
# A score is read from 2 (REACH + ALONE) + 1 pixels; boxes count that keep 2 px from the edge.
LEAST, UNIT = 2.0 * (REACH + ALONE) + 1 - 4, 16.0
# Red and white cells; platelets are smaller than LEAST.
CLASSES = 2
# Places this near to the centre of a cell answer for it, on both axes; up to OUTER they are free to.
INNER, OUTER = 5, 10
SIDE = models.SIZE - 2 * (REACH + ALONE)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for into, out, k, d in LAYERS:
            layers += [nn.Conv2d(into, out, k, dilation=d), nn.ReLU()]
            nn.init.kaiming_normal_(layers[-2].weight, nonlinearity="relu")
            nn.init.zeros_(layers[-2].bias)
        self.body = nn.Sequential(*layers)
        self.answer = nn.Conv2d(LAYERS[-1][1], CLASSES + 2, 1)
        nn.init.constant_(self.answer.bias[:CLASSES], -3)
        y, x = np.mgrid[:SIDE, :SIDE]
        centre = np.stack([x, y], -1).reshape(1, -1, 2) + (REACH + ALONE + 0.5)
        self.register_buffer("centre", torch.tensor(centre, dtype=torch.float32))

    def raw(self, x):
        """Logits (N, 2, h, w) and sizes in pixels (N, 2, h, w), of every place that is REACH from the edge."""
        x = self.answer(self.body((x - 0.7) / 0.2))
        return x[:, :CLASSES], LEAST + UNIT * F.softplus(x[:, CLASSES:])

    def forward(self, x):
        """Boxes (N, SIDE², 4) and scores (N, SIDE², 3): a place that is not the best of its surroundings has the score 0."""
        logits, size = self.raw(x)
        n, inner = x.shape[0], slice(ALONE, -ALONE)
        best = F.max_pool2d(logits.amax(1, keepdim=True), 2 * ALONE + 1, 1)
        own = logits[:, :, inner, inner]
        score = own.sigmoid() * (own >= best).float()
        score = torch.cat([score, torch.zeros_like(score[:, :1])], 1).reshape(n, 3, SIDE * SIDE).transpose(1, 2)
        size = size[:, :, inner, inner].reshape(n, 2, SIDE * SIDE).transpose(1, 2)
        return torch.cat([self.centre.expand(n, SIDE * SIDE, 2), size], -1), score


def windows(photos, random, count):
    """count windows of photos and what is wanted of each place: pixels, scores, weights, sizes."""
    side = models.SIZE - 2 * REACH
    at = np.arange(side) + REACH + 0.5
    images = np.empty((count, 3, models.SIZE, models.SIZE), np.float32)
    score = np.zeros((count, CLASSES, side, side), np.float32)
    weight, size = np.ones_like(score), np.zeros((count, 2, side, side), np.float32)
    for i in range(count):
        photo = photos[random.integers(len(photos))]
        h, w, _ = photo.pixels.shape
        x, y = random.integers(w - models.SIZE + 1), random.integers(h - models.SIZE + 1)
        pixels = photo.pixels[y : y + models.SIZE, x : x + models.SIZE] / 255
        centres, sizes = photo.centres - [x, y], photo.boxes[:, 2:] - photo.boxes[:, :2]
        if random.random() < 0.5:
            pixels, centres = pixels[:, ::-1], [models.SIZE, 0] + centres * [-1, 1]
        if random.random() < 0.5:
            pixels, centres = pixels[::-1], [0, models.SIZE] + centres * [1, -1]
        if random.random() < 0.5:
            pixels, centres, sizes = pixels.transpose(1, 0, 2), centres[:, ::-1], sizes[:, ::-1]
        for c, s, label in zip(centres, sizes, photo.labels):
            dx, dy = np.abs(at - c[0]), np.abs(at - c[1])
            weight[i][:, (dy[:, None] <= OUTER) & (dx <= OUTER)] = 0
        for c, s, label in zip(centres, sizes, photo.labels):
            if label < CLASSES:
                own = (np.abs(at - c[1])[:, None] <= INNER) & (np.abs(at - c[0]) <= INNER)
                score[i, label, own], size[i, 0, own], size[i, 1, own] = 1, s[0], s[1]
                weight[i][:, own] = 1
        gain = random.uniform(0.9, 1.1, 3) * random.uniform(0.9, 1.1)
        images[i] = (pixels * gain + random.uniform(-0.05, 0.05)).transpose(2, 0, 1)
    return tuple(map(torch.from_numpy, (images, score, weight, size)))


def train(photos, steps):
    torch.manual_seed(SEED)
    net, random = Net(), np.random.default_rng(SEED + 1)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=1e-2)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, RATE, total_steps=steps, pct_start=0.15)
    start, seen = time.perf_counter(), np.zeros(2)
    for step in range(steps):
        x, score, weight, size = windows(photos, random, BATCH)
        logits, got = net.raw(x)
        own = score.amax(1, keepdim=True)
        s = (F.binary_cross_entropy_with_logits(logits, score, reduction="none") * weight).sum() / own.sum().clamp(min=1)
        g = (((got.log() - size.clamp(min=LEAST).log()).abs()) * own).sum() / own.sum().clamp(min=1)
        opt.zero_grad()
        (s + g).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 10)
        opt.step()
        plan.step()
        seen += s.item(), g.item()
        if (step + 1) % 100 == 0:
            print(f"step {step + 1}/{steps} score {seen[0] / 100:.4f} size {seen[1] / 100:.4f} {time.perf_counter() - start:.0f} s", flush=True)
            seen[:] = 0
    return net.eval()


def export(net, path):
    """Writes an ONNX file of opset 13."""
    import onnx

    names = ("image", "boxes", "scores")
    torch.onnx.export(net, torch.zeros(2, 3, models.SIZE, models.SIZE), str(path), opset_version=13, input_names=names[:1],
                      output_names=names[1:], dynamic_axes={k: {0: "batch"} for k in names})
    m = onnx.load(str(path))
    for o, n in zip(m.graph.output, (4, 3)):
        for d, v in zip(o.type.tensor_type.shape.dim[1:], (SIDE * SIDE, n)):
            d.dim_value = v
    onnx.checker.check_model(m)
    onnx.save(m, str(path))


def load(path):
    import onnx
    from onnx import numpy_helper

    net = Net()
    state = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in onnx.load(str(path)).graph.initializer}
    net.load_state_dict({k: state.get(k, v) for k, v in net.state_dict().items()})
    return net.eval()


@torch.no_grad()
def evaluate(net, photos):
    """Over the windows of a grid in steps of 64 px: which of the red and white cells that are whole are found, how well, and how many
    boxes are of none. A cell is found by a box of its class with a score of 0.5 and an IoU of 0.5 or more."""
    wanted, found, overlap, boxes_in_all, right = np.zeros(2), np.zeros(2), [], 0, 0
    for photo in photos:
        h, w, _ = photo.pixels.shape
        for y in range(0, h - models.SIZE + 1, 64):
            for x in range(0, w - models.SIZE + 1, 64):
                pixels = photo.pixels[y : y + models.SIZE, x : x + models.SIZE].transpose(2, 0, 1) / 255
                boxes, scores = (v[0].numpy() for v in net(torch.tensor(pixels[None], dtype=torch.float32)))
                keep = scores.max(1) >= 0.5
                boxes, labels = models.edges(boxes[keep]), scores[keep].argmax(1)
                # What the window's edge cuts is neither wanted nor held against the model.
                inside = lambda b: ((b[:, :2] >= 2) & (b[:, 2:] <= models.SIZE - 2)).all(1)  # noqa: E731
                truth = photo.boxes - [x, y, x, y]
                whole = inside(truth) & (photo.labels < CLASSES)
                near = models.iou(truth[:, None], boxes[None]) if len(boxes) else np.zeros((len(truth), 0))
                same = near * (photo.labels[:, None] == labels[None])
                for k in np.flatnonzero(whole):
                    wanted[photo.labels[k]] += 1
                    if len(boxes) and same[k].max() >= 0.5:
                        found[photo.labels[k]] += 1
                        overlap.append(same[k].max())
                mine = inside(boxes)
                boxes_in_all += mine.sum()
                right += (same.max(0)[mine] >= 0.5).sum() if len(truth) else 0
    print(f"| exact | {int(wanted[0])} | {100 * found[0] / wanted[0]:.1f} | {int(wanted[1])} | {100 * found[1] / max(wanted[1], 1):.1f} | "
          f"{np.mean(overlap):.3f} | {100 * right / boxes_in_all:.1f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path, help="the folder with JPEGImages, Annotations and ImageSets")
    p.add_argument("--evaluate", action="store_true", help="measure the file on the photos of `test` instead of making it")
    p.add_argument("--steps", type=int, default=STEPS, help=f"default: {STEPS}")
    p.add_argument("-o", type=Path, default=Path(__file__).resolve().parent / "models", metavar="DIR", help="where to write")
    a = p.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    path = a.o / "cells-exact.onnx"
    if a.evaluate:
        evaluate(load(path), models.read(a.folder, "test"))
        return
    export(train(models.read(a.folder, "train"), a.steps), path)
    b = path.read_bytes()
    print(f"{hashlib.sha256(b).hexdigest()}  {path.name}  {len(b)} bytes")


if __name__ == "__main__":
    main()
