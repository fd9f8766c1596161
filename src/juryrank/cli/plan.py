"""`juryrank plan`: how many more votes it takes until a target is settled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from juryrank.cli.asking_options import MODEL, TO_ASK, Model, Target, split_off
from juryrank.cli.exits import exits_politely
from juryrank.cli.fitting import fitting, say_if_long, watcher
from juryrank.cli.model_options import Confidence, Threads, check_confidence
from juryrank.cli.output_options import (
    AsJson,
    SafeCsv,
    TableOut,
    check_destinations,
    check_safe_csv,
    is_stdout,
    save_table,
)
from juryrank.cli.reading_options import with_source
from juryrank.cli.source import Source
from juryrank.cli.terminal.console import print_json, show
from juryrank.errors import InputError
from juryrank.text import literal

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

Cost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JUDGE=COST,...",
        help="What a question costs this judge, such as gpt=0.02; a number alone is for all "
        "judges. May be repeated. Judges without a cost count as 1.",
        rich_help_panel=TO_ASK,
    ),
]
Most = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Look at most this many votes ahead.",
        rich_help_panel=TO_ASK,
    ),
]
Repeats = Annotated[
    bool | None,
    typer.Option(
        "--repeats/--no-repeats",
        help="Whether a judge may get a pair again.",
        show_default="as in the votes",
        rich_help_panel=TO_ASK,
    ),
]


@exits_politely
@with_source
def plan(
    source: Source,
    target: Target = "order",
    cost: Cost = None,
    most: Most = 10_000,
    repeats: Repeats = None,
    model: Model = MODEL,
    confidence: Confidence = 0.95,
    out: TableOut = None,
    safe_csv: SafeCsv = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Say how many more votes it takes until a target is settled, and what they cost.

    The votes are assumed to be on the questions that juryrank next would choose.

    Examples:
      juryrank plan votes.csv --target top:3
      juryrank plan votes.csv --target top:1 --cost gpt=0.02,ana=0.5
    """
    check_confidence(confidence)
    check_destinations(source, out)
    check_safe_csv(safe_csv, out)
    costs = None if cost is None else _costs(cost)
    ranking = _ranked(source, model, confidence, threads)
    found = ranking.plan(target, cost=costs, most=most, repeats=repeats)
    save_table(found.unsettled, "open pairs", out, safe_csv=safe_csv)
    if as_json:
        print_json(
            {
                **found.to_dict(),
                "warnings": list(ranking.votes.remarks),
                "reading": [one.to_dict() for one in ranking.reading],
            }
        )
    elif not is_stdout(out):
        show([Text(literal(found))])


def _ranked(source: Source, model: str, confidence: float, threads: int | None) -> Ranking:
    from juryrank.ranking.rank import rank as fit

    votes = source.read()
    say_if_long(votes, model, None)
    with fitting(f"Fitting {model}") as say:
        return fit(
            votes, model, by=None, confidence=confidence, threads=threads, progress=watcher(say)
        )


def _costs(given: Sequence[str]) -> dict[str, float] | float:
    found: dict[str, float] = {}
    parts = [part.strip() for some in given for part in some.split(",")]
    for text in parts:
        before, cost = split_off(text, "=")
        name = before.strip()
        if not name:
            raise InputError(
                f"--cost has a judge without a name: {text!r}. Write JUDGE=COST, such as gpt=0.02, "
                "or a number for all judges, and a point in a cost: a comma parts judges."
            )
        try:
            price = float(name if cost is None else cost)
        except ValueError:
            raise InputError(
                f"--cost {text} is not understood. Write JUDGE=COST, such as gpt=0.02, or a number "
                "for all judges."
            ) from None
        if cost is None and len(parts) == 1:
            return price
        if cost is None:
            raise InputError(f"--cost {text} is for all judges, but other costs are given too.")
        if name in found:
            raise InputError(f"--cost names {name!r} more than once.")
        found[name] = price
    return found
