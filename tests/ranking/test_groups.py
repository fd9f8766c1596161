"""Groups of items that were never compared with each other are ranked apart."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app
from juryrank.inference.posterior import centred


def unlinked() -> pl.DataFrame:
    """Three groups of items, each with two judges; the first letter tells the group."""
    rng = np.random.default_rng(3)
    groups = [["a1", "a2", "a3"], ["b1", "b2"], ["c1", "c2"]]
    rows = []
    for number in range(420):
        names = groups[number % 3]
        one, other = sorted(rng.choice(len(names), 2, replace=False).tolist())
        if rng.random() < 0.2:
            one, other = other, one
        rows.append((f"judge {number % 6}", names[one], names[other]))
    return pl.DataFrame(rows, schema=["judge", "winner", "loser"], orient="row")


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    with pytest.warns(jr.JuryrankWarning, match="never compared"):
        return jr.rank(unlinked())


def test_ranks_scores_and_chances_are_those_within_a_group(ranking: jr.Ranking) -> None:
    assert ranking.items["item"].to_list() == ["a1", "a2", "a3", "b1", "b2", "c1", "c2"]
    assert ranking.items["group"].to_list() == [1, 1, 1, 2, 2, 3, 3]
    assert ranking.items["rank"].to_list() == [1, 2, 3, 1, 2, 1, 2]
    for items in ranking.groups:
        assert items["score"].sum() == pytest.approx(0.0, abs=1e-12)
        assert items["p_best"].sum() == pytest.approx(1.0)
        assert (items["rank_high"] <= len(items)).all()
        assert items["tier"].to_list()[0] == 1
        low, score, high = (items[name] for name in ("score_low", "score", "score_high"))
        assert (low < score).all()
        assert (score < high).all()


@pytest.mark.parametrize("asked", [{}, {"intervals": "information"}, {"intervals": "sandwich"}])
def test_intervals_leave_out_what_no_vote_is_about(asked: dict[str, Any]) -> None:
    """Of two items the difference has the interval of a score, twice as wide."""
    with pytest.warns(jr.JuryrankWarning):
        found = jr.rank(unlinked(), **asked)
    gap, pair = found.difference("b1", "b2"), found.groups[1]
    assert gap.high - gap.low == pytest.approx(
        2.0 * (pair["score_high"][0] - pair["score_low"][0]), rel=1e-6
    )


def test_each_jury_has_its_own_end_up(ranking: jr.Ranking) -> None:
    """Two judges who agree vote backwards with a chance of E[p^2] : E[(1 - p)^2], near 2 %."""
    backwards = ranking.posterior.accuracies < 0.0
    judges = ranking.judges["judge"].to_list()
    first = backwards[:, [judges.index("judge 0"), judges.index("judge 3")]].all(axis=1)
    assert not first.any()  # turned upright, as nearly all draws are
    assert ranking._posterior is not None
    assert 0.002 < ranking._posterior.upside_down < 0.05


def test_items_of_two_groups_are_not_compared(ranking: jr.Ranking) -> None:
    assert ranking.difference("a1", "a3").chance_better > 0.99
    with pytest.raises(jr.InputError, match="never compared"):
        ranking.difference("a1", "b1")


def test_one_short_warning_names_pairs_that_would_connect_the_groups(ranking: jr.Ranking) -> None:
    (warning,) = (text for text in ranking.warnings if "never compared" in text)
    assert len(warning) < 220
    told = warning.split("Votes on ")[1].removesuffix(" would connect them.").split(", ")
    more = [tuple(pair.split(" against ")) for pair in told]
    assert [(one[0], other[0]) for one, other in more] == [("a", "b"), ("a", "c")]
    extra = [(f"judge {k}", *pair) for k in range(6) for pair in more]
    extra += [(judge, other, one) for judge, one, other in extra]
    linked = pl.concat([unlinked(), pl.DataFrame(extra, schema=unlinked().schema, orient="row")])
    assert "group" not in jr.rank(linked).items.columns


def test_every_output_keeps_the_groups_apart(tmp_path: Path) -> None:
    unlinked().write_csv(tmp_path / "votes.csv")
    out, report = tmp_path / "out.csv", tmp_path / "report.html"
    command = ["rank", str(tmp_path / "votes.csv")]
    shown = CliRunner().invoke(app, [*command, "--out", str(out), "--report", str(report)]).stdout
    assert [f"Group {k}: " in shown for k in (1, 2, 3, 4)] == [True, True, True, False]
    assert pl.read_csv(out)["group"].to_list() == [1, 1, 1, 2, 2, 3, 3]
    page = report.read_text()
    for said in (shown, html.unescape(page)):
        assert "2 questions would connect the groups: 'juryrank next'" in " ".join(said.split())
    assert "3 groups of items were never compared: each is ranked by itself." in page
    assert "Group 2, tier 1" in page
    tables = re.findall(r'<table aria-label="(Group [^"]*)"', page)
    assert tables == ["Group 1: 3 items", "Group 2: 2 items", "Group 3: 2 items"]
    answer = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert [item["group"] for item in answer["items"]] == [1, 1, 1, 2, 2, 3, 3]


def test_a_matrix_says_nothing_of_items_of_two_groups(ranking: jr.Ranking) -> None:
    cells = ranking.plot.matrix().to_dict()["data"]["values"]
    assert cells
    told = [cell for cell in cells if cell["value"] is not None]
    assert {(cell["row"][0], cell["column"][0]) for cell in told} == {
        ("a",) * 2,
        ("b",) * 2,
        ("c",) * 2,
    }


def test_scores_are_centred_group_by_group() -> None:
    groups = [np.array([0, 2]), np.array([1, 3])]
    found = centred(np.array([[1.0, 5.0, 3.0, 9.0]]), groups)
    np.testing.assert_array_equal(found, [[-1.0, -2.0, 1.0, 2.0]])


def test_how_groups_compare_is_predicted_by_the_prior_alone(ranking: jr.Ranking) -> None:
    """A vote between items of two groups is near even, however sure the order within each is."""
    assert 0.3 < float(ranking.predict(None, "a1", "b1")) < 0.8
    assert float(ranking.predict(None, "a1", "a3")) > 0.7


def test_many_sets_that_never_lose_make_no_long_warning() -> None:
    """Ten groups of three, in each of which two items never lose to the third."""
    pairs = [(f"{n}{a}", f"{n}{b}") for n in range(10) for a, b in ("ab", "ba", "ac", "bc")]
    winner, loser = zip(*pairs, strict=True)
    with pytest.warns(jr.JuryrankWarning):
        warnings = jr.rank({"winner": winner, "loser": loser}).warnings
    said = next(text for text in warnings if "do not link all items" in text)
    assert len(said) < 400
    assert "more sets (juryrank check names them)" in said


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_of_very_many_groups_the_last_share_a_table() -> None:
    wins = [("ann", f"a{k:02}", f"b{k:02}") for k in range(13)] * 3
    votes = pl.DataFrame(wins, schema=["judge", "winner", "loser"], orient="row")
    page = jr.rank(votes).report()
    tables = re.findall(r'<table aria-label="([^"]*group[^"]*)"', page, re.I)
    assert tables == [*(f"Group {k}: 2 items" for k in range(1, 11)), "3 more groups"]
    assert all(f">a{k:02}</td>" in page for k in range(13))
