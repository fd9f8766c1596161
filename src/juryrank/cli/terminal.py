"""How results look in a terminal. Labels come from data: they are shown, never interpreted."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from juryrank.errors import counted, listing, number, percent
from juryrank.judging.verdict_words import NEEDS_ATTENTION, VERDICTS
from juryrank.model.registry import model_named
from juryrank.progress import Pace
from juryrank.text import literal

if TYPE_CHECKING:
    import polars as pl

    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.comparison import Comparison
    from juryrank.ranking.judge_report import JudgeReport
    from juryrank.ranking.ranking import Ranking
    from juryrank.reading.checks import Check, Spread

NARROWEST_PIPE = 80
WIDEST_LABEL = 40
WIDEST_JUDGE = 24
NARROWEST_BAR, WIDEST_BAR = 8, 44
JUDGES_SHOWN = 10
MOST_GROUPS = 5
PATIENCE = 0.4
"""Seconds before anything is said about how far the work has got."""


class Say(Protocol):
    """Tell what is being done now, and how much of it is done, if that is known."""

    def __call__(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Tell it."""


# --- where it goes -------------------------------------------------------------------------------


def console(*, stderr: bool = False) -> Console:
    """Make a console that takes no text for markup and is wide enough when piped."""
    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, NARROWEST_PIPE)
    return made


def show_error(message: str) -> None:
    """Print an error to stderr."""
    _print_line(Text("Error: ", "bold red"), message)


def show_warning(message: str) -> None:
    """Print a warning to stderr."""
    _print_line(Text("Warning: ", "bold yellow"), message)


def show_note(message: str) -> None:
    """Print a line for people to stderr."""
    _print_line(Text(""), message)


