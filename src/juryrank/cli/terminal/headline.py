"""What stands above a ranking, and above a report on its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from juryrank.errors import counted
from juryrank.model.registry import model_named

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking


def headline(ranking: Ranking) -> Text:
    """How much there is of everything, and the model."""
    sizes = (
        counted(len(ranking.items), "item"),
        counted(len(ranking.judges), "judge"),
        ranking.fit.votes_in_words,
    )
    model = model_named(ranking.model)
    return Text.assemble((", ".join(sizes), "bold"), f"\nModel {model.name}: {model.title}")
