"""Shared fixtures: where the public data is, and a cluster of two processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from absent import absent

if TYPE_CHECKING:
    import polars as pl
    from distributed import Client, LocalCluster

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with public data; without it tests that need it are skipped, or fail in CI."""
    folder = Path(os.environ.get("JURYRANK_DATA") or BESIDE_THE_PROJECT)
    if not (folder / "reading_level" / "votes.csv").exists():
        absent("the public data is not here: point JURYRANK_DATA to it")
    return folder


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C as in a terminal: where tests run in the background, it may be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """Two processes, and more or fewer for some tests."""
    from cluster_help import started

    with started(2) as running:
        yield running


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    """A client of two processes."""
    from distributed import Client

    cluster.scale(2)
    with Client(cluster) as connected:
        connected.wait_for_workers(2)
        yield connected


@pytest.fixture(scope="session")
def many_votes() -> pl.DataFrame:
    """Too many votes to be sampled; 14 judges of 300 votes for each of 8 shards."""
    import juryrank as jr

    return jr.simulate(12, 112, votes_per_judge=300, tie=0.3, seed=5).votes


@pytest.fixture
def many_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several shards, as millions of votes have; on one machine as many chunks.

    Matrices of all pairs of items are added up by the workers, as those of hundreds of items are.
    """
    from juryrank.cluster import sharded, shards
    from juryrank.votes import coded

    splitting = coded.Splitting(chunks=8, votes_worth_it=1)
    into_eight = partial(coded.bounds_of_chunks, splitting=splitting)
    monkeypatch.setattr(sharded, "MANY_NUMBERS", 50)
    monkeypatch.setattr(shards, "bounds_of_chunks", into_eight)
    monkeypatch.setattr(coded, "bounds_of_chunks", lambda work, _: into_eight(work))


@pytest.fixture(scope="session")
def by_judge(many_votes: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each shard."""
    folder = tmp_path_factory.mktemp("by_judge")
    ordered = many_votes.sort("judge", maintain_order=True)
    for number, part in enumerate(ordered.iter_slices(14 * 300)):
        part.write_parquet(folder / f"part-{number:02}.parquet")
    return folder


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still: the waiting times between attempts, which nobody waits for."""
    from juryrank.active import asking

    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asking, "wait", sleep)
    return waited
