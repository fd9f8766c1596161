"""Read mutants for some minutes, on all cores, and keep what breaks.

python -m fuzzing --minutes 30
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from fuzzing import guided
from fuzzing.corpus import FINDINGS, Seed
from fuzzing.keeping import Keeper
from fuzzing.trying import Share, Tried, tried

SHARES = {"guided": 0.25, "plain": 0.5, "commands": 0.25}
"""Of the time: for mutants chosen by the code they reach, for others, and for the command line."""
POLARS_THREADS = "POLARS_MAX_THREADS"


class Plan(NamedTuple):
    """What to try: for how long, how many of each kind, and which kinds."""

    minutes: float
    most: int
    seed: int
    jobs: int
    kinds: tuple[str, ...]

    def minutes_of(self, kind: str) -> float:
        """What a kind gets of the time."""
        return self.minutes * SHARES[kind] / sum(SHARES[one] for one in self.kinds)


def run(plan: Plan, out: Path) -> int:
    """Try mutants on all cores; how many broke something."""
    if "guided" in plan.kinds and not guided.is_available():
        print("atheris is not installed (pip install atheris): none are chosen by what they reach")
        plan = plan._replace(kinds=tuple(kind for kind in plan.kinds if kind != "guided"))
    return sum(
        _guided(plan, out) if kind == "guided" else _of(kind, plan, out) for kind in plan.kinds
    )


def _of(kind: str, plan: Plan, out: Path) -> int:
    """Try mutants that were not chosen, in-process or through the command line."""
    begun, is_command = time.monotonic(), kind == "commands"
    until = begun + 60.0 * plan.minutes_of(kind)
    shares = [
        Share(plan.seed, number, until, plan.most // plan.jobs, is_command)
        for number in range(plan.jobs)
    ]
    with nullcontext() if is_command else _one_thread_of_polars():
        found = _tried_on_all_cores(shares)
    broken = [case for one in found for case in one.broken]
    where = "through the command line" if is_command else "in-process"
    _tell(sum(one.mutants for one in found), where, begun, len(broken))
    keeper = Keeper(out)
    for case in broken:
        keeper.keep(*case)
    return len(broken)


@contextmanager
def _one_thread_of_polars() -> Iterator[None]:
    """Let processes that begin have one thread: there is one of them for every core."""
    before = os.environ.get(POLARS_THREADS)
    os.environ[POLARS_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[POLARS_THREADS]
        if before is not None:
            os.environ[POLARS_THREADS] = before


def _tried_on_all_cores(shares: list[Share]) -> list[Tried]:
    with ProcessPoolExecutor(len(shares), mp_context=get_context("spawn")) as pool:
        try:
            return list(pool.map(tried, shares))
        except BrokenProcessPool:
            died = Seed("died", repr(shares).encode())
            return [Tried(0, [(died, "A process died: run it again with the same seed.")])]


def _guided(plan: Plan, out: Path) -> int:
    begun = time.monotonic()
    most = plan.most if plan.most < sys.maxsize else -1
    with _one_thread_of_polars():
        count, broken = guided.run(plan.minutes_of("guided"), most, plan.seed, out)
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
    parser.add_argument("--kinds", nargs="+", choices=SHARES, default=list(SHARES))
    given = parser.parse_args()
    print(f"Seed {given.seed}")
    plan = Plan(given.minutes, given.most, given.seed, given.jobs, tuple(given.kinds))
    sys.exit(run(plan, given.out) > 0)


if __name__ == "__main__":
    main()
