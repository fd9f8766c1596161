"""Only rows that fulfil a condition are read; nothing is lost in silence."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from reading_help import rows
from typer.testing import CliRunner, Result

import juryrank as jr
from juryrank.cli.app import app
from juryrank.reading.conditions import LARGEST_EXACT
from juryrank.reading.files import Part, of_all_rows

TABLE = """\
judge,winner,loser,language,round,the day
ann,tea,milk,de,1,2024-05-01
bob,tea,milk,de,2,2024-05-02
ann,milk,tea,fr,10,2024-05-03
bob,milk,coffee,fr,2,2024-05-04
cem,tea,coffee,fr,3,2024-05-05
cem,tea,coffee,,n/a,2024-05-06
"""
FRAME = pl.read_csv(BytesIO(TABLE.encode()), null_values="n/a", try_parse_dates=True)


def read(where: str, table: str = TABLE, **options: Any) -> jr.Votes:
    return jr.read_votes(BytesIO(table.encode()), where=where, **options)


def complaint(where: str, **options: Any) -> str:
    with pytest.raises(jr.InputError) as raised:
        read(where, **options)
    return str(raised.value)


def run(*arguments: str, stdin: str = TABLE) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": "100"})


CONDITIONS = [
    ('language == "de"', [1, 2]),
    ("language = 'de'", [1, 2]),
    ('`language` == "de"', [1, 2]),
    ('"language" == "de"', [1, 2]),
    ('"de" == language', [1, 2]),
    ('LANGUAGE == "de"', [1, 2]),
    ('language != "de"', [3, 4, 5, 6]),
    ('language <> "de"', [3, 4, 5, 6]),
    ('not language == "de"', [3, 4, 5, 6]),
    ('language in ("de", "fr")', [1, 2, 3, 4, 5]),
    ('language in ["de",]', [1, 2]),
    ('language not in ("de")', [3, 4, 5, 6]),
    ("language is null", [6]),
    ("language IS NOT NULL", [1, 2, 3, 4, 5]),
    ("round > 2", [3, 5]),
    ("round >= 2", [2, 3, 4, 5]),
    ("2 < round", [3, 5]),
    ("round < 2", [1]),
    ("round <= 1.5", [1]),
    ("round == 2", [2, 4]),
    ("round in (1, 10)", [1, 3]),
    ('round == "2"', [2, 4]),
    ("round is null", [6]),
    ("winner == judge or round == 1", [1]),
    ("winner != loser", [1, 2, 3, 4, 5, 6]),
    ('`the day` >= "2024-05-04"', [4, 5, 6]),
    ("'the day' == \"2024-05-04\"", [4]),
    ('language == "fr" and round > 2', [3, 5]),
    ('language == "de" or round == 3 or language is null', [1, 2, 5, 6]),
    ('language == "fr" and (round > 2 or judge == "bob")', [3, 4, 5]),
    ('not (language == "fr" and round > 2) and not judge == "bob"', [1, 6]),
]


@pytest.mark.parametrize(("where", "kept"), CONDITIONS)
def test_text_and_typed_columns_give_the_same_rows(where: str, kept: list[int]) -> None:
    table = TABLE.replace("n/a", "")
    lines = table.splitlines(keepends=True)
    alone = jr.read_votes(BytesIO("".join([lines[0], *(lines[row] for row in kept)]).encode()))
    for votes in (read(where, table), jr.votes_from(FRAME, where=where)):
        assert rows(votes) == rows(alone)
        assert (votes.reading[0].rows, votes.reading[0].kept) == (6, len(kept))


def test_words_that_are_no_numbers_fulfil_no_order() -> None:
    assert len(read("round < 100")) == 5
    assert len(read("not round < 100")) == 1


def test_true_and_false_are_values() -> None:
    table = "judge,winner,loser,test\na,x,y,True\na,x,y,FALSE\nb,y,x,false\n"
    assert len(read("test == true", table)) == 1
    frame = {"winner": ["x", "x"], "loser": ["y", "y"], "test": [True, False]}
    assert len(jr.votes_from(frame, where="test != true")) == 1


def test_long_ids_are_not_rounded() -> None:
    ids = [LARGEST_EXACT + 1, LARGEST_EXACT + 2]
    frame = {"winner": ["x", "z"], "loser": ["y", "y"], "id": ids}
    for table in (frame, frame | {"id": [str(one) for one in ids]}):
        assert jr.votes_from(table, where=f"id == {ids[0]}").items.to_list() == ["x", "y"]


def test_times_are_compared_as_text() -> None:
    times = [datetime.datetime(2024, 5, day, 12, tzinfo=datetime.UTC) for day in (1, 2)]
    frame = {"winner": ["x", "z"], "loser": ["y", "y"], "at": times}
    assert jr.votes_from(frame, where='at >= "2024-05-02"').items.to_list() == ["y", "z"]


def test_signs_in_quotes_are_text() -> None:
    table = {"winner": ["x", "z"], "loser": ["y", "y"], "note": ['say "a" and b', "b"]}
    assert len(jr.votes_from(table, where='note == "say \\"a\\" and b"')) == 1
    assert len(jr.votes_from(table, where="note == 'say \"a\" and b'")) == 1


# --- what is said --------------------------------------------------------------------------------


def test_how_many_rows_were_kept_is_said() -> None:
    (reading,) = read('language == "de"').reading
    assert str(reading) == (
        'Read The open file: 2 of 6 rows where language == "de", as pairs (judge, winner, loser); '
        "ignored: round, the day."
    )
    result = run("check", "-", "--where", 'language == "de"', "--json")
    (told,) = json.loads(result.stdout)["reading"]
    assert (told["rows"], told["kept"], told["where"]) == (6, 2, 'language == "de"')


def test_without_a_condition_nothing_was_kept_or_not() -> None:
    (reading,) = jr.votes_from(FRAME).reading
    assert (reading.where, reading.kept) == (None, None)
    assert str(reading).startswith("Read The data frame: 6 rows as pairs")


def test_rows_keep_their_numbers() -> None:
    table = TABLE.replace("bob,milk,coffee,fr", "bob,milk,,fr").replace(
        "\nann,milk", "\n\nann,milk"
    )
    said = "1 of 3 rows has nothing in the column 'loser': row 4."
    assert said in complaint('language == "fr"', table=table)
    assert said in complaint('language == "fr"', table=table, memory="10MB")
    votes = read('language == "fr"', judge_per_row=True)
    assert votes.judges.to_list() == [3, 4, 5]
    larger = read('language == "fr"', judge_per_row=True, memory="10MB")
    assert rows(larger) == rows(votes)


def test_rows_of_several_files_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(TABLE)
    (tmp_path / "2.csv").write_text(TABLE.replace("cem,tea,coffee,fr", "cem,,coffee,fr"))
    for memory in (None, "10MB"):
        with pytest.raises(jr.InputError, match=r"1 of 6 rows has nothing .*: row 5 of 2\.csv"):
            jr.read_votes(tmp_path, where='language == "fr"', memory=memory)
    votes = jr.read_votes(tmp_path, where='language == "de"')
    assert (votes.reading[0].rows, votes.reading[0].kept) == (12, 4)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ('langauge == "de"', "Did you mean 'language'?"),
        ('langauge == "de"', "Columns found: judge, winner, loser, language, round, the day."),
        ('language == "DE"', "has fr (3 rows), de (2 rows). Did you mean 'de'?"),
        ('language == "ger"', "No row of The open file fulfils --where 'language == \"ger\"'."),
        ("language == de", "If it is text, it needs quotes"),
        ("round > 20", "The numbers in the column 'round' go from 1 to 10."),
        ("judge > 3", "The column 'judge' has ann (2 rows), bob (2 rows), cem (2 rows)."),
        (
            'language == "de" and round > 2',
            "Each part is satisfied by some rows, but not all parts",
        ),
        ('language == "ger" or round == 9', "None fulfils round == 9. The column 'round' has 2"),
        ("language is null and round == 1", "1 row fulfils language is null; 1 row fulfils round"),
        ("", "expected a column or a value at the end"),
        ("language", "expected a comparison (==, !=, <, <=, >, >=, in, is null) at the end"),
        (
            'language = = "de"',
            "expected a column or a value at character 12, before '= \"de\"'",
        ),
        ('(language == "de"', "expected ')' at the end"),
        ('language == "de" round', "expected and, or, or the end at character 18"),
        ("language in de", "expected a list of values in parentheses at character 13"),
        ("language in (de)", "expected a value, which is text in quotes or a number,"),
        ('language not "de"', "expected in at character 14"),
        ("language is 3", "expected null or not null at character 13"),
        ('language == "de', "expected a column or a value at character 13"),
        ("the day == 3", "expected a comparison (==, !=, <, <=, >, >=, in, is null)"),
        ("__import__('os') == 3", "a comparison"),
        ("(" * 5000 + "round == 1" + ")" * 5000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said(where: str, said: str) -> None:
    assert said in complaint(where)
    with pytest.raises(jr.InputError):
        jr.votes_from(FRAME, where=where)


def test_a_value_that_no_row_has_is_noticed_among_others() -> None:
    for where in ('language in ("fr", "dee")', 'language != "dee"'):
        (notice,) = read(where).notices
        assert notice.startswith("No row of The open file has \"dee\" in the column 'language'")
        assert notice.endswith("Did you mean 'de'?")
        assert read(where, memory="10MB").notices == (notice,)
    result = run("rank", "-", "--where", 'language in ("fr", "dee")')
    assert "Warning: No row of Standard input has \"dee\" in the column 'language'" in result.stderr


def test_lists_cannot_be_compared() -> None:
    frame = {"winner": ["x"], "loser": ["y"], "tags": [["a", "b"]]}
    with pytest.raises(jr.InputError, match="'tags' of The data frame holds lists"):
        jr.votes_from(frame, where='tags == "a"')


# --- kinds of votes ------------------------------------------------------------------------------


def test_surveys_are_filtered_before_they_are_taken_apart() -> None:
    table = "email,country,Rank [Tea],Rank [Milk]\na,DE,1,2\nb,FR,2,1\nc,DE,1,x\n"
    votes = read('country == "FR"', table)
    assert rows(votes) == [("b", "Milk", "Tea", 1, 1.0)]
    assert (votes.reading[0].rows, votes.reading[0].kept) == (3, 1)
    assert "row 3, column Rank [Milk]" in complaint('country == "DE"', table=table)
    assert len(read("`Rank [Tea]` == 2", table)) == 1


def test_rankings_and_ratings_are_filtered() -> None:
    table = "judge,ranking,task\na,x > y > z,1\nb,z > y > x,2\n"
    assert read("task == 2", table).judges.to_list() == ["b"]
    table = "judge,item,rating,task\n" + "".join(
        f"{judge},{item},{n},{task}\n" for judge, item, n, task in
        (("a", "x", 1, 1), ("a", "y", 2, 1), ("a", "x", 5, 2), ("a", "y", 3, 2))
    )  # fmt: skip
    assert rows(read("task == 2", table)) == [("a", "x", "y", 1, 1.0)]


def test_counted_wins_are_filtered() -> None:
    table = "player1,player2,win1,win2,year\nx,y,3,1,2023\nx,y,0,2,2024\n"
    votes = read("year == 2024", table)
    assert (votes.n_pairs, votes.weight.tolist()) == (1, [2.0])


def test_what_has_no_such_rows_is_refused() -> None:
    assert "its rows are items" in complaint("tea == 2", table=",tea,milk\ntea,-,8\nmilk,2,-\n")
    orders = "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n1: 1,2\n"
    assert "has no columns: omit --where" in complaint("x > 3", table=orders, format="soc")


def test_exports_are_filtered_by_what_they_carry() -> None:
    tasks = [
        {
            "id": number,
            "data": {"model_a": "x", "model_b": "y", "topic": topic},
            "annotations": [
                {"id": number, "completed_by": 1,
                 "result": [{"type": "pairwise", "from_name": "p", "value": {"selected": "left"}}]}
            ],
        }
        for number, topic in enumerate(("law", "art"))
    ]  # fmt: skip
    votes = jr.votes_from(tasks, where='topic == "art"')
    assert (len(votes), votes.reading[0].rows, votes.reading[0].kept) == (1, 2, 1)


def test_of_several_sources_some_may_have_no_such_row(tmp_path: Path) -> None:
    (tmp_path / "de.csv").write_text(TABLE)
    (tmp_path / "it.csv").write_text(TABLE.replace(",de,", ",it,"))
    paths = [str(tmp_path / name) for name in ("de.csv", "it.csv")]
    result = run("check", *paths, "--where", 'language == "it"', "--json")
    assert json.loads(result.stdout)["votes"] == 2
    assert "Warning: No row of de.csv fulfils" in result.stderr
    assert run("check", *paths, "--where", 'language == "xx"').exit_code == 2


@pytest.mark.parametrize("command", ["rank", "judges", "check", "compare"])
def test_every_command_filters(command: str) -> None:
    options = ("--models", "btl", "--folds", "2") if command == "compare" else ()
    result = run(command, "-", "--where", 'language == "fr"', *options)
    assert result.exit_code == 0
    assert 'Read Standard input: 3 of 6 rows where language == "fr", as pairs' in result.stderr
    failed = run(command, "-", "--where", 'langauge == "de"', *options)
    assert failed.exit_code == 2
    assert "Did you mean 'language'?" in failed.stderr


COMMAS = "judge;winner;loser;score\na;x;y;0,5\nb;y;x;1,5\nc;x;y;12,25\nd;y;x;3\n"


@pytest.mark.parametrize(
    ("where", "kept"),
    [("score > 1", 3), ("score == 0.5", 1), ("score in (1.5, 3)", 2), ("score < score", 0)],
)
def test_cells_with_decimal_commas_are_numbers(where: str, kept: int) -> None:
    if not kept:
        with pytest.raises(jr.InputError, match="No row"):
            jr.read_votes(BytesIO(COMMAS.encode()), where=where)
        return
    assert jr.read_votes(BytesIO(COMMAS.encode()), where=where).reading[0].kept == kept


def test_a_number_that_may_be_thousands_is_not_compared() -> None:
    table = COMMAS.replace("12,25", "1,250").encode()
    with pytest.raises(jr.InputError, match=r"1 of 4 rows .* such as '1,250'.* 1250 or 1\.250"):
        jr.read_votes(BytesIO(table), where="score > 1")
    assert len(jr.read_votes(BytesIO(table), where='score == "1,250"')) == 1


def test_a_decimal_comma_in_the_condition() -> None:
    with pytest.raises(jr.InputError, match=r"has a decimal comma: write 0\.5"):
        jr.read_votes(BytesIO(COMMAS.encode()), where="score > 0,5")


def test_many_values_that_no_row_has_are_one_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []

    def counted(part: Part, expressions: Sequence[pl.Expr]) -> pl.DataFrame:
        reads.append(part)
        return of_all_rows(part, expressions)

    monkeypatch.setattr("juryrank.reading.row_filter.of_all_rows", counted)
    names = ", ".join(f"'nobody {number}'" for number in range(300))
    votes = jr.read_votes(
        BytesIO(b"judge,winner,loser\nann,x,y\nbob,y,x\n"), where=f"judge in ('ann', {names})"
    )
    (notice,) = votes.notices
    assert notice.startswith("No row of The open file has 'nobody 0', 'nobody 1', 'nobody 2', ")
    assert " and 295 more in the column 'judge', which --where asks for. The column" in notice
    assert len(reads) < 5
    assert len(str(votes.reading[0])) < 500


def test_a_long_condition_is_shortened_where_it_is_quoted() -> None:
    for where in ("x == 'a' and " * 200, " or ".join(["judge == 'x'"] * 200)):
        with pytest.raises(jr.InputError) as raised:
            jr.read_votes(BytesIO(b"judge,winner,loser\nann,x,y\n"), where=where)
        assert "\u2026" in str(raised.value)
        assert len(str(raised.value)) < 1_000
