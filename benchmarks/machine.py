"""On what, with what and of which state of the code the numbers were measured."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.adapters import ADAPTERS
from benchmarks.kernel import FLAGS, compiler_version
from juryrank.threads import available_threads

ROOT = Path(__file__).resolve().parents[1]
BUSY = """
import time
began, cpu = time.perf_counter(), time.process_time()
while time.perf_counter() < began + 1.0:
    pass
print(time.process_time() - cpu)
"""
LIBRARIES = ("numpy", "scipy", "polars", "pandas", "pyarrow", "jax")


def machine() -> dict[str, Any]:
    """All that the page says of machine and versions."""
    names = dict.fromkeys([*(adapter.package for adapter in ADAPTERS.values()), *LIBRARIES])
    return {
        "processor": processor(),
        "cores": available_threads(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": compiler_version(),
        "compiler_flags": " ".join(FLAGS) + " -fopenmp",
        "commit": commit(),
        "load_before": round(os.getloadavg()[0], 2),
        "cores_free_before": cores_free(),
        "versions": {name: version_of(name) for name in names},
    }


def cores_free() -> float:
    """How much of the cores busy processes get now: less than all, and times are not to be trusted.

    What runs on two threads suffers most if somebody else is at work.
    """
    command = [sys.executable, "-c", BUSY]
    probes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(available_threads())
    ]
    return round(sum(float(probe.communicate()[0]) for probe in probes), 2)


def version_of(package: str) -> str | None:
    """The installed version, None if there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def memory_gb() -> float:
    """Memory of the machine."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)


def commit() -> str:
    """The state of the code that is measured."""
    found = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--", "src")
    return f"{found} with changes" if changed else found


def git(*words: str) -> str:
    """What git says, or nothing where there is none."""
    try:
        done = subprocess.run(
            ["git", *words],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip()
