"""A table of Markdown, every label escaped."""

from __future__ import annotations

import re

import polars as pl

from juryrank.text import literal
from juryrank.writing.cells import shown

_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]~|$])")
"""GitHub takes what is between two dollars for a formula."""


def markdown_table(frame: pl.DataFrame) -> str:
    """A table of GitHub's Markdown."""
    ends = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    rows = [[_in_markdown(cell) for cell in row] for row in frame.iter_rows()]
    lines = [[_in_markdown(name) for name in frame.columns], ends, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _in_markdown(cell: object) -> str:
    text = shown(cell)
    if not isinstance(cell, str):
        return text
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    lines = (literal(line) for line in text.splitlines())
    return "<br>".join(_MARKDOWN_SIGNS.sub(r"\\\1", line) for line in lines)
