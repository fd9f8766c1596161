"""Values of a column ranked apart: each as its rows alone would be, and all in one answer."""

from __future__ import annotations

import io
import json
import re
import warnings
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner, Result

import juryrank as jr
from juryrank.cli.app import app
from juryrank.ranking.by_value import COLUMNS_OF_ITEMS, COLUMNS_OF_JUDGES

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

LANGUAGES = {"de": 1, "fr": 2, "en": 3}


def votes_in_languages() -> pl.DataFrame:
    """Votes in three languages, in no order; the items differ, and so do the judges."""
    made = [
        jr.simulate(4 + seed, 2 + seed, votes_per_judge=30, tie=0.3, seed=seed).votes.with_columns(
            language=pl.lit(language), round=pl.int_range(pl.len()) % 11
        )
        for language, seed in LANGUAGES.items()
    ]
    return pl.concat(made).sample(fraction=1.0, shuffle=True, seed=0)


FRAME = votes_in_languages()


@pytest.fixture(scope="module")
def rankings() -> jr.Rankings:
    return jr.rank(FRAME, by="language")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("votes") / "votes.csv"
    FRAME.write_csv(file)
    return str(file)


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": "100"})


def without_reading(ranking: jr.Ranking) -> dict[str, Any]:
    answer = json.loads(ranking.to_json())
    del answer["reading"]
    return dict(answer)


# --- each value as if it were alone --------------------------------------------------------------


def test_each_value_is_ranked_as_its_rows_alone(rankings: jr.Rankings) -> None:
    assert list(rankings) == ["de", "en", "fr"]
    for language in rankings:
        alone = jr.rank(FRAME.filter(pl.col("language") == language))
        assert without_reading(rankings[language]) == without_reading(alone)
        assert_frame_equal(rankings[language].items, alone.items)
        by_condition = jr.rank(jr.votes_from(FRAME, where=f'language == "{language}"'))
        assert without_reading(by_condition) == without_reading(alone)


def test_it_is_the_same_again_and_whatever_the_threads(rankings: jr.Rankings) -> None:
    again = jr.rank(jr.votes_from(FRAME, by="Language"), by="language", threads=1)
    assert again.to_json() == rankings.to_json()


