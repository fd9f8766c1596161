"""How results look, and which judges are named."""

from __future__ import annotations

import io
import os
import pty
import sys
import time
from dataclasses import replace
from typing import Literal

import polars as pl
import pytest
from rich.console import Console

from juryrank import terminal
from juryrank.errors import counted
from juryrank.fitting import rank
from juryrank.judge_remarks import BACKWARDS, BEST, GUESSING, judge_remarks
from juryrank.ranking import Ranking
from juryrank.reading import votes_from
from juryrank.simulation import simulate
from juryrank.terminal import ScoreBar, literal, ranking_view


def drawn(*parts: object, width: int = 40, encoding: str = "utf-8", color: bool = False) -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    colors: Literal["standard"] | None = "standard" if color else None
    console = Console(file=file, width=width, force_terminal=color, color_system=colors)
    for part in parts:
        console.print(part)
    file.seek(0)
    return file.read()


# --- bars ----------------------------------------------------------------------------------------


def bar(score: float, low: float, high: float, width: int = 11) -> str:
    return drawn(ScoreBar(score, low, high), width=width)


def test_bars_start_at_zero() -> None:
    assert bar(1.0, -1.0, 1.0) == "     │━━━━━"
    assert bar(0.5, -1.0, 1.0) == "     │━━" + "╸"
    assert bar(0.0, -1.0, 1.0) == "     │"
    assert bar(-1.0, -1.0, 1.0) == "━━━━━│"
    assert bar(-0.3, -1.0, 1.0) == "   ╺━│"


def test_bars_without_another_side() -> None:
    assert bar(1.0, 0.0, 1.0) == "│━━━━━━━━━━"
    assert bar(-2.0, -2.0, 0.0) == "━━━━━━━━━━│"
    assert bar(0.0, 0.0, 0.0) == "│"


@pytest.mark.parametrize("score", [-3.0, -0.7, 0.0, 0.1, 1.4])
def test_bars_keep_to_their_width(score: float) -> None:
    for width in range(1, 60):
        assert len(bar(score, -3.0, 1.4, width)) <= width


def test_bars_without_unicode() -> None:
    shown = drawn(ScoreBar(0.5, -1.0, 1.0), width=11, encoding="ascii")
    assert shown == "     |==-"


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x1b[31m", r"\x1b[31m"),
        ("abc\u202edef", r"abc\u202edef"),
        ("line\u2028break", r"line\u2028break"),
        ("[bold]é 名\U0001f468\u200d\U0001f469", "[bold]é 名\U0001f468\u200d\U0001f469"),
        (7, "7"),
    ],
)
def test_labels_are_literal(given: object, shown: str) -> None:
    assert literal(given) == shown


def test_numbers_have_words() -> None:
    assert counted(1, "vote") == "1 vote"
    assert counted(0, "vote") == "0 votes"
    assert counted(1200, "vote") == "1,200 votes"
    assert counted(2.5, "vote") == "2.5 votes"


# --- judges --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return rank(votes_from(simulate(20, 8, votes_per_judge=200, seed=1).votes))


def named(ranking: Ranking, **judges: tuple[float, float]) -> dict[str, list[str]]:
    rows = [(name, accuracy, votes) for name, (accuracy, votes) in judges.items()]
    frame = pl.DataFrame(rows, schema=["judge", "accuracy", "votes"], orient="row")
    remarks = judge_remarks(replace(ranking, judges=frame))
    return {remark.sentence: remark.judges["judge"].to_list() for remark in remarks}


def test_judges_are_named_if_their_votes_allow_it(ranking: Ranking) -> None:
    found = named(
        ranking,
        good=(1.5, 200),
        lucky=(3.0, 3),
        bad=(-1.5, 200),
        worse=(-2.0, 200),
        dull=(0.1, 200),
    )
    assert found == {BACKWARDS: ["worse", "bad"], GUESSING: ["dull"], BEST: ["good"]}


def test_judges_of_few_votes_are_not_named(ranking: Ranking) -> None:
    assert named(ranking, a=(-1.5, 3), b=(0.0, 3), c=(1.0, 3)) == {}
    assert named(ranking, a=(-1.5, 0), b=(0.0, 0)) == {}


def test_among_many_judges_more_is_asked(ranking: Ranking) -> None:
    guessers = {f"j{number}": (-1.0, 100.0) for number in range(2000)}
    assert BACKWARDS in named(ranking, a=(-1.0, 100), b=(1.0, 100))
    assert BACKWARDS not in named(ranking, **guessers)


def test_reliabilities_are_seen_from_one_half(ranking: Ranking) -> None:
    crowd = replace(ranking, model="crowdbt")
    found = named(crowd, good=(0.9, 300), dull=(0.5, 300), bad=(0.1, 300), new=(0.0, 1))
    assert found == {BACKWARDS: ["bad"], GUESSING: ["dull"], BEST: ["good"]}


def test_equal_judges_are_not_named(ranking: Ranking) -> None:
    assert judge_remarks(replace(ranking, model="btl")) == ()


def test_many_judges_are_cut(ranking: Ranking) -> None:
    frame = pl.DataFrame({"judge": range(9), "accuracy": [-1.0] * 9, "votes": [500] * 9})
    many = replace(ranking, judges=frame)
    shown = drawn(*ranking_view(many, judge_remarks(many), 5), width=100)
    assert shown.count("votes backwards") == 5
    assert "... and 4 more (--judges-out FILE saves all judges)" in shown


def test_judges_that_do_not_stand_out(ranking: Ranking) -> None:
    shown = drawn(*ranking_view(ranking, (), 5), width=100)
    assert "None stands out" in shown


def test_colours_are_for_terminals(ranking: Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[36m━" in drawn(*ranking_view(ranking, (), 5), color=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in drawn(*ranking_view(ranking, (), 5), color=True)


# --- progress ------------------------------------------------------------------------------------


def shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, seconds: float) -> str:
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as stderr:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setenv("TERM", "xterm")
        with terminal.progress("Reading [/]", total=3) as say:
            assert say is not None
            say("Comparing [b]", 2)
            time.sleep(seconds)
        stderr.write("end")
        stderr.flush()
        text = os.read(ours, 100_000).decode()
    os.close(ours)
    return text


def test_long_work_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", 0.01)
    assert "Comparing [b]" in shown_on_a_terminal(monkeypatch, 0.3)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_on_a_terminal(monkeypatch, 0.0) == "end"


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with terminal.progress("Reading") as say:
        assert say is None
