from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2, multivariate_normal

import juryrank as jr
from juryrank.model.noise import GUMBEL, NORMAL
from juryrank.simulation.simulation import Simulation


def test_same_seed_same_votes() -> None:
    one, other = jr.simulate(seed=3), jr.simulate(seed=3)
    assert one.votes.equals(other.votes)
    assert not one.votes.equals(jr.simulate(seed=4).votes)


def test_votes_per_judge_and_labels() -> None:
    made = jr.simulate(12, 3, votes_per_judge=40)
    assert made.votes["judge"].value_counts()["count"].to_list() == [40, 40, 40]
    assert set(made.votes.columns) == {"judge", "left", "right", "winner"}
    assert made.items["item"].n_unique() == 12
    assert "item-07" in made.items["item"]
    assert (made.votes["left"] != made.votes["right"]).all()
    assert made.items["score"].is_sorted(descending=True)


def test_density_asks_every_ordered_pair_with_its_probability() -> None:
    full = jr.simulate(6, 2, density=1.0)
    assert len(full.votes) == 2 * 30
    assert full.votes.select("judge", "left", "right").n_unique() == 60
    assert len(jr.simulate(40, 10, density=0.25).votes) == pytest.approx(0.25 * 15_600, rel=0.05)


@pytest.mark.parametrize(
    ("model", "accuracy", "expected"),
    [
        ("hbtl", 1.5, float(GUMBEL.cdf(1.5))),
        ("hbtl", -1.5, float(GUMBEL.cdf(-1.5))),
        ("htcv", 2.0, float(NORMAL.cdf(2.0))),
        ("crowdbt", 0.8, 0.8 * float(GUMBEL.cdf(1.0)) + 0.2 * float(GUMBEL.cdf(-1.0))),
        ("crowdtcv", 0.3, 0.3 * float(NORMAL.cdf(1.0)) + 0.7 * float(NORMAL.cdf(-1.0))),
        ("btl", 1.0, float(GUMBEL.cdf(1.0))),
    ],
)
def test_votes_follow_the_probability_of_the_model(
    model: str, accuracy: float, expected: float
) -> None:
    made = jr.simulate(
        2, 1, model=model, scores=[1.0, 0.0], accuracies=[accuracy], votes_per_judge=40_000
    )
    first_won = (made.votes["left"] == "item-1") == (made.votes["winner"] == "left")
    assert first_won.to_numpy().mean() == pytest.approx(expected, abs=4 * 0.5 / 200)


def test_adversaries_are_the_first_judges() -> None:
    made = jr.simulate(judges=5, adversaries=2)
    assert np.sign(made.judges["accuracy"].to_numpy()).tolist() == [-1, -1, 1, 1, 1]
    reliability = jr.simulate(judges=5, adversaries=2, model="crowdbt").judges["accuracy"]
    assert (reliability < 0.5).to_list() == [True, True, False, False, False]


def test_counts_follow_the_values_that_are_given() -> None:
    made = jr.simulate(scores=[2.0, 1.0, 0.0], accuracies=[1.0, 2.0])
    assert (len(made.items), len(made.judges)) == (3, 2)


