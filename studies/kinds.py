"""How often do the 95 % intervals contain the truth with rankings, choices, ties and sides?

    python -m studies.kinds

Votes are simulated from the plain model. The truth is brought to the answer's scale as in
`studies.covered`; effects have no scale. Intervals of ties are taken on the scale of ``log t``,
where what sets a judge apart is told from the true common value on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from juryrank import __version__
from juryrank.paper.pictures import save_study
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.request import Order, Ties
from juryrank.simulation.simulation import Simulation
from juryrank.votes.votes import Votes
from studies.covered import (
    CONFIDENCE,
    DEFAULT,
    LEAST,
    LEFT,
    MOST,
    RANKS,
    TIES,
    beside_truth,
    labelled,
    summary,
)
from studies.pages import coverage_chart, markdown, outside, percent
from studies.running import all_results, options

JUDGES = (2.0, 1.5, 1.2, 1.0, 1.0, 0.9, 0.8, 0.6, 0.5, 0.4)
BACKWARDS = (2.0, 1.5, 1.2, 1.0, 1.0, 0.8, 0.5, -0.6, -1.0, -1.5)
ITEMS = 12
MODELS = ("hbtl", "btl", "htcv")
"""Those of the grid that are run if nothing is said."""
NUMBERS = ("scores", "differences", "accuracies")
EFFECTS = (TIES, "judges' ties", LEFT, "judges' left sides")
QUANTITIES = (*NUMBERS, *EFFECTS, *RANKS)
SLOW = 5
"""Of rankings and choices under normal noise, chains of integrals, one data set in so many."""
ON_THE_SCALE_OF_SCORES = ("scores", "differences")


@dataclass(frozen=True)
class Part:
    """Votes of one kind by each judge."""

    votes: int
    per_vote: int = 2
    top: int | None = None
    tie: float = 0.0
    tie_sd: float = 0.0
    left: float = 0.0
    left_sd: float = 0.0

    def simulated(
        self, model: str, scores: Sequence[float], accuracies: Sequence[float], seed: int
    ) -> Simulation:
        """The votes and the truth."""
        return jr.simulate(
            model=model, scores=scores, accuracies=accuracies, votes_per_judge=self.votes,
            per_vote=self.per_vote, top=self.top, tie=self.tie, tie_sd=self.tie_sd,
            left=self.left, left_sd=self.left_sd, seed=seed,
        )  # fmt: skip

    def __str__(self) -> str:
        if self.per_vote == 2:
            what = "pairs"
        elif self.top == 1:
            what = f"choices from {self.per_vote}"
        elif self.top is None:
            what = f"rankings of {self.per_vote}"
        else:
            what = f"rankings of the best {self.top} of {self.per_vote}"
        return f"{self.votes} {what}"


@dataclass(frozen=True)
class Kind:
    """Who votes how on 12 items; scores are drawn from N(0, 1) for each data set."""

    name: str
    parts: tuple[Part, ...]
    """One, or pairs and then lists."""
    models: tuple[str, ...] = ("hbtl", "btl", "htcv")
    accuracies: tuple[float, ...] = JUDGES
    ties: Ties | None = None
    order: Order = "none"

    @property
    def tied_as_one(self) -> bool:
        """Whether votes come from another model of ties than that of the fit: see `in_one_unit`."""
        return self.ties is None and any(part.tie and part.per_vote > 2 for part in self.parts)

    def data_sets(self, model: str, count: int) -> int:
        """Of so many data sets, those that are ranked: few where it takes long."""
        slow = model == "htcv" and any(part.per_vote > 2 for part in self.parts)
        return -(-count // SLOW) if slow else count

    def drawn(self, model: str, rng: np.random.Generator) -> tuple[Simulation, Votes]:
        """The truth, and the votes of all parts."""
        scores = rng.normal(size=ITEMS).tolist()
        equal = model in ("btl", "tcv")
        accuracies = [1.0] * len(self.accuracies) if equal else list(self.accuracies)
        seeds = rng.integers(2**31, size=len(self.parts)).tolist()
        made = [
            part.simulated(model, scores, accuracies, seed)
            for part, seed in zip(self.parts, seeds, strict=True)
        ]
        coded = [one.coded() for one in made]
        if any(one.n_items < ITEMS for one in coded):
            raise ValueError("Some items have no votes: their codes would not agree.")
        return made[0], replace(coded[0], lists=coded[-1].lists)


BY_JUDGE = Part(100, tie=0.8, tie_sd=0.5, left=0.5, left_sd=0.5)
KINDS = (
    Kind("rankings", (Part(20, 6),)),
    Kind("a third backwards", (Part(20, 6),), ("hbtl", "htcv"), BACKWARDS),
    Kind("best 2", (Part(30, 6, 2),)),
    Kind("choices", (Part(60, 5, 1),)),
    Kind("ties and sides", (Part(100, tie=0.8, left=0.5),), order="common"),
    Kind("by judge", (BY_JUDGE,), ties="davidson-by-judge", order="by-judge"),
    Kind("rankings with ties", (Part(20, 6, tie=0.8),), ("hbtl", "btl"), ties="davidson"),
    Kind("tied as one", (Part(20, 6, tie=0.8),), ("hbtl", "btl")),
    Kind("mix", (Part(50, tie=0.8, left=0.5), Part(10, 5, tie=0.8)), ("hbtl", "btl"),
         order="common"),
)  # fmt: skip


DATA_SETS = 100
"""Of each kind and model."""


@dataclass(frozen=True)
class Trial:
    """One data set of one kind."""

    kind: Kind
    model: str
    number: int
    seed: int

    def drawn(self) -> tuple[Simulation, Votes]:
        """The truth and the votes."""
        key = (KINDS.index(self.kind), self.kind.models.index(self.model), self.number)
        return self.kind.drawn(
            self.model, np.random.default_rng(np.random.SeedSequence([self.seed, *key]))
        )


def measured(trial: Trial) -> pl.DataFrame:
    """Every interval of one data set, as `studies.covered.measured`, and those of the effects."""
    made, votes = trial.drawn()
    ranking = DEFAULT.ranking(votes, trial.model, trial.kind.ties, trial.kind.order)
    frames = (beside_truth(made, votes, ranking), effects_beside_truth(made, ranking))
    frame = pl.concat(frames, how="diagonal")
    return labelled(frame, trial.kind.name, trial.model, DEFAULT, trial.number)


def effects_beside_truth(made: Simulation, ranking: Ranking) -> pl.DataFrame:
    """Intervals of all effects, less the true common value; ties as logarithms."""
    found = []
    told = ranking.effects.select("effect", "judge", "value", "low", "high")
    for effect, judge, *ends in told.iter_rows():
        common = made.effects.row(by_predicate=pl.col("effect") == effect, named=True)["value"]
        truth, column = common, "tie" if effect == TIES else "left"
        # Judges who do not differ may be told apart nevertheless.
        if judge is not None and column in made.judges.columns:
            truth = made.judges.row(by_predicate=pl.col("judge") == judge, named=True)[column]
        numbers = np.array([*ends, truth])
        numbers = np.log(numbers / common) if effect == TIES else numbers - common
        found.append((_what(effect, judge), *numbers.tolist()))
    names = ("what", "estimate", "low", "high", "truth")
    kinds = (pl.String(), *[pl.Float64()] * 4)
    return pl.DataFrame(found, schema=dict(zip(names, kinds, strict=True)), orient="row")


def _what(effect: str, judge: object) -> str:
    if judge is None:
        return effect
    return "judges' ties" if effect == TIES else "judges' left sides"


def study(
    count: int = DATA_SETS,
    seed: int = 0,
    models: Sequence[str] = MODELS,
    jobs: int | None = None,
) -> pl.DataFrame:
    """How often intervals cover, for each kind, model and quantity, over `count` data sets."""
    trials = [
        Trial(kind, model, number, seed)
        for kind in KINDS
        for model in kind.models
        if model in models
        for number in range(kind.data_sets(model, count))
    ]
    found = pl.concat(all_results(measured, trials, "Covering all kinds of votes", jobs))
    return summary(in_one_unit(found))


def in_one_unit(found: pl.DataFrame) -> pl.DataFrame:
    """Bring true scores to the unit of the fit where rankings have ties, and leave out their ties.

    Votes are drawn with Davidson's ties between all items that are left; the fit counts tied items
    as one. Its weight of ties is another number, and its scores have another unit, ``c`` times that
    of the truth. One ``c`` serves all data sets of a setting and model: the regression of estimate
    on truth, ``sum x y / sum x^2``.
    """
    other = pl.col("setting").is_in([kind.name for kind in KINDS if kind.tied_as_one])
    unit = unit_of_scores().over("setting", "model")
    rescaled = pl.col("truth") * pl.when(other & _on_the_scale()).then(unit).otherwise(1.0)
    is_tie = pl.col("what").is_in([TIES, "judges' ties"])
    return found.with_columns(truth=rescaled).filter(~(other & is_tie))


def unit_of_scores() -> pl.Expr:
    """The regression of estimated on true scores."""
    estimate, truth = (
        pl.when(pl.col("what") == "scores").then(pl.col(name)) for name in ("estimate", "truth")
    )
    return (estimate * truth).sum() / (truth * truth).sum()


def _on_the_scale() -> pl.Expr:
    return pl.col("what").is_in(ON_THE_SCALE_OF_SCORES)


# --- the page ------------------------------------------------------------------------------------


def _cells(table: pl.DataFrame) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Setting, model, and its rows of the table by quantity."""
    for kind in KINDS:
        for model in kind.models:
            rows = table.filter(setting=kind.name, model=model)
            if len(rows):
                yield kind.name, model, {row["what"]: row for row in rows.to_dicts()}


