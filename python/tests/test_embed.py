"""Tests of features from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import importlib.util
import random
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any

import nero
import numpy as np

from tests.test_audit import DIGITS, EXACT, digits, live


@live
class Embedded(unittest.TestCase):
    def test_digits(self) -> None:
        study = Path(EXACT).parents[1] / "exact.yaml"
        e = nero.embed(study, samples=100, what="split", only="c4")
        f = e.features[0]
        self.assertEqual((e.passed, f.model, f.state, f.width, f.index), (True, "c4", "stay", 10, ""))
        self.assertEqual(set(f.ratios), {"90°", "180°", "270°"})
        self.assertLess(max(f.ratios.values()), 1e-5)
        self.assertIn("the features stay", str(e))
        self.assertIn("the features stay", repr(e))
        self.assertIs(e.good, e.passed)
        with self.assertRaisesRegex(nero.NeroError, "no such layer"):
            nero.embed(study, value="nothing")
        with self.assertRaisesRegex(nero.NeroError, '"splat" is no part.*did you mean split'):
            nero.embed(study, what="splat")

    def test_data(self) -> None:
        """What the program asks for, data, can be given, as a path and as arrays; a limit as well."""
        with self.assertRaisesRegex(nero.NeroError, "no data: give .* with data"):
            nero.embed(EXACT, group="C4")
        file = DIGITS / "data/digits1000-images-idx3-ubyte.gz"
        e = nero.embed(EXACT, file, "C4", what="split", limit=60, seed=3)
        self.assertEqual((sum(e.data["samples"][k] for k in ("fit", "choose", "confirm")), e.data["seed"]), (60, 3))
        a = nero.embed(EXACT, digits(60), {"name": "C4"}, what="split")
        self.assertEqual((a.features[0].model, a.features[0].width, sum(a.data["samples"][k] for k in ("fit", "choose", "confirm"))), ("digits-c4", 10, 60))
        for study, data, group, said in (
            (DIGITS / "demo.yaml", digits(2), None, "is a study, which says what its data"),
            (nero.study(EXACT, digits(60), "C4"), digits(2), None, "leave data and labels out"),
            (nero.study(EXACT, digits(60), "C4"), None, {"name": "C4"}, "the name of another group"),
            (EXACT, None, {"name": "C4"}, "needs data beside the model"),
            (pooled, None, "C4", "function is no path, and so needs data"),
        ):
            with self.assertRaisesRegex(TypeError, said):
                nero.embed(study, data, group)

    @unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
    def test_functions(self) -> None:
        """A model is what it is for an audit; of a study nothing is said twice."""
        e = nero.embed(pooled, digits(60), "C4", what="split")
        self.assertEqual((e.passed, e.features[0].model, e.features[0].width, e.features[0].state), (True, "pooled", 4, "stay"))
        again = nero.embed(nero.study(pooled, digits(60), "C4"), what="split")
        self.assertEqual(again.features[0].ratios, e.features[0].ratios)

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "no torch")
    def test_modules(self) -> None:
        import torch

        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 3))
        e = nero.embed(net, digits(60), "C4", what="split")
        self.assertEqual((e.features[0].model, e.features[0].width), ("Sequential", 3))
        self.assertGreater(min(e.features[0].ratios.values()), 0.1)
        with self.assertRaisesRegex(TypeError, 'Sequential is no path, and weights are read from ONNX files: .*nero.study'):
            nero.weights(net)  # type: ignore[arg-type]
        folder = self.enterContext(tempfile.TemporaryDirectory())
        nero.study(net, digits(10), export=True, out=folder)
        w = nero.weights(Path(folder) / "Sequential.onnx", probes=4)
        self.assertIs(w.good, w.passed)
        self.assertTrue(w.sentence)

    def test_views(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        chance, rows = random.Random(7), ["object,view,file"]
        for i in range(40):
            dots = bytes(chance.choices((0, 255), (4, 1), k=28 * 28))
            for view, light in (("bright", 255), ("dim", 252)):
                (folder / f"{i}-{view}.png").write_bytes(png(28, bytes(light * d // 255 for d in dots)))
                rows.append(f"{i},{view},{i}-{view}.png")
        (folder / "views.csv").write_text("\n".join(rows) + "\n")
        e = nero.embed(EXACT, views=folder / "views.csv")
        f = e.features[0]
        self.assertEqual((f.width, f.ratios, f.data["given"]["things"]), (10, {}, 40))
        self.assertLess(f.data["given"]["steps"][0]["ratio"]["value"], 0.5)  # two lights of one picture are nearer than two pictures
        with self.assertRaisesRegex(nero.NeroError, "nowhere.csv"):
            nero.embed(EXACT, views=folder / "nowhere.csv")


def pooled(x: Any) -> Any:
    return np.stack([x[:, 0, k : 28 - k, k : 28 - k].mean((1, 2)) for k in (0, 5, 8, 11)], 1)


def png(n: int, grey: bytes) -> bytes:
    """A picture of n x n pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    lines = b"".join(b"\0" + grey[n * i : n * i + n] for i in range(n))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