def test_rank_recovers_what_was_simulated() -> None:
    made = jr.simulate(15, 12, adversaries=3, votes_per_judge=3000, seed=8)
    ranking = jr.rank(made.votes)
    truth = dict(made.items.iter_rows())
    score = np.array([truth[item] for item in ranking.items["item"]])
    assert np.corrcoef(score, ranking.items["score"])[0, 1] > 0.998
    accuracy = dict(made.judges.iter_rows())
    true_accuracy = np.array([accuracy[judge] for judge in ranking.judges["judge"]])
    assert np.corrcoef(true_accuracy, ranking.judges["accuracy"])[0, 1] > 0.99


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"items": 1}, "need at least 2 and 1"),
        ({"judges": 0}, "need at least 2 and 1"),
        ({"adversaries": 11}, "impossible"),
        ({"model": "btl", "adversaries": 1}, "no adversaries"),
        ({"model": "win-rate"}, "simulate btl instead"),
        ({"density": 0.5, "votes_per_judge": 5}, "not both"),
        ({"density": 1.5}, "at most 1"),
        ({"votes_per_judge": 0}, "at least 1"),
        ({"judges": 10, "accuracies": [1.0]}, "must be 10 finite numbers"),
        ({"items": 3, "scores": 3.0}, "must be 3 finite numbers"),
        ({"accuracies": [np.nan] * 10}, "must be 10 finite numbers"),
        ({"model": "crowdbt", "accuracies": [2.0] * 10}, "between 0 and 1"),
        ({"model": "btl", "accuracies": [1.0] * 9 + [2.0]}, "same accuracy"),
        ({"noise": "normal"}, "use model='htm'"),
        ({"score_sd": -1.0}, "score_sd=-1.0 must be a number from 0 to"),
        ({"seed": -1}, "not be negative"),
        ({"per_vote": 1}, "between 2 and the number of items, 20"),
        ({"per_vote": 4, "items": 3}, "between 2 and the number of items, 3"),
        ({"per_vote": 4, "top": 5}, "between 1 and the items of each vote, 4"),
        ({"per_vote": 4, "top": 0}, "between 1 and the items of each vote, 4"),
        ({"per_vote": 3, "density": 0.5}, "density is for pairs"),
        ({"per_vote": 3, "left": 0.5}, "Only pairs have a left side"),
        ({"per_vote": 3, "left_sd": 0.5}, "Only pairs have a left side"),
        ({"per_vote": 3, "model": "crowdbt"}, "is for pairs"),
        ({"per_vote": 3, "tie": 0.5, "model": "htcv"}, "not with normal noise"),
        ({"tie": 0.5, "model": "crowdbt"}, "no ties and no sides"),
        ({"left_sd": 0.5, "model": "crowdtcv"}, "no ties and no sides"),
        ({"tie": -0.5}, "tie=-0.5 must be a number from 0 to"),
        ({"tie_sd": 0.5}, "give a tie above 0"),
        ({"left": np.inf}, "finite"),
        ({"left_sd": np.nan}, "left_sd=nan"),
    ],
)
def test_the_impossible_is_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(jr.InputError, match=complaint):
        jr.simulate(**wrong)


# --- ties, sides and rankings --------------------------------------------------------------------

VOTES = 40_000
SCORES = [0.8, 0.0, -0.5]


def require_frequencies(found: Mapping[Any, int], chance: Mapping[Any, float]) -> None:
    """Pearson's chi-square must not be one that chance exceeds in less than 1 of 1,000 cases."""
    assert sum(chance.values()) == pytest.approx(1.0)
    assert set(found) <= set(chance)
    total = sum(found.values())
    square = sum((found.get(it, 0) - total * p) ** 2 / (total * p) for it, p in chance.items())
    assert square < chi2.ppf(0.999, len(chance) - 1)


def rankings(made: Simulation) -> Counter[tuple[frozenset[str], ...]]:
    """How often each ranking was given, as the groups of tied items from the best down."""
    return Counter(
        tuple(frozenset(group.split(" = ")) for group in text.split(" > "))
        for text in made.votes["ranking"]
    )


def rankings_with_ties(
    location: Mapping[str, float], tie: float, top: int
) -> Iterator[tuple[tuple[frozenset[str], ...], float]]:
    """Every ranking with its chance, from the definition: group after group is chosen."""
    if top <= 0 or not location:
        yield (), 1.0
        return
    groups = [frozenset(group) for k in (1, 2) for group in combinations(location, k)]
    weight = [
        (tie if len(group) == 2 else 1.0)
        * math.exp(sum(map(location.__getitem__, group)) / len(group))
        for group in groups
    ]
    for group, w in zip(groups, weight, strict=True):
        left = {item: y for item, y in location.items() if item not in group}
        for rest, chance in rankings_with_ties(left, tie, top - len(group)):
            yield (group, *rest), w / sum(weight) * chance


