"""Writes openpiv-down.txt and openpiv-up.txt with OpenPIV 0.26.1: the same vectors before and after transform_coordinates.

Particles move by u = 3 (1 + y/96) px along the columns and v = 2 px down.
"""

import numpy as np
from openpiv import pyprocess, tools

H, W = 96, 128


def picture(dx, dy):
    r = np.random.default_rng(5)
    xs, ys = r.uniform(-10, W + 10, 900), r.uniform(-10, H + 10, 900)
    row, col = np.mgrid[0:H, 0:W]
    out = np.zeros((H, W))
    for x, y in zip(xs, ys):
        px, py = x + dx * (1 + y / H), y + dy
        out += 200 * np.exp(-((col + 0.5 - px) ** 2 + (row + 0.5 - py) ** 2) / 2)
    return np.clip(np.round(out), 0, 255).astype(np.int32)


u, v, _ = pyprocess.extended_search_area_piv(
    picture(0, 0), picture(3, 2), window_size=32, overlap=16, dt=1, search_area_size=32, sig2noise_method="peak2peak"
)
x, y = pyprocess.get_coordinates(image_size=(H, W), search_area_size=32, overlap=16)
flags = np.zeros_like(u, dtype=int)
flags[0, 0] = 1
tools.save("openpiv-down.txt", x, y, u, v, flags)
tools.save("openpiv-up.txt", *tools.transform_coordinates(x, y, u, v), flags)
