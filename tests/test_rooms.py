"""The rooms of the package: each imports only from rooms below it, and no modules in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "juryrank"

ROOMS = (
    "foundations",
    "_core",
    "writing",
    "votes",
    "reading",
    "cluster",
    "datasets",
    "model",
    "simulation",
    "solvers",
    "inference",
    "judging",
    "ranking",
    "active",
    "charts",
    "report",
    "paper",
    "cli",
    "__main__",
)
"""From the ground up. Modules that lie in no room are foundations: every room may need them."""

UPWARDS = {
    ("ranking.ranking", "active.plan"): "how many more votes it needs: `plan`",
    ("ranking.ranking", "active.settled"): "and what is sure already: `settled`",
    ("ranking.ranking", "active.questions"): "a `Ranking` knows what to ask next: `next_pairs`",
    ("ranking.ranking", "charts.plots"): "a `Ranking` draws itself: `ranking.plot`",
    ("ranking.ranking", "report"): "a `Ranking` writes its own report: `ranking.save('x.html')`",
    ("ranking.by_value", "report"): "so do `Rankings` of values that were ranked apart",
    ("ranking.reliability", "ranking.rank"): "split halves of the judges are ranked again",
}
"""Imports against the order, made when they are needed, each with its reason."""


def _modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:  # the package itself only names where its public names live
            yield name, path


MODULES = dict(_modules())


def _is_module(name: str) -> bool:
    return name in MODULES or ((PACKAGE / "_core").is_dir() and name == "_core")


def _imports(source: str) -> set[str]:
    """Every module of the package that a source imports, wherever it does so."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "juryrank":
            within = str(node.module).removeprefix("juryrank").lstrip(".")
            for alias in node.names:
                inner = f"{within}.{alias.name}".lstrip(".")
                found.add(inner if _is_module(inner) else within)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            found |= {name.partition(".")[2] for name in names if name.startswith("juryrank.")}
    return found - {""}


def _room(module: str) -> str:
    first = module.split(".")[0]
    return first if first in ROOMS else ROOMS[0]


def _upward(graph: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Imports from a room above."""
    return {
        (module, other)
        for module, others in graph.items()
        for other in others
        if ROOMS.index(_room(other)) > ROOMS.index(_room(module))
    }


GRAPH = {name: _imports(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def test_every_room_is_known() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders - {"data"} <= set(ROOMS)


def test_rooms_import_only_from_rooms_below() -> None:
    assert _upward(GRAPH) <= set(UPWARDS)


def test_exceptions_are_still_needed() -> None:
    assert {(module, other) for module, others in GRAPH.items() for other in others} >= set(UPWARDS)


def test_no_modules_import_each_other_in_a_circle() -> None:
    kept = {
        module: {other for other in others if (module, other) not in UPWARDS}
        for module, others in GRAPH.items()
    }
    tuple(TopologicalSorter(kept).static_order())


def test_an_import_from_above_would_be_seen() -> None:
    inside = "def f():\n    from juryrank.cli import app\n"
    typing = "if TYPE_CHECKING:\n    from juryrank.ranking.rank import rank\n"
    assert _imports(inside) == {"cli.app"}
    assert _imports(typing) == {"ranking.rank"}
    assert _imports("import juryrank.votes.votes") == {"votes.votes"}
    assert _upward({"votes.votes": {"cli.app", "errors"}}) == {("votes.votes", "cli.app")}
    with pytest.raises(CycleError):
        tuple(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
