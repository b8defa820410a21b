#!/usr/bin/env python3
"""Serves OpenCV's dense optical flow (Gunnar Farneback, "Two-frame motion estimation based on polynomial expansion", SCIA 2003).

Input pair: [N, 2, H, W], two grey frames in time order, intensities 0 to 255 (FP32). Output field: [N, 2, H, W] (FP32), the displacement
in pixels of what is at a pixel of the first frame, u along columns (to the right), then v along rows (down).

Needs NumPy and OpenCV (Debian: python3-opencv). Usage: farneback.py [--port 9000] [--grpc-port 9001] [--window 15] ...
"""

import argparse
import os
import sys
from typing import Any

import cv2
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))  # where the package is not installed

from nero.bridge import serve  # noqa: E402


def farneback(
    pair: "np.ndarray[Any, Any]", *, levels: int = 3, window: int = 15, iterations: int = 3, poly_n: int = 5, poly_sigma: float = 1.2, gaussian: bool = False
) -> "np.ndarray[Any, Any]":
    """The field of every pair: [N, 2, H, W] of uint8, or of float32 from 0 to 255, to [N, 2, H, W] of float32."""
    field = np.empty(pair.shape, np.float32)
    for (a, b), out in zip(pair, field):
        flow = cv2.calcOpticalFlowFarneback(
            np.ascontiguousarray(a), np.ascontiguousarray(b), None, 0.5, levels, window, iterations, poly_n, poly_sigma,
            cv2.OPTFLOW_FARNEBACK_GAUSSIAN if gaussian else 0,
        )
        out[:] = np.moveaxis(flow, -1, 0)
    return field


def main() -> None:
    p = argparse.ArgumentParser(description="serve OpenCV's Farneback optical flow")
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=9000, help="of HTTP; 0 takes a free one")
    p.add_argument("--grpc-port", type=int, help="of gRPC, which needs grpcio")
    p.add_argument("--levels", type=int, default=3, help="of the pyramid")
    p.add_argument("--window", type=int, default=15, help="averaging window in pixels")
    p.add_argument("--iterations", type=int, default=3)
    p.add_argument("--poly-n", type=int, default=5, help="neighbourhood of the polynomial expansion: 5 or 7")
    p.add_argument("--poly-sigma", type=float, default=1.2)
    p.add_argument("--gaussian", action="store_true", help="weight the window by a Gaussian")
    a = p.parse_args()
    cv2.setNumThreads(1)

    def fn(pair: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        return farneback(pair, levels=a.levels, window=a.window, iterations=a.iterations, poly_n=a.poly_n, poly_sigma=a.poly_sigma, gaussian=a.gaussian)

    serve(
        fn, inputs={"pair": ("FP32", [-1, 2, -1, -1])}, outputs={"field": ("FP32", [-1, 2, -1, -1])},
        name="farneback", host=a.host, port=a.port, grpc_port=a.grpc_port,
    )


if __name__ == "__main__":
    main()
