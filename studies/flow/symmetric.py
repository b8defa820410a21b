"""Builds the estimator of flow that keeps all 16 symmetries by construction, and writes models/flow-symmetric.onnx.

    go run ./studies/flow/render -o DIR -n 24 -seed 20240702
    python3 studies/flow/symmetric.py --try DIR/pairs.npz    # the errors of the settings on pairs of nobody else
    python3 studies/flow/symmetric.py                        # writes the file

The method of Lucas and Kanade (1981) from coarse to fine (Bouguet 2000), as a network: averages over 2x2 pixels make the pyramid; at each
level both frames are warped half-way towards each other, and least squares over a Gaussian window find the displacement that is left.
Nothing is learned. Every step treats rows like columns, left like right and the first frame like the second: kernels are even and equal on
both axes, derivatives are odd and those of the mean of both frames, and the system of 2x2 equations turns with the picture. So a moved pair
gives the moved field, but for rounding.
"""

import os

# Before torch is loaded: one thread, so that the order of sums does not depend on how busy the machine is.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F

import models

# Steps at each level, the coarsest first: pictures of 1/8, 1/4, 1/2 and 1 of the side.
STEPS = (2, 2, 2, 2)
# Standard deviation of the window in pixels of its level, and of the blur before the derivatives.
WINDOW, BLUR = 6.0, 0.6
# What is added to the diagonal of the equations, as a share of the mean square of the derivatives over the whole picture.
RIDGE = 0.02
SLOPE = np.float32([-0.5, 0, 0.5])


def gauss(sigma):
    """Weights of a Gaussian to three standard deviations; their sum is 1, and each equals its mirror image."""
    r = int(np.ceil(3 * sigma))
    w = np.exp(-0.5 * (np.arange(-r, r + 1) / sigma) ** 2)
    return (w / w.sum()).astype(np.float32)


def along(x, w):
    """Each channel of x filtered by w along rows; beyond the border are zeros, which is about the mean of a picture."""
    n = int(x.shape[1])
    return F.conv2d(x, torch.from_numpy(np.tile(w, (n, 1, 1, 1))), padding=(0, len(w) // 2), groups=n)


def down(x, w):
    """The same along columns."""
    n = int(x.shape[1])
    return F.conv2d(x, torch.from_numpy(np.tile(w[:, None], (n, 1, 1, 1))), padding=(len(w) // 2, 0), groups=n)


def smooth(x, w):
    return down(along(x, w), w)


def warp(x, flow):
    """x(p + flow(p)), bilinear, the border beyond it; flow in pixels. As models.warp, but with one number a row and a column in the file in
    place of two a pixel."""
    h, w = int(x.shape[-2]), int(x.shape[-1])
    across, below = (torch.from_numpy((np.arange(n, dtype=np.float32) * 2 + 1) / n - 1) for n in (w, h))
    at = torch.stack([flow[:, 0] * (2 / w) + across.view(1, 1, w), flow[:, 1] * (2 / h) + below.view(1, h, 1)], 3)
    return F.grid_sample(x, at, "bilinear", "border", align_corners=False)


class Net(nn.Module):
    """Grey levels (N, 2, 256, 256), 0 to 255, to displacements of the same shape in px at mid-time: u along columns, v along rows."""

    def __init__(self, steps=STEPS, window=WINDOW, blur=BLUR, ridge=RIDGE):
        super().__init__()
        self.steps, self.window, self.blur, self.ridge = steps, gauss(window), gauss(blur), ridge

    def step(self, a, b, flow):
        """One step of Gauss and Newton from flow, in pixels of the level."""
        a, b = warp(a, -0.5 * flow), warp(b, 0.5 * flow)
        mean, dt = 0.5 * (a + b), b - a
        dx, dy = along(mean, SLOPE), down(mean, SLOPE)
        m = smooth(torch.cat([dx * dx, dy * dy, dx * dy, dx * dt, dy * dt], 1), self.window)
        xx, yy, xy, xt, yt = m[:, :1], m[:, 1:2], m[:, 2:3], m[:, 3:4], m[:, 4:]
        ridge = self.ridge * (xx + yy).mean((2, 3), keepdim=True)
        xx, yy = xx + ridge, yy + ridge
        det = xx * yy - xy * xy
        return flow + torch.cat([(xy * yt - yy * xt) / det, (xy * xt - xx * yt) / det], 1)

    def forward(self, pair):
        x = (pair - models.OFFSET) / models.SCALE
        levels = [x]
        for _ in self.steps[1:]:
            levels.append(F.avg_pool2d(levels[-1], 2))
        flow = torch.zeros_like(levels[-1])
        for i, (x, steps) in enumerate(zip(reversed(levels), self.steps)):
            if i > 0:
                flow = 2 * F.interpolate(flow, scale_factor=2, mode="bilinear", align_corners=False)
            x = smooth(x, self.blur)
            a, b = x[:, :1], x[:, 1:]
            for _ in range(steps):
                flow = self.step(a, b, flow)
        return flow


def export(net, path):
    """Writes net as ONNX: input `pair` (batch, 2, 256, 256), output `flow` of the same shape."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants, which the fixed height and width are meant to be
        torch.onnx.export(net.eval(), torch.zeros(1, 2, models.SIDE, models.SIDE), path, opset_version=16, input_names=["pair"],
                          output_names=["flow"], dynamic_axes={"pair": {0: "batch"}, "flow": {0: "batch"}})
    model = onnx.load(path)
    for node in list(model.graph.node):  # one number a file, not one node a number
        if node.op_type == "Constant":
            model.graph.initializer.append(numpy_helper.from_array(numpy_helper.to_array(node.attribute[0].t), node.output[0]))
            model.graph.node.remove(node)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def errors(net, pairs, flow):
    """Mean end-point error in px to the truth as it is, and to itself over the other 15 symmetries."""
    truth, itself = [], []
    with torch.no_grad():
        for pair, want in zip(pairs, flow):
            run = lambda g: net(torch.from_numpy(models.move_pair(pair, g)[None].astype(np.float32)))[0].numpy()  # noqa: E731
            first = run(0)
            truth.append(np.hypot(*(first - want)).mean())
            itself.append(max(np.hypot(*(run(g) - models.move_field(first, g))).mean() for g in range(1, 16)) if len(itself) < 2 else 0)
    return np.mean(truth), np.max(itself)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--try", dest="pairs", type=Path, help="pairs.npz of the renderer: prints the errors of some settings, writes nothing")
    here = Path(__file__).resolve().parent
    p.add_argument("-o", type=Path, default=here / "models", metavar="DIR", help="where to write")
    a = p.parse_args()
    torch.set_num_threads(1)
    if a.pairs:
        with np.load(a.pairs) as z:
            pairs, flow = z["frames"], z["flow"]
        for window in (4.0, 6.0, 8.0):
            for blur in (0.6, 0.8):
                for ridge in (0.02, 0.05):
                    truth, itself = errors(Net(STEPS, window, blur, ridge), pairs, flow)
                    print(f"window {window} blur {blur} ridge {ridge}: {truth:.3f} px, to itself {itself:.1e} px", flush=True)
        return
    path = a.o / "flow-symmetric.onnx"
    export(Net(), str(path))
    b = path.read_bytes()
    print(f"{hashlib.sha256(b).hexdigest()}  {path.name}  {len(b)} bytes")


if __name__ == "__main__":
    main()
