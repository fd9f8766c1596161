"""The measured rows, read back: best and median of the repeats, slopes, ratios."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import outcomes
from benchmarks.running import TABLES


@dataclass(frozen=True, eq=False)
class Results:
    """All tables of one run of a grid."""

    runs: pl.DataFrame
    kernel: pl.DataFrame
    shell: pl.DataFrame
    rankings: pl.DataFrame
    install: pl.DataFrame
    profile: pl.DataFrame
    machine: dict[str, Any]
    mapped: dict[str, Any]
    """What `python -m benchmarks.mapped` has printed."""
    cluster: dict[str, Any]
    """What `python -m benchmarks.cluster` has printed."""

    @property
    def measured(self) -> bool:
        """Whether there is anything."""
        return len(self.runs) > 0


def read_results(folder: Path) -> Results:
    """Read the CSV files of a folder; what is not there is empty."""
    tables = {name: _table(folder / f"{name}.csv", schema) for name, schema in TABLES.items()}
    machine, mapped, cluster = (
        _facts(folder / f"{name}.json") for name in ("machine", "mapped", "cluster")
    )
    return Results(**tables, machine=machine, mapped=mapped, cluster=cluster)


def _facts(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _table(path: Path, schema: dict[str, Any]) -> pl.DataFrame:
    return pl.read_csv(path, schema=schema) if path.exists() else pl.DataFrame(schema=schema)


def summary(runs: pl.DataFrame) -> pl.DataFrame:
    """One row per study, case and adapter; the worst outcome of its repeats stands for all."""
    keys = ["study", "case", "adapter"]
    sizes = ("votes", "items", "judges", "backwards", "limit", "version")
    ended = pl.col("cpu").is_not_null()
    return (
        runs.group_by(keys, maintain_order=True)
        .agg(
            *(pl.col(name).drop_nulls().first() for name in sizes),
            cpu=pl.col("cpu").min(),
            cpu_median=pl.col("cpu").median(),
            cpu_conversion=pl.col("cpu_conversion").sort_by("cpu").first(),
            wall=pl.col("wall").min(),
            peak_mb=pl.col("peak_mb").max(),
            rise_mb=pl.col("rise_mb").max(),
            rise_fit_mb=pl.col("rise_fit_mb").max(),
            tau=pl.col("tau").drop_nulls().first(),
            tau_wins=pl.col("tau_wins").drop_nulls().first(),
            step=pl.col("step").max(),
            repeats=ended.sum(),
            evaluations=pl.col("evaluations").max(),
            starts=pl.col("starts").max(),
            evaluations_per_start=pl.col("evaluations_per_start").max(),
            work=pl.col("work").max(),
            outcome=pl.col("outcome").filter(pl.col("outcome") != outcomes.OK).first(),
        )
        .with_columns(pl.col("outcome").fill_null(outcomes.OK))
    )


def slope(x: pl.Series, y: pl.Series) -> float:
    """Of a straight line through the logarithms, by least squares."""
    return float(np.polyfit(np.log(x.to_numpy()), np.log(y.to_numpy()), 1)[0])


def steepest(x: pl.Series, y: pl.Series) -> float:
    """The largest slope between neighbours, in logarithms."""
    order = np.argsort(x.to_numpy())
    across, up = np.log(x.to_numpy()[order]), np.log(y.to_numpy()[order])
    return float(np.max(np.diff(up) / np.diff(across)))
