# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # e3nn: a cross product that is called a vector
#
# The cross product of two vectors turns as a vector does. In a mirror it does not: a torque, a magnetic moment, an angular momentum keep their direction where a vector
# is reversed. They are *pseudovectors*, `1e` in the words of [e3nn](https://e3nn.org), and not `1o`. Whoever writes a layer by hand has to say so, and nothing in
# PyTorch contradicts if they do not.

# %%
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")  # of e3nn, about TorchScript
from e3nn import o3  # noqa: E402

import nero  # noqa: E402


class Torque(torch.nn.Module):
    """Two vectors are mixed, and the answer is their cross product."""

    def __init__(self, irreps_out: str) -> None:
        super().__init__()
        self.irreps_in, self.irreps_out = "2x1o", irreps_out
        self.mix = o3.Linear("2x1o", "2x1o")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = self.mix(x).split(3, -1)
        return torch.linalg.cross(a, b)


torch.manual_seed(0)
wrong = Torque("1o")
right = Torque("1e")
right.load_state_dict(wrong.state_dict())

pairs = np.random.default_rng(0).standard_normal((80, 6)).astype(np.float32)

# %% [markdown]
# The two modules compute the same to the last bit. They differ in what they *say*: `irreps_out`. Types and group, O(3), are read from the module, so there is
# nothing else to say to the audit. (`export=False`: the module is called in this process, because e3nn's compiled code cannot be traced into a file by every version of PyTorch.)

# %%
says_1o = nero.audit({"says-1o": wrong}, pairs, export=False)
says_1e = nero.audit({"says-1e": right}, pairs, export=False)
says_1o

# %% [markdown]
# The first is off by almost twice the spread of its outputs. A sign explains that: at every element with an inversion what comes out is the negative of what was declared, 2 in
# place of 0 times its size, and at every turn it is right. The audit comes to the same: *the output has another type than declared*.
#
# That it is the mirrors alone is quickly seen. Under turns, SO(3), there is no difference between `1o` and `1e`:

# %%
turns = nero.audit({"says-1o": wrong}, pairs, "SO(3)", export=False)
print(turns)

# %% [markdown]
# **PASS under turns, FAIL with mirrors: a parity error.** It is silent in training as long as molecules are turned at random and never mirrored, and in a longer network a wrong parity lets
# left and right hands mix in every layer after it.

# %%
for audit in (says_1o, says_1e, turns):
    print(f"{audit.only.model}: {audit.verdict}, error {audit.error:.2g}, worst {audit.judged.largest:.2g} for {audit.judged.worst}")

# %% [markdown]
# What this page says, checked:

# %%
assert (says_1o.verdict, says_1e.verdict, turns.verdict) == ("FAIL", "PASS", "PASS")
assert 1.5 < says_1o.error < 2 and "another type" in says_1o.diagnoses[0].cause
assert torch.equal(wrong(torch.from_numpy(pairs)), right(torch.from_numpy(pairs)))
assert says_1o.judged.worst is not None and says_1o.judged.worst.coordinates[-1] == 1  # an inversion
