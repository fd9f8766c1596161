"""Intervals beside the truth of simulated votes, and how often they contain it.

The answer's scale is fixed by the judges: the mean of |accuracy|, weighted by votes (for a ranking,
by its choices), is 1, no judge counting for more than twice the mean. The truth is brought to the
same scale. With ``k_u`` votes and accuracy ``a_u`` of each judge present,

    c = sum_u k_u min(|a_u|, 2 c) / sum_u k_u,

    true accuracies are a / c,    true scores are c (s - mean s) over the items present.

Coverage is (number covered) / (number of intervals). All intervals of one data set share its luck,
so its standard error takes data sets as the independent draws: with ``k_t`` of ``n_t`` covered in
data set ``t`` of ``D``, and ``p`` the coverage,

    se^2 = D / (D - 1)  sum_t (k_t - p n_t)^2 / (sum_t n_t)^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.inference.covariance import Intervals
from juryrank.inference.posterior import half_width
from juryrank.model.gauge import gauge_scale
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.request import Order, Ties
from juryrank.simulation.simulation import Simulation
from juryrank.types import Floats
from juryrank.votes.lists import choices
from juryrank.votes.votes import Votes
from juryrank.votes.weights import total_weight
from studies.running import all_results

CONFIDENCE = 0.95
MODELS = ("hbtl", "htcv")
LEAST, MOST = 0.93, 0.97
"""Coverage outside these limits is called out;"""
RANKS = ("ranks", "all ranks")
"""of ranks, whose intervals hold all together, only coverage below the confidence."""


@dataclass(frozen=True)
class Setting:
    """Who votes on what; scores are drawn from N(0, 1) for each data set."""

    name: str
    items: int
    accuracies: tuple[float, ...] | None
    """None: 100 judges from a log-normal(0, 0.5), drawn for each data set."""
    votes_per_judge: int

    def drawn_accuracies(self, rng: np.random.Generator) -> list[float]:
        """The judges of one data set."""
        return list(self.accuracies or rng.lognormal(0.0, 0.5, 100))


SETTINGS = (
    Setting("dense", 12, (2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.5, 0.4), 150),
    Setting("sparse", 30, (1.5, 1.2, 1.0, 1.0, 0.8, 0.5) * 2, 30),
    Setting("heterogeneous", 15, (4.0, 3.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.0), 80),
    Setting("adversarial", 15, (2.0, 1.5, 1.0, 1.0, 0.8, 0.5, -1.0, -1.5), 80),
    Setting("few votes", 15, None, 8),
)
FEW_VOTES = SETTINGS[-1]


@dataclass(frozen=True)
class Way:
    """How the intervals are made."""

    name: str
    intervals: Intervals

    def ranking(
        self, votes: Votes, model: str, ties: Ties | None = None, order: Order = "none"
    ) -> Ranking:
        """The answer with its intervals."""
        return jr.rank(
            votes, model, ties=ties, order=order, intervals=self.intervals, confidence=CONFIDENCE,
            threads=1,
        )  # fmt: skip


DEFAULT = Way("posterior", "posterior")
OF_BEST_FIT = (
    Way("information", "information"),
    Way("sandwich", "sandwich"),
    Way("bootstrap", "bootstrap"),
)


@dataclass(frozen=True)
class Counts:
    """Data sets of each setting and model; each bootstrap takes 200 more fits."""

    data_sets: int = 200
    bootstraps: int = 40


@dataclass(frozen=True)
class Trial:
    """One data set and one way to make intervals for it; the votes do not depend on the way."""

    setting: Setting
    model: str
    way: Way
    number: int
    seed: int

    def simulated(self) -> Simulation:
        """The votes and the truth."""
        key = (SETTINGS.index(self.setting), MODELS.index(self.model), self.number)
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, *key]))
        return jr.simulate(
            self.setting.items,
            model=self.model,
            accuracies=self.setting.drawn_accuracies(rng),
            votes_per_judge=self.setting.votes_per_judge,
            seed=int(rng.integers(2**31)),
        )


# --- one data set --------------------------------------------------------------------------------


def measured(trial: Trial) -> pl.DataFrame:
    """Every interval of one data set: what, estimate, low, high, truth (and held, for ranks)."""
    made = trial.simulated()
    votes = made.coded()
    ranking = trial.way.ranking(votes, trial.model)
    frame = beside_truth(made, votes, ranking)
    return labelled(frame, trial.setting.name, trial.model, trial.way, trial.number)


def beside_truth(made: Simulation, votes: Votes, ranking: Ranking) -> pl.DataFrame:
    """Intervals of scores, differences, accuracies (where they are estimated) and ranks."""
    accuracy, scale = _true_accuracies(made, votes, ranking)
    score = _true_scores(made, ranking) * scale
    estimated = ranking.judges["accuracy_low"].is_not_null().any()
    frames = (
        _scores(ranking, score),
        _differences(ranking, score),
        *([_accuracies(ranking, accuracy)] if estimated else []),
        _ranks(ranking, score),
    )
    return pl.concat(frames, how="diagonal")


def labelled(
    intervals: pl.DataFrame, setting: str, model: str, way: Way, number: int
) -> pl.DataFrame:
    """The intervals of one data set, with the data set's name."""
    return intervals.select(
        setting=pl.lit(setting),
        model=pl.lit(model),
        way=pl.lit(way.name),
        trial=pl.lit(number),
        **{name: pl.col(name) for name in intervals.columns},
    )


