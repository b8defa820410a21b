"""Files and folders, and the block `data` of a study, which names them."""

import os
from typing import Any, Dict, Mapping, Optional


from nero._data._read import Read

__all__ = ["accepts", "prepare"]

#: Keys of the block that name files.
FILES = ("images", "labels", "targets")


def accepts(data: Any) -> bool:
    """A path, or a block without arrays in it."""
    if isinstance(data, Mapping):
        return bool(data) and not any(hasattr(v, "__array__") for v in data.values())
    return isinstance(data, (str, os.PathLike))


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """The data, by its place. Labels may be an array all the same."""
    entry: Dict[str, Any] = dict(data) if isinstance(data, Mapping) else {"images": data}
    if isinstance(labels, (str, os.PathLike)):
        entry["labels"] = labels
    for k in FILES:
        if isinstance(entry.get(k), (str, os.PathLike)) and entry[k] != "none":
            entry[k] = os.path.abspath(entry[k])
    if labels is not None and "labels" not in entry:
        raise TypeError(f"labels came as {type(labels).__name__}, and the data as a file; give the path of a file with the labels")
    return Read(entry)
