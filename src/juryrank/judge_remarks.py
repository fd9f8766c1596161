"""Which judges are worth a look, from their accuracies and numbers of votes alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.arrays import Floats
from juryrank.models import Model, model_named
from juryrank.ranking import Ranking

BACKWARDS = "votes backwards: turned round, its votes fit the order"
GUESSING = "could as well be guessing: hardly follows the order"
BEST = "agrees best with this order"
FEWEST_JUDGES_WITH_A_BEST = 3
UNSURE = 2.0
"""Standard errors within which an accuracy could as well be another."""


@dataclass(frozen=True, eq=False)
class JudgeRemark:
    """One sentence, and the judges it is true of, the clearest cases first."""

    sentence: str
    judges: pl.DataFrame
    """The columns of `Ranking.judges`: judge, accuracy, votes."""


def judge_remarks(ranking: Ranking) -> tuple[JudgeRemark, ...]:
    """Find the judges who vote backwards, who may be guessing, and who agrees best.

    A judge is only named if its number of votes allows it, going by a rough standard error. To be
    called backwards a judge must be so far off that chance would hardly do it to any of them.
    """
    model = model_named(ranking.model)
    if model.judges == "equal" or len(ranking.judges) < 2:
        return ()
    votes = ranking.judges["votes"].to_numpy().astype(np.float64)
    ahead = ranking.judges["accuracy"].to_numpy() - _accuracy_of_a_guesser(model)
    error = _standard_error(model, _spread(ranking), votes)
    margin = UNSURE * error
    luck = _luck(len(votes)) * error
    typical = float(np.average(np.abs(ahead), weights=votes)) if votes.any() else 0.0
    guessing = (np.abs(ahead) <= margin) & (ahead + margin < typical)
    found = (
        _remark(ranking, BACKWARDS, ahead < -luck, -ahead - luck),
        _remark(ranking, GUESSING, guessing, -margin),
        _remark(ranking, BEST, _best(ahead - margin, float(np.median(ahead))), ahead),
    )
    return tuple(remark for remark in found if len(remark.judges))


def _accuracy_of_a_guesser(model: Model) -> float:
    return 0.5 if model.judges == "reliability" else 0.0


def _spread(ranking: Ranking) -> float:
    return float(np.std(ranking.items["score"].to_numpy()))


def _standard_error(model: Model, spread: float, votes: Floats) -> Floats:
    """Roughly, for items of this spread: ``2 / (spread sqrt(votes))``.

    A reliability is a probability, known no better than ``1 / (2 sqrt(votes))`` even from items
    so far apart that only the judge's reliability decides the vote.
    """
    if spread == 0.0:
        return np.full(len(votes), np.inf)
    scale = math.hypot(1.0, 2.0 / spread) / 2.0 if model.judges == "reliability" else 2.0 / spread
    with np.errstate(divide="ignore"):
        return np.asarray(scale / np.sqrt(votes))


def _luck(judges: int) -> float:
    """How many standard errors the unluckiest of so many guessing judges is off, and one more.

    One more, because the order was fitted to these very votes, which flatters the errors.
    """
    return max(UNSURE, math.sqrt(2.0 * math.log(judges))) + 1.0


def _best(at_least: Floats, median: float) -> NDArray[np.bool_]:
    """Choose the judge who stands out even if its accuracy is overestimated."""
    chosen = np.zeros(len(at_least), dtype=np.bool_)
    if len(at_least) >= FEWEST_JUDGES_WITH_A_BEST:
        chosen[np.argmax(at_least)] = at_least.max() > max(median, 0.0)
    return chosen


def _remark(
    ranking: Ranking, sentence: str, chosen: NDArray[np.bool_], clearness: Floats
) -> JudgeRemark:
    places = np.flatnonzero(chosen)
    clearest_first = places[np.argsort(-clearness[places], kind="stable")]
    return JudgeRemark(sentence, ranking.judges[clearest_first])
