"""The array type that every layer speaks of, and numbers given by users."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import InputError

Floats = NDArray[np.float64]


class WithCore:
    """A value that keeps what the compiled code makes of it in attributes called `core...`.

    Where it is copied or pickled, these stay behind and are made anew.
    """

    def __getstate__(self) -> dict[str, object]:
        """All but these."""
        return {name: part for name, part in vars(self).items() if not name.startswith("core")}


def finite_numbers(values: object, count: int, what: str) -> Floats:
    """The user's own values as an array, if they are as many finite numbers as there must be."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise InputError(f"{what} must be {count:,} finite numbers, not {values!r}.")
    return array
