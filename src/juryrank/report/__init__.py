"""The report: one page that answers first, shows why, and says how it was done."""

from juryrank.report.page import report, report_by_value

__all__ = ["report", "report_by_value"]
