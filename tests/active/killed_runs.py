"""Runs that are killed again and again, in processes of their own: see `test_killed_runs.py`.

Usage: python killed_runs.py FOLDER. Everything is imported once, and each run is a fork of that.
For each of several ways to kill there is a log in the folder, of runs that were killed until one
came to its end, and beside it what the judges were really asked: ``calls`` (one line for each call,
written by the judge itself), and ``known`` (before each run, what the log had an answer to).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from loop_help import by_name, terms

from juryrank.active.display import Display
from juryrank.active.judge import Judge
from juryrank.active.running import begun, conducted

ITEMS = [f"{letter}{number}" for letter in "abcdef" for number in (1, 2)]
BUDGET, BATCH = 60, 9
MOST_RUNS = 200


def run(log: Path, calls: Path) -> None:
    """One run; the judges write down each call of theirs before they answer."""
    handle = os.open(calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(judge: str, left: str, right: str) -> str:
        os.write(handle, f"{json.dumps([judge, *sorted((left, right))])}\n".encode())
        return by_name(left, right)

    def sync(left: str, right: str) -> str:
        time.sleep(0.001)
        return note("sync", left, right)

    async def in_loop(left: str, right: str) -> str:
        await asyncio.sleep(0.001)
        return note("async", left, right)

    def refuses(left: str, right: str) -> str | None:
        said = note("shy", left, right)
        return None if "a1" in (left, right) else said

    judges = [Judge("sync", sync, concurrency=2), Judge("async", in_loop), Judge("shy", refuses)]
    given = terms(ITEMS, log=log, budget=BUDGET, batch=BATCH, seed=5)
    with begun(ITEMS, judges, given) as study:
        conducted(study, Display())


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_write(number: int, part: float) -> Callable[[], None]:
    """Die at a write to the log, after so many others, when a part of it is written."""

    def prepare() -> None:
        real, left = os.write, [number]

        def write(handle: int, content: Any) -> int:
            is_log = len(content) > 0 and bytes(content[:9]) == b'{"kind": '
            if is_log:
                left[0] -= 1
            if is_log and left[0] < 0:
                real(handle, content[: round(part * len(content))])
                die()
            return real(handle, content)

        os.write = write

    return prepare


def at_some_write(part: float, number: int) -> Callable[[], None]:
    return at_write(3 + number % 7, part)


def at_random(rng: np.random.Generator, number: int) -> Callable[[], None]:
    """Die at some moment, in later runs later: at last one comes to its end on any machine."""
    moment = float(rng.uniform(0.01, 0.02 * (1 + number)))

    def prepare() -> None:
        signal.signal(signal.SIGALRM, lambda *_: die())
        signal.setitimer(signal.ITIMER_REAL, moment)

    return prepare


def in_a_fork(what: Callable[[], None]) -> int:
    """Do it in a process of its own; the signal that ended it, or 0."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        what()
        os._exit(0)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)


def prepared_run(prepare: Callable[[], None], log: Path, calls: Path) -> None:
    prepare()
    run(log, calls)


def killed_until_done(folder: Path, ways: Callable[[int], Callable[[], None]]) -> int:
    """Begin runs, each of which is killed in its way, until one is not; how many were killed."""
    log, calls = folder / "run.jsonl", folder / "calls"
    for number in range(MOST_RUNS):
        note_what_is_known(log, calls, folder / "known")

        ended = in_a_fork(partial(prepared_run, ways(number), log, calls))
        if ended == 0:
            return number
        if ended != -signal.SIGKILL:
            raise SystemExit(f"run {number} ended with {ended}")
    raise SystemExit("no run came to its end")


def note_what_is_known(log: Path, calls: Path, known: Path) -> None:
    """Write down how many calls there were, and to which questions the log has an answer."""
    lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
    records = [json.loads(line) for line in lines]
    asked = {one["id"]: one for one in records if one["kind"] == "question"}
    answered = [asked[one["id"]] for one in records if one["kind"] == "answer"]
    made = len(calls.read_text().splitlines()) if calls.exists() else 0
    questions = [[one["judge"], *sorted((one["left"], one["right"]))] for one in answered]
    with known.open("a") as file:
        file.write(json.dumps([made, questions]) + "\n")


def main() -> None:
    """Kill in all ways; print how many runs were killed in each."""
    folder = Path(sys.argv[1])
    killed = {}
    # Each run gets a few writes further than the one before: all of them are hit.
    for name, part in (("before", 0.0), ("torn", 0.6), ("after", 1.0)):
        (folder / name).mkdir()
        killed[name] = killed_until_done(folder / name, partial(at_some_write, part))
    rng = np.random.default_rng(1)
    (folder / "random").mkdir()
    killed["random"] = killed_until_done(folder / "random", lambda k: at_random(rng, k))
    (folder / "never").mkdir()
    killed["never"] = killed_until_done(folder / "never", lambda _: lambda: None)
    sys.stdout.write(json.dumps(killed))


if __name__ == "__main__":
    main()
