"""Tests of watch and weights from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import json
import math
import shutil
import tempfile
import unittest
from pathlib import Path

import nero

from tests.test_audit import BROKEN, EXACT, FEW, digits, live


@live
class Watched(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_releases(self) -> None:
        for release, model in (("v1", EXACT), ("v2", BROKEN)):
            a = nero.audit({"net": model}, digits(), "C4", progress=False, **FEW)
            (self.dir / release).mkdir()
            shutil.copy(a.file, self.dir / release / "audit.json")
        w = nero.watch(self.dir, by="version", metrics=["largest"], out=self.dir / "watched")
        self.assertEqual((w.state, w.alarm, w.course, len(w.series)), ("alarm", True, "", 1))
        s = w.series[0]
        self.assertEqual((s.metric, s.evidence, s.releases, s.first_alarm), ("largest", "same inputs", ("1", "2"), "2"))
        self.assertEqual(json.loads((self.dir / "watched/watch.json").read_text()), w.data)
        self.assertTrue(str(w).startswith("ALARM in 1 of 1 line"), str(w))
        self.assertIn("<svg", w.html)
        self.assertIn("ALARM", repr(w))
        with self.assertRaisesRegex(TypeError, "watch.alarm"):
            bool(w)
        better = nero.watch(self.dir, by="version", reference="2", after=self.dir / "watched/watch.json")
        self.assertFalse(better.alarm or better.empty)
        with self.assertRaisesRegex(nero.NeroError, "alarm.* is 2, want a probability"):
            nero.watch(self.dir, alarm=2)
        with self.assertRaisesRegex(nero.NeroError, "no audit and no run"):
            nero.watch(self.dir / "watched")

    def test_weights(self) -> None:
        form = self.dir / "canonical.onnx"
        one = nero.weights(BROKEN, canonical=form, probes=4)
        self.assertEqual((one.good, one.verdict, one.canonical), (True, "", form))
        self.assertTrue(all(s.state == "holds" and s.error < 1e-4 for s in one.symmetries), one.symmetries)
        self.assertIn("permutation", {s.kind for s in one.symmetries})
        two = nero.weights(BROKEN, form, probes=4, seed=3)
        self.assertEqual((two.good, two.verdict, two.data["seed"], two.canonical), (True, "same up to symmetries", 3, None))
        self.assertTrue(str(two).startswith("Same up to symmetries"), str(two))
        self.assertFalse(math.isnan(two.data["aligned"]["after"]))
        with self.assertRaisesRegex(nero.NeroError, "of different architectures"):
            nero.weights(BROKEN, EXACT, probes=4)
        with self.assertRaisesRegex(nero.NeroError, "is there already"):
            nero.weights(BROKEN, canonical=form)
