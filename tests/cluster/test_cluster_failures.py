"""What goes wrong on a cluster is said, with the way out."""

from __future__ import annotations

import builtins
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from cluster_help import started
from distributed import Client, KilledWorker

import juryrank as jr
from juryrank.cluster import engine, shards
from juryrank.cluster.files import check_unchanged, files_at, frame_of, pieces_of, row_groups_of
from juryrank.errors import InputError, JuryrankError

FAST: dict[str, Any] = {"prior": (1.0, 0.5)}


def test_other_versions_on_workers_are_refused(
    by_judge: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "__version__", "99.0")
    with pytest.raises(InputError, match=r"2 of 2 workers have another version .* 99\.0: tcp"):
        jr.rank(jr.scan_votes(by_judge), cluster=client)


def test_too_little_memory_is_told_beforehand(
    by_judge: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "BYTES_PER_VOTE", 1_000_000)
    with pytest.raises(InputError, match=r"33,600 votes, which need 33\.6 GB .* have 2\.0 GB"):
        jr.rank(jr.scan_votes(by_judge), cluster=client)


def test_a_file_that_changed_is_not_read_again(
    by_judge: Path, tmp_path: Path, client: Client
) -> None:
    for path in by_judge.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    def disturb(event: jr.Progress) -> None:
        if (event.stage, event.done) == ("fitting", 2):
            for path in tmp_path.iterdir():
                os.utime(path, (1, 1))
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    with pytest.raises(InputError, match=r"part-\d\d.parquet has changed since the work began"):
        jr.rank(jr.scan_votes(tmp_path), cluster=client, progress=disturb, **FAST)


def test_a_file_that_vanished_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("judge,winner,loser\nana,x,y\n")
    (file,) = files_at([str(tmp_path)])
    path.unlink()
    with pytest.raises(InputError, match=r"a\.csv was there when the work began"):
        check_unchanged(file)


def test_a_scheduler_that_is_gone_is_an_error(by_judge: Path) -> None:
    with started(1, processes=False) as cluster, Client(cluster) as client:

        def disturb(event: jr.Progress) -> None:
            if (event.stage, event.done) == ("fitting", 2):
                cluster.close()

        with pytest.raises(JuryrankError, match="scheduler of the cluster is gone"):
            jr.rank(jr.scan_votes(by_judge), cluster=client, progress=disturb, **FAST)


def test_workers_that_die_again_and_again_most_likely_lack_memory() -> None:
    lost = KilledWorker("juryrank-read-1", SimpleNamespace(address="tcp://10.0.0.1:1"), 3)
    with (
        pytest.raises(JuryrankError, match=r"on 4 workers that were lost.* use more workers"),
        engine.in_words(),
    ):
        raise lost


def test_bad_rows_name_their_file(tmp_path: Path, client: Client) -> None:
    (tmp_path / "a.csv").write_text("judge,winner,loser\nana,x,y\nbo,y,\n")
    with pytest.raises(InputError, match=r"a\.csv: .*row"):
        jr.rank(jr.scan_votes(tmp_path), cluster=client)


def test_files_of_other_columns_are_refused(tmp_path: Path, client: Client) -> None:
    (tmp_path / "a.csv").write_text("judge,winner,loser\nana,x,y\n")
    (tmp_path / "b.csv").write_text("judge,left,right\nana,x,y\n")
    with pytest.raises(InputError, match=r"b\.csv has no column winner, loser"):
        jr.rank(jr.scan_votes(tmp_path), cluster=client)


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_names_in_text_stay_text_as_on_one_machine(tmp_path: Path, client: Client) -> None:
    """01 and 1 are two names, in one file and in two, whatever stands between the cells."""
    rows = ["ana;001;01;left", "ana;01;1;left", "bo;1;2;left", "bo;2;001;right"]
    (tmp_path / "a.csv").write_text("\n".join(["judge;left;right;winner", *rows]))
    (tmp_path / "b.csv").write_text("judge,left,right,winner\nana,1,2,left\n")
    there, here = jr.rank(jr.scan_votes(tmp_path), cluster=client), jr.rank(str(tmp_path))
    assert sorted(there.items["item"]) == sorted(here.items["item"]) == ["001", "01", "1", "2"]
    assert there.fit.votes == here.fit.votes == 5


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_a_file_that_is_given_twice_counts_twice(tmp_path: Path, client: Client) -> None:
    file = str(tmp_path / "a.csv")
    Path(file).write_text("judge,winner,loser\nana,x,y\nbo,y,z\n")
    assert jr.rank(jr.scan_votes([file, file]), cluster=client).fit.votes == 4


def test_a_file_of_parquet_that_is_cut_off_is_told(tmp_path: Path, client: Client) -> None:
    whole = tmp_path / "a.parquet"
    pl.DataFrame({"judge": ["ana"], "winner": ["x"], "loser": ["y"]}).write_parquet(whole)
    whole.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"a\.parquet cannot be read: .*cut off"):
        jr.rank(jr.scan_votes(whole), cluster=client)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"by": "language"}, "by="),
        ({"intervals": "bootstrap"}, "intervals='bootstrap'"),
        ({"solver": "paper"}, "solver='paper'"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=f"{named}.* is not available on a cluster.*one machine"):
        jr.rank(jr.scan_votes("nowhere"), cluster="local:2", **options)


def test_votes_need_a_cluster_and_a_cluster_needs_files() -> None:
    with pytest.raises(InputError, match="scan_votes is for a cluster"):
        jr.rank(jr.scan_votes("nowhere"))
    with pytest.raises(InputError, match="give scan_votes"):
        jr.rank(jr.datasets.llm_judges().votes, cluster="local:2")


@pytest.mark.parametrize("address", ["local:0", "local:many"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="must be local:N"):
        jr.rank(jr.scan_votes("nowhere"), cluster=address)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name == "distributed":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(InputError, match=r'pip install "juryrank\[dask\]"'):
        jr.rank(jr.scan_votes("nowhere"), cluster="local:2")


def test_pieces_are_whole_row_groups_and_have_every_row(tmp_path: Path) -> None:
    frame = pl.DataFrame({"winner": ["x"] * 1_000, "loser": ["y"] * 1_000, "k": range(1_000)})
    for number in range(2):
        frame.write_parquet(tmp_path / f"{number}.parquet", row_group_size=90)
    files = files_at([str(tmp_path)])
    groups = [row_groups_of(file) for file in files]
    for fewest, number in ((1, 12), (200, 8), (5_000, 2)):
        pieces = pieces_of(files, groups, fewest)
        assert len(pieces) == number
        read = pl.concat([frame_of(piece, ["k"]) for piece in pieces])
        assert read["k"].to_list() == [*range(1_000)] * 2
        assert frame_of(pieces[-1], ["k"], 1)["k"].to_list() == [pieces[-1].first]


def test_folders_say_what_all_rows_of_a_file_have_in_common(tmp_path: Path) -> None:
    folder = tmp_path / "language=de" / "judge=ana%20maria"
    folder.mkdir(parents=True)
    pl.DataFrame({"winner": ["x"], "loser": ["y"]}).write_parquet(folder / "0.parquet")
    (folder / "_SUCCESS").touch()
    (file,) = files_at([f"file://{tmp_path}"])
    (piece,) = pieces_of([file], [row_groups_of(file)])
    found = frame_of(piece, ["winner", "judge"])
    assert found.to_dicts() == [{"winner": "x", "judge": "ana maria", "language": "de"}]
