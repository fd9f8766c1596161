"""How many threads there are, and keeping those of the linear algebra libraries out of the way."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def available_threads() -> int:
    """Number of processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


BRING_BLAS = ("numpy.linalg", "scipy.linalg", "scipy.special")
"""Modules that come with a library of their own when they are first imported."""


def one_blas_thread() -> AbstractContextManager[object]:
    """Within this context linear algebra uses one thread: more would only spin between calls."""
    return _blas(tuple(name in sys.modules for name in BRING_BLAS)).limit(limits=1)  # type: ignore[no-any-return]


@cache
def _blas(imported: tuple[bool, ...]) -> ThreadpoolController:
    """The libraries there are, looked for anew when there may be more of them."""
    del imported
    return ThreadpoolController().select(user_api="blas")
