"""A ranking on a cluster is that of one machine, however many workers there are, and who dies."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster, SchedulerPlugin
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app

FAST: dict[str, Any] = {"prior": (1.0, 0.5)}
"""Without the sample that chooses scales, which is not on the cluster."""

pytestmark = pytest.mark.usefixtures("many_shards")


def assert_same_bits(one: jr.Ranking, other: jr.Ranking) -> None:
    assert one.items.equals(other.items)
    assert one.judges.equals(other.judges)
    assert one.effects.equals(other.effects)
    assert one.warnings == other.warnings
    assert one.fit.objective == other.fit.objective


def assert_close(one: pl.DataFrame, other: pl.DataFrame) -> None:
    assert one.columns == other.columns
    for name in one.columns:
        if one[name].dtype == pl.Float64:
            np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-9)
        else:
            assert one[name].to_list() == other[name].to_list()


@pytest.fixture(scope="session")
def undisturbed() -> dict[str, jr.Ranking]:
    """Rankings that were made without disturbance, to compare others with."""
    return {}


def ranked(folder: Path, client: Client, **options: Any) -> jr.Ranking:
    found: jr.Ranking = jr.rank(jr.scan_votes(folder), cluster=client, **options)
    return found


def expected(known: dict[str, jr.Ranking], folder: Path, client: Client) -> jr.Ranking:
    if "fast" not in known:
        known["fast"] = ranked(folder, client, **FAST)
    return known["fast"]


def workers_of(client: Client) -> Collection[str]:
    found: Collection[str] = client.scheduler_info(n_workers=-1)["workers"]
    return found


def wait_until(done: Callable[[], bool]) -> None:
    while not done():
        time.sleep(0.05)


def test_everything_is_as_on_one_machine(by_judge: Path, client: Client) -> None:
    there, here = ranked(by_judge, client), jr.rank(jr.read_votes(by_judge))
    for one, other in (
        (there.items, here.items), (there.judges, here.judges), (there.effects, here.effects),
    ):  # fmt: skip
        assert_close(one, other)
    assert there.warnings == here.warnings
    assert there.fit.prior == here.fit.prior
    assert there.fit.votes == here.fit.votes == 112 * 300
    assert there.fit.taste_sd == pytest.approx(here.fit.taste_sd, abs=1e-9)
    assert there.difference("item-01", "item-02").p_value == pytest.approx(
        here.difference("item-01", "item-02").p_value, abs=1e-9
    )


@pytest.mark.parametrize("rows", [2_000, 33_600])
def test_commands_print_and_save_an_answer_when_the_workers_have_left(
    many_votes: pl.DataFrame, rows: int, cluster: LocalCluster, tmp_path: Path
) -> None:
    """What is asked of the answer afterwards goes through no votes."""
    file, out = str(tmp_path / "votes.parquet"), str(tmp_path / "ranking.json")
    many_votes.head(rows).write_parquet(file)
    there = ("rank", file, "--cluster", cluster.scheduler_address)
    for printed in ((), ("--json",)):
        done = CliRunner().invoke(app, [*there, *printed, "--out", out])
        assert (done.exit_code, done.stderr.count("Error")) == (0, 0), done.stderr
    here = jr.rank(file)
    assert [item["item"] for item in json.loads(done.stdout)["items"]] == here.items[
        "item"
    ].to_list()
    assert json.loads(Path(out).read_text()) == json.loads(done.stdout)
    assert json.loads(done.stdout)["tastes"] == here.tastes.to_dicts()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_changes_no_bit(
    workers: int, by_judge: Path, client: Client, cluster: LocalCluster,
    undisturbed: dict[str, jr.Ranking],
) -> None:  # fmt: skip
    whole = expected(undisturbed, by_judge, client)
    cluster.scale(workers)
    wait_until(lambda: len(workers_of(client)) == workers)
    assert_same_bits(ranked(by_judge, client, **FAST), whole)


def test_a_stopped_fit_goes_on_with_other_workers(
    by_judge: Path, client: Client, cluster: LocalCluster, tmp_path: Path,
    undisturbed: dict[str, jr.Ranking],
) -> None:  # fmt: skip
    whole = expected(undisturbed, by_judge, client)

    def stop(event: jr.Progress) -> None:
        if (event.stage, event.done) == ("fitting", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ranked(by_judge, client, progress=stop, resume=tmp_path / "fit", **FAST)
    cluster.scale(1)
    wait_until(lambda: len(workers_of(client)) == 1)
    assert_same_bits(ranked(by_judge, client, resume=tmp_path / "fit", **FAST), whole)
    assert not (tmp_path / "fit").exists()


# --- layouts -------------------------------------------------------------------------------------


def shuffled(frame: pl.DataFrame, folder: Path) -> None:
    """Votes of every judge in every file, those of one judge in their order."""
    for number in range(3):
        frame[number::3].write_parquet(folder / f"{number}.parquet")


def in_partitions(frame: pl.DataFrame, folder: Path) -> None:
    """A folder for each half, and votes of neither."""
    for number, half in enumerate(("left", "right", "none")):
        (folder / f"half={half}").mkdir()
        own = frame[number::2] if half != "none" else frame[:500]
        own.write_parquet(folder / f"half={half}" / "part-0.parquet")


def as_text(frame: pl.DataFrame, folder: Path) -> None:
    frame[:10_000].write_csv(folder / "0.csv")
    frame[10_000:].write_csv(folder / "1.csv")


@pytest.mark.parametrize(
    ("write", "where"),
    [(shuffled, None), (in_partitions, "half in ('left', 'right')"), (as_text, None)],
)
def test_any_layout_of_files_gives_the_same(
    write: Callable[[pl.DataFrame, Path], None], where: str | None, many_votes: pl.DataFrame,
    tmp_path: Path, by_judge: Path, client: Client, undisturbed: dict[str, jr.Ranking],
) -> None:  # fmt: skip
    write(many_votes, tmp_path)
    found = jr.rank(jr.scan_votes(tmp_path, where=where), cluster=client, **FAST)
    whole = expected(undisturbed, by_judge, client)
    assert_close(found.items, whole.items)
    assert_close(found.judges, whole.judges)


def test_a_judge_with_a_tenth_of_all_votes_is_one_shard(
    many_votes: pl.DataFrame, tmp_path: Path, client: Client
) -> None:
    heavy = pl.concat([many_votes.filter(judge="judge-007")] * 12)
    pl.concat([many_votes, heavy]).write_parquet(tmp_path / "votes.parquet")
    there = jr.rank(str(tmp_path), cluster=client, **FAST)
    assert_close(there.judges, jr.rank(str(tmp_path), **FAST).judges)


# --- workers that die ----------------------------------------------------------------------------


def shards_at(client: Client, worker: str, without: Collection[str] = ()) -> int:
    """How many shards a worker has, without those of rankings before that are still there."""
    keys = {str(key) for key in client.has_what()[worker]}.difference(without)
    return sum("juryrank-votes" in key for key in keys)


def fullest(client: Client, without: Collection[str] = ()) -> str:
    """The worker that has most shards: one that has just come has none."""
    return max(sorted(workers_of(client)), key=lambda one: shards_at(client, one, without))


def kill(client: Client, worker: str) -> None:
    """Kill the process of a worker; its nanny starts another."""
    process = client.run(os.getpid, workers=[worker])[worker]
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: worker not in workers_of(client))


class Killer:
    """Kills a worker at certain events."""

    def __init__(self, client: Client, *when: tuple[str, int | None]) -> None:
        self.client, self.when = client, list(when)

    def __call__(self, event: jr.Progress) -> None:
        if (event.stage, event.done) in self.when:
            self.when.remove((event.stage, event.done))
            kill(self.client, fullest(self.client))


LAST = -1


@pytest.mark.parametrize(
    "when",
    [
        [("reading", 3)], [("fitting", 1)], [("fitting", 10), ("fitting", 11)],
        [("fitting", LAST)], [("errors", None)],
    ],
    ids=["loading", "round 1", "rounds 10 and 11", "last round", "errors"],
)  # fmt: skip
def test_a_killed_worker_changes_no_bit(
    when: list[tuple[str, int | None]], by_judge: Path, client: Client,
    undisturbed: dict[str, jr.Ranking],
) -> None:  # fmt: skip
    whole = expected(undisturbed, by_judge, client)
    last = whole.fit.steps[-1][0]
    killer = Killer(client, *((stage, last if at == LAST else at) for stage, at in when))
    assert_same_bits(ranked(by_judge, client, progress=killer, **FAST), whole)
    assert not killer.when


class Reads(SchedulerPlugin):  # type: ignore[misc]  # Dask is not typed
    """Counts how often some rows have been read, those of rankings before apart."""

    name = "reads"
    count = 0

    def __init__(self, before: set[str]) -> None:
        self.before = before

    def transition(self, key: object, start: str, finish: str, *_: Any, **__: Any) -> None:
        is_read = str(key).startswith("juryrank-read-") and str(key) not in self.before
        self.count += is_read and (start, finish) == ("processing", "memory")


def test_only_lost_shards_are_read_again(
    by_judge: Path, client: Client, cluster: LocalCluster, undisturbed: dict[str, jr.Ranking]
) -> None:
    """And a worker that comes in the middle changes nothing."""
    whole, lost, others = expected(undisturbed, by_judge, client), 0, 0
    before = {str(key) for key in cluster.scheduler.tasks}  # a ranking keeps its votes
    client.register_plugin(Reads(before))
    reads = cluster.scheduler.plugins["reads"]

    def disturb(event: jr.Progress) -> None:
        nonlocal lost, others
        if (event.stage, event.done) == ("fitting", 2) and not lost:
            cluster.scale(3)
            client.wait_for_workers(3)
        if (event.stage, event.done) == ("fitting", 4) and not lost:
            held = {worker: shards_at(client, worker, before) for worker in workers_of(client)}
            doomed = fullest(client, before)
            lost = held.pop(doomed)
            others = sum(held.values())
            assert reads.count == 8
            kill(client, doomed)

    assert_same_bits(ranked(by_judge, client, progress=disturb, **FAST), whole)
    assert lost > 0
    assert others > 0
    # On a busy machine another worker may seem lost, too; nothing is read a third time.
    assert 8 + lost <= reads.count <= 2 * 8
