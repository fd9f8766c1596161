"""Labels into codes, and codes into groups, against plain Python."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juryrank.reading import coding, votes_from
from juryrank.reading.coding import (
    MISSING,
    HashCoder,
    TableCoder,
    ValueCoder,
    by_group,
    coded,
    counts,
    translated,
)
from juryrank.votes.weights import are_equal_weights

CELLS = st.lists(st.none() | st.text(max_size=3) | st.sampled_from("abc"), max_size=60)


def decoded(labels: pl.Series, codes: np.ndarray) -> list[object]:
    return [None if code == MISSING else labels[int(code)] for code in codes]


class TestCoders:
    @given(cells=st.lists(CELLS, min_size=1, max_size=3))
    def test_every_column_comes_back(self, cells: list[list[str | None]]) -> None:
        coder = HashCoder(pl.String())
        codes = [coder.codes(pl.Series(column, dtype=pl.String)) for column in cells]
        assert [decoded(coder.labels, some) for some in codes] == cells
        assert coder.labels.n_unique() == len(coder.labels)

    def test_in_pieces(self) -> None:
        """What goes by pieces, or only pays for many rows, happens with few."""
        cells = [f"label {i * i % 97}" if i % 5 else None for i in range(400)]
        coder = HashCoder(pl.String(), piece=3, at_once=7, sample=4)
        codes = coder.codes(pl.Series(cells))
        assert decoded(coder.labels, codes) == cells
        assert coder.labels.n_unique() == len(coder.labels)

    def test_labels_that_want_the_same_slot(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(HashCoder, "_slot_of", lambda _, hashes: np.zeros(len(hashes), int))
        cells = [str(i % 50) for i in range(200)]
        coder = HashCoder(pl.String(), slots_per_label=1)
        codes = coder.codes(pl.Series(cells))
        assert decoded(coder.labels, codes) == cells

    def test_numbers_made_up_to_want_the_same_slot(self) -> None:
        """Multiplied by `SPREAD` these are 0, 1, 2, ...: all would share their leading bits."""
        back = pow(int(coding.SPREAD), -1, 2**64)
        cells = [k * back % 2**64 for k in range(2000)]
        coder = HashCoder(pl.UInt64())
        codes = coder.codes(pl.Series(cells, dtype=pl.UInt64))
        assert decoded(coder.labels, codes) == cells
        assert len(np.unique(coder._slot_of(coder._hash))) > 100

    def test_blank_is_missing(self) -> None:
        found = coded(pl.Series(["a", " ", None, "b", ""]), pl.Series(["", "a"], dtype=pl.String))
        assert [(codes < 0).tolist() for codes in found.codes] == [
            [False, True, True, False, True],
            [True, False],
        ]
        assert found.has_missing

    @pytest.mark.parametrize(
        "cells", [[3, 1, 3, 2], [3, None, 10**17], [0.5, None, 2.5], [True, False, None]]
    )
    def test_what_is_no_text(self, cells: list[object]) -> None:
        found = coded(pl.Series(cells))
        assert decoded(found.labels, found.codes[0]) == cells
        coder = ValueCoder(pl.Series(cells).dtype)
        for some in (cells[:2], cells[1:]):
            column = pl.Series(some, dtype=pl.Series(cells).dtype)
            codes = coder.codes(column)
            assert decoded(coder.labels, codes) == some


@given(group=st.lists(st.integers(-1, 4)))
def test_groups(group: list[int]) -> None:
    """Whether the groups are laid out in the order of their numbers or backwards."""
    of = np.array(group, dtype=np.int32)
    rows = np.arange(len(of), dtype=np.int32)
    table = 10 * rows
    size = counts(of, 5)
    assert size.tolist() == [group.count(g) for g in range(5)]
    forwards = np.append(np.cumsum(size) - size, size.sum())
    backwards = np.append((np.cumsum(size[::-1]) - size[::-1])[::-1], size.sum())
    for first, order in ((forwards, range(5)), (backwards, reversed(range(5)))):
        want = [i for g in order for i in rows.tolist() if group[i] == g]
        assert by_group(rows, None, of, first).tolist() == want
        assert by_group(rows, table, of, first).tolist() == [10 * i for i in want]


@given(codes=st.lists(st.integers(-1, 4), max_size=60), piece=st.integers(1, 20))
def test_codes_in_pieces(codes: list[int], piece: int) -> None:
    some, table = np.array(codes, dtype=np.int32), np.array([5, 6, 7, 8, 9, -3])
    assert translated(some, table, piece).tolist() == [int(table[code]) for code in codes]
    assert counts(some, 5, piece).tolist() == [codes.count(code) for code in range(5)]


@given(numbers=st.lists(st.integers(-20, 20), min_size=1), at_once=st.integers(1, 20))
def test_numbers_that_lie_close_together_in_pieces(numbers: list[int], at_once: int) -> None:
    column = pl.Series(numbers, dtype=pl.Int64)
    coder = TableCoder([column], at_once)
    assert coder.labels.to_list() == sorted(set(numbers))
    assert decoded(coder.labels, coder.codes(column)) == numbers


def test_equal_weights_take_no_memory() -> None:
    frame = pl.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"], "weight": [1, 1]})
    for votes in (votes_from(frame), votes_from(frame.drop("weight"))):
        assert are_equal_weights(votes.weight)
        assert are_equal_weights(votes.subset(np.array([True, False])).weight)
        assert votes.weight.tolist() == [1.0, 1.0]
