"""Of every kind of model an exact and a broken twin: verdict, cause, and the numbers of the command line on the same files.

A further kind is a function that makes both, and a line in TWINS. Files that were exported the command line reads where they lie. A function of this
process it cannot ask, so the same function answers behind a server. Run it as test_libraries says.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

import nero
import numpy as np
from nero.bridge import Server

from tests.test_audit import BROKEN, EXACT, digits, live

#: As many samples as a PASS needs.
N = 80
#: Checks of networks that are dear to ask.
DEAR = {"checks": ["lattice", "lint"]}

#: Of networks that were made for no symmetry, whose layers break it as much as their strides; which comes first depends on the weights.
ORDINARY = ("unconstrained", "striding")


@dataclass(frozen=True)
class Made:
    """The twins, and what both are asked on."""

    exact: Any
    broken: Any
    data: Any
    keys: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Twins:
    """One kind of model."""

    name: str
    make: Callable[[], Made]
    #: What has to be installed.
    libraries: Tuple[str, ...] = ()
    #: Whether a function of this process answers; else it is a file, which the command line reads.
    live: bool = False
    #: What the broken one is said to be; nothing where answers alone do not tell, and no layers are seen.
    causes: Tuple[str, ...] = ("",)
    #: Of audits of dear models, which are asked as often as the tests need them.
    audit: Dict[str, Any] = field(default_factory=dict)


def pictures(channels: int = 1, side: int = 8) -> Any:
    return np.random.default_rng(0).random((N, channels, side, side)).astype("f4")


PLANE: Dict[str, Any] = {"group": "C4", "equivariant": False}


def onnx_file() -> Made:
    return Made(EXACT, BROKEN, digits(N), {**PLANE, "input": {"mean": [0.1307], "std": [0.3081]}})


def network(turned: bool) -> Any:
    """A network of pictures, or what it says in the mean over the quarter turns."""
    import torch

    torch.manual_seed(0)
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))

        def forward(self, x: Any) -> Any:
            if not turned:
                return self.body(x)
            y = x.flip(2).transpose(2, 3)
            return self.body(x) + self.body(y) + self.body(x.flip((2, 3))) + self.body(y.flip((2, 3)))

    return Net()


def torch_exported() -> Made:
    return Made({"net": network(True)}, {"net": network(False)}, pictures(), {**PLANE, "export": True})


def torch_live() -> Made:
    import torch

    net = network(True)

    class Bent(torch.nn.Module):
        """One output reads a place."""

        def forward(self, x: Any) -> Any:
            y = net(x)
            return torch.cat([y[:, :1] + x[:, 0, 2, 3, None], y[:, 1:]], 1)

    return Made({"net": net}, {"net": Bent()}, pictures(), {**PLANE, "export": False})


WEIGHTS = np.random.default_rng(1).standard_normal((1, 3)).astype("f4")


def functions() -> Made:
    def exact(x: Any) -> Any:
        return x.mean((2, 3)) @ WEIGHTS

    def broken(x: Any) -> Any:
        y = exact(x)
        y[:, 1] += 0.2 * x[:, 0, 2, 3]
        return y

    return Made({"f": exact}, {"f": broken}, pictures(), PLANE)


def jax() -> Made:
    import jax

    def exact(x: Any) -> Any:
        return x.mean((2, 3)) @ WEIGHTS

    def broken(x: Any) -> Any:
        return exact(x).at[:, 1].add(0.2 * x[:, 0, 2, 3])  # which no array of NumPy has

    return Made({"f": jax.jit(exact)}, {"f": jax.jit(broken)}, jax.numpy.asarray(pictures()), PLANE)


def sklearn() -> Made:
    from sklearn.linear_model import LinearRegression

    images = pictures()
    flat = images.reshape(N, -1).astype("f8")
    wanted = flat.sum(1, keepdims=True) * [1.0, -2.0, 0.5]
    return Made({"m": LinearRegression().fit(flat, wanted)}, {"m": LinearRegression().fit(flat, wanted + flat[:, 17:18] * [0.0, 9.0, 0.0])}, images, PLANE)


def ase() -> Made:
    from ase import Atoms
    from ase.calculators.emt import EMT

    class Tilted(EMT):  # type: ignore[misc]
        def calculate(self, *args: Any, **kw: Any) -> None:
            super().calculate(*args, **kw)
            self.results["energy"] += self.atoms.positions[:, 0].sum()

    rng = np.random.default_rng(0)
    frames = [Atoms(numbers=rng.choice([29, 13, 47], 3 + i % 2), positions=2 * rng.standard_normal((3 + i % 2, 3))) for i in range(N)]
    return Made({"emt": EMT()}, {"emt": Tilted()}, frames)


def e3nn() -> Made:
    import torch
    from e3nn import o3

    torch.manual_seed(0)
    linear = o3.Linear("4x0e + 2x1o", "3x0e + 1x1o")

    class Bent(torch.nn.Module):
        """One weight more, from a component of a vector to a scalar."""

        irreps_in, irreps_out = "4x0e+2x1o", "3x0e+1x1o"

        def forward(self, x: Any) -> Any:
            y = linear(x)
            return torch.cat([y[..., :1] + x[..., 5:6], y[..., 1:]], -1)

    return Made({"net": linear}, {"net": Bent()}, np.random.default_rng(0).standard_normal((N, 10)).astype("f4"), {"export": False})


def escnn() -> Made:
    import torch
    from escnn import gspaces, nn

    torch.manual_seed(0)
    space = gspaces.rot2dOnR2(4)
    first, inner = nn.FieldType(space, [space.trivial_repr]), nn.FieldType(space, 2 * [space.regular_repr])
    parts = [nn.R2Conv(first, inner, 3, padding=1), nn.ReLU(inner), nn.R2Conv(inner, nn.FieldType(space, [space.regular_repr]), 3, padding=1)]

    class Bent(nn.SequentialModule):  # type: ignore[misc]
        def export(self) -> Any:
            plain = super().export()
            plain[0].weight.data[0, 0, 0, 1] += 1
            return plain

    return Made({"net": nn.SequentialModule(*parts)}, {"net": Bent(*parts)}, pictures(1, 9))


def averaged(net: Any, **said: Any) -> Any:
    """What a network says in the mean over the quarter turns."""
    import torch

    class Averaged(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = net
            for k, v in said.items():
                setattr(self, k, v)

        def forward(self, x: Any) -> Any:
            y = x.flip(2).transpose(2, 3)
            return (self.net(x) + self.net(y) + self.net(x.flip((2, 3))) + self.net(y.flip((2, 3)))) / 4

    return Averaged()


def photos() -> Any:
    return np.kron(np.random.default_rng(0).integers(0, 255, (N, 3, 4, 4), dtype=np.uint8), np.ones((8, 8), np.uint8))


def timm() -> Made:
    import timm
    import torch

    torch.manual_seed(0)
    net = timm.create_model("resnet10t", pretrained=False, num_classes=4)
    return Made({"net": averaged(net, pretrained_cfg=net.pretrained_cfg)}, {"net": net}, photos(), PLANE)


def torchvision() -> Made:
    import torch
    from torchvision.models import ResNet18_Weights, resnet18

    torch.manual_seed(0)
    net, weights = resnet18(num_classes=4), ResNet18_Weights.DEFAULT
    return Made({"net": (averaged(net), weights)}, {"net": (net, weights)}, photos(), PLANE)


TWINS = (
    Twins("the path of an ONNX file", onnx_file, causes=("unconstrained",)),
    Twins("a module of torch, exported", torch_exported, ("torch",), causes=("unconstrained",)),
    Twins("a module of torch in this process", torch_live, ("torch",), live=True),
    Twins("a function of NumPy", functions, live=True),
    Twins("a function of JAX", jax, ("jax",), live=True),
    Twins("an estimator of scikit-learn", sklearn, ("sklearn",), live=True),
    Twins("a calculator of ase", ase, ("ase",), live=True, causes=("direction",), audit={"elements": 8, "checks": ["lattice", "endtoend", "subgroup"]}),
    Twins("a module of e3nn", e3nn, ("torch", "e3nn"), live=True, causes=("channel",), audit={"elements": 8}),
    Twins("a module of escnn", escnn, ("torch", "escnn"), causes=("kernel",)),
    Twins("a network of timm", timm, ("torch", "timm"), causes=ORDINARY, audit=DEAR),
    Twins("a network of torchvision", torchvision, ("torch", "torchvision"), causes=ORDINARY, audit=DEAR),
)
#: What must not be missing: scikit-learn is in the environment of the tests of servers.
THERE = {x for t in TWINS for x in t.libraries} - {"sklearn"} if os.environ.get("NERO_LIBRARIES") == "all" else set()
#: Who answered, of a function here and behind a server.
ENGINES = ("a function of the program that started this one", "a server, Open Inference Protocol v2")


def asked(study: nero.Study, folder: Path, urls: Dict[str, str]) -> str:
    """What the command line says of a copy of the study, whose functions are servers now: the text of audit.json."""
    shutil.copytree(study.folder, folder, ignore=shutil.ignore_patterns("audit"))
    text = (folder / "study.yaml").read_text(encoding="utf-8")
    for name, url in urls.items():
        text = text.replace(f'"live://{name}"', f'"{url}"')
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    words = [nero.find_nero(), "audit", str(folder / "study.yaml"), "-f", "json", "-o", str(folder / "audit")]
    env = {**os.environ, "NERO_ORT_HINT": nero.find_onnxruntime() or ""}  # the library that Python names
    p = subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if p.returncode not in (0, 1):
        raise AssertionError(p.stderr)
    return (folder / "audit" / "audit.json").read_text(encoding="utf-8")


def plain(text: str, *places: Any) -> str:
    """The text without what names folders, servers and who answered, and without the seal over it."""
    for place in places:
        text = text.replace(json.dumps(str(place))[1:-1], "HERE")
    for said in ENGINES:
        text = text.replace(said, "an engine")
    return re.sub(r'"sha256": ?"[0-9a-f]{64}"', "", text)


@live
class TheTwins(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of e3nn and escnn, about what else could be installed

    def test_verdicts_causes_and_the_numbers_of_the_command_line(self) -> None:
        for t in TWINS:
            with self.subTest(t.name):
                missing = [x for x in t.libraries if importlib.util.find_spec(x) is None and x not in THERE]
                if missing or t.live and sys.platform == "win32":
                    self.skipTest(f"{', '.join(missing)} is not installed" if missing else "functions are not served there yet")
                made = t.make()
                exact, broken = (nero.study(m, made.data, audit=dict(t.audit), **made.keys) for m in (made.exact, made.broken))
                self.held(t, exact, "PASS", ("",))
                self.held(t, broken, "FAIL", t.causes)

    def held(self, t: Twins, study: "nero.Study", verdict: str, causes: Tuple[str, ...]) -> None:
        """Audits the study from here and by the command line."""
        a = study.audit(progress=False)
        self.assertEqual((a.verdict, bool(study.live)), (verdict, t.live), a)
        self.assertIn(a.diagnoses[0].id if a.diagnoses else "", causes, a)
        self.assertEqual("the answers are off by" in str(a.only.reasons), verdict == "FAIL", a)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve() / "copy"
            urls = []
            if study.live:
                for during in study._during:
                    stack.enter_context(during())
                urls = stack.enter_context(Server(list(study._live), port=0)).urls()
            theirs = asked(study, folder, dict(zip(study.live, urls)))
        ours = a.file.read_text(encoding="utf-8")
        self.assertEqual(plain(ours, study.folder, *(f"live://{n}" for n in study.live)), plain(theirs, folder, *urls))

    def test_a_study_written_by_hand(self) -> None:
        """The numbers of a file are those of a study that nobody made from Python."""
        for model, verdict in ((EXACT, "PASS"), (BROKEN, "FAIL")):
            with tempfile.TemporaryDirectory() as d:
                np.savez(Path(d) / "digits.npz", images=digits(N))
                lines = ["version: 1", f"models: [{json.dumps(str(model))}]", "data: digits.npz", "group: C4", "output: {action: invariant}"]
                lines += ["input: {mean: [0.1307], std: [0.3081]}", "audit: {checks: [lattice]}"]
                (Path(d) / "hand.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
                nero.program("audit", str(Path(d) / "hand.yaml"), "-f", "json", "-o", str(Path(d) / "audit"))
                theirs = nero.Audit.read(Path(d) / "audit" / "audit.json")
                made = onnx_file()
                ours = nero.audit(model, made.data, audit={"checks": ["lattice"]}, progress=False, **made.keys)
            assert ours.study is not None
            a, b = (json.dumps(x.data["models"][0]["checks"], indent=1) for x in (ours, theirs))
            self.assertEqual(ours.verdict, verdict)
            self.assertEqual(plain(a, ours.study.folder / "study.yaml"), plain(b, Path(d) / "hand.yaml"))


if __name__ == "__main__":
    unittest.main()
