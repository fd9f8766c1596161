"""What tests of the loop share."""

from __future__ import annotations

import pytest

from juryrank.active import asking


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still: the waiting times between attempts, which nobody waits for."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asking, "wait", sleep)
    return waited
