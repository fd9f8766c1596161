"""A lock on an open file that ends with the process that holds it, however that ends."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    _FAR_AWAY = 1 << 40
    """Bytes that are locked cannot be read by others: this one is behind every content."""

    def locked(handle: int) -> bool:
        """Lock a file for this process; False if it is locked already."""
        position = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, _FAR_AWAY, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, position, os.SEEK_SET)
        return True

else:
    import fcntl

    def locked(handle: int) -> bool:
        """Lock a file for this process; False if it is locked already."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
