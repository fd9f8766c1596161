"""The options that say how to read votes, shared by every command that reads them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any, Literal

import typer

from juryrank.cli.help import READING, TO_RANK, HelpAll
from juryrank.cli.source import Source
from juryrank.data import EXAMPLE_VOTES
from juryrank.errors import InputError, listing
from juryrank.memory_size import size_in_bytes


def _column(of: str) -> Any:
    return typer.Option(help=f"The column of {of}.", metavar="COLUMN", rich_help_panel=READING)


VotesFrom = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VOTES",
        help="A file (CSV, TSV, JSON, NDJSON, Parquet, Arrow, PrefLib; also as .gz or .zst; "
        ".xlsx, .ods), a folder, .zip or quoted glob of such files, or - for standard input. "
        "Several are joined.",
        rich_help_panel=TO_RANK,
    ),
]
Example = Annotated[
    bool,
    typer.Option(
        "--example",
        help="Instead of VOTES: the example, 9 judges on 8 assistants.",
        rich_help_panel=TO_RANK,
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="Read only rows that satisfy it, such as 'language == \"de\" and round > 3'.",
        rich_help_panel=TO_RANK,
    ),
]
JudgeColumn = Annotated[str | None, _column("judges")]
WinnerColumn = Annotated[str | None, _column("winners, outcomes or choices")]
LoserColumn = Annotated[str | None, _column("losers")]
LeftColumn = Annotated[str | None, _column("items shown on the left")]
RightColumn = Annotated[str | None, _column("items shown on the right")]
RankingColumn = Annotated[
    str | None,
    _column("rankings (a > b = c, or lists); with a row for each item, that of ranking ids"),
]
SetsColumn = Annotated[str | None, _column("sets: the items the judge saw (a | b | c, or lists)")]
ItemColumn = Annotated[str | None, _column("items, where there is a row for each item")]
PositionColumn = Annotated[str | None, _column("the items' positions there, 1 for the best")]
RatingColumn = Annotated[
    str | None, _column("ratings there, compared if they are by the same judge; higher is better")
]
LowerIsBetter = Annotated[
    bool,
    typer.Option(
        "--lower-is-better", help="The lower rating is the better one.", rich_help_panel=READING
    ),
]
ItemColumns = Annotated[
    list[str] | None,
    typer.Option(
        help="The columns of a survey that has one for each item, or the question before their "
        "brackets. May be repeated.",
        metavar="COLUMN,...",
        rich_help_panel=READING,
    ),
]
JudgeColumns = Annotated[
    list[str] | None,
    typer.Option(
        help="The columns of judges, where there is one for each, and a row for each pair or "
        "item. May be repeated.",
        metavar="COLUMN,...",
        rich_help_panel=READING,
    ),
]
Cells = Annotated[
    Literal["position", "rating"] | None,
    typer.Option(
        help="What the cells of such tables are: positions, 1 being the best, or ratings.",
        rich_help_panel=READING,
    ),
]
Counts = Annotated[
    Literal["rows", "columns"],
    typer.Option(
        help="In a table of counts, item by item: whether they are wins of the items of the "
        "rows or of the columns.",
        rich_help_panel=READING,
    ),
]
WeightColumn = Annotated[str | None, _column("weights")]
TieColumn = Annotated[
    str | None, _column("whether the two items are tied (yes or no, true or false, 1 or 0)")
]
OutcomeMap = Annotated[
    list[str] | None,
    typer.Option(
        help="What words in the outcome column mean (left, right, tie, both_bad or skip), such "
        "as 'Left wins=left,both=tie'. May be repeated.",
        metavar="WORD=MEANING",
        rich_help_panel=READING,
    ),
]
JudgePerRow = Annotated[
    bool,
    typer.Option(
        "--judge-per-row",
        help="Take every row, or ranking, as a judge of its own.",
        rich_help_panel=READING,
    ),
]
JudgePerFile = Annotated[
    bool,
    typer.Option(
        "--judge-per-file",
        help="Take the name of each file as the judge of its votes.",
        rich_help_panel=READING,
    ),
]
InPairs = Annotated[
    bool,
    typer.Option(
        "--in-pairs",
        help="Break rankings into the pairs they imply, as if these were independent votes: "
        "intervals come out too narrow.",
        rich_help_panel=READING,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Leave bad rows out and count them, instead of stopping.",
        rich_help_panel=READING,
    ),
]
SkipMost = Annotated[
    bool,
    typer.Option(
        "--skip-most",
        help="Leave bad rows out even if they are more than half.",
        rich_help_panel=READING,
    ),
]
UnpackAll = Annotated[
    bool,
    typer.Option(
        "--unpack-all",
        help="Unpack a compressed file or an archive however large it becomes.",
        rich_help_panel=READING,
    ),
]
NaIsName = Annotated[
    bool,
    typer.Option(
        "--na-is-name",
        help="Take N/A, NaN, null and the like as names of items or judges.",
        rich_help_panel=READING,
    ),
]
MergeNames = Annotated[
    bool,
    typer.Option(
        "--merge-names",
        help="Merge names of items and judges that differ only by case, blanks, the composition "
        "of accents or invisible characters.",
        rich_help_panel=READING,
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="csv, tsv, json, ndjson, parquet, arrow, soc, xlsx or ods, if content and ending "
        "do not tell.",
        metavar="NAME",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="The encoding of text, such as cp1252.",
        metavar="NAME",
        show_default="UTF-8, or a guess that is said",
        rich_help_panel=READING,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        help="The sheet of a spreadsheet.",
        metavar="NAME",
        show_default="the first",
        rich_help_panel=READING,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="For votes on pairs that are larger than memory: how much to use for reading, "
        "such as 1GB, besides about 400 MB for the program itself. The votes are then kept in "
        "the folder for temporary files (TMPDIR).",
        metavar="SIZE",
        rich_help_panel=READING,
    ),
]
HELP_ALL = inspect.Parameter(
    "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll
)


JUDGE_COLUMN = Annotated[
    str | None,
    typer.Option(
        "--judge-column",
        help="The column of judges.",
        metavar="COLUMN",
        rich_help_panel=READING,
    ),
]
"""For commands whose --judge is a judge."""


def with_source(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument VOTES and the reading options, as one argument `source`."""
    return _with_source(command, needed=True)


