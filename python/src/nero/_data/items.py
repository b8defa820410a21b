"""What gives its samples one by one: a Dataset or DataLoader of PyTorch, a list of pairs, a generator."""

import contextlib
import itertools
import logging
import random
import sys
from typing import Any, Dict, Generator, List, Mapping, Optional, Tuple

import numpy as np

from nero._data._read import LABELS, Read
from nero._data.arrays import is_tensor, judge, to_array, to_labels
from nero._guards import is_block, is_row, is_tuple

__all__ = ["accepts", "prepare", "some"]

log = logging.getLogger("nero")

#: As many samples are read where nobody says how many, which is said.
MOST = 1000
#: What a sample may call its label.
CLASSES = (*LABELS, "label", "target")


def accepts(data: Any) -> bool:
    """Whatever has samples, by number or one after the other."""
    if isinstance(data, (str, bytes, Mapping)):
        return False
    return hasattr(data, "__iter__") or hasattr(data, "__getitem__")


def prepare(data: Any, labels: Any, samples: Optional[int]) -> Read:
    """The samples as arrays: of those that have a number, evenly many along their order; of others the first."""
    notes: List[str] = []
    what = type(data).__name__
    if hasattr(data, "dataset") and hasattr(data, "batch_size"):  # a loader: samples are wanted, and not batches
        if _shuffles(data):
            notes.append(f"the {what} shuffles; its data set is read in its own order")
        data = data.dataset
        what = type(data).__name__
    with _untouched():
        items, note = some(data, what, samples)
        if note:
            notes.append(note)
        if _numbered(data) and not _same(items[0], _at(data, 0)):
            notes.append(
                f"sample 0 of the {what} differs when it is read twice, as by a random transform; what was read once is taken, and another call takes other data"
            )
    arrays, tensors = _columns(items, what)
    if labels is not None:
        arrays["labels"] = to_labels(labels)
        n = len(next(iter(arrays.values())))
        if len(arrays["labels"]) != n:
            raise ValueError(f"{len(arrays['labels'])} labels for {n} samples that were read; give labels as a part of the samples, or samples={len(arrays['labels'])}")
    note = "; ".join(notes)
    if note:
        log.warning("%s", note)
    return Read({"images": "data.npz"}, arrays, note=note, torch=tensors)


def _shuffles(loader: Any) -> bool:
    return "Random" in type(getattr(loader, "sampler", None)).__name__


def some(data: Any, what: str, samples: Optional[int]) -> Tuple[List[Any], str]:
    """The samples that are taken, and what is to be said of the choice."""
    items, note = _items(data, what, samples)
    if not items:
        raise ValueError(f"the {what} has no samples")
    return items, note


def _items(data: Any, what: str, samples: Optional[int]) -> Tuple[List[Any], str]:
    length = _length(data)
    if length is None:
        if samples is None:
            raise TypeError(f"the {what} does not say how many samples it has; say samples=100 to take the first 100")
        return list(itertools.islice(iter(data), samples)), ""
    want = min(length, MOST if samples is None else samples)
    note = f"{want} of the {length} samples are read; say samples=... for another number" if samples is None and want < length else ""
    if not _numbered(data):
        return list(itertools.islice(iter(data), want)), note
    return [_at(data, i * length // want) for i in range(want)], note


def _length(data: Any) -> Optional[int]:
    try:
        return len(data)
    except (TypeError, NotImplementedError):
        return None


def _numbered(data: Any) -> bool:
    """Whether any sample can be asked for by its number."""
    torch = sys.modules.get("torch")
    streams = torch is not None and hasattr(torch.utils, "data") and isinstance(data, torch.utils.data.IterableDataset)
    return hasattr(data, "__getitem__") and _length(data) is not None and not streams


def _at(data: Any, i: int) -> Any:
    try:
        return data[i]
    except (IndexError, KeyError) as e:
        raise type(e)(f"{type(data).__name__} has no sample {i}, although it has a length: {e}") from e


def _same(a: Any, b: Any) -> bool:
    """Whether two samples are equal."""
    if is_block(a):
        return is_block(b) and all(k in b and _same(v, b[k]) for k, v in a.items())
    if is_row(a):
        return is_row(b) and len(a) == len(b) and all(map(_same, a, b))
    x, y = to_array(a), to_array(b)
    return x.shape == y.shape and (x.dtype.kind not in "biuf" or bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f")))


def _columns(items: List[Any], what: str) -> "Tuple[Dict[str, np.ndarray[Any, Any]], bool]":
    """Samples, each a value, a pair of value and label, or values by name, as arrays."""
    first = items[0]
    rows: Dict[str, List[Any]]
    if is_block(first):
        rows = {str(k): [i[k] for i in items] for k in first}
        for c in CLASSES:
            if c in rows:
                rows["labels"] = rows.pop(c)
                break
    elif is_tuple(first) and len(first) == 2:
        rows = {"images": [i[0] for i in items], "labels": [i[1] for i in items]}
    elif is_tuple(first) and len(first) != 1:
        raise TypeError(f"a sample of the {what} is a tuple of {len(first)}; expected a value, a pair of value and label, or a dict of values by name")
    else:
        rows = {"images": [i[0] if is_tuple(first) else i for i in items]}
    arrays: "Dict[str, np.ndarray[Any, Any]]" = {}
    for k, values in rows.items():
        parts = [to_array(v) for v in values]
        shapes = sorted({p.shape for p in parts})
        if len(shapes) > 1:
            raise ValueError(
                f"samples of the {what} have different shapes, {list(shapes[0])} and {list(shapes[1])}; bring them to one size, or give the folder of files"
            )
        a = np.stack(parts)
        if k == "labels" and (a.ndim > 1 or a.dtype.kind not in "biu"):
            log.warning("the second part of a sample of the %s is no class (%s of shape %s); it is left out", what, a.dtype, list(a.shape[1:]))
            continue
        if a.dtype.kind not in "biuf":
            raise TypeError(f"samples of the {what} hold {k} as {a.dtype}; numbers are expected")
        judge(k, a)
        arrays[k] = a
    return arrays, any(is_tensor(v[0]) for k, v in rows.items() if k != "labels")


@contextlib.contextmanager
def _untouched() -> Generator[None, None, None]:
    """Sources of random numbers are afterwards as they were: reading samples may draw some."""
    torch = sys.modules.get("torch")
    host, numpy = random.getstate(), np.random.get_state()
    state = torch.get_rng_state() if torch is not None else None
    try:
        yield
    finally:
        random.setstate(host)
        np.random.set_state(numpy)
        if torch is not None:
            torch.set_rng_state(state)


