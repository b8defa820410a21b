"""Makes ions.sdf and ions.json beside it with RDKit 2022.09.3 (Debian 12): three molecules with charges, bonds and properties, and what RDKit says of them."""

import json
from pathlib import Path

from rdkit import Chem
from rdkit.Chem import AllChem

HERE = Path(__file__).resolve().parent
writer = Chem.SDWriter(str(HERE / "ions.sdf"))
out = []
for k, (name, smiles) in enumerate([("acetate", "CC(=O)[O-]"), ("methylammonium", "C[NH3+]"), ("chlorobenzene", "Clc1ccccc1")]):
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(mol, randomSeed=7)
    mol.SetProp("_Name", name)
    mol.SetProp("energy", str(-1.5 * (k + 1)))
    mol.SetProp("smiles", smiles)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    writer.write(mol)
    c = mol.GetConformer()
    out.append({
        "name": name,
        "numbers": [a.GetAtomicNum() for a in mol.GetAtoms()],
        "charges": [a.GetFormalCharge() for a in mol.GetAtoms()],
        "positions": [round(v, 4) for i in range(mol.GetNumAtoms()) for v in c.GetAtomPosition(i)],
        "bonds": [[b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())] for b in mol.GetBonds()],
    })
writer.close()
(HERE / "ions.json").write_text(json.dumps(out) + "\n")
