"""Trains the networks of models.py on data/train.xyz and writes models/molecules-NAME.onnx.

    python3 train.py [NAME ...]

`conservative`, `direct` and `mlp` start from drawn weights; the faulty twins start from those of models/molecules-conservative.onnx. Frames are as they are in the file: centred on the centre of mass, in
their principal axes, nothing turned. One thread. Debian 12's python3-torch 1.13.1 and python3-onnx 1.12.0 write the same bytes again on
the same kind of processor; other versions and processors round differently.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import hashlib
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from torch.nn.functional import smooth_l1_loss

import models

HERE = Path(__file__).parent
SEED, BATCH, DECAY = 20240718, 20, 1e-4
# Steps and the highest learning rate.
PLAN = {"conservative": (9000, 4e-3), "direct": (12000, 4e-3), "mlp": (12000, 1e-3),
        "cutoff": (600, 1e-3), "capped": (600, 1e-3), "uncentered": (600, 1e-3)}


def loss(energy, forces, e, f, real):
    """Smooth mean absolute errors: of force components over atoms that are there, and a fifth of the energies'."""
    return smooth_l1_loss(forces * real, f, beta=0.1, reduction="sum") / (3 * real.sum()) + 0.2 * smooth_l1_loss(energy, e, beta=0.1)


def train(name, data):
    torch.manual_seed(SEED)
    net = models.make(name)
    x, z, e, f = data
    if isinstance(net, models.Field):
        with torch.no_grad():
            some = slice(0, 200)
            kind, *_, m = net.moments(x[some], z[some])
            spread = net.descriptors(m).flatten(2)[z[some] > 0].std(0)
        net.norm.copy_(1 / (spread + 1e-3))
    if name in ("cutoff", "capped", "uncentered"):
        old = models.load("conservative", HERE / "models" / "molecules-conservative.onnx").state_dict()
        net.load_state_dict(old, strict=False)
    steps, rate = PLAN[name]
    opt = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, rate, total_steps=steps, pct_start=0.1)
    rng = np.random.default_rng(SEED + 1)
    start, total, order = time.perf_counter(), [], []
    for step in range(steps):
        if len(order) < BATCH:
            order = list(rng.permutation(len(x)))
        pick = [order.pop() for _ in range(BATCH)]
        size = models.SIZE if name == "mlp" else int((z[pick] > 0).sum(1).max())
        real = (z[pick, :size] > 0).float().unsqueeze(2)
        energy, forces = net(x[pick, :size], z[pick, :size])
        fail = loss(energy, forces, e[pick], f[pick, :size], real)
        opt.zero_grad()
        fail.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        plan.step()
        total.append(fail.item())
        if (step + 1) % 500 == 0:
            print("%s %d loss %.4f, %.0f s" % (name, step + 1, np.mean(total[-500:]), time.perf_counter() - start), flush=True)
    return net.eval()


def export(net, data, path):
    axes = {p: {0: "batch"} for p in ("positions", "species", "energy", "forces")}
    free = net.variant != "mlp"
    if free:
        for p in ("positions", "species", "forces"):
            axes[p][1] = "atoms"
    args = data[0][:2], data[1][:2]
    warnings.filterwarnings("ignore")
    torch.onnx.export(net, args, str(path), opset_version=13, input_names=["positions", "species"], output_names=["energy", "forces"],
                      dynamic_axes=axes)
    model = onnx.load(str(path))
    with torch.no_grad():
        out = net(*args)
    for port, o in zip(model.graph.output, out):
        for axis, (dim, size) in enumerate(zip(port.type.tensor_type.shape.dim, o.shape)):
            if axis not in axes[port.name]:
                dim.dim_value = size  # the exporter loses some sizes that are fixed
    notes = {"species": " ".join(map(str, models.SPECIES)), "padding": "0", "units": "angstrom, eV, eV/angstrom"}
    onnx.helper.set_model_props(model, notes)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))
    print(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest(), sorted({n.op_type for n in model.graph.node}))


def main():
    torch.set_num_threads(1)
    _, x, z, e, f = models.read(HERE / "data" / "train.xyz")
    data = [torch.from_numpy(a) for a in (x.astype(np.float32), z, e.astype(np.float32), f.astype(np.float32))]
    (HERE / "models").mkdir(exist_ok=True)
    for name in sys.argv[1:] or PLAN:
        net = train(name, data)
        export(net, data, HERE / "models" / ("molecules-%s.onnx" % name))


if __name__ == "__main__":
    main()
