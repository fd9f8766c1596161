"""A table of LaTeX, every label escaped."""

from __future__ import annotations

import re

import polars as pl

from juryrank.text import literal
from juryrank.writing.cells import shown

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
