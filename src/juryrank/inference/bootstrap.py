"""The bootstrap: errors from fits to judges drawn with replacement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juryrank.inference.covariance import Uncertainty, from_joint, require_differences
from juryrank.progress import Progress, Watcher
from juryrank.types import Floats

RESAMPLES = 200


def by_bootstrap(
    refit: Callable[[Floats], Floats],
    judges: int,
    information: Uncertainty | None,
    watch: Watcher | None = None,
) -> Uncertainty:
    """Errors from `RESAMPLES` draws of as many judges, with replacement.

    `refit` gives the answer's scores when each judge's votes count so many times; what else there
    is has the errors from the `information`, if there are any.
    """
    rng = np.random.default_rng(0)
    scores = []
    for done in range(RESAMPLES):
        if watch:
            watch(Progress("resampling", "Resampling judges", done, RESAMPLES))
        times = np.bincount(rng.integers(0, judges, judges), minlength=judges)
        scores.append(refit(times.astype(np.float64)))
    joint = np.cov(np.array(scores).T)
    if information is None:
        unknown = np.full(judges, np.nan)
        return from_joint(joint, unknown, unknown, np.empty(0))
    require_differences(joint, information)
    return from_joint(
        joint, information.accuracy_sd, information.own_accuracy_sd, information.effect_sd
    )
