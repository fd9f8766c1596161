"""Where mutants are written to."""

from __future__ import annotations

import tempfile
from pathlib import Path


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for a while, in memory if there is one."""
    memory = Path("/dev/shm")  # noqa: S108
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
