"""A cluster of two processes, and votes in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from distributed import Client, LocalCluster

import juryrank as jr
from juryrank.votes import coded


def started(workers: int, **options: Any) -> LocalCluster:
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit="1GB",
        **options,
    )  # fmt: skip


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    with started(2) as running:
        yield running


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    cluster.scale(2)
    with Client(cluster) as connected:
        connected.wait_for_workers(2)
        yield connected


@pytest.fixture(scope="session")
def frame() -> pl.DataFrame:
    """Too many votes to be sampled; 7 judges of 300 votes for each of 16 shards."""
    return jr.simulate(12, 112, votes_per_judge=300, tie=0.3, seed=5).votes


@pytest.fixture
def many_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many shards as millions of votes have; on one machine as many chunks."""
    monkeypatch.setattr(coded, "VOTES_WORTH_SPLITTING", 1)


@pytest.fixture(scope="session")
def by_judge(frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for each shard."""
    folder = tmp_path_factory.mktemp("by_judge")
    ordered = frame.sort("judge", maintain_order=True)
    for number, part in enumerate(ordered.iter_slices(7 * 300)):
        part.write_parquet(folder / f"part-{number:02}.parquet")
    return folder
