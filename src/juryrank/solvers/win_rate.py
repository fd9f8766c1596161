"""The naive reference: the share of its votes an item won."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.solvers.solution import Solution
from juryrank.votes.votes import Wins
from juryrank.votes.weights import total_weight


@dataclass(frozen=True)
class WinRate:
    """Score = votes won / votes; one half for an item without votes. Judges count alike."""

    def solve(self, wins: Wins, n_items: int) -> Solution:
        """Count."""
        won = total_weight(wins.winner, wins.weight, n_items)
        played = won + total_weight(wins.loser, wins.weight, n_items)
        share = np.divide(won, played, out=np.full(n_items, 0.5), where=played > 0.0)
        return Solution(share, np.ones(len(wins.start) - 1), None, True, 1)
