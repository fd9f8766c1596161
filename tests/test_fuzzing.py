"""Whatever a file holds: every past finding, and mutants of files as real tools write them."""

from __future__ import annotations

import io
import os
import random
import time
import zipfile
from pathlib import Path

import pytest

from fuzzing.corpus import Seed, corpus, findings
from fuzzing.guided import NAMES, as_bytes, as_seed, functions_of
from fuzzing.mutations import mutant
from fuzzing.oracle import READ_AS, listening, problem_in_process, problem_of_command

MUTANTS = int(os.environ.get("FUZZ_MUTANTS", "6000"))
PARTS = 10
COMMANDS = 20


@pytest.mark.parametrize("seed", findings(), ids=lambda seed: seed.name)
def test_past_findings_are_answered(seed: Seed, tmp_path: Path) -> None:
    for number in range(len(READ_AS)):
        assert problem_in_process(seed, random.Random(number), tmp_path) is None
    assert problem_of_command(seed, random.Random(0), tmp_path) is None


@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_give_votes_or_a_message(part: int, tmp_path: Path) -> None:
    rng, seeds = random.Random(part), corpus()
    with listening() as problem_heard:
        for _ in range(MUTANTS // PARTS):
            spoilt = mutant(seeds, rng)
            problem = problem_in_process(spoilt, rng, tmp_path) or problem_heard()
            assert problem is None, f"{spoilt.name}: {spoilt.content!r}: {problem}"


@pytest.mark.parametrize("word", ["word{}", "a", "left", "x.y"])
def test_a_header_of_a_megabyte_is_answered(word: str, tmp_path: Path) -> None:
    header = " ".join(word.format(number) for number in range(1_000_000 // (len(word) + 4)))
    text = Seed("text.csv", f"{header}\n1\n".encode())
    assert problem_in_process(text, random.Random(0), tmp_path) is None


def test_mutants_are_answered_by_commands(tmp_path: Path) -> None:
    rng, seeds = random.Random(PARTS), corpus()
    for _ in range(COMMANDS):
        spoilt = mutant(seeds, rng)
        problem = problem_of_command(spoilt, rng, tmp_path)
        assert problem is None, f"{spoilt.name}: {spoilt.content!r}: {problem}"


def test_what_should_not_be_said_is_heard() -> None:
    with listening() as problem_heard:
        os.write(2, b"all is well")
        assert problem_heard() is None
        os.write(2, b"thread 'x' panicked at y")
        assert "'panicked' was said" in str(problem_heard())
        assert problem_heard() is None


def test_the_corpus_does_not_depend_on_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    before = corpus()
    a_year_later = time.time() + 366 * 86_400
    monkeypatch.setattr(time, "time", lambda: a_year_later)
    assert corpus() == before
    for seed in set(before) - set(findings()):
        if seed.name.endswith((".xlsx", ".zip")) and zipfile.is_zipfile(io.BytesIO(seed.content)):
            with zipfile.ZipFile(io.BytesIO(seed.content)) as archive:
                assert {info.date_time[0] for info in archive.infolist()} == {1980}


@pytest.mark.parametrize("seed", corpus(), ids=lambda seed: seed.name)
def test_files_keep_their_kind_where_coverage_chooses(seed: Seed) -> None:
    choice, again = as_seed(as_bytes(seed, 7))
    assert (choice, again.content) == (7, seed.content)
    endings = [Path(name).suffix for name in NAMES]
    if Path(seed.name).suffix in endings:
        assert Path(again.name).suffix == Path(seed.name).suffix


def test_mutants_are_the_same_for_the_same_seed() -> None:
    seeds, one, other = corpus(), random.Random(3), random.Random(3)
    mutants = [mutant(seeds, one) for _ in range(20)]
    assert mutants == [mutant(seeds, other) for _ in range(20)]
    assert len(set(mutants)) > 15


def test_functions_methods_and_properties_tell_what_was_reached() -> None:
    found = {function.__qualname__ for function in functions_of("juryrank.reading.")}
    assert {"read_votes", "Rows.row_name", "Rows.numbers", "_Header._numbers"} <= found
    assert "InputError.__init__" not in found
