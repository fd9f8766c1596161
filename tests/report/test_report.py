"""The report: what it says is true, whatever the model and the data, and it fits into one file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import altair
import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.charts.judges import LOOK_OF_VERDICT
from juryrank.charts.pairs import LEAST_VOTES_OF_DOT
from juryrank.data import EXAMPLE_VOTES
from juryrank.errors import counted
from juryrank.judging.verdict_words import NEEDS_ATTENTION
from juryrank.report.decision import ADVICE, next_steps
from juryrank.report.page import ON_DARK
from juryrank.report.sentences import effects_in_words, example, lead, limits
from juryrank.report.tables import Table, items_tables, judges_table, pairs_table
from juryrank.writing.needed_packages import REPORT_NEEDS, check_report_can_be_made

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
EXAMPLE = str(EXAMPLE_VOTES)
DAY = date(2025, 1, 31)


class Text(HTMLParser):
    """The text of a page without its scripts and styles, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self._silent = "", False
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._silent = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._silent else data


def column(table: Table, heading: str) -> list[str]:
    """The texts below a heading."""
    index = [column.heading for column in table.columns].index(heading)
    return [row[index].text for row in table.rows]


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    return jr.rank(jr.read_votes(EXAMPLE))


def specs(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="specs">(.*?)</script>', page, re.S)
    assert found
    return dict(json.loads(found[1]))


def test_it_is_one_small_file_that_asks_for_no_other() -> None:
    made = jr.simulate(100, 60, votes_per_judge=100, seed=1)
    page = jr.rank(made.votes).report()
    assert len(page.encode()) < 3_000_000
    outside = [attrs for _, attrs in Text(page).tags if {"src", "srcset"} & attrs.keys()]
    assert outside == []
    links = [attrs["href"] for tag, attrs in Text(page).tags if tag in ("a", "link")]
    assert all(link is not None and link.startswith("#") for link in links)


def test_it_answers_first_and_says_how_it_was_done(ranking: jr.Ranking) -> None:
    text = Text(ranking.report("juryrank rank votes.csv --report x.html")).text
    for part in (
        " ".join(lead(ranking)),
        "What is not settled",
        "Which of Birch and Cedar is better.",
        "Judges that need attention",
        "Backwards (1). Look for swapped labels or a misread question.",
        "mirror: votes against the order",
        "What to do next",
        "To name the best item, Aster, no more votes are needed.",
        "Pairs that disagree most with the model",
        "Heterogeneous Bradley-Terry-Luce",
        f"juryrank {jr.__version__}",
        "juryrank rank votes.csv --report x.html",
    ):
        assert part in text, part
    assert set(specs(ranking.report())) == {
        "items", "judges", "agreement", "calibration", "matrix",
    }  # fmt: skip


def test_judges_of_whom_the_same_is_said_are_named_together() -> None:
    made = jr.simulate(20, 48, adversaries=12, votes_per_judge=150, seed=3)
    ranking = jr.rank(made.votes)
    backwards = ranking.judges.filter(pl.col("verdict") == "backwards")
    assert len(backwards) > 10
    said = f"and {len(backwards) - 10} more: votes against the order"
    assert Text(ranking.report()).text.count(said) == 1


def test_the_same_ranking_gives_the_same_page(ranking: jr.Ranking) -> None:
    again = jr.rank(jr.read_votes(EXAMPLE), threads=1)
    assert again.report(date=DAY) == ranking.report(date=DAY)


def test_it_does_not_depend_on_what_other_charts_look_like(ranking: jr.Ranking) -> None:
    page = ranking.report(date=DAY)
    for theme in ("none", "dark"):
        with altair.theme.enable(theme):
            assert ranking.report(date=DAY) == page
    with altair.data_transformers.enable("vegafusion"):
        assert ranking.report(date=DAY) == page


def test_labels_are_text_everywhere() -> None:
    evil = "<script>alert(1)</script>"
    frame = pl.DataFrame(
        {"judge": ["u", evil] * 6, "winner": [evil, "b", "c"] * 4, "loser": ["b", "c", evil] * 4}
    )
    page = jr.rank(frame).report()
    assert evil not in page
    assert Text(page).text.count(evil) >= 3
    assert evil in json.dumps(specs(page))


@pytest.mark.parametrize("model", ["htcv", "btl", "crowdbt", "rank-centrality", "win-rate"])
def test_every_model_has_a_report(model: str) -> None:
    page = jr.rank(jr.read_votes(EXAMPLE), model).report()
    text = Text(page).text
    assert "Aster" in text
    assert "None" not in text
    assert "nan" not in text.split()


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"winner": ["a", "a", "b"], "loser": ["b", "b", "a"]}),
        pl.DataFrame({"judge": ["x", "y"], "ranking": ["a > b > c", "b > a > c"]}),
        pl.DataFrame({"judge": [1, 2, 3], "winner": [10, 20, 10], "loser": [20, 30, 30]}),
        pl.DataFrame({"judge": ["x", "y"], "left": ["a", "a"], "right": ["b", "b"],
                      "winner": ["tie", "tie"]}),
    ],
    ids=["no judges", "rankings", "numbers", "ties only"],
)  # fmt: skip
def test_little_data_has_a_report(frame: pl.DataFrame) -> None:
    ranking = jr.rank(frame)
    page = ranking.report()
    assert page.lstrip().startswith("<!doctype html>")
    text = Text(page).text
    counts = counted(len(ranking.items), "item"), counted(len(ranking.judges), "judge")
    assert f"Ranking of {counts[0]} by {counts[1]}" in text
    assert f"· {counted(len(frame), 'vote')}" in text
    assert "No item is surely better than any other." in text
    (items,) = items_tables(ranking)
    assert column(items, "item") == [str(item) for item in ranking.items["item"]]
    assert all(warning in text for warning in ranking.warnings)
    assert not {"None", "nan", "inf"} & set(text.split())
    assert set(specs(page)) >= {"items", "calibration", "matrix"}
    assert ("judges" in specs(page)) == (len(ranking.judges) > 1)


