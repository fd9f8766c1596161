"""Amounts of memory, as people write them."""

from __future__ import annotations

import re

from juryrank.errors import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
LEAST = 10**6
"""With less, votes would be read a few hundred rows at a time, or one by one."""
MOST = 2**63 - 1


def size_in_bytes(size: str | int) -> int:
    """Read a size such as ``1GB``, ``500 MB``, ``1.5GiB`` or a plain number of bytes."""
    found = _SIZE.fullmatch(str(size).strip())
    if found is None or isinstance(size, bool):
        raise _no_size(size)
    number, unit, binary = found[1], found[2].lower(), found[3]
    if binary and not unit:
        raise _no_size(size)
    count = round(float(number) * (_BINARY if binary else _UNITS)[unit])
    if count < 1:
        raise _no_size(size)
    if count < LEAST:
        raise InputError(
            f"{size!r} is too little memory to read votes with. Give at least "
            f"{LEAST // 10**6}MB, preferably 1GB; a number alone means bytes."
        )
    return min(count, MOST)


def _no_size(size: object) -> InputError:
    return InputError(
        f"{size!r} is not an amount of memory. Write it as 1GB, 500MB or a number of bytes."
    )
