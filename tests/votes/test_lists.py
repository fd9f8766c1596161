from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lists_help import (
    Label,
    Row,
    as_rows,
    made,
    objective_of,
    plain_penalty,
    plain_value,
    random_point,
    random_rows,
    truth_at,
    weak_orders,
)

from juryrank.inference import covariance as uncertainty
from juryrank.inference.covariance import by_information
from juryrank.inference.information import Information
from juryrank.model.effects import NO_EFFECTS, EffectModel
from juryrank.model.gauge import gauge_of
from juryrank.model.noise import NOISES
from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.solvers.search import ROUGH
from juryrank.votes.lists import (
    Lists,
    choices,
    in_every_order,
    kept,
    no_lists,
    orders_of_ties,
    pairs_of,
    taken,
    tie_sizes,
    tied_pairs_of,
    without_entries,
)
from juryrank.votes.votes import Votes

MODELS = {
    "ties": EffectModel((2, 3)),
    "ties by judge": EffectModel((2, 3), ties_by_judge=True),
    "order": EffectModel((2, 3), order=True),
    "all by judge": EffectModel((2, 3), ties_by_judge=True, order=True, order_by_judge=True),
    "tied as one": EffectModel((2,), as_one=True),
    "tied as one, by judge": EffectModel((2,), ties_by_judge=True, order=True, as_one=True),
}
PRIOR = Prior(1.3, 0.7, effect_sd=2.0, tie_sd=0.8, order_sd=0.6)
seeds = st.integers(0, 100_000)


def mixed_votes(seed: int, **sizes: int) -> Votes:
    return made(random_rows(seed, **sizes), items=range(6))


def straight_rows(seed: int) -> list[Row]:
    """Rows without ties."""
    return [
        row._replace(groups=[[i] for group in row.groups for i in group])
        for row in random_rows(seed)
    ]


# --- the value -----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=seeds, model=st.sampled_from(list(MODELS)), scale=st.sampled_from([0.01, 1.0, 4.0]))
def test_value_is_that_of_all_groups_enumerated(seed: int, model: str, scale: float) -> None:
    votes = mixed_votes(seed)
    objective = objective_of(votes, MODELS[model], PRIOR)
    state, accuracy = random_point(seed, objective, scale)
    truth = truth_at(objective, state, accuracy)
    expected = plain_value(votes, MODELS[model], truth) + plain_penalty(truth, PRIOR)
    assert objective.gradients(state, accuracy).value == pytest.approx(expected, rel=1e-11)


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_value_without_ties_is_plackett_luce(seed: int) -> None:
    votes = made(straight_rows(seed), items=range(6))
    objective = objective_of(votes, NO_EFFECTS)
    state, accuracy = random_point(seed, objective)
    expected = plain_value(votes, NO_EFFECTS, truth_at(objective, state, accuracy))
    assert objective.gradients(state, accuracy).value == pytest.approx(expected, rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, name=st.sampled_from(list(NOISES)))
def test_pairs_with_ties_and_sides_follow_the_formula_with_any_noise(seed: int, name: str) -> None:
    rows = [row for row in random_rows(seed, rows=60) if len(row.named) == 2]
    votes = made(rows, items=range(6))
    model = EffectModel((2,), ties_by_judge=True, order=True, order_by_judge=True)
    objective = objective_of(votes, model, noise=NOISES[name])
    state, accuracy = random_point(seed, objective)
    truth = truth_at(objective, state, accuracy)
    expected = plain_value(votes, model, truth, NOISES[name]) + plain_penalty(truth, NO_PRIOR)
    assert objective.gradients(state, accuracy).value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("sizes", [(), (2,), (3,), (2, 3), (2, 3, 4), (4,)], ids=str)
def test_chances_of_all_outcomes_of_a_set_add_up_to_1(sizes: tuple[int, ...]) -> None:
    rows = [Row("a", groups) for groups in weak_orders(range(4), set(sizes))]
    votes, model = made(rows), EffectModel(sizes)
    tie = np.linspace(-0.5, 1.0, len(sizes))
    state = np.concatenate(([1.2, -0.4, 0.3, -1.1], tie))
    chances = []
    for row in rows:
        one = objective_of(made([row]), model)
        chances.append(math.exp(-one.gradients(state, np.array([-1.7])).value))
    assert sum(chances) == pytest.approx(1.0, abs=1e-12)
    assert len(votes) == len(rows)


