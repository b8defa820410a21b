"""Tests of the memory that functions and the program share, with the program that NERO_BINARY names. Run them as test_bridge says."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import weakref
from pathlib import Path
from typing import Any, Callable, List, Optional
from unittest import mock

import nero
import numpy as np
from nero import _memory
from nero._errors import NeroError
from nero._live import Channel
from nero._memory import Memory, share
from nero.bridge import Model, Server

SRC = str(Path(nero.__file__).resolve().parent.parent)


def mixes(x: Any) -> Any:
    """A picture from a picture, so that much comes out as well."""
    return (x + 0.5 * np.roll(x, 1, 3)).astype("f4")


def model(fn: Callable[..., Any] = mixes) -> Model:
    return Model("net", fn, {"x": ("FP32", [-1, 3, 160, 160])}, {"y": ("FP32", [-1, 3, 160, 160])})


class Slots(unittest.TestCase):
    def setUp(self) -> None:
        memory = share(1 << 16, 3)
        assert memory is not None
        memory.handed_down()
        self.memory: Memory = memory
        self.addCleanup(memory.close)

    def test_pieces(self) -> None:
        for slot in range(3):
            self.memory.at(slot, 8, 4)[:] = np.full(4, slot)
        for slot in range(3):
            self.assertEqual(self.memory.at(slot, 0, 16).tobytes(), bytes(8) + bytes([slot]) * 4 + bytes(4))

    def test_what_is_said_of_slots_is_not_believed(self) -> None:
        for where, want in (
            ((3, 0, 1), "slot 3; there are 3"), ((-1, 0, 1), "slot -1"), ((2**32 - 1, 0, 1), "slot 4294967295"),
            ((0, 0, 2**16 + 1), "65537 bytes of tensors"), ((0, 2**16, 1), "from byte 65536"), ((0, 2**64 - 1, 1), "from byte 18446744073709551615"),
            ((0, 2**64 - 8, 2**63), "which has 65536"), ((0, -1, 1), "from byte -1"),
        ):
            with self.assertRaisesRegex(NeroError, want):
                self.memory.at(*where)

    def test_answers_lie_behind_the_question(self) -> None:
        x = self.memory.at(1, 0, 100)
        put = self.memory.put(1, 100, [x, np.arange(3.0), np.ones((), "f2"), np.zeros((0, 2))])
        assert put is not None
        at, piece = put
        self.assertEqual((at, len(piece)), (128, 100 + 24 + 2))
        self.assertEqual(piece[100:124].tobytes(), np.arange(3.0).tobytes())
        self.assertIsNone(self.memory.put(1, 100, [np.zeros(2**16 - 100, np.uint8)]))

    def test_a_slot_is_kept_while_somebody_holds_it(self) -> None:
        question = self.memory.at(2, 0, 8)
        x: "Optional[np.ndarray[Any, Any]]" = question[:4].view("<f4").reshape(1, 1).T
        held = weakref.ref(question)
        del question
        self.assertFalse(self.memory.leave(2, held))
        self.assertEqual(self.memory.back(), [])
        with self.assertRaisesRegex(NeroError, "slot 2, which it was not given back"):
            self.memory.at(2, 0, 8)
        self.assertEqual(len(x if x is not None else ()), 1)
        x = None
        self.assertEqual(self.memory.back(), [2])
        self.assertTrue(self.memory.leave(2, held))
        self.memory.at(2, 0, 8)

    @unittest.skipIf(sys.platform == "win32", "files are not handed down there")
    def test_a_file_without_a_name(self) -> None:
        with tempfile.TemporaryDirectory() as d, mock.patch.object(tempfile, "tempdir", d), mock.patch.object(_memory.os, "memfd_create", create=True):
            del _memory.os.memfd_create  # as on systems that have none
            memory = share(1 << 20, 2)
            assert memory is not None
            self.assertEqual(os.listdir(d), [])
            memory.at(1, 0, 3)[:] = np.frombuffer(b"abc", np.uint8)
            self.assertEqual(os.pread(memory.fd, 3, 1 << 20), b"abc")
            self.assertLess(os.fstat(memory.fd).st_blocks * 512, 1 << 19)  # what is not written takes no room
            memory.handed_down()
            memory.close()

    def test_no_memory_is_no_error(self) -> None:
        with mock.patch.object(_memory.os, "ftruncate", side_effect=OSError("no room")):
            self.assertIsNone(share(1 << 20, 2))


@unittest.skipUnless(os.environ.get("NERO_BINARY"), "NERO_BINARY names no program")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Shared(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        rng = np.random.default_rng(1)
        np.savez(self.dir / "data.npz", images=rng.integers(0, 255, (16, 3, 160, 160), dtype=np.uint8))
        #: How often a question lay in a slot, and whether its slot was given back with the answer.
        self.replies: List[bool] = []

    def command(self, out: str, at: str = "live://net") -> "List[str]":
        (self.dir / f"{out}.yaml").write_text(
            f"models: [{{name: net, endpoint: '{at}', batch: 16}}]\ndata: data.npz\ngroup: C4\noutput: {{space: image}}\n"
        )
        return [nero.find_nero(), "run", f"{out}.yaml", "-q", "-w", "2", "-o", out]

    def run_live(self, m: Model, out: str, shared: bool = True) -> "tuple[int, str, Channel]":
        leave = Memory.leave

        def left(memory: Memory, slot: int, question: "weakref.ref[Any]") -> bool:
            self.replies.append(leave(memory, slot, question))
            return self.replies[-1]

        with mock.patch.object(Memory, "leave", left), tempfile.TemporaryFile("w+") as said, Channel([m], shared=shared) as c:
            p = c.start(self.command(out), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=said)
            c.serve()
            code = p.wait(60)
            said.seek(0)
            return code, said.read(), c

    def rows(self, out: str) -> "dict[str, bytes]":
        return {p.name: p.read_bytes() for p in sorted((self.dir / out).rglob("*.parquet"))}

    def test_same_bytes_however_they_travel(self) -> None:
        code, said, c = self.run_live(model(), "shared")
        self.assertEqual((code, c.error), (0, None), said)
        self.assertGreaterEqual(len(self.replies), 4)
        self.assertTrue(all(self.replies))
        shared, self.replies[:] = len(self.replies), []
        code, said, c = self.run_live(model(), "socket", shared=False)
        self.assertEqual((code, c.error, self.replies), (0, None, []), said)
        with Server([model()], port=0) as s:
            p = subprocess.run(self.command("http", s.urls()[0]), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertGreater(shared, 0)
        self.assertTrue(self.rows("shared"))
        self.assertEqual(self.rows("shared"), self.rows("socket"))
        self.assertEqual(self.rows("shared"), self.rows("http"))

    def test_what_a_function_keeps_stays_what_it_was(self) -> None:
        kept: "List[tuple[Any, Any]]" = []

        def keeps(x: Any) -> Any:
            if len(kept) < 2 and x.nbytes > 1 << 20:  # which lies in a slot
                kept.append((x, x.copy()))
            return mixes(x)

        code, said, _ = self.run_live(model(keeps), "kept")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.replies[:2], [False, False])  # and the others go on without these two
        for x, copy in kept:
            np.testing.assert_array_equal(x, copy)
        self.assertEqual(self.run_live(model(), "whole")[0], 0)
        self.assertEqual(self.rows("kept"), self.rows("whole"))

    def test_what_comes_in_may_go_out(self) -> None:
        self.assertEqual(self.run_live(model(lambda x: x), "shared")[0], 0)
        self.assertTrue(self.replies and all(self.replies))
        self.assertEqual(self.run_live(model(lambda x: x), "socket", shared=False)[0], 0)
        self.assertEqual(self.rows("shared"), self.rows("socket"))

    def test_an_answer_longer_than_a_slot(self) -> None:
        with mock.patch.object(_memory.share, "__defaults__", (1800000, 4)):  # a question of four has 1.2 MB
            self.assertEqual(self.run_live(model(), "shared")[0], 0)
        self.assertTrue(self.replies and all(self.replies))
        self.assertEqual(self.run_live(model(), "socket", shared=False)[0], 0)
        self.assertEqual(self.rows("shared"), self.rows("socket"))

    def test_without_memory(self) -> None:
        with mock.patch.object(_memory.os, "ftruncate", side_effect=OSError("no room")):
            code, said, _ = self.run_live(model(), "none")
        self.assertEqual((code, self.replies), (0, []), said)

    def test_a_hostile_program(self) -> None:
        """What a program says of slots is refused in words."""
        frame = "os.write(s, b'NRLM' + struct.pack('<IIQIQ', {}, 2, {}, {}, {}) + b'{{}}')"
        for where, want in (((1, 8, 4, 0), "slot 4; there are 4"), ((1, 9, 0, 2**28 - 8), "9 bytes of tensors"), ((1, 8, 0, 2**64 - 4), "from byte 18446744073709551612")):
            code = "import os, struct; s = int(os.environ['NERO_LIVE'][3:]); " + frame.format(*where)
            with Channel([model()]) as c:
                p = c.start([sys.executable, "-c", code])
                with self.assertRaisesRegex(NeroError, want):
                    c.serve()
                p.wait(60)

    @unittest.skipUnless(sys.platform == "linux", "files that are open are counted in /proc")
    def test_nothing_is_left_of_a_program_that_is_killed(self) -> None:
        def kills(x: Any) -> Any:
            child[0].send_signal(signal.SIGKILL)
            return mixes(x)

        child: "List[subprocess.Popen[Any]]" = []
        before = os.listdir("/proc/self/fd")
        with Channel([model(kills)]) as c:
            child.append(c.start(self.command("out"), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            c.serve()
            self.assertEqual(child[0].wait(60), -signal.SIGKILL)
        self.assertEqual(os.listdir("/proc/self/fd"), before)
        with open("/proc/self/maps") as f:
            self.assertNotIn("memfd:nero", f.read())

    @unittest.skipUnless(sys.platform == "linux", "shared files lie in /dev/shm there")
    def test_nothing_is_left_of_a_parent_that_is_killed(self) -> None:
        for how in ("pass", "del os.memfd_create"):
            code = (
                "import os, signal, sys, tempfile; sys.path.insert(0, sys.argv[1]); " + how + "\n"
                "from nero._live import Channel; from nero.bridge import Model\n"
                "def f(x):\n"
                "    if len(x) > 2: print(p.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
                "    return x\n"
                "c = Channel([Model('net', f, {'x': ('FP32', [-1, 3, 160, 160])}, {'y': ('FP32', [-1, 3, 160, 160])})])\n"
                "p = c.start(sys.argv[2:]); c.serve()\n"
            )
            with tempfile.TemporaryDirectory() as d:
                env = {**os.environ, "TMPDIR": d}
                p = subprocess.run([sys.executable, "-c", code, SRC, *self.command("out")], cwd=self.dir, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(p.returncode, -signal.SIGKILL, p.stderr)
                self.ended(int(p.stdout.split()[0]))
                self.assertEqual(os.listdir(d), [])
                self.assertEqual([f for f in os.listdir("/dev/shm") if "nero" in f], [])

    def ended(self, pid: int) -> None:
        """Waits until a program has ended whose parent did."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with open(f"/proc/{pid}/stat") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] == "Z":  # ended; nobody asked how
                        return
            except (ProcessLookupError, FileNotFoundError):
                return
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        self.fail("the program was still there after 60 s")


if __name__ == "__main__":
    unittest.main()
