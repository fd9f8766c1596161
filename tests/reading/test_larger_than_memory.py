"""Votes larger than memory: read in batches, sorted in shards, and the same as all at once."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
import pytest
from reading_help import assert_same, complaint
from typer.testing import CliRunner

import juryrank as jr
from juryrank import memory_size as sizes
from juryrank.cli.app import app
from juryrank.errors import InputError
from juryrank.memory_size import size_in_bytes
from juryrank.reading import read_votes
from juryrank.reading.larger_than_memory import limits_of
from juryrank.simulation.simulation import simulate
from juryrank.votes import storage as mapped
from juryrank.votes.connectivity import connection
from juryrank.votes.storage import give_back, is_mapped, new_like, new_mapped, pieces, ranges
from juryrank.votes.votes import Votes

TINY = "3kB"
"""Three rows in a batch, fifteen in a piece, sixty votes in a shard."""


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow sizes that only make sense in tests."""
    monkeypatch.setattr(sizes, "LEAST", 1)


def frame_of(count: int = 400, seed: int = 1, words: tuple[str, ...] = ()) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 7, count)
    right = (left + rng.integers(1, 7, count)) % 7
    known = np.array(words or ("left", "right", "tie", "both_bad", "skip"))
    return pl.DataFrame(
        {
            "judge": [f"judge {j}" for j in rng.integers(0, 12, count)],
            "left": [f"item {i}" for i in left],
            "right": [f"item {i}" for i in right],
            "winner": known[rng.integers(0, len(known), count)],
            "weight": rng.choice([0.5, 1.0, 2.0], count),
        }
    )


def bad_frame() -> pl.DataFrame:
    """Everything that can be wrong with rows, and far apart."""
    row = pl.int_range(pl.len())

    def spoiled(column: str, rows: tuple[int, ...], value: object) -> pl.Expr:
        return pl.when(row.is_in(rows)).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)

    return (
        frame_of()
        .with_columns(pl.col("weight").cast(pl.String))
        .with_columns(
            spoiled("judge", (5, 6, 250, 399), None),
            spoiled("left", (17, 300), " "),
            spoiled("winner", (2, 5, 40, 41, 42, 390), "who knows"),
            spoiled("weight", (0, 100, 101, 398), "-3"),
        )
        .with_columns(right=pl.when(row.is_in((1, 77))).then("left").otherwise("right"))
    )


def assert_same_in_all(larger: Votes, votes: Votes) -> None:
    assert_same(larger, votes)
    for name in ("both_bad", "sides_known", "judges_known", "left_out", "notices", "reading"):
        assert getattr(larger, name) == getattr(votes, name)
    assert is_mapped(larger.winner)
    assert type(larger.left) is np.ndarray
    assert larger.left.flags.writeable
    assert larger.left.flags.c_contiguous


def write(frame: pl.DataFrame, path: Path) -> Path:
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": frame.write_csv,
        ".ndjson": frame.write_ndjson,
        ".json": frame.write_json,
        ".parquet": lambda to: frame.write_parquet(to, row_group_size=64),
        ".arrow": frame.write_ipc,
    }
    writers[path.suffix](path)
    return path


