"""Reference values for boxes_test.go, by torchvision 0.14.1 (Debian's python3-torchvision): box_convert, batched_nms and the
box coder of its detectors. Writes reference.json beside itself.

    python3 model/decode/testdata/reference.py
"""

import json
import pathlib

import torch
from torchvision.models.detection._utils import BoxCoder
from torchvision.ops import batched_nms, box_convert

g = torch.Generator().manual_seed(5)


def uniform(*shape, lo=0.0, hi=1.0):
    return (torch.rand(*shape, generator=g, dtype=torch.float64) * (hi - lo) + lo).round(decimals=3)


def some_boxes(n, side):
    """n boxes in clusters, so that many overlap, as x1, y1, x2, y2."""
    centers = uniform(max(n // 6, 1), 4, lo=0.1 * side, hi=0.6 * side)
    at = centers[torch.randint(len(centers), (n,), generator=g)] + uniform(n, 4, lo=-0.08 * side, hi=0.08 * side)
    return torch.stack([at[:, 0], at[:, 1], at[:, 0] + at[:, 2].abs() + 1, at[:, 1] + at[:, 3].abs() + 1], 1).round(decimals=3)


cases = []
for n, classes, overlap in [(1, 1, 0.5), (7, 1, 0.3), (40, 3, 0.5), (40, 1, 0.7), (60, 2, 0.45), (60, 4, 0.1)]:
    xyxy = some_boxes(n, 100)
    scores = (torch.randperm(900, generator=g)[:n] + 61).double() / 1000  # no two alike: the order of equal ones is not torchvision's to say
    labels = torch.randint(classes, (n,), generator=g)
    cases.append({
        "overlap": overlap,
        "xyxy": xyxy.tolist(),
        "cxcywh": box_convert(xyxy, "xyxy", "cxcywh").tolist(),
        "xywh": box_convert(xyxy, "xyxy", "xywh").tolist(),
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "keep": batched_nms(xyxy, scores, labels, overlap).tolist(),
    })

# A detector with two strides on a picture 64 pixels wide and 32 high: torchvision's anchors have corners, ours a centre and a size.
sizes = [[[10.0, 20.0], [24.0, 12.0]], [[40.0, 40.0]]]
anchors = []
for stride, of in zip((8, 16), sizes):
    for r in range(32 // stride):
        for c in range(64 // stride):
            for w, h in of:
                x, y = (c + 0.5) * stride, (r + 0.5) * stride
                anchors.append([x - w / 2, y - h / 2, x + w / 2, y + h / 2])
raw = uniform(len(anchors), 4, lo=-2, hi=2)
decoded = BoxCoder((10.0, 10.0, 5.0, 5.0)).decode_single(raw, torch.tensor(anchors, dtype=torch.float64))
coder = {"sizes": sizes, "raw": raw.tolist(), "xyxy": decoded.tolist()}

path = pathlib.Path(__file__).with_name("reference.json")
path.write_text(json.dumps({"nms": cases, "coder": coder}) + "\n")
