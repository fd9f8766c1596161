"""Files as real tools write them: each is read as what it is, or refused with the way out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from messy_files import ORDER, Messy, messy_files

import juryrank as jr
from juryrank.votes import Votes

FILES = messy_files()
READ = [messy for messy in FILES if messy.votes]
REFUSED = [messy for messy in FILES if not messy.votes]


def by_share_of_wins(votes: Votes) -> list[object]:
    """Order the items, but for those that are only there as makeweights, by their wins."""
    wins = votes.in_pairs().wins()
    won = np.bincount(wins.winner, weights=wins.weight, minlength=votes.n_items)
    lost = np.bincount(wins.loser, weights=wins.weight, minlength=votes.n_items)
    share = dict(zip(votes.items, won / (won + lost), strict=True))
    return sorted((item for item in share if item in ORDER), key=lambda item: -share[item])


@pytest.mark.parametrize("messy", READ, ids=lambda messy: messy.name)
def test_is_read(messy: Messy, tmp_path: Path) -> None:
    path = tmp_path / messy.name
    path.write_bytes(messy.content)
    votes = jr.read_votes(path, **messy.options)
    assert by_share_of_wins(votes) == ORDER
    assert (len(votes), votes.n_judges) == (messy.votes, messy.judges)
    for words in messy.says:
        assert words in str(votes.reading[0])


@pytest.mark.parametrize("messy", REFUSED, ids=lambda messy: messy.name)
def test_is_refused(messy: Messy, tmp_path: Path) -> None:
    path = tmp_path / messy.name
    path.write_bytes(messy.content)
    with pytest.raises(jr.InputError) as caught:
        jr.read_votes(path, **messy.options)
    for words in messy.says:
        assert words in str(caught.value)
