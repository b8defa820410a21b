"""Puts the program for one platform into the wheel, as a script, and the program's sources into the sdist.

NERO_TARGET chooses the platform (default: this one). NERO_BINARY takes a program that is there instead of building one;
what it is made of is left out of the wheel then.
"""

import json
import os
import platform
import re
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


# What lies in the program beside modules of Go: the components of this list that are none.
PARTS = "docs/sbom.json"
# In an sdist it lies at the top, where those look who do not build it.
LICENCE = "LICENSE"
# What the wheel says of whose work it holds, by name, beside the licences of the modules.
NOTICES = {
    "LICENSE": LICENCE,
    "page.txt": "serve/web/dist/LICENSES.txt",
    "engine.txt": "model/engine/wasm/licenses/LICENSE",
    "engine-notices.txt": "model/engine/wasm/licenses/ThirdPartyNotices.txt",
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
    files = {"go.mod", "go.sum", PARTS, *NOTICES.values()}
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


class Program:
    """A program that is there, by what is written in it."""

    def __init__(self, path: str, source: Path) -> None:
        self.source = source
        said = subprocess.run(["go", "version", "-m", "-json", path], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.about: "dict[str, Any]" = json.loads(said)
        self.modules = sorted((m.get("Replace", m) for m in self.about.get("Deps", ())), key=lambda m: m["Path"])

    def sbom(self, name: str, version: str) -> str:
        """What the program is made of, as CycloneDX writes it. Nothing in it says when or where it was made."""
        settings = {s["Key"]: s["Value"] for s in self.about["Settings"]}
        go = self.about["GoVersion"].removeprefix("go")
        parts = [{"type": "library", "name": "stdlib", "version": go, "purl": f"pkg:golang/stdlib@{go}"}]
        parts += [
            {"type": "library", "name": m["Path"], "version": m["Version"], "purl": f"pkg:golang/{m['Path']}@{m['Version']}"} for m in self.modules
        ]
        known = json.loads((self.source / PARTS).read_text("utf-8"))["components"]
        parts += [c for c in known if not c["purl"].startswith("pkg:golang/")]
        properties = [{"name": f"go:{k}", "value": settings[k]} for k in ("GOOS", "GOARCH", "CGO_ENABLED", "-tags") if k in settings]
        about = {"type": "application", "name": "nero", "version": version, "purl": f"pkg:pypi/{name}@{version}", "properties": properties}
        return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": about}, "components": parts}, indent=2) + "\n"

    def licences(self) -> str:
        """The licences of its modules and of Go, one after the other."""
        args = ["go", "list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}", *(m["Path"] for m in self.modules)]
        listed = subprocess.run(args, cwd=self.source, env={**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off"}, check=True, stdout=subprocess.PIPE, text=True)
        goroot = subprocess.run(["go", "env", "GOROOT"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        folders = [("Go", self.about["GoVersion"].removeprefix("go"), goroot), *(line.split("\t") for line in listed.stdout.splitlines())]
        text = ["The program nero contains parts of the following works, under their licences.\n"]
        for name, version, folder in folders:
            # A Go that a distribution packed may keep its own elsewhere: .ci/wheels holds what is published against the list of modules.
            names = sorted(os.listdir(folder)) if folder else []
            for f in (Path(folder, n) for n in names if re.match("(licen[sc]e|copying|notice|patents)", n, re.IGNORECASE)):
                if f.is_file():
                    text.append(f"\n{'=' * 72}\n{name} {version}: {f.name}\n\n{f.read_text('utf-8').strip()}\n")
        return "".join(text)


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls before and after it writes an artifact."""

    folder: "str | None" = None

    def initialize(self, version: str, build_data: "dict[str, Any]") -> None:
        root = Path(self.root)
        checkout = not (root / "go").is_dir()
        source = root.parent if checkout else root / "go"
        if self.target_name == "sdist":
            for name in sources(source):
                build_data["force_include"][str(source / name)] = LICENCE if name == LICENCE else "go/" + name
            return
        name = os.environ.get("NERO_TARGET") or here()
        if name not in TARGETS:
            raise RuntimeError(f"there is no wheel for {name}; NERO_TARGET is one of {', '.join(TARGETS)}")
        target = TARGETS[name]
        self.folder = tempfile.mkdtemp()
        program = os.path.join(self.folder, "nero" + (".exe" if target.goos == "windows" else ""))
        given = os.environ.get("NERO_BINARY")
        if given:
            shutil.copyfile(given, program)
        else:
            self.app.display_info(f"building the program nero for {name}: minutes if it is the first time, seconds after")
            self.build(target, source, program)
        os.chmod(program, 0o755)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.tag}"
        build_data["shared_scripts"][program] = os.path.basename(program)
        if version == "editable":
            return
        info = f"{self.metadata.name.replace('-', '_')}-{self.metadata.version}.dist-info"
        for named, file in NOTICES.items():
            at = root if file == LICENCE and not checkout else source
            build_data["force_include"][str(at / file)] = f"{info}/licenses/{named}"
        if given:
            return  # made elsewhere, of who knows what
        about = Program(program, source)
        modules, sbom = Path(self.folder, "modules.txt"), Path(self.folder, "nero.cdx.json")
        modules.write_text(about.licences(), "utf-8")
        sbom.write_text(about.sbom(self.metadata.name, self.metadata.version), "utf-8")
        build_data["force_include"][str(modules)] = f"{info}/licenses/modules.txt"
        build_data["sbom_files"].append(str(sbom))

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
