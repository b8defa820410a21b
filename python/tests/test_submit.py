"""Tests of planned runs on engines, with the program that NERO_BINARY names. Run them as test_bridge says. What is installed of Dask is asked itself."""

import contextlib
import importlib.util
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple
from unittest import mock

import nero
from nero.submit import _pool
from nero.submit.__main__ import main
from nero.submit._slot import Slot
from nero.submit._work import IN_A_ROW, Progress, Work, indexes, ranges

from tests.test_audit import DIGITS, SRC, live
from tests.test_kills import tree

#: Far more than anything takes; only a failure is as slow.
PATIENCE = 120.0
STUDY = [str(DIGITS / "full.yaml"), "--orbit", "8", "--limit", "360"]  # 60 shards or so


class Fake:
    """A pool that answers as it is told: of a shard, what comes of it one time after another."""

    def __init__(self, says: "Dict[int, List[Any]]") -> None:
        self.says, self.asked, self.todo = says, [], []  # type: Dict[int, List[Any]], List[int], List[int]

    def submit(self, shard: int) -> None:
        self.asked.append(shard)
        self.todo.append(shard)

    def wait(self, seconds: float) -> List[Dict[str, Any]]:
        answers = []
        for i in self.todo:
            say = self.says[i].pop(0) if self.says.get(i) else {}
            answers.append({"shard": i, **({"failed": "no", "final": False, **say} if say else {"computed": True, "seconds": 1.0, "pid": 1})})
        self.todo = []
        return answers

    def close(self) -> None:
        pass


class Policy(unittest.TestCase):
    """What is tried again, and what is not."""

    def work(self, says: "Dict[int, List[Any]]", shards: int = 4) -> "Tuple[Work, Fake]":
        pool, now = Fake(says), [0.0]

        def clock() -> float:
            now[0] += 1
            return now[0]

        return Work(pool, range(shards), 3, Progress(shards, 0, True, clock), clock), pool

    def test_once_more(self) -> None:
        """What failed is made again, later each time; three times at most, and nothing else waits for it."""
        work, pool = self.work({1: [{"failed": "a"}, {"failed": "b"}], 3: [{"failed": str(n)} for n in range(9)]})
        work.run()
        self.assertEqual([pool.asked.count(i) for i in range(4)], [1, 3, 1, 4])
        self.assertEqual(work.given_up, {3: "3"})

    def test_final(self) -> None:
        work, pool = self.work({2: [{"failed": "another model", "final": True}]})
        with self.assertRaisesRegex(nero.NeroError, "^shard 2: another model$"):
            work.run()
        self.assertEqual(pool.asked, [0, 1, 2, 3])

    def test_all_fail(self) -> None:
        """A disk that is full is not filled by asking on; machines that are lost by the dozen are no such thing."""
        many = range(2 * IN_A_ROW)
        with self.assertRaisesRegex(_pool.GoneError, f"^{IN_A_ROW} shards failed without one .* the last one: disk full$"):
            self.work({i: [{"failed": "disk full"}] for i in many}, len(many))[0].run()
        work, _ = self.work({i: [{"failed": "gone", "lost": True}] for i in many}, len(many))
        work.run()
        self.assertEqual(work.given_up, {})

    def test_indexes(self) -> None:
        for text, numbers in (("", []), ("3", [3]), ("0-2,7,9-10", [0, 1, 2, 7, 9, 10])):
            self.assertEqual(indexes(text), numbers)
            self.assertEqual(ranges(reversed(numbers)), text)

    def test_time_left(self) -> None:
        now = [0.0]
        p = Progress(100, 10, True, lambda: now[0])
        self.assertEqual(p.line(), "10 of 100 shards are kept")
        for t in range(1, 11):
            now[0] = 2.0 * t
            p.kept({"shard": t, "computed": True, "host": "ab"[t % 2]})
        self.assertEqual(p.line(), "20 of 100 shards are kept, 0.5 a second, about 2m40s left; 2 machines")