def test_chances_of_the_best_two_and_of_one_choice_add_up_to_1() -> None:
    state, accuracy = np.array([0.9, -0.3, 0.1, -2.0, 0.7]), np.array([0.8])
    best_two = [
        Row("a", [[i], [j]], [k for k in range(5) if k not in (i, j)])
        for i, j in permutations(range(5), 2)
    ]
    first = [Row("a", [[i]], [k for k in range(5) if k != i]) for i in range(5)]
    for rows in (best_two, first):
        loss = [objective_of(made([r]), NO_EFFECTS).gradients(state, accuracy).value for r in rows]
        assert np.exp(-np.array(loss)).sum() == pytest.approx(1.0, abs=1e-12)


def test_a_backwards_judge_ranks_by_the_inverse_worths() -> None:
    """Accuracy -g means Plackett-Luce with worths exp(-g s), not the mirrored ranking."""
    score, g = np.array([1.0, 0.2, -0.5, -0.7]), 1.4
    worth = np.exp(-g * score)
    for order in permutations(range(4)):
        chance, left = 1.0, set(range(4))
        for i in order:
            chance *= worth[i] / sum(worth[j] for j in left)
            left -= {i}
        votes = made([Row("a", [[i] for i in order])])
        loss = objective_of(votes, NO_EFFECTS).gradients(score, np.array([-g])).value
        assert loss == pytest.approx(-math.log(chance), rel=1e-12)


@pytest.mark.parametrize("model", [MODELS["ties"], MODELS["tied as one"]], ids=["ties", "as one"])
def test_extreme_locations_give_no_nan(model: EffectModel) -> None:
    rows = [
        Row("a", [[5], [4, 3], [2]], [1, 0]),
        Row("b", [[0, 1, 2], [3], [4]]),
        Row("b", [[0], [5]]),
    ]
    objective = objective_of(made(rows), model)
    for size in (1e3, 1e5):
        state = np.concatenate((size * np.linspace(-1, 1, 6), [0.3, -0.2][: len(model.sizes)]))
        for sign in (1.0, -1.0):
            gradients = objective.gradients(state, sign * np.ones(2))
            curvature = objective.curvature(state, sign * np.ones(2))
            for part in (
                gradients.value,
                gradients.state,
                gradients.accuracy,
                curvature.state,
                curvature.accuracy,
            ):
                assert np.isfinite(part).all()


# --- derivatives ---------------------------------------------------------------------------------


def moved(x: np.ndarray, i: int, step: float) -> np.ndarray:
    y = x.copy()
    y[i] += step
    return y


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_gradients_agree_with_finite_differences(model: EffectModel, seed: int) -> None:
    objective = objective_of(mixed_votes(seed), model, PRIOR)
    state, accuracy = random_point(seed, objective)
    gradients, step = objective.gradients(state, accuracy), 1e-5
    for i in range(len(state)):
        up, down = (objective.gradients(moved(state, i, d), accuracy).value for d in (step, -step))
        assert gradients.state[i] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-6)
    for u in range(len(accuracy)):
        up, down = (objective.gradients(state, moved(accuracy, u, d)).value for d in (step, -step))
        assert gradients.accuracy[u] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_gradients_of_single_judges_add_up(model: EffectModel) -> None:
    objective = objective_of(mixed_votes(5), model)
    state, accuracy = random_point(5, objective)
    rows, own = objective.gradients_by_judge(0, objective.n_judges, state, accuracy)
    whole = objective.gradients(state, accuracy)
    by_prior = np.zeros(len(state))
    objective.state_penalty(state, by_prior)
    assert rows.sum(axis=0) + by_prior == pytest.approx(whole.state, abs=1e-12)
    assert own == pytest.approx(whole.accuracy, abs=1e-12)


