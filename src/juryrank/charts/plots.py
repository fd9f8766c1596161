"""Pictures of a ranking: charts of the charting library, to be shown, changed or saved.

``ranking.plot.items().save("items.png")``; also ``.svg``, and ``.html`` (with ``inline=True`` for a
page that needs no network). What is drawn is at most some thousand marks, whatever the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juryrank.charts.convergence import convergence_chart
from juryrank.charts.items import drawn_items, few_items, item_row, many_items
from juryrank.charts.judges import few_judges, judge_row, many_judges, map_of_judges
from juryrank.charts.layout import MOST_NAMED
from juryrank.charts.matrices import MOST_IN_MATRIX, heat_map, matrix_cells
from juryrank.charts.pairs import calibration_chart, dots_of
from juryrank.errors import InputError, percent
from juryrank.model.registry import model_named
from juryrank.text import literal

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

MOST_WITH_DRAWS = 20
MOST_DRAWS = 150
"""Of each item, in a picture of draws."""


class Plots:
    """The pictures of one ranking, ``ranking.plot``; every one is an Altair chart."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking

    def items(self, top: int | None = None) -> Any:
        """The scores with their intervals, tier by tier; of many items, the course of them all.

        Args:
            top: Only so many of the best items.
        """
        if top is not None and top < 1:
            raise InputError(f"top={top} must be at least 1.")
        shown = self._ranking.items.head(top or len(self._ranking.items))
        rows = [item_row(row) for row in shown.iter_rows(named=True)]
        scale = self._ranking.scale
        if len(rows) > MOST_NAMED:
            return _saved_whole(many_items(rows, scale))
        return _saved_whole(few_items(rows, scale, self._interval))

    def posterior(self, top: int = MOST_WITH_DRAWS) -> Any:
        """Draws of the scores of the best items: what is known of them after the votes.

        Args:
            top: How many of the best items.
        """
        if not 1 <= top <= MOST_WITH_DRAWS:
            raise InputError(f"top={top} must be from 1 to {MOST_WITH_DRAWS}.")
        ranking, scale = self._ranking, self._ranking.scale
        rows = [item_row(row) for row in ranking.items.head(top).iter_rows(named=True)]
        draws = scale.average + scale.unit * ranking.posterior.scores[:, : len(rows)]
        some = draws[:: -(-len(draws) // MOST_DRAWS)]
        return _saved_whole(drawn_items(rows, some, self._interval))

    def judges(self) -> Any:
        """The accuracies with their intervals, the largest first, coloured by verdict."""
        model = model_named(self._ranking.model)
        if not model.judges_differ:
            raise InputError(
                f"The model {self._ranking.model!r} treats all judges alike: there are no "
                "accuracies to draw. hbtl, the default, tells judges apart."
            )
        rows = [judge_row(row) for row in self._ranking.judges.iter_rows(named=True)]
        if len(rows) > MOST_NAMED:
            return _saved_whole(many_judges(rows, model.judges))
        return _saved_whole(few_judges(rows, model.judges, self._interval))

    def pairs(self) -> Any:
        """How often favourites won, beside how often they should have won."""
        bins = self._ranking.tallies.calibration(self._ranking.fit.confidence)
        dots = dots_of(self._ranking.pairs)
        return _saved_whole(calibration_chart(bins.to_dicts(), dots, self._interval))

    def matrix(self, top: int = MOST_IN_MATRIX) -> Any:
        """The chance that a judge like these prefers the row's item to the column's."""
        if not 2 <= top <= MOST_IN_MATRIX:
            raise InputError(f"top={top} must be from 2 to {MOST_IN_MATRIX}.")
        items = self._ranking.items["item"].head(top)
        chance = np.stack([self._ranking.predict(None, items, [other]) for other in items], axis=1)
        np.fill_diagonal(chance, np.nan)
        if self._ranking.groups:
            group = self._ranking.items["group"].head(top).to_numpy()
            chance[group[:, None] != group[None, :]] = np.nan
        names = [literal(item) for item in items]
        cells = matrix_cells(names, chance, {})
        return _saved_whole(heat_map(names, cells, "chance", "chance that the row wins"))

    def agreement(self) -> Any:
        """Who agrees with whom: a matrix of few judges, a map of many."""
        votes, judges = self._ranking.tallies.votes, self._ranking.judges
        if len(judges) < 2:
            raise InputError("There is only one judge: nobody to agree with.")
        found = self._ranking.agreement
        labels = votes.judges.gather(found.judge).to_list()
        if len(labels) > MOST_IN_MATRIX:
            what = model_named(self._ranking.model).judges
            return _saved_whole(map_of_judges(found, judges, labels, what))
        order = np.argsort(-found.position[:, 0], kind="stable")
        names = [literal(labels[u]) for u in order]
        shared = {"shared": found.shared[np.ix_(order, order)]}
        cells = matrix_cells(names, found.share[np.ix_(order, order)], shared)
        title = "share of shared pairs on which they agree"
        return _saved_whole(heat_map(names, cells, "agree", title))

    def convergence(self) -> Any:
        """How the solver came to its answer, step by step."""
        if not len(self._ranking.fit.steps):
            raise InputError(
                f"The model {self._ranking.model!r} is not fitted in steps: there is no "
                "convergence to show."
            )
        return _saved_whole(convergence_chart(self._ranking.fit.steps))

    @property
    def _interval(self) -> str:
        return f"{percent(self._ranking.fit.confidence)} interval"


def _saved_whole(chart: Any) -> Any:
    from juryrank.charts.whole import saved_whole  # needs the charting library

    return saved_whole(chart)
