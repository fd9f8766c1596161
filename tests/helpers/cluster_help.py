"""Clusters for tests: of processes, and one without Dask."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import juryrank as jr
from juryrank.cluster.engine import Engine
from juryrank.cluster.scan import loaded
from juryrank.cluster.sharded import ShardedVotes

if TYPE_CHECKING:
    from distributed import LocalCluster


def started(workers: int, **options: Any) -> LocalCluster:
    """A cluster of processes on this machine."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit="1GB",
        **options,
    )  # fmt: skip


class Done:
    """The result of a task."""

    def __init__(self, value: object) -> None:
        self.sent = pickle.dumps(value)


class Inline(Engine):
    """An engine without Dask, which does tasks at once. Everything goes from place to
    place as bytes, as between machines.
    """

    def __init__(self) -> None:
        super().__init__(None)

    def submit(self, _what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return Done(pickle.loads(pickle.dumps(function))(*map(_there, arguments)))  # noqa: S301

    def results(self, futures: Sequence[Any]) -> Iterator[Any]:
        return map(_there, futures)

    @property
    def memory(self) -> int | None:
        return None

    @property
    def threads(self) -> int:
        return 1

    def check(self) -> None:
        pass


def _there(value: Any) -> Any:
    if isinstance(value, list):
        return [_there(one) for one in value]
    return pickle.loads(value.sent if isinstance(value, Done) else pickle.dumps(value))  # noqa: S301


def sharded(frame: pl.DataFrame, folder: Path) -> ShardedVotes:
    """The votes of a frame in shards, from three files in no order of judges."""
    for number in range(3):
        frame[number::3].write_parquet(folder / f"{number}.parquet")
    return loaded(jr.scan_votes(folder), Inline(), lambda _: None)
