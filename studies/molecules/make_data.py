"""Makes data/train.xyz, data/test.xyz and data/molecules.csv.

    python3 make_data.py [--work DIR]

Needs Debian 12's python3-rdkit and rdkit-data 202209.3 and xtb 6.5.1. Small molecules of H, C, N and O are drawn from NCI's first
5,000 structures, built with ETKDG, relaxed with GFN2-xTB and put into their principal axes; conformations are drawn from the
harmonic thermal distribution around the minimum, and GFN2-xTB gives each its energy and its forces. About ten minutes of one core.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import csv
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem

HERE = Path(__file__).parent
NCI = "/usr/share/RDKit/Data/NCI/first_5K.smi"
SEED = 20240717
KNOWN, FRAMES, NEW, NEW_FRAMES = 100, 20, 30, 2  # molecules and frames of training; molecules seen only in the test
ATOMS = 24                                       # at most, with hydrogen
EV, BOHR = 27.211386245988, 0.529177210903       # CODATA 2018: eV a hartree, angstrom a bohr
KB = 8.617333262e-5                              # eV / K
DALTON = 1822.888486209                          # electron masses
SOFT = 200 / 219474.6313632                      # 200 / cm in hartree: softer modes are drawn as if they were this stiff
SYMBOL = {1: "H", 6: "C", 7: "N", 8: "O"}
MASS = {1: 1.008, 6: 12.011, 7: 14.007, 8: 15.999}


def candidates():
    """Molecules of 9 to 24 atoms, in the order of the file: one piece, H C N O, no charges, no radicals, nothing twice."""
    seen, out = set(), []
    for line in open(NCI):
        smiles, number = line.split()[:2]
        mol = Chem.MolFromSmiles(smiles)
        if mol is None or "." in smiles or mol.GetNumHeavyAtoms() < 4:
            continue
        if any(a.GetAtomicNum() not in SYMBOL or a.GetFormalCharge() or a.GetNumRadicalElectrons() or a.GetIsotope()
               for a in mol.GetAtoms()):
            continue
        canon = Chem.MolToSmiles(mol)
        full = Chem.AddHs(mol)
        if canon in seen or not 9 <= full.GetNumAtoms() <= ATOMS:
            continue
        seen.add(canon)
        out.append(("nci-" + number, canon, full))
    return out


def write_xyz(path, z, x):
    rows = "".join("%s %.8f %.8f %.8f\n" % (SYMBOL[a], *r) for a, r in zip(z, x))
    path.write_text("%d\n\n%s" % (len(z), rows))


def xtb(work, *args):
    done = subprocess.run(["xtb", *args], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or "abnormal" in done.stdout[-400:]:
        return None
    return done.stdout


def read_gradient(work, n):
    """Energy in eV and forces in eV / angstrom, from the file in the format of Turbomole."""
    lines = (work / "gradient").read_text().replace("D", "E").splitlines()
    energy = float(lines[1].split("=")[2].split()[0])
    rows = np.array([[float(v) for v in s.split()] for s in lines[2 + n:2 + 2 * n]])
    return energy * EV, -rows * EV / BOHR


def energy_forces(work, z, x):
    for name in ("gradient", "energy", "xtbrestart"):
        (work / name).unlink(missing_ok=True)
    write_xyz(work / "in.xyz", z, x)
    if xtb(work, "in.xyz", "--gfn", "2", "--grad", "--acc", "0.1") is None:
        return None
    return read_gradient(work, len(z))


def principal(z, x):
    """Moved to the centre of mass and turned to the principal axes, largest extent along x; right-handed, signs by third moments."""
    m = np.array([MASS[a] for a in z])
    x = x - (m[:, None] * x).sum(0) / m.sum()
    _, axes = np.linalg.eigh((m[:, None] * x).T @ x)
    axes = axes[:, ::-1]
    third = (m[:, None] * (x @ axes) ** 3).sum(0)
    axes = axes * np.where(third < 0, -1, 1)
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1
    return x @ axes, axes


def minimum(work, mol, seed):
    """Geometry at the minimum and the modes: displacements in angstrom for one unit of sqrt(kT / eV)."""
    if AllChem.EmbedMolecule(mol, randomSeed=seed) != 0:
        return None
    AllChem.MMFFOptimizeMolecule(mol, maxIters=2000)
    z = [a.GetAtomicNum() for a in mol.GetAtoms()]
    for path in work.iterdir():
        path.unlink()
    x, _ = principal(z, mol.GetConformer().GetPositions())
    write_xyz(work / "in.xyz", z, x)
    if xtb(work, "in.xyz", "--gfn", "2", "--ohess", "tight") is None or not (work / "xtbopt.xyz").exists():
        return None
    rows = (work / "xtbopt.xyz").read_text().splitlines()[2:]
    x = np.array([[float(v) for v in s.split()[1:4]] for s in rows])
    n = len(z)
    hess = np.array([float(v) for s in (work / "hessian").read_text().splitlines() if "$" not in s for v in s.split()])
    hess = hess.reshape(3 * n, 3 * n)
    turned, axes = principal(z, x)
    root = np.repeat(np.sqrt([MASS[a] * DALTON for a in z]), 3)
    block = np.kron(np.eye(n), axes)
    hess = block.T @ hess @ block / root[:, None] / root
    w2, modes = np.linalg.eigh((hess + hess.T) / 2)
    keep = np.argsort(np.abs(w2))[6:]
    if (w2[keep] < -SOFT ** 2).any():
        return None  # a saddle, not a minimum
    w = np.sqrt(np.maximum(w2[keep], SOFT ** 2))
    # <q^2> = kT / w^2 in atomic units, mass-weighted; in angstrom for kT of 1 eV.
    scale = BOHR / np.sqrt(EV) * modes[:, keep] / root[:, None] / w
    return z, turned, scale


def frames(work, z, x, scale, count, rng):
    out = []
    while len(out) < count:
        kt = KB * rng.uniform(100, 900)
        moved = x + (scale @ rng.normal(size=scale.shape[1]) * np.sqrt(kt)).reshape(x.shape)
        moved = np.round(moved, 4)
        got = energy_forces(work, z, moved)
        if got is not None and np.abs(got[1]).max() < 15:
            out.append((moved, *got))
    return out


def dump(path, rows, base):
    with open(path, "w") as f:
        for name, z, x, energy, force in rows:
            rest = energy - sum(base[a] for a in z)
            f.write("%d\nProperties=species:S:1:pos:R:3:forces:R:3 energy=%.4f name=%s pbc=\"F F F\"\n" % (len(z), rest, name))
            for a, p, q in zip(z, x, force):
                f.write("%s %.4f %.4f %.4f %.3f %.3f %.3f\n" % (SYMBOL[a], *p, *(q + 0.0)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", help="a folder for xtb's files; else one of the system's that is removed")
    work = Path(parser.parse_args().work or tempfile.mkdtemp())
    work.mkdir(exist_ok=True)
    RDLogger.DisableLog("rdApp.*")
    rng = np.random.default_rng(SEED)
    pool = candidates()
    print(len(pool), "molecules to draw from", flush=True)
    train, test, table = [], [], []
    known = new = 0
    for k in rng.permutation(len(pool)):
        name, smiles, mol = pool[k]
        if known == KNOWN and new == NEW:
            break
        got = minimum(work, mol, SEED + int(k))
        if got is None:
            continue
        z, x, scale = got
        if known < KNOWN:
            rows = [(name, z, *r) for r in frames(work, z, x, scale, FRAMES + 1, rng)]
            train += rows[:-1]
            test += rows[-1:]
            known += 1
        else:
            test += [(name, z, *r) for r in frames(work, z, x, scale, NEW_FRAMES, rng)]
            new += 1
        table.append((name, smiles, len(z), "train" if new == 0 else "new"))
        print(known, new, name, smiles, len(z), flush=True)
    counts = np.array([[r[1].count(a) for a in SYMBOL] for r in train], float)
    fit = np.linalg.lstsq(counts, np.array([r[3] for r in train]), rcond=None)[0]
    base = dict(zip(SYMBOL, fit))
    for rows in (train, test):
        rest = np.array([r[3] - sum(base[a] for a in r[1]) for r in rows])
        print(len(rows), "frames, energies: mean %.3f, deviation %.3f eV" % (rest.mean(), rest.std()))
    print("baseline, eV:", {SYMBOL[a]: round(v, 6) for a, v in base.items()})
    order = rng.permutation(len(train))
    dump(HERE / "data" / "train.xyz", [train[i] for i in order], base)
    dump(HERE / "data" / "test.xyz", test, base)
    with open(HERE / "data" / "molecules.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["name", "smiles", "atoms", "split"])
        w.writerows(table)
    if not parser.parse_args().work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
