"""Tests of functions and modules as models, with the program that NERO_BINARY names. Run them as test_bridge says."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest
from pathlib import Path
from typing import Any, Dict, List

import nero
import numpy as np
from nero.bridge import Server, functions

from tests.test_audit import live

IMAGES = np.random.default_rng(1).integers(0, 255, (40, 12, 12), dtype=np.uint8)
WEIGHTS = np.random.default_rng(2).standard_normal((1, 3)).astype("f4")
KEYS: Dict[str, Any] = {"group": "C4", "equivariant": False, "audit": {"checks": ["lattice"]}, "progress": False}


def exact(x: Any) -> Any:
    return x.mean((2, 3)) @ WEIGHTS


def broken(x: Any) -> Any:
    return (x.mean((2, 3)) + 0.2 * x[:, :, 2:5, 3].mean(2)) @ WEIGHTS


@live
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Functions(unittest.TestCase):
    def test_numbers_are_those_of_the_command_line(self) -> None:
        """A function gives the numbers that the command line finds for it behind a server."""
        for fn, cause in ((exact, "rounding"), (broken, None)):
            a = nero.audit(fn, IMAGES, **KEYS)
            self.assertEqual(a.verdict == "FAIL", cause is None, a)
            self.assertIn("engine: a function of the program that started this one", a.to_text())
            ports = {"inputs": {"input": ("FP32", [-1, 1, 12, 12])}, "outputs": {"output": ("FP32", [-1, 3])}}
            with tempfile.TemporaryDirectory() as d, Server(functions(fn, **ports), port=0) as s:  # type: ignore[arg-type]
                np.savez(Path(d) / "data.npz", images=IMAGES)
                args = ["--data", "data.npz", "--group", "C4", "--invariant", "--checks", "lattice", "-f", "json", "-o", "out"]
                p = subprocess.run([nero.find_nero(), "audit", s.urls()[0], *args], cwd=d, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                self.assertEqual(p.returncode, 1, p.stderr)
                other = nero.Audit.read(Path(d) / "out" / "audit.json")
            self.assertEqual((a.error, a.interval, a.floor, a.only.errors[0].worst), (other.error, other.interval, other.floor, other.only.errors[0].worst))

    def test_several_by_name(self) -> None:
        a = nero.audit({"a": exact, "b": broken}, IMAGES, **KEYS)
        self.assertEqual((a["a"].verdict, a["b"].verdict, a.verdict), ("NEEDS_ATTENTION", "FAIL", "FAIL"))
        with self.assertRaisesRegex(nero.NeroError, r"audit\['a'\]"):
            a.error
        self.assertRaises(KeyError, lambda: a["c"])

    def test_axes_are_those_of_the_data(self) -> None:
        """Pictures come as the data have them, with an axis of channels where they have none."""
        for data, shape in (
            ({"images": np.stack([IMAGES] * 3, -1), "layout": "NHWC"}, (12, 12, 3)),
            (np.stack([IMAGES] * 3, 1), (3, 12, 12)),
            (IMAGES, (1, 12, 12)),
        ):
            seen: "set[Any]" = set()

            def fn(x: Any) -> Any:
                seen.add(x.shape[1:])
                return x.reshape(len(x), -1).mean(1, keepdims=True) @ WEIGHTS

            nero.audit(fn, data, **KEYS)
            self.assertEqual(seen, {shape})

    def test_what_a_function_returns(self) -> None:
        calls = [0]

        def later(x: Any) -> Any:
            calls[0] += 1
            return exact(x).astype("f4" if calls[0] < 5 else "c8")

        for fn, error, want in (
            (lambda x: [1.0, 2.0], TypeError, "returned a list of 2 numbers"),
            (lambda x: 1.0, TypeError, "returned output as float"),
            (lambda x: x.mean(), ValueError, r"in shape \[\] for 2 samples"),
            (lambda x: exact(x)[:1], ValueError, r"in shape \[1, 3\] for 2 samples"),
            (lambda x: exact(x).astype("c8"), TypeError, "complex64; expected numbers"),
            (lambda x: None, TypeError, "NoneType"),
            (later, TypeError, "the function of later returned output as complex64; FP32 is declared"),
        ):
            with self.assertRaisesRegex(error, want):
                nero.audit(fn, IMAGES, **KEYS)
        a = nero.audit(lambda x: exact(x) * np.nan, IMAGES, **KEYS)
        self.assertEqual(a.verdict, "FAIL")
        self.assertIn("not finite", str(a))

    def test_exceptions_come_back_as_themselves(self) -> None:
        class Gone(Exception):
            pass

        calls = [0]

        def fails(x: Any) -> Any:
            calls[0] += 1
            if calls[0] == 6:
                raise Gone("the weights")
            return exact(x)

        try:
            nero.audit(fails, IMAGES, **KEYS)
            said = ""
        except Gone:
            said = traceback.format_exc()
        self.assertRegex(said, "(?s)in fails\n.*Gone: the weights")

    def test_an_interrupt_in_a_function(self) -> None:
        calls = [0]

        def interrupted(x: Any) -> Any:
            calls[0] += 1
            if calls[0] == 3:
                raise KeyboardInterrupt
            return exact(x)

        with self.assertRaises(KeyboardInterrupt):
            nero.audit(interrupted, IMAGES, **KEYS)
        with self.assertRaises(ChildProcessError):  # no child is left
            os.waitpid(-1, os.WNOHANG)

    def test_answers_that_change(self) -> None:
        calls = [0]

        def noisy(x: Any) -> Any:
            calls[0] += 1
            return exact(x) + np.float32(calls[0] % 3)

        self.assertIn("the model's own noise", str(nero.audit(noisy, IMAGES, **KEYS)))

    def test_two_threads(self) -> None:
        """Each audit has a program of its own, which asks in the thread that called."""

        def of(a: "nero.Audit") -> Any:
            return a.verdict, a.judged.data["per_input"], a.floor

        alone = [of(nero.audit(f, IMAGES, **KEYS)) for f in (exact, broken)]
        found: Dict[int, Any] = {}
        threads: Dict[int, Any] = {0: set(), 1: set()}

        def go(i: int) -> None:
            def fn(x: Any) -> Any:
                threads[i].add(threading.get_ident())
                return (exact, broken)[i](x)

            found[i] = of(nero.audit({(exact, broken)[i].__name__: fn}, IMAGES, **KEYS))

        both = [threading.Thread(target=go, args=(i,)) for i in (0, 1)]
        for t in both:
            t.start()
        for t in both:
            t.join(60)
        self.assertEqual([found[0], found[1]], alone)
        self.assertEqual([threads[0], threads[1]], [{both[0].ident}, {both[1].ident}])

    def test_declared(self) -> None:
        def pair(x: Any) -> Any:
            seen.append(len(x))
            return {"y": exact(x), "z": x}

        seen: List[int] = []
        f = nero.Function(pair, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3]), "z": ("FP32", [-1, 1, 12, 12])}, name="net")
        s = nero.study(f, IMAGES, "C4", equivariant=False, output={"name": "y"})
        self.assertEqual((seen, s.live), ([], ("net",)))
        self.assertEqual(s.audit(progress=False).only.model, "net")
        # A study with a function is none that the command line can go on with, which it says.
        with self.assertRaisesRegex(nero.NeroError, "go on from Python"):
            nero.program("audit", str(s.folder / "study.yaml"))

    def test_files_need_a_declaration(self) -> None:
        with self.assertRaisesRegex(TypeError, "nero.Function"):
            nero.study(exact, "/somewhere", "C4")
        with self.assertRaisesRegex(TypeError, "int is no model"):
            nero.study(3, IMAGES)


@live
@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Torch(unittest.TestCase):
    def setUp(self) -> None:
        import torch

        torch.manual_seed(0)

        class Exact(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.norm, self.drop = torch.nn.BatchNorm2d(4), torch.nn.Dropout(0.5)
                self.first, self.last = torch.nn.Conv2d(1, 4, 1), torch.nn.Linear(4, 3)

            def forward(self, x: Any) -> Any:
                return self.last(self.drop(torch.relu(self.norm(self.first(x))).mean((2, 3))))

        class Broken(Exact):
            def forward(self, x: Any) -> Any:
                return super().forward(x) + 0.3 * x[:, :, 2:5, 3].mean((1, 2))[:, None]

        class Lying(Exact):
            def forward(self, x: Any) -> Any:
                exported = torch.onnx.is_in_onnx_export() or hasattr(torch, "compiler") and torch.compiler.is_exporting()
                return super().forward(x) + (0 if exported else 1)

        class Closed(Exact):
            def forward(self, x: Any) -> Any:
                return super().forward(x + torch.special.bessel_j0(x))  # which no operator of ONNX is

        self.exact, self.broken, self.lying, self.closed = Exact(), Broken(), Lying(), Closed()

    def test_exported_and_live_are_one(self) -> None:
        for module, fails in ((self.exact, False), (self.broken, True)):
            a = nero.audit(module, IMAGES, **KEYS)
            b = nero.audit(module, IMAGES, export=False, **KEYS)
            assert a.study is not None and b.study is not None
            self.assertEqual((a.study.live, b.study.live), ((), (type(module).__name__,)))
            self.assertIn("exported", a.study.notes[0])
            self.assertIn("layers, gradients and float64 are not looked at: export=False", b.study.notes[0])
            self.assertEqual((a.verdict == "FAIL", b.verdict == "FAIL"), (fails, fails))
            # Of rounding the size is another one; an error is the same one.
            self.assertAlmostEqual(a.error, b.error, delta=1e-4)

    def test_numbers_are_those_of_the_command_line(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            a = nero.audit(self.broken, IMAGES, out=d, **KEYS)
            self.assertEqual({p.name for p in Path(d).iterdir()}, {"Broken.onnx", "Broken.witness.npz", "audit", "data.npz", "study.yaml"})
            assert a.study is not None
            nero.program(*a.study.command().split()[1:])
            again = nero.open(Path(d) / "audit") if hasattr(nero, "open") else nero.Audit.read(Path(d) / "audit" / "audit.json")
            self.assertEqual(a.data["models"][0]["checks"], again.data["models"][0]["checks"])

    def test_state_is_left_alone(self) -> None:
        import torch

        self.exact.train()
        self.exact.norm.eval()
        modes = [m.training for m in self.exact.modules()]
        kept = {k: v.clone() for k, v in self.exact.state_dict().items()}
        for export in ("auto", False):
            state, numpy = torch.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[index,union-attr]
            nero.audit(self.exact, IMAGES, export=export, **KEYS)
            self.assertTrue(torch.equal(state, torch.get_rng_state()))
            self.assertTrue(np.array_equal(numpy, np.random.get_state()[1]))  # type: ignore[index]
            self.assertEqual([m.training for m in self.exact.modules()], modes)
            self.assertTrue(all(torch.equal(v, kept[k]) for k, v in self.exact.state_dict().items()))
            self.assertTrue(all(p.grad is None and p.requires_grad for p in self.exact.parameters()))

    def test_a_file_that_is_not_the_module(self) -> None:
        with self.assertRaisesRegex(nero.ExportError, "off by 1 from the witness .*torch.onnx.export wrote another model.*export=False") as e:
            nero.audit(self.lying, IMAGES, **KEYS)
        self.assertEqual(e.exception.field, "models[0].witness")
        with self.assertRaisesRegex(nero.ExportError, "witness"):
            nero.study(self.lying, IMAGES, "C4", equivariant=False).audit(progress=False)

    def test_what_cannot_be_exported(self) -> None:
        with self.assertLogs("nero", "WARNING") as logs:
            a = nero.audit(self.closed, IMAGES, **KEYS)
        assert a.study is not None
        self.assertEqual(a.study.live, ("Closed",))
        self.assertRegex(logs.output[0], "torch.onnx.export gave up with .*")
        self.assertRegex(a.study.notes[0], "layers, gradients and float64 are not looked at: .*gave up")
        with self.assertRaisesRegex(nero.ExportError, "gave up"):
            nero.audit(self.closed, IMAGES, export=True, **KEYS)
        self.assertEqual(nero.audit(self.exact.double(), IMAGES, **KEYS).study.live, ("Exact",))  # type: ignore[union-attr]

    def test_functions_of_tensors(self) -> None:
        import torch

        seen: List[Any] = []

        def f(x: Any) -> Any:
            seen.append(x)
            return x.mean((2, 3)) @ torch.from_numpy(WEIGHTS)

        a = nero.audit(f, torch.from_numpy(IMAGES), **KEYS)
        self.assertTrue(all(isinstance(x, torch.Tensor) for x in seen))
        self.assertEqual(a.error, nero.audit(lambda x: f(torch.from_numpy(x)), IMAGES, **KEYS).error)


if __name__ == "__main__":
    unittest.main()
