"""Writes the photos of the folder photos with Pillow: as cameras, editors and the web leave them.

    python3 photos.py        (numpy 2.4, Pillow 13.0)

turned-N.* hold, with orientation N in their EXIF, what Pillow's ImageOps.exif_transpose shows as the picture of 7
columns and 5 rows whose row r, column c is 30 r + 8 c (JPEG: of 32 columns and 16 rows, 8 r + 4 c). The CMYK JPEG is one of
that of 16 x 16 pixels of (200, 120, 40) in RGB. The others have 6 columns and 4 rows.
"""

import io

import numpy as np
from PIL import Image, ImageOps

ORIENT = 0x0112
# what brings the shown picture into the file
STORE = {
    1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def turned():
    small = Image.fromarray(np.add.outer(30 * np.arange(5), 8 * np.arange(7)).astype(np.uint8))
    smooth = Image.fromarray(np.add.outer(8 * np.arange(16), 4 * np.arange(32)).astype(np.uint8))
    for n, how in STORE.items():
        for shown, ending, more in [
            (small, "png", {}), (smooth, "jpg", {"quality": 95}), (small, "tif", {}),
            (small.convert("RGB"), "webp", {"lossless": True}),
        ]:
            if ending in ("tif", "webp") and n not in (6, 7):
                continue
            stored = shown if how is None else shown.transpose(how)
            exif = Image.Exif()
            exif[ORIENT] = n
            name = f"photos/turned-{n}.{ending}"
            if ending == "tif":
                stored.save(name, tiffinfo={ORIENT: n}, **more)
            else:
                stored.save(name, exif=exif, **more)
            if ending == "tif":  # which Pillow 13 turns while it loads, with the size of before
                continue
            back = np.asarray(ImageOps.exif_transpose(Image.open(name)).convert(shown.mode), int)
            assert back.shape == np.asarray(shown).shape and abs(back - np.asarray(shown, int)).max() <= 3, name


def rest():
    flat = np.zeros((16, 16, 3), np.uint8) + np.array([200, 120, 40], np.uint8)
    Image.fromarray(flat).convert("CMYK").save("photos/cmyk.jpg", quality=95)
    frames = [Image.fromarray(np.full((4, 6, 3), v, np.uint8)) for v in (10, 200, 90)]
    for name in ("animated.gif", "animated.png", "animated.webp"):
        frames[0].save(f"photos/{name}", save_all=True, append_images=frames[1:], duration=100)
    frames[1].save("photos/still.gif")
    rgb = np.zeros((4, 6, 3), np.uint8) + np.array([10, 20, 30], np.uint8)
    Image.fromarray(rgb).save("photos/still.png")
    grey = Image.fromarray(np.full((4, 6), 77, np.uint8))
    grey.save("photos/grey.png")
    Image.fromarray(np.full((4, 6), 7777, np.uint16)).save("photos/deep.png")
    half = Image.fromarray(rgb).convert("RGBA")
    half.putpixel((2, 1), (1, 2, 3, 100))
    half.save("photos/alpha.png")
    b = io.BytesIO()
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)).save(b, "jpeg")
    with open("photos/cut.jpg", "wb") as f:
        f.write(b.getvalue()[: len(b.getvalue()) // 2])


turned()
rest()
