"""Charts of the charting library whose files are whole or not there, as all others are."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any

import altair as alt

from juryrank.writing.atomic import write_whole


class _SavedWhole:
    """What `save` is given by its path is written beside its place, and put there when complete."""

    def save(self, fp: Any, format: str | None = None, **options: Any) -> None:  # noqa: A002
        """Save the chart, as `altair.Chart.save` does."""
        save = super().save  # type: ignore[misc]
        kind = format or (_ending(fp) if isinstance(fp, str | PathLike) else None)
        if kind is None or not isinstance(fp, str | PathLike):
            save(fp, format, **options)
            return
        write_whole(fspath(fp), lambda part: save(str(part), kind, **options))


class Chart(_SavedWhole, alt.Chart):  # type: ignore[misc]
    """A chart."""


class LayerChart(_SavedWhole, alt.LayerChart):  # type: ignore[misc]
    """Charts on top of each other."""


def _ending(path: str | PathLike[str]) -> str | None:
    """The format that the name of a file tells, if it has an ending."""
    return Path(path).suffix.removeprefix(".") or None


def saved_whole(chart: Any) -> Any:
    """Let a chart that was just made be saved so; also after `properties` and the like."""
    kind = LayerChart if isinstance(chart, alt.LayerChart) else Chart
    object.__setattr__(chart, "__class__", kind)  # that of charts sets what is drawn
    return chart
