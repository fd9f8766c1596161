"""Running the grid: every run in a process of its own, the rows into CSV files as they come."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import outcomes
from benchmarks.grid import Case, Grid, Plan, ShellPlan
from benchmarks.machine import ROOT, machine

Row = dict[str, Any]

LONG = 3_600.0
"""For what is no measurement."""
RUNS: dict[str, Any] = {
    "grid": pl.String, "study": pl.String, "case": pl.String, "votes": pl.Int64,
    "items": pl.Int64, "judges": pl.Int64, "backwards": pl.Float64, "adapter": pl.String,
    "version": pl.String, "repeat": pl.Int64, "outcome": pl.String, "cpu": pl.Float64,
    "cpu_conversion": pl.Float64, "wall": pl.Float64, "limit": pl.Float64, "peak_mb": pl.Float64,
    "rise_mb": pl.Float64, "rise_fit_mb": pl.Float64, "tau": pl.Float64, "tau_wins": pl.Float64,
    "step": pl.Float64, "evaluations": pl.Int64, "starts": pl.Int64,
    "evaluations_per_start": pl.Float64, "work": pl.Float64,
}  # fmt: skip
KERNEL: dict[str, Any] = {
    "pass": pl.String, "threads": pl.Int64, "votes": pl.Int64, "ns_per_vote": pl.Float64,
    "ns_per_vote_median": pl.Float64, "cpu_ns_per_vote": pl.Float64, "outcome": pl.String,
}  # fmt: skip
SHELL: dict[str, Any] = {
    "what": pl.String, "votes": pl.Int64, "repeat": pl.Int64, "cpu": pl.Float64,
    "wall": pl.Float64, "peak_mb": pl.Float64, "difference": pl.Float64, "outcome": pl.String,
}  # fmt: skip
PROFILE: dict[str, Any] = {
    "case": pl.String, "function": pl.String, "calls": pl.Int64, "own": pl.Float64,
    "total": pl.Float64,
}  # fmt: skip
RANKINGS: dict[str, Any] = {
    "what": pl.String, "repeat": pl.Int64, "cpu": pl.Float64, "wall": pl.Float64,
    "outcome": pl.String,
}  # fmt: skip
INSTALL: dict[str, Any] = {
    "what": pl.String, "cpu": pl.Float64, "wall": pl.Float64, "size_mb": pl.Float64,
    "outcome": pl.String,
}  # fmt: skip
TABLES = {
    "runs": RUNS, "kernel": KERNEL, "shell": SHELL, "rankings": RANKINGS, "install": INSTALL,
    "profile": PROFILE,
}  # fmt: skip
SAID_OF_JURYRANK = ("juryrank", "juryrank-normal", "juryrank-plain", "juryrank-btl")


@dataclass
class Say:
    """Progress on stderr; nothing where that is no terminal."""

    display: Progress | None = None
    task: Any = None

    def now(self, text: str) -> None:
        """What is going on."""
        if self.display:
            self.display.update(self.task, description=text)

    def step(self) -> None:
        """One more thing is done."""
        if self.display:
            self.display.advance(self.task)


@contextmanager
def progress(total: int) -> Iterator[Say]:
    """Show how far the grid is."""
    console = Console(stderr=True)
    if not (sys.stderr.isatty() and console.is_interactive):
        yield Say()
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as display:
        yield Say(display, display.add_task("", total=total))


def in_process(
    job: Mapping[str, Any],
    limit: float = LONG,
    environment: Mapping[str, str] | None = None,
    python: Path | None = None,
) -> Row:
    """The result of a job as run by a fresh interpreter, or the outcome that stands for it."""
    command = [str(python or sys.executable), "-m", "benchmarks.worker", json.dumps(job)]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"outcome": outcomes.TIMED_OUT}
    return result_of(done.returncode, done.stdout, done.stderr)


def result_of(code: int, printed: str, errors: str) -> Row:
    """What a worker said in its last line, or how it ended if it said nothing."""
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    if code == 0 and lines:
        row: Row = json.loads(lines[-1])
        return row
    if code < 0:
        return {"outcome": outcomes.failed(f"ended by {signal.Signals(-code).name}")}
    last = errors.strip().splitlines()[-1:] or [f"exit code {code}"]
    return {"outcome": outcomes.failed(last[0])}


class Bench:
    """One run of a grid: where its votes and its results are."""

    def __init__(self, grid: Grid, out: Path, folder: Path) -> None:
        self.grid = grid
        self.out = out
        self.folder = folder
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES}
        self.facts: Row = {}

    def keep_others(self, names: Sequence[str]) -> None:
        """Keep what was measured before, but for these cases, and say that those are new."""
        if not (self.out / "machine.json").exists():
            return
        for name, schema in TABLES.items():
            path = self.out / f"{name}.csv"
            before = pl.read_csv(path, schema=schema) if path.exists() else pl.DataFrame()
            if "case" in before.columns:
                before = before.filter(~pl.col("case").is_in(names))
            self.rows[name] = [] if name in names else before.to_dicts()
        now = machine()
        self.facts = json.loads((self.out / "machine.json").read_text(encoding="utf-8"))
        anew = {name: {key: now[key] for key in ("commit", "cores_free_before")} for name in names}
        self.facts["measured_anew"] = {**self.facts.get("measured_anew", {}), **anew}

    def run(self, say: Say) -> None:
        """Measure everything and write it down, after each case too."""
        self.out.mkdir(parents=True, exist_ok=True)
        facts = json.dumps(self.facts or {"grid": self.grid.name, **machine()}, indent=2)
        (self.out / "machine.json").write_text(facts + "\n", encoding="utf-8")
        if self.grid.kernel:
            self._kernel(self.grid.kernel, say)
        if self.grid.shell:
            self._shell(self.grid.shell, say)
        if self.grid.ranking_repeats:
            self._rankings(self.grid.ranking_repeats, say)
        if self.grid.install:
            self._install(say)
        for plan in self.grid.plans:
            self._plan(plan, say)

    @property
    def steps(self) -> int:
        """How many things there are to do."""
        return sum(len(plan.adapters) for plan in self.grid.plans) + 4

    def made(self, case: Case) -> Row:
        """The files of a case; made elsewhere, so that this process stays small."""
        job = {"job": "make", "case": asdict(case), "folder": str(self.folder)}
        files = in_process(job)
        if "votes" not in files:
            raise SystemExit(f"The votes of {case.name} could not be made: {files['outcome']}")
        return files

    def save(self) -> None:
        """Write the rows so far."""
        for name, schema in TABLES.items():
            frame = pl.DataFrame(self.rows[name], schema=schema)
            frame.write_csv(self.out / f"{name}.csv", float_precision=6)

    def _plan(self, plan: Plan, say: Say) -> None:
        say.now(f"{plan.case.name}: making votes")
        files = self.made(plan.case)
        for adapter in plan.adapters:
            self._repeats(plan, adapter, files, say)
            self.save()
            say.step()
        if plan.profile:
            say.now(f"{plan.case.name}: profile")
            found = in_process({"job": "profile", **_paths(files)})
            for row in found.get("functions", ()):
                self.rows["profile"].append({"case": plan.case.name, **row})
            self.save()

    def _repeats(self, plan: Plan, adapter: str, files: Row, say: Say) -> None:
        grid = self.grid
        for repeat in range(1, grid.repeats + 1):
            say.now(f"{plan.case.name}: {adapter}, {repeat} of {grid.repeats}")
            # Passes are counted by one more fit, which must not make the first run time out.
            passes = repeat == grid.repeats and adapter in SAID_OF_JURYRANK
            job = {"job": "adapter", "adapter": adapter, "passes": passes, **_paths(files)}
            row = in_process(job, grid.limit)
            self.rows["runs"].append(
                {
                    "grid": grid.name, "study": plan.study, **_sizes(plan.case),
                    "adapter": adapter, "repeat": repeat, "limit": grid.limit,
                    **{key: value for key, value in row.items() if key in RUNS},
                }
            )  # fmt: skip
            slow = row.get("wall", grid.once_above + 1.0) > grid.once_above
            if slow and adapter not in SAID_OF_JURYRANK:
                return

    def _kernel(self, case: Case, say: Say) -> None:
        say.now("one pass over the votes")
        job = {"job": "kernel", "repeats": self.grid.kernel_repeats, **_paths(self.made(case))}
        found = in_process(job)
        self.rows["kernel"] = found.get("rows") or [{"pass": "all", "outcome": found["outcome"]}]
        self.save()
        say.step()

    def _shell(self, plan: ShellPlan, say: Say) -> None:
        from benchmarks.shell import large_rows, small_rows

        say.now("commands in the shell")
        votes = Path(self.made(plan.small)["votes"])
        self.rows["shell"] += small_rows(votes, plan.small.votes, plan.repeats)
        self.save()
        if plan.large:
            say.now("a large file in the shell")
            votes = Path(self.made(plan.large)["votes"])
            self.rows["shell"] += large_rows(votes, plan.large.votes, plan.memory, self.grid.limit)
        self.save()
        say.step()

    def _rankings(self, repeats: int, say: Say) -> None:
        from benchmarks.rankings import KINDS

        for name in KINDS:
            say.now(name)
            for repeat in range(1, repeats + 1):
                row = in_process({"job": "ranking", "kind": name}, self.grid.limit)
                row = {key: value for key, value in row.items() if key in RANKINGS}
                self.rows["rankings"].append({"what": name, "repeat": repeat, **row})
            self.save()
        say.step()

    def _install(self, say: Say) -> None:
        from benchmarks.install import install_rows

        say.now("installing from a fresh clone")
        rows = install_rows()
        self.rows["install"] = [
            {key: value for key, value in row.items() if key in INSTALL} for row in rows
        ]
        self.save()
        say.step()


def _paths(files: Row) -> Row:
    return {"votes": files["votes"], "truth": files["truth"]}


def _sizes(case: Case) -> Row:
    return {
        "case": case.name, "votes": case.votes, "items": case.items, "judges": case.judges,
        "backwards": case.backwards,
    }  # fmt: skip
