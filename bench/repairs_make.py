#!/usr/bin/env python3
"""A network of digits whose only fault is a dense layer on a map, for the row `moments` of bench/repairs.

    python3 bench/repairs_make.py FOLDER

Eight kernels of rings, which quarter turns and mirrors leave alone, a mean over 4 x 4 pixels, and a dense layer on the
7 x 7 places that are left. It learns the first half of MNIST's test set, upright, and writes network.onnx; the second
half, which it has not seen, is written beside it as images.idx and labels.idx. Needs torch and onnx; half a minute.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

DATA = Path(__file__).resolve().parent.parent / "studies" / "digits" / "data"
HALF, CHANNELS, SIZE = 5000, 8, 7


def rings():
    """One matrix that makes a kernel of 5 x 5 of a weight for each distance from its middle."""
    y, x = np.mgrid[-2:3, -2:3]
    squares = (x * x + y * y).ravel()
    return torch.tensor(np.stack([squares == d for d in sorted(set(squares))]).astype(np.float32))


def main():
    folder = Path(sys.argv[1])
    images = np.frombuffer(gzip.open(DATA / "t10k-images-idx3-ubyte.gz").read(), np.uint8)[16:].reshape(-1, 28, 28)
    labels = np.frombuffer(gzip.open(DATA / "t10k-labels-idx1-ubyte.gz").read(), np.uint8)[8:]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x = torch.tensor((images[:HALF, None] / 255.0 - 0.1307) / 0.3081, dtype=torch.float32)
    y = torch.tensor(labels[:HALF], dtype=torch.int64)
    basis = rings()
    weights = (torch.randn(CHANNELS, len(basis)) / 3).requires_grad_()
    bias = torch.zeros(CHANNELS, requires_grad=True)
    dense = torch.nn.Linear(CHANNELS * SIZE * SIZE, 10)
    step = torch.optim.Adam([weights, bias, *dense.parameters()], lr=2e-3)
    for _ in range(4):
        for batch in torch.randperm(HALF).split(100):
            kernel = (weights @ basis).reshape(CHANNELS, 1, 5, 5)
            maps = torch.relu(torch.nn.functional.conv2d(x[batch], kernel, bias, padding=2))
            out = dense(torch.nn.functional.avg_pool2d(maps, 4).flatten(1))
            step.zero_grad()
            torch.nn.functional.cross_entropy(out, y[batch]).backward()
            step.step()
    kernel = (weights @ basis).reshape(CHANNELS, 1, 5, 5).detach().numpy()
    stored = {"kernel": kernel, "bias": bias.detach().numpy(), "dense.weight": dense.weight.detach().numpy(),
              "dense.bias": dense.bias.detach().numpy()}
    nodes = [
        helper.make_node("Conv", ["image", "kernel", "bias"], ["c"], "conv", pads=[2, 2, 2, 2]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("AveragePool", ["r"], ["p"], "pool", kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "dense.weight", "dense.bias"], ["logits"], "dense", transB=1),
    ]
    graph = helper.make_graph(
        nodes, "rings", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in stored.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "network.onnx")
    for name, values in (("images", images[HALF:]), ("labels", labels[HALF:])):
        head = bytes([0, 0, 8, values.ndim]) + b"".join(n.to_bytes(4, "big") for n in values.shape)
        (folder / f"{name}.idx").write_bytes(head + values.tobytes())


if __name__ == "__main__":
    main()
