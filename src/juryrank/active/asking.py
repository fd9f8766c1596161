"""Asking the questions of a round, all judges at the same time, until each has ended somehow."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from itertools import count
from typing import Any

from juryrank.active.journal import Journal
from juryrank.active.judge import Judge
from juryrank.active.judge_calls import CallFailed, Prompt, reply_from, waiting_time
from juryrank.active.replies import Reply
from juryrank.active.spending import NOTHING, Purse
from juryrank.reading.run_log import REFUSED, Answer, Failure, Label, Question

NOT_CALLED = 0
"""The attempt at a question that was given up before."""
SET_ASIDE = "not asked: the judge was set aside before"
NO_MONEY = "not asked: no money is left"


wait = asyncio.sleep
"""How it is waited between two attempts."""


class Asking:
    """Asks questions, and writes down what comes of each before it counts."""

    def __init__(
        self,
        judges: Mapping[str, Judge],
        contents: Mapping[Label, Any],
        journal: Journal,
        purse: Purse,
        *,
        seed: int = 0,
        most_failures: int = 5,
        concurrency: int | None = None,
        prompt: Prompt | None = None,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        self.aside: set[str] = set()
        """Judges who failed too often in a row, and are not asked any more."""
        self.last_error: CallFailed | None = None
        self._judges = judges
        self._contents = contents
        self._journal = journal
        self._purse = purse
        self._seed = seed
        self._most_failures = most_failures
        self._prompt = prompt
        self._tell = tell
        self._failed_in_a_row = dict.fromkeys(judges, 0)
        self._slots = {name: asyncio.Semaphore(one.at_once) for name, one in judges.items()}
        self._in_all = asyncio.Semaphore(concurrency or sys.maxsize)

    async def ask(self, questions: Sequence[Question]) -> None:
        """Ask all of them; when this returns, each has an answer or was given up."""
        paid = [(one, price) for one, price in self._paid(questions)]
        try:
            async with asyncio.TaskGroup() as group:
                for question, price in paid:
                    group.create_task(self._one(question, price))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    def _paid(self, questions: Sequence[Question]) -> Iterator[tuple[Question, Decimal]]:
        """Set the price of each first call aside, before any repetition can take the money."""
        for question in questions:
            price = self._purse.price(question.judge)
            if self._purse.set_aside(price):
                yield question, price
            else:
                self._fail(question, NO_MONEY, NOTHING, NOT_CALLED, given_up=True)

    async def _one(self, question: Question, price: Decimal) -> None:
        judge = self._judges[question.judge]
        try:
            async with self._slots[judge.name]:
                await self._attempts(judge, question, price)
        finally:
            self._purse.give_back(price)
        self._tell()

    async def _attempts(self, judge: Judge, question: Question, price: Decimal) -> None:
        for attempt in count(1):
            if judge.name in self.aside:
                self._fail(question, SET_ASIDE, NOTHING, NOT_CALLED, given_up=True)
                return
            begun = time.monotonic()
            try:
                reply = await self._call(judge, question)
            except CallFailed as error:
                cost = price if error.may_cost else NOTHING
                is_last = attempt > judge.retries or not self._can_repeat(cost)
                self.last_error = error
                self._fail(question, str(error), cost, attempt, given_up=is_last)
                if is_last:
                    self._count_failure(judge)
                    return
                await wait(waiting_time(judge, attempt, self._seed, question.id))
            else:
                self._answer(question, reply, attempt, time.monotonic() - begun)
                return

    def _can_repeat(self, cost: Decimal) -> bool:
        """Whether there is money for another call, now that one more has cost something."""
        left = self._purse.money_left
        return left is None or cost <= left

    async def _call(self, judge: Judge, question: Question) -> Reply:
        left, right = (self._contents[label] for label in (question.left, question.right))
        async with self._in_all:
            return await reply_from(judge, left, right, self._prompt)

    def _answer(self, question: Question, reply: Reply, attempt: int, seconds: float) -> None:
        judge = self._judges[question.judge]
        cost = reply.cost if reply.cost is not None else judge.cost or 0.0
        outcome = reply.outcome or REFUSED
        answer = Answer(question.id, outcome, cost, attempt, round(seconds, 3))
        self._journal.write({"kind": "answer", **asdict(answer)})
        self._purse.note(answer)
        self._failed_in_a_row[judge.name] = 0

    def _fail(
        self, question: Question, reason: str, cost: Decimal, attempt: int, *, given_up: bool
    ) -> None:
        failure = Failure(question.id, reason, float(cost), attempt, given_up)
        self._journal.write({"kind": "failure", **asdict(failure)})

    def _count_failure(self, judge: Judge) -> None:
        self._failed_in_a_row[judge.name] += 1
        if self._failed_in_a_row[judge.name] >= self._most_failures:
            self.aside.add(judge.name)
