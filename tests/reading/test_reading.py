"""Reading votes: every format and library, labels as given, and any rubbish refused."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_help import FILES, WINS, complaint, read, rows, wins_as_rows

import juryrank as jr
from juryrank.errors import InputError
from juryrank.reading import read_votes, votes_from
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE, Votes


class TestFormats:
    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize("name", FILES)
    def test_every_format_gives_the_same_votes(
        self, tmp_path: Path, name: str, packed: bool
    ) -> None:
        path = tmp_path / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(FILES[name]) if packed else FILES[name])
        assert rows(read_votes(path)) == wins_as_rows(WINS)

    @pytest.mark.parametrize("name", FILES)
    def test_an_unnamed_stream_is_recognised_by_its_content(self, name: str) -> None:
        assert rows(read_votes(io.BytesIO(FILES[name]))) == wins_as_rows(WINS)

    def test_zstd_text(self, tmp_path: Path) -> None:
        WINS.lazy().sink_csv(tmp_path / "votes.csv.zst", compression="zstd")
        WINS.lazy().sink_ndjson(tmp_path / "votes.jsonl.zst", compression="zstd")
        for path in tmp_path.iterdir():
            assert rows(read_votes(path)) == wins_as_rows(WINS)

    def test_zstd_binary(self, tmp_path: Path) -> None:
        path = tmp_path / "votes.parquet.zst"
        path.write_bytes(pa.compress(FILES["votes.parquet"], codec="zstd", asbytes=True))
        assert rows(read_votes(path)) == wins_as_rows(WINS)

    def test_standard_input(self) -> None:
        code = "from juryrank.reading import read_votes; print(len(read_votes('-')))"
        for content in FILES.values():
            done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True)  # noqa: S603
            assert done.stdout.strip() == b"4", done.stderr

    def test_a_folder_and_a_glob(self, tmp_path: Path) -> None:
        WINS.head(3).write_parquet(tmp_path / "part-0.parquet")
        WINS.tail(1).write_parquet(tmp_path / "part-1.parquet")
        (tmp_path / "_SUCCESS").touch()
        for source in (tmp_path, str(tmp_path / "*.parquet")):
            assert rows(read_votes(source)) == wins_as_rows(WINS)

    def test_a_partitioned_folder(self, tmp_path: Path) -> None:
        for judge in ("ann", "zoë"):
            folder = tmp_path / f"judge={judge}"
            folder.mkdir()
            WINS.filter(judge=judge).drop("judge").write_parquet(folder / "0.parquet")
        assert rows(read_votes(tmp_path)) == wins_as_rows(WINS)

    def test_rows_of_a_folder_are_named_with_their_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("winner,loser\nx,y\n\n")
        (tmp_path / "b.csv").write_text("winner,loser\nx,y\nx,\n")
        assert "row 2 of b.csv" in complaint(lambda: read_votes(tmp_path))

    def test_a_name_with_glob_signs(self, tmp_path: Path) -> None:
        path = tmp_path / "votes[1].csv"
        path.write_bytes(FILES["votes.csv"])
        assert len(read_votes(path)) == 4

    def test_the_format_can_be_given(self, tmp_path: Path) -> None:
        path = tmp_path / "votes.csv"
        path.write_bytes(FILES["votes.ndjson"])
        assert len(read_votes(path, format="jsonl")) == 4
        assert "no format 'docx'" in complaint(lambda: read_votes(path, format="docx"))

    def test_blank_lines_are_no_rows(self) -> None:
        votes = read("winner,loser\r\n\r\nx,y\r\n,\r\ny,x\r\n\r\n\r\n")
        assert len(votes) == 2
        assert votes.left_out.total == 0


class TestIds:
    def test_leading_zeros_stay(self) -> None:
        assert read("winner,loser\n007,7\n").items.to_list() == ["007", "7"]

    def test_whole_numbers_become_numbers_and_sort_as_such(self) -> None:
        votes = read("judge,winner,loser\n01,10,9\n1,-3,9\n")
        assert votes.items.to_list() == [-3, 9, 10]
        assert votes.judges.to_list() == ["01", "1"]

    @pytest.mark.parametrize("odd", ["1.0", "+1", "-0", " 1", "1_0", "9223372036854775808", "٣"])
    def test_what_only_looks_like_a_number_stays_text(self, odd: str) -> None:
        assert read(f"winner,loser\n{odd},2\n").items.to_list() == sorted([odd, "2"])

    def test_text_numbers_of_a_typed_format_stay_text(self) -> None:
        assert votes_from({"winner": ["1"], "loser": ["10"]}).items.to_list() == ["1", "10"]

    @pytest.mark.parametrize(
        "labels",
        [[1, 2], [-128, 127], [2**62, -(2**62)], [0.5, 1.5], [True, False], ["x", "Ä"], ["", "a"]],
    )
    def test_labels_come_back_as_given(self, labels: list[object]) -> None:
        frame = pl.DataFrame({"winner": labels, "loser": labels[::-1]})
        if "" in labels:
            assert "nothing in the column" in complaint(lambda: votes_from(frame))
            return
        assert votes_from(frame).items.to_list() == sorted(labels)  # type: ignore[type-var]
        assert votes_from(frame).items.dtype == frame["winner"].dtype

    def test_small_integers_do_not_overflow(self) -> None:
        frame = pl.DataFrame({"winner": [-128, 127] * 99, "loser": [127, -128] * 99})
        votes = votes_from(frame.cast(pl.Int8))
        assert votes.items.to_list() == [-128, 127]

    def test_unequal_types_of_items(self) -> None:
        frame = {"winner": [1, 2], "loser": ["a", "b"]}
        assert (
            "different types: whole numbers in the column 'winner', text in 'loser'"
            in complaint(lambda: votes_from(frame))
        )

    def test_items_that_are_lists(self) -> None:
        frame = {"winner": [["a"]], "loser": [["b"]]}
        assert "'winner' holds lists" in complaint(lambda: votes_from(frame))


class TestFrames:
    @pytest.mark.parametrize(
        "convert",
        [
            lambda frame: frame,
            pl.DataFrame.lazy,
            lambda frame: frame.with_columns(pl.all().cast(pl.Categorical)),
            lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
            lambda frame: pd.DataFrame(frame.to_dict(as_series=False)).astype("category"),
            lambda frame: pa.table(frame),
            lambda frame: pa.table(frame).to_batches()[0],
            lambda frame: pa.table(frame).to_reader(),
            lambda frame: frame.to_dict(as_series=False),
            lambda frame: frame.to_pandas().to_dict("index"),
            pl.DataFrame.to_dicts,
        ],
    )
    def test_every_library(self, convert: Callable[[pl.DataFrame], object]) -> None:
        assert rows(votes_from(convert(WINS))) == wins_as_rows(WINS)

    def test_duckdb_relation(self) -> None:
        script = (
            "import duckdb, juryrank as jr\n"
            "relation = duckdb.sql(\"select 'u' as judge, 'a' as winner, 'b' as loser\")\n"
            "print(jr.votes_from(relation))"
        )  # apart from the other tests: duckdb 2.0 writes about leaks when its process ends
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("Votes(1 vote by 1 judge on 2 items")

    @pytest.mark.parametrize("odd", [7, "votes.csv", [1, 2], None])
    def test_what_is_no_frame(self, odd: object) -> None:
        assert "Votes cannot be taken from a" in complaint(lambda: votes_from(odd))

    @pytest.mark.parametrize(
        "odd",
        [
            WINS.to_pandas()["winner"],
            WINS.to_pandas().index,
            WINS.to_numpy(),
            (row for row in WINS.to_dicts()),
            [{"winner": "a", "loser": "b"}, None],
            {1: "a", 2: "b"},
            {("a", "b"): 3, ("b", "a"): 2},
            [{1: "a", 2: "b"}],
            {"winner": ["a", "b"], "loser": ["b"]},
            {},
            [],
            [{}],
        ],
    )
    def test_what_is_nearly_a_frame_gets_an_input_error(self, odd: object) -> None:
        assert complaint(lambda: votes_from(odd))

    @pytest.mark.parametrize(
        "grouped",
        [
            WINS.to_pandas().groupby("judge"),
            WINS.to_pandas().groupby("judge")["winner"],
            WINS.group_by("judge"),
            WINS.lazy().group_by("judge"),
        ],
    )
    def test_groups_of_a_frame(self, grouped: object) -> None:
        said = complaint(lambda: votes_from(grouped))
        assert "as it was before it was grouped" in said
        assert "rank(frame, by=...)" in said

    def test_columns_of_one_name(self) -> None:
        said = complaint(lambda: votes_from({1: ["a"], "1": ["b"], "winner": ["a"]}))
        assert "3 columns, and as text only 2 of their names differ" in said

    def test_whole_floats_beside_whole_numbers(self) -> None:
        frame = pd.DataFrame({"winner": [1, np.nan, 2], "loser": [2, 1, 1]})
        assert "nothing in the column 'winner': row 2" in complaint(lambda: votes_from(frame))
        assert votes_from(frame, skip_bad=True).items.to_list() == [1, 2]

    def test_ids_that_are_bytes(self) -> None:
        frame = pl.DataFrame({"winner": [b"\x00\x01"], "loser": [b"\x00\x02"]})
        assert "'winner' holds binary data" in complaint(lambda: votes_from(frame))

    def test_a_frame_that_mixes_types(self) -> None:
        frame = pd.DataFrame({"winner": [1, "a"], "loser": ["b", "c"]})
        assert "mixes types" in complaint(lambda: votes_from(frame))

    def test_a_lazy_frame_that_fails(self) -> None:
        scan = pl.LazyFrame({"winner": ["a"]}).with_columns(loser=pl.col("winner").cast(pl.Int8))
        assert "The data frame cannot be read" in complaint(lambda: votes_from(scan))


LABELS = st.sampled_from(["a", "b", "c", "left", "tie", "", "7", "07", " ", "Ä", 'q"', "x,y"])
HEADERS = st.permutations(["judge", "winner", "loser", "left", "right", "weight"])


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    names = draw(HEADERS)[: draw(st.integers(2, 6))]
    height = draw(st.integers(0, 6))
    column = st.lists(LABELS | st.none(), min_size=height, max_size=height)
    return pl.DataFrame({name: draw(column) for name in names}, schema=dict.fromkeys(names, str))


def check_sound_or_refused(take: Callable[[], Votes]) -> None:
    with suppress(InputError):
        check_sound(take())


def check_sound(votes: Votes) -> None:
    assert len(votes) > 0
    assert votes.items.n_unique() == votes.n_items >= 2
    assert votes.items.is_sorted()
    assert votes.start[0] == 0
    assert votes.start[-1] == len(votes)
    assert (np.diff(votes.start) > 0).all()
    assert (votes.left != votes.right).all()
    assert set(votes.outcome.tolist()) <= {LEFT_WON, TIE, RIGHT_WON}
    used = np.union1d(votes.left, votes.right)
    assert used.tolist() == list(range(votes.n_items))


@settings(max_examples=200, deadline=None)
@given(tables(), st.booleans())
def test_any_table_gives_votes_or_a_complaint(frame: pl.DataFrame, skip_bad: bool) -> None:
    check_sound_or_refused(lambda: votes_from(frame, skip_bad=skip_bad))
    check_sound_or_refused(lambda: read(frame.write_csv(), skip_bad=skip_bad))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_give_votes_or_a_complaint(content: bytes) -> None:
    for head in (b"", b"winner,loser\n", b'{"winner":"x","loser":"y"}\n'):
        source = io.BytesIO(head + content)
        check_sound_or_refused(partial(read_votes, source))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.sampled_from("jkl")), min_size=1),
    st.randoms(use_true_random=False),
)
def test_row_order_leaves_no_trace(
    votes: list[tuple[int, int, str]], random: np.random.RandomState
) -> None:
    votes = [(a, b, j) for a, b, j in votes if a != b] or [(0, 1, "j")]
    shuffled = list(votes)
    random.shuffle(shuffled)
    names = ("winner", "loser", "judge")
    one, other = (
        votes_from(pl.DataFrame(dict(zip(names, zip(*table, strict=True), strict=True))))
        for table in (votes, shuffled)
    )
    assert one.items.equals(other.items)
    assert one.judges.equals(other.judges)
    assert sorted(rows(one), key=str) == sorted(rows(other), key=str)


def test_what_holds_votes_stands_for_them() -> None:
    made, known = jr.simulate(4, 3, votes_per_judge=20, seed=1), jr.datasets.llm_judges()
    assert jr.check(made) == jr.check(made.votes)
    assert jr.check(known) == jr.check(known.votes)


@pytest.mark.parametrize(
    "indexed",
    [
        lambda frame: frame.set_index("judge"),
        lambda frame: frame.set_index("judge", drop=False),
        lambda frame: frame.set_index(["judge", "winner"]),
        lambda frame: frame.set_index(["judge", "winner", "loser"]),
        lambda frame: frame.set_index([frame.index, "judge"]),
        lambda frame: frame.iloc[::-1].iloc[::-1],
    ],
)
def test_the_named_index_of_a_pandas_frame_is_read_as_columns(
    indexed: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    assert rows(votes_from(indexed(WINS.to_pandas()))) == wins_as_rows(WINS)


def test_an_index_of_another_kind_than_its_column_is_a_question() -> None:
    frame = WINS.to_pandas()
    frame.index = pd.Index([f"other {row}" for row in range(len(frame))], name="judge")
    with pytest.raises(InputError, match="2 columns that may be the judge"):
        votes_from(frame)


def _numbered(**types: Any) -> pl.DataFrame:
    number = {"ann": 7, "bob": 8, "a": 1, "b": 2, "c": 3}
    return pl.DataFrame(
        [
            pl.Series(name, [number[one] for one in cells], dtype=types.get(name, pl.Int64))
            for name, cells in {
                "judge": ["ann", "ann", "bob"], "winner": ["a", "b", "a"], "loser": ["b", "c", "c"],
            }.items()
        ]
    )  # fmt: skip


def test_sparse_columns_of_pandas_are_columns() -> None:
    frame = _numbered().to_pandas()
    sparse = frame.astype(pd.SparseDtype("int64", 1))
    assert rows(votes_from(sparse)) == rows(votes_from(frame))


@pytest.mark.parametrize("shift", [0, 2**63 - 2])
def test_whole_numbers_of_any_size_are_told_apart(shift: int) -> None:
    """Beside each other, unsigned ones may be beyond what signed ones hold."""
    frame = _numbered(winner=pl.UInt64).with_columns(pl.col("winner") + pl.lit(shift, pl.UInt64))
    votes = votes_from(frame)
    assert votes.items.to_list() == sorted({1 + shift, 2 + shift, 2, 3})


def test_python_numbers_of_any_size_are_labels_in_pandas() -> None:
    large = pd.DataFrame({"judge": [2**70, 3, 2**70], "winner": list("aba"), "loser": list("bcc")})
    assert votes_from(large).judges.to_list() == [3, 2**70]
    larger = large.assign(judge=[2**140, 3, 2**140])
    with pytest.raises(InputError, match=r"more than 38 digits\. Make all of it text"):
        votes_from(larger)


def test_columns_of_pyarrow_that_share_a_name_are_numbered_as_those_of_pandas() -> None:
    table = WINS.to_arrow()
    table = table.append_column("note", table.column("judge")).append_column(
        "note", table.column("judge")
    )
    assert rows(votes_from(table)) == wins_as_rows(WINS)
    assert votes_from(table).reading[0].ignored == ("note (1)", "note (2)")
    batch = table.to_batches()[0]
    assert rows(votes_from(batch)) == wins_as_rows(WINS)
