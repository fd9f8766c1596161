"""How results look, and which judges are named."""

from __future__ import annotations

import io
import os
import pty
import sys
import time
from dataclasses import replace
from itertools import islice
from typing import Literal

import polars as pl
import pytest
from rich.console import Console
from rich.progress import Progress

from juryrank.cli.terminal import progress
from juryrank.cli.terminal.ranking import ranking_view
from juryrank.cli.terminal.score_bar import ScoreBar
from juryrank.errors import counted
from juryrank.progress import Pace
from juryrank.ranking.rank import rank
from juryrank.ranking.ranking import Ranking
from juryrank.reading import votes_from
from juryrank.simulation.simulation import simulate
from juryrank.text import literal, short


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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("abc", "abc"),
        ("abcdefghijkl", "abcde\u2026ijkl"),
        ("a\nb", "a\\nb"),
        ("\u65e5" * 12, "\u65e5\u65e5\u2026\u65e5\u65e5"),
    ],
)
def test_of_long_labels_both_ends_are_shown(name: str, shown: str) -> None:
    assert short(name, 10) == shown


def test_numbers_have_words() -> None:
    assert counted(1, "vote") == "1 vote"
    assert counted(0, "vote") == "0 votes"
    assert counted(1200, "vote") == "1,200 votes"
    assert counted(2.5, "vote") == "2.5 votes"


# --- judges --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return rank(votes_from(simulate(20, 8, votes_per_judge=200, seed=1).votes))


@pytest.fixture(scope="module")
def odd() -> Ranking:
    made = simulate(10, accuracies=[1.5, 1.5, 1.2, 1.0, 0.0, -1.5], votes_per_judge=300, seed=1)
    return rank(votes_from(made.votes))


def test_items_have_intervals_ranks_and_tiers(ranking: Ranking) -> None:
    shown = drawn(*ranking_view(ranking, 5), width=100)
    first = ranking.items.row(0, named=True)
    assert "95% interval" in shown
    assert f"{first['score_low']:.3f} to {first['score_high']:.3f}" in shown


def test_labels_are_whole_where_bars_can_give_way(ranking: Ranking) -> None:
    """Cut short, these would all look the same."""
    names = [f"A model with a long name {place:02d}" for place in range(len(ranking.items))]
    longer = replace(ranking, items=ranking.items.with_columns(item=pl.Series(names)))
    shown = drawn(*islice(ranking_view(longer, 20), 3), width=80)
    assert all(name in shown for name in names)
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_judges_worth_a_look_are_named_with_the_reason(odd: Ranking) -> None:
    shown = drawn(*ranking_view(odd, 5), width=100)
    assert "Judges: 4 reliable, 1 inconsistent, 1 backwards" in shown
    assert "- judge-6 (backwards) votes against the order" in shown
    assert "- judge-5 (inconsistent) hardly follows the order" in shown
    assert "judge-1" not in shown


def test_equal_judges_are_not_named(ranking: Ranking) -> None:
    shown = drawn(*ranking_view(replace(ranking, model="btl"), 5), width=100)
    assert "This model treats all judges alike" in shown


def test_many_judges_are_cut(odd: Ranking) -> None:
    backwards = odd.judges.filter(pl.col("verdict") == "backwards")
    many = replace(odd, judges=pl.concat([backwards] * 14))
    shown = drawn(*ranking_view(many, 5), width=100)
    assert "judge-6 and 5 more (backwards): each votes against the order" in shown
    assert "... and 4 more (juryrank judges shows all)" in shown


def test_an_answer_without_errors_shows_scores_alone() -> None:
    made = simulate(10, 5, seed=1)
    shown = drawn(*ranking_view(rank(votes_from(made.votes), intervals=None), 5), width=100)
    assert "interval" not in shown
    assert "tier" not in shown


def test_colours_are_for_terminals(ranking: Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[36m━" in drawn(*ranking_view(ranking, 5), color=True, width=100)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in drawn(*ranking_view(ranking, 5), color=True, width=100)


# --- progress ------------------------------------------------------------------------------------


def shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, seconds: float, patience: float) -> str:
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as stderr:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setenv("TERM", "xterm")
        with progress.progress("Reading [/]", patience=patience) as say:
            say("Fitting")
            say("Comparing [b]", 2, 3)
            time.sleep(seconds)
        stderr.write("end")
        stderr.flush()
        text = os.read(ours, 100_000).decode()
    os.close(ours)
    return text


def test_long_work_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shown_on_a_terminal(monkeypatch, 0.3, patience=0.01)
    assert "Comparing [b]" in shown
    assert "0:00:00" in shown  # the time so far


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_on_a_terminal(monkeypatch, 0.0, progress.PATIENCE) == "end"


def test_the_bar_is_that_of_the_work_at_hand() -> None:
    display = Progress()
    task = display.add_task("Fitting", total=None)
    say = progress._in_a_bar(display, task)
    say("Sampling", 5, 10)
    assert (display.tasks[0].completed, display.tasks[0].total) == (5, 10)
    say("Working out")
    assert (display.tasks[0].completed, display.tasks[0].total) == (0, None)


def test_elsewhere_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.progress("Reading", pace=Pace(soon=0.0, long=0.0)) as say:
        say("Sampling", 0, 4)
        say("Sampling: 1 of 4", 1, 4)
    assert "Sampling: 1 of 4 (about 10 seconds left)" in capsys.readouterr().err
