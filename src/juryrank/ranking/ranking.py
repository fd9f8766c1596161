"""`Ranking`: the answer of the library. Labels come back here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from juryrank.errors import InputError, counted, percent
from juryrank.inference.intervals import Difference, difference
from juryrank.inference.posterior import Posterior
from juryrank.inference.prediction import UNSEEN
from juryrank.model.noise import Noise
from juryrank.model.points import (
    AVERAGE_POINTS,
    MODEL_SCALE,
    Anchor,
    Scale,
    check_anchor,
    check_scale,
    elo_unit,
)
from juryrank.model.registry import DEFAULT_SOLVER
from juryrank.ranking.basis import Basis
from juryrank.ranking.fit import Fit
from juryrank.ranking.frames import StandardErrors, misfit_frame
from juryrank.ranking.labels import Codes, Labels, is_sequence
from juryrank.ranking.misfit import Misfit, residuals
from juryrank.ranking.reliability import Halves, Reliability, separation
from juryrank.text import WIDEST_NAME, short
from juryrank.types import Floats
from juryrank.votes.lists import Lists
from juryrank.votes.votes import Reading, Votes
from juryrank.writing.html_table import html_table
from juryrank.writing.json_text import json_text
from juryrank.writing.save import save_answer

if TYPE_CHECKING:
    from juryrank.active.plan import Plan
    from juryrank.active.questions import Wishes
    from juryrank.active.settled import Settled
    from juryrank.charts.plots import Plots
    from juryrank.votes.tallies import Agreement, Tallies

SHOWN = 10


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items and judges, best first.

    `items` has the columns rank, item, score, score_low, score_high, rank_low, rank_high, p_best
    (the chance to be the best) and tier (items of one tier cannot be told from its first);
    `judges` has judge, accuracy, accuracy_low, accuracy_high, votes, verdict and reason. `effects`
    has what else was estimated: effect, judge (null for all judges), value, low, high and chance
    (how often two equal items are tied, or the left one of them wins if they are not). The scores
    are on the model's own scale, unless `scaled` has put them on another, which `scale` tells.
    Where groups of items were never compared with each other, `items` begins with the column group,
    the largest first, and scores, ranks, tiers and chances are those within a group.
    """

    model: str
    items: pl.DataFrame
    judges: pl.DataFrame
    effects: pl.DataFrame
    fit: Fit
    warnings: tuple[str, ...]
    call: str
    """What was asked for, as Python writes it."""
    _basis: Basis = field(repr=False)
    _errors: StandardErrors = field(repr=False)
    """On the model's own scale."""
    scale: Scale = MODEL_SCALE
    _unscaled: pl.DataFrame | None = field(repr=False, default=None)
    """The items on the model's own scale, if `items` are on another."""

    def scaled(self, scale: str = "elo", anchor: Anchor | None = None) -> Ranking:
        """The same answer with its scores on another scale.

        On the scale "elo" 400 points are odds of ten to one for an average judge (with Gumbel
        noise; with others, the win probability is as steep at even odds), and the average item has
        1,000. Score, score_low, score_high and what `difference` gives are then points; ranks,
        tiers, chances and p-values stay what they are.

        Args:
            scale: "elo", or "model" for the scale of the model.
            anchor: An item and the points it is to have: ``("gpt-4", 1200)``. All others move with
                it; the intervals are still those of the score against the average item.
        """
        check_scale(scale, self._basis.model, anchor)
        own = self._model_items
        if scale == "model":
            return replace(self, items=own, scale=MODEL_SCALE, _unscaled=None)
        unit, average = elo_unit(self.noise), AVERAGE_POINTS
        if anchor is not None:
            anchor = check_anchor(anchor, own["item"].to_list())
            code = self._item_labels.codes([anchor[0]])[0]
            average = anchor[1] - unit * float(self._basis.points.score[code])
        columns = pl.col("score", "score_low", "score_high")
        return replace(
            self,
            items=own.with_columns(columns * unit + average),
            scale=Scale("elo", unit, average, anchor),
            _unscaled=own,
        )

    @property
    def _model_items(self) -> pl.DataFrame:
        return self.items if self._unscaled is None else self._unscaled

    @property
    def _posterior(self) -> Posterior | None:
        return self._basis.posterior

    @cached_property
    def standard_errors(self) -> StandardErrors:
        """The standard errors of scores, on the scale of `items`, and of accuracies."""
        error = pl.col("standard_error") * self.scale.unit
        return replace(self._errors, items=self._errors.items.with_columns(error))

    def difference(self, item: object, other: object) -> Difference:
        """How much better `item` is than `other`, with an interval and a p-value."""
        if self._posterior is None:
            raise InputError(
                "This answer has no errors to compare with. CrowdBT, CrowdTCV and Algorithm 1 have "
                "them with intervals='bootstrap' (--intervals bootstrap), hbtl and the like unless "
                "they were turned off."
            )
        i, j = self._item_labels.codes([item, other]).tolist()
        self._require_one_group(item, other)
        gap = self._posterior.gap(i, j, self.fit.confidence)
        return difference((item, other), gap, self.fit.confidence, self.scale)

    def _require_one_group(self, item: object, other: object) -> None:
        if self.groups and len({self._group_of[item], self._group_of[other]}) > 1:
            raise InputError(
                f"{item!r} and {other!r} are in groups of items that were never compared with each "
                "other, not even through others: votes between the groups would tell."
            )

    @cached_property
    def groups(self) -> list[pl.DataFrame]:
        """The items group by group, where there are groups that were never compared; else none."""
        return self.items.partition_by("group") if "group" in self.items.columns else []

    @cached_property
    def _group_of(self) -> dict[object, int]:
        return dict(zip(self.items["item"].to_list(), self.items["group"].to_list(), strict=True))

    @cached_property
    def _item_labels(self) -> Labels:
        return Labels(self.items["item"], self._basis.item_code)

    @cached_property
    def _judge_labels(self) -> Labels:
        return Labels(self.judges["judge"], self._basis.judge_code)

    @cached_property
    def posterior(self) -> Draws:
        """Draws of scores and accuracies, from which everything about doubt is read."""
        if self._posterior is None:
            raise InputError("This answer has no posterior: it says nothing about uncertainty.")
        known = self._posterior
        return Draws(
            kind=known.kind,
            items=self.items["item"],
            judges=self.judges["judge"],
            scores=known.score_draws()[:, self._basis.item_code],
            accuracies=known.accuracy_draws()[:, self._basis.judge_code],
        )

    @cached_property
    def tastes(self) -> pl.DataFrame:
        """Tastes that stand out: who likes or dislikes what, beyond what its score explains.

        The columns are judge, item, taste (added to the score in this judge's votes), low, high and
        votes (the judge's votes on the item); the largest come first. Of those listed at most 5 %
        are expected to have the wrong sign.
        """
        return self._basis.tastes(self.fit.confidence)

    def predict(self, judge: object, left: object, right: object) -> float | Floats:
        """The probability that the judge prefers `left` to `right`, if it does not tie them.

        Each argument is one label or a sequence of them; a judge of None means one like these whom
        nobody has seen yet. A known judge's tastes count, as far as they are known. What a side
        gains has no part in it.
        """
        who = UNSEEN if judge is None else self._judge_labels.code(judge)
        one, other = self._item_labels.code(left), self._item_labels.code(right)
        predictions = self._basis.predictions
        if who is not None and one is not None and other is not None:
            return predictions.decided_once(who, one, other)
        codes = (
            self._judge_labels.codes(judge, unseen=True),
            self._item_labels.codes(left),
            self._item_labels.codes(right),
        )
        if len({len(code) for code in codes} - {1}) > 1:
            counts = ", ".join(f"{len(code):,}" for code in codes)
            raise InputError(
                f"There must be as many judges as left items and right items, not {counts}."
            )
        chance = predictions.decided(*np.broadcast_arrays(*codes))
        single = not any(is_sequence(labels) for labels in (judge, left, right))
        return float(chance[0]) if single else chance

    @property
    def basis(self) -> Basis:
        """What the answer rests on, by code."""
        return self._basis

    @property
    def votes(self) -> Votes:
        """The votes that were ranked."""
        return self._basis.votes

    def next_pairs(self, n: int, **wishes: Unpack[Wishes]) -> pl.DataFrame:
        """Choose the questions to ask next: pairs of items, and whom to ask.

        A question is chosen for what its answer is expected to tell of the target, given those
        before it and those that are out. Items that no votes connect, or that were hardly seen,
        come first.

        Args:
            n: How many questions.
            **wishes: Keywords, all of which may be omitted:

                judge: Whom all questions are for; a new judge is one without votes. With neither
                judge nor judges they are for nobody in particular.
                judges: Who can be asked, where who is asked is chosen too: names, or a mapping of
                names to how many questions each can take, or to (questions, cost). What counts is
                what answers tell for their cost.
                target: "order" (the default), "top:3", "item:NAME" (its rank), a list of items
                (their order), "tiers", or "widths" (intervals of equal width).
                pending: A frame of questions that are out: left, right and, if known, judge and
                status ("out", "skipped", "expired" or "answered"). Those that are out count as if
                they were answered; what a judge skipped does not come to it again.
                barred: A frame of what judges may not see: judge and item, or judge, left, right.
                items: Items that may have no votes yet.
                retired: Items that are asked about no more.
                random_share: The share of questions that are drawn at random; 0.15 by default.
                least_views: How many questions about each item come first; 2 by default.
                most_views: How many questions about an item are the most, those answered included.
                repeats: Whether a judge may get a pair again, its sides swapped.
                seed: The same seed gives the same questions.

        Returns:
            A frame with the columns left, right, judge (null for nobody in particular), gain (in
            nats), chosen ("policy", "random" or "opening"), and propensity: the chance, given the
            questions before, that this one was put next (null where the rules left no choice).
        """
        from juryrank.active.questions import chosen_pairs

        return chosen_pairs(self, n, **wishes)

    def plan(
        self,
        target: object = "order",
        *,
        cost: Mapping[Any, float] | float | None = None,
        judges: Mapping[Any, Any] | Iterable[Any] | None = None,
        most: int = 10_000,
        repeats: bool | None = None,
    ) -> Plan:
        """How many more votes a target needs to be settled, as quartiles over the posterior.

        Args:
            target: As of `next_pairs`.
            cost: What a question costs each judge, or one number for all; for a price. Where only
                some judges have one, those of others cost 1.
            judges: Who can be asked, and how many questions each can take, as of `next_pairs`; all
                who have voted, if None.
            most: Beyond so many votes it is only said that they do not suffice.
            repeats: Whether a judge may be asked about a pair again; if None, that is so where
                some judge has voted on a pair more than once.
        """
        from juryrank.active.plan import plan_of

        return plan_of(self, target, cost, judges, most, repeats)

    def settled(self, target: object = "order") -> Settled:
        """What is sure of a target though somebody looked after every vote.

        Ordinary intervals hold at a time that was fixed before. These hold at all times together:
        voting may stop as soon as a target is settled. `target` is as of `next_pairs`.
        """
        from juryrank.active.settled import settled_by

        return settled_by(self, target)

    def shares(self, judges: pl.Series, left: pl.Series, right: pl.Series) -> Floats:
        """The share of votes that `left` is to get, as shown on the left, a tie counting half."""
        return self._basis.predictions.shares(
            self._judge_labels.codes(judges, unseen=self._basis.drawn is not None),
            self._item_labels.codes(left),
            self._item_labels.codes(right),
        )

    def shares_of(self, votes: Votes) -> Floats:
        """The same of all votes on pairs among these, whatever their codes are."""
        return self._basis.shares_of(votes, *self._codes_in(votes))

    def list_losses(self, votes: Votes, lists: Lists) -> Floats:
        """``-log P`` of lists without ties, coded as the votes are."""
        return self._basis.list_losses(lists, *self._codes_in(votes))

    def _codes_in(self, votes: Votes) -> tuple[Codes, Codes]:
        """The codes here of the judges and items of other votes."""
        return (
            self._judge_labels.codes(votes.judges, unseen=self._basis.drawn is not None),
            self._item_labels.codes(votes.items),
        )

    def scores_of(self, items: pl.Series) -> Floats:
        """The scores of items by their labels, on the model's own scale."""
        return self._basis.points.score[self._item_labels.codes(items)]

    def accuracies_of(self, judges: pl.Series) -> Floats:
        """The accuracies of judges by their labels."""
        return self._basis.points.accuracy[self._judge_labels.codes(judges)]

    @property
    def noise(self) -> Noise:
        """The noise of the model."""
        return self._basis.noise

    @cached_property
    def tallies(self) -> Tallies:
        """The votes that count, in pairs, beside what the ranking predicts of them."""
        from juryrank.votes.tallies import Tallies  # slow to import: it needs scipy

        pairs, some = self._basis.pairs
        every = np.arange(pairs.n_judges), np.arange(pairs.n_items)
        return Tallies(pairs, self._basis.shares_of(pairs, *every), some)

    @cached_property
    def reliability(self) -> Reliability:
        """What part of the variance of the scores is not error; and, on request, split halves."""
        if self._posterior is None:
            raise InputError("This answer has no errors, and so no separation reliability.")
        known, prior = self._posterior, self.fit.prior
        shrunken = self.fit.lambda0 > 0.0 or (prior is not None and prior[0] is not None)
        return Reliability(
            separation(known.score, known.score_variance, shrunken=shrunken),
            float(np.std(known.score, ddof=1)),
            float(np.sqrt(np.mean(known.score_variance))),
            Halves(self._basis.votes, self.model, self._best_fit_options),
        )

    @cached_property
    def misfit(self) -> Misfit:
        """Infit and outfit of items and judges, by the scores and accuracies of this answer.

        They show what the model does not explain. Where it knows accuracies, a careless judge
        fits; those of comparative judgement are about a model of equal judges: ``rank(votes,
        "btl")``, and the columns infit and outfit of `judges`.
        """
        pairs, _ = self._basis.pairs
        found = residuals(pairs, *self._basis.points.sides(pairs))
        return Misfit(
            misfit_frame(self.items["item"], self._basis.item_code, found.by_item()),
            misfit_frame(self.judges["judge"], self._basis.judge_code, found.by_judge()),
        )

    @cached_property
    def judge_details(self) -> pl.DataFrame:
        """What comparative judgement looks at in judges.

        The columns are judge, infit and outfit (by the best fit with equal judges), left_share (of
        its votes, a tie counting half) and median_time (of a vote, in seconds if the input tells
        the unit); null where nothing is known.
        """
        from juryrank.ranking.judge_details import (
            details_of,  # it fits, and so needs what makes rankings
        )

        return details_of(self._basis.votes, self.noise)

    @property
    def time_unit(self) -> str:
        """The unit of `judge_details`' times: ``s``, or nothing if the input does not tell."""
        times = self._basis.votes.times
        return "" if times is None else times.unit

    @property
    def _best_fit_options(self) -> dict[str, Any]:
        """The arguments of `rank` that give the best fit of the same model to other votes."""
        model, effects = self._basis.model, self._basis.effects
        if DEFAULT_SOLVER not in model.solvers:
            return {"intervals": None}
        order = "by-judge" if effects.order_by_judge else "common" if effects.order else "none"
        noise = self.noise if model.any_noise else None
        scores, accuracies = self.fit.prior or (None, None)
        prior = "auto" if scores is None else (scores, accuracies or 1.0)
        return {"intervals": "information", "order": order, "noise": noise, "prior": prior}

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Every pair of items that were compared, the most surprising first.

        The columns are item (the one ranked higher), other, votes, observed and expected (the share
        of votes the item got and, with these judges, should have got; ties count half), and
        residual, in standard errors. A ranking counts as the pairs it implies; of long rankings
        that would imply millions of pairs, only some items, drawn at random, are looked at.
        """
        names = self._basis.votes.items
        found = self.tallies.pairs(np.argsort(self._basis.item_code))
        return found.with_columns(
            names.gather(found[name]).alias(name) for name in ("item", "other")
        )

    @cached_property
    def agreement(self) -> Agreement:
        """Who agrees with whom."""
        from juryrank.votes.tallies import agreement

        return agreement(self.tallies.votes, self._basis.points.accuracy)

    def report(
        self,
        command: str | None = None,
        *,
        title: str | None = None,
        source: str | None = None,
        date: date | None = None,
    ) -> str:
        """The report as the text of a page: ``save("report.html")`` writes it.

        Args:
            command: What the reader is to type to get the same; the call of `rank`, if None.
            title: What stands on top; how many items and judges there are, if None.
            source: Where the votes are from, such as the name of a file.
            date: The day on the report; if None, that of the environment variable
                SOURCE_DATE_EPOCH, or today.
        """
        from juryrank.report import report

        return report(self, command, title=title, source=source, day=date)

    @property
    def plot(self) -> Plots:
        """Pictures: ``ranking.plot.items()`` and others, charts that can be shown and saved."""
        from juryrank.charts.plots import Plots

        return Plots(self)

    @property
    def reading(self) -> tuple[Reading, ...]:
        """How each source of the votes was read."""
        return self._basis.votes.reading

    def to_dict(self) -> dict[str, Any]:
        """The whole answer as plain dictionaries and lists."""
        fit = asdict(self.fit)
        del fit["trace"], fit["steps"]
        return {
            "model": self.model,
            "scale": self.scale.to_dict(),
            "items": self.items.to_dicts(),
            "judges": self.judges.to_dicts(),
            "effects": self.effects.to_dicts(),
            "tastes": self.tastes.to_dicts(),
            "fit": fit,
            "warnings": list(self.warnings),
            "reading": [one.to_dict() for one in self.reading],
        }

    def to_json(self) -> str:
        """The whole answer as one JSON object; what is not a finite number becomes null."""
        return json_text(self.to_dict())

    def save(self, path: str | Path, *, safe_csv: bool = False) -> None:
        """Write a file, by its ending.

        CSV, TSV and Parquet hold the items; Markdown, LaTeX and Excel items and judges; JSON and
        HTML (the report) the whole answer. With `safe_csv`, names that a spreadsheet would take for
        formulas have an apostrophe before them in CSV and TSV, and control characters in them are
        shown as escapes.
        """
        save_answer(self, path, safe_csv=safe_csv)

    def __repr__(self) -> str:
        group = "group  " if self.groups else ""
        between = f"{percent(self.fit.confidence)} interval"
        interval = f"{between:>20}  " if self._has_intervals else ""
        lines = [self._headline(), f"{group} rank      score  {interval}item"]
        lines += [self._line(row) for row in self.items.head(SHOWN).iter_rows(named=True)]
        more = len(self.items) - SHOWN
        lines += [f"  ... and {more:,} more"] if more > 0 else []
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _line(self, row: dict[str, Any]) -> str:
        """An item as `__repr__` shows it."""
        decimals = 3 if self.scale.name == "model" else 0
        number = f">z9.{decimals}f"
        parts = [f"{row['group']:>5}"] if self.groups else []
        parts += [f"{row['rank']:>5}", format(row["score"], number)]
        if self._has_intervals:
            parts.append(_interval(row["score_low"], row["score_high"], number))
        return "  ".join((*parts, short(row["item"], WIDEST_NAME)))

    @property
    def _has_intervals(self) -> bool:
        return bool(self.items["score_low"].is_not_null().any())

    def _headline(self) -> str:
        return (
            f"Ranking of {counted(len(self.items), 'item')} by "
            f"{counted(len(self.judges), 'judge')} ({self.model}, "
            f"{self.fit.votes_in_words})"
        )

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(self._headline())}</p>", html_table(self.items.head(SHOWN))]
        if len(self.judges) > 1:
            parts.append(html_table(self.judges.head(SHOWN)))
        parts += [f"<p>Warning: {html.escape(warning)}</p>" for warning in self.warnings]
        return "\n".join(parts)


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws from the posterior, a row for each, in the order of the answer's items and judges."""

    kind: str
    """"sampled" (the exact posterior) or "normal" (an approximation to it)."""
    items: pl.Series
    judges: pl.Series
    scores: Floats
    """On the model's own scale."""
    accuracies: Floats

    def __repr__(self) -> str:
        items, judges = counted(len(self.items), "item"), counted(len(self.judges), "judge")
        return f"Draws({len(self.scores):,} draws of {items} and {judges}, {self.kind})"


def _interval(low: float | None, high: float | None, number: str) -> str:
    if low is None or high is None:
        return f"{'-':>20}"
    return f"{low:{number}}, {high:{number}}"
