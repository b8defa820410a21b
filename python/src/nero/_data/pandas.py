"""Tables of pandas: a column of paths of photos, and one of classes."""

import logging
import os
import sys
from pathlib import Path
from typing import Any, Optional

from nero._data import _photos
from nero._data._read import LABELS, Read
from nero._data.items import some

__all__ = ["accepts", "prepare"]

log = logging.getLogger("nero")

#: What the column of paths may be called, and that of classes, the first that is there.
PATHS = ("path", "file", "filename", "filepath", "image", "image_path", "img")
CLASSES = ("label", *LABELS, "class", "target", "category")


def accepts(data: Any) -> bool:
    """A DataFrame."""
    pandas = sys.modules.get("pandas")  # whoever has one has imported it
    return pandas is not None and isinstance(data, pandas.DataFrame)


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """The photos that the rows name, in their order."""
    columns = {str(c).lower(): c for c in data.columns}
    path = next((columns[n] for n in PATHS if n in columns), None)
    if path is None:
        raise TypeError(f"the DataFrame has the columns {list(data.columns)}, and none of them is called {', '.join(PATHS)}; rename the one with the paths of the photos")
    wanted = next((columns[n] for n in CLASSES if n in columns), None)
    rows, note = some(_Rows(data), "DataFrame", samples)
    for i, r in enumerate(rows):
        if not isinstance(r[path], (str, os.PathLike)) or not Path(r[path]).is_file():
            raise FileNotFoundError(f"row {i} of the DataFrame names {str(r[path])!r} in the column {path}, which is no file; paths are read from {os.getcwd()}")
    if labels is None and wanted is not None:
        missing = data[wanted].isna()
        if missing.any():
            raise ValueError(f"{int(missing.sum())} rows of the DataFrame have no {wanted}; fill it in, or leave the rows or the column out")
        labels = [r[wanted] for r in rows]
    if note:
        log.warning("%s", note)
    files = [Path(r[path]) for r in rows]
    return _photos.prepare(files, [f.suffix for f in files], labels, note)


class _Rows:
    """The rows by number, whatever the index."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: int) -> Any:
        return self.data.iloc[i]