def test_captions_and_method_are_true_of_what_is_shown() -> None:
    text = Text(jr.rank(jr.read_votes(EXAMPLE), "win-rate").report()).text
    assert "gumbel" not in text
    assert "Pale dots are single pairs" in text
    sparse = jr.rank(jr.simulate(400, 20, votes_per_judge=30, seed=1).votes)
    assert "Pale dots" not in Text(sparse.report()).text


def test_no_number_in_a_table_says_more_than_is_known() -> None:
    made = jr.rank(jr.simulate(12, 8, votes_per_judge=60, seed=2).votes)
    chances, nearly = made.items["p_best"].to_list(), made.pairs.head(1)
    assert min(chances) < 0.005
    texts = column(items_tables(made)[0], "chance to be best")
    assert "0%" not in texts
    assert "100%" not in texts
    assert texts[-1] == "<1%"
    made.__dict__["pairs"] = nearly.with_columns(residual=-0.01, expected=0.999, votes=9.0)
    table = pairs_table(made)
    assert table is not None
    assert column(table, "predicted") == [">99%"]
    assert column(table, "standard errors off") == ["+0.0"]


def test_no_sentence_makes_a_certainty_of_a_chance() -> None:
    sure = {"judge": ["u", "v", "w"] * 300, "left": ["a", "b", "a"] * 300}
    votes = pl.DataFrame(sure | {"right": ["b", "c", "c"] * 300})
    decided = jr.rank(votes.with_columns(winner=pl.lit("left")), prior=(5.0, 1.0))
    assert example(decided) == "A judge like these prefers a to b in >99% of votes."
    tied = jr.rank(votes.with_columns(winner=pl.lit("tie")), prior=(5.0, 1.0))
    assert next(effects_in_words(tied)).startswith("Two equal items are tied in >99% of votes")


def test_ties_of_ratings_are_those_of_items_that_one_judge_likes_equally() -> None:
    """Pairs made of ratings contradict each other never, so that tastes outweigh the noise."""
    rng = np.random.default_rng(1)
    marks = 9 - np.arange(12) / 4 + rng.normal(0, 0.8, (8, 12))
    rows = [
        {"judge": f"judge {u}", "item": f"team {i:02}", "rating": round(2 * mark) / 2}
        for u, of_judge in enumerate(marks)
        for i, mark in enumerate(of_judge)
    ]
    with pytest.warns(jr.JuryrankWarning, match="hardly ever contradict themselves") as caught:
        ranking = jr.rank(rows)
    taste = f"±{ranking.fit.taste_sd:.2g} by which judges differ"
    assert taste in str(caught[0].message)
    assert next(effects_in_words(ranking)).startswith("Two items that one judge likes equally are")


