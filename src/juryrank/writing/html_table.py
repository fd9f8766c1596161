"""A table of HTML, every label escaped."""

from __future__ import annotations

import html

import polars as pl

from juryrank.writing.cells import shown


def html_table(frame: pl.DataFrame) -> str:
    """A plain HTML table, every label escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>\n"
        for row in frame.iter_rows()
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
