"""Tests of audits from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import ast
import gzip
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

import nero
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SRC = Path(nero.__file__).resolve().parent.parent
DIGITS = ROOT / "studies" / "digits"
EXACT, BROKEN = DIGITS / "models/digits-c4.onnx", DIGITS / "models/digits-original.onnx"
#: Few of the checks: what is tested is the way to the program and back.
FEW: Dict[str, Any] = {"audit": {"checks": ["lattice"]}, "input": {"mean": [0.1307], "std": [0.3081]}, "equivariant": False}

live = unittest.skipUnless(os.environ.get("NERO_BINARY"), "NERO_BINARY names no program")


def digits(n: int = 24) -> Any:
    with gzip.open(DIGITS / "data/digits1000-images-idx3-ubyte.gz") as f:
        return np.frombuffer(f.read(16 + 784 * n)[16:], np.uint8).reshape(n, 28, 28)


@live
class Audits(unittest.TestCase):
    def test_numbers_are_those_of_the_command_line(self) -> None:
        for model, verdict in ((EXACT, "NEEDS_ATTENTION"), (BROKEN, "FAIL")):
            with tempfile.TemporaryDirectory() as d:
                a = nero.audit(model, digits(), "C4", out=d, progress=False, **FEW)
                self.assertEqual(a.verdict, verdict, a)
                env = {**os.environ, "NERO_ORT_HINT": nero.find_onnxruntime() or ""}  # the library that Python names
                p = subprocess.run([nero.find_nero(), *a.study.command().split()[1:]], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(p.returncode, 1, p.stderr)
                data = json.loads((Path(d) / "audit/audit.json").read_text())
                self.assertEqual(a.to_html(), (Path(d) / "audit/audit.html").read_bytes().decode())
                self.assertEqual(a.to_text(), (Path(d) / "audit/audit.txt").read_bytes().decode())
            self.assertEqual(data["models"][0]["checks"], a.data["models"][0]["checks"])
            s = next(s for c in data["models"][0]["checks"] for s in c["sets"])
            self.assertEqual(
                (a.error, a.interval.lo, a.interval.hi, a.floor, a.worst.value if a.worst else None),
                (*(s["largest_per_input"][k] for k in ("value", "lo", "hi")), s["floor"], data["models"][0]["worst_cases"][0]["value"]),
            )
            self.assertEqual(a.passed, False)
            self.assertRaises(TypeError, bool, a)

    def test_notebook(self) -> None:
        a = nero.audit(BROKEN, digits(), "C4", progress=False, **FEW)
        shown = a._repr_mimebundle_()
        self.assertEqual(shown["text/plain"], repr(a))
        card, _, frame = shown["text/html"].partition("<details><summary>The whole report")
        self.assertIn("FAIL", card)
        self.assertIn(a.only.gist[0].split(" the answers")[0], card)
        self.assertIn("<svg", card)
        self.assertNotIn("<script", card)
        # The report in the frame is the report, whatever stands in it.
        class Frame(HTMLParser):
            def handle_starttag(self, tag: str, attrs: Any) -> None:
                if tag == "iframe":
                    self.page = dict(attrs)["srcdoc"]

        f = Frame()
        f.feed(frame)
        self.assertEqual(f.page, a.to_html())

    def test_what_is_printed(self) -> None:
        keys: Dict[str, Any] = {**FEW, "audit": {"checks": ["lattice", "layers"]}}
        with tempfile.TemporaryDirectory() as d:
            a, kept = nero.audit(BROKEN, digits(), "C4", progress=False, **keys), nero.audit(BROKEN, digits(), "C4", progress=False, out=d, **keys)
        said = str(a)
        self.assertIn(f"rounding explains no more than {a.floor:.1e}", said)
        (layer,) = a.questions["Which layer breaks it?"]
        self.assertIn(layer, said)
        self.assertIn("/conv1/Conv", layer)
        self.assertIn("as long as this process lives", said)
        self.assertNotIn("as long as this process lives", str(kept))
        a = nero.audit(lambda x: x.reshape(len(x), -1)[:, 300:303], digits(), "C4", progress=False, **FEW)
        self.assertIn("no command line can ask it again", str(a))
        self.assertNotIn("--replay", str(a))
        with self.assertRaisesRegex(nero.NeroError, "say that they stay, with equivariant=False"):
            nero.audit(BROKEN, digits(), "C4", progress=False, **{**FEW, "equivariant": True})
        # A sample of an array is called by its row.
        a = nero.audit(BROKEN, digits(), "C4", samples=6, progress=False, **FEW)
        assert a.worst is not None
        self.assertEqual(a.data["models"][0]["worst_cases"][0]["where"]["sample"], a.worst.where.sample)
        self.assertLess(a.worst.where.index, 6)

    def test_assert(self) -> None:
        with self.assertRaises(nero.EquivarianceError) as e:
            nero.assert_equivariant(BROKEN, digits(), "C4", **FEW)
        assert isinstance(e.exception.audit, nero.Audit)
        self.assertEqual(e.exception.audit.verdict, "FAIL")
        self.assertRegex(str(e.exception), r"sample \d+ at (90|180|270)°")
        self.assertRegex(str(e.exception), r"--replay \d+@")
        # What only needs attention passes where that is said.
        self.assertEqual(nero.assert_equivariant(EXACT, digits(), "C4", fail_on="fail", **FEW).verdict, "NEEDS_ATTENTION")

    def test_says_why_and_what_to_do(self) -> None:
        with self.assertRaises(nero.EquivarianceError) as few:
            nero.assert_equivariant(EXACT, digits(), "C4", progress=False, **FEW)
        self.assertRegex(str(few.exception), r"undecided.*would decide")
        self.assertRegex(str(few.exception), r"What to do: .*more inputs")
        with self.assertRaises(nero.EquivarianceError) as broken:
            nero.assert_equivariant(BROKEN, digits(), "C4", progress=False, equivariant=False, input=FEW["input"])
        self.assertRegex(str(broken.exception), r"(?s)Most likely: .*What to do: ")

    def test_refusals_name_keywords(self) -> None:
        for keys, field, want in (
            ({"group": "C4"}, "", r"Say equivariant=False .* or equivariant=True"),
            ({}, "", r'nero.audit\(model, data, …, group="C4", equivariant=False\)'),
            ({"group": "C4", "equivariant": False, "grop": 3}, "grop", "unknown key; did you mean"),
            ({"group": "C4", "equivarant": False}, "equivarant", r"unknown key; .*; did you mean the keyword equivariant\?"),
            ({"group": "C4x", "equivariant": False}, "group.name", "C4x"),
            ({"group": "C4", "equivariant": False, "threshold": -1}, "audit.threshold", "threshold: -1 is out of range"),
            ({"group": "C4", "equivariant": False, "workers": 0}, "", "^workers is 0, want at least 1$"),
            ({"group": "C4", "equivariant": False, "baseline": "/nowhere.json"}, "", "^baseline: .*/nowhere.json"),
            ({"group": "C4", "equivariant": False, "orbit": "fou:3"}, "group.orbit.fou", "unknown key"),
            ({"group": "C4", "equivariant": False, "orbit": 2.5}, "group.orbit.grid[0]", "expected a whole number, got 2.5"),
        ):
            with self.assertRaisesRegex(nero.NeroError, want) as e:
                nero.audit(EXACT, digits(2), **keys)  # type: ignore[arg-type]
            self.assertEqual(e.exception.field, field)
            self.assertNotIn("--", str(e.exception))
            self.assertNotIn("study.yaml", str(e.exception))

    def test_folder(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            one = nero.study(EXACT, digits(), "C4", out=d, orbit=4, seed=3, **FEW)
            kept = {p.name: p.read_bytes() for p in Path(d).iterdir()}
            self.assertEqual(set(kept), {"study.yaml", "data.npz"})
            again = nero.study(EXACT, digits(), "C4", out=d, orbit=4, seed=3, **FEW)
            self.assertEqual((one.to_yaml(), kept), (again.to_yaml(), {p.name: p.read_bytes() for p in Path(d).iterdir()}))
            with self.assertRaisesRegex(nero.NeroError, "another study"):
                nero.study(EXACT, digits(), "C4", out=d, orbit=4, seed=4, **FEW)
            self.assertEqual({p.name: p.read_bytes() for p in Path(d).iterdir()}, kept)
        s = nero.study(EXACT, digits(), "C4")
        folder = s.folder
        self.assertTrue(folder.is_dir())
        del s
        self.assertFalse(folder.exists())

    def test_events(self) -> None:
        events: List[Any] = []
        nero.audit(EXACT, digits(8), "C4", progress=events.append, **FEW)
        notes = [e["text"] for e in events if e["event"] == "note"]
        self.assertFalse([n for n in notes if "--" in n], "notes name flags")
        self.assertEqual([e["event"] for e in events if e["event"] in ("started", "ended")], ["started", "ended"])
        self.assertIn("lattice", [e.get("check") for e in events if e["event"] == "judged"])
        with self.assertLogs("nero", "INFO") as logs:
            nero.audit(EXACT, digits(8), "C4", progress=False, **FEW)
        self.assertIn("ONNX Runtime", logs.output[0])

    def test_notes_name_keywords(self) -> None:
        events: List[Any] = []
        nero.audit(EXACT, digits(8), "C4", equivariant=False, audit={"checks": ["lattice"]}, progress=events.append)
        (note,) = [e["text"] for e in events if e["event"] == "note" and "pixel values" in e["text"]]
        self.assertIn('input={"scale": …}', note)
        self.assertNotIn("--", note)

    def test_another_program(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            other = Path(d) / "nero"
            # The second says that it is nero, and knows nothing of a channel.
            for says in ("reformatted", "nero version devel"):
                other.write_text(f"#!/bin/sh\necho {says}\n")
                other.chmod(0o755)
                with mock.patch.dict(os.environ, {"NERO_BINARY": str(other)}), self.assertRaisesRegex(nero.ProgramMismatch, "not the program"):
                    nero.audit(EXACT, digits(8), "C4", **FEW)

    @unittest.skipIf(sys.platform == "win32", "signals")
    def test_interrupt(self) -> None:
        """An interrupt ends the program, and is raised."""
        started: List[float] = []

        def at(e: Any) -> None:
            if e["event"] == "started" and not started:
                started.append(time.monotonic())
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

        # A shell starts what runs in the background with interrupts ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        with self.assertRaises(KeyboardInterrupt):
            nero.audit(BROKEN, digits(), "SO(2)", equivariant=False, progress=at)
        self.assertLess(time.monotonic() - started[0], 10)
        with self.assertRaises(ChildProcessError):  # no child is left
            os.waitpid(-1, os.WNOHANG)


class Package(unittest.TestCase):
    def test_results_are_read_and_not_computed(self) -> None:
        """What reads results holds no arithmetic: a number of Python is one that the program wrote."""
        for name in ("_audit", "_run"):
            file = SRC / "nero" / f"{name}.py"
            if file.exists():
                self.assertEqual(arithmetic(file.read_text()), [], name)

    def test_arithmetic_is_found(self) -> None:
        for code in ("x - y", "x / 2", "x += 1", "np.mean(x)", "x.mean()", "sum(x)", "-x", "max(x)", "x @ y", "a < b", "math.sqrt(x)", "x + y"):
            self.assertTrue(arithmetic(code), code)

    def test_errors_can_be_sent(self) -> None:
        e = pickle.loads(pickle.dumps(nero.NeroError("no", "group", ["nero"])))
        self.assertEqual(str(e), "no")

    def test_import_is_fast(self) -> None:
        """At most 60 ms of processor time over that of NumPy, in the best of several; on a slow machine in proportion to NumPy's own."""
        code = (
            "import time; t = time.process_time(); import numpy; u = time.process_time(); import json, subprocess\n"
            "v = time.process_time(); import nero; print(u - t, time.process_time() - v)"
        )
        with tempfile.TemporaryDirectory() as d:  # compiled once, as installers do
            env = {**os.environ, "PYTHONPATH": str(SRC), "PYTHONPYCACHEPREFIX": d}
            env.pop("PYTHONDONTWRITEBYTECODE", None)
            runs = [subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, check=True).stdout.split() for _ in range(8)]
        numpy, ours = (min(float(r[i]) for r in runs[1:]) for i in (0, 1))
        self.assertLess(ours, max(0.06, 1.5 * numpy))


