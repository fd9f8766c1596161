"""docs/benchmarks.md: all that is on the page comes from the CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import outcomes
from benchmarks.adapters import ADAPTERS
from benchmarks.goals import STEEPEST, Verdict, growth_rows, verdicts
from benchmarks.grid import PEERS, SIZES
from benchmarks.results import Results, read_results, slope, steepest, summary
from juryrank.charts.library import altair, png
from juryrank.writing.atomic import write_bytes, write_text

Row = dict[str, Any]

METHOD = f"""\
# Benchmarks

This page is made by `python -m benchmarks page` from what `python -m benchmarks run` has measured
(`make bench` for the short grid, `make bench-full` for the full one); the grid is
`benchmarks/grid.toml`.

- **Votes** are drawn from HBTL: scores from N(0, 1), accuracies log-normal around 1 (in the cases
  "backwards" a third of them negative), judges and pairs at random, in no order. They start as a
  polars frame in memory with string ids (judge, left, right, winner) and end as a ranking.
- **Every run is a process of its own**, which first ranks 100,000 other votes so that imports are
  not counted. CPU time is user and system time of all
  threads; conversion is the part that makes of the frame what the program takes. Shown are the best
  and the median of the repeats; what takes long is run once. Programs run with their own default
  number of threads.
- **Memory** is the peak above what was in use, the frame included, when the run began. Of it
  juryrank takes 9 bytes for each vote (winner, loser, outcome), one more if ties are an outcome and
  one if sides matter; for the errors of up to 3,000 items three matrices of items by items, 8 bytes
  a number; and where a judge is suspected of pushing an item, 8 bytes of weight for each vote while
  that is looked into.
- **Outcomes.** *not converged*: the program says so; or, for maximum likelihood, some score would
  still move by more than {outcomes.STEP:g} of its standard error (`step`). *wrong*: Kendall's tau
  to the true scores is more than {outcomes.MARGIN:g} below that of counting wins. *timed out*: not
  done within the limit, reading and warm-up included. *failed*: with the reason. The CPU time of a
  program that did not converge is shown as it is; it would need more.
- A ratio below 1 means that juryrank takes less. juryrank estimates accuracies of judges, with
  intervals; of the peers only crowd-kit's noisy model knows judges, only arena-rank has intervals.
- **Where goals are missed.** Up to 100,000 votes the time goes to fixed costs: polars and Python,
  in many small steps, and the part of the votes that is sampled to choose the prior. With more
  votes, memory goes to matrices of items by items, to draws, and to what tastes are measured by.
  One ranking of each of 5,000 judges is few for each judge, so that it is sampled: 600 rounds of
  55,000 unknowns, with a taste for each item of each. A normal around the best fit would take a
  tenth of the time, but in simulations only about half of its 95 % intervals contained the truth.
  Of rankings under normal noise the time goes to integrals, and to the part that is sampled.
  Most of `make demo` is compiling the core, which an installation from a wheel does without; a
  third of that is reading the templates of the bindings, whatever the optimisation.
"""
NOTHING = "Nothing has been measured yet: run `make bench-full`, then `python -m benchmarks page`."


def write_page(folder: Path, page: Path) -> list[Path]:
    """Write the page and its pictures (beside the results); the files written."""
    results = read_results(folder)
    pictures = _pictures(results) if results.measured else {}
    page.parent.mkdir(parents=True, exist_ok=True)
    paths = [page]
    for name, picture in pictures.items():
        path = page.parent / page.stem / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, picture)
        paths.append(path)
    lines = page_lines(results, [f"{page.stem}/{name}.png" for name in pictures])
    write_text(page, "\n".join(lines) + "\n")
    return paths


def page_lines(results: Results, pictures: Sequence[str] = ()) -> Iterator[str]:
    """The page, line by line."""
    yield METHOD
    if not results.measured:
        yield NOTHING
        return
    yield from _machine(results.machine)
    found = verdicts(results)
    yield from _goals(found)
    yield from _cases(summary(results.runs))
    yield from _kernel(results.kernel)
    yield from _shell(results.shell)
    yield from _rankings(results.rankings)
    yield from _install(results.install)
    yield from _growth(summary(results.runs))
    for picture in pictures:
        yield f"![{Path(picture).stem.replace('-', ' ')}]({picture})\n"
    yield from _mapped(results.mapped)
    yield from _cluster(results.cluster)
    yield from _profiles(results.profile, missed=any(one.reached is False for one in found))
    yield from _adapters(results.runs)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table in Markdown; numbers to the right."""
    body = [[_cell(value) for value in row] for row in rows]
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in body:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "/")


