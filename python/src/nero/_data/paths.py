"""Files and folders, and the block `data` of a study, which names them."""

import os
from typing import Any, Dict, Optional

from nero._data._read import Read
from nero._guards import is_block, is_path

__all__ = ["accepts", "prepare"]

#: Keys of the block that name files.
FILES = ("images", "labels", "targets")


def accepts(data: Any) -> bool:
    """A path, or a block without arrays in it."""
    if is_block(data):
        return bool(data) and not any(hasattr(v, "__array__") for v in data.values())
    return is_path(data)


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """The data, by its place. Labels may be an array all the same."""
    entry: Dict[str, Any] = dict(data) if is_block(data) else {"images": data}
    if is_path(labels):
        entry["labels"] = labels
    for k in FILES:
        if is_path(entry.get(k)) and entry[k] != "none":
            entry[k] = os.path.abspath(entry[k])
    if labels is not None and "labels" not in entry:
        raise TypeError(f"labels came as {type(labels).__name__}, and the data as a file; give the path of a file with the labels")
    return Read(entry)
