"""Tests of nero.bridge. Run them in the folder above: PYTHONPATH=src python3 -m unittest"""

import contextlib
import io
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

import numpy as np

from nero.bridge import BadRequest, Layers, Model, Server, _server, functions, torch_layers, torch_vjp
from nero.bridge._model import DATATYPES, fits
from nero.bridge._wire import HEADER

try:
    import torch
except ImportError:
    torch = None

try:
    import grpc
except ImportError:
    grpc = None

VEC = ("FP32", [-1, 3])


def model(fn: Any, inputs: Any = None, outputs: Any = None, **more: Any) -> Model:
    return Model("m", fn, inputs or {"x": VEC}, outputs or {"y": VEC}, **more)


class ModelTest(unittest.TestCase):
    def setUp(self) -> None:
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_run(self) -> None:
        for fn in (lambda x: 2 * x, lambda x: (2 * x,), lambda x: {"y": 2 * x}, lambda x: 2.0 * x.astype(np.float64)):
            got = model(fn).run({"x": self.x})
            self.assertEqual(list(got), ["y"])
            self.assertEqual(got["y"].dtype, np.float32)
            np.testing.assert_array_equal(got["y"], 2 * self.x)

    def test_order_and_choice(self) -> None:
        two = {"s": VEC, "d": VEC}
        m = model(lambda a, b: (a + b, a - b), {"a": VEC, "b": VEC}, two)
        got = m.run({"b": self.x, "a": 3 * self.x})
        np.testing.assert_array_equal(got["d"], 2 * self.x)
        self.assertEqual(list(m.run({"b": self.x, "a": self.x}, ["d"])), ["d"])

    def test_bad_requests(self) -> None:
        m = model(lambda x: x)
        for arrays, wanted in (
            ({}, []), ({"z": self.x}, []), ({"x": self.x, "z": self.x}, []), ({"x": self.x.astype(np.float64)}, []),
            ({"x": self.x[:, :2]}, []), ({"x": self.x[0]}, []), ({"x": self.x}, ["z"]),
        ):
            with self.assertRaises(BadRequest):
                m.run(arrays, wanted)

    def test_bad_answers(self) -> None:
        for fn in (
            lambda x: x[0], lambda x: x[:, :2], lambda x: (x, x), lambda x: {"z": x}, lambda x: x.astype(np.complex64), lambda x: None,
        ):
            with self.assertRaises((TypeError, ValueError)) as e:
                model(fn).run({"x": self.x})
            self.assertNotIsInstance(e.exception, BadRequest)

    def test_declarations(self) -> None:
        for ports in ({"x": ("float32", [3])}, {"x": ("FP32", [-2])}, {"x": ("FP32", 3)}, {"x": "FP32"}, {"x": ("FP32", [1.5])}):
            with self.assertRaisesRegex(ValueError, "expected \\(datatype, shape\\)"):
                model(lambda x: x, ports)
        with self.assertRaisesRegex(ValueError, "empty"):
            Model("m", lambda: 0, {}, {"y": VEC})
        with self.assertRaisesRegex(ValueError, "name of a model"):
            Model("a?b", lambda x: x, {"x": VEC}, {"y": VEC})

    def test_fits(self) -> None:
        self.assertTrue(fits((2, 3), [-1, 3]))
        self.assertTrue(fits((), []))
        self.assertFalse(fits((2, 3), [-1]))
        self.assertFalse(fits((2, 3), [1, 3]))

    def test_layers_and_vjp(self) -> None:
        # y = x W with a fixed W: the gradient of <c, y> is c W^T.
        w = np.array([[1, 2, 0], [0, 1, 0], [3, 0, 1]], np.float32)
        ms = functions(
            lambda x: x @ w, {"x": VEC}, {"y": VEC}, name="lin",
            layers=Layers(lambda x: (x @ w, x + 1), {"shifted": VEC}), vjp=lambda xs, cs: [cs[0] @ w.T],
        )
        self.assertEqual([m.name for m in ms], ["lin", "lin.layers", "lin.vjp"])
        got = ms[1].run({"x": self.x})
        np.testing.assert_array_equal(got["shifted"], self.x + 1)
        self.assertEqual(list(ms[2].inputs), ["x", "cotangent.y"])
        got = ms[2].run({"x": self.x, "cotangent.y": np.ones((2, 3), np.float32)})
        np.testing.assert_array_equal(got["gradient.x"], np.tile([3, 1, 4], (2, 1)))
        with self.assertRaisesRegex(ValueError, "name of an output"):
            functions(lambda x: x, {"x": VEC}, {"y": VEC}, layers=Layers(lambda x: x, {"y": VEC}))
        with self.assertRaisesRegex(ValueError, "floating-point"):
            functions(lambda x: x, {"x": ("INT8", [1])}, {"y": VEC}, vjp=lambda xs, cs: [])

    def test_graph(self) -> None:
        """Inputs of several types, none of which counts samples, to several outputs."""

        def spread(nodes: Any, edges: Any, rate: Any) -> Dict[str, Any]:
            y = nodes.copy()
            np.add.at(y, edges[1], rate * nodes[edges[0]])
            return {"mean": y.mean(0, keepdims=True), "nodes": y}

        m = model(
            spread, {"nodes": ("FP32", [-1, 3]), "edges": ("INT64", [2, -1]), "rate": ("FP32", [])},
            {"nodes": VEC, "mean": ("FP32", [1, 3])},
        )
        edges = np.array([[0, 0, 0], [1, 1, 0]], np.int64)
        got = m.run({"nodes": self.x, "edges": edges, "rate": np.array(2, np.float32)})
        np.testing.assert_array_equal(got["nodes"], [3 * self.x[0], self.x[1] + 4 * self.x[0]])
        np.testing.assert_array_equal(got["mean"], got["nodes"].mean(0, keepdims=True))
        with self.assertRaisesRegex(BadRequest, "edges came as int32"):
            m.run({"nodes": self.x, "edges": edges.astype(np.int32), "rate": np.array(2, np.float32)})

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch_molecule(self) -> None:
        """Positions and species to energy and forces: integers have no gradient, outputs have one cotangent each."""

        class Springs(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.square = torch.nn.Identity()

            def forward(self, positions: Any, species: Any, idle: Any) -> Any:
                k = species.to(positions.dtype)[..., None]
                energy = 0.5 * self.square(k * positions**2).sum((1, 2))[:, None]
                return energy, -k * positions, species + 1

        net = Springs()
        inputs = {"positions": ("FP32", [-1, -1, 3]), "species": ("INT64", [-1, -1]), "idle": ("FP32", [1])}
        outputs = {"energy": ("FP32", [-1, 1]), "forces": ("FP32", [-1, -1, 3]), "next": ("INT64", [-1, -1])}
        ms = functions(
            net, inputs, outputs, layers=Layers(torch_layers(net, ["square"], list(outputs)), {"square": ("FP32", [-1, -1, 3])}), vjp=torch_vjp(net),
        )
        x = {"positions": self.x[None], "species": np.array([[1, 8]], np.int64), "idle": np.zeros(1, np.float32)}
        got = ms[1].run(x)
        k = x["species"][..., None].astype(np.float32)
        np.testing.assert_array_equal(got["forces"], -k * x["positions"])
        np.testing.assert_array_equal(got["square"], k * x["positions"] ** 2)
        np.testing.assert_array_equal(got["next"], x["species"] + 1)
        c = {"cotangent.energy": np.array([[3]], np.float32), "cotangent.forces": np.ones((1, 2, 3), np.float32)}
        back = ms[2].run({**x, **c})
        self.assertEqual(set(back), {"gradient.positions", "gradient.idle"})
        np.testing.assert_allclose(back["gradient.positions"], 3 * k * x["positions"] - k, rtol=1e-6)
        np.testing.assert_array_equal(back["gradient.idle"], [0])

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch(self) -> None:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        out = {"output": ("FP32", [-1, 2])}
        ms = functions(
            net, {"x": VEC}, out, layers=Layers(torch_layers(net, ["0", "1"]), {"0": ("FP32", [-1, 4]), "1": ("FP32", [-1, 4])}), vjp=torch_vjp(net),
        )
        self.assertEqual(ms[0].platform, "nero_bridge_torch")
        want = net(torch.from_numpy(self.x)).detach().numpy()
        np.testing.assert_array_equal(ms[0].run({"x": self.x})["output"], want)
        got = ms[1].run({"x": self.x})
        np.testing.assert_array_equal(got["output"], want)
        np.testing.assert_allclose(np.tanh(got["0"]), got["1"], rtol=1e-5)
        c = np.array([[1, 2], [3, 4]], np.float32)
        grad = ms[2].run({"x": self.x, "cotangent.output": c})["gradient.x"]
        # By hand: d/dx <c, W2 tanh(W1 x + b)> = W1^T ((1 - tanh^2) * W2^T c).
        w1, w2 = (net[i].weight.detach().numpy() for i in (0, 2))
        np.testing.assert_allclose(grad, ((1 - got["1"] ** 2) * (c @ w2)) @ w1, rtol=1e-4)
        with self.assertRaisesRegex(ValueError, "no submodules"):
            torch_layers(net, ["7"])


class ServerTest(unittest.TestCase):
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        def odd(x: Any) -> Any:
            raise RuntimeError("out of order")

        specials = np.array([np.nan, np.inf, -np.inf, 0.5], np.float32)
        cls.server = Server(
            [
                Model("twice", lambda x: 2 * x, {"x": VEC}, {"y": VEC}),
                Model("every type/é", lambda *a: a, {n: (n, [-1]) for n in DATATYPES}, {"o" + n: (n, [-1]) for n in DATATYPES}),
                Model("odd", odd, {"x": VEC}, {"y": VEC}),
                Model("specials", lambda x: specials, {"x": VEC}, {"y": ("FP32", [4])}),
                Model("scalar", lambda x: x.sum(), {"x": VEC}, {"y": ("FP32", [])}),
            ],
            port=0,
        ).start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.stop()

    def call(self, path: str, body: Optional[bytes] = None, headers: Optional[Dict[str, str]] = None) -> Tuple[int, bytes, Any]:
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.port}{path}", body, headers or {})
        try:
            with contextlib.redirect_stderr(io.StringIO()), urllib.request.urlopen(request, timeout=20) as r:
                return r.status, r.read(), r.headers
        except urllib.error.HTTPError as e:
            return e.code, e.read(), e.headers

    def infer(self, name: str, message: Any, tail: bytes = b"") -> Tuple[int, Any, bytes]:
        head = message if isinstance(message, bytes) else json.dumps(message).encode()
        headers = {HEADER: str(len(head))} if tail else {}
        status, body, back = self.call(f"/v2/models/{name}/infer", head + tail, headers)
        n = int(back.get(HEADER, len(body)))
        return status, json.loads(body[:n]), body[n:]

    def test_about(self) -> None:
        for path, want in (
            ("/v2", b"binary_tensor_data"), ("/v2/health/live", b""), ("/v2/health/ready", b""), ("/v2/models/twice", b'"shape": [-1, 3]'),
            ("/v2/models/twice/ready", b""), ("/v2/models/twice/versions/1", b"twice"), ("/v2/models/every%20type%2F%C3%A9", b"FP16"),
        ):
            status, body, _ = self.call(path)
            self.assertEqual((status, want in body), (200, True), path)
        for path in ("/", "/v2/models/", "/v2/models/gone", "/v2/models/twice/versions/2", "/v2/models/twice/train"):
            self.assertEqual(self.call(path)[0], 404, path)

    def test_json(self) -> None:
        for data in ([1, 2, 3, 4, 5, 6.5], [[1, 2, 3], [4, 5, 6.5]]):
            status, got, tail = self.infer("twice", {"id": "q", "inputs": [{"name": "x", "datatype": "FP32", "shape": [2, 3], "data": data}]})
            self.assertEqual((status, tail, got["id"]), (200, b"", "q"))
            self.assertEqual(got["outputs"], [{"name": "y", "datatype": "FP32", "shape": [2, 3], "data": [2, 4, 6, 8, 10, 13]}])

    def test_binary(self) -> None:
        x = np.array([[1, np.nan, -np.inf]], "<f4")
        ask = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "parameters": {"binary_data_size": 12}}]}
        for how in ({"parameters": {"binary_data_output": True}}, {"outputs": [{"name": "y", "parameters": {"binary_data": True}}]}):
            status, got, tail = self.infer("twice", {**ask, **how}, x.tobytes())
            self.assertEqual((status, got["outputs"][0]["parameters"]), (200, {"binary_data_size": 12}))
            np.testing.assert_array_equal(np.frombuffer(tail, "<f4"), [2, np.nan, -np.inf])

    def test_every_type(self) -> None:
        rng = np.random.default_rng(0)
        arrays = {n: rng.integers(0, 2, 5).astype(d) if d.kind == "b" else (rng.normal(size=5) * 50).astype("i8" if d.kind != "f" else d).astype(d)
                  for n, d in DATATYPES.items()}
        inputs = [{"name": n, "datatype": n, "shape": [5], "parameters": {"binary_data_size": a.nbytes}} for n, a in arrays.items()]
        status, got, tail = self.infer(
            "every%20type%2F%C3%A9", {"inputs": inputs, "parameters": {"binary_data_output": True}}, b"".join(a.tobytes() for a in arrays.values())
        )
        self.assertEqual(status, 200, got)
        self.assertEqual(tail, b"".join(a.tobytes() for a in arrays.values()))
        self.assertEqual([o["datatype"] for o in got["outputs"]], list(DATATYPES))

    def test_not_finite_as_json(self) -> None:
        status, got, _ = self.infer("specials", {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]})
        self.assertEqual((status, got["outputs"][0]["data"]), (200, [None, None, None, 0.5]))

    def test_scalar(self) -> None:
        status, got, _ = self.infer("scalar", {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]})
        self.assertEqual((status, got["outputs"][0]["shape"], got["outputs"][0]["data"]), (200, [], [6]))

    def test_bad_requests(self) -> None:
        def x(**change: Any) -> Any:
            good: Dict[str, Any] = {"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}
            return {k: v for k, v in {**good, **change}.items() if v is not None}

        one = {"binary_data_size": 12}
        cases: List[Tuple[Any, bytes]] = [
            (b"", b""), (b"[]", b""), (b"{", b""), ({}, b""), ({"inputs": {}}, b""), ({"inputs": [1]}, b""), ({"inputs": [x(name=7)]}, b""), ({"inputs": []}, b""),
            ({"inputs": [x(), x()]}, b""), ({"inputs": [x(datatype="BYTES")]}, b""), ({"inputs": [x(datatype="FP16")]}, b""), ({"inputs": [x(shape=[-1, 3])]}, b""),
            ({"inputs": [x(shape=3)]}, b""), ({"inputs": [x(shape=[2, 3])]}, b""), ({"inputs": [x(data=None)]}, b""), ({"inputs": [x(data=["a", 1, 2])]}, b""),
            ({"inputs": [x(data=[1, [2], 3])]}, b""), ({"inputs": [x(), x(name="z")]}, b""), ({"inputs": [x(shape=[2**40 - 1] * 30)]}, b""),
            ({"inputs": [x(parameters=one)]}, b"\0" * 11), ({"inputs": [x(parameters=one)]}, b"\0" * 13), ({"inputs": [x(parameters={"binary_data_size": -1})]}, b"\0" * 12),
            ({"inputs": [x()], "outputs": [{"name": "z"}]}, b""), ({"inputs": [x()], "outputs": [{"name": "y"}, {"name": "y"}]}, b""),
        ]
        for message, tail in cases:
            status, got, _ = self.infer("twice", message, tail)
            self.assertEqual((status, bool(got.get("error"))), (400, True), message)
        status, got, _ = self.infer("odd", {"inputs": [x()]})
        self.assertEqual((status, got["error"]), (500, "RuntimeError: out of order"))
        self.assertEqual(self.infer("twice", {"inputs": [x()]})[0], 200)

    def test_one_at_a_time(self) -> None:
        inside, most = [0], [0]

        def slow(x: Any) -> Any:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.02)
            inside[0] -= 1
            return x

        with Server([Model("slow", slow, {"x": VEC}, {"y": VEC})], port=0) as s:
            body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]}).encode()
            ts = [threading.Thread(target=lambda: urllib.request.urlopen(f"http://127.0.0.1:{s.port}/v2/models/slow/infer", body, timeout=20).close()) for _ in range(4)]
            for t in ts:
                t.start()
            for t in ts:
                t.join()
        self.assertEqual(most[0], 1)

    def test_token(self) -> None:
        os.environ["NERO_BRIDGE_TEST_TOKEN"] = "abc"
        with Server([Model("m", lambda x: x, {"x": VEC}, {"y": VEC})], port=0, token_env="NERO_BRIDGE_TEST_TOKEN") as s:
            url = f"http://127.0.0.1:{s.port}/v2/models/m"
            with self.assertRaises(urllib.error.HTTPError) as e:
                urllib.request.urlopen(url, timeout=20)
            self.assertEqual(e.exception.code, 401)
            e.exception.close()
            with urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": "Bearer abc"}), timeout=20) as r:
                self.assertEqual(r.status, 200)
        with self.assertRaisesRegex(ValueError, "is not set"):
            Server([], token_env="NERO_BRIDGE_NO_SUCH_VARIABLE")

    @unittest.skipIf(shutil.which("openssl") is None, "openssl is not installed")
    def test_silent_connection(self) -> None:
        """Whoever connects and says nothing keeps nobody from the server, and is sent away."""
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                 "-keyout", key, "-out", certificate],
                check=True, capture_output=True,
            )
            trust = ssl.create_default_context(cafile=certificate)
            with Server([model(lambda x: x)], port=0, certificate=certificate, key=key) as s, mock.patch.object(_server, "HANDSHAKE", 0.5):
                self.assertEqual(s.urls(), [f"https://127.0.0.1:{s.port}/m"])
                with socket.create_connection(("127.0.0.1", s.port), timeout=20) as silent, contextlib.redirect_stderr(io.StringIO()) as said:
                    for _ in range(2):
                        with urllib.request.urlopen(f"https://127.0.0.1:{s.port}/v2/models/m", timeout=5, context=trust) as r:
                            self.assertEqual(r.status, 200)
                    self.assertEqual(silent.recv(1), b"")  # closed from the other side
                    self.assertEqual(said.getvalue(), "")
                with socket.create_connection(("127.0.0.1", s.port), timeout=20) as plain:  # no encryption
                    plain.sendall(b"GET /v2 HTTP/1.1\r\n\r\n")
                    with contextlib.suppress(ConnectionResetError):
                        self.assertNotIn(b"200", plain.recv(100))

    def test_three_lines(self) -> None:
        code = (
            "from nero.bridge import serve\n"
            "serve(lambda x: x.mean((2, 3)), inputs={'x': ('FP32', [-1, 1, 28, 28])}, outputs={'y': ('FP32', [-1, 1])}, port=0)\n"
        )
        p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        try:
            assert p.stdout is not None
            line = p.stdout.readline()
            self.assertRegex(line, r"^serving http://127\.0\.0\.1:\d+/model\n$")
            url = line.split()[1].replace("/model", "/v2/models/model")
            with urllib.request.urlopen(url, timeout=20) as r:
                self.assertEqual(json.load(r)["inputs"][0]["shape"], [-1, 1, 28, 28])
        finally:
            p.terminate()
            p.wait()
            p.stdout.close()


