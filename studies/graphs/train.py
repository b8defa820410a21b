"""Trains the networks of models.py on data/train.npz and writes models/NAME.onnx.

    python3 train.py [NAME ...]

`deepsets` and `ordered` learn log P of the set of atoms; `gcn` and `gcn_ordered` log P of the graph and the charges of its atoms. Twins
see the same molecules in the same order, atoms in the order of the file. One thread, a few minutes each. Debian 12's python3-torch 1.13.1
and python3-onnx 1.12.0 write the same bytes again on the same kind of processor; other versions and processors round differently.
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
SEED, BATCH, RATE, DECAY = 20240721, 32, 2e-3, 1e-3
STEPS = {"deepsets": 6000, "ordered": 4000, "gcn": 5000, "gcn_ordered": 5000}


def join(graphs):
    """Graphs laid end to end, as Graph.batch takes them."""
    sizes = np.array([len(g[0]) for g in graphs])
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return [torch.from_numpy(a) for a in (
        np.concatenate([g[0] for g in graphs]), np.concatenate([g[1] + f for g, f in zip(graphs, first)], 1),
        np.concatenate([np.arange(n, dtype=np.float32) for n in sizes]), np.repeat(np.arange(len(sizes)), sizes), sizes.astype(np.float32))]


def train(name, graphs):
    torch.manual_seed(SEED)
    net = models.make(name)
    y = torch.from_numpy(np.stack([g[2] for g in graphs]))
    sets = torch.from_numpy(models.pad(graphs))
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, RATE, total_steps=STEPS[name], pct_start=0.1)
    rng = np.random.default_rng(SEED + 1)
    start, total, order = time.perf_counter(), [], []
    for step in range(STEPS[name]):
        if len(order) < BATCH:
            order = list(rng.permutation(len(graphs)))
        pick = [order.pop() for _ in range(BATCH)]
        if isinstance(net, models.Graph):
            got, q = net.batch(*join([graphs[i] for i in pick]))
            want = torch.from_numpy(np.concatenate([graphs[i][3] for i in pick]))
            fail = smooth_l1_loss(got, y[pick], beta=0.3) + 5 * smooth_l1_loss(q, want, beta=0.03)
        else:
            fail = smooth_l1_loss(net(sets[pick]), y[pick], beta=0.3)
        opt.zero_grad()
        fail.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        plan.step()
        total.append(fail.item())
        if (step + 1) % 1000 == 0:
            print("%s %d loss %.4f, %.0f s" % (name, step + 1, np.mean(total[-1000:]), time.perf_counter() - start), flush=True)
    return net.eval()


def export(net, graphs, path):
    warnings.filterwarnings("ignore")
    if isinstance(net, models.Graph):
        args = torch.from_numpy(graphs[0][0]), torch.from_numpy(graphs[0][1])
        inputs, outputs = ["nodes", "edges"], ["y", "q"]
        axes = {"nodes": {0: "atoms"}, "edges": {1: "edges"}, "q": {0: "atoms"}}
    else:
        args = (torch.from_numpy(models.pad(graphs[:2])),)
        inputs, outputs = ["nodes"], ["y"]
        axes = {"nodes": {0: "batch", 1: "atoms"}, "y": {0: "batch"}}
    torch.onnx.export(net, args, str(path), opset_version=13, input_names=inputs, output_names=outputs, dynamic_axes=axes)
    model = onnx.load(str(path))
    with torch.no_grad():
        out = net(*args)
    for port, o in zip(model.graph.output, out if isinstance(out, tuple) else (out,)):
        for axis, (dim, size) in enumerate(zip(port.type.tensor_type.shape.dim, o.shape)):
            if axis not in axes.get(port.name, {}):
                dim.dim_value = size  # the exporter loses some sizes that are fixed
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))
    print(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest(), sorted({n.op_type for n in model.graph.node}))


def main():
    torch.set_num_threads(1)
    graphs = models.read(HERE / "data" / "train.npz")
    (HERE / "models").mkdir(exist_ok=True)
    for name in sys.argv[1:] or STEPS:
        export(train(name, graphs), graphs, HERE / "models" / (name + ".onnx"))


if __name__ == "__main__":
    main()
