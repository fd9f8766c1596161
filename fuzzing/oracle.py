"""What must come of a file, whatever is in it."""

from __future__ import annotations

import os
import random
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import juryrank as jr
from fuzzing.corpus import Seed
from fuzzing.forking import run_forked
from juryrank.errors import JuryrankError
from juryrank.model.registry import MODELS

SECONDS = 10
"""Of processor time, for one small file."""
SECONDS_TO_RANK = 120
TIMERS = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
"""Of the processor, and of the clock,"""
BUSY = 20
"""which may run so much faster on a busy machine."""
MEMORY = 6 << 30
"""Bytes of address space."""
LONGEST_MESSAGE = 2_100
READ_AS: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {}, {"skip_bad": True}, {"rating": "rating"}, {"judge": "judge"},
    {"judge_per_row": True}, {"judge": "winner"}, {"format": "csv"}, {"format": "json"},
    {"format": "preflib"}, {"encoding": "utf-16"}, {"merge_names": True}, {"by": "judge"},
    {"by": "left"},
    {"where": "judge == 'ann' or weight > 1"},
)  # fmt: skip
RANKED_SHARE = 0.002
"""Of the mutants that are read: to rank them takes a hundred times as long."""
RANKED_BY = tuple(MODELS)
COMMANDS = (("rank", "--json"), ("rank",), ("check",), ("check", "--json"), ("rank", "--skip-bad"))
EXPECTED_CODES = (0, 2)
NEVER_SAID = ("Traceback", "panicked", "Something went wrong inside")


class TooLongError(Exception):
    """A file took longer than any small file should."""


def problem_in_process(seed: Seed, rng: random.Random, folder: Path) -> str | None:
    """What goes wrong when a file is read and checked, and sometimes ranked; None if nothing."""
    path = written(seed, folder)
    options = rng.choice(READ_AS)
    model = rng.choice(RANKED_BY) if rng.random() < RANKED_SHARE else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _at_most(SECONDS):
                votes = jr.read_votes(path, **options)
                jr.check(votes)
            if model is not None:
                with _at_most(SECONDS_TO_RANK):
                    jr.rank(votes, model, intervals=None, threads=1).to_json()
    except JuryrankError as error:
        return _problem_of_message(str(error))
    except (Exception, TooLongError) as error:
        asked = f"{options}, {model}"
        return f"{asked}: {type(error).__name__}: {error}\n{traceback.format_exc()}"
    return None


def _problem_of_message(message: str) -> str | None:
    if len(message) > LONGEST_MESSAGE:
        return f"A message of {len(message):,} characters: {message[:300]}"
    return None


def problem_of_command(seed: Seed, rng: random.Random, folder: Path) -> str | None:
    """What goes wrong when a command gets a file."""
    path = written(seed, folder)
    command = [*rng.choice(COMMANDS), str(path)]
    ended = run_forked(command, BUSY * SECONDS_TO_RANK, limit_time)
    if ended.code is None:
        return f"{command}: longer than {BUSY * SECONDS_TO_RANK} s"
    if ended.code not in EXPECTED_CODES or _problem_of_output(ended.said):
        return f"{command}: exit code {ended.code}\n{ended.said[-2_000:]}"
    return None


def _problem_of_output(said: str) -> str | None:
    """What should not be said to users, not even of votes that have it in their names."""
    found = [words for words in NEVER_SAID if words in said]
    return f"{found[0]!r} was said: {said[:2_000]}" if found else None


@contextmanager
def listening() -> Iterator[Callable[[], str | None]]:
    """Keep what is written to the descriptor of stderr, and tell what should not have been."""
    with tempfile.TemporaryFile() as kept:
        real = os.dup(2)
        os.dup2(kept.fileno(), 2)

        def problem_heard() -> str | None:
            size = kept.seek(0, os.SEEK_END)
            if not size:
                return None
            said = os.pread(kept.fileno(), size, 0).decode(errors="replace")
            os.ftruncate(kept.fileno(), 0)
            kept.seek(0)
            return _problem_of_output(said)

        try:
            yield problem_heard
        finally:
            os.dup2(real, 2)
            os.close(real)


def written(seed: Seed, folder: Path) -> Path:
    """Write a file into a folder."""
    path = folder / Path(seed.name).name
    path.write_bytes(seed.content)
    return path


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Allow so many seconds of processor time, and far more by the clock: others may be busy."""

    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError(f"longer than {seconds} s")

    before = [signal.signal(number, too_long) for number in TIMERS]
    for timer, most in zip(TIMERS.values(), (seconds, BUSY * seconds), strict=True):
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for timer in TIMERS.values():
            signal.setitimer(timer, 0.0)
        for number, handler in zip(TIMERS, before, strict=True):
            signal.signal(number, handler)


def limit_time() -> None:
    """End a command that takes too much processor time; the first to rank compiles, which is long.

    The signal that ends it is a finding.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS_TO_RANK, 2 * SECONDS_TO_RANK))


def limit_memory() -> None:
    """Let what a file allocates beyond all bounds be an error and not a full machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
