"""Commands in processes of their own that do not begin by importing everything.

A server imports what commands need, once, and never runs any of it; each command is a fork of it.
What a command does from its first line on is the same.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from multiprocessing import get_context
from typing import NamedTuple

PRELOADED = (
    "juryrank.cli.app", "juryrank.reading.reader", "juryrank.ranking.ranking",
    "juryrank.ranking.rank", "juryrank.report.page", "juryrank.writing.save", "polars",
    "juryrank.cli.terminal.check", "juryrank.cli.terminal.ranking", "scipy.special",
)  # fmt: skip


class Ended(NamedTuple):
    """How a command ended; without an exit code if it had to be killed."""

    code: int | None
    said: str


def run_forked(arguments: Sequence[str], longest: float, before: Callable[[], None]) -> Ended:
    """Run ``juryrank`` with these arguments, for so many seconds at most."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with tempfile.NamedTemporaryFile() as kept:
        process = context.Process(target=_run, args=(list(arguments), kept.name, before))
        process.start()
        process.join(longest)
        if process.exitcode is None:
            process.kill()
            process.join()
            return Ended(None, "")
        kept.seek(0)
        return Ended(process.exitcode, kept.read().decode(errors="replace"))


def _run(arguments: list[str], output: str, before: Callable[[], None]) -> None:
    before()
    opened = os.open(output, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(opened, stream)
    sys.argv = ["juryrank", *arguments]
    import_module("juryrank.cli").main()


if os.environ.get("OPENBLAS_NUM_THREADS") is None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as commands do: a fork has no threads to wait for
for name in PRELOADED:
    import_module(name)
