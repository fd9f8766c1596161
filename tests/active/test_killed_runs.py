"""After `kill -9`, at whatever moment, nothing is lost, and nothing is asked or counted twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from killed_runs import BUDGET

import juryrank as jr

HERE = Path(__file__).parent
WAYS = ("before", "torn", "after", "random")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """The folder with the logs of runs that were killed, and how many were in each way."""
    folder = tmp_path_factory.mktemp("killed")
    paths = os.pathsep.join((str(HERE), str(HERE.parents[1] / "src")))
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", HERE / "killed_runs.py", folder],
        env={**os.environ, "PYTHONPATH": paths, "POLARS_MAX_THREADS": "1"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def lines_of(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def votes_of(log: Path) -> list[tuple[Any, ...]]:
    """Question, judge, items and outcome, in the order of the questions."""
    lines = lines_of(log)
    asked = {one["id"]: one for one in lines if one["kind"] == "question"}
    said = {one["id"]: one["outcome"] for one in lines if one["kind"] == "answer"}
    return [
        (at, asked[at]["judge"], asked[at]["left"], asked[at]["right"], said[at])
        for at in sorted(said)
    ]


@pytest.mark.parametrize("way", WAYS)
def test_each_question_is_answered_once_as_if_nobody_had_been_killed(
    killed: tuple[Path, dict[str, int]], way: str
) -> None:
    folder, times = killed
    assert times[way] >= (1 if way == "random" else 5)
    log = folder / way / "run.jsonl"
    answers = Counter(one["id"] for one in lines_of(log) if one["kind"] == "answer")
    assert sorted(answers) == list(range(1, BUDGET + 1))
    assert set(answers.values()) == {1}
    assert votes_of(log) == votes_of(folder / "never" / "run.jsonl")


@pytest.mark.parametrize("way", WAYS)
def test_no_judge_is_asked_again_what_the_log_has_an_answer_to(
    killed: tuple[Path, dict[str, int]], way: str
) -> None:
    folder, _ = killed
    calls = [json.loads(line) for line in (folder / way / "calls").read_text().splitlines()]
    for line in (folder / way / "known").read_text().splitlines():
        made, answered = json.loads(line)
        later = calls[made:]
        assert not [question for question in answered if question in later]


def test_torn_lines_are_kept_aside(killed: tuple[Path, dict[str, int]]) -> None:
    folder, times = killed
    torn = (folder / "torn" / "run.jsonl.torn").read_text().splitlines()
    assert len(torn) >= times["torn"]
    assert not (folder / "never" / "run.jsonl.torn").exists()


@pytest.mark.parametrize("way", WAYS)
def test_the_log_is_read_as_votes(killed: tuple[Path, dict[str, int]], way: str) -> None:
    votes = jr.read_votes(killed[0] / way / "run.jsonl")
    refused = [vote for vote in votes_of(killed[0] / way / "run.jsonl") if vote[4] == "refused"]
    assert len(votes) == BUDGET - len(refused)
    assert votes.left_out.skipped == len(refused) > 0
