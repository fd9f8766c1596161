"""The report in a real browser: it opens, its charts are drawn, its tables sort and search."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from absent import EVERYTHING, absent
from get_browser import installed_browser

import juryrank as jr

if EVERYTHING:
    import playwright.sync_api as playwright
else:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
EVIL = "<script>document.title = 'hacked'</script>"
LONG = "x" * 500


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # Browsers do not run their sandbox for root, as in containers.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(
                executable_path=installed_browser(), args=[*arguments, "--disable-gpu"]
            )
        except playwright.Error as error:
            absent(f"no browser can be started: {str(error).splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = jr.simulate(300, 80, adversaries=6, votes_per_judge=120, seed=5)
    jury = jr.simulate(60, 120, adversaries=4, votes_per_judge=40, seed=7)
    rankings: dict[str, jr.Ranking | jr.Rankings] = {
        "apart": jr.rank(_votes_of_two_languages(), by="language"),
        "demo": jr.rank(jr.datasets.llm_judges().votes),
        "evil": jr.rank(_evil_votes()),
        "large": jr.rank(made.votes),
        "jury": jr.rank(jury.votes),
        "bare": jr.rank(jr.datasets.llm_judges().votes, intervals=None),
        "map": jr.rank(jr.simulate(12, 50, adversaries=5, votes_per_judge=60, seed=2).votes),
    }
    paths = {name: folder / f"{name}.html" for name in rankings}
    for name, ranking in rankings.items():
        ranking.save(paths[name])
    return paths


def _votes_of_two_languages() -> pl.DataFrame:
    of = {"<b>de</b>": 1, "fr": 2}
    return pl.concat(
        jr.simulate(6, 12, adversaries=1, votes_per_judge=60, seed=seed).votes.with_columns(
            language=pl.lit(language)
        )
        for language, seed in of.items()
    )


def _evil_votes() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    names = [EVIL, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "a & b", "' + alert(1) + '",
             "constructor", "__proto__", LONG + "1", LONG + "2", "\u202edrawkcab"]  # fmt: skip
    left = rng.integers(0, 10, 900)
    right = (left + rng.integers(1, 10, 900)) % 10
    return pl.DataFrame(
        {
            "judge": [names[k] for k in rng.integers(0, 10, 900)],
            "winner": [names[k] for k in np.minimum(left, right)],
            "loser": [names[k] for k in np.maximum(left, right)],
        }
    )


@pytest.fixture
def opened(browser: Any, reports: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page with a report, drawn; it must not have complained when it is closed."""
    name, size, *scheme = request.param
    context = browser.new_context(
        viewport=size, offline=True, color_scheme=scheme[0] if scheme else "light"
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: complaints.extend(
        [asked.url] if not asked.url.startswith(("file:", "data:", "blob:")) else []))  # fmt: skip
    page.goto(reports[name].as_uri())
    page.wait_for_selector("html[data-charts=drawn]")
    yield page
    assert complaints == []
    context.close()


EVERY = [("demo", DESKTOP), ("demo", PHONE), ("demo", PHONE, "dark"), ("evil", DESKTOP),
         ("evil", PHONE), ("large", DESKTOP), ("large", PHONE), ("map", PHONE),
         ("bare", DESKTOP), ("apart", DESKTOP), ("apart", PHONE)]  # fmt: skip


@pytest.mark.parametrize("opened", EVERY, indirect=True, ids=str)
def test_every_chart_is_drawn_and_nothing_is_cut_off(opened: Any) -> None:
    charts = opened.locator(".chart")
    assert charts.count() >= 5
    for k in range(charts.count()):
        drawn = charts.nth(k).locator("svg.marks")
        assert drawn.count() == 1
        assert drawn.locator("path").count() > 3
        box = drawn.bounding_box()
        assert box["width"] > 150
        assert box["height"] > 50
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("opened", [("demo", DESKTOP), ("demo", DESKTOP, "dark")], indirect=True)
def test_text_of_charts_has_the_colour_of_the_page(opened: Any) -> None:
    label = opened.locator("#chart-items svg text").first
    ink = opened.locator("body").evaluate("e => getComputedStyle(e).color")
    assert label.evaluate("e => getComputedStyle(e).fill") == ink


