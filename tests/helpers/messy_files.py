"""Small files of votes as real tools write them, each with what must come of it.

All of them hold votes of a few judges on tea, milk and coffee, in this order, unless they are to be
refused: then the message has to have certain words in it.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import xlsxwriter

ORDER = ["tea", "milk", "coffee"]
JUDGES = ["ann", "bob", "zoë"]
PAIRS = [("tea", "milk"), ("milk", "coffee"), ("tea", "coffee")]
WINS = [(judge, *pair) for judge in JUDGES for pair in PAIRS]

Row = Sequence[object]


@dataclass(frozen=True)
class Messy:
    """A file, how it is read, and what must come of it."""

    name: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)
    votes: int = 9
    """How many votes must be read; 0 if it must be refused."""
    judges: int = 3
    says: tuple[str, ...] = ()
    """What the message, or the line about the reading, must have in it."""


def refused(name: str, content: bytes, *says: str, **options: Any) -> Messy:
    return Messy(name, content, options, votes=0, says=says)


def table(header: Row, rows: Sequence[Row], separator: str = ",") -> str:
    to = io.StringIO()
    csv.writer(to, delimiter=separator, lineterminator="\r\n").writerows([header, *rows])
    return to.getvalue()


def sides(
    outcomes: Sequence[object], header: Row = ("judge", "model_a", "model_b", "winner")
) -> str:
    """Votes of which the second of three is shown the other way round; outcomes for both ways."""
    left_won, right_won = outcomes
    rows: list[Row] = []
    for number, (judge, winner, loser) in enumerate(WINS):
        swapped = number % 3 == 1
        shown = (loser, winner) if swapped else (winner, loser)
        rows.append((judge, *shown, right_won if swapped else left_won))
    return table(header, rows)


def workbook(sheets: dict[str, Sequence[Row]]) -> bytes:
    to = io.BytesIO()
    with xlsxwriter.Workbook(to, {"in_memory": True}) as book:
        book.set_properties({"created": datetime(*LONG_AGO, tzinfo=UTC)})  # always the same bytes
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return to.getvalue()


def open_document(rows: Sequence[Row]) -> bytes:
    """A minimal .ods, as LibreOffice would write it."""
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p>'
            "</table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="{space}'
        f'office:1.0" xmlns:table="{space}table:1.0" xmlns:text="{space}text:1.0" '
        'office:version="1.2"><office:body><office:spreadsheet><table:table table:name="Votes">'
        f"{cells}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<?xml version="1.0"?><manifest:manifest xmlns:manifest="{space}manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        "</manifest:manifest>"
    )
    return archive({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def archive(files: dict[str, str | bytes]) -> bytes:
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, LONG_AGO)
            packed.writestr(info, content, zipfile.ZIP_DEFLATED)
    return to.getvalue()


LONG_AGO = (1980, 1, 1, 0, 0, 0)
HEADER = ("judge", "winner", "loser")
CSV = table(HEADER, WINS)
HALF = len(WINS) // 2


def spreadsheets() -> Iterator[Messy]:
    sheet = [HEADER, *WINS]
    notes = [("about", "the survey")]
    yield Messy("excel.xlsx", workbook({"Votes": sheet}))
    yield Messy(
        "two sheets.xlsx",
        workbook({"Votes": sheet, "Notes": notes}),
        says=("first sheet 'Votes', not 'Notes' (--sheet)",),
    )
    yield Messy("second.xlsx", workbook({"Notes": notes, "Votes": sheet}), {"sheet": "votes"})
    yield Messy("gap in the middle.xlsx", workbook({"Votes": [*sheet[:3], (), *sheet[3:]]}))
    yield Messy(
        "numbers in cells.xlsx", workbook({"V": [(*HEADER, "weight"), *((*w, 0.5) for w in WINS)]})
    )
    yield Messy("libreoffice.ods", open_document(sheet))
    yield refused(
        "no such sheet.xlsx", workbook({"Votes": sheet}), "no sheet 'Vote'", "Votes", sheet="Vote"
    )
    yield refused(
        "empty first sheet.xlsx",
        workbook({"Tabelle1": [], "Votes": sheet}),
        "'Tabelle1' has no votes",
        "--sheet: Votes",
    )
    yield refused("broken.xlsx", workbook({"Votes": sheet})[:900], "damaged")


def archives() -> Iterator[Messy]:
    one = table(HEADER, WINS[:HALF])
    two = table(HEADER, WINS[HALF:])
    yield Messy("kaggle.zip", archive({"votes.csv": CSV}))
    yield Messy(
        "from a mac.zip",
        archive({"export/a.csv": one, "export/b.csv": two, "__MACOSX/export/._a.csv": b"\x00\x05"}),
        says=("a.csv and 1 more file",),
    )
    yield Messy("sheet inside.zip", archive({"v.xlsx": workbook({"V": [HEADER, *WINS]})}))
    yield refused("photos.zip", archive({"a.jpg": b"\xff\xd8"}), "holds no files of votes")
    yield refused(
        "mixed.zip",
        archive(
            {"a.csv": CSV, "b.json": json.dumps([dict(zip(HEADER, w, strict=True)) for w in WINS])}
        ),
        "several formats (csv, json)",
        "Unpack it",
    )
    yield refused("cut off.zip", archive({"votes.csv": CSV})[:80], "cut off")


def encodings() -> Iterator[Messy]:
    german = table(HEADER, WINS, ";")
    yield Messy(
        "excel in germany.csv",
        german.encode("cp1252"),
        says=("Windows-1252", "zoë", "--encoding"),
    )
    yield Messy("unicode text of excel.txt", table(HEADER, WINS, "\t").encode("utf-16"))
    yield Messy("old mac.csv", CSV.encode("mac-roman"), {"encoding": "mac-roman"})
    weights = [(*win, "0,5") for win in WINS]
    yield Messy("decimal commas.csv", table((*HEADER, "weight"), weights, ";").encode())
    cyrillic = table(HEADER, [("Иван", "чай", "кофе"), ("Иван", "кофе", "чай")])
    yield refused("russian.csv", cyrillic.encode("cp1251"), "not UTF-8", "--encoding", "cp1251")
    yield refused("no such.csv", CSV.encode(), "no encoding 'utf-9'", encoding="utf-9")
    yield refused("wrong.csv", cyrillic.encode("cp1251"), "is not UTF-8 text", encoding="utf-8")
    thousands = [(*win, "1,250") for win in WINS]
    yield refused(
        "thousands.csv",
        table((*HEADER, "weight"), thousands, ";").encode(),
        "9 of 9 rows have a weight",
        "'1,250' (9 rows, first row 1)",
    )


def padded_cells() -> Iterator[Messy]:
    def line(row: Row, between: str = "|") -> str:
        return between.join(f" {cell:<9} " for cell in row)

    rows = [line(win) for win in WINS]
    says = ("(judge, winner, loser)", "padding does not count")
    rule = "|".join("-" * 11 for _ in HEADER)
    markdown = [f"|{text}|" for text in (line(HEADER), rule, *rows)]
    yield Messy("markdown.md", "\n".join(markdown).encode(), says=says)
    database = [line(HEADER), rule.replace("|", "+"), *rows]
    yield Messy("of a database.txt", "\n".join(database).encode(), says=says)
    yield refused(
        "missing in markdown.md",
        "\n".join([*markdown, f"|{line(('ann', 'tea', ''))}|"]).encode(),
        "1 of 10 rows has nothing in the column 'loser': row 10",
    )
    tight = table(HEADER, [*WINS, ("ann", "tea ", "milk")], "|")
    yield Messy("not padded.psv", tight.encode(), votes=10)


def names_of_columns() -> Iterator[Messy]:
    yield Messy(
        "chosen.csv",
        table(("annotator_email", "candidate_chosen", "candidate_not_chosen"), WINS).encode(),
        says=("winner = candidate_chosen, loser = candidate_not_chosen", "judge = annotator_email"),
    )
    yield Messy(
        "llm judges.csv",
        sides(("A", "B"), ("judge_model", "model_a", "model_b", "verdict")).encode(),
        says=("judge = judge_model",),
    )
    yield Messy(
        "jspsych.csv",
        sides(("left", "right"), ("subject", "image_left", "image_right", "response")).encode(),
        says=("outcome = response", "judge = subject"),
    )
    yield Messy(
        "safe rlhf.csv",
        sides((0, 1), ("worker", "response_0", "response_1", "better_response_id")).encode(),
    )
    twice = table(("judge", "model", "model", "winner"), [(j, w, lo, w) for j, w, lo in WINS])
    yield Messy("twice.csv", twice.encode(), {"left": "model (1)", "right": "model (2)"})
    yield refused(
        "twice unsaid.csv", twice.encode(), "2 columns named 'model'", "'model (2)'", left="model"
    )
    yield Messy(
        "trailing separators.csv",
        table((*HEADER, "", ""), [(*win, "", "") for win in WINS]).encode(),
    )
    scripts = ("assessor", "script_left", "script_right", "selected")
    yield Messy(
        "comparative judgement.csv",
        sides(("L", "R"), scripts).encode(),
        says=("left = script_left, right = script_right, outcome = selected",),
    )
    yield refused(
        "outcomes as winners.csv",
        sides(("L", "R"), scripts).encode(),
        "'selected' holds 'L', 'R'",
        "look like outcomes",
        "--left script_left --right script_right --winner selected",
        winner="selected",
        loser="script_left",
    )
    ties = [(*win, "FALSE") for win in WINS] + [("ann", "milk", "tea", "TRUE")]
    yield Messy(
        "ties apart.csv",
        table((*HEADER, "is_tie"), ties).encode(),
        votes=10,
        says=("(judge, winner, loser, tie = is_tie)",),
    )
    yield refused(
        "nothing known.csv",
        table(("wer", "was", "womit"), WINS).encode(),
        "do not tell how to read it",
        "--winner was --loser womit (pairs)",
    )
    yield Messy(
        "a title above.csv",
        ("My survey,,\r\n" + table(HEADER, WINS)).encode(),
        says=("passed over a line above the header ('My survey')",),
    )
    yield Messy("names its separator.csv", ("sep=;\r\n" + table(HEADER, WINS, ";")).encode())
    numbered = table(HEADER, [(number, *win) for number, win in enumerate(WINS)])
    yield refused(
        "row names of r.csv", numbered.encode(), "header lacks a name for the first column"
    )
    yield refused(
        "near.csv",
        table(("judge", "winer", "losers_name"), WINS).encode(),
        "--winner winer",
    )


def outcomes() -> Iterator[Messy]:
    for name, words in {
        "mt-bench": ("[[A]]", "[[B]]"),
        "arena-hard": ("A>>B", "B>A"),
        "arena-hard brackets": ("[[A>B]]", "[[B>>A]]"),
        "assistants": ("Assistant A", "Assistant B"),
        "sentences": ("Model A is better.", "Model B is slightly better"),
        "one or two": (1, 2),
        "scores of the left": ("1", "0"),
        "responses": ("Response 1", "response_2"),
        "results of chess": ("1-0", "0-1"),
        "letters": ("L", "R"),
        "scripts": ("Script A", "script_b"),
        "all an llm wrote": ("A is short. My verdict: [[A]]", "I prefer B, so: [[B]]"),
    }.items():
        text = sides(words)
        if name == "scores of the left":
            text += "ann,tea,tea2,0.5\r\n"
            says = ("outcome 0 means right, 0.5 means tie, 1 means left (else --outcome-map)",)
            yield Messy(f"{name}.csv", text.encode(), votes=10, says=says)
        else:
            yield Messy(f"{name}.csv", text.encode())
    yield refused(
        "zero or one.csv",
        sides((0, 1)).encode(),
        "'0' (6 rows, first row 1), '1' (3 rows, first row 2)",
        "0=left,1=right",
        "1=left,0=right",
    )
    yield refused("true.csv", sides(("True", "False")).encode(), "true=left,false=right")
    yield refused("signs.csv", sides((1, -1)).encode(), "1=left,-1=right")
    yield Messy("mapped.csv", sides((0, 1)).encode(), {"outcome_map": {"0": "left", "1": "right"}})
    odd = sides(("tea wins", "the other one"))
    yield refused(
        "strange words.csv",
        odd.encode(),
        "9 of 9 rows have an unknown outcome: 'tea wins' (6 rows, first row 1), "
        "'the other one' (3 rows, first row 2).",
    )
    blank = table(
        ("judge", "model_a", "model_b", "winner"),
        [*((j, w, lo, w) for j, w, lo in WINS), ("ann", "tea", "", "milk")],
    )
    yield refused(
        "blank item.csv", blank.encode(), "1 of 10 rows has nothing in the column 'model_b'"
    )
    yield refused(
        "not available.csv",
        table(HEADER, [*WINS, ("ann", "tea", "N/A"), ("bob", "tea", "nan")]).encode(),
        "2 of 11 rows have a word in the column 'loser' that usually stands for nothing",
        "'N/A' (row 10), 'nan' (row 11)",
        "--na-is-name",
    )


def rated() -> Iterator[Messy]:
    stars = {"tea": 5, "milk": 4, "coffee": 2}
    rows = [(judge, item, stars[item]) for judge in JUDGES for item in ORDER]
    text = table(("user", "product", "rating"), rows)
    yield Messy(
        "ratings.csv", text.encode(), {"item": "product"}, says=("higher ratings are better",)
    )
    worse = [(j, i, 6 - r) for j, i, r in rows]
    yield Messy(
        "school marks.csv",
        table(("teacher", "item", "mark"), worse).encode(),
        {"rating": "mark", "lower_is_better": True},
        says=("lower ratings are better",),
    )
    labelled = [(j, i, f"{r} - {'good' if r > 2 else 'poor'}") for j, i, r in rows]
    yield Messy("likert.csv", table(("judge", "item", "rating"), labelled).encode())
    by_prompt = [(j, p, i, r) for j, i, r in rows for p in ("p1", "p2")]
    header = ("judge", "prompt_id", "model", "score")
    yield Messy("per prompt.csv", table(header, by_prompt).encode(), votes=18)
    yield refused(
        "rated again.csv",
        table(("judge", "model", "score"), [(j, i, r) for j, _, i, r in by_prompt]).encode(),
        "9 of 18 rows have an item rated before by one judge",
        "--ranking",
    )
    yield refused(
        "words of no scale.csv",
        table(("judge", "item", "rating"), [(j, i, "Jein") for j, i, _ in rows]).encode(),
        "'Jein' (9 rows, first row 1)",
        "poor, fair, good",
    )
    words = {5: "Strongly agree", 4: "agree ", 2: "Neutral"}
    yield Messy(
        "likert words.csv",
        table(("judge", "item", "rating"), [(j, i, words[r]) for j, i, r in rows]).encode(),
        says=("words as ratings, the lowest first: neutral, agree, strongly agree",),
    )
    mixed = [(j, i, words[r] if r > 2 else 2) for j, i, r in rows]
    yield refused(
        "words and numbers.csv",
        table(("judge", "item", "rating"), mixed).encode(),
        "6 of 9 rows have a rating that is not a number",
    )
    yield refused(
        "ratings as positions.csv",
        table(("judge", "item", "rating"), rows).encode(),
        "--rating instead of --position",
        position="rating",
    )


def surveys() -> Iterator[Messy]:
    grid = [f"Rank the drinks [{item}]" for item in ORDER]
    ranks = ("1st choice", "2nd choice", "3rd choice")
    stamp = "2024/05/01 9:12:33 AM GMT+2"
    yield Messy(
        "google forms grid.csv",
        table(("Timestamp", "Email Address", *grid), [(stamp, j, *ranks) for j in JUDGES]).encode(),
        votes=3,
        says=("judge = Email Address", "ignored: Timestamp", "positions; position 1 is the best"),
    )
    places = [f"Your favourites [{rank}]" for rank in ranks]
    yield Messy(
        "google forms places.csv",
        table(("Timestamp", "Username", *places), [(stamp, j, *ORDER) for j in JUDGES]).encode(),
        votes=3,
    )
    rate = [f"How good is [{item}]" for item in ORDER]
    yield Messy(
        "rating grid.csv",
        table(
            ("Timestamp", "Email Address", *rate), [(stamp, j, 5, 4, 1) for j in JUDGES]
        ).encode(),
        says=("ratings",),
    )
    plain = table(("name_of_judge", *ORDER), [(j, 1, 2, 3) for j in JUDGES])
    yield Messy(
        "column per item.csv",
        plain.encode(),
        {"item_columns": ORDER, "cells": "position"},
        votes=3,
    )
    yield refused("unsaid.csv", plain.encode(), "--item-columns")
    yield refused(
        "unsaid cells.csv", plain.encode(), "--cells position", "--cells rating", item_columns=ORDER
    )
    two = [f"{ask} [{item}]" for ask in ("Rate taste", "Rate price") for item in ORDER]
    several = table(("Email", *two), [(j, 5, 4, 1, 1, 3, 5) for j in JUDGES])
    yield refused("two questions.csv", several.encode(), "'Rate taste', 'Rate price'")
    yield Messy("one of two.csv", several.encode(), {"item_columns": ["Rate taste"]})


def counted_wins() -> Iterator[Messy]:
    wins = {("tea", "milk"): 8, ("milk", "tea"): 2, ("tea", "coffee"): 9, ("coffee", "tea"): 1}
    wins |= {("milk", "coffee"): 7, ("coffee", "milk"): 3}
    square = [(one, *(wins.get((one, other), "-") for other in ORDER)) for one in ORDER]
    text = table(("", *ORDER), square)
    yield Messy(
        "wins.csv",
        text.encode(),
        votes=6,
        judges=1,
        says=("3 rows as a table of counts", "of the row beat", "--counts"),
    )
    turned = [(one, *(wins.get((other, one), "") for other in ORDER)) for one in ORDER]
    yield Messy("losses.csv", table(("item", *ORDER), turned).encode(), {"counts": "columns"}, 6, 1)
    by_pair = [(a, b, wins[a, b], wins[b, a], 2) for a, b in PAIRS]
    header = ("player1", "player2", "win1", "win2", "ties")
    yield Messy(
        "bradley terry in r.csv", table(header, by_pair).encode(), {}, 9, 1, ("win1, win2",)
    )
    total = [(*row, 17) for row in square]
    yield Messy("totals.csv", table(("", *ORDER, "Total"), total).encode(), {}, 6, 1)
    shares = [(one, *(wins.get((one, other), 5) / 10 for other in ORDER)) for one in ORDER]
    yield refused(
        "shares.csv", table(("", *ORDER), shares).encode(), "shares of wins", "Give counts"
    )


def qualtrics(questions: Sequence[str], header: Row = ("Q1_1", "Q1_2", "Q1_3")) -> bytes:
    """Answers as Qualtrics exports them: names, questions and ids above the answers."""
    about = ("StartDate", "Finished", "Duration (in seconds)", "ResponseId")
    names = (*about, *header)
    ids = [json.dumps({"ImportId": name}) for name in names]
    answers = [("2024-05-01 09:12:33", "True", "41", judge, 1, 2, 3) for judge in JUDGES]
    return table(names, [(*about, *questions), ids, *answers]).encode()


def survey_exports() -> Iterator[Messy]:
    ranks = [f"Please rank the drinks: - {item}" for item in ORDER]
    yield Messy(
        "qualtrics.csv",
        qualtrics(ranks),
        votes=3,
        says=("judge = ResponseId", "time = Duration (in seconds)", "an export of Qualtrics"),
    )
    yield Messy(
        "qualtrics for excel.tsv",
        qualtrics(ranks).decode().replace(",", "\t").encode("utf-16"),
        votes=3,
    )
    yield Messy(
        "qualtrics by columns.csv",
        qualtrics(["Tea?", "Milk?", "Coffee?"], ORDER),
        {"item_columns": ORDER, "cells": "position"},
        votes=3,
    )
    yield refused(
        "qualtrics without items.csv",
        qualtrics(["Tea?", "Milk?", "Coffee?"], ORDER),
        "do not tell how to read it",
        "--item-columns tea,milk,coffee --cells",
    )


def records_under_a_key() -> Iterator[Messy]:
    records = [dict(zip(HEADER, win, strict=True)) for win in WINS]
    yield Messy(
        "wrapped.json", json.dumps({"votes": records}).encode(), says=("under the key 'votes'",)
    )
    pretty = json.dumps({"version": 2, "data": {"by": "us"}, "results": records}, indent=2)
    yield Messy("pretty.json", pretty.encode(), says=("under the key 'results'",))
    yield Messy("no ending", json.dumps({"votes": records * 200}).encode(), votes=1800)
    several = {"votes": records, "judges": [{"judge": judge} for judge in JUDGES]}
    yield refused("several.json", json.dumps(several).encode(), "votes, judges", "Save the one")
    # A vote that is alone in its file may have lists of records in it too.
    one = {"model_a": "tea", "model_b": "milk", "winner": "model_a", "said": [{"role": "user"}]}
    two = {"model_a": "milk", "model_b": "coffee", "winner": "model_a", "said": [{"role": "user"}]}
    lines = "\n".join(json.dumps(vote) for vote in (one, two))
    yield Messy("lines.jsonl", lines.encode(), votes=2, judges=1)


def columns_of_judges() -> Iterator[Messy]:
    pairs = table(("item_a", "item_b", *JUDGES), [(*pair, "A", "A", pair[0]) for pair in PAIRS])
    says = ("a table with a column for each judge", "3 columns of judges (ann, bob, zo\u00eb)")
    yield Messy("pairs by judges.csv", pairs.encode(), {"judge_columns": JUDGES}, says=says)
    ranks = [(item, place, place, place) for place, item in enumerate(ORDER, start=1)]
    items = table(("essay", *JUDGES), ranks).encode()
    yield Messy("items by judges.csv", items, {"judge_columns": "ann,bob,zo\u00eb",
                "cells": "position"}, votes=3, says=says)  # fmt: skip
    gaps = table(("essay", *JUDGES), [(i, 4 - r, "", 4 - r) for i, r, *_ in ranks]).encode()
    yield Messy(
        "marks by judges.csv",
        gaps,
        {"judge_columns": JUDGES, "cells": "rating"},
        votes=6,
        judges=2,
        says=("3 cells without an answer",),
    )
    yield refused(
        "unsaid judges.csv",
        items,
        "--judge-columns 'ann,bob,zo\u00eb' --item essay --cells position",
    )
    yield refused("cells unsaid.csv", items, "--cells position", "--left", judge_columns=JUDGES)
    yield refused("judge twice.csv", items, "but not both", judge_columns=JUDGES, judge="essay")
    yield refused(
        "a judge per row and column.csv",
        items,
        "not both",
        judge_columns=JUDGES,
        judge_per_row=True,
    )
    yield refused("no such judge.csv", items, "'eve'", judge_columns=["ann", "eve"])
    tied = [(judge, item, place) for judge in JUDGES for item, place in
            (("tea", 1), ("milk", 2.5), ("water", 2.5), ("coffee", 4))]  # fmt: skip
    yield Messy("mean ranks.csv", table(("judge", "item", "rank"), tied).encode(), votes=3)
    yield refused(
        "half a rank too many.csv",
        table(("judge", "item", "rank"), [("ann", "tea", 1), ("ann", "milk", 1.5)]).encode(),
        "row 2 '1.5'",
        "1, 2.5, 2.5, 4",
    )


def platforms() -> Iterator[Messy]:
    """As crowdsourcing platforms, benchmarks and leagues write them."""
    turk = ("WorkerId", "Input.image_A", "Input.image_B", "Answer.choice")
    yield Messy(
        "mturk.csv",
        sides(("optionA", "optionB"), turk).encode(),
        says=("judge = WorkerId, left = Input.image_A, right = Input.image_B",),
    )
    links = ("WorkerId", "Input.image_a_url", "Input.image_b_url", "Answer.category.label")
    yield Messy("mturk classifier.csv", sides(("Image A", "Image B"), links).encode())
    ids = ("judge_id", "candidate_chosen_id", "candidate_not_chosen_id")
    yield Messy("marking.csv", table(ids, WINS).encode(), says=("winner = candidate_chosen_id",))
    generators = [
        {"annotator": j, "generator_1": w, "generator_2": lo, "preference": 1.0, "output_1": "t"}
        for j, w, lo in WINS
    ]
    tied = {**generators[0], "preference": 1.5}
    yield Messy(
        "alpaca eval.json",
        json.dumps([*generators, {**tied, "generator_1": "water"}]).encode(),
        votes=10,
        says=("left = generator_1", "1.5 means tie"),
    )
    models = [
        {"prompt": "?", "chosen": f"text {n}", "rejected": "text", "user": j, "chosen_model": w,
         "rejected_model": lo} for n, (j, w, lo) in enumerate(WINS)
    ]  # fmt: skip
    lines = "\n".join(map(json.dumps, models))
    yield Messy("preferences.jsonl", lines.encode(), says=("winner = chosen_model",))
    yield Messy("chess.csv", sides(("1-0", "0-1"), ("judge", "White", "Black", "Result")).encode())
    games = ("judge", "HomeTeam", "AwayTeam", "FTR")
    yield Messy("league.csv", sides(("H", "A"), games).encode(), {"winner": "FTR"})
    yield refused(
        "signed scale.csv",
        sides((-2, 3)).encode(),
        "--outcome-map -2=left,3=right or --outcome-map -2=right,3=left",
    )
    below = f"Results of spring\r\n\r\n{CSV}"
    yield Messy("a title in one cell.csv", below.encode(), says=("passed over 2 lines above",))
    book = workbook({"Votes": [("Results of spring",), (), HEADER, *WINS]})
    yield Messy("a title in a sheet.xlsx", book, says=("'Results of spring'",))
    two = "Respondent ID,Rank the drinks,,\r\n,Tea,Milk,Coffee\r\n1,1,2,3\r\n2,1,3,2\r\n"
    yield refused("two lines of header.csv", two.encode(), "if it has two lines")
    notes: dict[str, str | bytes] = {"votes.csv": CSV, "README.txt": "Votes of spring.\n"}
    yield Messy("with a readme.zip", archive(notes))
    peers = [("ann", i, r) for i, r in zip(ORDER, (9, 8, 5), strict=True)]
    header = ("Reviewer", "Reviewee", "Score")
    yield Messy("peers.csv", table(header, peers).encode(), votes=3, judges=1)


def tables_of_pandas() -> Iterator[Messy]:
    """What `DataFrame.to_json` writes, by its `orient`."""
    columns = {name: [win[at] for win in WINS] for at, name in enumerate(HEADER)}
    by_number = {name: dict(enumerate(values)) for name, values in columns.items()}
    says = ("one object as a table",)
    split = {"columns": HEADER, "index": list(range(len(WINS))), "data": WINS}
    by_row = {number: dict(zip(HEADER, win, strict=True)) for number, win in enumerate(WINS)}
    for name, content in {
        "columns": by_number,
        "lists": columns,
        "split": split,
        "index": by_row,
    }.items():
        yield Messy(f"pandas {name}.json", json.dumps(content).encode(), says=says)
    yield refused(
        "pandas values.json",
        json.dumps(WINS).encode(),
        "9 of 9 entries are not objects",
        "Write each vote as an object",
    )
    both = {"judge": "ann", "ranking": ["tea", "milk", "coffee"]}
    yield Messy("one ranking.json", json.dumps(both).encode(), votes=1, judges=1)


def strangers() -> Iterator[Messy]:
    """As people have them who never heard of judges, winners and losers."""
    joined = table(HEADER, [*WINS[:4], HEADER, *WINS[4:]]).encode()
    yield refused("joined end to end.csv", joined, "1 of 10 rows", "row 5", "repeat their header")
    yield Messy("joined end to end and skipped.csv", joined, {"skip_bad": True})
    yield Messy("systems.csv", sides((1, 2), ("rater", "system_1", "system_2", "label")).encode())
    home = ("judge", "Home", "Away", "Result")
    yield Messy("home and away.csv", sides(("H", "A"), home).encode())
    places = table(("Name", "Platz 1", "Platz 2", "Platz 3"), [(j, *ORDER) for j in JUDGES], ";")
    yield Messy("places in German.csv", places.encode("cp1252"), {"judge": "Name"}, votes=3)
    races = [(race, driver, at) for race in JUDGES for at, driver in enumerate(ORDER, start=1)]
    yield Messy("races.csv", table(("Race", "Driver", "Position"), races).encode(), votes=3,
                judges=1)  # fmt: skip
    marks = [
        (judge, item, mark) for judge in JUDGES for item, mark in zip(ORDER, "964", strict=True)
    ]
    yield Messy("marks.csv", table(("Reviewer", "Essay", "Mark"), marks, ";").encode())
    titled = "Peer assessment;;\r\n;;\r\n" + table(("Reviewer", "Essay", "Mark"), marks, ";")
    yield Messy("marks below a title.csv", titled.encode(), says=("'Peer assessment'",))
    twice = "Q1,Q1,Q2,Q3\r\n" + sides("LR", ("Left item", "Right item", "Which?", "Prolific ID"))
    yield refused("two headers.csv", twice.encode(), "be the row Left item, Right item, Which?")
    yield refused("no header.csv", CSV.partition("\r\n")[2].encode(), "put a header above it")
    yield from asked_by_forms()
    yield from asked_of_models()


def asked_by_forms() -> Iterator[Messy]:
    questions = [f"Which is better? [{left} vs {right}]" for left, right in PAIRS]
    answers = [(f"{judge}@x.org", *(winner for winner, _ in PAIRS)) for judge in JUDGES]
    says = ("a survey with a column for each pair of items", "3 columns of pairs (tea against milk")
    yield Messy(
        "a question per pair.csv", table(("Email address", *questions), answers).encode(), says=says
    )
    gap = [*answers, ("dan@x.org", "", "tie", "")]
    names = [f"{left} VS. {right}" for left, right in PAIRS]
    yield Messy("a question per pair with gaps.csv", table(("Username", *names), gap).encode(),
                votes=10, judges=4, says=("2 empty cells",))  # fmt: skip
    forms = [(judge, "".join(f"{item};" for item in ORDER)) for judge in JUDGES]
    drinks = table(("name", "Rank the drinks"), forms).encode()
    by_name = {"judge": "name", "ranking": "Rank the drinks"}
    yield Messy("Microsoft Forms.csv", drinks, by_name, 3, says=("with ; between the items",))
    yield refused("Microsoft Forms unsaid.csv", drinks, "--ranking 'Rank the drinks' (a ranking")
    lines = "1. tea\n2) milk\n3. coffee"
    listed = table(("judge", "ranking"), [(judge, lines) for judge in JUDGES]).encode()
    yield Messy("numbered lines.csv", listed, votes=3, says=("with line breaks between the items",))
    summed_up = [*((judge, 5, 3, 1) for judge in JUDGES), ("Total", 15, 9, 3)]
    sheet_of_judges = table(("Judge", *ORDER), summed_up).encode()
    yield refused("a row of totals.csv", sheet_of_judges, "is a sum or mean", "'Total' (", "--na",
                  item_columns=ORDER, cells="rating")  # fmt: skip
    robots = [(judge, 5, 3, 1) for judge in JUDGES]
    yield refused(
        "robots A to C.csv",
        table(("Judge", "Robot A", "Robot B", "Robot C"), robots).encode(),
        "--item-columns 'Robot A,Robot B,Robot C' --cells rating",
    )
    sides_in_french = sides(("Gauche", "Droite"), ("qui", "Gauche", "Droite", "Choix"))
    yield refused(
        "French.csv", sides_in_french.encode(), "--left Gauche --right Droite --winner Choix"
    )
    best = ("judge", "Item1", "Item2", "Item3", "Best", "Worst")
    yield refused(
        "best and worst.csv",
        table(best, [(judge, *ORDER, "tea", "coffee") for judge in JUDGES]).encode(),
        "the best beats every other item of its set",
    )
    flags = ("WorkerId", "Input.left", "Input.right", "Answer.left.on", "Answer.right.on")
    radio = table(flags, [(*win, "true", "false") for win in WINS]).encode()
    yield refused("radio buttons.csv", radio, "'Answer.left.on', 'Answer.right.on' is true in each")
    judged = [(f"Entry {n}", 5 - n, n % 2 + 3, 3.5) for n in range(4)]
    summed = table(("Entry", "Judge Ann", "Judge Bob", "Average"), judged).encode()
    yield refused(
        "judges and their mean.csv", summed, "--judge-columns 'Judge Ann,Judge Bob' --item Entry"
    )
    sheets: dict[str, Sequence[Row]] = {"Notes": [("Of spring",)], "Votes": [HEADER, *WINS]}
    yield refused("notes first.xlsx", workbook(sheets), "the first sheet 'Notes', not 'Votes'")


def asked_of_models() -> Iterator[Messy]:
    verdicts = [
        {"answer_1": {"model": w, "text": "..."}, "answer_2": {"model": lo, "text": "..."},
         "judgment": {"by": j, "verdict": "A"}} for j, w, lo in WINS
    ]  # fmt: skip
    nested = "\n".join(map(json.dumps, verdicts)).encode()
    yield refused("nested.jsonl", nested, "--winner judgment.verdict")
    columns = {"left": "answer_1.model", "right": "answer_2.model", "winner": "judgment.verdict"}
    yield Messy("nested and named.jsonl", nested, {**columns, "judge": "judgment.by"})
    games = [
        {"question_id": 1, "model_1": w, "model_2": lo, "g1_winner": "model_1",
         "g2_winner": "tie", "judge": [j, "pair-v2"]} for j, w, lo in WINS
    ]  # fmt: skip
    lines = "\n".join(map(json.dumps, games)).encode()
    yield refused("two games.jsonl", lines, "--winner g1_winner or --winner g2_winner")
    says = ("each list in judge as one name",)
    yield Messy("one game.jsonl", lines, {"winner": "g1_winner"}, says=says)
    in_lists = [{"judge": j, "games": [{"score": "A>B"}]} for j in JUDGES]
    yield refused(
        "games.jsonl", "\n".join(map(json.dumps, in_lists)).encode(), "'games' may hold the votes"
    )
    soft = [
        (j, w, lo, 1.1 + n / 10) for n, (j, w, lo) in enumerate(WINS)
    ]  # as AlpacaEval writes them
    header = ("annotator", "generator_1", "generator_2", "preference")
    yield refused("numbers on a scale.csv", table(header, soft).encode(), "numbers from 1.1 to 1.9")


def wrong_formats() -> Iterator[Messy]:
    records = [dict(zip(HEADER, win, strict=True)) for win in WINS]
    yield refused("cut off.json", json.dumps(records).encode()[:90], "line 1, column", "cut off")
    yield refused("python.json", repr(records).encode(), "line 1, column 3", "double quotes")
    page = b"<!DOCTYPE html>\n<html><body>Please sign in</body></html>"
    yield refused("votes in a browser.csv", page, "is a web page (HTML)", "Download the file")
    yield refused(
        "table of html.xls", b"<table><tr><td>a</td></tr></table>", "is a web page (HTML)"
    )
    yield refused("a csv.xlsx", CSV.encode(), "is text, not a spreadsheet", "--format csv")
    yield Messy("a csv with its name.xlsx", CSV.encode(), {"format": "csv"})
    yield refused("a csv.parquet", CSV.encode(), "is text, not Parquet", "--format csv")
    half = [{**records[0], "winner": "tea\ud83d"}, {**records[0], "winner": "tea\ud83c"}]
    yield refused(
        "half an emoji.json",
        json.dumps([*records, *half]).encode(),
        "2 of 11 records have half of a character",
        "record 10, record 11",
    )
    lines = "\n".join(json.dumps(record) for record in [*records, *half])
    yield refused("half an emoji.jsonl", lines.encode(), "record 10, record 11")
    ranked = table(
        ("judge", "ranking"), [("ann", '["x\\ud83d", "y"]'), ("bob", '["x\\ud83c", "y"]')]
    )
    yield refused("half an emoji.csv", ranked.encode(), "2 of 2 rows have a ranking that cannot be")


def spelled_twice() -> Iterator[Messy]:
    odd = {"tea": "Tea\u00a0", "milk": "MILK", "coffee": "cof\u200bfee"}
    more = [(judge.upper(), odd[winner], loser) for judge, winner, loser in WINS if winner in odd]
    text = table(HEADER, [*WINS, *more, ("ann", "tea", "TEA ")]).encode()
    yield Messy("spelled twice.csv", text, {"merge_names": True}, 18, says=("left out: 1 row",))
    composed = [("Zoe\u0308", "tea", "milk"), ("Zo\u00eb", "milk", "coffee")]
    yield Messy(
        "composed.csv", table(HEADER, composed).encode(), {"merge_names": True}, votes=2, judges=1
    )
    mixed = [("ann", "tea", "milk", "TEA"), ("ann", "milk", "coffee", "MILK ")]
    sides_and_name = table(("judge", "model_a", "model_b", "winner"), mixed).encode()
    yield Messy(
        "winner in small letters.csv",
        sides_and_name,
        votes=2,
        judges=1,
        says=("2 outcomes taken as an item's name, ignoring case and blanks ('MILK ', 'TEA')",),
    )
    yield refused("strange item.csv", table(HEADER, [*WINS, ("ann", "-", "?")]).encode(), "'-'")
    yield refused(
        "unknown judge.csv",
        table(HEADER, [*WINS, ("unknown", "tea", "milk")]).encode(),
        "1 of 10 rows has a word in the column 'judge' that usually stands for nothing",
        "'unknown' (row 10)",
        "--na-is-name",
        "--skip-bad",
    )
    yield refused(
        "ranking of nothing.csv",
        table(("judge", "ranking"), [("ann", "tea > milk > N/A")]).encode(),
        "row 1 'N/A'",
    )


def pooled() -> Iterator[Messy]:
    header = ("criterion", "lang", "note", *HEADER)
    rows = [
        (criterion, lang, f"note {number}", *win)
        for criterion, lang in (("helpful", "en"), ("honest", "de"), ("harmless", "en"))
        for number, win in enumerate(WINS)
    ]
    yield Messy(
        "criteria.csv",
        table(header, rows).encode(),
        votes=27,
        says=(
            "ignored: criterion, lang, note",
            "Votes on 3 values of criterion (harmless 9, helpful 9, honest 9) and 2 values of lang "
            "(en 18, de 9) are pooled: one ranking over all of them; --by criterion or --by lang "
            "ranks each separately, --where filters.",
        ),
    )


def preflib() -> Iterator[Messy]:
    head = "# NUMBER ALTERNATIVES: 3\n" + "".join(
        f"# ALTERNATIVE NAME {number}: {item}\n" for number, item in enumerate(ORDER, start=1)
    )
    text = f"{head}5: 1,2,3\n4: 2\n2: 3\n"
    yield Messy(
        "approval in part.soi", text.encode(), votes=1, judges=1, says=("left out: 2 rows",)
    )


def scored() -> Iterator[Messy]:
    """Games with the scores of both sides, and cross tables of results."""
    games = [(3, 1), (1, 0), (2, 0), ("P-P", "P-P")]
    pairs = [*PAIRS, PAIRS[0]]
    rows = [(*pair, *score) for pair, score in zip(pairs, games, strict=True)]
    says = ("the higher score wins", "left out: 1 row")
    for header in (
        ("home_team", "away_team", "home_score", "away_score"),
        ("Home", "Away", "FTHG", "FTAG"),
        ("home_team", "visitor_team", "home_goals", "visitor_goals"),
    ):
        text = table(header, rows).encode()
        yield Messy(f"games by {header[2]}.csv", text, votes=3, judges=1, says=says)
    one = [(*pair, f"{left}-{right}") for *pair, left, right in rows]
    text = table(("Home", "Away", "Score"), one).encode()
    yield Messy("games in one column.csv", text, votes=3, judges=1, says=says)
    marks = [(*pair, "7.5:6.5", "8:7,5", "6.5 : 6") for pair in PAIRS]
    text = table(("team_a", "team_b", *JUDGES), marks).encode()
    yield Messy("half points of a jury.csv", text, {"judge_columns": JUDGES}, says=says[:1])
    asks = ("3 columns with the scores", "--judge-columns 'ann,bob,zo\u00eb'", "--winner ann")
    yield refused("half points of several.csv", text, *asks)
    cross = [
        (1, "tea", "X", "1", "\u00bd", "1"),
        (2, "milk", "0", "X", "\u00bd", "1"),
        (3, "coffee", "\u00bd", "\u00bd", "X", "0"),
        (4, "water", "0", "0", "1", "X"),
    ]
    square = ("No", "Name", "1", "2", "3", "4")
    text = table(square, cross).encode()
    yield Messy("cross table.csv", text, votes=6, judges=1, says=("a cross table of results",))
    odd = [*cross[:3], (4, "water", "1", "0", "1", "X")]
    yield refused("cross table that differs.csv", table(square, odd).encode(), "'tea' against 'wat")
    twice = [*cross[:3], (4, "water", "01", "0", "1", "X")]
    text = table(square, twice).encode()
    yield refused("cross table of two rounds.csv", text, "one row per game", "white, black")


def marked() -> Iterator[Messy]:
    """Marks under the names that people give them, with gaps."""
    marks = [
        (judge, item, mark, note)
        for judge in JUDGES
        for item, mark, note in zip(ORDER, (9, 7, 3), ("", "ok", ""), strict=True)
    ]
    gaps = [*marks, ("eve", "tea", "n/a", ""), ("eve", "milk", "-", ""), ("eve", "coffee", 5, "")]
    says = ("judge = Reviewer", "left out: 3 rows")
    yield Messy(
        "peer marks.csv",
        table(("Reviewer", "Student reviewed", "Mark (1-10)", "Comments"), gaps).encode(),
        says=says,
    )
    wine = table(("Verkoster", "Wein", "Punkte (0-20)", "Bemerkung"), marks, ";").encode()
    yield Messy("weinprobe.csv", wine, says=("item = Wein", "rating = Punkte (0-20)"))
    yield refused(
        "unknown rater.csv",
        table(("Nase", "item", "rating", "Comments"), marks).encode(),
        "rated before by one judge",
        "say --judge Nase.",
    )
    files: dict[str, str | bytes] = {
        f"{judge}.csv": table(("photo 1", "photo 2", "better"), [(*pair, 1) for pair in PAIRS])
        for judge in JUDGES
    }
    yield Messy("a file for each judge.zip", archive(files), {"judge_per_file": True})


def shown(number: int, pair: tuple[str, str]) -> tuple[str, str]:
    """The two items as every other row has them, the worse first."""
    return pair if number % 2 else (pair[1], pair[0])


def side(number: int, left: str, right: str) -> str:
    """Who wins of the items as `shown`."""
    return left if number % 2 else right


def of_platforms() -> Iterator[Messy]:
    """Exports of platforms for crowds and for evaluations of LLMs."""
    votes = [(n, judge, (a, b)) for n, (judge, a, b) in enumerate(WINS)]
    lines = [
        {"id": n, "model_pair": shown(n, pair), "judge": judge, "verdict": side(n, "A", "B")}
        for n, judge, pair in votes
    ]
    yield refused(
        "both items in a list.jsonl",
        "\n".join(map(json.dumps, lines)).encode(),
        "make two columns of 'model_pair', called left and right",
        "--winner verdict",
    )
    toloka = [
        (*shown(n, pair), side(n, "LEFT", "RIGHT"), "", judge, "APPROVED")
        for n, judge, pair in votes
    ]
    header: Row = (
        "INPUT:image_left", "INPUT:image_right", "OUTPUT:result", "GOLDEN:result",
        "ASSIGNMENT:worker_id", "ASSIGNMENT:status",
    )  # fmt: skip
    says = ("judge = ASSIGNMENT:worker_id", "outcome = OUTPUT:result")
    yield Messy("toloka.tsv", table(header, toloka, "\t").encode(), says=says)
    appen = [
        (100 + n % 3, f"1/2/2023 10:00:{n:02}", judge, side(n, "item_a", "item_b"), *shown(n, pair))
        for n, judge, pair in votes
    ]
    header = ("_unit_id", "_created_at", "_worker_id", "which_is_better", "item_a", "item_b")
    yield Messy("appen.csv", table(header, appen).encode(), says=("judge = _worker_id",))
    judged = [
        (f"{judge}@uni.edu", *shown(n, pair), side(n, "Left", "Right"), f"00:00:{n + 11}")
        for n, judge, pair in votes
    ]
    header = ("Judge", "Left", "Right", "Chosen", "TimeTaken")
    yield Messy("times by the clock.csv", table(header, judged).encode(), says=("= TimeTaken",))
    duels = [(judge, " vs. ".join(shown(n, pair)), pair[0]) for n, judge, pair in votes]
    text = table(("rater", "pair", "better"), duels).encode()
    yield Messy("both items in a cell.csv", text, says=("options = pair",))
    merged = [(judge if n % 3 == 0 else "", *pair) for n, judge, pair in votes]
    text = table(HEADER, merged).encode()
    yield refused("merged cells.csv", text, "6 of 9 rows have nothing in", "fill it down")


def of_classrooms() -> Iterator[Messy]:
    """Marks and places as people write them down."""
    peers = [
        (judge, item, 9 - 2 * k, f"{75 - 10 * k},50", "ok; well done" if k else "")
        for judge in JUDGES
        for k, item in enumerate(ORDER)
    ]
    grade = "Grade for submission (out of 80)"
    yield refused(
        "moodle.csv",
        table(("Reviewer", "Submission", "Aspect 1", grade, "Feedback"), peers, ";").encode(),
        f"may fit: --judge Reviewer --item Submission --rating '{grade}'",
    )
    stars = [
        (judge, item, "\u2605" * (5 - k) + "\u2606" * k)
        for judge in JUDGES
        for k, item in enumerate(ORDER)
    ]
    yield Messy("stars.csv", table(("Reviewer", "Product", "Stars"), stars).encode())
    for words in (("1st", "2nd", "3rd"), ("first", "second", "third"), ("#1", "#2", "#3")):
        placed = [(judge, *pair) for judge in JUDGES for pair in zip(ORDER, words, strict=True)]
        text = table(("Jury member", "Contestant", "Place"), placed).encode()
        yield Messy(f"places such as {words[0]}.csv", text, votes=3)
    scores = [(f"What is {n} times {n}?", 5 - n % 2, 3 + n % 2, 2) for n in range(12)]
    yield refused(
        "scores per prompt.csv",
        table(("prompt", "tea_score", "milk_score", "cola_score"), scores).encode(),
        "--item-columns tea_score,milk_score,cola_score --cells rating",
    )
    form: list[Row] = [
        ("Respondent ID", "Start Date", "Please rank the drinks", "", ""),
        ("", "", "Tea", "Milk", "Coffee"),
        *((118 + n, f"01/02/2024 10:0{n}", 1, 2, 3) for n in range(3)),
    ]
    two_lines = "if the header has two lines, make it one"
    yield refused("surveymonkey.csv", table(form[0], form[1:]).encode(), two_lines)
    ballots = [(1, *ORDER), (2, "tea", "skipped", "milk"), (3, "overvote", "milk", "coffee")]
    text = table(("Cast Vote Record", "Rank 1", "Rank 2", "Rank 3"), ballots).encode()
    yield refused("ballots.csv", text, "row 2 'skipped', row 3 'overvote'")


def messy_files() -> list[Messy]:
    kinds = (
        of_platforms, of_classrooms,
        spreadsheets, archives, encodings, padded_cells, names_of_columns, outcomes, rated, surveys,
        counted_wins, survey_exports, records_under_a_key, tables_of_pandas,
        columns_of_judges, platforms, strangers, wrong_formats, spelled_twice, pooled, preflib,
        scored, marked,
    )  # fmt: skip
    return [messy for kind in kinds for messy in kind()]
