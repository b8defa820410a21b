# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A training run watched
#
# `nero.Monitor` audits the live module while it is trained, always on the same samples, and leaves the training as it was: random numbers, modes and gradients are
# afterwards what they were before. Here three networks learn digits, and besides the loss we watch whether their answers stay when a digit is turned by a quarter.

# %%
import gzip
import math
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import nero

folder = Path("../../studies/digits/data")


def read(name: str, header: int) -> torch.Tensor:
    return torch.tensor(np.frombuffer(gzip.decompress((folder / f"t10k-{name}-ubyte.gz").read_bytes()), np.uint8, offset=header))


images, classes = read("images-idx3", 16).reshape(-1, 1, 28, 28) / 255, read("labels-idx1", 8).long()
train, test = slice(0, 8000), slice(8000, 10000)


class Averaged(nn.Module):
    """The mean of a network's answers over the four quarter turns of its input."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([self.inner(torch.rot90(x, k, (2, 3))) for k in range(4)]).mean(0)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(8, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Flatten(), nn.Linear(784, 10)
    )  # fmt: skip


def as_it_is(x: torch.Tensor) -> torch.Tensor:
    return x


def turned(x: torch.Tensor) -> torch.Tensor:
    return torch.rot90(x, int(torch.randint(4, ())), (2, 3))


# %% [markdown]
# An ordinary loop with one line more. A monitor keeps its audits below 5 % of the time of the training and leaves out those that are too dear; this training takes
# seconds, so the limit is taken away.

# %%
STEPS, EVERY = 300, 50


def learn(name: str, model: nn.Module, show: "Callable[[torch.Tensor], torch.Tensor]") -> "tuple[nero.Monitor, list[float]]":
    monitor = nero.Monitor({name: model}, images[test].numpy(), "C4", equivariant=False, every=EVERY, budget=math.inf)
    optimiser, right = torch.optim.Adam(model.parameters(), 2e-3), []
    for step in range(STEPS + 1):
        batch = torch.randint(0, 8000, (64,))
        loss = F.cross_entropy(model(show(images[train][batch])), classes[train][batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        monitor(step)
        if step % EVERY == 0:
            with torch.no_grad():
                right.append(float((model(images[test]).argmax(1) == classes[test]).float().mean()))
    return monitor, right


runs = {
    "upright": learn("upright", network(), as_it_is),
    "turned": learn("turned", network(), turned),
    "averaged": learn("averaged", Averaged(network()), as_it_is),
}
for monitor, _ in runs.values():
    print(monitor)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
for name, (monitor, accuracy) in runs.items():
    steps = [row["step"] for row in monitor.history]
    left.semilogy(steps, [row["models"][name]["error"] for row in monitor.history], label=name)
    right.plot(steps, accuracy, label=name)
left.set(xlabel="step", ylabel="equivariance error")
right.set(xlabel="step", ylabel="accuracy on upright digits")
left.legend()

# %% [markdown]
# Three different stories, and the loss tells none of them.
#
# - **upright** learns the digits and nothing about turns: its error stays far above the spread of its own outputs, from the first step to the last.
# - **turned** saw digits in all four orientations. Within fifty steps its error falls to less than a third, and there it stays, or rises again a little as the network learns to tell
#   digits apart: what it was shown it learns approximately.
# - **averaged** is invariant from the first step to the last, up to rounding, without having been shown a single turned digit. It pays in accuracy on upright
#   digits, as does the second: what a digit is can no longer be read from how it stands, and these few hundred steps do not make up for that.
#
# `monitor.last` is the last audit, as whole as any other:

# %%
runs["turned"][0].last

# %% [markdown]
# What this page says, checked:

# %%
error = {name: [row["models"][name]["error"] for row in monitor.history] for name, (monitor, _) in runs.items()}
assert all(len(e) == STEPS // EVERY + 1 for e in error.values())
assert min(error["upright"]) > 1 and 0.2 < min(error["turned"]) < error["turned"][0] / 3 and 0.3 < error["turned"][-1] < 0.9
assert max(error["averaged"]) < 1e-5
last = {name: accuracy[-1] for name, (_, accuracy) in runs.items()}
assert last["upright"] > 0.92 and last["upright"] > max(last["turned"], last["averaged"]) and min(last.values()) > 0.7
