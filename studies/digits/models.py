"""The three digit classifiers: how they are built, folded, exported and read back.

Every network here exists twice. A trainable one has batch normalisation and, for `c4`, one base filter per orbit of
filters. `fold` turns it into a Plain one: ordinary convolutions with the normalisation and the turned copies of each
filter written out as constants. Plain networks are what the ONNX files hold, and what `load` reads back from them.

Images are float32 (batch, 1, 28, 28), already scaled: (v / 255 - MEAN) / STD. Outputs are logits (batch, 10).
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

MEAN, STD = 0.1307, 0.3081
SIZE = 28
NAMES = ("original", "augmented", "c4")


class Plan:
    """What a network is made of. `pools` names the convolutions (from 0) that a 2x2 max pooling follows.

    `turns` is 1 for an ordinary network and 4 for a group convolution over quarter turns, where channel f * 4 + r holds
    field f in orientation r.
    """

    def __init__(self, kernels, fields, pools, turns):
        self.kernels, self.fields, self.pools, self.turns = kernels, fields, pools, turns

    def channels(self):
        return [f * self.turns for f in self.fields]


# 28 -> 14 -> 7: both poolings halve an even size, so their windows map onto windows under a quarter turn, and the 7x7
# that is left is pooled as a whole. Odd kernels with zero padding and stride 1 keep the grid's centre.
CNN = Plan(kernels=[3] * 6, fields=[8, 8, 16, 32, 48, 64], pools=[1, 3], turns=1)
GROUP = Plan(kernels=[5, 3, 3, 3, 3], fields=[4, 8, 8, 12, 16], pools=[0, 2], turns=4)
PLANS = {"original": CNN, "augmented": CNN, "c4": GROUP}


class Plain(nn.Module):
    """The exported form: Conv, Relu, MaxPool, ReduceMax over orientations if there are any, mean over space, Gemm."""

    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        into = 1
        for i, (k, c) in enumerate(zip(plan.kernels, plan.channels())):
            setattr(self, f"conv{i + 1}", nn.Conv2d(into, c, k, padding=k // 2))
            into = c
        self.head = nn.Linear(plan.fields[-1], 10)

    def forward(self, x):
        side = SIZE
        for i in range(len(self.plan.kernels)):
            x = F.relu(getattr(self, f"conv{i + 1}")(x))
            if i in self.plan.pools:
                x, side = F.max_pool2d(x, 2), side // 2
        if self.plan.turns > 1:
            x = x.reshape(-1, self.plan.fields[-1], self.plan.turns, side, side).amax(2)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Net(nn.Module):
    """The trainable form of a plan, with batch normalisation after each convolution."""

    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.filters, self.norms = nn.ParameterList(), nn.ModuleList()
        into = 1
        for i, (k, f) in enumerate(zip(plan.kernels, plan.fields)):
            # A filter of a group convolution has one slice per orientation of its input; the picture has none.
            shape = (f, into, k, k) if i == 0 or plan.turns == 1 else (f, into, plan.turns, k, k)
            w = torch.empty(shape)
            nn.init.normal_(w, std=(2.0 / w[0].numel()) ** 0.5)
            self.filters.append(nn.Parameter(w))
            self.norms.append(nn.BatchNorm3d(f))
            into = f
        self.head = nn.Linear(plan.fields[-1], 10)

    def expand(self, i):
        """The i-th filter bank with its turned copies, shape (fields * turns, input channels, k, k)."""
        w, t = self.filters[i], self.plan.turns
        if t == 1:
            return w
        if i == 0:
            # Lifting: orientation r correlates the picture with the filter turned r times.
            return torch.stack([torch.rot90(w, r, (-2, -1)) for r in range(t)], 1).flatten(0, 1)
        # Group convolution (Cohen and Welling 2016): orientation r reads orientation s through the slice s - r, turned
        # r times, so that turning the input turns the planes and moves every orientation one step on.
        out = [torch.rot90(torch.roll(w, r, 2), r, (-2, -1)).flatten(1, 2) for r in range(t)]
        return torch.stack(out, 1).flatten(0, 1)

    def forward(self, x):
        t = self.plan.turns
        for i, norm in enumerate(self.norms):
            w = self.expand(i)
            x = F.conv2d(x, w, padding=w.shape[-1] // 2)
            # One mean and one variance per field, shared by its orientations: separate ones would break the symmetry.
            x = F.relu(norm(x.unflatten(1, (-1, t))).flatten(1, 2))
            if i in self.plan.pools:
                x = F.max_pool2d(x, 2)
        if t > 1:
            x = x.unflatten(1, (-1, t)).amax(2)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


@torch.no_grad()
def fold(net):
    """The Plain network that computes what `net` computes in evaluation mode."""
    plain = Plain(net.plan)
    for i, norm in enumerate(net.norms):
        conv = getattr(plain, f"conv{i + 1}")
        gain = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
        bias = norm.bias.double() - norm.running_mean.double() * gain
        # In float64, rounded once; the same product for each orientation, so turned copies stay bitwise equal.
        conv.weight.copy_(net.expand(i).double() * gain.repeat_interleave(net.plan.turns)[:, None, None, None])
        conv.bias.copy_(bias.repeat_interleave(net.plan.turns))
    plain.head.load_state_dict(net.head.state_dict())
    return plain.eval()


def export(plain, path):
    """Writes an ONNX file of opset 13: `image` (batch, 1, 28, 28) to `logits` (batch, 10)."""
    torch.onnx.export(
        plain, torch.zeros(2, 1, SIZE, SIZE), path, opset_version=13, input_names=["image"], output_names=["logits"],
        dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}})


def load(name, path):
    """The Plain network of an exported file, weights included."""
    import onnx
    from onnx import numpy_helper

    plain = Plain(PLANS[name])
    state = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in onnx.load(path).graph.initializer}
    plain.load_state_dict({k: state[k] for k in plain.state_dict()})
    return plain.eval()


def multiply_adds(plan):
    """Multiply-adds of the convolutions and the last layer for one image."""
    total, into, side = 0, 1, SIZE
    for i, (k, c) in enumerate(zip(plan.kernels, plan.channels())):
        total += side * side * into * k * k * c
        into = c
        if i in plan.pools:
            side //= 2
    return total + plan.fields[-1] * 10


def scale(images):
    """uint8 or float images with values 0 to 255 as the networks read them."""
    return (images.float() / 255 - MEAN) / STD


def grid(degrees):
    """Where grid_sample reads to turn a picture counter-clockwise by each of the angles (n,): shape (n, 28, 28, 2).

    About the centre (13.5, 13.5): with align_corners, -1 and 1 are the centres of the outer pixels.
    """
    a = torch.deg2rad(degrees.double())
    c, s, o = a.cos(), a.sin(), torch.zeros_like(a)
    m = torch.stack([torch.stack([c, -s, o], 1), torch.stack([s, c, o], 1)], 1).float()
    return F.affine_grid(m, [len(a), 1, SIZE, SIZE], align_corners=True)


def turn(images, degrees):
    """Turns float images (n, 1, 28, 28) counter-clockwise by an angle, or each by its own: bilinear, zero outside."""
    g = grid(torch.as_tensor(degrees, dtype=torch.float64).expand(len(images)))
    return F.grid_sample(images, g, mode="bilinear", padding_mode="zeros", align_corners=True)


def read_idx(path):
    """A gzip-compressed IDX file of uint8 as an array."""
    import gzip

    with gzip.open(path, "rb") as f:
        b = f.read()
    if b[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: not an IDX file of uint8")
    shape = np.frombuffer(b, ">u4", b[3], 4)
    return np.frombuffer(b, np.uint8, offset=4 + 4 * b[3]).reshape(shape)
