"""`judges`: what a judge's votes say about the judge, and whether judges differ at all."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from juryrank.errors import InputError, JuryrankWarning, counted
from juryrank.inference.covariance import by_information
from juryrank.inference.information import MOST_DENSE
from juryrank.inference.sandwich import moves_of_judges
from juryrank.judging.cells import votes_that_count
from juryrank.judging.position import Positions
from juryrank.judging.verdicts import by_attention
from juryrank.model.effects import NO_EFFECTS
from juryrank.model.gauge import gauge_of
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective
from juryrank.model.registry import DEFAULT_MODEL, models_that
from juryrank.progress import Progress, Watcher
from juryrank.ranking.answer import answer, leans
from juryrank.ranking.cautions import issue
from juryrank.ranking.comparison import compare
from juryrank.ranking.expected_time import long_work
from juryrank.ranking.fitted import GaugedFit, in_gauge
from juryrank.ranking.judge_details import CLOSEST_MODELS, MODELS_BY_NOISE, median_time, misfit
from juryrank.ranking.methods import by_profile
from juryrank.ranking.older_progress import OfWork, watcher_of_work
from juryrank.ranking.ranking import SHOWN, Ranking
from juryrank.ranking.request import Order, PriorChoice, Ties, task_of
from juryrank.ranking.task import Task
from juryrank.reading import as_votes
from juryrank.solvers.search import ROUGH
from juryrank.threads import one_blas_thread
from juryrank.types import Floats
from juryrank.votes.lists import (
    MOST_ORDERS,
    Lists,
    orders_of_ties,
    pairs_of,
    tied_pairs_of,
)
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE, Votes
from juryrank.writing.html_table import html_table

REPLICATES, REPLICATES_OF_MANY = 99, 19
WIDE_SPREAD = 1.0
"""The spread of accuracies allowed for in the test of whether there is any."""
SIGNIFICANT = 0.05
FOLDS = 5


@dataclass(frozen=True)
class Effort:
    """How much is computed for a report."""

    most_refits: int = 50_000_000
    """Judges x votes up to which leaving a judge out means a new fit."""
    few_votes: int = 100_000
    """Up to so many votes, equal judges are simulated more often."""


@dataclass(frozen=True)
class Heterogeneity:
    """Whether the judges differ in accuracy at all."""

    statistic: float
    """Twice the gain in log posterior from letting accuracies differ."""
    p_value: float
    """The share of simulated votes by equal judges that gain as much."""
    replicates: int
    equal_model: str
    """The same model with equal judges."""
    log_loss: float
    """Held-out log-loss with judges who differ."""
    equal_log_loss: float
    gain: float
    """How much lower that is than with equal judges."""
    gain_se: float

    @property
    def matters(self) -> bool:
        """Whether judges differ, and knowing it predicts votes better."""
        return self.p_value <= SIGNIFICANT and self.gain > 0.0

    @property
    def sentence(self) -> str:
        """The finding in words."""
        found = (
            f"equal judges would differ as much with p = {self.p_value:.2g} ({self.replicates} "
            f"simulations), and held-out log-loss is {self.log_loss:.4f}, with equal judges "
            f"{self.equal_log_loss:.4f} (gain {self.gain:.4f} ± {self.gain_se:.4f})."
        )
        return f"{self._head}: {found}"

    @property
    def _head(self) -> str:
        if self.matters:
            return "Judge differences matter here"
        plain = {"btl": "Bradley-Terry", "tcv": "Thurstone"}[self.equal_model]
        if self.p_value <= SIGNIFICANT:
            return f"Judges differ, but plain {plain} predicts votes as well"
        return f"Plain {plain} would do"

    def __repr__(self) -> str:
        return f"Heterogeneity({self.sentence})"


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """The judges, those who need attention first.

    `table` has the columns judge, accuracy, accuracy_low, accuracy_high, votes, agreement (share of
    its votes that agree with the ranking by all others), p_backwards, left_share, position_bias
    (log-odds for the left side) and position_p (adjusted for the number of judges), repeats (pairs
    of votes on the same pair of items) and consistency (share of them that agree), infit and outfit
    (by the best fit with equal judges, see `juryrank.ranking.misfit`), median_time (of a vote, in
    seconds if the input tells the unit; null if it tells no times), one_item and one_item_share
    (the item that explains most of its votes, and how many), influence (the largest change of a
    rank without this judge), verdict and reason.
    """

    table: pl.DataFrame
    heterogeneity: Heterogeneity | None
    """None if there is only one judge."""
    influence: str
    """How the influence was found: by new fits, by first-order changes, or not at all."""
    ranking: Ranking

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        test = self.heterogeneity
        return {
            "model": self.ranking.model,
            "judges": self.table.to_dicts(),
            "heterogeneity": None if test is None else asdict(test) | {
                "matters": test.matters, "sentence": test.sentence,
            },
            "influence": self.influence,
            "reliability": None if self.ranking.fit.posterior is None else (
                self.ranking.reliability.to_dict()
            ),
            "warnings": list(self.ranking.warnings),
            "reading": [one.to_dict() for one in self.ranking.reading],
        }  # fmt: skip

    def __repr__(self) -> str:
        lines = [*self._heading, " accuracy  agreement  verdict                judge"]
        for row in self.table.head(SHOWN).iter_rows(named=True):
            agreement = "-" if row["agreement"] is None else f"{row['agreement']:.0%}"
            verdict = row["verdict"] or "-"
            lines.append(f"{row['accuracy']:>z9.2f}{agreement:>11}  {verdict:<21}  {row['judge']}")
        more = len(self.table) - SHOWN
        lines += [f"  ... and {more:,} more (.table has all)"] if more > 0 else []
        return "\n".join([*lines, *(f"Warning: {text}" for text in self.ranking.warnings)])

    def _repr_html_(self) -> str:
        said = (*self._heading, *(f"Warning: {text}" for text in self.ranking.warnings))
        paragraphs = "\n".join(f"<p>{html.escape(text)}</p>" for text in said)
        return f"{paragraphs}\n{html_table(self.table.head(SHOWN))}"

    @property
    def _heading(self) -> list[str]:
        judged = counted(len(self.table), "judge")
        cast = self.ranking.fit.votes_in_words
        said = [] if self.heterogeneity is None else [self.heterogeneity.sentence]
        return [f"Report on {judged} ({self.ranking.model}, {cast})", *said]


def judges(
    votes: Votes | object,
    model: str = DEFAULT_MODEL,
    *,
    noise: str | Noise | None = None,
    prior: PriorChoice = "auto",
    guard: bool = True,
    tastes: bool | None = None,
    ties: Ties | None = None,
    order: Order = "none",
    confidence: float = 0.95,
    threads: int | None = None,
    progress: Watcher | None = None,
    watch: OfWork | None = None,
) -> JudgeReport:
    """Say what each judge's votes tell about the judge, and whether judges differ at all.

    The arguments are those of `rank`; the model must be one that estimates accuracies. `watch`, an
    older name of `progress`, is called with (what is being done, how much of it, how much in all).
    """
    task = task_of(
        as_votes(votes), model, noise, prior, guard=guard, tastes=tastes, ties=ties, order=order,
        threads=threads,
    )  # fmt: skip
    if not task.model.has_accuracies:
        others = models_that(lambda other: other.has_accuracies, "or")
        raise InputError(
            f"The model {model!r} does not estimate accuracies: use {others} to look at judges."
        )
    if said := long_work(task.votes.lists, task.noise.name):
        warnings.warn(said, JuryrankWarning, stacklevel=2)
    report, message = report_on(task, confidence, watcher_of_work(progress, watch))
    issue(report.ranking.warnings, [message], stacklevel=3)
    return report


def report_on(
    task: Task, confidence: float, say: Watcher, effort: Effort | None = None
) -> tuple[JudgeReport, str]:
    """Look at the judges of a task; also gives what the solver complains of."""
    effort = effort or Effort()
    with one_blas_thread():
        found = by_profile(task, say)
        ranking = answer(task, found, "posterior", confidence)
        table, influence = _table(task, found, ranking, say, effort)
        test = _heterogeneity(task, found, say, effort) if task.accuracies_free else None
    return JudgeReport(table, test, influence, ranking), found.solution.message


# --- the table -----------------------------------------------------------------------------------


def _table(
    task: Task, found: GaugedFit, ranking: Ranking, say: Watcher, effort: Effort
) -> tuple[pl.DataFrame, str]:
    votes = task.votes
    agreement, influence, how = _left_out(task, found, say, effort)
    lean = leans(task, found)
    mine = pl.DataFrame(
        {
            "judge": votes.judges,
            "agreement": pl.Series(agreement, nan_to_null=True),
            **_position_columns(votes.n_judges, lean),
            **_repeats(votes),
            **misfit(votes, task.noise, task.threads),
            "median_time": median_time(votes),
            **_one_item(votes),
            "influence": influence,
        }
    )
    joined = ranking.judges.join(mine, on="judge", how="left", nulls_equal=True)
    backwards = np.full(len(joined), np.nan)
    if ranking.fit.posterior is not None:
        backwards = (ranking.posterior.accuracies < 0.0).mean(axis=0)
    table = joined.with_columns(p_backwards=pl.Series(backwards, nan_to_null=True)).select(
        "judge", "accuracy", "accuracy_low", "accuracy_high", "votes", "agreement", "p_backwards",
        "left_share", "position_bias", "position_p", "repeats", "consistency", "infit",
        "outfit", "median_time", "one_item",
        "one_item_share", "influence", "verdict", "reason",
    )  # fmt: skip
    return by_attention(table), how


def _left_out(
    task: Task, found: GaugedFit, say: Watcher, effort: Effort
) -> tuple[Floats, pl.Series, str]:
    """Per judge: the share of its votes that agree with the rest, and how far it moves a rank."""
    votes, count = task.votes, task.votes.n_judges
    scores, how = _scores_without(task, found, effort.most_refits)
    if scores is None:
        return np.full(count, np.nan), pl.Series([None] * count, dtype=pl.Int64), how
    agreement, influence = np.empty(count), np.empty(count, dtype=np.int64)
    # Scores without a judge are those of best fits, and so must be the ones they are held against.
    rank = _ranks(found.raw.score)
    lists = pairs_of(votes.lists)
    of_judge = np.searchsorted(votes.lists.judge[lists[0]], np.arange(count + 1))
    with_ties, *_ = tied_pairs_of(votes.lists)
    tied = np.bincount(votes.lists.judge[with_ties], votes.lists.weight[with_ties], count)
    for u in range(count):
        say(Progress("leaving out", "Leaving judges out", u, count))
        score = scores(u)
        own = slice(votes.start[u], votes.start[u + 1])
        said = np.sign(score[votes.winner[own]] - score[votes.loser[own]]) * (
            votes.outcome[own] != TIE
        )
        number, better, worse = (part[of_judge[u] : of_judge[u + 1]] for part in lists)
        said = np.concatenate((said, np.sign(score[better] - score[worse])))
        weight = np.concatenate((votes.weight[own], votes.lists.weight[number]))
        agreed = float(weight @ (0.5 * (1.0 + said))) + 0.5 * tied[u]
        agreement[u] = agreed / max(float(weight.sum()) + tied[u], 1e-300)
        influence[u] = int(np.abs(_ranks(score) - rank).max())
    return agreement, pl.Series(influence), how


def _ranks(score: Floats) -> NDArray[np.int64]:
    rank = np.empty(len(score), dtype=np.int64)
    rank[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return rank


def _scores_without(
    task: Task, found: GaugedFit, most_refits: int
) -> tuple[Callable[[int], Floats] | None, str]:
    """The scores when one judge is left out, and how they are found."""
    objective, count = found.objective, task.votes.n_judges
    if count < 2:
        return None, "not at all: there is no other judge"
    if count * objective.votes.n_entries <= most_refits:
        every = np.arange(count)
        return lambda u: found.refit(np.where(every == u, 0.0, 1.0)), "by a new fit for each"
    if objective.n_items > MOST_DENSE:
        return None, f"not at all: too many items ({objective.n_items:,}) and judges ({count:,})"
    moved = moves_of_judges(objective, found.raw, found.gauge)
    score = in_gauge(found.raw, found.gauge).score
    return lambda u: score - moved(u), "to first order, as there are too many votes to fit anew"


def _position_columns(count: int, lean: Positions | None) -> dict[str, pl.Series]:
    names = ("left_share", "position_bias", "position_p")
    if lean is None:
        return {name: pl.Series([None] * count, dtype=pl.Float64) for name in names}
    p = np.minimum(2.0 * scipy.special.ndtr(-np.abs(lean.z)) * count, 1.0)
    values = zip(names, (lean.left_share, lean.bias, p), strict=True)
    return {name: pl.Series(value, nan_to_null=True) for name, value in values}


def _repeats(votes: Votes) -> dict[str, pl.Series]:
    """Pairs of votes by one judge on one pair of items, and the share of them that agree."""
    pair, said = votes.unordered()
    pairs = pl.col("count") * (pl.col("count") - 1) // 2
    frame = pl.DataFrame({"judge": votes.judge, "pair": pair, "said": said})
    seen = frame.group_by("judge", "pair").agg(count=pl.len().cast(pl.Int64))
    alike = frame.group_by("judge", "pair", "said").agg(count=pl.len().cast(pl.Int64))
    every = pl.DataFrame({"judge": np.arange(votes.n_judges, dtype=np.int32)})
    found = (
        every.join(seen.group_by("judge").agg(repeats=pairs.sum()), on="judge", how="left")
        .join(alike.group_by("judge").agg(agree=pairs.sum()), on="judge", how="left")
        .sort("judge")
        .with_columns(pl.col("repeats", "agree").fill_null(0))
    )
    share = pl.when(pl.col("repeats") > 0).then(pl.col("agree") / pl.col("repeats"))
    return {"repeats": found["repeats"], "consistency": found.select(c=share)["c"]}


def _one_item(votes: Votes) -> dict[str, pl.Series]:
    """The item whose wins, or whose losses, are most of a judge's votes, and their share.

    To be first in a list is to win it, to be last to lose it.
    """
    wins, lists = votes.for_model().pairs, votes.lists
    first, last = lists.begin[:-1], lists.begin[1:] - 1
    won, lost = (
        at[lists.level[at] != lists.level[beside]]
        for at, beside in ((first, first + 1), (last, last - 1))
    )
    judge = wins.judge
    sides = [
        pl.DataFrame(
            {
                "judge": np.concatenate((judge, lists.judge[lists.entry_list[at]])),
                "item": np.concatenate((item, lists.item[at])),
                "weight": np.concatenate((wins.weight, lists.weight[lists.entry_list[at]])),
            }
        )
        .group_by("judge", "item")
        .agg(pl.col("weight").sum())
        for item, at in ((wins.winner, won), (wins.loser, lost))
    ]
    most = (
        pl.concat(sides)
        .sort("judge", "weight", "item", descending=[False, True, False])
        .group_by("judge", maintain_order=True)
        .first()
    )
    every = pl.DataFrame({"judge": np.arange(votes.n_judges, dtype=np.int32)})
    found = every.join(most, on="judge", how="left").sort("judge")
    share = found["weight"].to_numpy() / np.maximum(votes.votes_per_judge, 1e-300)
    item = votes.items.gather(found["item"].fill_null(0))
    known = pl.DataFrame({"item": item, "share": pl.Series(share, nan_to_null=True)})
    none = pl.when(pl.col("share").is_not_null())
    return {
        "one_item": known.select(c=none.then("item"))["c"],
        "one_item_share": known["share"],
    }


# --- do judges differ at all? --------------------------------------------------------------------


def _heterogeneity(
    task: Task, found: GaugedFit, say: Watcher, effort: Effort
) -> Heterogeneity | None:
    """Compare with equal judges: by likelihood, p-value by simulation, and on held-out votes."""
    kept = votes_that_count(task.votes, found.set_aside)
    orders = orders_of_ties(task.votes.lists).max(initial=1.0)
    if orders > MOST_ORDERS:
        return None
    objective = _without_effects(found.objective, kept)
    equal = replace(objective, fixed_accuracy=np.ones(task.votes.n_judges))
    free = replace(objective, prior=replace(objective.prior, accuracy_sd=WIDE_SPREAD))
    alike = ROUGH.solve(equal)
    observed = _gain(equal, free, alike.score, found.raw.score)
    rng = np.random.default_rng(0)
    count = REPLICATES if equal.votes.n_entries <= effort.few_votes else REPLICATES_OF_MANY
    # Ties stay ties, so the others are drawn by scores that know of no ties; and from errors
    # around them, as the best scores are shrunk and votes drawn from them too much alike.
    no_tie = np.concatenate((kept.outcome != TIE, np.ones(kept.lists.number, dtype=np.bool_)))
    decided = replace(equal, votes=kept.subset(no_tie).for_model().in_every_order())
    centre = ROUGH.solve(decided)
    errors = by_information(
        decided, centre, gauge_of(decided, centre.accuracy, kept.votes_per_judge)
    )
    reached = 0
    draws = chain.from_iterable(errors.draws(count, seed=0))
    for done, error in enumerate(draws):
        say(Progress("simulating", "Simulating equal judges", done, count))
        drawn = _redrawn(kept, task.noise, centre.score + error, rng)
        simulated = _without_effects(equal, drawn), _without_effects(free, drawn)
        reached += _gain(*simulated, alike.score, alike.score) >= observed
    return Heterogeneity(observed, (1 + reached) / (1 + count), count, *_held_out(task, say))


def _without_effects(objective: Objective, votes: Votes) -> Objective:
    """The objective for these votes, of which nothing but scores and accuracies is to be known."""
    return replace(objective, votes=votes.for_model().in_every_order(), effects=NO_EFFECTS)


def _gain(equal: Objective, free: Objective, score: Floats, free_score: Floats) -> float:
    """``2 (min J with equal accuracies - min J with free ones)``, from where each is expected."""
    alike = ROUGH.solve(equal, score, np.ones(equal.n_judges))
    different = [ROUGH.solve(free, start).value or 0.0 for start in (alike.score, free_score)]
    return 2.0 * ((alike.value or 0.0) - min(different))


def _redrawn(votes: Votes, noise: Noise, score: Floats, rng: np.random.Generator) -> Votes:
    """The same questions, answered by equal judges; ties stay ties."""
    left, right = votes.sides()
    left_won = rng.random(votes.n_pairs) < noise.cdf(score[left] - score[right])
    outcome = np.where(votes.outcome == TIE, TIE, np.where(left_won, LEFT_WON, RIGHT_WON))
    lists = _redrawn_lists(votes.lists, noise, score, rng)
    return replace(votes.with_outcomes(outcome.astype(np.int8)), lists=lists)


def _redrawn_lists(lists: Lists, noise: Noise, score: Floats, rng: np.random.Generator) -> Lists:
    seen = score[lists.item] + noise.draw(rng, (len(lists.item),))
    return lists._replace(item=lists.item[np.lexsort((-seen, lists.entry_list))])


def _held_out(task: Task, say: Watcher) -> tuple[str, float, float, float, float]:
    """The model with equal judges, both held-out losses, and the gain with its error."""
    models = MODELS_BY_NOISE.get(task.noise.name, CLOSEST_MODELS)
    folds = min(FOLDS, len(task.votes))

    def tell(event: Progress) -> None:
        say(replace(event, text="Predicting held-out votes"))

    table = compare(task.votes, models, folds=folds, threads=task.threads, progress=tell).table
    rows = {row["model"]: row for row in table.iter_rows(named=True)}
    ours, equal = (rows[model] for model in models)
    error = max(ours["worse_by_se"] or 0.0, equal["worse_by_se"] or 0.0)
    loss, equal_loss = ours["log_loss"], equal["log_loss"]
    return models[1], loss, equal_loss, equal_loss - loss, error
