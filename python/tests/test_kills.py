"""Kills and interrupts of Python, of the program and of functions, in seeded draws. Run them as test_bridge says.

The gate has a few draws with much time for each, since it shares its machine; `.ci/kills` has as many as NERO_KILLS says, and 10 s for each.
"""

import contextlib
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

from tests.test_audit import live
from tests.victim import DEEDS

DRAWS = int(os.environ.get("NERO_KILLS", "8"))
#: Within which all is to be over, in seconds.
BOUND = 10.0 if "NERO_KILLS" in os.environ else 60.0
#: Temporary folders of Python, which it cannot take away where it ends at once: the next one does.
OURS = "nero-python-"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass
class Subject:
    """What is done, and what it leaves when nobody disturbs it."""

    model: str
    what: str
    samples: int
    want: Dict[str, bytes] = field(default_factory=dict, repr=False)
    whole: float = 0


SUBJECTS = [
    Subject("function", "run", 64), Subject("function", "audit", 32), Subject("file", "run", 256),
    Subject("file", "audit", 128), Subject("module", "run", 256), Subject("module", "audit", 128),
]  # fmt: skip


def tree(folder: Path) -> Dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Draw:
    """A process of its own, and all that it starts, which are known by a mark in their environment."""

    def __init__(self, of: Subject, out: Path, temp: Path, **how: Any) -> None:
        temp.mkdir(exist_ok=True)
        self.mark = f"NERO_DRAW={uuid.uuid4()}".encode()
        name, _, value = self.mark.decode().partition("=")
        self.begun = time.monotonic()
        said = {"model": of.model, "what": of.what, "samples": of.samples, "out": str(out), **how}
        self.p = subprocess.Popen(
            [sys.executable, "-m", "tests.victim", json.dumps(said)],
            cwd=Path(__file__).resolve().parents[1], env={**os.environ, "TMPDIR": str(temp), name: value}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,  # which is ignored in the background of a shell
        )  # fmt: skip

    def alive(self) -> List[int]:
        """All of its processes that have not ended."""
        found = []
        for p in Path("/proc").iterdir():
            if p.name.isdigit():
                with contextlib.suppress(OSError):
                    if self.mark in (p / "environ").read_bytes().split(b"\0"):
                        found.append(int(p.name))
        return found

    def program(self) -> Optional[int]:
        """The program nero of it."""
        for p in self.alive():
            with contextlib.suppress(OSError):
                if os.path.realpath(f"/proc/{p}/exe") == os.path.realpath(os.environ["NERO_BINARY"]):
                    return p
        return None

    def ended(self, since: float, bound: float) -> float:
        """How long it took until nothing of it was left; infinity if it was still there."""
        while self.p.poll() is None or self.alive():
            if time.monotonic() > since + bound:
                for p in self.alive():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(p, signal.SIGKILL)
                self.p.wait()
                return float("inf")
            time.sleep(0.02)
        return time.monotonic() - since

    def close(self) -> str:
        out, err = self.p.communicate()
        return out + err