def _true_accuracies(made: Simulation, votes: Votes, ranking: Ranking) -> tuple[Floats, float]:
    """In the order and the scale of the answer; and that scale."""
    of_lists = total_weight(
        votes.lists.judge, votes.lists.weight * choices(votes.lists), votes.n_judges
    )
    said = of_lists + total_weight(votes.judge, votes.weight, votes.n_judges)
    counts = pl.DataFrame({"judge": votes.judges, "choices": said})
    judges = (
        ranking.judges.select("judge")
        .join(made.judges, on="judge", maintain_order="left")
        .join(counts, on="judge", maintain_order="left")
    )
    accuracy = judges["accuracy"].to_numpy()
    scale = gauge_scale(accuracy, judges["choices"].to_numpy())
    return accuracy / scale, scale


def _true_scores(made: Simulation, ranking: Ranking) -> Floats:
    """In the order of the answer, centred."""
    items = ranking.items.select("item").join(made.items, on="item", maintain_order="left")
    score = items["score"].to_numpy()
    return np.asarray(score - score.mean())


def _scores(ranking: Ranking, truth: Floats) -> pl.DataFrame:
    return ranking.items.select(
        what=pl.lit("scores"), estimate="score", low="score_low", high="score_high",
        truth=pl.Series(truth),
    )  # fmt: skip


def _differences(ranking: Ranking, truth: Floats) -> pl.DataFrame:
    """All pairs, the better item first."""
    # `Ranking.difference` does the same for one pair, and looks up labels each time.
    posterior, code = ranking._posterior, ranking._basis.item_code.tolist()
    if posterior is None:
        raise ValueError("The answer has no errors.")
    found = [
        (*posterior.gap(code[i], code[j], CONFIDENCE)[:3], truth[i] - truth[j])
        for i, j in combinations(range(len(code)), 2)
    ]
    names = ["estimate", "low", "high", "truth"]
    return pl.DataFrame(found, schema=names, orient="row").with_columns(what=pl.lit("differences"))


def _accuracies(ranking: Ranking, truth: Floats) -> pl.DataFrame:
    return ranking.judges.select(
        what=pl.lit("accuracies"), estimate="accuracy", low="accuracy_low", high="accuracy_high",
        truth=pl.Series(truth),
    )  # fmt: skip


def _ranks(ranking: Ranking, true_score: Floats) -> pl.DataFrame:
    number = pl.col("rank", "rank_low", "rank_high").cast(pl.Float64)
    return (
        ranking.items.with_columns(number)
        .select(estimate="rank", low="rank_low", high="rank_high")
        .with_columns(
            what=pl.lit("ranks"),
            truth=pl.Series(_ranks_by(true_score)),
            held=pl.Series(_held_by_draws(ranking)),
        )
    )


def _ranks_by(score: Floats) -> Floats:
    """Rank 1 for the highest, along the last axis."""
    return np.asarray(np.argsort(np.argsort(-score, axis=-1), axis=-1) + 1.0)


def _held_by_draws(ranking: Ranking) -> Floats:
    """The share of the draws in which each rank lies within its interval."""
    rank = _ranks_by(ranking.posterior.scores)
    low, high = ranking.items["rank_low"].to_numpy(), ranking.items["rank_high"].to_numpy()
    return np.asarray(((low <= rank) & (rank <= high)).mean(axis=0))


# --- all data sets -------------------------------------------------------------------------------


def measure(
    settings: Sequence[Setting],
    models: Sequence[str],
    ways: Sequence[Way],
    count: int,
    seed: int,
    jobs: int | None = None,
) -> pl.DataFrame:
    """Every interval of `count` data sets of each setting and model, made in each way."""
    trials = [
        Trial(setting, model, way, number, seed)
        for setting in settings
        for model in models
        for way in ways
        for number in range(count)
    ]
    names = ", ".join(way.name for way in ways)
    return pl.concat(all_results(measured, trials, f"Covering: {names}", jobs))


def study(
    counts: Counts,
    seed: int = 0,
    jobs: int | None = None,
    models: Sequence[str] = MODELS,
) -> pl.DataFrame:
    """The summary of all settings, and of few votes with the other intervals."""
    *others, bootstrap = OF_BEST_FIT
    parts: tuple[tuple[Sequence[Setting], Sequence[Way], int], ...] = (
        (SETTINGS, [DEFAULT], counts.data_sets),
        ([FEW_VOTES], others, counts.data_sets),
        ([FEW_VOTES], [bootstrap], counts.bootstraps),
    )
    return pl.concat(
        [
            summary(measure(settings, models, ways, count, seed, jobs))
            for settings, ways, count in parts
        ]
    )


