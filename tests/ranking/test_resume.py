"""A fit that was stopped goes on from its file, to the same answer; other files are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import juryrank as jr
from juryrank.errors import InputError
from juryrank.model.objective import Objective
from juryrank.ranking import checkpoint
from juryrank.solvers import search
from juryrank.solvers.profile import ProfileSolver
from juryrank.types import Floats

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


FAST: dict[str, Any] = {"prior": (1.0, 0.5)}
"""Without the sample that chooses scales."""


class StoppedError(Exception):
    """Somebody stops the work."""


@pytest.fixture(autouse=True)
def many_votes_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done with very many votes is done with some, and every evaluation is written."""
    monkeypatch.setattr(search, "MANY_VOTES", 10_000)
    monkeypatch.setattr(checkpoint, "LEAST_PAUSE", 0.0)
    monkeypatch.setattr(checkpoint, "PAUSE_PER_WRITE", 0.0)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return jr.simulate(20, 200, votes_per_judge=250, tie=0.5, seed=3).votes


@pytest.fixture
def evaluations(frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts evaluations of all votes."""
    counted, evaluate = [0], Objective.profile

    def profile(self: Objective, *given: Floats) -> tuple[float, Floats]:
        counted[0] += self.votes.pairs.number > frame.height // 2
        return evaluate(self, *given)

    monkeypatch.setattr(Objective, "profile", profile)
    return counted


def stop_at(evaluation: int | str) -> Callable[[jr.Progress], None]:
    """Stops at the so-many-th evaluation, or at another stage."""
    seen = 0

    def watch(event: jr.Progress) -> None:
        nonlocal seen
        seen += event.stage == "fitting"
        if seen == evaluation or event.stage == evaluation:
            raise StoppedError

    return watch


def assert_same_bits(one: jr.Ranking, other: jr.Ranking) -> None:
    assert one.items.equals(other.items)
    assert one.judges.equals(other.judges)
    assert one.effects.equals(other.effects)
    assert one.fit.steps == other.fit.steps
    assert one.fit.objective == other.fit.objective
    assert one.warnings == other.warnings
    assert one.call == other.call


@pytest.mark.parametrize(
    ("options", "where"), [(FAST, (1, 2, 4, "errors")), ({}, ("errors",))], ids=["prior", "auto"]
)
def test_wherever_a_fit_is_stopped_it_goes_on_to_the_same_bits(
    options: dict[str, Any], where: tuple[int | str, ...], frame: pl.DataFrame, tmp_path: Path,
    evaluations: list[int],
) -> None:  # fmt: skip
    votes, path = jr.votes_from(frame), tmp_path / "fit"
    whole = jr.rank(votes, **options)
    in_all = evaluations[0]
    for at in where:
        evaluations[0] = 0
        with pytest.raises(StoppedError):
            jr.rank(votes, progress=stop_at(at), resume=path, **options)
        assert_same_bits(jr.rank(votes, resume=path, **options), whole)
        assert evaluations[0] == in_all  # none was made twice
        assert not path.exists()


def test_it_can_be_stopped_again_and_again(frame: pl.DataFrame, tmp_path: Path) -> None:
    votes, path = jr.votes_from(frame), tmp_path / "fit"
    for at in (2, 4, 5):
        with pytest.raises(StoppedError):
            jr.rank(votes, progress=stop_at(at), resume=path, **FAST)
    found = jr.rank(votes, resume=path, **FAST)
    assert_same_bits(found, jr.rank(votes, **FAST))


def test_where_numbers_come_out_otherwise_it_begins_there_again(
    frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes, path = jr.votes_from(frame), tmp_path / "fit"
    with pytest.raises(StoppedError):
        jr.rank(votes, progress=stop_at(6), resume=path, **FAST)
    monkeypatch.setattr(search, "ROUGH", ProfileSolver(tolerance=0.1))
    found, whole = jr.rank(votes, resume=path, **FAST), jr.rank(votes, **FAST)
    assert_same_bits(found, whole)


@pytest.fixture
def stopped(frame: pl.DataFrame, tmp_path: Path) -> Path:
    """The file of a fit that was stopped."""
    path = tmp_path / "fit"
    with pytest.raises(StoppedError):
        jr.rank(jr.votes_from(frame), progress=stop_at(2), resume=path, **FAST)
    return path


def test_fits_of_something_else_are_refused_and_kept(
    frame: pl.DataFrame, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = stopped.read_bytes()
    with pytest.raises(InputError, match=r"fit' holds a fit to other votes .* another file"):
        jr.rank(frame.with_columns(winner=pl.col("winner").reverse()), resume=stopped, **FAST)
    with pytest.raises(InputError, match="other options: model hbtl there, btl here"):
        jr.rank(frame, "btl", resume=stopped, **FAST)
    with pytest.raises(InputError, match="other options: guard True there, False here"):
        jr.rank(frame, guard=False, resume=stopped, **FAST)
    with pytest.raises(InputError, match=r"other options: prior 1\.0,0\.5 there, 1\.0,2\.0 here"):
        jr.rank(frame, prior=(1.0, 2.0), resume=stopped)
    monkeypatch.setattr(checkpoint, "__version__", "99.0")
    with pytest.raises(InputError, match=r"a fit by juryrank .*, and this is 99\.0"):
        jr.rank(frame, resume=stopped, **FAST)
    assert stopped.read_bytes() == content


@pytest.mark.parametrize("others", [{"confidence": 0.8}, {"intervals": "sandwich"}])
def test_a_fit_goes_on_with_other_intervals_as_it_would_have_begun_with_them(
    others: dict[str, Any], frame: pl.DataFrame, tmp_path: Path
) -> None:
    """The file keeps the best fit, which none of these decides."""
    votes, path = jr.votes_from(frame), tmp_path / "fit"
    given = {**FAST, "intervals": "information"}
    with pytest.raises(StoppedError):
        jr.rank(votes, progress=stop_at("errors"), resume=path, **given)
    assert_same_bits(
        jr.rank(votes, resume=path, **given | others), jr.rank(votes, **given | others)
    )


@pytest.mark.parametrize("content", [b"", b"judge,winner,loser\n", b"PK\x03\x04 and more"])
def test_a_file_of_something_else_stays_as_it_is(
    content: bytes, frame: pl.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"votes.csv' is not a fit kept by juryrank"):
        jr.rank(frame, resume=path)
    assert path.read_bytes() == content


def test_what_cannot_be_kept_is_said_before_the_fit(frame: pl.DataFrame, tmp_path: Path) -> None:
    def watch(event: jr.Progress) -> None:
        raise AssertionError(event)

    with pytest.raises(InputError, match="Cannot write"):
        jr.rank(frame, progress=watch, resume=tmp_path / "nowhere" / "fit")
    with pytest.raises(InputError, match=r"by \(--by\) makes one for each value"):
        jr.rank(frame, by="judge", resume=tmp_path / "fit")
    with pytest.raises(InputError, match="for the profile solver"):
        jr.rank(frame, solver="paper", resume=tmp_path / "fit")


# --- processes -----------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import juryrank as jr
from juryrank.ranking import checkpoint
checkpoint.LEAST_PAUSE = checkpoint.PAUSE_PER_WRITE = 0.0
def watch(event):
    if event.stage == "fitting" and event.done == 4:
        os.kill(os.getpid(), signal.SIGKILL)
votes = jr.read_votes(sys.argv[1], memory="1GB")
jr.rank(votes, prior=(1.0, 0.5), progress=watch, resume=sys.argv[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_killed_process_and_an_interrupted_command_go_on(tmp_path: Path) -> None:
    votes, path, out = tmp_path / "votes.parquet", tmp_path / "fit", tmp_path / "out.json"
    jr.simulate(20, 500, votes_per_judge=250, seed=3).votes.write_parquet(votes)
    script = [sys.executable, "-c", KILLED, str(votes), str(path)]
    killed = subprocess.run(script, check=False)  # noqa: S603
    assert killed.returncode == -signal.SIGKILL
    assert path.exists()
    words = [sys.executable, "-m", "juryrank", "rank", str(votes)]
    words += ["--memory", "1GB", "--prior", "1,0.5", "--resume", str(path), "--out", str(out)]
    before = path.stat().st_mtime_ns
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)  # noqa: S603
    while running.poll() is None and path.stat().st_mtime_ns == before:
        time.sleep(0.01)  # it is written when the fit begins
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130
    assert "keeps its progress: the same command goes on from there" in " ".join(said.split())
    mapped = jr.read_votes(votes, memory="1GB")
    assert_same_bits(jr.rank(mapped, resume=path, **FAST), jr.rank(mapped, **FAST))


def test_a_link_is_followed_and_what_keeps_nothing_is_refused(tmp_path: Path) -> None:
    votes = jr.simulate(6, 5, votes_per_judge=40, seed=1).votes
    with pytest.raises(InputError, match="'-' is standard input, which cannot keep a fit"):
        jr.rank(votes, resume="-")
    pipe, link, there = (tmp_path / name for name in ("pipe", "link.fit", "there.fit"))
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a file that can keep a fit"):
        jr.rank(votes, resume=pipe)
    link.symlink_to(there)
    jr.rank(votes, resume=link)
    assert not there.exists()
    assert link.is_symlink()


def test_links_that_lead_in_a_circle_are_refused(frame: pl.DataFrame, tmp_path: Path) -> None:
    loop = tmp_path / "loop.fit"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"loop\.fit' cannot keep a fit: .*Name another file"):
        jr.rank(frame, intervals="information", resume=loop)
