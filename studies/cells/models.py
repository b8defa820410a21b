"""The cell detector: how it is built, folded, exported and read back, and how the photos become windows.

The network exists twice. The trainable one has batch normalisation; `fold` writes that into the convolutions. The folded one
is what the ONNX files hold, and what `load` reads back from them.

Windows are float32 (batch, 3, 128, 128), RGB, 0 to 1. Answers are `boxes` (batch, 64, 4), (cx, cy, w, h) in pixels of the
window, and `scores` (batch, 64, 3), probabilities of RBC, WBC and Platelets: one candidate for each cell of an 8 x 8 grid with
stride 16, rows first.
"""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = ("RBC", "WBC", "Platelets")
LEVELS = (0, 20, 40, 60, 80, 100)
SIZE, STRIDE, GRID = 128, 16, 8
# The photos are 640 x 480 and are shrunk by 3/5 to 384 x 288.
ZOOM = (3, 5)

# (input channels, output channels, kernel, stride) of the convolutions before and after the position table.
STEM = ((3, 12, 5, 2), (12, 24, 3, 2), (24, 48, 3, 2), (48, 48, 3, 1), (48, 64, 3, 2), (64, 64, 3, 1))
HEAD = ((64, 64, 3, 1), (64, 64, 3, 1))
MIX, UNIT = 8, 32.0


