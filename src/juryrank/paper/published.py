"""The numbers the paper prints."""

from __future__ import annotations

from importlib.resources import files

import polars as pl


def synthetic_tables() -> pl.DataFrame:
    """Kendall's tau of the four synthetic tables: mean and standard deviation over 100 trials."""
    return pl.read_csv((files(__package__) / "synthetic.csv").read_bytes())


def real_tables() -> pl.DataFrame:
    """Kendall's tau of the six methods on the two real data sets, for four weights lambda0."""
    return pl.read_csv((files(__package__) / "real.csv").read_bytes())