@live
@unittest.skipUnless(sys.platform == "linux", "processes are looked for in /proc")
class Kills(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def tidy(self) -> None:
        for name in ("out", "temp"):
            shutil.rmtree(self.dir / name, ignore_errors=True)

    def undisturbed(self, of: Subject, out: Path, temp: Path) -> float:
        d = Draw(of, out, temp)
        took = d.ended(d.begun, 300)
        said = d.close()
        self.assertEqual(d.p.returncode, 0, f"{of}: {said}")
        self.assertEqual(os.listdir(temp), [], f"{of}: left in the folder for temporary files")
        return took

    def test_kills(self) -> None:
        subjects = [s for s in SUBJECTS if s.model != "module" or importlib.util.find_spec("torch") is not None]
        r = random.Random(20)
        out, temp = self.dir / "out", self.dir / "temp"
        kinds: Dict[str, int] = {}
        halfway, late, longest = 0, 0, 0.0
        for n in range(DRAWS):
            s = subjects[n % len(subjects)]
            if not s.want:
                s.whole = self.undisturbed(s, out, temp)
                s.want = tree(out)
                self.tidy()
            deed = r.choice(sorted(DEEDS)) if s.model == "function" and r.random() < 0.5 else ""
            whom = "" if deed else r.choice(("Python", "the program"))
            how = r.choice(SIGNALS)
            moment, again = r.random(), r.random() < 0.3
            with self.subTest(n=n, of=s, deed=deed, whom=whom, how=how, moment=moment):
                kind = f"function {deed}" if deed else f"{whom} {how.name}"
                kinds[kind] = kinds.get(kind, 0) + 1
                d = Draw(s, out, temp, deed=deed, at=1 + int(moment * 250))
                if deed == "hang":
                    assert d.p.stdout is not None
                    if d.p.stdout.readline() == "hangs\n":
                        time.sleep(r.random() / 10)
                        d.p.send_signal(signal.SIGINT)
                elif deed:
                    d.p.wait()
                else:
                    self.strike(d, whom, how, moment * s.whole, again)
                struck = time.monotonic()
                took = d.ended(struck, BOUND)
                said = d.close()
                self.assertLess(took, BOUND, f"something of it was there {BOUND} s after {kind}: {said}")
                longest = max(longest, took)
                late += d.p.returncode == 0
                if d.p.returncode > 0 and not deed:  # Python lived on to say why
                    self.assertRegex(said, "KeyboardInterrupt|NeroError")
                if deed in ("raise", "leave", "interrupt", "hang") and d.p.returncode != 0:
                    self.assertRegex(said if d.p.returncode != 3 else "3", "Deliberate: at a call|KeyboardInterrupt|^3$")
                left = sorted(os.listdir(temp))
                hurried = whom == "Python" and how == signal.SIGINT and again  # the second one may end what Python does when it leaves
                if d.p.returncode in (-signal.SIGKILL, -signal.SIGTERM, 7) or hurried:  # it could not do anything any more
                    left = [name for name in left if not name.startswith(OURS)]
                self.assertEqual(left, [], f"left in the folder for temporary files after {kind}: {said}")
                halfway += 0 < len(list(out.rglob("*.parquet"))) < sum(name.endswith(".parquet") for name in s.want)
                # The same call goes on, ends with the same bytes, and takes away what was left.
                self.undisturbed(s, out, temp)
                got = tree(out)
                self.assertEqual([name for name in {**s.want, **got} if s.want.get(name) != got.get(name)], [], f"other bytes after {kind}")
            self.tidy()
        if "NERO_KILLS" in os.environ:
            print(f"{DRAWS} draws: {kinds}; {halfway} with a part of the rows, {late} too late; longest {longest:.2f} s", file=sys.stderr)

    def test_what_would_take_long(self) -> None:
        """A program that has much to do, and nothing to ask, ends with its Python all the same."""
        of, out, temp = Subject("file", "run", 4000), self.dir / "out", self.dir / "temp"
        for how in (signal.SIGKILL, signal.SIGINT):
            d = Draw(of, out, temp, engine="wasm")
            while d.p.poll() is None and not any(out.rglob("*.parquet")):
                time.sleep(0.02)
            program = d.program()
            d.p.send_signal(how)
            took = d.ended(time.monotonic(), BOUND)
            said = d.close()
            self.assertLess(took, BOUND, f"something of it was there {BOUND} s after {how.name}")
            self.assertIsNotNone(program, said)
            self.assertFalse(any(out.rglob("manifest.json")))
            self.tidy()

    def strike(self, d: Draw, whom: str, how: signal.Signals, after: float, again: bool) -> None:
        """Sends a signal at a moment, or as soon as there is who could get it."""
        time.sleep(after)
        while d.p.poll() is None:
            to = d.p.pid if whom == "Python" else d.program()
            if to is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(to, how)
                    if again:
                        time.sleep(0.05)
                        os.kill(to, how)
                return
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
