"""Names that a spreadsheet would take for formulas, in CSV and TSV files."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app
from juryrank.writing.safe_csv import without_formulas

FORMULAS = [
    "=CMD()", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\N{FULLWIDTH EQUALS SIGN}1",
    "-", "=", "\x00=1",
]  # fmt: skip
HARMLESS = ["tea", "a=b", "x-y", "", "'=1", "-1.5", "+3", "-1e5", ".5", "-.5e-3", "é", "🍵"]


def made_safe(*names: str) -> list[str]:
    return without_formulas(pl.DataFrame({"item": list(names)}))["item"].to_list()


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_becomes_text(name: str) -> None:
    (safe,) = made_safe(name)
    assert safe.startswith("'")
    assert safe.isprintable()


@pytest.mark.parametrize(
    "name",
    ["\N{ZERO WIDTH NO-BREAK SPACE}=1", "\N{ZERO WIDTH SPACE}@SUM(A1)", "\N{SMALL PLUS SIGN}1",
     "\N{SMALL HYPHEN-MINUS}1", "\N{SMALL EQUALS SIGN}1", "\N{SMALL COMMERCIAL AT}x"],
)  # fmt: skip
def test_a_formula_behind_what_is_not_seen_or_in_small_signs(name: str) -> None:
    assert made_safe(name) == [f"'{name}"]


def test_other_text_stays_as_it_is() -> None:
    assert made_safe(*HARMLESS) == HARMLESS


def test_control_characters_are_shown() -> None:
    assert made_safe("a\x1b[31mb", "a\nb", "a\x00b\u2028") == [
        "a\\x1b[31mb", "a\\nb", "a\\x00b\\u2028",
    ]  # fmt: skip


def test_numbers_and_missing_values_stay_and_headers_are_cells_too() -> None:
    frame = pl.DataFrame({"=A1": [-1.5, None], "=A2": [-3, 4], "b": [None, "=1"]})
    safe = without_formulas(frame)
    assert safe.columns == ["'=A1", "'=A2", "b"]
    assert safe.rows() == [(-1.5, -3, None), (None, 4, "'=1")]


def test_a_column_of_categories_is_text() -> None:
    frame = pl.DataFrame({"item": ["=1", "a"]}, schema={"item": pl.Categorical})
    assert without_formulas(frame)["item"].to_list() == ["'=1", "a"]


# --- files ---------------------------------------------------------------------------------------

VOTES = "judge,winner,loser,=lang\n" + "".join(
    f"{judge},{pair[0]},{pair[1]},de\n"
    for judge in ("@ann", "bob", "+cy", "=di")
    for pair in [("=CMD()", "tea"), ("tea", "-3"), ("=CMD()", "-3")] * 3
)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def cells(path: Path) -> set[str]:
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(newline="") as file:
        return {cell for row in csv.reader(file, delimiter=separator) for cell in row}


def run(*arguments: object) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_rank_writes_safe_files(votes: Path, tmp_path: Path, ending: str) -> None:
    out, judges = tmp_path / f"out{ending}", tmp_path / f"judges{ending}"
    written = ("--out", out, "--judges-out", judges)
    run("rank", votes, "--intervals", "none", *written)
    assert {"=CMD()", "-3"} <= cells(out)
    assert {"@ann", "+cy", "=di"} <= cells(judges)
    run("rank", votes, "--intervals", "none", *written, "--safe-csv")
    assert {"'=CMD()", "-3", "tea"} <= cells(out)
    assert {"'@ann", "'+cy", "'=di", "bob"} <= cells(judges)
    assert not {cell for cell in cells(out) | cells(judges) if cell.startswith(("=", "@"))}


def test_rank_by_a_column_writes_a_safe_header(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("rank", votes, "--intervals", "none", "--by", "=lang", "--out", out, "--safe-csv")
    assert "'=lang" in cells(out)


def test_judges_writes_safe_files(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "judges.csv"
    run("judges", votes, "--out", out, "--safe-csv")
    assert {"'@ann", "'+cy", "'=di", "bob"} <= cells(out)


def test_the_library_writes_safe_files(votes: Path, tmp_path: Path) -> None:
    ranking = jr.rank(jr.read_votes(votes), "win-rate", intervals=None)
    ranking.save(tmp_path / "safe.csv", safe_csv=True)
    assert "'=CMD()" in cells(tmp_path / "safe.csv")
    ranking.save(tmp_path / "plain.csv")
    assert "=CMD()" in cells(tmp_path / "plain.csv")


@pytest.mark.parametrize("command", ["rank", "judges", "compare"])
def test_an_option_that_would_do_nothing_is_refused(votes: Path, command: str) -> None:
    result = CliRunner().invoke(app, [command, str(votes), "--safe-csv"])
    assert result.exit_code == 2
    assert "--safe-csv is for .csv and .tsv files" in result.stderr
