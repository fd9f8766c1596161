"""`scan_votes`: votes in files that are read where they are ranked, by the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Literal

from juryrank.cluster.engine import Engine, client_of
from juryrank.cluster.possible import Cluster
from juryrank.cluster.scanned import ScannedVotes
from juryrank.cluster.sharded import ShardedVotes
from juryrank.cluster.shards import load
from juryrank.errors import InputError
from juryrank.progress import Watcher


def scan_votes(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    judge: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    weight: str | None = None,
    tie: str | None = None,
    outcome_map: Mapping[str, str] | None = None,
    na_is_name: bool = False,
    skip_bad: bool | Literal["most"] = False,
    where: str | None = None,
) -> ScannedVotes:
    """Point to votes on pairs that a cluster ranks: ``rank(scan_votes(...), cluster=...)``.

    The files are Parquet, CSV, TSV or NDJSON, all with the same columns. They are read by the
    workers, and so must be where all of them find them: in an object store, or in a folder that
    they share. If every judge's votes are in one file and files are in the order of judges, a lost
    worker costs least; any other layout is put in this order first, in the workers' memory.

    Args:
        source: A path, a folder or a glob, or several; whatever fsspec knows, such as ``s3://``.
            What folders say of their files (``language=de/``) is a column.
        judge: As for `read_votes`, and so are all further arguments.
        winner: The column of winners, or of outcomes where there are left and right items.
        loser: The column of losers.
        left: The column of items shown on the left.
        right: The column of items shown on the right.
        weight: The column of weights.
        tie: The column that tells whether two items are tied.
        outcome_map: What the words in the outcome column mean.
        na_is_name: Take N/A, NaN, null and the like as names of items or judges.
        skip_bad: Leave bad rows out and count them, instead of raising an error; "most": even if
            they are more than half.
        where: A condition that rows must fulfil to be read.
    """
    given = dict(locals())
    several = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not several:
        raise InputError("There are no files of votes to scan.")
    options = {name: value for name, value in given.items() if name != "source"}
    return ScannedVotes(tuple(os.fspath(one) for one in several), options)


SCANNED = tuple(name for name in signature(scan_votes).parameters if name != "source")
"""What can be said of how to read votes."""


def loaded(votes: ScannedVotes, engine: Engine, tell: Watcher) -> ShardedVotes:
    """Have the workers read the files; each judge's votes end up in one place."""
    engine.check()
    return ShardedVotes(engine, load(engine, votes.urls, votes.options, tell), str(votes.urls[0]))


@contextmanager
def sharded_votes(votes: object, cluster: Cluster, tell: Watcher) -> Iterator[ShardedVotes]:
    """The votes on a cluster, for as long as they are ranked there."""
    if not isinstance(votes, ScannedVotes):
        if not isinstance(votes, str | os.PathLike):
            raise InputError(
                "A cluster ranks votes that its workers read: give scan_votes('folder/'), or the "
                f"path of files, and not {type(votes).__name__}."
            )
        votes = scan_votes(votes)
    if cluster is None:
        raise InputError(
            "scan_votes is for a cluster: name it, cluster='local:4' or a client of Dask, or read "
            "the votes with read_votes."
        )
    client, leave = client_of(cluster)
    try:
        yield loaded(votes, Engine(client), tell)
    finally:
        leave()
