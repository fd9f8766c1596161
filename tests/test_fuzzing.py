"""Whatever a file holds: every past finding, and mutants of files as real tools write them."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from fuzzing.corpus import Seed, corpus, findings
from fuzzing.mutations import mutant
from fuzzing.oracle import READ_AS, problem_in_process, problem_of_command

MUTANTS = int(os.environ.get("FUZZ_MUTANTS", "1000"))
PARTS = 10


@pytest.mark.parametrize("seed", findings(), ids=lambda seed: seed.name)
def test_past_findings_are_answered(seed: Seed, tmp_path: Path) -> None:
    for number in range(len(READ_AS)):
        assert problem_in_process(seed, random.Random(number), tmp_path) is None
    assert problem_of_command(seed, random.Random(0), tmp_path) is None


@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_give_votes_or_a_message(part: int, tmp_path: Path) -> None:
    rng, seeds = random.Random(part), corpus()
    for _ in range(MUTANTS // PARTS):
        spoilt = mutant(seeds, rng)
        problem = problem_in_process(spoilt, rng, tmp_path)
        assert problem is None, f"{spoilt.name}: {spoilt.content!r}: {problem}"


def test_mutants_are_the_same_for_the_same_seed() -> None:
    seeds, one, other = corpus(), random.Random(3), random.Random(3)
    mutants = [mutant(seeds, one) for _ in range(20)]
    assert mutants == [mutant(seeds, other) for _ in range(20)]
    assert len(set(mutants)) > 15
