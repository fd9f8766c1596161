"""Models are data: what an entry of the registry says is what the library does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import juryrank as jr
from juryrank.model.registry import MODELS, Model, model_named, models_that
from juryrank.progress import Watcher
from juryrank.ranking.fitted import Fitted
from juryrank.ranking.methods import METHODS
from juryrank.ranking.task import Method, Task
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

PAIRS = [
    ("u", "a", "b", "a"), ("u", "a", "b", "a"), ("u", "b", "c", "b"), ("u", "a", "c", "c"),
    ("v", "a", "b", "b"), ("v", "b", "c", "b"), ("v", "c", "a", "a"), ("v", "b", "c", "c"),
    ("w", "a", "c", "a"), ("w", "b", "a", "a"), ("w", "c", "b", "b"), ("w", "c", "a", "tie"),
]  # fmt: skip


def votes() -> jr.Votes:
    return jr.votes_from(
        pl.DataFrame(PAIRS, schema=["judge", "left", "right", "winner"], orient="row")
    )


def rankings() -> jr.Votes:
    rows = [("u", "a > b > c"), ("v", "b > a > c"), ("w", "a > c > b"), ("w", "c > b > a")]
    return jr.votes_from(pl.DataFrame(rows, schema=["judge", "ranking"], orient="row"))


def works(ask: Any) -> bool:
    try:
        ask()
    except jr.InputError:
        return False
    return True


# --- a new entry ---------------------------------------------------------------------------------


def test_a_model_with_another_noise_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    laplace = Model("laplace", "Laplace", "exponential", "accuracy", tastes=True)
    monkeypatch.setitem(MODELS, "laplace", laplace)
    found, same = jr.rank(votes(), "laplace"), jr.rank(votes(), "htm", noise="exponential")
    assert found.model == "laplace"
    assert_frame_equal(found.items, same.items, check_exact=True)
    assert_frame_equal(found.judges, same.judges, check_exact=True)
    assert found.predict("u", "a", "b") == same.predict("u", "a", "b")


@dataclass(frozen=True)
class Margin:
    """Score = votes won minus votes lost, times `unit`."""

    unit: float = 1.0

    def solve(self, votes: jr.Votes) -> Floats:
        score = np.zeros(votes.n_items)
        np.add.at(score, votes.left, self.unit * votes.outcome)
        np.subtract.at(score, votes.right, self.unit * votes.outcome)
        return score


@dataclass(frozen=True)
class MarginMethod(Method):
    """Counts."""

    solver: Margin
    settings: ClassVar[type[Any]] = Margin

    def fit(self, task: Task, _watch: Watcher | None = None) -> Fitted:
        score, judges = self.solver.solve(task.votes), np.ones(task.votes.n_judges)
        return Fitted(solution=Solution(score, judges, None, True, 1))


@pytest.fixture
def margin(monkeypatch: pytest.MonkeyPatch) -> Model:
    model = Model(
        "margin", "Votes won minus votes lost", "gumbel", "equal", ("margin",), "odds",
        odds=False, lists=False, ties=False, order=False, prior=False, intervals=False,
    )  # fmt: skip
    monkeypatch.setitem(MODELS, "margin", model)
    monkeypatch.setitem(METHODS, "margin", MarginMethod)
    return model


def test_a_new_way_to_fit_is_one_class_and_one_entry(margin: Model) -> None:
    ranking = jr.rank(votes(), margin.name)
    assert dict(ranking.items.select("item", "score").iter_rows()) == {"a": 3, "b": 0, "c": -3}
    assert ranking.predict("u", "a", "c") == pytest.approx(1.0 / (1.0 + np.exp(-6.0)))
    assert ranking.fit.posterior is None
    assert ranking.standard_errors.items["standard_error"].is_null().all()
    assert "margin" in ranking.to_json()


def test_a_new_solver_can_have_settings(margin: Model) -> None:
    doubled: Any = Margin(unit=2.0)
    ranking = jr.rank(votes(), margin.name, solver=doubled)
    assert ranking.items["score"].to_list() == [6.0, 0.0, -6.0]
    with pytest.raises(jr.InputError, match="no solver called Margin"):
        jr.rank(votes(), solver=doubled)


def test_what_a_new_model_cannot_is_refused_like_that_of_others(margin: Model) -> None:
    for wrong in (
        {"ties": "davidson"}, {"order": "common"}, {"prior": (1.0, 1.0)}, {"tastes": True},
        {"intervals": "bootstrap"}, {"intervals": "sandwich"}, {"solver": "paper"},
        {"noise": "normal"},
    ):  # fmt: skip
        options: Any = wrong
        with pytest.raises(jr.InputError):
            jr.rank(votes(), margin.name, **options)
    with pytest.raises(jr.InputError, match="'margin' is for pairs"):
        jr.rank(rankings(), margin.name)
    with pytest.raises(jr.InputError, match="nothing about odds"):
        jr.rank(votes(), margin.name).scaled("elo")
    with pytest.raises(jr.InputError, match="does not say how votes arise"):
        jr.simulate(model=margin.name)


# --- the entries that there are ------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_an_entry_says_is_what_the_model_does(model: Model) -> None:
    prior: Any = (1.0, 1.0) if model.prior else "auto"
    ranking = jr.rank(votes(), model.name, prior=prior, intervals="information")
    assert works(lambda: ranking.scaled("elo")) == model.odds
    assert works(lambda: ranking.plot.judges()) == model.judges_differ
    asked: dict[str, bool] = {
        "ties": works(lambda: jr.rank(votes(), model.name, prior=prior, ties="davidson")),
        "order": works(lambda: jr.rank(votes(), model.name, prior=prior, order="common")),
        "prior": works(lambda: jr.rank(votes(), model.name, prior=(1.0, 1.0))),
        "lists": works(lambda: jr.rank(rankings(), model.name, prior=prior, intervals=None)),
        "tastes": works(lambda: jr.rank(votes(), model.name, tastes=True, intervals=None)),
        "any_noise": works(lambda: jr.rank(votes(), model.name, noise="normal", intervals=None)),
    }
    assert asked == {name: getattr(model, name) for name in asked}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_solver_that_an_entry_names_can_be_asked_for(model: Model) -> None:
    prior: Any = (1.0, 1.0) if model.prior else "auto"
    for name in model.solvers:
        solver: Any = METHODS[name].settings()
        found = jr.rank(votes(), model.name, prior=prior, solver=solver, intervals=None)
        assert sorted(found.items["item"]) == ["a", "b", "c"]


def test_numbers_of_judges_lie_where_their_scale_says() -> None:
    made = jr.simulate(6, accuracies=[3.0, 1.0, 0.2], votes_per_judge=60, seed=0)
    for model in MODELS.values():
        found = jr.rank(made.votes, model.name).judges["accuracy"]
        scale = model.judge_scale
        assert found.is_between(scale.lowest, scale.highest).all()
        assert (found.n_unique() > 1) == scale.differ


def test_models_are_named_by_what_they_can() -> None:
    few = ("btl", "tcv", "win-rate")
    assert models_that(lambda model: model.name in few, "and") == "btl, tcv and win-rate"
    assert models_that(lambda model: model.link == "share", "or") == "win-rate"
    assert model_named("plackett-luce") is MODELS["btl"]
