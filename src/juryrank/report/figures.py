"""The charts of the report, and what each shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from juryrank.charts.layout import MOST_NAMED
from juryrank.charts.library import altair
from juryrank.charts.matrices import MOST_IN_MATRIX
from juryrank.charts.pairs import pairs_with_dots
from juryrank.errors import percent
from juryrank.model.registry import Judges, model_named

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

LEADERS = 15
"""So many items are drawn on the first page; the table shows them all."""
LEAST_CELL = 14
"""Pixels that a row of a matrix needs at least."""
CAPTIONS_OF_JUDGES: dict[Judges, str] = {
    "accuracy": (
        "The judges by accuracy: 0 is guessing, 1 the average judge (counted by votes), and below "
        "0 votes run against the order."
    ),
    "reliability": (
        "The judges by reliability: the chance to vote as one sees it; a half is guessing."
    ),
}


@dataclass(frozen=True)
class Figure:
    """A chart, and what it shows."""

    name: str
    chart: Any
    caption: str
    least_width: int = 0
    """In pixels; on a narrower screen it can be pushed sideways."""

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as the page draws it: as wide as there is room."""
        alt = altair()
        fit = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
        # The page has a look and data of its own, whatever the caller has chosen for other charts.
        with alt.theme.enable("none"), alt.data_transformers.enable("default"):
            spec: dict[str, Any] = self.chart.to_dict()
        return spec | fit


def figures(ranking: Ranking) -> Iterator[Figure]:
    """All charts of the report."""
    yield from _figures_of_items(ranking)
    yield from _figures_of_judges(ranking)
    yield from _figures_of_pairs(ranking)


def _figures_of_items(ranking: Ranking) -> Iterator[Figure]:
    count, sure = len(ranking.items), ranking.items["tier"].is_not_null().all()
    meaning = (
        f" Dots are scores, lines their {percent(ranking.fit.confidence)} intervals; shading "
        "sets tiers apart: with all pairs compared at once, no item of a tier is surely worse than "
        "its first." if sure else ""
    )  # fmt: skip
    which = "The items" if count <= LEADERS else f"The best {LEADERS} of {count:,} items"
    order = "the best first"
    if ranking.groups:
        which = which.replace("best", "first")
        order = "group by group; scores of different groups cannot be compared"
    yield Figure("items", ranking.plot.items(LEADERS), f"{which}, {order}.{meaning}")
    if count > MOST_NAMED:
        yield Figure("course", ranking.plot.items(), f"The scores of all {count:,} items, by rank.")


def _figures_of_judges(ranking: Ranking) -> Iterator[Figure]:
    if len(ranking.judges) < 2:
        return
    model = model_named(ranking.model)
    if model.judges_differ:
        yield Figure("judges", ranking.plot.judges(), CAPTIONS_OF_JUDGES[model.judges])
    if not agreement_is_chance(ranking):
        yield _figure_of_agreement(ranking)


def agreement_is_chance(ranking: Ranking) -> bool:
    """Whether a map of the judges would show nothing but noise."""
    return len(ranking.agreement.judge) > MOST_IN_MATRIX and not ranking.agreement.tells


def _figure_of_agreement(ranking: Ranking) -> Figure:
    shown = len(ranking.agreement.judge)
    if shown <= MOST_IN_MATRIX:
        caption = (
            "Who agrees with whom: of the pairs of items on which both have an opinion, the share "
            "on which they agree. An empty cell means that there is no such pair."
        )
        return Figure("agreement", ranking.plot.agreement(), caption, LEAST_CELL * shown + 110)
    which = "" if shown == len(ranking.judges) else f" ({shown:,} with the most votes)"
    return Figure(
        "agreement",
        ranking.plot.agreement(),
        f"A map of the judges{which}: those who agree on the pairs that both have seen are close "
        "together, and those who agree with nobody in particular are where the dashed lines cross.",
    )


def _figures_of_pairs(ranking: Ranking) -> Iterator[Figure]:
    single = " Pale dots are single pairs of items." if pairs_with_dots(ranking.pairs) else ""
    yield Figure(
        "calibration",
        ranking.plot.pairs(),
        "Does the model fit? Votes in groups by how sure the model is of them: dots on the dashed "
        f"line mean that favourites win as often as predicted.{single}",
    )
    shown = min(len(ranking.items), LEADERS)
    which = "" if shown == len(ranking.items) else f" The best {shown} items."
    yield Figure(
        "matrix",
        ranking.plot.matrix(LEADERS),
        f"How often a judge like these would prefer the row's item to the column's.{which}",
        LEAST_CELL * shown + 110,
    )
