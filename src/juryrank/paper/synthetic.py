"""The paper's four synthetic tables.

20 items with scores ``i / 20``; 9 judges, three of accuracy ``gamma_a`` and six of ``gamma_b``, in
the adversarial tables one of the three and two of the six with the sign turned round. Each judge
answers each of the 380 ordered pairs with probability alpha. Each cell is the mean of Kendall's tau
between the estimated and the true scores. The text of the paper says "uniformly distributed"
scores; evenly spaced ones reproduce its numbers.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import platformdirs
import polars as pl
from scipy.stats import kendalltau

from juryrank import __version__
from juryrank.errors import InputError, JuryrankWarning, require_seed
from juryrank.model.noise import noise_named
from juryrank.model.objective import Objective
from juryrank.paper import TABLES
from juryrank.paper.published import synthetic_tables
from juryrank.progress import Progress, Watcher
from juryrank.ranking.rank import rank
from juryrank.reading import votes_from
from juryrank.simulation.simulation import simulate
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.threads import available_threads, one_blas_thread
from juryrank.types import Floats
from juryrank.votes.votes import Votes

ITEMS = 20
SCORES = np.arange(1, ITEMS + 1) / ITEMS
CELL = ["alpha", "gamma_b", "gamma_a"]
ALPHAS = (0.8, 0.6, 0.4, 0.2)
GAMMAS_A = (2.5, 5.0, 10.0)
GAMMAS_B = (0.25, 1.0, 2.5)
PUBLISHED_METHODS = {"gumbel": ("btl", "crowdbt", "hbtl"), "normal": ("tcv", "crowdtcv", "htcv")}
PAPER_TRIALS = 100
BATCH = 5
AGREES_WITHIN = 3.0
"""Standard errors of the difference of two means."""

STEP = 0.015
STEP_OF_ACCURACIES = 0.15 * STEP
# The paper's loss for normal noise is that of Phi(x); ours is that of Phi(x / sqrt 2), on which the
# same path takes twice the step in the scores.
STEP_OF_SCORES = {"gumbel": STEP, "normal": 2.0 * STEP}

"""Called with (trials done, trials in all)."""


@dataclass(frozen=True, order=True)
class Cell:
    """One setting of one table."""

    table: str
    alpha: float
    gamma_b: float
    gamma_a: float

    @property
    def noise(self) -> str:
        """The family of the noise."""
        return self.table.split("-")[0]

    def accuracies(self) -> list[float]:
        """The nine judges, three of group A first."""
        signs = [-1, 1, 1, -1, -1, 1, 1, 1, 1] if self.table.endswith("adversarial") else [1] * 9
        sizes = [self.gamma_a] * 3 + [self.gamma_b] * 6
        return [sign * size for sign, size in zip(signs, sizes, strict=True)]


def cells(table: str) -> list[Cell]:
    """The 36 cells of a table, in the paper's order."""
    if table not in TABLES:
        raise InputError(f"There is no table {table!r}. Tables: {', '.join(TABLES)}.")
    return [Cell(table, alpha, b, a) for alpha in ALPHAS for b in GAMMAS_B for a in GAMMAS_A]


def run_trial(cell: Cell, seed: int, trial: int) -> dict[str, float]:
    """Kendall's tau of every method on one simulated data set.

    Beside the paper's three methods: ``juryrank`` is our `rank` as it comes, ``unguarded`` the same
    without the guard against judges who push one item; ``oracle`` is told the true accuracies;
    ``oriented`` is the converged fit that starts from the true scores, and so shows what is lost to
    not knowing which end is up.
    """
    made = simulate(
        scores=SCORES.tolist(),
        accuracies=cell.accuracies(),
        model="htm",
        noise=cell.noise,
        density=cell.alpha,
        seed=_trial_seed(cell, seed, trial),
    )
    votes = votes_from(made.votes)
    found = {name: fit(votes, cell) for name, fit in _methods(cell.noise).items()}
    return {name: _tau(votes, score) for name, score in found.items()}


