"""PrefLib's files of orders: ``.soc``, ``.soi``, ``.toc`` and ``.toi``, new and old."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from juryrank.errors import InputError, listing
from juryrank.reading.columns import RankingColumns
from juryrank.reading.nesting import flat
from juryrank.reading.plain import ROW_NAME, Plain
from juryrank.votes.lists import taken
from juryrank.votes.votes import Votes
from juryrank.votes.weights import equal_weights

COLUMNS = RankingColumns("order", None, None, "count", unread="unread")
"""The columns of the frame that `preflib_rows` makes, beside the name of each order's row."""
_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+([0-9]+)\s*:(.*)", re.IGNORECASE)
_OLD_NAME = re.compile(r"([0-9]+)\s*,(.*)")
_LEVEL = r"(?:[0-9]+|\{\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*\})"
_ORDER = rf"^([0-9]+(?:\.[0-9]+)?)\s*[:,]\s*({_LEVEL}(?:\s*,\s*{_LEVEL})*)$"


_ALTERNATIVES = re.compile(r"#\s*NUMBER ALTERNATIVES\s*:\s*([0-9]+)\s*", re.IGNORECASE)


LARGEST_NUMBER, LONGEST_NUMBER = 2**62, 20
MOST_VOTERS = 50_000_000


@dataclass(frozen=True)
class _File:
    """The alternatives by their number, and the lines of orders with the number of each line."""

    names: dict[int, str]
    orders: pl.DataFrame
    count: int
    """How many alternatives there are said to be; not all may have names."""

    @property
    def labels(self) -> dict[int, str]:
        """The names, if every alternative has one; else none."""
        whole = all(self.names.values())
        return self.names if whole and self.names.keys() >= set(range(1, self._named_up_to)) else {}

    @property
    def notices(self) -> tuple[str, ...]:
        """What is to be said of names that are not used."""
        if self.labels or not any(self.names.values()):
            return ()
        return ("Not every alternative has a name: all are called by their numbers.",)

    @property
    def _named_up_to(self) -> int:
        """The number after the last that must be looked for, if there are not more than names."""
        return min(self.count, len(self.names) + 1) + 1


def preflib_rows(name: str, content: str) -> Plain:
    """Read the orders: how often each was given, and its alternatives from the best down.

    A line that cannot be read has no order, and stands in the column of the unread.
    """
    lines = content.splitlines()
    first = next((line for line in lines if line.strip()), "")
    file = _new(lines) if first.lstrip().startswith("#") else _old(name, lines)
    if not len(file.orders):
        raise InputError(f"{name} has a header but no votes.")
    _check_names_differ(name, file)
    return Plain(_read(file).lazy(), names_rows=True, notices=file.notices)


def _check_names_differ(name: str, file: _File) -> None:
    """Complain about alternatives of the same name, which the answer could not tell apart."""
    of_name: dict[str, list[int]] = {}
    for number, label in file.names.items():
        of_name.setdefault(label, []).append(number)
    alike = [
        f"{label!r} ({listing(numbers)})"
        for label, numbers in of_name.items()
        if label and len(numbers) > 1
    ]
    if alike:
        raise InputError(
            f"{name} has alternatives of the same name: {listing(alike)}. Give each a name of its "
            "own; or remove all names, and alternatives are called by their numbers."
        )


def _new(lines: list[str]) -> _File:
    """Read a header of comments, and orders such as ``3: 1,2,{3,4}``."""
    found = [match for line in lines if (match := _NAME.match(line.strip()))]
    count = next((_number(m[1]) for line in lines if (m := _ALTERNATIVES.match(line.strip()))), 0)
    return _File(_named(found), _numbered(lines, after=0), count)


def _old(name: str, lines: list[str]) -> _File:
    """Read the number of alternatives, a line for each, the totals, and ``3,1,2,{3,4}``."""
    count = int(lines[0]) if lines and re.fullmatch(r"\s*[0-9]{1,9}\s*", lines[0]) else 0
    if not count:
        raise _no_header(name, "line 1 is neither a comment nor the number of alternatives")
    found = []
    for number in range(2, count + 2):
        match = _OLD_NAME.match(lines[number - 1].strip()) if number <= len(lines) else None
        if not match:
            raise _no_header(name, f"line {number:,} is not the number and name of an alternative")
        found.append(match)
    return _File(_named(found), _numbered(lines, after=count + 2), count)


