"""Makes the 1,000 digits of the demo from MNIST's official test set.

    python3 make_subset.py data

Reads t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz in the given folder and writes digits1000-images-idx3-ubyte.gz,
digits1000-labels-idx1-ubyte.gz and digits1000-index.csv beside them. The choice: for each class the positions in the test
set, in order, are shuffled by numpy's PCG64 with seed [SEED, class] and the first 100 kept; then classes are interleaved, so
that position i of the subset has label i mod 10 and any beginning of it is balanced. The index names the position in the test
set. The files are the same bytes on every run.
"""

import gzip
import io
import struct
import sys
from pathlib import Path

import numpy as np

from models import read_idx

SEED, EACH = 7, 100


def write_idx(path, a):
    raw = struct.pack(">BBBB", 0, 0, 8, a.ndim) + struct.pack(f">{a.ndim}I", *a.shape) + a.tobytes()
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, compresslevel=9, mtime=0) as g:
        g.write(raw)
    path.write_bytes(out.getvalue())


def main():
    d = Path(sys.argv[1])
    images, labels = (read_idx(d / f"t10k-{n}-ubyte.gz") for n in ("images-idx3", "labels-idx1"))
    chosen = []
    for c in range(10):
        at = np.flatnonzero(labels == c)
        # Sorting random keys, rather than Generator.shuffle, depends on nothing but the bit stream.
        chosen.append(at[np.argsort(np.random.PCG64([SEED, c]).random_raw(len(at)), kind="stable")[:EACH]])
    index = np.stack(chosen, 1).ravel()
    write_idx(d / "digits1000-images-idx3-ubyte.gz", images[index])
    write_idx(d / "digits1000-labels-idx1-ubyte.gz", labels[index])
    (d / "digits1000-index.csv").write_text("t10k\n" + "".join(f"{i}\n" for i in index))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
