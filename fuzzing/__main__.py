"""Read mutants for some minutes, on all cores, and keep what breaks.

python -m fuzzing --minutes 30
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from itertools import count, islice
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
MUTANTS_PER_PROCESS = 10_000
"""Then a new process goes on: libraries keep some of their address space for ever."""


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
    begun, keeper, mutants, broken = time.monotonic(), Keeper(out), 0, 0
    where = "through the command line" if kind == "commands" else "in-process"
    with nullcontext() if kind == "commands" else _one_thread_of_polars():
        for found in _tried_on_all_cores(_shares(kind, plan, begun), plan.jobs):
            mutants, broken = mutants + found.mutants, broken + len(found.broken)
            for case in found.broken:
                keeper.keep(*case)
            _tell(mutants, f"{where} so far", begun, broken)
    _tell(mutants, where, begun, broken)
    return broken


def _shares(kind: str, plan: Plan, begun: float) -> Iterator[Share]:
    """What one process after the other is to do, as long as there is time."""
    until, left = begun + 60.0 * plan.minutes_of(kind), plan.most
    for number in count():
        if left <= 0 or time.monotonic() >= until:
            return
        most = min(left, MUTANTS_PER_PROCESS)
        left -= most
        yield Share(plan.seed, number, until, most, kind == "commands")


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


def _tried_on_all_cores(shares: Iterator[Share], jobs: int) -> Iterator[Tried]:
    """What becomes of each share, in their order, each in a process of its own."""
    alone = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=alone, max_tasks_per_child=1) as pool:
        going = deque(pool.submit(tried, share) for share in islice(shares, jobs))
        while going:
            try:
                yield going.popleft().result()
                going.extend(pool.submit(tried, share) for share in islice(shares, 1))
            except BrokenProcessPool:
                died = Seed("died", b"")
                yield Tried(0, [(died, "A process died: run it again with the same seed.")])
                return


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
