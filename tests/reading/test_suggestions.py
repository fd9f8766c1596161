"""What is said of columns that nobody knows: the options that fit what is in them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

import juryrank as jr


def complaint(table: str, **options: str) -> str:
    with pytest.raises(jr.InputError) as caught:
        jr.read_votes(BytesIO(table.encode()), **options)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("wer,was,zahl\na,tea,5\na,milk,3\nb,tea,4\nb,milk,4\n", "--item was --rating zahl"),
        ("wer,was,zahl\nx,tea,1\nx,milk,2\ny,tea,2\ny,milk,1\n", "--item was --position zahl"),
        ("wer,was,zahl\nx,tea,5\nx,milk,3\ny,tea,4\ny,milk,4\n", "--judge wer --item was"),
        ("wer,was,womit\nx,tea,milk\nx,milk,tea\ny,tea,milk\n", "--winner was --loser womit"),
        (
            "Table,Team,Kim,Lou,Total\n1,ants,7,-,7\n2,bees,5,6,11\n3,cats,2.5,3,5.5\n",
            "--judge-columns Kim,Lou --item Team --cells rating (",
        ),
        (
            "wer,links,rechts,besser\na,tea,milk,tea\na,milk,tea,milk\nb,tea,milk,tea\n",
            "--left links --right rechts --winner besser",
        ),
        ("wer,Tea,Milk\na,1,2\nb,2,1\n", "--item-columns Tea,Milk --cells position ("),
        ("wer,folge\na,tea>milk\nb,milk > tea\n", "--ranking folge"),
        (
            "wer,criterion,was,note\na,x,tea,5\na,x,milk,3\na,y,tea,4\na,y,milk,4\n",
            "--by criterion ranks each value separately",
        ),
        (
            "wer,gezeigt,wahl\na,tea; milk,Tea\na,milk; tea,milk\nb,tea; milk,tea\n",
            "may fit: --options gezeigt --winner wahl (choices from a set).",
        ),
        (
            "start,Tea,Milk,Cola\n9:10,1,2,3\n9:20,2,1,3\n9:30,3,1,2\n",
            "may fit: --item-columns Tea,Milk,Cola --cells position --judge-per-row (",
        ),
        (",was,zahl\nx,tea,5\nx,milk,3\ny,tea,4\ny,milk,4\n", "--judge '' --item was --rating"),
        ("x,y\nfoo,bar\n", "Kinds of votes: pairs (--winner and --loser"),
        ("winner,y\nfoo,1\n", "--loser COLUMN, or the two items with --left COLUMN --right"),
    ],
)
def test_the_options_that_fit(table: str, says: str) -> None:
    assert says in complaint(table)


def test_following_the_advice_reads_the_votes() -> None:
    table = "wer,was,note\na,tea,5\na,milk,3\nb,tea,4\nb,milk,4\n"
    votes = jr.read_votes(BytesIO(table.encode()), item="was", rating="note", judge="wer")
    assert votes.outcome.tolist() == [1, 0]


def test_times_ids_and_row_numbers_are_no_ratings() -> None:
    table = "nr,task_no_id,rt,was,x\n" + "".join(
        f"{n},{n % 2},{n % 3},{'tea' if n % 2 else 'milk'},{n % 5}\n" for n in range(1, 9)
    )
    said = complaint(table)
    assert "--item was --rating x" in said
    assert "--item-columns" not in said


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        ({"gezeigt": [["tea", "milk"], ["milk", "tea"]] * 3, "wahl": ["tea", "milk"] * 3},
         "may fit: --judge annotator --options gezeigt --winner wahl (choices from a set)."),
        ({"folge": [["tea", "milk"], ["milk", "tea"]] * 3}, "--judge annotator --ranking folge ("),
        ({"folge": [["tea", "tea"], ["milk", "tea"]] * 3}, "'folge' may hold the votes, in lists"),
    ],
)  # fmt: skip
def test_columns_of_lists(lists: dict[str, list[object]], says: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pl.DataFrame({"annotator": ["a", "b"] * 3, **lists}).write_parquet(path)
    with pytest.raises(jr.InputError) as caught:
        jr.read_votes(path)
    assert says in str(caught.value)


def with_column(table: str, name: str, cell: str) -> str:
    """Add a column to a table, with cells in which {m} is one of 0 to 3."""
    header, *rows = table.splitlines()
    cells = (cell.format(m=3 * n % 4) for n in range(len(rows)))
    return "\n".join([f"{header},{name}", *map(",".join, zip(rows, cells, strict=True))])


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("__index_level_0__", "{m}"),
        ("Unnamed: 0", "{m}"),
        ("", "{m}"),
        ("index", "{m}"),
        ("submitted_at", "{m}"),
        ("Zeitstempel", "{m}"),
        ("am", "2026-01-0{m}T09:15:00"),
        ("am", "0{m}/12/2025 10:4{m}"),
        ("um", "1{m}:30"),
        ("judge_start_time", "{m}"),
    ],
)
def test_numbers_of_rows_and_times_are_never_suggested(name: str, cell: str) -> None:
    rated = "wer,was,zahl\nx,tea,5\nx,milk,3\ny,tea,4\ny,milk,4\n"
    options = complaint(with_column(rated, name, cell)).split("may fit: ")[1]
    assert options.startswith("--judge wer --item was --rating zahl (higher")
    assert repr(name) not in options
    wins = "winner,loser\n" + "tea,milk\n" * 8
    votes = jr.read_votes(BytesIO(with_column(wins, name, cell).encode()))
    assert votes.reading[0].maybe_judges == ()


@pytest.mark.parametrize(
    ("table", "never"),
    [
        # A third column says who won, so that the first two are not winner and loser.
        ("wer,dies,das,wahl\nx,tea,milk,Tea \nx,milk,tea,tea\ny,tea,milk,milk\n", "--loser"),
        # Marks with halves are no positions, and comments are no items.
        ("wer,was,zahl,notes\nx,tea,5.5,ok\nx,milk,3,\ny,tea,4,ok\ny,milk,4,\n", "--position"),
        ("wer,was,zahl,notes\nx,tea,5.5,ok\nx,milk,3,\ny,tea,4,ok\ny,milk,4,\n", "--item notes"),
        # An item that stands twice in a row has not two places.
        ("x1,x2,x3\ntea,milk,tea\nmilk,tea,milk\ntea,tea,milk\n", "rank_1"),
    ],
)
def test_what_the_values_contradict_is_not_suggested(table: str, never: str) -> None:
    assert never not in complaint(table)
