"""Tests of features from Python, with the program that NERO_BINARY names. Run them as test_bridge says."""

import random
import struct
import tempfile
import unittest
import zlib
from pathlib import Path

import nero

from tests.test_audit import EXACT, live


@live
class Embedded(unittest.TestCase):
    def test_digits(self) -> None:
        study = Path(EXACT).parents[1] / "exact.yaml"
        e = nero.embed(study, samples=100, what=["split"])
        f = e.features[0]
        self.assertEqual((e.good, f.model, f.state, f.width, f.index), (True, "c4", "stay", 10, ""))
        self.assertEqual(set(f.ratios), {"90°", "180°", "270°"})
        self.assertLess(max(f.ratios.values()), 1e-5)
        self.assertIn("the features stay", str(e))
        self.assertIn("the features stay", repr(e))
        with self.assertRaisesRegex(nero.NeroError, "no such layer"):
            nero.embed(study, value="nothing")

    def test_views(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        chance, rows = random.Random(7), ["object,view,file"]
        for i in range(40):
            dots = bytes(chance.choices((0, 255), (4, 1), k=28 * 28))
            for view, light in (("bright", 255), ("dim", 252)):
                (folder / f"{i}-{view}.png").write_bytes(png(28, bytes(light * d // 255 for d in dots)))
                rows.append(f"{i},{view},{i}-{view}.png")
        (folder / "views.csv").write_text("\n".join(rows) + "\n")
        e = nero.embed(EXACT, views=folder / "views.csv")
        f = e.features[0]
        self.assertEqual((f.width, f.ratios, f.data["given"]["things"]), (10, {}, 40))
        self.assertLess(f.data["given"]["steps"][0]["ratio"]["value"], 0.5)  # two lights of one picture are nearer than two pictures
        with self.assertRaisesRegex(nero.NeroError, "nowhere.csv"):
            nero.embed(EXACT, views=folder / "nowhere.csv")


def png(n: int, grey: bytes) -> bytes:
    """A picture of n x n pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    lines = b"".join(b"\0" + grey[n * i : n * i + n] for i in range(n))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