def called(*args: str) -> "Tuple[int, str, str]":
    """Exit code and what is said."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(args)
        except SystemExit as e:
            code = int(str(e.code))
    return code, out.getvalue(), err.getvalue()


@unittest.skipIf(sys.platform == "win32", "the programs of these tests are shell scripts")
class Stands(unittest.TestCase):
    """With a program that is stood in for."""

    def test_notes(self) -> None:
        """What workers note is told once, however many shards they make."""
        with tempfile.TemporaryDirectory() as d:
            at = Path(d) / "nero"
            at.write_text('#!/bin/sh\necho "note: another processor" >&2\nwhile read -r i; do echo "{\\"shard\\": $i, \\"computed\\": true}"; done\n')
            at.chmod(0o755)
            slot = Slot([str(at)], {})
            self.addCleanup(slot.close)
            said, p = io.StringIO(), Progress(2, 0, False)
            with contextlib.redirect_stderr(said):
                for i in range(2):
                    p.kept(slot.shard(i))
                p.kept({"shard": 2, "host": "x", "notes": ["another processor"]})
        self.assertEqual(said.getvalue(), f"note: another processor (on {socket.gethostname()})\n")

    def test_no_answer(self) -> None:
        """What is no answer, whole, is a failure of the shard, and nobody waits for another."""
        with tempfile.TemporaryDirectory() as d:
            at = Path(d) / "nero"
            for prints, says in (
                ("echo a library says hello", r"printed 'a library says hello\\n' in place of an answer"),
                ("printf '\\377\\n'", "in place of an answer"),
                ('echo "{\\"shard\\": 7, \\"computed\\": true}"', "in place of an answer"),
                ('printf "{\\"shard\\": 0, "; exit 3', "the program ended with 3"),
            ):
                at.write_text(f"#!/bin/sh\nread -r i; {prints}\nexec cat >/dev/null\n")
                at.chmod(0o755)
                slot = Slot([str(at)], {})
                self.addCleanup(slot.kill)
                answer = slot.shard(0)
                self.assertEqual((answer["shard"], answer["final"]), (0, False))
                self.assertRegex(answer["failed"], says)

    def test_bucket(self) -> None:
        """A run in a bucket is handed on as it is given, and completed in a folder of its name."""
        with tempfile.TemporaryDirectory() as d:
            at = Path(d) / "nero"
            at.write_text(
                f'#!/bin/sh\necho "$@" >>{d}/asked\ncase "$1" in status) echo \'{{"complete": false, "shards": 2, "kept": 0, "todo": "0-1"}}\';;\n'
                'shard) while read -r i; do echo "{\\"shard\\": $i, \\"computed\\": true}"; done;;\n*) echo kept in it;; esac\n'
            )
            at.chmod(0o755)
            with mock.patch.dict(os.environ, {"NERO_BINARY": str(at)}):
                self.assertEqual(called("local", "s3://b/at/mine", "-q", "--slots", "1", "--", "--allow-program"), (0, "kept in it\n", ""))
                self.assertEqual(called("local", "s3://b/at/mine/", "-q", "--slots", "1", "-o", "there")[0], 0)
            asked = (Path(d) / "asked").read_text().splitlines()
        self.assertEqual(asked[:3], ["status s3://b/at/mine --json", "shard s3://b/at/mine --stdin --workers 1 --allow-program",
                                     "-q merge s3://b/at/mine --allow-program -o mine --push"])  # fmt: skip
        self.assertEqual(asked[-1], "-q merge s3://b/at/mine/ -o there --push")


class Words(unittest.TestCase):
    def test_help(self) -> None:
        for args in ((), ("dask",)):
            code, out, _ = called(*args, "--help")
            self.assertEqual(code, 0)
            self.assertIn("python -m nero.submit dask tcp://scheduler:8786 run", out)

    def test_wrong(self) -> None:
        for args, says in (
            (["local"], "the following arguments are required: run"),
            (["flink", "run"], "invalid choice: 'flink'"),
            (["local", "run", "--slots", "0"], "0, want at least 1"),
            (["local", "run", "--gpus", "-1"], "-1, want a number from 0 on"),
        ):
            code, _, err = called(*args)
            self.assertEqual(code, 2)
            self.assertIn(says, err)


@live
class Planned(unittest.TestCase):
    """Runs of the digits, whose bytes are held against a run without an engine."""

    reference: Path
    folder: "tempfile.TemporaryDirectory[str]"

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.reference = Path(cls.folder.name) / "reference"
        nero.program("run", "-q", *STUDY, "-o", str(cls.reference))

    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.run_ = self.dir / "run"
        nero.program("plan", "-q", *STUDY, "-o", str(self.run_))

    def same(self) -> None:
        want, got = tree(self.reference), tree(self.run_)
        self.assertEqual(set(want), set(got))
        self.assertEqual([name for name in want if want[name] != got[name]], [])

    def held(self) -> "Tuple[str, Path]":
        """A program that does as nero does; but where NERO_HOLD is set it makes one shard, and holds the next one for ever."""
        at, sign = self.dir / "nero", self.dir / "held"
        at.write_text(
            '#!/bin/sh\n[ -n "$NERO_HOLD" ] || exec "$NERO_BINARY" "$@"\nread -r i; echo "$i" | "$NERO_BINARY" "$@"\n'
            'read -r i; echo "$i" >"$NERO_HOLD.part"; mv "$NERO_HOLD.part" "$NERO_HOLD"; exec cat >/dev/null\n'
        )
        at.chmod(0o755)
        return str(at), sign

    def until(self, what: Any, *alive: "subprocess.Popen[Any]") -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            for p in alive:
                self.assertIsNone(p.poll(), f"{p.args!r} ended")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    @contextlib.contextmanager
    def started(self, *command: str, **env: str) -> "Iterator[subprocess.Popen[str]]":
        log = open(self.dir / "log", "a+")
        p = subprocess.Popen(command, stdout=log, stderr=log, text=True, env={**os.environ, "PYTHONPATH": SRC, **env})
        try:
            yield p
        finally:
            p.kill()
            p.wait()
            log.close()

    def log(self) -> str:
        return (self.dir / "log").read_text()

    def driver(self, *args: str, **env: str) -> Any:
        return self.started(sys.executable, "-m", "nero.submit", *args, **env)

    def test_local(self) -> None:
        code, out, err = called("local", str(self.run_), "--slots", "2")
        self.assertEqual((code, out), (0, f"kept in {self.run_}; look at it with: nero serve {self.run_}\n"), err)
        self.assertRegex(err, r"(\d+) of \1 shards are kept\n$")
        self.same()
        self.assertEqual(called("local", str(self.run_)), (0, f"{self.run_} is complete\n", ""))

    def test_killed(self) -> None:
        """A program that is killed is started again, and its shard made."""
        at, sign = self.held()
        with self.driver("local", str(self.run_), "--slots", "1", "--nero", at, NERO_HOLD=str(sign)) as p:
            self.until(sign.exists, p)
            sign.rename(self.dir / "first")
            [cat] = [q for q in children(p.pid) if Path(f"/proc/{q}/comm").read_text() == "cat\n"]
            os.kill(cat, signal.SIGKILL)
            self.until(lambda: "once more" in self.log(), p)
            self.assertRegex(self.log(), r"shard \d+: the program was ended by signal 9 \(on .*\); once more \(1 of 3\)")
            self.until(sign.exists, p)  # of the next one, which made one more
            p.send_signal(signal.SIGTERM)
            self.until(lambda: p.poll() is not None)
            self.assertEqual(p.returncode, 75, self.log())
        self.assertRegex(nero.program("status", str(self.run_)).stdout, "^2 of")
        self.assertEqual(called("local", str(self.run_))[0], 0)
        self.same()

    def test_interrupted(self) -> None:
        """Ctrl-C lets what is under way end, keeps what is kept, and the same command goes on."""
        at, sign = self.held()
        with self.driver("local", str(self.run_), "--slots", "1", "--nero", at, NERO_HOLD=str(sign)) as p:
            self.until(sign.exists, p)
            p.send_signal(signal.SIGINT)
            self.until(lambda: p.poll() is not None)
            self.assertEqual(p.returncode, 75)
            self.assertIn("finishing what is under way", self.log())
            self.assertRegex(self.log(), "nero: stopped; the same command goes on\n$")
            self.assertEqual(children(p.pid), [])
        self.assertRegex(nero.program("status", str(self.run_)).stdout, "^1 of")
        self.assertEqual(called("local", str(self.run_), "-q")[::2], (0, ""))
        self.same()

    def test_refused(self) -> None:
        """What would fail again ends all at once, with the program's sentence."""
        for args, says in (
            (["--", "--engine", "none"], r"^nero: shard \d+: .*none.* \(on .*\)$"),
            (["--nero", "/nowhere/nero-9"], r"/nowhere/nero-9 cannot be started on .*; install it there, or name its path with --nero$"),
        ):
            code, out, err = called("local", "-q", str(self.run_), *args)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err.strip(), says)
        code, _, err = called("local", str(self.dir))
        self.assertEqual(code, 2)
        self.assertRegex(err, "holds no run")

    def test_not_installed(self) -> None:
        for name, module in (("dask", "distributed"), ("ray", "ray")):
            with mock.patch.dict(sys.modules, {module: None}):
                code, _, err = called(name, "127.0.0.1:1", str(self.run_))
            self.assertEqual((code, err), (2, f'nero: {module} is not installed for this Python; install it with: pip install "nero-ml[{name}]"\n'))

    def test_idle(self) -> None:
        """A slot that nobody asks any more lets its program go, and starts another when it is asked again."""
        slot = Slot([os.environ["NERO_BINARY"], "shard", str(self.run_), "--stdin", "--workers", "1"], {})
        self.addCleanup(slot.kill)
        with mock.patch("nero.submit._slot.IDLE", 0.01):
            first = slot.shard(0)
            self.until(lambda: not Path(f"/proc/{first['pid']}").exists() or "Z" in Path(f"/proc/{first['pid']}/stat").read_text().split()[2])
        second = slot.shard(1)
        self.assertNotEqual(first["pid"], second["pid"])
        slot.close()
        self.assertEqual(slot.shard(2)["failed"], "stopped")

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "distributed is not installed")
    def test_dask(self) -> None:
        """A scheduler and two workers, of which one is killed while it has a shard: the other one makes it."""
        at, sign = self.held()
        dask = (sys.executable, "-m", "distributed.cli.dask_")
        own = {"DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(message)s"}
        with contextlib.ExitStack() as stack:
            file = self.dir / "scheduler.json"

            def start(what: str, *more: str, **env: str) -> "subprocess.Popen[str]":
                flags = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
                return stack.enter_context(self.started(sys.executable, "-m", f"distributed.cli.dask_{what}", *flags, *more, **own, **env))

            scheduler = start("scheduler", "--port", "0")
            self.until(file.exists, scheduler)
            address = json.loads(file.read_text())["address"]
            local = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.dir))
            workers = [start("worker", *local, NERO_HOLD=hold) for hold in (str(sign), "")]
            distributed: Any = importlib.import_module("distributed")
            with distributed.Client(address) as c:
                c.wait_for_workers(2, timeout=PATIENCE)
            driver = stack.enter_context(self.driver("dask", address, str(self.run_), "--nero", at))
            self.until(sign.exists, scheduler, driver, *workers)
            workers[0].kill()
            self.until(lambda: driver.poll() is not None, scheduler, workers[1])
            self.assertEqual(driver.returncode, 0, self.log())
            self.until(lambda: not children(workers[1].pid), workers[1])  # nothing is left running
        self.same()
        held = int(sign.read_text())
        self.assertTrue(list(self.run_.glob(f"shards-*/{held:05}.json")))


def children(pid: int) -> List[int]:
    """The processes that a process started, and those that they did, which have not ended."""
    found: List[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            text = stat.read_text().rpartition(")")[2].split()
            if text[1] == str(pid) and text[0] != "Z":
                found += [int(stat.parent.name), *children(int(stat.parent.name))]
    return found


if __name__ == "__main__":
    unittest.main()
