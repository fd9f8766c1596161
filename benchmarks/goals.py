"""The goals, each with what was reached. Every goal is a ratio or a number from the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from benchmarks import outcomes
from benchmarks.adapters import RIVALS
from benchmarks.grid import PEERS
from benchmarks.install import DEMO, FIRST, INSTALL, LATER, WHEELS
from benchmarks.results import Results, slope, summary
from benchmarks.shell import (
    FEW_LIBRARIES,
    LARGE,
    LARGE_STREAMED,
    LIBRARIES,
    OWN_IMPORT,
    SMALL,
)

Row = dict[str, Any]

KERNEL_TO_C = 1.1
HTCV_TO_HBTL = 1.8
TASTES_TO_PLAIN = 1.5
TO_RIVAL = 0.5
BTL_TO_EVALICA = 0.25
SMALL_TO_EVALICA = 2.0
SHELL_TO_IMPORTS = 1.9
IMPORT_TO_LIBRARIES = 1.4
FIRST_TO_LATER = 1.3
DEMO_TO_WHEELS = 2.0
INSTALLED_MB = 460.0
MOST_EVALUATIONS = 25.0
ONE_START_FROM = 1_000_000
MEMORY_TO_CODED = 1.5
BYTES_PER_VOTE = 9
"""Winner, loser, outcome."""
BYTES_PER_UNKNOWN = 64
"""State of a judge or an item: score or accuracy, gradient, error, bounds of its votes, ..."""
LARGE_VOTES = 20_000_000
LARGE_PEAK_MB = 2_000.0
"""For so many votes; for fewer it says nothing."""
SAME = 1e-9
STEEPEST = 1.05
LEAST_VOTES = 100_000
"""The goals against peers and on memory begin here."""


@dataclass(frozen=True)
class Verdict:
    """A goal, what was measured, and whether it was reached (None: not measured)."""

    number: int
    goal: str
    limit: str
    measured: str
    reached: bool | None
    remark: str = ""

    @property
    def word(self) -> str:
        """Reached, missed or not measured."""
        return {True: "reached", False: "missed", None: "not measured"}[self.reached]


def verdicts(results: Results) -> list[Verdict]:
    """All goals, in their order."""
    table = summary(results.runs)
    return [
        *_kernel(results.kernel),
        *_against_rivals(table),
        *_small(results.shell),
        *_rankings(results.rankings),
        *_install(results.install),
        *_passes(table),
        *_memory(table, results.shell),
        *_growth(table),
    ]


def _at_most(
    number: int,
    goal: str,
    limit: float,
    found: float | None,
    form: str = "{:.2f}",
    remark: str = "",
) -> Verdict:
    measured = "" if found is None else form.format(found)
    reached = None if found is None else found <= limit
    return Verdict(number, goal, "at most " + form.format(limit), measured, reached, remark)


def _kernel(kernel: pl.DataFrame) -> Iterator[Verdict]:
    speed = {
        (row["pass"], row["threads"]): row["ns_per_vote"] for row in kernel.iter_rows(named=True)
    }
    votes = max(kernel["votes"].drop_nulls().to_list(), default=0)
    over = f", {votes:,} votes" if votes else ""
    for threads in (1, 2):
        ours, in_c = speed.get(("juryrank-hbtl", threads)), speed.get(("c", threads))
        found = ours / in_c if ours and in_c else None
        goal = f"HBTL pass to the pass in C, threads: {threads}{over}"
        yield _at_most(1, goal, KERNEL_TO_C, found)
        other = speed.get(("juryrank-htcv", threads))
        found = other / ours if other and ours else None
        yield _at_most(1, f"HTCV pass to HBTL pass, threads: {threads}{over}", HTCV_TO_HBTL, found)
    plain, tastes = (speed.get((f"juryrank-{name}", 1)) for name in ("curvature", "tastes"))
    found = tastes / plain if tastes and plain else None
    yield _at_most(1, f"pass over tastes to that over curvature{over}", TASTES_TO_PLAIN, found)


def _against_rivals(table: pl.DataFrame) -> Iterator[Verdict]:
    cases = table.filter(
        (pl.col("study") == PEERS) & (pl.col("backwards") == 0.0) & (pl.col("votes") >= LEAST_VOTES)
    )
    yield from _small_against_evalica(table)
    if cases.is_empty():
        yield _at_most(2, "CPU of HBTL with intervals to that of peers", TO_RIVAL, None)
    for case in cases["case"].unique(maintain_order=True):
        rows = {row["adapter"]: row for row in cases.filter(case=case).iter_rows(named=True)}
        for rival in RIVALS:
            goal = f"{case}: CPU of HBTL with intervals to {rival}"
            yield _against(goal, TO_RIVAL, rows.get("juryrank"), rows.get(rival))
        goal = f"{case}: CPU of BTL to evalica"
        yield _against(goal, BTL_TO_EVALICA, rows.get("juryrank-btl"), rows.get("evalica"))


def _small_against_evalica(table: pl.DataFrame) -> Iterator[Verdict]:
    """With a given prior: what the sampler takes is apart."""
    for case in ("3k",):
        rows = {
            row["adapter"]: row
            for row in table.filter(
                (pl.col("study") == PEERS) & (pl.col("case") == case)
            ).to_dicts()
        }
        goal = f"{case}: CPU of HBTL with a given prior and intervals to evalica"
        found = rows.get("juryrank-normal"), rows.get("evalica")
        yield _against(goal, SMALL_TO_EVALICA, *found)


def _against(goal: str, limit: float, ours: Row | None, theirs: Row | None) -> Verdict:
    """Their time counts whether they converged or not; if they timed out, what they had is less."""
    found, remark = None, ""
    if theirs and theirs["outcome"] != outcomes.OK:
        remark = f"theirs: {theirs['outcome']}"
    if ours and ours["cpu"] is not None and theirs:
        if theirs["cpu"] is not None:
            found = ours["cpu"] / theirs["cpu"]
        elif theirs["outcome"] == outcomes.TIMED_OUT:
            return Verdict(
                2, goal, f"at most {limit:.2f}", "they did not end",
                True if ours["cpu"] <= limit * theirs["limit"] else None,
                f"{remark} after {theirs['limit']:g} s (wall), ours: {ours['cpu']:.1f} s",
            )  # fmt: skip
    if ours and ours["outcome"] != outcomes.OK:
        return Verdict(2, goal, f"at most {limit:.2f}", f"ours: {ours['outcome']}", False, remark)
    return _at_most(2, goal, limit, found, remark=remark)


def _best(table: pl.DataFrame, what: str, column: str = "cpu") -> float | None:
    """The best of what was done."""
    found = table.filter((pl.col("what") == what) & (pl.col("outcome") == outcomes.OK))[column]
    return None if found.is_empty() else float(found.min())  # type: ignore[arg-type]


def _small(shell: pl.DataFrame) -> Iterator[Verdict]:
    def ratio(one: str, other: str) -> float | None:
        above, below = _best(shell, one), _best(shell, other)
        return above / below if above and below else None

    goal = f"{OWN_IMPORT} to {FEW_LIBRARIES} (CPU)"
    yield _at_most(3, goal, IMPORT_TO_LIBRARIES, ratio(OWN_IMPORT, FEW_LIBRARIES))
    goal = f"{SMALL}, process start included, to {LIBRARIES} (CPU)"
    yield _at_most(3, goal, SHELL_TO_IMPORTS, ratio(SMALL, LIBRARIES))


def _rankings(rankings: pl.DataFrame) -> Iterator[Verdict]:
    from benchmarks.rankings import KINDS

    for kind in KINDS.values():
        found = _best(rankings, kind.name, "wall")
        yield _at_most(7, f"{kind.name}, seconds (wall)", kind.limit, found, "{:.1f}")


def _install(install: pl.DataFrame) -> Iterator[Verdict]:
    def ratio(one: str, other: str) -> float | None:
        above, below = _best(install, one), _best(install, other)
        return above / below if above and below else None

    yield _at_most(8, f"{FIRST}, to later ones (CPU)", FIRST_TO_LATER, ratio(FIRST, LATER))
    yield _at_most(8, f"{DEMO} to {WHEELS} (CPU)", DEMO_TO_WHEELS, ratio(DEMO, WHEELS))
    size = _best(install, INSTALL, "size_mb")
    yield _at_most(8, f"{INSTALL}: MB", INSTALLED_MB, size, "{:,.0f}")


def _passes(table: pl.DataFrame) -> Iterator[Verdict]:
    ours = table.filter(
        (pl.col("study") == PEERS)
        & (pl.col("adapter") == "juryrank")
        & pl.col("evaluations").is_not_null()
    )
    if ours.is_empty():
        yield _at_most(4, "evaluations per starting point", MOST_EVALUATIONS, None, "{:.0f}")
    for row in ours.iter_rows(named=True):
        goal = f"{row['case']}: evaluations over all votes per starting point"
        starts = max(1, row["starts"])
        remark = f"{row['evaluations']} from {starts}; all work: {row['work']:.1f} passes"
        found = row["evaluations_per_start"]
        yield _at_most(4, goal, MOST_EVALUATIONS, found, "{:.0f}", remark)
        if row["votes"] >= ONE_START_FROM:
            goal = f"{row['case']}: starting points at full price"
            yield _at_most(4, goal, 1.0, float(starts), "{:.0f}")


def coded_mb(row: Row) -> float:
    """The size of coded votes with the state of judges and items."""
    unknowns = row["items"] + row["judges"]
    return float(BYTES_PER_VOTE * row["votes"] + BYTES_PER_UNKNOWN * unknowns) / 1e6


def _memory(table: pl.DataFrame, shell: pl.DataFrame) -> Iterator[Verdict]:
    ours = table.filter(
        (pl.col("study") == PEERS)
        & (pl.col("adapter") == "juryrank")
        & (pl.col("votes") >= ONE_START_FROM)
        & pl.col("rise_fit_mb").is_not_null()
    )
    for row in ours.iter_rows(named=True):
        goal = f"{row['case']}: peak while fitting above the frame, to the coded votes"
        remark = f"{row['rise_fit_mb']:,.0f} MB; reading included, {row['rise_mb']:,.0f} MB"
        yield _at_most(5, goal, MEMORY_TO_CODED, row["rise_fit_mb"] / coded_mb(row), remark=remark)
    rows = {row["what"]: row for row in shell.iter_rows(named=True)}
    large, streamed = rows.get(LARGE, {}), rows.get(LARGE_STREAMED, {})
    ok = large.get("outcome") == outcomes.OK
    found = large["peak_mb"] if ok and large["votes"] >= LARGE_VOTES else None
    goal = f"{LARGE_VOTES:,} votes from Parquet in the shell: peak of the process, MB"
    yield _at_most(5, goal, LARGE_PEAK_MB, found, "{:,.0f}", "" if ok else large.get("outcome", ""))
    goal = "in less memory (--memory): largest difference of a score"
    found = streamed.get("difference")
    remark = f"peak {streamed['peak_mb']:,.0f} MB; {streamed['outcome']}" if streamed else ""
    yield _at_most(5, goal, SAME, found, "{:.1g}", remark)


def _growth(table: pl.DataFrame) -> Iterator[Verdict]:
    """Slopes in the number of votes are a goal; the others are shown."""
    for what, column in (("CPU time", "cpu"), ("memory", "rise_mb")):
        rows = growth_rows(table, "votes", "juryrank", column)
        found = slope(rows["votes"], rows[column]) if len(rows) > 1 else None
        yield _at_most(6, f"log-log slope of {what} in the number of votes", STEEPEST, found)


def growth_rows(table: pl.DataFrame, along: str, adapter: str, column: str) -> pl.DataFrame:
    """The cases of a growth study that came to an end."""
    return table.filter(
        (pl.col("study") == along) & (pl.col("adapter") == adapter) & (pl.col(column) > 0.0)
    ).sort(along)
