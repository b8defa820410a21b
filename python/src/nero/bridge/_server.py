"""The server: HTTP from the standard library, and gRPC where grpcio is installed."""

import hmac
import json
import os
import re
import ssl
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple
from urllib.parse import quote, unquote

from . import _wire
from ._model import BadRequest, Layers, Model, NoModel, Ports, functions

#: Longest request that is taken, in bytes.
LIMIT = 512 << 20

#: Longest time that setting up encryption may take, in seconds.
HANDSHAKE = 10.0


class Server:
    """Serves models over HTTP at host:port and, if grpc_port is given, over gRPC at host:grpc_port. Port 0 takes a free one.

    The functions are called one at a time unless concurrent is true. token_env names an environment variable with a token that every
    call must bring as "Authorization: Bearer TOKEN". certificate and key are PEM files; with them both ports encrypt.
    """

    def __init__(
        self,
        models: Sequence[Model],
        *,
        host: str = "127.0.0.1",
        port: int = 9000,
        grpc_port: Optional[int] = None,
        concurrent: bool = False,
        token_env: Optional[str] = None,
        certificate: Optional[str] = None,
        key: Optional[str] = None,
    ) -> None:
        self.models: Dict[str, Model] = {m.name: m for m in models}
        if len(self.models) != len(models):
            raise ValueError("two models have the same name; give each its own")
        self.token: Optional[str] = None
        if token_env is not None:
            self.token = os.environ.get(token_env)
            if not self.token:
                raise ValueError(f"the environment variable {token_env} of token_env is not set; set it, or leave token_env out")
        self._turn = None if concurrent else threading.Lock()
        self._certificate, self._key = certificate, key
        self._http = _HTTP((host, port), _Handler)
        self._http.bridge = self
        self.scheme: str = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            # The handshake is left to the thread of the connection (_Handler.setup): here a silent client would stop everybody.
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme = "https"
        self.host: str = host
        self.port: int = self._http.server_address[1]
        self.grpc_port: Optional[int] = None
        self._grpc: Any = None
        if grpc_port is not None:
            from . import _grpc

            self._grpc, self.grpc_port = _grpc.start(self, host, grpc_port, certificate, key)
        self._thread: Optional[threading.Thread] = None

    def urls(self) -> List[str]:
        """The endpoints of all models, as a study names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        urls = [f"{self.scheme}://{host}:{self.port}/{quote(n, safe='')}" for n in self.models]
        if self.grpc_port is not None:
            grpc = self.scheme.replace("http", "grpc")
            urls += [f"{grpc}://{host}:{self.grpc_port}/{quote(n, safe='')}" for n in self.models]
        return urls

    def model(self, name: str, version: str = "") -> Model:
        """The model of that name; LookupError if there is none."""
        m = self.models.get(name)
        if m is None or version not in ("", m.version):
            raise NoModel(f"there is no model {name}{' of version ' + version if version else ''}; there are {list(self.models)}")
        return m

    def run(self, model: Model, arrays: _wire.Arrays, wanted: Sequence[str]) -> _wire.Arrays:
        """Calls a model's function, in turn."""
        if self._turn is None:
            return model.run(arrays, wanted)
        with self._turn:
            return model.run(arrays, wanted)

    def allows(self, authorization: Optional[str]) -> bool:
        """Tells whether a call brings the token."""
        return self.token is None or hmac.compare_digest((authorization or "").encode(), b"Bearer " + self.token.encode())

    def start(self) -> "Server":
        """Serves on a thread of its own."""
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends serving and closes the ports."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()
        if self._grpc is not None:
            self._grpc.stop(0.5).wait()

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait(self) -> None:
        """Serves until the program is interrupted."""
        try:
            self._http.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()


class _HTTP(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    bridge: Server

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError, TimeoutError)):
            super().handle_error(request, client_address)


