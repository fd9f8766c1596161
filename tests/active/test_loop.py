"""The loop: what counts, what is paid, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_help import ITEMS, PAIRS, RandomPairs, by_name, by_name_async, conduct, rows, terms

from juryrank.active.display import Display, display_of
from juryrank.active.journal import open_journal
from juryrank.active.judge import Judge
from juryrank.active.loop import Ended, Study
from juryrank.active.running import begun, conducted, conducted_here
from juryrank.active.spending import Purse
from juryrank.progress import Progress

# --- failures ------------------------------------------------------------------------------------


class Odd(BaseException):
    pass


class WordlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


async def cancelled(_left: str, _right: str) -> str:
    raise asyncio.CancelledError


def raising(error: BaseException) -> Callable[..., Any]:
    def call(_left: str, _right: str) -> Any:
        raise error

    return call


def async_raising(error: BaseException) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def call(_left: str, _right: str) -> Any:
        raise error

    return call


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (raising(ValueError("no " * 1000)), "ValueError: no no"),
        (raising(StopIteration()), "StopIteration"),
        (raising(Odd("odd")), "Odd: odd"),
        (raising(WordlessError()), "WordlessError"),
        (async_raising(ConnectionError("reset")), "ConnectionError: reset"),
        (async_raising(Odd("odd")), "Odd: odd"),
        (cancelled, "CancelledError"),
    ],
)
def test_a_judge_that_fails_is_reported_and_never_counted(
    call: Callable[..., Any], reason: str, no_waiting: list[float]
) -> None:
    bad = Judge("bad", call, retries=2, concurrency=1)
    history, ended, said = conduct([bad, Judge("good", by_name)], budget=PAIRS, most_failures=3)
    assert {row[1] for row in rows(history)} == {"good"}
    assert len(history.answers) == PAIRS
    tried = [one for one in history.failures if one.attempt]
    assert [one.attempt for one in tried] == [1, 2, 3] * 3
    assert all(one.reason.startswith(reason) for one in tried)
    assert ended.aside == ("bad",)
    assert reason in said[0]


def test_nobody_left_ends_the_loop(no_waiting: list[float]) -> None:
    _, ended, said = conduct({"u": raising(OSError("gone"))}, most_failures=2)
    assert ended.reason == "No judge is left."
    assert said[0] == "No more was asked. No judge is left."
    assert isinstance(ended.last_error, Exception)
    assert isinstance(ended.last_error.__cause__, OSError)


def test_failed_calls_are_repeated_after_ever_longer_waits(no_waiting: list[float]) -> None:
    failed: Counter[tuple[str, str]] = Counter()

    def unsteady(left: str, right: str) -> str:
        failed[left, right] += 1
        if failed[left, right] <= 3:
            raise TimeoutError
        return by_name(left, right)

    judge = Judge("u", unsteady, retries=3, wait=8.0)
    first, _, said = conduct([judge], budget=4)
    assert [one.attempt for one in first.answers.values()] == [4] * 4
    assert not any("failed" in one for one in said)
    waited = np.array(no_waiting).reshape(4, 3)
    assert (waited >= np.array([4.0, 8.0, 16.0])).all()
    assert (waited < np.array([12.0, 24.0, 48.0])).all()
    assert len(np.unique(waited)) == 12
    failed.clear()
    conduct([judge], budget=4)
    assert no_waiting[12:] == no_waiting[:12]
    no_waiting.clear()
    failed.clear()
    conduct([Judge("u", unsteady, retries=3, wait=1000.0)], budget=1)
    assert max(no_waiting) < 90.0


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_hangs_is_given_up(is_async: bool, no_waiting: list[float]) -> None:
    end = threading.Event()

    def hang(_left: str, _right: str) -> str:
        end.wait()
        return "left"

    async def hang_and_refuse_to_be_cancelled(_left: str, _right: str) -> str:
        while not end.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return "left"

    call = hang_and_refuse_to_be_cancelled if is_async else hang
    slow = Judge("slow", call, timeout=0.01, retries=1, concurrency=1)
    try:
        history, _, _ = conduct([slow, Judge("good", by_name)], budget=8, most_failures=2)
    finally:
        end.set()
    assert {row[1] for row in rows(history)} == {"good"}
    assert {one.reason for one in history.failures if one.attempt} == {"no answer within 0.01 s"}


def test_failures_that_are_not_in_a_row_set_nobody_aside(no_waiting: list[float]) -> None:
    calls = iter(range(1000))

    def unsteady(left: str, right: str) -> str:
        if next(calls) % 3:
            raise OSError
        return by_name(left, right)

    judge = Judge("u", unsteady, retries=0)
    history, ended, _ = conduct([judge], budget=5, most_failures=3)
    assert (len(history.answers), ended.aside) == (5, ())
    asked = [(one.judge, frozenset((one.left, one.right))) for one in history.questions.values()]
    assert len(set(asked)) == len(asked), "a question that failed came again"


# --- refusals, ends ------------------------------------------------------------------------------


def test_refusals_count_for_the_budget_and_are_no_votes() -> None:
    def shy(left: str, right: str) -> str | None:
        return None if "b" in (left, right) else by_name(left, right)

    history, ended, said = conduct({"u": shy}, budget=PAIRS)
    assert (len(history.answers), len(rows(history))) == (PAIRS, 10)
    assert ended.reason == "There are as many answers as were asked for."
    assert said[0] == "5 refusals, which are no votes: u 5."
    assert said[1] == "Items that are in no vote, and so not in the ranking: b."


def test_the_loop_ends_when_the_target_is_settled_unless_it_is_to_go_on() -> None:
    policy = RandomPairs(ITEMS, settled_after=7)
    history, ended, said = conduct({"u": by_name}, budget=PAIRS, policy=policy, batch=2)
    assert (len(history.answers), ended.reason, said) == (8, "The target is settled.", [])
    history, ended, _ = conduct(
        {"u": by_name}, budget=PAIRS, policy=policy, batch=2, stop_when_settled=False
    )
    assert len(history.answers) == PAIRS


def test_the_loop_ends_when_no_pair_is_left_and_says_so() -> None:
    history, ended, said = conduct({"u": by_name}, budget=100)
    assert (len(history.answers), len(said)) == (PAIRS, 1)
    assert ended.reason == "Every pair was asked."


def test_a_judge_gets_at_most_as_many_questions_as_it_takes() -> None:
    judges = [Judge("few", by_name, most=3), Judge("u", by_name)]
    history, _, _ = conduct(judges, budget=12)
    assert Counter(row[1] for row in rows(history))["few"] <= 3
    history, ended, _ = conduct(judges[:1], budget=12)
    assert (len(history.answers), ended.reason) == (3, "No judge is left.")


# --- at the same time ----------------------------------------------------------------------------


class Watched:
    """A judge that notes how many of its calls are out at the same time."""

    def __init__(self, everyone: Watched | None = None) -> None:
        self.out = self.most = 0
        self.everyone = everyone
        self._lock = threading.Lock()

    def change(self, step: int) -> None:
        with self._lock:
            self.out += step
            self.most = max(self.most, self.out)
        if self.everyone:
            self.everyone.change(step)

    def __call__(self, left: str, right: str) -> str:
        self.change(1)
        time.sleep(0.002)
        self.change(-1)
        return by_name(left, right)


def test_no_more_calls_are_out_than_judges_and_the_user_allow() -> None:
    everyone = Watched()
    one, two = Watched(everyone), Watched(everyone)
    judges = [Judge("u", one, concurrency=3), Judge("v", two)]
    conduct(judges, budget=2 * PAIRS, batch=PAIRS)
    assert (two.most, one.most <= 3, everyone.most <= 4) == (1, True, True)
    everyone.most = 0
    conduct(judges, budget=2 * PAIRS, batch=PAIRS, concurrency=2)
    assert everyone.most <= 2


@settings(max_examples=8, deadline=None)
@given(st.lists(st.floats(0.0, 0.003), min_size=7, max_size=7), st.integers(1, 5))
def test_in_which_order_answers_arrive_makes_no_difference(
    delays: list[float], concurrency: int
) -> None:
    def slow(left: str, right: str) -> str:
        time.sleep(delays[hash((left, right)) % 7])
        return by_name(left, right)

    async def slow_async(left: str, right: str) -> str:
        await asyncio.sleep(delays[hash((right, left)) % 7])
        return by_name(left, right)

    judges = [Judge("u", slow, concurrency=concurrency), Judge("v", slow_async)]
    at_once, _, _ = conduct({"u": by_name, "v": by_name}, budget=22, batch=6, seed=3)
    found, _, _ = conduct(judges, budget=22, batch=6, seed=3)
    assert rows(found) == rows(at_once)
    other, _, _ = conduct({"u": by_name, "v": by_name}, budget=22, batch=6, seed=4)
    assert rows(other) != rows(at_once)


# --- budgets -------------------------------------------------------------------------------------


class Bank:
    """Counts what calls really cost, at the moment at which they are made."""

    def __init__(self) -> None:
        self.cents = 0
        self._lock = threading.Lock()

    def judge(self, cents: int, ways: list[str]) -> Callable[..., Any]:
        calls = iter(ways * 1000)

        def call(left: str, right: str) -> Any:
            with self._lock:
                way = next(calls)
            if way == "raise":
                raise OSError
            with self._lock:
                self.cents += cents
            return {"answer": by_name(left, right), "refuse": None, "malformed": 7,
                    "told": (by_name(left, right), cents / 100)}[way]  # fmt: skip

        return call


WAYS = st.lists(st.sampled_from(["answer", "refuse", "malformed", "told", "raise"]), min_size=1)


@settings(max_examples=25, deadline=None)
@given(
    spend=st.integers(1, 60), budget=st.integers(1, 30), cents=st.tuples(*[st.integers(1, 9)] * 3),
    ways=st.tuples(WAYS, WAYS, WAYS), concurrency=st.integers(1, 4), batch=st.integers(1, 9),
)  # fmt: skip
def test_budgets_are_never_exceeded(
    spend: int,
    budget: int,
    cents: tuple[int, ...],
    ways: tuple[list[str], ...],
    concurrency: int,
    batch: int,
) -> None:
    """Whatever judges do, calls cost no more than allowed, and the journal knows what they cost."""
    bank = Bank()
    judges = [
        Judge(f"u{at}", bank.judge(cost, own), cost / 100, concurrency=concurrency, retries=2,
              wait=0.0)
        for at, (cost, own) in enumerate(zip(cents, ways, strict=True))
    ]  # fmt: skip
    history, ended, _ = conduct(judges, budget=budget, spend=spend / 100, batch=batch)
    assert bank.cents <= spend
    assert len(history.answers) <= budget
    assert history.spent * 100 == bank.cents
    assert not history.out
    assert ended.reason


def test_money_is_spent_to_the_last_cent() -> None:
    judge = Judge("u", by_name, cost=0.1)
    history, ended, _ = conduct([judge], budget=None, spend=0.3)
    assert (len(history.answers), str(history.spent)) == (3, "0.3")
    assert ended.reason == "No money is left for another question."


def test_what_an_answer_takes_is_a_share_of_what_is_left() -> None:
    judges = {"dear": Judge("dear", by_name, 0.5), "cheap": Judge("cheap", by_name, 0.1)}
    history = open_journal(None, {}).history
    both = Purse(judges, history, 10, Decimal(5))
    assert [both.burden(name) for name in judges] == pytest.approx([0.2, 0.12])
    votes = Purse(judges, history, 10)
    assert votes.burden("dear") == votes.burden("cheap")
    money = Purse(judges, history, None, Decimal(5))
    assert money.burden("dear") == pytest.approx(5 * money.burden("cheap"))


def test_answers_that_cost_more_than_they_should_are_reported() -> None:
    dear = Judge("dear", lambda left, right: (by_name(left, right), 0.5), cost=0.1)
    history, _, said = conduct([dear], budget=None, spend=1.0, batch=3)
    assert float(history.spent) == 1.5
    assert "The cost is 1.5, above the limit of 1.0" in said[-1]


# --- surroundings --------------------------------------------------------------------------------


def test_it_works_inside_a_running_event_loop() -> None:
    async def in_a_loop() -> tuple[int, int]:
        history, _, _ = conduct({"u": by_name_async, "v": by_name}, budget=10)
        loop = asyncio.get_running_loop()

        async def in_this_loop(left: str, right: str) -> str:
            assert asyncio.get_running_loop() is loop
            return by_name(left, right)

        judges = {"u": in_this_loop, "v": by_name}
        with begun(ITEMS, judges, terms(ITEMS, budget=10)) as study:
            await conducted_here(study, Display())
            return len(history.answers), len(study.journal.history.answers)

    assert asyncio.run(in_a_loop()) == (10, 10)


@pytest.mark.parametrize("make", [raising, async_raising])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_judge_stops_everything(
    make: Callable[..., Any], kind: type[BaseException], tmp_path: Path
) -> None:
    log = tmp_path / "run.jsonl"
    with pytest.raises(kind):
        conduct({"u": make(kind()), "v": by_name}, log=log)
    history, _, _ = conduct({"u": by_name, "v": by_name}, log=log)
    assert len(history.answers) == 20


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_ends_it_at_once_whatever_judges_do(tmp_path: Path) -> None:
    log, end = tmp_path / "run.jsonl", threading.Event()

    def hang_at_fourth(left: str, right: str) -> str:
        calls.append((left, right))
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)
            end.wait()
        return by_name(left, right)

    calls: list[tuple[str, str]] = []
    try:
        with pytest.raises(KeyboardInterrupt):
            conduct([Judge("u", hang_at_fourth, timeout=None)], log=log, budget=PAIRS)
        before = log.read_bytes()
    finally:
        end.set()
    history, _, said = conduct({"u": by_name}, log=log, budget=PAIRS)
    assert (before.count(b'"answer"'), len(history.answers)) == (3, PAIRS)
    assert not said
    assert log.read_bytes().startswith(before)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals between threads")
def test_ctrl_c_ends_a_question_at_the_prompt() -> None:
    """Before the answer is typed: polars makes the system go on reading after an interrupt."""
    terminal, keyboard = os.pipe()
    too_late = threading.Timer(20.0, os.close, (keyboard,))
    me = threading.current_thread().ident
    assert me is not None

    def person(_left: str, _right: str) -> str:
        threading.Timer(0.05, signal.pthread_kill, (me, signal.SIGINT)).start()
        return os.read(terminal, 4).decode()

    too_late.start()
    with pytest.raises(KeyboardInterrupt):
        conduct([Judge("me", person, prompt=True)])
    assert too_late.is_alive()
    too_late.cancel()
    os.close(terminal)
    os.close(keyboard)


def test_a_run_that_is_cancelled_leaves_a_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"

    async def cancel_at_third(left: str, right: str) -> str:
        calls.append((left, right))
        if len(calls) == 3:
            tasks[0].cancel()
            await asyncio.sleep(100)
        return by_name(left, right)

    async def main() -> None:
        judges = [Judge("u", cancel_at_third, concurrency=1)]
        with begun(ITEMS, judges, terms(ITEMS, log=log)) as study:
            tasks.append(asyncio.create_task(_conducted(study)))
            await tasks[0]

    calls: list[tuple[str, str]] = []
    tasks: list[asyncio.Task[Ended]] = []
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    history, _, said = conduct({"u": by_name}, log=log, budget=PAIRS)
    assert (len(history.answers), len(said)) == (PAIRS, 0)


async def _conducted(study: Study) -> Ended:
    return await conducted_here(study, Display())


def test_somebody_at_a_prompt_is_asked_in_the_calling_thread() -> None:
    threads = set()

    def person(left: str, right: str) -> str:
        threads.add(threading.current_thread())
        return by_name(left, right)

    history, _, _ = conduct([Judge("me", person, prompt=True), Judge("u", by_name)], budget=12)
    assert len(history.answers) == 12
    assert threads == {threading.current_thread()}


def test_progress_is_told_to_a_function() -> None:
    events: list[Progress] = []
    display = display_of(events.append)
    judges = [Judge("u", by_name, cost=0.25)]
    with begun(ITEMS, judges, terms(ITEMS, budget=6, spend=9)) as study:
        conducted(study, display)
    assert {one.stage for one in events} == {"asking"}
    assert (events[-1].done, events[-1].total) == (6, 6)
    assert events[-1].text == "6 answers, cost 1.5 of 9"


def test_nothing_is_shown_in_a_pipe_unless_it_takes_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with begun(ITEMS, {"u": by_name}, terms(ITEMS, budget=6)) as study:
        conducted(study, display_of(True))
    assert capsys.readouterr() == ("", "")


def test_the_order_of_items_and_judges_decides_nothing(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    first, _, _ = conduct({"u": by_name, "v": by_name}, log=log, budget=8)
    backwards = {"v": by_name, "u": by_name}
    with begun(ITEMS[::-1], backwards, terms(sorted(ITEMS), log=log, budget=8)) as study:
        assert rows(study.journal.history) == rows(first)
    assert isinstance(first.votes(), pl.DataFrame)