def number(value: float) -> str:
    """Three digits, and no more than it takes."""
    if abs(value) >= 100.0:
        return f"{value:,.0f}"
    for least, form in ((10.0, "{:.1f}"), (1.0, "{:.2f}"), (0.01, "{:.3f}")):
        if abs(value) >= least:
            return form.format(value)
    return f"{value:.2g}"


def _machine(machine: Row) -> Iterator[str]:
    if not machine:
        return
    yield "## Machine and versions\n"
    yield (
        f"{machine['cores']} cores of {machine['processor']}, {machine['memory_gb']:g} GB, "
        f"{machine['system']}, Python {machine['python']}, {machine['compiler']} "
        f"(`{machine['compiler_flags']}`); when it began, {machine['cores_free_before']:g} cores "
        f"were free and the load was {machine['load_before']:g}; "
        f'grid "{machine["grid"]}"; juryrank at commit {machine["commit"]}.\n'
    )
    anew = machine.get("measured_anew", {})
    if anew:
        said = (
            f"{name} (commit {how['commit']}, {how['cores_free_before']:g} cores free)"
            for name, how in anew.items()
        )
        yield f"Measured anew later: {', '.join(said)}.\n"
    versions = machine["versions"].items()
    yield ", ".join(f"{name} {found or '(not installed)'}" for name, found in versions) + ".\n"


def _goals(found: Sequence[Verdict]) -> Iterator[str]:
    yield "## The goals\n"
    words = [one.word for one in found]
    counted = (f"{words.count(word)} {word}" for word in ("reached", "missed", "not measured"))
    yield ", ".join(counted) + ".\n"
    head = ("", "goal", "limit", "measured", "", "remark")
    yield from table(
        head,
        ((one.number, one.goal, one.limit, one.measured, one.word, one.remark) for one in found),
    )


def _cases(runs: pl.DataFrame) -> Iterator[str]:
    """A table for each case."""
    yield "## From a frame of string ids to a ranking\n"
    compared = runs.filter(study=PEERS)
    for case in compared["case"].unique(maintain_order=True):
        rows = compared.filter(case=case).sort("cpu", nulls_last=True).to_dicts()
        one = rows[0]
        backwards = f", {one['backwards']:.0%} of them backwards" if one["backwards"] else ""
        yield (
            f"### {case}\n\n{one['votes']:,} votes, {one['items']:,} items, "
            f"{one['judges']:,} judges{backwards}\n"
        )
        yield from table(_CASE_HEAD, (_case_row(row) for row in rows))


_CASE_HEAD = (
    "adapter", "outcome", "CPU s, best", "median", "of it conversion", "wall s", "memory MB",
    "Kendall's tau", "step", "evaluations", "runs",
)  # fmt: skip


def _case_row(row: Row) -> tuple[object, ...]:
    limit = f" ({row['limit']:g} s)" if row["outcome"] == outcomes.TIMED_OUT else ""
    return (
        f"{row['adapter']} {row['version'] or ''}".strip(), row["outcome"] + limit, row["cpu"],
        row["cpu_median"], row["cpu_conversion"], row["wall"], row["rise_mb"], row["tau"],
        row["step"], row["evaluations"], row["repeats"],
    )  # fmt: skip


def _kernel(kernel: pl.DataFrame) -> Iterator[str]:
    if kernel.is_empty():
        return
    votes = kernel["votes"].drop_nulls().to_list()
    in_c = dict(kernel.filter(pl.col("pass") == "c").select("threads", "ns_per_vote").iter_rows())
    yield "## One pass over the votes\n"
    yield (
        f"Value and both gradients over {max(votes, default=0):,} votes: `Objective.gradients` "
        "beside `benchmarks/pass.c`, plain numpy, and reading the bytes. Errors come from a pass "
        "over second derivatives (curvature), or from one that finds what tastes do to them, too: "
        "all that a judge says of an item, and of two items, is added up first. That takes "
        "numbering the items of each judge, finding its repeated pairs and adding to two opinions "
        "for each vote, some 2 ns each.\n"
    )
    rows = (
        (
            row["pass"], row["threads"], row["ns_per_vote"], row["ns_per_vote_median"],
            row["cpu_ns_per_vote"], _ratio(row["ns_per_vote"], in_c.get(row["threads"])),
            row["outcome"],
        )
        for row in kernel.iter_rows(named=True)
    )  # fmt: skip
    head = ("pass", "threads", "ns/vote, best", "median", "CPU ns/vote", "to C", "outcome")
    yield from table(head, rows)


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


