"""Tests of features from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import unittest
from pathlib import Path

import nero

from tests.test_audit import EXACT, live


@live
class Embedded(unittest.TestCase):
    def test_digits(self) -> None:
        study = Path(EXACT).parents[1] / "exact.yaml"
        e = nero.embed(study, samples=100, what=["split"])
        f = e.features[0]
        self.assertEqual((e.good, f.model, f.state, f.width, f.index), (True, "c4", "stay", 10, ""))
        self.assertEqual(set(f.ratios), {"90°", "180°", "270°"})
        self.assertLess(max(f.ratios.values()), 1e-5)
        self.assertIn("the features stay", str(e))
        self.assertIn("the features stay", repr(e))
        with self.assertRaisesRegex(nero.NeroError, "no such layer"):
            nero.embed(study, value="nothing")
