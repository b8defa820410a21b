"""Tests of what goes wrong around a call: odd arrays, functions, programs, folders and processes. Run them as test_bridge says."""

import asyncio
import contextlib
import functools
import importlib.util
import io
import json
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Iterator
from unittest import mock

import nero
import numpy as np
from nero import _find, _live, _temporary
from nero.bridge import Model

from tests.test_audit import BROKEN, live
from tests.test_models import IMAGES, KEYS, WEIGHTS, exact
from tests.victim import children

ROOT = Path(__file__).resolve().parents[1]
unix = unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
#: The beginning of a program in Python of its own.
CODE = f"""
import os, sys, signal, time
import numpy as np
import nero
images = np.random.default_rng(1).integers(0, 255, (40, 12, 12), dtype=np.uint8)
keys = {KEYS!r}
def exact(x): return x.mean((2, 3)) @ np.ones((1, 3), "f4")
"""


def program(code: str, *flags: str, **how: Any) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **how.pop("env", {})}
    return subprocess.run(
        [sys.executable, *flags, "-c", CODE + code], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **how
    )  # fmt: skip


def audited(model: Any = exact, data: Any = IMAGES, **keys: Any) -> nero.Audit:
    return nero.audit(model, data, **{**KEYS, **keys})


def found(a: nero.Audit) -> str:
    """What checks found, wherever the study lay."""
    assert a.study is not None
    return json.dumps(a.data["models"][0]["checks"]).replace(str(a.study.folder), "")


def later(g: Callable[[Any], Any], at: int = 5) -> Callable[[Any], Any]:
    """A function that answers rightly until a call."""
    calls = [0]

    def net(x: Any) -> Any:
        calls[0] += 1
        return exact(x) if calls[0] < at else g(x)

    return net


