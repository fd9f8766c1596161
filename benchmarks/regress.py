"""Two commits side by side: the same votes, the same interpreter, turns taken in fresh processes.

Each commit is built and installed into an environment of its own; the benchmark itself is the one
that stands here. What is compared is the ratio of CPU times.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.commits import State, built
from benchmarks.data import files_of
from benchmarks.grid import Case, short_number
from benchmarks.running import SAID_OF_JURYRANK, in_process, progress
from benchmarks.shell import command, run_command

SHELL = "shell"
VOTES_PER_ITEM, VOTES_PER_JUDGE = 1_000, 100
FEWEST = 50


def compare(base: str, head: str, sizes: Sequence[int], repeats: int, data: Path) -> float:
    """Print the ratios of head to base; the worst of the medians."""
    cases = [case_of(votes) for votes in sizes]
    kinds = (*SAID_OF_JURYRANK, SHELL)
    ratios = []
    with built([base, head]) as states, progress(len(cases) * len(kinds)) as say:
        print(f"CPU time of {head} to {base}, best and median of {repeats} runs each in turns")
        for case in cases:
            files = files_of(case, data)
            for kind in kinds:
                say.now(f"{case.name}: {kind}")
                times = _in_turns(states, kind, files.votes, files.truth, repeats)
                ratios.append(_told(f"{case.name} {kind}", *times))
                say.step()
    return max(ratios)


def case_of(votes: int) -> Case:
    """So many votes, with as many items and judges as are usual."""
    items, judges = max(FEWEST, votes // VOTES_PER_ITEM), max(FEWEST, votes // VOTES_PER_JUDGE)
    return Case(short_number(votes), votes, items, judges)


def _in_turns(
    states: Sequence[State], kind: str, votes: Path, truth: Path, repeats: int
) -> list[list[float]]:
    """CPU seconds of each state; the first run of each is not counted."""
    times: list[list[float]] = [[] for _ in states]
    for repeat in range(repeats + 1):
        for state, found in zip(states, times, strict=True):
            cpu = _cpu(state, kind, votes, truth)
            if repeat:
                found.append(cpu)
    return times


def _cpu(state: State, kind: str, votes: Path, truth: Path) -> float:
    if kind == SHELL:
        words = command("rank", str(votes), python=state.python)
        row = run_command(words, 600.0, state.environment)
    else:
        job = {"job": "adapter", "adapter": kind, "votes": str(votes), "truth": str(truth)}
        row = in_process(job, environment=state.environment, python=state.python)
        if "home" in row:
            state.check_home(row["home"])
    if row.get("cpu") is None:
        raise SystemExit(f"{state.name}, {kind}: {row['outcome']}")
    return float(row["cpu"])


def _told(what: str, base: Sequence[float], head: Sequence[float]) -> float:
    """Print one line; the ratio of the medians."""
    ratio = statistics.median(head) / statistics.median(base)
    print(
        f"{what:24} {min(base):8.3f} s -> {min(head):8.3f} s   "
        f"best {min(head) / min(base):5.2f}   median {ratio:5.2f}",
        flush=True,
    )
    return ratio
