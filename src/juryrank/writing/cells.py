"""Cells of tables as people read them."""

from __future__ import annotations

import math


def shown(value: object) -> str:
    """Give a cell as people read it: numbers rounded, nothing for null and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:z.3f}" if abs(value) < 100.0 else f"{value:.1f}"
    return str(value)
