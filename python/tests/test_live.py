"""Tests of functions that the program nero asks, with the program that NERO_BINARY names. Run them as test_bridge says."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, List, Optional

import nero
import numpy as np
from nero._live import Channel, Event
from nero.bridge import Model, Server

SRC = str(Path(nero.__file__).resolve().parent.parent)
WEIGHTS = np.random.default_rng(3).standard_normal((144, 3)).astype("f4")


def linear(x: Any) -> Any:
    return x.reshape(len(x), -1) @ WEIGHTS


def model(fn: Callable[..., Any] = linear, shape: "List[int]" = [-1, 3]) -> Model:
    return Model("net", fn, {"x": ("FP32", [-1, 1, 12, 12])}, {"y": ("FP32", shape)})


@unittest.skipUnless(os.environ.get("NERO_BINARY"), "NERO_BINARY names no program")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        rng = np.random.default_rng(1)
        np.savez(self.dir / "data.npz", images=rng.integers(0, 255, (40, 1, 12, 12), dtype=np.uint8), labels=np.arange(40) % 3)

    def command(self, out: str, at: str = "live://net", *more: str) -> "List[str]":
        return [nero.find_nero(), "run", "-q", "--model", f"net={at}", "--data", "data.npz", "--group", "C4", "-w", "1", "-o", out, *more]

    def run_live(self, m: Model, out: str, events: "Optional[List[Event]]" = None, *more: str) -> "tuple[int, str, Channel]":
        """The exit code, what was said on standard error, and the channel, closed."""
        with tempfile.TemporaryFile("w+") as said, Channel([m], None if events is None else events.append) as c:
            p = c.start(self.command(out, "live://net", *more), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=said)
            c.serve()
            code = p.wait(60)
            said.seek(0)
            return code, said.read(), c

    def rows(self, out: str) -> "dict[str, bytes]":
        return {p.name: p.read_bytes() for p in sorted((self.dir / out).rglob("*.parquet"))}

    def test_same_bytes_as_over_http(self) -> None:
        events: "List[Event]" = []
        code, said, c = self.run_live(model(), "live", events)
        self.assertEqual((code, c.error), (0, None), said)
        with Server([model()], port=0) as s:
            p = subprocess.run(self.command("http", s.urls()[0]), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertTrue(self.rows("live"))
        self.assertEqual(self.rows("live"), self.rows("http"))
        kinds = [e["event"] for e in events]
        self.assertEqual((kinds.count("started"), kinds[-1]), (1, "ended"))
        total = [e["total"] for e in events if e["event"] == "sized"]
        done = sum(e["done"] for e in events if e["event"] == "stepped")
        self.assertEqual([done], total)

    def test_audit(self) -> None:
        """The error of a function that is invariant is called rounding, and the same function with a break fails."""
        for fn, want in (
            (lambda x: x.mean((2, 3)) @ WEIGHTS[:1], "rounding"),
            (lambda x: (x.mean((2, 3)) + 0.2 * x[:, :, 2:5, 3].mean(2)) @ WEIGHTS[:1], "net: FAIL"),
        ):
            with Channel([model(fn)]) as c:
                args = [nero.find_nero(), "audit", "-q", "--model", "net=live://net", "--data", "data.npz", "--group", "C4", "--invariant", "-o", "a" + want[:3]]
                p = c.start(args, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                c.serve()
                out, said = p.communicate()
            self.assertEqual(p.returncode, 1, out + said)  # nobody can look inside a function
            self.assertIn(want, out)
            self.assertEqual("FAIL" in out, "FAIL" in want, out)

    def test_what_a_function_raises_comes_back(self) -> None:
        calls = [0]

        def fails(x: Any) -> Any:
            calls[0] += 1
            if calls[0] == 12:
                raise KeyError("the weights are gone")
            return linear(x)

        code, said, c = self.run_live(model(fails), "out")
        self.assertEqual(code, 2, said)
        self.assertIsInstance(c.error, KeyError)
        self.assertIn("the weights are gone", said)
        kept = len(self.rows("out"))
        self.assertGreater(kept, 0)
        # The same function without the fault goes on, and the whole is what it would have been.
        code, said, c = self.run_live(model(), "out")
        self.assertEqual((code, c.error), (0, None), said)
        self.assertEqual(self.run_live(model(), "whole")[0], 0)
        self.assertGreater(len(self.rows("out")), kept)
        self.assertEqual(self.rows("out"), self.rows("whole"))

    def test_answers_that_are_not_what_was_declared(self) -> None:
        for fn, want in (
            (lambda x: linear(x)[:, :2], "in shape"),
            (lambda x: linear(x).astype("c8"), "complex64"),
            (lambda x: [1, 2], "returned 2 values"),
            (lambda x: None, "object"),
        ):
            code, said, c = self.run_live(model(fn), "none")
            self.assertEqual(code, 2, said)
            self.assertRegex(said, f"function live://net: .*{want}")
            self.assertEqual(len([line for line in said.splitlines() if line.startswith("nero: ")]), 1, said)
            self.assertIsInstance(c.error, (TypeError, ValueError))

    def test_without_the_function(self) -> None:
        p = subprocess.run(self.command("none"), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual(p.returncode, 2)
        self.assertIn("go on from Python", p.stderr)
        self.assertFalse((self.dir / "none").exists())

    def test_interrupt_keeps_what_is_done(self) -> None:
        def interrupts(x: Any) -> Any:
            if len(seen) == 6:
                child[0].send_signal(signal.SIGINT)
            seen.append(1)
            return linear(x)

        seen: "List[int]" = []
        child: "List[subprocess.Popen[Any]]" = []
        with Channel([model(interrupts)]) as c:
            child.append(c.start(self.command("out", "live://net"), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            c.serve()
            self.assertNotEqual(child[0].wait(10), 0)
        self.assertEqual(self.run_live(model(), "out")[0], 0)
        self.assertEqual(self.run_live(model(), "whole")[0], 0)
        self.assertEqual(self.rows("out"), self.rows("whole"))

    def test_the_program_ends_with_its_parent(self) -> None:
        """A parent that is killed in a call leaves no program behind."""
        code = (
            "import os, signal, sys; sys.path.insert(0, sys.argv[1])\n"
            "from nero._live import Channel; from nero.bridge import Model\n"
            "def f(x): print(p.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
            "c = Channel([Model('net', f, {'x': ('FP32', [-1, 1, 12, 12])}, {'y': ('FP32', [-1, 3])})])\n"
            "p = c.start(sys.argv[2:]); c.serve()\n"
        )
        p = subprocess.run([sys.executable, "-c", code, SRC, *self.command("out")], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(p.returncode, -signal.SIGKILL, p.stderr)
        pid, end = int(p.stdout.split()[0]), time.monotonic() + 10
        while time.monotonic() < end:
            try:
                os.kill(pid, 0)
                with open(f"/proc/{pid}/stat") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] == "Z":  # ended; nobody asked how
                        return
            except (ProcessLookupError, FileNotFoundError):
                return
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        self.fail("the program was still there after 10 s")


if __name__ == "__main__":
    unittest.main()
