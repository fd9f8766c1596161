"""`python -m benchmarks.agree BEFORE AFTER`: do two commits give the same answers?

Each commit is built and installed into an environment of its own, which shares all other packages
with this one, and ranks the data sets of `benchmarks.agree_cases`. Scores, accuracies, intervals,
verdicts and everything else in an answer must agree: numbers to a tolerance, texts to the letter.
All differences are counted and the first of each data set printed; with any, the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.agree_cases import cases, written
from benchmarks.commits import State, built, run

TOLERANCE = 1e-9
SHOWN = 5
"""Differences of a data set that are printed."""
LONGEST = 200
"""Characters of a text that are printed."""
WORKER = Path(__file__).with_name("agree_worker.py")

Answers = Mapping[str, Any]


class Difference(NamedTuple):
    """Where two answers to the same question differ."""

    where: str
    """Such as ``items[3].score``."""
    before: Any
    after: Any

    @property
    def size(self) -> float:
        """How far two numbers are apart, relative to the larger if that is above 1."""
        if not (_is_number(self.before) and _is_number(self.after)):
            return math.inf
        return _distance(self.before, self.after)

    def __str__(self) -> str:
        one, other = (_shown(value) for value in (self.before, self.after))
        return f"{self.where}: {one} -> {other}"


ABSENT = "(absent)"


def differences(
    before: Any, after: Any, tolerance: float = TOLERANCE, where: str = ""
) -> Iterator[Difference]:
    """Go through two answers side by side: objects, lists, numbers, texts."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            inner = f"{where}.{name}".lstrip(".")
            pair = before.get(name, ABSENT), after.get(name, ABSENT)
            yield from differences(*pair, tolerance, inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, tolerance, f"{where}[{number}]")
    elif _is_number(before) and _is_number(after):
        if not _distance(before, after) <= tolerance:
            yield Difference(where, before, after)
    elif type(before) is not type(after) or before != after:
        yield Difference(where, before, after)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    return abs(one - other) / max(1.0, abs(one), abs(other))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def report(before: Answers, after: Answers, tolerance: float = TOLERANCE) -> tuple[list[str], bool]:
    """What to print of all data sets, and whether all agree."""
    lines, different = [], 0
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name, ABSENT), after.get(name, ABSENT)
        found = list(differences(*pair, tolerance))
        if not found:
            continue
        different += 1
        of_numbers = [one.size for one in found if math.isfinite(one.size)]
        largest = f", numbers by up to {max(of_numbers):.2g}" if of_numbers else ""
        lines.append(f"{name}: {len(found):,} differences{largest}")
        lines += [f"    {one}" for one in found[:SHOWN]]
        lines += [f"    ... and {len(found) - SHOWN:,} more"] if len(found) > SHOWN else []
    count = len({*before, *after})
    lines.append(f"{count - different:,} of {count:,} data sets agree (numbers to {tolerance:g}).")
    return lines, not different


# --- two commits ---------------------------------------------------------------------------------


def answers_of(state: State, folder: Path, jobs: Path) -> Answers:
    """Let a commit do the jobs."""
    out = state.folder / "answers.json"
    words = [str(state.python), str(WORKER), str(folder), str(jobs), str(out)]
    run(words, f"{state.name} cannot answer", state.environment)
    found = json.loads(out.read_text(encoding="utf-8"))
    state.check_home(found["home"])
    return dict(found["answers"])


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agree", description="Do two commits give the same answers?"
    )
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="default: %(default)g")
    parser.add_argument("--only", default="", help="data sets whose names have this in them")
    asked = parser.parse_args(words)
    chosen = [case for case in cases() if asked.only in case.name]
    if not chosen:
        raise SystemExit(f"No data set has {asked.only!r} in its name.")
    with (
        tempfile.TemporaryDirectory() as votes,
        built([asked.before, asked.after]) as states,
    ):
        folder = Path(votes)
        jobs = folder / "jobs.json"
        jobs.write_text(json.dumps(written(folder, chosen)), encoding="utf-8")
        before, after = (answers_of(state, folder, jobs) for state in states)
    lines, agree = report(before, after, asked.tolerance)
    print("\n".join(lines))
    if not agree:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
