"""Passes over shards give what they give over votes in one place, whatever is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from cluster_help import Inline, sharded

import juryrank as jr
from juryrank.cluster import sharded as in_shards
from juryrank.cluster.scan import loaded
from juryrank.cluster.sharded import ShardedCodedVotes
from juryrank.cluster.shards import SHARDS_PER_THREAD, chunks_per_shard

pytestmark = [
    pytest.mark.usefixtures("many_shards"),
    pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning"),
]

FAST: dict[str, Any] = {"prior": (1.0, 0.5)}


def simulated(**options: Any) -> pl.DataFrame:
    return jr.simulate(10, 110, votes_per_judge=300, seed=3, **options).votes


def with_pushers() -> pl.DataFrame:
    """Judges who push an item, copies of a judge, and accounts on one item alone."""
    honest = simulated()
    pushed = honest.with_columns(
        winner=pl.when(
            (pl.col("left") == "item-05") & pl.col("judge").is_in(["judge-003", "judge-040"])
        )
        .then(pl.lit("left"))
        .when((pl.col("right") == "item-05") & pl.col("judge").is_in(["judge-003", "judge-040"]))
        .then(pl.lit("right"))
        .otherwise("winner")
    )
    copies = honest.filter(judge="judge-007").with_columns(judge=pl.lit("copy"))
    lone = pl.DataFrame(
        {
            "judge": np.repeat([f"lone-{k}" for k in range(12)], 3),
            "left": "item-04", "right": ["item-01", "item-02", "item-03"] * 12, "winner": "left",
        }
    )  # fmt: skip
    return pl.concat([pushed, copies, lone])


def weighted() -> pl.DataFrame:
    return simulated().with_columns(weight=1.0 + (pl.int_range(pl.len()) % 3) / 2)


CASES: dict[str, tuple[Callable[[], pl.DataFrame], dict[str, Any]]] = {
    "ties of judges": (partial(simulated, tie=0.7, tie_sd=1.5), {}),
    "ties by half": (partial(simulated, tie=0.7), {**FAST, "ties": "half"}),
    "sides by judge": (simulated, {**FAST, "order": "by-judge"}),
    "no tastes": (with_pushers, {"tastes": False}),
    "voices": (with_pushers, {"model": "htcv", **FAST}),
    "weights": (weighted, FAST),
    "equal judges": (simulated, {"model": "btl", **FAST}),
    "maximum likelihood": (simulated, {"prior": None}),
    "sandwich": (simulated, {**FAST, "intervals": "sandwich"}),
    "sandwich of sides by judge": (
        partial(simulated, tie=0.7),
        {**FAST, "intervals": "sandwich", "order": "by-judge", "ties": "davidson-by-judge"},
    ),
    "few votes": (lambda: simulated().head(3_000), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_shards_give_the_same_ranking(case: str, tmp_path: Path) -> None:
    make, options = CASES[case]
    there = jr.rank(sharded(make(), tmp_path), **options)
    here = jr.rank(jr.read_votes(tmp_path), **options)
    for one, other in (
        (there.items, here.items), (there.judges, here.judges), (there.effects, here.effects),
        (there.tastes, here.tastes),
    ):  # fmt: skip
        assert one.columns == other.columns
        for name in one.columns:
            if one[name].dtype == pl.Float64:
                np.testing.assert_allclose(one[name], other[name], rtol=1e-9, atol=1e-9)
            else:
                assert one[name].to_list() == other[name].to_list()
    assert there.warnings == here.warnings
    assert there.fit.set_aside == here.fit.set_aside
    assert there.fit.accounts_as_one == here.fit.accounts_as_one


def test_it_does_not_matter_who_adds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = sharded(simulated(tie=0.7), tmp_path)
    some = jr.rank(votes, **FAST)
    for many in (1, 1 << 30):
        monkeypatch.setattr(in_shards, "MANY_NUMBERS", many)
        found = jr.rank(votes, **FAST)
        assert found.items.equals(some.items)
        assert found.judges.equals(some.judges)


def test_the_number_of_chunks_in_a_shard_changes_no_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, found = simulated(tie=0.7), []
    for threads in (1, 4):
        monkeypatch.setattr(Inline, "threads", threads)
        votes = sharded(frame, tmp_path)
        found.append((votes.shards.chunks_per_shard, jr.rank(votes, **FAST)))
    (several, one), (single, other) = found
    assert several > single == 1
    assert one.items.equals(other.items)
    assert one.judges.equals(other.judges)
    assert one.fit.objective == other.fit.objective


@pytest.mark.parametrize("chunks", [1, 4, 16, 50, 250])
@pytest.mark.parametrize("threads", [1, 2, 7, 50])
def test_shards_are_branches_of_the_tree_and_enough_for_all_threads(
    chunks: int, threads: int
) -> None:
    size = chunks_per_shard(chunks, threads)
    assert size in (1, 4, 16, 64)
    assert size == 1 or chunks / size >= SHARDS_PER_THREAD * threads - 1


def test_the_cases_have_what_they_are_for() -> None:
    found = jr.rank(with_pushers(), tastes=False).fit
    assert found.set_aside > 0
    assert found.accounts_as_one > 10


def test_some_votes_can_be_fetched(tmp_path: Path) -> None:
    frame = weighted()
    there = sharded(frame, tmp_path).for_model()
    here = jr.read_votes(tmp_path).for_model()
    assert isinstance(there, ShardedCodedVotes)
    for judges in ([5, 90, 5, 0], [7], list(range(110))):
        one, other = (votes.of_judges(np.array(judges)) for votes in (there, here))
        assert np.array_equal(one.pairs.start, other.pairs.start)
        for name, column in other.pairs.columns().items():
            assert np.array_equal(one.pairs.columns()[name], column)
    assert np.array_equal(there.every(7).winner, here.every(7).winner)
    np.testing.assert_array_equal(there.votes_per_judge, here.votes_per_judge)
    assert np.array_equal(
        sharded(frame, tmp_path).times_compared, jr.read_votes(tmp_path).times_compared
    )


@pytest.mark.parametrize("make", [weighted, partial(simulated, tie=0.7)])
def test_few_votes_come_here_as_they_would_be_read(
    make: Callable[[], pl.DataFrame], tmp_path: Path
) -> None:
    there, here = sharded(make(), tmp_path).fetched(), jr.read_votes(tmp_path)
    assert there.is_here
    for name in ("start", "winner", "loser", "outcome", "weight"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert there.items.equals(here.items)
    assert there.judges.equals(here.judges)
    assert (there.sides_known, there.judges_known) == (here.sides_known, here.judges_known)


@pytest.mark.parametrize("names", [("007", "7"), ("2", "10")])
def test_numbers_in_text_are_names_as_on_one_machine(
    names: tuple[str, str], tmp_path: Path
) -> None:
    frame = pl.DataFrame({"judge": ["1", "1", "2"], "winner": names[0], "loser": names[1]})
    for number, own in enumerate((frame, frame[::-1])):
        own.write_csv(tmp_path / f"{number}.csv")
    there = loaded(jr.scan_votes(tmp_path), Inline(), lambda _: None)
    here = jr.read_votes(tmp_path)
    assert there.items.equals(here.items)
    assert there.judges.equals(here.judges)


def test_all_votes_cannot_be_fetched(tmp_path: Path) -> None:
    votes = sharded(simulated().head(3_000), tmp_path)
    assert len(votes) == 3_000
    assert not votes.is_here
    for name in ("winner", "loser", "outcome", "weight"):
        with pytest.raises(jr.InputError, match="These votes are on a cluster"):
            getattr(votes, name)
    with pytest.raises(jr.InputError, match="These votes are on a cluster"):
        _ = votes.for_model().core_pairs