def _trial_seed(cell: Cell, seed: int, trial: int) -> int:
    setting = (TABLES.index(cell.table), *(int(100 * value) for value in
             (cell.alpha, cell.gamma_b, cell.gamma_a)))  # fmt: skip
    return int(np.random.SeedSequence([seed, *setting, trial]).generate_state(1)[0])


def _tau(votes: Votes, score: Floats) -> float:
    truth = {f"item-{number:02d}": SCORES[number - 1] for number in range(1, ITEMS + 1)}
    return float(kendalltau(score, [truth[item] for item in votes.items]).statistic)


# --- the methods ---------------------------------------------------------------------------------


def _methods(noise: str) -> dict[str, Callable[[Votes, Cell], Floats]]:
    homogeneous, crowd, heterogeneous = PUBLISHED_METHODS[noise]
    return {
        homogeneous: _equal_judges,
        crowd: _crowd,
        heterogeneous: _algorithm_1,
        "juryrank": _our_default,
        "unguarded": _our_default_unguarded,
        "oracle": _oracle,
        "oriented": _oriented,
    }


def _objective(votes: Votes, cell: Cell, accuracy: Floats | None) -> Objective:
    noise = noise_named(cell.noise)
    return Objective(votes.for_model(), noise, fixed_accuracy=accuracy)


def _equal_judges(votes: Votes, cell: Cell) -> Floats:
    return ProfileSolver().solve(_objective(votes, cell, np.ones(9))).score


def _crowd(votes: Votes, cell: Cell) -> Floats:
    return CrowdSolver().solve(_objective(votes, cell, np.ones(9))).score


def _algorithm_1(votes: Votes, cell: Cell) -> Floats:
    solver = PaperSolver(STEP_OF_SCORES[cell.noise], STEP_OF_ACCURACIES, order="accuracy-first")
    return solver.solve(_objective(votes, cell, None)).score


def _our_default(votes: Votes, cell: Cell) -> Floats:  # noqa: ARG001
    return _ranked(votes, guard=True)


def _our_default_unguarded(votes: Votes, cell: Cell) -> Floats:  # noqa: ARG001
    return _ranked(votes, guard=False)


def _ranked(votes: Votes, *, guard: bool) -> Floats:
    ranking = rank(votes, guard=guard, tastes=False, intervals="information", threads=1)
    by_item = dict(zip(ranking.items["item"], ranking.items["score"], strict=True))
    return np.array([by_item[item] for item in votes.items])


def _oracle(votes: Votes, cell: Cell) -> Floats:
    return ProfileSolver().solve(_objective(votes, cell, np.array(cell.accuracies()))).score


def _oriented(votes: Votes, cell: Cell) -> Floats:
    return ProfileSolver().solve(_objective(votes, cell, None), SCORES - SCORES.mean()).score


# --- all trials of a table -----------------------------------------------------------------------


def run_table(
    table: str,
    *,
    trials: int = PAPER_TRIALS,
    seed: int = 0,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> pl.DataFrame:
    """Run all trials of a table on all cores; a run that was interrupted continues.

    Returns a frame with a row for each cell and trial, and a column for each method.
    """
    require_seed(seed)
    if trials < 2:
        raise InputError(f"trials={trials} must be at least 2: one has no standard deviation.")
    wanted = [(cell, trial) for cell in cells(table) for trial in range(trials)]
    kept = _kept_file(table, seed)
    done = _kept_trials(kept)
    missing = [key for key in wanted if key not in done]
    computed = _computed(missing, seed, jobs or available_threads())
    for number, (key, taus) in enumerate(computed, start=1):
        done[key] = taus
        _keep(kept, key, taus)
        if progress:
            finished = len(wanted) - len(missing) + number
            progress(Progress("study", table, finished, len(wanted)))
    rows = [asdict(cell) | {"trial": trial} | done[cell, trial] for cell, trial in wanted]
    kept.unlink(missing_ok=True)
    return pl.DataFrame(rows)


_Key = tuple[Cell, int]


def _computed(missing: list[_Key], seed: int, jobs: int) -> Iterator[tuple[_Key, dict[str, float]]]:
    batches = [missing[a : a + BATCH] for a in range(0, len(missing), BATCH)]
    if jobs == 1 or len(batches) < 2:
        for batch in batches:
            yield from _run_batch(batch, seed)
        return
    # A new interpreter each: a forked one would share polars' threads and locks.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running: list[Future[list[tuple[_Key, dict[str, float]]]]] = [
            pool.submit(_run_batch, batch, seed) for batch in batches
        ]
        for future in as_completed(running):
            yield from future.result()


