"""Measures the cell detectors on the test photos and writes evaluation.json.

    python3 evaluate.py data

The argument is a folder with JPEGImages, Annotations and ImageSets. Every key object is moved to 33 x 33 places, -64 to 64 pixels
in steps of 4, by cutting the window elsewhere: top-left corner = rounded centre - 64 - t. The value at a place is that of the most
confident box: its confidence times its intersection over union with the key box, both clipped to the window, whatever its label; `strict` counts a
wrong label as 0. MODEL_CARDS.md has these numbers in tables. Two processes of one thread each, about two minutes.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before torch is loaded

import argparse
import hashlib
import json
import multiprocessing
import re
import time
from pathlib import Path

import numpy as np
import torch

import models

SHIFTS = np.arange(-64, 65, 4)
MIDDLE = len(SHIFTS) // 2


def sweep(f, pixels, corner, shifts=SHIFTS):
    """The answers over the grid of shifts: boxes (rows, columns, 64, 4) as edges and scores (rows, columns, 64, 3). Rows are dy."""
    n = models.SIZE
    x = torch.from_numpy((pixels / 255).astype(np.float32).transpose(2, 0, 1).copy())
    boxes, scores = [], []
    for dy in shifts:
        b, s = f(torch.stack([x[:, corner[1] - dy :, corner[0] - dx :][:, :n, :n] for dx in shifts]))
        boxes.append(models.edges(b.numpy().astype(np.float64)))
        scores.append(s.numpy().astype(np.float64))
    return np.stack(boxes), np.stack(scores)


def top(boxes, scores):
    """The most confident box of each place: edges, confidence, label."""
    flat = scores.reshape(*scores.shape[:-2], -1)
    best = flat.argmax(-1)
    cell, label = best // scores.shape[-1], best % scores.shape[-1]
    box = np.take_along_axis(boxes, cell[..., None, None], -2)[..., 0, :]
    return box, np.take_along_axis(flat, best[..., None], -1)[..., 0], label


def width(curve, at=SHIFTS):
    """Full width at half of the curve's maximum, by linear interpolation; cut off at the ends of the grid, which is then said."""
    half, peak = curve.max() / 2, int(curve.argmax())
    ends, cut = [], False
    for step in (-1, 1):
        i = peak
        while 0 <= i + step < len(curve) and curve[i + step] >= half:
            i += step
        if 0 <= i + step < len(curve):
            j = i + step
            ends.append(at[i] + (at[j] - at[i]) * (curve[i] - half) / (curve[i] - curve[j]))
        else:
            ends.append(at[i])
            cut = True
    return float(ends[1] - ends[0]), cut


def value(box, confidence, key):
    """Confidence times IoU with a key box that moves along, both clipped to the window, over the grid."""
    t = np.stack(np.meshgrid(SHIFTS, SHIFTS), -1)
    truth = np.clip(key + np.concatenate([t, t], -1), 0, models.SIZE)
    over = models.iou(np.clip(box, 0, models.SIZE), truth)
    return over * confidence, over


def bootstrap(maps, draws=2000, seed=1):
    """How sure the widths are: maps (models, keys, rows, columns), keys drawn again with replacement, the same for all models."""
    random, n = np.random.default_rng(seed), maps.shape[1]
    found = []
    for _ in range(draws):
        means = maps[:, random.integers(n, size=n)].mean(1)
        found.append([[width(m[MIDDLE])[0], width(m[:, MIDDLE])[0], (m >= m.max() / 2).mean()] for m in means])
    found = np.array(found)
    names = ("width_x", "width_y", "area_above_half")
    low, high = np.quantile(found, [0.05, 0.95], axis=0)
    grows = (np.diff(found, axis=1) > 0).mean(0)
    return {k: {"from": low[:, i].round(3).tolist(), "to": high[:, i].round(3).tolist(), "wider_than_level_before": grows[:, i].round(4).tolist()}
            for i, k in enumerate(names)}


