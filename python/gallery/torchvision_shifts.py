# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # torchvision: shifts of a ResNet, and the stride behind them
#
# It is often said that convolutional networks do not care about shifts. A layer of stride 1 does not, away from the border. A ResNet halves its maps five times, and its last
# map has one value for every 32 pixels. Here its answers are compared under shifts of the input, with pictures whose opposite edges meet (`Roll`), so that nothing leaves and nothing enters.
#
# **The weights are random.** So nothing here says how large the error of a trained ResNet is, only what its *architecture* can and cannot keep, whatever the weights are. That
# is the part that no training mends by itself.

# %%
from pathlib import Path

import numpy as np
import torch
import torchvision
from PIL import Image
from torch import nn

import nero

photos = sorted(Path("../../studies/cells/data/JPEGImages").glob("*.jpg"))  # blood cells under the microscope
pieces = [np.asarray(Image.open(p))[y : y + 128 : 2, 100:228:2] for p in photos for y in (60, 260)]
images = np.stack(pieces[:80]).transpose(0, 3, 1, 2).copy()


class Around(nn.Module):
    """A layer on a map whose opposite edges meet."""

    def __init__(self, layer: nn.Module, margin: int) -> None:
        super().__init__()
        self.layer, self.margin = layer, margin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        m = self.margin
        x = torch.cat([x[:, :, -m:], x, x[:, :, :m]], 2)
        return self.layer(torch.cat([x[:, :, :, -m:], x, x[:, :, :, :m]], 3))


def around(net: nn.Module) -> nn.Module:
    """The network with the opposite edge where zeros were padded."""
    for name, part in list(net.named_children()):
        if isinstance(part, (nn.Conv2d, nn.MaxPool2d)):
            margin = part.padding if isinstance(part.padding, int) else int(part.padding[0])
            if margin > 0:
                part.padding = 0 if isinstance(part, nn.MaxPool2d) else (0, 0)
                setattr(net, name, Around(part, margin))
        else:
            around(part)
    return net


def resnet() -> nn.Module:
    torch.manual_seed(0)
    return torchvision.models.resnet18(num_classes=10).eval()


# %% [markdown]
# Two networks with the same weights: as torchvision makes it, with zeros around every map, and with the opposite edge in their place.

# %%
models = {"zeros": resnet(), "around": around(resnet())}
shifts = [[0, 0], [1, 0], [0, 1], [16, 0], [32, 0]]
audit = nero.audit(models, images, "Roll(64,64)", equivariant=False, orbit=shifts, audit={"checks": ["lattice"]})
audit

# %% [markdown]
# Both fail, by about as much as two different pictures differ. The curve below shows the error along one axis: padding with zeros loses the shift everywhere; without it the
# error comes back to nothing where the shift is a multiple of 32, and nowhere else.

# %%
import matplotlib.pyplot as plt  # noqa: E402

run = nero.run(models, images[:12], "Roll(64,64)", equivariant=False, orbit=[[d, 0] for d in range(0, 64, 4)], metrics=["relative"], progress=False)
figure, ax = plt.subplots(figsize=(7, 2.8))
for name in run.models:
    ax.plot(run.elements[:, 0], run.curves("relative", name).mean(0), label=name)
ax.set(xlabel="shift to the right, px", ylabel="relative error, mean of 12")
ax.legend()

# %% [markdown]
# ## The group that this network has
#
# Shifts by whole strides. Of 64 × 64 pixels there are four of them:

# %%
strides = [[0, 0], [32, 0], [0, 32], [32, 32]]
held = nero.audit({"around": models["around"]}, images, "Roll(64,64)", equivariant=False, orbit=strides, audit={"checks": ["lattice"]})
held

# %% [markdown]
# **A ResNet is invariant to shifts by multiples of 32 pixels, up to its borders, and to no others.** What to do is known: blur before every stride (Zhang, *Making convolutional networks shift-invariant again*, 2019), which
# makes the error smaller, or choose the grid by the content (Chaman and Dokmanić, *Truly shift-invariant convolutional neural networks*, 2021), which removes it.
#
# What this page says, checked:

# %%
assert [m.verdict for m in audit.models] == ["FAIL", "FAIL"] and held.verdict == "PASS"
assert all(m.errors[0].error > 0.5 for m in audit.models) and held.error < 1e-4
zeros, wrapped = (run.curves("relative", name).mean(0) for name in run.models)
assert wrapped[8] < 1e-4 and zeros[8] > 0.1 and np.delete(wrapped, [0, 8]).min() > 0.1
