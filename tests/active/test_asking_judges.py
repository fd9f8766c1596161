"""What judges may be and may answer, and what is refused before anybody is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_help import PAIRS, by_name, by_name_async, conduct, rows, terms

from juryrank.active.display import Display
from juryrank.active.judge import Judge
from juryrank.active.running import begun, conducted, run
from juryrank.errors import InputError

# --- what judges may be --------------------------------------------------------------------------


class Opinion:
    """An answer with a cost, as an object of the user's."""

    def __init__(self, outcome: Any, cost: Any = None) -> None:
        self.outcome, self.cost = outcome, cost


class AsyncJudge:
    async def __call__(self, left: str, right: str) -> Opinion:
        return Opinion(by_name(left, right))


@pytest.mark.parametrize(
    "call",
    [
        by_name,
        by_name_async,
        AsyncJudge(),
        lambda left, right: by_name_async(left, right),
        lambda left, right: np.str_(by_name(left, right)),
        lambda left, right: (by_name(left, right).upper(), 0.5),
        lambda left, right: [f" {by_name(left, right)}\n", np.float32(0.5)],
        lambda left, right: {"outcome": by_name(left, right)},
        lambda left, right: Opinion(by_name(left, right), 1),
    ],
)
def test_judges_may_be_sync_or_async_and_answer_in_several_ways(call: Callable[..., Any]) -> None:
    history, ended, said = conduct({"u": call, "v": by_name}, budget=2 * PAIRS)
    assert len(history.answers) == 2 * PAIRS
    assert not said
    assert ended.reason == "There are as many answers as were asked for."
    for _, _, left, right, outcome in rows(history):
        assert outcome == by_name(left, right)
    assert Counter(row[4] for row in rows(history))["tie"] == 2


def test_judges_see_contents_and_not_labels() -> None:
    seen = []

    def longer(left: dict[str, str], right: dict[str, str]) -> str:
        seen.append((left, right))
        return "left" if len(left["text"]) > len(right["text"]) else "right"

    texts = {"x": {"text": "one"}, "y": {"text": "three"}, "z": {"text": "thirteen"}}
    with begun(texts, {"u": longer}, terms(list(texts), budget=3)) as study:
        conducted(study, Display())
        assert len(study.journal.history.answers) == 3
    assert all(one in texts.values() and other in texts.values() for one, other in seen)


MALFORMED = ["LEFT!", "", 1, True, b"left", ("left",), ("left", -1.0), ("left", "free"),
             ("left", float("nan")), ("left", True), {"winner": "left"}, object(), "x" * 10**7,
             np.array(["left"])]  # fmt: skip


