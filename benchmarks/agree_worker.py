"""What one commit answers: run as a file, in an environment that has this commit's juryrank.

It uses nothing but the public names of juryrank, so that older commits can run it too.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank as jr

UNNEEDED = ("reading", "folds", "seed")
"""Of an answer: how the votes were read, and what was asked for."""
PATH_OF_SOLVER = ("iterations", "effective_draws")
"""Of a fit: how the solver got to the answer."""


def main(folder: Path, jobs: Path, out: Path) -> None:
    """Do the jobs, and write the answers."""
    given = json.loads(jobs.read_text(encoding="utf-8"))
    answers = {}
    for job in given:
        print(job["name"], file=sys.stderr)  # what it was at, should it not come to an end
        answers[job["name"]] = answer_of(folder, job)
    found = {"home": str(Path(jr.__file__).resolve().parent), "answers": answers}
    out.write_text(json.dumps(found, default=str), encoding="utf-8")


def answer_of(folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """The answer as plain values, with the warnings issued; or the error."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            found = answered(folder, job)
        except jr.JuryrankError as error:
            return {"error": f"{type(error).__name__}: {error}"}
    kept = without(found.to_dict(), UNNEEDED)
    if isinstance(kept.get("fit"), dict):
        kept["fit"] = without(kept["fit"], PATH_OF_SOLVER)
    kept["issued"] = sorted(str(one.message) for one in issued)
    return kept


def answered(folder: Path, job: dict[str, Any]) -> Any:
    """Read the votes and do what is asked for."""
    files = [jr.read_votes(folder / name, **job["read"]) for name in job["files"]]
    votes = files[0] if len(files) == 1 else jr.join_votes(*files)
    options = {name: of_json(value) for name, value in job["rank"].items()}
    if options.get("noise") == "logistic":
        options["noise"] = jr.noise_from_log_density(logistic)
    return getattr(jr, job["call"])(votes, **options)


def logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the logistic density."""
    away = np.abs(x)
    return np.asarray(-away - 2.0 * np.log1p(np.exp(-away)))


def of_json(value: Any) -> Any:
    """Lists of numbers were tuples before they were JSON."""
    is_pair = isinstance(value, list) and all(isinstance(one, float) for one in value)
    return tuple(value) if is_pair else value


def without(answer: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The answer without some of its parts."""
    return {name: value for name, value in answer.items() if name not in names}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
