"""The grid: which cases, which adapters, how often, how long. Read from `grid.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

DEFAULT = Path(__file__).with_name("grid.toml")
SIZES = ("votes", "items", "judges")
PEERS = "peers"
"""The study that compares; the others are named after what grows."""


@dataclass(frozen=True)
class Case:
    """A table of simulated votes."""

    name: str
    votes: int
    items: int
    judges: int
    backwards: float = 0.0
    """The share of the judges who vote backwards."""
    seed: int = 1


@dataclass(frozen=True)
class Plan:
    """A case and what is run on it."""

    case: Case
    adapters: tuple[str, ...]
    study: str = PEERS
    profile: bool = False


@dataclass(frozen=True)
class ShellPlan:
    """The commands that are run from the shell."""

    small: Case
    repeats: int
    large: Case | None = None
    memory: str | None = None
    """With how much memory the large votes are also ranked."""


@dataclass(frozen=True)
class Grid:
    """All that one run measures."""

    name: str
    repeats: int
    once_above: float
    limit: float
    plans: tuple[Plan, ...]
    kernel: Case | None
    kernel_repeats: int
    shell: ShellPlan | None
    ranking_repeats: int = 0
    """How often rankings are fitted."""
    install: bool = False
    """Whether an installation from a fresh clone is measured."""


def read_grid(name: str, path: Path = DEFAULT) -> Grid:
    """The grid of this name."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    if name not in tables:
        raise SystemExit(f"There is no grid {name!r} in {path.name}: {', '.join(tables)}.")
    table = tables[name]
    grown = [plan for growth in table.get("growth", ()) for plan in _growth(growth)]
    kernel = table.get("kernel")
    return Grid(
        name=name,
        repeats=int(table["repeats"]),
        once_above=float(table["once_above"]),
        limit=float(table["limit"]),
        plans=(*map(_plan, table["cases"]), *grown),
        kernel=_case({"name": "kernel", **kernel}) if kernel else None,
        kernel_repeats=int(kernel["repeats"]) if kernel else 0,
        shell=_shell(table["shell"]) if "shell" in table else None,
        ranking_repeats=int(table.get("ranking_repeats", 0)),
        install=bool(table.get("install", False)),
    )


def _case(table: Mapping[str, Any]) -> Case:
    sizes = {key: int(table[key]) for key in SIZES}
    return Case(str(table["name"]), **sizes, backwards=float(table.get("backwards", 0.0)))


def _sized(name: str, sizes: list[int]) -> Case:
    return Case(name, *sizes)


def _plan(table: Mapping[str, Any]) -> Plan:
    adapters = tuple(map(str, table["adapters"]))
    return Plan(_case(table), adapters, profile=bool(table.get("profile", False)))


def _growth(table: Mapping[str, Any]) -> Iterator[Plan]:
    """A plan for every value of the field that is a list."""
    (along,) = (key for key in SIZES if isinstance(table[key], list))
    for size in table[along]:
        name = f"{along}-{short_number(size)}"
        yield Plan(
            _case({**table, along: size, "name": name}), tuple(table["adapters"]), study=along
        )


def _shell(table: Mapping[str, Any]) -> ShellPlan:
    large = _sized("shell-large", table["large"]) if "large" in table else None
    small = _sized("shell-small", table["small"])
    return ShellPlan(small, int(table["repeats"]), large, table.get("memory"))


def short_number(number: int) -> str:
    """As people say it: 3k, 2M."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if number >= size and number % size == 0:
            return f"{number // size}{sign}"
    return str(number)


def only(grid: Grid, names: list[str]) -> Grid:
    """Some cases of a grid; what is no case goes by the name of its table."""
    plans = tuple(plan for plan in grid.plans if plan.case.name in names)
    missing = (
        set(names) - {plan.case.name for plan in plans} - {"kernel", "shell", "rankings", "install"}
    )
    if missing:
        raise SystemExit(f"The grid {grid.name!r} has no case {', '.join(sorted(missing))}.")
    return replace(
        grid,
        plans=plans,
        kernel=grid.kernel if "kernel" in names else None,
        shell=grid.shell if "shell" in names else None,
        ranking_repeats=grid.ranking_repeats if "rankings" in names else 0,
        install=grid.install and "install" in names,
    )
