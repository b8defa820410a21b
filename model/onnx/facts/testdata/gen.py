"""Measures which quarter turns and mirrors small stacks of layers keep, as a reference for the prediction from structure.

Kernels are random but made symmetric under all of D4, so that what is lost is lost by the structure: sizes, strides, pads,
coordinates. Everything is computed in float64 by torch 1.13 (Debian 12's python3-torch).
usage: /usr/bin/python3 gen.py > symmetry.json
"""
import json, sys

import torch
import torch.nn.functional as F

torch.manual_seed(3)
names = ["identity", "turn 90", "turn 180", "turn 270", "mirror-x", "mirror-y", "transpose", "antitranspose"]
maps = [lambda x: x, lambda x: torch.rot90(x, 1, (2, 3)), lambda x: torch.rot90(x, 2, (2, 3)), lambda x: torch.rot90(x, 3, (2, 3)),
        lambda x: x.flip(3), lambda x: x.flip(2), lambda x: x.transpose(2, 3), lambda x: x.transpose(2, 3).flip(2).flip(3)]


def kernel(k):
    w = torch.randn(1, 1, *k, dtype=torch.float64)
    return sum(g(w) for g in maps if g(w).shape == w.shape)


def layer(op, w, x):
    if op["op"] == "Conv":
        t, l, b, r = op["pads"]
        return F.conv2d(F.pad(x, (l, r, t, b)), w, torch.ones(1, dtype=torch.float64), op["stride"], 0, op["dilation"])
    if op["op"] == "ConvTranspose":
        return F.conv_transpose2d(x, w, torch.ones(1, dtype=torch.float64), op["stride"], op["pads"][:2], op["extra"])
    if op["op"] == "MaxPool":
        return F.max_pool2d(x, op["kernel"], op["stride"], op["pads"][:2], ceil_mode=op["ceil"])
    if op["op"] == "AveragePool":
        return F.avg_pool2d(x, op["kernel"], op["stride"], op["pads"][:2], ceil_mode=op["ceil"], count_include_pad=False)
    if op["op"] == "Pad":
        t, l, b, r = op["pads"]
        return F.pad(x, (l, r, t, b), mode=op["mode"])
    if op["op"] == "Slice":
        return x[:, :, op["start"]::op["step"], op["start"]::op["step"]]
    if op["op"] == "Resize":
        mode, coord = op["mode"], op["coord"]
        if mode == "nearest":
            return F.interpolate(x, size=op["size"], mode="nearest")
        return F.interpolate(x, size=op["size"], mode={"linear": "bilinear", "cubic": "bicubic"}[mode], align_corners=coord == "align_corners")
    raise ValueError(op)


def measure(ops, size):
    """Shape of the output, the elements of D4 that it follows, and the least cyclic shift along both axes of a square that it
    follows (0 for none). All must hold for several kernels and inputs: one alone may do so by chance."""
    kept, rolls = set(names), set(range(1, size[0]))
    for _ in range(5):
        ws = [kernel(op["kernel"]) if "Conv" in op["op"] else None for op in ops]

        def f(x):
            for op, w in zip(ops, ws):
                x = layer(op, w, x)
                if op["op"] == "Conv":
                    x = x + 0.3 * torch.tanh(x)  # nonlinear and one-to-one
            return x

        x = torch.randn(1, 1, *size, dtype=torch.float64)
        y = f(x)
        for name, g in zip(names, maps):
            if not (g(x).shape == x.shape and g(y).shape == y.shape and float((f(g(x)) - g(y)).abs().max()) < 1e-9):
                kept.discard(name)
        for t in list(rolls):
            z = f(x.roll((t, t), (2, 3)))
            if not any(float((z - y.roll((r, r), (2, 3))).abs().max()) < 1e-9 for r in range(y.shape[2])):
                rolls.discard(t)
    return list(y.shape[2:]), [n for n in names if n in kept], min(rolls, default=0)


def conv(k, s=1, p=0, d=1):
    sq = lambda v: [v, v] if isinstance(v, int) else list(v)
    return {"op": "Conv", "kernel": sq(k), "stride": sq(s), "dilation": sq(d), "pads": [p] * 4 if isinstance(p, int) else list(p)}


def pool(op, k, s, p, ceil):
    return {"op": op, "kernel": [k, k], "stride": [s, s], "pads": [p] * 4, "ceil": ceil}