_PATH = re.compile(r"/v2/models/([^/]+)(?:/versions/([^/]+))?(/ready|/infer)?")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "nero_bridge"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave together
    timeout = 600
    server: _HTTP  # pyright: ignore[reportIncompatibleVariableOverride]

    def setup(self) -> None:
        if isinstance(self.request, ssl.SSLSocket):
            self.request.settimeout(HANDSHAKE)
            self.request.do_handshake()
        super().setup()  # sets timeout

    def log_message(self, format: str, *args: Any) -> None:
        pass  # a run asks a hundred thousand times

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, what: Callable[[], Tuple[bytes, Dict[str, str]]]) -> None:
        status = 200
        headers: Dict[str, str] = {}
        try:
            if not self.server.bridge.allows(self.headers.get("Authorization")):
                status, body = 401, _error("the token is missing or wrong")
                self.close_connection = True  # what follows has not been read
            else:
                body, headers = what()
        except BadRequest as e:
            status, body = 400, _error(str(e))
        except NoModel as e:
            status, body = 404, _error(e.args[0])
        except (ConnectionError, TimeoutError):
            self.close_connection = True
            return
        except Exception as e:  # whatever the function throws
            traceback.print_exc()
            status, body = 500, _error(f"{type(e).__name__}: {e}")
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _get(self) -> Tuple[bytes, Dict[str, str]]:
        path = self.path.split("?", 1)[0]
        if path in ("/v2", "/v2/"):
            return json.dumps({"name": "nero_bridge", "version": "0.1.0", "extensions": ["binary_tensor_data"]}).encode(), {}
        if path in ("/v2/health/live", "/v2/health/ready"):
            return b"{}", {}
        model, action = self._model(path)
        if action == "/ready":
            return b"{}", {}
        if action:
            raise BadRequest("expected POST")
        return json.dumps(model.metadata()).encode(), {}

    def _model(self, path: str) -> Tuple[Model, str]:
        m = _PATH.fullmatch(path)
        if m is None:
            raise NoModel(f"there is nothing at {path[:200]}; expected /v2/models/NAME")
        return self.server.bridge.model(unquote(m[1]), unquote(m[2] or "")), m[3] or ""

    def _post(self) -> Tuple[bytes, Dict[str, str]]:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LIMIT:
            self.close_connection = True
            raise BadRequest(f"Content-Length is {length!r}; expected at most {LIMIT}")
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise ConnectionError("half a request")
        model, action = self._model(self.path.split("?", 1)[0])
        if action != "/infer":
            raise NoModel("expected /v2/models/NAME/infer")
        request = _wire.Request(body, self.headers.get(_wire.HEADER))
        data, head = _wire.answer(model.name, model.version, request, self.server.bridge.run(model, request.arrays, request.outputs))
        if head is None:
            return data, {}
        return data, {"Content-Type": "application/octet-stream", _wire.HEADER: str(head)}


def _error(text: str) -> bytes:
    return json.dumps({"error": text}).encode()


def serve(
    fn: Callable[..., Any],
    inputs: Ports,
    outputs: Ports,
    *,
    name: str = "model",
    version: str = "1",
    layers: Optional[Layers] = None,
    vjp: Optional[Callable[[List[Any], List[Any]], Any]] = None,
    host: str = "127.0.0.1",
    port: int = 9000,
    grpc_port: Optional[int] = None,
    concurrent: bool = False,
    token_env: Optional[str] = None,
    certificate: Optional[str] = None,
    key: Optional[str] = None,
) -> None:
    """Serves a function until the program is interrupted, and prints the endpoints.

    fn is called with one NumPy array for each of inputs, in their order, and returns one array, a tuple of arrays in the order of
    outputs, or a dict by name; arrays of PyTorch and JAX will do. A torch.nn.Module is called with tensors instead, without gradients.
    See :func:`functions` for layers and vjp, :class:`Server` for the rest.
    """
    models = functions(fn, inputs, outputs, name=name, version=version, layers=layers, vjp=vjp)
    server = Server(
        models, host=host, port=port, grpc_port=grpc_port, concurrent=concurrent, token_env=token_env, certificate=certificate, key=key
    )
    for url in server.urls():
        print("serving", url, flush=True)
    server.wait()
