"""The files that `juryrank rank` writes: the ranking, the judges, and the report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from juryrank.cli.output_options import check_destinations, check_safe_csv, is_stdout, save_table
from juryrank.cli.source import Source, file_name
from juryrank.cli.terminal.messages import show_note
from juryrank.cli.terminal.progress import progress
from juryrank.errors import InputError
from juryrank.writing.formats import check_ending, saved_as
from juryrank.writing.needed_packages import check_report_can_be_made

if TYPE_CHECKING:
    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.ranking import Ranking


@dataclass(frozen=True)
class RankingFiles:
    """Where the answer goes, besides the terminal."""

    out: Path | None
    judges_out: Path | None
    report: Path | None
    title: str | None
    """The title of the report."""
    safe_csv: bool

    def check(self, source: Source) -> None:
        """Complain before the long work about what could not be saved after it."""
        self._check_report()
        check_destinations(source, self.out, self.judges_out, self.report)
        check_safe_csv(self.safe_csv, self.out, self.judges_out)

    def save(self, answer: Ranking | Rankings, source: Source) -> None:
        """Write all files that were asked for, and say so."""
        if self.out is not None and self.out not in self._reports:
            answer.save(self.out, safe_csv=self.safe_csv)
            show_note(f"Saved the ranking to {self.out}.")
        save_table(answer.judges, "judges", self.judges_out, safe_csv=self.safe_csv)
        for path in self._reports:
            self._save_report(answer, path, source)

    @property
    def _reports(self) -> list[Path]:
        """Those of the files that hold a report."""
        also = [] if self.out is None or saved_as(self.out) != ".html" else [self.out]
        return also if self.report is None else [*also, self.report]

    @property
    def hold_stdout(self) -> bool:
        """Whether one of them is standard output, which then has nothing else."""
        return is_stdout(self.out, self.judges_out, self.report)

    def _check_report(self) -> None:
        if self.report is not None:
            check_ending(self.report, (".html",))
        if self._reports:
            check_report_can_be_made()
        elif self.title is not None:
            raise InputError("--title is for the report: say with --report FILE where to write it.")

    def _save_report(self, answer: Ranking | Rankings, path: Path, source: Source) -> None:
        from juryrank.writing.atomic import write_text

        files = [*source.paths, self.out, self.judges_out, self.report]
        command = _command_without_folders([str(file) for file in files if file is not None])
        with progress("Writing the report"):
            write_text(path, answer.report(command, title=self.title, source=source.name))
        show_note(f"Saved the report to {path}.")


def _command_without_folders(files: Sequence[str]) -> str:
    """What was typed, for others to read: where the files are on this machine is not for them."""
    names = {Path(file): name for file in files if (name := file_name(file))}
    typed = []
    for argument in sys.argv[1:]:
        option, equals, value = argument.partition("=")
        if Path(argument) in names:
            typed.append(names[Path(argument)])
        elif option.startswith("--") and Path(value) in names:
            typed.append(f"{option}{equals}{names[Path(value)]}")
        else:
            typed.append(argument)
    return shlex.join(["juryrank", *typed])
