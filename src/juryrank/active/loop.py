"""The loop: choose a batch of questions, ask all of them in parallel, look at the votes, again.

The next batch is chosen when all questions of this one have ended, and by nothing but the votes in
the order of their questions, the failures and refusals, and the seed: in which order answers arrive
makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from juryrank.active.asking import NOT_CALLED, Asking
from juryrank.active.journal import Journal
from juryrank.active.judge import Judge
from juryrank.active.judge_calls import CallFailed, Prompt, in_thread
from juryrank.active.loop_policy import Barred, Known, NoQuestionLeft, Policy, Taker
from juryrank.active.spending import NOTHING, Purse
from juryrank.errors import counted, listing
from juryrank.progress import Progress, Watcher
from juryrank.reading.run_log import Label, Question

GROWTH = 10
"""Batches grow with the votes, by one question for so many of them."""
SETTLED = "The target is settled."
NO_VOTES_LEFT = "There are as many answers as were asked for."
NO_MONEY_LEFT = "No money is left for another question."
NO_JUDGES_LEFT = "No judge is left."
EXPECTED = (SETTLED, NO_VOTES_LEFT, NO_MONEY_LEFT)
"""Ends of the loop that need no words."""


@dataclass(frozen=True)
class Study:
    """What is asked, of whom, and until when."""

    contents: Mapping[Label, Any]
    """What judges see of each item."""
    judges: Mapping[str, Judge]
    journal: Journal
    purse: Purse
    policy: Policy
    seed: int = 0
    stop_when_settled: bool = True
    batch: int | None = None
    concurrency: int | None = None
    most_failures: int = 5


@dataclass(frozen=True)
class Ended:
    """How the loop ended."""

    known: Known
    reason: str
    aside: tuple[str, ...]
    """Judges who were not asked any more."""
    last_error: CallFailed | None


async def conduct(study: Study, tell: Watcher, prompt: Prompt | None = None) -> Ended:
    """Ask until something ends it; what was out when the log was last written comes first."""
    loop = _Loop(study, tell, prompt)
    await loop.finish_what_is_out()
    while not loop.reason:
        await loop.go_round()
    study.journal.write({"kind": "stopped", "reason": loop.reason})
    asking = loop.asking
    return Ended(loop.known, loop.reason, tuple(sorted(asking.aside)), asking.last_error)


class _Loop:
    def __init__(self, study: Study, tell: Watcher, prompt: Prompt | None) -> None:
        self.study = study
        self.known = Known()
        self.reason = ""
        """Why no more is asked."""
        self._tell = tell
        self.asking = Asking(
            study.judges, study.contents, study.journal, study.purse, seed=study.seed,
            most_failures=study.most_failures, concurrency=study.concurrency, prompt=prompt,
            tell=self._tell_all,
        )  # fmt: skip

    async def finish_what_is_out(self) -> None:
        """Ask what has no answer yet, under the old numbers; a smaller budget may leave some."""
        study, history = self.study, self.study.journal.history
        out = [history.out[at] for at in sorted(history.out)]
        if not out:
            return
        study.journal.write(
            {"kind": "resumed", "out": [one.id for one in out], "cost": float(self._lost(out))}
        )
        if study.purse.votes is not None:
            out = out[: max(study.purse.votes - len(history.answers), 0)]
        await self.asking.ask(out)

    def _lost(self, out: Sequence[Question]) -> Decimal:
        """What the calls that were out may have cost: as many of each judge's as could be out."""
        total = NOTHING
        for name, judge in self.study.judges.items():
            calls = sum(one.judge == name for one in out)
            total += min(calls, judge.at_once) * self.study.purse.price(name)
        return total

    async def go_round(self) -> None:
        """Look at the votes, and ask what they suggest; or find a reason not to."""
        study, history = self.study, self.study.journal.history
        votes = history.votes()
        self.known = await in_thread(lambda: study.policy.look(votes))
        self._tell_all()
        takers = self._takers()
        self.reason = self._reason_to_stop(takers)
        if self.reason:
            return
        known, n, barred, seed = self.known, self._batch(), self._barred(), self._round_seed()
        try:
            chosen = await in_thread(lambda: study.policy.choose(known, n, takers, barred, seed))
        except NoQuestionLeft as error:
            self.reason = str(error)
            return
        questions = self._paid(chosen.head(n))
        begin = {"kind": "round", "round": history.rounds + 1, "questions": len(questions)}
        study.journal.write(begin, *({"kind": "question", **asdict(one)} for one in questions))
        await self.asking.ask(questions)

    def _reason_to_stop(self, takers: Mapping[str, Taker]) -> str:
        study = self.study
        if study.stop_when_settled and self.known.settled:
            return SETTLED
        if study.purse.votes_left == 0:
            return NO_VOTES_LEFT
        if takers:
            return ""
        return NO_MONEY_LEFT if self._askable() else NO_JUDGES_LEFT

    def _askable(self) -> dict[str, int]:
        """The judges who can be asked, each with how many questions it may still get."""
        study, history = self.study, self.study.journal.history
        asked = dict.fromkeys(study.judges, 0)
        for question in history.answers:
            asked[history.questions[question].judge] += 1
        batch = self._batch()
        left = {
            name: batch if judge.most is None else min(judge.most - asked[name], batch)
            for name, judge in study.judges.items()
            if name not in self.asking.aside
        }
        return {name: most for name, most in left.items() if most > 0}

    def _takers(self) -> dict[str, Taker]:
        purse, takers = self.study.purse, {}
        for name, most in self._askable().items():
            affordable = purse.affordable(name)
            number = most if affordable is None else min(most, affordable)
            if number:
                takers[name] = Taker(number, purse.burden(name))
        return takers

    def _batch(self) -> int:
        """How many questions the next round has: enough for all judges, and not too few of them.

        A round costs a fit, and an answer more changes little where there are many.
        """
        study = self.study
        answers, left = len(study.journal.history.answers), study.purse.votes_left
        slots = sum(one.at_once for one in study.judges.values() if not self._is_aside(one))
        batch = study.batch or max(slots, ceil(len(study.contents) / 2), answers // GROWTH)
        return batch if left is None else min(batch, left)

    def _is_aside(self, judge: Judge) -> bool:
        return judge.name in self.asking.aside

    def _barred(self) -> list[Barred]:
        """What judges refused, or failed at."""
        history = self.study.journal.history
        failed = [
            history.questions[one.id]
            for one in history.failures
            if one.given_up and one.attempt != NOT_CALLED
        ]
        return [Barred(one.judge, one.left, one.right) for one in (*history.refusals(), *failed)]

    def _round_seed(self) -> int:
        """A seed of its own for each round."""
        entropy = [self.study.seed, self.study.journal.history.rounds]
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])

    def _paid(self, chosen: pl.DataFrame) -> list[Question]:
        """Those of the chosen questions that can all be paid for, numbered."""
        study, history = self.study, self.study.journal.history
        left, first = study.purse.money_left, len(history.questions) + 1
        questions: list[Question] = []
        for row in chosen.iter_rows(named=True):
            price = study.purse.price(row["judge"])
            if left is not None and price > left:
                continue
            left = None if left is None else left - price
            questions.append(
                Question(
                    first + len(questions), history.rounds + 1, row["judge"], row["left"],
                    row["right"], row["chosen"], row["propensity"], row["gain"],
                )
            )  # fmt: skip
        return questions

    def _tell_all(self) -> None:
        """Tell how far it is: votes, money, who is ahead, what is settled."""
        study, history = self.study, self.study.journal.history
        said = [counted(len(history.answers), "answer")]
        if history.spent:
            limit = "" if study.purse.money is None else f" of {study.purse.money}"
            said.append(f"cost {float(history.spent):.6g}{limit}")
        if self.known.leaders:
            said.append(f"ahead: {listing(self.known.leaders, 3)}")
        if self.known.ranking is not None:
            said.append(f"{self.known.share:.0%} settled")
        if self.asking.aside:
            said.append(f"set aside: {listing(sorted(self.asking.aside), 3)}")
        done, total = len(history.answers), study.purse.votes
        self._tell(Progress("asking", ", ".join(said), done, total))