@torch.no_grad()
def evaluate(path, a):
    torch.set_num_threads(1)
    photos = models.read(a.folder, a.split)
    found = models.keys(photos)
    f = models.load(path)
    t = np.stack(np.meshgrid(SHIFTS, SHIFTS), -1)
    maps, overs, right, confs, off, agree, near, shares, same = [], [], [], [], [], [], [], [], []
    start = time.perf_counter()
    for p, k in found:
        photo = photos[p]
        c = models.corner(photo.centres[k])
        box, conf, label = top(*sweep(f, photo.pixels, c))
        key = photo.boxes[k] - np.concatenate([c, c])
        v, over = value(box, conf, key)
        maps.append(v)
        overs.append(over)
        confs.append(conf)
        off.append(np.abs((box[..., :2] + box[..., 2:]) / 2 - models.SIZE / 2).max(-1))
        right.append(label == photo.labels[k])
        # Consensus: the most confident boxes pulled back; those that the window's edge cuts are left out, and so are misses.
        whole = ((box >= 1) & (box <= models.SIZE - 1)).all(-1) & (conf >= a.limit)
        back = (box - np.concatenate([t, t], -1))[whole]
        shares.append(whole.mean())
        if len(back):
            guess = np.median(back, 0)
            # Once more, of the same object only: those that overlap the first guess.
            with_guess = back[models.iou(back, guess[None]) > 0.5]
            same.append(len(with_guess) / whole.size)
            guess = np.median(with_guess, 0) if len(with_guess) else guess
            w, _ = value(box, conf, guess)
            near.append(float(models.iou(guess, key)))
            agree.append(float(np.corrcoef(v.ravel(), w.ravel())[0, 1]) if v.std() > 0 and w.std() > 0 else float("nan"))
        else:
            same.append(0.0)
            near.append(0.0)
            agree.append(float("nan"))
    seconds = time.perf_counter() - start
    m = np.mean(maps, 0)
    strict = np.mean(np.array(maps) * np.array(right), 0)  # a wrong label counts as 0
    sx, sy = width(strict[MIDDLE])[0], width(strict[:, MIDDLE])[0]
    edge = np.concatenate([m[0], m[-1], m[1:-1, 0], m[1:-1, -1]])
    fx, cx = width(m[MIDDLE])
    fy, cy = width(m[:, MIDDLE])
    b = path.read_bytes()
    r = lambda v, n=4: round(float(v), n)  # noqa: E731
    return {
        "file": path.name, "sha256": hashlib.sha256(b).hexdigest(), "bytes": len(b),
        "centre": {"confidence_iou": r(m[MIDDLE, MIDDLE]), "iou": r(np.mean(overs, 0)[MIDDLE, MIDDLE]),
                   "confidence": r(np.mean(confs, 0)[MIDDLE, MIDDLE]), "label_right": r(np.mean(right, 0)[MIDDLE, MIDDLE])},
        "mean": {"confidence_iou": r(m.mean()), "iou": r(np.mean(overs)), "confidence": r(np.mean(confs)), "label_right": r(np.mean(right))},
        "off_middle_median": r(np.median(off), 2),
        "strict": {"confidence_iou": r(strict[MIDDLE, MIDDLE]), "mean": r(strict.mean()), "width_x": r(sx, 2), "width_y": r(sy, 2)},
        "maximum": r(m.max()), "border_mean": r(edge.mean()),
        "ends_mean": r((m[MIDDLE, 0] + m[MIDDLE, -1] + m[0, MIDDLE] + m[-1, MIDDLE]) / 4),
        "width_x": r(fx, 2), "width_y": r(fy, 2), "width_cut": [bool(cx), bool(cy)],
        "area_above_half": r((m >= m.max() / 2).mean()),
        "consensus": {"share": r(np.mean(shares)), "same_object": r(np.median(same)), "iou_median": r(np.median(near)),
                      "iou_above_half": r(np.mean(np.array(near) > 0.5)), "correlation_median": r(np.nanmedian(agree)), "correlation_above_0.9": r(np.nanmean(np.array(agree) >= 0.9))},
        "row": [r(v) for v in m[MIDDLE]], "column": [r(v) for v in m[:, MIDDLE]],
    }, np.array(maps), seconds


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path, help="the folder with JPEGImages, Annotations and ImageSets")
    p.add_argument("--split", default="test")
    p.add_argument("--limit", type=float, default=0.1, help="boxes below this confidence are misses in the consensus (default: 0.1)")
    p.add_argument("--levels", nargs="+", type=int, choices=models.LEVELS, default=models.LEVELS, help="default: all")
    p.add_argument("--jobs", type=int, default=2, help="models measured at once (default: 2)")
    here = Path(__file__).resolve().parent
    p.add_argument("--models", type=Path, default=here / "models", metavar="DIR", help="where the ONNX files are")
    p.add_argument("-o", type=Path, default=here / "evaluation.json", metavar="FILE")
    a = p.parse_args()
    with multiprocessing.get_context("spawn").Pool(a.jobs) as pool:
        done = pool.starmap(evaluate, [(a.models / f"cells-{n}.onnx", a) for n in a.levels], chunksize=1)
    out = {"split": a.split, "keys": len(done[0][1]), "shifts": SHIFTS.tolist(), "models": {str(n): e for n, (e, _, _) in zip(a.levels, done)},
           "interval_90": bootstrap(np.stack([maps for _, maps, _ in done]))}
    print("level: value, IoU, confidence, right label at 0 | mean value, ends | widths x, y (strict) | places above half | "
          "consensus: share, same object, IoU, > 0.5, correlation, >= 0.9")
    for n, (m, _, s) in zip(a.levels, done):
        c, o = m["centre"], m["consensus"]
        print(f"{n:5d}  {c['confidence_iou']:.3f} {c['iou']:.3f} {c['confidence']:.3f} {c['label_right']:.3f} | {m['mean']['confidence_iou']:.3f} "
              f"{m['ends_mean']:.3f} | {m['width_x']:6.2f} {m['width_y']:6.2f} ({m['strict']['width_x']:6.2f} {m['strict']['width_y']:6.2f}) | "
              f"{m['area_above_half']:.3f} | {o['share']:.3f} {o['same_object']:.3f} {o['iou_median']:.3f} {o['iou_above_half']:.3f} {o['correlation_median']:.3f} {o['correlation_above_0.9']:.3f}  ({s:.0f} s)")
    for k, v in out["interval_90"].items():
        print(k, v)
    # One line per curve.
    a.o.write_text(re.sub(r"\[[^\[\]{}]+\]", lambda m: re.sub(r"\s+", " ", m[0]), json.dumps(out, indent=1)) + "\n")


if __name__ == "__main__":
    main()
