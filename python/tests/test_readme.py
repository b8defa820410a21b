"""The code of the READMEs runs as it stands there, with the names that a reader has: a model, images, a training loop."""

import contextlib
import importlib.util
import io
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List

import numpy as np

from tests.test_audit import live

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str) -> List[str]:
    """The blocks of Python of a page."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


def containing(page: str, text: str) -> str:
    (found,) = [b for b in blocks(page) if text in b]
    return found


@live
class Readme(unittest.TestCase):
    def setUp(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        shutil.copyfile(ROOT / "studies/digits/models/digits-c4.onnx", "model.onnx")
        self.images = np.random.default_rng(0).random((8, 1, 28, 28), np.float32)

    def executed(self, code: str, **names: Any) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "README", "exec"), dict(names))
        return out.getvalue()

    def test_three_lines(self) -> None:
        code = containing("README.md", "nero.audit(model, images")
        self.assertEqual(len(code.strip().splitlines()), 3)
        self.assertIn(": ", self.executed(code, model="model.onnx", images=self.images))

    def test_first_audit(self) -> None:
        said = self.executed(containing("python/README.md", 'nero.audit("model.onnx"'), images=self.images)
        self.assertRegex(said, "^model: (PASS|NEEDS_ATTENTION|FAIL)\n")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_monitor(self) -> None:
        import torch

        names: Dict[str, Any] = {
            "net": torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 3)), "images": self.images, "loader": [0, 1], "train": lambda net, batch: None,
            "writer": lambda entry: None,
        }  # fmt: skip
        said = self.executed("import nero\n" + containing("python/README.md", "monitor = nero.Monitor("), **names)
        self.assertIn("1 audit in", said)
        self.assertTrue(Path("audits.jsonl").read_text().startswith("{"))


if __name__ == "__main__":
    unittest.main()
