"""How often do the 95 % intervals contain the truth? In words, tables and a picture.

python -m studies.coverage
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from juryrank.paper.pictures import save_study
from studies.covered import (
    CONFIDENCE,
    DEFAULT,
    FEW_VOTES,
    LEAST,
    MODELS,
    MOST,
    OF_BEST_FIT,
    RANKS,
    SETTINGS,
    Counts,
    Setting,
    study,
)
from studies.pages import coverage_chart, markdown, outside, percent
from studies.running import options

OF_ITEMS = ("scores", "differences")
NUMBERS = (*OF_ITEMS, "accuracies")
QUANTITIES = (*NUMBERS, *RANKS)


def save_coverage(table: pl.DataFrame, counts: Counts, folder: Path, command: str) -> list[Path]:
    """Write coverage.csv, .md and .png; the files written."""
    return save_study(folder, "coverage", table, list(_page(table, counts, command)), chart(table))


def chart(table: pl.DataFrame) -> object:
    """Coverage of each quantity in each setting."""
    shown = table.filter(pl.col("way") == DEFAULT.name)
    return coverage_chart(shown, [setting.name for setting in SETTINGS], QUANTITIES)


# --- tables --------------------------------------------------------------------------------------


def _cell(table: pl.DataFrame, setting: str, model: str, way: str, what: str) -> dict[str, float]:
    chosen = table.filter(
        pl.col("setting") == setting, pl.col("model") == model,
        pl.col("way") == way, pl.col("what") == what,
    )  # fmt: skip
    return chosen.row(0, named=True)


def _combinations(table: pl.DataFrame, way: str) -> Iterator[tuple[str, str]]:
    present = table.filter(pl.col("way") == way)
    for setting in SETTINGS:
        for model in MODELS:
            if len(present.filter(setting=setting.name, model=model)):
                yield setting.name, model


def coverage_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    """Setting, model, and the coverage of every quantity."""
    for setting, model in _combinations(table, DEFAULT.name):
        cells = (_cell(table, setting, model, DEFAULT.name, what) for what in QUANTITIES)
        yield [setting, model, *map(percent, cells)]


def _width_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for setting, model in _combinations(table, DEFAULT.name):
        cells = [_cell(table, setting, model, DEFAULT.name, what) for what in QUANTITIES]
        widths = [f"{cell['width']:.2f}" for cell in cells[:4]]
        yield [setting, model, *widths, *(f"{cell['sd_z']:.2f}" for cell in cells[:3])]


def _side_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for setting, model in _combinations(table, DEFAULT.name):
        for what in ("scores", "accuracies"):
            cell = _cell(table, setting, model, DEFAULT.name, what)
            missed = (f"{cell[name]:.1%}" for name in ("too_small", "too_large"))
            yield [setting, model, what, *missed, f"{cell['slope']:.2f}"]


def _best_judge_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for setting, model in _combinations(table, DEFAULT.name):
        cell = _cell(table, setting, model, DEFAULT.name, "best judge")
        yield [setting, model, percent(cell), f"{cell['too_small']:.1%}"]


def _rank_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for setting, model in _combinations(table, DEFAULT.name):
        each, together = (_cell(table, setting, model, DEFAULT.name, what) for what in RANKS)
        held = f"{each['held']:.1%}"
        yield [setting, model, f"{1 + each['width']:.1f}", held, percent(each), percent(together)]


def _best_fit_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for way in (DEFAULT, *OF_BEST_FIT):
        for setting, model in _combinations(table, way.name):
            if setting != FEW_VOTES.name:
                continue
            cells = [_cell(table, setting, model, way.name, what) for what in OF_ITEMS]
            widths = (f"{cell['width']:.2f}" for cell in cells)
            yield [way.name, model, f"{cells[0]['data_sets']:,}", *map(percent, cells), *widths]


# --- words ---------------------------------------------------------------------------------------


def _in_words(setting: Setting) -> str:
    if setting.accuracies is None:
        judges = "100, log-normal(0, 0.5), drawn for each data set"
    else:
        judges = ", ".join(f"{accuracy:g}" for accuracy in setting.accuracies)
    return f"| {setting.name} | {setting.items} | {judges} | {setting.votes_per_judge} |"


def _page(table: pl.DataFrame, counts: Counts, command: str) -> Iterator[str]:
    yield from _beginning(table, counts, command)
    yield from _sides(table)
    yield from _ranks(table)
    yield from _of_best_fit(table, counts)


def _beginning(table: pl.DataFrame, counts: Counts, command: str) -> Iterator[str]:
    usual = table.filter(pl.col("way") == DEFAULT.name, pl.col("what").is_in(QUANTITIES))
    yield from (
        "# Coverage",
        "",
        f"Made by `{command}`. How often the {CONFIDENCE:.0%} intervals of `rank`, called with no "
        "argument but the votes and the model, contain the truth, over "
        f"{counts.data_sets:,} simulated data sets of each setting and model. Votes are simulated "
        "from the plain model, in which judges have no tastes; the fit allows for tastes, as by "
        "default. True scores are drawn from N(0, 1) for each data set, and the truth is brought "
        "to the gauge of the answer: true accuracies divided by, and true centred scores "
        "multiplied by, the mean |accuracy| over votes, no judge counting for more than twice "
        "the mean. Standard errors take data sets, not intervals, as independent. Juries with "
        "tastes, and others that break the model, are in the [stress test](stress.md).",
        "",
        "| setting | items | accuracies of the judges | votes each |",
        "|---|---|---|---|",
        *map(_in_words, SETTINGS),
        "",
        "![Coverage](coverage.png)",
        "",
        f"Bold: outside {LEAST:.0%} to {MOST:.0%}, or for ranks below {CONFIDENCE:.0%}. "
        "Differences are those of all pairs of items. Ranks are looked at one by one, and all "
        "ranks of a data set together, which are covered if each of them is.",
        "",
        *markdown(("setting", "model", *QUANTITIES), coverage_rows(table)),
        "",
        "In bold are:",
        "",
        *outside(usual),
        "",
        "Mean widths of the intervals, and the standard deviation of `z = (estimate - truth) / "
        "error`, where the error is the width of the interval divided by 2 x 1.96. It is 1 if "
        "errors are of the right size:",
        "",
        *markdown(
            ("setting", "model", *(f"width: {what}" for what in QUANTITIES[:4]),
             *(f"z: {what}" for what in NUMBERS)),
            _width_rows(table),
        ),
    )  # fmt: skip


def _sides(table: pl.DataFrame) -> Iterator[str]:
    yield from (
        "",
        "## On which side the truth is missed",
        "",
        "*Too small* is the share of all intervals that miss the truth on the side of 0 "
        "(accuracies: that lie too low), *too large* that of the others that miss it. The slope is "
        "that of a regression of the truth on the estimate, for accuracies of their distances from "
        "1. The mean of a posterior lies closer to the middle than the truth does, and the slope "
        "is still 1 if the prior describes how truths are drawn; above 1, estimates are shrunk too "
        "far, and below 1 too little. Here it need not be 1: the accuracies of four settings are "
        "the same in every data set, and drawn from no prior.",
        "",
        *markdown(
            ("setting", "model", "what", "too small", "too large", "slope"), _side_rows(table)
        ),
        "",
        "Coverage is a mean over judges. The truly most accurate one, picked by the truth, is "
        "another matter, as a prior pulls the accuracies of extreme judges towards those of the "
        "others:",
        "",
        *markdown(
            ("setting", "model", "best judge covered", "interval too low"), _best_judge_rows(table)
        ),
    )


def _ranks(table: pl.DataFrame) -> Iterator[str]:
    yield from (
        "",
        "## Ranks hold all together",
        "",
        "The plausible ranks of the items follow from the pairs of items whose order is claimed, "
        "and claims are made so that all of them are right together with a chance of "
        f"{CONFIDENCE:.0%}. So all ranks of a data set together should be covered that often or "
        "more, and each rank by itself nearly always: covering more is meant. *Draws held* is the "
        "share of the draws of the posterior in which a rank lies within its interval.",
        "",
        *markdown(
            ("setting", "model", "plausible ranks of an item", "draws held", "ranks", "all ranks"),
            _rank_rows(table),
        ),
    )


def _of_best_fit(table: pl.DataFrame, counts: Counts) -> Iterator[str]:
    yield from (
        "",
        "## Other intervals",
        "",
        'With 100 judges of 8 votes each (few votes): `intervals="information"`, `"sandwich"` and '
        f'`"bootstrap"` (200 refits for each of the first {counts.bootstraps:,} data sets) beside '
        "the default. These three are symmetric intervals around the best fit of the plain model. "
        "Information has its errors from the curvature; sandwich and bootstrap take judges, not "
        "votes, as the independent draws. What these two are for, votes of a judge that depend on "
        "each other, is not tested here, as the plain model is true.",
        "",
        *markdown(
            (
                "intervals",
                "model",
                "data sets",
                *OF_ITEMS,
                *(f"width: {what}" for what in OF_ITEMS),
            ),
            _best_fit_rows(table),
        ),
    )


def main() -> None:
    """Run the study and write its results."""
    parser = options(__doc__)
    usual = Counts()
    parser.add_argument("--data-sets", type=int, default=usual.data_sets)
    parser.add_argument("--bootstraps", type=int, default=usual.bootstraps)
    asked = parser.parse_args()
    counts = Counts(asked.data_sets, asked.bootstraps)
    command = (
        f"python -m studies.coverage --data-sets {counts.data_sets} --bootstraps "
        f"{counts.bootstraps} --seed {asked.seed}"
    )
    table = study(counts, asked.seed, asked.jobs)
    for path in save_coverage(table, counts, asked.out, command):
        print(path)


if __name__ == "__main__":
    main()
