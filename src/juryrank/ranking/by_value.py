"""`Rankings`: the answers of values that were ranked apart, one for each."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from juryrank.errors import InputError, counted, listing
from juryrank.hints import did_you_mean
from juryrank.model.points import Anchor
from juryrank.ranking.ranking import Ranking
from juryrank.votes.votes import ByValue, Reading, Votes
from juryrank.writing.html_table import html_table
from juryrank.writing.json_text import json_text
from juryrank.writing.save import save_answer

COLUMNS_OF_ITEMS = (
    "rank", "item", "score", "score_low", "score_high", "rank_low", "rank_high", "p_best", "tier",
)  # fmt: skip
COLUMNS_OF_JUDGES = (
    "judge", "accuracy", "accuracy_low", "accuracy_high", "votes", "verdict", "reason",
)  # fmt: skip
MOST_VALUES_NAMED = 10
MOST_FIRST_ITEMS = 2
OVERVIEW = {
    "votes": pl.Int64(),
    "items": pl.Int64(),
    "judges": pl.Int64(),
    "first": pl.String(),
    "error": pl.String(),
}

Fit = Callable[[str, Votes], Ranking]
"""Ranks votes; it is told what they are, such as ``language de (2 of 5)``."""


@dataclass(frozen=True, eq=False)
class Rankings:
    """A `Ranking` for each value of a column, the values in natural order.

    ``rankings["de"]`` is that of a value, ``for value in rankings`` goes through the values, and
    ``dict(rankings)`` has them all; values that could not be ranked are not among them, but in
    `errors`. `items` and `judges` are frames with those of all values: the column comes first (as
    ``by_group`` if it is called like one of the others), then those that a `Ranking` has.
    """

    by: str
    """The column."""
    errors: Mapping[object, str]
    """Why some values could not be ranked."""
    remarks: tuple[str, ...]
    """What is to be said about the votes whatever their value."""
    reading: tuple[Reading, ...]
    """How each source of the votes was read."""
    call: str
    """What was asked for, as Python writes it."""
    _of: Mapping[object, Ranking]
    _values: Sequence[object]
    """All values, with those that could not be ranked."""

    def __getitem__(self, value: object) -> Ranking:
        if value in self._of:
            return self._of[value]
        if value in self.errors:
            raise InputError(f"{self.by} {value} could not be ranked: {self.errors[value]}")
        known = listing([repr(one) for one in self._of], MOST_VALUES_NAMED)
        hint = did_you_mean(value, self._of)
        raise InputError(f"There is no ranking of {self.by} {value!r}, but of {known}.{hint}")

    def __iter__(self) -> Iterator[object]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, value: object) -> bool:
        return value in self._of

    def keys(self) -> list[object]:
        """The values that were ranked."""
        return list(self._of)

    @property
    def items(self) -> pl.DataFrame:
        """The items of all values, each with its value in the first column."""
        return self._put_together([ranking.items for ranking in self._of.values()], "item")

    @property
    def judges(self) -> pl.DataFrame:
        """The judges of all values, each with its value in the first column."""
        return self._put_together([ranking.judges for ranking in self._of.values()], "judge")

    def _put_together(self, frames: Sequence[pl.DataFrame], label: str) -> pl.DataFrame:
        if len({frame.schema[label] for frame in frames}) > 1:
            frames = [frame.with_columns(pl.col(label).cast(pl.String)) for frame in frames]
        if any("group" in frame.columns for frame in frames):
            frames = [f if "group" in f.columns else _as_one_group(f) for f in frames]
        every = pl.concat(frames, how="vertical_relaxed")
        value = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])
        return every.select(pl.Series(self.column, self.keys()).gather(value), pl.all())

    @property
    def column(self) -> str:
        """The name of the column in the tables, which may have one of that name themselves."""
        taken = self.by in ("group", *COLUMNS_OF_ITEMS, *COLUMNS_OF_JUDGES)
        return f"by_{self.by}" if taken else self.by

    @property
    def overview(self) -> pl.DataFrame:
        """A row for each value: votes, items, judges, who is first, and why it is not ranked."""
        rows = [
            (value, *_counts(self._of[value]), None)
            if value in self._of
            else (value, None, None, None, None, self.errors[value])
            for value in self._values
        ]
        values = pl.Series("value", [row[0] for row in rows])
        rest = pl.DataFrame([row[1:] for row in rows], schema=OVERVIEW, orient="row")
        return rest.insert_column(0, values)

    @property
    def general_warnings(self) -> tuple[str, ...]:
        """What is to be known beside the warnings of single rankings: also what is not ranked."""
        failed = (
            f"{self.by} {value} is not ranked: {error}" for value, error in self.errors.items()
        )
        return *self.remarks, *failed

    @property
    def warnings(self) -> tuple[str, ...]:
        """Everything worth knowing, with the value that it is about."""
        own = (
            f"{self.by} {value}: {warning}"
            for value, ranking in self._of.items()
            for warning in ranking.warnings
        )
        return *self.general_warnings, *own

    def scaled(self, scale: str = "elo", anchor: Anchor | None = None) -> Rankings:
        """The same answers with their scores on another scale; see `Ranking.scaled`."""
        return replace(
            self, _of={value: one.scaled(scale, anchor) for value, one in self._of.items()}
        )

    def report(
        self,
        command: str | None = None,
        *,
        title: str | None = None,
        source: str | None = None,
        date: date | None = None,
    ) -> str:
        """The report on all values as the text of one page; see `Ranking.report`."""
        from juryrank.report import report_by_value

        return report_by_value(self, command, title=title, source=source, day=date)

    def to_dict(self) -> dict[str, Any]:
        """All answers as plain dictionaries and lists."""
        return {
            "by": self.by,
            "rankings": [self._one_as_dict(value) for value in self._values],
            "warnings": list(self.general_warnings),
            "reading": [one.to_dict() for one in self.reading],
        }

    def _one_as_dict(self, value: object) -> dict[str, Any]:
        if value not in self._of:
            return {"value": value, "error": self.errors[value], "warnings": []}
        answer = self._of[value].to_dict()
        del answer["reading"]  # it is the same for all
        return {"value": value} | answer

    def to_json(self) -> str:
        """All answers as one JSON object; what is not a finite number becomes null."""
        return json_text(self.to_dict())

    def save(self, path: str | Path, *, safe_csv: bool = False) -> None:
        """Write a file, by its ending.

        CSV, TSV and Parquet hold the items; Markdown, LaTeX and Excel items and judges, with the
        value of each in the first column; JSON and HTML (the report) everything. With `safe_csv`,
        names that a spreadsheet would take for formulas have an apostrophe before them in CSV and
        TSV, and control characters in them are shown as escapes.
        """
        save_answer(self, path, safe_csv=safe_csv)

    def __repr__(self) -> str:
        lines = [self._headline(), "  votes  items  judges  value: first"]
        for value, votes, items, judges, first, error in self.overview.rows():
            counts = "-      -       -" if error else f"{votes:,}  {items:>5,}  {judges:>6,}"
            told = f"not ranked: {error}" if error else first
            lines.append(f"{counts:>22}  {value}: {told}")
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])

    def _headline(self) -> str:
        votes = sum(ranking.fit.votes for ranking in self._of.values())
        return f"Rankings by {self.by}: {counted(len(self), 'value')}, {counted(votes, 'vote')}"

    def _repr_html_(self) -> str:
        shown = self.overview
        if shown["error"].is_null().all():
            shown = shown.drop("error")
        parts = [f"<p>{html.escape(self._headline())}</p>", html_table(shown)]
        parts += [f"<p>Warning: {html.escape(warning)}</p>" for warning in self.warnings]
        return "\n".join(parts)


def _counts(ranking: Ranking) -> tuple[int, int, int, str]:
    first = ranking.items.filter(pl.col("rank") == 1)["item"].to_list()
    told = listing(first, MOST_FIRST_ITEMS)
    return ranking.fit.votes, len(ranking.items), len(ranking.judges), told


def rank_each(by: ByValue, fit: Fit, call: str = "") -> Rankings:
    """Rank the votes of each value; what cannot be ranked does not keep others from it."""
    of: dict[object, Ranking] = {}
    errors: dict[object, str] = {}
    for number, (value, votes) in enumerate(by.of.items(), start=1):
        if isinstance(votes, str):
            errors[value] = votes
            continue
        try:
            of[value] = fit(f"{by.column} {value} ({number} of {len(by.of)})", votes)
        except InputError as error:
            errors[value] = str(error)
    if not of:
        raise replace(by, of=errors).nothing_to_rank()
    return Rankings(by.column, errors, by.remarks, by.reading, call, of, list(by.of))


def _as_one_group(items: pl.DataFrame) -> pl.DataFrame:
    """Items that are connected, beside others that do not."""
    return items.select(pl.lit(1, dtype=pl.Int64).alias("group"), pl.all())
