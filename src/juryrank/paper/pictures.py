"""Charts as PNG files, drawn without a browser, and the page and the numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from juryrank.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType


def altair() -> ModuleType:
    """The charting library, or how to get it."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401  needed by `png`
    except ModuleNotFoundError as error:
        raise InputError(
            f"Pictures need the package {error.name}: pip install 'juryrank[plots]'."
        ) from error
    return alt


def png(chart: Any) -> bytes:
    """A chart as the bytes of a PNG file."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))


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
