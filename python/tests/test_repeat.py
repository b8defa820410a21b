"""Tests of repeats from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import json
import math
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List

import nero

from tests.test_audit import DIGITS, EXACT, digits, live

META = {
    "name": "texts",
    "platform": "test",
    "inputs": [{"name": "prompt", "datatype": "BYTES", "shape": [1]}],
    "outputs": [{"name": "answer", "datatype": "BYTES", "shape": [1]}],
}


class Assistant(BaseHTTPRequestHandler):
    """Answers with the last word of the question, and a polite one with another word. What is said of 7 is always wrong, and no answer has the spaces of another."""

    asked: Dict[str, int] = {}
    seeds: List[Any] = []
    lock = threading.Lock()

    def reply(self, what: Any) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.reply(META)

    def do_POST(self) -> None:
        asked: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = asked["inputs"][0]["data"][0]
        with self.lock:
            n = self.asked[text] = self.asked.get(text, 0) + 1
            self.seeds.append(asked.get("parameters", {}).get("seed"))
        word = "oh" if text.startswith("please") else text.split()[-1].replace("7", "8")
        self.reply({"outputs": [{"name": "answer", "datatype": "BYTES", "shape": [1], "data": [" " * n + word]}]})

    def log_message(self, format: str, *args: Any) -> None:
        pass


@live
class Repeated(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def served(self) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Assistant)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/texts"

    def views(self, n: int) -> Path:
        rows = ["object,view,value,label"]
        for i in range(n):
            rows += [f"{i},plain,what is {i},{i}", f"{i},again,what is still {i},{i}", f"{i},polite,please what is {i},{i}"]
        (self.dir / "views.csv").write_text("\n".join(rows) + "\n")
        return self.dir / "views.csv"

    def test_texts(self) -> None:
        url, views = self.served(), self.views(12)
        r = nero.repeat(url, views=views, times=4, normalise=["trim", "match=(\\w+)"], out=self.dir / "out")
        m = r.models[0]
        self.assertEqual((r.verdict, r.passed, m.outcomes, m.contract, m.cached), ("FAIL", False, {"answered": 144}, "", False))
        self.assertEqual((m.agreement and m.agreement.value, m.agreement and m.agreement.n), (1, 12))
        self.assertEqual(m.consistent_errors and (m.consistent_errors.value, m.consistent_errors.n), (1, 1))  # that of 7
        self.assertEqual([(v.name, v.state, v.difference.value) for v in m.views], [("polite", "differs", 1), ("again", "open", 0)])
        self.assertEqual(json.loads((self.dir / "out/repeat.json").read_text()), r.data)
        self.assertTrue(str(r).startswith("FAIL: asked 4 times"), str(r))
        self.assertIn("<!doctype html>", r.html.lower())
        self.assertIn("FAIL", repr(r))
        with self.assertRaisesRegex(TypeError, "repeat.passed"):
            bool(r)
        spaced = nero.repeat(url, views=views, times=2, limit=3, normalise="trim", only="texts")
        self.assertEqual(spaced.models[0].agreement and spaced.models[0].agreement.value, 1)
        seeded = nero.repeat(url, views=views, seeds=[5, 6], limit=3, reference="again", seed=4)
        self.assertEqual({s for s in Assistant.seeds if s is not None}, {5, 6})
        self.assertEqual((seeded.data["times"], seeded.data["reference"], seeded.data["seed"]), (2, "again", 4))
        for wrong, said in (({"normalise": ["trin"]}, "did you mean trim"), ({"reference": "rude"}, "is no view"), ({"after": views}, "want a repeat.json")):
            with self.assertRaisesRegex(nero.NeroError, said):
                nero.repeat(url, views=views, **wrong)

    def test_contract(self) -> None:
        url, views = self.served(), self.views(6)
        study = self.dir / "study.yaml"
        study.write_text(f"models: {{name: m, endpoint: {json.dumps(url)}}}\ndata: {{views: {views.name}}}\naudit: {{contract: {{error: 0.5, rate: 0.05}}}}\nrepeat: {{normalise: trim}}\n")
        first = nero.repeat(study, times=2, out=self.dir / "first")
        self.assertEqual((first.models[0].contract, first.data["models"][0]["contract"]["stream"]["n"]), ("broken", 6))
        again = nero.repeat(study, times=2, after=self.dir / "first/repeat.json").data["models"][0]["contract"]["stream"]
        self.assertEqual((again["n"], again["known"]), (6, 6))  # the same objects are no new evidence

    def test_contract_without_study(self) -> None:
        """A contract needs no study, and so does what goes on with it."""
        url, views = self.served(), self.views(6)
        said: "List[Any]" = [(0.5, 0.05), "0.5:0.05", {"error": 0.5, "rate": 0.05}]
        for contract in said:
            first = nero.repeat(url, views=views, times=2, normalise="trim", contract=contract, out=self.dir / "first")
            self.assertEqual((first.models[0].contract, first.data["models"][0]["contract"]["stream"]["n"]), ("broken", 6))
        again = nero.repeat(url, views=views, times=2, normalise="trim", contract=(0.5, 0.05), after=self.dir / "first/repeat.json")
        self.assertEqual(again.data["models"][0]["contract"]["stream"]["known"], 6)
        for wrong, what in (({"error": 0.5}, "has error and rate"), ({"error": 0.5, "rate": 0.1, "p": 1}, "has error and rate")):
            with self.assertRaisesRegex(TypeError, what):
                nero.repeat(url, views=views, contract=wrong)
        with self.assertRaisesRegex(nero.NeroError, "contract"):
            nero.repeat(url, views=views, contract="0.5")

    def test_arrays(self) -> None:
        r = nero.repeat(EXACT, digits(12), "C4", times=2)
        self.assertEqual((r.models[0].model, len(r.models[0].views), r.models[0].outcomes), ("digits-c4", 3, {"answered": 96}))

    def test_elements(self) -> None:
        r = nero.repeat(DIGITS / "demo.yaml", group="C4", times=1, limit=30, only=["original"])
        m = r.models[0]
        self.assertEqual((m.agreement, m.consistent_errors, len(m.views), m.views[0].excess), (None, None, 3, None))
        self.assertTrue(0 < m.views[0].difference.lo < m.views[0].difference.hi and not math.isnan(m.views[0].difference.value))
