"""`compare`: the models side by side on votes they have not seen."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from juryrank.errors import (
    InputError,
    JuryrankError,
    JuryrankWarning,
    counted,
    require_seed,
)
from juryrank.model.registry import MODELS, Model, model_named
from juryrank.progress import Progress, Watcher
from juryrank.ranking.expected_time import GUMBEL, long_work
from juryrank.ranking.rank import rank
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.request import Ties, require_takes, takes
from juryrank.reading import as_votes
from juryrank.types import Floats
from juryrank.votes.lists import MOST_ORDERS, in_every_order, orders_of_ties, pairs_of, tie_sizes
from juryrank.votes.votes import Reading, Votes
from juryrank.writing.html_table import html_table

Counter = Callable[[int, int, str], None]
"""Called with (fits done, fits in all, model) while comparing."""

Fitter = Callable[[Votes], Ranking]
"""How a ranking is made of votes."""

NO_TASTES = "-no-tastes"
"""What is added to the name of a model to have it without tastes."""
COMPARED = tuple(
    name + suffix
    for name, model in MODELS.items()
    if not model.any_noise
    for suffix in ("", NO_TASTES)[: 1 + model.tastes]
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Held-out performance, best first.

    `table` has the columns model, log_loss, correct (share of held-out votes predicted right, a
    tie counting half), worse_by (log-loss above the best model), worse_by_se (its standard error,
    votes taken as independent) and note (why a model could not be fitted).
    """

    table: pl.DataFrame
    folds: int
    seed: int
    votes: int
    guessing: float
    """The log-loss of a guess: 0.693 for a pair, the logarithm of all orders for a ranking."""
    reading: tuple[Reading, ...] = ()
    """How the votes were read."""

    def __repr__(self) -> str:
        lines = [self._heading, " log-loss          worse by  model"]
        for row in self.table.iter_rows(named=True):
            if row["log_loss"] is None:
                lines.append(f"        -                 -  {row['model']} ({row['note']})")
                continue
            error = f"{row['worse_by']:.4f} ± {row['worse_by_se']:.4f}"
            behind = error if row["worse_by"] else "best"
            lines.append(f"{row['log_loss']:>9.4f}{behind:>18}  {row['model']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self._heading)}</p>\n{html_table(self.table)}"

    @property
    def _heading(self) -> str:
        return (
            f"Comparison of {counted(len(self.table), 'model')} on held-out votes "
            f"({counted(self.votes, 'vote')}, {self.folds} folds, seed {self.seed}; guessing has a "
            f"log-loss of {self.guessing:.4f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        return {
            "models": self.table.to_dicts(),
            "folds": self.folds,
            "seed": self.seed,
            "votes": self.votes,
            "guessing": self.guessing,
            "reading": [one.to_dict() for one in self.reading],
        }


def compare(
    votes: Votes | object,
    models: str | Sequence[str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    threads: int | None = None,
    progress: Watcher | None = None,
    watch: Counter | None = None,
) -> Comparison:
    """Cross-validate: fit each model on all folds but one, predict the votes of that one.

    Without `models`, all but htm that can take the votes: some know no rankings. A model that has
    tastes is called ``hbtl-no-tastes`` (and so on) without them. Votes may also be the path of a
    file, or a data frame, as for `rank`. `progress` is called with a `Progress` event before every
    fit; `watch`, an older name, with (fits done, fits in all, model).
    """
    votes = as_votes(votes)
    if models is None:
        models = [name for name in COMPARED if takes(_named(name), votes)]
    models = _names_in(models)
    for model in models:
        require_takes(_named(model), votes)
    # Tied items in rankings are an outcome for some models only: here none makes them one.
    ties: Ties | None = "half" if len(tie_sizes(votes.lists)) else None
    fitters = {
        model: partial(
            rank,
            model=model.removesuffix(NO_TASTES),
            ties=ties,
            intervals=None,
            threads=threads,
            tastes=False if model.endswith(NO_TASTES) else None,
        )
        for model in models
    }
    if said := long_comparison(votes, models, folds):
        warnings.warn(said, JuryrankWarning, stacklevel=2)
    return compare_fits(votes, fitters, folds=folds, seed=seed, progress=progress, watch=watch)


def _names_in(models: object) -> tuple[str, ...]:
    """The models that were asked for, at least one and each once."""
    names = (models,) if isinstance(models, str) else models
    if not isinstance(names, Iterable):
        raise InputError(f"models must be the name of a model, or several, not {models!r}.")
    found = tuple(names)
    if not found:
        raise InputError("models is empty: name a model to compare, or omit it to compare all.")
    for name in found:
        _named(name)  # so that it is one
    if len(set(found)) < len(found):
        raise InputError(f"Each model can be compared once, not {', '.join(found)}.")
    return found


def long_comparison(votes: Votes, models: Sequence[str] | None, folds: int) -> str | None:
    """What to tell before models are compared, if that takes long."""
    asked = COMPARED if models is None else models
    noises = [model.noise for name in asked if takes(model := _named(name), votes)]
    slow = [noise for noise in noises if noise != GUMBEL]
    return long_work(votes.lists, slow[0], folds * len(slow)) if slow else None


def _named(name: object) -> Model:
    """The model of a name, with or without tastes."""
    if not isinstance(name, str):
        return model_named(name)
    model = model_named(name.removesuffix(NO_TASTES))
    if name.endswith(NO_TASTES) and not model.tastes:
        raise InputError(f"The model {model.name!r} has no tastes to leave out: {name!r}.")
    return model


def compare_fits(
    votes: Votes,
    fitters: Mapping[str, Fitter],
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Watcher | None = None,
    watch: Counter | None = None,
) -> Comparison:
    """Cross-validate rankings made in any way, each under a name of its own."""
    require_seed(seed)
    many = int((orders_of_ties(votes.lists) > MOST_ORDERS).sum())
    if many:
        raise InputError(
            f"{counted(many, 'ranking')} can be put into more than {MOST_ORDERS} orders, because "
            "so many items are tied, and models are compared on every order. If the items at the "
            "end are not tied but unranked, give the set and leave them out of the ranking."
        )
    if not 2 <= folds <= len(votes):
        raise InputError(
            f"folds={folds} must lie between 2 and the number of votes ({len(votes)})."
        )
    fold = np.random.default_rng(seed).permutation(len(votes)) % folds
    results: dict[str, _HeldOut] = {}
    for number, (name, fitter) in enumerate(fitters.items()):
        parts = []
        for k in range(folds):
            done, total = number * folds + k, len(fitters) * folds
            if progress:
                progress(Progress("comparing", f"Comparing models, {name}", done, total))
            if watch:
                watch(done, total, name)
            parts.append(_held_out(votes, fold == k, fitter))
        results[name] = _joined(parts)
    return Comparison(_table(results), folds, seed, len(votes), _guessing(votes), votes.reading)


def _guessing(votes: Votes) -> float:
    """The mean log-loss when every order of the items of a vote is as likely."""
    straight = in_every_order(votes.lists)
    length = straight.length
    ranked = np.minimum(straight.ranked, length)
    orders = scipy.special.gammaln(length + 1.0) - scipy.special.gammaln(length - ranked + 1.0)
    total = votes.weight.sum() * np.log(2.0) + straight.weight @ orders
    return float(total / (votes.weight.sum() + straight.weight.sum()))


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Loss, correctness and weight of every held-out vote; or why there is none."""

    loss: Floats
    correct: Floats
    weight: Floats
    note: str = ""


def _held_out(votes: Votes, held_out: NDArray[np.bool_], fitter: Fitter) -> _HeldOut:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JuryrankWarning)
            ranking = fitter(votes.subset(~held_out))
    except JuryrankError as error:
        return _HeldOut(np.empty(0), np.empty(0), np.empty(0), str(error))
    return _predicted(ranking, votes, held_out)


def _predicted(ranking: Ranking, votes: Votes, held_out: NDArray[np.bool_]) -> _HeldOut:
    """Per vote: the log-loss ``-log p`` of what was voted, a tie counting half of each side."""
    unseen = votes.subset(held_out)
    pairs, lists = _predicted_pairs(ranking, unseen), _predicted_lists(ranking, unseen)
    return _HeldOut(
        np.concatenate((pairs.loss, lists.loss)),
        np.concatenate((pairs.correct, lists.correct)),
        np.concatenate((pairs.weight, lists.weight)),
    )


def _predicted_pairs(ranking: Ranking, votes: Votes) -> _HeldOut:
    won = 0.5 * (1.0 + votes.outcome)
    chance = np.clip(ranking.shares_of(votes), 1e-15, 1.0 - 1e-15)
    loss = -(won * np.log(chance) + (1.0 - won) * np.log1p(-chance))
    guess = np.where(np.abs(chance - 0.5) < 1e-12, 0.5, chance > 0.5)
    return _HeldOut(loss, 1.0 - np.abs(won - guess), votes.weight)


def _predicted_lists(ranking: Ranking, votes: Votes) -> _HeldOut:
    """A list is one vote; of tied items every order counts alike, and correct is a share of pairs.

    The pairs are those the list decides.
    """
    lists = votes.lists
    if not lists.number:
        return _HeldOut(np.empty(0), np.empty(0), np.empty(0))
    straight = in_every_order(lists)
    copies = orders_of_ties(lists).astype(np.int64)
    copy_of = np.repeat(np.arange(lists.number), copies)
    score, accuracy = ranking.scores_of(votes.items), ranking.accuracies_of(votes.judges)
    losses = ranking.list_losses(votes, straight)
    loss = np.bincount(copy_of, losses) / copies
    number, better, worse = pairs_of(lists)
    gap = accuracy[lists.judge[number]] * (score[better] - score[worse])
    right = 0.5 * (1.0 + np.sign(gap))
    pairs = np.bincount(number, minlength=lists.number)
    correct = np.bincount(number, right, lists.number)
    share = np.divide(correct, pairs, out=np.full(lists.number, 0.5), where=pairs > 0)
    return _HeldOut(loss, share, lists.weight)


def _joined(parts: list[_HeldOut]) -> _HeldOut:
    notes = [part.note for part in parts if part.note]
    return _HeldOut(
        np.concatenate([part.loss for part in parts]),
        np.concatenate([part.correct for part in parts]),
        np.concatenate([part.weight for part in parts]),
        f"could not be fitted on {len(notes)} of {len(parts)} folds: {notes[0]}" if notes else "",
    )


def _table(results: dict[str, _HeldOut]) -> pl.DataFrame:
    complete = {name: found for name, found in results.items() if not found.note}
    mean = {
        name: float(np.average(found.loss, weights=found.weight))
        for name, found in complete.items()
    }
    best = min(mean, key=mean.__getitem__, default=None)
    rows = []
    for name, found in results.items():
        row: dict[str, str | float] = {"model": name, "note": found.note}
        if best is not None and name in complete:
            gap = found.loss - complete[best].loss
            share = found.weight / found.weight.sum()
            worse_by = float(share @ gap)
            row["log_loss"] = mean[name]
            row["correct"] = float(share @ found.correct)
            row["worse_by"] = worse_by
            row["worse_by_se"] = float(np.sqrt(share**2 @ (gap - worse_by) ** 2))
        rows.append(row)
    numbers = dict.fromkeys(("log_loss", "correct", "worse_by", "worse_by_se"), pl.Float64())
    frame = pl.DataFrame(rows, schema={"model": pl.String(), **numbers, "note": pl.String()})
    return frame.sort("log_loss", nulls_last=True, maintain_order=True)
