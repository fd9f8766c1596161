"""`juryrank rank` from the shell, process start included; and the fit alone."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import outcomes
from benchmarks.measuring import in_megabytes
from benchmarks.running import in_process
from benchmarks.worker import PREDICTIONS

Row = dict[str, Any]

FRAME = re.compile("[\u2500-\u257f]+")
"""Signs that make boxes in the terminal."""
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""What is installed has its bytecode on disk; what runs from its folder may keep it there too."""
START = "from juryrank.cli import main; main()"
SMALL = "juryrank rank, 3,000 votes"
LIBRARIES = "importing numpy, scipy.optimize, polars and typer"
OWN_IMPORT = "importing juryrank and its `rank`"
FEW_LIBRARIES = "importing numpy and polars"
STATEMENTS = {
    LIBRARIES: "import numpy, scipy.optimize, polars, typer",
    OWN_IMPORT: "import juryrank; juryrank.rank",
    FEW_LIBRARIES: "import numpy, polars",
}
LARGE = "juryrank rank, large file"
LARGE_STREAMED = "juryrank rank --memory, large file"


def command(*words: str, python: Path | None = None) -> list[str]:
    """What the installed command does, by this interpreter or another."""
    return [str(python or sys.executable), "-c", START, *words]


def run_command(
    words: Sequence[str], limit: float, environment: dict[str, str] | None = None
) -> Row:
    """CPU and wall time and peak memory of a whole process; its output is thrown away."""
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        actions = [
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
        ]
        child = os.posix_spawn(
            words[0],
            list(words),
            {**os.environ, **COMPILED, **(environment or {})},
            file_actions=actions,
        )
        stopped = threading.Event()
        timer = threading.Timer(limit, _stop, (child, stopped))
        timer.start()
        _, status, used = os.wait4(child, 0)
        timer.cancel()
        wall = time.perf_counter() - began
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    return {
        "cpu": used.ru_utime + used.ru_stime,
        "wall": wall,
        "peak_mb": in_megabytes(used.ru_maxrss),
        "outcome": _outcome(os.waitstatus_to_exitcode(status), said, timed_out=stopped.is_set()),
    }


def _stop(child: int, stopped: threading.Event) -> None:
    stopped.set()
    os.kill(child, 9)


def _outcome(code: int, said: str, *, timed_out: bool) -> str:
    if timed_out:
        return outcomes.TIMED_OUT
    if code == 0:
        return outcomes.OK
    words = " ".join(FRAME.sub(" ", said).split())
    return outcomes.failed(words.rpartition(" Error ")[2] or f"exit code {code}")


def small_rows(votes: Path, number: int, repeats: int) -> list[Row]:
    """A small file from the shell, the libraries that this imports, and the fit alone.

    The first run from the shell is not counted.
    """
    rows = []
    for repeat in range(repeats + 1):
        row = run_command(command("rank", str(votes)), 600.0)
        rows.append({"what": SMALL, "votes": number, "repeat": repeat, **row})
    for repeat in range(1, repeats + 1):
        for what, statement in STATEMENTS.items():
            row = run_command([sys.executable, "-c", statement], 600.0)
            rows.append({"what": what, "repeat": repeat, **row})
    fits = in_process({"job": "fit", "votes": str(votes)})
    if "outcome" in fits:
        return [*rows[1:], {"what": "fit", "votes": number, "repeat": 1, **_only_outcome(fits)}]
    for what in ("fit", "fit with intervals", PREDICTIONS):
        times = zip(fits[what]["cpu"], fits[what]["wall"], strict=True)
        rows += [
            {
                "what": what, "votes": number, "repeat": repeat, "cpu": cpu, "wall": wall,
                "outcome": outcomes.OK,
            }
            for repeat, (cpu, wall) in enumerate(times, 1)
        ]  # fmt: skip
    return rows[1:]


def _only_outcome(row: Row) -> Row:
    return {"outcome": row["outcome"]}


def large_rows(votes: Path, number: int, memory: str | None, limit: float) -> list[Row]:
    """A large Parquet file from the shell, whole and in the memory given; how far they differ."""
    with tempfile.TemporaryDirectory() as folder:
        whole, streamed = Path(folder) / "whole.parquet", Path(folder) / "streamed.parquet"
        row = run_command(command("rank", str(votes), "--out", str(whole)), limit)
        rows = [{"what": LARGE, "votes": number, "repeat": 1, **row}]
        if memory:
            words = ("rank", str(votes), "--memory", memory, "--out", str(streamed))
            row = run_command(command(*words), limit)
            if whole.exists() and streamed.exists():
                row["difference"] = difference(whole, streamed)
            rows.append({"what": LARGE_STREAMED, "votes": number, "repeat": 1, **row})
    return rows


def difference(one: Path, other: Path) -> float:
    """The largest difference of a score between two saved rankings."""
    both = pl.read_parquet(one).join(pl.read_parquet(other), on="item", suffix="_other")
    return float((both["score"] - both["score_other"]).abs().max())  # type: ignore[arg-type]
