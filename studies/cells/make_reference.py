"""Writes testdata: pieces of test photos around five key objects and what two detectors answer there.

    python3 make_reference.py data

Each testdata/key-N.png is 256 x 256 around a key object of the shrunk photo, rounded to whole grey levels, so that readers whose
JPEG decoders differ start from the same numbers. testdata/reference.json says for each of them, and for nine shifts t, what the
window of 128 x 128 with its top-left corner at (64, 64) - t of the piece is answered with: the most confident candidate's edges
(x1, y1, x2, y2), in pixels of the window and not clipped, its score, its label and its index.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before torch is loaded

import argparse
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import evaluate
import models

LEVELS = (0, 100)
SHIFTS = ((0, 0), (16, 0), (0, -16), (3, 5), (-24, 12), (40, -40), (-64, -64), (60, 60), (-48, 0))
SIDE = 256


@torch.no_grad()
def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path, help="the folder with JPEGImages, Annotations and ImageSets")
    here = Path(__file__).resolve().parent
    p.add_argument("--models", type=Path, default=here / "models", metavar="DIR", help="where the ONNX files are")
    p.add_argument("-o", type=Path, default=here / "testdata", metavar="DIR", help="where to write")
    a = p.parse_args()
    torch.set_num_threads(1)
    photos = models.read(a.folder, "test")
    found = models.keys(photos)
    # The first key of each class, and two red cells of other photos.
    of = [[(q, k) for q, k in found if photos[q].labels[k] == c] for c in range(3)]
    chosen = [of[0][0], of[1][0], of[2][0], of[0][len(of[0]) // 2], of[0][-1]]
    a.o.mkdir(parents=True, exist_ok=True)
    nets, files = {}, {}
    for n in LEVELS:
        path = a.models / f"cells-{n}.onnx"
        nets[n], files[path.name] = models.load(path), hashlib.sha256(path.read_bytes()).hexdigest()
    out = []
    for i, (q, k) in enumerate(chosen):
        photo = photos[q]
        x, y = models.corner(photo.centres[k]) + models.SIZE // 2 - SIDE // 2
        piece = np.rint(photo.pixels[y : y + SIDE, x : x + SIDE]).astype(np.uint8)
        Image.fromarray(piece).save(a.o / f"key-{i}.png", optimize=True)
        scaled = torch.from_numpy((piece / 255).astype(np.float32).transpose(2, 0, 1).copy())
        entry = {"png": f"key-{i}.png", "photo": photo.name, "object": photo.index[k], "label": int(photo.labels[k]), "corner": [int(x), int(y)],
                 "key": [round(float(v), 4) for v in photo.boxes[k] - [x, y, x, y]], "answers": {}}
        at = models.SIZE // 2
        windows = torch.stack([scaled[:, at - dy :, at - dx :][:, : models.SIZE, : models.SIZE] for dx, dy in SHIFTS])
        for n, net in nets.items():
            boxes, scores = (v.numpy().astype(np.float64) for v in net(windows))
            edge, conf, label = evaluate.top(models.edges(boxes), scores)
            cell = scores.max(-1).argmax(-1)
            entry["answers"][str(n)] = [
                {"shift": list(t), "box": [round(float(v), 4) for v in e], "score": round(float(c), 6), "label": int(m), "index": int(j)}
                for t, e, c, m, j in zip(SHIFTS, edge, conf, label, cell)]
        out.append(entry)
    text = json.dumps({"models": files, "classes": list(models.CLASSES), "keys": out}, indent=1)
    (a.o / "reference.json").write_text(re.sub(r"\[[^\[\]{}]+\]", lambda m: re.sub(r"\s+", " ", m[0]), text) + "\n")


if __name__ == "__main__":
    main()
