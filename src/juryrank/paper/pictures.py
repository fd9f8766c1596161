"""A study's page, the numbers beside it and its chart as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from juryrank.charts.library import png
from juryrank.writing.atomic import write_bytes, write_text, write_whole


def save_study(
    folder: Path, name: str, frame: pl.DataFrame, page: Sequence[str], chart: Any
) -> list[Path]:
    """Write NAME.csv, NAME.md and NAME.png; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{ending}" for ending in ("csv", "md", "png")]
    picture = png(chart)
    write_whole(paths[0], lambda part: frame.write_csv(part, float_precision=6))
    write_text(paths[1], "\n".join(page) + "\n")
    write_bytes(paths[2], picture)
    return paths
