"""The options that say how to read votes, shared by every command that reads them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from juryrank.cli.help import READING, TO_RANK, HelpAll
from juryrank.cli.terminal import progress, show_note, show_warning
from juryrank.data import EXAMPLE_VOTES
from juryrank.errors import InputError, listing
from juryrank.reading.memory_size import size_in_bytes

if TYPE_CHECKING:
    from juryrank.votes.votes import Votes


@dataclass(frozen=True)
class Source:
    """Where the votes are and how to read them."""

    paths: tuple[str, ...]
    options: dict[str, Any]
    """What `read_votes` is told."""
    in_pairs: bool
    memory: str | None

    @property
    def name(self) -> str:
        """What the votes were read from, without folders."""
        return listing(
            ["standard input" if path == "-" else file_name(path) for path in self.paths]
        )

    @property
    def files(self) -> list[Path]:
        """The files that the votes are read from."""
        from juryrank.reading.places import files_at

        return [file for path in self.paths for file in files_at(path)]

    @property
    def judge_per_row(self) -> bool:
        """Whether every row is a judge of its own."""
        return bool(self.options["judge_per_row"])

    def keeping(self, by: str | None) -> Source:
        """The same, read so that each value of a column can be ranked apart."""
        return replace(self, options=self.options | {"by": by})

    def read(self, *, with_remarks: bool = True) -> Votes:
        """Read the votes and say how; everything heavy is imported only now.

        What must be said of the votes is said now, before it has led anywhere, unless the command
        says it itself.
        """
        votes = self._read_all() if self.memory is None else self._read_larger(self.memory)
        for reading in votes.reading:
            show_note(str(reading))
        for remark in votes.remarks if with_remarks else ():
            show_warning(remark)
        return votes

    def _read_all(self) -> Votes:
        from juryrank.votes.concat import joined_votes, named_apart

        paths, several = self._read_each()
        if self.judge_per_row and len(several) > 1:
            named = zip(several, paths, strict=True)
            several = [named_apart(votes, Path(path).name) for votes, path in named]
        votes = several[0]
        if len(several) > 1:
            votes = joined_votes(*several, merge_names=self.options["merge_names"])
        return votes.in_pairs() if self.in_pairs else votes

    def _read_each(self) -> tuple[list[str], list[Votes]]:
        """Read every source; of several, some may have no row that fulfils --where."""
        from juryrank.reading.where import NothingKeptError

        paths: list[str] = []
        several: list[Votes] = []
        nothing: list[NothingKeptError] = []
        for path in self.paths:
            try:
                several.append(self._read(path))
                paths.append(path)
            except NothingKeptError as error:
                nothing.append(error)
        if not several:
            raise nothing[0]
        for without_rows in nothing:
            show_warning(str(without_rows))
        return paths, several

    def _read(self, path: str) -> Votes:
        from juryrank.reading import read_votes

        with progress(f"Reading {'standard input' if path == '-' else path}"):
            return read_votes(path, **self.options)

    def _read_larger(self, memory: str) -> Votes:
        from juryrank.reading.reader import read_larger
        from juryrank.reading.request import request_of

        with progress("Reading votes") as say:
            return read_larger(self.paths, request_of(self.options), memory, say)


def file_name(path: str) -> str:
    """The name of a file or folder, without the folders it is in."""
    return Path(path).name or Path(path).resolve().name


def with_source(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument VOTES and the reading options, as one argument `source`."""
    reading = inspect.signature(_source, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True).parameters
    votes, example, where, *how_to_read = reading.values()

    @wraps(command)
    def with_options(**given: Any) -> None:
        del given["help_all"]
        source = _source(**{name: given.pop(name) for name in reading})
        command(source=source, **given)

    options = [own[name] for name in own if name != "source"]
    shown = [votes, example, where, *options, *how_to_read, HELP_ALL]
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
    )
    return with_options


HELP_ALL = inspect.Parameter(
    "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll
)


def _column(of: str) -> Any:
    return typer.Option(help=f"The column of {of}.", metavar="COLUMN", rich_help_panel=READING)


