"""The versions of the hot files for newer and older CPUs: which one runs, and that all agree."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from juryrank import _core

BUILD = Path(__file__).resolve().parents[2] / "build"
LEVELS = ("v2", "v3", "v4")
FIT = """
import json
import juryrank as jr
from juryrank import _core

found = {}
for model in ("hbtl", "htcv", "btl", "crowdbt"):
    for tie in (0.0, 0.4):
        made = jr.simulate(12, 15, votes_per_judge=60, tie=tie, seed=1)
        ranking = jr.rank(made.votes, model=model)
        found[f"{model}, {tie}"] = ranking.scores_of(made.items["item"]).tolist()
print(json.dumps([_core.cpu_level, found]))
"""
SAMPLED = """
import numpy as np
import juryrank as jr
from juryrank.model.noise import NOISES
from juryrank.model.objective import Objective
from juryrank.model.prior import Prior

made = jr.simulate(9, 6, votes_per_judge=3, per_vote=7, seed=1)
votes = jr.votes_from(made.votes).for_model(ties=False, sides=False)
objective = Objective(votes, NOISES["normal"], Prior(1.0, 0.5))
found = objective.votes_alone(np.linspace(-2.0, 2.0, 9), np.linspace(-0.5, 2.0, 6))
print(*(part.tobytes().hex() for part in found))
"""

on_x86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="other CPUs have one level"
)


def python(code: str, level: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        env={**os.environ, "JURYRANK_CPU": level},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@on_x86
def test_scores_agree_between_levels() -> None:
    known = {}
    for level in LEVELS:
        done = python(FIT, level)
        if "which this CPU is not" in done.stderr:
            continue
        assert not done.returncode, done.stderr
        name, known[level] = json.loads(done.stdout)
        assert name == level
    first, *others = known.values()
    for other in others:
        for case, scores in first.items():
            np.testing.assert_allclose(other[case], scores, rtol=1e-10, atol=1e-10, err_msg=case)


@on_x86
def test_what_the_sampler_asks_of_rankings_has_the_same_bits_at_every_level() -> None:
    done = [python(SAMPLED, level) for level in LEVELS[: LEVELS.index(_core.cpu_level) + 1]]
    assert [one.stderr for one in done if one.returncode] == []
    assert len({one.stdout for one in done}) == 1


@on_x86
def test_the_level_is_the_highest_one_unless_told() -> None:
    done = python("from juryrank import _core; print(_core.cpu_level)", "")
    assert done.stdout.split() == [_core.cpu_level]


@on_x86
@pytest.mark.parametrize("level", ["v1", "V3", "fast"])
def test_a_level_that_does_not_exist_is_refused(level: str) -> None:
    done = python("from juryrank import _core", level)
    assert done.returncode
    assert "JURYRANK_CPU must be v2, v3 or v4" in done.stderr


@on_x86
@pytest.mark.parametrize("level", LEVELS[1:])
def test_code_for_one_level_is_not_shared_with_others(level: str) -> None:
    """Of functions that several files define the linker takes any one, for all of them."""
    objects = sorted(BUILD.glob(f"*/CMakeFiles/core_{level}.dir/**/*.o"))
    nm = shutil.which("nm")
    if not objects or nm is None:
        pytest.skip("what was compiled is not here")
    for path in objects:
        command = [nm, "-C", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        shared = [line for line in done.stdout.splitlines() if line[17:18] in "VWu"]
        assert [line for line in shared if f"juryrank::{level}::" not in line] == [], path.name
