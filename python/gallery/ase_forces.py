# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # ase: forces that turn with the molecule and are the gradient of nothing
#
# Many recent potentials answer forces from a head of their own, and not as minus the gradient of the energy, because it is faster. Such forces can be perfectly equivariant, and
# still no energy has them as its slope. Test sets of energies and forces do not show it. A simulation at constant energy does.
#
# Here the potential is EMT, which comes with [ase](https://wiki.fysik.dtu.dk/ase/), and beside it the same with a head of its own, in miniature: each atom's force is scaled by how
# crowded the atom is.

# %%
import matplotlib.pyplot as plt
import numpy as np
from ase import Atoms, units
from ase.calculators.emt import EMT
from ase.md.velocitydistribution import MaxwellBoltzmannDistribution
from ase.md.verlet import VelocityVerlet

import nero


class Direct(EMT):
    """Energies of EMT, and forces that are scaled atom by atom."""

    def calculate(self, *args: object, **kw: object) -> None:
        super().calculate(*args, **kw)
        r = self.atoms.positions
        near = np.exp(-(np.linalg.norm(r[:, None] - r, axis=-1) ** 2) / 4).sum(1, keepdims=True)
        self.results["forces"] = 0.4 * near**2 * self.results["forces"]


rng = np.random.default_rng(0)
bipyramid = 2.6 * np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.87, 0], [0.5, 0.29, 0.82], [0.5, 0.29, -0.82]])
clusters = [Atoms(rng.choice(["Cu", "Ag", "Au"], 5), bipyramid + 0.15 * rng.standard_normal((5, 3))) for _ in range(80)]

# %% [markdown]
# The group is taken from the calculator: E(3) × S, which is turns, mirrors and shifts of space, and permutations of the atoms. Two checks are asked for: the elements of the group, and
# whether the forces are minus the gradient of the energy. (The first few elements are enough here; without `audit=` there would be more of both.)

# %%
quick = {"checks": ["lattice", "forces"], "elements": 6}
emt = nero.audit(EMT(), clusters, audit=quick)
print(emt)

# %%
direct = nero.audit(Direct(), clusters, audit=quick)
direct

# %% [markdown]
# **As a function of symmetry the two cannot be told apart**: both are equivariant to 14 digits. What the second lacks is another property, and the audit does not mix them up: it
# withholds its PASS because the forces differ from minus the gradient of the energy by a fifth of their size, and because the work that they do around closed loops is not
# zero. So they are not the gradient of any other energy either.
#
# ## What that does to a simulation
#
# Two picoseconds of one cluster at constant energy, from the same positions and velocities, with steps of 2 fs:


# %%
def energies(calculator: EMT) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    atoms = clusters[0].copy()
    atoms.calc = calculator
    MaxwellBoltzmannDistribution(atoms, temperature_K=300, rng=np.random.default_rng(1))
    found: "list[float]" = []
    run = VelocityVerlet(atoms, 2 * units.fs)
    run.attach(lambda: found.append(atoms.get_total_energy()), interval=5)
    run.run(1000)
    return 1000 * (np.array(found) - found[0])


drift = {"EMT": energies(EMT()), "Direct": energies(Direct())}
figure, ax = plt.subplots(figsize=(7, 2.8))
for name, e in drift.items():
    ax.plot(np.arange(len(e)) / 100, e, label=name)
    print(f"{name:6} energy between {e.min():+.1f} and {e.max():+.1f} meV of where it began")
ax.set(xlabel="ps", ylabel="total energy, meV")
ax.legend()

# %% [markdown]
# The energy of EMT stays within a millielectronvolt, which is what the length of the steps leaves. With the direct forces it is off by tens of it, up to more than a hundred: the cluster is heated and
# cooled by nothing. *What to do*, says the audit: take the forces as minus the gradient of the energy.
#
# What this page says, checked:

# %%
assert (emt.verdict, direct.verdict) == ("PASS", "NEEDS_ATTENTION")
assert max(emt.error, direct.error) < 1e-12
(finding,) = [f for f in direct.findings if f.check == "forces"]
assert "equivariant and not conservative" in finding.message and "by 0.2" in finding.message
assert np.abs(drift["EMT"]).max() < 1 < 50 < np.abs(drift["Direct"]).max()
