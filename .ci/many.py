"""Writes 51,200 pictures of 28 x 28, each digit of the repository at 51 places: with C4 they make 200 shards, and some ten seconds of work."""

import gzip
import struct
import sys
from pathlib import Path

PIXELS = 28 * 28
COUNT = 51_200

digits = Path(__file__).resolve().parents[1] / "studies/digits/data/digits1000-images-idx3-ubyte.gz"
with gzip.open(digits) as f:
    f.read(16)
    pictures = [f.read(PIXELS) for _ in range(1000)]
with open(sys.argv[1], "wb") as to:
    to.write(struct.pack(">4i", 0x803, COUNT, 28, 28))
    for i in range(COUNT):
        at = i // len(pictures)
        to.write(pictures[i % len(pictures)][at:] + pictures[i % len(pictures)][:at])