def _source(
    votes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VOTES",
            help="A file (CSV, TSV, JSON, NDJSON, Parquet, Arrow, PrefLib; also as .gz or .zst; "
            ".xlsx, .ods), a folder, .zip or quoted glob of such files, or - for standard input. "
            "Several are joined.",
            rich_help_panel=TO_RANK,
        ),
    ] = None,
    example: Annotated[
        bool,
        typer.Option(
            "--example",
            help="Instead of VOTES: the example, 9 judges on 8 assistants.",
            rich_help_panel=TO_RANK,
        ),
    ] = False,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION",
            help="Only rows that fulfil it, such as 'language == \"de\" and round > 3'.",
            rich_help_panel=TO_RANK,
        ),
    ] = None,
    judge: Annotated[str | None, _column("judges")] = None,
    winner: Annotated[str | None, _column("winners, outcomes or choices")] = None,
    loser: Annotated[str | None, _column("losers")] = None,
    left: Annotated[str | None, _column("items shown on the left")] = None,
    right: Annotated[str | None, _column("items shown on the right")] = None,
    ranking: Annotated[
        str | None,
        _column("rankings (a > b = c, or lists); with a row for each item, that of ranking ids"),
    ] = None,
    options: Annotated[
        str | None, _column("sets: the items the judge saw (a | b | c, or lists)")
    ] = None,
    item: Annotated[str | None, _column("items, where there is a row for each item")] = None,
    position: Annotated[str | None, _column("the items' positions there, 1 for the best")] = None,
    rating: Annotated[
        str | None, _column("ratings there, of which a judge's are compared; higher is better")
    ] = None,
    lower_is_better: Annotated[
        bool,
        typer.Option(
            "--lower-is-better", help="The lower rating is the better one.", rich_help_panel=READING
        ),
    ] = False,
    item_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="The columns of a survey that has one for each item, or the question before their "
            "brackets. May be repeated.",
            metavar="COLUMN,...",
            rich_help_panel=READING,
        ),
    ] = None,
    judge_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="The columns of judges, where there is one for each, and a row for each pair or "
            "item. May be repeated.",
            metavar="COLUMN,...",
            rich_help_panel=READING,
        ),
    ] = None,
    cells: Annotated[
        Literal["position", "rating"] | None,
        typer.Option(
            help="What the cells of such tables are: positions, 1 being the best, or ratings.",
            rich_help_panel=READING,
        ),
    ] = None,
    counts: Annotated[
        Literal["rows", "columns"],
        typer.Option(
            help="In a table of counts, item by item: whether they are wins of the items of the "
            "rows or of the columns.",
            rich_help_panel=READING,
        ),
    ] = "rows",
    weight: Annotated[str | None, _column("weights")] = None,
    tie: Annotated[
        str | None, _column("whether the two items are tied (yes or no, true or false, 1 or 0)")
    ] = None,
    outcome_map: Annotated[
        list[str] | None,
        typer.Option(
            help="What words in the outcome column mean (left, right, tie, both_bad or skip), such "
            "as 'Left wins=left,both=tie'. May be repeated.",
            metavar="WORD=MEANING",
            rich_help_panel=READING,
        ),
    ] = None,
    judge_per_row: Annotated[
        bool,
        typer.Option(
            "--judge-per-row",
            help="Take every row, or ranking, as a judge of its own.",
            rich_help_panel=READING,
        ),
    ] = False,
    in_pairs: Annotated[
        bool,
        typer.Option(
            "--in-pairs",
            help="Break rankings into the pairs they imply, as if these were independent votes: "
            "intervals come out too narrow.",
            rich_help_panel=READING,
        ),
    ] = False,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave bad rows out and count them, instead of stopping.",
            rich_help_panel=READING,
        ),
    ] = False,
    skip_most: Annotated[
        bool,
        typer.Option(
            "--skip-most",
            help="Leave bad rows out even if they are more than half.",
            rich_help_panel=READING,
        ),
    ] = False,
    unpack_all: Annotated[
        bool,
        typer.Option(
            "--unpack-all",
            help="Unpack a compressed file or an archive however large it becomes.",
            rich_help_panel=READING,
        ),
    ] = False,
    na_is_name: Annotated[
        bool,
        typer.Option(
            "--na-is-name",
            help="Take N/A, NaN, null and the like as names of items or judges.",
            rich_help_panel=READING,
        ),
    ] = False,
    merge_names: Annotated[
        bool,
        typer.Option(
            "--merge-names",
            help="Make names of items and judges one that differ only by case, blanks, the "
            "composition of accents or invisible signs.",
            rich_help_panel=READING,
        ),
    ] = False,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, tsv, json, ndjson, parquet, arrow, soc, xlsx or ods, if content and ending "
            "do not tell.",
            metavar="NAME",
            rich_help_panel=READING,
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="The encoding of text, such as cp1252.",
            metavar="NAME",
            show_default="UTF-8, or a guess that is said",
            rich_help_panel=READING,
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            help="The sheet of a spreadsheet.",
            metavar="NAME",
            show_default="the first",
            rich_help_panel=READING,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="For votes on pairs that are larger than memory: how much to use for reading, "
            "such as 1GB, beside some 400 MB for the program itself. The votes are then kept in "
            "the folder for temporary files (TMPDIR).",
            metavar="SIZE",
            rich_help_panel=READING,
        ),
    ] = None,
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
