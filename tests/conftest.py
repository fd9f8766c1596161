"""Shared fixtures: where the public data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from absent import absent

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with public data; without it tests that need it are skipped, or fail in CI."""
    folder = Path(os.environ.get("JURYRANK_DATA") or BESIDE_THE_PROJECT)
    if not (folder / "reading_level" / "votes.csv").exists():
        absent("the public data is not here: point JURYRANK_DATA to it")
    return folder


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still: the waiting times between attempts, which nobody waits for."""
    from juryrank.active import asking

    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asking, "wait", sleep)
    return waited
