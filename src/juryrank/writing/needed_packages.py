"""Packages that some formats need, asked for before the long work and not after it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from juryrank.errors import InputError

REPORT_NEEDS = {"altair": "altair", "vl_convert": "vl-convert-python", "jinja2": "jinja2"}
"""Modules that the report needs, and the packages they come in."""


def check_excel_can_be_written(path: str | Path) -> None:
    """Complain if the package is missing that writes Excel workbooks."""
    if find_spec("xlsxwriter") is None:
        raise InputError(
            f"Cannot save as {str(path)!r}: Excel needs the package xlsxwriter. "
            "Install it with pip install xlsxwriter."
        )


def check_report_can_be_made() -> None:
    """Complain if a package is missing that the report needs."""
    missing = [package for module, package in REPORT_NEEDS.items() if find_spec(module) is None]
    if missing:
        raise InputError(
            f"The report needs packages that are not installed: {', '.join(missing)}. "
            f"Install them with pip install {' '.join(missing)}."
        )
