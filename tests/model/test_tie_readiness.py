"""Judges who tie more readily than others, and rankings that tie items nearly the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from lists_help import Row, made, objective_of, ranking
from scipy.optimize import minimize
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.judging.cells import OneSided, without_cells
from juryrank.model.effects import EffectModel
from juryrank.model.tie_readiness import judges_differ
from juryrank.ranking.request import task_of
from juryrank.simulation.simulation import Simulation
from juryrank.votes.votes import Votes

quiet = pytest.mark.filterwarnings("ignore::juryrank.JuryrankWarning")


def scores(found: jr.Ranking) -> np.ndarray:
    return found.items.sort("item")["score"].to_numpy()


def likeness(found: np.ndarray, simulation: Simulation) -> float:
    """The correlation of accuracies with the true ones."""
    return float(np.corrcoef(found, simulation.judges["accuracy"].to_numpy())[0, 1])


def accuracies(found: jr.Ranking) -> np.ndarray:
    return found.judges.sort("judge")["accuracy"].to_numpy()


# --- judges --------------------------------------------------------------------------------------


def accuracies_of_known_ties(simulation: Simulation) -> np.ndarray:
    """The best fit of scores and accuracies if it is known how readily each judge ties."""
    task = task_of(simulation.coded(), "hbtl", ties="davidson-by-judge", prior=(1.0, 0.6))
    objective, state = task.objective(), task.objective().start_state()
    n, log_tie = objective.n_items, np.log(simulation.judges["tie"].to_numpy())
    state[objective.layout.own_tie] = log_tie

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        gradients = objective.gradients(np.concatenate((point[:n], state[n:])), point[n:])
        return gradients.value, np.concatenate((gradients.state[:n], gradients.accuracy))

    start = np.concatenate((np.zeros(n), np.ones(objective.n_judges)))
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x[n:])


@quiet
@pytest.mark.parametrize("seed", [0, 1])
def test_who_ties_readily_but_decides_well_is_accurate(seed: int) -> None:
    simulation = jr.simulate(20, 60, votes_per_judge=50, tie=0.7, tie_sd=1.5, seed=seed)
    votes = simulation.coded()
    default, common = jr.rank(votes), jr.rank(votes, ties="davidson")
    known = likeness(accuracies_of_known_ties(simulation), simulation)
    assert likeness(accuracies(default), simulation) > known - 0.02
    assert likeness(accuracies(common), simulation) < known - 0.1
    own = default.effects.drop_nulls("judge")
    told = own.sort("judge")["value"].to_numpy()
    assert np.corrcoef(np.log(told), np.log(simulation.judges["tie"].to_numpy()))[0, 1] > 0.9


def test_judges_who_tie_alike_have_one_weight() -> None:
    votes = jr.simulate(20, 30, votes_per_judge=50, tie=0.7, seed=0).coded()
    default, common = jr.rank(votes), jr.rank(votes, ties="davidson")
    assert default.effects["judge"].is_null().all()
    assert default.items.equals(common.items)
    assert default.judges.equals(common.judges)


@quiet
@pytest.mark.parametrize(("tie_sd", "differ"), [(0.0, False), (1.0, True)])
def test_with_many_votes_only_a_spread_that_matters_counts(tie_sd: float, differ: bool) -> None:
    simulation = jr.simulate(100, 1000, votes_per_judge=100, tie=0.7, tie_sd=tie_sd, seed=1)
    votes = simulation.coded()
    assert judges_differ(votes)  # in accuracy, if in nothing else
    found = jr.rank(votes)
    assert not found.fit.draws
    assert len(found.effects.drop_nulls("judge")) == (1000 if differ else 0)
    assert likeness(accuracies(found), simulation) > 0.84


def test_what_is_asked_for_is_not_decided_by_the_data() -> None:
    votes = jr.simulate(8, 12, votes_per_judge=60, tie=0.7, tie_sd=1.5, seed=2).coded()
    assert judges_differ(votes)
    assert task_of(votes, "hbtl").effects.ties_by_judge
    assert not task_of(votes, "hbtl", ties="davidson").effects.ties_by_judge
    assert not task_of(votes, "hbtl", ties="half").effects.sizes
    assert not task_of(votes, "btl").effects.ties_by_judge  # where all judges are alike
    alike = jr.simulate(8, 12, votes_per_judge=60, tie=0.7, seed=2).coded()
    assert task_of(alike, "hbtl", ties="davidson-by-judge").effects.ties_by_judge


def tying(judge: str, times: int, of: int) -> list[Row]:
    """A judge of three items who ties the last two so many times."""
    return [
        Row(judge, [["a"], ["b", "c"]]) if k < times else ranking(judge, "abc") for k in range(of)
    ]


def test_ties_in_rankings_tell_judges_apart() -> None:
    assert judges_differ(made([*tying("u", 30, 40), *tying("v", 5, 40)]))
    assert not judges_differ(made([*tying("u", 12, 40), *tying("v", 10, 40)]))
    assert not judges_differ(made([*tying("u", 0, 40), *tying("v", 0, 40)]))
    assert not judges_differ(made([*tying("u", 1, 1), *tying("v", 0, 1)]))


def test_weights_tell_judges_apart_as_repeated_votes_do() -> None:
    once = made([Row("u", [["a", "b"]]), Row("v", [["a"], ["b"]])])
    assert not judges_differ(once)
    assert judges_differ(replace(once, weight=np.full(2, 20.0)))


# --- rankings ------------------------------------------------------------------------------------


def test_tied_items_that_come_in_everywhere_alike_are_average() -> None:
    """Three times in each place, first, second or last: nothing says that copies are worse."""
    groups = [["a", "copy of a", "another"], ["b"], ["c"]]
    votes = made([Row(0, order) for order in permutations(groups) for _ in range(3)])
    default = jr.rank(votes, "btl", prior=(1.0, 1.0))
    assert scores(default) == pytest.approx(np.zeros(5), abs=1e-6)
    of_groups = jr.rank(votes, "btl", prior=(1.0, 1.0), ties="davidson")
    assert scores(of_groups)[[0, 1, 4]].max() < scores(of_groups)[[2, 3]].min() - 0.5


def near_copies(seed: int) -> Votes:
    """Rankings of 5 of 15 items, 6 of which mostly show the judge the very same thing."""
    rng = np.random.default_rng(seed)
    copies, others = 6, 9
    centre = rng.permutation(np.linspace(0.5, -0.5, others + 1))
    score = np.concatenate((centre[0] + 0.08 * (np.arange(copies) - 2.5), centre[1:]))
    rows = []
    for u, accuracy in enumerate(rng.lognormal(0.0, 0.3, 20)):
        for _ in range(400):
            some = rng.permutation(len(score))[:5]
            is_copy = (some < copies) & (rng.random(5) < 0.9)
            seen = accuracy * score[some] + np.where(is_copy, rng.gumbel(), rng.gumbel(size=5))
            order = np.argsort(-seen)
            told_apart = np.append(False, -np.diff(seen[order]) >= 0.3)
            groups = [some[order][np.cumsum(told_apart) == k] for k in range(told_apart.sum() + 1)]
            rows.append(Row(u, [group.tolist() for group in groups]))
    return made(rows)


@quiet
@pytest.mark.parametrize("seed", [0, 2])
def test_rankings_that_tie_near_copies_say_what_their_pairs_say(seed: int) -> None:
    votes = near_copies(seed)
    in_pairs = scores(jr.rank(votes.in_pairs()))
    default, of_groups = (scores(jr.rank(votes, ties=ties)) for ties in (None, "davidson"))
    assert kendalltau(default, in_pairs).statistic >= 0.95
    assert kendalltau(of_groups, in_pairs).statistic < 0.9


@quiet
def test_ties_of_all_sizes_have_one_weight() -> None:
    rows = [Row(u, [["a", "b", "c"], ["d"], ["e", "f"]]) for u in range(3)]
    found = jr.rank(made(rows))
    assert found.effects["effect"].to_list() == ["tie"]
    assert found.items["item"].to_list()[:3] == ["a", "b", "c"]


def test_ties_that_lose_an_item_stay_ties() -> None:
    votes = made([Row(u, [["a", "b", "c"], ["d"]]) for u in range(3)])
    objective = objective_of(votes, EffectModel((2,), ties_by_judge=True, as_one=True))
    found = OneSided(np.array([0]), np.array([0]), *(np.ones(1),) * 4)
    assert without_cells(objective, found).effects == objective.effects
    nearly = OneSided(*np.divmod(np.arange(6), 2), *(np.ones(6),) * 4)
    assert without_cells(objective, nearly).effects == EffectModel()
