"""Draw the picture of a posterior that the docs show: `python docs/pictures/posterior.py`."""

from __future__ import annotations

from pathlib import Path

import juryrank as jr
from juryrank.charts.library import png

HERE = Path(__file__).parent


def main() -> None:
    """Rank the example votes and save the draws of their scores."""
    ranking = jr.rank(jr.datasets.llm_judges().votes)
    (HERE / "posterior.png").write_bytes(png(ranking.plot.posterior()))


if __name__ == "__main__":
    main()
