"""Holds a repaired file against onnx.checker and versions of ONNX Runtime.

repaired.py plant FOLDER: models that padding, size and symmetrize are for.
repaired.py written BILL: each method that was tried wrote a file.
repaired.py check FILE: the checker with shape inference, what the newest runtime warns of, and whether it answers a sample alone as it
does among others.
repaired.py audit FILE AUDIT: what an audit says of batches, and of other engines if it asked.
"""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TOLERANCE = 1e-4  # of the largest number of an answer: float32, in other orders
FLOATS = {"tensor(float)": np.float32, "tensor(double)": np.float64}
WHOLE = {"tensor(uint8)": (np.uint8, 256), "tensor(int32)": (np.int32, 4), "tensor(int64)": (np.int64, 4)}


def feeds(session: onnxruntime.InferenceSession, batch: int) -> dict[str, np.ndarray]:
    """Numbers for every input, the same ones whenever they are asked for."""
    draw = np.random.default_rng(1)
    out = {}
    for port in session.get_inputs():
        shape = [batch if k == 0 else 24 for k in range(len(port.shape))]
        shape = [d if isinstance(d, int) else free for d, free in zip(port.shape, shape, strict=True)]
        if port.type in FLOATS:
            out[port.name] = draw.random(shape).astype(FLOATS[port.type])
        else:
            kind, most = WHOLE[port.type]
            out[port.name] = draw.integers(1, most, shape).astype(kind)
    return out


def warnings(path: str) -> tuple[onnxruntime.InferenceSession, str]:
    """A session, and what the runtime wrote to standard error while it opened the file."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        said.seek(0)
        return session, said.read().decode(errors="replace").strip()


def check(path: str) -> bool:
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session, said = warnings(path)
    given = feeds(session, 7)
    whole = session.run(None, given)
    apart = 0.0
    if all(not isinstance(p.shape[0], int) for p in session.get_inputs()):
        alone = session.run(None, {k: v[:1] for k, v in given.items()})
        apart = max(float(np.abs(a - b[:1]).max() / np.abs(b).max()) for a, b in zip(alone, whole, strict=True))
    good = bool(all(np.isfinite(y).all() for y in whole) and apart <= TOLERANCE and not said)
    print(f"{path}: onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}, alone and among others {apart:.1e} apart", said)
    return good


def written(bill: str) -> bool:
    good = True
    for model in json.loads(pathlib.Path(bill).read_text())["models"]:
        good = good and bool(model["tried"])
        for tried in model["tried"]:
            print(model["model"], tried["method"], tried["state"], tried.get("refused", tried.get("done", "")))
            good = good and tried["state"] == "written" and not tried.get("not_finite")
    return good


def audit(path: str, file: str) -> bool:
    model = json.loads(pathlib.Path(file).read_text())["models"][0]
    on = [fact["value"] for fact in model["about"] if fact["name"] == "engine"]
    if model.get("error"):
        print(path, *on, model["error"])
        return False
    good = True
    for told in model["checks"]:
        if told["check"] in ("preflight", "company", "engines"):
            found = [f["message"] for f in told["findings"]]
            print(path, *on, told["check"], told["status"], *[m["text"] for m in told["measures"]], *found, told.get("reason", ""), sep="; ")
            good = good and told["status"] == "tested" and not found
    return good


def save(path: pathlib.Path, nodes: list, stored: dict[str, np.ndarray], answer: list) -> None:
    graph = helper.make_graph(
        nodes,
        "planted",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", *answer])],
        [numpy_helper.from_array(x.astype(np.float32), name) for name, x in stored.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def plant(folder: str) -> bool:
    out = pathlib.Path(folder)
    draw = np.random.default_rng(2)
    # One layer of a network that keeps quarter turns gets a little noise.
    model = onnx.load("studies/digits/models/digits-c4.onnx")
    for stored in model.graph.initializer:
        if stored.name == "conv3.weight":
            w = numpy_helper.to_array(stored)
            stored.CopyFrom(numpy_helper.from_array((w + 0.05 * np.abs(w).mean() * draw.standard_normal(w.shape)).astype(np.float32), stored.name))
    onnx.save(model, out / "planted-lopsided.onnx")
    # Kernels that keep quarter turns, on every third of 28 pixels: the grid stays on itself for 27 and 30 alone.
    k = draw.standard_normal((8, 1, 3, 3))
    k = sum(np.rot90(k, i, (2, 3)) for i in range(4)) / 4
    nodes = [
        helper.make_node("Conv", ["image", "k"], ["maps"], strides=[3, 3]),
        helper.make_node("Relu", ["maps"], ["lit"]),
        helper.make_node("GlobalAveragePool", ["lit"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w", "b"], ["y"]),
    ]
    save(out / "planted-strided.onnx", nodes, {"k": k, "w": draw.standard_normal((8, 10)), "b": draw.standard_normal(10)}, [10])
    # A picture from a picture, with zeros beyond its border.
    nodes = [
        helper.make_node("Conv", ["image", "k"], ["maps"], pads=[1, 1, 1, 1]),
        helper.make_node("Tanh", ["maps"], ["bent"]),
        helper.make_node("Conv", ["bent", "j"], ["y"], pads=[2, 2, 2, 2]),
    ]
    save(out / "planted-padded.onnx", nodes, {"k": draw.standard_normal((4, 1, 3, 3)), "j": draw.standard_normal((1, 4, 5, 5))}, [1, 28, 28])
    return True


if __name__ == "__main__":
    what = {"plant": plant, "written": written, "check": check, "audit": audit}[sys.argv[1]]
    sys.exit(0 if what(*sys.argv[2:]) else 1)