def coverage_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    """Setting, model, and the coverage of every quantity; nothing where there is none."""
    for setting, model, cells in _cells(table):
        shown = (percent(cells[what]) if what in cells else "" for what in QUANTITIES)
        yield [setting, model, *shown]


def _size_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    """Setting, model, and for every number the width of intervals and the spread of z."""
    for setting, model, cells in _cells(table):
        shown = (
            f"{cells[what]['width']:.2f} / {cells[what]['sd_z']:.2f}" if what in cells else ""
            for what in (*NUMBERS, *EFFECTS)
        )
        yield [setting, model, *shown]


def _in_words(kind: Kind) -> list[str]:
    first = kind.parts[0]
    effects = []
    if first.tie:
        effects.append(f"t = {first.tie:g}")
    if first.tie_sd:
        effects.append(f"log t by judge with sd {first.tie_sd:g}")
    if first.left:
        effects.append(f"left {first.left:g}")
    if first.left_sd:
        effects.append(f"by judge with sd {first.left_sd:g}")
    judges = "some backwards" if min(kind.accuracies) < 0.0 else "usual"
    asked = [f"{name}={value}" for name, value in (("ties", kind.ties), ("order", kind.order))
             if value not in (None, "none")]  # fmt: skip
    votes = " and ".join(map(str, kind.parts))
    return [kind.name, votes, judges, ", ".join(effects), ", ".join(asked)]