def _print_line(start: Text, message: str) -> None:
    console(stderr=True).print(Text.assemble(start, literal(message)), soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[Say]:
    """Show on stderr what takes so long, if it does.

    In a terminal that is a bar with the time that is left. Elsewhere it is a line now and then,
    from when the work is seen to take more than a minute.
    """
    errors = console(stderr=True)
    if not (sys.stderr.isatty() and errors.is_interactive):
        yield _in_lines(Pace())
        return
    # Names of files are no markup either.
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    bar = [BarColumn(), TimeRemainingColumn(), TimeElapsedColumn()]
    display = Progress(*columns, *bar, console=errors, transient=True)
    task = display.add_task(literal(what), total=None)
    timer = Timer(PATIENCE, display.start)
    timer.daemon = True
    timer.start()
    try:
        yield _in_a_bar(display, task)
    finally:
        timer.cancel()
        timer.join()
        display.stop()


def _in_lines(pace: Pace) -> Say:
    def say(text: str, done: int | None = None, total: int | None = None) -> None:
        line = pace.line(text, done, total)
        if line:
            show_note(line)

    return say


def _in_a_bar(display: Progress, task: TaskID) -> Say:
    def say(text: str, done: int | None = None, total: int | None = None) -> None:
        nonlocal task
        if display.tasks[0].total != total:  # another piece of work, with a pace of its own
            display.remove_task(task)
            task = display.add_task("", total=total)
        display.update(task, description=literal(text), completed=done or 0)

    return say


# --- labels and numbers --------------------------------------------------------------------------


def label(value: object, widest: int = WIDEST_LABEL) -> Text:
    """Give a label on one line, cut if it is long."""
    text = Text(literal(value), no_wrap=True)
    text.truncate(widest, overflow="ellipsis")
    return text


def _decimals(values: Sequence[float]) -> int:
    """How many decimals it takes to tell the values apart."""
    widest = max(values) - min(values)
    return min(4, max(2, 2 - math.floor(math.log10(widest)))) if widest > 0.0 else 2


# --- a ranking -----------------------------------------------------------------------------------


def answer_view(answer: Ranking | Rankings, top: int) -> Iterator[RenderableType]:
    """Show a ranking, or those of all values of a column."""
    from juryrank.ranking.by_value import Rankings  # it needs polars

    if isinstance(answer, Rankings):
        return rankings_view(answer, top)
    return ranking_view(answer, top)


def rankings_view(rankings: Rankings, top: int) -> Iterator[RenderableType]:
    """Show what there is of each value, and then its ranking below a heading."""
    yield _overview_table(rankings)
    for value in rankings:
        heading = Text(literal(f"{rankings.by}: {value}"), "bold underline")
        yield from ("", heading, *ranking_view(rankings[value], top))


def _overview_table(rankings: Rankings) -> Table:
    numbers = ("votes", "items", "judges")
    table = _table(rankings.by, *numbers, "first", right=numbers)
    for value, *counts, first, error in rankings.overview.rows():
        sizes = ("-" if count is None else f"{count:,}" for count in counts)
        told = f"not ranked: {error}" if error else str(first)
        table.add_row(label(value), *sizes, Text(literal(told), "" if first else "yellow"))
    return table


def ranking_view(ranking: Ranking, top: int) -> Iterator[RenderableType]:
    """Show the best items with their scores as bars, then the judges worth a look."""
    yield _headline(ranking)
    yield ""
    for items in ranking.groups[:MOST_GROUPS] or [ranking.items]:
        if ranking.groups:
            yield Text(f"Group {items['group'][0]:,}: {counted(len(items), 'item')}", "bold")
        yield _items_table(ranking, items.head(top))
        hidden = len(items) - top
        if hidden > 0:
            yield Text(f"... and {hidden:,} more (--top {len(items)} shows them)", "dim")
        yield ""
    further = len(ranking.groups) - MOST_GROUPS
    if further > 0:
        yield Text(f"... and {counted(further, 'more group')} (--out writes them all)\n", "dim")
    from juryrank.report.sentences import (  # they need polars
        effects_in_words,
        example,
        scale_in_words,
        tastes_in_words,
        tiers_in_words,
    )

    sentences = (
        *tiers_in_words(ranking), example(ranking), *scale_in_words(ranking),
        *effects_in_words(ranking), *tastes_in_words(ranking),
    )  # fmt: skip
    yield from (Text(literal(sentence)) for sentence in sentences)
    yield from _judges_view(ranking)


def _headline(ranking: Ranking) -> Text:
    sizes = (
        counted(len(ranking.items), "item"),
        counted(len(ranking.judges), "judge"),
        ranking.fit.votes_in_words,
    )
    model = model_named(ranking.model)
    return Text.assemble((", ".join(sizes), "bold"), f"\nModel {model.name}: {model.title}")


def _items_table(ranking: Ranking, shown: pl.DataFrame) -> Table:
    ends = shown.select("score", "score_low", "score_high")
    zero = ranking.scale.average
    scores = [value - zero for row in ends.iter_rows() for value in row if value is not None]
    low, high = min(0.0, *scores), max(0.0, *scores)
    written = _as_points if ranking.scale.name == "elo" else _as_scores([*shown["score"], 0.0], low)
    known = shown["score_low"].is_not_null().all()
    names = ("rank", "item", "score", *((_confidence(ranking), "ranks", "tier") if known else ()))
    table = _table(*names, "", right=[name for name in names if name != "item"])
    _let_bars_give_way(table)
    for row in shown.iter_rows(named=True):
        score, *interval = (written(row[name]) for name in ends.columns if known or (
            name == "score"))  # fmt: skip
        beyond = (f"{interval[0]} to {interval[1]}", _span(row), str(row["tier"])) if known else ()
        table.add_row(
            f"{row['rank']:,}", label(row["item"]), score, *beyond,
            ScoreBar(row["score"] - zero, low, high),
        )  # fmt: skip
    return table


def _let_bars_give_way(table: Table) -> None:
    """Give the last column what the others leave; labels cut short can be mistaken for others."""
    table.expand = True
    table.columns[-1].ratio = 1


def _confidence(ranking: Ranking) -> str:
    return f"{percent(ranking.fit.confidence)} interval"


def _as_scores(values: Sequence[float], low: float) -> Callable[[float], str]:
    """Write scores with as many decimals as tell them apart, and signs if some are negative."""
    sign, decimals = "+" if low < 0.0 else "", _decimals(values)
    return lambda value: f"{value:{sign}z.{decimals}f}"


def _as_points(value: float) -> str:
    return f"{value:z.0f}"


def _span(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _table(*columns: str, right: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        # Where it is narrow, labels give way, numbers do not.
        is_number = name in right
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of numbers, all to the right."""
    table = _table(*header, right=header)
    for row in rows:
        table.add_row(*row)
    return table


@dataclass(frozen=True)
class ScoreBar:
    """A score as a bar that starts at zero; it takes the width it is given, if that will do."""

    score: float
    low: float
    high: float
    """The lowest and highest score (or zero) among those shown."""

    def __rich_measure__(self, _console: Console, options: ConsoleOptions) -> Measurement:
        widest = min(WIDEST_BAR, options.max_width)
        return Measurement(min(NARROWEST_BAR, widest), widest)

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < NARROWEST_BAR:
            yield Text("", end="")
            return
        cells = min(WIDEST_BAR, options.max_width) - 1
        span = self.high - self.low
        left = round(cells * -self.low / span) if span else 0
        halves = round(2 * cells * abs(self.score) / span) if span else 0
        full, start, end, axis = "==-|" if options.ascii_only else "━╺╸│"
        if self.score < 0.0:
            bar = (start * (halves % 2) + full * (halves // 2))[-left:] if left else ""
            yield Text.assemble((bar.rjust(left), "magenta"), (axis, "dim"), end="")
        else:
            bar = (full * (halves // 2) + end * (halves % 2))[: cells - left]
            yield Text.assemble(" " * left, (axis, "dim"), (bar, "cyan"), end="")


def _judges_view(ranking: Ranking) -> Iterator[RenderableType]:
    if len(ranking.judges) < 2:
        return
    yield ""
    if not model_named(ranking.model).judges_differ:
        yield Text("This model treats all judges alike; hbtl, the default, tells them apart.")
        return
    if ranking.judges["verdict"].is_null().all():
        return
    yield Text.assemble(("Judges: ", "bold"), _counted_verdicts(ranking.judges))
    from juryrank.judging.verdicts import by_attention  # it needs numba, which help does not

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


def _worth_a_look(judges: pl.DataFrame) -> pl.DataFrame:
    return judges.filter(judges["verdict"].is_in(NEEDS_ATTENTION))


def _counted_verdicts(judges: pl.DataFrame) -> str:
    counts = dict(judges["verdict"].value_counts().iter_rows())
    return ", ".join(f"{counts[word]:,} {word}" for word in reversed(VERDICTS) if word in counts)


def _judges_table(judges: pl.DataFrame, **more: str) -> Table:
    """Judges with intervals and verdicts; `more` names further columns by their headings."""
    numbers = ("accuracy", "interval", "votes", *more)
    table = _table("judge", *numbers, "verdict", right=(*numbers, "verdict"))
    table.columns[-1].justify = "left"
    for row in judges.iter_rows(named=True):
        low, high = row["accuracy_low"], row["accuracy_high"]
        table.add_row(
            label(row["judge"], WIDEST_JUDGE),
            f"{row['accuracy']:z.2f}",
            "-" if low is None else f"{low:z.2f} to {high:z.2f}",
            number(row["votes"]),
            *("-" if row[name] is None else _short(name, row[name]) for name in more.values()),
            row["verdict"],
        )
    return table


def _short(name: str, value: float) -> str:
    if name == "median_time":
        return f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.0%}"


def _reasons(judges: pl.DataFrame) -> Iterator[RenderableType]:
    """Why these judges need attention, together where the same is said of them."""
    worth = _worth_a_look(judges)
    for (verdict, reason), rows in worth.group_by("verdict", "reason", maintain_order=True):
        if len(rows) == 1:
            yield _bullet(f"{rows['judge'][0]} ({verdict}) {reason}")
        else:
            yield _bullet(f"{listing(rows['judge'].to_list())} ({verdict}): each {reason}")


def report_view(report: JudgeReport, top: int) -> Iterator[RenderableType]:
    """Show whether judges differ, and each of them, those who need attention first."""
    yield _headline(report.ranking)
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
    return " Time: that of a vote, by the median." if known else ""


# --- a check -------------------------------------------------------------------------------------


def check_view(check: Check) -> Iterator[RenderableType]:
    """Show the verdict, what was counted, and what the user should know."""
    yield Text(check.verdict, "bold green" if check.can_rank_without_prior else "bold yellow")
    yield ""
    yield _counts_table(check)
    findings = list(_findings(check))
    if findings:
        yield ""
        yield Text("Worth knowing", "bold")
        yield from (_bullet(finding) for finding in findings)


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
        table.add_row("repeats", f"{check.repeats:,}", f"judge, pair and outcome again, other {by}")
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


def _bullet(sentence: str) -> Table:
    line = Table.grid("", Column(overflow="fold"), padding=(0, 1, 0, 0))
    line.add_row("-", Text(literal(sentence)))
    return line


# --- a comparison --------------------------------------------------------------------------------


def comparison_view(comparison: Comparison) -> Iterator[RenderableType]:
    """Show the models, the best first, with what each loses against the best."""
    done = f"{counted(comparison.votes, 'vote')}, {comparison.folds} folds, seed {comparison.seed}"
    yield Text.assemble(("How well models predict unseen votes", "bold"), f" ({done})")
    yield ""
    yield _models_table(comparison)
    yield ""
    yield Text(
        f"Log-loss: lower is better, and {comparison.guessing:.3f} is what guessing gets. Worse "
        "by: the log-loss above the best model's, with its standard error."
    )
    for row in comparison.table.iter_rows(named=True):
        if row["note"]:
            yield _bullet(f"{row['model']} {row['note']}")


def _models_table(comparison: Comparison) -> Table:
    numbers = ("log-loss", "predicted right", "worse by")
    table = _table("model", *numbers, right=numbers)
    for row in comparison.table.iter_rows(named=True):
        if row["log_loss"] is None:
            table.add_row(row["model"], "-", "-", "could not be fitted")
            continue
        table.add_row(
            row["model"],
            f"{row['log_loss']:.4f}",
            f"{row['correct']:.1%}",
            f"{row['worse_by']:.4f} ± {row['worse_by_se']:.4f}" if row["worse_by"] else "best",
        )
    return table
