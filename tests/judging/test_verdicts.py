"""Nobody honest is accused, and who differs is told: verdicts, consistency, camps, orientation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.inference.ranks_and_tiers import discoveries
from juryrank.judging.consistency import Consistency, consistency_of
from juryrank.judging.verdict_words import DISAGREEING
from juryrank.judging.verdicts import Observed, Standing, verdicts
from juryrank.reading import as_votes
from studies.accusations import measured as accused
from studies.attacks import measured as attack_measured
from studies.jury import Asked
from studies.naming import Trial
from studies.orientation import measured as orientation_measured

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


# --- a small form of the studies -----------------------------------------------------------------


def test_a_ring_of_camouflaged_judges_is_named_and_moves_nothing() -> None:
    for number in range(2):
        found = attack_measured(Trial("camouflage 3 x 300", 21, number))
        assert found["rank"] >= 6
        assert found["named"] == 1.0
        assert not found["false"]


def test_a_club_of_accounts_buys_no_rank() -> None:
    found = attack_measured(Trial("60 accounts x 3", 21, 0))
    assert found["rank"] >= 5
    assert found["told"]
    assert not found["false"]


def test_nobody_is_accused_in_honest_juries_with_tastes() -> None:
    for name in ("t1 x 300", "t1 x 1000", "few items, t1"):
        found = accused(Trial(name, 21, 0))
        assert found["falsely_named"] == 0


def test_backwards_judges_are_found_from_twenty_votes_on() -> None:
    found = [accused(Trial("backwards x 20", 21, number)) for number in range(2)]
    assert np.mean([one["found"] for one in found]) >= 0.5
    assert not any(one["falsely_named"] for one in found)


def test_a_minority_that_turns_the_ranking_round_is_warned_about() -> None:
    found = orientation_measured(Trial("40 % at -3", 21, 0))
    assert found["upside_down"]
    assert found["warned"]
    assert found["withheld"]
    assert found["tiers"] == 1
    honest = orientation_measured(Trial("honest", 21, 0))
    assert not honest["upside_down"]
    assert not honest["warned"]


def test_two_of_three_judges_against_one_on_two_items_accuse_nobody() -> None:
    rows = [("a", "x", "y"), ("b", "x", "y"), ("c", "y", "x")] * 10
    ranking = jr.rank(pl.DataFrame(rows, schema=["judge", "winner", "loser"], orient="row"))
    assert not ranking.judges["verdict"].is_in(DISAGREEING).any()
    assert ranking.fit.set_aside == 0
    assert ranking.items["p_best"][0] < 0.95
    assert ranking.items["tier"].max() == 1


# --- consistency ---------------------------------------------------------------------------------


def by_hand(winner: np.ndarray, loser: np.ndarray, items: int) -> Consistency:
    """Triads and repeats, one after the other."""
    wins = np.zeros((items, items))
    np.add.at(wins, (winner, loser), 1)
    beats = wins > wins.T
    triads = circular = 0
    for a, b, c in combinations(range(items), 3):
        if all(beats[i, j] or beats[j, i] for i, j in ((a, b), (b, c), (a, c))):
            triads += 1
            one_way = beats[a, b] and beats[b, c] and beats[c, a]
            circular += bool(one_way or (beats[b, a] and beats[c, b] and beats[a, c]))
    same = opposite = 0
    for one, other in combinations(zip(winner, loser, strict=True), 2):
        same += one == other
        opposite += one == other[::-1]
    return Consistency(triads, circular, same + opposite, same)


@pytest.mark.parametrize("accuracy", [0.0, 1.0, 20.0])
def test_triads_and_repeats_are_those_counted_by_hand(accuracy: float) -> None:
    rng = np.random.default_rng(int(accuracy))
    score = rng.normal(size=9)
    one = rng.integers(0, 9, 80)
    other = (one + rng.integers(1, 9, 80)) % 9
    won = rng.random(80) < 1.0 / (1.0 + np.exp(-accuracy * (score[one] - score[other])))
    winner, loser = np.where(won, one, other), np.where(won, other, one)
    votes = as_votes(Asked(np.zeros(80, dtype=int), winner, loser).frame())
    assert consistency_of(votes, 0) == by_hand(winner, loser, 9)


def test_a_coin_is_seldom_taken_for_a_consistent_judge_and_never_the_other_way_round() -> None:
    rng = np.random.default_rng(3)
    consistent = inconsistent = 0
    for _ in range(300):
        one = rng.integers(0, 12, 100)
        other = (one + rng.integers(1, 12, 100)) % 12
        found = by_hand(one, other, 12)
        consistent += found.is_consistent
        inconsistent += found.is_inconsistent
        steady = by_hand(np.minimum(one, other), np.maximum(one, other), 12)
        assert steady.is_consistent
        assert not steady.is_inconsistent
    assert consistent <= 9  # 1 % of 300, and three standard errors
    assert inconsistent > 200


def test_a_few_triads_say_nothing() -> None:
    for found in (Consistency(1, 1, 0, 0), Consistency(3, 3, 4, 0), Consistency(0, 0, 0, 0)):
        assert not found.is_consistent
        assert not found.is_inconsistent


def test_a_judge_of_another_opinion_is_told_from_one_who_guesses() -> None:
    rng = np.random.default_rng(4)
    score, own = rng.normal(size=10), rng.normal(size=10)
    own -= score * (own @ score) / (score @ score)  # nothing in common
    rows = []
    for judge, (a, s) in enumerate([(1.0, score)] * 10 + [(4.0, own), (0.0, score)]):
        one = rng.integers(0, 10, 150)
        other = (one + rng.integers(1, 10, 150)) % 10
        won = rng.random(150) < 1.0 / (1.0 + np.exp(-a * (s[one] - s[other])))
        rows.append((np.full(150, judge), np.where(won, one, other), np.where(won, other, one)))
    votes = Asked(*(np.concatenate(part) for part in zip(*rows, strict=True)))
    found = dict(jr.rank(votes.frame()).judges.select("judge", "verdict").iter_rows())
    assert found["judge 00011"] == "inconsistent"
    assert found["judge 00010"] in ("of another opinion", "too few votes to tell")
    assert not {found[f"judge {u:05}"] for u in range(10)} & set(DISAGREEING)


# --- the rules -----------------------------------------------------------------------------------


def standing(low: list[float], high: list[float]) -> Standing:
    """Accuracies with such intervals, as those of normal distributions."""
    from scipy.special import ndtr

    ends = np.array(low), np.array(high)
    value, sd = 0.5 * (ends[0] + ends[1]), (ends[1] - ends[0]) / 3.92
    return Standing(value, *ends, sd, sd, ndtr(-value / sd), ndtr((0.5 - value) / sd))


def votes_of(judges: int, items: int = 8, votes: int = 40) -> jr.Votes:
    rng = np.random.default_rng(0)
    judge = np.repeat(np.arange(judges), votes)
    one = rng.integers(0, items, len(judge))
    other = (one + rng.integers(1, items, len(judge))) % items
    return as_votes(Asked(judge, one, other).frame())


def words(low: list[float], high: list[float], observed: Observed | None = None) -> list[str]:
    votes = votes_of(len(low))
    return [one.verdict for one in verdicts(votes, standing(low, high), observed or Observed())]


def test_a_verdict_does_not_contradict_the_interval_beside_it() -> None:
    low = [0.77, 2.70, -0.40, 0.10, -0.20, -0.3, 0.9, 0.9, 0.9, 0.9]
    high = [2.44, 5.03, -0.10, 0.90, 1.60, 0.3, 1.1, 1.1, 1.1, 1.1]
    assert words(low, high)[:5] == [
        "reliable", "reliable", "backwards", "ordinary", "too few votes to tell",
    ]  # fmt: skip
    assert words(low, high)[5] in ("guessing", "inconsistent")


def test_verdicts_go_with_intervals_of_any_confidence() -> None:
    """Also where a judge has no finite accuracy, so that its standing is not the interval."""
    made = jr.simulate(6, accuracies=[1.5, 1.2, 1.0, 1.0, 0.5], votes_per_judge=150, seed=3)
    best, *_, last = made.items["item"]
    sure = pl.DataFrame([("sure", best, last, "left")], schema=made.votes.columns, orient="row")
    ranking = jr.rank(pl.concat([made.votes, sure]), prior=None, guard=False, confidence=0.99999)
    known = ranking.judges.filter(pl.col("accuracy_low").is_not_null())
    doubtful = known.filter(pl.col("accuracy_low") <= 0.0)
    assert 0 < len(doubtful) < len(known) < len(ranking.judges)
    assert not doubtful["verdict"].is_in(["ordinary", "reliable"]).any()


def test_judges_with_few_votes_of_their_own_are_taken_to_be_like_the_others() -> None:
    known = standing([0.7] * 4, [1.4] * 4)
    alone = Standing(**(known.__dict__ | {"own_sd": np.array([0.2, 0.3, 1.0, 3.0])}))
    said = verdicts(votes_of(4), alone, Observed())
    assert [one.verdict for one in said] == ["reliable"] * 2 + ["too few votes to tell"] * 2
    assert said[2].reason == "taken to be like the others"


def test_opinions_split_if_more_than_a_third_differ() -> None:
    low, high = [-1.5] * 3 + [0.8] * 6, [-0.5] * 3 + [1.2] * 6
    assert words(low, high) == ["backwards"] * 3 + ["reliable"] * 6
    assert words([*low, -1.5], [*high, -0.5]) == (
        ["opinions split"] * 3 + ["reliable"] * 6 + ["opinions split"]
    )


def test_camps_are_shown_where_opinions_split() -> None:
    rng = np.random.default_rng(12)
    score = np.linspace(2, -2, 8)
    rows = []
    for judge in range(10):
        sign = -1.0 if judge < 4 else 1.0
        one = rng.integers(0, 8, 60)
        other = (one + rng.integers(1, 8, 60)) % 8
        won = rng.random(60) < 1.0 / (1.0 + np.exp(-sign * (score[one] - score[other])))
        rows.append((np.full(60, judge), np.where(won, one, other), np.where(won, other, one)))
    votes = Asked(*(np.concatenate(part) for part in zip(*rows, strict=True)))
    ranking = jr.rank(votes.frame())
    verdict = dict(ranking.judges.select("judge", "verdict").iter_rows())
    split = {judge for judge, word in verdict.items() if word == "opinions split"}
    withheld = set(verdict.values()) == {"withheld"}
    assert withheld or split == {f"judge {u:05}" for u in range(4)}
    said = " ".join(ranking.warnings)
    assert "end is up" in said if withheld else "Opinions split: 4 of 10 judges" in said


def test_nothing_bad_is_said_of_judges_who_saw_few_items() -> None:
    low, high = [-1.5] + [0.8] * 5, [-0.5] + [1.2] * 5
    seen = votes_of(6, items=4)
    said = verdicts(seen, standing(low, high), Observed())
    assert said[0].verdict == "too few votes to tell"
    assert "too few items" in said[0].reason


def test_verdicts_are_withheld_where_most_may_disagree() -> None:
    assert set(words([0.8] * 5, [1.2] * 5, Observed(orientation_in_doubt=True))) == {"withheld"}


def test_at_most_a_twentieth_of_the_discoveries_is_expected_to_be_false() -> None:
    false = np.array([0.0, 0.3, 0.01, 0.04, 0.06, 0.9])
    chosen = discoveries(false)
    assert chosen.tolist() == [0, 2, 3, 4]
    assert false[chosen].mean() <= 0.05
    assert discoveries(np.array([0.2, 0.5])).tolist() == []
    assert discoveries(np.empty(0)).tolist() == []
