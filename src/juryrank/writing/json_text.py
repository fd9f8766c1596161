"""JSON, which knows finite numbers only."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_ACTING = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Signs that a terminal may obey, and that JSON lets stand as they are; they only occur in text."""


def json_text(answer: dict[str, Any]) -> str:
    """One JSON object; what is not a finite number becomes null."""
    text = json.dumps(finite(answer), ensure_ascii=False, allow_nan=False, default=str)
    return _ACTING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