def _column(page: Any, table: str, place: int) -> list[str]:
    cells = page.locator(f"#table-{table} tbody tr:not([hidden]) td:nth-child({place})")
    return [text.strip() for text in cells.all_text_contents()]


@pytest.mark.parametrize("opened", [("large", DESKTOP), ("large", PHONE)], indirect=True)
def test_tables_sort_by_number_and_by_name_and_by_the_keyboard(opened: Any) -> None:
    heading = opened.locator("#table-judges th", has_text="accuracy")
    heading.locator("button").click()
    rising = [float(text) for text in _column(opened, "judges", 2)]
    assert rising == sorted(rising)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").press("Enter")
    assert [float(text) for text in _column(opened, "judges", 2)] == rising[::-1]
    opened.locator("#table-judges th", has_text="judge").locator("button").click()
    names = _column(opened, "judges", 1)
    assert names == sorted(names)
    assert len(names) == 80


@pytest.mark.parametrize("opened", [("large", DESKTOP), ("large", PHONE)], indirect=True)
def test_tables_can_be_searched(opened: Any) -> None:
    everything = _column(opened, "items", 2)
    opened.locator("#table-items input").fill("ITEM-01")
    assert _column(opened, "items", 2) == [name for name in everything if "item-01" in name]
    assert opened.locator("#table-items output").text_content().endswith("of 300")
    opened.locator("#table-items input").fill("")
    assert _column(opened, "items", 2) == everything


@pytest.mark.parametrize("width", [320, 360, 600, 840, 1000])
@pytest.mark.parametrize("opened", [("demo", PHONE), ("evil", PHONE)], indirect=True, ids=str)
def test_no_column_of_a_table_is_cut_off(opened: Any, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 740})
    for table in ("items", "judges", "pairs"):
        cells = opened.locator(f"#table-{table} tr:first-child > *:visible")
        boxes = cells.evaluate_all(
            "all => all.map(e => [e.getBoundingClientRect(), e])"
            ".map(([box, e]) => [box.left, box.right, e.scrollWidth - box.width])"
        )
        assert len(boxes) >= 10
        assert min(left for left, _, _ in boxes) >= 0
        assert max(right for _, right, _ in boxes) <= width
        assert max(beyond for _, _, beyond in boxes) < 1


@pytest.mark.parametrize("opened", [("large", DESKTOP), ("large", PHONE)], indirect=True)
def test_of_a_long_table_a_button_shows_the_rest(opened: Any) -> None:
    rows = opened.locator("#table-items tbody tr:visible")
    button = opened.locator("#table-items .more button")
    assert rows.count() == 20
    assert button.text_content() == "Show all 300 rows"
    button.click()
    assert rows.count() == 300
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert rows.count() == 20


@pytest.mark.parametrize("opened", [("demo", DESKTOP)], indirect=True)
def test_verdicts_are_sorted_by_what_needs_attention(opened: Any) -> None:
    heading = opened.locator("#table-judges th", has_text="verdict")
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    verdicts = _column(opened, "judges", 5)
    assert verdicts[0] == "reliable"
    assert verdicts[-1] == "backwards"


@pytest.mark.parametrize("opened", [("evil", DESKTOP)], indirect=True)
def test_labels_are_shown_and_never_run(opened: Any) -> None:
    assert opened.title() == "Ranking of 10 items by 10 judges"
    assert EVIL in _column(opened, "items", 2)
    assert opened.locator("img").count() == 0
    axis = opened.locator("#chart-items svg text").all_text_contents()
    assert {"{{ 7 * 7 }}", "constructor", "__proto__", "\\u202edrawkcab"} <= set(axis)
    long = [text for text in axis if text.startswith("xxx")]
    assert sorted(text[-1] for text in long) == ["1", "2"]
    opened.locator("#chart-items svg .mark-symbol.role-mark path").first.hover()
    assert opened.locator("#vg-tooltip-element img, #vg-tooltip-element script").count() == 0
    assert opened.title() == "Ranking of 10 items by 10 judges"


