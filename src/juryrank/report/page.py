"""The report as one HTML page that needs nothing else: words, charts, tables, and their scripts."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl
from scipy.special import ndtr

from juryrank import __version__
from juryrank.charting import altair
from juryrank.errors import counted, listing, percent
from juryrank.judging.verdicts import by_attention
from juryrank.labels import WIDEST_NAME, literal, short
from juryrank.models import NEEDS_ATTENTION, VERDICTS, model_named
from juryrank.plots import (
    LEAST_VOTES_OF_DOT,
    LOOK_OF_VERDICT,
    MOST_IN_MATRIX,
    MOST_NAMED,
    pairs_with_dots,
)
from juryrank.report.tables import items_table, judges_table, pairs_table
from juryrank.saving import check_report_can_be_made
from juryrank.words import (
    effects_in_words,
    example,
    headline,
    lead,
    limits,
    scale_in_words,
    tastes_in_words,
)

if TYPE_CHECKING:
    from juryrank.ranking import Fit, Ranking

WAYS_TO_INTERVALS = {
    "posterior": "read off the posterior; ranks and tiers hold all together",
    "information": "from the curvature of the fit (votes are the independent draws)",
    "sandwich": "by the sandwich formula (judges are the independent draws)",
    "bootstrap": "by resampling judges",
}
VERSIONS_OF = ("numpy", "scipy", "numba", "polars", "altair")
ITEMS_BY_NAME = 30
"""Of many items, so many are drawn by name; all of them in one course."""
REASONS_SHOWN = 20
NAMED_TOGETHER = 10
SURPRISING = 2.0
MOST_PRINTED = 50
"""Rows of a table on paper."""
LEAST_CELL = 14
"""Pixels that a row of a matrix needs at least."""


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


def report(ranking: Ranking, command: str | None = None) -> str:
    """The page.

    Args:
        ranking: What is to be reported.
        command: What to type to get it again; the call of `rank`, if None.
    """
    check_report_can_be_made()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("juryrank.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    pages.filters["literal"] = literal
    pages.globals["most_printed"] = MOST_PRINTED
    figures = list(_figures(ranking))
    attention = _attention(ranking.judges)
    return pages.get_template("report.html").render(
        title=headline(ranking),
        lead=lead(ranking),
        example=example(ranking),
        limits=list(limits(ranking)),
        warnings=ranking.warnings,
        figures={figure.name: figure for figure in figures},
        specs={figure.name: figure.spec for figure in figures},
        items=items_table(ranking),
        judges=judges_table(ranking),
        pairs=pairs_table(ranking),
        surprises=_surprises(ranking.pairs),
        attention=attention[:REASONS_SHOWN],
        not_told=max(len(attention) - REASONS_SHOWN, 0),
        verdicts=_verdict_counts(ranking.judges),
        agreement_is_chance=_agreement_is_chance(ranking),
        judges_alike=model_named(ranking.model).judges == "equal",
        done=list(_how_it_was_done(ranking)),
        command=command or f"import juryrank as jr\n\nranking = {ranking.call}",
        library=_library(),
    )


# --- charts --------------------------------------------------------------------------------------


def _figures(ranking: Ranking) -> Iterator[Figure]:
    yield from _figures_of_items(ranking)
    yield from _figures_of_judges(ranking)
    yield from _figures_of_pairs(ranking)
    if ranking.fit.steps:
        yield Figure(
            "convergence",
            ranking.plot.convergence(),
            "Every step of the fit, in the stages of the search.",
        )


def _figures_of_items(ranking: Ranking) -> Iterator[Figure]:
    count, sure = len(ranking.items), ranking.items["tier"].is_not_null().all()
    meaning = (
        f" Dots are scores, lines their {percent(ranking.fit.confidence)} intervals; shading "
        "sets tiers apart: with all pairs compared at once, no item of a tier is surely worse than "
        "its first." if sure else ""
    )  # fmt: skip
    if count <= MOST_NAMED:
        yield Figure("items", ranking.plot.items(), f"The items, the best first.{meaning}")
        return
    best = f"The best {ITEMS_BY_NAME} of {count:,} items.{meaning}"
    yield Figure("items", ranking.plot.items(ITEMS_BY_NAME), best)
    yield Figure("course", ranking.plot.items(), f"The scores of all {count:,} items, by rank.")


def _figures_of_judges(ranking: Ranking) -> Iterator[Figure]:
    if len(ranking.judges) < 2:
        return
    if model_named(ranking.model).judges == "accuracy":
        scale = (
            "0 is guessing, 1 the average judge (counted by votes), and below 0 votes run against "
            "the order."
        )
        yield Figure("judges", ranking.plot.judges(), f"The judges by accuracy: {scale}")
    elif model_named(ranking.model).judges == "reliability":
        scale = "the chance to vote as one sees it; a half is guessing."
        yield Figure("judges", ranking.plot.judges(), f"The judges by reliability: {scale}")
    if not _agreement_is_chance(ranking):
        yield _figure_of_agreement(ranking)


def _agreement_is_chance(ranking: Ranking) -> bool:
    """Whether a map of the judges would show nothing but noise."""
    return len(ranking.agreement.judge) > MOST_IN_MATRIX and not ranking.agreement.tells


def _figure_of_agreement(ranking: Ranking) -> Figure:
    shown = len(ranking.agreement.judge)
    if shown <= MOST_IN_MATRIX:
        caption = (
            "Who agrees with whom: the share of pairs of items on which both have an opinion, and "
            "it is the same. An empty field: no such pair."
        )
        return Figure("agreement", ranking.plot.agreement(), caption, LEAST_CELL * shown + 110)
    which = "" if shown == len(ranking.judges) else f" ({shown:,} with the most votes)"
    return Figure(
        "agreement",
        ranking.plot.agreement(),
        f"A map of the judges{which}: close together are those who agree on the pairs that both "
        "have seen. Where the dashed lines cross are those who agree with nobody in particular.",
    )


def _figures_of_pairs(ranking: Ranking) -> Iterator[Figure]:
    single = " Pale dots are single pairs of items." if pairs_with_dots(ranking.pairs) else ""
    yield Figure(
        "calibration",
        ranking.plot.pairs(),
        "Does the model fit? Votes in groups by how sure the model is of them: dots on the dashed "
        f"line mean that favourites win as often as predicted.{single}",
    )
    shown = min(len(ranking.items), MOST_IN_MATRIX)
    which = "" if shown == len(ranking.items) else f" The best {shown} items."
    yield Figure(
        "matrix",
        ranking.plot.matrix(),
        f"How often a judge like these would prefer the row's item to the column's.{which}",
        LEAST_CELL * shown + 110,
    )


# --- words ---------------------------------------------------------------------------------------


def _attention(judges: pl.DataFrame) -> list[dict[str, str]]:
    """The judges that need attention, the worst first, together where the same is said of them."""
    worth = by_attention(judges.filter(pl.col("verdict").is_in(NEEDS_ATTENTION)))
    return [
        {
            "judges": listing([short(name, WIDEST_NAME) for name in rows["judge"]], NAMED_TOGETHER),
            "verdict": str(verdict),
            "reason": f": {reason}" if len(rows) > 1 else f" {reason}",
        }
        for (verdict, reason), rows in worth.group_by("verdict", "reason", maintain_order=True)
    ]


def _verdict_counts(judges: pl.DataFrame) -> list[dict[str, Any]]:
    counts = dict(judges["verdict"].drop_nulls().value_counts().iter_rows())
    return [
        {"verdict": verdict, "count": counts[verdict], "colour": LOOK_OF_VERDICT[verdict][0]}
        for verdict in reversed(VERDICTS)
        if verdict in counts
    ]


def _surprises(pairs: pl.DataFrame) -> str:
    """How many pairs are surprising, and how many would be by chance."""
    tellable = pairs.filter(pl.col("votes") >= LEAST_VOTES_OF_DOT)
    if not len(tellable):
        return f"No pair has the {LEAST_VOTES_OF_DOT} votes it takes to tell much."
    many = int((tellable["surprise"].abs() > SURPRISING).sum())
    by_chance = 2.0 * float(ndtr(-SURPRISING)) * len(tellable)
    return (
        f"{many:,} of {counted(len(tellable), 'pair')} with at least {LEAST_VOTES_OF_DOT} votes "
        f"{'is' if many == 1 else 'are'} more than {SURPRISING:.0f} standard errors off; chance "
        f"alone would give about {by_chance:,.0f}."
    )


def _how_it_was_done(ranking: Ranking) -> Iterator[tuple[str, str]]:
    fit, model = ranking.fit, model_named(ranking.model)
    noise = "" if model.method == "win-rate" else f", {ranking.noise.name} noise"
    yield "Model", f"{model.name}: {model.title}{noise}"
    yield "Votes", _votes_in_words(ranking)
    for sentence in scale_in_words(ranking):
        yield "Scale", sentence
    for sentence in effects_in_words(ranking):
        yield "Ties and sides", sentence
    for sentence in tastes_in_words(ranking):
        yield "Tastes", sentence
    yield "Prior", _prior_in_words(fit.prior, by_data=fit.prior_chosen)
    if fit.intervals:
        yield "Intervals", f"{percent(fit.confidence)}, {WAYS_TO_INTERVALS[fit.intervals]}"
    yield "Fit", _fit_in_words(fit)
    some = ranking.evidence.of_each_ranking
    if some is not None:
        yield (
            "Pairs of items",
            f"those that rankings imply; of longer rankings only those of {some:,} items, drawn at "
            "random and alike for all rankings",
        )
    others = ", ".join(f"{name} {version(name)}" for name in VERSIONS_OF)
    yield "Versions", f"juryrank {__version__}, Python {platform.python_version()}, {others}"


def _fit_in_words(fit: Fit) -> str:
    if fit.draws is not None:
        settled = "" if fit.converged else "; this is NOT enough"
        return (
            f"{fit.draws:,} draws from the posterior after {fit.iterations:,} rounds, worth at "
            f"least {fit.effective_draws:,.0f} independent ones of every score{settled}"
        )
    end = "converged" if fit.converged else "did NOT converge"
    passes = "1 pass" if fit.iterations == 1 else f"{fit.iterations:,} passes"
    lowest = "" if fit.objective is None else f", objective {fit.objective:,.6g}"
    return f"{end} after {passes} over the votes{lowest}"


def _votes_in_words(ranking: Ranking) -> str:
    fit = ranking.fit
    parts = [f"{counted(fit.votes, 'vote')} by {counted(len(ranking.judges), 'judge')}"]
    parts += [f"{counted(fit.left_out, 'row')} left out"] if fit.left_out else []
    parts += [f"{counted(fit.set_aside, 'vote')} set aside"] if fit.set_aside else []
    return "; ".join(parts)


def _prior_in_words(prior: tuple[float | None, float | None] | None, *, by_data: bool) -> str:
    if prior is None:
        return "none"
    names = ("scores", "accuracies")
    known = [f"{sd:.3g} of {name}" for name, sd in zip(names, prior, strict=True) if sd is not None]
    chosen = ", chosen by the data" if by_data else ""
    return f"standard deviations {' and '.join(known)}{chosen}"


@cache
def _library() -> str:
    """The charting library as a script; it must not end the element that it stands in."""
    import vl_convert
    from altair import SCHEMA_VERSION

    language = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=language))
    return script.replace("</script", "<\\/script")
