"""What is said of columns that nobody knows: the options that fit what is in them."""

from __future__ import annotations

from io import BytesIO

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
            "--by criterion ranks each value apart",
        ),
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
