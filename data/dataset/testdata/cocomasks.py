"""Masks by pycocotools of polygons and run lengths, for comparison with this package.

    python cocomasks.py make > cocomasks.json   the committed cases, from a fixed seed (numpy and pycocotools)
    python cocomasks.py draw < cases            the same pixels for cases given as JSON: what the live test asks for

A case is {"h", "w", "segmentation"} as COCO has it; "want" are the run lengths down the columns of what pycocotools draws, beginning with those
outside, and "packed" the same as pycocotools writes it as text.
"""

import json
import sys

import numpy as np
from pycocotools import mask


def runs(m):
    """Run lengths of a mask down its columns, beginning with zeros."""
    flat = m.flatten(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff(np.concatenate([[0], ends, [flat.size]])).tolist()
    return counts if not flat[0] else [0, *counts]


def draw(case):
    """As COCO.annToMask does."""
    s, h, w = case["segmentation"], case["h"], case["w"]
    if isinstance(s, list):
        r = mask.merge(mask.frPyObjects(s, h, w))
    elif isinstance(s["counts"], list):
        r = mask.frPyObjects(s, h, w)
    else:
        r = s
    m = mask.decode(r)
    packed = mask.encode(np.asfortranarray(m))["counts"].decode()
    return {**case, "want": runs(m), "packed": packed}


def make():
    r = np.random.default_rng(20170901)
    cases = []
    for k in range(60):
        h, w = (int(v) for v in r.integers(3, 48, 2))
        if k == 0:
            h, w = 1, 1
        parts = []
        for _ in range(int(r.integers(1, 4))):
            n = int(r.integers(3, 14))
            if k % 3 == 0:  # any corners: crosses itself, leaves the photo
                xy = r.uniform(-0.4, 1.4, (n, 2)) * [w, h]
            elif k % 3 == 1:  # a star about a place
                a = np.sort(r.uniform(0, 2 * np.pi, n))
                d = r.uniform(0.1, 0.6, n)
                xy = np.stack([w * (0.5 + d * np.cos(a)), h * (0.5 + d * np.sin(a))], 1)
            else:  # whole and half numbers, corners twice, edges along rows and columns
                xy = r.integers(0, [2 * w + 1, 2 * h + 1], (n, 2)) / 2
                xy[1] = xy[0]
                xy[2, 0] = xy[1, 0]
            parts.append(np.round(xy, 2).flatten().tolist())
        cases.append({"h": h, "w": w, "segmentation": parts})
    for k in range(20):
        h, w = (int(v) for v in r.integers(1, 40, 2))
        m = (r.random((h, w)) < [0, 0.02, 0.5, 0.98, 1][k % 5]).astype(np.uint8)
        if k % 2:
            m[: h // 2, : w // 3 + 1] = 1
        counts = runs(m)
        if k >= 10:
            counts = mask.encode(np.asfortranarray(m))["counts"].decode()
        cases.append({"h": h, "w": w, "segmentation": {"size": [h, w], "counts": counts}})
    # Long runs, whose text has several letters, and one with gaps of nothing between.
    for counts in [[0, 300000, 100000], [123456, 7, 65536, 1, 211000], [5, 0, 0, 3, 399992]]:
        cases.append({"h": 500, "w": 800, "segmentation": {"size": [500, 800], "counts": counts}})
    return [draw(c) for c in cases]


if sys.argv[1:] == ["make"]:
    print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in make()) + "\n]")
elif sys.argv[1:] == ["draw"]:
    json.dump([draw(c) for c in json.load(sys.stdin)], sys.stdout)
else:
    sys.exit(__doc__)
