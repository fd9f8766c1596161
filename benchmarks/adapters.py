"""One adapter for each program, all with one signature: a frame of string ids in, scores out.

An adapter has two steps, which are timed apart: `convert` makes of the frame what the program
takes (ids as integers, a pandas frame, a list of pairs, ...), `fit` is the program itself. The
programs run as their documentation shows them and with their default settings; where there are
several ways, the fastest that was found. What each does is said in its `note`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Answer:
    """What a program found."""

    scores: pl.DataFrame
    """The columns item and score."""
    converged: bool | None = None
    """What the program itself says; None if it does not say."""
    likelihood: bool = False
    """Whether the scores are log-odds that should maximise the likelihood of Bradley-Terry."""


@dataclass(frozen=True)
class Adapter:
    """A program, as it is used from a data frame."""

    name: str
    package: str
    """The distribution that must be installed."""
    note: str
    convert: Callable[[pl.DataFrame], Any]
    fit: Callable[[Any], Answer]

    def run(self, frame: pl.DataFrame) -> Answer:
        """From the frame to the scores."""
        return self.fit(self.convert(frame))


@dataclass(frozen=True, eq=False)
class Coded:
    """Winners and losers as integers, and the labels."""

    items: pl.Series
    winner: NDArray[np.int64]
    loser: NDArray[np.int64]


def coded(frame: pl.DataFrame) -> Coded:
    """Code the ids, as quickly as polars can."""
    items = pl.concat([frame["left"].unique(), frame["right"].unique()]).unique().sort()
    kind = pl.Enum(items)
    left, right = (frame[side].cast(kind).to_physical().to_numpy() for side in ("left", "right"))
    left_won = (frame["winner"] == "left").to_numpy()
    winner = np.where(left_won, left, right).astype(np.int64)
    return Coded(items, winner, np.where(left_won, right, left).astype(np.int64))


def scored(items: Any, score: Any) -> pl.DataFrame:
    """Items and scores as a frame."""
    labels = items if isinstance(items, pl.Series) else pl.Series(list(items), dtype=pl.String)
    return pl.DataFrame({"item": labels, "score": np.asarray(score, dtype=np.float64)})


# --- juryrank ------------------------------------------------------------------------------------


def _juryrank_votes(frame: pl.DataFrame) -> Any:
    return import_module("juryrank").votes_from(frame)


def _juryrank(**settings: Any) -> Callable[[Any], Answer]:
    def fit(votes: Any) -> Answer:
        ranking = import_module("juryrank").rank(votes, **settings)
        return Answer(ranking.items.select("item", "score"), ranking.fit.converged)

    return fit


# --- the floor -----------------------------------------------------------------------------------


def _floor(votes: Coded) -> Answer:
    """One step from equal scores: what any fit does at least once."""
    n = len(votes.items)
    score = np.zeros(n)
    chance = 1.0 / (1.0 + np.exp(score[votes.winner] - score[votes.loser]))
    curvature = chance * (1.0 - chance)
    gradient = np.bincount(votes.winner, chance, n) - np.bincount(votes.loser, chance, n)
    total = np.bincount(votes.winner, curvature, n) + np.bincount(votes.loser, curvature, n)
    return Answer(scored(votes.items, gradient / total))


# --- the peers -----------------------------------------------------------------------------------


def _evalica_lists(frame: pl.DataFrame) -> tuple[list[str], list[str], list[Any]]:
    winner = import_module("evalica").Winner
    word = {"left": winner.X, "right": winner.Y}
    outcomes = [word[side] for side in frame["winner"].to_list()]
    return frame["left"].to_list(), frame["right"].to_list(), outcomes


def _evalica(votes: tuple[list[str], list[str], list[Any]]) -> Answer:
    result = import_module("evalica").bradley_terry(*votes)
    scores = scored(result.scores.index, np.log(result.scores.to_numpy()))
    return Answer(scores, result.iterations < result.limit, likelihood=True)


def _arena_dataset(frame: pl.DataFrame) -> Any:
    data = import_module("arena_rank.utils.data_utils")
    return data.PairDataset.from_pandas(
        frame.select(model_a="left", model_b="right", winner="winner").to_pandas(),
        outcome_map={"left": 1.0, "right": 0.0},
    )


def _arena_rank(dataset: Any) -> Answer:
    model = import_module("arena_rank.models.bradley_terry").BradleyTerry(len(dataset.competitors))
    ratings = model.fit(dataset).params["ratings"]
    return Answer(scored(dataset.competitors, ratings), likelihood=True)


def _arena_rank_intervals(dataset: Any) -> Answer:
    model = import_module("arena_rank.models.bradley_terry").BradleyTerry(len(dataset.competitors))
    result = model.compute_ratings_and_cis(dataset)
    np.asarray(result["rating_lower"])  # waits until it is there
    return Answer(scored(dataset.competitors, model.params["ratings"]), likelihood=True)


def _pairs(frame: pl.DataFrame) -> tuple[pl.Series, list[tuple[int, int]]]:
    votes = coded(frame)
    return votes.items, list(zip(votes.winner.tolist(), votes.loser.tolist(), strict=True))


def _choix(votes: tuple[pl.Series, list[tuple[int, int]]]) -> Answer:
    items, pairs = votes
    return _from_choix(items, lambda choix: choix.ilsr_pairwise(len(items), pairs))


def _win_matrix(frame: pl.DataFrame) -> tuple[pl.Series, NDArray[np.float64]]:
    votes = coded(frame)
    n = len(votes.items)
    counts = np.bincount(votes.winner * n + votes.loser, minlength=n * n)
    return votes.items, counts.reshape(n, n).astype(np.float64)


def _choix_dense(votes: tuple[pl.Series, NDArray[np.float64]]) -> Answer:
    items, matrix = votes
    return _from_choix(items, lambda choix: choix.ilsr_pairwise_dense(matrix))


def _from_choix(items: pl.Series, fit: Callable[[Any], NDArray[np.float64]]) -> Answer:
    try:
        score = fit(import_module("choix"))
    except RuntimeError as error:
        if "converge" not in str(error):
            raise
        return Answer(scored(items, np.full(len(items), np.nan)), converged=False)
    return Answer(scored(items, score), converged=True, likelihood=True)


def _crowdkit_frame(frame: pl.DataFrame) -> Any:
    label = pl.when(pl.col("winner") == "left").then("left").otherwise("right")
    return frame.select("left", "right", worker="judge", label=label).to_pandas()


def _crowdkit(votes: Any) -> Answer:
    model = import_module("crowdkit.aggregation").BradleyTerry(n_iter=100)
    scores = model.fit_predict(votes)
    with np.errstate(divide="ignore"):
        return Answer(scored(scores.index, np.log(scores.to_numpy())), likelihood=True)


def _crowdkit_noisy(votes: Any) -> Answer:
    scores = import_module("crowdkit.aggregation").NoisyBradleyTerry().fit_predict(votes)
    return Answer(scored(scores.index, scores.to_numpy()))


def _openskill(votes: tuple[pl.Series, list[tuple[int, int]]]) -> Answer:
    items, pairs = votes
    model = import_module("openskill.models").PlackettLuce()
    rating = [model.rating() for _ in range(len(items))]
    rate = model.rate
    for winner, loser in pairs:
        (rating[winner],), (rating[loser],) = rate([[rating[winner]], [rating[loser]]])
    return Answer(scored(items, [one.mu for one in rating]))


PRIOR = (1.0, 0.5)
"""About as the votes are drawn; with it, nothing is sampled."""

ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        Adapter(
            "juryrank", "juryrank", "HBTL: judge accuracies, intervals, guard, prior by the data",
            _juryrank_votes, _juryrank(),
        ),
        Adapter(
            "juryrank-normal", "juryrank", "HBTL: the same with a given prior, nothing sampled",
            _juryrank_votes, _juryrank(prior=PRIOR),
        ),
        Adapter(
            "juryrank-plain", "juryrank", "HBTL: the same without intervals",
            _juryrank_votes, _juryrank(intervals=None),
        ),
        Adapter(
            "juryrank-btl", "juryrank", "BTL: judges alike, without intervals",
            _juryrank_votes, _juryrank(model="btl", intervals=None),
        ),
        Adapter(
            "juryrank-profiled", "juryrank", "HBTL on one thread, for the profiler",
            _juryrank_votes, _juryrank(threads=1),
        ),
        Adapter(
            "evalica", "evalica", "`bradley_terry` on lists, as its README has it (faster than "
            "pandas columns); no judges",
            _evalica_lists, _evalica,
        ),
        Adapter(
            "arena-rank", "arena-rank", "`PairDataset` and `BradleyTerry.fit`, outcomes mapped by "
            "a dictionary; compiles anew for all data; no judges, no intervals",
            _arena_dataset, _arena_rank,
        ),
        Adapter(
            "arena-rank-intervals", "arena-rank", "the same with `compute_ratings_and_cis`",
            _arena_dataset, _arena_rank_intervals,
        ),
        Adapter(
            "choix", "choix", "`ilsr_pairwise` on a list of pairs; no judges", _pairs, _choix
        ),
        Adapter(
            "choix-dense", "choix", "`ilsr_pairwise_dense` on an n x n matrix of wins that polars "
            "and numpy have counted (conversion); no judges",
            _win_matrix, _choix_dense,
        ),
        Adapter(
            "crowd-kit", "crowd-kit", "`BradleyTerry(n_iter=100)`, which ends after two "
            "iterations; no judges",
            _crowdkit_frame, _crowdkit,
        ),
        Adapter(
            "crowd-kit-noisy", "crowd-kit", "`NoisyBradleyTerry`: a skill and a bias per judge",
            _crowdkit_frame, _crowdkit_noisy,
        ),
        Adapter(
            "openskill", "openskill", "`PlackettLuce`, one vote after the other; no judges",
            _pairs, _openskill,
        ),
        Adapter(
            "floor", "numpy", "codes the ids and takes one Newton step in numpy: no fit", coded,
            _floor,
        ),
    )
}  # fmt: skip
RIVALS = ("evalica", "arena-rank", "choix", "crowd-kit")
"""Those the goals are about."""
