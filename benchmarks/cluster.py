"""What a cluster costs beside threads: the same votes on Dask's workers here, and in one process.

    python -m benchmarks.cluster --votes 2000000 --workers 2

prints, as JSON, CPU and wall times of both, what goes through the scheduler in a round of the fit,
what the scheduler takes for a round, and how far the answers are apart.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


def measured(votes: Path, workers: int) -> dict[str, Any]:
    """Both rankings of the votes, and what they cost."""
    local, alone = _timed(lambda: jr.rank(jr.read_votes(votes), threads=workers))
    with started(workers) as client:
        before = sum(client.run(_cpu).values())
        rounds: list[tuple[int, int, int, float]] = []

        def note(event: jr.Progress) -> None:
            if event.stage == "fitting":
                rounds.append(
                    (Counted.tasks, Counted.bytes_sent, Counted.bytes_received, time.process_time())
                )

        far, there = _timed(lambda: jr.rank(jr.scan_votes(votes), cluster=client, progress=note))
        of_workers = sum(client.run(_cpu).values()) - before
        memory = max(client.run(_peak).values())
    tasks, sent, received, scheduler = (np.diff(part) for part in zip(*rounds, strict=True))
    return {
        "votes": local.fit.votes, "items": len(local.items), "judges": len(local.judges),
        "workers": workers, "load": round(os.getloadavg()[0], 1),
        "threads_cpu_s": round(alone[0], 2), "threads_wall_s": round(alone[1], 2),
        "cluster_cpu_s": round(of_workers + there[0], 2),
        "of_it_workers_cpu_s": round(of_workers, 2), "cluster_wall_s": round(there[1], 2),
        "peak_of_a_worker_mb": round(memory), "rounds": len(rounds),
        "tasks_per_round": float(np.median(tasks)),
        "sent_per_round_bytes": float(np.median(sent)),
        "received_per_round_bytes": float(np.median(received)),
        "client_and_scheduler_cpu_per_round_ms": round(1e3 * float(np.median(scheduler)), 1),
        "largest_difference_of_a_score": _difference(local, far),
    }  # fmt: skip


@contextmanager
def started(workers: int) -> Iterator[Client]:
    """Processes on this machine, as `local:N` starts them."""
    client, leave = client_of(f"local:{workers}")
    try:
        yield client
    finally:
        leave()


def _timed(work: Any) -> tuple[jr.Ranking, tuple[float, float]]:
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        found = work()
    return found, (time.process_time() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    return time.process_time()


def _peak() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def _difference(one: jr.Ranking, other: jr.Ranking) -> float:
    scores = [ranking.items.sort("item")["score"].to_numpy() for ranking in (one, other)]
    return float(np.abs(scores[0] - scores[1]).max())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path, default=default_folder())
    asked = parser.parse_args()
    files = files_of(case_of(asked.votes), asked.data)
    vars(scan)["Engine"] = Counted
    print(json.dumps(measured(files.votes, asked.workers), indent=2))


if __name__ == "__main__":
    main()