GROUP = ("setting", "model", "way", "what")
DATA_SET = ("setting", "model", "way", "trial")


TIES, LEFT = "tie", "left side"
OF_ALL = pl.col("what").is_in([TIES, LEFT])
"""Effects common to all judges, whose truth is the same in every data set."""
OF_JUDGES = pl.col("what").is_in(["accuracies", "best judge"])


def summary(intervals: pl.DataFrame) -> pl.DataFrame:
    """For each setting, model, way and quantity how often the intervals contain the truth.

    The columns: intervals, coverage and its standard error se, mean width, and sd_z, the standard
    deviation of ``z = (estimate - truth) / error``, where the error is half the width over 1.96. Of
    the truths missed, `too_small` is the share of all intervals that lie too close to 0 (accuracies
    and effects: too low) and `too_large` the rest. `slope` is that of a regression of truth on
    estimate, ``sum truth estimate / sum estimate^2`` (accuracies: both less 1). `held` is the share
    of the draws of ranks that rank intervals contain. All ranks are those of a data set, covered if
    each of them is.
    """
    sides = (pl.col("truth") > pl.col("high")).cast(pl.Int8) - (
        pl.col("truth") < pl.col("low")
    ).cast(pl.Int8)
    seen = intervals.with_columns(miss=sides)
    return (
        pl.concat((seen, _all_ranks(seen), _most_accurate(seen)), how="diagonal")
        .group_by(*GROUP, "trial", maintain_order=True)
        .agg(_sums())
        .group_by(*GROUP, maintain_order=True)
        .agg(_means())
    )


def _all_ranks(intervals: pl.DataFrame) -> pl.DataFrame:
    """All rank intervals of each data set as one case."""
    return (
        intervals.filter(pl.col("what") == "ranks")
        .group_by(*DATA_SET, maintain_order=True)
        .agg(pl.col("low", "high").mean(), pl.col("miss").abs().max())
        .with_columns(what=pl.lit("all ranks"))
    )


def _most_accurate(intervals: pl.DataFrame) -> pl.DataFrame:
    """The accuracy of the truly best judge in each data set."""
    judges = intervals.filter(pl.col("what") == "accuracies")
    best = judges.filter(pl.col("truth") == pl.col("truth").max().over(*DATA_SET))
    return best.with_columns(what=pl.lit("best judge"))


def _sums() -> list[pl.Expr]:
    """Of one data set."""
    width = pl.col("high") - pl.col("low")
    z = (pl.col("estimate") - pl.col("truth")) * 2.0 * half_width(CONFIDENCE) / width
    inward = pl.col("miss") * pl.when(OF_JUDGES | OF_ALL).then(1.0).otherwise(
        pl.col("truth").sign()
    )
    centre = pl.when(OF_JUDGES).then(1.0).otherwise(0.0)
    off, true = pl.col("estimate") - centre, pl.col("truth") - centre
    return [
        pl.len().alias("cases"),
        (pl.col("miss") == 0).sum().alias("covered"),
        width.sum().alias("width"),
        z.sum().alias("z"),
        (z * z).sum().alias("z_square"),
        (inward > 0.0).sum().alias("too_small"),
        (inward < 0.0).sum().alias("too_large"),
        (off * true).sum().alias("product"),
        (off * off).sum().alias("square"),
        pl.col("held").sum(),
    ]


def _means() -> list[pl.Expr]:
    """Over data sets, from the sums of each."""
    cases, sets = pl.col("cases").sum(), pl.len()
    coverage = pl.col("covered").sum() / cases
    lack = pl.col("covered") - coverage * pl.col("cases")
    z_mean = pl.col("z").sum() / cases
    sd_z = (pl.col("z_square").sum() / cases - z_mean**2).sqrt()
    what = pl.col("what").first()
    numbers = ~what.is_in(RANKS)
    # The slope of the best judge alone would be one of chance: the truth has picked that judge.
    sloped = numbers & ~what.is_in(["best judge", TIES, LEFT])
    slope = pl.col("product").sum() / pl.col("square").sum()
    return [
        sets.alias("data_sets"),
        cases.alias("intervals"),
        coverage.alias("coverage"),
        ((lack**2).sum() * sets / (sets - 1)).sqrt().truediv(cases).alias("se"),
        (pl.col("width").sum() / cases).alias("width"),
        pl.when(numbers).then(sd_z).alias("sd_z"),
        pl.when(numbers).then(pl.col("too_small").sum() / cases).alias("too_small"),
        pl.when(numbers).then(pl.col("too_large").sum() / cases).alias("too_large"),
        pl.when(sloped).then(slope).alias("slope"),
        pl.when(what == "ranks").then(pl.col("held").sum() / cases).alias("held"),
    ]
