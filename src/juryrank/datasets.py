"""Votes with a known truth: a simulated example, and public ones.

`llm_judges` comes with the package. The public ones are downloaded once, checked, and kept in the
user's cache folder. They come from the repository of the paper's authors (tao-j/hra on GitHub,
GPL-3), each pinned to a commit and to its SHA-256. `JURYRANK_DATA` names a folder with a copy
instead: it holds ``reading_level/votes.csv``, ``reading_level/truth.csv``, and the same for
``country_population``.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import platformdirs
import polars as pl

from juryrank.data import EXAMPLE_VOTES
from juryrank.errors import InputError, JuryrankError, counted
from juryrank.reading import read_votes, votes_from
from juryrank.votes.votes import Votes

__all__ = ["Dataset", "country_population", "llm_judges", "reading_level"]

OWN_COPY = "JURYRANK_DATA"
TIMEOUT = 30.0
"""Seconds without an answer after which a download is given up."""
LARGEST = 10_000_000
"""Bytes; no file here is near it."""
FILES = ("votes.csv", "truth.csv")
COUNTRIES = (
    "China", "India", "United States", "Indonesia", "Brazil", "Pakistan", "Nigeria", "Bangladesh",
    "Russia", "Mexico", "Japan", "Ethiopia", "Philippines", "Egypt", "Vietnam",
)  # fmt: skip
"""By population, the largest first."""


ASSISTANTS = {
    "Aster": 1.6, "Birch": 1.1, "Cedar": 0.6, "Dahlia": 0.2,
    "Elm": -0.2, "Fern": -0.6, "Gorse": -1.1, "Hazel": -1.6,
}  # fmt: skip
"""The true scores of `llm_judges`."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Votes, and the truth about their items.

    `truth` has the columns item and truth (a number: the higher, the more of what was asked for);
    only its order means something in every copy of the data.
    """

    votes: Votes
    truth: pl.DataFrame

    def __repr__(self) -> str:
        return f"Dataset({self.votes!r}, truth of {counted(len(self.truth), 'item')})"


@dataclass(frozen=True)
class _Source:
    """A public file, pinned."""

    name: str
    """In the cache folder."""
    commit: str
    path: str
    sha256: str

    @property
    def url(self) -> str:
        return f"https://raw.githubusercontent.com/tao-j/hra/{self.commit}/{self.path}"


READING_VOTES = _Source(
    "reading_level-votes.txt",
    "12ca49c99abbd424e78dfe597eca5f08c857dade",
    "matlab/read_data/all_pair.txt",
    "11af21ced2ed75edbd63e4ad6312bcf4203797e93bef449bef8e6ffae2cc8369",
)
READING_LEVELS = _Source(
    "reading_level-levels.txt",
    "0872fdafe26171504251faa375ef479fdfab7e2b",
    "matlab/read_data/doc_info.txt",
    "f2b5c055fbf0ee32f910e9c64f77ef2252559d9c9d485bf717d3d978010dc835",
)
COUNTRY_VOTES = _Source(
    "country_population-votes.txt",
    "e0a442603fd8498a9b65e6a976b8cd4bf7ddd569",
    "matlab/data/countrypopulation/all_pair.txt",
    "08b033f9e8a1f663e4133cdb097e8ed8bdf0ad088b4fefcc3ef676faa6790c47",
)


def llm_judges() -> Dataset:
    """Which of two answers is better: 8 assistants, 9 judges, one careless and one backwards.

    The votes are simulated, and come with the package: nothing is downloaded. They are what
    ``juryrank rank --example`` ranks.
    """
    truth = pl.DataFrame({"item": list(ASSISTANTS), "truth": list(ASSISTANTS.values())})
    return Dataset(read_votes(EXAMPLE_VOTES), truth)


def reading_level() -> Dataset:
    """Which of two texts is harder: 490 texts with school grades 1 to 12, 624 crowd workers.

    First used by Chen, Bennett, Collins-Thompson and Horvitz (2013).
    """
    return _dataset("reading_level", _public_reading_level)


def country_population() -> Dataset:
    """Which of two countries has more people: 15 countries, 199 crowd workers."""
    return _dataset("country_population", _public_country_population)


_Tables = tuple[pl.DataFrame, pl.DataFrame]
"""Votes (judge, winner, loser) as text; item (text) and truth."""


def _dataset(name: str, public: Callable[[], _Tables]) -> Dataset:
    folder = os.environ.get(OWN_COPY)
    votes, truth = _own_copy(Path(folder), name) if folder else public()
    return Dataset(votes_from(votes), truth)


# --- a copy of one's own -------------------------------------------------------------------------


def _own_copy(folder: Path, name: str) -> _Tables:
    for file in FILES:
        if not (folder / name / file).is_file():
            raise InputError(
                f"{OWN_COPY} is {str(folder)!r}, and there is no file {name}/{file} in it. Set it "
                f"to a folder with {_wanted(name)}, or unset it to download the data."
            )
    votes, truth = (pl.read_csv(folder / name / file, infer_schema=False) for file in FILES)
    item, value = truth.columns
    return votes, truth.select(item=item, truth=pl.col(value).cast(pl.Float64))


def _wanted(name: str) -> str:
    return " and ".join(f"{name}/{file}" for file in FILES)


# --- the public files ----------------------------------------------------------------------------


def _public_reading_level() -> _Tables:
    truth = _rows(READING_LEVELS, "reading_level", "item", "truth")
    votes = _rows(READING_VOTES, "reading_level", "judge", "winner", "loser")
    return votes, truth.with_columns(pl.col("truth").cast(pl.Float64))


def _public_country_population() -> _Tables:
    """Items are stored as ranks by population, ``11.0`` for the eleventh."""
    votes = _rows(COUNTRY_VOTES, "country_population", "judge", "winner", "loser")
    rank = pl.col("winner", "loser").cast(pl.Float64).cast(pl.Int64)
    names = dict(enumerate(COUNTRIES, start=1))
    truth = [float(len(COUNTRIES) - above) for above in range(len(COUNTRIES))]
    return (
        votes.with_columns(rank.replace_strict(names, return_dtype=pl.String)),
        pl.DataFrame({"item": COUNTRIES, "truth": truth}),
    )


def _rows(source: _Source, dataset: str, *columns: str) -> pl.DataFrame:
    """Lines of words parted by a blank, as columns of text."""
    content = _content(source, dataset)
    return pl.read_csv(
        content, separator=" ", has_header=False, new_columns=columns, infer_schema=False
    )


def _content(source: _Source, dataset: str) -> bytes:
    """The file from the cache if what is there is right, else from its public address."""
    kept = Path(platformdirs.user_cache_dir("juryrank")) / "datasets" / source.name
    with suppress(OSError):
        content = kept.read_bytes()
        if _sha256(content) == source.sha256:
            return content
    content = _download(source, dataset)
    with suppress(OSError):  # a cache that cannot be written is no reason to fail
        _write_whole(kept, content)
    return content


def _download(source: _Source, dataset: str) -> bytes:
    try:
        content = _bytes_at(source.url)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise JuryrankError(
            f"Cannot download {source.url}: {reason}. Connect to the internet and try again, or "
            f"set {OWN_COPY} to a folder with {_wanted(dataset)}."
        ) from error
    found = _sha256(content)
    if found != source.sha256:
        raise JuryrankError(
            f"What was downloaded from {source.url} is not the file it should be: its SHA-256 is "
            f"{found}, not {source.sha256}. It was discarded. Try again on another "
            f"network, or set {OWN_COPY} to a folder with {_wanted(dataset)}."
        )
    return content


def _bytes_at(url: str) -> bytes:
    with urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  every source is https
        return bytes(answer.read(LARGEST))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
