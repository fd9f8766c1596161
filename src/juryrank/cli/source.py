"""The options that say how to read votes, shared by every command that reads them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.errors import InputError
from juryrank.terminal import progress

if TYPE_CHECKING:
    from juryrank.votes import Votes

PANEL = "How to read the votes"


@dataclass(frozen=True)
class Source:
    """Where the votes are and how to read them."""

    path: str
    file_format: str | None
    columns: dict[str, str | None]
    outcome_map: dict[str, str]
    skip_bad: bool

    def read(self) -> Votes:
        """Read the votes; everything heavy is imported only now."""
        from juryrank.reading import read_votes

        with progress(f"Reading {'standard input' if self.path == '-' else self.path}"):
            return read_votes(
                self.path,
                format=self.file_format,
                judge=self.columns["judge"],
                winner=self.columns["winner"],
                loser=self.columns["loser"],
                left=self.columns["left"],
                right=self.columns["right"],
                weight=self.columns["weight"],
                outcome_map=self.outcome_map,
                skip_bad=self.skip_bad,
            )


def with_source(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument VOTES and the reading options, as one argument `source`."""
    reading = inspect.signature(_source, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True).parameters
    votes, *how_to_read = reading.values()

    @wraps(command)
    def with_options(**given: Any) -> None:
        source = _source(**{name: given.pop(name) for name in reading})
        command(source=source, **given)

    shown = [votes, *(own[name] for name in own if name != "source"), *how_to_read]
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
    )
    return with_options


def _column(of: str) -> Any:
    return typer.Option(help=f"The column of {of}.", metavar="COLUMN", rich_help_panel=PANEL)


def _source(
    votes: Annotated[
        list[str],
        typer.Argument(
            metavar="VOTES",
            help="A file (CSV, TSV, JSON, NDJSON, Parquet, Arrow; also as .gz or .zst), a folder "
            "or quoted glob of such files, or - for standard input.",
        ),
    ],
    judge: Annotated[str | None, _column("judges")] = None,
    winner: Annotated[str | None, _column("winners or outcomes")] = None,
    loser: Annotated[str | None, _column("losers")] = None,
    left: Annotated[str | None, _column("items shown on the left")] = None,
    right: Annotated[str | None, _column("items shown on the right")] = None,
    weight: Annotated[str | None, _column("weights")] = None,
    outcome_map: Annotated[
        list[str] | None,
        typer.Option(
            help="What words in the outcome column mean (left, right, tie or skip), such as "
            "'Left wins=left,both=tie'. May be repeated.",
            metavar="WORD=MEANING",
            rich_help_panel=PANEL,
        ),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave bad rows out and count them, instead of stopping.",
            rich_help_panel=PANEL,
        ),
    ] = False,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, tsv, json, ndjson, parquet or arrow, if content and ending do not tell.",
            metavar="NAME",
            rich_help_panel=PANEL,
        ),
    ] = None,
) -> Source:
    columns = {"judge": judge, "winner": winner, "loser": loser}
    columns |= {"left": left, "right": right, "weight": weight}
    return Source(_only(votes), file_format, columns, _meanings(outcome_map or ()), skip_bad)


def _only(paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    folders, endings = {Path(path).parent for path in paths}, {Path(path).suffix for path in paths}
    alike = len(folders) == 1 and len(endings) == 1
    glob = str(folders.pop() / f"*{endings.pop()}") if alike else "votes/*.csv"
    raise InputError(
        f"{len(paths)} files were given, and juryrank takes one file, folder or glob. "
        f"If the shell has expanded a glob, quote it: '{glob}'."
    )


def _meanings(given: Sequence[str]) -> dict[str, str]:
    pairs = [pair for some in given for pair in some.split(",")]
    bad = [pair for pair in pairs if "=" not in pair]
    if bad:
        raise InputError(
            f"--outcome-map does not say what {bad[0]!r} means. Write WORD=MEANING, where MEANING "
            "is left, right, tie or skip, and commas between several."
        )
    split = (pair.rsplit("=", 1) for pair in pairs)
    return {word.strip(): meaning.strip() for word, meaning in split}