def test_no_name_makes_a_sentence_long() -> None:
    votes = pl.read_csv(EXAMPLE).with_columns(pl.col("judge") + "!" * 500)
    told = jr.rank(votes, ties="davidson-by-judge", order="by-judge")
    assert all(len(said) < 250 for said in effects_in_words(told))


def test_the_call_is_told_as_it_was_made() -> None:
    votes = jr.read_votes(EXAMPLE)
    assert jr.rank(votes).call == "jr.rank(votes)"
    made = jr.rank(votes, "btl", ties="half", confidence=0.9, threads=1)
    assert made.call == "jr.rank(votes, model='btl', ties='half', confidence=0.9)"


def items(*rows: tuple[str, int, int, int]) -> pl.DataFrame:
    """Items with tier and plausible ranks; of those that may be the best, the first with 80 %."""
    names = ["item", "tier", "rank_low", "rank_high"]
    made = pl.DataFrame(rows, schema=names, orient="row").with_row_index("rank", offset=1)
    others = max(int((made["rank_low"] == 1).sum()) - 1, 1)
    best = pl.when(pl.col("rank") == 1).then(0.8).when(pl.col("rank_low") == 1).then(0.2 / others)
    return made.with_columns(p_best=best.otherwise(0.0))


class Told:
    """As much of a ranking as words need."""

    def __init__(self, items: pl.DataFrame, confidence: float = 0.95) -> None:
        self.items = items
        self.groups: list[pl.DataFrame] = []
        self.fit = SimpleNamespace(confidence=confidence)
        self.judges = pl.DataFrame({"verdict": ["ordinary"]})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [("A", 1, 1, 2), ("B", 1, 1, 2), ("C", 2, 3, 3)],
            "A and B lead; A is the best of them with a chance of 80%. C is clearly third.",
        ),
        (
            [("A", 1, 1, 1), ("B", 2, 2, 3), ("C", 2, 2, 3), ("D", 3, 4, 4)],
            "A is clearly first. B and C come next, in an order that is not sure; 1 item is below.",
        ),
        (
            [("A", 1, 1, 2), ("B", 1, 2, 3), ("C", 2, 3, 3)],
            "A leads. B comes next; 1 item is below.",
        ),
        (
            [("A", 1, 1, 1), ("B", 2, 2, 2), ("C", 3, 3, 3)],
            "A is clearly first. B is clearly second; 1 item is below.",
        ),
        (
            [("A", 1, 1, 2), ("B", 2, 1, 3), ("C", 2, 2, 3)],
            "A and B lead; A is the best of them with a chance of 80%. C comes next.",
        ),
        (
            [("A", 1, 1, 2), ("B", 1, 1, 2)],
            "No item is surely better than any other. A has the highest score and is the best "
            "with a chance of 80%.",
        ),
        (
            [(name, 1, 1, 6) for name in "ABCDEF"] + [("G", 2, 7, 7)],
            "A has the highest score and a plausible rank of 1 to 6; 5 others (B, C, D, E and 1 "
            "more) may be as good. G is clearly seventh.",
        ),
        (
            [(name, 1, 1, 4) for name in "ABCD"] + [("E", 2, 5, 5), ("F", 3, 6, 6)],
            "A, B, C and D lead; A is the best of them with a chance of 80%. E is clearly fifth; 1 "
            "item is below.",
        ),
    ],
)
def test_the_answer_in_words(rows: list[tuple[str, int, int, int]], said: str) -> None:
    assert " ".join(lead(Told(items(*rows)))) == said  # type: ignore[arg-type]


def test_nothing_is_clear_with_little_confidence() -> None:
    rows = [("A", 1, 1, 1), ("B", 2, 2, 3), ("C", 2, 2, 3), ("D", 3, 4, 4)]
    told = Told(items(*rows), confidence=0.5)
    assert lead(told)[0] == "A is probably first."  # type: ignore[arg-type]
    said = next(limits(told))  # type: ignore[arg-type]
    assert said == "Which of B and C is better, even at 50% confidence."


def test_equal_scores_have_no_leader() -> None:
    def tied(*pairs: tuple[str, str]) -> pl.DataFrame:
        left, right = zip(*pairs, strict=True)
        return pl.DataFrame({"left": left * 4, "right": right * 4}).with_columns(
            winner=pl.lit("tie")
        )

    all_tied = tied(("a", "b"), ("b", "c"), ("c", "a"))
    for intervals in ("information", None):
        said = " ".join(lead(jr.rank(all_tied, intervals=intervals)))
        assert "All have the same score" in said
    lost = pl.DataFrame({"left": ["a", "b"] * 2, "right": ["c"] * 4, "winner": ["left"] * 4})
    assert "a and b share the highest score" in " ".join(lead(jr.rank(pl.concat([
        tied(("a", "b")), lost]), intervals=None)))  # fmt: skip


