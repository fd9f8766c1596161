"""The public data: the same from a copy and from the network, and what goes wrong on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from urllib.error import URLError

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank import datasets
from juryrank.datasets import Dataset

LEVELS = b"1 1\n2 1\n10 12"
READING = b"7 10 1\n3 2 1\n3 1 1\n3 10 2"
COUNTRY = b"1 11.0 10.0\n1 1.0 11.0\n2 15.0 1.0\n"
Network = dict[str, bytes]


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Network:
    """A network of three small files, an empty cache and no copy."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _: str(tmp_path / "cache"))
    monkeypatch.delenv("JURYRANK_DATA", raising=False)
    found: Network = {}
    for name, content in {
        "READING_VOTES": READING, "READING_LEVELS": LEVELS, "COUNTRY_VOTES": COUNTRY,
    }.items():  # fmt: skip
        digest = hashlib.sha256(content).hexdigest()
        source = replace(getattr(datasets, name), sha256=digest)
        monkeypatch.setattr(datasets, name, source)
        found[source.url] = content
    connect(monkeypatch, found.__getitem__)
    return found


def connect(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], bytes]) -> None:
    monkeypatch.setattr(datasets, "_bytes_at", answer)


def disconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str) -> bytes:
        raise URLError("no route to host")

    connect(monkeypatch, refuse)


def same(one: Dataset, other: Dataset) -> bool:
    a, b = one.votes, other.votes
    arrays = ("start", "left", "right", "outcome", "weight")
    return (
        a.items.equals(b.items)
        and a.judges.equals(b.judges)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)
        and a.left_out == b.left_out
        and one.truth["item"].equals(other.truth["item"])
        and one.truth["truth"].rank().equals(other.truth["truth"].rank())
    )


def test_reading_level_is_read_as_published(network: Network) -> None:
    found = jr.datasets.reading_level()
    assert found.votes.items.to_list() == ["1", "10", "2"]
    assert found.votes.judges.to_list() == ["3", "7"]
    assert len(found.votes) == 3
    assert found.votes.left_out.self_comparisons == 1
    assert found.truth.to_dicts()[-1] == {"item": "10", "truth": 12.0}


def test_countries_have_names_and_the_largest_comes_first(network: Network) -> None:
    found = datasets.country_population()
    assert found.votes.items.to_list() == ["China", "Japan", "Mexico", "Vietnam"]
    assert found.votes.items[int(found.votes.left[0])] == "Japan"
    assert len(found.truth) == 15
    assert found.truth["item"][0] == "China"
    assert found.truth["truth"].is_sorted(descending=True)


def test_what_was_downloaded_is_kept(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    first = datasets.reading_level()
    disconnect(monkeypatch)
    assert same(first, datasets.reading_level())


def test_a_damaged_cache_is_downloaded_again(network: Network, tmp_path: Path) -> None:
    first = datasets.reading_level()
    kept = tmp_path / "cache" / "datasets" / "reading_level-votes.txt"
    kept.write_bytes(READING[:-3])
    assert same(first, datasets.reading_level())
    assert kept.read_bytes() == READING
    assert len(list(kept.parent.iterdir())) == 2


def test_a_cache_that_cannot_be_written_does_no_harm(network: Network, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    assert len(datasets.country_population().votes) == 3


def test_a_wrong_hash_is_refused_and_not_kept(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connect(monkeypatch, lambda _: b"<html>sign in</html>")
    expected = hashlib.sha256(COUNTRY).hexdigest()
    with pytest.raises(jr.JuryrankError, match="is not the file it should be") as caught:
        datasets.country_population()
    found = hashlib.sha256(b"<html>sign in</html>").hexdigest()
    for part in ("https://raw.githubusercontent.com/tao-j/hra/", expected, found):
        assert part in str(caught.value)
    assert not (tmp_path / "cache").exists()


def test_without_network_both_ways_out_are_named(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    disconnect(monkeypatch)
    with pytest.raises(jr.JuryrankError, match="no route to host") as caught:
        datasets.reading_level()
    said = str(caught.value)
    assert "Connect to the internet" in said
    assert "JURYRANK_DATA to a folder with reading_level/votes.csv and reading_level/truth" in said
    assert caught.value.exit_code == 1


def test_a_copy_is_used_and_one_that_lacks_a_file_is_refused(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    public = datasets.reading_level()
    disconnect(monkeypatch)
    folder = tmp_path / "copy" / "reading_level"
    folder.mkdir(parents=True)
    monkeypatch.setenv("JURYRANK_DATA", str(folder.parent))
    header = b"judge,winner,loser\n"
    (folder / "votes.csv").write_bytes(header + READING.replace(b" ", b","))
    with pytest.raises(jr.InputError, match=r"no file reading_level/truth.csv in it.*or unset it"):
        datasets.reading_level()
    (folder / "truth.csv").write_bytes(b"item,level\n" + LEVELS.replace(b" ", b","))
    assert same(public, datasets.reading_level())


def test_all_sources_are_pinned_and_encrypted() -> None:
    for source in (datasets.READING_VOTES, datasets.READING_LEVELS, datasets.COUNTRY_VOTES):
        assert source.url.startswith("https://raw.githubusercontent.com/tao-j/hra/")
        assert len(source.commit) == 40
        assert len(source.sha256) == 64


def raw_files(data: Path) -> dict[str, bytes]:
    """The public files, written from the copy as they are published."""
    reading = (data / "reading_level" / "votes.csv").read_text(encoding="utf-8")
    levels = (data / "reading_level" / "truth.csv").read_text(encoding="utf-8")
    country = pl.read_csv(data / "country_population" / "votes.csv")
    ranks = {name: f"{rank}.0" for rank, name in enumerate(datasets.COUNTRIES, start=1)}
    numbered = country.with_columns(pl.col("winner", "loser").replace_strict(ranks))
    return {
        datasets.READING_VOTES.url: _body(reading).rstrip().encode(),
        datasets.READING_LEVELS.url: _body(levels).rstrip().encode(),
        datasets.COUNTRY_VOTES.url: numbered.write_csv(
            separator=" ", include_header=False
        ).encode(),
    }


def _body(table: str) -> str:
    return table.split("\n", 1)[1].replace(",", " ")


@pytest.mark.parametrize("name", ["reading_level", "country_population"])
def test_copy_and_download_of_the_real_data_are_the_same(
    data: Path, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _: str(tmp_path / "cache"))
    load = getattr(datasets, name)
    monkeypatch.setenv("JURYRANK_DATA", str(data))
    copy = load()
    monkeypatch.delenv("JURYRANK_DATA")
    connect(monkeypatch, raw_files(data).__getitem__)
    assert same(copy, load())
    sizes = {"reading_level": (12_726, 624, 490), "country_population": (3_184, 199, 15)}
    assert (len(copy.votes), copy.votes.n_judges, copy.votes.n_items) == sizes[name]
    assert copy.votes.left_out.total == (2 if name == "reading_level" else 0)


# --- what comes with the package -----------------------------------------------------------------


def test_the_example_is_in_the_package_and_its_truth_is_the_scores_it_was_made_from() -> None:
    assert files("juryrank").joinpath("data/llm_judges.csv").is_file()
    found = datasets.llm_judges()
    assert (len(found.votes), found.votes.n_items, found.votes.n_judges) == (720, 8, 9)
    assert found.truth["item"].to_list() == found.votes.items.to_list()
    assert found.truth["truth"].is_sorted(descending=True)
    assert repr(found) == (
        "Dataset(Votes(720 votes by 9 judges on 8 items, 0 rows left out), truth of 8 items)"
    )
