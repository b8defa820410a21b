"""The network of the flow study: a small coarse-to-fine estimator in the manner of PWC-Net (Sun et al. 2018), and its way into ONNX.

Both frames go through the same two levels of convolutions. At a quarter of the resolution all displacements up to 3 cells, 12 px, are
compared (the correlations of the features), from which a coarse field comes; at half the resolution the features are warped half-way
towards each other, so that the field stands at mid-time, and the rest is found among displacements up to 2 cells. Every convolution
that halves the resolution has kernels of 4 with padding 1, whose grid lies in the middle of an even picture: mirrors and quarter turns
move cells to cells, and whatever the network does not treat alike, it was not taught to.
"""

import warnings

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F

NAMES = ("plain", "augmented")

COARSE, FINE = 3, 2  # cells searched each way at a quarter and at half the resolution
SIDE = 256           # of the exported network
OFFSET, SCALE = 22.0, 36.0  # grey levels: about the mean and the standard deviation of particle pictures


def correlation(a, b, reach):
    """Mean products of the features of a and b over all displacements up to reach cells, half of each in either frame: (2 reach + 1)²
    channels. The mean is a product with a row of 1/channels, which every engine does quickly."""
    n, h, w, pad = int(a.shape[1]), int(a.shape[2]), int(a.shape[3]), (reach + 1) // 2
    a, b, mean = F.pad(a, (pad,) * 4), F.pad(b, (pad,) * 4), torch.full((1, n), 1 / n)
    out = []
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            by, bx = (dy + 1) // 2, (dx + 1) // 2  # b's half, rounded up
            ay, ax = by - dy, bx - dx
            p = a[:, :, pad + ay:pad + ay + h, pad + ax:pad + ax + w] * b[:, :, pad + by:pad + by + h, pad + bx:pad + bx + w]
            out.append(mean @ p.reshape(-1, n, h * w))
    return torch.cat(out, 1).reshape(-1, len(out), h, w)


def cells(h, w):
    """Coordinates of the cells of an h x w grid as grid_sample counts them, (1, h, w, 2), x first."""
    h, w = int(h), int(w)
    y, x = (np.arange(n, dtype=np.float32) * 2 + 1 for n in (h, w))
    grid = np.stack(np.broadcast_arrays(x[None, :] / w - 1, y[:, None] / h - 1), -1)
    return torch.from_numpy(np.ascontiguousarray(grid, np.float32))[None]


def warp(x, flow, grid):
    """x(p + flow(p)), bilinear, the border beyond it; flow in cells."""
    size = torch.tensor([2.0 / int(x.shape[-1]), 2.0 / int(x.shape[-2])]).view(1, 2, 1, 1)
    return F.grid_sample(x, grid + (flow * size).permute(0, 2, 3, 1), "bilinear", "border", align_corners=False)


def stack(*widths):
    """3x3 convolutions with leaky ReLU between them."""
    layers = []
    for i, (n, m) in enumerate(zip(widths, widths[1:])):
        layers += [nn.Conv2d(n, m, 3, padding=1)] + ([nn.LeakyReLU(0.1)] if i < len(widths) - 2 else [])
    return nn.Sequential(*layers)


class Net(nn.Module):
    """Grey levels (N, 2, H, W), 0 to 255, H and W multiples of 4, to displacements (N, 2, H, W) in px: u along columns, v along rows."""

    def __init__(self):
        super().__init__()
        act = nn.LeakyReLU(0.1)
        self.level1 = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), act, nn.Conv2d(16, 16, 3, padding=1), act)
        self.level2 = nn.Sequential(nn.Conv2d(16, 32, 4, 2, 1), act, nn.Conv2d(32, 32, 3, padding=1))
        self.sketch = nn.Conv2d(16, 16, 1)
        self.coarse = stack((2 * COARSE + 1) ** 2 + 2 * 32, 48, 32, 24, 2)
        self.fine = stack((2 * FINE + 1) ** 2 + 2 * 16 + 2, 32, 24, 16, 2)
        # Features of the size of the pictures' contrast, so that their products tell from the first step on; small first fields.
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, 0.1, nonlinearity="leaky_relu")
                nn.init.zeros_(m.bias)
                if m.out_channels == 2:
                    m.weight.data *= 0.1

    def forward(self, pair):
        x = (pair - OFFSET) / SCALE
        a, b = self.level1(x[:, :1]), self.level1(x[:, 1:])
        qa, qb = self.level2(a), self.level2(b)
        coarse = self.coarse(torch.cat([F.leaky_relu(correlation(qa, qb, COARSE), 0.1), qa, qb], 1))  # cells of 4 px
        flow = F.interpolate(coarse, scale_factor=2, mode="bilinear", align_corners=False) * 2  # cells of 2 px
        a, b = self.sketch(a), self.sketch(b)
        grid = cells(*a.shape[-2:])
        a, b = warp(a, -0.5 * flow, grid), warp(b, 0.5 * flow, grid)
        flow = flow + self.fine(torch.cat([F.leaky_relu(correlation(a, b, FINE), 0.1), a, b, flow], 1))
        fine = F.interpolate(flow, scale_factor=2, mode="bilinear", align_corners=False) * 2
        if self.training:
            return fine, F.interpolate(coarse, scale_factor=4, mode="bilinear", align_corners=False) * 4
        return fine


