# Writes irreps.json: rows of irreps, moved by e3nn under rotations and reflections; the independent source of a test.
#   python3 -m venv v && v/bin/pip install e3nn==0.5.1 && v/bin/python irreps.py
# made with e3nn 0.5.1 and torch 2.15.0 in float64.
import json
import torch
from e3nn import o3

torch.set_default_dtype(torch.float64)
torch.manual_seed(2)
out = []
for name in ("4x0e+2x1o", "0o+1e+2x2o", "3e+3o+2x0e+1x4e", "5o+6e+1o"):
    irreps = o3.Irreps(name)
    for sign in (1, -1):
        a = sign * o3.rand_matrix()
        x = torch.randn(3, irreps.dim)
        y = x @ irreps.D_from_matrix(a).T
        out.append({"irreps": name, "a": a.flatten().tolist(), "x": x.flatten().tolist(), "y": y.flatten().tolist()})
with open("irreps.json", "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
