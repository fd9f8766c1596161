"""Users are told how long work takes: before it begins, and while it goes on."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli import app as cli
from juryrank.progress import Pace, duration
from juryrank.ranking.expected_time import expected_seconds, long_work

LONG_WORK = "This may take about"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def rankings(items: int, judges: int = 2) -> jr.Votes:
    names = [f"i{k:04}" for k in range(items)]
    orders = [">".join(names if judge % 2 else names[::-1]) for judge in range(judges)]
    return jr.votes_from(pl.DataFrame({"judge": list(range(judges)), "ranking": orders}))


# --- before --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3, "10 seconds"), (64, "60 seconds"), (95, "2 minutes"), (890, "10 minutes"),
     (2_000, "30 minutes"), (7_200, "2 hours"), (400_000, "100 hours")],
)  # fmt: skip
def test_times_are_said_as_roughly_as_they_are_known(seconds: float, said: str) -> None:
    assert duration(seconds) == f"about {said}"


def test_only_long_rankings_under_noise_without_a_formula_take_long() -> None:
    assert long_work(rankings(450).lists, "gumbel") is None
    assert long_work(rankings(60).lists, "normal") is None
    assert "rankings of up to 450 items" in str(long_work(rankings(450).lists, "normal"))
    assert long_work(jr.datasets.llm_judges().votes.lists, "normal") is None


def test_more_rankings_and_more_fits_take_longer() -> None:
    few, many = (
        expected_seconds(rankings(200, judges).lists, is_gumbel=False) for judges in (2, 8)
    )
    assert many == pytest.approx(4 * few)
    assert long_work(rankings(200).lists, "normal") is None
    assert LONG_WORK in str(long_work(rankings(200).lists, "normal", fits=20))


class BegunError(Exception):
    """The work has begun."""


def begin(*_: object, **__: object) -> None:
    raise BegunError


@pytest.mark.parametrize("what", ["rank", "judges"])
def test_the_library_warns_before_the_work_begins(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("juryrank.ranking.methods.ProfileMethod.fit", begin)
    with pytest.warns(jr.JuryrankWarning, match=LONG_WORK), pytest.raises(BegunError):
        getattr(jr, what)(rankings(450), "htcv")


def test_a_comparison_warns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("juryrank.ranking.comparison.compare_fits", begin)
    with pytest.warns(jr.JuryrankWarning, match=LONG_WORK), pytest.raises(BegunError):
        jr.compare(rankings(450))


@pytest.mark.parametrize("command", ["rank", "judges"])
def test_commands_say_so_before_the_work_begins(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"i{k:04}" for k in range(450)]
    votes = tmp_path / "votes.csv"
    votes.write_text(f"judge,ranking\na,{'>'.join(names)}\nb,{'>'.join(names[::-1])}\n")
    monkeypatch.setattr("juryrank.ranking.methods.ProfileMethod.fit", begin)
    result = CliRunner().invoke(cli.app, [command, str(votes), "--model", "htcv"])
    assert LONG_WORK in result.stderr


# --- while it goes on ----------------------------------------------------------------------------


def test_short_work_is_not_talked_about() -> None:
    clock = Clock()
    pace = Pace(clock)
    for done in range(1, 60):
        clock.now += 1.0
        assert pace.line("Sampling", done, 59) is None


def test_long_work_is_told_with_what_is_left_and_ever_more_rarely() -> None:
    clock = Clock()
    pace = Pace(clock)
    said = {}
    for done in range(1_000):
        if line := pace.line(f"Sampling {done}", done, 1_000):
            said[done] = line
        clock.now += 1.0
    assert list(said) == [10, 20, 40, 80, 160, 320, 640]
    assert said[10] == "Sampling 10 (about 20 minutes left)"
    assert said[640] == "Sampling 640 (about 6 minutes left)"


def test_work_of_unknown_length_is_told_with_the_time_so_far() -> None:
    clock = Clock()
    pace = Pace(clock)
    clock.now += 9.0
    assert pace.line("Fitting") is None
    clock.now += 41.0
    assert pace.line("Fitting") == "Fitting (about 50 seconds so far)"
    assert pace.line("Fitting") is None


def test_little_work_tells_nothing_about_the_rest_at_first() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.line("Sampling", 0, 3_600)
    clock.now += 20.0
    assert pace.line("Sampling", 1, 3_600) == "Sampling (about 20 seconds so far)"
    clock.now += 40.0
    assert pace.line("Sampling", 2, 3_600) == "Sampling (about 30 hours left)"


def test_every_piece_of_work_has_a_pace_of_its_own() -> None:
    clock = Clock()
    pace = Pace(clock)
    clock.now += 500.0
    assert pace.line("Fitting") is not None
    assert pace.line("Sampling", 1, 100) is None
    clock.now += 10.0
    assert pace.line("Sampling", 11, 100) == "Sampling (about 80 seconds left)"
