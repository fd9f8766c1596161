"""juryrank: votes by many judges in, one ranking out, and how far to trust every judge."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from juryrank import datasets as datasets
    from juryrank.active.judge import Judge
    from juryrank.active.plan import Plan
    from juryrank.active.questions import next_pairs
    from juryrank.active.running import run, run_async
    from juryrank.active.settled import Settled
    from juryrank.charts.plots import Plots
    from juryrank.cluster.scan import scan_votes
    from juryrank.cluster.scanned import ScannedVotes
    from juryrank.errors import ConvergenceWarning, InputError, JuryrankError, JuryrankWarning
    from juryrank.inference.intervals import Difference
    from juryrank.model.noise import Noise
    from juryrank.model.own_noise import noise_from_log_density
    from juryrank.model.points import Scale
    from juryrank.model.prior import Prior
    from juryrank.model.registry import MODELS
    from juryrank.progress import Progress
    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.comparison import Comparison, compare
    from juryrank.ranking.fit import Fit
    from juryrank.ranking.frames import StandardErrors
    from juryrank.ranking.judge_report import Heterogeneity, JudgeReport, judges
    from juryrank.ranking.misfit import Misfit
    from juryrank.ranking.rank import rank
    from juryrank.ranking.ranking import Draws, Ranking
    from juryrank.ranking.reliability import Reliability, SplitHalves
    from juryrank.reading import read_votes, votes_from
    from juryrank.reading.checks import Check, check
    from juryrank.reading.concat import concat_votes, join_votes
    from juryrank.simulation.simulation import Simulation, simulate
    from juryrank.solvers.crowd import CrowdSolver
    from juryrank.solvers.paper import PaperSolver
    from juryrank.solvers.profile import ProfileSolver
    from juryrank.votes.votes import Votes

__version__ = "0.1.0"

_HOME = {
    "Check": "reading.checks",
    "Comparison": "ranking.comparison",
    "ConvergenceWarning": "errors",
    "CrowdSolver": "solvers.crowd",
    "Difference": "inference.intervals",
    "Draws": "ranking.ranking",
    "Fit": "ranking.fit",
    "Heterogeneity": "ranking.judge_report",
    "InputError": "errors",
    "Judge": "active.judge",
    "JudgeReport": "ranking.judge_report",
    "JuryrankError": "errors",
    "JuryrankWarning": "errors",
    "MODELS": "model.registry",
    "Misfit": "ranking.misfit",
    "Noise": "model.noise",
    "PaperSolver": "solvers.paper",
    "Plan": "active.plan",
    "Plots": "charts.plots",
    "Prior": "model.prior",
    "ProfileSolver": "solvers.profile",
    "Progress": "progress",
    "Ranking": "ranking.ranking",
    "Rankings": "ranking.by_value",
    "Reliability": "ranking.reliability",
    "Scale": "model.points",
    "ScannedVotes": "cluster.scanned",
    "Settled": "active.settled",
    "Simulation": "simulation.simulation",
    "SplitHalves": "ranking.reliability",
    "StandardErrors": "ranking.frames",
    "Votes": "votes.votes",
    "check": "reading.checks",
    "compare": "ranking.comparison",
    "concat_votes": "reading.concat",
    "join_votes": "reading.concat",
    "judges": "ranking.judge_report",
    "next_pairs": "active.questions",
    "noise_from_log_density": "model.own_noise",
    "rank": "ranking.rank",
    "read_votes": "reading",
    "run": "active.running",
    "run_async": "active.running",
    "scan_votes": "cluster.scan",
    "simulate": "simulation.simulation",
    "votes_from": "reading",
}

__all__ = [
    "MODELS",
    "Check",
    "Comparison",
    "ConvergenceWarning",
    "CrowdSolver",
    "Difference",
    "Draws",
    "Fit",
    "Heterogeneity",
    "InputError",
    "Judge",
    "JudgeReport",
    "JuryrankError",
    "JuryrankWarning",
    "Misfit",
    "Noise",
    "PaperSolver",
    "Plan",
    "Plots",
    "Prior",
    "ProfileSolver",
    "Progress",
    "Ranking",
    "Rankings",
    "Reliability",
    "Scale",
    "ScannedVotes",
    "Settled",
    "Simulation",
    "SplitHalves",
    "StandardErrors",
    "Votes",
    "check",
    "compare",
    "concat_votes",
    "join_votes",
    "judges",
    "next_pairs",
    "noise_from_log_density",
    "rank",
    "read_votes",
    "run",
    "run_async",
    "scan_votes",
    "simulate",
    "votes_from",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, and with it the libraries that it needs."""
    if name == "datasets":
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
