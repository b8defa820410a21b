"""A program that audits or runs a model, for tests that kill it. Its argument is what to do, as JSON."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict

import nero
import numpy as np

#: How long a call takes, in seconds, so that there is time to be killed in.
CALL = 0.002


FILE = Path(__file__).resolve().parents[2] / "studies/digits/models/digits-c4.onnx"


def weights() -> Any:
    return np.random.default_rng(6).standard_normal((784, 3)).astype("f4")


class Deliberate(Exception):
    """What the function raises."""


def children() -> "list[int]":
    """The processes that this one started."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as f:
            found += [int(p) for p in f.read().split()]
    return found


def hang() -> None:
    print("hangs", flush=True)
    while True:
        time.sleep(60)


def kill_the_program() -> None:
    for p in children():
        os.kill(p, signal.SIGKILL)


def raises(e: BaseException) -> None:
    raise e


#: What the function may do instead of an answer.
DEEDS: Dict[str, Callable[[], None]] = {
    "raise": lambda: raises(Deliberate("at a call")),
    "exit": lambda: os._exit(7),
    "interrupt": lambda: raises(KeyboardInterrupt()),
    "leave": lambda: raises(SystemExit(3)),
    "hang": hang,
    "kill": kill_the_program,
}


def function(deed: str, at: int) -> "Callable[[Any], Any]":
    calls = [0]

    def net(x: Any) -> Any:
        calls[0] += 1
        time.sleep(CALL)
        if deed and calls[0] == at:
            DEEDS[deed]()
        return x.reshape(len(x), -1) @ weights()

    return net


def module() -> Any:
    """A module that is exported to a file."""
    import torch

    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 3))
    with torch.no_grad():
        net[1].weight.copy_(torch.from_numpy(weights().T.copy()))
        net[1].bias.zero_()
    return net


def main() -> None:
    how = json.loads(sys.argv[1])
    models = {"function": lambda: function(how.get("deed", ""), how.get("at", 0)), "module": module, "file": lambda: FILE}
    images = np.random.default_rng(5).integers(0, 255, (how["samples"], 28, 28), dtype=np.uint8)
    lost = nero.study("none.onnx", images[:2], "C4", equivariant=False)  # in a folder that nobody named
    keys: Dict[str, Any] = {"out": how["out"], "progress": False, "workers": 2, "labels": np.arange(len(images)) % 3, "equivariant": False}
    keys["engine"] = how.get("engine", "auto")
    if how["what"] == "run":
        nero.run({"net": models[how["model"]]()}, images, "SO(2)", orbit=36, **keys)
    else:
        nero.audit({"net": models[how["model"]]()}, images, "SO(2)", orbit=36, audit={"checks": ["lattice", "endtoend", "decision"]}, **keys)
    assert lost.folder.is_dir()


if __name__ == "__main__":
    main()
