"""The messages of the protocol over HTTP: JSON, with binary tensors behind it if the client wants them."""

import json
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from nero._guards import is_dict, is_list

from ._model import DATATYPES, BadRequest

#: Says where the JSON of a message ends and its binary tensors begin.
HEADER = "Inference-Header-Content-Length"

Arrays = Dict[str, "np.ndarray[Any, Any]"]


def array(name: str, datatype: Any, shape: Any, data: bytes) -> "np.ndarray[Any, Any]":
    """The array of little-endian bytes, of which it gets a copy."""
    dtype, shape = declared(name, datatype, shape)
    count = 1
    for n in shape:
        count *= n
    if len(data) != count * dtype.itemsize:
        raise BadRequest(f"the input {name} came with {len(data)} bytes; {datatype} {shape} has {count * dtype.itemsize}")
    return np.frombuffer(data, dtype).reshape(shape).copy()


def declared(name: str, datatype: Any, shape: Any) -> Tuple["np.dtype[Any]", List[int]]:
    """Checks the type and the shape of a tensor."""
    if datatype not in DATATYPES:
        raise BadRequest(f"the input {name} is of type {datatype!r}; expected one of {', '.join(DATATYPES)}")
    if not is_list(shape) or len(shape) > 32 or not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**40 for n in shape):
        raise BadRequest(f"the input {name} is of shape {shape!r}; expected a list of lengths")
    return DATATYPES[datatype], shape


class Request:
    """What a client asks for: arrays by name, names of outputs, and which of them it wants as binary tensors."""

    def __init__(self, body: bytes, header_length: Optional[str]) -> None:
        rest = memoryview(b"")
        text = body
        if header_length is not None:
            if not header_length.isdigit() or int(header_length) > len(body):
                raise BadRequest(f"{HEADER} is {header_length!r} for a message of {len(body)} bytes")
            text, rest = body[: int(header_length)], memoryview(body)[int(header_length) :]
        try:
            message = json.loads(text)
        except ValueError as e:
            raise BadRequest(f"not JSON: {e}") from e
        if not is_dict(message) or not isinstance(message.get("inputs"), list):
            raise BadRequest("expected a JSON object with a list named inputs")
        self.id = message.get("id")
        self.arrays: Arrays = {}
        for x in message["inputs"]:
            if not is_dict(x) or not isinstance(x.get("name"), str) or x["name"] in self.arrays:
                raise BadRequest("expected every input to be an object with a name of its own")
            name = x["name"]
            size = _parameters(x).get("binary_data_size")
            if size is None:
                self.arrays[name] = _from_json(name, x)
            elif not isinstance(size, int) or not 0 <= size <= len(rest):
                raise BadRequest(f"the input {name} should have {size!r} bytes, and {len(rest)} are left")
            else:
                self.arrays[name] = array(name, x.get("datatype"), x.get("shape"), rest[:size].tobytes())
                rest = rest[size:]
        if len(rest):
            raise BadRequest(f"{len(rest)} bytes follow the last input")
        all_binary = _parameters(message).get("binary_data_output") is True
        self.outputs: List[str] = []
        self.binary: Dict[str, bool] = {}
        for x in message.get("outputs") or ():
            if not is_dict(x) or not isinstance(x.get("name"), str) or x["name"] in self.binary:
                raise BadRequest("expected every output to be an object with a name of its own")
            self.outputs.append(x["name"])
            self.binary[x["name"]] = _parameters(x).get("binary_data", all_binary) is True
        self.all_binary = all_binary


def _parameters(x: Mapping[str, Any]) -> Mapping[str, Any]:
    p = x.get("parameters")
    return p if is_dict(p) else {}


def _from_json(name: str, x: Mapping[str, Any]) -> "np.ndarray[Any, Any]":
    dtype, shape = declared(name, x.get("datatype"), x.get("shape"))
    if dtype.itemsize == 2 and dtype.kind == "f":
        raise BadRequest(f"the input {name}: FP16 has no form in JSON; send it as a binary tensor")
    if "data" not in x:
        raise BadRequest(f"the input {name} has neither data nor binary_data_size")
    try:
        wide = np.array(x["data"], np.float64 if dtype.kind == "f" else None)
        if dtype.kind != "f" and wide.size and (wide.dtype.kind not in "iub" or (wide.astype(dtype) != wide).any()):
            raise ValueError("numbers that the type does not have")
        return wide.astype(dtype).reshape(shape)
    except (ValueError, TypeError, OverflowError) as e:
        raise BadRequest(f"the input {name}: data is not {x.get('datatype')} {shape}: {e}") from e


def answer(model: str, version: str, request: Request, arrays: Arrays) -> Tuple[bytes, Optional[int]]:
    """The body of an answer, and the length of its JSON if binary tensors follow."""
    outputs: List[Dict[str, Any]] = []
    tail: List[bytes] = []
    names = {d: n for n, d in DATATYPES.items()}
    for name, a in arrays.items():
        o: Dict[str, Any] = {"name": name, "datatype": names[a.dtype], "shape": list(a.shape)}
        if request.binary.get(name, request.all_binary):
            data = a.tobytes()
            o["parameters"] = {"binary_data_size": len(data)}
            tail.append(data)
        else:
            if a.dtype == DATATYPES["FP16"]:
                raise BadRequest(f"the output {name}: FP16 has no form in JSON; ask for a binary tensor")
            flat = a.reshape(-1)
            o["data"] = flat.tolist()
            if a.dtype.kind == "f" and not np.isfinite(flat).all():
                o["data"] = [v if np.isfinite(v) else None for v in o["data"]]  # JSON has no word for it
        outputs.append(o)
    message: Dict[str, Any] = {"model_name": model, "model_version": version, "outputs": outputs}
    if isinstance(request.id, str):
        message["id"] = request.id
    head = json.dumps(message, allow_nan=False).encode()
    return b"".join([head, *tail]), len(head) if tail else None
