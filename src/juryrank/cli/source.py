"""Where votes come from, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from juryrank.cli.terminal.messages import show_note, show_warning
from juryrank.cli.terminal.progress import progress
from juryrank.errors import InputError, listing
from juryrank.writing.atomic import STDOUT, is_regular, own_stream

if TYPE_CHECKING:
    from juryrank.cluster.scanned import ScannedVotes
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
        from juryrank.reading.sources import files_at

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
        from juryrank.votes.concat import with_notices

        self._check_stdout()
        votes = self._read_all() if self.memory is None else self._read_larger(self.memory)
        votes = with_notices(votes, self._read_twice())
        for reading in votes.reading:
            show_note(str(reading))
        for remark in votes.remarks if with_remarks else ():
            show_warning(remark)
        return votes

    def _check_stdout(self) -> None:
        """Refuse to add the answer to the votes, as ``>> votes.csv`` would."""
        for file in self.files if is_regular(STDOUT) else ():
            if own_stream(file) == STDOUT:
                raise InputError(
                    f"Standard output goes to {str(file)!r}, which is among the votes. Send it to "
                    "another file or folder."
                )

    def _read_twice(self) -> tuple[str, ...]:
        """What to say of files that several of the paths stand for."""
        from juryrank.reading.read_twice import notices_between
        from juryrank.reading.sources import files_at

        several = len(self.paths) > 1
        return notices_between(files_at(path) for path in self.paths) if several else ()

    def scanned(self) -> ScannedVotes:
        """The same for a cluster, whose workers read the files."""
        from juryrank.cluster.scan import SCANNED, scan_votes

        known = {name: self.options[name] for name in SCANNED}
        usual = {"counts": "rows"}
        more = [
            name
            for name, value in self.options.items()
            if value and name not in SCANNED and usual.get(name) != value
        ]
        more += ["in_pairs"] * self.in_pairs + ["memory"] * (self.memory is not None)
        if more:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in more)
            raise InputError(
                f"{options}: not with --cluster, whose workers read plain tables of votes on pairs."
            )
        self._check_stdout()
        for notice in self._read_twice():
            show_warning(notice)
        return scan_votes(self.paths, **known)

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
        from juryrank.reading.row_filter import NothingKeptError

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
