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


def program(path: Path, says: str = "", version: str = "nero version devel") -> Path:
    """A program that prints a line, and its version if it is asked for that."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n[ "$1" != --version ] || {{ echo "{version}"; exit; }}\necho {says}\n')
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

    def test_another_of_that_name(self) -> None:
        """What is called nero and is not is passed over, wherever it lies, and told if there is nothing else."""
        formatter = program(self.scripts / "nero", version="nero, 20.1 (compiled: no)")
        with self.assertRaisesRegex(nero.ProgramMismatch, rf"^{formatter} is not the program of this package: asked for its version it says .nero, 20.1 .compiled: no.(.|\n)*--force-reinstall nero-ml"):
            nero.find_nero()
        ours = program(self.dir / "path" / "nero")
        self.assertEqual(nero.find_nero(), str(ours))
        with mock.patch.dict(os.environ, {"NERO_BINARY": str(formatter)}), self.assertRaisesRegex(nero.ProgramMismatch, "it says 'nero, 20.1"):
            nero.groups()

    def test_no_program(self) -> None:
        """A file that cannot be started is told as what it is, and does not stop the search."""
        broken = self.dir / "env/bin/nero"
        broken.parent.mkdir(parents=True)
        broken.write_text("not a program")
        with self.assertRaisesRegex(nero.ProgramMismatch, r"cannot be started \(Permission denied\)"):
            nero.find_nero()
        ours = program(self.dir / "path" / "nero")
        self.assertEqual(nero.find_nero(), str(ours))

    def test_another_release(self) -> None:
        """A release takes its own program alone; a program that was built from a checkout is taken by all, and a checkout takes all."""
        at = program(self.scripts / "nero", version="nero version 0.10.0")
        self.assertEqual(nero.find_nero(), str(at))
        with mock.patch.object(_find, "release", lambda: "0.9.0"):
            with self.assertRaisesRegex(nero.ProgramMismatch, "is nero 0.10.0, and this package is of nero 0.9.0"):
                nero.find_nero()
            for version in ("nero version 0.9.0", "nero version devel 0123456789ab (modified)", "nero version v0.0.0-20261124-0123456789ab"):
                program(self.scripts / "nero", version=version)
                self.assertEqual(nero.find_nero(), str(at), version)
            newer = program(self.dir / "newer", version="nero version 0.10.0")  # which is asked for, and says no hello
            with mock.patch.dict(os.environ, {"NERO_BINARY": str(newer)}), self.assertRaisesRegex(nero.ProgramMismatch, "is nero 0.10.0, and this package is of nero 0.9.0; install"):
                nero.groups()

    def test_name(self) -> None:
        """The name that is installed again is the one that pyproject.toml says."""
        text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text()
        self.assertIn(f'\nname = "{_find.NAME}"\n', text)

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
            p = self.run_module("metrics", "--all", NERO_BINARY=str(program(Path(d) / "nero", 'given "$@"; exit 7')))
        self.assertEqual((p.stdout, p.stderr, p.returncode), ("given metrics --all\n", "", 7))

    def test_says_where_it_looked(self) -> None:
        p = self.run_module("--version", NERO_BINARY="/nowhere/nero")
        self.assertEqual((p.stdout, p.returncode), ("", 2))
        self.assertRegex(p.stderr, "^nero: the variable NERO_BINARY names /nowhere/nero, and no file is there\n$")

    def test_another_of_that_name(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            program(Path(d) / "nero", "reformatted", version="nero, 20.1")
            home = {"HOME": d, "PYTHONUSERBASE": d}
            p = self.run_module("files", NERO_BINARY="", PATH=d, **home)
        if p.returncode != 0:  # else this interpreter has a program of its own
            self.assertEqual((p.stdout, p.returncode), ("", 2))
            self.assertRegex(p.stderr, "^nero: .*is not the program of this package")
        self.assertNotIn("reformatted", p.stdout)

    def test_import_is_light(self) -> None:
        """Nothing but the standard library and NumPy is imported, however much is installed."""
        code = "import sys, nero; print([m for m in ('torch', 'onnxruntime', 'pandas', 'http.server', 'grpc', 'asyncio') if m in sys.modules])"
        p = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": SRC}, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(p.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
