"""Puts the program for one platform into the wheel, as a script, and the program's sources into the sdist.

NERO_TARGET chooses the platform (default: this one). NERO_BINARY takes a program that is there instead of building one.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Target(NamedTuple):
    goos: str
    goarch: str
    tags: str  # build tags of Go
    tag: str  # the platform, as names of wheels say it


# Linux: the program asks the dynamic loader for libc without a version of any symbol, so any glibc serves. For musl the native engine is
# left out, and the program is static: a library of ONNX Runtime for musl is not to be had. macOS 12 is what Go asks for.
TARGETS = {
    "linux-amd64": Target("linux", "amd64", "", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "linux-arm64": Target("linux", "arm64", "", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "linux-amd64-musl": Target("linux", "amd64", "nonative", "musllinux_1_2_x86_64"),
    "linux-arm64-musl": Target("linux", "arm64", "nonative", "musllinux_1_2_aarch64"),
    "darwin-amd64": Target("darwin", "amd64", "", "macosx_12_0_x86_64"),
    "darwin-arm64": Target("darwin", "arm64", "", "macosx_12_0_arm64"),
    "windows-amd64": Target("windows", "amd64", "", "win_amd64"),
    "windows-arm64": Target("windows", "arm64", "", "win_arm64"),
}


def here() -> str:
    """The target of this machine."""
    machine = platform.machine().lower()
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    musl = system == "linux" and platform.libc_ver()[0] != "glibc"
    return f"{system}-{arch}" + ("-musl" if musl else "")


def sources(root: Path) -> "list[str]":
    """The files that building the program takes, relative to root, on all targets together."""
    if shutil.which("go") is None:
        raise RuntimeError("an sdist holds the sources of the program, which the command go lists, and it is not on the PATH")
    files = {"go.mod", "go.sum", "LICENSE"}
    for target in TARGETS.values():
        args = ["go", "list", "-deps", "-tags", target.tags, "-json=Dir,Standard,Module,GoFiles,EmbedFiles,SFiles", "./cmd/nero"]
        env = {**os.environ, "CGO_ENABLED": "0", "GOOS": target.goos, "GOARCH": target.goarch}
        text = subprocess.run(args, cwd=root, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
        decoder, at = json.JSONDecoder(), 0
        while at < len(text.rstrip()):
            package, at = decoder.raw_decode(text, at)
            at += len(text[at:]) - len(text[at:].lstrip())
            if package.get("Standard") or not package["Module"].get("Main"):
                continue
            folder = Path(package["Dir"]).relative_to(root)
            for kind in ("GoFiles", "EmbedFiles", "SFiles"):
                files.update((folder / name).as_posix() for name in package.get(kind) or ())
    return sorted(files)


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls before and after it writes an artifact."""

    folder: "str | None" = None

    def initialize(self, version: str, build_data: "dict[str, Any]") -> None:
        root = Path(self.root)
        checkout = not (root / "go").is_dir()
        source = root.parent if checkout else root / "go"
        if self.target_name == "sdist":
            for name in sources(source):
                build_data["force_include"][str(source / name)] = "go/" + name
            build_data["force_include"][str(source / "LICENSE")] = "LICENSE"
            return
        name = os.environ.get("NERO_TARGET") or here()
        if name not in TARGETS:
            raise RuntimeError(f"there is no wheel for {name}; NERO_TARGET is one of {', '.join(TARGETS)}")
        target = TARGETS[name]
        self.folder = tempfile.mkdtemp()
        program = os.path.join(self.folder, "nero" + (".exe" if target.goos == "windows" else ""))
        if given := os.environ.get("NERO_BINARY"):
            shutil.copyfile(given, program)
        else:
            self.build(target, source, program)
        os.chmod(program, 0o755)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.tag}"
        build_data["shared_scripts"][program] = os.path.basename(program)
        if version != "editable":
            build_data["force_include"][str(source / "LICENSE")] = f"{self.metadata.name.replace('-', '_')}-{self.metadata.version}.dist-info/licenses/LICENSE"

    def build(self, target: Target, source: Path, program: str) -> None:
        if shutil.which("go") is None:
            raise RuntimeError(
                "the program nero is built from its sources, because there is no wheel for this platform or because sources were asked for; "
                "that takes Go 1.26 or newer, and the command go is not on the PATH (https://go.dev/dl)"
            )
        flags = f"-s -w -buildid= -X nero/cli.release={self.metadata.version}"
        args = ["go", "build", "-trimpath", "-buildvcs=false", "-tags", target.tags, "-ldflags", flags, "-o", program, "./cmd/nero"]
        env = {**os.environ, "CGO_ENABLED": "0", "GOOS": target.goos, "GOARCH": target.goarch, "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        subprocess.run(args, cwd=source, env=env, check=True)

    def finalize(self, version: str, build_data: "dict[str, Any]", artifact_path: str) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
