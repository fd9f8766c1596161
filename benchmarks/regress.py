"""Two commits side by side: the same votes, the same interpreter, turns taken in fresh processes.

Each commit is checked out into a folder of its own, with its own cache of compiled code; the
benchmark itself is the one that stands here. What is compared is the ratio of CPU times.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import files_of
from benchmarks.grid import Case, short_number
from benchmarks.machine import ROOT, git
from benchmarks.running import SAID_OF_JURYRANK, in_process, progress
from benchmarks.shell import command, run_command

SHELL = "shell"
VOTES_PER_ITEM, VOTES_PER_JUDGE = 1_000, 100
FEWEST = 50


@dataclass(frozen=True)
class State:
    """A commit, checked out."""

    name: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """In which its code is imported, and compiled into a cache of its own."""
        return {
            "PYTHONPATH": str(self.folder / "src"),
            "NUMBA_CACHE_DIR": str(self.folder / ".numba"),
        }


def compare(base: str, head: str, sizes: Sequence[int], repeats: int, data: Path) -> float:
    """Print the ratios of head to base; the worst of the medians."""
    cases = [case_of(votes) for votes in sizes]
    kinds = (*SAID_OF_JURYRANK, SHELL)
    ratios = []
    with checked_out([base, head]) as states, progress(len(cases) * len(kinds)) as say:
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


@contextmanager
def checked_out(commits: Sequence[str]) -> Iterator[list[State]]:
    """Check the commits out, and tidy up."""
    with tempfile.TemporaryDirectory() as folder:
        states = []
        try:
            for number, name in enumerate(commits):
                place = Path(folder) / f"state-{number}"
                words = ["git", "worktree", "add", "--detach", "--quiet", str(place), name]
                done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise SystemExit(f"{name} cannot be checked out: {done.stderr.strip()}")
                states.append(State(name, place))
            yield states
        finally:
            for state in states:
                git("worktree", "remove", "--force", str(state.folder))


def _in_turns(
    states: Sequence[State], kind: str, votes: Path, truth: Path, repeats: int
) -> list[list[float]]:
    """CPU seconds of each state; the first run of each fills its cache and is not counted."""
    times: list[list[float]] = [[] for _ in states]
    for repeat in range(repeats + 1):
        for state, found in zip(states, times, strict=True):
            cpu = _cpu(state, kind, votes, truth)
            if repeat:
                found.append(cpu)
    return times


def _cpu(state: State, kind: str, votes: Path, truth: Path) -> float:
    if kind == SHELL:
        row = run_command(command("rank", str(votes)), 600.0, state.environment)
    else:
        job = {"job": "adapter", "adapter": kind, "votes": str(votes), "truth": str(truth)}
        row = in_process(job, environment=state.environment)
        home = (state.folder / "src").resolve()
        if "home" in row and Path(row["home"]) != home:
            raise SystemExit(f"Not the code of {state.name} was run, but that of {row['home']}.")
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
