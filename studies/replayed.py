"""Real votes replayed: how soon is their ranking found, if pairs are chosen?

    python -m studies.replayed --data FOLDER

A question is a pair. Its answer is a vote that was cast on this pair, by whomever, drawn from those
that were not given out before; a pair whose votes are used up is not asked about any more. What
comes near to the ranking of all votes is the better policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from studies.pages import markdown
from studies.running import kept_results, options

POLICIES = ("juryrank", "juryrank, none at random", "random")
TOP = 5


class Source(NamedTuple):
    """Votes to replay, and when policies are compared."""

    file: str
    checks: tuple[int, ...]
    batch: int


SOURCES = {
    "MT-Bench": Source("mt_bench/votes.csv", (60, 120, 240, 480), 20),
    "LLMFAO": Source("llmfao/votes.csv", (500, 1000, 2000), 100),
}


class Trial(NamedTuple):
    """One replay."""

    source: str
    policy: str
    folder: str
    seed: int
    number: int


class Pool:
    """Votes in a random order, given out one by one."""

    def __init__(self, votes: pl.DataFrame, rng: np.random.Generator) -> None:
        self.votes = votes[rng.permutation(len(votes))]
        self.items = sorted({*votes["left"], *votes["right"]})
        self._rows: dict[tuple[str, str], list[int]] = {}
        pairs = zip(self.votes["left"], self.votes["right"], strict=True)
        for row, (left, right) in enumerate(pairs):
            self._rows.setdefault((min(left, right), max(left, right)), []).append(row)
        self.given: list[int] = []

    def answer(self, left: str, right: str) -> None:
        """Give out a vote on this pair, if there is one left."""
        rows = self._rows.get((min(left, right), max(left, right)))
        if rows:
            self.given.append(rows.pop())

    @property
    def known(self) -> pl.DataFrame:
        """The votes that were given out."""
        return self.votes[self.given]

    @property
    def used_up(self) -> pl.DataFrame:
        """Pairs without another vote, as `next_pairs` takes what is barred."""
        pairs = [
            (None, one, other)
            for at, one in enumerate(self.items)
            for other in self.items[at + 1 :]
            if not self._rows.get((one, other))
        ]
        schema = {"judge": pl.String, "left": pl.String, "right": pl.String}
        return pl.DataFrame(pairs, schema=schema, orient="row")


def replayed(trial: Trial) -> list[dict[str, Any]]:
    """What is known after so many votes."""
    source = SOURCES[trial.source]
    votes = votes_of(Path(trial.folder) / source.file)
    truth = _scores(jr.rank(votes, threads=1))
    pool = Pool(votes, np.random.default_rng([trial.seed, trial.number]))
    found = []
    for check in source.checks:
        if trial.policy == "random":
            pool.given = list(range(check))
        while len(pool.given) < check:
            for left, right in _asked(pool, trial, source.batch):
                pool.answer(left, right)
        score = _scores(jr.rank(pool.known[:check], threads=1))
        found.append(
            {"source": trial.source, "policy": trial.policy, "number": trial.number,
             "votes": check, **_near(score, truth)}
        )  # fmt: skip
    return found


def votes_of(path: Path) -> pl.DataFrame:
    """Who said what of which pair."""
    return pl.read_csv(path, infer_schema=False).select("judge", "left", "right", "winner")


def _asked(pool: Pool, trial: Trial, count: int) -> Iterator[tuple[str, str]]:
    wishes: dict[str, Any] = {
        "barred": pool.used_up, "repeats": True, "items": pool.items,
        "seed": trial.seed + 1000 * trial.number + len(pool.given),
    }  # fmt: skip
    if trial.policy == POLICIES[1]:
        wishes["random_share"] = 0.0
    if pool.given:
        chosen = jr.rank(pool.known, threads=1).next_pairs(count, **wishes)
    else:
        chosen = jr.next_pairs([], 2 * len(pool.items), **wishes)
    return chosen.select("left", "right").iter_rows()


def _scores(ranking: jr.Ranking) -> dict[str, float]:
    return dict(ranking.items.select("item", "score").iter_rows())


def _near(score: dict[str, float], truth: dict[str, float]) -> dict[str, float]:
    """How near scores are; of items nobody asked about nothing is known."""
    own = [score.get(item, 0.0) for item in truth]
    best, mine = (set(sorted(some, key=lambda i: -some[i])[:TOP]) for some in (truth, score))
    return {
        "tau": float(kendalltau(own, list(truth.values())).statistic),
        "correlation": float(np.corrcoef(own, list(truth.values()))[0, 1]),
        "top": len(best & mine) / TOP,
    }


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Means over replays, and their standard errors."""
    measures = ("tau", "correlation", "top")
    return rows.group_by("source", "policy", "votes", maintain_order=True).agg(
        pl.len().alias("replays"),
        *(pl.col(name).mean() for name in measures),
        *((pl.col(name).std() / pl.len().sqrt()).alias(f"{name}_se") for name in measures),
    )


def page(table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Real votes replayed"
    yield ""
    yield (
        f"Made by `{command}`. The votes of MT-Bench (6 language models, 66 judges, 5,755 votes, "
        "with ties) and LLMFAO (59 models, 124 crowd workers, 8,931 votes, 39 % of them ties) are "
        "given out one by one: a policy asks about a pair, and gets a vote on it that was not "
        "given out before, by whomever it is. It cannot choose the judge. Compared are the ranking "
        "of these votes and that of all votes, both by `jr.rank`: Kendall's tau, the correlation "
        "of the scores, and how many of the best five are the same, ± one standard error."
    )
    yield ""
    head = ("votes of", "policy", "replays", "votes", "tau", "correlation", "best 5")
    yield from markdown(head, map(_row, table.iter_rows(named=True)))


def _row(row: dict[str, Any]) -> list[str]:
    shown = (
        f"{row[name]:.3f} ± {row[f'{name}_se'] or 0.0:.3f}"
        for name in ("tau", "correlation", "top")
    )
    return [row["source"], row["policy"], str(row["replays"]), f"{row['votes']:,}", *shown]


def chart(table: pl.DataFrame) -> object:
    """Kendall's tau against votes."""
    alt = altair()
    line = alt.Chart(table, width=360, height=240).mark_line(point=True)
    line = line.encode(
        x=alt.X("votes:Q", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("tau:Q", title="Kendall's tau", scale=alt.Scale(zero=False)),
        color=alt.Color("policy:N", title=None),
    )
    facet = alt.Facet("source:N", title=None)
    return line.facet(facet=facet, columns=2).resolve_scale(x="independent", y="independent")


def main() -> None:
    """Run the study and write its page."""
    parser = options(__doc__)
    parser.add_argument("--replays", type=int, nargs=2, default=(8, 2), metavar=tuple(SOURCES))
    parser.add_argument("--data", default="../shared/data", help="a folder with the votes")
    parser.add_argument("--trials", default="", help="a file that keeps what each trial found")
    given = parser.parse_args()
    trials = [
        Trial(source, policy, given.data, given.seed, number)
        for source, replays in zip(SOURCES, given.replays, strict=True)
        for policy in POLICIES
        for number in range(replays)
    ]
    found = kept_results(replayed, trials, "Replayed", given.jobs, given.trials)
    rows = [row for one in found for row in one]
    table = summary(pl.DataFrame(rows))
    replays = " ".join(map(str, given.replays))
    command = f"python -m studies.replayed --replays {replays} --seed {given.seed} --data FOLDER"
    for path in save_study(given.out, "replayed", table, list(page(table, command)), chart(table)):
        print(path)


if __name__ == "__main__":
    main()