def _run_batch(batch: list[_Key], seed: int) -> list[tuple[_Key, dict[str, float]]]:
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        return [(key, run_trial(key[0], seed, key[1])) for key in batch]


def _kept_file(table: str, seed: int) -> Path:
    folder = Path(platformdirs.user_cache_dir("juryrank")) / "paper"
    return folder / f"{table}-seed{seed}-version{__version__}.ndjson"


def _kept_trials(file: Path) -> dict[_Key, dict[str, float]]:
    """What an interrupted run has left; a line that was cut off is run again."""
    done = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        done[Cell(**row["cell"]), row["trial"]] = row["tau"]
    return done


def _keep(file: Path, key: _Key, taus: dict[str, float]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        row = {"cell": asdict(key[0]), "trial": key[1], "tau": taus}
        lines.write(json.dumps(row) + os.linesep)


# --- the table -----------------------------------------------------------------------------------


def summary(trials: pl.DataFrame) -> pl.DataFrame:
    """One row for each cell and method, beside what the paper prints.

    ``difference_in_se`` is (our mean - published mean) in standard errors of that difference;
    ``upside_down`` is the share of trials that end with a negative tau.
    """
    keys = ["table", *CELL]
    methods = [name for name in trials.columns if name not in (*keys, "trial")]
    ours = (
        trials.unpivot(methods, index=keys, variable_name="method", value_name="tau")
        .group_by([*keys, "method"], maintain_order=True)
        .agg(
            tau_mean=pl.col("tau").mean(),
            tau_std=pl.col("tau").std(),
            upside_down=(pl.col("tau") < 0).mean(),
            trials=pl.len(),
        )
    )
    published = synthetic_tables().select(
        table=pl.col("setting").str.replace("_", "-"),
        alpha=pl.col("alpha"),
        gamma_b=pl.col("gamma_b"),
        gamma_a=pl.col("gamma_a").cast(pl.Float64),
        method=pl.col("method").str.to_lowercase(),
        published_mean=pl.col("tau_mean"),
        published_std=pl.col("tau_std"),
    )
    error = (
        pl.col("tau_std") ** 2 / pl.col("trials") + pl.col("published_std") ** 2 / PAPER_TRIALS
    ).sqrt()
    joined = ours.join(published, on=[*keys, "method"], how="left", maintain_order="left")
    difference = pl.col("tau_mean") - pl.col("published_mean")
    return joined.with_columns(difference_in_se=difference / error)


def verdict(table: pl.DataFrame) -> str:
    """How many of the published cells agree with ours."""
    compared = table.filter(pl.col("published_mean").is_not_null())
    agreeing = int((compared["difference_in_se"].abs() <= AGREES_WITHIN).sum())
    return (
        f"{agreeing} of {len(compared)} published cells agree within {AGREES_WITHIN:g} standard "
        "errors of the difference of means."
    )


def gap_closed(table: pl.DataFrame) -> pl.DataFrame:
    """For each cell: the share of the gap from equal judges to the oracle that we close."""
    homogeneous = published_methods(table)[0]
    wide = table.pivot("method", index=CELL, values="tau_mean", maintain_order=True)
    gap = pl.col("oracle") - pl.col(homogeneous)
    return wide.with_columns(gap_closed=(pl.col("juryrank") - pl.col(homogeneous)) / gap)


def published_methods(table: pl.DataFrame) -> tuple[str, str, str]:
    """The paper's three methods for the noise of a table."""
    return PUBLISHED_METHODS[str(table["table"][0]).split("-")[0]]
