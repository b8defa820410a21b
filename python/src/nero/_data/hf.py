"""Data sets of Hugging Face: pictures, classes and numbers by column."""

import io
import logging
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

import numpy as np

from nero._data import _photos
from nero._data._read import Read
from nero._data.arrays import to_array
from nero._data.items import some
from nero._guards import is_block

__all__ = ["accepts", "prepare"]

log = logging.getLogger("nero")

#: The tag of EXIF that says how a camera was held.
ORIENTATION = 0x0112


def accepts(data: Any) -> bool:
    """A Dataset, or a DatasetDict, of which a part has to be named."""
    datasets = sys.modules.get("datasets")  # whoever has one has imported it
    return datasets is not None and isinstance(data, (getattr(datasets, "Dataset", ()), getattr(datasets, "DatasetDict", ())))


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """Pictures of one size as an array, others as the files that they are; ClassLabel as the labels; further columns of numbers by name."""
    if is_block(data):
        raise TypeError(f"the {type(data).__name__} has the parts {list(data)}; give one, as in data[{next(iter(data))!r}]")
    kinds = {n: type(f).__name__ for n, f in data.features.items()}
    pictures = [n for n, k in kinds.items() if k == "Image"]
    classes = [n for n, k in kinds.items() if k == "ClassLabel"]
    if len(pictures) > 1 or len(classes) > 1:
        raise TypeError(f"the Dataset has the columns {kinds}; leave one column of pictures and one of classes, as with data.select_columns([...])")
    data = data.with_format(None)
    if pictures:
        from datasets import Image

        data = data.cast_column(pictures[0], Image(decode=False)).select_columns(pictures + classes)
        left = sorted(set(kinds) - {*pictures, *classes})
    else:
        left = []
    rows, note = some(data, "Dataset", samples)
    notes = [note] if note else []
    if left:
        notes.append(f"the columns {left} are left out")
    for n in notes:
        log.warning("%s", n)
    if labels is None and classes:
        labels = [-1 if r[classes[0]] is None else r[classes[0]] for r in rows]
    if pictures:
        return _pictures([r[pictures[0]] for r in rows], labels, "; ".join(notes))
    arrays: "Dict[str, np.ndarray[Any, Any]]" = {}
    for n in kinds:
        if n in classes:
            continue
        arrays[n] = to_array([np.asarray(r[n]) for r in rows])
        if arrays[n].dtype.kind not in "biuf":
            raise TypeError(f"the column {n} of the Dataset holds {kinds[n]}, and numbers or pictures are expected; leave it out with data.remove_columns({n!r})")
    if labels is not None:
        arrays["labels"] = np.asarray(labels)
    return Read({"images": "data.npz"}, arrays, note="; ".join(notes))


def _pictures(cells: List[Any], labels: Any, note: str) -> Read:
    """Pictures of one size, grey or of three colours, as an array, which functions and modules can read; others as files."""
    from PIL import Image

    if any(c is None for c in cells):
        raise ValueError(f"row {next(i for i, c in enumerate(cells) if c is None)} of the Dataset has no picture; leave it out with data.filter(...)")
    held = [c["bytes"] if c.get("bytes") is not None else Path(c["path"]) for c in cells]
    kinds: Set[Tuple[Any, ...]] = set()
    for h in held:
        with Image.open(io.BytesIO(h) if isinstance(h, bytes) else h) as p:
            kinds.add((p.size, p.mode, p.format, p.getexif().get(ORIENTATION, 1)))
    if len({k[:2] for k in kinds}) == 1 and all(mode in ("L", "RGB") and turn == 1 for _, mode, _, turn in kinds):
        pictures: "List[np.ndarray[Any, Any]]" = [np.asarray(Image.open(io.BytesIO(h) if isinstance(h, bytes) else h)) for h in held]
        images = np.stack([p if p.ndim == 2 else p.transpose(2, 0, 1) for p in pictures])
        arrays = {"images": images}
        if labels is not None:
            arrays["labels"] = np.asarray(labels)
        return Read({"images": "data.npz"}, arrays, note=note)
    endings = [_ending(h) for h in held]
    return _photos.prepare(held, endings, labels, note)


def _ending(held: Any) -> str:
    """What a file of that kind is called."""
    from PIL import Image

    if not isinstance(held, bytes):
        return str(held.suffix)
    with Image.open(io.BytesIO(held)) as p:
        return f".{str(p.format).lower()}"
