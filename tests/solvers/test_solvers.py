from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numerics_help import model_votes, with_pairs
from scipy.optimize import minimize

from juryrank import InputError
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NOISES, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import FIRST_GUESS, NO_PRIOR, Prior
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.search import (
    MANY_VOTES,
    _merged,
    _worth_merging,
    search,
    votes_for,
)
from juryrank.solvers.spectral import RankCentrality, agreement_accuracy
from juryrank.votes.coded import CodedVotes, Pairs

SCORE = np.linspace(-1.5, 1.5, 8)
ACCURACY = np.array([2.0, 1.0, 0.5, -1.0])


def made(noise: Noise = GUMBEL, prior: Prior = NO_PRIOR, votes: int = 400) -> Objective:
    return Objective(model_votes(3, SCORE, ACCURACY, votes, noise), noise, prior)


def gauge(score: np.ndarray, accuracy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = np.abs(accuracy).mean()
    return (score - score.mean()) * scale, accuracy / scale


# --- profile -------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_profile_agrees_with_a_joint_fit_by_scipy(noise: Noise) -> None:
    objective = made(noise, Prior(1.0, 1.0))
    ours = ProfileSolver().solve(objective)

    def joint(x: np.ndarray) -> tuple[float, np.ndarray]:
        gradients = objective.gradients(x[:8], x[8:])
        return gradients.value, np.concatenate((gradients.state, gradients.accuracy))

    start = np.concatenate((np.zeros(8), np.ones(4)))
    theirs = minimize(joint, start, jac=True, method="BFGS", options={"gtol": 1e-8})
    assert ours.converged
    assert ours.value == pytest.approx(theirs.fun, abs=1e-6)
    np.testing.assert_allclose(ours.score, theirs.x[:8], atol=1e-4)
    np.testing.assert_allclose(ours.accuracy, theirs.x[8:], atol=1e-4)


@pytest.mark.parametrize("noise", [GUMBEL, NORMAL, EXPONENTIAL], ids=lambda noise: noise.name)
def test_both_solvers_reach_the_same_optimum(noise: Noise) -> None:
    objective = made(noise)
    fast = ProfileSolver(tolerance=1e-7).solve(objective)
    paper = PaperSolver(accuracy_step=2e-3, iterations=20_000).solve(objective)
    assert fast.converged
    assert fast.value == pytest.approx(paper.value, abs=1e-4)
    fast_score, fast_accuracy = gauge(fast.score, fast.accuracy)
    paper_score, paper_accuracy = gauge(paper.score, paper.accuracy)
    np.testing.assert_allclose(fast_score, paper_score, atol=2e-3)
    np.testing.assert_allclose(fast_accuracy, paper_accuracy, atol=2e-3)


def test_one_free_accuracy_is_a_scale_and_nothing_else() -> None:
    votes = model_votes(1, SCORE, np.ones(1), 2000, GUMBEL)
    equal = ProfileSolver(1e-8).solve(Objective(votes, GUMBEL, fixed_accuracy=np.ones(1)))
    free = ProfileSolver(1e-8).solve(Objective(votes, GUMBEL))
    np.testing.assert_allclose(free.score * free.accuracy[0], equal.score, atol=1e-5)


def test_a_few_right_votes_without_a_prior_reach_the_bound() -> None:
    wins = model_votes(3, SCORE, np.ones(3), 300, GUMBEL).pairs
    sure = Pairs(
        np.append(wins.start, wins.start[-1] + 3),
        np.append(wins.winner, np.full(3, 7, dtype=np.int32)),
        np.append(wins.loser, np.zeros(3, dtype=np.int32)),
    )
    found = ProfileSolver().solve(Objective(CodedVotes.of_pairs(8, sure), GUMBEL))
    assert found.accuracy[3] == pytest.approx(20.0)
    assert np.sqrt(np.mean(found.score**2)) == pytest.approx(1.0)


def test_too_few_iterations_are_admitted() -> None:
    found = ProfileSolver(max_iterations=2).solve(made(prior=Prior(1.0, 1.0)))
    assert not found.converged
    assert "did not converge" in found.message
    assert "ProfileSolver(max_iterations=...)" in found.message
    without_prior = ProfileSolver(max_iterations=2).solve(made())
    assert "--prior auto" in without_prior.message


def test_a_judge_who_is_always_right_is_held_at_a_bound_without_a_prior() -> None:
    votes = model_votes(3, SCORE, np.array([1.0, 1.0, 1e6]), 200, GUMBEL)
    found = ProfileSolver().solve(Objective(votes, GUMBEL))
    assert np.isfinite(found.score).all()
    assert found.accuracy[2] == pytest.approx(20.0)


def test_solution_does_not_depend_on_the_guess_at_the_accuracies() -> None:
    objective = made(prior=Prior(1.0, 1.0))
    one = ProfileSolver(1e-8).solve(objective)
    other = ProfileSolver(1e-8).solve(objective, one.score, np.full(4, -3.0))
    np.testing.assert_allclose(one.accuracy, other.accuracy, atol=1e-6)


# --- the search around it ------------------------------------------------------------------------


def test_agreement_finds_the_backwards_judges() -> None:
    accuracy = np.array([2.0, 2.0, 2.0, 2.0, -2.0, -2.0])
    votes = model_votes(8, SCORE, accuracy, 300, GUMBEL)
    guess = agreement_accuracy(votes)
    assert guess is not None
    np.testing.assert_array_equal(np.sign(guess), np.sign(accuracy))


def test_agreement_of_judges_who_share_no_pair_is_none() -> None:
    votes = model_votes(8, SCORE, np.ones(3), 1, GUMBEL)
    winner, loser = np.array([[0, 2, 4], [1, 3, 5]], dtype=np.int32)
    apart = with_pairs(votes, winner=winner, loser=loser)
    assert agreement_accuracy(apart) is None


def test_equal_votes_are_merged_where_all_judges_are_alike() -> None:
    votes = model_votes(4, SCORE, np.ones(5), 200, GUMBEL)
    objective = Objective(votes, GUMBEL, FIRST_GUESS, fixed_accuracy=np.ones(5))
    assert _worth_merging(objective)
    assert not _worth_merging(replace(objective, fixed_accuracy=None))
    merged = _merged(objective)
    assert merged.votes.pairs.number <= 8 * 7
    assert merged.votes.pairs.weight.sum() == votes.pairs.number
    here = objective.gradients(SCORE, np.ones(5))
    assert merged.gradients(SCORE, np.ones(1)).value == pytest.approx(here.value, rel=1e-12)
    found = search(objective, ProfileSolver())
    assert len(found.accuracy) == 5
    gradient = np.abs(objective.gradients(found.state, found.accuracy).state)
    assert gradient.max() < 1e-4


def test_very_many_votes_are_searched_on_a_sample_and_answered_on_all() -> None:
    rng = np.random.default_rng(4)
    score, accuracy = rng.normal(size=30), np.where(np.arange(900) % 4 == 0, -1.0, 1.5)
    votes = model_votes(9, score, accuracy, 500, GUMBEL)
    assert votes.pairs.number > MANY_VOTES
    objective = Objective(votes, GUMBEL, FIRST_GUESS, threads=2)
    found = search(objective, ProfileSolver())
    direct = ProfileSolver().solve(objective)
    np.testing.assert_allclose(found.score, direct.score, atol=5e-5)
    assert votes_for(objective, found.score) > 100
    assert np.corrcoef(found.score, score)[0, 1] > 0.999


@pytest.mark.parametrize("prior", [Prior(1.0, 1.0), Prior(0.3, 3.0)])
def test_a_sample_of_judges_who_vote_backwards_does_not_decide_the_direction(
    prior: Prior,
) -> None:
    rng = np.random.default_rng(4)
    score, accuracy = rng.normal(size=30), np.where(np.arange(900) % 3 == 0, -1.5, 1.5)
    votes = model_votes(9, score, accuracy, 500, GUMBEL)
    objective = Objective(votes, GUMBEL, prior)
    found = search(objective, ProfileSolver())
    assert np.corrcoef(found.score, score)[0, 1] > 0.99


@pytest.mark.parametrize("prior", [NO_PRIOR, Prior(1.0, 2.0)])
def test_most_votes_agree_with_the_answer(prior: Prior) -> None:
    accuracy = np.array([-1.0, -1.0, -1.0, 2.0, 2.0])
    for seed in range(12):
        votes = model_votes(seed, SCORE, accuracy, 15, GUMBEL)
        objective = Objective(votes, GUMBEL, prior)
        found = search(objective, ProfileSolver())
        assert votes_for(objective, found.score) >= 0.0


def test_agreement_of_votes_counts_weights_as_votes() -> None:
    votes = model_votes(1, SCORE, np.ones(2), 50, GUMBEL)
    once = Objective(votes, GUMBEL)
    weighted = replace(once, votes=votes.reweighted(np.full(2, 4.0)))
    assert votes_for(weighted, SCORE) == pytest.approx(2.0 * votes_for(once, SCORE))


def test_who_says_which_end_is_up_by_the_formula() -> None:
    rng = np.random.default_rng(2)
    number = np.array([40, 3, 7, 200])
    votes = model_votes(3, SCORE, np.ones(4), 200, GUMBEL)
    rows = np.concatenate([np.arange(200 * u, 200 * u + n) for u, n in enumerate(number)])
    start = np.concatenate(([0], np.cumsum(number)))
    weight = rng.uniform(0.5, 2.0, len(rows))
    wins = replace(votes.pairs.taken(rows, start), given_weight=weight)
    objective = Objective(replace(votes, pairs=wins), GUMBEL)
    total = np.add.reduceat(weight, start[:-1])
    judge = np.repeat(np.arange(4), number)
    most = [
        max(weight[(judge == u) & ((wins.winner == i) | (wins.loser == i))].sum() for i in range(8))
        for u in range(4)
    ]
    c = np.minimum(1.0, 2.0 * np.exp(np.log(total).mean()) / total)[judge]
    q = (1.01 - np.array(most) / total)[judge]
    d = SCORE[wins.winner] - SCORE[wins.loser]
    fair = (c * q * weight) @ d / np.sqrt((c * q**2 * weight) @ d**2)
    assert votes_for(objective, SCORE) == pytest.approx(fair)
    by_judges = (c * weight) @ d / np.sqrt((c * weight) @ d**2)
    assert votes_for(objective, SCORE, "judges") == pytest.approx(by_judges)
    assert votes_for(objective, SCORE, "votes") == pytest.approx(
        weight @ d / np.sqrt(weight @ d**2)
    )


# --- the paper's algorithm -----------------------------------------------------------------------


def by_hand(objective: Objective, solver: PaperSolver) -> tuple[np.ndarray, np.ndarray]:
    """Three iterations of Algorithm 1, written out."""
    score, accuracy = np.ones(8), np.ones(4)
    one, two = 0.01, 0.002
    for _ in range(3):
        if solver.order == "simultaneous":
            gradients = objective.gradients(score, accuracy)
            score, accuracy = score - one * gradients.state, accuracy - two * gradients.accuracy
        elif solver.order == "accuracy-first":
            accuracy = accuracy - two * objective.gradients(score, accuracy).accuracy
            score = score - one * objective.gradients(score, accuracy).state
        else:
            score = score - one * objective.gradients(score, accuracy).state
            score -= score.mean()
            accuracy = accuracy - two * objective.gradients(score, accuracy).accuracy
        score = score - score.mean()
    return score, accuracy


@pytest.mark.parametrize("order", ["simultaneous", "accuracy-first", "score-first"])
def test_the_orders_of_the_paper(order: str) -> None:
    objective = made(votes=50)
    solver = PaperSolver(0.01, 0.002, iterations=3, order=order)  # type: ignore[arg-type]
    score, accuracy = by_hand(objective, solver)
    found = solver.solve(objective)
    np.testing.assert_allclose(found.score, score, atol=1e-12)
    np.testing.assert_allclose(found.accuracy, accuracy, atol=1e-12)


def test_the_paper_s_mean_loss_is_the_summed_one_divided_by_votes_and_judges() -> None:
    objective = made(votes=50)
    summed = PaperSolver(0.01, 0.002, iterations=40).solve(objective)
    mean = PaperSolver(0.01 * 200, 0.002 * 200, iterations=40, loss="mean").solve(objective)
    np.testing.assert_allclose(mean.score, summed.score, atol=1e-10)


def test_trace_holds_the_whole_path() -> None:
    found = PaperSolver(iterations=25, keep_trace=True).solve(made(votes=50))
    assert found.trace is not None
    assert found.trace.score.shape == (26, 8)
    assert found.trace.accuracy.shape == (26, 4)
    np.testing.assert_array_equal(found.trace.score[0], 1.0)
    np.testing.assert_array_equal(found.trace.score[-1], found.score)
    assert found.trace.value[-1] == found.value
    assert np.all(np.diff(found.trace.value[1:]) < 0)


def test_random_start_follows_its_seed_and_leads_to_the_same_optimum() -> None:
    objective = made()
    runs = [
        PaperSolver(iterations=8000, start="random", seed=seed).solve(objective).value
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0] == pytest.approx(runs[2], abs=1e-2)


def test_rank_centrality_and_given_starts() -> None:
    objective = made()
    spectral = PaperSolver(iterations=1, start="rank-centrality").solve(objective)
    given = PaperSolver(iterations=1, start=(SCORE, ACCURACY)).solve(objective)
    assert given.value is not None
    assert spectral.value is not None
    assert given.value < spectral.value


def test_a_step_that_diverges_is_said_to() -> None:
    with pytest.raises(InputError, match="diverged at iteration"):
        PaperSolver(score_step=50.0, accuracy_step=50.0).solve(made())


@pytest.mark.parametrize(
    "make",
    [
        lambda: PaperSolver(order="both"),  # type: ignore[arg-type]
        lambda: PaperSolver(loss="median"),  # type: ignore[arg-type]
        lambda: PaperSolver(iterations=0),
        lambda: PaperSolver(start="foo"),  # type: ignore[arg-type]
        lambda: PaperSolver(score_step=-1.0),
        lambda: PaperSolver(seed=-1),
        lambda: ProfileSolver(tolerance=float("nan")),
        lambda: ProfileSolver(max_iterations=0),
        lambda: CrowdSolver(rounds=0),
    ],
)
def test_impossible_settings_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    "start",
    [(np.zeros(1), np.ones(1)), (SCORE, np.ones(3)), (SCORE * np.nan, ACCURACY), ("a", "b")],
)
def test_a_start_of_the_wrong_shape_is_refused(start: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(InputError, match="The start's"):
        PaperSolver(start=start).solve(made())


def test_known_accuracies_are_not_overwritten_by_a_start() -> None:
    objective = replace(made(), fixed_accuracy=np.ones(4))
    found = PaperSolver(iterations=5, start=(SCORE, 3.0 * np.ones(4))).solve(objective)
    np.testing.assert_array_equal(found.accuracy, 1.0)


def test_default_steps_suit_few_judges_with_very_many_votes() -> None:
    score = np.random.default_rng(0).normal(size=200)
    votes = model_votes(1, score, np.ones(2), 20_000, GUMBEL)
    found = PaperSolver(iterations=60).solve(Objective(votes, GUMBEL))
    assert np.corrcoef(found.score, score)[0, 1] > 0.95


# --- the baselines -------------------------------------------------------------------------------


def test_rank_centrality_of_two_items_is_their_share_of_wins() -> None:
    votes = model_votes(0, np.zeros(2), np.ones(1), 100, GUMBEL)
    won = np.bincount(votes.pairs.winner, minlength=2)
    score = RankCentrality().solve(votes).score
    assert score[0] - score[1] == pytest.approx(np.log(won[0] / won[1]), rel=1e-9)


def test_rank_centrality_is_exact_for_items_that_hardly_ever_win() -> None:
    n = 30
    up, down = np.arange(n - 1, dtype=np.int32), np.arange(1, n, dtype=np.int32)
    wins = Pairs(
        np.array([0, 2 * (n - 1)]),
        np.concatenate((up, down)),
        np.concatenate((down, up)),
        np.repeat([20.0, 1.0], n - 1),
    )
    score = RankCentrality().solve(CodedVotes.of_pairs(n, wins)).score
    np.testing.assert_allclose(-np.diff(score), np.log(20.0), rtol=1e-9)


def test_rank_centrality_large_and_small_agree() -> None:
    votes = model_votes(2, SCORE, np.ones(3), 500, GUMBEL)
    small = RankCentrality().solve(votes)
    large = RankCentrality(largest_dense=3).solve(votes)
    assert large.converged
    np.testing.assert_allclose(small.score, large.score, atol=1e-8)


def test_rank_centrality_is_consistent_for_bradley_terry() -> None:
    votes = model_votes(2, SCORE, np.ones(3), 50_000, GUMBEL)
    np.testing.assert_allclose(RankCentrality().solve(votes).score, SCORE, atol=0.05)


@pytest.mark.parametrize("noise", [GUMBEL, NORMAL], ids=lambda noise: noise.name)
def test_crowd_fit_is_a_minimum_of_its_own_likelihood(noise: Noise) -> None:
    votes = model_votes(4, SCORE, np.array([2.0, 1.0, 0.3, -1.0]), 200, noise)
    found = CrowdSolver(rounds=300, tolerance=1e-3).solve(
        Objective(votes, noise, Prior(3.0), fixed_accuracy=np.ones(4))
    )

    wins = votes.pairs

    def loss(score: np.ndarray, eta: np.ndarray) -> float:
        total = float(np.sum(score**2)) / 18.0
        for u in range(4):
            part = slice(wins.start[u], wins.start[u + 1])
            p = noise.cdf(score[wins.winner[part]] - score[wins.loser[part]])
            total -= float(np.sum(np.log(eta[u] * p + (1 - eta[u]) * (1 - p))))
        return total

    base = loss(found.score, found.accuracy)
    assert found.value == pytest.approx(base, abs=1e-3)
    rng = np.random.default_rng(0)
    for _ in range(50):
        nearby = np.clip(found.accuracy + 0.03 * rng.normal(size=4), 0.0, 1.0)
        assert loss(found.score + 0.03 * rng.normal(size=8), nearby) > base - 1e-6
    assert np.all((found.accuracy >= 0.0) & (found.accuracy <= 1.0))
    assert found.accuracy[3] < 0.5
