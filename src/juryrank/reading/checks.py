"""What is in the votes, and whether they can rank the items at all."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import counted, number, share
from juryrank.reading import as_votes
from juryrank.reading.grids import ROW
from juryrank.reading.unused import contexts_in
from juryrank.votes.connectivity import Connection, connection, lone_judges
from juryrank.votes.lists import orders_of_ties
from juryrank.votes.votes import TIE, LeftOut, Reading, Repeats, Votes
from juryrank.writing.html_table import html_table

FIRST_NAMES = 5


class Spread(NamedTuple):
    """The smallest, the middle and the largest of some counts."""

    min: int
    median: float
    max: int

    def __str__(self) -> str:
        return f"{number(self.min)} to {number(self.max)}, median {number(self.median)}"


@dataclass(frozen=True)
class Check:
    """A summary of votes before any model is fitted."""

    items: int
    judges: int
    judges_known: bool
    votes: int
    lists: int
    """How many of the votes are rankings of, or choices from, more than two items."""
    items_per_list: Spread
    ties: int
    """Votes that tie items: pairs, and rankings with a tie in them."""
    both_bad: int
    """How many of these say that both items are bad."""
    duplicates: int
    """Votes on pairs equal in judge, pair and outcome to an earlier one, without `repeats`."""
    repeats: int
    """Votes that are no duplicates only because they are on another question or the like."""
    repeats_by: tuple[str, ...]
    """The columns that tell so. Where nothing was compared, those that might."""
    weight: float
    """Total weight of the votes."""
    votes_per_judge: Spread
    votes_per_item: Spread
    left_out: LeftOut
    connection: tuple[str, ...]
    """What keeps the votes from ranking all items, in words."""
    groups: int
    """Number of groups of items that were never compared with each other."""
    components: int
    """Number of strong components of the who-beat-whom graph."""
    lone_judges: int
    """Number of judges who share no pair with any other judge."""
    first_lone_judges: tuple[object, ...]
    can_rank_without_prior: bool
    verdict: str
    notices: tuple[str, ...] = ()
    """What is odd about the input though nothing is wrong with it."""
    reading: tuple[Reading, ...] = ()
    """How each source was read."""

    def __repr__(self) -> str:
        ties, copies = counted(self.ties, "tie"), counted(self.duplicates, "duplicate")
        left_out = counted(self.left_out.total, "row")
        lines = [
            f"Check of {counted(self.votes, 'vote')} by {counted(self.judges, 'judge')} on "
            f"{counted(self.items, 'item')} ({ties}, {copies}, {left_out} left out)",
            self.verdict,
            *(f"- {text}" for text in (*self.connection, *self.left_out.sentences, *self.notices)),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *sentences = repr(self).splitlines()
        rows = [("votes", self.votes), ("items", self.items), ("judges", self.judges)]
        rows += [("rankings of more than two items", self.lists)] if self.lists else []
        rows += [("ties", self.ties), ("duplicates", self.duplicates)]
        rows += [("rows left out", self.left_out.total)]
        rows += [("groups that were never compared", self.groups)] if self.groups > 1 else []
        table = pl.DataFrame(
            [
                *((what, number(count)) for what, count in rows),
                ("votes per judge", str(self.votes_per_judge)),
                ("votes per item", str(self.votes_per_item)),
            ],
            schema=["what", "number"],
            orient="row",
        )
        said = "\n".join(f"<p>{html.escape(text)}</p>" for text in sentences)
        return f"<p>{html.escape(first)}</p>\n{html_table(table)}\n{said}"

    def to_dict(self) -> dict[str, Any]:
        """Give everything as what JSON knows."""
        return asdict(self) | {
            "votes_per_judge": self.votes_per_judge._asdict(),
            "votes_per_item": self.votes_per_item._asdict(),
            "items_per_list": self.items_per_list._asdict(),
            "left_out": asdict(self.left_out) | {"sentences": list(self.left_out.sentences)},
            "repeats_by": list(self.repeats_by),
            "connection": list(self.connection),
            "notices": list(self.notices),
            "reading": [one.to_dict() for one in self.reading],
            "first_lone_judges": [_plain(judge) for judge in self.first_lone_judges],
        }


def check(votes: Votes | object) -> Check:
    """Count what is in the votes, and say whether they can rank the items.

    Votes may also be the path of a file, or a data frame, as for `rank`.
    """
    votes = as_votes(votes)
    repeats = votes.repeats or Repeats(0, _unused_contexts(votes))
    found = connection(votes)
    lone = lone_judges(votes)
    return Check(
        items=votes.n_items,
        judges=votes.n_judges,
        judges_known=votes.judges_known,
        votes=len(votes),
        lists=votes.lists.number,
        items_per_list=_spread(votes.lists.length),
        ties=int((votes.outcome == TIE).sum() + (orders_of_ties(votes.lists) > 1.0).sum()),
        both_bad=votes.both_bad,
        duplicates=_duplicates(votes) - repeats.votes,
        repeats=repeats.votes,
        repeats_by=tuple("row" if name == ROW else name for name in repeats.by),
        weight=float(votes.weight.sum() + votes.lists.weight.sum()),
        votes_per_judge=_spread(votes.times_voted),
        votes_per_item=_spread(votes.times_compared),
        left_out=votes.left_out,
        notices=tuple(one for one in votes.remarks if one not in votes.left_out.sentences),
        reading=votes.reading,
        connection=tuple(found.sentences(votes.items)),
        groups=found.n_groups,
        components=found.n_components,
        lone_judges=len(lone),
        first_lone_judges=tuple(votes.judges.gather(lone[:FIRST_NAMES])),
        can_rank_without_prior=found.is_strong,
        verdict=f"{_dropped(votes.left_out)}{_verdict(votes, found)}",
    )


def _spread(counts: NDArray[np.int64]) -> Spread:
    if not len(counts):
        return Spread(0, 0.0, 0)
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _duplicates(votes: Votes) -> int:
    pair, outcome = votes.unordered()
    # Two columns, not four: hashing rows is what takes the time.
    facts = pl.DataFrame({"pair": pair, "said": votes.judge.astype(np.int64) * 3 + outcome})
    return len(facts) - len(facts.lazy().unique().collect())


def _unused_contexts(votes: Votes) -> tuple[str, ...]:
    """Columns of each source by which votes might be told apart."""
    ignored = (name for one in votes.reading for name in one.ignored)
    return tuple(dict.fromkeys(contexts_in(ignored)))


def _dropped(left_out: LeftOut) -> str:
    """Say first, of votes with bad rows, which part of them all else is about."""
    if not left_out.bad_rows or left_out.rows < left_out.bad_rows:
        return ""
    part = share(left_out.bad_rows, left_out.rows)
    return (
        f"{left_out.bad_rows:,} of {left_out.rows:,} rows ({part}) cannot be used: what follows is "
        "about the rest. "
    )


def _verdict(votes: Votes, found: Connection) -> str:
    if found.is_strong:
        return f"All {votes.n_items:,} items are connected: the votes can rank them."
    if found.n_groups > 1:
        return (
            f"The items fall into {found.n_groups:,} groups that were never compared: each is "
            "ranked by itself, until there are votes between the groups."
        )
    return (
        "Some items never lose to, or never win against, all the others: how far apart they are "
        "is decided by the prior alone. Collect more votes on them, or keep the prior."
    )


def _plain(label: object) -> str | int | float | bool | None:
    return label if isinstance(label, str | int | float | bool | None) else str(label)