def test_an_item_that_is_almost_surely_the_best_is_not_called_open() -> None:
    rows = [("A", 1, 1, 2), ("B", 1, 1, 2), ("C", 2, 3, 3)]
    likely = items(*rows).with_columns(p_best=pl.Series([0.994, 0.006, 0.0]))
    told = list(limits(Told(likely)))  # type: ignore[arg-type]
    assert told[0] == (
        "Whether A is the best: that is likely (>99%), but not sure where all pairs are compared "
        "at once."
    )
    assert not any(said.startswith("Which of A") for said in told)


def test_what_cannot_be_said_counts_what_it_does_not_name() -> None:
    rows = [(f"{tier}{name}", tier, 1, 9) for tier in range(1, 6) for name in "ab"]
    told = list(limits(Told(items(*rows))))  # type: ignore[arg-type]
    assert told[0] == "Which of 1a and 1b is better."
    assert told[1] == "The order within 4 further tiers."
    assert told[-1].startswith("Whether these judges are right.")
    told = list(limits(Told(items(*rows[:4]))))  # type: ignore[arg-type]
    assert told[1] == "Which of 2a and 2b is better."


def test_it_has_a_title_a_date_and_a_source(
    ranking: jr.Ranking, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Text(ranking.report(title="Which <b>", source="votes.csv", date=DAY)).text
    assert "2025-01-31 · Ranking of 8 items by 9 judges · votes.csv · 720 votes" in text
    assert text.count("Which <b>") == 2
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "1970-01-02 · 720 votes" in Text(ranking.report()).text
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(jr.InputError, match="SOURCE_DATE_EPOCH='yesterday' is not a time"):
        ranking.report()


def test_items_have_comparisons_and_win_rates() -> None:
    rows = [("u", "a", "b", "left"), ("v", "a", "b", "tie"), ("w", "c", "a", "right"),
            ("u", "b", "c", "left"), ("v", "b", "c", "right")]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["judge", "left", "right", "winner"], orient="row")
    (table,) = items_tables(jr.rank(frame))
    record = zip(
        *(column(table, name) for name in ("item", "comparisons", "win rate")), strict=True
    )
    assert set(record) == {("a", "3", "83%"), ("b", "4", "38%"), ("c", "3", "33%")}


def test_intervals_are_drawn_to_scale(ranking: jr.Ranking) -> None:
    for table in (items_tables(ranking)[0], judges_table(ranking)):
        index = [column.heading for column in table.columns].index("95% interval")
        bars = [row[index].bar for row in table.rows]
        known = [bar for bar in bars if bar is not None]
        assert len(known) == len(table.rows)
        assert min(bar.low for bar in known) == 0.0
        assert max(bar.low + bar.width for bar in known) == pytest.approx(100.0, abs=0.1)
        assert all(bar.low <= bar.dot <= bar.low + bar.width for bar in known)
        assert all(bar.landmark == known[0].landmark for bar in known)


def test_pairs_in_the_table_have_as_many_votes_as_is_said_above_it() -> None:
    made = jr.rank(jr.simulate(30, 20, votes_per_judge=60, seed=7).votes)
    assert made.pairs["votes"].head(20).min() < LEAST_VOTES_OF_DOT  # type: ignore[operator]
    table = pairs_table(made)
    assert table is not None
    assert min(float(votes) for votes in column(table, "votes")) >= LEAST_VOTES_OF_DOT
    sparse = jr.rank(jr.simulate(400, 20, votes_per_judge=30, seed=1).votes)
    assert pairs_table(sparse) is None
    assert "No pair has the 5 votes" in Text(sparse.report()).text


def test_what_is_said_of_judges_is_said_once() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"judge {k % 12}", *rng.choice(9, 2, replace=False)) for k in range(1_200)]
    frame = pl.DataFrame(rows, schema=["judge", "left", "right"], orient="row").with_columns(
        pl.when(pl.col("judge") == "judge 3")
        .then(pl.lit("left"))
        .when(pl.col("left") < pl.col("right"))
        .then(pl.lit("left"))
        .otherwise(pl.lit("right"))
        .alias("winner")
    )
    ranking = jr.rank(frame)
    assert any("position-biased" in warning for warning in ranking.warnings)
    text = Text(ranking.report()).text
    answer = text[: text.index("All items")]
    assert answer.lower().count("position-biased") == 1
    assert ADVICE["position-biased"] in answer


