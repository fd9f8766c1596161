"""Judges in a terminal: those of a ranking who are worth a look, and the report on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from juryrank.cli.terminal.headline import headline
from juryrank.cli.terminal.tables import bullet, label, table_of
from juryrank.errors import listing, number
from juryrank.judging.verdict_words import NEEDS_ATTENTION, VERDICTS
from juryrank.model.registry import model_named
from juryrank.text import literal

if TYPE_CHECKING:
    import polars as pl

    from juryrank.ranking.judge_report import JudgeReport
    from juryrank.ranking.ranking import Ranking

WIDEST_JUDGE = 24
JUDGES_SHOWN = 10


def judges_worth_a_look(ranking: Ranking) -> Iterator[RenderableType]:
    """Count the verdicts, and show the judges of a ranking who need attention."""
    if len(ranking.judges) < 2:
        return
    yield ""
    if not model_named(ranking.model).judges_differ:
        yield Text("This model treats all judges alike; hbtl, the default, tells them apart.")
        return
    if ranking.judges["verdict"].is_null().all():
        return
    yield Text.assemble(("Judges: ", "bold"), _counted_verdicts(ranking.judges))
    from juryrank.judging.verdicts import by_attention  # it needs numpy, which help does not

    worth = _worth_a_look(by_attention(ranking.judges))
    if not len(worth):
        return
    yield ""
    shown = worth.head(JUDGES_SHOWN)
    yield _judges_table(shown)
    yield ""
    yield from _reasons(shown)
    hidden = len(worth) - JUDGES_SHOWN
    if hidden > 0:
        yield Text(f"... and {hidden:,} more (juryrank judges shows all)", "dim")


def judge_report_view(report: JudgeReport, top: int) -> Iterator[RenderableType]:
    """Show whether judges differ, and each of them, those who need attention first."""
    yield headline(report.ranking)
    if report.heterogeneity is not None:
        yield ""
        yield Text(literal(report.heterogeneity.sentence), "bold")
    yield ""
    shown = report.table.head(top)
    more = {"agrees": "agreement", "moves": "influence"}
    if shown["median_time"].is_not_null().any():
        more[f"time/{report.ranking.time_unit}".removesuffix("/")] = "median_time"
    yield _judges_table(shown, **more)
    hidden = len(report.table) - top
    if hidden > 0:
        yield Text(f"... and {hidden:,} more (--top {len(report.table)} shows them)", "dim")
    yield ""
    yield from _reasons(shown)
    yield Text(
        "Agrees: the share of votes that agree with the ranking by all other judges, a tie "
        "counting half. Moves: the largest change of a rank without this judge "
        f"({report.influence}).{_about_time(shown)} --out FILE saves more."
    )


def _about_time(judges: pl.DataFrame) -> str:
    known = judges["median_time"].is_not_null().any()
    return " Time: the median time of a vote." if known else ""


def _worth_a_look(judges: pl.DataFrame) -> pl.DataFrame:
    return judges.filter(judges["verdict"].is_in(NEEDS_ATTENTION))


def _counted_verdicts(judges: pl.DataFrame) -> str:
    counts = dict(judges["verdict"].value_counts().iter_rows())
    return ", ".join(f"{counts[word]:,} {word}" for word in reversed(VERDICTS) if word in counts)


def _judges_table(judges: pl.DataFrame, **more: str) -> Table:
    """Judges with intervals and verdicts; `more` names further columns by their headings."""
    numbers = ("accuracy", "interval", "votes", *more)
    table = table_of("judge", *numbers, "verdict", right=(*numbers, "verdict"))
    table.columns[-1].justify = "left"
    for row in judges.iter_rows(named=True):
        low, high = row["accuracy_low"], row["accuracy_high"]
        table.add_row(
            label(row["judge"], WIDEST_JUDGE),
            f"{row['accuracy']:z.2f}",
            "-" if low is None else f"{low:z.2f} to {high:z.2f}",
            number(row["votes"]),
            *("-" if row[name] is None else _number_in(name, row[name]) for name in more.values()),
            row["verdict"],
        )
    return table


def _number_in(name: str, value: float) -> str:
    if name == "median_time":
        return f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.0%}"


def _reasons(judges: pl.DataFrame) -> Iterator[RenderableType]:
    """Why these judges need attention, together where the same is said of them."""
    worth = _worth_a_look(judges)
    for (verdict, reason), rows in worth.group_by("verdict", "reason", maintain_order=True):
        if len(rows) == 1:
            yield bullet(f"{rows['judge'][0]} ({verdict}) {reason}")
        else:
            yield bullet(f"{listing(rows['judge'].to_list())} ({verdict}): each {reason}")