class OnDevice:
    """Stands for a tensor that lies on a device and that nobody brought back."""

    def __array__(self, *a: Any, **k: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")


@live
@unix
class Functions(unittest.TestCase):
    def test_answers_that_change(self) -> None:
        calls = [0]

        def flips(x: Any) -> Any:
            calls[0] += 1
            return exact(x) + 0.01 * calls[0]

        a = audited(flips)
        self.assertEqual(a.verdict, "NEEDS_ATTENTION")
        self.assertRegex(str(a), "the same input gives outputs that differ by .*: the model is stochastic")

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "no torch")
    def test_a_module_whose_answers_change(self) -> None:
        """No file can be that module: it is called in this process, which is said, and the audit says what it is."""
        import torch

        class Noisy(torch.nn.Module):  # type: ignore[misc,unused-ignore]
            def __init__(self) -> None:
                super().__init__()
                self.linear = torch.nn.Linear(144, 3)

            def forward(self, x: Any) -> Any:
                return self.linear(x.flatten(1) + torch.randn(x.shape).flatten(1))

        x = torch.from_numpy(IMAGES).float() / 255
        with self.assertLogs("nero", logging.WARNING) as said:
            a = audited(Noisy(), x)
        self.assertIn("its output output changes from call to call with the same input", said.output[0])
        self.assertRegex(str(a), "the model is stochastic")
        with self.assertRaisesRegex(nero.ExportError, "changes from call to call"):
            audited(Noisy(), x, export=True)

    def test_raises_at_a_call(self) -> None:
        """Its own exception with its own traceback; what is done is kept, and the same call goes on to the same rows."""

        class Gone(Exception):
            pass

        def gone(x: Any) -> Any:
            raise Gone("the weights")

        def go(fn: Callable[[Any], Any], out: str) -> "dict[str, bytes]":
            f = nero.Function(fn, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3])}, name="net")
            nero.run(f, IMAGES, "C4", out=Path(d, out), workers=1, batch=1, progress=False)
            return {p.name: p.read_bytes() for p in Path(d, out).rglob("*.parquet")}

        with tempfile.TemporaryDirectory() as d:
            said = ""
            try:
                go(later(gone, 50), "out")
            except Gone:
                said = traceback.format_exc()
            self.assertRegex(said, "(?s)in gone\n.*Gone: the weights")
            kept = {p: p.stat().st_mtime_ns for p in Path(d, "out").rglob("*.parquet")}
            self.assertGreater(len(kept), 0)
            self.assertEqual(go(exact, "out"), go(exact, "whole"))
            self.assertEqual(kept, {p: p.stat().st_mtime_ns for p in kept})  # they were not computed again

    def test_what_is_raised_comes_back(self) -> None:
        for kind in (SystemExit, GeneratorExit, KeyboardInterrupt, StopIteration, StopAsyncIteration, RecursionError, MemoryError, BrokenPipeError, asyncio.CancelledError):
            for at in (1, 5):
                e = kind("deliberate")

                def fails(x: Any, e: BaseException = e) -> Any:
                    raise e

                with self.subTest(kind=kind, at=at), self.assertRaises(kind) as got:
                    audited(later(fails, at))
                self.assertIs(got.exception, e)

    def test_an_exception_that_cannot_say_what_it_is(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError("it does not speak")

        def fails(x: Any) -> Any:
            raise Mute

        self.assertRaises(Mute, audited, later(fails))

    @unittest.skipUnless(sys.platform == "linux", "children are looked for in /proc")
    def test_an_interrupt_after_the_program_is_gone(self) -> None:
        def fails(x: Any) -> Any:
            (program,) = children()
            os.kill(program, signal.SIGKILL)
            os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
            raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, audited, later(fails))

    def test_a_listener_that_raises(self) -> None:
        for kind in (BrokenPipeError, ConnectionResetError, ValueError):
            e = kind("nobody reads")

            def listens(event: Any, e: Exception = e) -> None:
                raise e

            with self.assertRaises(kind) as got:
                audited(progress=listens)
            self.assertIs(got.exception, e)

    def test_returns(self) -> None:
        """What a function returns at first, and what it returns later on."""
        fine = {
            "other floats": lambda x: exact(x).astype("f8"),
            "other bytes": lambda x: exact(x).astype(">f4"),
            "a view": lambda x: np.asfortranarray(exact(x))[::-1][::-1],
        }
        for name, g in fine.items():
            for fn in (g, later(g)):
                with self.subTest(name):
                    self.assertEqual(audited(fn).verdict, "NEEDS_ATTENTION")  # for the data are few
        wrong: "dict[str, tuple[Callable[[Any], Any], str, str]]" = {
            "shape": (lambda x: exact(x)[..., None][:1], "in shape \\[1, 3, 1\\] for 2 samples", "in shape \\[1, 3, 1\\]; \\[-1, 3\\] is declared"),
            "a list": (lambda x: exact(x).tolist(), "returned a list of 2 numbers", "returned 8 values"),
            "None": (lambda x: None, "returned output as NoneType", "returned output as object"),
            "text": (lambda x: "cat", "returned output as str", "returned output as <U3"),
            "objects": (lambda x: exact(x).astype(object), "as object; expected numbers", "returned output as object; FP32 is declared"),
            "complex": (lambda x: exact(x).astype("c8"), "as complex64; expected numbers", "returned output as complex64; FP32 is declared"),
            "masked": (lambda x: np.ma.masked_less(exact(x), 1e9), "with 6 masked values", "with 24 masked values"),
            "a generator": (lambda x: (v for v in exact(x)), "as generator", "as object"),
            "on a device": (lambda x: OnDevice(), r"as OnDevice, which cannot be read as an array: .*Use Tensor.cpu\(\)", r"as OnDevice.*Use Tensor.cpu\(\)"),
        }
        for name, (g, first, then) in wrong.items():
            for fn, want in ((g, first), (later(g), then)):
                with self.subTest(name), self.assertRaisesRegex((TypeError, ValueError), want):
                    audited(fn)
        for g in (lambda x: exact(x) * np.nan, lambda x: exact(x) * np.inf):
            for fn in (g, later(g)):
                a = audited(fn)
                self.assertEqual(a.verdict, "FAIL")
                self.assertIn("not finite", str(a))

    def test_callables(self) -> None:
        class Net:
            def __call__(self, x: Any) -> Any:
                return exact(x)

            def method(self, x: Any) -> Any:
                return exact(x)

            def __repr__(self) -> str:
                raise RuntimeError("it does not show itself")

        for fn, name in (
            (Net(), "Net"), (Net().method, "method"), (lambda x: exact(x), "lambda"), (functools.partial(lambda k, x: exact(x), 1), "partial"),
        ):  # fmt: skip
            self.assertEqual(audited(fn).only.model, name)
        with self.assertRaisesRegex(TypeError, r"the model is the class Net; give an object of it, such as Net\(\)"):
            audited(Net)
        with self.assertRaisesRegex(TypeError, "NoneType is no model that nero knows; give "):
            audited(None)

        def in_place(x: Any) -> Any:
            y = exact(x)
            x[:] = 0
            return y

        self.assertEqual(audited(in_place).error, audited().error)