def _shell(shell: pl.DataFrame) -> Iterator[str]:
    if shell.is_empty():
        return
    yield "## From the shell, and the fit alone\n"
    rows = (
        shell.group_by("what", maintain_order=True)
        .agg(
            pl.col("votes").first(),
            pl.col("cpu").min(),
            pl.col("cpu").median().alias("median"),
            pl.col("wall").min(),
            pl.col("peak_mb").max(),
            pl.len().alias("runs"),
            pl.col("outcome").first(),
        )
        .iter_rows()
    )
    head = (
        "what", "votes", "CPU s, best", "median", "wall s", "peak of the process MB", "runs",
        "outcome",
    )  # fmt: skip
    yield from table(head, rows)


def _rankings(rankings: pl.DataFrame) -> Iterator[str]:
    if rankings.is_empty():
        return
    yield "## Rankings\n"
    yield "Simulated; one fit with the prior chosen by the data, and intervals.\n"
    rows = (
        rankings.group_by("what", maintain_order=True)
        .agg(pl.col("cpu").min(), pl.col("wall").min(), pl.len(), pl.col("outcome").first())
        .iter_rows()
    )
    yield from table(("what", "CPU s, best", "wall s", "runs", "outcome"), rows)


def _install(install: pl.DataFrame) -> Iterator[str]:
    if install.is_empty():
        return
    yield "## Installing, and the first run\n"
    yield "Wheels of other packages are in pip's cache; the core is compiled.\n"
    rows = (
        install.group_by("what", maintain_order=True)
        .agg(pl.col("cpu").min(), pl.col("wall").min(), pl.col("size_mb").max(), pl.len())
        .iter_rows()
    )
    yield from table(("what", "CPU s, best", "wall s", "MB on disk", "runs"), rows)


def _growth(runs: pl.DataFrame) -> Iterator[str]:
    rows = []
    for along in SIZES:
        grown = runs.filter(study=along)
        for adapter in grown["adapter"].unique(maintain_order=True):
            for what, column in (("CPU time", "cpu"), ("memory", "rise_mb")):
                points = growth_rows(runs, along, adapter, column)
                if len(points) > 1:
                    x, y = points[along], points[column]
                    span = f"{x[0]:,} to {x[-1]:,}"
                    rows.append((along, span, adapter, what, slope(x, y), steepest(x, y)))
    if rows:
        yield "## Growth\n"
        yield f"Slopes in logarithms; the goal for votes is at most {STEEPEST}.\n"
        head = ("along", "from", "adapter", "of", "slope", "steepest piece")
        yield from table(head, rows)


def _mapped(mapped: Row) -> Iterator[str]:
    if not mapped:
        return
    yield "## Ever more votes, in files that are mapped to memory\n"
    columns = (
        "votes",
        "items",
        "judges",
        "memory",
        "load",
        "cpu_s",
        "wall_s",
        "peak_mb",
        "outcome",
    )
    head = (
        "votes", "items", "judges", "--memory", "load", "CPU s", "wall s", "peak MB", "outcome",
    )  # fmt: skip
    yield from table(head, ([row[name] for name in columns] for row in mapped["rows"]))
    if "slope" in mapped:
        off = ", ".join(f"{one:+.0%}" for one in mapped["off_by"])
        yield (
            "From the shell, reading included (`python -m benchmarks.mapped`). CPU time grows with "
            f"the power {mapped['slope']:.2f} of the number of votes; it is off that line by "
            f"{off}. From one number to the next the power is {mapped['steepest']:.2f} at most.\n"
        )