def export(net, path):
    """Writes net as ONNX: input `pair` (batch, 2, 256, 256), output `flow` of the same shape."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants, which the fixed height and width are meant to be
        torch.onnx.export(net.eval(), torch.zeros(1, 2, SIDE, SIDE), path, opset_version=16, input_names=["pair"],
                          output_names=["flow"], dynamic_axes={"pair": {0: "batch"}, "flow": {0: "batch"}})
    model = onnx.load(path)
    tidy(model.graph)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def tidy(graph):
    """Makes initializers of constants, one of each, and of the widths of paddings, for which the exporter writes a computation."""
    seen, alias = {}, {}

    def initializer(name, value):
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in seen:
            seen[key] = name
            graph.initializer.append(numpy_helper.from_array(value, name))
        alias[name] = seen[key]

    for node in graph.node:
        if node.op_type == "Constant":
            initializer(node.output[0], np.array(numpy_helper.to_array(node.attribute[0].t)))
    for k, node in enumerate(n for n in graph.node if n.op_type == "Pad"):  # in the order of forward: two frames of each
        p = ((COARSE, COARSE, FINE, FINE)[k] + 1) // 2
        name = f"pads{p}"
        if name not in alias:
            initializer(name, np.array([0, 0, p, p, 0, 0, p, p], np.int64))
        node.input[1] = name
    nodes = list(graph.node)
    for node in nodes:
        for i, name in enumerate(node.input):
            node.input[i] = alias.get(name, name)
    # From the back: what nobody reads any more goes.
    used, kept = {o.name for o in graph.output}, []
    for node in reversed(nodes):
        if node.op_type != "Constant" and used & set(node.output):
            used |= set(node.input)
            kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    weights = [t for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(weights)


# The 16 symmetries: how a pair and its field move. Element i < 8 reads out[r][c] = in[index]; 8 + i also reverses time.
# (transpose, flip rows of the result, flip columns of the result, matrix of (u, v))
D4 = (
    (False, False, False, ((1, 0), (0, 1))),   # 0 identity
    (True, True, True, ((0, -1), (-1, 0))),    # 1 mirror in "/": [n-1-c][n-1-r]
    (True, True, False, ((0, 1), (-1, 0))),    # 2 quarter turn counter-clockwise: [c][n-1-r]
    (False, False, True, ((-1, 0), (0, 1))),   # 3 left and right exchanged: [r][n-1-c]
    (False, True, True, ((-1, 0), (0, -1))),   # 4 half turn
    (True, False, False, ((0, 1), (1, 0))),    # 5 mirror in "\\": [c][r]
    (True, False, True, ((0, -1), (1, 0))),    # 6 quarter turn clockwise: [n-1-c][r]
    (False, True, False, ((1, 0), (0, -1))),   # 7 up and down exchanged: [n-1-r][c]
)
ELEMENTS = ("identity", "mirror /", "rotate 90", "mirror horizontally", "rotate 180", "mirror \\", "rotate 270", "mirror vertically")


def place(x, i):
    """Pixels of x (..., n, n) moved by element i, values as they are."""
    swap, rows, columns, _ = D4[i % 8]
    if swap:
        x = np.swapaxes(x, -1, -2)
    if rows:
        x = x[..., ::-1, :]
    if columns:
        x = x[..., ::-1]
    return x


def move_pair(pair, i):
    """A pair (..., 2, n, n) moved by element i: 8 and above exchange the frames."""
    pair = place(pair, i)
    return np.ascontiguousarray(pair[..., ::-1, :, :] if i >= 8 else pair)


def move_field(field, i):
    """A field (..., 2, n, n) moved by element i."""
    matrix = np.asarray(D4[i % 8][3], field.dtype) * (-1 if i >= 8 else 1)
    return np.ascontiguousarray(np.einsum("ij,...jrc->...irc", matrix, place(field, i)))


def load(path):
    """The network of an exported file."""
    state = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in onnx.load(path).graph.initializer}
    net = Net()
    net.load_state_dict({k: state[k] for k in net.state_dict()})
    return net.eval()


def multiply_adds(side=SIDE):
    """Multiply-adds of the convolutions and correlations for one pair of side x side px."""
    net, total = Net(), 0
    cells = {"level1": (side // 2) ** 2 * 2, "level2": (side // 4) ** 2 * 2, "sketch": (side // 2) ** 2 * 2,
             "coarse": (side // 4) ** 2, "fine": (side // 2) ** 2}
    for name, p in net.named_parameters():
        if p.dim() == 4:
            total += p.numel() * cells[name.split(".")[0]]
    for reach, channels, n in ((COARSE, 32, (side // 4) ** 2), (FINE, 16, (side // 2) ** 2)):
        total += 2 * (2 * reach + 1) ** 2 * channels * n
    return total
