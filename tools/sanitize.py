"""Build the core with sanitizers, and run the tests that are given with it.

    python -m tools.sanitize tests/core

Address and undefined-behaviour sanitizers stop the process at the first read or write outside of
memory, and at the first undefined operation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.commits import installed
from benchmarks.machine import ROOT

PLACE = ROOT / "build" / "sanitized"
SETTINGS = ("cmake.define.JURYRANK_SANITIZE=ON", f"build-dir={PLACE / 'objects'}")
RULES = {
    # Python keeps much until it ends, and nanobind and numpy are not built with sanitizers.
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "PYTHONMALLOC": "malloc",
}


def main(tests: Sequence[str]) -> int:
    """Build, then run pytest; its exit code."""
    python = installed("The core with sanitizers", ROOT, PLACE / "environment", *SETTINGS)
    environment = {**os.environ, **RULES, "LD_PRELOAD": _runtime(), "PYTHONPATH": str(ROOT)}
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def _runtime() -> str:
    """Libraries that must be loaded before all others; the sanitizer looks for what throws."""
    return " ".join(map(_library, ("libasan.so", "libstdc++.so.6")))


def _library(name: str) -> str:
    asked = [os.environ.get("CXX", "c++"), f"-print-file-name={name}"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    return str(Path(found).resolve())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
