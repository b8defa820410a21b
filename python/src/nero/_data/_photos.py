"""Photos in files, and which class each has, as a folder of the study."""

import csv
import re
import shutil
from pathlib import Path
from typing import Any, Dict, Optional, Sequence, Union

from nero._data._read import Read

__all__ = ["prepare"]

#: Where the photos are, and the table of their classes.
FOLDER, TABLE = "photos", "labels.csv"
#: What the photos are called there.
OURS = re.compile(r"[0-9]{6,}\.[a-z0-9]+")


def prepare(files: Sequence[Union[Path, bytes]], endings: Sequence[str], labels: Optional[Sequence[Any]], note: str = "") -> Read:
    """The photos in their order, copied whole: size, turn and colours are for the program to read."""
    names = [f"{i:06}{e.lower()}" for i, e in enumerate(endings)]

    def write(folder: Path) -> None:
        to = folder / FOLDER
        to.mkdir(exist_ok=True)
        for old in to.iterdir():
            if OURS.fullmatch(old.name) and old.name not in names:  # of an earlier call that wrote into this folder
                old.unlink()
        for name, file in zip(names, files):
            part = to / f".part-{name}"
            if isinstance(file, bytes):
                part.write_bytes(file)
            else:
                shutil.copyfile(file, part)
            part.replace(to / name)
        if labels is not None:
            with open(folder / TABLE, "w", encoding="utf-8", newline="") as f:
                csv.writer(f).writerows([("file", "label"), *zip(names, labels)])

    entry: Dict[str, Any] = {"images": FOLDER, "labels": "none" if labels is None else TABLE}
    return Read(entry, note=note, write=write)