@unittest.skipIf(grpc is None, "grpcio is not installed")
class GRPCTest(unittest.TestCase):
    """The messages against those that protoc generates are tested from the Go side; here only what grpcio does."""

    def test_calls(self) -> None:
        from nero.bridge._grpc import fields, put

        with Server([Model("twice", lambda x: 2 * x, {"x": VEC}, {"y": VEC})], port=0, grpc_port=0) as s:
            with grpc.insecure_channel(f"127.0.0.1:{s.grpc_port}") as channel:
                def call(name: str, message: bytes) -> bytes:
                    answer: bytes = channel.unary_unary(f"/inference.GRPCInferenceService/{name}")(message, timeout=20)
                    return answer

                self.assertEqual(call("ServerReady", b""), b"\x08\x01")
                self.assertIn(b"nero_bridge_numpy", call("ModelMetadata", put(1, "twice")))
                x = np.array([[1, 2, 3]], "<f4")
                head = put(1, "x") + put(2, "FP32") + put(3, b"\x01\x03")
                for contents in (put(7, x.tobytes()), b""):
                    typed = b"" if contents else put(5, put(6, x.tobytes()))
                    got = dict(fields(call("ModelInfer", put(1, "twice") + put(5, head + typed) + contents)))
                    np.testing.assert_array_equal(np.frombuffer(bytes(got[6]), "<f4"), [2, 4, 6])
                for name, message, code in (
                    ("ModelMetadata", put(1, "gone"), grpc.StatusCode.NOT_FOUND),
                    ("ModelInfer", put(1, "twice"), grpc.StatusCode.INVALID_ARGUMENT),
                    ("ModelInfer", put(1, "twice") + put(5, head) + put(7, b"\0" * 11), grpc.StatusCode.INVALID_ARGUMENT),
                    ("ModelInfer", b"\xff\xff\xff", grpc.StatusCode.INVALID_ARGUMENT),
                    ("ModelInfer", b"\x2a\x7f", grpc.StatusCode.INVALID_ARGUMENT),
                ):
                    with self.assertRaises(grpc.RpcError) as e:
                        call(name, message)
                    self.assertEqual(e.exception.code(), code, message)


if __name__ == "__main__":
    unittest.main()
