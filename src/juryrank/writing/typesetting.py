"""Tables for documents: Markdown and LaTeX, every label escaped."""

from __future__ import annotations

import math
import re

import polars as pl

from juryrank.text import literal

_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]~|])")
_LIGATURES = re.compile(r"[-`'?!,](?=[-`',])")
"""LaTeX makes a dash of two hyphens, and one sign of others too."""
_LATEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "*": r"{*}",  # this and the next mean something at the begin of a line
    "[": r"{[}",
    "]": r"{]}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}


def shown(value: object) -> str:
    """Give a cell as people read it: numbers rounded, nothing for null and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:z.3f}" if abs(value) < 100.0 else f"{value:.1f}"
    return str(value)


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


def latex_table(frame: pl.DataFrame) -> str:
    """A tabular of LaTeX that needs no package."""
    kinds = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    cells = [frame.columns, *frame.iter_rows()]
    header, *rows = (" & ".join(_in_latex(cell) for cell in row) + r" \\" for row in cells)
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\hline", header, r"\hline", *rows, r"\hline"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"


def _in_latex(cell: object) -> str:
    text = shown(cell)
    if isinstance(cell, str):
        line = literal(" ".join(text.splitlines()))
        escaped = "".join(_LATEX_SIGNS.get(sign, sign) for sign in line)
        return _LIGATURES.sub(r"\g<0>{}", escaped)
    return f"${text}$" if text.startswith("-") else text