def _judge_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for setting, model, cells in _cells(table):
        if "accuracies" in cells:
            cell = cells["accuracies"]
            missed = (f"{cell[name]:.1%}" for name in ("too_small", "too_large"))
            yield [setting, model, *missed, f"{cell['slope']:.2f}", percent(cells["best judge"])]


def page(table: pl.DataFrame, command: str) -> Iterator[str]:
    """The study in words and tables."""
    data_sets = int(table["data_sets"].to_numpy().max())
    usual, backwards = (", ".join(f"{a:g}" for a in some) for some in (JUDGES, BACKWARDS))
    yield from (
        "# Coverage of rankings, choices, ties and sides",
        "",
        f"Made by `{command}` (juryrank {__version__}). How often the {CONFIDENCE:.0%} intervals "
        f"of `rank` contain the truth, over {data_sets:,} simulated data sets of each setting and "
        f"model (of rankings and choices with htcv, 1 in {SLOW}), as in the study of "
        f"[pairs](coverage.md): {ITEMS} items with scores drawn from "
        f"N(0, 1) for each data set; {len(JUDGES)} judges with accuracies {usual} (some backwards: "
        f"{backwards}; in btl all are 1), without tastes. The truth is brought to the gauge of the "
        "answer. Ties and sides need no gauge; intervals of ties are looked at as those of log t. "
        "Standard errors take data sets, not intervals, as independent. The posterior is sampled, "
        "but for rankings and choices with htcv, whose probabilities take long: there it is a "
        "normal distribution around the best fit, whose errors leave tastes out. Rankings with "
        "ties are drawn with Davidson's weights, and fitted with them where `ties=davidson` is "
        "asked for. By default `rank` counts tied items as one ([why](../model.md)). There the "
        "weights of ties cannot be compared, and true scores are multiplied by one number for "
        "all data sets, which brings them to the unit of the fit.",
        "",
        *markdown(("setting", "votes of each judge", "judges", "effects", "asked for"),
                  map(_in_words, KINDS)),
        "",
        "![Coverage](kinds.png)",
        "",
        f"Bold: outside {LEAST:.0%} to {MOST:.0%}, or for ranks below {CONFIDENCE:.0%}: the ranks "
        "of a data set are to be covered [all together](coverage.md), so that each by itself is "
        "covered nearly always. An effect that all judges share, and all ranks, are one case in "
        "each data set, so that their coverage is known to about "
        f"{100 * np.sqrt(0.05 * 0.95 / data_sets):.1f} points only.",
        "",
        *markdown(("setting", "model", *QUANTITIES), coverage_rows(table)),
        "",
        "In bold are:",
        "",
        *outside(table.filter(pl.col("what").is_in(QUANTITIES))),
        "",
        "Intervals of the sides of single judges, and of ties and sides that all judges share, "
        "are a little too short where z scatters by 1.1 or more (below). A likely reason, which "
        "was not tested: how far judges differ is known from ten of them, and the prior of that "
        "spread is densest at none. Accuracies of choices and of the best 2 with htcv are those "
        "of the normal form.",
        "",
        "Mean width of the intervals / standard deviation of `z = (estimate - truth) / error`, "
        "where the error is the width of the interval divided by 2 x 1.96. It is 1 if errors are "
        "of the right size:",
        "",
        *markdown(("setting", "model", *NUMBERS, *EFFECTS), _size_rows(table)),
        "",
        "Accuracies: the share of intervals that lie too low and too high, the slope of a "
        "regression of truth on estimate (of their distances from 1), and how often the truly most "
        "accurate judge, picked by the truth, is covered:",
        "",
        *markdown(("setting", "model", "too low", "too high", "slope", "best judge covered"),
                  _judge_rows(table)),
    )  # fmt: skip


def save(table: pl.DataFrame, folder: Path, command: str) -> list[Path]:
    """Write kinds.csv, .md and .png; the files written."""
    chart = coverage_chart(table, [kind.name for kind in KINDS], QUANTITIES)
    return save_study(folder, "kinds", table, list(page(table, command)), chart)


def main() -> None:
    """Run the study and write its results."""
    parser = options(__doc__)
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--models", default=",".join(MODELS), help="such as hbtl,btl,htcv")
    asked = parser.parse_args()
    command = (
        f"python -m studies.kinds --data-sets {asked.data_sets} --models {asked.models} "
        f"--seed {asked.seed}"
    )
    table = study(asked.data_sets, asked.seed, asked.models.split(","), asked.jobs)
    for path in save(table, asked.out, command):
        print(path)


if __name__ == "__main__":
    main()
