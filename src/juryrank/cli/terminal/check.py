"""What is in the votes, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from juryrank.cli.terminal.tables import bullet
from juryrank.errors import counted, listing, number

if TYPE_CHECKING:
    from juryrank.reading.checks import Check, Spread


def check_view(check: Check) -> Iterator[RenderableType]:
    """Show the verdict, what was counted, and what the user should know."""
    yield Text(check.verdict, "bold green" if check.can_rank_without_prior else "bold yellow")
    yield ""
    yield _counts_table(check)
    findings = list(_findings(check))
    if findings:
        yield ""
        yield Text("Worth knowing", "bold")
        yield from (bullet(finding) for finding in findings)


def _counts_table(check: Check) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column()
    table.add_row("items", f"{check.items:,}", _per(check.votes_per_item))
    table.add_row("judges", f"{check.judges:,}", _per(check.votes_per_judge))
    table.add_row("votes", f"{check.votes:,}")
    if check.lists:
        table.add_row("rankings", f"{check.lists:,}", _lengths(check))
    bad = f"{check.both_bad:,} of them: both bad" if check.both_bad else ""
    table.add_row("ties", f"{check.ties:,}", bad)
    by = listing(check.repeats_by)
    if check.repeats:
        table.add_row(
            "repeats", f"{check.repeats:,}", f"same judge, pair and outcome, but another {by}"
        )
    doubt = f"; {by} may set them apart" if check.duplicates and by and not check.repeats else ""
    table.add_row("duplicates", f"{check.duplicates:,}", f"same judge, pair and outcome{doubt}")
    if check.weight != check.votes:
        table.add_row("total weight", number(check.weight), "of the votes")
    table.add_row("rows left out", f"{check.left_out.total:,}")
    return table


def _lengths(check: Check) -> str:
    """How long the rankings (and choices) are."""
    spread = check.items_per_list
    if spread.min == spread.max:
        return f"or choices, {counted(spread.min, 'item')} each"
    return (
        f"or choices, {spread.min:,} to {spread.max:,} items each, median {number(spread.median)}"
    )


def _per(spread: Spread) -> str:
    if spread.min == spread.max:
        return f"{counted(spread.min, 'vote')} each"
    return f"{spread.min:,} to {spread.max:,} votes each, median {number(spread.median)}"


def _findings(check: Check) -> Iterator[str]:
    yield from (f"{sentence[:1].upper()}{sentence[1:]}." for sentence in check.connection)
    if check.lone_judges:
        named = ", ".join(str(judge) for judge in check.first_lone_judges)
        more = check.lone_judges - len(check.first_lone_judges)
        yield (
            f"{check.lone_judges:,} of {check.judges:,} judges share no pair with any other judge: "
            f"{named}{f' and {more:,} more' if more else ''}."
        )
    yield from check.left_out.sentences
    yield from check.notices
