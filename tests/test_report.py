"""The report: what it says is true, whatever the model and the data, and it fits into one file."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import altair
import polars as pl
import pytest

import juryrank as jr
from juryrank.bundled import EXAMPLE_VOTES
from juryrank.report.tables import items_table, pairs_table
from juryrank.saving import REPORT_NEEDS, check_report_can_be_made
from juryrank.words import effects_in_words, example, lead, limits

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
EXAMPLE = str(EXAMPLE_VOTES)


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
        "What these votes cannot say",
        "Beyond doubt, which of Cedar and Dahlia is better.",
        "Judges that need attention",
        "mirror (backwards) votes against the order",
        "Pairs that disagree most with the model",
        "Heterogeneous Bradley-Terry-Luce",
        f"juryrank {jr.__version__}",
        "juryrank rank votes.csv --report x.html",
    ):
        assert part in text, part
    assert set(specs(ranking.report())) == {
        "items", "judges", "agreement", "calibration", "matrix", "convergence",
    }  # fmt: skip


def test_judges_of_whom_the_same_is_said_are_named_together() -> None:
    made = jr.simulate(20, 40, adversaries=14, votes_per_judge=150, seed=3)
    ranking = jr.rank(made.votes)
    backwards = ranking.judges.filter(pl.col("verdict") == "backwards")
    assert len(backwards) > 10
    said = f"and {len(backwards) - 10} more (backwards): votes against the order"
    assert Text(ranking.report()).text.count(said) == 1


def test_the_same_ranking_gives_the_same_page(ranking: jr.Ranking) -> None:
    again = jr.rank(jr.read_votes(EXAMPLE), threads=1)
    assert again.report() == ranking.report()


def test_it_does_not_depend_on_what_other_charts_look_like(ranking: jr.Ranking) -> None:
    page = ranking.report()
    for theme in ("none", "dark"):
        with altair.theme.enable(theme):
            assert ranking.report() == page
    with altair.data_transformers.enable("vegafusion"):
        assert ranking.report() == page


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
    page = jr.rank(frame).report()
    assert "<!doctype html>" in page
    assert specs(page)


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
    column = items_table(made).headings.index("chance to be best")
    texts = [row[column].text for row in items_table(made).rows]
    assert "0%" not in texts
    assert "100%" not in texts
    assert texts[-1] == "<1%"
    nearly = nearly.with_columns(surprise=-0.01, expected=0.999)
    made.__dict__["pairs"] = nearly
    assert pairs_table(made).rows[0][-2].text == ">99%"
    assert pairs_table(made).rows[0][-1].text == "+0.0"


def test_no_sentence_makes_a_certainty_of_a_chance() -> None:
    sure = {"judge": ["u", "v", "w"] * 300, "left": ["a", "b", "a"] * 300}
    votes = pl.DataFrame(sure | {"right": ["b", "c", "c"] * 300})
    decided = jr.rank(votes.with_columns(winner=pl.lit("left")), prior=(5.0, 1.0))
    assert example(decided) == "A judge like these prefers a to b in >99% of votes."
    tied = jr.rank(votes.with_columns(winner=pl.lit("tie")), prior=(5.0, 1.0))
    assert next(effects_in_words(tied)).startswith("Two equal items are tied in >99% of votes")


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
    assert said == "With 50% confidence, which of B and C is better."


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


def test_what_cannot_be_said_counts_what_it_does_not_name() -> None:
    rows = [(f"{tier}{name}", tier, 1, 9) for tier in range(1, 6) for name in "ab"]
    told = list(limits(Told(items(*rows))))  # type: ignore[arg-type]
    assert told[0] == "Beyond doubt, which of 1a and 1b is better."
    assert told[3] == "Beyond doubt, the order within 2 further tiers."
    assert told[-1].startswith("Whether these judges are right.")
    told = list(limits(Told(items(*rows[:8]))))  # type: ignore[arg-type]
    assert told[3] == "Beyond doubt, which of 4a and 4b is better."


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
    assert shlex.join(["juryrank", "rank", EXAMPLE, "--report", str(path), "--json"]) in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "report.pdf"], "end it in .html"),
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
