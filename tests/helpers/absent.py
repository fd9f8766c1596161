"""What a test needs, and a machine may not have."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

EVERYTHING = os.environ.get("CI", "").lower() in ("1", "true", "yes")
"""Whether everything is to be tested here, as where changes are accepted."""


def absent(what: str, *, everything: bool = EVERYTHING) -> NoReturn:
    """Skip a test for want of something; where everything is to be tested, fail it."""
    if everything:
        pytest.fail(f"{what}. With CI=true nothing is skipped for want of it.")
    pytest.skip(what)
