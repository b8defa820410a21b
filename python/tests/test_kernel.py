"""Tests in a kernel of Jupyter, where that is installed (.ci/python), with the program that NERO_BINARY names. Run them as test_bridge says."""

import importlib.util
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Optional, Tuple

from tests.test_audit import live

ROOT = Path(__file__).resolve().parents[1]


@live
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
@unittest.skipUnless(importlib.util.find_spec("jupyter_client") and importlib.util.find_spec("ipykernel"), "no kernel of Jupyter")
class Kernel(unittest.TestCase):
    def setUp(self) -> None:
        from jupyter_client.manager import KernelManager

        sockets = self.enterContext(tempfile.TemporaryDirectory())
        self.manager: Any = KernelManager(kernel_name="python3", transport="ipc", ip=str(Path(sockets, "kernel")))
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        self.manager.start_kernel(env={**os.environ, "PYTHONPATH": path})
        self.addCleanup(self.manager.shutdown_kernel, now=True)
        self.client: Any = self.manager.client()
        self.client.start_channels()
        self.addCleanup(self.client.stop_channels)
        self.client.wait_for_ready(timeout=120)

    def cell(self, code: str, interrupt: str = "") -> Tuple[str, Optional[str], float]:
        """What a cell says and shows, the name of the error that it ends with, and how long it went on after it was interrupted, once it said a word."""
        asked, said, error, struck = self.client.execute(code), "", None, 0.0
        while True:
            m = self.client.get_iopub_msg(timeout=120)
            if m["parent_header"].get("msg_id") != asked:
                continue
            kind, content = m["msg_type"], m["content"]
            if kind == "stream":
                said += content["text"]
                if interrupt and interrupt in said and not struck:
                    struck = time.monotonic()
                    self.manager.interrupt_kernel()
            elif kind == "execute_result":
                said += content["data"].get("text/html", content["data"]["text/plain"])
            elif kind == "error":
                error = content["ename"]
            elif kind == "status" and content["execution_state"] == "idle":
                return said, error, time.monotonic() - struck if struck else 0.0

    def test_interrupts(self) -> None:
        """A cell that is interrupted, in a function, in an audit of a file or in the function's first call, ends soon; nothing of it is left, and the next cell works."""
        self.assertEqual(self.cell("import os, time, nero\nfrom tests.test_audit import *\nfrom tests.test_models import *\nfrom tests.victim import children")[1], None)
        before = self.cell("print(len(children()))")[0]
        for at in (1, 4):
            code = f"""
calls = [0]
def slow(x):
    calls[0] += 1
    if calls[0] == {at}:
        print("asked", flush=True)
        time.sleep(300)
    return exact(x)
nero.audit(slow, IMAGES, **KEYS)
"""
            said, error, took = self.cell(code, "asked")
            self.assertEqual((said, error), ("asked\n", "KeyboardInterrupt"))
            self.assertLess(took, 60)
        file = """
def at(e):
    if e["event"] == "sized":
        print("begun", flush=True)
nero.audit(BROKEN, digits(1000), "SO(2)", orbit=360, equivariant=False, engine="wasm", progress=at)
"""
        said, error, took = self.cell(file, "begun")
        self.assertEqual(error, "KeyboardInterrupt", said)
        self.assertLess(took, 60)
        self.assertEqual(self.cell("print(len(children()))")[0], before)
        said, error, _ = self.cell("nero.audit(exact, IMAGES, **{**KEYS, 'progress': True})")  # with a loop running, as kernels have one
        self.assertEqual(error, None, said)
        self.assertTrue("NEEDS ATTENTION" in said and "<svg" in said, said[:200])


if __name__ == "__main__":
    unittest.main()