@pytest.mark.parametrize(
    ("model", "accuracy", "tie", "left"),
    [
        ("hbtl", 1.5, 0.8, 0.5), ("hbtl", -1.0, 2.0, -0.7), ("hbtl", 1.0, 0.0, 0.5),
        ("htcv", 1.5, 0.8, 0.5), ("htcv", -0.5, 0.3, 0.0), ("btl", 1.0, 0.8, 0.5),
    ],
)  # fmt: skip
def test_pairs_are_tied_and_won_as_the_model_says(
    model: str, accuracy: float, tie: float, left: float
) -> None:
    made = jr.simulate(
        2, 1, model=model, scores=[1.0, 0.0], accuracies=[accuracy], votes_per_judge=VOTES,
        tie=tie, left=left,
    )  # fmt: skip
    cdf = (NORMAL if model == "htcv" else GUMBEL).cdf
    for first, sign in (("item-1", 1.0), ("item-2", -1.0)):
        won, lost = float(cdf(sign * accuracy + left)), float(cdf(-sign * accuracy - left))
        tied = tie * math.sqrt(won * lost)
        chance = {"left": won / (1.0 + tied), "right": lost / (1.0 + tied)}
        chance |= {"tie": tied / (1.0 + tied)} if tie else {}
        require_frequencies(Counter(made.votes.filter(left=first)["winner"]), chance)


@pytest.mark.parametrize(
    ("accuracy", "tie", "top"),
    [(1.0, 0.6, 3), (-1.5, 0.6, 3), (1.0, 0.0, 3), (-1.0, 0.0, 3), (1.0, 1.5, 1), (1.0, 0.0, 1)],
)
def test_rankings_are_choices_of_groups(accuracy: float, tie: float, top: int) -> None:
    made = jr.simulate(
        per_vote=3, top=top, scores=SCORES, accuracies=[accuracy], votes_per_judge=VOTES, tie=tie
    )
    location = {f"item-{k}": accuracy * score for k, score in enumerate(SCORES, start=1)}
    chance = dict(rankings_with_ties(location, tie, top))
    require_frequencies(rankings(made), {it: p for it, p in chance.items() if p > 0.0})


def test_the_best_of_more_items() -> None:
    made = jr.simulate(
        per_vote=4, top=2, scores=[*SCORES, 0.3], accuracies=[-1.0], votes_per_judge=VOTES, tie=0.5
    )
    location = {f"item-{k}": -score for k, score in enumerate([*SCORES, 0.3], start=1)}
    require_frequencies(rankings(made), dict(rankings_with_ties(location, 0.5, 2)))


@pytest.mark.parametrize("accuracy", [1.2, -0.8])
def test_rankings_with_normal_noise(accuracy: float) -> None:
    """Against the bivariate normal distribution of the two differences."""
    made = jr.simulate(
        per_vote=3, model="htcv", scores=SCORES, accuracies=[accuracy], votes_per_judge=VOTES
    )
    chance = {}
    for order in permutations(range(3)):
        a, b, c = (accuracy * SCORES[k] for k in order)
        steps_up = multivariate_normal(mean=[b - a, c - b], cov=[[2.0, -1.0], [-1.0, 2.0]])
        p = float(steps_up.cdf([0.0, 0.0]))
        chance[tuple(frozenset([f"item-{k + 1}"]) for k in order)] = p
    require_frequencies(rankings(made), chance)


def test_sets_are_drawn_without_replacement_and_evenly() -> None:
    made = jr.simulate(5, 1, per_vote=3, top=1, votes_per_judge=VOTES)
    shown = Counter(tuple(text.split(" | ")) for text in made.votes["options"])
    items = made.items["item"].sort()
    require_frequencies(shown, dict.fromkeys(permutations(items, 3), 1.0 / 60.0))


def test_judges_differ_in_ties_and_sides() -> None:
    made = jr.simulate(
        judges=4_000, tie=0.8, tie_sd=0.5, left=0.4, left_sd=0.3, votes_per_judge=1, seed=2
    )
    log_tie, left = np.log(made.judges["tie"].to_numpy()), made.judges["left"].to_numpy()
    assert log_tie.mean() == pytest.approx(math.log(0.8), abs=4 * 0.5 / 63)
    assert log_tie.std() == pytest.approx(0.5, rel=0.05)
    assert left.mean() == pytest.approx(0.4, abs=4 * 0.3 / 63)
    assert left.std() == pytest.approx(0.3, rel=0.05)
    assert made.effects.rows() == [("tie", 0.8), ("left side", 0.4)]
    assert jr.simulate().effects.is_empty()
    assert jr.simulate(tie=1.0, left=1.0).judges.columns == ["judge", "accuracy"]