def _no_header(name: str, why: str) -> InputError:
    return InputError(
        f"{name} cannot be read as PrefLib: {why}. If it is of another kind, name it with --format."
    )


def _named(found: list[re.Match[str]]) -> dict[int, str]:
    return {_number(match[1]): match[2].strip() for match in found}


def _number(digits: str) -> int:
    """A number as it is, or one that is too large for any alternative."""
    return min(int(digits[:LONGEST_NUMBER]), LARGEST_NUMBER)


def _numbered(lines: list[str], after: int) -> pl.DataFrame:
    """Number the lines from 1, and leave out empty ones and comments."""
    frame = pl.DataFrame({"text": lines}, schema={"text": pl.String}).with_row_index("line", 1)
    text = pl.col("text").str.strip_chars()
    kept = (text != "") & ~text.str.starts_with("#")
    return frame.slice(after).filter(kept).with_columns(text)


def _read(file: _File) -> pl.DataFrame:
    text = file.orders["text"]
    order = (
        text.str.extract(_ORDER, 2).fill_null("").str.extract_all(_LEVEL).to_frame("order")
    ).select(pl.col("order").list.eval(_alternatives(file)))["order"]
    owner, _, levels = flat(order)
    inner, _, alternatives = flat(levels)
    unknown = owner[inner[alternatives.is_null().to_numpy()]]
    bad = (order.list.len() == 0).to_numpy()
    bad[unknown] = True
    return pl.DataFrame(
        {
            ROW_NAME: [f"line {line:,}" for line in file.orders["line"]],
            "count": text.str.extract(_ORDER, 1),
            "order": order,
            "unread": text,
        }
    ).with_columns(
        pl.when(pl.Series(bad)).then(pl.lit("1")).otherwise("count").alias("count"),
        pl.when(~pl.Series(bad)).then("order").alias("order"),
        pl.when(pl.Series(bad)).then("unread").alias("unread"),
    )


def _alternatives(file: _File) -> pl.Expr:
    """Make lists of labels from texts such as ``3`` and ``{3,4}``; nothing for the unknown."""
    number, labels = pl.element().cast(pl.Int64, strict=False), file.labels
    if labels:
        label = number.replace_strict(list(labels), list(labels.values()), default=None)
    elif file.count or file.names:
        known = number.is_between(1, file.count) | number.is_in(list(file.names))
        label = pl.when(known).then(number)
    else:
        label = number
    return pl.element().str.extract_all("[0-9]+").list.eval(label)


def one_judge_per_voter(votes: Votes) -> Votes:
    """Make a judge of everyone who gave an order; up to now each line was a judge, with a count."""
    count = votes.votes_per_judge
    if not np.array_equal(count, np.rint(count)):
        raise InputError(
            "Some orders have a count that is not a whole number, so that their voters cannot be "
            "told apart: omit --judge-per-row (judge_per_row=True)."
        )
    if count.sum() > MOST_VOTERS:
        raise InputError(
            f"There are said to be {count.sum():,.0f} voters, and at most {MOST_VOTERS:,} can be "
            "told apart: omit --judge-per-row (judge_per_row=True), and each line counts as "
            "often as it says."
        )
    times = count.astype(np.int64)
    number = np.arange(int(times.sum()) + 1)
    line = np.repeat(np.arange(votes.n_judges), times)
    pairs = np.repeat(np.arange(votes.n_pairs), times[votes.judge])
    lists = taken(votes.lists, np.repeat(np.arange(votes.lists.number), times[votes.lists.judge]))
    is_pair = np.diff(votes.start)[line] > 0
    return replace(
        votes,
        judges=pl.Series("judge", number[1:]),
        start=np.concatenate(([0], np.cumsum(is_pair))),
        winner=votes.winner[pairs],
        loser=votes.loser[pairs],
        outcome=votes.outcome[pairs],
        weight=equal_weights(len(pairs)),
        lists=lists._replace(
            start=np.concatenate(([0], np.cumsum(~is_pair))), weight=np.ones(lists.number)
        ),
    )
