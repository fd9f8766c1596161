"""What is asked of Dask: tasks that are computed again if their worker is lost, and their results.

Nothing about votes is known here, and nothing is ever scattered: what a worker has computed comes
again from the tasks before, and in the end from the files, while what was scattered to it would be
gone for good. Results come in the order of their tasks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from juryrank import __version__
from juryrank.errors import InputError, JuryrankError, listing

if TYPE_CHECKING:
    from distributed import Client, Future

AT_ONCE = 64
"""So many results are fetched together."""
NEEDS_DASK = (
    'A cluster needs the packages dask and distributed: pip install "juryrank[dask]", on this '
    "machine and on those of the cluster."
)


@dataclass(frozen=True, eq=False)
class Engine:
    """The tasks of one client."""

    client: Client

    def submit(self, what: str, function: Callable[..., Any], *arguments: Any) -> Future:
        """Have a function called on a worker; futures among the arguments stand for results."""
        import dask

        key = f"juryrank-{what}-{uuid4().hex}"
        # What is large is sent on purpose: the state of a fit, once for all shards.
        with (
            in_words(),
            dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}),
        ):
            return self.client.submit(function, *arguments, key=key, pure=False)

    def sent(self, value: object) -> Future:
        """A value that workers fetch from each other; if it is lost, the scheduler has it."""
        return self.submit("send", _itself, value)

    def results(self, futures: Sequence[Future]) -> Iterator[Any]:
        """What tasks have found, in their order, each forgotten here when the next is asked for."""
        for first in range(0, len(futures), AT_ONCE):
            with in_words():
                found = self.client.gather(list(futures[first : first + AT_ONCE]))
            while found:
                yield found.pop(0)

    @property
    def memory(self) -> int | None:
        """How many bytes all workers may use together; None if some have no limit."""
        workers = self.workers.values()
        limits = [worker["memory_limit"] for worker in workers]
        return sum(limits) if limits and all(limits) else None

    @property
    def threads(self) -> int:
        """How many tasks all workers do at a time."""
        return sum(worker["nthreads"] for worker in self.workers.values())

    @property
    def workers(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of the workers, by address."""
        with in_words():
            found: dict[str, dict[str, Any]] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def check(self) -> None:
        """Complain if there are no workers, or other versions of juryrank on them."""
        if not self.workers:
            raise InputError(
                "The cluster has no workers. Start some (dask worker ADDRESS), and wait until they "
                "have arrived: client.wait_for_workers(1)."
            )
        with in_words():
            found = self.client.run(own_version, on_error="return")
        own = own_version()
        wrong = {
            worker: "none" if isinstance(version, Exception) else version
            for worker, version in found.items()
            if version != own
        }
        if wrong:
            told = [f"{worker} has {version}" for worker, version in wrong.items()]
            raise InputError(
                f"{len(wrong):,} of {len(found):,} workers have another version of juryrank than "
                f"this machine, {own}: {listing(told)}. Install the same everywhere: answers of "
                "two versions must not be added up."
            )


def own_version() -> str:
    """The version of juryrank where this is called."""
    return __version__


def _itself(value: object) -> object:
    return value


def client_of(cluster: object) -> tuple[Client, Callable[[], None]]:
    """The client of a cluster, by itself or by its address, and how to leave it again.

    ``local:8`` starts eight processes on this machine.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(NEEDS_DASK) from error
    if isinstance(cluster, Client):
        return cluster, lambda: None
    if not isinstance(cluster, str):
        raise InputError(
            f"cluster={cluster!r} is neither a client of Dask nor an address such as "
            "tcp://scheduler:8786 or local:8."
        )
    if cluster.startswith("local:"):
        return _started_here(_count_of(cluster))
    try:
        client = Client(cluster, timeout=CONNECT)
    except (TimeoutError, OSError, ValueError) as error:
        raise InputError(
            f"There is no Dask scheduler at {cluster!r}: {error}. The address is what dask "
            "scheduler prints, such as tcp://10.0.0.1:8786; local:8 starts eight workers here."
        ) from error
    return client, client.close


CONNECT = 20
"""Seconds to wait for a scheduler."""
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "5s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.nanny.pre-spawn-environ.POLARS_MAX_THREADS": 1,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 26,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,
}
"""For processes of our own. Dask's defaults take seven times the CPU while there is nothing to do,
and give memory back at once that the next piece of votes needs again."""


def _started_here(workers: int) -> tuple[Client, Callable[[], None]]:
    """The client of processes on this machine, and how to end them."""
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set(QUIET):
        local = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0",
            silence_logs=logging.CRITICAL,  # what goes wrong comes here, and is told once
        )  # fmt: skip
        client = Client(local, direct_to_workers=True)

    def leave() -> None:
        client.close()
        local.close()

    return client, leave


def _count_of(cluster: str) -> int:
    count = cluster.removeprefix("local:")
    if not count.isdecimal() or not 1 <= int(count) <= MOST_LOCAL:
        raise InputError(f"--cluster {cluster} must be local:N with N from 1 to {MOST_LOCAL:,}.")
    return int(count)


MOST_LOCAL = 1024


@contextmanager
def in_words() -> Iterator[None]:
    """Say what went wrong on a cluster, and what to do."""
    from distributed import KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    try:
        yield
    except JuryrankError:
        raise
    except KilledWorker as error:
        raise JuryrankError(
            f"The task {error.task} was on {error.allowed_failures + 1} workers that were lost, "
            f"the last of them {error.last_worker.address}. Most likely they had too little "
            "memory: use more workers, or larger ones. Where machines are often taken away, "
            "raise distributed.scheduler.allowed-failures in the configuration of Dask."
        ) from error
    except MemoryError as error:
        raise JuryrankError(
            "A worker had too little memory: use more workers, or larger ones."
        ) from error
    except (
        CancelledError, asyncio.CancelledError, CommClosedError, ClosedClientError,
    ) as error:  # fmt: skip
        raise JuryrankError(
            f"The scheduler of the cluster is gone ({error or type(error).__name__}). Start it and "
            "its workers again, and rank again: nothing was changed."
        ) from error
    except TimeoutError as error:
        raise JuryrankError("The scheduler of the cluster does not answer.") from error
