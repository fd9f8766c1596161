"""How the answer was found, in words."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from juryrank import __version__
from juryrank.errors import counted, percent
from juryrank.model.registry import model_named
from juryrank.ranking.reliability import LEAST_ITEMS
from juryrank.report.sentences import effects_in_words, scale_in_words, tastes_in_words

if TYPE_CHECKING:
    from juryrank.ranking.fit import Fit
    from juryrank.ranking.ranking import Ranking

WAYS_TO_INTERVALS = {
    "posterior": "read off the posterior; ranks and tiers hold jointly",
    "information": "from the curvature of the fit (votes are the independent draws)",
    "sandwich": "by the sandwich formula (judges are the independent draws)",
    "bootstrap": "by resampling judges",
}
VERSIONS_OF = ("numpy", "scipy", "polars", "altair")


def method(ranking: Ranking) -> Iterator[tuple[str, str]]:
    """What is assumed, and what the numbers mean."""
    fit, model = ranking.fit, model_named(ranking.model)
    noise = f", {ranking.noise.name} noise" if model.has_noise else ""
    yield "Votes", _votes_in_words(ranking)
    yield "Model", f"{model.name}: {model.title}{noise}"
    for sentence in scale_in_words(ranking):
        yield "Scale", sentence
    for sentence in effects_in_words(ranking):
        yield "Ties and sides", sentence
    for sentence in tastes_in_words(ranking):
        yield "Tastes", sentence
    if fit.intervals:
        yield "Intervals", f"{percent(fit.confidence)}, {WAYS_TO_INTERVALS[fit.intervals]}"
    some = ranking.tallies.of_each_ranking
    if some is not None:
        yield (
            "Pairs of items",
            f"those that rankings imply; of longer rankings only those of {some:,} items, drawn at "
            "random and alike for all rankings",
        )


def reliability(ranking: Ranking) -> Iterator[tuple[str, str]]:
    """What part of the variance of the scores is not error, as comparative judgement has it."""
    if ranking.fit.posterior is None or len(ranking.items) < LEAST_ITEMS:
        return
    found = ranking.reliability
    yield (
        "Separation reliability",
        f"{found.separation:.2f} (separation index {found.separation_index:.1f}); too high if "
        "pairs were chosen by earlier votes",
    )
    if found.is_quickly_split and not math.isnan((halves := found.split_halves()).correlation):
        yield (
            "Split halves",
            f"{halves.correlation:.2f}: the correlation of the scores by two halves of the judges, "
            f"drawn at random (mean of {counted(len(halves.correlations), 'split')})",
        )


def solver(fit: Fit) -> Iterator[tuple[str, str]]:
    """How the numbers were computed."""
    yield "Prior", _prior_in_words(fit.prior, by_data=fit.prior_chosen)
    yield "Fit", _fit_in_words(fit)
    others = ", ".join(f"{name} {version(name)}" for name in VERSIONS_OF)
    yield "Versions", f"juryrank {__version__}, Python {platform.python_version()}, {others}"


def _fit_in_words(fit: Fit) -> str:
    if fit.draws is not None:
        settled = "" if fit.converged else "; this is NOT enough"
        return (
            f"{fit.draws:,} draws from the posterior after {fit.iterations:,} rounds, worth at "
            f"least {fit.effective_draws:,.0f} independent ones of every score{settled}"
        )
    end = "converged" if fit.converged else "did NOT converge"
    passes = "1 pass" if fit.iterations == 1 else f"{fit.iterations:,} passes"
    lowest = "" if fit.objective is None else f", objective {fit.objective:,.6g}"
    return f"{end} after {passes} over the votes{lowest}"


def _votes_in_words(ranking: Ranking) -> str:
    fit = ranking.fit
    parts = [f"{counted(fit.votes, 'vote')} by {counted(len(ranking.judges), 'judge')}"]
    parts += [f"{counted(fit.left_out, 'row')} left out"] if fit.left_out else []
    parts += [f"{counted(fit.set_aside, 'vote')} set aside"] if fit.set_aside else []
    return "; ".join(parts)


def _prior_in_words(prior: tuple[float | None, float | None] | None, *, by_data: bool) -> str:
    if prior is None:
        return "none"
    names = ("scores", "accuracies")
    known = [f"{sd:.3g} of {name}" for name, sd in zip(names, prior, strict=True) if sd is not None]
    chosen = ", chosen by the data" if by_data else ""
    return f"standard deviations {' and '.join(known)}{chosen}"