@pytest.mark.parametrize("value", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_answers_are_shown_in_short_and_never_counted(
    value: Any, no_waiting: list[float]
) -> None:
    bad = Judge("bad", lambda _left, _right: value, retries=1)
    history, _, said = conduct([bad, Judge("good", by_name)], budget=10, most_failures=2)
    assert {row[1] for row in rows(history)} == {"good"}
    assert len(history.answers) == 10
    called = [one for one in history.failures if one.attempt]
    assert len(called) == 4
    assert all("is none of 'left', 'right', 'tie'" in one.reason for one in called)
    assert all(len(one.reason) < 300 for one in history.failures)
    assert said[0].startswith("2 questions failed and are no votes: bad 2, and was set aside")


class Unshowable:
    @property
    def outcome(self) -> str:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_an_answer_that_cannot_even_be_shown_is_a_failure(no_waiting: list[float]) -> None:
    bad = Judge("bad", lambda _left, _right: Unshowable(), retries=0)
    history, _, _ = conduct([bad, Judge("good", by_name)], budget=5)
    assert "Unshowable" in history.failures[0].reason


# --- bad calls -----------------------------------------------------------------------------------

FINE: dict[str, Any] = {"items": ["a", "b"], "judges": {"u": by_name}}


def test_money_that_pays_no_question_is_said_to_be_too_little() -> None:
    judges = [Judge("dear", by_name, cost=2.0), Judge("cheap", by_name, cost=1.0)]
    with pytest.raises(
        InputError, match=r"spend=0\.05 does not pay .*: the cheapest .*, cheap, costs 1"
    ):
        run(["a", "b", "c"], judges, budget=3, spend=0.05, progress=False)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"items": []}, "nothing to compare in 0 items"),
        ({"items": ["a"]}, "nothing to compare in 1 item"),
        ({"items": "ab"}, "items must be a list of labels"),
        ({"items": 3}, "items must be a list of labels"),
        ({"items": ["a", "a", "b"]}, "Items occur more than once: a"),
        ({"items": ["a", 1]}, "Some labels of items are numbers"),
        ({"items": ["a", " "]}, "labelled ' '"),
        ({"items": ["a", None]}, "labelled None"),
        ({"items": ["a", "\ud83d"]}, "labelled '\\ud83d'"),
        ({"items": [1, 2**63]}, "labelled 9223372036854775808"),
        ({"judges": []}, "There are no judges"),
        ({"judges": {}}, "There are no judges"),
        ({"judges": by_name}, "judges must be a mapping"),
        ({"judges": [by_name]}, "judges must be a mapping"),
        ({"judges": {"u": Judge("u", by_name)}}, "give a list of jr.Judge"),
        ({"judges": {"u": "gpt-4"}}, "The judge 'u' is a str, which cannot be called"),
        ({"judges": {"": by_name}}, "A judge needs a name"),
        ({"judges": [Judge("u", by_name)] * 2}, "occur more than once: u"),
        ({"budget": 0}, "budget=0 must be a whole number"),
        ({"budget": 2.5}, "budget=2.5 must be a whole number"),
        ({"budget": None}, "How many votes may be asked for"),
        ({"spend": 0}, "spend=0 must be a positive"),
        ({"spend": 1.0}, "did not say: jr.Judge(name, call, cost=0.01)"),
        ({"budget": None, "spend": 1.0, "judges": [Judge("u", by_name, cost=0)]}, "for ever"),
        ({"batch": 0}, "batch=0 must be"),
        ({"concurrency": 0}, "concurrency=0 must be"),
        ({"most_failures": None}, "most_failures=None must be"),
        ({"seed": -1}, "seed=-1 must not be negative"),
    ],
)
def test_calls_that_make_no_sense_are_refused(
    changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    log = tmp_path / "run.jsonl"
    arguments = FINE | {"budget": 5, "log": log} | changed
    with pytest.raises(InputError) as caught:
        begun(
            arguments.pop("items"), arguments.pop("judges"), terms(["a", "b"], **arguments)
        ).__enter__()
    assert said in str(caught.value)
    assert not log.exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cost": -1}, "cost=-1"),
        ({"cost": float("inf")}, "cost=inf"),
        ({"cost": 1e-320}, "from 1e-09 to 1e+12"),
        ({"most": 0}, "most=0"),
        ({"concurrency": 1.5}, "concurrency=1.5"),
        ({"timeout": 0}, "timeout=0; it must be positive"),
        ({"retries": -1}, "retries=-1"),
        ({"retries": None}, "retries=None"),
        ({"wait": None}, "wait=None"),
        ({"prompt": True, "concurrency": 2}, "one question at a time"),
        ({"prompt": True, "call": by_name_async}, "must be sync"),
    ],
)
def test_settings_of_judges_that_make_no_sense_are_refused(
    changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        Judge("u", **({"call": by_name} | changed))
    assert "The judge 'u'" in str(caught.value)
    assert said in str(caught.value)


def test_a_judge_shows_what_is_unusual_about_it() -> None:
    assert repr(Judge("u", by_name, cost=0.5, retries=1)) == "Judge('u', cost=0.5, retries=1)"
