"""Make the example votes: eight assistants, nine judges, one careless and one backwards.

    python examples/make_llm_judges.py

writes llm_judges.csv into the package: what `juryrank rank --example` ranks. The truth is
simulated, so you can see what juryrank recovers: the scores are `juryrank.datasets.ASSISTANTS`, the
accuracies stand below.
"""

from __future__ import annotations

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.data import EXAMPLE_VOTES
from juryrank.datasets import ASSISTANTS

JUDGES = {
    "ana": 1.6, "ben": 1.2, "chloe": 1.0, "dev": 0.8, "emil": 0.7,
    "llm-large": 1.5, "llm-small": 0.6, "hasty": 0.0, "mirror": -1.4,
}  # fmt: skip
TIES = 0.06


def example_votes() -> pl.DataFrame:
    """The votes in the form arena logs have: model_a, model_b, winner, judge."""
    simulated = jr.simulate(
        len(ASSISTANTS),
        len(JUDGES),
        scores=list(ASSISTANTS.values()),
        accuracies=list(JUDGES.values()),
        votes_per_judge=80,
        seed=7,
    )
    items = dict(zip(sorted(simulated.items["item"]), ASSISTANTS, strict=True))
    judges = dict(zip(simulated.judges["judge"], JUDGES, strict=True))
    rng = np.random.default_rng(7)
    tied = pl.Series(rng.random(len(simulated.votes)) < TIES)
    sides = {"left": "model_a", "right": "model_b"}
    votes = simulated.votes.select(
        judge=pl.col("judge").replace_strict(judges),
        model_a=pl.col("left").replace_strict(items),
        model_b=pl.col("right").replace_strict(items),
        winner=pl.when(tied).then(pl.lit("tie")).otherwise(pl.col("winner").replace_strict(sides)),
    )
    return votes[rng.permutation(len(votes))]


if __name__ == "__main__":
    example_votes().write_csv(EXAMPLE_VOTES)