def test_each_judge_has_its_own_ties_and_side() -> None:
    made = jr.simulate(
        2, 2, scores=[0.0, 0.0], tie=0.8, tie_sd=1.0, left_sd=1.0, votes_per_judge=VOTES, seed=4
    )
    for judge, _, tie, left in made.judges.iter_rows():
        won, lost = float(GUMBEL.cdf(left)), float(GUMBEL.cdf(-left))
        tied = tie * math.sqrt(won * lost)
        chance = {"left": won, "right": lost, "tie": tied}
        found = Counter(made.votes.filter(judge=judge)["winner"])
        require_frequencies(found, {it: p / (1.0 + tied) for it, p in chance.items()})


def test_the_old_arguments_give_the_old_votes() -> None:
    made = jr.simulate(6, 3, votes_per_judge=4, adversaries=1, seed=5)
    assert "".join(winner[0] for winner in made.votes["winner"]) == "lrllrrrrlrll"
    by_density = jr.simulate(4, 2, model="crowdbt", density=0.4, seed=5)
    assert "".join(winner[0] for winner in by_density.votes["winner"]) == "rrrrrrrll"


def test_coded_pairs_are_those_that_are_read() -> None:
    made = jr.simulate(30, 5, votes_per_judge=8, tie=0.5, left=0.5)
    coded, read = made.coded(), jr.votes_from(made.votes)
    for name in ("items", "judges", "start", "left", "right", "outcome", "weight"):
        assert np.array_equal(getattr(coded, name), getattr(read, name)), name
    assert coded.sides_known


@pytest.mark.parametrize(("top", "tie"), [(None, 0.0), (2, 0.0), (4, 0.0), (None, 1.0), (2, 1.0)])
def test_coded_lists_say_what_the_text_says(top: int | None, tie: float) -> None:
    made = jr.simulate(8, 3, per_vote=5, top=top, tie=tie, votes_per_judge=20, seed=1)
    votes = made.coded()
    lists = votes.lists
    assert lists.judge.tolist() == np.repeat([0, 1, 2], 20).tolist()
    for k, row in enumerate(made.votes.iter_rows(named=True)):
        entries = slice(lists.begin[k], lists.begin[k + 1])
        groups: dict[int, list[str]] = {}
        for item, level in zip(lists.item[entries], lists.level[entries], strict=True):
            groups.setdefault(int(level), []).append(votes.items[int(item)])
        texts = [" = ".join(group) for _, group in sorted(groups.items())]
        ranked = int(lists.ranked[k])
        said = len(row["ranking"].replace(" > ", " = ").split(" = "))
        assert ranked == (5 if said == 4 else said)
        whole = row["ranking"] if said == 5 else " > ".join([row["ranking"], texts[-1]])
        assert " > ".join(texts) == whole
        if "options" in row:
            shown = {item for group in groups.values() for item in group}
            assert set(row["options"].split(" | ")) == shown


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_rank_recovers_ties_sides_and_rankings() -> None:
    pairs = jr.simulate(8, 6, tie=0.8, left=0.5, votes_per_judge=1500, seed=3)
    effects = jr.rank(pairs.coded(), order="common").effects
    for name, value in pairs.effects.iter_rows():
        common = (pl.col("effect") == name) & pl.col("judge").is_null()
        row = effects.row(by_predicate=common, named=True)
        assert row["low"] - 0.05 < value < row["high"] + 0.05
    lists = jr.simulate(8, 6, per_vote=5, tie=0.8, votes_per_judge=500, seed=3)
    ranking = jr.rank(lists.coded(), ties="davidson")
    assert ranking.items["item"].to_list() == lists.items["item"].to_list()
    assert ranking.effects["value"][0] == pytest.approx(0.8, abs=0.1)
