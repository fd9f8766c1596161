"""One pass over the votes: juryrank's compiled one beside C, numpy, and reading the bytes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from benchmarks.measuring import cpu_seconds
from juryrank.inference.many_votes import tastes_seen
from juryrank.model.noise import NOISES
from juryrank.model.objective import Gradients, Objective
from juryrank.solvers.solution import Solution
from juryrank.threads import one_blas_thread
from juryrank.types import Floats

SOURCE = Path(__file__).with_name("pass.c")
FLAGS = ("-O3", "-march=native", "-ffast-math", "-fPIC")
THREADS = (1, 2)

Row = dict[str, Any]


class NoCompilerError(Exception):
    """There is no C version, and why."""


class CPass:
    """The pass in C, compiled on the spot."""

    def __init__(self) -> None:
        self.library = _compiled()
        self.has_threads = bool(self.library.has_threads())

    def gradients(
        self, objective: Objective, score: Floats, accuracy: Floats, threads: int = 1
    ) -> Gradients:
        """As `Objective.gradients` without priors."""
        wins = objective.votes.pairs
        gradient, accuracy_gradient = np.zeros(objective.n_items), np.empty(objective.n_judges)
        arrays = (
            np.ascontiguousarray(wins.start, np.int64), np.ascontiguousarray(wins.winner, np.int32),
            np.ascontiguousarray(wins.loser, np.int32),
            wins.given_weight,
            score, accuracy, gradient, accuracy_gradient,
        )  # fmt: skip
        value = self.library.votes_pass(
            ctypes.c_int64(objective.n_judges),
            ctypes.c_int64(objective.n_items),
            *(None if array is None else ctypes.c_void_p(array.ctypes.data) for array in arrays),
            ctypes.c_int(threads),
        )
        return Gradients(float(value), gradient, accuracy_gradient)


def _compiled() -> ctypes.CDLL:
    compiler = shutil.which("cc")
    if compiler is None:
        raise NoCompilerError("there is no C compiler (cc)")
    with tempfile.TemporaryDirectory() as folder:
        parts, made = Path(folder) / "pass.o", Path(folder) / "pass.so"
        for threads in (("-fopenmp",), ()):
            # Linked apart: with -ffast-math the linker adds code that switches off the smallest
            # numbers in the whole process.
            compiling = [compiler, *FLAGS, *threads, "-c", str(SOURCE), "-o", str(parts)]
            linking = [compiler, "-shared", *threads, str(parts), "-o", str(made), "-lm"]
            said = _error_of(compiling) or _error_of(linking)
            if not said:
                library = ctypes.CDLL(str(made))
                library.votes_pass.restype = ctypes.c_double
                return library
    raise NoCompilerError(f"cc failed: {' '.join(said.split())[:200]}")


def _error_of(command: list[str]) -> str:
    """What a command complains about; nothing if it succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr or "no reason given" if done.returncode else ""


def compiler_version() -> str:
    """The first line the compiler says of itself."""
    compiler = shutil.which("cc")
    if compiler is None:
        return "none"
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


def objective_of(frame: pl.DataFrame, noise: str, threads: int = 1) -> Objective:
    """Votes and noise, without priors, and accuracies that are unknowns."""
    votes = jr.votes_from(frame)
    return Objective(votes.for_model(), NOISES[noise], threads=threads)


def numpy_pass(objective: Objective, score: Floats, accuracy: Floats) -> Gradients:
    """The same as one would write it."""
    wins = objective.votes.pairs
    judge = np.repeat(np.arange(objective.n_judges), np.diff(wins.start))
    a, gap = accuracy[judge], score[wins.winner] - score[wins.loser]
    x = a * gap
    value = float(wins.weight @ np.logaddexp(0.0, -x))
    pull = -wins.weight / (1.0 + np.exp(x))
    n, m = objective.n_items, objective.n_judges
    gradient = np.bincount(wins.winner, a * pull, n) - np.bincount(wins.loser, a * pull, n)
    accuracy_gradient = np.bincount(judge, pull * gap, m)
    return Gradients(value, gradient.astype(np.float64), accuracy_gradient.astype(np.float64))


def read_bytes(objective: Objective) -> float:
    """Go over all bytes of the votes once."""
    wins = objective.votes.pairs
    weights = 0.0 if wins.given_weight is None else float(wins.given_weight.sum())
    return weights + int(wins.winner.sum()) + int(wins.loser.sum())


def kernel_rows(frame: pl.DataFrame, repeats: int) -> list[Row]:
    """Time every version of the pass: one row each."""
    gumbel = objective_of(frame, "gumbel")
    normal = replace(gumbel, noise=NOISES["normal"])
    rng = np.random.default_rng(0)
    point = rng.normal(0.0, 1.0, gumbel.n_items), rng.lognormal(0.0, 0.5, gumbel.n_judges)
    runs: list[tuple[str, int, Callable[[], object]]] = []
    for threads in THREADS:
        for name, objective in (("juryrank-hbtl", gumbel), ("juryrank-htcv", normal)):
            runs.append((name, threads, _gradients(replace(objective, threads=threads), *point)))
    runs += _for_errors(gumbel, *point)
    rows, in_c = _in_c(gumbel, *point)
    runs += in_c
    runs.append(("numpy", 1, lambda: numpy_pass(gumbel, *point)))
    runs.append(("read", 1, lambda: read_bytes(gumbel)))
    votes = gumbel.votes.pairs.number
    with one_blas_thread():  # as in `rank`
        timed = [_timed(name, threads, votes, work, repeats) for name, threads, work in runs]
    return timed + rows


def _gradients(objective: Objective, score: Floats, accuracy: Floats) -> Callable[[], object]:
    return lambda: objective.gradients(score, accuracy)


def _for_errors(
    objective: Objective, score: Floats, accuracy: Floats
) -> list[tuple[str, int, Callable[[], object]]]:
    """The passes that errors come from: without tastes, and with them."""
    at = Solution(score, accuracy, value=0.0, converged=True, iterations=0)
    return [
        ("juryrank-curvature", 1, lambda: objective.curvature(score, accuracy)),
        ("juryrank-tastes", 1, lambda: tastes_seen(objective, at)),
    ]


def _in_c(
    objective: Objective, score: Floats, accuracy: Floats
) -> tuple[list[Row], list[tuple[str, int, Callable[[], object]]]]:
    """The passes in C, or a row that says why there are none."""
    try:
        in_c = CPass()
    except NoCompilerError as error:
        return [{"pass": "c", "threads": 1, "outcome": f"skipped: {error}"}], []
    counts = THREADS if in_c.has_threads else THREADS[:1]
    return [], [
        ("c", threads, partial(in_c.gradients, objective, score, accuracy, threads))
        for threads in counts
    ]


def _timed(name: str, threads: int, votes: int, work: Callable[[], object], repeats: int) -> Row:
    work()
    wall, cpu = [], []
    for _ in range(repeats):
        began, cpu_began = time.perf_counter(), cpu_seconds()
        work()
        wall.append(time.perf_counter() - began)
        cpu.append(cpu_seconds() - cpu_began)
    return {
        "pass": name,
        "threads": threads,
        "votes": votes,
        "ns_per_vote": 1e9 * min(wall) / votes,
        "ns_per_vote_median": 1e9 * float(np.median(wall)) / votes,
        "cpu_ns_per_vote": 1e9 * min(cpu) / votes,
        "outcome": "ok",
    }
