"""The report as one HTML page that needs nothing else: words, charts, tables, and their scripts."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
from scipy.special import ndtr

from juryrank.errors import InputError, counted
from juryrank.labels import literal
from juryrank.models import VERDICTS, model_named
from juryrank.plots import LEAST_VOTES_OF_DOT, LOOK_OF_VERDICT
from juryrank.report.decision import concerns, next_steps, other_warnings, tiers
from juryrank.report.figures import agreement_is_chance, figures
from juryrank.report.method import method, solver
from juryrank.report.tables import (
    ROWS_AT_FIRST,
    Table,
    items_table,
    judges_table,
    pairs_table,
    telling_pairs,
)
from juryrank.saving import check_report_can_be_made
from juryrank.words import example, headline, lead, limits

if TYPE_CHECKING:
    from juryrank.ranking import Ranking

SURPRISING = 2.0
DAY_OF_BUILD = "SOURCE_DATE_EPOCH"
"""The environment variable with the time, in seconds since 1970, that repeatable builds go by."""
ON_DARK = {
    "#0072B2": "#3D9BE9",
    "#56B4E9": "#A9DCFB",
    "#009E73": "#2CC79B",
    "#D55E00": "#FF8A3D",
    "#CC79A7": "#E89AC7",
    "#A89000": "#F0E442",
    "#999999": "#C3C9D4",
    "#888888": "#B4BCCA",
}
"""What the colours of the charts become where the page is dark."""


def report(
    ranking: Ranking,
    command: str | None = None,
    *,
    title: str | None = None,
    source: str | None = None,
    day: date | None = None,
) -> str:
    """The page.

    Args:
        ranking: What is to be reported.
        command: What to type to get it again; the call of `rank`, if None.
        title: What stands on top; the headline, if None.
        source: Where the votes are from.
        day: The date on the page; see `_day_of_report`, if None.
    """
    check_report_can_be_made()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("juryrank.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    pages.filters["literal"] = literal
    drawn, tables = list(figures(ranking)), _tables(ranking)
    return pages.get_template("report.html").render(
        title=title or headline(ranking),
        about=_about(ranking, title, source),
        day=(day or _day_of_report()).isoformat(),
        lead=lead(ranking),
        example=example(ranking),
        tiers=tiers(ranking.items),
        limits=list(limits(ranking)),
        warnings=other_warnings(ranking),
        concerns=concerns(ranking.judges),
        steps=next_steps(ranking),
        figures={figure.name: figure for figure in drawn},
        specs={figure.name: figure.spec for figure in drawn},
        tables=tables,
        rows_at_first=ROWS_AT_FIRST,
        surprises=_surprises(ranking.pairs),
        verdicts=_verdict_counts(ranking.judges),
        agreement_is_chance=agreement_is_chance(ranking),
        judges_alike=model_named(ranking.model).judges == "equal",
        method=list(method(ranking)),
        solver=list(solver(ranking.fit)),
        command=command or f"import juryrank as jr\n\nranking = {ranking.call}",
        on_dark=ON_DARK,
        library=_library(),
    )


def _about(ranking: Ranking, title: str | None, source: str | None) -> list[str]:
    """What stands below the title, beside the date."""
    known = [headline(ranking) if title else None, source, counted(ranking.fit.votes, "vote")]
    return [part for part in known if part]


def _day_of_report() -> date:
    """Today, or the day that the environment sets for builds that are to be repeatable."""
    given = os.environ.get(DAY_OF_BUILD)
    if not given:
        return datetime.now().astimezone().date()
    try:
        return datetime.fromtimestamp(int(given), tz=UTC).date()
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"{DAY_OF_BUILD}={given!r} is no time in seconds since 1970. Mend the environment "
            "variable, or unset it."
        ) from None


def _tables(ranking: Ranking) -> dict[str, Table]:
    made = items_table(ranking), judges_table(ranking), pairs_table(ranking)
    return {table.name: table for table in made if table is not None}


def _verdict_counts(judges: pl.DataFrame) -> list[dict[str, Any]]:
    counts = dict(judges["verdict"].drop_nulls().value_counts().iter_rows())
    return [
        {"verdict": verdict, "count": counts[verdict], "colour": LOOK_OF_VERDICT[verdict][0]}
        for verdict in reversed(VERDICTS)
        if verdict in counts
    ]


def _surprises(pairs: pl.DataFrame) -> str:
    """How many pairs are surprising, and how many would be by chance."""
    telling = telling_pairs(pairs)
    if not len(telling):
        return f"No pair has the {LEAST_VOTES_OF_DOT} votes it takes to tell much."
    many = int((telling["surprise"].abs() > SURPRISING).sum())
    by_chance = 2.0 * float(ndtr(-SURPRISING)) * len(telling)
    return (
        f"{many:,} of {counted(len(telling), 'pair')} with at least {LEAST_VOTES_OF_DOT} votes "
        f"{'is' if many == 1 else 'are'} more than {SURPRISING:.0f} standard errors off; chance "
        f"alone would give about {by_chance:,.0f}."
    )


@cache
def _library() -> str:
    """The charting library as a script; it must not end the element that it stands in."""
    import vl_convert
    from altair import SCHEMA_VERSION

    language = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=language))
    return script.replace("</script", "<\\/script")
