"""A study's page, the numbers beside it and its chart as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from juryrank.charting import png


def save_study(
    folder: Path, name: str, frame: pl.DataFrame, page: Sequence[str], chart: Any
) -> list[Path]:
    """Write NAME.csv, NAME.md and NAME.png; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{ending}" for ending in ("csv", "md", "png")]
    frame.write_csv(paths[0], float_precision=6)
    paths[1].write_text("\n".join(page) + "\n", encoding="utf-8")
    paths[2].write_bytes(png(chart))
    return paths