@live
@unix
class Data(unittest.TestCase):
    def test_arrays_that_are_read(self) -> None:
        """However an array lies in memory, what comes out is the same."""
        with tempfile.TemporaryDirectory() as d:
            np.save(Path(d, "images.npy"), IMAGES)
            floats = IMAGES.astype("f4") / np.float32(255)
            same: Dict[str, Any] = {
                "memory-mapped": np.load(Path(d, "images.npy"), mmap_mode="r"), "Fortran": np.asfortranarray(IMAGES),
                "backwards": IMAGES[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1], "masked, but nowhere": np.ma.masked_array(IMAGES),
                "a list": list(IMAGES), "read-only": np.frombuffer(IMAGES.tobytes(), "u1").reshape(IMAGES.shape),
            }  # fmt: skip
            want = found(audited())
            for name, x in same.items():
                with self.subTest(name):
                    self.assertEqual(found(audited(data=x)), want)
            want = found(audited(data=floats))
            self.assertEqual(found(audited(data=floats.astype(">f4"))), want)
        for name, x in {"float16": floats.astype("f2"), "float64": floats.astype("f8"), "int64": IMAGES.astype("i8"), "mask": IMAGES > 100, "two samples": IMAGES[:2]}.items():
            with self.subTest(name):
                self.assertEqual(audited(data=x).verdict, "NEEDS_ATTENTION")
        self.assertIn("give at least two", str(audited(data=IMAGES[:1])))

    def test_arrays_that_are_none(self) -> None:
        floats = IMAGES.astype("f4") / 255
        for x, want in (
            (IMAGES.astype("c8"), "images of the data is complex64 of shape .*numbers are expected"),
            (IMAGES.astype(object), "images of the data is object"),
            (IMAGES.astype("U3"), "images of the data is <U3"),
            (np.zeros(40, [("a", "f4")]), r"images of the data is \[\('a', '<f4'\)\]"),
            (IMAGES.astype("M8[s]"), "images of the data is datetime64"),
            (np.float32(3), r"images of the data is float32 of shape \[\]"),
            (np.ma.masked_greater(IMAGES, 250), r"\d+ values of the data are masked, .* fill them in"),
            (IMAGES[:0], r"images of the data is empty: its shape is \[0, 12, 12\]; at least one sample"),
            (IMAGES[:, :0], r"images of the data is empty: its shape is \[40, 0, 12\]"),
            (np.where(IMAGES > 250, np.inf, floats), r"data: sample 0: .*is \+Inf: not finite; repair or leave out this sample"),
            (np.where(IMAGES > 250, np.nan, floats), "data: sample 0: .*is NaN: not finite; repair or leave out this sample"),
            ([IMAGES[0], IMAGES[1][:5]], "samples have different shapes"),
            ([], "the list has no samples"),
            ((x for x in IMAGES), "the generator does not say how many samples it has; say samples=100"),
            (None, "NoneType is no data that nero knows; give a path, an array"),
        ):
            with self.subTest(want), self.assertRaisesRegex((TypeError, ValueError, nero.NeroError), want):
                audited(data=x)
        if np.dtype("g").itemsize > 8:
            with self.assertRaisesRegex(TypeError, r'which is not read; give it as float64, with astype\("float64"\)'):
                audited(data=floats.astype("g"))

    def test_labels(self) -> None:
        for labels, want in (
            (["cat"] * 40, "labels are <U3; whole numbers are expected, .*return_inverse"),
            ([None] * 40, "labels are object"),
            (np.arange(3), "holds 3 labels, but there are 40 images"),
            (np.zeros((40, 2), int), "for one-hot rows store their argmax"),
        ):
            with self.subTest(want), self.assertRaisesRegex((TypeError, ValueError, nero.NeroError), want):
                audited(labels=labels)

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "no torch")
    def test_tensors(self) -> None:
        import torch

        x = torch.from_numpy(IMAGES).float() / 255
        w = torch.from_numpy(WEIGHTS)

        def net(t: Any) -> Any:
            return t.mean((2, 3)) @ w

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            named = x.refine_names("N", "H", "W")
        for fine in (x.bfloat16(), x.half(), x.clone().requires_grad_(), named, x.permute(0, 2, 1), x > 0.5):
            self.assertEqual(audited(net, fine).verdict, "NEEDS_ATTENTION")
        for fn in (lambda t: net(t).bfloat16(), lambda t: net(t).requires_grad_()):
            self.assertEqual(audited(fn, x).verdict, "NEEDS_ATTENTION")
        for wrong in (x.to_sparse(), x.to("meta")):
            with self.assertRaisesRegex(TypeError, "the data: Tensor cannot be read as an array: "):
                audited(net, wrong)
        for away in (lambda t: net(t).to_sparse(), lambda t: net(t).to("meta")):
            with self.assertRaisesRegex(TypeError, "the function of .* returned output as Tensor, which cannot be read as an array: "):
                audited(away, x)

    def test_sets_that_shuffle(self) -> None:
        class Shuffled:
            def __len__(self) -> int:
                return 40

            def __getitem__(self, i: int) -> Any:
                order = iter(np.random.permutation(40)) if i else iter([time.monotonic_ns() % 40])
                return IMAGES[next(order)].astype("f4") + time.monotonic_ns() % 1000

        with self.assertLogs("nero", logging.WARNING) as said:
            s = nero.study(nero.Function(exact, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3])}), Shuffled(), "C4")
        self.assertIn("differs when it is read twice", " ".join(said.output + list(s.notes)))