class TestTheSame:
    @pytest.mark.parametrize("ending", ["csv", "ndjson", "json", "parquet", "arrow"])
    def test_in_every_format(self, ending: str, tmp_path: Path) -> None:
        path = write(frame_of(), tmp_path / f"votes.{ending}")
        assert_same_in_all(read_votes(path, memory=TINY), read_votes(path))

    @pytest.mark.parametrize("memory", [1, "1kB", "20 kB", "1GB", 10**12])
    def test_whatever_the_limit(self, memory: str | int, tmp_path: Path) -> None:
        path = write(frame_of(120), tmp_path / "votes.csv")
        assert_same_in_all(read_votes(path, memory=memory), read_votes(path))

    def test_winner_and_loser_without_judges_and_weights(self, tmp_path: Path) -> None:
        frame = frame_of().select(winner="left", loser="right")
        path = write(frame, tmp_path / "votes.csv")
        assert_same_in_all(read_votes(path, memory=TINY), read_votes(path))

    def test_numbers(self, tmp_path: Path) -> None:
        """Ids that are numbers, in a text format and in one with types, with gaps as of pandas."""
        digits = pl.col("judge", "left", "right").str.extract(r"(\d+)")
        frame = frame_of().with_columns(digits.cast(pl.Int64)).with_columns(
            right=pl.col("right").cast(pl.Float64),
            winner=pl.when(pl.col("winner") == "left").then("left").otherwise("right"),
        )  # fmt: skip
        for path in (tmp_path / "votes.csv", tmp_path / "votes.parquet"):
            write(frame.with_columns(pl.col("right").cast(pl.Int64)), path)
            assert_same_in_all(read_votes(path, memory=TINY), read_votes(path))
            assert read_votes(path, memory=TINY).items.dtype == pl.Int64
        with_gaps = write(frame, tmp_path / "gaps.parquet")
        assert_same_in_all(read_votes(with_gaps, memory=TINY), read_votes(with_gaps))

    def test_types_that_do_not_go_together(self, tmp_path: Path) -> None:
        frame = frame_of().with_columns(pl.col("left").str.extract(r"(\d+)").cast(pl.Float64) + 0.5)
        path = write(frame, tmp_path / "votes.parquet")
        said = complaint(lambda: read_votes(path, memory=TINY))
        assert said == complaint(lambda: read_votes(path))
        assert "different types" in said

    @pytest.mark.parametrize("number", [float("inf"), 1e300])
    def test_numbers_too_large_for_whole_ones(self, number: float, tmp_path: Path) -> None:
        digits = pl.col("left", "right").str.extract(r"(\d+)").cast(pl.Int64)
        frame = frame_of().with_columns(digits).with_columns(
            left=pl.when(pl.int_range(pl.len()) == 200).then(number).otherwise("left")
        )  # fmt: skip
        path = write(frame, tmp_path / "votes.parquet")
        said = complaint(lambda: read_votes(path, memory=TINY))
        assert said == complaint(lambda: read_votes(path))
        assert "different types" in said

    @pytest.mark.parametrize(
        ("words", "outcome_map"),
        [
            (("item 1", "item 2", "tie"), {}),
            (("Left wins", "2", "none"), {"Left wins": "left", "2": "right", "none": "skip"}),
            (("left", "item 3", ""), {}),
        ],
    )
    def test_outcomes(
        self, words: tuple[str, ...], outcome_map: dict[str, str], tmp_path: Path
    ) -> None:
        path = write(frame_of(words=words), tmp_path / "votes.csv")
        options = {"outcome_map": outcome_map, "skip_bad": "most"}
        assert_same_in_all(
            read_votes(path, memory=TINY, **options),  # type: ignore[arg-type]
            read_votes(path, **options),  # type: ignore[arg-type]
        )

    def test_items_named_like_sides(self, tmp_path: Path) -> None:
        names = {f"item {i}": ("left", "right", "tie")[i] for i in range(3)}
        sides = pl.col("left", "right").replace(names)
        for seed in range(3):
            frame = frame_of(60, seed, ("left", "right")).with_columns(sides)
            path = write(frame, tmp_path / "votes.csv")
            assert_same_in_all(
                read_votes(path, memory=TINY, skip_bad=True), read_votes(path, skip_bad=True)
            )

    def test_a_judge_per_row(self, tmp_path: Path) -> None:
        path = write(frame_of(), tmp_path / "votes.csv")
        larger = read_votes(path, judge_per_row=True, memory=TINY)
        assert_same_in_all(larger, read_votes(path, judge_per_row=True))

    def test_several_files(self, tmp_path: Path) -> None:
        for number in range(3):
            write(frame_of(100, number), tmp_path / f"{number}.parquet")
        assert_same_in_all(read_votes(tmp_path, memory=TINY), read_votes(tmp_path))

    @pytest.mark.parametrize(
        ("winner", "says"),
        [
            (
                pl.col("left").str.replace("item 5", " Item 5"),
                "outcomes taken as an item's name, ignoring case and blanks (' Item 5')",
            ),
            (pl.lit("A is much better"), "how much better an item is does not count"),
            (pl.int_range(pl.len()) % 2 + 1, "outcome 1 means left, 2 means right"),
        ],
    )
    def test_what_is_said_of_outcomes(self, winner: pl.Expr, says: str, tmp_path: Path) -> None:
        path = write(frame_of().with_columns(winner=winner), tmp_path / "votes.csv")
        larger = read_votes(path, memory=TINY)
        assert_same_in_all(larger, read_votes(path))
        assert says in str(larger.reading[0])

    def test_a_file_for_each_judge(self, tmp_path: Path) -> None:
        for name in ("ann", "bob"):
            write(frame_of(100, len(name)).drop("judge"), tmp_path / f"{name}.csv")
        larger = read_votes(tmp_path, judge_per_file=True, memory=TINY)
        assert larger.judges.to_list() == ["ann", "bob"]
        assert_same_in_all(larger, read_votes(tmp_path, judge_per_file=True))
        assert "the name of each file is the judge" in str(larger.reading[0])


