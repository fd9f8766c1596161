"""Arrow files that claim more than they hold are refused before as much memory is taken."""

from __future__ import annotations

import io
import random
import struct
import time
from collections.abc import Iterator
from typing import Literal

import polars as pl
import pytest

import juryrank as jr
from fuzzing.corpus import FINDINGS
from juryrank.reading.arrow_claims import UntrueError, check_arrow_claims

MOST = 1_000_000
VOTES = pl.DataFrame(
    {
        "judge": ["ann", "bob"] * 20,
        "winner": ["tea", "a name that is longer than twelve bytes"] * 20,
        "loser": ["milk", "coffee"] * 20,
        "weight": [1.0, 2.0] * 20,
    }
)
RICH = VOTES.with_columns(
    pl.col("judge").cast(pl.Categorical),
    pl.lit(None).alias("note"),
    pl.concat_list("winner", "loser").alias("both"),
    pl.struct("winner", "weight").alias("nested"),
)
Compression = Literal["uncompressed", "lz4", "zstd"]
COMPRESSIONS: tuple[Compression, ...] = ("uncompressed", "lz4", "zstd")


def written(votes: pl.DataFrame, *, is_file: bool, compression: Compression) -> bytes:
    out = io.BytesIO()
    write = votes.write_ipc if is_file else votes.write_ipc_stream
    write(out, compression=compression)
    return out.getvalue()


def in_all_ways(votes: pl.DataFrame) -> Iterator[bytes]:
    for compression in COMPRESSIONS:
        for is_file in (False, True):
            yield written(votes, is_file=is_file, compression=compression)


def check(content: bytes, *, unpack_all: bool = False, most: int = MOST) -> None:
    check_arrow_claims("votes.arrow", content, unpack_all=unpack_all, most=most)


def is_refused(content: bytes) -> bool:
    try:
        check(content)
    except (jr.InputError, UntrueError):
        return True
    return False


@pytest.mark.parametrize("votes", [VOTES, RICH, VOTES.clear(), RICH.clear()])
def test_sound_files_pass(votes: pl.DataFrame) -> None:
    for content in in_all_ways(votes):
        check(content)


def test_files_of_many_batches_and_of_older_readers_pass() -> None:
    many = pl.concat([RICH] * 5, rechunk=False)
    for content in in_all_ways(many):
        check(content)
    for is_file in (False, True):
        out = io.BytesIO()
        write = many.write_ipc if is_file else many.write_ipc_stream
        write(out, compat_level=pl.CompatLevel.oldest())
        check(out.getvalue())


def test_what_ended_the_process_is_a_message() -> None:
    with pytest.raises(jr.InputError, match="its description of its own parts is wrong"):
        jr.read_votes(FINDINGS / "claims-140-terabytes.arrow")


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_claimed_length_is_looked_at(is_file: bool, compression: Compression) -> None:
    content = written(VOTES, is_file=is_file, compression=compression)
    metadata = content.index(struct.pack("<q", len(VOTES)))
    refused = [
        is_refused(content[:at] + struct.pack("<q", 1 << 47) + content[at + 8 :])
        for at in range(metadata, metadata + 200, 8)
    ]
    assert sum(refused) > 15


def test_a_file_that_unpacks_to_much_needs_trust() -> None:
    repeated = pl.DataFrame({"winner": ["tea"] * 200_000, "loser": ["milk"] * 200_000})
    for is_file in (False, True):
        content = written(repeated, is_file=is_file, compression="zstd")
        assert len(content) < MOST / 100
        with pytest.raises(jr.InputError, match=r"unpack to more than 1,000,000.*--unpack-all"):
            check(content)
        check(content, unpack_all=True)
        check(content, most=100_000_000)


def test_a_column_of_nothing_but_nulls_may_not_claim_any_number_of_rows() -> None:
    content = written(
        pl.DataFrame({"note": [None] * 77}), is_file=False, compression="uncompressed"
    )
    assert not is_refused(content)
    assert is_refused(content.replace(struct.pack("<q", 77), struct.pack("<q", 1 << 40)))


def test_a_file_that_is_cut_off_is_refused_or_left_to_its_reader() -> None:
    for content in in_all_ways(RICH):
        for length in range(0, len(content), 7):
            is_refused(content[:length])


def test_garbage_is_refused_or_left_to_its_reader() -> None:
    rng = random.Random(1)
    for content in in_all_ways(RICH):
        for _ in range(300):
            spoilt = bytearray(content)
            for _ in range(rng.randint(1, 8)):
                at = rng.randrange(len(spoilt) - 8)
                spoilt[at : at + 8] = rng.choice(
                    [rng.randbytes(8), b"\xff" * 8, b"\x00" * 8, struct.pack("<q", 1 << 47)]
                )
            is_refused(bytes(spoilt))


def test_a_footer_that_names_one_message_a_million_times_takes_no_time() -> None:
    content = written(pl.concat([RICH] * 3), is_file=True, compression="uncompressed")
    stream = content[: content.rindex(b"\xff\xff\xff\xff")]
    blocks = struct.pack("<qi4xq", 8, 1_000, 0) * 200_000
    # The table of a footer whose dictionaries and batches are one list.
    footer = struct.pack("<I6HiIII", 16, 12, 12, 0, 0, 4, 8, 12, 8, 4, 200_000) + blocks
    begun = time.process_time()
    assert is_refused(stream + footer + struct.pack("<i", len(footer)) + b"ARROW1")
    assert time.process_time() - begun < 5.0