class Block(nn.Sequential):
    def __init__(self, into, out, kernel, stride, norm):
        conv = nn.Conv2d(into, out, kernel, stride, kernel // 2, bias=not norm)
        super().__init__(conv, nn.BatchNorm2d(out) if norm else nn.Identity())

    def forward(self, x):
        return F.relu(super().forward(x))


class Net(nn.Module):
    """Convolutions to an 8 x 8 grid; a learned table is added, one vector per cell, so that the rest knows where in the window
    it is; a dense layer lets all cells see each other; one 1x1 convolution answers."""

    def __init__(self, norm=True):
        super().__init__()
        self.stem = nn.Sequential(*(Block(*b, norm) for b in STEM))
        c = STEM[-1][1]
        self.table = nn.Parameter(torch.zeros(1, c, GRID, GRID))
        self.squeeze = Block(c, MIX, 1, 1, norm)
        self.mix = nn.Linear(MIX * GRID * GRID, c)
        self.head = nn.Sequential(*(Block(*b, norm) for b in HEAD))
        self.answer = nn.Conv2d(HEAD[-1][1], 4 + len(CLASSES), 1)
        y, x = np.mgrid[:GRID, :GRID]
        centre = np.stack([x, y], -1).reshape(1, -1, 2) * STRIDE + STRIDE / 2
        self.register_buffer("centre", torch.tensor(centre, dtype=torch.float32))

    def forward(self, x):
        """Boxes and logits."""
        x = self.stem(x) + self.table
        x = x + self.mix(self.squeeze(x).flatten(1)).unsqueeze(-1).unsqueeze(-1)
        x = self.answer(self.head(x)).reshape(-1, 4 + len(CLASSES), GRID * GRID).transpose(1, 2)
        at = self.centre + STRIDE * x[..., :2]
        # e^2.5 * 32 = 390 px is three windows: the clip only keeps a broken box finite.
        size = UNIT * x[..., 2:4].clamp(-2.5, 2.5).exp()
        return torch.cat([at, size], -1), x[..., 4:]


class Exported(nn.Module):
    """A folded network as the file holds it: probabilities instead of logits."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        boxes, logits = self.net(x)
        return boxes, logits.sigmoid()


@torch.no_grad()
def fold(net):
    """The network that computes what `net` computes in evaluation mode, without batch normalisation."""
    plain = Net(norm=False)
    own = {k: v for k, v in net.state_dict().items() if k in plain.state_dict()}
    plain.load_state_dict(own, strict=False)
    for a, b in zip(net.modules(), plain.modules()):
        if isinstance(a, Block):
            conv, norm = a[0], a[1]
            gain = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
            b[0].weight.copy_(conv.weight.double() * gain[:, None, None, None])
            b[0].bias.copy_(norm.bias.double() - norm.running_mean.double() * gain)
    return plain.eval()


def export(plain, path):
    """Writes an ONNX file of opset 13."""
    import onnx

    names = ("image", "boxes", "scores")
    torch.onnx.export(
        Exported(plain).eval(), torch.zeros(2, 3, SIZE, SIZE), str(path), opset_version=13, input_names=names[:1],
        output_names=names[1:], dynamic_axes={k: {0: "batch"} for k in names})
    # The exporter knows the shapes of the outputs but does not say them.
    m = onnx.load(str(path))
    for o, n in zip(m.graph.output, (4, len(CLASSES))):
        for d, v in zip(o.type.tensor_type.shape.dim[1:], (GRID * GRID, n)):
            d.dim_value = v
    onnx.checker.check_model(m)
    onnx.save(m, str(path))


def load(path):
    """The network of an exported file, weights included: windows to (boxes, scores)."""
    import onnx
    from onnx import numpy_helper

    net = Exported(Net(norm=False))
    state = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in onnx.load(str(path)).graph.initializer}
    # The exporter keeps the names of weights but may transpose or inline constants; those we make ourselves.
    want = net.state_dict()
    missing = [k for k in want if k not in state and k != "net.centre"]
    if missing:
        raise ValueError(f"{path}: no weights called {missing}")
    net.load_state_dict({k: state.get(k, want[k]) for k in want})
    return net.eval()


def parameters():
    return sum(p.numel() for p in Net(norm=False).parameters())


def multiply_adds():
    """Multiply-adds of convolutions and the dense layer for one window."""
    total, side = 0, SIZE
    for into, out, k, s in STEM:
        side //= s
        total += side * side * into * out * k * k
    c = STEM[-1][1]
    total += GRID * GRID * c * MIX + MIX * GRID * GRID * c
    for into, out, k, _ in HEAD:
        total += GRID * GRID * into * out * k * k
    return total + GRID * GRID * HEAD[-1][1] * (4 + len(CLASSES))


def shrink(pixels):
    """Area average of (h, w, 3) uint8 by 3/5: each new pixel is the mean over the square of old ones that it covers."""
    n, d = ZOOM

    def matrix(size):
        m = np.zeros((size * n // d, size))
        for i in range(len(m)):
            lo, hi = i * d / n, (i + 1) * d / n
            for j in range(int(lo), min(int(np.ceil(hi)), size)):
                m[i, j] = (min(hi, j + 1) - max(lo, j)) * n / d
        return m

    h, w, _ = pixels.shape
    return np.einsum("ah,hwc,bw->abc", matrix(h), pixels.astype(np.float64), matrix(w), optimize=True)


class Photo:
    """A shrunk photo: pixels (288, 384, 3) float64, 0 to 255; boxes (n, 4) as edges x1 y1 x2 y2 in its pixels; labels (n,)."""

    def __init__(self, root, name):
        from PIL import Image

        self.name = name
        self.pixels = shrink(np.asarray(Image.open(Path(root) / "JPEGImages" / f"{name}.jpg").convert("RGB")))
        boxes, labels, self.index = [], [], []
        for i, o in enumerate(ET.parse(Path(root) / "Annotations" / f"{name}.xml").getroot().iter("object")):
            b = [int(o.find("bndbox").find(k).text) for k in ("xmin", "ymin", "xmax", "ymax")]
            if b[2] <= b[0] or b[3] <= b[1]:
                continue  # two red cells have empty boxes
            # Pixels are counted from 1 and both ends belong to the box.
            boxes.append([b[0] - 1, b[1] - 1, b[2], b[3]])
            labels.append(CLASSES.index(o.find("name").text))
            self.index.append(i)
        self.boxes = np.array(boxes, np.float64).reshape(-1, 4) * ZOOM[0] / ZOOM[1]
        self.labels = np.array(labels, np.int64)
        self.centres = (self.boxes[:, :2] + self.boxes[:, 2:]) / 2

    def areas(self):
        return (self.boxes[:, 2] - self.boxes[:, 0]) * (self.boxes[:, 3] - self.boxes[:, 1])


def read(root, split):
    """The photos of a split of a BCCD folder (with JPEGImages, Annotations and ImageSets/Main)."""
    names = (Path(root) / "ImageSets" / "Main" / f"{split}.txt").read_text().split()
    return [Photo(root, n) for n in names]


def corner(centre):
    """Top-left corner (x, y) of the unshifted window: the centre rounded (halves up), minus 64."""
    return np.floor(centre + 0.5).astype(int) - SIZE // 2


def keys(photos, reach=64, area=(0.01, 0.5)):
    """(photo, object) of all key objects: the box covers 1 to 50 % of a window, and all windows shifted by up to `reach` pixels
    lie in the photo."""
    out = []
    for p, photo in enumerate(photos):
        h, w, _ = photo.pixels.shape
        for k, (c, a) in enumerate(zip(photo.centres, photo.areas())):
            x, y = corner(c)
            inside = x - reach >= 0 and y - reach >= 0 and x + reach + SIZE <= w and y + reach + SIZE <= h
            if inside and area[0] * SIZE ** 2 <= a <= area[1] * SIZE ** 2:
                out.append((p, k))
    return out


def iou(a, b):
    """Intersection over union of boxes with edges in the last axis; 0 for a pair without area."""
    i = np.clip(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0, None).prod(-1)
    u = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - i
    return np.where(u > 0, i / np.where(u > 0, u, 1), 0.0)


def edges(boxes):
    """(cx, cy, w, h) to (x1, y1, x2, y2)."""
    return np.concatenate([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)
