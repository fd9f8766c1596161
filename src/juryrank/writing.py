"""Frames and text into files, and values into what JSON and HTML can hold."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from juryrank.errors import InputError
from juryrank.saving import check_ending


def save_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as CSV, TSV, JSON (rows), Parquet or HTML, by file ending."""
    writers: dict[str, Callable[[], object]] = {
        ".csv": lambda: frame.write_csv(path),
        ".tsv": lambda: frame.write_csv(path, separator="\t"),
        ".json": lambda: write_text(path, json.dumps(finite(frame.to_dicts()), default=str) + "\n"),
        ".parquet": lambda: frame.write_parquet(path),
        ".html": lambda: write_text(path, html_table(frame)),
    }
    write = writers[check_ending(path)]
    try:
        write()
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        raise InputError(f"Cannot write {str(path)!r}: {reason}.") from error


def write_text(path: str | Path, text: str) -> None:
    """Write a file; complain if that cannot be done."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {str(path)!r}: {error.strerror or error}.") from error


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def html_table(frame: pl.DataFrame) -> str:
    """A plain HTML table, every label escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(cell))}</td>" for cell in row) + "</tr>\n"
        for row in frame.iter_rows()
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