@live
@unix
class Processes(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def ok(self, p: "subprocess.CompletedProcess[str]", says: str = "") -> None:
        self.assertEqual((p.returncode, p.stdout), (0, says), p.stderr)

    def test_threads(self) -> None:
        got: "list[str]" = []
        threads = [threading.Thread(target=lambda: got.append(found(audited()))) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(got, [found(audited())] * 3)

    def test_workers_within_a_call(self) -> None:
        """Processes that are forked off in a function hold no end of the channel, and nothing hangs."""
        channels: "list[int]" = []

        def net(x: Any) -> Any:
            if len(channels) < 2:
                r, w = os.pipe()
                pid = os.fork()
                if pid == 0:
                    os.write(w, bytes([len([c for c in _live._channels if c._ours is not None])]))
                    os._exit(0)
                os.waitpid(pid, 0)
                channels.append(os.read(r, 1)[0])
                os.close(r)
                os.close(w)
            with contextlib.suppress(ValueError):
                fork = multiprocessing.get_context("fork")
                with fork.Pool(1) as pool:
                    pool.map(abs, [1])
            return exact(x)

        self.assertEqual(audited(net, IMAGES[:6]).verdict, "NEEDS_ATTENTION")
        self.assertEqual(channels, [0, 0])

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "no torch")
    def test_a_loader_with_workers(self) -> None:
        p = program("""
import torch
class Set(torch.utils.data.Dataset):
    def __len__(self): return 40
    def __getitem__(self, i): return torch.from_numpy(images[i].astype("f4") / 255), i % 3
w, calls = torch.ones(1, 3), [0]
def net(x):
    calls[0] += 1
    if calls[0] < 3:
        assert len(list(torch.utils.data.DataLoader(Set(), num_workers=2, batch_size=8))) == 5
    return x.mean((2, 3)) @ w
print(nero.audit(net, torch.utils.data.DataLoader(Set(), num_workers=2, shuffle=True), **keys).verdict)
""")
        self.ok(p, "NEEDS_ATTENTION\n")

    @unittest.skipUnless(sys.platform == "linux", "children are looked for in /proc")
    def test_the_program_ends_although_a_copy_of_its_parent_lives(self) -> None:
        p = program("""
def net(x):
    from tests.victim import children
    print(*children(), flush=True)
    pid = os.fork()
    if pid == 0:
        os.close(1); os.close(2); time.sleep(60); os._exit(0)
    print(pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    return exact(x)
f = nero.Function(net, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3])})
nero.audit(f, images, **keys)
""")
        child, copy = map(int, p.stdout.split())
        self.addCleanup(os.kill, copy, signal.SIGKILL)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                if "nero" not in Path(f"/proc/{child}/cmdline").read_text():  # ended; nobody asked how
                    return
            except FileNotFoundError:
                return
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)
        self.fail("the program was still there")

    def test_a_copy_holds_the_other_end(self) -> None:
        """One that was forked off by another thread before the other end was closed here: the end of the program is noticed all the same."""
        held: "list[int]" = []
        pair = socket.socketpair

        def held_pair() -> Any:
            ours, theirs = pair()
            held.append(os.dup(theirs.fileno()))
            return ours, theirs

        with mock.patch.object(_live.socket, "socketpair", held_pair):
            self.assertEqual(audited().verdict, "NEEDS_ATTENTION")
        for fd in held:
            os.close(fd)

    def test_forked_off_after_an_import(self) -> None:
        """It audits, and what it leaves with is not what the other one needs."""
        p = program("""
s = nero.study(exact, images, "C4", equivariant=False)
pid = os.fork()
if pid == 0:
    print(nero.audit(exact, images, **keys).verdict)
    del s
    sys.exit(0)
print(os.waitpid(pid, 0)[1], s.folder.is_dir(), flush=True)
""", env={"TMPDIR": str(self.dir)})  # fmt: skip
        self.assertEqual((p.returncode, sorted(p.stdout.split())), (0, ["0", "NEEDS_ATTENTION", "True"]), p.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def test_what_a_killed_process_left_is_swept(self) -> None:
        env = {"TMPDIR": str(self.dir)}
        program("s = nero.study(exact, images, 'C4', equivariant=False); os.kill(os.getpid(), signal.SIGKILL)", env=env)
        left = os.listdir(self.dir)
        self.assertEqual([name[: len(_temporary.PREFIX)] for name in left], [_temporary.PREFIX])
        (self.dir / f"{_temporary.PREFIX}other").mkdir()  # of somebody who holds no lock
        with mock.patch.object(tempfile, "tempdir", str(self.dir)), mock.patch.object(_temporary._Process, "_last", None):
            one = _temporary.Temporary()
            self.assertNotIn(left[0], os.listdir(self.dir))
            # Another process does not take what this one needs.
            program("s = nero.study(exact, images, 'C4', equivariant=False)", env=env)
            self.assertTrue(one.path.is_dir())
            del one
        self.assertEqual(os.listdir(self.dir), [f"{_temporary.PREFIX}other"])

    def test_an_interrupt_while_a_folder_goes(self) -> None:
        p = program("""
import shutil
rmtree, calls = shutil.rmtree, [0]
def interrupted(*a, **k):
    calls[0] += 1
    if calls[0] == 1:
        raise KeyboardInterrupt
    rmtree(*a, **k)
shutil.rmtree = interrupted
s = nero.study(exact, images, "C4", equivariant=False)
""", env={"TMPDIR": str(self.dir)})  # fmt: skip
        self.assertIn("KeyboardInterrupt", p.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def test_flags_of_python(self) -> None:
        for flags in (("-O",), ("-OO",), ("-W", "error"), ("-X", "dev", "-W", "error"), ("-s", "-B")):
            with self.subTest(flags):
                self.ok(program("print(nero.audit(exact, images, **keys).verdict)", *flags), "NEEDS_ATTENTION\n")

    def test_streams(self) -> None:
        code = "a = nero.audit(exact, images, **{**keys, 'progress': True}); os.write(3, a.verdict.encode())"
        for close in ("1>&-", "2>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(close):
                r, w = os.pipe()
                env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
                command = f'exec 3>&{w} {w}>&-; exec "$@" {close}'
                p = subprocess.Popen(["bash", "-c", command, "bash", sys.executable, "-c", CODE + code], env=env, pass_fds=[w])
                os.close(w)
                with os.fdopen(r) as f:
                    self.assertEqual(f.read(), "NEEDS_ATTENTION")
                self.assertEqual(p.wait(), 0)
        closed = io.StringIO()
        closed.close()
        for stream in (io.StringIO(), closed, None, object()):
            with mock.patch.object(sys, "stderr", stream):
                self.assertEqual(audited(progress=True).verdict, "NEEDS_ATTENTION")

    def test_signals_stay_the_users(self) -> None:
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM)

        def mine(*_: Any) -> None: ...

        before = [signal.signal(s, mine) for s in signals]
        try:
            audited()
            self.assertEqual([signal.getsignal(s) for s in signals], [mine] * 4)
        finally:
            for s, h in zip(signals, before):
                signal.signal(s, h)

    @unittest.skipUnless(sys.platform == "linux", "children are looked for in /proc")
    def test_a_handler_that_leaves(self) -> None:
        """SIGTERM that a handler makes an exit of ends the program as well."""
        p = program("""
def net(x):
    from tests.victim import children
    print(*children(), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
f = nero.Function(net, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3])})
nero.audit(f, images, **keys)
""")
        self.assertEqual(p.returncode, 9, p.stderr)
        self.assertFalse(Path("/proc", p.stdout.strip()).exists())

    def test_within_a_loop(self) -> None:
        async def main() -> str:
            return audited().verdict

        self.assertEqual(asyncio.run(main()), "NEEDS_ATTENTION")


@unix
class Programs(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def named(self, text: str) -> "contextlib.AbstractContextManager[Any]":
        """A program with that text."""
        path = self.dir / "nero"
        path.write_text(text)
        path.chmod(0o755)
        return mock.patch.dict(os.environ, {"NERO_BINARY": str(path)})

    def says(self, hello: Any) -> "contextlib.AbstractContextManager[Any]":
        return self.named(
            f"#!{sys.executable}\nimport json, os, struct, sys\n"
            f"text = json.dumps({hello!r}).encode()\n"
            "fd = int(os.environ['NERO_LIVE'][3:])\n"
            "os.write(fd, struct.pack('<4sIIQ', b'NRL1', 0, len(text), 0) + text)\nsys.exit(0)\n"
        )

    def test_another_version(self) -> None:
        for protocol, theirs, want in (
            (1, "9.9.9", "the program is nero 9.9.9, and this package is of nero 0.1.0; install the package again .* NERO_BINARY"),
            (2, "devel", "nero devel and this package one from its sources: they speak protocols 2 and 1; install the package again"),
        ):
            ours = "0.1.0" if theirs[0].isdigit() else ""
            with mock.patch.object(_find, "release", lambda o=ours: o), mock.patch.object(_live, "release", lambda o=ours: o):
                with self.says({"hello": {"protocol": protocol, "program": f"nero {theirs}"}}), self.assertRaisesRegex(nero.ProgramMismatch, want):
                    nero.engine()
        for theirs in ("nero devel 0123456789ab", "nero 0.1.0"):  # of one's own, and the same
            with mock.patch.object(_find, "release", lambda: "0.1.0"), self.says({"hello": {"protocol": 1, "program": theirs}}):
                self.assertRaises(json.JSONDecodeError, nero.engine)  # it says nothing of engines

    def test_none_of_ours(self) -> None:
        with self.named("#!/bin/sh\necho black, 24.1\n"), self.assertRaisesRegex(nero.ProgramMismatch, "not the program of this package: asked for its version it says 'black, 24.1'; install"):
            nero.engine()
        (self.dir / "nero").write_bytes(b"\x7fELF of another kind")
        (self.dir / "nero").chmod(0o755)
        with mock.patch.dict(os.environ, {"NERO_BINARY": str(self.dir / "nero")}):
            for f in (nero.engine, lambda: nero.program("metrics")):
                with self.assertRaisesRegex(nero.ProgramMismatch, r"nero cannot be started \(Exec format error\); install the package again"):
                    f()

    def test_killed_before_it_says_anything(self) -> None:
        with self.named("#!/bin/sh\nkill -9 $$\n"), self.assertRaisesRegex(nero.NeroError, "ended by signal 9") as e:
            nero.engine()
        self.assertNotIsInstance(e.exception, nero.ProgramMismatch)

    @live
    def test_none(self) -> None:
        """What the message says helps."""
        with mock.patch.dict(os.environ, {"NERO_BINARY": "", "PATH": str(self.dir)}), mock.patch.object(_find.sysconfig, "get_path", lambda *a, **k: str(self.dir / "x")):
            with self.assertRaisesRegex(nero.ProgramNotFound, "set the variable NERO_BINARY to the program"):
                audited()
        audited()

    def test_the_version_is_that_of_this_copy(self) -> None:
        """Where another copy is installed its version says nothing."""
        site = self.dir / "site"
        for of, at in (("9.9.9", _find.__file__), ("", str(self.dir / "elsewhere.py"))):
            info = site / "nero_ml-9.9.9.dist-info"
            info.mkdir(parents=True, exist_ok=True)
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nero-ml\nVersion: 9.9.9\n")
            (site / "nero").mkdir(exist_ok=True)
            (site / "nero" / "_find.py").unlink(missing_ok=True)
            (site / "nero" / "_find.py").symlink_to(at)
            with mock.patch.object(sys, "path", [str(site)]):
                _find.release.cache_clear()
                self.assertEqual(_find.release(), of)
        _find.release.cache_clear()


def without_privileges() -> None:
    """Folders that root may not write stay unwritten by it, from here on in this process."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@live
@unittest.skipUnless(sys.platform == "linux", "capabilities and file systems of Linux")
class Folders(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    @contextlib.contextmanager
    def locked(self, *folders: Path) -> Iterator[None]:
        for f in folders:
            f.chmod(0o555)
        try:
            yield
        finally:
            for f in folders:
                f.chmod(0o755)

    def test_read_only(self) -> None:
        """Neither the folder of the package nor the one that is worked in is written to, and an out that cannot be is told by its keyword."""
        site, work = self.dir / "site", self.dir / "work"
        shutil.copytree(ROOT / "src" / "nero", site / "nero", ignore=shutil.ignore_patterns("__pycache__"))
        (site / "bin").mkdir()
        (site / "bin" / "nero").symlink_to(os.environ["NERO_BINARY"])
        work.mkdir()
        code = """
print(nero.__file__.startswith(os.environ["PYTHONPATH"].split(os.pathsep)[0]), nero.find_nero())
print(nero.audit(exact, images, **keys).verdict)
for out in ("here", os.environ["PYTHONPATH"].split(os.pathsep)[0] + "/out"):
    try:
        nero.audit(exact, images, out=out, **keys)
    except PermissionError as e:
        print(e)
"""
        env = {"NERO_BINARY": "", "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": ""}
        with self.locked(site, site / "nero", site / "bin", work):
            p = program(code, cwd=work, preexec_fn=without_privileges, env=env)
        lines = p.stdout.splitlines()
        self.assertEqual((p.returncode, lines[:2], len(lines)), (0, [f"True {site}/bin/nero", "NEEDS_ATTENTION"], 4), p.stdout + p.stderr)
        for line in lines[2:]:
            self.assertRegex(line, "Permission denied: the study cannot be written there; name another folder with out: '/.*'")
        self.assertEqual(os.listdir(work), [])

    def test_no_room(self) -> None:
        """On a full disk both sides say so, nothing is left that looks whole, and with room the same call goes on."""
        code = """
big = np.random.default_rng(1).integers(0, 255, (2500, 40, 40), dtype=np.uint8)
f = nero.Function(lambda x: x.mean((2, 3)) @ np.ones((1, 3), "f4"), inputs={"x": ("FP32", [-1, 1, 40, 40])}, outputs={"y": ("FP32", [-1, 3])})
def go(images):
    try:
        nero.run(f, images, "SO(2)", orbit=72, out=sys.argv[1], progress=False)
        print("done")
    except (OSError, nero.NeroError) as e:
        print(type(e).__name__, e)
go(big)
print(sorted(os.listdir(sys.argv[1])))
open(sys.argv[1] + "/ballast", "wb").write(bytes(2200 << 10))
go(big[:100])
os.remove(sys.argv[1] + "/ballast")
go(big[:100])
"""
        at = self.dir / "disk"
        at.mkdir()
        mount = 'mount -t tmpfs -o size=3m none "$1" && exec "$0" -c "$2" "$1"'
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        how: Dict[str, Any] = {"env": env, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120}
        space = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        try:
            subprocess.run([*space, "sh", "-c", 'mount -t tmpfs none "$0"', str(at)], check=True, **how)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no file system of its own here")
        p = subprocess.run([*space, "sh", "-c", mount, sys.executable, str(at), CODE + code], **how)
        lines = p.stdout.splitlines()
        self.assertEqual((p.returncode, len(lines)), (0, 4), p.stdout + p.stderr)
        self.assertRegex(lines[0], "OSError .*No space left on device|OSError .* requested and .* written")
        self.assertRegex(lines[0], "the study cannot be written there; name another folder with out")
        self.assertEqual(lines[1], "[]")
        self.assertRegex(lines[2], "(?i)no space left on device")
        self.assertEqual(lines[3], "done")

    def test_out(self) -> None:
        file = self.dir / "file"
        file.touch()
        for out, kind in ((file, FileExistsError), (file / "below", NotADirectoryError)):
            with self.assertRaisesRegex(kind, "the study cannot be written there; name another folder with out"):
                nero.study(exact, IMAGES, "C4", out=out)
        with self.assertRaisesRegex(TypeError, "out is int; the path of a folder is expected"):
            nero.study(exact, IMAGES, "C4", out=3)  # type: ignore[arg-type]
        with mock.patch.object(tempfile, "tempdir", str(self.dir / "gone")), self.assertRaisesRegex(FileNotFoundError, "temporary files cannot be made there; .* TMPDIR"):
            nero.engine()

    def test_another_study_is_left_as_it_was(self) -> None:
        nero.study(BROKEN, IMAGES, "C4", out=self.dir / "out")
        before = {p: p.read_bytes() for p in (self.dir / "out").iterdir()}
        with self.assertRaisesRegex(nero.NeroError, "holds another study; name another folder with out"):
            nero.study(BROKEN, IMAGES[:7], "D4", out=self.dir / "out")
        self.assertEqual({p: p.read_bytes() for p in (self.dir / "out").iterdir()}, before)


if __name__ == "__main__":
    unittest.main()
