"""Serve a function of arrays to nero, or to any client of the Open Inference Protocol v2.

    from nero.bridge import serve
    serve(lambda x: x.mean((2, 3)), inputs={"x": ("FP32", [-1, 1, 28, 28])}, outputs={"y": ("FP32", [-1, 1])})

A study then names the endpoint that is printed: endpoint: http://127.0.0.1:9000/model. The package needs NumPy alone; with grpcio
installed and a grpc_port it speaks gRPC as well.
"""

from typing import TYPE_CHECKING, Any

from ._model import DATATYPES, BadRequest, Layers, Model, Ports, functions, torch_layers, torch_vjp

if TYPE_CHECKING:
    from ._server import Server, serve

__all__ = ["DATATYPES", "BadRequest", "Layers", "Model", "Ports", "Server", "functions", "serve", "torch_layers", "torch_vjp"]


def __getattr__(name: str) -> Any:
    """Servers, which need much of the standard library, come when they are asked for."""
    if name in ("Server", "serve"):
        from . import _server

        return getattr(_server, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
