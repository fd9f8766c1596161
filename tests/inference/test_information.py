from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lists_help import Row, made, objective_of, random_point, random_rows
from numerics_help import Floats, with_pairs

import juryrank as jr
from juryrank.inference import covariance as uncertainty
from juryrank.inference.conjugate_gradients import System, solved
from juryrank.inference.covariance import Uncertainty, by_information
from juryrank.inference.information import MOST_DENSE, Information, Portions, inverse_of
from juryrank.inference.matrix_free import WideInformation
from juryrank.model.effects import NO_EFFECTS, EffectModel
from juryrank.model.gauge import gauge_of
from juryrank.model.noise import GUMBEL, NORMAL
from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.solvers.search import ROUGH
from juryrank.votes.coded import Splitting

PRIOR = Prior(1.3, 0.7, effect_sd=2.0, tie_sd=0.8, order_sd=0.6)
EVERYTHING = EffectModel((2, 3), ties_by_judge=True, order=True, order_by_judge=True)


def plain_rows(seed: int, *, lists: bool) -> list[Row]:
    rows = random_rows(seed)
    straight = [
        row._replace(groups=[[i] for group in row.groups for i in group]) for row in rows
    ]  # fmt: skip
    return straight if lists else [row for row in straight if len(row.named) == 2]


def some_objectives() -> dict[str, Objective]:
    pairs, lists = plain_rows(3, lists=False), plain_rows(3, lists=True)
    tied = random_rows(4)
    tied_pairs = [row for row in tied if len(row.named) == 2]

    def of(rows: list[Row], model: EffectModel) -> Objective:
        return objective_of(made(rows, items=range(6)), model, PRIOR)

    return {
        "pairs": of(pairs, NO_EFFECTS),
        "lists": of(lists, NO_EFFECTS),
        "ties and sides": of(tied_pairs, EffectModel((2,), order=True)),
        "all by judge": of(tied, EVERYTHING),
        "normal lists": replace(of(lists, NO_EFFECTS), noise=NORMAL),
        "equal judges": replace(of(pairs, NO_EFFECTS), fixed_accuracy=np.full(3, 0.8)),
    }


OBJECTIVES = some_objectives()


def explicit_blocks(some: Objective, state: Floats, accuracy: Floats) -> tuple[Floats, ...]:
    """``A - B C^-1 B'`` and ``B'`` of the scores, and ``C``, as whole matrices."""
    dense, n = Information(some, state, accuracy), some.n_items
    return (
        dense.profile_matrix()[:n, :n],
        dense.mixed_rows(0, some.n_judges)[:, :n],
        dense.accuracy_curvature,
    )


def assert_wide_is_explicit(some: Objective, state: Floats, accuracy: Floats) -> None:
    matrix, mixed, accuracy_curvature = explicit_blocks(some, state, accuracy)
    wide = WideInformation(some, state, accuracy)
    assert wide.accuracy_curvature == pytest.approx(accuracy_curvature, rel=1e-11)
    rng = np.random.default_rng(1)
    for count in (1, 3, 8):
        vectors = rng.normal(size=(len(matrix), count))
        assert wide.times_profile_matrix(vectors) == pytest.approx(matrix @ vectors, rel=1e-9)
        energies = np.diag(vectors.T @ matrix @ vectors)
        assert wide.energies(vectors) == pytest.approx(energies, rel=1e-9)
    factor, variance = rng.normal(size=len(accuracy_curvature)), rng.random(len(matrix))
    assert wide.mixed_sum(factor) == pytest.approx(factor @ mixed, rel=1e-9, abs=1e-12)
    assert wide.mixed_squares(variance) == pytest.approx(mixed**2 @ variance, rel=1e-9)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_products_without_matrices_are_those_of_the_matrices(name: str) -> None:
    some = OBJECTIVES[name]
    state, accuracy = random_point(3, some)
    assert_wide_is_explicit(some, state, accuracy)
    if name != "normal lists":  # the curvature of which is not exact
        wide = WideInformation(some, state, accuracy)
        matrix, *_ = explicit_blocks(some, state, accuracy)
        assert wide.diagonal == pytest.approx(np.diag(matrix), rel=1e-11)


BLOCK = 256
"""Votes that second derivatives are worked out of at a time."""


def many_votes(noise: str = "gumbel") -> Objective:
    """Pairs of judges with fewer, more and far more votes than are worked on at a time."""
    rng = np.random.default_rng(5)
    rows = [
        Row(u, [[int(i)] for i in rng.permutation(40)[:2]], weight=rng.random())
        for u, count in enumerate((3, BLOCK, BLOCK + 1, 3 * BLOCK))
        for _ in range(count)
    ]
    made_of = objective_of(made(rows, items=range(40)), NO_EFFECTS, PRIOR)
    return replace(made_of, noise=NORMAL if noise == "normal" else GUMBEL)


