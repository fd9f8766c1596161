"""Tables in files: Markdown, LaTeX, HTML and Excel say what the frame says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import juryrank as jr
from juryrank.writing.html_table import html_table
from juryrank.writing.json_text import json_text
from juryrank.writing.latex import latex_table
from juryrank.writing.markdown import markdown_table
from juryrank.writing.save import save_frame

NASTY = [
    "a|b",
    "two\nlines",
    "under_score & <b>bold</b>",
    "*stars* `code` [link](x)",
    r"back\slash",
    "=1+1",
    "[x] -- 50% $5 #1 {y} ~ ^",
    "&lt;",
]
FRAME = pl.DataFrame(
    {
        "item": NASTY,
        "score": [1.23456, -0.00001, None, float("nan"), 1234.5678, -2.5, 0.0, 3.0],
        "votes": [1, 2, 3, 4, 5, 6, 7, None],
    }
)


def test_markdown() -> None:
    lines = markdown_table(FRAME).splitlines()
    assert len(lines) == 2 + len(NASTY)
    assert lines[:3] == [
        "| item | score | votes |",
        "| --- | ---: | ---: |",
        r"| a\|b | 1.235 | 1 |",
    ]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    assert {len(row) for row in cells} == {3}
    assert cells[3] == [" two<br>lines ", " 0.000 ", " 2 "]
    assert cells[4] == [r" under\_score &amp; &lt;b&gt;bold&lt;/b&gt; ", "  ", " 3 "]
    assert cells[5] == [r" \*stars\* \`code\` \[link\](x) ", "  ", " 4 "]
    assert cells[6] == [r" back\\slash ", " 1234.6 ", " 5 "]
    assert cells[9] == [" &amp;lt; ", " 3.000 ", "  "]


def test_markdown_has_no_formulas() -> None:
    assert r"| \$x^2\$ |" in markdown_table(pl.DataFrame({"item": ["$x^2$"]}))


def test_json_has_nothing_that_a_terminal_obeys() -> None:
    name = "a\x1b\x7f\x9b31m\u2028\u202eb\u2069é"
    text = json_text({"item": name})
    assert json.loads(text) == {"item": name}
    assert text.isprintable()
    assert "é" in text


def test_latex() -> None:
    lines = latex_table(FRAME).splitlines()
    assert lines[:4] == [r"\begin{tabular}{lrr}", r"\hline", r"item & score & votes \\", r"\hline"]
    assert lines[-2:] == [r"\hline", r"\end{tabular}"]
    body = lines[4:-2]
    assert len(body) == len(NASTY)
    assert body[1] == r"two lines & 0.000 & 2 \\"
    assert body[2] == (
        r"under\_score \& \textless{}b\textgreater{}bold\textless{}/b\textgreater{} &  & 3 \\"
    )
    assert body[4] == r"back\textbackslash{}slash & 1234.6 & 5 \\"
    assert body[5] == r"=1+1 & $-2.500$ & 6 \\"
    assert body[6] == (
        r"{[}x{]} -{}- 50\% \$5 \#1 \{y\} \textasciitilde{} \textasciicircum{} & 0.000 & 7 \\"
    )


def test_documents_show_signs_that_would_do_something() -> None:
    frame = pl.DataFrame({"item": ["bell\x07", "turned \u202eround", "why?`no,,'' `"]})
    markdown, latex = markdown_table(frame).splitlines(), latex_table(frame).splitlines()
    assert markdown[2:4] == [r"| bell\\x07 |", r"| turned \\u202eround |"]
    assert latex[4:7] == [
        r"bell\textbackslash{}x07 \\",
        r"turned \textbackslash{}u202eround \\",
        r"why?{}`no,{},{}'{}' ` \\",
    ]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_latex_can_be_set(tmp_path: Path) -> None:
    page = r"\documentclass{article}\begin{document}" + latex_table(FRAME) + r"\end{document}"
    (tmp_path / "page.tex").write_text(page)
    command = ["pdflatex", "-halt-on-error", "page.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)  # noqa: S603


class _Cells(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.rstrip("\n") if data.strip() == "" else data


def test_html_has_nothing_for_nulls() -> None:
    rows = _Cells(html_table(FRAME)).rows
    assert [row[0] for row in rows[1:]] == NASTY
    assert rows[3][1:] == ["", "3"]
    assert rows[8][1:] == ["3.000", ""]


def sheet(path: Path, name: str) -> list[tuple[object, ...]]:
    return list(openpyxl.load_workbook(path)[name].iter_rows(values_only=True))


def test_excel(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    save_frame(FRAME.with_columns(pl.lit(2**60).alias("id"), pl.lit(float("inf")).alias("x")), path)
    header, *rows = sheet(path, "table")
    assert header == ("item", "score", "votes", "id", "x")
    assert [row[0] for row in rows] == NASTY
    assert [row[1] for row in rows] == [1.23456, -0.00001, None, None, 1234.5678, -2.5, 0, 3]
    assert rows[0][3:] == (str(2**60), None)
    kinds = [cell.data_type for cell in openpyxl.load_workbook(path)["table"]["A"]]
    assert set(kinds) == {"s"}  # and "=1+1" is no formula


def test_excel_refuses_what_it_would_lose(tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": ["x" * 40_000]})
    with pytest.raises(jr.InputError, match=r"32,767 characters. Save as .csv"):
        save_frame(frame, tmp_path / "table.xlsx")
    assert not (tmp_path / "table.xlsx").exists()


VOTES = {
    "judge": ["a_b", "a_b", "c", "c", "c"],
    "winner": ["x|1", "y", "x|1", "y", "=2"],
    "loser": ["y", "=2", "=2", "x|1", "x|1"],
}


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    return jr.rank(VOTES, "btl", intervals=None)


def test_a_ranking_has_two_sheets(ranking: jr.Ranking, tmp_path: Path) -> None:
    ranking.save(tmp_path / "r.xlsx")
    header, *rows = sheet(tmp_path / "r.xlsx", "items")
    assert header == tuple(ranking.items.columns)
    assert [row[1] for row in rows] == ranking.items["item"].to_list()
    assert [row[2] for row in rows] == pytest.approx(ranking.items["score"].to_list())
    assert {row[3] for row in rows} == {None}
    header, *rows = sheet(tmp_path / "r.xlsx", "judges")
    assert [row[0] for row in rows] == ranking.judges["judge"].to_list()


def test_a_ranking_in_documents_has_both_tables(ranking: jr.Ranking, tmp_path: Path) -> None:
    ranking.save(tmp_path / "r.md")
    ranking.save(tmp_path / "r.tex")
    markdown, latex = (tmp_path / "r.md").read_text(), (tmp_path / "r.tex").read_text()
    items, judges = markdown.split("## Judges")
    assert items.startswith("## Items\n\n| rank | item | score |")
    assert r"x\|1" in items
    assert r"a\_b" in judges
    assert "None" not in markdown + latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    assert r"x\textbar{}1" in latex


@pytest.mark.parametrize("ending", ["md", "tex", "xlsx"])
def test_what_cannot_be_written_is_said(ranking: jr.Ranking, tmp_path: Path, ending: str) -> None:
    with pytest.raises(jr.InputError, match="Cannot write"):
        ranking.save(tmp_path / "nowhere" / f"r.{ending}")


def test_excel_needs_a_package(
    ranking: jr.Ranking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("juryrank.writing.needed_packages.find_spec", lambda _: None)
    with pytest.raises(jr.InputError, match=r"pip install xlsxwriter"):
        ranking.save(tmp_path / "r.xlsx")
