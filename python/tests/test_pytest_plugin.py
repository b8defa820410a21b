"""Tests of the plugin of pytest, in sessions of their own. They need pytest and the program that NERO_BINARY names."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, List

import nero

ROOT = Path(__file__).resolve().parents[2]
SRC = Path(nero.__file__).resolve().parent.parent

TESTS = f"""
import gzip
import numpy as np
import pytest

MODELS = "{(ROOT / "studies/digits/models").as_posix()}/digits-%s.onnx"
with gzip.open("{(ROOT / "studies/digits/data").as_posix()}/digits1000-images-idx3-ubyte.gz") as f:
    DIGITS = np.frombuffer(f.read(16 + 784 * 80)[16:], np.uint8).reshape(-1, 28, 28)

pytestmark = pytest.mark.nero(group="C4", equivariant=False, audit={{"checks": ["lattice"]}}, input={{"mean": [0.1307], "std": [0.3081]}})


def test_exact(nero_audit):
    assert nero_audit(MODELS % "c4", DIGITS).passed


@pytest.mark.nero(group="C2")
def test_of_two(nero_audit):
    assert "180°" in str(nero_audit(MODELS % "c4", DIGITS).worst.where)


def test_few(nero_audit):
    nero_audit(MODELS % "c4", DIGITS[:12], fail_on="fail")


@pytest.mark.parametrize("name", ["original", "augmented"])
def test_broken(nero_audit, name):
    nero_audit(MODELS % name, DIGITS)


def test_mirrored(nero_audit):
    nero_audit(MODELS % "c4", DIGITS, "D4")
"""


@unittest.skipUnless(os.environ.get("NERO_BINARY"), "NERO_BINARY names no program")
@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
class Plugin(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.write("test_models.py", TESTS)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def pytest(self, *args: str, code: int = 1) -> str:
        env = {**os.environ, "PYTHONPATH": str(SRC), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "", "COLUMNS": "200", "NO_COLOR": "1"}
        more: List[str] = [] if installed() else ["-p", "nero.pytest_plugin"]
        p = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *more, *args], cwd=self.folder, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        )  # fmt: skip
        self.assertEqual(p.returncode, code, p.stdout)
        return p.stdout

    def test_three_pass_and_three_fail(self) -> None:
        for workers in ([], ["-n", "2"]) if importlib.util.find_spec("xdist") else ([],):
            with self.subTest(workers=workers):
                out = self.pytest("--nero-report", "kept", "--junitxml", "junit.xml", *workers)
                self.assertIn("3 failed, 3 passed", out)
                # The sentence, the sample, the element, the command; and nothing of how it came here.
                self.assertRegex(out, r"E +\S*EquivarianceError: digits-original: FAIL")
                self.assertRegex(out, r"Worst case, exact elements(, in [^:]+)?: sample \d+ at (90|180|270)°")
                self.assertNotIn("_study.py", out)
                self.assertNotIn("pytest_plugin.py", out)
                table = re.findall(r"(?m)^(\w+) +(\S+) +0.0001 +(\S+): test_models.py::(\S+)$", out)
                self.assertEqual(
                    [(verdict, model, test) for verdict, _, model, test in table],
                    [
                        ("FAIL", "digits-augmented", "test_broken[augmented]"),
                        ("FAIL", "digits-original", "test_broken[original]"),
                        ("PASS", "digits-c4", "test_exact"),
                        ("NEEDS_ATTENTION", "digits-c4", "test_few"),
                        ("FAIL", "digits-c4", "test_mirrored"),
                        ("PASS", "digits-c4", "test_of_two"),
                    ],
                )
                kept = sorted(p for p in (self.folder / "kept").iterdir() if p.is_dir())
                self.assertEqual(len(kept), 6)
                index = (self.folder / "kept/index.html").read_text()
                for p in kept:
                    self.assertTrue((p / "audit/audit.html").is_file())
                    self.assertIn(f'href="{p.name}/audit/audit.html"', index)
                # JUnit has the verdict, and the command shows the worst case again.
                (case,) = (c for c in ET.parse(self.folder / "junit.xml").iter("testcase") if c.get("name") == "test_broken[original]")
                told = {p.get("name"): p.get("value") for p in case.iter("property")}
                self.assertEqual((told["nero.verdict"], told["nero.model"]), ("FAIL", "digits-original"))
                words = str(told["nero.replay"]).split()
                self.assertEqual(words[:2], ["nero", "audit"])
                again = subprocess.run([nero.find_nero(), *words[1:]], stdout=subprocess.PIPE, text=True, encoding="utf-8")
                self.assertIn("relative error", again.stdout)

    def test_baselines(self) -> None:
        self.write("pytest.ini", "[pytest]\nnero_baselines = audits\n")
        self.assertIn("3 failed, 3 passed", self.pytest())  # none is there yet
        self.assertIn("6 passed", self.pytest("--nero-update", code=0))
        kept = {p.name: p.read_bytes() for p in (self.folder / "audits").iterdir()}
        self.assertEqual(len(kept), 6)
        self.assertIn("6 passed", self.pytest(code=0))
        # A model that became worse.
        self.write("test_models.py", TESTS.replace('"c4", DIGITS).passed', '"original", DIGITS).passed'))
        self.assertIn("no model is named", self.pytest("-k", "exact"))
        self.write("test_models.py", TESTS.replace('nero_audit(MODELS % "c4", DIGITS).passed', 'nero_audit({"digits-c4": MODELS % "original"}, DIGITS)'))
        out = self.pytest("-k", "exact")
        self.assertRegex(out, r"worse than the baseline .*audits")
        self.assertEqual(kept, {p.name: p.read_bytes() for p in (self.folder / "audits").iterdir()})

    def test_refusals(self) -> None:
        self.assertIn("set nero_baselines", self.pytest("--nero-update", code=4))
        self.write(
            "test_models.py",
            """
            import pytest

            @pytest.mark.nero("C4")
            def test_mark(nero_audit):
                nero_audit("x.onnx", "photos")

            def test_missing(nero_audit):
                nero_audit("x.onnx", "photos", "C4", equivariant=False)
            """,
        )
        out = self.pytest()
        self.assertIn("the marker nero takes keywords alone", out)
        self.assertRegex(out, r"E +nero\S*NeroError: .*(x.onnx|photos)")
        self.assertNotIn("_program.py", out)
        self.assertNotIn("pytest_plugin.py", out)


def installed() -> bool:
    """Whether the package is installed, so that pytest finds its plugin by itself."""
    from importlib.metadata import entry_points

    found: Any = entry_points()
    return any(e.value == "nero.pytest_plugin" for e in found.select(group="pytest11"))


if __name__ == "__main__":
    unittest.main()
