"""Average precisions by pycocotools, for comparison with this package.

    python coco.py make > coco.json   the committed cases, from a fixed seed (numpy and pycocotools)
    python coco.py score < cases      the same numbers for cases given as JSON: what the live test asks for

A case is {"classes": n, "images": [{"truth": [[x1, y1, x2, y2, label]], "pred": [[x1, y1, x2, y2, score, label]]}]}; its numbers
are those of COCOeval.stats, -1 where there is no object.
"""

import contextlib
import json
import os
import sys

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def score(case):
    truth = {
        "info": {},
        "images": [{"id": i + 1, "width": 128, "height": 128} for i in range(len(case["images"]))],
        "categories": [{"id": c, "name": str(c)} for c in range(case["classes"])],
        "annotations": [],
    }
    pred = []
    for i, image in enumerate(case["images"]):
        for x1, y1, x2, y2, label in image["truth"]:
            truth["annotations"].append({
                "id": len(truth["annotations"]) + 1, "image_id": i + 1, "category_id": label, "iscrowd": 0,
                "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1),
            })
        for x1, y1, x2, y2, s, label in image["pred"]:
            pred.append({"image_id": i + 1, "category_id": label, "bbox": [x1, y1, x2 - x1, y2 - y1], "score": s})
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        gt = COCO()
        gt.dataset = truth
        gt.createIndex()
        dt = gt.loadRes(pred) if pred else COCO()
        if not pred:
            dt.dataset = {"images": truth["images"], "categories": truth["categories"], "annotations": []}
            dt.createIndex()
        e = COCOeval(gt, dt, "bbox")
        e.evaluate()
        e.accumulate()
        e.summarize()
    return {"coco_ap": e.stats[0], "coco_ap50": e.stats[1], "coco_ap75": e.stats[2], "coco_ar100": e.stats[8]}


def draw(r, images, classes, grid, ties, most):
    """A case: coordinates on a grid, so that boxes repeat and IoUs tie; scores from a short list, where ties are wanted."""
    case = {"classes": classes, "images": []}
    for _ in range(images):
        image = {"truth": [], "pred": []}
        for _ in range(int(r.integers(0, 7))):
            x, y = (float(v) * grid for v in r.integers(0, int(96 / grid), 2))
            w, h = (float(v) * grid for v in r.integers(1, int(32 / grid) + 1, 2))
            label = int(r.integers(0, classes))
            image["truth"].append([x, y, x + w, y + h, label])
            for _ in range(int(r.integers(0, 4))):
                dx, dy, dw, dh = (float(v) * grid for v in r.integers(-2, 3, 4))
                wrong = r.random() < 0.15
                image["pred"].append([x + dx, y + dy, x + dx + max(w + dw, grid), y + dy + max(h + dh, grid), 0.0, int(r.integers(0, classes)) if wrong else label])
        for _ in range(int(r.integers(most // 2, most))):
            x, y = (float(v) * grid for v in r.integers(0, int(96 / grid), 2))
            w, h = (float(v) * grid for v in r.integers(1, int(32 / grid) + 1, 2))
            image["pred"].append([x, y, x + w, y + h, 0.0, int(r.integers(0, classes))])
        for p in image["pred"]:
            # Scores that float32 holds, as they are stored.
            p[4] = float(r.integers(1, 5)) / 4 if ties else float(np.float32(r.random()))
        r.shuffle(image["pred"])
        image["pred"] = [p[:5] + [int(p[5])] for p in image["pred"]]
        case["images"].append(image)
    return case


def make():
    r = np.random.default_rng(20230713)
    cases = []
    for images, classes, grid, ties, most in [
        (4, 1, 1.0, False, 3), (6, 1, 1.0, False, 4), (12, 3, 1.0, False, 6), (12, 3, 2.0, True, 6), (20, 5, 0.25, False, 8), (20, 2, 4.0, True, 8), (3, 1, 1.0, False, 400), (3, 4, 2.0, True, 3),
    ]:
        cases.append(draw(r, images, classes, grid, ties, most))
    some = cases[2]["images"]
    cases.append({"classes": 3, "images": [{"truth": [], "pred": []} for _ in range(3)]})  # nothing at all
    cases.append({"classes": 3, "images": [{"truth": i["truth"], "pred": []} for i in some]})  # nothing found
    cases.append({"classes": 3, "images": [{"truth": [], "pred": i["pred"]} for i in some]})  # nothing to find
    cases.append({"classes": 3, "images": [{"truth": i["truth"], "pred": [t[:4] + [0.5, t[4]] for t in i["truth"]]} for i in some]})  # all right, all tied
    # One object and two boxes at exactly 0.5 and 0.75 of it: a threshold is met by being equal to it.
    cases.append({"classes": 1, "images": [{"truth": [[0, 0, 16, 16, 0]], "pred": [[0, 0, 16, 8, 0.5, 0], [0, 0, 12, 16, 0.25, 0]]}]})
    for c in cases:
        c["want"] = score(c)
    return cases


if __name__ == "__main__":
    if sys.argv[1:] == ["make"]:
        # One image a line, so that a change can be read.
        text = ",\n".join(
            '{"classes": %d, "want": %s, "images": [\n%s\n]}' % (c["classes"], json.dumps(c["want"]), ",\n".join(json.dumps(i) for i in c["images"])) for c in make()
        )
        print("[\n%s\n]" % text)
    elif sys.argv[1:] == ["score"]:
        print(json.dumps([score(c) for c in json.load(sys.stdin)]))
    else:
        sys.exit(__doc__)
