"""`juryrank next`: which questions to ask next, and whom."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli.asking_options import MODEL, TO_ASK, Model, Target, split_off, table_at
from juryrank.cli.exits import exits_politely
from juryrank.cli.fitting import fitting, say_if_long, watcher
from juryrank.cli.help import EXPERTS
from juryrank.cli.model_options import Threads
from juryrank.cli.output_options import (
    AsJson,
    SafeCsv,
    TableOut,
    check_destinations,
    check_safe_csv,
    check_tables_kept,
    is_stdout,
    save_table,
)
from juryrank.cli.reading_options import with_source_or_nothing
from juryrank.cli.source import Source
from juryrank.cli.terminal.console import print_json, show
from juryrank.cli.terminal.messages import show_note, show_warning
from juryrank.cli.terminal.questions import questions_view
from juryrank.errors import InputError, JuryrankWarning, listing

if TYPE_CHECKING:
    import polars as pl

    from juryrank.ranking.ranking import Ranking
    from juryrank.reading.item_list import ItemList
    from juryrank.votes.votes import Votes

Count = Annotated[
    int,
    typer.Option(
        "--count", "-n", min=1, metavar="N", help="How many questions.", rich_help_panel=TO_ASK
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The judge whom all questions are for; without votes, a new one.",
        show_default="nobody in particular",
        rich_help_panel=TO_ASK,
    ),
]
JudgesCan = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=N][:COST],...",
        help="Choose whom to ask, too: judges, how many questions each can take, and what a "
        "question costs, such as 'ana=20,gpt:0.02'. May be repeated.",
        rich_help_panel=TO_ASK,
    ),
]
Items = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table with a column of items, or a .txt with a name in each line, of which some "
        "or all have no votes yet.",
        rich_help_panel=TO_ASK,
    ),
]
Retired = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="Ask no more about this item. May be repeated.",
        rich_help_panel=TO_ASK,
    ),
]
Pending = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table of questions that were asked: left, right, judge and, if there is one, "
        "status: out, skipped, expired or answered.",
        rich_help_panel=TO_ASK,
    ),
]
Barred = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table of what judges may not see: judge and item, or judge, left and right.",
        rich_help_panel=TO_ASK,
    ),
]
RandomShare = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        metavar="X",
        help="The share of questions that are drawn at random.",
        rich_help_panel=TO_ASK,
    ),
]
LeastViews = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Ask this many questions about each item first.",
        rich_help_panel=EXPERTS,
    ),
]
MostViews = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="At most this many questions about an item, including those answered.",
        show_default="no limit",
        rich_help_panel=EXPERTS,
    ),
]
Repeats = Annotated[
    bool,
    typer.Option(
        "--repeats",
        help="A judge may get a pair again, with its sides swapped.",
        rich_help_panel=EXPERTS,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="The same seed gives the same questions.",
        rich_help_panel=EXPERTS,
    ),
]

HOW_TO_NAME = (
    "Write NAME, NAME=QUESTIONS, NAME:COST or NAME=QUESTIONS:COST, such as ana=20 or gpt:0.02, and "
    "commas between several."
)


@exits_politely
@with_source_or_nothing
def next_questions(
    source: Source,
    count: Count = 10,
    judge: Judge = None,
    judges_can: JudgesCan = None,
    target: Target = "order",
    items: Items = None,
    retired: Retired = None,
    pending: Pending = None,
    barred: Barred = None,
    random_share: RandomShare = 0.15,
    model: Model = MODEL,
    least_views: LeastViews = 2,
    most_views: MostViews = None,
    repeats: Repeats = False,
    seed: Seed = 0,
    out: TableOut = None,
    safe_csv: SafeCsv = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Choose the questions to ask next: which pairs, and whom.

    Without votes, name the items with --items.

    Examples:
      juryrank next votes.csv -n 20
      juryrank next votes.csv -n 20 --judge ana --target top:3 --out pairs.csv
      juryrank next votes.csv -n 60 --judges-can 'ana=20,gpt:0.02' --pending asked.csv
      juryrank next --items items.csv -n 40
    """
    check_destinations(source, out)
    check_tables_kept(out, {"--items": items, "--pending": pending, "--barred": barred})
    check_safe_csv(safe_csv, out)
    if not source.paths and items is None:
        raise InputError(
            "There is nothing to ask about. Name a file of votes, or - for standard input, or name "
            "the items with --items FILE."
        )
    named = None if items is None else _items(items, source)
    wishes: dict[str, Any] = {
        "judge": judge,
        "judges": None if judges_can is None else _capacities(judges_can),
        "target": target,
        "items": None if named is None else named.items,
        "retired": retired,
        "pending": None if pending is None else table_at(pending, "--pending"),
        "barred": None if barred is None else table_at(barred, "--barred"),
        "random_share": random_share,
        "least_views": least_views,
        "most_views": most_views,
        "repeats": repeats,
        "seed": seed,
    }
    found, votes, said = _chosen(source, model, threads, count, wishes)
    save_table(found, "questions", out, safe_csv=safe_csv)
    if as_json:
        print_json(
            {
                "target": target,
                "questions": found.to_dicts(),
                "warnings": [*(() if named is None else named.warnings), *said],
                "reading": [] if votes is None else [one.to_dict() for one in votes.reading],
            }
        )
    elif not is_stdout(out):
        show(questions_view(found))