def finite_blocks(
    objective: Objective, state: np.ndarray, accuracy: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``A``, ``B`` and ``C``, prior included, from differences of gradients."""
    step = 1e-5

    def rows(along: str) -> list[list[np.ndarray]]:
        point = state if along == "state" else accuracy
        found = []
        for i in range(len(point)):
            up, down = (
                objective.gradients(moved(state, i, d), accuracy)
                if along == "state"
                else objective.gradients(state, moved(accuracy, i, d))
                for d in (step, -step)
            )
            found.append(
                [(up.state - down.state) / (2 * step), (up.accuracy - down.accuracy) / (2 * step)]
            )
        return found

    by_state, by_accuracy = rows("state"), rows("accuracy")
    return (
        np.array([row[0] for row in by_state]),
        np.array([row[1] for row in by_state]),
        np.array([row[1] for row in by_accuracy]),
    )


@pytest.mark.parametrize("model", [NO_EFFECTS, *MODELS.values()], ids=["none", *MODELS])
@pytest.mark.parametrize("seed", range(2))
def test_information_is_the_second_derivative(model: EffectModel, seed: int) -> None:
    votes = made(random_rows(seed) if model.sizes else straight_rows(seed), items=range(6))
    objective = objective_of(votes, model, PRIOR)
    state, accuracy = random_point(seed + 50, objective)
    a, b, c = finite_blocks(objective, state, accuracy)
    assert c == pytest.approx(np.diag(np.diag(c)), abs=1e-6)
    information = Information(objective, state, accuracy)
    mixed = information.mixed_rows(0, objective.n_judges)
    assert mixed == pytest.approx(b.T, rel=1e-5, abs=2e-6)
    assert information.accuracy_curvature == pytest.approx(np.diag(c), rel=1e-5, abs=2e-6)
    profile = a - b @ np.diag(1.0 / np.diag(c)) @ b.T
    assert information.profile_matrix() == pytest.approx(profile, rel=1e-5, abs=2e-6)
    curvature = objective.curvature(state, accuracy)
    assert curvature.state == pytest.approx(np.diag(profile), rel=1e-5, abs=2e-6)
    assert curvature.accuracy == pytest.approx(np.diag(c), rel=1e-5, abs=2e-6)


def test_errors_of_many_items_are_those_of_few() -> None:
    rng = np.random.default_rng(4)
    rows = [
        Row(int(rng.integers(4)), [[int(i)] for i in rng.permutation(60)[:5]]) for _ in range(600)
    ]
    objective = objective_of(made(rows), NO_EFFECTS, PRIOR)
    solution = ROUGH.solve(objective)
    gauge = gauge_of(objective, solution.accuracy, objective.choices_per_judge)
    dense = by_information(objective, solution, gauge)
    wide = by_information(objective, solution, gauge, most_dense=50)
    for i in (0, 17, 42):
        assert wide.covariances(i) == pytest.approx(dense.covariances(i), rel=1e-3, abs=1e-6)
    best = np.argsort(-solution.score)[: uncertainty.EXACT_ITEMS]
    assert wide.score_variance[best] == pytest.approx(dense.score_variance[best], rel=1e-3)
    assert wide.score_variance == pytest.approx(dense.score_variance, rel=0.3)


def test_effects_of_single_judges_give_way_when_there_are_too_many_unknowns() -> None:
    objective = objective_of(mixed_votes(2), MODELS["all by judge"], PRIOR)
    state, accuracy = random_point(2, objective)
    whole = Information(objective, state, accuracy)
    small = Information(objective, state, accuracy, most_dense=10)
    assert small.size == 6 + 2 + 1
    at = np.ix_(small.at, small.at)
    assert small.profile_matrix() == pytest.approx(whole.profile_matrix()[at], rel=1e-10)


# --- what lists say ------------------------------------------------------------------------------


def random_lists(seed: int) -> Lists:
    return made([row for row in random_rows(seed, rows=30) if len(row.named) > 2]).lists


def rows_of(lists: Lists, n_items: int = 6) -> list[Row]:
    """Lists as rows, items and judges by code."""
    judges = len(lists.start) - 1
    votes = made([Row(0, [[0], [1]])], items=range(n_items))
    nothing = np.zeros(judges + 1, dtype=np.int64)
    empty = votes.subset(np.zeros(1, dtype=np.bool_))
    return as_rows(
        replace(empty, judges=pl.Series(list(range(judges))), start=nothing, lists=lists)
    )


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_lists_are_taken_and_kept(seed: int) -> None:
    lists = random_lists(seed)
    rng, rows = np.random.default_rng(seed), rows_of(lists)
    which = np.sort(rng.integers(0, lists.number, 12))
    assert rows_of(taken(lists, which)) == [rows[k] for k in which]
    keep = rng.random(lists.number) < 0.5
    assert rows_of(kept(lists, keep)) == [row for row, k in zip(rows, keep, strict=True) if k]


def row_without(row: Row, gone: set[Label]) -> Row | None:
    groups = [[i for i in group if i not in gone] for group in row.groups]
    groups = [group for group in groups if group]
    rest = [i for i in row.rest if i not in gone]
    ranked = row._replace(groups=groups, rest=rest)
    return ranked if groups and len(ranked.named) >= 2 else None


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_items_are_taken_out_of_lists(seed: int) -> None:
    lists = random_lists(seed)
    drop = np.random.default_rng(seed).random(len(lists.item)) < 0.3
    expected = []
    for k, row in enumerate(rows_of(lists)):
        a, b = lists.begin[k], lists.begin[k + 1]
        gone: set[Label] = {int(i) for i in lists.item[a:b][drop[a:b]]}
        left = row_without(row, gone)
        expected += [left] if left else []
    assert rows_of(without_entries(lists, drop)) == expected


def pairs_in(row: Row) -> tuple[list[tuple[Label, Label]], list[set[Label]]]:
    """The pairs a row decides, and those it ties."""
    levels = [*row.groups, row.rest]
    decided = [(i, j) for up, down in combinations(levels, 2) for i in up for j in down]
    return decided, [set(two) for group in row.groups for two in combinations(group, 2)]


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_pairs_ties_and_choices_of_lists(seed: int) -> None:
    lists = random_lists(seed)
    rows = rows_of(lists)
    number, better, worse = pairs_of(lists)
    tied_in, one, other = tied_pairs_of(lists)
    for k, row in enumerate(rows):
        decided, tied = pairs_in(row)
        found = zip(better[number == k].tolist(), worse[number == k].tolist(), strict=True)
        assert Counter(found) == Counter(decided)
        same = zip(one[tied_in == k].tolist(), other[tied_in == k].tolist(), strict=True)
        assert sorted(map(sorted, same)) == sorted(map(sorted, tied))
        left, made_choices = len(row.named), 0
        for group in row.groups:
            made_choices += left >= 2
            left -= len(group)
        assert choices(lists)[k] == made_choices
    sizes = {len(group) for row in rows for group in row.groups} - {1}
    assert tie_sizes(lists).tolist() == sorted(sizes)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_ties_as_every_order(seed: int) -> None:
    lists = random_lists(seed)
    straight = rows_of(in_every_order(lists))
    expected = []
    for k, row in enumerate(rows_of(lists)):
        orders: list[list[Label]] = [[]]
        for group in row.groups:
            orders = [[*head, *tail] for head in orders for tail in permutations(group)]
        assert orders_of_ties(lists)[k] == len(orders)
        expected += [
            (row.judge, tuple(order), tuple(row.rest), pytest.approx(row.weight / len(orders)))
            for order in orders
        ]
    assert all(len(group) == 1 for row in straight for group in row.groups)
    found = [(r.judge, tuple(i for g in r.groups for i in g), tuple(r.rest), r.weight)
             for r in straight]  # fmt: skip
    assert sorted(f[:3] for f in found) == sorted(e[:3] for e in expected)
    assert sum(row.weight for row in straight) == pytest.approx(lists.weight.sum())


def test_no_lists_say_nothing() -> None:
    nothing = no_lists(3)
    assert (nothing.number, len(choices(nothing)), len(tie_sizes(nothing))) == (0, 0, 0)
    assert [len(part) for part in (*pairs_of(nothing), *tied_pairs_of(nothing))] == [0] * 6
    assert in_every_order(nothing) is nothing
    assert kept(nothing, np.empty(0, dtype=np.bool_)).number == 0
    assert without_entries(nothing, np.empty(0, dtype=np.bool_)).number == 0


def test_many_tied_items_have_many_orders_but_no_overflow() -> None:
    votes = made([Row(0, [list(range(200))]), Row(0, [[0], [1], [2]])])
    assert orders_of_ties(votes.lists).tolist() == [np.inf, 1.0]


# --- what must not matter ------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=seeds, name=st.sampled_from(list(MODELS)))
def test_weight_2_is_the_row_twice(seed: int, name: str) -> None:
    rows = random_rows(seed)
    twice = [row._replace(weight=2.0 * row.weight) for row in rows]
    one, other = (
        objective_of(made(some, items=range(6)), MODELS[name]) for some in ([*rows, *rows], twice)
    )
    state, accuracy = random_point(seed, one)
    for ours, theirs in zip(
        one.gradients(state, accuracy), other.gradients(state, accuracy), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-10)
    assert one.curvature(state, accuracy).state == pytest.approx(
        other.curvature(state, accuracy).state, rel=1e-9, abs=1e-9
    )


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_a_constant_added_to_all_scores_changes_nothing(seed: int) -> None:
    objective = objective_of(mixed_votes(seed), MODELS["all by judge"])
    state, accuracy = random_point(seed, objective)
    shifted = state.copy()
    shifted[:6] += 3.7
    assert objective.gradients(shifted, accuracy).value == pytest.approx(
        objective.gradients(state, accuracy).value, rel=1e-10
    )
    assert objective.gradients(state, accuracy).state[:6].sum() == pytest.approx(0.0, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, by_judge=st.booleans(), as_one=st.booleans())
def test_a_pair_is_a_list_of_two(seed: int, by_judge: bool, as_one: bool) -> None:
    """The same votes on two items through the code for pairs and through that for lists."""
    rows = [row for row in random_rows(seed, rows=60) if len(row.named) == 2]
    model = EffectModel((2,) if as_one else (2, 3), ties_by_judge=by_judge, as_one=as_one)
    pairs, lists = (
        objective_of(made(rows, items=range(6), pairs_as_lists=as_lists), model, PRIOR)
        for as_lists in (False, True)
    )
    assert (lists.votes.pairs.number, pairs.votes.lists.number) == (0, 0)
    state, accuracy = random_point(seed, pairs)
    for ours, theirs in zip(
        pairs.gradients(state, accuracy), lists.gradients(state, accuracy), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    one, other = (Information(some, state, accuracy) for some in (pairs, lists))
    assert one.profile_matrix() == pytest.approx(other.profile_matrix(), rel=1e-9, abs=1e-9)
    assert one.diagonal == pytest.approx(other.diagonal, rel=1e-9, abs=1e-9)
    best, as_list = accuracy.copy(), accuracy.copy()
    assert pairs.profile(state, best)[0] == pytest.approx(lists.profile(state, as_list)[0])
    assert best == pytest.approx(as_list, abs=1e-8)


def test_a_ranking_in_pairs_has_a_vote_for_each() -> None:
    rows = [Row("a", [[0], [1], [2], [3], [4]], weight=2.0), Row("b", [[0], [1, 2]], [3, 4])]
    votes = made([*rows, Row("b", [[3], [4]])])
    pairs = votes.in_pairs()
    assert (pairs.lists.number, len(pairs)) == (0, 10 + (2 + 2 + 4 + 1) + 1)
    assert np.diff(pairs.start).tolist() == [10, 10]
    assert pairs.votes_per_judge.tolist() == [20.0, 10.0]
    assert Counter(pairs.outcome.tolist()) == {1: 19, 0: 1}
    assert made([Row("b", [[3], [4]])]).in_pairs().n_pairs == 1
