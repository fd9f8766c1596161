"""What can be said of a judge, in a word or two."""

from __future__ import annotations

from typing import Literal, get_args

Verdict = Literal[
    "one-sided", "position-biased", "backwards", "inconsistent", "guessing", "of another opinion",
    "opinions split", "copy", "single-item", "withheld", "too few votes to tell", "ordinary",
    "reliable",
]  # fmt: skip
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""All verdicts, what needs attention first."""
NEEDS_ATTENTION = VERDICTS[:9]
DISAGREEING: tuple[Verdict, ...] = (
    "one-sided", "backwards", "inconsistent", "guessing", "of another opinion",
)  # fmt: skip
"""What is said of judges because they differ from the others,"""
APART_FROM_OTHERS: tuple[Verdict, ...] = ("position-biased", "copy", "single-item")
"""and what does not rest on what others think."""
