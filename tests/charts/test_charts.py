"""Pictures: what is drawn is what the ranking says, whatever its size, without a browser."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import juryrank as jr
from juryrank.charts.judges import LOOK_OF_VERDICT
from juryrank.charts.layout import MOST_MARKS
from juryrank.judging.verdict_words import VERDICTS
from juryrank.report.sentences import lead
from juryrank.text import literal

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

EVERY = ("items", "judges", "pairs", "matrix", "agreement", "convergence")


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    return jr.rank(jr.datasets.llm_judges().votes)


@pytest.fixture(scope="module")
def large() -> jr.Ranking:
    return jr.rank(jr.simulate(1_700, 70, adversaries=4, votes_per_judge=150, seed=1).votes)


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """All rows of data in a chart, those of layers too."""
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    own: list[dict[str, Any]] = spec.get("data", {}).get("values", [])
    return own + [row for layer in spec.get("layer", []) for row in rows_of(layer)]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!DOCTYPE html>")]
)
def test_every_picture_can_be_saved(
    ranking: jr.Ranking, tmp_path: Path, name: str, ending: str, begins: bytes
) -> None:
    path = tmp_path / f"{name}.{ending}"
    more = {"inline": True} if ending == "html" else {}
    getattr(ranking.plot, name)().save(str(path), **more)
    assert path.read_bytes().lstrip().startswith(begins)


@pytest.mark.parametrize("name", EVERY)
def test_pictures_are_whole_or_not_there(
    ranking: jr.Ranking, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{name}.svg"
    path.write_text("what stood there before")

    def full(_part: Path, _destination: Path) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("juryrank.writing.atomic._put", full)
    picture = getattr(ranking.plot, name)().properties(title="changed by the user")
    with pytest.raises(jr.JuryrankError, match=r"Cannot write .*No space left"):
        picture.save(path)
    assert path.read_text() == "what stood there before"
    assert list(tmp_path.iterdir()) == [path]


def test_pictures_are_saved_through_links_and_into_open_files(
    ranking: jr.Ranking, tmp_path: Path
) -> None:
    path, link, opened = tmp_path / "real.json", tmp_path / "link.json", io.StringIO()
    link.symlink_to(path)
    picture = ranking.plot.items()
    picture.save(str(link))
    picture.save(opened, format="json")
    assert link.is_symlink()
    assert json.loads(path.read_text()) == json.loads(opened.getvalue()) == picture.to_dict()


def test_a_picture_needs_a_format(ranking: jr.Ranking, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format"):
        ranking.plot.items().save(tmp_path / "picture")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", EVERY)
def test_pictures_of_much_stay_small(large: jr.Ranking, name: str) -> None:
    assert 10 <= len(rows_of(getattr(large.plot, name)())) <= MOST_MARKS + 200


def test_items_are_drawn_with_their_intervals(ranking: jr.Ranking) -> None:
    drawn = {row["item"]: row for row in rows_of(ranking.plot.items()) if "item" in row}
    assert list(drawn) == ranking.items["item"].to_list()
    for row in ranking.items.iter_rows(named=True):
        mine = drawn[row["item"]]
        assert (mine["score"], mine["low"], mine["high"], mine["tier"]) == (
            row["score"], row["score_low"], row["score_high"], row["tier"],
        )  # fmt: skip
    best = {row["item"] for row in rows_of(ranking.plot.items(top=3)) if "item" in row}
    assert best == set(ranking.items["item"][:3])


def test_the_matrix_has_the_chances_of_an_average_judge(ranking: jr.Ranking) -> None:
    cells = {(row["row"], row["column"]): row["value"] for row in rows_of(ranking.plot.matrix())}
    assert len(cells) == 8 * 7
    assert cells["Aster", "Hazel"] == pytest.approx(ranking.predict(None, "Aster", "Hazel"))
    assert cells["Hazel", "Aster"] == pytest.approx(1.0 - cells["Aster", "Hazel"])


def test_every_verdict_has_a_colour_and_none_shares_both_colour_and_shape() -> None:
    assert set(LOOK_OF_VERDICT) == set(VERDICTS)
    assert len(set(LOOK_OF_VERDICT.values())) == len(VERDICTS)


def test_convergence_ends_below_the_tolerance() -> None:
    ranking = jr.rank(jr.datasets.llm_judges().votes, prior=(1.0, 1.0))
    steps = ranking.fit.steps
    assert len(steps) >= 5
    assert steps[-1][2] < steps[0][2] / 1e3
    assert steps[-1][1] == pytest.approx(ranking.fit.objective)
    assert "steps" not in ranking.to_dict()["fit"]


@pytest.mark.parametrize(
    ("model", "picture", "message"),
    [
        ("btl", "judges", "treats all judges alike"),
        ("win-rate", "convergence", "not fitted in steps"),
    ],
)
def test_what_cannot_be_drawn_says_why(model: str, picture: str, message: str) -> None:
    ranking = jr.rank(jr.datasets.llm_judges().votes, model)
    with pytest.raises(jr.InputError, match=message):
        getattr(ranking.plot, picture)()


def test_bad_numbers_of_items_are_refused(ranking: jr.Ranking) -> None:
    with pytest.raises(jr.InputError, match="top=0"):
        ranking.plot.items(top=0)
    with pytest.raises(jr.InputError, match="top=41"):
        ranking.plot.matrix(top=41)


@pytest.mark.parametrize("model", ["crowdbt", "tcv", "rank-centrality"])
def test_models_of_all_kinds_can_be_drawn(model: str) -> None:
    ranking = jr.rank(jr.datasets.llm_judges().votes, model)
    drawn = {row["item"]: row for row in rows_of(ranking.plot.items()) if "item" in row}
    assert {item: row["score"] for item, row in drawn.items()} == dict(
        ranking.items.select("item", "score").iter_rows()
    )
    cells = {(row["row"], row["column"]): row["value"] for row in rows_of(ranking.plot.matrix())}
    for (row, column), value in cells.items():
        assert value == pytest.approx(ranking.predict(None, row, column))
    for name in ("pairs", "agreement"):
        assert rows_of(getattr(ranking.plot, name)())


def test_labels_need_not_be_text() -> None:
    moments = [datetime(2024, 1, 1 + k, tzinfo=UTC) for k in range(28)] * 2
    judges = [moment.replace(year=2024 + (k >= 28)) for k, moment in enumerate(moments)]
    frame = pl.DataFrame({"judge": judges * 3, "winner": [True] * 168, "loser": [False] * 168})
    ranking = jr.rank(frame)
    shown = {row["judge"] for row in rows_of(ranking.plot.agreement()) if "judge" in row}
    assert shown == set(map(str, judges))
    assert lead(ranking)[0].startswith("True ")
    assert {row["item"] for row in rows_of(ranking.plot.items()) if "item" in row} == {
        "True", "False",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["constructor", "__proto__", "toString", "a\nb", "\U0001f600" * 40]
)
def test_any_label_can_be_drawn(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"judge": ["u", name] * 4, "winner": [name] * 8, "loser": ["b", "c"] * 4})
    plot, path = jr.rank(frame).plot, tmp_path / "picture.svg"
    mine = literal(name) if len(name) < 40 else f"{name[:7]}…{name[:6]}"
    for picture, labels in (
        (plot.items(), {mine, "b", "c"}),
        (plot.items(top=1), {mine}),
        (plot.judges(), {mine, "u"}),
        (plot.matrix(), {mine, "b", "c"}),
        (plot.agreement(), {mine, "u"}),
    ):
        picture.save(str(path))
        assert labels <= texts_in(path)


def texts_in(path: Path) -> set[str | None]:
    """What is written in a picture, which must be well-formed."""
    page = ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314  ours
    return {node.text for node in page.iter() if node.tag.endswith("text")}
