"""`jr.run`: from judges to a ranking, by the real choice of questions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from loop_help import by_name
from polars.testing import assert_frame_equal

import juryrank as jr
from juryrank.active import asking
from juryrank.active.own_thread import OwnThread

ITEMS = ["a", "b", "c", "d", "e", "f"]
OPTIONS: dict[str, Any] = {"stop_when_settled": False, "progress": False}

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def lines_of(log: Path) -> pl.DataFrame:
    return pl.read_ndjson(log, infer_schema_length=None)


async def by_name_async(left: str, right: str) -> str:
    return by_name(left, right)


def test_the_ranking_is_that_of_all_votes_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    judges = {"u": by_name, "v": by_name_async}
    first = jr.run(ITEMS, judges, budget=12, batch=12, log=log, **OPTIONS)
    assert first.fit.votes == 12
    ranking = jr.run(ITEMS, judges, budget=26, batch=14, log=log, **OPTIONS)
    assert ranking.items["item"].to_list() == ITEMS
    assert ranking.fit.votes == 26
    assert_frame_equal(ranking.items, jr.rank(log).items)
    again = jr.run(ITEMS, judges, budget=26, batch=14, log=log, **OPTIONS)
    assert_frame_equal(again.items, ranking.items)
    asked = lines_of(log).filter(pl.col("kind") == "question")
    assert len(asked) == 26
    assert not asked.select("judge", "left", "right").is_duplicated().any()
    assert set(asked["chosen"]) <= {"policy", "random", "opening"}
    sides = Counter(asked["left"]) - Counter(asked["right"])
    assert max(sides.values(), default=0) <= 2


def test_it_goes_the_same_way_in_a_loop_of_the_users(tmp_path: Path) -> None:
    judges = {"u": by_name, "v": by_name_async}
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    jr.run(ITEMS, judges, budget=10, log=one, **OPTIONS)
    asyncio.run(jr.run_async(ITEMS, judges, budget=10, log=other, **OPTIONS))
    columns = ("id", "judge", "left", "right", "propensity")
    asked = [lines_of(log).filter(pl.col("kind") == "question") for log in (one, other)]
    assert_frame_equal(asked[0].select(columns), asked[1].select(columns))
    with pytest.raises(TypeError, match="budgets"):
        asyncio.run(jr.run_async(ITEMS, judges, budgets=10))  # type: ignore[call-arg]


def test_what_failed_was_refused_or_left_out_stands_in_the_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_once(_seconds: float) -> None:
        return None

    def fails(_left: str, _right: str) -> str:
        raise ConnectionError("no route to host")

    def shy(left: str, right: str) -> str | None:
        return None if {left, right} == {"a", "f"} else by_name(left, right)

    monkeypatch.setattr(asking, "wait", at_once)
    judges = {"fails": fails, "shy": shy}
    ranking = jr.run(ITEMS, judges, budget=15, most_failures=3, **OPTIONS)
    said = " ".join(ranking.warnings)
    assert "3 questions failed and are no votes: fails 3, and was set aside" in said
    assert "no route to host" in said
    assert "1 refusal, which are no votes: shy 1." in said
    assert ranking.judges["judge"].to_list() == ["shy"]
    with pytest.warns(jr.JuryrankWarning, match="set aside"):
        jr.run(ITEMS, judges, budget=15, most_failures=3, **OPTIONS)


def test_no_votes_at_all_is_an_error_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_seconds: float) -> None:
        return None

    def fails(_left: str, _right: str) -> str:
        raise ConnectionError("no route to host")

    monkeypatch.setattr(asking, "wait", at_once)
    with pytest.raises(jr.JuryrankError, match="There are no votes to rank by") as caught:
        jr.run(ITEMS, {"u": fails}, budget=5, most_failures=1, **OPTIONS)
    assert "no route to host" in str(caught.value)
    assert isinstance(caught.value.__cause__.__cause__, ConnectionError)  # type: ignore[union-attr]


def test_two_items_are_enough() -> None:
    ranking = jr.run(["x", "y"], {"u": by_name}, budget=3, **OPTIONS)
    assert ranking.items["item"].to_list() == ["x", "y"]
    assert "No more was asked. There is no question left" in ranking.warnings[-1]
    ranking = jr.run(["x", "y"], {"u": by_name}, budget=3, repeats=True, **OPTIONS)
    assert ranking.fit.votes == 3
    numbers = jr.run(range(3), {"u": lambda i, j: "left" if i > j else "right"}, budget=3,
                     **OPTIONS)  # fmt: skip
    assert numbers.items["item"].to_list() == [2, 1, 0]


def test_items_that_look_alike_are_kept_apart() -> None:
    alike = ["x", "x ", "X", "NA", "left", "tie", "\u00e9", "e\u0301"]
    order = {item: at for at, item in enumerate(alike)}

    def by_order(left: str, right: str) -> str:
        return "left" if order[left] < order[right] else "right"

    judges = {"u": by_order, "v": by_order}
    ranking = jr.run(alike, judges, budget=50, batch=25, **OPTIONS)
    assert ranking.items["item"].to_list() == alike


def noisy(seed: int) -> Callable[[str, str], str]:
    """Prefers what comes first in the alphabet, in four votes of five between neighbours."""
    rng = np.random.default_rng(seed)

    def call(left: str, right: str) -> str:
        return "left" if rng.logistic() < 1.5 * (ord(right) - ord(left)) else "right"

    return call


def test_it_stops_when_the_target_is_settled() -> None:
    judges = {f"judge-{seed}": noisy(seed) for seed in range(3)}
    ranking = jr.run(
        ITEMS[:3], judges, budget=400, target="top:1", repeats=True, batch=100, progress=False
    )
    assert ranking.settled("top:1").done
    assert ranking.fit.votes < 400


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target": "top:0"}, "top:0"),
        ({"target": "item:z"}, "z"),
        ({"target": 7}, "There is no target 7"),
        ({"model": "magic"}, "magic"),
        ({"model": "win-rate"}, "must say how sure"),
        ({"model": "crowdbt"}, "hbtl, htcv, htm, btl or tcv"),
        ({"random_share": 2.0}, "random_share"),
        ({"least_views": -1}, "least_views"),
        ({"barred": 5}, "barred must be a data frame"),
        ({"barred": pl.DataFrame({"judge": ["u"], "item": ["z"]})}, "z"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_before_a_log_is_begun(
    changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    log = tmp_path / "run.jsonl"
    arguments: dict[str, Any] = {"budget": 5, "log": log, **changed}
    with pytest.raises(jr.InputError) as caught:
        jr.run(ITEMS, {"u": by_name}, **arguments)
    assert said in str(caught.value)
    assert not log.exists()


def test_nobody_is_asked_what_is_barred(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    barred = pl.DataFrame({"judge": ["u", "u"], "item": ["a", "b"]})
    jr.run(ITEMS, {"u": by_name, "v": by_name}, budget=20, barred=barred, log=log, **OPTIONS)
    asked = lines_of(log).filter(pl.col("kind") == "question", pl.col("judge") == "u")
    assert not {"a", "b"} & {*asked["left"], *asked["right"]}
    with pytest.raises(jr.InputError, match="barred"):
        jr.run(ITEMS, {"u": by_name, "v": by_name}, budget=20, log=log, **OPTIONS)


def test_an_error_in_the_loop_comes_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_event: object) -> None:
        raise LookupError("the user's own")

    with pytest.raises(LookupError, match="the user's own"):
        jr.run(ITEMS, {"u": by_name}, budget=5, progress=broken)
    assert OwnThread.__doc__
