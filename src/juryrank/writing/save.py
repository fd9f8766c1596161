"""Frames and answers into files, each in the format that the ending of its name tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import polars as pl

from juryrank.writing.atomic import write_text, write_whole
from juryrank.writing.excel import write_workbook
from juryrank.writing.formats import DOCUMENTS, SEPARATORS, check_ending, saved_as
from juryrank.writing.html_table import html_table
from juryrank.writing.json_text import finite
from juryrank.writing.latex import latex_table
from juryrank.writing.markdown import markdown_table
from juryrank.writing.safe_csv import without_formulas


def save_frame(frame: pl.DataFrame, path: str | Path, *, safe_csv: bool = False) -> None:
    """Write a frame, by file ending, as one of `juryrank.writing.formats.SAVED_AS` (JSON: as rows).

    Args:
        frame: What to write.
        path: Where to.
        safe_csv: Let no cell of a CSV or TSV file be a formula (see `juryrank.writing.safe_csv`).
    """
    match check_ending(path):
        case ending if ending in SEPARATORS:
            cells = without_formulas(frame) if safe_csv else frame
            separator = SEPARATORS[ending]
            write_whole(path, lambda part: cells.write_csv(part, separator=separator))
        case ".parquet":
            write_whole(path, frame.write_parquet)
        case ".json":
            write_text(path, json.dumps(finite(frame.to_dicts()), default=str) + "\n")
        case ".html":
            write_text(path, html_table(frame))
        case _:
            save_tables({"table": frame}, path)


class Answer(Protocol):
    """A ranking, or several."""

    @property
    def items(self) -> pl.DataFrame:
        """The items."""

    @property
    def judges(self) -> pl.DataFrame:
        """The judges."""

    def to_json(self) -> str:
        """Everything as JSON."""

    def report(self) -> str:
        """The report as a page."""


def save_answer(answer: Answer, path: str | Path, *, safe_csv: bool = False) -> None:
    """Write what a format has room for: the items, with the judges, or everything."""
    match saved_as(path):
        case ending if ending in DOCUMENTS:
            save_tables({"items": answer.items, "judges": answer.judges}, path)
        case ".json":
            write_text(path, answer.to_json() + "\n")
        case ".html":
            write_text(path, answer.report())
        case _:
            save_frame(answer.items, path, safe_csv=safe_csv)


def save_tables(tables: Mapping[str, pl.DataFrame], path: str | Path) -> None:
    """Write several frames with their names as Markdown, LaTeX or an Excel workbook."""
    match check_ending(path, DOCUMENTS):
        case ".xlsx":
            write_workbook(path, tables)
        case ".md":
            write_text(path, _document(tables, "## {}\n\n", markdown_table))
        case _:
            write_text(path, _document(tables, "% {}\n", latex_table))


def _document(
    tables: Mapping[str, pl.DataFrame], heading: str, table_of: Callable[[pl.DataFrame], str]
) -> str:
    """One table after the other, each under its name if there are several."""
    if len(tables) == 1:
        return "".join(map(table_of, tables.values()))
    parts = [heading.format(name.capitalize()) + table_of(table) for name, table in tables.items()]
    return "\n".join(parts)
