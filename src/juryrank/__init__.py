"""juryrank: votes by many judges in, one ranking out, and how far to trust every judge."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from juryrank import datasets as datasets
    from juryrank.checking import Check, check
    from juryrank.comparing import Comparison, compare
    from juryrank.errors import InputError, JuryrankError, JuryrankWarning
    from juryrank.fitting import rank
    from juryrank.intervals import Difference
    from juryrank.joining import join_votes
    from juryrank.judging.report import Heterogeneity, JudgeReport, judges
    from juryrank.misfit import Misfit
    from juryrank.noise import Noise, noise_from_log_density
    from juryrank.ranking import Draws, Fit, Ranking
    from juryrank.rankings import Rankings
    from juryrank.reading import read_votes, votes_from
    from juryrank.reliability import Reliability, SplitHalves
    from juryrank.scaling import Scale
    from juryrank.simulation import Simulation, simulate
    from juryrank.solvers.crowd import CrowdSolver
    from juryrank.solvers.paper import PaperSolver
    from juryrank.solvers.profile import ProfileSolver
    from juryrank.votes import Votes

__version__ = "0.1.0"

_HOME = {
    "Check": "checking",
    "Comparison": "comparing",
    "CrowdSolver": "solvers.crowd",
    "Difference": "intervals",
    "Draws": "ranking",
    "Fit": "ranking",
    "Heterogeneity": "judging.report",
    "InputError": "errors",
    "JudgeReport": "judging.report",
    "JuryrankError": "errors",
    "JuryrankWarning": "errors",
    "Misfit": "misfit",
    "Noise": "noise",
    "PaperSolver": "solvers.paper",
    "ProfileSolver": "solvers.profile",
    "Ranking": "ranking",
    "Rankings": "rankings",
    "Reliability": "reliability",
    "Scale": "scaling",
    "Simulation": "simulation",
    "SplitHalves": "reliability",
    "Votes": "votes",
    "check": "checking",
    "compare": "comparing",
    "join_votes": "joining",
    "judges": "judging.report",
    "noise_from_log_density": "noise",
    "rank": "fitting",
    "read_votes": "reading",
    "simulate": "simulation",
    "votes_from": "reading",
}

__all__ = [
    "Check",
    "Comparison",
    "CrowdSolver",
    "Difference",
    "Draws",
    "Fit",
    "Heterogeneity",
    "InputError",
    "JudgeReport",
    "JuryrankError",
    "JuryrankWarning",
    "Misfit",
    "Noise",
    "PaperSolver",
    "ProfileSolver",
    "Ranking",
    "Rankings",
    "Reliability",
    "Scale",
    "Simulation",
    "SplitHalves",
    "Votes",
    "check",
    "compare",
    "join_votes",
    "judges",
    "noise_from_log_density",
    "rank",
    "read_votes",
    "simulate",
    "votes_from",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that numba loads only where it is needed."""
    if name == "datasets":
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
