"""What runs in a process of its own: one job as JSON in, one line of JSON out.

python -m benchmarks.worker '{"job": "adapter", "adapter": "floor", ...}'
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import outcomes
from benchmarks.adapters import ADAPTERS, Adapter, Answer
from benchmarks.data import WARM_UP, frame_of
from benchmarks.measuring import Cost, measured

Row = dict[str, Any]

PROFILED = 15
"""So many functions are kept of a profile."""
SINGLE_PREDICTIONS = 1_000
PREDICTIONS = f"{SINGLE_PREDICTIONS:,} predictions, one at a time"
FIT_REPEATS = 20


def run_adapter(job: Mapping[str, Any]) -> Row:
    """Time one adapter on one case."""
    adapter = ADAPTERS[job["adapter"]]
    adapter.run(frame_of(WARM_UP))
    frame = pl.read_parquet(job["votes"])
    data, conversion = measured(adapter.convert, frame)
    answer, fit = measured(adapter.fit, data)
    del data
    return {
        "version": version(adapter.package),
        **_costs(conversion, fit),
        **judged(answer, frame, pl.read_parquet(job["truth"])),
        **_passes(adapter, frame, count=bool(job.get("passes"))),
    }


def _costs(conversion: Cost, fit: Cost) -> Row:
    before = conversion.before
    return {
        "cpu": conversion.cpu + fit.cpu,
        "cpu_conversion": conversion.cpu,
        "wall": conversion.wall + fit.wall,
        "peak_mb": max(conversion.peak, fit.peak),
        "rise_mb": max(conversion.peak, fit.peak) - before,
        "rise_fit_mb": fit.peak - before,
    }


def judged(answer: Answer, frame: pl.DataFrame, truth: pl.DataFrame) -> Row:
    """How right an answer is, and what to call it."""
    tau = outcomes.agreement(answer.scores, truth)
    step = outcomes.largest_step(frame, answer.scores) if answer.likelihood else None
    return {
        "tau": tau.answer,
        "tau_wins": tau.wins,
        "step": step,
        "outcome": outcomes.outcome(
            tau.answer, tau.wins, converged=answer.converged, step=step
        ),
    }  # fmt: skip


def _passes(adapter: Adapter, frame: pl.DataFrame, *, count: bool) -> Row:
    """Fit once more, not timed, and count how often the votes are gone over."""
    if not count:
        return {}
    from benchmarks.passes import counting

    with counting(len(frame)) as passes:
        adapter.run(frame)
    return {
        "evaluations": passes.evaluations,
        "starts": passes.cold_starts,
        "evaluations_per_start": passes.per_start,
        "work": passes.work,
    }


def run_profile(job: Mapping[str, Any]) -> Row:
    """Where the time of juryrank goes, on one thread."""
    adapter = ADAPTERS["juryrank-profiled"]
    adapter.run(frame_of(WARM_UP))
    frame = pl.read_parquet(job["votes"])
    profiler = cProfile.Profile()
    profiler.runcall(adapter.run, frame)
    # What `stats` is made of is documented nowhere else than in the module itself.
    table: dict[Any, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    rows = [
        {"function": _function(*where), "calls": calls, "own": own, "total": total}
        for where, (_, calls, own, total, _) in table.items()
    ]
    return {"functions": sorted(rows, key=lambda row: -row["own"])[:PROFILED]}


def _function(file: str, line: int, name: str) -> str:
    """A function by the last folders of its file, never the whole path."""
    if file.startswith("~"):
        return name
    return f"{'/'.join(Path(file).parts[-2:])}:{line} {name}"


def run_kernel(job: Mapping[str, Any]) -> Row:
    """Time the passes."""
    from benchmarks.kernel import kernel_rows

    return {"rows": kernel_rows(pl.read_parquet(job["votes"]), job["repeats"])}


def run_fit(job: Mapping[str, Any]) -> Row:
    """Time the fit alone, again and again: with and without intervals; and single predictions."""
    import juryrank as jr

    votes = jr.votes_from(pl.read_parquet(job["votes"]))
    found = {}
    for name, intervals in (("fit", None), ("fit with intervals", "information")):
        jr.rank(votes, intervals=intervals)  # type: ignore[arg-type]
        costs = [
            measured(lambda: jr.rank(votes, intervals=intervals))[1]  # type: ignore[arg-type]  # noqa: B023
            for _ in range(FIT_REPEATS)
        ]
        found[name] = _times(costs)
    ranking = jr.rank(votes)
    judge, (best, second) = ranking.judges["judge"][0], ranking.items["item"][:2]
    ranking.predict(judge, best, second)

    def predict() -> None:
        for _ in range(SINGLE_PREDICTIONS):
            ranking.predict(judge, best, second)

    found[PREDICTIONS] = _times([measured(predict)[1] for _ in range(FIT_REPEATS)])
    return found


def _times(costs: Sequence[Cost]) -> Row:
    return {"cpu": [cost.cpu for cost in costs], "wall": [cost.wall for cost in costs]}


def run_make(job: Mapping[str, Any]) -> Row:
    """Make the files of a case."""
    from benchmarks.data import files_of
    from benchmarks.grid import Case

    files = files_of(Case(**job["case"]), Path(job["folder"]))
    return {"votes": str(files.votes), "truth": str(files.truth)}


def run_ranking(job: Mapping[str, Any]) -> Row:
    """Time a fit of rankings."""
    from benchmarks.rankings import kind_row

    return kind_row(job["kind"])


JOBS: dict[str, Callable[[Mapping[str, Any]], Row]] = {
    "adapter": run_adapter,
    "profile": run_profile,
    "kernel": run_kernel,
    "fit": run_fit,
    "make": run_make,
    "ranking": run_ranking,
}


def done(job: Mapping[str, Any]) -> Row:
    """The result of a job, or why there is none."""
    try:
        return JOBS[job["job"]](job)
    except (ModuleNotFoundError, PackageNotFoundError) as error:
        return {"outcome": outcomes.failed(f"{error.name} is not installed")}
    except Exception as error:  # a peer may raise anything, and that is a result
        return {"outcome": outcomes.failed(f"{type(error).__name__}: {error}")}


def main() -> None:
    """Run the job given as the only argument."""
    warnings.simplefilter("ignore")
    job = json.loads(sys.argv[1])
    print(json.dumps({"home": _home(), **done(job)}))


def _home() -> str:
    import juryrank

    return str(Path(juryrank.__file__).resolve().parents[1])


if __name__ == "__main__":
    main()
