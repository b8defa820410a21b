"""Writes the fixtures of this folder with numpy and Pillow, which are independent of the readers under test.

    python3 make.py        (numpy 2.4, Pillow 13.0)

Arrays hold v(i) = (7 i + 3) mod 100 at row-major index i; signed types hold v(i) - 50, floats (v(i) - 50) / 4.
Pictures have 5 columns and 4 rows; channel k at row r, column c is (40 k + 16 r + 5 c) for 8 bits, and for 16 bits
257 times that plus 1 (so that the two bytes differ).
"""

import numpy as np
from PIL import Image

SHAPES = {"nhw": (3, 4, 5), "nchw": (2, 3, 4, 5), "nhwc": (2, 4, 5, 3)}
TYPES = ["|b1", "|u1", "|i1", "<u2", ">u2", "<i2", "<u4", "<i4", ">i4", "<u8", "<i8", "<f2", "<f4", ">f4", "<f8"]


def values(shape, dtype):
    v = (7 * np.arange(np.prod(shape)) + 3) % 100
    kind = np.dtype(dtype).kind
    if kind == "b":
        v = v % 2
    elif kind == "i":
        v = v - 50
    elif kind == "f":
        v = (v - 50) / 4
    return v.reshape(shape).astype(dtype)


def arrays():
    for t in TYPES:
        name = {"<": "le", ">": "be", "|": "b"}[t[0]] + "-" + t[1:]
        np.save(f"nhw-{name}.npy", values(SHAPES["nhw"], t))
    for layout in ("nchw", "nhwc"):
        for order in "CF":
            np.save(f"{layout}-{order}.npy", np.asarray(values(SHAPES[layout], "<f4"), order=order))
    np.save("nhw-F.npy", np.asfortranarray(values(SHAPES["nhw"], "<i2")))
    for version in (2, 3):
        with open(f"nhw-v{version}.npy", "wb") as f:
            np.lib.format.write_array(f, values(SHAPES["nhw"], "|u1"), version=(version, 0))
    bad = values(SHAPES["nchw"], "<f4")
    bad[1, 2, 3, 1] = np.nan
    np.save("nan.npy", bad)
    bad[1, 2, 3, 1] = -np.inf
    np.save("inf.npy", bad)
    np.save("labels.npy", np.array([4, 0, 2]))
    np.save("complex.npy", np.zeros((1, 2, 2), "<c8"))
    np.save("object.npy", np.array([[["a", None]]], object))
    np.save("struct.npy", np.zeros((1, 2, 2), [("a", "<f4"), ("b", "<i4")]))
    x, y = values(SHAPES["nhw"], "|u1"), np.array([4, 0, 2])
    np.savez("stored.npz", x=x, y=y)
    np.savez_compressed("deflated.npz", x=x, labels=y)
    np.savez_compressed("named.npz", pictures=x, classes=y, weights=y)


def pixels(channels, wide=False):
    k, r, c = np.ogrid[:channels, :4, :5]
    v = np.moveaxis(40 * k + 16 * r + 5 * c, 0, -1)
    v = 257 * v + 1 if wide else v
    v = v.astype(np.uint16 if wide else np.uint8)
    return v[..., 0] if channels == 1 else v


def pictures():
    grey, rgb = Image.fromarray(pixels(1)), Image.fromarray(pixels(3))
    grey16 = Image.fromarray(pixels(1, wide=True))
    grey.save("grey.png")
    grey.save("grey.tif")
    grey.save("grey.tiff", compression="tiff_lzw")
    grey16.save("grey16.png")
    grey16.save("grey16.tif")
    grey.save("grey.bmp")
    rgb.save("rgb.bmp")
    # Pages k hold the pixels plus k.
    pages = [Image.fromarray(pixels(1, wide=True) + np.uint16(k)) for k in range(3)]
    pages[0].save("stack16.tif", save_all=True, append_images=pages[1:])
    grey.convert("LA").save("grey-alpha.png")
    grey.convert("P").save("grey-palette.png")
    rgb.save("rgb.png")
    rgb.save("rgb.tif", compression="tiff_deflate")
    rgb.save("rgb.webp", lossless=True)
    rgb.quantize(20).save("palette.png")
    rgb.convert("CMYK").save("cmyk.tif")
    opaque = rgb.copy()
    opaque.putalpha(255)
    opaque.save("opaque.png")
    opaque.putpixel((3, 2), (1, 2, 3, 254))
    opaque.save("transparent.png")
    smooth = np.add.outer(np.arange(16), np.arange(16)).astype(np.uint8) * 8
    Image.fromarray(smooth).save("grey.jpg", quality=95)
    Image.fromarray(np.stack([smooth, 255 - smooth, 0 * smooth + 90], -1)).save("rgb.jpg", quality=95, subsampling=0)
    Image.fromarray(np.stack([smooth] * 3, -1)).save("rgb-lossy.webp", quality=90)


arrays()
pictures()
