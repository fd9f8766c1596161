"""Read mutants for some minutes, on all cores, and keep what breaks.

python -m fuzzing --minutes 30
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from fuzzing import guided
from fuzzing.corpus import FINDINGS, Seed
from fuzzing.keeping import Keeper
from fuzzing.trying import Share, Tried, tried

COMMANDS_SHARE, GUIDED_SHARE = 0.25, 0.25
"""Of the time: for the command line, and for mutants chosen by the code they reach."""


POLARS_THREADS = "POLARS_MAX_THREADS"


def run(minutes: float, most: int, seed: int, jobs: int, out: Path) -> int:
    """Try mutants on all cores; how many broke something."""
    os.environ[POLARS_THREADS] = "1"  # all cores have a process; commands have theirs
    guided_share = GUIDED_SHARE if guided.is_available() else 0.0
    total = _guided(guided_share * minutes, most, seed, out) if guided_share else 0
    if not guided_share:
        print("atheris is not installed (pip install atheris): none are chosen by what they reach")
    for through_commands in (False, True):
        part = COMMANDS_SHARE if through_commands else 1.0 - COMMANDS_SHARE - guided_share
        begun = time.monotonic()
        if through_commands:
            del os.environ[POLARS_THREADS]
        shares = [
            Share(seed, number, begun + 60.0 * part * minutes, most // jobs, through_commands)
            for number in range(jobs)
        ]
        found = _tried_on_all_cores(shares)
        broken = [case for one in found for case in one.broken]
        where = "through the command line" if through_commands else "in-process"
        _tell(sum(one.mutants for one in found), where, begun, len(broken))
        keeper = Keeper(out)
        for case in broken:
            keeper.keep(*case)
        total += len(broken)
    return total


def _tried_on_all_cores(shares: list[Share]) -> list[Tried]:
    with ProcessPoolExecutor(len(shares), mp_context=get_context("spawn")) as pool:
        try:
            return list(pool.map(tried, shares))
        except BrokenProcessPool:
            died = Seed("died", repr(shares).encode())
            return [Tried(0, [(died, "A process died: run it again with the same seed.")])]


def _guided(minutes: float, most: int, seed: int, out: Path) -> int:
    begun = time.monotonic()
    count, broken = guided.run(minutes, most if most < sys.maxsize else -1, seed, out)
    _tell(count, "in-process, chosen by the code they reach,", begun, broken)
    return broken


def _tell(count: int, where: str, begun: float, broken: int) -> None:
    seconds = time.monotonic() - begun
    print(f"{count:,} mutants {where} in {seconds:,.0f} s: {broken:,} broke something", flush=True)


def main() -> None:
    """Read the options, and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="mutants of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=FINDINGS)
    given = parser.parse_args()
    print(f"Seed {given.seed}")
    sys.exit(run(given.minutes, given.most, given.seed, given.jobs, given.out) > 0)


if __name__ == "__main__":
    main()
