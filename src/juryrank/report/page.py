"""The report as one HTML page that needs nothing else: words, charts, tables, and their scripts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import polars as pl
import scipy

from juryrank.charts.judges import LOOK_OF_VERDICT
from juryrank.charts.pairs import LEAST_VOTES_OF_DOT
from juryrank.errors import InputError, counted
from juryrank.judging.verdict_words import VERDICTS
from juryrank.model.registry import model_named
from juryrank.report.decision import concerns, next_steps, other_warnings, tiers
from juryrank.report.figures import Figure, agreement_is_chance, figures
from juryrank.report.method import method, reliability, solver
from juryrank.report.sentences import example, headline, lead, limits
from juryrank.report.tables import (
    ROWS_AT_FIRST,
    Table,
    details_table,
    items_tables,
    judges_table,
    pairs_table,
    telling_pairs,
)
from juryrank.text import literal
from juryrank.writing.needed_packages import check_report_can_be_made

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.ranking import Ranking

LARGE_RESIDUAL = 2.0
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
_LOOK = {"on_dark": ON_DARK, "rows_at_first": ROWS_AT_FIRST}


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
    pages, content = _pages(), _Content(ranking)
    return pages.get_template("page.html").render(
        title=title or headline(ranking),
        about=_about(ranking, title, source),
        day=(day or _day_of_report()).isoformat(),
        first="answer",
        values=[],
        report=content.html(pages, command or f"import juryrank as jr\n\nranking = {ranking.call}"),
        tables=content.tables,
        specs=content.specs,
        **_LOOK,
        library=_library(),
    )


def report_by_value(
    rankings: Rankings,
    command: str | None = None,
    *,
    title: str | None = None,
    source: str | None = None,
    day: date | None = None,
) -> str:
    """The page with a part for each value that was ranked apart, and an index of them.

    The arguments are those of `report`.
    """
    pages = _pages()
    ids = [f"value-{number}" for number in range(1, len(rankings.overview) + 1)]
    rows = zip(ids, rankings.overview.rows(), strict=True)
    values = [_ValueOnPage(rankings, *row) for row in rows]
    contents = [value.content for value in values if value.content is not None]
    votes = counted(float(rankings.overview["votes"].sum()), "vote")
    heading = f"Rankings by {rankings.by}"
    return pages.get_template("page.html").render(
        title=title or heading,
        about=[part for part in (heading if title else None, source, votes) if part],
        day=(day or _day_of_report()).isoformat(),
        first=ids[0],
        by=rankings.by,
        values=[value.rendered(pages) for value in values],
        warnings=rankings.general_warnings,
        command=command or f"import juryrank as jr\n\nrankings = {rankings.call}",
        tables={name: table for one in contents for name, table in one.tables.items()},
        specs={name: spec for one in contents for name, spec in one.specs.items()},
        **_LOOK,
        library=_library(),
    )


def _pages() -> Environment:
    check_report_can_be_made()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("juryrank.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    pages.filters["literal"] = literal
    return pages


@dataclass(frozen=True)
class _Content:
    """What the page says of one ranking; the names of its charts and tables begin with `prefix`."""

    ranking: Ranking
    prefix: str = ""
    whose: str = ""
    """The id of the heading above, if there are several rankings."""

    @cached_property
    def figures(self) -> dict[str, Figure]:
        return {figure.name: figure for figure in figures(self.ranking)}

    @cached_property
    def _own_tables(self) -> dict[str, Table]:
        return _tables(self.ranking)

    @property
    def specs(self) -> dict[str, Any]:
        """The charts by their names on the page."""
        return {f"{self.prefix}{name}": figure.spec for name, figure in self.figures.items()}

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by their names on the page."""
        return {f"{self.prefix}{name}": table for name, table in self._own_tables.items()}

    def html(self, pages: Environment, command: str | None) -> Markup:
        """Words, tables, and where charts go."""
        from markupsafe import Markup

        ranking = self.ranking
        return Markup(  # noqa: S704  the template has escaped every label
            pages.get_template("report.html").render(
                prefix=self.prefix,
                whose=f"{self.whose} " if self.whose else "",
                level=3 if self.whose else 2,
                lead=lead(ranking),
                example=example(ranking),
                tiers=tiers(ranking.items),
                limits=list(limits(ranking)),
                warnings=other_warnings(ranking),
                concerns=concerns(ranking.judges),
                steps=next_steps(ranking),
                figures=self.figures,
                tables=self._own_tables,
                of_items=[name for name in self._own_tables if name.startswith("items")],
                residuals=_residuals(ranking.pairs),
                verdicts=_verdict_counts(ranking.judges),
                agreement_is_chance=agreement_is_chance(ranking),
                one_judge=len(ranking.judges) == 1,
                judges_alike=not model_named(ranking.model).judges_differ,
                method=list(method(ranking)),
                reliability=list(reliability(ranking)),
                solver=list(solver(ranking.fit)),
                command=command,
            )
        )


