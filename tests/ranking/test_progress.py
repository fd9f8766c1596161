"""Whoever waits is told how far the work has got, by one kind of event."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import juryrank as jr

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    made = jr.simulate(5, 6, votes_per_judge=30, seed=1).votes
    half = pl.Series(["de", "en"] * (len(made) // 2))
    return made.with_columns(language=half)


def stages(events: list[jr.Progress]) -> list[str]:
    """The stages in the order in which they were first heard of."""
    return list(dict.fromkeys(event.stage for event in events))


def test_the_stages_of_a_ranking(votes: pl.DataFrame) -> None:
    events: list[jr.Progress] = []
    ranking = jr.rank(votes, progress=events.append)
    assert stages(events) == ["fitting", "sampling", "errors"]
    assert ranking.call == "jr.rank(votes)"
    drawn = [event for event in events if event.stage == "sampling"]
    assert all(0 <= event.done <= event.total for event in drawn)  # type: ignore[operator]
    assert str(drawn[0]) == f"Sampling the posterior: 0 of {drawn[0].total:,}"
    fitting = [event for event in events if event.stage == "fitting"]
    told = [(event.done, event.objective, event.gradient) for event in fitting]
    assert told == list(ranking.fit.steps)


def test_a_fit_tells_about_which_part_of_it_is_done() -> None:
    events: list[jr.Progress] = []
    jr.rank(jr.simulate(20, 400, votes_per_judge=260, seed=3).votes, progress=events.append)
    parts = [event.part for event in events if event.stage == "fitting"]
    assert parts == sorted(parts, key=lambda part: -1.0 if part is None else part)
    assert parts[0] == 0.0
    assert 0.7 <= (parts[-1] or 0.0) <= 1.0


def test_draws_for_the_prior_of_many_rankings_are_told_of() -> None:
    orders = ["a>b>c", "b>a>c", "a>c>b"] * 50
    votes = pl.DataFrame({"judge": [f"j{at % 5}" for at in range(150)], "ranking": orders})
    events: list[jr.Progress] = []
    ranking = jr.rank(votes, "htcv", intervals=None, progress=events.append)
    assert "sampling" in stages(events)
    fitting = [event for event in events if event.stage == "fitting"]
    told = [(event.done, event.objective, event.gradient) for event in fitting]
    assert told == list(ranking.fit.steps)
    assert str(events[0]) == "Fitting some of the votes"


def test_the_bootstrap_is_counted(votes: pl.DataFrame) -> None:
    events: list[jr.Progress] = []
    jr.rank(votes, "btl", prior=(1.0, 1.0), intervals="bootstrap", progress=events.append)
    assert stages(events) == ["fitting", "errors", "resampling"]
    done = [event.done for event in events if event.stage == "resampling"]
    assert done == list(range(events[-1].total or 0))


@pytest.mark.parametrize("solver", ["profile", "paper"])
def test_listening_changes_nothing(votes: pl.DataFrame, solver: str) -> None:
    options = {"model": "hbtl", "prior": (1.0, 1.0), "solver": solver}
    heard = jr.rank(votes, **options, progress=lambda _: None)  # type: ignore[call-overload]
    assert heard.to_json() == jr.rank(votes, **options).to_json()  # type: ignore[call-overload]


def test_older_names_hear_what_they_heard(votes: pl.DataFrame) -> None:
    fits: list[tuple[int, float, float]] = []
    draws: list[tuple[int, int]] = []
    steps: list[str] = []
    events: list[jr.Progress] = []
    jr.rank(
        votes, progress=events.append, watch=lambda *news: fits.append(news),
        watch_draws=lambda *news: draws.append(news), watch_steps=steps.append,
    )  # fmt: skip
    assert steps == ["Working out how sure the answer is"]
    assert draws == [(event.done, event.total) for event in events if event.stage == "sampling"]
    assert len(fits) + len(draws) + len(steps) == len(events)


def test_algorithm_1_tells_no_gradient(votes: pl.DataFrame) -> None:
    fits: list[tuple[int, float, float]] = []
    events: list[jr.Progress] = []
    solver = jr.PaperSolver(iterations=7)
    jr.rank(votes, solver=solver, progress=events.append, watch=lambda *news: fits.append(news))
    assert [number for number, _, _ in fits] == [1, 2, 3, 4, 5, 6, 7]
    assert all(np.isnan(gradient) for _, _, gradient in fits)
    assert {event.gradient for event in events} == {None}


def test_values_that_are_ranked_apart_are_announced(votes: pl.DataFrame) -> None:
    events: list[jr.Progress] = []
    steps: list[str] = []
    jr.rank(
        votes, "btl", by="language", prior=(1.0, 1.0), progress=events.append,
        watch_steps=steps.append,
    )  # fmt: skip
    announced = [event.text for event in events if event.stage == "value"]
    assert announced == ["language de (1 of 2)", "language en (2 of 2)"]
    sure = "Working out how sure the answer is"
    assert steps == [announced[0], sure, announced[1], sure]


def test_judges_and_compare_tell_as_much(votes: pl.DataFrame) -> None:
    events: list[jr.Progress] = []
    heard: list[tuple[str, int, int]] = []
    jr.judges(votes.head(60), progress=events.append, watch=lambda *news: heard.append(news))
    expected = ["fitting", "sampling", "leaving out", "simulating", "comparing"]
    assert stages(events) == expected
    counted = [event for event in events if event.stage != "fitting"]
    assert heard == [(event.text, event.done, event.total) for event in counted]
    events.clear()
    jr.compare(votes, ["btl", "win-rate"], folds=2, progress=events.append)
    assert [(event.text, event.done, event.total) for event in events] == [
        ("Comparing models, btl", 0, 4), ("Comparing models, btl", 1, 4),
        ("Comparing models, win-rate", 2, 4), ("Comparing models, win-rate", 3, 4),
    ]  # fmt: skip


def test_an_event_reads_as_a_line() -> None:
    fitting = jr.Progress("fitting", "Fitting", 3, objective=1234.5, gradient=0.25)
    assert str(fitting) == "Fitting: evaluation 3, objective 1,234.50, gradient 0.25"
    assert str(jr.Progress("errors", "Working")) == "Working"
