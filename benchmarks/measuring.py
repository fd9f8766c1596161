"""CPU time, wall time and memory of a part of this process."""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
RESET_PEAK = "5"


@dataclass
class Cost:
    """What something took; memory in MB (1e6 bytes)."""

    cpu: float = 0.0
    wall: float = 0.0
    before: float = 0.0
    """Memory in use before it began."""
    peak: float = 0.0
    """The most in use while it ran, what was there before included."""


def measured(work: Callable[..., Result], *arguments: Any) -> tuple[Result, Cost]:
    """Do it, and say what it took."""
    with measuring() as cost:
        result = work(*arguments)
    return result, cost


@contextmanager
def measuring() -> Iterator[Cost]:
    """Measure what is done within."""
    gc.collect()
    cost = Cost(before=memory_now())
    reset_peak()
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield cost
    cost.cpu, cost.wall = cpu_seconds() - cpu, time.perf_counter() - wall
    cost.peak = memory_peak()


def cpu_seconds() -> float:
    """User and system time of this process (all its threads) and of its finished children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def reset_peak() -> None:
    """Forget the peak so far, where the system can (else it stays that of the whole process)."""
    try:
        CLEAR.write_text(RESET_PEAK, encoding="ascii")
    except OSError:
        return


def memory_now() -> float:
    """Memory in use; where the system does not tell, its peak."""
    return _status("VmRSS:") or _largest()


def memory_peak() -> float:
    """The most memory in use since the peak was reset."""
    return _status("VmHWM:") or _largest()


def _status(field: str) -> float | None:
    if not STATUS.exists():
        return None
    for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e6
    return None


def _largest() -> float:
    return in_megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def in_megabytes(maxrss: int) -> float:
    """`ru_maxrss` in MB: it is in bytes on macOS and in KiB elsewhere."""
    return maxrss / 1e6 if sys.platform == "darwin" else maxrss * 1024 / 1e6
