"""The charting library, and pictures from its charts without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from juryrank.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType


CHARTING = ("altair", "vl-convert-python")
"""The packages that charts need."""


def altair() -> ModuleType:
    """The charting library, or how to get it."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401  needed by `png`
    except ModuleNotFoundError as error:
        raise InputError(
            f"Charts need the package {error.name}: pip install {' '.join(CHARTING)}."
        ) from error
    return alt


def png(chart: Any) -> bytes:
    """A chart as the bytes of a PNG file."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))
