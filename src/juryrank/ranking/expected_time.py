"""How long a fit is expected to take, said before it begins."""

from __future__ import annotations

from juryrank.progress import LONG, duration
from juryrank.votes.lists import Lists

GUMBEL = "gumbel"
EVALUATIONS = 1_000
"""How often rankings are worked out in a fit, about."""
SECONDS_PER_ENTRY, SECONDS_PER_SQUARE, SHORT_RANKING = 3e-6, 3e-7, 100
"""What that takes for one item of a ranking, and for each item beyond these many, measured for
normal noise."""


def expected_seconds(lists: Lists, *, is_gumbel: bool) -> float:
    """About how much processor time a fit takes: rankings under noise that has no formula.

    Their probabilities are chains of integrals, over all items of a ranking at once.
    """
    if is_gumbel:
        return 0.0
    length = lists.length.astype("float64")
    per_entry = (SECONDS_PER_SQUARE * (length - SHORT_RANKING)).clip(SECONDS_PER_ENTRY)
    return float(EVALUATIONS * (length * per_entry).sum())


def long_work(lists: Lists, noise: str, fits: int = 1) -> str | None:
    """What to tell before work of so many fits begins that takes long; None if it does not."""
    seconds = fits * expected_seconds(lists, is_gumbel=noise == GUMBEL)
    if seconds < LONG:
        return None
    return (
        f"This may take {duration(seconds)} of processor time: there are rankings of up to "
        f"{int(lists.length.max()):,} items, and under {noise} noise their probabilities are "
        "chains of integrals. With Gumbel noise (the models hbtl and btl) they take seconds."
    )