def with_source_or_nothing(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that can do without votes: `source` has no paths if none are named."""
    return _with_source(command, needed=False)


def _with_source(command: Callable[..., None], *, needed: bool) -> Callable[..., None]:
    reading = dict(inspect.signature(_source, eval_str=True).parameters)
    own = inspect.signature(command, eval_str=True).parameters
    called = {name: "judge_column" if name == "judge" in own else name for name in reading}
    if "judge" in own:
        column = reading["judge"].replace(name="judge_column", annotation=JUDGE_COLUMN)
        reading["judge"] = column
    votes, example, where, *how_to_read = reading.values()

    @wraps(command)
    def with_options(**given: Any) -> None:
        del given["help_all"]
        asked = {name: given.pop(called[name]) for name in reading}
        named = needed or asked["votes"] or asked["example"]
        source = _source(**asked if named else {**asked, "example": True})
        command(source=source if named else replace(source, paths=()), **given)

    options = [own[name] for name in own if name != "source"]
    shown = [votes, example, where, *options, *how_to_read, HELP_ALL]
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
    )
    return with_options


def _source(
    votes: VotesFrom = None,
    example: Example = False,
    where: Where = None,
    judge: JudgeColumn = None,
    winner: WinnerColumn = None,
    loser: LoserColumn = None,
    left: LeftColumn = None,
    right: RightColumn = None,
    ranking: RankingColumn = None,
    options: SetsColumn = None,
    item: ItemColumn = None,
    position: PositionColumn = None,
    rating: RatingColumn = None,
    lower_is_better: LowerIsBetter = False,
    item_columns: ItemColumns = None,
    judge_columns: JudgeColumns = None,
    cells: Cells = None,
    counts: Counts = "rows",
    weight: WeightColumn = None,
    tie: TieColumn = None,
    outcome_map: OutcomeMap = None,
    judge_per_row: JudgePerRow = False,
    judge_per_file: JudgePerFile = False,
    in_pairs: InPairs = False,
    skip_bad: SkipBad = False,
    skip_most: SkipMost = False,
    unpack_all: UnpackAll = False,
    na_is_name: NaIsName = False,
    merge_names: MergeNames = False,
    file_format: FileFormat = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    memory: Memory = None,
) -> Source:
    meanings = _meanings(outcome_map or ())
    if memory is not None:
        size_in_bytes(memory)
    named = {"judge": judge, "winner": winner, "loser": loser, "left": left, "right": right}
    named |= {"ranking": ranking, "options": options, "item": item, "position": position}
    how = {
        "rating": rating,
        "lower_is_better": lower_is_better,
        "item_columns": item_columns or (),
        "judge_columns": judge_columns or (),
        "cells": cells,
        "counts": counts,
        "weight": weight,
        "tie": tie,
        "outcome_map": meanings,
        "judge_per_row": judge_per_row,
        "judge_per_file": judge_per_file,
        "na_is_name": na_is_name,
        "merge_names": merge_names,
        "skip_bad": "most" if skip_most else skip_bad,
        "format": file_format,
        "encoding": encoding,
        "sheet": sheet,
        "unpack_all": unpack_all,
        "where": where,
    }
    return Source(_paths(votes or [], example=example), named | how, in_pairs, memory)


def _paths(votes: Sequence[str], *, example: bool) -> tuple[str, ...]:
    if example and votes:
        raise InputError(f"Give votes or --example, not both: {listing(votes)}.")
    if not example and not votes:
        raise InputError(
            "There are no votes to read. Name a file of votes, or - for standard input; or try "
            "--example."
        )
    return (str(EXAMPLE_VOTES),) if example else tuple(votes)


def _meanings(given: Sequence[str]) -> dict[str, str]:
    pairs = [pair for some in given for pair in some.split(",")]
    bad = [pair for pair in pairs if "=" not in pair]
    if bad:
        raise InputError(
            f"--outcome-map does not say what {bad[0]!r} means. Write WORD=MEANING, where MEANING "
            "is left, right, tie, both_bad or skip, and commas between several."
        )
    split = (pair.rsplit("=", 1) for pair in pairs)
    return {word.strip(): meaning.strip() for word, meaning in split}
