"""From a fresh clone to the first answer: what installing takes, and what the first run adds to it.

`make demo` installs, builds the core and ranks the example; beside it, the same packages are
installed alone. Both find their wheels in pip's cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT, git
from benchmarks.shell import run_command

Row = dict[str, Any]

DEMO = "`make demo` in a fresh clone"
WHEELS = "installing the packages of `make demo` alone"
INSTALL = "`pip install .` into an empty environment"
FIRST = "first `juryrank rank` after it"
LATER = "later `juryrank rank`"
LIMIT = 1_800.0
LATER_RUNS = 3


def install_rows() -> list[Row]:
    """All of it, one thing after the other."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        git("clone", "--quiet", str(ROOT), str(clone))
        return [*_demo_rows(clone, Path(folder)), *_first_rows(clone, Path(folder))]


def _demo_rows(clone: Path, folder: Path) -> list[Row]:
    """The demo, and its packages alone; an installation before both fills pip's cache."""
    make = ["/usr/bin/env", "make", "-C", str(clone), f"PYTHON={sys.executable}"]
    run_command([*make, f"VENV={folder / 'before'}", f"{folder / 'before'}/.demo"], LIMIT)
    demo = run_command([*make, f"VENV={folder / 'demo'}", "demo"], LIMIT)
    packages = _packages(folder / "demo")
    _environment(folder / "wheels")
    pip = [_python(folder / "wheels"), *PIP, *packages]
    return [{"what": DEMO, **demo}, {"what": WHEELS, **run_command(pip, LIMIT)}]


def _first_rows(clone: Path, folder: Path) -> list[Row]:
    """An installation as users have it: its size, its first run, and later ones."""
    place = folder / "installed"
    _environment(place)
    install = run_command([_python(place), *PIP, str(clone)], LIMIT)
    size = sum(path.lstat().st_size for path in place.rglob("*") if path.is_file()) / 1e6
    rank = [_python(place), "-m", "juryrank", "rank", "--example"]
    rows = [
        {"what": FIRST if run == 0 else LATER, **run_command(rank, LIMIT)}
        for run in range(LATER_RUNS + 1)
    ]
    return [{"what": INSTALL, **install, "size_mb": size}, *rows]


PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def _environment(place: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)


def _python(place: Path) -> str:
    return str(place / ("Scripts" if os.name == "nt" else "bin") / "python")


def _packages(place: Path) -> list[str]:
    """What is installed there, with versions, but for juryrank itself."""
    freeze = [_python(place), "-m", "pip", "freeze", "--exclude", "juryrank"]
    done = subprocess.run(freeze, check=True, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1]
