"""`juryrank judges`: how far each judge can be trusted, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli.exits import exits_politely
from juryrank.cli.fitting import fitting, say_if_long, watcher
from juryrank.cli.help import MODELLING, TO_WRITE
from juryrank.cli.model_options import (
    Confidence,
    Noise,
    Order,
    Tastes,
    Threads,
    Ties,
    check_confidence,
)
from juryrank.cli.output_options import (
    DEFAULT_TOP,
    MOST_SHOWN,
    AsJson,
    SafeCsv,
    TableOut,
    check_destinations,
    check_safe_csv,
    is_stdout,
    save_table,
    show_warnings,
)
from juryrank.cli.reading_options import with_source
from juryrank.cli.source import Source
from juryrank.cli.terminal.console import print_json, show
from juryrank.cli.terminal.judges import judge_report_view
from juryrank.model.registry import DEFAULT_MODEL, model_named, models_that

if TYPE_CHECKING:
    from juryrank.ranking.judge_report import JudgeReport
    from juryrank.votes.votes import Votes

Model = Annotated[
    str,
    typer.Option(
        help=f"{models_that(lambda model: model.has_accuracies, 'or')}.",
        metavar="NAME",
        rich_help_panel=MODELLING,
    ),
]
Top = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="How many judges to show.", rich_help_panel=TO_WRITE),
]


@exits_politely
@with_source
def judges(
    source: Source,
    model: Model = DEFAULT_MODEL,
    noise: Noise = None,
    tastes: Tastes = None,
    ties: Ties = None,
    order: Order = "none",
    confidence: Confidence = 0.95,
    top: Top = DEFAULT_TOP,
    out: TableOut = None,
    safe_csv: SafeCsv = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Say how far each judge can be trusted and why, those who need attention first.

    Examples:
      juryrank judges --example
      juryrank judges votes.csv --out judges.csv
    """
    model_named(model)
    check_confidence(confidence)
    check_destinations(source, out)
    check_safe_csv(safe_csv, out)
    votes = source.read()
    report = _judged(
        votes, model, noise=noise, tastes=tastes, ties=ties, order=order, confidence=confidence,
        threads=threads,
    )  # fmt: skip
    save_table(report.table, "judges", out, safe_csv=safe_csv)
    if as_json:
        print_json(report.to_dict())
    elif not is_stdout(out):
        show(judge_report_view(report, min(top, MOST_SHOWN)))
    show_warnings(report.ranking, said=votes.remarks)


def _judged(votes: Votes, model: str, **options: Any) -> JudgeReport:
    from juryrank.ranking.judge_report import judges as look_at

    say_if_long(votes, model, options["noise"])
    with fitting("Looking at judges") as say:  # its warnings are in ranking.warnings too
        return look_at(votes, model, **options, progress=watcher(say, without="fitting"))
