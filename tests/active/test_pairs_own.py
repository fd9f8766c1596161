"""What pairs have of their own, against votes that were made with it and without."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from juryrank.active.beliefs import ANYONE, Questions, beliefs_about
from juryrank.active.gain import outlook
from juryrank.active.pairs_own import NOTHING_OWN, PairsOwn
from juryrank.ranking.rank import rank
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.request import PriorChoice
from juryrank.simulation.simulation import simulate

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

ITEMS, JUDGES = 15, 12


def votes_with(
    own_sd: float, seed: int = 3, *, ties: bool = False, left_gains: float = 0.0
) -> pl.DataFrame:
    """Votes on which the judges of a pair agree beyond the scores."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=ITEMS)
    own = np.triu(own_sd * rng.normal(size=(ITEMS, ITEMS)), 1)
    own -= own.T
    left = rng.integers(0, ITEMS, 60 * JUDGES)
    right = (left + rng.integers(1, ITEMS, len(left))) % ITEMS
    if left_gains:  # and a pair is always shown the same way round
        turned = np.add(left, right) % 2 == (left < right)
        left, right = np.where(turned, right, left), np.where(turned, left, right)
    gap = score[left] - score[right] + own[left, right] + left_gains
    won = rng.random(len(left)) < 1.0 / (1.0 + np.exp(-gap))
    winner = np.where(won, "left", "right")
    if ties:
        winner[(rng.random(len(left)) < 0.5) & (np.abs(gap) < 0.7)] = "tie"
    return pl.DataFrame(
        {
            "judge": [f"j{number % JUDGES}" for number in range(len(left))],
            "left": [f"i{code:02}" for code in left],
            "right": [f"i{code:02}" for code in right],
            "winner": winner,
        }
    )


def made_with(own_sd: float, seed: int = 3, ties: bool = False) -> Ranking:
    """The ranking of such votes."""
    return rank(votes_with(own_sd, seed, ties=ties))


def own_of(ranking: Ranking) -> PairsOwn:
    """What is found."""
    return beliefs_about(ranking.basis, [ANYONE]).pairs_own


@pytest.mark.parametrize("ties", [False, True])
def test_what_judges_of_a_pair_agree_on_is_found(ties: bool) -> None:
    """Its spread, in the unit of the scores, which judges of accuracy 1 leave at that of noise."""
    found = [own_of(made_with(1.0, seed, ties)).variance for seed in range(4)]
    assert 0.4 < np.mean(found) < 1.6


def test_of_judges_who_have_nothing_in_common_hardly_anything_is_believed() -> None:
    """By chance it looks now and then as if there was something; half of the time it cannot."""
    own = [own_of(made_with(0.0, seed)) for seed in range(8)]
    assert sum(one is NOTHING_OWN for one in own) >= 4
    assert max(one.variance for one in own) < 0.3


def test_votes_of_one_judge_say_nothing_of_pairs() -> None:
    """They may be its tastes."""
    made = simulate(8, accuracies=[1.0], votes_per_judge=120, seed=1)
    assert own_of(rank(made.votes)) is NOTHING_OWN


@pytest.mark.parametrize("prior", ["auto", (1.5, 0.5)])
def test_what_the_left_item_gains_is_no_pairs_own(prior: PriorChoice) -> None:
    """Even if each pair was always shown the same way round."""
    votes = votes_with(0.0, left_gains=1.5)
    assert own_of(rank(votes, order="common", prior=prior)).variance < 0.2
    assert own_of(rank(votes, prior=prior)).variance > 0.8


def test_accounts_that_count_as_one_judge_are_not_several() -> None:
    votes = votes_with(0.0)
    own = votes.filter(pl.col("judge") == "j0")
    copies = [own.with_columns(judge=pl.lit(f"copy {number}")) for number in range(12)]
    ranking = rank(pl.concat([votes, *copies]))
    assert ranking.fit.accounts_as_one == 13
    assert own_of(ranking).variance == own_of(rank(votes)).variance == 0.0


def test_votes_that_are_set_aside_say_nothing_of_pairs() -> None:
    votes = votes_with(0.0)
    *others, last = rank(votes).items["item"].to_list()
    pushed = [
        pl.DataFrame({"judge": f"pusher {u}", "left": last, "right": others * 6, "winner": "left"})
        for u in range(3)
    ]
    ranking = rank(pl.concat([votes, *pushed]), tastes=False)
    assert ranking.fit.set_aside == 3 * 6 * len(others)
    assert own_of(ranking).variance < 0.05


def test_shares_are_what_a_normal_has_it() -> None:
    """Of a gap seen with an error of the pair's own, each answer adds to what is known of it."""
    variance, told, weight = 0.7, np.array([0.0, 0.5, 4.0]), np.array([0.3, 0.3, 2.0])
    own = PairsOwn(variance, np.array([1, 2]), told[1:], 10)
    one, other = np.array([5, 1, 2]), np.array([3, 0, 0])

    def known(precision: float) -> float:
        """Of the gap, from the joint information on the gap and what the pair has of its own."""
        both = precision * np.ones((2, 2)) + np.diag([1e-9, 1.0 / variance])
        return float(1.0 / np.linalg.inv(both)[0, 0])

    expected = [known(p + w) - known(p) for p, w in zip(told, weight, strict=True)]
    assert_allclose(own.share(one, other, weight) * weight, expected, rtol=1e-6, atol=1e-8)


def test_an_answer_on_a_new_pair_tells_more() -> None:
    """The gain of what was asked often falls, compared with the same votes seen as independent."""
    ranking = made_with(1.0)
    beliefs = beliefs_about(ranking.basis, [ANYONE])
    one, other = np.triu_indices(ITEMS, 1)
    questions = Questions(np.zeros(len(one), dtype=np.int64), one, other)
    gain = outlook(beliefs, questions, None).gain
    alone = beliefs_about(ranking.basis, [ANYONE])
    alone.__dict__["pairs_own"] = NOTHING_OWN
    share = gain / outlook(alone, questions, None).gain
    asked = np.zeros((ITEMS, ITEMS))
    votes = ranking.votes
    np.add.at(asked, (votes.winner, votes.loser), 1.0)
    asked = (asked + asked.T)[one, other]
    assert (share < 1.0).all()
    often = asked >= np.quantile(asked, 0.8)
    seldom = asked <= np.quantile(asked, 0.2)
    assert share[seldom].mean() > 1.1 * share[often].mean()
