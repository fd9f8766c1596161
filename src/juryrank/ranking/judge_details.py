"""What comparative judgement looks at in a judge: misfit, sides and times."""

from __future__ import annotations

import numpy as np
import polars as pl

from juryrank.model.noise import Noise
from juryrank.ranking.methods import by_profile
from juryrank.ranking.misfit import in_few_pairs, residuals
from juryrank.ranking.request import task_of
from juryrank.types import Floats
from juryrank.votes.votes import Votes
from juryrank.votes.weights import weight_per_judge

MODELS_BY_NOISE = {"gumbel": ("hbtl", "btl"), "normal": ("htcv", "tcv")}
"""Named models with judges who differ, and with equal ones; other noises are close to Gumbel."""
CLOSEST_MODELS = MODELS_BY_NOISE["gumbel"]


def details_of(votes: Votes, noise: Noise) -> pl.DataFrame:
    """Of every judge: judge, infit, outfit, left_share and median_time; null if not known."""
    return pl.DataFrame(
        {
            "judge": votes.judges,
            **misfit(votes, noise),
            "left_share": pl.Series(_left_share(votes), nan_to_null=True),
            "median_time": median_time(votes),
        }
    )


def misfit(votes: Votes, noise: Noise, threads: int | None = None) -> dict[str, pl.Series]:
    """Infit and outfit by the best fit with equal judges, as comparative judgement has them."""
    _, equal = MODELS_BY_NOISE.get(noise.name, CLOSEST_MODELS)
    plain = task_of(votes, equal, None, "auto", of_mode=True, threads=threads)
    score = by_profile(plain).solution.score
    pairs, _ = in_few_pairs(votes)
    left, right = pairs.sides()
    gap = score[left] - score[right]
    found = residuals(pairs, plain.noise.cdf(gap), plain.noise.cdf(-gap)).by_judge()
    return {
        "infit": pl.Series(found.infit, nan_to_null=True),
        "outfit": pl.Series(found.outfit, nan_to_null=True),
    }


def median_time(votes: Votes) -> pl.Series:
    """How long each judge takes for a vote, by the median; null if nothing tells."""
    if votes.times is None:
        return pl.Series([None] * votes.n_judges, dtype=pl.Float64)
    return pl.Series(votes.times.median, nan_to_null=True)


def _left_share(votes: Votes) -> Floats:
    """The share of votes for the item on the left, a tie counting half; NaN if nothing tells."""
    if not votes.sides_known:
        return np.full(votes.n_judges, np.nan)
    to_the_left = 0.5 * (1.0 + votes.outcome)
    won = np.bincount(votes.judge, weights=votes.weight * to_the_left, minlength=votes.n_judges)
    count = weight_per_judge(votes.start, votes.weight)
    share = np.divide(won, count, out=np.full(len(count), np.nan), where=count > 0.0)
    return np.asarray(share)
