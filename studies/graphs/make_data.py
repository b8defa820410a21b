"""Makes data/train.npz, data/test.npz and data/sets.npz: molecules of NCI's first 5,000 as sets and graphs of heavy atoms.

    python3 make_data.py

Needs Debian 12's python3-rdkit and rdkit-data 202209.3. Half a minute of one core. Arrays are described in data/README.md.
"""

import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, Crippen

HERE = Path(__file__).parent
NCI = "/usr/share/RDKit/Data/NCI/first_5K.smi"
SEED, TRAIN, TEST = 20240719, 2400, 200
LEAST, MOST = 6, 24  # heavy atoms
ELEMENTS = ["C", "N", "O", "F", "S", "Cl"]


def features(atom):
    """14 numbers an atom; the first is 1, so that rows of zeros are padding."""
    hybrid = atom.GetHybridization()
    hetero = sum(n.GetSymbol() != "C" for n in atom.GetNeighbors())
    return [1, *[atom.GetSymbol() == e for e in ELEMENTS], atom.GetTotalNumHs(), atom.GetDegree(), atom.GetIsAromatic(), atom.IsInRing(),
            hybrid == Chem.HybridizationType.SP2, hybrid == Chem.HybridizationType.SP, hetero]


def graph(mol):
    AllChem.ComputeGasteigerCharges(mol)
    nodes = np.array([features(a) for a in mol.GetAtoms()], np.float32)
    q = np.array([[a.GetDoubleProp("_GasteigerCharge") + a.GetDoubleProp("_GasteigerHCharge")] for a in mol.GetAtoms()])
    edges = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()]
    edges = np.array(edges + [(j, i) for i, j in edges], np.int64).T
    return nodes, edges, Crippen.MolLogP(mol), q


def molecules():
    """(name, graph) pairs in the order of the file; atoms in the order of the canonical SMILES."""
    seen = set()
    for line in open(NCI):
        smiles, number = line.split()[:2]
        mol = Chem.MolFromSmiles(smiles)
        if mol is None or "." in smiles or not LEAST <= mol.GetNumHeavyAtoms() <= MOST:
            continue
        if any(a.GetSymbol() not in ELEMENTS or a.GetFormalCharge() or a.GetNumRadicalElectrons() or a.GetIsotope()
               for a in mol.GetAtoms()):
            continue
        canon = Chem.MolToSmiles(mol, isomericSmiles=False)
        if canon in seen:
            continue
        seen.add(canon)
        got = graph(Chem.MolFromSmiles(canon))
        if np.isfinite(got[3]).all():
            yield "nci-" + number, got


def save(path, **arrays):
    """An npz whose bytes depend on the arrays alone: numpy writes the time of day into each entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, a in arrays.items():
            buf = BytesIO()
            np.lib.format.write_array(buf, np.ascontiguousarray(a), version=(1, 0))
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, buf.getvalue())


def write(path, rows):
    save(path, nodes=np.concatenate([g[0] for _, g in rows]), edges=np.concatenate([g[1] for _, g in rows], 1),
         node_count=np.array([len(g[0]) for _, g in rows], np.int64), edge_count=np.array([g[1].shape[1] for _, g in rows], np.int64),
         y=np.array([[g[2]] for _, g in rows]).round(4).astype(np.float32),
         q=np.concatenate([g[3] for _, g in rows]).round(4).astype(np.float32), names=np.array([n for n, _ in rows]))


def main():
    RDLogger.DisableLog("rdApp.*")
    rows = list(molecules())
    print(len(rows), "molecules")
    order = np.random.default_rng(SEED).permutation(len(rows))[:TRAIN + TEST]
    rows = [rows[i] for i in order]
    train, test = rows[:TRAIN], rows[TRAIN:]
    write(HERE / "data" / "train.npz", train)
    write(HERE / "data" / "test.npz", test)
    padded = np.zeros((len(test), MOST, len(test[0][1][0][0])), np.float32)
    for k, (_, g) in enumerate(test):
        padded[k, :len(g[0])] = g[0]
    save(HERE / "data" / "sets.npz", nodes=padded, node_count=np.array([len(g[0]) for _, g in test], np.int64),
         y=np.array([[g[2]] for _, g in test]).round(4).astype(np.float32), names=np.array([n for n, _ in test]))
    y = np.array([g[2] for _, g in rows])
    q = np.concatenate([g[3] for _, g in rows])
    print("%d + %d molecules; logP %.2f +- %.2f; charges +- %.3f" % (len(train), len(test), y.mean(), y.std(), q.std()))


if __name__ == "__main__":
    main()
