"""Where the program is, and the library of ONNX Runtime that it may use."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from nero._errors import ProgramNotFound

__all__ = ["ProgramNotFound", "REMEDY", "find_nero", "find_onnxruntime", "release"]

#: What this package is called where it is installed; pyproject.toml says it.
DISTRIBUTION = "nero-ml"
#: What helps where the program is not the one of this package.
REMEDY = f"install {DISTRIBUTION} again, or name its program with the variable NERO_BINARY"


def release() -> "str | None":
    """The version of this package; None where it runs from its sources."""
    import importlib.metadata

    try:
        found = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None
    at = str(found.locate_file("nero/_find.py"))  # another copy may be installed as well
    return found.version if os.path.realpath(at) == os.path.realpath(__file__) else None


def find_nero() -> str:
    """The path of the program nero.

    It is that in the environment variable NERO_BINARY, else the one in the folders of scripts that belong to this copy of the package, else
    the one on the PATH. `ProgramNotFound` lists where it was looked for.
    """
    if given := os.environ.get("NERO_BINARY"):
        if not os.path.isfile(given):
            raise ProgramNotFound(f"the variable NERO_BINARY names {given}, and no file is there")
        return given
    exe = "nero" + (sysconfig.get_config_var("EXE") or "")
    site = Path(__file__).resolve().parent.parent
    places = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", vars={"base": sys.base_prefix})]
    if sys.platform == "win32":
        places.append(str(site.parent.parent / "Scripts"))  # PREFIX/Lib/site-packages
    else:
        places.append(str(site.parent.parent.parent / "bin"))  # PREFIX/lib/python3.12/site-packages
    places.append(str(site / "bin"))  # pip install --target
    places.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    for place in dict.fromkeys(p for p in places if p):
        path = os.path.join(place, exe)
        if os.path.isfile(path):
            return path
    if found := shutil.which("nero"):
        return found
    looked = "\n".join(f"  {p}" for p in dict.fromkeys(places))
    raise ProgramNotFound(
        f"the program nero, which is part of this package, is in none of these folders and not on the PATH:\n{looked}\n"
        "Install the package again, or set the variable NERO_BINARY to the program."
    )


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
