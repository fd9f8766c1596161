"""The files that come with the package."""

from __future__ import annotations

from pathlib import Path

EXAMPLE_VOTES = Path(__file__).parent / "llm_judges.csv"
"""720 simulated votes: nine judges, one careless and one backwards, on eight assistants."""