#: Functions that compute numbers from numbers.
COMPUTES = {"sum", "min", "max", "abs", "round", "pow", "divmod", "mean", "median", "std", "var", "dot", "sqrt", "exp", "log", "quantile", "percentile"}


def arithmetic(code: str) -> List[str]:
    """Where code computes numbers: operators but for joining texts and lists, order of numbers, and functions."""
    texts = (ast.Constant, ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)

    def joins(*operands: ast.AST) -> bool:
        return any(
            isinstance(o, texts) and (not isinstance(o, ast.Constant) or isinstance(o.value, str)) or isinstance(o, ast.BinOp) and joins(o.left, o.right)
            for o in operands
        )

    found: List[str] = []
    for n in ast.walk(ast.parse(code)):
        wrong = False
        if isinstance(n, ast.BinOp):
            wrong = not isinstance(n.op, (ast.BitOr, ast.Add)) or isinstance(n.op, ast.Add) and not joins(n.left, n.right)
        elif isinstance(n, ast.AugAssign):
            wrong = not isinstance(n.op, ast.Add) or not joins(n.value)
        elif isinstance(n, ast.UnaryOp):
            wrong = isinstance(n.op, ast.USub) and ast.unparse(n) not in ("-math.inf", "-1")
        elif isinstance(n, ast.Compare):
            wrong = any(isinstance(o, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for o in n.ops)
        elif isinstance(n, ast.Call):
            name = n.func.attr if isinstance(n.func, ast.Attribute) else n.func.id if isinstance(n.func, ast.Name) else ""
            wrong = name in COMPUTES
        if wrong:
            found.append(ast.unparse(n))
    return found


if __name__ == "__main__":
    unittest.main()
