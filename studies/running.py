"""Many independent trials on all cores, and the options that studies share."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Generic, TypeVar

from juryrank.cli.terminal.progress import progress
from juryrank.errors import JuryrankWarning
from juryrank.threads import available_threads, one_blas_thread

Key = TypeVar("Key")
Result = TypeVar("Result")

RESULTS = Path("docs") / "studies"
BATCH = 5


def all_results(
    run: Callable[[Key], Result], keys: Sequence[Key], what: str, jobs: int | None = None
) -> list[Result]:
    """``[run(key) for key in keys]``, in this order whatever the number of processes."""
    jobs = jobs or available_threads()
    quiet = partial(_quietly, run)
    with progress(what) as show:

        def say(done: int) -> None:
            show(what, done, len(keys))

        if jobs == 1:
            return _counted(map(quiet, keys), say)
        # A new interpreter each: a forked one would share polars' threads and locks.
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            return _counted(pool.map(quiet, keys, chunksize=BATCH), say)


def _counted(results: Iterable[Result], say: Callable[[int], None]) -> list[Result]:
    found = []
    for result in results:
        found.append(result)
        say(len(found))
    return found


@dataclass(frozen=True)
class Keeping(Generic[Key, Result]):
    """Runs a trial, and writes what it found into a file of JSON lines."""

    run: Callable[[Key], Result]
    file: str

    def __call__(self, key: Key) -> Result:
        """Run it."""
        found = self.run(key)
        with Path(self.file).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "found": found}) + "\n")
        return found


def kept_results(
    run: Callable[[Key], Result], keys: Sequence[Key], what: str, jobs: int | None, file: str
) -> list[Result]:
    """The same with a file that keeps what was found: what it has is not run again."""
    if not file:
        return all_results(run, keys, what, jobs)
    path = Path(file)
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    done = {_text(one["key"]): one["found"] for one in map(json.loads, lines)}
    missing = [key for key in keys if _text(key) not in done]
    found = all_results(Keeping(run, file), missing, what, jobs)
    done |= dict(zip(map(_text, missing), found, strict=True))
    return [done[_text(key)] for key in keys]


def _text(key: object) -> str:
    return json.dumps(key)


def _quietly(run: Callable[[Key], Result], key: Key) -> Result:
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        return run(key)


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options every study has."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=None, help="processes; all cores if not given")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser
