"""Columns that hold no part of a vote: what is said of them, and what is taken from them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import timedelta
from inspect import signature
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from reading_help import read
from rich.console import Console
from typer.testing import CliRunner, Result

import juryrank as jr
from juryrank.cli.app import app
from juryrank.cli.terminal.check import check_view
from juryrank.data import EXAMPLE_VOTES
from juryrank.reading import reader
from juryrank.reading.files import parts_of
from juryrank.reading.request import request_of
from juryrank.reading.unused import contexts_in
from juryrank.report.sentences import effects_in_words

PAIRS = list(combinations("abcd", 2))
CRITERIA = ("helpful", "honest", "harmless")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": "400"})


def table(header: str, rows: Sequence[tuple[object, ...]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def judged(name: str, values: tuple[object, ...]) -> str:
    """All pairs by two judges, once for each value of a column."""
    rows = [(u, v, one, other) for v in values for u in ("ann", "bob") for one, other in PAIRS]
    return table(f"judge,{name},winner,loser", rows)


class TestPooled:
    @pytest.mark.parametrize(
        "name",
        ["criterion", "Criteria", "question_id", "prompt", "category", "split", "language", "turn"],
    )
    def test_few_values_of_a_context_are_named(self, name: str) -> None:
        reading = read(judged(name, CRITERIA)).reading[0]
        assert str(reading).endswith(
            f"ignored: {name}. Votes on 3 values of {name} (harmless 12, helpful 12, honest 12) "
            f"are pooled: one ranking over all of them; --by {name} ranks each separately, --where "
            "filters."
        )
        assert reading.to_dict()["pooled"] == [
            {"column": name, "values": {"harmless": 12, "helpful": 12, "honest": 12}}
        ]

    @pytest.mark.parametrize(
        "values", [("train", "test"), ("EN", "de", "fr"), ("English", "German")]
    )
    def test_some_contexts_are_known_by_their_values(self, values: tuple[str, ...]) -> None:
        assert read(judged("x17", values)).reading[0].pooled[0].column == "x17"

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("criterion", ("helpful",)),
            ("question_id", tuple(range(21))),
            ("comment", CRITERIA),
            ("x17", CRITERIA),
        ],
    )
    def test_other_columns_are_ignored(self, name: str, values: tuple[object, ...]) -> None:
        reading = read(judged(name, values)).reading[0]
        assert reading.pooled == ()
        assert "pooled" not in str(reading)

    def test_a_file_that_is_sorted_by_criterion(self) -> None:
        rows = [(c, "u", one, other) for c in CRITERIA for _ in range(400) for one, other in PAIRS]
        votes = read(table("criterion,judge,winner,loser", rows))
        assert dict(votes.reading[0].pooled[0].values) == dict.fromkeys(CRITERIA, 2400)

    def test_a_column_that_is_used_is_not_pooled(self) -> None:
        rated = (
            "judge,prompt_id,item,rating\n"
            + "ann,1,tea,5\nann,1,milk,3\nann,2,tea,4\nann,2,milk,4\n"
        )
        assert read(rated).reading[0].pooled == ()

    def test_answers_of_a_survey_count_once(self) -> None:
        header = "Email,Language,Rank them [a],Rank them [b],Rank them [c]"
        rows: list[tuple[object, ...]] = [(f"u{n}", ("en", "de")[n % 2], 1, 2, 3) for n in range(6)]
        reading = read(table(header, rows)).reading[0]
        assert dict(reading.pooled[0].values) == {"de": 3, "en": 3}

    def test_several_files_and_little_memory(self, tmp_path: Path) -> None:
        for name in "xy":
            (tmp_path / f"{name}.csv").write_text(judged("criterion", CRITERIA))
        whole, larger = (jr.read_votes(tmp_path, memory=size) for size in (None, "1MB"))
        assert dict(whole.reading[0].pooled[0].values) == dict.fromkeys(CRITERIA, 24)
        assert whole.reading == larger.reading

    def test_what_counts_is_named_before_other_columns_that_are_ignored(self) -> None:
        text = judged("criterion", CRITERIA).replace("\n", ",1,2,3,4,5,6\n")
        text = text.replace("1,2,3,4,5,6", "c1,c2,c3,c4,c5,c6", 1)
        header, *rows = text.splitlines()
        turned = ["judge,winner,loser,c1,c2,c3,c4,c5,c6,criterion"]
        for row in rows:
            judge, criterion, *rest = row.split(",")
            turned.append(",".join((judge, *rest, criterion)))
        assert header.startswith("judge,criterion")
        assert "ignored: criterion, c1, c2" in str(read("\n".join(turned)).reading[0])

    def test_the_command_line_says_it_and_json_has_it(self) -> None:
        result = run("rank", "-", "--json", stdin=judged("criterion", CRITERIA))
        assert "--by criterion ranks each separately" in result.stderr
        assert json.loads(result.stdout)["reading"][0]["pooled"][0]["column"] == "criterion"


class TestRepeats:
    def test_votes_on_other_questions_are_no_duplicates(self) -> None:
        votes = read(judged("question_id", tuple(range(40))))
        found = jr.check(votes)
        assert (found.repeats, found.repeats_by, found.duplicates) == (12 * 39, ("question_id",), 0)
        shown = run("check", "-", stdin=judged("question_id", tuple(range(40)))).stdout
        assert "same judge, pair and outcome, but another question_id" in shown
        assert json.loads(json.dumps(found.to_dict()))["repeats"] == 468

    def test_real_duplicates_stay(self) -> None:
        text = judged("question_id", (1, 2))
        found = jr.check(read(text + text.split("\n", 1)[1]))
        assert (found.repeats, found.duplicates) == (12, 24)

    def test_sides_do_not_matter(self) -> None:
        rows: list[tuple[object, ...]] = [("u", 1, "a", "b", "left"), ("u", 2, "b", "a", "right")]
        found = jr.check(read(table("judge,prompt,left,right,winner", rows)))
        assert (found.repeats, found.duplicates) == (1, 0)

    @pytest.mark.parametrize("sides", [("home", "away"), ("Home Team", "Away Team"), ("a", "b")])
    def test_games_at_home_and_away_are_two(self, sides: tuple[str, str]) -> None:
        rows: list[tuple[object, ...]] = [("x", "y", "2-1"), ("y", "x", "0-3"), ("x", "y", "1-0")]
        found = jr.check(read(table(",".join((*sides, "result")), rows)))
        assert (found.repeats, found.repeats_by, found.duplicates) == (1, (sides[0],), 1)

    def test_games_on_two_days_are_two(self) -> None:
        rows: list[tuple[object, ...]] = [(day, "x", "y", "H") for day in ("3/8/25", "1/2/26")]
        found = jr.check(read(table("Date,Home,Away,result", rows)))
        assert (found.repeats, found.repeats_by, found.duplicates) == (1, ("Date",), 0)

    def test_it_may_take_two_columns(self) -> None:
        rows = [("u", q, t, "a", "b") for q in (1, 2) for t in (1, 2)]
        found = jr.check(read(table("judge,question,turn,winner,loser", rows)))
        assert (found.repeats, found.repeats_by) == (3, ("question", "turn"))

    def test_a_column_that_does_not_tell_is_not_named(self) -> None:
        rows = [("u", "x", "a", "b"), ("u", "x", "a", "b"), ("u", "y", "b", "a")]
        found = jr.check(read(table("judge,category,winner,loser", rows)))
        assert (found.repeats, found.repeats_by, found.duplicates) == (0, (), 1)

    def test_contexts_of_ratings(self) -> None:
        rows = [("u", prompt, item, 5 - at) for prompt in (1, 2) for at, item in enumerate("abc")]
        found = jr.check(read(table("judge,prompt_id,item,rating", rows)))
        assert (found.repeats, found.duplicates) == (3, 0)

    def test_where_rows_are_too_many_to_compare_it_is_left_open(self) -> None:
        text = judged("question_id", (1, 2))
        options = signature(jr.read_votes).parameters.items()
        request = request_of({name: option.default for name, option in options})
        parts = parts_of(io.BytesIO(text.encode()))
        found = jr.check(reader._votes(parts, request, most_told_apart=1))
        assert (found.repeats, found.repeats_by, found.duplicates) == (0, ("question_id",), 12)
        console = Console(width=400, file=io.StringIO(), record=True)
        console.print(*check_view(found))
        shown = console.export_text()
        assert "same judge, pair and outcome; question_id may set them apart" in shown

    def test_of_some_judges_or_joined(self) -> None:
        votes = read(judged("question_id", (1, 2)))
        assert votes.without("ann").repeats is None
        joined = jr.join_votes(votes, read(judged("turn", (1, 2))))
        assert jr.check(joined).repeats == 24
        assert jr.check(joined).repeats_by == ("question_id", "turn")

    def test_names_of_contexts(self) -> None:
        names = ["Question ID", "prompt", "promptid", "model", "score", "tasks", "time", "no"]
        assert contexts_in(names) == ["Question ID", "prompt", "promptid", "tasks"]


class TestOneJudge:
    ROWS: tuple[tuple[object, ...], ...] = tuple(
        (one, other, f"r{at % 3}", at % 2, at, "2024-01-01") for at, (one, other) in
        enumerate(PAIRS * 4)
    )  # fmt: skip

    def text(self, header: str) -> str:
        return table(f"winner,loser,{header}", self.ROWS)

    def test_columns_that_may_be_the_judge_are_named(self) -> None:
        votes = read(self.text("rater_nr_of_study,arm,row_no,start_date"))
        assert votes.remarks == (
            "There is no judge column: all votes count as one judge's. Columns that may be the "
            "judge: rater_nr_of_study (3 values), arm (2 values); name it with --judge "
            "rater_nr_of_study.",
        )
        assert votes.reading[0].to_dict()["maybe_judges"] == {"rater_nr_of_study": 3, "arm": 2}
        assert votes.remarks[0] in jr.check(votes).notices

    def test_of_a_column_with_one_judge(self) -> None:
        rows = [("me", *row) for row in self.ROWS]
        votes = read(table("judge,winner,loser,rated_person,arm,row_no,start_date", rows))
        assert votes.remarks[0].startswith(
            "There is only one judge, me: nothing can tell how accurate it is. Columns that may be "
            "the judge: rated_person (3 values)"
        )

    def test_nothing_is_made_up(self) -> None:
        votes = read("winner,loser,comment\na,b,x\nb,a,y\n")
        assert votes.remarks == ("There is no judge column: all votes count as one judge's.",)
        many = [(f"u{at}", *row) for at, row in enumerate(self.ROWS)]
        votes = read(table("judge,winner,loser,rater_2,arm,row_no,start_date", many))
        assert votes.remarks == ()
        assert votes.reading[0].maybe_judges == ()

    def test_it_is_said_before_the_table(self) -> None:
        lines = run(
            "rank", "-", stdin=self.text("rater_of_study,arm,row_no,date")
        ).output.splitlines()
        said = next(at for at, line in enumerate(lines) if "no judge column" in line)
        assert said < next(at for at, line in enumerate(lines) if line.startswith("rank  item"))
        assert sum("no judge column" in line for line in lines) == 1


class TestTimes:
    def text(self, name: str, times: tuple[object, ...] = (10, 20, 60, 5)) -> str:
        judges = ("ann", "ann", "ann", "bob")
        rows = [(u, "a", "b", t) for u, t in zip(judges, times, strict=True)]
        return table(f"judge,winner,loser,{name}", rows)

    @pytest.mark.parametrize(
        ("name", "factor", "unit"),
        [
            ("seconds", 1.0, "s"),
            ("time_ms", 1e-3, "s"),
            ("duration_min", 60.0, "s"),
            ("Duration (in seconds)", 1.0, "s"),
            ("WorkTimeInSeconds", 1.0, "s"),
            ("duration", 1.0, ""),
            ("response_time", 1.0, ""),
            ("responseTime", 1.0, ""),
            ("time_taken", 1.0, ""),
            ("rt", 1.0, ""),
            ("lead_time", 1.0, ""),
        ],
    )
    def test_the_median_of_each_judge(self, name: str, factor: float, unit: str) -> None:
        votes = read(self.text(name))
        assert votes.times is not None
        np.testing.assert_allclose(votes.times.median, [20 * factor, 5 * factor])
        assert votes.times.unit == unit
        assert f"time = {name}" in str(votes.reading[0])
        assert votes.reading[0].ignored == ()

    @pytest.mark.parametrize("name", ["time", "timestamp", "date", "times", "created_at"])
    def test_other_columns_are_no_times(self, name: str) -> None:
        assert read(self.text(name)).times is None

    def test_dates_are_no_times(self) -> None:
        assert read(self.text("voting_time", (1.7e9, 1.7e9, 1.7e9, 1.7e9))).times is None
        assert read(self.text("voting_time", ("2024-01-05",) * 4)).times is None

    def test_gaps_and_words_are_passed_over(self) -> None:
        votes = read(self.text("seconds", (10, "", "long", "none")))
        assert votes.times is not None
        np.testing.assert_array_equal(votes.times.median, [10.0, np.nan])

    def test_durations_of_a_frame(self) -> None:
        frame = pl.DataFrame(
            {
                "judge": [1, 1, 2],
                "winner": ["a", "b", "a"],
                "loser": ["b", "a", "b"],
                "elapsed": [timedelta(seconds=2), timedelta(seconds=4), timedelta(minutes=1)],
            }
        )
        votes = jr.votes_from(frame)
        assert votes.times is not None
        np.testing.assert_allclose(votes.times.median, [3.0, 60.0])

    def test_without_judges_merged_or_a_row_per_item(self) -> None:
        alone = read(self.text("seconds").replace("judge", "x"))
        assert alone.times is not None
        np.testing.assert_allclose(alone.times.median, [15.0])
        assert read(self.text("seconds").replace("judge", "x"), judge_per_row=True).times is None
        merged = read(self.text("seconds").replace("bob", "ANN"), merge_names=True)
        assert merged.times is not None
        np.testing.assert_allclose(merged.times.median, [15.0])
        rows = [("u", r, i, p, t) for r, t in ((1, 4), (2, 8)) for p, i in enumerate("abc", 1)]
        long = read(table("judge,ranking_id,item,rank,seconds", rows))
        assert long.times is not None
        np.testing.assert_allclose(long.times.median, [6.0])

    def test_of_some_judges_or_joined(self) -> None:
        votes = read(self.text("seconds"))
        rest = votes.without("ann").times
        assert rest is not None
        assert rest.median.tolist() == [5.0]
        joined = jr.join_votes(votes, read(self.text("time_ms"))).times
        assert joined is not None
        np.testing.assert_allclose(joined.median, [10.01, 2.5025])
        assert jr.join_votes(votes, read(self.text("duration"))).times is None
        half = jr.join_votes(votes, read("judge,winner,loser\ncem,a,b\n")).times
        assert half is not None
        np.testing.assert_array_equal(half.median, [20.0, 5.0, np.nan])

    def test_nothing_is_kept_where_there_is_no_such_column(self) -> None:
        assert jr.datasets.llm_judges().votes.times is None


@pytest.fixture(scope="module")
def timed() -> bytes:
    """The example votes with a time for each: the later a judge in the alphabet, the longer."""
    votes = pl.read_csv(EXAMPLE_VOTES)
    rank = votes["judge"].rank("dense").cast(pl.Float64)
    return votes.with_columns(duration_s=rank).write_csv().encode()


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
class TestDetailsOfJudges:
    def test_the_table_of_judges_has_times(self, timed: bytes) -> None:
        report = jr.judges(jr.read_votes(io.BytesIO(timed)))
        by_name = dict(report.table.select("judge", "median_time").iter_rows())
        assert (by_name["ana"], by_name["ben"], by_name["mirror"]) == (1.0, 2.0, 9.0)
        plain = jr.judges(jr.datasets.llm_judges().votes)
        assert plain.table["median_time"].is_null().all()
        columns = ("infit", "outfit", "left_share", "accuracy")
        assert plain.table.select(columns).equals(report.table.select(columns))

    def test_the_report_has_them_behind_the_first_page(self, timed: bytes) -> None:
        ranking = jr.rank(jr.read_votes(io.BytesIO(timed)))
        page = ranking.report()
        details = page[page.index("<details>") : page.index("</details>")]
        halves = ranking.reliability.split_halves().correlation
        for word in (
            "Separation reliability",
            "Split halves",
            f"{halves:.2f}: the correlation",
            "infit",
            "outfit",
            "left votes",
            "median time",
            "9 s",
        ):
            assert word in details
        assert page.index('id="judges"') < page.index("<details>")
        found, ours = jr.judges(jr.datasets.llm_judges().votes).table, ranking.judge_details
        both = found.join(ours, on="judge", suffix="_ours")
        for name in ("infit", "outfit", "left_share"):
            np.testing.assert_allclose(both[name], both[f"{name}_ours"], rtol=1e-6)

    def test_the_report_without_sides_times_and_errors(self) -> None:
        votes = read(judged("note", (1, 2)))
        page = jr.rank(votes, intervals=None).report()
        details = page[page.index("<details>") : page.index("</details>")]
        assert "median time" not in details
        assert "left votes" not in details

    def test_the_command_line_shows_times(self, timed: bytes) -> None:
        shown = run("judges", "-", stdin=timed.decode()).stdout
        assert "time/s" in shown
        assert "Time: the median time of a vote." in shown
        assert "time/s" not in run("judges", "--example").stdout


def test_larger_groups_that_are_tied_are_told_at_once() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(300):
        size = 3 + number % 6
        order = [str(item) for item in rng.permutation(list("abcdefghij"))]
        rows.append((f"u{number % 5}", f"{'='.join(order[:size])}>{'>'.join(order[size:])}"))
    votes = read(table("judge,ranking", rows))
    ranking = jr.rank(votes, "btl", ties="davidson", intervals=None)
    said = [sentence for sentence in effects_in_words(ranking) if "Larger groups" in sentence]
    assert len(said) == 1
    assert said[0].endswith("and 3 more).")
