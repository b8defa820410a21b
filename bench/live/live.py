"""What functions of Python cost nero: a call, a run of the digits, an audit through an exported file, and import nero.

    python3 bench/live/live.py [calls] [run] [export] [import]

Needs NumPy, PyTorch and onnx, and Go to build the programs; NERO_BINARY names a program that is built already. gRPC takes part where grpcio is
installed. Ways take turns, and medians of the rounds are printed. Processor time is that of all processes, user and system: on a busy machine
it is the figure to look at. Functions and PyTorch have one thread, and the program its preset of workers. Takes some minutes.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STUDY = ROOT / "studies" / "digits"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
sys.path[:0] = [str(ROOT / "python" / "src"), str(STUDY)]

import numpy as np

from nero._live import Channel
from nero.bridge import Model, Server

ROUNDS = int(os.environ.get("ROUNDS", "5"))
IMAGES, LABELS = STUDY / "data" / "digits1000-images-idx3-ubyte.gz", STUDY / "data" / "digits1000-labels-idx1-ubyte.gz"
FILE = STUDY / "models" / "digits-original.onnx"
DIGITS, ANGLES = 200, 72


def spent():
    a, b = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return a.ru_utime + a.ru_stime + b.ru_utime + b.ru_stime


def took(what):
    c, t = spent(), time.perf_counter()
    what()
    return spent() - c, time.perf_counter() - t


def turns(ways, rounds=ROUNDS):
    """The medians of processor time and clock of every way, which take turns."""
    found = {w: [] for w in ways}
    for _ in range(rounds):
        for w, what in ways.items():
            found[w].append(what())
    return {w: tuple(statistics.median(x) for x in zip(*r)) for w, r in found.items()}


def has_grpc():
    try:
        import grpc  # noqa: F401
    except ImportError:
        return False
    return True


def calls(folder):
    """A call of a function that does nothing."""
    program = str(folder / "calls")
    subprocess.run(["go", "build", "-o", program, str(HERE / "calls.go")], cwd=ROOT, check=True)
    print("| per call: processor ms, clock ms | HTTP loopback | gRPC loopback | socket | socket + shared memory |\n| --- | --- | --- | --- | --- |")
    for title, shape, out, rounds in (
        ("16 × 28 × 28 → 16 × 10", (16, 1, 28, 28), (10,), 300),
        ("8 × 3 × 224 × 224 → 8 × 1000", (8, 3, 224, 224), (1000,), 40),
        ("8 × 2 × 256 × 256 → the same", (8, 2, 256, 256), (2, 256, 256), 40),
    ):
        y = np.zeros((shape[0], *out), np.float32)
        fn = (lambda x, y=y: y) if out != shape[1:] else (lambda x: x)
        model = Model("m", fn, {"x": ("FP32", [-1, *shape[1:]])}, {"y": ("FP32", [-1, *out])})

        def asked(url, channel=None):
            args = [program, url, str(rounds), ",".join(map(str, shape))]
            before = resource.getrusage(resource.RUSAGE_SELF)
            if channel is None:
                text = subprocess.run(args, stdout=subprocess.PIPE, check=True).stdout
            else:
                with channel as c:
                    p = c.start(args, stdout=subprocess.PIPE)
                    c.serve()
                    text = p.communicate()[0]
            after = resource.getrusage(resource.RUSAGE_SELF)
            r = json.loads(text)
            here = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return 1e3 * (r["processor"] + here / rounds), 1e3 * r["clock"]

        with Server([model], port=0, **({"grpc_port": 0} if has_grpc() else {})) as s:
            ways = {u.split(":")[0]: lambda u=u: asked(u) for u in s.urls()}
            ways["socket"] = lambda: asked("live://m", Channel([model], shared=False))
            ways["shared"] = lambda: asked("live://m", Channel([model]))
            found = turns(ways)
        cells = [f"{found[w][0]:.2f}, {found[w][1]:.2f}" if w in found else "" for w in ("http", "grpc", "socket", "shared")]
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


def study(folder, entry):
    text = (
        f"models: [{{name: m, {entry}}}]\ndata: {{format: idx, images: {IMAGES}, labels: {LABELS}, limit: {DIGITS}}}\n"
        f"input: {{scale: 255, mean: [0.1307], std: [0.3081]}}\ngroup: {{name: SO(2), orbit: {{grid: [{ANGLES}]}}}}\nseed: 7\n"
    )
    path = Path(tempfile.mkdtemp(dir=folder)) / "study.yaml"
    path.write_text(text)
    return [*NERO, "run", str(path), "-o", str(path.parent / "out"), "-q"]


def run(folder):
    """A run of the digits as file and as function, and PyTorch alone: the same digits, angles, batches and threads."""
    import torch

    import models

    torch.set_num_threads(1)
    net = models.load("original", str(FILE))
    grid = models.grid(torch.arange(ANGLES, dtype=torch.float64) * (360 / ANGLES))
    images = torch.from_numpy(models.read_idx(str(IMAGES))[:DIGITS].copy()).float()[:, None]

    def call(x):
        with torch.no_grad():
            return net(torch.from_numpy(x)).numpy()

    model = Model("m", call, {"x": ("FP32", [-1, 1, 28, 28])}, {"y": ("FP32", [-1, 10])})

    def live(batch, shared):
        with Channel([model], shared=shared) as c:
            p = c.start(study(folder, f"endpoint: 'live://m', batch: {batch}"), stdout=subprocess.DEVNULL)
            c.serve()
            assert p.wait() == 0 and c.error is None

    def file(batch):
        subprocess.run(study(folder, f"onnx: {FILE}"), stdout=subprocess.DEVNULL, check=True)

    def alone(batch):
        with torch.no_grad():
            for x in images:
                moved = torch.nn.functional.grid_sample(x[None].expand(ANGLES, 1, 28, 28), grid, mode="bilinear", align_corners=True)
                for part in moved.split(batch):
                    net(models.scale(part)).softmax(1)

    alone(64)
    print(f"\n| run of {DIGITS * ANGLES:,} evaluations: processor s, clock s | ONNX | live, socket | live, shared | PyTorch alone | live over PyTorch alone: processor, clock |")
    print("| --- | --- | --- | --- | --- | --- |")
    for batch in (8, 64):
        found = turns({
            "file": lambda: took(lambda: file(batch)), "socket": lambda: took(lambda: live(batch, False)),
            "shared": lambda: took(lambda: live(batch, True)), "alone": lambda: took(lambda: alone(batch)),
        })
        cells = [f"{found[w][0]:.2f}, {found[w][1]:.2f}" for w in ("file", "socket", "shared", "alone")]
        print(f"| batch {batch} | " + " | ".join(cells) + f" | {found['shared'][0] / found['alone'][0]:.2f}, {found['shared'][1] / found['alone'][1]:.2f} (at most 1.25) |", flush=True)


def export(folder):
    """An audit of a torch module through an exported file, after the export, over the command line on that file."""
    import torch

    import models
    import nero

    torch.set_num_threads(1)
    net = models.load("original", str(FILE))
    data = (models.read_idx(str(IMAGES))[:100].copy() / np.float32(255)).astype("f4")[:, None]
    study = nero.study(net, data, "C4", equivariant=False, out=folder / "export")  # which exports

    def line():
        args = [*NERO, "audit", str(study.folder / "study.yaml"), "-q", "-f", "json", "-o", tempfile.mkdtemp(dir=folder) + "/audit", "--fail-on", "nothing"]
        return took(lambda: subprocess.run(args, stdout=subprocess.DEVNULL, check=True))

    def python():
        return took(lambda: study.audit(progress=False))

    found = turns({"python": python, "line": line})
    print(f"\naudit after export: {found['python'][0]:.2f} s of processor time, {found['python'][1]:.2f} s; the command line on the same file: "
          f"{found['line'][0]:.2f} s, {found['line'][1]:.2f} s; ratio {found['python'][0] / found['line'][0]:.2f} (at most 1.1)", flush=True)


def imports(folder):
    """import nero over NumPy."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python" / "src"), "PYTHONDONTWRITEBYTECODE": ""}

    def started(code):
        return took(lambda: subprocess.run([sys.executable, "-c", code], env=env, check=True))

    started("import numpy, nero")
    found = turns({"numpy": lambda: started("import numpy"), "nero": lambda: started("import numpy, nero")}, 3 * ROUNDS)
    print(f"\nimport nero over NumPy: {1e3 * (found['nero'][0] - found['numpy'][0]):.0f} ms of processor time (at most 60)")


NERO = []
PARTS = {"calls": calls, "run": run, "export": export, "import": imports}


def main():
    asked = sys.argv[1:] or list(PARTS)
    if set(asked) - set(PARTS):
        sys.exit(f"{' '.join(asked)}: expected some of {' '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as d:
        program = os.environ.get("NERO_BINARY")
        if not program:
            program = d + "/nero"
            subprocess.run(["go", "build", "-o", program, "./cmd/nero"], cwd=ROOT, check=True)
            os.environ["NERO_BINARY"] = program
        NERO[:] = [program]
        for name in asked:
            PARTS[name](Path(d))


if __name__ == "__main__":
    main()