KINDS = {
    "rankings": (
        "judge,ranking,topic\na,x > y > z,art\nb,y > x > z,art\na,z > y > x,law\nb,z > x = y,law\n",
        {},
    ),
    "a row for each item": (
        "judge,item,rank,topic\n"
        "a,x,1,art\na,y,2,art\na,z,3,art\na,z,1,law\na,y,2,law\nb,x,1,law\nb,y,2,law\n",
        {},
    ),
    "ratings": (
        "judge,item,rating,topic\n"
        "a,x,1,art\na,y,2,art\na,z,2,art\na,x,5,law\na,y,3,law\nb,x,1,law\nb,y,2,law\n",
        {},
    ),
    "a survey": (
        "email,topic,Rank [x],Rank [y],Rank [z]\n"
        "a,art,1,2,3\nb,art,2,1,3\na,law,3,2,1\nb,law,3,1,2\n",
        {},
    ),
    "choices": (
        "judge,options,choice,topic\na,x|y|z,x,art\nb,x|y|z,y,art\na,x|y,y,law\nb,x|y|z,z,law\n",
        {},
    ),
    "anonymous rankings": (
        "ranking,topic\nx > y > z,art\ny > x > z,law\nz > x > y,law\nz > y > x,art\n",
        {"judge_per_row": True},
    ),
    "anonymous rows for each item": (
        "ballot,item,rank,topic\n"
        "1,x,1,art\n1,y,2,art\n2,z,1,art\n2,y,2,art\n1,y,1,law\n1,x,2,law\n2,x,1,law\n2,y,2,law\n",
        {"judge_per_row": True},
    ),
    "counted wins": (
        "player1,player2,win1,win2,topic\nx,y,3,1,art\ny,z,2,2,art\nx,y,0,2,law\nx,z,1,1,law\n",
        {},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_votes_can_be_ranked_apart(kind: str) -> None:
    text, options = KINDS[kind]
    votes = jr.read_votes(BytesIO(text.encode()), by="topic", **options)  # type: ignore[arg-type]
    found = jr.rank(votes, by="topic", intervals=None)
    assert list(found) == ["art", "law"]
    header, *lines = text.splitlines()
    for topic in found:
        rows = "\n".join([header, *(line for line in lines if topic in line.split(","))])
        alone = jr.read_votes(BytesIO(rows.encode()), **options)  # type: ignore[arg-type]
        ranked = jr.rank(alone, intervals=None)
        assert_frame_equal(found[topic].items, ranked.items)
        assert_frame_equal(found[topic].judges.drop("judge"), ranked.judges.drop("judge"))
    assert len(votes) == sum(ranking.fit.votes for ranking in dict(found).values())
    assert votes.n_judges >= max(len(found[topic].judges) for topic in found)


def test_votes_of_all_values_are_there_too() -> None:
    votes = jr.votes_from(FRAME, by="language")
    plain = jr.votes_from(FRAME)
    assert (len(votes), votes.items.to_list()) == (len(plain), plain.items.to_list())
    assert plain.by is None


def test_what_is_done_to_votes_is_done_to_each_value() -> None:
    text, _ = KINDS["rankings"]
    votes = jr.read_votes(BytesIO(text.encode()), by="topic")
    pairs = jr.rank(votes.in_pairs(), by="topic", intervals=None)
    assert [ranking.fit.votes for ranking in dict(pairs).values()] == [6, 6]
    alone = jr.rank(votes.without("a"), by="topic", intervals=None)
    assert alone.judges["judge"].to_list() == ["b", "b"]
    both = jr.join_votes(votes, votes)
    joined = jr.rank(both, by="topic", intervals=None)
    assert [ranking.fit.votes for ranking in dict(joined).values()] == [4, 4]
    with pytest.raises(jr.InputError, match="were read without the column 'topic'"):
        jr.rank(votes.of_judges(np.array([True, False])), by="topic")


def test_a_judge_left_out_may_be_all_that_a_value_has() -> None:
    frame = {"judge": ["a", "a", "b"], "winner": ["x", "x", "y"], "loser": ["y", "y", "x"],
             "topic": ["art", "art", "law"]}  # fmt: skip
    votes = jr.votes_from(frame, by="topic").without("b")
    found = jr.rank(votes, by="topic", intervals=None)
    assert (list(found), dict(found.errors)) == (
        ["art"],
        {"law": "Without these judges there are no votes left."},
    )


# --- the answer ----------------------------------------------------------------------------------


def test_the_tables_have_the_column_first(rankings: jr.Rankings) -> None:
    assert rankings.items.columns == ["language", *COLUMNS_OF_ITEMS]
    assert rankings.judges.columns == ["language", *COLUMNS_OF_JUDGES]
    assert rankings.items["language"].unique(maintain_order=True).to_list() == list(rankings)
    own = rankings.items.filter(pl.col("language") == "fr").drop("language")
    assert_frame_equal(own, rankings["fr"].items)


def test_it_reads_like_a_mapping(rankings: jr.Rankings) -> None:
    assert len(rankings) == 3
    assert "de" in rankings
    assert "xx" not in rankings
    assert dict(rankings).keys() == {"de", "en", "fr"}
    with pytest.raises(jr.InputError, match=r"There is no ranking of language 'DE'.*mean 'de'\?"):
        rankings["DE"]


def test_it_prints_itself(rankings: jr.Rankings) -> None:
    heading, _, first, *_ = repr(rankings).splitlines()
    assert heading == "Rankings by language: 3 values, 360 votes"
    best = rankings["de"].items["item"][0]
    assert re.fullmatch(rf" +90 +5 +3  de: {best}", first)
    assert "<table" in rankings._repr_html_()
    assert "<td>de</td>" in rankings._repr_html_()


def test_names_are_merged_over_all_values() -> None:
    rows = {
        "judge": ["u", "U", "v", "V", "u"],
        "winner": ["gpt", "Gpt", "llama ", "gpt ", "gpt"],
        "loser": ["llama", "llama", "gpt ", "llama ", "llama"],
        "language": ["de", "de", "en", "en", "de"],
    }
    votes = jr.votes_from(rows, by="language", merge_names=True)
    assert votes.items.to_list() == ["gpt", "llama"]
    assert votes.by is not None
    for own in votes.by.votes.values():
        assert own.items.to_list() == ["gpt", "llama"]
    assert not any("count as different" in notice for notice in votes.notices)


def test_values_are_in_natural_order() -> None:
    frame = {"winner": ["x"] * 6, "loser": ["y"] * 6,
             "round": ["round 10", "round 2", "round 1"] * 2}  # fmt: skip
    found = jr.rank(frame, by="round", intervals=None)
    assert list(found) == ["round 1", "round 2", "round 10"]
    text = "winner,loser,round\n" + "x,y,10\nx,y,2\n" * 2
    votes = jr.read_votes(BytesIO(text.encode()), by="round")
    assert list(jr.rank(votes, by="round", intervals=None)) == [2, 10]


@pytest.mark.parametrize(
    "values",
    [[True, False], [date(2024, 5, 1), date(2023, 5, 1)], [2.0, 1.0], [1.5, 0.5], [1, 2]],
)
def test_values_are_of_any_type(values: list[object]) -> None:
    frame = pl.DataFrame({"winner": ["x"] * 4, "loser": ["y"] * 4, "kind": values * 2})
    found = jr.rank(frame, by="kind", intervals=None)
    assert list(found) == sorted(values)  # type: ignore[type-var]
    assert [one["value"] for one in json.loads(found.to_json())["rankings"]] == [
        json.loads(json.dumps(value, default=str)) for value in found
    ]


def test_labels_of_several_types_become_text() -> None:
    text = "winner,loser,topic\n1,2,art\n2,1,art\nx,y,law\ny,x,law\n"
    votes = jr.read_votes(BytesIO(text.encode()), by="topic")
    found = jr.rank(votes, by="topic", intervals=None)
    assert sorted(found.items["item"]) == ["1", "2", "x", "y"]


def test_points_are_told_of_each_value(rankings: jr.Rankings) -> None:
    points = rankings.scaled("elo", ("item-1", 1200.0))
    assert points.items.filter(pl.col("item") == "item-1")["score"].to_list() == [1200.0] * 3


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".json", ".md", ".tex", ".xlsx"])
def test_it_is_saved_with_the_column(rankings: jr.Rankings, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"out{ending}"
    rankings.save(file)
    if ending in (".csv", ".tsv"):
        read = pl.read_csv(file, separator="\t" if ending == ".tsv" else ",")
        assert read.columns[0] == "language"
    elif ending == ".parquet":
        assert_frame_equal(pl.read_parquet(file), rankings.items)
    elif ending == ".xlsx":
        for sheet in ("items", "judges"):
            assert pl.read_excel(file, sheet_name=sheet).columns[0] == "language"
    elif ending == ".json":
        assert file.read_text() == rankings.to_json() + "\n"
    else:
        assert file.read_text().count("language") == 2


def test_the_report_has_a_part_for_each_value_and_an_index(rankings: jr.Rankings) -> None:
    page = rankings.report(title="Languages", source="votes.csv", date=date(2025, 1, 31))
    for number, language in enumerate(rankings, start=1):
        assert f'<a href="#value-{number}">{language}</a>: ' in page
        assert f'<h2 id="value-{number}-title">language: {language}</h2>' in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    found = re.search(r'<script type="application/json" id="specs">(.*?)</script>', page, re.S)
    assert found
    assert {f"value-{number}-items" for number in (1, 2, 3)} <= set(json.loads(found[1]))
    assert "<h1>Languages</h1>" in page
    assert "rankings = jr.rank(votes, by=&#39;language&#39;)" in page
    assert page == rankings.report(title="Languages", source="votes.csv", date=date(2025, 1, 31))


# --- what cannot be ranked -----------------------------------------------------------------------


def test_a_value_that_cannot_be_ranked_does_not_stop_the_others() -> None:
    frame = {"winner": ["x", "y", "x", "x"], "loser": ["y", "x", "x", "x"],
             "topic": ["art", "art", "law", "law"]}  # fmt: skip
    found = jr.rank(frame, by="topic", intervals=None)
    assert list(found) == ["art"]
    (error,) = found.errors.values()
    assert jr.votes_from(frame, by="topic").notices == (f"Without topic law: {error}",)
    assert error.startswith("There is only one item, 'x'")
    assert f"topic law is not ranked: {error}" in found.warnings
    assert f"law: not ranked: {error}" in repr(found)
    assert json.loads(found.to_json())["rankings"][1] == {
        "value": "law", "error": error, "warnings": [],
    }  # fmt: skip
    assert "not ranked: There is only one item" in found.report()
    with pytest.raises(jr.InputError, match="topic law could not be ranked: There is only one"):
        found["law"]


def test_a_value_that_cannot_be_fitted_does_not_stop_the_others() -> None:
    frame = {"winner": ["x", "y", "x", "x"], "loser": ["y", "x", "y", "y"],
             "topic": ["art", "art", "law", "law"]}  # fmt: skip
    found = jr.rank(frame, "btl", by="topic", prior=None, intervals=None)
    assert (list(found), list(found.errors)) == (["art"], ["law"])
    with pytest.raises(jr.InputError, match="There is no model"):
        jr.rank(frame, "nothing", by="topic")


def test_where_nothing_can_be_ranked_is_an_error() -> None:
    frame = {"winner": ["x", "x", "y", "y"], "loser": ["x", "x", "y", "y"],
             "topic": ["art", "art", "law", "law"]}  # fmt: skip
    with pytest.raises(jr.InputError, match=r"No value of the column 'topic' can be ranked\. art:"):
        jr.rank(frame, by="topic")


def test_missing_values_are_bad_rows() -> None:
    text = "judge,winner,loser,topic\na,x,y,art\na,y,x,\nb,x,y,art\nb,x,y,N/A\n"

    def read(**options: Any) -> jr.Votes:
        return jr.read_votes(BytesIO(text.encode()), by="topic", **options)

    with pytest.raises(jr.InputError) as raised:
        read()
    assert "1 of 4 rows has nothing in the column 'topic': row 2." in str(raised.value)
    assert "'N/A' (row 4)" in str(raised.value)
    votes = read(skip_bad=True)
    assert (len(votes), votes.left_out.total) == (2, 2)
    found = jr.rank(votes, by="topic", intervals=None)
    assert any("nothing in the column 'topic': row 2" in remark for remark in found.warnings)
    named = read(skip_bad=True, na_is_name=True)
    assert named.by is not None
    assert list(named.by.of) == ["art", "N/A"]


def test_bad_rows_are_counted_over_all_values() -> None:
    outcomes = ["left", "who", "right", "who", "left", "what", "right", "left"]
    text = "judge,left,right,winner,topic\n" + "".join(
        f"a,x,y,{outcome},{topic}\n"
        for outcome, topic in zip(outcomes, ("art", "law") * 4, strict=True)
    )
    with pytest.raises(jr.InputError) as raised:
        jr.read_votes(BytesIO(text.encode()), by="topic")
    assert (
        "3 of 8 rows have an unknown outcome: 'who' (2 rows, first row 2), 'what' (row 6)."
        in str(raised.value)
    )
    votes = jr.read_votes(BytesIO(text.encode()), by="topic", skip_bad="most")
    assert votes.left_out.total == 3
    assert votes.left_out.rows == 8


def test_unknown_columns_get_a_hint() -> None:
    with pytest.raises(jr.InputError) as raised:
        jr.rank(FRAME, by="langauge")
    assert "Columns found: judge, left, right, winner, language, round." in str(raised.value)
    assert str(raised.value).endswith("Did you mean 'language'?")


def test_votes_read_without_the_column_say_how() -> None:
    for votes in (jr.votes_from(FRAME), jr.votes_from(FRAME, by="round")):
        with pytest.raises(jr.InputError, match=r"read_votes\(\.\.\., by='language'\)"):
            jr.rank(votes, by="language")


def test_too_many_values_are_an_error() -> None:
    many = FRAME.with_columns(id=pl.int_range(pl.len()), part=pl.int_range(pl.len()) // 2)
    with pytest.raises(jr.InputError, match="a different value in each of its 360 rows"):
        jr.rank(many, by="id")
    with pytest.raises(jr.InputError, match="has 180 distinct values in 360 rows, and at most 50"):
        jr.rank(many, by="part")


@pytest.mark.parametrize("name", ["group", "score", "judge"])
def test_a_column_of_the_answer_s_own_has_another_name_in_tables(name: str) -> None:
    frame = FRAME.rename({"judge": "rater", "language": name})
    rankings = jr.rank(jr.votes_from(frame, judge="rater", by=name), by=name)
    assert rankings.by == rankings.to_dict()["by"] == name
    assert rankings.items.columns[0] == rankings.judges.columns[0] == f"by_{name}"
    assert rankings.items.columns[1:] == rankings["de"].items.columns


def test_what_carries_no_column_is_refused() -> None:
    orders = b"# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n1: 1,2\n"
    with pytest.raises(jr.InputError, match="is a PrefLib file: its rows have no column 'topic'"):
        jr.read_votes(BytesIO(orders), format="soc", by="topic")
    counts = b",tea,milk\ntea,-,8\nmilk,2,-\n"
    with pytest.raises(jr.InputError, match="is a table of counts, item by item: its rows have"):
        jr.read_votes(BytesIO(counts), by="topic")
    with pytest.raises(jr.InputError, match="A memory limit"):
        jr.read_votes(io.BytesIO(FRAME.write_csv().encode()), by="language", memory="10MB")


def test_values_of_several_files_are_joined(tmp_path: Path) -> None:
    text, _ = KINDS["rankings"]
    (tmp_path / "1.csv").write_text(text)
    (tmp_path / "2.csv").write_text(text.replace("law", "sea"))
    (tmp_path / "3.csv").write_text(text.replace("topic", "Topic"))
    paths = [str(tmp_path / f"{number}.csv") for number in (1, 2)]
    answer = json.loads(run("rank", *paths, "--by", "topic", "--json").stdout)
    assert [(one["value"], one["fit"]["votes"]) for one in answer["rankings"]] == [
        ("art", 4), ("law", 2), ("sea", 2),
    ]  # fmt: skip
    assert len(answer["reading"]) == 2
    numbered = run("rank", *paths, "--by", "topic", "--judge-per-row", "--json")
    judges = [len(one["judges"]) for one in json.loads(numbered.stdout)["rankings"]]
    assert judges == [4, 2, 2]
    other = run("rank", paths[0], str(tmp_path / "3.csv"), "--by", "topic")
    assert other.exit_code == 2
    assert "does not have the same name in all files" in other.stderr
    assert run("rank", str(tmp_path / "?.csv"), "--by", "topic").exit_code == 2


# --- the command line ----------------------------------------------------------------------------


def test_the_terminal_shows_a_table_for_each_value(path: str, rankings: jr.Rankings) -> None:
    result = run("rank", path, "--by", "language", "--top", "2")
    assert result.exit_code == 0
    assert "by = language); ignored: round." in result.stderr
    overview, *parts = re.split(r"\nlanguage: ", result.stdout)
    assert overview.splitlines()[0].split() == ["language", "votes", "items", "judges", "first"]
    assert [part.splitlines()[0] for part in parts] == ["de", "en", "fr"]
    assert parts[0].splitlines()[1] == "5 items, 3 judges, 90 votes"
    assert "Warning: language de: With 3 judges" in result.stderr


def test_json_has_an_object_for_each_value(path: str, rankings: jr.Rankings) -> None:
    answer = json.loads(run("rank", path, "--by", "language", "--json").stdout)
    assert list(answer) == ["by", "rankings", "warnings", "reading"]
    assert answer["by"] == "language"
    first = answer["rankings"][0]
    assert list(first) == [
        "value", "model", "scale", "items", "judges", "effects", "tastes", "fit", "warnings",
    ]  # fmt: skip
    assert [one["value"] for one in answer["rankings"]] == ["de", "en", "fr"]
    assert first["items"] == json.loads(rankings.to_json())["rankings"][0]["items"]
    assert first["warnings"]
    assert answer["reading"][0]["columns"]["by"] == "language"


def test_files_have_the_column_first(path: str, tmp_path: Path, rankings: jr.Rankings) -> None:
    out, judges, page = (tmp_path / name for name in ("items.csv", "judges.parquet", "page.html"))
    result = run("rank", path, "--by", "language", "--out", str(out), "--judges-out", str(judges),
                 "--report", str(page), "--title", "By language")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert_frame_equal(pl.read_csv(out), rankings.items, check_dtypes=False)
    assert pl.read_parquet(judges).columns[:2] == ["language", "judge"]
    text = page.read_text()
    assert "<h1>By language</h1>" in text
    assert "To do it again" in text


def test_two_items_are_compared_for_each_value(path: str) -> None:
    result = run("rank", path, "--by", "language", "--versus", "item-1", "item-7", "--json")
    versus = [one["versus"] for one in json.loads(result.stdout)["rankings"]]
    assert ["error" in one for one in versus] == [True, False, True]
    shown = run("rank", path, "--by", "language", "--versus", "item-1", "item-2")
    assert shown.stdout.count("item-1 - item-2: ") == 3
    assert run("rank", path, "--by", "language", "--versus", "item-1", "x").exit_code == 2


def test_an_anchor_must_be_in_every_value(path: str) -> None:
    options = ("rank", path, "--by", "language", "--scale", "elo", "--anchor")
    result = run(*options, "item-7=1200")
    assert result.exit_code == 2
    assert "has no votes in 2 of 3 values of 'language': de, fr." in result.stderr
    assert run(*options, "item-1=1200").exit_code == 0


def test_a_condition_and_a_column_go_together(path: str) -> None:
    result = run("rank", path, "--by", "language", "--where", 'language != "fr"', "--json")
    assert [one["value"] for one in json.loads(result.stdout)["rankings"]] == ["de", "en"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "langauge"), "Did you mean 'language'?"),
        (("--by", "language", "--memory", "1GB"), "omit one of the two"),
        (("--by", "round", "--where", "round == 3 and round == 4"), "No row of votes.csv fulfils"),
    ],
)
def test_what_is_wrong_is_said_with_exit_code_2(
    path: str, options: tuple[str, ...], said: str
) -> None:
    result = run("rank", path, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_the_frames_of_single_values_stay_as_they_are() -> None:
    """Also where only one value is ranked, or some have groups that were never compared."""
    linked, apart = ["ab", "bc", "ca", "ba"] * 6, ["ab", "ba", "cd", "dc"] * 6
    for values in ({"x": linked}, {"x": apart, "y": linked}):
        rows = [
            (f"j{number % 4}", pair[0], pair[1], value)
            for value, pairs in values.items()
            for number, pair in enumerate(pairs)
        ]
        frame = pl.DataFrame(rows, schema=["rater", "winner", "loser", "lang"], orient="row")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jr.JuryrankWarning)
            rankings = jr.rank(frame, by="lang")
        before = {value: rankings[value].items.columns for value in rankings}
        assert rankings.items.columns == rankings.items.columns
        assert {value: rankings[value].items.columns for value in rankings} == before
        assert rankings.items["lang"].unique(maintain_order=True).to_list() == list(values)
