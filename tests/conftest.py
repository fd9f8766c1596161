"""Shared helpers: where the public data is, and small tables of votes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with public data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("JURYRANK_DATA", BESIDE_THE_PROJECT))
    if not (folder / "reading_level" / "votes.csv").exists():
        pytest.skip("the public data is not here: point JURYRANK_DATA to it")
    return folder
