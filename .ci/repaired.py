"""Holds a repaired file against onnx.checker and versions of ONNX Runtime.

repaired.py check FILE: the checker with shape inference, and the newest runtime on a sample alone and among others.
repaired.py engines FILE AUDIT: what an audit with the check engines says of it.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-4  # of the largest number of an answer: float32, in other orders
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(uint8)": np.uint8}


def feeds(session: onnxruntime.InferenceSession, batch: int) -> dict[str, np.ndarray]:
    """Numbers for every input, the same ones whenever they are asked for."""
    draw = np.random.default_rng(1)
    out = {}
    for port in session.get_inputs():
        shape = [d if isinstance(d, int) else batch for d in port.shape]
        kind = TYPES[port.type]
        out[port.name] = (draw.random(shape) * (255 if kind is np.uint8 else 1)).astype(kind)
    return out


def check(path: str) -> bool:
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = feeds(session, 7)
    whole = session.run(None, given)
    apart = 0.0
    if all(not isinstance(p.shape[0], int) for p in session.get_inputs()):
        alone = session.run(None, {k: v[:1] for k, v in given.items()})
        apart = max(float(np.abs(a - b[:1]).max() / np.abs(b).max()) for a, b in zip(alone, whole, strict=True))
    good = bool(all(np.isfinite(y).all() for y in whole) and apart <= TOLERANCE)
    print(f"{path}: onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}, alone and among others {apart:.1e} apart")
    return good


def engines(path: str, audit: str) -> bool:
    model = json.loads(pathlib.Path(audit).read_text())["models"][0]
    on = [fact["value"] for fact in model["about"] if fact["name"] == "engine"]
    for told in model["checks"]:
        if told["check"] == "engines":
            print(path, *on, told["status"], *[m["text"] for m in told["measures"]])
            return told["status"] == "tested" and not told["findings"]
    print(path, *on, "was not compared")
    return False


if __name__ == "__main__":
    what = {"check": check, "engines": engines}[sys.argv[1]]
    sys.exit(0 if what(*sys.argv[2:]) else 1)
