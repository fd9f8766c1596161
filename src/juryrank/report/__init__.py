"""The report: one page that answers first, shows why, and says how it was done."""

from juryrank.report.page import check_report_can_be_made, report

__all__ = ["check_report_can_be_made", "report"]
