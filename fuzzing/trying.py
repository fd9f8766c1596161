"""One process that tries mutants."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fuzzing.corpus import Seed, corpus
from fuzzing.mutations import mutant
from fuzzing.oracle import (
    limit_memory,
    listening,
    problem_in_process,
    problem_of_command,
)
from fuzzing.scratch import scratch_folder

Problem = Callable[[Seed, random.Random, Path], str | None]


class Share(NamedTuple):
    """What one process is to do."""

    seed: int
    number: int
    until: float
    most: int
    through_commands: bool


class Tried(NamedTuple):
    """What one process did: how many mutants it tried, and those that broke something."""

    mutants: int
    broken: list[tuple[Seed, str]]


def tried(share: Share) -> Tried:
    """Try mutants until the time is over."""
    limit_memory()
    problem: Problem = problem_of_command if share.through_commands else problem_in_process
    rng = random.Random(f"{share.seed} {share.number} {share.through_commands}")  # noqa: S311
    seeds, count, broken = corpus(), 0, []
    with scratch_folder() as folder, listening() as problem_heard:
        while count < share.most and time.monotonic() < share.until:
            spoilt = mutant(seeds, rng)
            said = problem(spoilt, rng, Path(folder)) or problem_heard()
            count += 1
            if said is not None:
                broken.append((spoilt, said))
    return Tried(count, broken)