@pytest.mark.parametrize("opened", [("demo", DESKTOP)], indirect=True)
def test_a_chart_tells_more_where_it_is_pointed_at(opened: Any) -> None:
    opened.locator("#chart-judges svg .mark-symbol.role-mark path").first.hover()
    told = opened.locator("#vg-tooltip-element").text_content()
    assert "accuracy" in told
    assert "verdict" in told


@pytest.mark.parametrize("opened", [("demo", DESKTOP)], indirect=True)
def test_it_prints(opened: Any) -> None:
    assert len(opened.pdf()) > 10_000
    opened.emulate_media(media="print")
    printed = "e => getComputedStyle(e, '::before').content"
    assert opened.locator("#table-items th").nth(1).evaluate(printed) == '"item"'
    assert opened.locator("th button:visible").count() == 0
    assert not opened.locator("nav").is_visible()
    assert opened.locator("#table-items tbody tr").last.is_visible()


PAPER = {"A4": 1123, "Letter": 1056}
"""Heights in pixels."""


@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("opened", [("jury", DESKTOP)], indirect=True)
def test_60_items_and_120_judges_are_printed_on_6_pages_and_the_answer_on_one(
    opened: Any, paper: str
) -> None:
    assert opened.pdf(format=paper).count(b"/Type /Page\n") <= 6
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 696, "height": 900})
    answer = opened.locator("#answer").bounding_box()
    assert answer["y"] + answer["height"] < PAPER[paper] - 98  # the margins
    assert opened.locator("#table-judges tbody tr").last.is_visible()


@pytest.mark.parametrize("opened", EVERY, indirect=True, ids=str)
def test_the_rules_of_accessibility_are_kept(opened: Any) -> None:
    if find_spec("axe_playwright_python") is None:
        absent("axe-playwright-python is not installed")
    axe = import_module("axe_playwright_python.base")
    opened.evaluate(axe.AXE_FILE_PATH.read_text(encoding="utf-8"))
    found = opened.evaluate("axe.run().then(result => result.violations)")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []


@pytest.mark.parametrize("opened", [("large", DESKTOP, "dark")], indirect=True)
def test_dots_of_charts_are_lighter_on_a_dark_page(opened: Any) -> None:
    dot = opened.locator("#chart-items svg .mark-symbol.role-mark path").first
    assert dot.evaluate("e => getComputedStyle(e).fill") == "rgb(61, 155, 233)"
    pale = opened.locator('#chart-judges [opacity="0.3"]').first
    assert float(pale.evaluate("e => getComputedStyle(e).opacity")) > 0.5


@pytest.mark.parametrize("opened", [("large", DESKTOP, "dark")], indirect=True)
def test_on_paper_tables_are_short_and_charts_fit(opened: Any) -> None:
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 700, "height": 900})
    rows = opened.locator("#table-items tbody tr")
    assert rows.count() == 300
    assert [rows.nth(k).is_visible() for k in (0, 119, 120, 299)] == [True, True, False, False]
    assert opened.locator("#table-items .on-paper").is_visible()
    for box in (chart.bounding_box() for chart in opened.locator(".chart svg.marks").all()):
        assert box["x"] + box["width"] <= 700
    assert opened.locator("body").evaluate("e => getComputedStyle(e).color") == "rgb(0, 0, 0)"


@pytest.mark.parametrize("opened", [("demo", DESKTOP), ("large", PHONE)], indirect=True)
def test_charts_and_what_can_be_done_with_them_have_names(opened: Any) -> None:
    for chart in opened.locator("svg.marks").all():
        name = chart.get_attribute("aria-labelledby")
        assert opened.locator(f"#{name}").text_content().strip()
    for button in opened.locator(".chart summary").all():
        assert button.get_attribute("aria-label")
    nameless = (
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
    )
    assert opened.evaluate(f"{nameless}.every(e => e.tabIndex === 0)")


def test_without_scripts_the_words_and_tables_are_there_and_say_so_first(
    browser: Any, reports: dict[str, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["large"].as_uri())
    notice = page.get_by_text("need JavaScript")
    assert notice.is_visible()
    assert notice.bounding_box()["y"] < page.locator("#answer").bounding_box()["y"]
    assert page.locator("#table-items tbody tr").last.is_visible()
    for idle in ("figure", ".search input", "h3.of-chart", ".more"):
        assert not page.locator(idle).first.is_visible()
    context.close()