def _cluster(cluster: Row) -> Iterator[str]:
    if not cluster:
        return
    yield "## On Dask\n"
    of_threads = (
        f"{cluster['threads']} threads", cluster["threads_cpu_s"], 1.0, cluster["threads_wall_s"],
        *[None] * 6,
    )  # fmt: skip
    columns = (
        "workers", "cpu_s", "cpu_to_that_of_threads", "wall_s", "load", "peak_of_a_worker_mb",
        "tasks_per_round", "sent_per_round_bytes", "received_per_round_bytes",
        "client_and_scheduler_cpu_per_round_ms",
    )  # fmt: skip
    rows = ([row[name] for name in columns] for row in cluster["on_workers"])
    head = (
        "workers", "CPU s", "to threads", "wall s", "load", "peak of a worker MB",
        "tasks a round", "bytes sent", "received", "CPU ms of client and scheduler",
    )  # fmt: skip
    yield from table(head, (of_threads, *rows))
    same = "the same" if cluster["same_bits"] else "not the same"
    yield (
        f"{cluster['votes']:,} votes by {cluster['judges']:,} judges on {cluster['items']:,} "
        "items, from a file of Parquet to everything that `rank` gives "
        "(`python -m benchmarks.cluster`). "
        f"All numbers of workers give {same} bits.\n"
    )


def _profiles(profile: pl.DataFrame, *, missed: bool) -> Iterator[str]:
    """Where the time goes, if some goal was missed."""
    if profile.is_empty() or not missed:
        return
    yield "## Where the time goes\n"
    yield "HBTL with intervals on one thread, from the frame; the profiler itself takes some too.\n"
    for case in profile["case"].unique(maintain_order=True):
        rows = profile.filter(case=case).select("function", "calls", "own", "total").iter_rows()
        yield f"### {case}\n"
        yield from table(("function", "calls", "own s", "with what it calls"), rows)


def _adapters(runs: pl.DataFrame) -> Iterator[str]:
    yield "## What each adapter does\n"
    used = runs["adapter"].unique(maintain_order=True)
    yield from table(("adapter", ""), ((name, ADAPTERS[name].note) for name in used))


# --- pictures ------------------------------------------------------------------------------------


def _pictures(results: Results) -> dict[str, bytes]:
    """Charts by name, as PNG."""
    runs = summary(results.runs).filter(pl.col("cpu").is_not_null())
    charts: dict[str, Any] = {}
    compared = runs.filter((pl.col("study") == PEERS) & (pl.col("backwards") == 0.0))
    if len(compared):
        charts["cpu-time"] = _chart_of_cases(compared)
    grown = runs.filter(pl.col("study").is_in(SIZES))
    for what, column in (("CPU seconds", "cpu"), ("memory above the frame, MB", "rise_mb")):
        if len(grown):
            charts["growth-" + column.split("_")[0]] = _chart_of_growth(grown, what, column)
    return {name: png(chart) for name, chart in charts.items()}


def _chart_of_cases(runs: pl.DataFrame) -> Any:
    alt = altair()
    rows = runs.select("case", "adapter", "outcome", "cpu").to_dicts()
    return (
        alt.Chart(alt.Data(values=rows), width=460, height=alt.Step(14))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("cpu:Q", scale=alt.Scale(type="log"), title="CPU seconds, best"),
            y=alt.Y("adapter:N", sort="x", title=None),
            color=alt.Color("outcome:N", title=None),
            row=alt.Row("case:N", sort=runs["case"].unique(maintain_order=True).to_list()),
        )
        .resolve_scale(y="independent")
    )


def _chart_of_growth(runs: pl.DataFrame, what: str, column: str) -> Any:
    alt = altair()
    logarithmic = alt.Scale(type="log")
    charts = []
    for along in SIZES:
        rows = runs.filter((pl.col("study") == along) & (pl.col(column) > 0.0))
        if rows.is_empty():
            continue
        charts.append(
            alt.Chart(
                alt.Data(values=rows.select(along, "adapter", column).to_dicts()),
                width=220,
                height=220,
            )
            .mark_line(point=True)
            .encode(
                x=alt.X(f"{along}:Q", scale=logarithmic, title=along),
                y=alt.Y(f"{column}:Q", scale=logarithmic, title=what),
                color=alt.Color("adapter:N", title=None),
            )
        )
    return alt.hconcat(*charts)
