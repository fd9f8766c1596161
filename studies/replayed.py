"""Real votes replayed: how soon is their ranking found, if pairs are chosen?

    python -m studies.replayed --data FOLDER

A question is a pair. Its answer is a vote that was cast on this pair, by whomever, drawn from those
that were not given out before; a pair whose votes are used up is not asked about any more. What
comes near to the ranking of all votes is the better policy. Random votes are no policy, as nobody
can ask for them: they are a sample of all votes, with each pair as often as in these. Near is
therefore measured to a second ranking, too, that of all votes with the same weight for each pair.

What replaying does to policies is seen where the truth is known: answers are simulated from the
model as it fits the votes, with tastes that are drawn anew, once for the same judges and pairs as
the votes have, to be replayed, and once for any question, answered by a judge drawn by its votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.active.beliefs import beliefs_about
from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from studies.pages import markdown
from studies.running import kept_results, options

NONE_AT_RANDOM = "juryrank, none at random"
RANDOM_PAIRS, RANDOM_VOTES = "random pairs", "random votes"
POLICIES = ("juryrank", NONE_AT_RANDOM, RANDOM_PAIRS, RANDOM_VOTES)
TOP = 5
MEASURES = ("tau", "correlation", "top")
ALIKE, TRUE = "alike ", "true "
COLUMNS = ("judge", "left", "right", "winner")


class Source(NamedTuple):
    """Votes to replay, and when policies are compared."""

    file: str
    checks: tuple[int, ...]
    batch: int
    simulated: Literal["", "replayed", "asked"] = ""
    """Whether votes are simulated, and then replayed or given for any question."""


SOURCES = {
    "MT-Bench": Source("mt_bench/votes.csv", (60, 120, 240, 480), 20),
    "LLMFAO": Source("llmfao/votes.csv", (500, 1000, 2000), 100),
    "LLMFAO, simulated": Source("llmfao/votes.csv", (500, 1000, 2000), 100, "replayed"),
    "LLMFAO, asked": Source("llmfao/votes.csv", (500, 1000, 2000), 100, "asked"),
}


WITHOUT = {"": (), "replayed": (NONE_AT_RANDOM,), "asked": (NONE_AT_RANDOM, RANDOM_VOTES)}
"""Policies that are not tried."""


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

    def any_pair(self, rng: np.random.Generator) -> tuple[str, str]:
        """A pair that has a vote left."""
        left = [pair for pair, rows in self._rows.items() if rows]
        return left[int(rng.integers(len(left)))]

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


class Fitted:
    """Judges who vote as the model has it that fits the votes; their tastes are drawn anew."""

    def __init__(self, votes: pl.DataFrame, rng: np.random.Generator) -> None:
        ranking, self._rng = jr.rank(votes, threads=1), rng
        self.items = sorted(ranking.items["item"])
        self.score = _scores(ranking)
        self._code = {item: code for code, item in enumerate(self.items)}
        judges = ranking.votes.judges.to_list()
        known = beliefs_about(ranking.basis, range(len(judges)))
        self._accuracy = dict(zip(judges, known.accuracy.mean(axis=1).tolist(), strict=True))
        self._log_tie = dict(zip(judges, known.tie.mean(axis=1).tolist(), strict=True))  # type: ignore[union-attr]
        seen = np.array([self.score[item] for item in self.items])
        spread = float(known.taste_sd.mean())
        self._opinion = {
            judge: seen + spread * rng.standard_normal(len(seen)) for judge in sorted(judges)
        }
        self._judges = votes["judge"].to_list()

    def answer(self, judge: str, left: str, right: str) -> str:
        """What the judge says."""
        seen = self._opinion[judge]
        x = self._accuracy[judge] * (seen[self._code[left]] - seen[self._code[right]])
        win = float(expit(x))
        tied = np.exp(self._log_tie[judge]) * np.sqrt(win * (1.0 - win))
        lot = self._rng.random() * (1.0 + tied)
        return "tie" if lot > 1.0 else "left" if lot < win else "right"

    def any_judge(self) -> str:
        """The judge of one of the votes."""
        return str(self._judges[int(self._rng.integers(len(self._judges)))])


class Asked:
    """Answers to any question, each by a judge drawn by its votes."""

    def __init__(self, fitted: Fitted) -> None:
        self._fitted, self.items = fitted, fitted.items
        self.given: list[tuple[str, str, str, str]] = []

    def answer(self, left: str, right: str) -> None:
        """Have it answered."""
        judge = self._fitted.any_judge()
        self.given.append((judge, left, right, self._fitted.answer(judge, left, right)))

    def any_pair(self, rng: np.random.Generator) -> tuple[str, str]:
        """Two items."""
        one, other = rng.choice(self.items, 2, replace=False).tolist()
        return one, other

    @property
    def known(self) -> pl.DataFrame:
        """The votes until now."""
        return pl.DataFrame(self.given, schema=COLUMNS, orient="row")

    @property
    def used_up(self) -> None:
        """Nothing is."""


def replayed(trial: Trial) -> list[dict[str, Any]]:
    """What is known after so many votes."""
    source, rng = SOURCES[trial.source], np.random.default_rng([trial.seed, trial.number])
    votes = votes_of(Path(trial.folder) / source.file)
    pool: Pool | Asked
    true = None
    if source.simulated:
        fitted = Fitted(votes, rng)
        true, asked = fitted.score, votes.select("judge", "left", "right").iter_rows()
        votes = votes.with_columns(winner=pl.Series([fitted.answer(*one) for one in asked]))
    if source.simulated == "asked":
        pool, of_all, alike = Asked(fitted), None, None
    else:
        pool, of_all = Pool(votes, rng), _scores(jr.rank(votes, threads=1))
        alike = _scores(jr.rank(pairs_alike(votes), threads=1))
    found = []
    for check in source.checks:
        _ask_until(check, pool, trial, source.batch, rng)
        score = _scores(jr.rank(pool.known[:check], threads=1))
        found.append(
            {"source": trial.source, "policy": trial.policy, "number": trial.number,
             "votes": check, **_near(score, of_all), **_near(score, alike, ALIKE),
             **_near(score, true, TRUE)}
        )  # fmt: skip
    return found


def _ask_until(
    check: int, pool: Pool | Asked, trial: Trial, batch: int, rng: np.random.Generator
) -> None:
    """Have so many votes given out."""
    if trial.policy == RANDOM_VOTES:
        pool.given = list(range(check))
    while len(pool.given) < check:
        if trial.policy == RANDOM_PAIRS:
            pool.answer(*pool.any_pair(rng))
        else:
            for left, right in _asked(pool, trial, batch):
                pool.answer(left, right)


def pairs_alike(votes: pl.DataFrame) -> jr.Votes:
    """The votes, those on each pair with the same weight together."""
    pair = pl.min_horizontal("left", "right"), pl.max_horizontal("left", "right")
    weight = 1.0 / pl.len().over(*pair)
    return jr.votes_from(votes.with_columns(weight=weight / weight.mean()), weight="weight")


def votes_of(path: Path) -> pl.DataFrame:
    """Who said what of which pair."""
    return pl.read_csv(path, infer_schema=False).select(COLUMNS)


def _asked(pool: Pool | Asked, trial: Trial, count: int) -> Iterator[tuple[str, str]]:
    wishes: dict[str, Any] = {
        "barred": pool.used_up, "repeats": True, "items": pool.items,
        "seed": trial.seed + 1000 * trial.number + len(pool.given),
    }  # fmt: skip
    if trial.policy == NONE_AT_RANDOM:
        wishes["random_share"] = 0.0
    if pool.given:
        chosen = jr.rank(pool.known, threads=1).next_pairs(count, **wishes)
    else:
        chosen = jr.next_pairs([], 2 * len(pool.items), **wishes)
    return chosen.select("left", "right").iter_rows()


def _scores(ranking: jr.Ranking) -> dict[str, float]:
    return dict(ranking.items.select("item", "score").iter_rows())


def _near(
    score: dict[str, float], truth: dict[str, float] | None, what: str = ""
) -> dict[str, float | None]:
    """How near scores are; of items nobody asked about nothing is known."""
    if truth is None:
        return {f"{what}{name}": None for name in MEASURES}
    own = [score.get(item, 0.0) for item in truth]
    best, mine = (set(sorted(some, key=lambda i: -some[i])[:TOP]) for some in (truth, score))
    found = (
        float(kendalltau(own, list(truth.values())).statistic),
        float(np.corrcoef(own, list(truth.values()))[0, 1]),
        len(best & mine) / TOP,
    )
    return {f"{what}{name}": one for name, one in zip(MEASURES, found, strict=True)}


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Means over replays, and their standard errors."""
    measures = [f"{what}{name}" for what in ("", ALIKE, TRUE) for name in MEASURES]
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
    yield (
        "Is the order of all votes the one to find? Of LLMFAO's 1,711 pairs 927 have votes, from 1 "
        "to 60 each, 503 of them on answers to one prompt alone: judges of a pair agree beyond "
        'what the scores say. "Random votes" are a sample of all votes, most of them on the pairs '
        "that were voted on most. Nobody can ask for them; a policy can "
        'ask for pairs, any of which are "random pairs". "Pairs alike" is the tau to the ranking '
        "of all votes in which those on each pair have the same weight together."
    )
    yield ""
    yield (
        "For LLMFAO this is tried where the truth is known. Its model, as `jr.rank` fits it to all "
        "votes (scores, accuracies, ties, and tastes of the same spread, drawn anew), votes in "
        'place of the people. "simulated" has one vote for each real one, by the same judge on the '
        'same pair, and replays these. "asked" has no votes before: each question is answered by a '
        "judge drawn by the number of its votes, and random pairs are any pairs."
    )
    yield ""
    head = ("votes of", "policy", "replays", "votes", "tau", "correlation", "best 5",
            "tau, pairs alike", "tau to the truth", "correlation to the truth")  # fmt: skip
    yield from markdown(head, map(_row, table.iter_rows(named=True)))


