"""Tests of where the program is found, and of what the wheel is made of. Run them as test_bridge says."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import nero
from nero import _find

SRC = str(Path(nero.__file__).resolve().parent.parent)


def program(path: Path, says: str = "") -> Path:
    """A program that prints a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


@unittest.skipIf(sys.platform == "win32", "the programs of these tests are shell scripts")
class Finding(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.scripts = self.dir / "scripts"
        self.enterContext(mock.patch.object(_find.sysconfig, "get_path", lambda *a, **k: str(self.scripts)))
        self.enterContext(mock.patch.object(_find, "__file__", str(self.dir / "env/lib/python3.12/site-packages/nero/_find.py")))
        self.enterContext(mock.patch.dict(os.environ, {"PATH": str(self.dir / "path")}))
        os.environ.pop("NERO_BINARY", None)

    def test_order(self) -> None:
        """Each place is taken before those that were filled before it."""
        for place in ("path", "env/lib/python3.12/site-packages/bin", "env/bin", "scripts"):
            at = program(self.dir / place / "nero")
            self.assertEqual(nero.find_nero(), str(at))
        given = program(self.dir / "given")
        with mock.patch.dict(os.environ, {"NERO_BINARY": str(given)}):
            self.assertEqual(nero.find_nero(), str(given))

    def test_none(self) -> None:
        with self.assertRaises(nero.ProgramNotFound) as e:
            nero.find_nero()
        self.assertIn(str(self.scripts), str(e.exception))
        self.assertIn("NERO_BINARY", str(e.exception))
        with mock.patch.dict(os.environ, {"NERO_BINARY": str(self.dir / "gone")}), self.assertRaisesRegex(nero.ProgramNotFound, "gone"):
            nero.find_nero()

    def test_onnxruntime(self) -> None:
        self.assertIsNone(self.hinted([]))
        self.assertIsNone(self.hinted(["onnxruntime_pybind11_state.so"]))
        # Links to the library are shorter than it.
        found = self.hinted(["libonnxruntime.so.1", "libonnxruntime.so.1.31.1", "libonnxruntime_providers_shared.so"])
        self.assertEqual(Path(str(found)).name, "libonnxruntime.so.1.31.1")

    def hinted(self, names: "list[str]") -> "str | None":
        with tempfile.TemporaryDirectory() as d:
            capi = Path(d) / "onnxruntime" / "capi"
            capi.mkdir(parents=True)
            (capi.parent / "__init__.py").write_text("raise ImportError('it is not to be imported')")
            for n in names:
                (capi / n).touch()
            with mock.patch.object(sys, "path", [d]), mock.patch.object(sys, "platform", "linux"):
                sys.path_importer_cache.clear()
                return nero.find_onnxruntime()


@unittest.skipIf(sys.platform == "win32", "the programs of these tests are shell scripts")
class Module(unittest.TestCase):
    def run_module(self, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "nero", *args],
            env={**os.environ, "PYTHONPATH": SRC, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_is_the_program(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            p = self.run_module("--version", NERO_BINARY=str(program(Path(d) / "nero", 'given "$@"; exit 7')))
        self.assertEqual((p.stdout, p.stderr, p.returncode), ("given --version\n", "", 7))

    def test_says_where_it_looked(self) -> None:
        p = self.run_module("--version", NERO_BINARY="/nowhere/nero")
        self.assertEqual((p.stdout, p.returncode), ("", 2))
        self.assertRegex(p.stderr, "^nero: the variable NERO_BINARY names /nowhere/nero, and no file is there\n$")

    def test_import_is_light(self) -> None:
        """Nothing but the standard library and NumPy is imported, however much is installed."""
        code = "import sys, nero; print([m for m in ('torch', 'onnxruntime', 'pandas', 'http.server', 'grpc', 'asyncio') if m in sys.modules])"
        p = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": SRC}, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(p.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
