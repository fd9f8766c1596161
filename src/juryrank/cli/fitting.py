"""What commands say while models are fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from juryrank.cli.terminal.messages import show_note
from juryrank.cli.terminal.progress import Say, progress
from juryrank.errors import JuryrankWarning
from juryrank.model.registry import model_named
from juryrank.progress import Progress, Stage, Watcher

if TYPE_CHECKING:
    from juryrank.votes.votes import Votes

PARTS = 1_000
"""Work that is not counted is told in so many parts."""


def say_if_long(votes: Votes, model: str, noise: str | None) -> None:
    """Say, before a model is fitted, how long that may take, if it is long."""
    from juryrank.ranking.expected_time import long_work

    said = long_work(votes.lists, noise or model_named(model).noise)
    if said is not None:
        show_note(said)


def watcher(say: Say, before: str = "", without: Stage | None = None) -> Watcher:
    """One that says every event, with some words before it, but for those of one stage."""

    def watch(event: Progress) -> None:
        if event.stage != without:
            say(f"{before}{event}", *_counts(event))

    return watch


def _counts(event: Progress) -> tuple[int | None, int | None]:
    """How much is done, and how much there is in all, if something of that is known."""
    if event.part is not None:
        return round(event.part * PARTS), PARTS
    return (None if event.total is None else event.done), event.total


@contextmanager
def fitting(what: str) -> Iterator[Say]:
    """Show progress while models are fitted; what they warn of is shown with the answer."""
    with progress(what) as say, warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        yield say