def resize(mode, coord, h, w):
    return {"op": "Resize", "mode": mode, "coord": coord, "size": [h, w]}


cases = []
for n in (7, 8, 9, 10):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            for p in (0, 1):
                cases.append(([conv(k, s, p)], (n, n)))
    for p in ((0, 0, 1, 1), (1, 1, 0, 0), (1, 1, 2, 2), (0, 1, 1, 0), (0, 0, 1, 0)):
        for k, s in ((2, 1), (3, 1), (3, 2), (4, 2)):
            cases.append(([conv(k, s, p)], (n, n)))
            if sum(p) and p[0] != p[1] or k == 4:
                continue
            cases.append(([{"op": "Pad", "mode": "constant", "pads": list(p)}, conv(k, s, 0)], (n, n)))
    cases.append(([conv(3, 2, 2, 2)], (n, n)))
    cases.append(([conv((1, 3), 1, (0, 1, 0, 1))], (n, n)))
    cases.append(([conv(3, (1, 2), 1)], (n, n)))
    cases.append(([conv(3, 2, 1)], (n, n + 1)))
    for op in ("MaxPool", "AveragePool"):
        for k, s in ((2, 2), (3, 2), (3, 3), (2, 1)):
            for p in (0, 1):
                for ceil in (False, True):
                    cases.append(([pool(op, k, s, p, ceil)], (n, n)))
    for k, s, p, e in ((2, 2, 0, 0), (3, 2, 1, 1), (3, 2, 1, 0), (4, 2, 1, 0), (3, 1, 1, 0), (3, 3, 0, 0), (3, 2, 0, 1)):
        cases.append(([{"op": "ConvTranspose", "kernel": [k, k], "stride": [s, s], "pads": [p] * 4, "extra": [e, e]}], (n, n)))
    for m in (2 * n, 3 * n, n + 3, n // 2, n - 1):
        for mode, coord in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel")):
            cases.append(([resize(mode, coord, m, m)], (n, n)))
    cases.append(([resize("linear", "half_pixel", 2 * n, 3 * n)], (n, n)))
    for start, step in ((0, 2), (1, 2), (1, 1)):
        cases.append(([{"op": "Slice", "start": start, "step": step}, conv(3, 1, 1)], (n, n)))
    cases.append(([{"op": "Pad", "mode": "reflect", "pads": [1, 1, 1, 1]}, conv(3, 2, 0)], (n, n)))
    cases.append(([{"op": "Pad", "mode": "constant", "pads": [1, 1, 2, 2]}, conv(4, 2, 0)], (n, n)))
    cases.append(([conv(3, 2, 1), conv(3, 2, 1)], (n, n)))
    around = lambda b, e: {"op": "Pad", "mode": "circular", "pads": [b, b, e, e]}
    for ops in ([around(1, 1), conv(3, 1, 0)], [around(1, 1), conv(3, 2, 0)], [around(0, 1), conv(2, 1, 0)], [around(1, 0), conv(3, 2, 0)],
                [around(2, 2), conv(3, 1, 0, 2)], [around(1, 1), conv(3, 1, 0), pool("AveragePool", 2, 2, 0, False)],
                [around(1, 1), conv(3, 2, 0), around(1, 1), conv(3, 1, 0), resize("nearest", "asymmetric", 2 * ((n + 1) // 2), 2 * ((n + 1) // 2))],
                [pool("MaxPool", 2, 2, 0, False), {"op": "ConvTranspose", "kernel": [2, 2], "stride": [2, 2], "pads": [0] * 4, "extra": [0, 0]}],
                [around(1, 1), conv(5, 1, 0)], [around(1, 1), conv(3, 1, 0), conv(3, 1, 1)]):
        cases.append((ops, (n, n)))
    cases.append(([conv(3, 1, 1), pool("MaxPool", 2, 2, 0, False), conv(3, 1, 1), resize("nearest", "asymmetric", 2 * (n // 2), 2 * (n // 2))], (n, n)))
    cases.append(([conv(2, 1, 0), conv(2, 1, 1), pool("AveragePool", 3, 2, 1, True)], (n, n)))

out = []
for ops, size in cases:
    shape, kept, roll = measure(ops, size)
    out.append(json.dumps({"ops": ops, "size": list(size), "shape": shape, "kept": kept, "roll": roll}))
sys.stdout.write("[\n" + ",\n".join(out) + "\n]\n")
