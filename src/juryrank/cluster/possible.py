"""What can be had on a cluster, and what to do about the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from juryrank.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

Cluster = Union["Client", str, None]
"""A client of Dask, or the address of a scheduler; None: this machine."""
ON_ONE_MACHINE = (
    "rank on one machine: read_votes(..., memory=...) (--memory) takes votes larger than memory"
)


def check_possible(asked: Mapping[str, Any]) -> None:
    """Refuse what needs all votes on one machine, before anything is read."""
    for name, wrong in (
        ("by", asked["by"] is not None),
        ("solver", asked["solver"] == "paper"),
        ("intervals", asked["intervals"] == "bootstrap"),
        ("without", bool(asked.get("without"))),
        ("report", asked.get("report") is not None),
    ):
        if wrong:
            raise InputError(
                f"{name}={asked[name]!r} (--{name}) is not available on a cluster: omit it, or "
                f"{ON_ONE_MACHINE}."
            )
