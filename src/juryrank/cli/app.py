"""The program: its commands put together, and how the process is set up to run one of them.

Importing libraries takes most of the time of a small command, so whatever needs them is imported
inside the commands, scipy after the votes have been read.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Annotated, Any

import typer

from juryrank import __version__
from juryrank.cli.check import check
from juryrank.cli.compare import compare
from juryrank.cli.help import HELP, HelpfulCommand, HelpfulGroup
from juryrank.cli.judges import judges
from juryrank.cli.model_options import MODEL_LIST
from juryrank.cli.next_questions import next_questions
from juryrank.cli.paper import paper
from juryrank.cli.plan import plan
from juryrank.cli.rank import rank
from juryrank.cli.simulate import simulate

OBJECTS_BEFORE_COLLECTION = 300_000

app = typer.Typer(
    cls=HelpfulGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"juryrank {__version__}")
        raise typer.Exit


@app.callback()
def juryrank(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_show_version,
            is_eager=True,
            rich_help_panel=HELP,
        ),
    ] = False,
) -> None:
    """Votes by many judges in, one ranking out, and how far to trust every judge.

    A vote is a row: judge, winner, loser; or judge, left, right, winner; or judge, ranking.

    Examples:
      juryrank rank --example             the bundled example: try this first
      juryrank check votes.csv            what is in your votes
      juryrank rank votes.csv             the ranking, and the judges worth a look
      juryrank rank votes.csv --report report.html
    """


app.command(cls=HelpfulCommand, epilog=MODEL_LIST)(rank)
app.command(cls=HelpfulCommand)(judges)
app.command(cls=HelpfulCommand)(check)
app.command(cls=HelpfulCommand, epilog=MODEL_LIST)(compare)
app.command(name="next", cls=HelpfulCommand)(next_questions)
app.command(cls=HelpfulCommand)(plan)
app.command(cls=HelpfulCommand)(simulate)
app.command(cls=HelpfulCommand)(paper)


def main() -> None:
    """Run the command line."""
    _start_no_blas_threads()
    _rarely_collect_garbage()
    _never_fail_to_encode(sys.stdout, sys.stderr)
    app(prog_name="juryrank")


def _start_no_blas_threads() -> None:
    """Tell OpenBLAS, before numpy loads it, to start no threads, unless the user wants some.

    They would never get any work (see `juryrank.threads`), but wait for it in a busy loop that
    takes a fifth of the time of a small ranking.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _rarely_collect_garbage() -> None:
    """Do not search modules for garbage while they are imported, nor once more at the end.

    Nearly all that a command makes is either freed at once or lives as long as the process. To
    look through it all again and again takes a quarter of the time of a small ranking.
    """
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    atexit.register(gc.freeze)


def _never_fail_to_encode(*streams: Any) -> None:
    """Let a terminal that knows no unicode show a question mark instead of an error."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
