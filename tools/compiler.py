"""Find a C++ compiler, or take one from the package index; print what to set for the build.

    env $(python tools/compiler.py) python -m pip install .

Nothing is printed where there is a compiler. Otherwise `ziglang` is installed beside this Python: a
Clang that needs nothing else. CMake wants one word for a compiler, so a script of two lines calls
it, by the path of its binary: called as a Python module it would look up itself at every file.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

COMPILERS = ("c++", "g++", "clang++", "cl")
ZIG = "ziglang>=0.13"


def main() -> None:
    """Print nothing, or ``CC=... CXX=...``."""
    if os.environ.get("CXX") or any(shutil.which(name) for name in COMPILERS):
        return
    if find_spec("ziglang") is None:
        print("No C++ compiler was found: ziglang is installed.", file=sys.stderr)  # noqa: T201
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, ZIG], check=True, stdout=sys.stderr)  # noqa: S603
    print(*(f"{name}={_wrapper(kind)}" for name, kind in (("CC", "cc"), ("CXX", "c++"))))  # noqa: T201


def _wrapper(kind: str) -> Path:
    """A script beside this Python that calls zig as this kind of compiler."""
    found = Path(sys.executable).parent / f"zig-{kind}"
    found.write_text(f'#!/bin/sh\nexec "{_zig()}" {kind} {_baseline()} "$@"\n', encoding="utf-8")
    found.chmod(0o755)
    return found


def _zig() -> Path:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:  # installed a moment ago by another process
        where = [sys.executable, "-c", "import ziglang; print(ziglang.__file__)"]
        done = subprocess.run(where, check=True, capture_output=True, text=True)  # noqa: S603
        return Path(done.stdout.strip()).parent / "zig"
    return Path(spec.origin).parent / "zig"


def _baseline() -> str:
    """Zig compiles for the CPU at hand unless told otherwise."""
    return "-mcpu=x86_64_v2" if platform.machine().lower() in ("x86_64", "amd64") else ""


if __name__ == "__main__":
    main()
