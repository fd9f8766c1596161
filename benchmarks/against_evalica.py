"""CPU time against evalica: judge-aware HBTL here, plain Bradley-Terry there.

    make bench

2,000,000 votes, 1,000 items, 10,000 judges (a tenth of them backwards), simulated. Both start
from data that is not in memory yet or in a data frame as their users have it, and each runs in
a process of its own, so that imports count: juryrank reads a Parquet file and prints an HBTL
ranking with judge accuracies; evalica gets the same votes as a pandas frame (reading it is not
counted) and computes Bradley-Terry scores without judges.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

JURYRANK = """
import contextlib, io, json, sys, time
before = time.process_time()
from juryrank.cli import main
sys.argv = ["juryrank", "rank", {path!r}]
printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
    main()
assert "item-" in printed.getvalue()
print(json.dumps({{"seconds": time.process_time() - before}}))
"""

EVALICA = """
import json, time
import polars as pl
frame = pl.read_parquet({path!r}).to_pandas()
before = time.process_time()
import evalica
words = {{"left": evalica.Winner.X, "right": evalica.Winner.Y}}
converted = frame["winner"].map(words)
after_conversion = time.process_time()
result = evalica.bradley_terry(frame["left"], frame["right"], converted)
after = time.process_time()
print(json.dumps({{"seconds": after - before, "without_conversion": after - after_conversion}}))
"""


def run(script: str, path: Path) -> dict[str, float]:
    """What the script printed, as run in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", script.format(path=str(path))],
        check=True,
        capture_output=True,
        text=True,
    )
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def simulated(path: Path, votes: int, items: int, judges: int) -> None:
    """Write the votes as Parquet."""
    import juryrank as jr

    made = jr.simulate(
        items, judges, votes_per_judge=votes // judges, adversaries=judges // 10, seed=1
    )
    made.votes.write_parquet(path)


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def main() -> None:
    """Run both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--votes", type=int, default=2_000_000)
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--judges", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        simulated(path, options.votes, options.items, options.judges)
        run(JURYRANK, path)  # fills numba's cache
        ours = min(run(JURYRANK, path)["seconds"] for _ in range(options.repeats))
        theirs = [run(EVALICA, path) for _ in range(options.repeats)]
    whole = min(result["seconds"] for result in theirs)
    bare = min(result["without_conversion"] for result in theirs)
    print(f"{processor()}; Python {platform.python_version()}")
    print(f"juryrank {version('juryrank')}, evalica {version('evalica')}")
    print(f"{options.votes:,} votes, {options.items:,} items, {options.judges:,} judges")
    print(f"CPU seconds, best of {options.repeats}, process start included for juryrank:")
    print(f"  juryrank rank votes.parquet (hbtl, with judges)  {ours:6.2f}")
    print(f"  evalica.bradley_terry (no judges)                {bare:6.2f}")
    print(f"  the same, outcomes converted from the frame      {whole:6.2f}")
    print(f"ratio juryrank / evalica: {ours / bare:.2f} (with conversion: {ours / whole:.2f})")


if __name__ == "__main__":
    main()
