"""gRPC by grpcio alone: the few messages are read and written here, so that no generated code is needed."""

from concurrent import futures
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _wire
from ._model import DATATYPES, BadRequest, NoModel

if TYPE_CHECKING:
    from ._server import Server

LIMIT = 512 << 20

# Of the specification's InferTensorContents: field of the list, and how its elements are packed.
_LISTS = {
    "BOOL": (1, "varint"), "INT8": (2, "varint"), "INT16": (2, "varint"), "INT32": (2, "varint"), "INT64": (3, "varint"),
    "UINT8": (4, "varint"), "UINT16": (4, "varint"), "UINT32": (4, "varint"), "UINT64": (5, "varint"), "FP32": (6, "<f4"), "FP64": (7, "<f8"),
}


def _varint(b: memoryview, i: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        if i >= len(b) or shift > 63:
            raise BadRequest("not a message of the protocol")
        c = b[i]
        i += 1
        value |= (c & 127) << shift
        if c < 128:
            return value, i
        shift += 7


def fields(message: Union[bytes, memoryview]) -> Iterator[Tuple[int, Union[int, memoryview]]]:
    """The fields of a protobuf message: number and value, bytes for those with a length."""
    b = memoryview(message)
    i = 0
    while i < len(b):
        key, i = _varint(b, i)
        kind = key & 7
        if kind == 0:
            value, i = _varint(b, i)
            yield key >> 3, value
            continue
        if kind == 2:
            n, i = _varint(b, i)
        elif kind in (1, 5):
            n = 8 if kind == 1 else 4
        else:
            raise BadRequest("not a message of the protocol")
        if n > len(b) - i:
            raise BadRequest("half a message")
        yield key >> 3, b[i : i + n]
        i += n


def _text(v: Union[int, memoryview]) -> str:
    if isinstance(v, int):
        raise BadRequest("not a message of the protocol")
    try:
        return bytes(v).decode()
    except UnicodeDecodeError as e:
        raise BadRequest("a name is not UTF-8") from e


def _integers(v: Union[int, memoryview]) -> List[int]:
    """A repeated integer, packed or one by one."""
    if isinstance(v, int):
        return [v]
    found: List[int] = []
    i = 0
    while i < len(v):
        n, i = _varint(v, i)
        found.append(n)
    return found


def _signed(n: int) -> int:
    return n - (1 << 64) if n >= 1 << 63 else n


def _put(value: int) -> bytes:
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def put(number: int, value: Union[bytes, str, int, bool]) -> bytes:
    """A field of a protobuf message."""
    if isinstance(value, int):
        return _put(number << 3) + _put(int(value))
    data = value.encode() if isinstance(value, str) else value
    return _put(number << 3 | 2) + _put(len(data)) + data


def _contents(name: str, datatype: str, shape: List[int], message: memoryview) -> "np.ndarray[Any, Any]":
    """The array of typed contents."""
    dtype, shape = _wire.declared(name, datatype, shape)
    if datatype not in _LISTS:
        raise BadRequest(f"the input {name}: {datatype} has no typed contents; send raw ones")
    number, kind = _LISTS[datatype]
    parts: List[Any] = []
    for n, v in fields(message):
        if n != number:
            continue
        if kind == "varint":
            parts += _integers(v)
        elif isinstance(v, int):
            raise BadRequest("not a message of the protocol")
        else:
            parts += np.frombuffer(v, kind).tolist()
    if kind == "varint" and dtype.kind == "i":
        parts = [_signed(n) for n in parts]
    try:
        return np.array(parts, dtype).reshape(shape)
    except (ValueError, OverflowError) as e:
        raise BadRequest(f"the input {name}: {len(parts)} elements are not {datatype} {shape}: {e}") from e


class Request:
    """A ModelInferRequest."""

    def __init__(self, message: bytes) -> None:
        self.model = self.version = self.id = ""
        self.outputs: List[str] = []
        self.arrays: _wire.Arrays = {}
        heads: List[Tuple[str, str, List[int], Optional[memoryview]]] = []
        raw: List[memoryview] = []
        for number, v in fields(message):
            if number == 1:
                self.model = _text(v)
            elif number == 2:
                self.version = _text(v)
            elif number == 3:
                self.id = _text(v)
            elif number == 5 and not isinstance(v, int):
                heads.append(self._input(v))
            elif number == 6 and not isinstance(v, int):
                self.outputs += [_text(x) for n, x in fields(v) if n == 1]
            elif number == 7 and not isinstance(v, int):
                raw.append(v)
        if raw and len(raw) != len(heads):
            raise BadRequest(f"{len(heads)} inputs came with the raw contents of {len(raw)}")
        for i, (name, datatype, shape, contents) in enumerate(heads):
            if name in self.arrays:
                raise BadRequest(f"the input {name} came twice")
            if raw:
                self.arrays[name] = _wire.array(name, datatype, shape, raw[i].tobytes())
            else:
                self.arrays[name] = _contents(name, datatype, shape, contents if contents is not None else memoryview(b""))

    @staticmethod
    def _input(message: memoryview) -> Tuple[str, str, List[int], Optional[memoryview]]:
        name = datatype = ""
        shape: List[int] = []
        contents: Optional[memoryview] = None
        for number, v in fields(message):
            if number == 1:
                name = _text(v)
            elif number == 2:
                datatype = _text(v)
            elif number == 3:
                shape += [_signed(n) for n in _integers(v)]
            elif number == 5 and not isinstance(v, int):
                contents = v
        return name, datatype, shape, contents


def response(model: str, version: str, request_id: str, arrays: _wire.Arrays) -> bytes:
    """A ModelInferResponse with raw contents."""
    names = {d: n for n, d in DATATYPES.items()}
    parts = [put(1, model), put(2, version)]
    if request_id:
        parts.append(put(3, request_id))
    for name, a in arrays.items():
        shape = b"".join(_put(n) for n in a.shape)
        parts.append(put(5, put(1, name) + put(2, names[a.dtype]) + (put(3, shape) if shape else b"")))
    parts += [put(6, a.tobytes()) for a in arrays.values()]
    return b"".join(parts)


def described(meta: Dict[str, Any]) -> bytes:
    """A ModelMetadataResponse."""
    parts = [put(1, meta["name"]), *[put(2, v) for v in meta["versions"]], put(3, meta["platform"])]
    for number, ports in ((4, meta["inputs"]), (5, meta["outputs"])):
        for p in ports:
            shape = b"".join(_put(n) for n in p["shape"])
            parts.append(put(number, put(1, p["name"]) + put(2, p["datatype"]) + (put(3, shape) if shape else b"")))
    return b"".join(parts)


def start(server: "Server", host: str, port: int, certificate: Optional[str], key: Optional[str]) -> Tuple[Any, int]:
    """Starts the gRPC side of a server and returns it with its port."""
    try:
        import grpc
    except ImportError as e:
        raise RuntimeError("grpc_port needs the package grpcio; install it, or leave grpc_port out and use the http endpoint") from e

    def asked(message: bytes) -> Tuple[str, str]:
        found = {n: v for n, v in fields(message)}
        return _text(found.get(1, memoryview(b""))), _text(found.get(2, memoryview(b"")))

    def metadata(message: bytes) -> bytes:
        return described(server.model(*asked(message)).metadata())

    def ready(message: bytes) -> bytes:
        server.model(*asked(message))
        return put(1, True)

    def infer(message: bytes) -> bytes:
        r = Request(message)
        model = server.model(r.model, r.version)
        return response(model.name, model.version, r.id, server.run(model, r.arrays, r.outputs))

    def about(_: bytes) -> bytes:
        return put(1, "nero_bridge") + put(2, "0.1.0")

    def guarded(f: Any) -> Any:
        def call(message: bytes, context: Any) -> bytes:
            token = dict(context.invocation_metadata()).get("authorization")
            if not server.allows(token):
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is missing or wrong")
            try:
                answer: bytes = f(message)
                return answer
            except BadRequest as e:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(e))
            except NoModel as e:
                context.abort(grpc.StatusCode.NOT_FOUND, e.args[0])
            except Exception as e:  # whatever the function throws
                context.abort(grpc.StatusCode.INTERNAL, f"{type(e).__name__}: {e}")
            raise AssertionError("abort returns")

        return grpc.unary_unary_rpc_method_handler(call)

    calls: Dict[str, Callable[[bytes], bytes]] = {
        "ServerLive": lambda _: put(1, True), "ServerReady": lambda _: put(1, True), "ModelReady": ready,
        "ServerMetadata": about, "ModelMetadata": metadata, "ModelInfer": infer,
    }
    options = [("grpc.max_receive_message_length", LIMIT), ("grpc.max_send_message_length", LIMIT)]
    g = grpc.server(futures.ThreadPoolExecutor(max_workers=8), options=options)
    g.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler("inference.GRPCInferenceService", {n: guarded(f) for n, f in calls.items()}),
    ))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if certificate is not None:
        with open(certificate, "rb") as c, open(key or certificate, "rb") as k:
            credentials = grpc.ssl_server_credentials([(k.read(), c.read())])
        bound = g.add_secure_port(address, credentials)
    else:
        bound = g.add_insecure_port(address)
    if bound == 0:
        raise OSError(f"cannot listen at {address}")
    g.start()
    return g, bound
