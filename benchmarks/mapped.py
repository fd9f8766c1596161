"""Ever more votes on one machine, in files that are mapped to memory: how time and memory grow.

    python -m benchmarks.mapped --votes 2000000 20000000 200000000 --memory 2GB

prints, as JSON, what `juryrank rank --memory` took for each number of votes, process start and
reading included, the slope of log time on log votes, how far each time is from that line, and the
steepest slope from one number of votes to the next: fixed costs hide it in the line.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import default_folder, files_of
from benchmarks.grid import Case, short_number
from benchmarks.shell import command, run_command

LIMIT = 4 * 3600.0
ITEMS, VOTES_PER_JUDGE = 1_000, 200


def row_of(number: int, memory: str, data: Path) -> dict[str, Any]:
    """One ranking from the shell."""
    case = Case(short_number(number), number, ITEMS, number // VOTES_PER_JUDGE)
    votes = files_of(case, data).votes
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "ranking.parquet"
        words = ("rank", str(votes), "--memory", memory, "--out", str(out))
        found = run_command(command(*words), LIMIT)
    return {
        "votes": case.votes, "items": case.items, "judges": case.judges, "memory": memory,
        "load": round(os.getloadavg()[0], 1), "file_mb": round(votes.stat().st_size / 1e6),
        "cpu_s": round(found["cpu"], 1), "wall_s": round(found["wall"], 1),
        "peak_mb": round(found["peak_mb"]), "outcome": found["outcome"],
    }  # fmt: skip


def growth(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The power of the number of votes that CPU time grows with, and what that leaves over."""
    votes, cpu = (np.log([row[name] for row in rows]) for name in ("votes", "cpu_s"))
    slope, start = np.polyfit(votes, cpu, 1)
    off = np.exp(cpu - slope * votes - start) - 1.0
    return {
        "slope": round(float(slope), 3), "off_by": [round(float(one), 3) for one in off],
        "steepest": round(float((np.diff(cpu) / np.diff(votes)).max()), 3),
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--data", type=Path, default=default_folder())
    asked = parser.parse_args()
    rows = [row_of(number, asked.memory, asked.data) for number in asked.votes]
    print(json.dumps({"rows": rows, **(growth(rows) if len(rows) > 1 else {})}, indent=2))


if __name__ == "__main__":
    main()
