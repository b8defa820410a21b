"""Makes the PLY files beside it with Python's struct module: the corner of a cube, four points with normals and colors, a triangle and a square, in all three encodings. An element that
no reader knows stands between points and faces."""

import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
POINTS = [(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0), (0, 0, 3)]
NORMALS = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, -1), (0, -1, 0)]
FACES = [(0, 1, 2, 3), (0, 1, 4)]
HEAD = """ply
format %s 1.0
comment made by hand
element vertex 5
property double x
property double y
property double z
property float nx
property float ny
property float nz
property uchar red
element blob 1
property list uchar short values
property short other
element face 2
property list uchar int vertex_indices
property uchar flags
end_header
"""

text = HEAD % "ascii"
for p, n in zip(POINTS, NORMALS):
    text += "%g %g %g %g %g %g 7\n" % (p + n)
text += "3 1 -2 3 -9\n"
for f in FACES:
    text += " ".join(map(str, (len(f),) + f)) + " 1\n"
(HERE / "ascii.ply").write_text(text)
for order, name in ("<", "little"), (">", "big"):
    data = (HEAD % f"binary_{name}_endian").encode()
    for p, n in zip(POINTS, NORMALS):
        data += struct.pack(order + "dddfffB", *p, *n, 7)
    data += struct.pack(order + "Bhhhh", 3, 1, -2, 3, -9)
    for f in FACES:
        data += struct.pack(order + "B%diB" % len(f), len(f), *f, 1)
    (HERE / f"{name}.ply").write_bytes(data)
