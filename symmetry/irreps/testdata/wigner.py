# Writes wigner.json: real Wigner matrices and spherical harmonics of e3nn, the independent source of the tests.
#   python3 -m venv v && v/bin/pip install e3nn==0.5.1 && v/bin/python wigner.py
# made with e3nn 0.5.1 and torch 2.15.0 in float64. Reference values are rounded to 15 digits.
import json, math
import torch
from e3nn import o3

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)

def axis_angle(axis, deg):
    a = torch.tensor(axis, dtype=torch.float64)
    return o3.axis_angle_to_matrix(a / a.norm(), torch.tensor(math.radians(deg)))

# e3nn goes by Euler angles, read by acos: of rotations that nearly keep the axis y, such as one by 1e-6 degrees, only half of the digits are
# right, so there is none among these but the identity and the half turn, where they are.
rotations = {
    "identity": torch.eye(3),
    "quarter turn about z": torch.tensor([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]),
    "half turn about y": torch.tensor([[-1.0, 0, 0], [0, 1, 0], [0, 0, -1]]),
    "third of a turn about 111": torch.tensor([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "30 deg about x": axis_angle([1, 0, 0], 30),
    "77 deg about 1 2 -3": axis_angle([1, 2, -3], 77),
    "179.9 deg about -1 1 5": axis_angle([-1, 1, 5], 179.9),
    "1 deg about 3 -1 2": axis_angle([3, -1, 2], 1),
    "random": o3.rand_matrix(),
}
out = {"rotations": [], "harmonics": []}
top = 8
for name, r in rotations.items():
    d = [o3.Irrep(l, 1).D_from_matrix(r).flatten().tolist() for l in range(top + 1)]
    out["rotations"].append({"name": name, "r": r.flatten().tolist(), "d": d})
for p in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3, -1.1, 0.7], [-2, 0.5, 0.25]):
    y = o3.spherical_harmonics(list(range(top + 1)), torch.tensor(p, dtype=torch.float64), normalize=False, normalization="component")
    out["harmonics"].append({"at": p, "y": y.tolist()})
rounded = lambda v: [float(f"{x:.15g}") + 0.0 for x in v]
for r in out["rotations"]:
    r["d"] = [rounded(d) for d in r["d"]]
for h in out["harmonics"]:
    h["y"] = rounded(h["y"])
with open("wigner.json", "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
