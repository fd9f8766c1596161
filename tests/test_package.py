"""The package as a whole: its names, and machines on which nothing can be written."""

from __future__ import annotations

import re
import subprocess
import sys

import polars as pl
import pytest

import juryrank as jr

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def test_every_public_name_is_there_and_listed() -> None:
    assert set(jr.__all__) == set(jr._HOME)
    assert {name for name in dir(jr) if not name.startswith("_")} == set(jr.__all__)
    for name in jr.__all__:
        assert getattr(jr, name).__name__ == name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(jr, "nothing")


def test_public_objects_print_themselves_in_a_few_lines() -> None:
    made = jr.simulate(4, 2, votes_per_judge=50, tie=0.5, seed=1)
    assert repr(made) == "Simulation(100 votes by 2 judges on 4 items, tie 0.5)"
    check = repr(jr.check(made.votes)).splitlines()
    assert check[0].startswith("Check of 100 votes by 2 judges on 4 items (")
    assert check[1] == "All 4 items are connected: the votes can rank them."
    ranking = jr.rank(made.votes, "btl")
    best, second = ranking.items["item"][:2]
    gap = ranking.difference(best, second)
    assert repr(gap) == f"Difference({gap})"
    assert repr(ranking.scale) == "Scale(model)"
    points = ranking.scaled("elo", (best, 1200.0))
    assert re.fullmatch(
        rf"Scale\(elo: \d+\.?\d* \+ 173\.718 \* score, {best} has 1200\)", repr(points.scale)
    )
    assert repr(ranking.fit).startswith("Fit(converged=True, iterations=")
    assert "=None" not in repr(ranking.fit)


def test_a_check_prints_what_keeps_the_votes_from_ranking() -> None:
    rows = [
        {"judge": "j", "winner": "a", "loser": "b"},
        {"judge": "j", "winner": "c", "loser": "d"},
    ]
    shown = repr(jr.check(pl.DataFrame(rows)))
    assert "2 groups that were never compared" in shown
    assert "\n- " in shown


def test_a_comparison_prints_its_models() -> None:
    made = jr.simulate(4, 2, votes_per_judge=50, seed=1)
    found = jr.compare(made.votes, ["btl", "win-rate"], folds=2)
    heading, columns, best, other = repr(found).splitlines()
    assert heading.startswith(
        "Comparison of 2 models on held-out votes (100 votes, 2 folds, seed 0;"
    )
    assert columns.split() == ["log-loss", "worse", "by", "model"]
    assert re.fullmatch(r" +0\.\d{4} +best  (btl|win-rate)", best)
    assert re.fullmatch(r" +0\.\d{4} +0\.\d{4} ± 0\.\d{4}  (btl|win-rate)", other)
    assert "<table" in found._repr_html_()


def test_ranks_where_numba_cannot_write_its_cache() -> None:
    script = (
        "import numba.core.caching\n"
        "def refuse(self, function):\n"
        "    raise RuntimeError('cannot cache function: no locator available')\n"
        "numba.core.caching.FunctionCache.__init__ = refuse\n"
        "import juryrank._kernels as kernels\n"
        "assert not kernels.COMPILED['cache']\n"
        "import numpy as np\n"
        "print(kernels.counting_order(np.array([1, 0, 1], dtype=np.int32), 2))\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1 0 2]\n"