class TestBadRows:
    @pytest.mark.parametrize("files", [1, 2])
    def test_the_same_complaints(self, files: int, tmp_path: Path) -> None:
        for number in range(files):
            write(bad_frame(), tmp_path / f"{number}.csv")
        said = complaint(lambda: read_votes(tmp_path, memory=TINY))
        assert said == complaint(lambda: read_votes(tmp_path))
        assert all(case in said for case in ("row 3", "'who knows'", "'-3'"))
        assert_same_in_all(
            read_votes(tmp_path, memory=TINY, skip_bad=True), read_votes(tmp_path, skip_bad=True)
        )

    @pytest.mark.parametrize(
        "text",
        [
            "winner,loser\n",
            "winner,loser\na,a\na,a\n",
            "winner,loser\na,a\nb,b\n",
            "winner,loser\na,b,c\n",
            "left,right,winner\na,b,skip\n",
            "what,is,this\na,b,skip\n",
        ],
    )
    def test_nothing_to_rank(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "votes.csv"
        path.write_text(text)
        assert complaint(lambda: read_votes(path, memory=TINY)) == complaint(
            lambda: read_votes(path)
        )

    def test_rankings_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "votes.csv"
        path.write_text("judge,ranking\nann,a > b > c\n")
        said = complaint(lambda: read_votes(path, memory="1GB"))
        assert "votes on pairs" in said
        assert "omit the limit" in said


class TestSizes:
    @pytest.mark.parametrize(
        ("size", "count"),
        [
            ("1GB", 10**9), ("500MB", 5 * 10**8), ("1.5 GiB", 3 * 2**29), ("2k", 2000), (7, 7),
            ("12", 12), ("1tb", 10**12),
        ],
    )  # fmt: skip
    def test_sizes(self, size: str | int, count: int) -> None:
        assert size_in_bytes(size) == count

    @pytest.mark.parametrize(
        "size", ["", "much", "-1GB", "0", "1 PB", "1i", "GB", True, 0, -5, "9" * 400]
    )
    def test_no_sizes(self, size: str | int) -> None:
        with pytest.raises(InputError, match="is not an amount of memory"):
            size_in_bytes(size)

    @pytest.mark.parametrize("size", ["1", "1.5", "16", "999kB", 64])
    def test_too_little(self, size: str | int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Most likely a unit was forgotten: rows would be read one by one."""
        monkeypatch.undo()
        with pytest.raises(InputError, match=r"is too little memory .* at least 1MB"):
            size_in_bytes(size)

    @pytest.mark.parametrize("size", ["99999999999TB", "9" * 18 + "GB"])
    def test_more_than_there_is(self, size: str, tmp_path: Path) -> None:
        path = write(frame_of(20), tmp_path / "votes.csv")
        assert_same_in_all(read_votes(path, memory=size), read_votes(path))

    def test_limits(self) -> None:
        assert limits_of(1) == (1, 1, 1)
        assert limits_of(3000) == (3, 15, 60)


class TestMapped:
    def test_what_is_given_back_comes_again(self) -> None:
        array = new_mapped(100_000, np.dtype(np.int32))
        array[:] = np.arange(100_000)
        give_back(array[10:], array[:0], array[5000:5001], np.ones(3))
        assert (array == np.arange(100_000)).all()

    def test_like(self) -> None:
        array = new_mapped(3, np.dtype(np.int8))
        assert is_mapped(array[1:].view(np.uint8))
        assert is_mapped(new_like(array, 0, array.dtype))
        assert not is_mapped(new_like(np.ones(3), 4, array.dtype))

    def test_ranges(self) -> None:
        start = np.array([0, 3, 3, 10, 11, 12, 12])
        assert list(ranges(start, 4)) == [(0, 2), (2, 3), (3, 6)]
        assert list(ranges(start, 1)) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6)]
        assert list(ranges(np.array([0]), 4)) == []
        assert [(p.start, p.stop) for p in pieces(5, 2)] == [(0, 2), (2, 4), (4, 5)]


class TestRanking:
    @pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
    def test_the_same_ranking(self, tmp_path: Path) -> None:
        path = write(frame_of(words=("left", "right", "tie")), tmp_path / "votes.csv")
        for options in ({}, {"ties": "half"}, {"order": "common"}):
            larger = jr.rank(read_votes(path, memory=TINY), **options)  # type: ignore[call-overload]
            plain = jr.rank(read_votes(path), **options)  # type: ignore[call-overload]
            assert larger.items.equals(plain.items)
            assert larger.judges.equals(plain.judges)
            assert larger.warnings == plain.warnings

    def test_the_commands(self, tmp_path: Path) -> None:
        paths = [str(write(frame_of(100, n), tmp_path / f"{n}.csv")) for n in range(2)]
        for command in (["rank"], ["rank", "--without", "judge 3"], ["check"], ["judges"]):
            for more in ([], ["--judge-per-row"] if command == ["check"] else []):
                line = [*command, *paths, "--json", *more]
                larger = CliRunner().invoke(app, [*line, "--memory", TINY])
                assert larger.exit_code == 0, larger.output
                assert larger.stdout == CliRunner().invoke(app, line).stdout

    def test_a_size_nobody_knows(self, tmp_path: Path) -> None:
        line = ["rank", str(tmp_path / "votes.csv"), "--memory", "plenty"]
        result = CliRunner().invoke(app, line)
        assert result.exit_code == 2
        assert "'plenty' is not an amount of memory" in result.stderr


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    path = write(frame_of(), tmp_path / "votes.csv")
    votes = read_votes(path, memory=TINY)
    assert not list(room.iterdir())
    bad = write(bad_frame(), tmp_path / "bad.csv")
    with pytest.raises(InputError):
        read_votes(bad, memory=TINY)
    del votes
    gc.collect()
    assert not list(room.iterdir())


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
@pytest.mark.parametrize("how", ["in memory", "in files"])
def test_work_by_ranges_gives_the_same(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges of 20 votes, some of one judge who has more, against all votes at once."""
    path = write(frame_of(words=("left", "right", "tie")), tmp_path / "votes.csv")
    whole = read_votes(path)
    pairs = [whole.for_model(ties=ties, sides=not ties).pairs for ties in (True, False)]
    fewer = whole.without(["judge 3", "judge 11"])
    totals = [whole.votes_per_judge, whole.votes_per_item]
    linked = connection(whole)
    best_fit, sampled = jr.rank(whole, prior=(1.0, 1.0)), jr.rank(whole)
    for function in (mapped.ranges, mapped.pieces):
        monkeypatch.setattr(function, "__defaults__", (20,))
    votes = whole if how == "in memory" else read_votes(path, memory=TINY)
    for ties, want in zip((True, False), pairs, strict=True):
        found = votes.for_model(ties=ties, sides=not ties).pairs
        np.testing.assert_array_equal(found.start, want.start, strict=True)
        assert found.columns().keys() == want.columns().keys()
        for name, wanted in want.columns().items():
            np.testing.assert_array_equal(found.columns()[name], wanted, strict=True)
    assert_same(votes.without(["judge 3", "judge 11"]), fewer)
    np.testing.assert_allclose(votes.votes_per_judge, totals[0], rtol=1e-14)
    np.testing.assert_allclose(votes.votes_per_item, totals[1], rtol=1e-14)
    np.testing.assert_array_equal(connection(votes).component, linked.component)
    # A chain carries on what sums differ by in their last digits.
    for ranking, again, near in (
        (best_fit, jr.rank(votes, prior=(1.0, 1.0)), 1e-9), (sampled, jr.rank(votes), 1e-5),
    ):  # fmt: skip
        np.testing.assert_allclose(again.items["score"], ranking.items["score"], atol=near)
        assert again.judges["verdict"].to_list() == ranking.judges["verdict"].to_list()
    assert votes.for_model().in_memory == (how == "in memory")


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_the_guard_by_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One judge of eight votes for the worst item whenever it is shown."""
    made = simulate(10, 8, accuracies=[2.0] * 8, votes_per_judge=150, seed=4)
    worst = made.items.sort("score")["item"][0]
    pushing = pl.col("judge") == made.judges["judge"][0]
    pushed = (
        pl.when(pushing & (pl.col("left") == worst)).then(pl.lit("left"))
        .when(pushing & (pl.col("right") == worst)).then(pl.lit("right"))
    )  # fmt: skip
    frame = made.votes.with_columns(winner=pushed.otherwise("winner"))
    path = write(frame, tmp_path / "votes.csv")
    ranking = jr.rank(read_votes(path), prior=(1.0, 1.0))
    assert ranking.fit.set_aside > 0
    for function in (mapped.ranges, mapped.pieces):
        monkeypatch.setattr(function, "__defaults__", (40,))
    for votes in (read_votes(path), read_votes(path, memory=TINY)):
        again = jr.rank(votes, prior=(1.0, 1.0))
        assert again.fit.set_aside == ranking.fit.set_aside
        np.testing.assert_allclose(again.items["score"], ranking.items["score"], atol=1e-9)


class TestRoom:
    """What becomes of it if temporary files cannot be made or written."""

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "posix_fallocate", refusing(errno.ENOSPC), raising=False)
        path = write(frame_of(), tmp_path / "votes.csv")
        said = complaint(lambda: read_votes(path, memory=TINY))
        assert "has no room left" in said
        assert "TMPDIR" in said

    @pytest.mark.skipif(sys.platform != "linux", reason="needs a device that is full")
    @pytest.mark.parametrize("memory", [TINY, "1GB"])
    def test_a_disk_that_is_full_while_reading(
        self, memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However few numbers are written at a time: a buffer must not hide it."""

        def full(*, buffering: int = -1, prefix: str = "") -> IO[bytes]:
            return Path("/dev/full").open("r+b", buffering=buffering)

        monkeypatch.setattr(tempfile, "TemporaryFile", full)
        path = write(frame_of(), tmp_path / "votes.csv")
        assert "has no room left" in complaint(lambda: read_votes(path, memory=memory))

    def test_files_that_cannot_be_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "TemporaryFile", refusing(errno.EROFS))
        path = write(frame_of(), tmp_path / "votes.csv")
        said = complaint(lambda: read_votes(path, memory=TINY))
        assert said.startswith("The votes cannot be kept in a temporary file: Read-only file sys")

    def test_a_folder_that_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Python would take another folder, which may be in memory, and say nothing."""
        path = write(frame_of(), tmp_path / "votes.csv")
        for folder in (tmp_path / "nowhere", path):
            monkeypatch.setenv("TMPDIR", str(folder))
            said = complaint(lambda: read_votes(path, memory=TINY))
            assert said.startswith(f"TMPDIR names {str(folder)!r}")
        read_votes(path)


def refusing(number: int) -> Callable[..., None]:
    """What the operating system does if it cannot."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def test_complaints_come_without_scipy(tmp_path: Path) -> None:
    path = write(bad_frame(), tmp_path / "votes.csv")
    script = (
        "import sys\nfrom juryrank.reading import read_votes\n"
        f"try: read_votes({str(path)!r}, memory='1MB')\n"
        "except ValueError: print('scipy' in sys.modules)"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