class _ValueOnPage:
    """A value on the page, which was ranked or not."""

    def __init__(self, rankings: Rankings, name: str, row: Sequence[Any]) -> None:
        self._name = name
        self._value, votes, items, judges, first, error = row
        self.content = None
        self._about = f"not ranked: {error}"
        if error is None:
            sizes = counted(votes, "vote"), counted(items, "item"), counted(judges, "judge")
            self._about = f"{', '.join(sizes)}; first: {first}"
            self.content = _Content(rankings[self._value], f"{name}-", f"{name}-title")

    def rendered(self, pages: Environment) -> dict[str, Any]:
        """What the index and the part of the page need."""
        report = "" if self.content is None else self.content.html(pages, None)
        return {"id": self._name, "value": self._value, "about": self._about, "report": report}


def _about(ranking: Ranking, title: str | None, source: str | None) -> list[str]:
    """What stands below the title, beside the date."""
    known = [headline(ranking) if title else None, source, ranking.fit.votes_in_words]
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
            f"{DAY_OF_BUILD}={given!r} is not a time in seconds since 1970. Correct the "
            "environment variable, or unset it."
        ) from None


def _tables(ranking: Ranking) -> dict[str, Table]:
    made = (
        *items_tables(ranking), judges_table(ranking), details_table(ranking), pairs_table(ranking),
    )  # fmt: skip
    return {table.name: table for table in made if table is not None}


def _verdict_counts(judges: pl.DataFrame) -> list[dict[str, Any]]:
    counts = dict(judges["verdict"].drop_nulls().value_counts().iter_rows())
    return [
        {"verdict": verdict, "count": counts[verdict], "colour": LOOK_OF_VERDICT[verdict][0]}
        for verdict in reversed(VERDICTS)
        if verdict in counts
    ]


def _residuals(pairs: pl.DataFrame) -> str:
    """How many pairs are surprising, and how many would be by chance."""
    telling = telling_pairs(pairs)
    if not len(telling):
        return f"No pair has the {LEAST_VOTES_OF_DOT} votes it takes to tell much."
    many = int((telling["residual"].abs() > LARGE_RESIDUAL).sum())
    by_chance = 2.0 * float(scipy.special.ndtr(-LARGE_RESIDUAL)) * len(telling)
    return (
        f"{many:,} of {counted(len(telling), 'pair')} with at least {LEAST_VOTES_OF_DOT} votes "
        f"{'is' if many == 1 else 'are'} more than {LARGE_RESIDUAL:.0f} standard errors off; "
        f"chance alone would give about {by_chance:,.0f}."
    )


@cache
def _library() -> str:
    """The charting library as a script; it must not end the element that it stands in."""
    import vl_convert
    from altair import SCHEMA_VERSION

    language = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=language))
    return script.replace("</script", "<\\/script")
