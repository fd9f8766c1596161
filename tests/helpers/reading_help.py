"""What the tests of reading share: votes in every format, and ways to look at them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from juryrank.errors import InputError
from juryrank.reading import read_votes
from juryrank.votes.lists import judge_codes
from juryrank.votes.votes import LEFT_WON, Votes

WINS = pl.DataFrame(
    {
        "judge": ["zoë", "ann", "zoë", "ann"],
        "winner": ["007", "b, c", "名", "007"],
        "loser": ["名", "007", "b, c", "b, c"],
    }
)

Row = tuple[object, object, object, int, float]


def rows(votes: Votes) -> list[Row]:
    """Give the votes with their labels: judge, left, right, outcome, weight."""
    return list(
        zip(
            votes.judges.gather(votes.judge),
            votes.items.gather(votes.left),
            votes.items.gather(votes.right),
            votes.outcome.tolist(),
            votes.weight.tolist(),
            strict=True,
        )
    )


Ranking = tuple[object, list[list[object]], list[object], float]


def rankings(votes: Votes) -> list[Ranking]:
    """Give the lists with their labels: judge, levels of tied items, items not ranked, weight."""
    lists = votes.lists
    found = []
    for number, judge in enumerate(votes.judges.gather(judge_codes(lists.start))):
        inside = slice(lists.begin[number], lists.begin[number + 1])
        items = votes.items.gather(lists.item[inside]).to_list()
        levels: list[list[object]] = [[] for _ in range(lists.level[inside].max() + 1)]
        for item, level in zip(items, lists.level[inside], strict=True):
            levels[level].append(item)
        ranked = int(lists.ranked[number])
        rest = levels.pop() if ranked < len(items) else []
        assert sum(map(len, levels)) == ranked
        assert items == [item for level in (*levels, rest) for item in level]
        found.append((judge, levels, rest, float(lists.weight[number])))
    return found


def assert_same(one: Votes, other: Votes) -> None:
    """Check that two readings gave the same votes, array by array."""
    assert one.items.equals(other.items)
    assert one.judges.equals(other.judges)
    for name in ("start", "left", "right", "outcome", "weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    for ours, theirs in zip(one.lists, other.lists, strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


def wins_as_rows(frame: pl.DataFrame) -> list[Row]:
    ordered = frame.sort("judge", maintain_order=True)
    return [(j, w, lo, LEFT_WON, 1.0) for j, w, lo in ordered.iter_rows()]


def read(text: str, **options: object) -> Votes:
    return read_votes(io.BytesIO(text.encode()), **options)  # type: ignore[arg-type]


def complaint(act: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        act()
    return str(caught.value)


def bytes_of(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def encoded(frame: pl.DataFrame) -> dict[str, bytes]:
    return {
        "votes.csv": bytes_of(frame.write_csv),
        "votes.tsv": bytes_of(lambda to: frame.write_csv(to, separator="\t")),
        "semicolon.csv": bytes_of(lambda to: frame.write_csv(to, separator=";")),
        "bom.csv": b"\xef\xbb\xbf" + bytes_of(frame.write_csv),
        "utf16.csv": bytes_of(frame.write_csv).decode().encode("utf-16"),
        "votes.ndjson": bytes_of(frame.write_ndjson),
        "votes.jsonl": b"\xef\xbb\xbf" + bytes_of(frame.write_ndjson),
        "votes.json": json.dumps(frame.to_dicts()).encode(),
        "votes.parquet": bytes_of(frame.write_parquet),
        "votes.arrow": bytes_of(frame.write_ipc),
        "votes.feather": bytes_of(frame.write_ipc_stream),
    }


FILES = encoded(WINS)
