"""What must come of a file, whatever is in it."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import juryrank as jr
from fuzzing.corpus import Seed
from juryrank.errors import JuryrankError

SECONDS = 10
"""For one small file."""
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
COMMANDS = (("rank", "--json"), ("rank",), ("check",), ("check", "--json"), ("rank", "--skip-bad"))
EXPECTED_CODES = (0, 2)


class TooLongError(Exception):
    """A file took longer than any small file should."""


def problem_in_process(seed: Seed, rng: random.Random, folder: Path) -> str | None:
    """What goes wrong when a file is read and checked; None if nothing does."""
    path = _written(seed, folder)
    options = rng.choice(READ_AS)
    try:
        with _at_most(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            votes = jr.read_votes(path, **options)
            jr.check(votes)
    except JuryrankError as error:
        return _problem_of_message(str(error))
    except (Exception, TooLongError) as error:
        return f"{options}: {type(error).__name__}: {error}\n{traceback.format_exc()}"
    return None


def _problem_of_message(message: str) -> str | None:
    if len(message) > LONGEST_MESSAGE:
        return f"A message of {len(message):,} characters: {message[:300]}"
    return None


def problem_of_command(seed: Seed, rng: random.Random, folder: Path) -> str | None:
    """What goes wrong when a command gets a file."""
    path = _written(seed, folder)
    command = [sys.executable, "-m", "juryrank", *rng.choice(COMMANDS), str(path)]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=20 * SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{command[3:]}: longer than {20 * SECONDS} s"
    said = done.stdout + done.stderr
    if done.returncode not in EXPECTED_CODES or "Traceback" in said or "panicked" in said:
        return f"{command[3:]}: exit code {done.returncode}\n{said[-2_000:]}"
    return None


def _written(seed: Seed, folder: Path) -> Path:
    path = folder / Path(seed.name).name
    path.write_bytes(seed.content)
    return path


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """Let what a file allocates beyond all bounds be an error and not a full machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """Where mutants are written to."""
    memory = Path("/dev/shm")  # noqa: S108
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