def test_next_steps_name_what_is_missing() -> None:
    rare = pl.DataFrame({"judge": ["u", "v"], "winner": ["a", "b"], "loser": ["z", "z"]})
    often = pl.DataFrame({"judge": list("uvwxy") * 24, "winner": ["a", "b", "c"] * 40,
                          "loser": ["b", "c", "d"] * 40})  # fmt: skip
    steps = " ".join(next_steps(jr.rank(pl.concat([often, rare]))))
    assert "Show z more often: compared at most 2 times, where 41 is usual." in steps
    one_vote = pl.DataFrame({"judge": range(30), "winner": ["a", "b", "c"] * 10,
                             "loser": ["b", "c", "a"] * 10})  # fmt: skip
    steps = " ".join(next_steps(jr.rank(one_vote)))
    assert "To tell which of the items is the best, collect votes on them" in steps
    split = jr.simulate(8, accuracies=[1.5, 1.5, 1.5, -1.5, -1.5, -1.5], votes_per_judge=60, seed=1)
    assert "the ranking may be upside down" in " ".join(next_steps(jr.rank(split.votes)))
    few = jr.rank(jr.simulate(8, 40, votes_per_judge=6, seed=1).votes)
    assert "Ask each judge for more votes: too little is known of 40 of 40" in next_steps(few)[-1]


def test_where_the_best_item_is_settled_no_votes_are_asked_for() -> None:
    rows = [(judge, "a", other) for judge in "uvwxyz" for other in "bcbcbcbc"]
    rows += [(judge, *pair) for judge in "uvwxyz" for pair in ("bc", "cb")]
    frame = pl.DataFrame(rows, schema=["judge", "winner", "loser"], orient="row")
    assert "To name the best item, a, no more votes are needed." in next_steps(jr.rank(frame))


def test_every_verdict_that_needs_attention_has_advice_and_every_colour_a_dark_twin() -> None:
    assert set(ADVICE) == set(NEEDS_ATTENTION)
    for colour in {colour for colour, _ in LOOK_OF_VERDICT.values()}:
        assert contrast(ON_DARK.get(colour, colour), "#14171d") > 5.0


def contrast(colour: str, ground: str) -> float:
    """How well two colours can be told apart, by the formula of the WCAG."""

    def luminance(colour: str) -> float:
        parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(colour), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def test_a_missing_package_is_named_before_the_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REPORT_NEEDS, "no_such_module", "no-such-package")
    with pytest.raises(jr.InputError, match=r"no-such-package.*pip install no-such-package"):
        check_report_can_be_made()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "juryrank"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


def test_the_command_line_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "the report.html"
    done = run("rank", EXAMPLE, "--report", str(path), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "hbtl"
    assert f"Saved the report to {path}." in done.stderr.replace("\n", " ").replace("  ", " ")
    text = Text(path.read_text(encoding="utf-8")).text
    assert "juryrank rank llm_judges.csv --report 'the report.html' --json" in text


def test_folders_of_this_machine_are_not_in_the_report(tmp_path: Path) -> None:
    votes, page = tmp_path / "my votes.csv", tmp_path / "page.html"
    votes.write_bytes(Path(EXAMPLE).read_bytes())
    out = f"--judges-out={tmp_path / 'judges.csv'}"
    done = run(
        "rank", str(votes), f"--report={page}", out, "--title", "Flowers", "--intervals", "none"
    )
    assert done.returncode == 0, done.stderr
    html = page.read_text(encoding="utf-8")
    assert str(tmp_path) not in html
    text = Text(html).text
    assert "Ranking of 8 items by 9 judges · my votes.csv · 720 votes" in text
    assert "juryrank rank 'my votes.csv' --report=page.html --judges-out=judges.csv --title" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--title", "Flowers"], "say with --report FILE"),
        (["--report", "report.pdf"], "the name must end in .html"),
        (["--report", "no-such-folder/report.html"], "there is no folder"),
        (["--report", "same.html", "--out", "same.html"], "cannot both be saved"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_at_once(
    arguments: list[str], message: str
) -> None:
    done = run("rank", EXAMPLE, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
