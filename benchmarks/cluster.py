"""What a cluster costs beside threads: the same votes on Dask's workers here, and in one process.

    python -m benchmarks.cluster --votes 2000000 --workers 1 2 4

prints, as JSON, for each number of workers CPU and wall times of both, what goes through the
scheduler in a round of the fit, what the scheduler takes for a round, how far the answers are
apart, and whether all numbers of workers give the same bits.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

import juryrank as jr
from benchmarks.data import default_folder, files_of
from benchmarks.regress import case_of
from juryrank.cluster import scan
from juryrank.cluster.engine import Engine, client_of
from juryrank.errors import JuryrankWarning


class Counted(Engine):
    """An engine that counts what is sent to the scheduler, and what comes back."""

    bytes_sent = bytes_received = tasks = 0

    def submit(self, what: str, function: Any, *arguments: Any) -> Any:
        """Count the arguments that are no futures."""
        Counted.tasks += 1
        Counted.bytes_sent += sum(map(_size, arguments))
        return super().submit(what, function, *arguments)

    def results(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Count what was found."""
        for found in super().results(futures):
            Counted.bytes_received += _size(found)
            yield found


def _size(value: object) -> int:
    if type(value).__name__ == "Future" or (
        isinstance(value, list) and value and type(value[0]).__name__ == "Future"
    ):
        return 0
    return len(pickle.dumps(value))


@dataclass(frozen=True)
class Cost:
    """A ranking, and the seconds of this process that it took."""

    ranking: jr.Ranking
    cpu: float
    wall: float


def rows_of(votes: Path, numbers: Sequence[int], threads: int) -> dict[str, Any]:
    """What each number of workers costs, beside one process with so many threads."""
    alone = _timed(lambda: jr.rank(jr.read_votes(votes), threads=threads))
    there = [_on_workers(votes, workers, alone) for workers in numbers]
    rankings = [ranking for ranking, _ in there]
    return {
        "votes": alone.ranking.fit.votes, "items": len(alone.ranking.items),
        "judges": len(alone.ranking.judges), "threads": threads,
        "threads_cpu_s": round(alone.cpu, 2), "threads_wall_s": round(alone.wall, 2),
        "on_workers": [row for _, row in there],
        "same_bits": all(_same_bits(rankings[0], other) for other in rankings[1:]),
    }  # fmt: skip


def _on_workers(votes: Path, workers: int, alone: Cost) -> tuple[jr.Ranking, dict[str, Any]]:
    """The ranking by so many workers, and what it costs."""
    rounds: list[tuple[int, int, int, float]] = []

    def note(event: jr.Progress) -> None:
        if event.stage == "fitting":
            rounds.append(
                (Counted.tasks, Counted.bytes_sent, Counted.bytes_received, time.process_time())
            )

    with started(workers) as client:
        before = sum(client.run(_cpu).values())
        far = _timed(lambda: jr.rank(jr.scan_votes(votes), cluster=client, progress=note))
        of_workers = sum(client.run(_cpu).values()) - before
        memory = max(client.run(_peak).values())
    tasks, sent, received, scheduler = (np.diff(part) for part in zip(*rounds, strict=True))
    cpu = of_workers + far.cpu
    return far.ranking, {
        "workers": workers, "load": round(os.getloadavg()[0], 1), "cpu_s": round(cpu, 2),
        "of_it_workers_cpu_s": round(of_workers, 2), "wall_s": round(far.wall, 2),
        "cpu_to_that_of_threads": round(cpu / alone.cpu, 2),
        "peak_of_a_worker_mb": round(memory), "rounds": len(rounds),
        "tasks_per_round": float(np.median(tasks)),
        "sent_per_round_bytes": float(np.median(sent)),
        "received_per_round_bytes": float(np.median(received)),
        "client_and_scheduler_cpu_per_round_ms": round(1e3 * float(np.median(scheduler)), 1),
        "largest_difference_of_a_score": _difference(alone.ranking, far.ranking),
    }  # fmt: skip


@contextmanager
def started(workers: int) -> Iterator[Client]:
    """Processes on this machine, as `local:N` starts them."""
    client, leave = client_of(f"local:{workers}")
    try:
        yield client
    finally:
        leave()


def _timed(work: Callable[[], jr.Ranking]) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        found = work()
    return Cost(found, time.process_time() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    return time.process_time()


def _peak() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def _difference(one: jr.Ranking, other: jr.Ranking) -> float:
    scores = [ranking.items.sort("item")["score"].to_numpy() for ranking in (one, other)]
    return float(np.abs(scores[0] - scores[1]).max())


def _same_bits(one: jr.Ranking, other: jr.Ranking) -> bool:
    same = one.items.equals(other.items) and one.judges.equals(other.judges)
    return same and one.fit.objective == other.fit.objective


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=default_folder())
    asked = parser.parse_args()
    files = files_of(case_of(asked.votes), asked.data)
    vars(scan)["Engine"] = Counted
    print(json.dumps(rows_of(files.votes, asked.workers, asked.threads), indent=2))


if __name__ == "__main__":
    main()
