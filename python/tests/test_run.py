"""Tests of runs, comparisons and questions from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import csv
import html
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import nero
import numpy as np

from tests.test_audit import BROKEN, EXACT, FEW, digits, live
from tests.test_models import IMAGES, KEYS, broken, exact

LABELS = np.arange(40) % 3


@live
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Runs(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_numbers_are_those_of_the_command_line(self) -> None:
        r = nero.run({"a": EXACT, "b": BROKEN}, digits(12), "SO(2)", orbit=8, labels=np.arange(12) % 10, out=self.dir, progress=False)
        self.assertEqual((r.models, r.elements.tolist()), (("a", "b"), [[45.0 * k] for k in range(8)]))
        self.assertEqual((r.samples, r.labels.tolist()), (tuple(map(str, range(12))), [k % 10 for k in range(12)]))
        for metric in r.metrics:
            for model in r.models:
                c = r.curves(metric, model)
                self.assertEqual((c.shape, c.dtype), ((12, 8), np.float32))
                for i in (0, 11):
                    args = ["export", str(r.folder), "--table", "orbit", "--index", str(i)]
                    p = subprocess.run([nero.find_nero(), *args], stdout=subprocess.PIPE, text=True, check=True)
                    rows = [x for x in csv.DictReader(io.StringIO(p.stdout)) if x["model"] == model]
                    self.assertEqual([np.float32(x[metric]) for x in rows], c[i].tolist())
                means = [x["mean"] for x in r.rows(metric=metric) if x["model"] == model][:8]
                self.assertTrue(np.allclose(c.mean(0, dtype=np.float64), means, rtol=1e-9, atol=1e-12))
        # The command line finds nothing left to do, and the same call does neither.
        self.assertIsNotNone(r.study)
        before = {p: p.stat().st_mtime_ns for p in self.dir.rglob("*.parquet")}
        again = nero.run({"a": EXACT, "b": BROKEN}, digits(12), "SO(2)", orbit=8, labels=np.arange(12) % 10, out=self.dir, progress=False)
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in self.dir.rglob("*.parquet")})
        opened = nero.open(self.dir)
        assert isinstance(opened, nero.Run)
        self.assertEqual((again.data, opened.data), (r.data, r.data))

    def test_with_a_budget_the_coarse_level_comes_first(self) -> None:
        def run(**more: Any) -> nero.Run:
            return nero.run(EXACT, digits(12), "SO(2)", orbit=32, out=self.dir, progress=False, **more)

        with self.assertRaisesRegex(nero.NeroError, "not complete"):
            run(budget=1e-6)
        coarse = self.dir / "run" / ".coarse"
        subprocess.run([nero.find_nero(), "shard", "-q", str(coarse), "--index", "0-11"], check=True, stdout=subprocess.PIPE)
        subprocess.run([nero.find_nero(), "merge", "-q", str(coarse)], check=True, stdout=subprocess.PIPE)
        first = run(budget=1e-6)
        self.assertEqual((first.elements.tolist(), len(first.samples)), ([[90.0 * k] for k in range(4)], 12))
        self.assertRegex(first.text, r"PART of the run, .* 4 of\s+32 elements, 12 of 12\s+samples")
        early = first.curves()
        whole = run(budget=3600)
        self.assertEqual((len(whole.elements), whole.folder), (32, self.dir / "run"))
        self.assertTrue(np.allclose(whole.curves()[:, ::8], early, rtol=1e-5, atol=1e-6))
        self.assertFalse(coarse.exists())
        with self.assertRaisesRegex(nero.NeroError, "budget"):
            run(budget=-1)

    def test_goes_on_after_an_interrupt(self) -> None:
        calls = [0]

        def interrupted(x: Any) -> Any:
            calls[0] += 1
            if calls[0] == 20:
                raise KeyboardInterrupt
            return exact(x)

        def go(fn: Any, out: str) -> nero.Run:
            f = nero.Function(fn, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3])}, name="net")
            return nero.run(f, IMAGES, "C4", out=self.dir / out, workers=1, batch=1, progress=False)

        with self.assertRaises(KeyboardInterrupt):
            go(interrupted, "out")
        with self.assertRaisesRegex(nero.NeroError, "not complete"):
            nero.open(self.dir / "out")
        kept = len(list((self.dir / "out").rglob("*.parquet")))
        calls[0] = 100
        r = go(interrupted, "out")
        self.assertGreater(len(list((self.dir / "out").rglob("*.parquet"))), kept)
        whole = go(exact, "whole")
        self.assertEqual(r.data, whole.data)

    def test_refusals(self) -> None:
        r = nero.run(exact, IMAGES, "C4", labels=LABELS, progress=False)
        for f, want in (
            (lambda: r.curves("foo"), '^metric: "foo" is not known; expected one of confidence'),
            (lambda: r.curves(model="b"), "no model 'b'"),
            (lambda: r.rows("orbitx"), '^table: "orbitx" is not known; did you mean "orbit"'),
            (lambda: nero.open(self.dir), "holds no audit"),
            (lambda: nero.groups("C4x"), "C4x"),
            (lambda: nero.inspect(self.dir / "none.onnx"), "none.onnx"),
            (lambda: nero.compare(r, self.dir), "."),
        ):
            with self.assertRaisesRegex(nero.NeroError, want):
                f()

    def test_tables(self) -> None:
        r = nero.run({"a": exact, "b": broken}, IMAGES, "C4", labels=LABELS, progress=False)
        rows = r.rows("orbit", index=3)
        self.assertEqual((len(rows), rows[0]["sample"], rows[0]["label"]), (8, "3", 0))
        self.assertEqual(len(r.rows("compare", between=["a", "b"], metric="relative")), 5)
        try:
            import pandas
        except ImportError:
            self.assertRaises(ImportError, r.to_pandas)
        else:
            self.assertIsInstance(r.to_pandas("samples"), pandas.DataFrame)
        page = r.report(self.dir / "page.html")
        self.assertIn("<html", page.read_text())
        shown = r.show(height=500)._repr_mimebundle_()
        self.assertEqual(shown["text/plain"], repr(r))
        self.assertTrue(shown["text/html"].startswith('<iframe title="The run of a, b" sandbox="allow-scripts allow-downloads"'))
        self.assertIn("height:500px", shown["text/html"])
        self.assertIn(html.escape("<html"), shown["text/html"])
        r.save(self.dir / "kept")
        self.assertTrue((self.dir / "kept" / "run" / "manifest.json").is_file())

    def test_xarray(self) -> None:
        r = nero.run({"a": exact, "b": broken}, IMAGES, "T(2,Z)", orbit={"grid": [3, 3]}, labels=LABELS, progress=False)
        if importlib.util.find_spec("xarray") is None:
            self.assertRaises(ImportError, r.to_xarray)
            return
        x = r.to_xarray()
        self.assertEqual((dict(x.sizes), tuple(x.data_vars)), ({"sample": 40, "element": 9, "model": 2}, r.metrics))
        for metric in r.metrics:
            for model in r.models:
                values = x[metric].sel(model=model)
                self.assertEqual((values.dims, values.dtype), (("sample", "element"), np.float32))
                self.assertTrue(np.array_equal(values, r.curves(metric, model), equal_nan=True))
        self.assertEqual((x.sample.values.tolist(), x.label.values.tolist()), (list(r.samples), r.labels.tolist()))
        self.assertEqual(np.stack([x.dx, x.dy], 1).tolist(), r.elements.tolist())
        self.assertEqual((x.dx.attrs, x.relative.attrs["better"], x.attrs["group"]), ({"units": "px"}, "lower", "T(2,Z)"))
        self.assertEqual(x.sel(element="dx −4 px, dy 4 px").dx.item(), -4)

    def test_compare(self) -> None:
        a, b = (nero.audit({"net": f}, IMAGES, **KEYS) for f in (exact, broken))
        c = nero.compare(a, b)
        self.assertEqual((c.regressed, c.data["models"][0]["verdict_after"]), (True, "FAIL"))
        self.assertIn("worse than before", str(c))
        self.assertFalse(nero.compare(b, a).regressed)
        self.assertTrue(repr(c).startswith("net: worse than before"), repr(c))
        fixed = nero.audit({"fixed": exact}, IMAGES, **KEYS)
        self.assertTrue(str(nero.compare(b, fixed)).startswith("net -> fixed: better than before"), nero.compare(b, fixed))
        two = nero.audit({"fixed": exact, "other": exact}, IMAGES, **KEYS)
        with self.assertRaisesRegex(nero.NeroError, "has net, .* has fixed, other; name two with model_before and model_after"):
            nero.compare(b, two)
        self.assertIn("net -> other", str(nero.compare(b, two, model_before="net", model_after="other")))
        later = nero.audit({"net": broken}, IMAGES, baseline=a, **KEYS)
        self.assertIn("is worse than the baseline", " ".join(later.only.reasons))

    def test_questions(self) -> None:
        self.assertEqual(nero.groups("C4")[0].doc, "The n rotations by multiples of 360/n degrees.")
        self.assertGreater(len(nero.groups()), 10)
        self.assertEqual(nero.engine("wasm").name, "wasm")
        for ask in (
            lambda: nero.engine("wasm", provider="cuda+cpu"),
            lambda: nero.run(EXACT, digits(4), "C4", engine="wasm", provider=["cuda", "cpu"], progress=False),
            lambda: nero.audit(EXACT, digits(4), "C4", equivariant=False, engine="wasm", provider="cuda", progress=False),
        ):
            with self.assertRaisesRegex(nero.NeroError, "runs on the processor alone, and models are to run on cuda"):
                ask()
        with self.assertRaisesRegex(nero.NeroError, 'provider.*there is no execution provider "gpu"'):
            nero.engine(provider="gpu")
        i = nero.inspect(EXACT)
        self.assertEqual((i.inputs, i.outputs, i.data["nodes"]), (("image",), ("logits",), 18))
        self.assertIn("operator set 13", str(i))
        self.assertIn("accuracy", nero.program("metrics").stdout)
        with self.assertRaisesRegex(nero.NeroError, "unknown command"):
            nero.program("metrix")

    def test_what_is_not_kept(self) -> None:
        for out in (None, self.dir):
            r = nero.run(EXACT, digits(4), "C4", out=out, progress=False)
            self.assertEqual("(as long as this process lives;" in str(r), out is None, r)

    def test_opened_audits(self) -> None:
        a = nero.audit(EXACT, digits(8), "C4", out=self.dir, progress=False, **FEW)
        b = nero.open(self.dir)
        assert isinstance(b, nero.Audit)
        self.assertEqual((a.data, str(a)), (b.data, str(b)))
        nero.study(EXACT, digits(8), "C4", out=self.dir, **FEW).run(progress=False)
        with self.assertRaisesRegex(nero.NeroError, "audit and run"):
            nero.open(self.dir)


class Orbits(unittest.TestCase):
    def test_words_of_the_command_line(self) -> None:
        for said, want in (
            ("even:16", {"low_discrepancy": 16}),
            ("haar:100", {"haar": 100}),
            ("all", {"all": True}),
            ("lattice", {"lattice": True}),
            (72, {"grid": [72]}),
        ):
            f = nero.Function(lambda x: x, {"x": ("FP32", [-1, 3])}, {"y": ("FP32", [-1, 3])})
            self.assertEqual(nero.study(f, np.zeros((2, 3), "f4"), "SO(3)", orbit=said).keys["group"]["orbit"], want)


if __name__ == "__main__":
    unittest.main()
