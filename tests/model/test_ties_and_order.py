"""`rank` and its friends on rankings, choices, ties and sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from lists_help import (
    Label,
    Row,
    as_rows,
    drawn_order,
    drawn_tied,
    made,
    objective_of,
    random_rows,
    ranking,
    simulated,
    soc,
)

import juryrank as jr
from juryrank.judging.cells import OneSided, without_cells
from juryrank.model.effects import EffectModel
from juryrank.ranking.methods import by_profile
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.request import task_of
from juryrank.solvers.paper import PaperSolver
from juryrank.votes.connectivity import lone_judges
from juryrank.votes.votes import Votes

SPREAD = np.linspace(1.5, -1.5, 10)
quiet = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def scores(found: Ranking) -> dict[Label, float]:
    return dict(zip(found.items["item"], found.items["score"], strict=True))


def accuracies(found: Ranking) -> dict[Label, float]:
    return dict(zip(found.judges["judge"], found.judges["accuracy"], strict=True))


def effect(found: Ranking, name: str) -> dict[str, float]:
    rows = found.effects.filter(pl.col("effect") == name, pl.col("judge").is_null())
    row: dict[str, float] = rows.row(0, named=True)
    return row


def worths(found: Ranking) -> np.ndarray:
    worth = np.exp(found.items.sort("item")["score"].to_numpy())
    return np.asarray(worth / worth.sum())


# --- golden values -------------------------------------------------------------------------------


def test_golden_plackett_luce_with_partial_rankings() -> None:
    votes = made([ranking(0, [0, 1, 2]), ranking(0, [3, 2, 0]), ranking(0, [1, 3])])
    found = scores(jr.rank(votes, "pl", prior=None))
    golden = {0: -0.44328, 1: 0.69506, 2: -0.67061, 3: 0.41883}
    assert found == pytest.approx(golden, abs=5e-5)


def test_golden_choices_from_sets() -> None:
    votes = made([Row(0, [[0]], [1]), Row(0, [[1]], [2]), Row(0, [[2]], [0, 1])])
    found = scores(jr.rank(votes, "pl", prior=None))
    assert found == pytest.approx({0: 0.16040, 1: -0.32081, 2: 0.16040}, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "golden", "loss"),
    [
        ("netflix", [0.230601, 0.451225, 0.168407, 0.149766], 1746.7579),
        (
            "sushi",
            [
                0.091451, 0.142177, 0.077110, 0.068448, 0.093934, 0.050926, 0.244954, 0.085884,
                0.034189, 0.110929,
            ],
            71211.5992,
        ),
    ],
)  # fmt: skip
def test_golden_complete_rankings(data: Path, name: str, golden: list[float], loss: float) -> None:
    found = jr.rank(soc(data / f"{name}.soc"), "pl", prior=None)
    assert worths(found) == pytest.approx(golden, abs=1e-6)
    assert found.fit.objective == pytest.approx(loss, abs=1e-3)


@quiet
def test_golden_nascar(data: Path) -> None:
    races = pl.read_csv(data / "nascar.csv").sort("race", "position")
    rows = [ranking(0, race["driver"].to_list()) for race in races.partition_by("race")]
    found = jr.rank(made(rows), "pl", prior=(1000.0, 1.0))
    assert found.fit.objective == pytest.approx(4191.0973, abs=2e-3)  # the prior adds a little
    score = scores(found)
    gaps = [score[driver] - score[1] for driver in (2, 3, 4)]
    assert gaps == pytest.approx([1.5189, 1.1208, 1.3608], abs=1e-4)


def test_golden_davidson(data: Path) -> None:
    rows = []
    for one, other, won, lost, tied in pl.read_csv(data / "pudding.csv").iter_rows():
        rows.append(Row(0, [[one], [other]], weight=won))
        rows.append(Row(0, [[other], [one]], weight=lost))
        rows.append(Row(0, [[one, other]], weight=tied))
    found = jr.rank(made(rows), "btl", prior=None)
    golden = [0.138803, 0.173001, 0.161747, 0.165373, 0.158685, 0.202389]
    assert worths(found) == pytest.approx(golden, abs=2e-6)
    assert effect(found, "tie")["value"] == pytest.approx(0.746823, abs=2e-6)
    assert found.fit.objective == pytest.approx(809.7095, abs=1e-4)


# --- what must not matter ------------------------------------------------------------------------


def mixed_rows(seed: int = 0) -> list[Row]:
    """Rankings, ties and pairs on both sides, by judges of whom one votes backwards."""
    rng = np.random.default_rng(seed)
    rows = []
    for u, a in enumerate([1.0, 1.5, -1.0, 0.7, 1.2]):
        for _ in range(40):
            some = rng.permutation(7)[:4]
            groups = drawn_tied(rng, a * SPREAD[some], {2: 0.6, 3: 0.4})
            rows.append(Row(f"j{u}", [[f"i{some[i]}" for i in group] for group in groups]))
            one, other = (int(i) for i in rng.permutation(7)[:2])
            left_won = rng.random() < 1 / (1 + math.exp(-a * (SPREAD[one] - SPREAD[other]) - 0.4))
            pair = [[f"i{one}"], [f"i{other}"]]
            rows.append(Row(f"j{u}", pair if left_won else pair[::-1], flipped=not left_won))
    return rows


def test_the_order_of_everything_does_not_matter() -> None:
    rows = mixed_rows()
    asked: dict[str, Any] = {"order": "common", "ties": "davidson", "prior": (1.0, 0.5)}
    found = jr.rank(made(rows), **asked)
    rng = np.random.default_rng(1)
    names = {f"i{k}": f"x{p}" for k, p in enumerate(rng.permutation(7))}
    who = {f"j{k}": f"y{p}" for k, p in enumerate(rng.permutation(5))}
    changed = [
        row._replace(
            judge=who[str(row.judge)],
            groups=[[names[str(i)] for i in group[::-1]] for group in row.groups],
        )
        for row in rows
    ]
    again = jr.rank(made([changed[k] for k in rng.permutation(len(rows))]), **asked)
    assert {names[str(i)]: s for i, s in scores(found).items()} == pytest.approx(
        scores(again), abs=2e-4
    )
    assert {who[str(u)]: a for u, a in accuracies(found).items()} == pytest.approx(
        accuracies(again), abs=2e-4
    )
    assert found.effects["value"].to_list() == pytest.approx(
        again.effects["value"].to_list(), abs=2e-4
    )


@quiet
def test_a_ranking_twice_is_weight_2_and_a_repeat_is_the_same_to_the_bit() -> None:
    rows = mixed_rows(2)
    once = jr.rank(made([row._replace(weight=2.0) for row in rows]), prior=(1.0, 0.5), guard=False)
    twice = jr.rank(made([*rows, *rows]), prior=(1.0, 0.5), guard=False)
    assert scores(once) == pytest.approx(scores(twice), abs=1e-5)
    again = jr.rank(made([*rows, *rows]), prior=(1.0, 0.5), guard=False)
    assert again.items.equals(twice.items)
    assert again.effects.equals(twice.effects)


@quiet
def test_one_judge_is_no_judges() -> None:
    rows = [row._replace(judge="all") for row in mixed_rows(3)]
    one, equal = (jr.rank(made(rows), model) for model in ("hbtl", "btl"))
    assert scores(one) == pytest.approx(scores(equal), abs=1e-6)
    assert accuracies(one) == {"all": 1.0}


def test_pairs_turned_round_turn_the_scores_round() -> None:
    rows = [row for row in mixed_rows(4) if len(row.named) == 2]
    turned = [row._replace(groups=row.groups[::-1]) for row in rows]
    found, back = (scores(jr.rank(made(some), "btl", prior=None)) for some in (rows, turned))
    assert found == pytest.approx({i: -s for i, s in back.items()}, abs=1e-5)


def test_rankings_turned_round_are_those_of_negated_accuracies_only_for_pairs() -> None:
    """Plackett-Luce is no mirror image of itself; that is why the sign goes to the accuracy."""
    rows = [ranking(0, order) for order in ("abcd", "bacd", "cabd", "abdc", "dcba")]
    turned = [row._replace(groups=row.groups[::-1]) for row in rows]
    found, back = (scores(jr.rank(made(some), "btl", prior=None)) for some in (rows, turned))
    assert max(abs(found[i] + back[i]) for i in "abcd") > 0.05


def test_half_a_tie_is_half_a_win_for_each() -> None:
    rows = [row for row in random_rows(8, rows=200) if len(row.named) == 2]
    halves = []
    for row in rows:
        if row.is_tied_pair:
            a, b = row.named
            halves += [
                Row(row.judge, [[x], [y]], weight=row.weight / 2) for x, y in ((a, b), (b, a))
            ]
        else:
            halves.append(row)
    half = jr.rank(made(rows), "btl", prior=(1.0, 1.0), ties="half")
    assert scores(half) == pytest.approx(
        scores(jr.rank(made(halves), "btl", prior=(1.0, 1.0))), abs=1e-6
    )
    assert not len(half.effects)


def test_ties_in_rankings_as_halves_are_every_order() -> None:
    tied = [Row(0, [["a"], ["b", "c"], ["d"]], weight=2.0), ranking(0, "dcba")]
    every = [ranking(0, "abcd"), ranking(0, "acbd"), ranking(0, "dcba")]
    found, expected = (
        jr.rank(made(rows), "btl", prior=(1.0, 1.0), ties="half") for rows in (tied, every)
    )
    assert scores(found) == pytest.approx(scores(expected), abs=1e-6)


# --- extremes ------------------------------------------------------------------------------------


def all_left(judges: int = 3) -> Votes:
    rows = []
    for k in range(20 * judges):
        pair: list[list[Label]] = [["a"], ["b"]] if (k // judges) % 2 else [["b"], ["a"]]
        rows.append(Row(k % judges, pair))
    return replace(made(rows), sides_known=True)


@quiet
@pytest.mark.parametrize("prior", ["auto", None])
@pytest.mark.parametrize("kind", ["pairs", "lists"])
def test_ties_alone(kind: str, prior: str | None) -> None:
    pairs = [Row(k % 3, [["abc"[k % 3], "abc"[(k + 1) % 3]]]) for k in range(30)]
    lists = [Row(k % 3, [list("abc")]) for k in range(30)]
    votes = made(pairs if kind == "pairs" else lists)
    found = jr.rank(votes, prior=prior)  # type: ignore[arg-type]
    assert scores(found) == pytest.approx(dict.fromkeys("abc", 0.0), abs=1e-6)
    assert found.items["tier"].n_unique() == 1
    endless = any("no finite estimate of the weight of ties" in w for w in found.warnings)
    assert endless == (prior is None)
    assert found.effects["value"].to_list()[0] > 20.0
    assert "Infinity" not in found.to_json()


@quiet
@pytest.mark.parametrize("order", ["common", "by-judge"])
@pytest.mark.parametrize("prior", ["auto", None])
def test_everybody_votes_left(order: str, prior: str | None) -> None:
    found = jr.rank(all_left(), "btl", order=order, prior=prior)  # type: ignore[call-overload]
    assert scores(found) == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-6)
    left = effect(found, "left side")
    assert 3.0 < left["value"] < 30.0
    endless = any("the advantage of the left side" in warning for warning in found.warnings)
    assert endless == (prior is None)
    assert len(found.effects) == (1 if order == "common" else 4)


@quiet
def test_one_ranking_again_and_again() -> None:
    votes = made([ranking(k % 3, "abcd") for k in range(30)])
    found = jr.rank(votes)
    assert found.items["item"].to_list() == list("abcd")
    assert np.isfinite(found.items["score"].to_numpy()).all()
    with pytest.raises(jr.InputError, match="Without a prior these votes cannot rank"):
        jr.rank(votes, prior=None)


def test_every_judge_gives_one_list() -> None:
    rng = np.random.default_rng(0)
    rows = [ranking(f"j{u}", drawn_order(rng, SPREAD)) for u in range(40)]
    found = jr.rank(made(rows))
    assert found.fit.converged
    assert np.corrcoef(found.items.sort("item")["score"].to_numpy(), SPREAD)[0, 1] > 0.95


@quiet
def test_lists_of_two_to_sixty_items() -> None:
    rng, score = np.random.default_rng(5), np.linspace(2.0, -2.0, 60)
    rows = []
    for length in range(2, 61):
        some = rng.permutation(60)[:length]
        rows.append(ranking(length % 4, some[drawn_order(rng, score[some])].tolist()))
    found = jr.rank(made(rows))
    assert found.fit.converged
    assert np.corrcoef(found.items.sort("item")["score"].to_numpy(), score)[0, 1] > 0.9


def many_tied() -> Votes:
    rows: list[Row] = []
    for u in range(12):
        p = [int(i) for i in np.random.default_rng(u).permutation(25)]
        rows.append(Row(u % 4, [p[:20], [p[20]], p[21:]]))
    return made(rows)


@quiet
def test_twenty_tied_items() -> None:
    votes = many_tied()
    for ties, effects in ((None, ["tie"]), ("davidson", ["tie of 4", "tie of 20"])):
        found = jr.rank(votes, ties=ties)  # type: ignore[arg-type]
        assert found.effects["effect"].to_list() == effects
        assert np.isfinite(found.items["score"].to_numpy()).all()
    assert jr.check(votes).ties == 12
    with pytest.raises(jr.InputError, match="12 rankings can be put into more than 720 orders"):
        jr.rank(votes, ties="half")
    with pytest.raises(jr.InputError, match="12 rankings can be put into more than 720 orders"):
        jr.compare(votes, ["hbtl", "btl"], folds=2)
    assert jr.judges(votes).heterogeneity is None


def test_accuracies_without_a_prior_are_held() -> None:
    rows = simulated(3, SPREAD, [1.0, 1.0, 1.0, -1.0, 0.2], 8, 5)
    order = [f"i{i:03}" for i in range(10)]
    perfect = [ranking("p", order) for _ in range(5)]
    with pytest.warns(jr.JuryrankWarning, match="accuracy of 1 of 6 judges has no finite"):
        found = jr.rank(made([*rows, *perfect]), prior=None)
    assert found.judges["judge"][0] == "p"
    assert found.items["item"].to_list() == order


@pytest.mark.parametrize("model", ["crowdbt", "crowdtcv", "rank-centrality", "win-rate"])
def test_what_is_for_pairs_says_so(model: str) -> None:
    votes = made(mixed_rows())
    with pytest.raises(jr.InputError, match=r"200 votes are rankings.*votes.in_pairs\(\)"):
        jr.rank(votes, model)
    pairs = made([row for row in random_rows(1, rows=100) if len(row.named) == 2])
    for asked in ({"ties": "davidson"}, {"order": "common"}):
        with pytest.raises(jr.InputError, match="with the profile solver"):
            jr.rank(pairs, model, **asked)  # type: ignore[call-overload]


def test_what_cannot_be_asked_of_rankings() -> None:
    votes = made([row for row in mixed_rows() if len(row.named) > 2])
    for asked, said in (
        ({"order": "common"}, "which item was on the left"),
        ({"order": "left"}, "order='left' is not one of none, common, by-judge"),
        ({"ties": "ignored"}, "ties='ignored' is not one of davidson"),
        ({"solver": "paper", "ties": "davidson"}, "with the profile solver"),
        ({"solver": PaperSolver(start="rank-centrality")}, "is for votes on pairs alone"),
        ({"model": "htcv", "ties": "davidson"}, "with Gumbel noise only, not with normal noise"),
    ):
        with pytest.raises(jr.InputError, match=said):
            jr.rank(votes, **asked)


@quiet
def test_judges_and_votes_can_be_left_away() -> None:
    rows = mixed_rows()
    votes = made(rows)
    some = votes.without(["j2", "j4"])
    expected = made([row for row in rows if row.judge not in ("j2", "j4")])
    assert some.judges.to_list() == ["j0", "j1", "j3"]
    assert np.array_equal(some.start, expected.start)
    assert as_rows(some) == as_rows(expected)
    only_pairs = votes.subset(np.arange(len(votes)) < votes.n_pairs)
    assert (len(only_pairs), only_pairs.lists.number) == (200, 0)
    assert only_pairs.votes_per_judge.tolist() == [40.0] * 5
    empty = made([*rows, ranking("z", ["i0", "i1", "i2"])])
    quiet_judge = empty.subset(np.arange(len(empty)) < len(empty) - 1)
    found = jr.rank(quiet_judge, ties="davidson")
    assert accuracies(found)["z"] == pytest.approx(1.0, abs=0.5)
    assert found.judges.filter(judge="z")["votes"].item() == 0
    with pytest.raises(jr.InputError, match="no votes left"):
        votes.without([f"j{u}" for u in range(5)])


# --- no judge takes over -------------------------------------------------------------------------


def pushing(seed: int, count: int, items: Sequence[str] = ("i009",)) -> list[Row]:
    """A judge who puts the same items first and ranks the others honestly."""
    rng, rows = np.random.default_rng(1000 + seed), []
    for _ in range(count):
        some = rng.permutation(10 - len(items))[: 5 - len(items)]
        order = some[drawn_order(rng, SPREAD[some])]
        rows.append(ranking("pusher", [*items, *(f"i{i:03}" for i in order)]))
    return rows


@quiet
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("items", [("i009",), ("i009", "i008")], ids=["one", "two"])
def test_who_pushes_an_item_in_rankings_is_found(seed: int, items: tuple[str, ...]) -> None:
    votes = made([*simulated(seed, 0.5 * SPREAD, [1.0] * 6, 15, 5), *pushing(seed, 60, items)])
    found, unguarded = (jr.rank(votes, tastes=False, guard=guard) for guard in (True, False))
    named = found.judges.filter(verdict="one-sided")["judge"].to_list()
    assert named == ["pusher"]
    assert found.fit.set_aside == 60
    rank, before = (
        dict(zip(some.items["item"], some.items["rank"], strict=True))["i009"]
        for some in (found, unguarded)
    )
    assert rank >= 8
    assert rank > before or before == 10
    with_tastes = jr.rank(votes)
    if (
        with_tastes.fit.converged
    ):  # few rankings and two items pushed: it may not settle, and says so
        assert with_tastes.judges.filter(verdict="one-sided")["judge"].to_list() == ["pusher"]
    else:
        assert len(items) == 2
    assert with_tastes.items["item"].to_list().index("i009") >= 7


@pytest.mark.parametrize("seed", range(3))
def test_honest_and_backwards_rankings_are_left_alone(seed: int) -> None:
    accuracy = [1.0, 1.2, 0.8, 1.0, -1.0, -0.8, 1.0, 0.1, 0.9, 1.1]
    found = jr.rank(made(simulated(seed, SPREAD, accuracy, 18, 5)))
    assert found.fit.set_aside == 0
    assert "one-sided" not in found.judges["verdict"].to_list()
    backwards = found.judges.filter(verdict="backwards")["judge"].to_list()
    assert sorted(backwards) == ["j004", "j005"]


def test_a_tie_that_loses_an_item_keeps_its_probability() -> None:
    votes = made([Row(u, [["a", "b", "c"], ["d"]]) for u in range(3)])
    objective = objective_of(votes, EffectModel((3,), ties_by_judge=True))
    one = np.ones(1)
    found = OneSided(np.array([0]), np.array([0]), one, one, one, one)
    left = without_cells(objective, found)
    assert left.effects.sizes == (2, 3)
    all_gone = OneSided(np.arange(3), np.zeros(3, dtype=np.int64), *(np.ones(3),) * 4)
    assert without_cells(objective, all_gone).effects.sizes == (2,)
    nearly = OneSided(*np.divmod(np.arange(6), 2), *(np.ones(6),) * 4)
    assert without_cells(objective, nearly).effects == EffectModel()


# --- its friends ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed() -> Votes:
    return made(mixed_rows(7))


def test_errors_by_information_sandwich_and_bootstrap_agree_roughly() -> None:
    rows = simulated(2, SPREAD, np.linspace(0.6, 1.4, 30).tolist(), 6, 4)
    votes = made(rows)
    width = {}
    for way in ("information", "sandwich", "bootstrap"):
        found = jr.rank(votes, intervals=way)
        width[way] = float((found.items["score_high"] - found.items["score_low"]).mean())  # type: ignore[arg-type]
        best = found.difference("i000", "i009")
        assert best.low > 0.0
        assert best.p_value < 1e-6
    assert width["sandwich"] == pytest.approx(width["information"], rel=0.35)
    assert width["bootstrap"] == pytest.approx(width["sandwich"], rel=0.35)


def test_judges_check_and_compare_know_rankings(mixed: Votes) -> None:
    summary = jr.check(mixed)
    assert (summary.votes, summary.lists, summary.items_per_list.max) == (400, 200, 4)
    assert summary.ties == sum(any(len(group) > 1 for group in row.groups) for row in mixed_rows(7))
    comparison = jr.compare(mixed, ["hbtl", "btl"], folds=3)
    table = comparison.table
    assert table["model"].to_list() == ["hbtl", "btl"]
    assert table["log_loss"][0] < table["log_loss"][1] < comparison.guessing
    with pytest.raises(jr.InputError, match="'crowdbt' is for pairs"):
        jr.compare(mixed, ["hbtl", "crowdbt"])
    report = jr.judges(mixed)
    rows = {row["judge"]: row for row in report.table.iter_rows(named=True)}
    assert rows["j2"]["verdict"] == "backwards"
    assert rows["j2"]["agreement"] < 0.4
    assert min(rows[f"j{u}"]["agreement"] for u in (0, 1, 3, 4)) > 0.55
    assert all(0.3 < row["left_share"] < 0.8 for row in rows.values())
    assert report.heterogeneity is not None
    assert report.heterogeneity.matters


@quiet
def test_rankings_have_no_sides_to_lean_to() -> None:
    pairs = [row for row in mixed_rows(1) if len(row.named) == 2]
    shares = []
    for rows in (pairs, mixed_rows(1)):
        votes = made(rows)
        table = jr.judges(votes).table.sort("judge")
        shares.append(table["left_share"].to_list())
    assert shares[0] == pytest.approx(shares[1])


def test_judges_share_what_both_tie() -> None:
    for group in (["a", "b"], ["a", "b", "c"]):
        assert len(lone_judges(made([Row(u, [group]) for u in range(2)]))) == 0
    alone = made([ranking(0, "abc"), ranking(1, "def"), ranking(2, "abd")])
    assert lone_judges(alone).tolist() == [1]


def test_threads_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(0)
    items = np.argsort(rng.random((26_000, 4)), axis=1) + 4 * rng.integers(0, 5, (26_000, 1))
    rows = [ranking(k % 37, order) for k, order in enumerate(items.tolist())]
    votes = made([*rows, *(ranking(k % 37, [k % 5 * 4, (k + 1) % 5 * 4]) for k in range(200))])
    one, two = (
        jr.rank(votes, prior=(1.0, 0.5), guard=False, intervals=None, threads=threads)
        for threads in (1, 2)
    )
    assert one.items.equals(two.items)
    assert one.judges.equals(two.judges)
    assert one.fit.objective == two.fit.objective


# --- recovery ------------------------------------------------------------------------------------


def within(value: float, low: float, high: float, truth: float) -> bool:
    """Whether the truth is within 4 standard errors, from an interval of 95 %."""
    return abs(value - truth) <= 4.0 * (high - low) / (2.0 * 1.96)


def in_gauge(score: np.ndarray, accuracy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = float(np.abs(accuracy).mean())
    return scale * (score - score.mean()), accuracy / scale


def test_rankings_with_ties_are_recovered() -> None:
    rng = np.random.default_rng(11)
    score, accuracy = np.linspace(1.2, -1.2, 6), np.array([1.5, 0.5, 1.0, -0.8, 1.2])
    rows = []
    for u, a in enumerate(accuracy):
        for _ in range(150):
            some = rng.permutation(6)[:4]
            groups = drawn_tied(rng, a * score[some], {2: 0.5, 3: 1.5})
            rows.append(Row(u, [[int(some[i]) for i in group] for group in groups]))
    found = jr.rank(made(rows), ties="davidson")
    true_score, true_accuracy = in_gauge(score, accuracy)
    for row in found.items.iter_rows(named=True):
        assert within(row["score"], row["score_low"], row["score_high"], true_score[row["item"]])
    for row in found.judges.iter_rows(named=True):
        truth = true_accuracy[row["judge"]]
        assert within(row["accuracy"], row["accuracy_low"], row["accuracy_high"], truth)
    for name, weight in (("tie", 0.5), ("tie of 3", 1.5)):
        value, low, high = (math.log(effect(found, name)[k]) for k in ("value", "low", "high"))
        assert within(value, low, high, math.log(weight))
        assert high - low < 1.0


def test_sides_and_ties_of_single_judges_are_recovered() -> None:
    rng = np.random.default_rng(12)
    score, accuracy = np.linspace(1.0, -1.0, 5), np.linspace(0.6, 1.4, 8)
    side, tie = np.linspace(-0.4, 1.2, 8), np.log(np.linspace(0.3, 1.5, 8))
    rows: list[Row] = []
    for u in range(8):
        for _ in range(300):
            one, other = (int(i) for i in rng.permutation(5)[:2])
            x = accuracy[u] * (score[one] - score[other]) + side[u]
            mass = np.exp([x / 2, -x / 2, tie[u]])
            said = int(rng.choice(3, p=mass / mass.sum()))
            pair: list[list[Label]] = [[[one], [other]], [[other], [one]], [[one, other]]][said]  # type: ignore[assignment]
            rows.append(Row(u, pair, flipped=said == 1))
    votes = made(rows)
    with pytest.warns(jr.JuryrankWarning, match="position-biased"):
        jr.rank(votes)
    # What is allowed for is no bias any more.
    found = jr.rank(votes, ties="davidson-by-judge", order="by-judge")
    true_score, true_accuracy = in_gauge(score, accuracy)
    for row in found.items.iter_rows(named=True):
        assert within(row["score"], row["score_low"], row["score_high"], true_score[row["item"]])
    for row in found.judges.iter_rows(named=True):
        truth = true_accuracy[row["judge"]]
        assert within(row["accuracy"], row["accuracy_low"], row["accuracy_high"], truth)
    own = found.effects.drop_nulls("judge")
    assert len(own) == 16
    for row in own.iter_rows(named=True):
        value, low, high = (row[k] for k in ("value", "low", "high"))
        if row["effect"] == "left side":
            assert within(value, low, high, side[row["judge"]])
        else:
            assert within(math.log(value), math.log(low), math.log(high), tie[row["judge"]])
    common = effect(found, "left side")
    assert common["value"] == pytest.approx(side.mean(), abs=0.2)


def test_what_is_fitted_is_the_best_there_is() -> None:
    """No effect, score or accuracy can be changed for a better objective."""
    asked = task_of(made(mixed_rows(9)), "hbtl", ties="davidson", order="common", guard=False)
    found = by_profile(asked)
    gradients = found.objective.gradients(found.raw.state, found.raw.accuracy)
    curvature = found.objective.curvature(found.raw.state, found.raw.accuracy)
    assert np.abs(gradients.state / np.sqrt(curvature.state)).max() < 1e-4
    assert np.abs(gradients.accuracy / np.sqrt(curvature.accuracy)).max() < 1e-4
