"""What the tests of reading share: votes in every format, and ways to look at them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import polars as pl
import pytest

from juryrank.errors import InputError
from juryrank.reading import read_votes
from juryrank.votes import LEFT_WON, Votes

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
