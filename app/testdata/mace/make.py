"""Makes mace.onnx, skewed.onnx and molecules.npz: a small network of atoms in the manner of MACE (Batatia et al. 2022), and its twin
with one direction of space scaled in the vectors of its second layer.

    python3 make.py

Two layers, each with radial functions of Bessel type times spherical harmonics of degrees 0 and 1 times features, summed over neighbours
(A), and symmetric products of them (B) that make the next scalars and vectors; an energy is read off the scalars. Nothing is trained:
weights are drawn from a fixed seed, so that the network is invariant under E(3) and permutations by construction. Debian 12's
python3-torch 1.13.1 and python3-numpy 1.24.2.
"""

import numpy as np
import torch

ATOMS, FEATURES = 6, 8


class Mace(torch.nn.Module):
    def __init__(self, skewed):
        super().__init__()
        c, self.skewed = FEATURES, skewed
        self.species = torch.nn.Parameter(torch.randn(10, c) * 0.5)
        self.radial = torch.nn.ModuleList(
            [torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.SiLU(), torch.nn.Linear(16, 2 * c)) for _ in range(2)])
        self.scalars = torch.nn.ModuleList([torch.nn.Linear(3 * c, c) for _ in range(2)])
        self.vectors = torch.nn.ModuleList([torch.nn.Linear(2 * c, c, bias=False) for _ in range(2)])
        self.energy = torch.nn.Linear(c, 1)

    def forward(self, x, z):
        c = FEATURES
        h = self.species[z]  # [N, atoms, features]
        v = torch.zeros(x.shape[0], ATOMS, 3, c) + 0 * x[:, :, :, None]
        d = x[:, :, None] - x[:, None]
        r = (d.pow(2).sum(-1) + 1e-6).sqrt()
        others = 1 - torch.eye(ATOMS)
        waves = torch.sin(torch.arange(1, 7).float() * r[..., None] * 0.8) / r[..., None] * (torch.exp(-r / 2) * others)[..., None]
        y = d / r[..., None]
        for t in range(2):
            radial = self.radial[t](waves) * others[..., None]
            r0, r1 = radial[..., :c], radial[..., c:]
            a0 = (r0 * h[:, None]).sum(2)
            a1 = (r1[..., None, :] * y[..., None] * h[:, None, :, None, :]).sum(2) + (r0[..., None, :] * v[:, None]).sum(2)
            if self.skewed and t == 1:
                a1 = a1 * torch.tensor([1.0, 1.0, 1.3])[:, None]
            h = h + self.scalars[t](torch.cat([a0, a0 * a0, (a1 * a1).sum(2)], -1))
            v = v + self.vectors[t](torch.cat([a1, a1 * a0[:, :, None]], -1))
            h = h * torch.sigmoid(h)
        return self.energy(h).sum(1)


for name, skewed in (("mace", False), ("skewed", True)):
    torch.manual_seed(1)
    torch.onnx.export(
        Mace(skewed), (torch.randn(2, ATOMS, 3), torch.zeros(2, ATOMS, dtype=torch.long)), name + ".onnx",
        input_names=["positions", "species"], output_names=["energy"], opset_version=16,
        dynamic_axes={k: {0: "n"} for k in ("positions", "species", "energy")})
rng = np.random.default_rng(3)
np.savez("molecules.npz", positions=rng.normal(size=(80, ATOMS, 3)).astype("f4") * 1.5, species=rng.integers(1, 9, size=(80, ATOMS)))
