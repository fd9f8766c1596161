"""The report: one page that answers first, shows why, and says how it was done."""

from juryrank.report.page import report

__all__ = ["report"]
