"""JSON, which knows finite numbers only."""

from __future__ import annotations

import json
import math
from typing import Any


def json_text(answer: dict[str, Any]) -> str:
    """One JSON object; what is not a finite number becomes null."""
    return json.dumps(finite(answer), ensure_ascii=False, allow_nan=False, default=str)


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
