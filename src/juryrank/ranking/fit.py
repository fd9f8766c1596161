"""`Fit`: how an answer was found."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from juryrank.errors import counted, number
from juryrank.solvers.solution import Step, Trace


@dataclass(frozen=True)
class Fit:
    """How the answer was found."""

    converged: bool
    iterations: int
    """Rounds of the sampler or of CrowdBT, evaluations over all votes (best fit by the profile
    solver), iterations (Algorithm 1)."""
    objective: float | None
    """What was minimised, at the answer; for a sampled posterior the mean of ``-log P(votes)`` over
    the draws; None for methods that have neither."""
    votes: int
    left_out: int
    set_aside: int = 0
    """Votes with which a judge pushed a single item; they do not count."""
    accounts_as_one: int = 0
    """Accounts that share one judge's say with others: copies, or accounts on one item only."""
    prior: tuple[float | None, float | None] | None = None
    """Standard deviations of scores and of accuracies (around 1) before the data, on the scale the
    solver works on, where the accuracies' prior mean is 1; None: no prior."""
    prior_chosen: bool = False
    """Whether the data chose these scales."""
    lambda0: float = 0.0
    intervals: str | None = None
    """Where the errors come from; None: there are none."""
    confidence: float = 0.95
    posterior: str | None = None
    """Whether the posterior is "sampled" or "normal"; None: there is none."""
    draws: int | None = None
    """How many draws there are of a sampled one."""
    effective_draws: float | None = None
    """How many independent draws they are worth, of the score of which they are worth least."""
    taste_sd: float | None = None
    """The typical size of a judge's taste for an item; None: judges have none in the model."""
    widening: float | None = None
    """How many times wider scores' intervals are than those of the plain model, by the median."""
    largest_share: float | None = None
    """The share of the votes that the judge with the most of them cast."""
    weight: float | None = None
    """The total weight of the votes, where it is not their number."""
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """Number, objective and size of the gradient of each evaluation, as `watch` is told them."""
    trace: Trace | None = field(default=None, repr=False)
    """The solver's path, in its own scale and direction, if it was asked to keep it."""

    @property
    def votes_in_words(self) -> str:
        """The number of votes, and their total weight, where that is another."""
        said = counted(self.votes, "vote")
        return (
            said if self.weight is None else f"{said} with a total weight of {number(self.weight)}"
        )

    def __repr__(self) -> str:
        shown = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        said = (f"{name}={value!r}" for name, value in shown.items() if value is not None)
        return f"Fit({', '.join(said)})"
