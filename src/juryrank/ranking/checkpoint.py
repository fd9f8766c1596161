"""A fit that can be stopped: how far it is stands in a file, and the same call goes on from there.

The file has the journal of the fit (`juryrank.solvers.journal`), and a fingerprint: a digest of the
votes, what was asked for, and the version of juryrank. It is an archive of numpy's, written beside
its place and put there when it is complete, so that it is whole whenever the process ends.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from juryrank import __version__
from juryrank.errors import InputError, JuryrankError
from juryrank.model.objective import Curvature
from juryrank.model.prior import EFFECT_SD, Prior
from juryrank.ranking.methods import ProfileMethod
from juryrank.ranking.task import Task
from juryrank.solvers.journal import Evaluation, Journal, Known, Measured, Search, digest_of
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.passes import Own, Pass
from juryrank.writing.atomic import followed, write_whole

AnyPath = str | os.PathLike[str]
Arrays = dict[str, np.ndarray[Any, Any]]

FORMAT = "juryrank fit 1"
STANDARD = "-"
LEAST_PAUSE = 3.0
"""Seconds between two writes,"""
PAUSE_PER_WRITE = 20.0
"""and at least so many times what the last one took."""
TRIED = np.array([-3.0, -0.5, 0.0, 0.5, 3.0])
"""Where noise is looked at, to tell one from another."""


@contextmanager
def resumable(task: Task, path: AnyPath | None) -> Iterator[Task]:
    """The task as one that keeps how far it is in a file, and goes on from what is there.

    The file is removed when the work is done. If it is stopped, the last that was found is kept.
    """
    if path is None:
        yield task
        return
    method = task.method
    if not isinstance(method, ProfileMethod):
        raise InputError(
            "resume (--resume) is for the profile solver; other methods begin again: omit it."
        )
    kept = _Checkpoint(_regular(Path(path)), _fingerprint(task))
    journal = Journal(kept.searches(), kept.keep)
    kept.write(journal)  # that it cannot be written is to be known before the work begins
    solver = replace(method.solver, journal=journal)
    try:
        yield replace(task, method=replace(method, solver=solver))
    except BaseException:
        with suppress(JuryrankError):  # what stopped the work is to be told
            kept.write(journal)
        raise
    kept.path.unlink(missing_ok=True)


def _regular(path: Path) -> Path:
    """The file itself, if a link leads to it; refuse what is there and keeps nothing."""
    if str(path) == STANDARD:
        raise InputError(
            "'-' is standard input, which cannot keep a fit: name a file for it (--resume), which "
            "need not exist yet."
        )
    try:
        found = followed(path)
    except OSError as error:
        raise InputError(
            f"{str(path)!r} cannot keep a fit: {error.strerror or error}. Name another file "
            "(--resume), which need not exist yet."
        ) from error
    if found.exists() and not found.is_file():
        raise InputError(
            f"{str(path)!r} is not a file that can keep a fit: name one for it (--resume), which "
            "need not exist yet."
        )
    return found


class _Checkpoint:
    """The file."""

    def __init__(self, path: Path, fingerprint: Mapping[str, str]) -> None:
        self.path, self._fingerprint = path, dict(fingerprint)
        self._next = 0.0

    def searches(self) -> list[Search]:
        """What is in the file; nothing if there is none."""
        if not self.path.exists():
            return []
        arrays = _read(self.path)
        head = json.loads(str(arrays["head"]))
        self._require_same(head["fingerprint"])
        return [_search(told, k, arrays) for k, told in enumerate(head["searches"])]

    def keep(self, journal: Journal) -> None:
        """Write the journal, unless that was done a moment ago."""
        if time.monotonic() >= self._next:
            self.write(journal)

    def write(self, journal: Journal) -> None:
        """Write the journal."""
        begun = time.monotonic()
        arrays: Arrays = {}
        told = [_told(search, k, arrays) for k, search in enumerate(journal.searches)]
        head = {"format": FORMAT, "fingerprint": self._fingerprint, "searches": told}
        arrays["head"] = np.array(json.dumps(head))

        def write(part: Path) -> None:
            with part.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)

        write_whole(self.path, write)
        now = time.monotonic()
        self._next = now + max(LEAST_PAUSE, PAUSE_PER_WRITE * (now - begun))

    def _require_same(self, there: Mapping[str, str]) -> None:
        here, name = self._fingerprint, str(self.path)
        way_out = "or name another file for this one (--resume)"
        if there["juryrank"] != here["juryrank"]:
            raise InputError(
                f"{name!r} holds a fit by juryrank {there['juryrank']}, and this is "
                f"{here['juryrank']}. Go on with that version, {way_out}."
            )
        other = [
            f"{key} {there.get(key)} there, {value} here"
            for key, value in here.items()
            if key != "votes" and there.get(key) != value
        ]
        if other:
            raise InputError(
                f"{name!r} holds a fit with other options: {'; '.join(other)}. Give the same "
                f"options, {way_out}."
            )
        if there["votes"] != here["votes"]:
            raise InputError(
                f"{name!r} holds a fit to other votes than these. Give the same votes, {way_out}."
            )


def _read(path: Path) -> Arrays:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = dict(archive)
        if json.loads(str(arrays["head"]))["format"] == FORMAT:
            return arrays
    except OSError as error:
        raise InputError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from error
    except (BadZipFile, EOFError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(
        f"{str(path)!r} is not a fit kept by juryrank. It was not changed: name another file "
        "for the fit (--resume), which need not exist yet."
    )


# --- the journal in arrays -----------------------------------------------------------------------

SOLUTION = ("score", "accuracy", "effects")
"""The arrays of a solution."""


def _told(search: Search, k: int, arrays: Arrays) -> dict[str, Any]:
    """What there is to be said of a search; its arrays go to the others."""
    known, solution = search.known, search.solution
    if solution is not None:
        arrays |= {f"{k} {name}": getattr(solution, name) for name in SOLUTION}
    arrays |= {f"{k} gradient {j}": one.gradient for j, one in enumerate(known.evaluations)}
    if known.accuracy is not None:
        arrays[f"{k} last accuracy"] = known.accuracy
    if (measured := known.measured) is not None:
        arrays |= {f"{k} curvature {name}": part for name, part in _named(measured.curvature)}
        arrays[f"{k} measured accuracy"] = measured.accuracy
    return {
        "begun": search.begun,
        "steps": search.steps,
        "evaluations": [(one.state, one.value) for one in known.evaluations],
        "measured_after": None if measured is None else measured.after,
        "solution": None if solution is None else _without_arrays(solution),
    }


def _without_arrays(solution: Solution) -> dict[str, Any]:
    names = [one.name for one in fields(solution) if one.name not in (*SOLUTION, "trace")]
    return {name: getattr(solution, name) for name in names}


def _named(curvature: Curvature) -> Iterator[tuple[str, Floats]]:
    yield from curvature._asdict().items()


def _search(told: Mapping[str, Any], k: int, arrays: Arrays) -> Search:
    """A search as it was told."""
    evaluations = tuple(
        Evaluation(state, value, arrays[f"{k} gradient {j}"])
        for j, (state, value) in enumerate(told["evaluations"])
    )
    measured = None
    if told["measured_after"] is not None:
        curvature = Curvature(*(arrays[f"{k} curvature {name}"] for name in Curvature._fields))
        measured = Measured(curvature, arrays[f"{k} measured accuracy"], told["measured_after"])
    solution = None
    if told["solution"] is not None:
        own: dict[str, Any] = {name: arrays[f"{k} {name}"] for name in SOLUTION}
        solution = Solution(**told["solution"], **own)
    known = Known(evaluations, arrays.get(f"{k} last accuracy"), measured)
    return Search(told["begun"], known, solution, [(a, b) for a, b in told["steps"]])


# --- the fingerprint -----------------------------------------------------------------------------


def _fingerprint(task: Task) -> dict[str, str]:
    """What decides a fit."""
    return {
        "juryrank": __version__,
        "votes": _digest_of_votes(task),
        "model": task.model.name,
        "noise": f"{task.noise.name} ({digest_of(*task.noise.terms(TRIED))[:8]})",
        "prior": _prior_in_words(task),
        "lambda0": repr(task.lambda0),
        "solver": repr(task.method.solver),
        "guard": repr(task.guard),
        "tastes": repr(task.tastes),
        "effects": ", ".join(f"{name}={value}" for name, value in asdict(task.effects).items()),
        "intervals": "of the best fit" if task.of_mode else "of the posterior",
    }


def _prior_in_words(task: Task) -> str:
    """As it is asked for, with all digits."""
    if task.prior is None:
        return "auto"
    score, accuracy, *others = (float(value) for value in asdict(task.prior).values())
    usual = task.prior == Prior(score, accuracy, effect_sd=EFFECT_SD)
    return ",".join(map(repr, [score, accuracy, *([] if usual else others)]))


def _digest_of_votes(task: Task) -> str:
    coded, lists = task.coded, task.coded.lists
    parts = list(coded.over_chunks(_DigestPass(), threads=task.threads))
    return digest_of(
        *(np.asarray(part) for part in lists._asdict().values() if part is not None),
        said=f"{coded.n_items} {coded.n_judges} {task.unasked_ties} {' '.join(parts)}",
    )


@dataclass(frozen=True, eq=False)
class _DigestPass(Pass[CodedVotes, str]):
    """A digest of the votes on pairs."""

    def __call__(self, here: CodedVotes, first: int, last: int, _own: Own) -> str:
        """Of each judge how many there are, and their columns."""
        pairs = here.pairs
        own = slice(pairs.start[first], pairs.start[last])
        columns = pairs.columns()
        return digest_of(
            np.diff(pairs.start[first : last + 1]),
            *(column[own] for column in columns.values()),
            said=" ".join(columns),
        )