def _row(row: dict[str, Any]) -> list[str]:
    names = (*MEASURES, "alike tau", "true tau", "true correlation")
    shown = (
        "" if row[name] is None else f"{row[name]:.3f} ± {row[f'{name}_se'] or 0.0:.3f}"
        for name in names
    )  # fmt: skip
    return [row["source"], row["policy"], str(row["replays"]), f"{row['votes']:,}", *shown]


def chart(table: pl.DataFrame) -> object:
    """Kendall's tau against votes."""
    alt = altair()
    replayed = table.select("source", "policy", "votes", "tau", to=pl.lit("all votes"))
    alike = table.select("source", "policy", "votes", tau="alike tau", to=pl.lit("pairs alike"))
    true = table.select("source", "policy", "votes", tau="true tau", to=pl.lit("the truth"))
    shown = pl.concat((replayed, alike, true)).drop_nulls("tau")
    dots = alt.Chart().encode(
        x=alt.X("votes:Q", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("tau:Q", title="Kendall's tau", scale=alt.Scale(zero=False)),
        color=alt.Color("policy:N", title=None),
    )
    line = dots.mark_line().encode(strokeDash=alt.StrokeDash("to:N", title="to the order of"))
    both = alt.layer(line, dots.mark_circle(size=60, opacity=1.0), data=shown)
    facet = alt.Facet("source:N", title=None, sort=list(SOURCES))
    both = both.properties(width=320, height=220)
    return both.facet(facet=facet, columns=2).resolve_scale(x="independent", y="independent")


def main() -> None:
    """Run the study and write its page."""
    parser = options(__doc__)
    parser.add_argument(
        "--replays", type=int, nargs=len(SOURCES), default=(8, 4, 4, 4), metavar=tuple(SOURCES)
    )
    parser.add_argument("--data", default="../shared/data", help="a folder with the votes")
    parser.add_argument("--trials", default="", help="a file that keeps what each trial found")
    given = parser.parse_args()
    trials = [
        Trial(source, policy, given.data, given.seed, number)
        for source, replays in zip(SOURCES, given.replays, strict=True)
        for policy in POLICIES
        if policy not in WITHOUT[SOURCES[source].simulated]
        for number in range(replays)
    ]
    found = kept_results(replayed, trials, "Replayed", given.jobs, given.trials)
    rows = [row for one in found for row in one]
    table = summary(pl.DataFrame(rows, infer_schema_length=None))
    counts = " ".join(map(str, given.replays))
    command = f"python -m studies.replayed --replays {counts} --seed {given.seed} --data FOLDER"
    for path in save_study(given.out, "replayed", table, list(page(table, command)), chart(table)):
        print(path)


if __name__ == "__main__":
    main()
