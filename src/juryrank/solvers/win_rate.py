"""The naive reference: the share of its votes an item won."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.solvers.solution import Solution
from juryrank.votes.coded import CodedVotes
from juryrank.votes.weights import total_weight


@dataclass(frozen=True)
class WinRate:
    """Score = votes won / votes; one half for an item without votes. Judges count alike."""

    def solve(self, votes: CodedVotes) -> Solution:
        """Count the votes on pairs."""
        pairs, n = votes.pairs, votes.n_items
        won = total_weight(pairs.winner, pairs.weight, n)
        played = won + total_weight(pairs.loser, pairs.weight, n)
        share = np.divide(won, played, out=np.full(n, 0.5), where=played > 0.0)
        return Solution(share, np.ones(votes.n_judges), None, True, 1)
