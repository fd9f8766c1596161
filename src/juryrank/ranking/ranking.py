"""`Ranking`: the answer of the library. Labels come back here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, counted, listing, number
from juryrank.hints import did_you_mean_all
from juryrank.inference.intervals import Difference, difference, item_columns
from juryrank.inference.posterior import Posterior, SampledPosterior
from juryrank.inference.prediction import UNSEEN, DrawnPredictions
from juryrank.inference.tastes import tastes_frame
from juryrank.judging.cells import OneSided, votes_that_count
from juryrank.judging.position import Allowances
from juryrank.model.effects import EffectModel, Layout
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective
from juryrank.model.points import (
    AVERAGE_POINTS,
    MODEL_SCALE,
    Anchor,
    Scale,
    check_anchor,
    check_scale,
    elo_unit,
)
from juryrank.model.registry import Model
from juryrank.ranking.misfit import MeanSquares, Misfit, in_few_pairs, residuals
from juryrank.ranking.reliability import Halves, Reliability, separation
from juryrank.solvers.solution import Solution, Step, Trace
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import Lists
from juryrank.votes.votes import Reading, Votes
from juryrank.writing.files import html_table, json_text, save_answer

if TYPE_CHECKING:
    from juryrank.charts.charts import Plots
    from juryrank.votes.tallies import Agreement, Evidence

SAME_SCORE = 1e-6
"""Scores closer than this part of their range share a rank: the solver cannot tell them apart."""
NO_RANGE = 1e-9
"""Scores that lie within this are all the same."""
SHOWN = 10
EFFECTS = {
    "effect": pl.String(),
    "judge": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "chance": pl.Float64(),
}
Values = Floats | float
SURE_AT_MOST = 0.999
"""The naive win rate never predicts with more certainty than this."""


@dataclass(frozen=True)
class Fit:
    """How the answer was found."""

    converged: bool
    iterations: int
    """Rounds of the sampler or of CrowdBT, evaluations over all votes (best fit by the profile
    solver), iterations (Algorithm 1)."""
    objective: float | None
    """What was minimised, at the answer; for a sampled posterior the mean of ``-log P(votes)`` over
    the draws; None for methods that have neither."""
    votes: int
    left_out: int
    set_aside: int = 0
    """Votes with which a judge pushed a single item; they do not count."""
    accounts_as_one: int = 0
    """Accounts that share one judge's say with others: copies, or accounts on one item only."""
    prior: tuple[float | None, float | None] | None = None
    """Standard deviations of scores and of accuracies (around 1) before the data, on the scale the
    solver works on, where the accuracies' prior mean is 1; None: no prior."""
    prior_chosen: bool = False
    """Whether the data chose these scales."""
    lambda0: float = 0.0
    intervals: str | None = None
    """Where the errors come from; None: there are none."""
    confidence: float = 0.95
    posterior: str | None = None
    """Whether the posterior is "sampled" or "normal"; None: there is none."""
    draws: int | None = None
    """How many draws there are of a sampled one."""
    effective_draws: float | None = None
    """How many independent draws they are worth, of the score of which they are worth least."""
    taste_sd: float | None = None
    """The typical size of a judge's taste for an item; None: judges have none in the model."""
    widening: float | None = None
    """How many times wider scores' intervals are than those of the plain model, by the median."""
    largest_share: float | None = None
    """The share of the votes that the judge with the most of them cast."""
    weight: float | None = None
    """The total weight of the votes, where it is not their number."""
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """Number, objective and size of the gradient of each evaluation, as `watch` is told them."""
    trace: Trace | None = field(default=None, repr=False)
    """The solver's path, in its own scale and direction, if it was asked to keep it."""

    @property
    def votes_in_words(self) -> str:
        """The number of votes, and their total weight, where that is another."""
        said = counted(self.votes, "vote")
        return (
            said if self.weight is None else f"{said} with a total weight of {number(self.weight)}"
        )

    def __repr__(self) -> str:
        shown = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        said = (f"{name}={value!r}" for name, value in shown.items() if value is not None)
        return f"Fit({', '.join(said)})"


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
    fit: Fit
    warnings: tuple[str, ...]
    _link: _Link = field(repr=False)
    _basis: _Basis = field(repr=False)
    _posterior: Posterior | None = field(repr=False, default=None)
    effects: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EFFECTS))
    call: str = "jr.rank(votes)"
    """What was asked for, as Python writes it."""
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
        check_scale(scale, self._link.model, anchor)
        own = self._model_items
        if scale == "model":
            return replace(self, items=own, scale=MODEL_SCALE, _unscaled=None)
        unit, average = elo_unit(self.noise), AVERAGE_POINTS
        if anchor is not None:
            anchor = check_anchor(anchor, own["item"].to_list())
            average = anchor[1] - unit * float(_looked_up(own, "item", "score", anchor[0])[0])
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

    def difference(self, item: object, other: object) -> Difference:
        """How much better `item` is than `other`, with an interval and a p-value."""
        if self._posterior is None:
            raise InputError(
                "This answer has no errors to compare with. CrowdBT, CrowdTCV and Algorithm 1 have "
                "them with intervals='bootstrap' (--intervals bootstrap), hbtl and the like unless "
                "they were turned off."
            )
        i, j = self._codes(self.items, "item", [item, other]).tolist()
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

    def _codes(self, frame: pl.DataFrame, name: str, labels: Any) -> NDArray[np.int64]:
        """The codes of items or judges by their labels; those of None are `UNSEEN`."""
        place = frame.select(name).with_row_index("place", offset=0)
        for_none = float(UNSEEN) if name == "judge" else None
        places = _looked_up(place, name, "place", labels, for_none).astype(np.int64)
        code = self._basis.item_code if name == "item" else self._basis.judge_code
        return np.where(places == UNSEEN, UNSEEN, code[places])

    @cached_property
    def posterior(self) -> Draws:
        """Draws of scores and accuracies, from which everything about doubt is read."""
        if self._posterior is None:
            raise InputError("This answer has no posterior: it says nothing about doubt.")
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
        known = self._posterior
        drawn = known.sample if isinstance(known, SampledPosterior) else None
        return tastes_frame(drawn, self._basis.votes, self.fit.confidence)

    def predict(self, judge: object, left: object, right: object) -> float | Floats:
        """The probability that the judge prefers `left` to `right`, if it does not tie them.

        Each argument is one label or a sequence of them; a judge of None means one like these whom
        nobody has seen yet. A known judge's tastes count, as far as they are known. What a side
        gains has no part in it.
        """
        who = UNSEEN if judge is None else self._judge_codes.get(judge)
        one, other = self._item_codes.get(left), self._item_codes.get(right)
        if who is not None and one is not None and other is not None:
            return self._predicted_once(who, one, other)
        drawn = self._drawn
        single = not any(_is_sequence(labels) for labels in (judge, left, right))
        found = (
            _looked_up(self.judges, "judge", "accuracy", judge, for_none=self._average_accuracy),
            _looked_up(self._model_items, "item", "score", left),
            _looked_up(self._model_items, "item", "score", right),
        )
        if len({len(values) for values in found} - {1}) > 1:
            counts = ", ".join(f"{len(values):,}" for values in found)
            raise InputError(f"Judges, left and right items must be equally many, not {counts}.")
        if drawn is None:
            chance = self._link.chance(*np.broadcast_arrays(*found))
        else:
            codes = (
                self._codes(self.judges, "judge", judge),
                self._codes(self.items, "item", left),
                self._codes(self.items, "item", right),
            )
            chance = drawn.decided(*np.broadcast_arrays(*codes))
        return float(chance[0]) if single else chance

    def _predicted_once(self, judge: int, left: int, right: int) -> float:
        if self._drawn is not None:
            return self._drawn.decided_once(judge, left, right)
        score, accuracy = self._score_by_code, self._accuracy_by_code
        known = self._average_accuracy if judge == UNSEEN else accuracy[judge]
        return float(self._link.chance(known, score[left], score[right]))

    @cached_property
    def _item_codes(self) -> _CodeOf:
        return _CodeOf(self.items["item"], self._basis.item_code)

    @cached_property
    def _judge_codes(self) -> _CodeOf:
        return _CodeOf(self.judges["judge"], self._basis.judge_code)

    @cached_property
    def _score_by_code(self) -> Floats:
        return self._model_items["score"].to_numpy()[np.argsort(self._basis.item_code)]

    @cached_property
    def _accuracy_by_code(self) -> Floats:
        return self.judges["accuracy"].to_numpy()[np.argsort(self._basis.judge_code)]

    @cached_property
    def _average_accuracy(self) -> float:
        return self._link.average_judge(self.judges)

    @cached_property
    def _drawn(self) -> DrawnPredictions | None:
        """Predictions by draws; None if there are none."""
        if not isinstance(self._posterior, SampledPosterior):
            return None
        votes = self._basis.votes
        layout = Layout(self._basis.effects, votes.n_items, votes.n_judges)
        return DrawnPredictions(self._posterior.sample, self.noise, layout, votes.votes_per_judge)

    def shares(self, judges: pl.Series, left: pl.Series, right: pl.Series) -> Floats:
        """The share of votes that `left` is to get, as shown on the left, a tie counting half."""
        if self._drawn is not None:
            codes = (
                self._codes(self.judges, "judge", judges),
                self._codes(self.items, "item", left),
                self._codes(self.items, "item", right),
            )
            return self._drawn.shares(*codes)
        place = self.judges.with_row_index("place", offset=0)
        who = _looked_up(place, "judge", "place", judges).astype(np.int64)
        known = self.judges["accuracy"].to_numpy()[who]
        gap = self.scores_of(left), self.scores_of(right)
        return self._link.share(known, *gap, self._link.order[who], self._link.tie[who])

    def list_losses(self, votes: Votes, lists: Lists) -> Floats:
        """``-log P`` of lists without ties, coded as the votes are."""
        if self._drawn is not None:
            judge = self._codes(self.judges, "judge", votes.judges)[lists.judge]
            item = self._codes(self.items, "item", votes.items)[lists.item]
            return self._drawn.list_losses(lists, judge, item)
        score, accuracy = self.scores_of(votes.items), self.accuracies_of(votes.judges)
        objective = Objective(CodedVotes.of_lists(len(score), lists), self.noise)
        return objective.list_losses(score, accuracy, np.zeros(len(score)))

    def scores_of(self, items: pl.Series) -> Floats:
        """The scores of items by their labels, on the model's own scale."""
        return _looked_up(self._model_items, "item", "score", items)

    def accuracies_of(self, judges: pl.Series) -> Floats:
        """The accuracies of judges by their labels."""
        return _looked_up(self.judges, "judge", "accuracy", judges)

    @property
    def noise(self) -> Noise:
        """The noise of the model."""
        return self._link.noise

    @cached_property
    def evidence(self) -> Evidence:
        """The votes that count, in pairs, beside what the ranking foretells of them."""
        from juryrank.votes.tallies import Evidence  # slow to import: it needs scipy

        pairs, some = in_few_pairs(votes_that_count(self._basis.votes, self._basis.one_sided))
        return Evidence(pairs, self._foretold(pairs), some)

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
        pairs, _ = in_few_pairs(votes_that_count(self._basis.votes, self._basis.one_sided))
        score, order = self._score_by_code, self._link.order[np.argsort(self._basis.judge_code)]
        chances = self._link.decided(
            self._accuracy_by_code[pairs.judge], score[pairs.left], score[pairs.right],
            order[pairs.judge],
        )  # fmt: skip
        found = residuals(pairs, *chances)
        return Misfit(
            _misfit_frame(self.items["item"], self._basis.item_code, found.by_item()),
            _misfit_frame(self.judges["judge"], self._basis.judge_code, found.by_judge()),
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
        model, effects = self._link.model, self._basis.effects
        if model.method != "likelihood":
            return {"intervals": None}
        order = "by-judge" if effects.order_by_judge else "common" if effects.order else "none"
        noise = self.noise if model.name == "htm" else None
        scores, accuracies = self.fit.prior or (None, None)
        prior = "auto" if scores is None else (scores, accuracies or 1.0)
        return {"intervals": "information", "order": order, "noise": noise, "prior": prior}

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Every pair of items that were compared, the most surprising first.

        The columns are item (the one ranked higher), other, votes, observed and expected (the share
        of votes the item got and, with these judges, should have got; ties count half), and
        surprise, in standard errors. A ranking counts as the pairs it implies; of long rankings
        that would imply millions of pairs, only some items, drawn at random, are looked at.
        """
        names = self._basis.votes.items
        found = self.evidence.pairs(np.argsort(self._basis.item_code))
        return found.with_columns(
            names.gather(found[name]).alias(name) for name in ("item", "other")
        )

    @cached_property
    def agreement(self) -> Agreement:
        """Who agrees with whom."""
        from juryrank.votes.tallies import agreement

        return agreement(self.evidence.votes, self._accuracy_by_code)

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
        from juryrank.charts.charts import Plots

        return Plots(self)

    def _foretold(self, votes: Votes) -> Floats:
        """The share of every vote on a pair that the left item is to get."""
        if self._drawn is not None:
            codes = (part.astype(np.int64) for part in (votes.judge, *votes.sides()))
            return self._drawn.shares(*codes)
        score, accuracy = self._score_by_code, self._accuracy_by_code
        place = np.argsort(self._basis.judge_code)
        order, tie = self._link.order[place], self._link.tie[place]
        share, who = np.empty(votes.n_pairs), votes.judge
        for some in votes.pieces():
            judge, (left, right) = who[some], votes.sides(some)
            share[some] = self._link.share(
                accuracy[judge], score[left], score[right],
                order[judge], tie[judge],
            )  # fmt: skip
        return share

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
        decimals = 3 if self.scale.name == "model" else 0
        group = "group  " if self.groups else ""
        best = "\n".join(
            (f"{row['group']:>5}  " if group else "")
            + f"{row['rank']:>5}  {row['score']:>z9.{decimals}f}  {row['item']}"
            for row in self.items.head(SHOWN).iter_rows(named=True)
        )
        more = len(self.items) - SHOWN
        lines = [self._headline(), f"{group} rank      score  item", best]
        lines += [f"  ... and {more:,} more"] if more > 0 else []
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

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
class _Link:
    """From accuracy and scores to the probability of a vote."""

    model: Model
    noise: Noise
    order: Floats
    """What the left side gains with each judge, in the order of the answer's."""
    tie: Floats
    """The logarithm of the weight of ties, minus infinity if they are no outcome."""

    def average_judge(self, judges: pl.DataFrame) -> float:
        if self.model.judges != "reliability":
            return 1.0
        return float(np.average(judges["accuracy"].to_numpy(), weights=judges["votes"].to_numpy()))

    def chance(self, judge: Values, left: Values, right: Values) -> Floats:
        gap = left - right
        if self.model.method == "win-rate":
            return np.asarray(np.clip(0.5 + 0.5 * gap, 1.0 - SURE_AT_MOST, SURE_AT_MOST))
        if self.model.judges == "reliability":
            return np.asarray(judge * self.noise.cdf(gap) + (1.0 - judge) * self.noise.cdf(-gap))
        return self.noise.cdf(judge * gap)

    def decided(
        self, judge: Floats, left: Floats, right: Floats, order: Floats
    ) -> tuple[Floats, Floats]:
        """The probabilities of the left and of the right item to win a vote that is not tied."""
        if self.model.method != "likelihood":
            chance = self.chance(judge, left, right)
            return chance, 1.0 - chance
        x = judge * (left - right) + order
        return self.noise.cdf(x), self.noise.cdf(-x)

    def share(
        self, judge: Floats, left: Floats, right: Floats, order: Floats, tie: Floats
    ) -> Floats:
        if self.model.method != "likelihood":
            return self.chance(judge, left, right)
        return self.noise.share(judge * (left - right) + order, tie)


def _misfit_frame(labels: pl.Series, code: NDArray[np.int64], found: MeanSquares) -> pl.DataFrame:
    numbers = {"infit": found.infit[code], "outfit": found.outfit[code]}
    return pl.DataFrame(
        {
            labels.name: labels,
            "votes": _counts(found.votes)[code],
            **{name: pl.Series(values, nan_to_null=True) for name, values in numbers.items()},
        }
    )


class _CodeOf:
    """The code of a single label, quickly.

    There is none for what is not one of the labels, or is of another type: 1.0 is equal to 1, but
    no label of whole numbers.
    """

    def __init__(self, labels: pl.Series, code: NDArray[np.int64]) -> None:
        known = labels.to_list()
        self._type = type(known[0])
        self._code = dict(zip(known, code.tolist(), strict=True))

    def get(self, label: object) -> int | None:
        return self._code.get(label) if type(label) is self._type else None


@dataclass(frozen=True, eq=False)
class _Basis:
    """What the answer rests on, and the codes in it of items and judges, best first."""

    votes: Votes
    one_sided: OneSided
    """What of the votes does not count."""
    effects: EffectModel
    item_code: NDArray[np.int64]
    judge_code: NDArray[np.int64]


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


def make_ranking(
    votes: Votes,
    model: Model,
    noise: Noise,
    solution: Solution,
    fit: Fit,
    posterior: Posterior | None,
    about_judges: dict[str, pl.Series],
    allowed: Allowances,
    one_sided: OneSided,
    effects: EffectModel,
    groups: Sequence[NDArray[np.int64]],
    *,
    direction_is_sure: bool,
    with_intervals: bool,
) -> Ranking:
    """Put labels on a solution and sort it, best first, within groups that were never compared."""
    orders = [_best_first(solution.score, items) for items in groups]
    order = np.concatenate(orders)
    rank = np.concatenate([_shared_ranks(solution.score[items]) for items in orders])
    group = np.repeat(np.arange(len(orders)) + 1, [len(items) for items in orders])
    items = pl.DataFrame(
        {
            **({"group": group} if len(orders) > 1 else {}),
            "rank": rank,
            "item": votes.items.gather(order),
            "score": solution.score[order],
            **item_columns(
                posterior if with_intervals else None,
                orders,
                rank,
                fit.confidence,
                direction_is_sure=direction_is_sure,
            ),
        }
    )
    by_accuracy = np.argsort(-solution.accuracy, kind="stable")
    judges = pl.DataFrame(
        {
            "judge": votes.judges.gather(by_accuracy),
            "accuracy": solution.accuracy[by_accuracy],
            "accuracy_low": about_judges["accuracy_low"].gather(by_accuracy),
            "accuracy_high": about_judges["accuracy_high"].gather(by_accuracy),
            "votes": _counts(votes.votes_per_judge)[by_accuracy],
            "verdict": about_judges["verdict"].gather(by_accuracy),
            "reason": about_judges["reason"].gather(by_accuracy),
        }
    )
    basis = _Basis(votes, one_sided, effects, order, by_accuracy)
    link = _Link(model, noise, allowed.order[by_accuracy], allowed.tie[by_accuracy])
    return Ranking(model.name, items, judges, fit, (), link, basis, posterior)


def effects_frame(
    layout: Layout,
    votes: Votes,
    noise: Noise,
    solution: Solution,
    posterior: Posterior | None,
    confidence: float,
) -> pl.DataFrame:
    """The effects by name: "tie" is ``t``, "tie of 3" ``t_3``, "left side" is added to ``x``."""
    total = layout.totals(solution.effects)
    below = above = np.full(len(total), np.nan)
    if posterior is not None and len(total):
        total, below, above = posterior.effects(layout, confidence)
    names, judges = _effect_names(layout, votes)
    sides = np.array([name == "left side" for name in names], dtype=np.bool_)
    with np.errstate(over="ignore"):  # ties that nothing limits
        value, low, high = (
            np.where(sides, x, np.exp(np.where(sides, 0.0, x))) for x in (total, below, above)
        )
    chance = np.where(sides, noise.cdf(value), value / (2.0 + value))
    of_two = sides | np.array([name == "tie" for name in names], dtype=np.bool_)
    numbers = (value, low, high, np.where(of_two, chance, np.nan))
    return pl.DataFrame(
        {
            "effect": pl.Series(names, dtype=pl.String),
            "judge": pl.Series(judges, dtype=votes.judges.dtype),
            **{
                name: pl.Series(column, nan_to_null=True)
                for name, column in zip(("value", "low", "high", "chance"), numbers, strict=True)
            },
        }
    )


def _effect_names(layout: Layout, votes: Votes) -> tuple[list[str], list[object]]:
    """Name and judge (None for all) of each effect, in the order of the state."""
    model, judges = layout.model, votes.judges.to_list()
    common = ["tie" if size == 2 else f"tie of {size}" for size in model.sizes]
    names = common + common[:1] * (len(judges) * model.ties_by_judge)
    whose: list[object] = [None] * len(common) + judges * model.ties_by_judge
    names += ["left side"] * (model.order + len(judges) * model.order_by_judge)
    return names, whose + [None] * model.order + judges * model.order_by_judge


def _best_first(score: Floats, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """These items by score, and by label (that is, by code) where scores are the same."""
    by_score = items[np.argsort(-score[items], kind="stable")]
    same = np.cumsum(_drops(score[by_score]))
    return by_score[np.lexsort((by_score, same))]


def _drops(descending: Floats) -> NDArray[np.bool_]:
    """Where a score is really below the one before it."""
    same = max(SAME_SCORE * float(descending[0] - descending[-1]), NO_RANGE)
    return np.concatenate(([False], -np.diff(descending) > same))


def _shared_ranks(descending: Floats) -> NDArray[np.int64]:
    """Ranks 1, 2, 2, 4: items of the same score share the best rank among them."""
    place = np.arange(len(descending))
    return np.maximum.accumulate(np.where(_drops(descending), place, 0)) + 1


def _counts(total: Floats) -> NDArray[Any]:
    """Numbers of votes: whole numbers unless the weights are not."""
    whole = np.rint(total)
    return whole.astype(np.int64) if np.array_equal(whole, total) else total


def _is_sequence(labels: object) -> bool:
    return isinstance(labels, Iterable) and not isinstance(labels, str | bytes)


def _looked_up(
    frame: pl.DataFrame, name: str, value: str, labels: Any, for_none: float | None = None
) -> Floats:
    """The values that belong to the labels, in their order."""
    known = frame.select(name, value)
    given = list(labels) if _is_sequence(labels) else [labels]
    try:
        wanted = pl.DataFrame({name: pl.Series(given, dtype=known.schema[name], strict=True)})
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(f"There is no {name} such as {listing(given)} in the votes.") from None
    found = wanted.join(known, on=name, how="left", maintain_order="left")
    if for_none is not None:
        known_or_none = pl.when(pl.col(name).is_null()).then(for_none).otherwise(value)
        found = found.with_columns(known_or_none.alias(value))
    strange = found.filter(pl.col(value).is_null())[name].to_list()
    if strange:
        many = " is" if len(strange) == 1 else "s are"
        hint = did_you_mean_all(strange, known[name].to_list())
        raise InputError(
            f"{len(strange):,} {name}{many} not in the votes: {listing(strange)}.{hint}"
        )
    return found[value].to_numpy()