def _chosen(
    source: Source, model: str, threads: int | None, count: int, wishes: dict[str, Any]
) -> tuple[pl.DataFrame, Votes | None, list[str]]:
    """The questions, the votes that they follow from, and the warnings that were shown."""
    from juryrank.active.questions import chosen_pairs, next_pairs

    votes, new = None, []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", JuryrankWarning)
        if not source.paths:
            found = next_pairs([], count, **wishes)
        else:
            ranking = _ranked(source, model, threads)
            found, votes = chosen_pairs(ranking, count, **wishes), ranking.votes
            new = [*_new_judges(found, votes)]
    told = [str(one.message) for one in caught if issubclass(one.category, JuryrankWarning)]
    for note in new:
        show_note(note)
    for warning in told:
        show_warning(warning)
    return found, votes, [*(() if votes is None else votes.remarks), *told, *new]


def _new_judges(questions: pl.DataFrame, votes: Votes) -> Iterator[str]:
    """Say which judges are new, but for those whose names a warning is about."""
    from juryrank.active.people import alike

    voters = votes.judges
    asked = questions["judge"].drop_nulls().unique(maintain_order=True)
    new = asked.filter(~asked.is_in(voters.implode())).to_list()
    warned = {name for name, _ in alike(new, voters)}
    new = [judge for judge in new if str(judge) not in warned]
    if new:
        are = (
            "has cast no vote: it is taken for a new judge"
            if len(new) == 1
            else ("have cast no vote: they are taken for new judges")
        )
        yield f"{listing(new)} {are}."


def _ranked(source: Source, model: str, threads: int | None) -> Ranking:
    """Rank the votes; what is to be said of the ranking, `juryrank rank` says."""
    from juryrank.ranking.rank import rank as fit

    votes = source.read()
    say_if_long(votes, model, None)
    with fitting(f"Fitting {model}") as say:
        return fit(votes, model, by=None, threads=threads, progress=watcher(say))


def _items(path: Path, source: Source) -> ItemList:
    from juryrank.reading.item_list import read_items

    found = read_items(path, na_is_name=source.options["na_is_name"])
    show_note(found.said)
    for warning in found.warnings:
        show_warning(warning)
    return found


def _capacities(given: Sequence[str]) -> dict[str, tuple[int | None, float]]:
    """Judges, how many questions each can take (None: any number), and the cost of one."""
    found: dict[str, tuple[int | None, float]] = {}
    for text in (part.strip() for some in given for part in some.split(",")):
        rest, cost = split_off(text, ":")
        before, count = split_off(rest, "=")
        name = before.strip()
        try:
            number = int(count) if count else None
            price = 1.0 if cost is None else float(cost)
        except ValueError:
            raise InputError(f"--judges-can {text} is not understood. {HOW_TO_NAME}") from None
        if not name:
            raise InputError(f"--judges-can has a judge without a name: {text!r}. {HOW_TO_NAME}")
        if cost is not None and price == 0.0:
            raise InputError(
                f"--judges-can {text}: a question must cost more than 0. Write a cost with a "
                "point, such as gpt:0.02; a comma parts judges."
            )
        if name in found:
            raise InputError(f"--judges-can names {name!r} more than once.")
        found[name] = (number, price)
    return found
