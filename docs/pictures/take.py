"""Take the pictures of the report that README and docs show: `python docs/pictures/take.py`."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from datetime import date
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import juryrank as jr

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from get_browser import installed_browser  # noqa: E402

WIDTH, HEIGHT = 880, 800
DAY = date(2026, 1, 31)
"""On the report, whenever the pictures are taken."""


def section(page: Any, name: str, height: int) -> None:
    """A section of the report, from its top."""
    page.locator(f"#{name}").scroll_into_view_if_needed()
    box = page.locator(f"#{name}").bounding_box()
    top = box["y"] + page.evaluate("window.scrollY")
    area = {"x": 0, "y": top, "width": WIDTH, "height": min(height, box["height"])}
    page.screenshot(path=HERE / f"report-{name}.png", clip=area, full_page=True)


def main() -> None:
    """The example votes, as `make demo` ranks them."""
    warnings.simplefilter("ignore", jr.JuryrankWarning)
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = Path(folder) / "report.html"
        ranking = jr.rank(jr.datasets.llm_judges().votes)
        report.write_text(ranking.report(source="llm_judges.csv", date=DAY), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=installed_browser(), args=arguments)
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5
        )
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-charts=drawn]")
        top = page.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT})
        (HERE / "report.png").write_bytes(top)
        for name, height in (("judges", 960), ("pairs", 900)):
            section(page, name, height)
        browser.close()


if __name__ == "__main__":
    main()
