"""Where the program is, and the library of ONNX Runtime that it may use."""

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Dict, List

from nero._errors import ProgramMismatch, ProgramNotFound

__all__ = ["ProgramMismatch", "ProgramNotFound", "REMEDY", "another", "find_nero", "find_onnxruntime", "release", "wrong"]

#: What the package is called where it is installed from. A test holds it against pyproject.toml.
NAME = "nero-ml"
#: What helps where the program is not the one of this package.
REMEDY = f"install the package again (pip install --force-reinstall {NAME}), or set the variable NERO_BINARY to its program"
#: What the program begins with when it says its version.
GREETING = "nero version "
#: How long a program may take to say its version, in seconds: the first start of a large file on a slow disk is slow.
PATIENCE = 60.0


def find_nero() -> str:
    """The path of the program nero.

    It is the one that the environment variable NERO_BINARY names, else the one in the folders of scripts that belong to this copy of the package, else
    the one on the PATH. Others have given their programs this name: each but a named one is asked for its version, once in a process, and what is
    another program, or is of another release than this package, is passed over. `ProgramNotFound` lists where it was looked for, and
    `ProgramMismatch` says what was found instead.
    """
    if given := os.environ.get("NERO_BINARY"):
        if not os.path.isfile(given):
            raise ProgramNotFound(f"the variable NERO_BINARY names {given}, and no file is there")
        return given  # what it is shows when it greets
    places = _places()
    found = [os.path.join(p, "nero" + (sysconfig.get_config_var("EXE") or "")) for p in places]
    if on_path := shutil.which("nero"):
        found.append(on_path)
    others: Dict[str, str] = {}
    for path in dict.fromkeys(found):
        if os.path.isfile(path):
            if not (why := wrong(path)):
                return path
            others[path] = why
    if others:
        raise ProgramMismatch(
            "\n".join(f"{path} {why}" for path, why in others.items())
            + f"\nWhat helps: {REMEDY}.",
            command=tuple(others)[:1],
        )
    looked = "\n".join(f"  {p}" for p in places)
    raise ProgramNotFound(
        f"the program nero, which is part of this package, is in none of these folders and not on the PATH:\n{looked}\n"
        "Install the package again, or set the variable NERO_BINARY to the program."
    )


def _places() -> List[str]:
    """The folders in which installers put the program of this copy of the package, the likeliest first."""
    site = Path(__file__).resolve().parent.parent
    places = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", vars={"base": sys.base_prefix})]
    if site.name not in ("site-packages", "dist-packages"):
        pass  # a checkout, whose neighbours are anybody's
    elif sys.platform == "win32":
        places.append(str(site.parent.parent / "Scripts"))  # PREFIX/Lib/site-packages
    else:
        places.append(str(site.parent.parent.parent / "bin"))  # PREFIX/lib/python3.12/site-packages
    places.append(str(site / "bin"))  # pip install --target
    places.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    return list(dict.fromkeys(p for p in places if p))


def wrong(path: str) -> str:
    """Why a file is not the program of this package, as far as the version tells that it says; empty if it is."""
    stat = os.stat(path)
    says = _says(path, stat.st_mtime_ns, stat.st_size)
    if not says.startswith(GREETING):
        return f"is not the program of this package: {says}"
    return another(says[len(GREETING) :])


def another(theirs: str) -> str:
    """Why a program of that version is of another release than this package; empty if it is not.

    A program that was not built for others to use says a commit, and is taken: who speaks with it sees whether they understand each other.
    """
    ours = release()
    return f"is nero {theirs}, and this package is of nero {ours}" if ours and theirs[:1].isdigit() and theirs != ours else ""


@functools.lru_cache(maxsize=None)
def _says(path: str, changed: int, size: int) -> str:
    """What a program answers when it is asked for its version, which begins with GREETING; else what it did instead, for people."""
    try:
        p = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
    except OSError as e:
        return f"it cannot be started ({e.strerror})"
    except subprocess.TimeoutExpired:
        return f"asked for its version it says nothing for {PATIENCE:.0f} s"
    said = p.stdout.decode("utf-8", "replace").strip()
    if said.startswith(GREETING):
        return said
    if p.returncode < 0:
        return f"asked for its version it ended by signal {-p.returncode}"
    return f"asked for its version it says {said.splitlines()[0][:80] if said else 'nothing'!r}"


@functools.lru_cache(maxsize=None)
def release() -> str:
    """The version of this package; empty if these files were not installed, as in a checkout."""
    from importlib import metadata

    try:
        d = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        return ""
    here, there = Path(__file__).resolve(), Path(str(d.locate_file("nero/_find.py")))
    return d.version if there.is_file() and here.samefile(there) else ""


def find_onnxruntime() -> "str | None":
    """The shared library of the installed package onnxruntime, without importing it; None if there is none."""
    import importlib.util

    spec = importlib.util.find_spec("onnxruntime")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "capi"
    pattern = {"win32": "onnxruntime.dll", "darwin": "libonnxruntime*.dylib"}.get(sys.platform, "libonnxruntime.so*")
    found = sorted(folder.glob(pattern), key=lambda p: len(p.name), reverse=True)
    return str(found[0]) if found else None
