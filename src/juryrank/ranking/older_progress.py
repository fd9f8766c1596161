"""Older names of `progress`: functions that hear of one stage each, by numbers of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from juryrank.progress import Progress, Stage, Watcher

OfFit = Callable[[int, float, float], None]
"""Called with (evaluation, objective, size of the gradient)."""
OfCount = Callable[[int, int], None]
"""Called with (done, in all)."""
OfStep = Callable[[str], None]
"""Called with what comes next."""
OfWork = Callable[[str, int, int], None]
"""Called with (what is being done, how much of it, how much in all)."""


def watcher_of(
    progress: Watcher | None,
    watch: OfFit | None = None,
    watch_draws: OfCount | None = None,
    watch_resamples: OfCount | None = None,
    watch_steps: OfStep | None = None,
) -> Watcher:
    """One that tells each of these what it wants to hear."""
    heard: dict[Stage, Watcher | None] = {
        "fitting": _of_fit(watch),
        "sampling": _of_count(watch_draws),
        "resampling": _of_count(watch_resamples),
        "errors": _of_step(watch_steps),
        "value": _of_step(watch_steps),
    }

    def tell(event: Progress) -> None:
        if progress:
            progress(event)
        older = heard.get(event.stage)
        if older:
            older(event)

    return tell


def watcher_of_work(progress: Watcher | None, watch: OfWork | None) -> Watcher:
    """One that tells both; the older hears of what is counted, but for evaluations."""

    def tell(event: Progress) -> None:
        if progress:
            progress(event)
        if watch and event.stage != "fitting":
            watch(event.text, *_counts(event))

    return tell


def step_of(event: Progress) -> tuple[int, float, float]:
    """Number, objective and size of the gradient of an evaluation."""
    gradient = math.nan if event.gradient is None else event.gradient
    return event.done or 0, math.nan if event.objective is None else event.objective, gradient


def _counts(event: Progress) -> Iterator[int]:
    yield event.done or 0
    yield event.total or 0


def _of_fit(watch: OfFit | None) -> Watcher | None:
    return None if watch is None else lambda event: watch(*step_of(event))


def _of_count(watch: OfCount | None) -> Watcher | None:
    return None if watch is None else lambda event: watch(*_counts(event))


def _of_step(watch: OfStep | None) -> Watcher | None:
    return None if watch is None else lambda event: watch(event.text)