@pytest.mark.parametrize("noise", ["gumbel", "normal"])
def test_judges_may_have_more_votes_than_are_worked_on_at_a_time(noise: str) -> None:
    some = many_votes(noise)
    assert_wide_is_explicit(some, *random_point(2, some))


@pytest.mark.parametrize("name", ["pairs", "lists", "all by judge"])
def test_threads_change_nothing(name: str) -> None:
    always = Splitting(votes_worth_it=1, votes_worth_threads=1)
    state, accuracy = random_point(3, OBJECTIVES[name])
    vectors = np.random.default_rng(2).normal(size=(6, 5))
    found = []
    for threads in (1, 3):
        some = replace(OBJECTIVES[name], threads=threads)
        some = replace(some, votes=replace(some.votes, splitting=always))
        assert len(some.votes.chunk_bounds) > 2
        wide = WideInformation(some, state, accuracy)
        found.append(
            (
                *wide.curvature,
                wide.times_profile_matrix(vectors),
                wide.energies(vectors),
                wide.mixed_sum(accuracy),
                wide.mixed_squares(state[:6] ** 2),
            )
        )
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("wide", [0, 2, 10**6], ids=["all sparse", "some", "all dense"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_judges_may_be_taken_a_few_at_a_time(name: str, wide: int) -> None:
    some = OBJECTIVES[name]
    state, accuracy = random_point(3, some)
    whole = Information(some, state, accuracy)
    rng = np.random.default_rng(1)
    root = rng.normal(size=(whole.size, whole.size))
    inverse, direction = inverse_of(root @ root.T + np.eye(whole.size)), rng.normal(size=whole.size)
    mixed = whole.mixed_rows(0, some.n_judges)
    few = Information(some, state, accuracy, portions=Portions(numbers=10, wide=wide))
    assert few.profile_matrix() == pytest.approx(whole.profile_matrix(), rel=1e-10, abs=1e-12)
    assert few.accuracy_curvature == pytest.approx(whole.accuracy_curvature, rel=1e-12)
    square, along = few.mixed_forms(inverse, direction)
    assert square == pytest.approx(np.diag(mixed @ inverse.whole @ mixed.T), rel=1e-9)
    assert along == pytest.approx(mixed @ direction, rel=1e-9, abs=1e-12)
    assert few.mixed_sum(accuracy) == pytest.approx(accuracy @ mixed, rel=1e-9, abs=1e-12)


def test_inverses_are_inverses() -> None:
    root = np.random.default_rng(0).normal(size=(7, 7))
    matrix = root @ root.T + np.eye(7)
    inverse = inverse_of(matrix.copy())
    assert inverse.whole @ matrix == pytest.approx(np.eye(7), abs=1e-12)
    assert inverse.root is not None
    lower = np.tril(inverse.root)
    assert lower.T @ lower == pytest.approx(inverse.whole, rel=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        inverse_of(matrix - 10.0 * np.eye(7))


# --- conjugate gradients -------------------------------------------------------------------------


def system_of(matrix: Floats, soft: Floats) -> System:
    return System(
        times=lambda v: matrix @ v,
        energies=lambda v: np.einsum("ij,ij->j", v, matrix @ v),
        diagonal=np.diag(matrix),
        soft=soft,
        soft_image=matrix @ soft,
    )


def ring(n: int, held: float) -> Floats:
    """Items that are compared with their neighbours alone: as hard as it gets."""
    weight = np.random.default_rng(2).uniform(0.2, 5.0, n)
    matrix = np.diag(weight + np.roll(weight, -1) + held)
    at = np.arange(n)
    matrix[at, at - 1] -= weight
    matrix[at - 1, at] -= weight
    return matrix


@pytest.mark.parametrize("held", [1.0, 1e-3])
@pytest.mark.parametrize("soft", [1, 2])
def test_solutions_and_forms_are_right(held: float, soft: int) -> None:
    n = 400
    matrix = ring(n, held)
    rng = np.random.default_rng(1)
    directions = np.column_stack((np.ones(n), np.sin(2 * np.pi * np.arange(n) / n)))[:, :soft]
    right = rng.normal(size=(n, 6))
    right[:, :3] = np.eye(n)[:, [0, 17, 200]]
    whole = np.arange(6) % 2 == 0
    found, form = solved(system_of(matrix, directions), right, whole, np.where(whole, 1e-8, 1e-5))
    exact = np.linalg.solve(matrix, right)
    expected = np.sum(right * exact, axis=0)
    assert form == pytest.approx(expected, rel=1e-4 if held == 1.0 else 5e-4)
    assert form[whole] == pytest.approx(expected[whole], rel=1e-6)
    for column in np.flatnonzero(whole):
        scale = np.abs(exact[:, column]).max()
        assert found[:, column] == pytest.approx(exact[:, column], abs=2e-3 * scale)


def test_a_matrix_that_is_not_positive_is_refused() -> None:
    matrix = ring(20, 0.1) - 2.0 * np.eye(20)
    with pytest.raises(np.linalg.LinAlgError):
        solved(
            system_of(matrix, np.ones((20, 1))),
            np.eye(20)[:, :2],
            np.array([True, False]),
            np.full(2, 1e-5),
        )


def test_soft_directions_cost_no_steps() -> None:
    n, rng = 300, np.random.default_rng(0)
    score = rng.normal(size=n)
    score -= score.mean()
    matrix = np.eye(n) - np.outer(score, score) * (1.0 - 1e-6) / (score @ score)
    products: list[int] = []

    def times(vectors: Floats) -> Floats:
        products.append(vectors.shape[1])
        return np.asarray(matrix @ vectors)

    system = replace(system_of(matrix, score[:, None]), times=times)
    _, form = solved(system, np.eye(n)[:, :4], np.ones(4, dtype=np.bool_), np.full(4, 1e-8))
    assert form == pytest.approx(np.diag(np.linalg.inv(matrix))[:4], rel=1e-6)
    assert len(products) <= 2


def test_the_rough_inverse_is_a_diagonal_and_few_factors() -> None:
    n, rng = 30, np.random.default_rng(1)
    root = rng.normal(size=(n, n))
    matrix, soft = root @ root.T + np.eye(n), rng.normal(size=(n, 2))
    system = system_of(matrix, soft)
    energy, image = np.linalg.inv(soft.T @ matrix @ soft), matrix @ soft
    rest = np.eye(n) - soft @ energy @ image.T
    whole = soft @ energy @ soft.T + rest @ np.diag(1.0 / np.diag(matrix)) @ rest.T
    one, other = system.rough_factors()
    assert one @ other.T + np.diag(1.0 / np.diag(matrix)) == pytest.approx(whole, abs=1e-12)


# --- errors of many items ------------------------------------------------------------------------


def errors_of(some: Objective, most_dense: int = MOST_DENSE) -> tuple[Uncertainty, Floats]:
    solution = ROUGH.solve(some)
    gauge = gauge_of(some, solution.accuracy, some.choices_per_judge)
    return by_information(some, solution, gauge, most_dense), solution.score


@pytest.mark.parametrize(
    "kind", ["prior", "no prior", "virtual node", "equal judges", "few neighbours"]
)
def test_errors_of_many_items_are_exact_where_they_are_said_to_be(kind: str) -> None:
    simulated = jr.simulate(120, 15, votes_per_judge=600, seed=3)
    some = Objective(simulated.coded().for_model(), GUMBEL, Prior(1.5, 0.5))
    if kind == "no prior":
        some = replace(some, prior=NO_PRIOR)
    if kind == "virtual node":
        some = replace(some, prior=Prior(np.inf, 0.5), lambda0=0.3)
    if kind == "equal judges":
        some = replace(some, fixed_accuracy=np.ones(15))
    if kind == "few neighbours":
        wins = some.votes.pairs
        near = (wins.winner - wins.loser) % 120
        weight = np.where((near < 4) | (near > 116), 1.0, 0.0)
        some = replace(some, votes=with_pairs(some.votes, given_weight=weight))
    dense, score = errors_of(some)
    wide, _ = errors_of(some, most_dense=50)
    best = np.argsort(-score)[: uncertainty.EXACT_ITEMS]
    assert wide.score_variance[best] == pytest.approx(dense.score_variance[best], rel=1e-4)
    for i in (0, 50):
        scale = dense.score_variance.max()
        assert wide.covariances(i) == pytest.approx(dense.covariances(i), abs=1e-3 * scale)
    first, every = np.zeros(1, dtype=np.int64), np.arange(120)
    rough, exact = (known.difference_variances(first, every)[0] for known in (wide, dense))
    assert rough == pytest.approx(exact, rel=0.6 if kind == "few neighbours" else 0.1)
    every_gap = wide.difference_variances(every, every)
    assert every_gap == pytest.approx(every_gap.T, rel=1e-9)
    for j in (1, 60, 119):
        assert dense.difference_variance(0, j) == pytest.approx(exact[j], rel=1e-9)
        assert wide.difference_variance(0, j) == pytest.approx(exact[j], rel=1e-4)
