"""Do the 95 % intervals cover with rankings, choices, ties and sides as they do with pairs?

    python -m studies.kinds

Votes are simulated from the model that is fitted. The truth is brought to the answer's scale as in
`studies.covered`; effects have no scale. Intervals of ties are taken on the scale of ``log t``, on
which they are symmetric, and what sets a judge apart is told from the true common value on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import t as student_t

import juryrank as jr
from juryrank import __version__
from juryrank.asking import Order, Ties, task_of
from juryrank.fitting import answer, fit
from juryrank.inference.posterior import half_width
from juryrank.paper.pictures import save_study
from juryrank.ranking import Ranking
from juryrank.simulation import Simulation
from juryrank.votes import Votes
from studies.covered import (
    CAUSES,
    CONFIDENCE,
    DEFAULT,
    LEAST,
    LEFT,
    MOST,
    TIES,
    Way,
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
QUANTITIES = (*NUMBERS, *EFFECTS, "ranks")


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
    Kind("rankings with ties", (Part(20, 6, tie=0.8),), ("hbtl", "btl")),
    Kind("mix", (Part(50, tie=0.8, left=0.5), Part(10, 5, tie=0.8)), ("hbtl", "btl"),
         order="common"),
)  # fmt: skip


CHOICES, OF_EACH_JUDGE = KINDS[3], KINDS[5]
WIDER = CAUSES[-1]
"""To find causes: accuracies are held less."""
TRUE_SPREADS = Way("true spreads")
"""To find causes: how far judges differ in ties and sides is known."""


@dataclass(frozen=True)
class Trial:
    """One data set of one kind, and one way to make intervals for it."""

    kind: Kind
    model: str
    way: Way
    number: int
    seed: int

    def drawn(self) -> tuple[Simulation, Votes]:
        """The truth and the votes; they do not depend on the way."""
        place = (KINDS.index(self.kind), self.kind.models.index(self.model), self.number)
        return self.kind.drawn(
            self.model, np.random.default_rng(np.random.SeedSequence([self.seed, *place]))
        )


def measured(trial: Trial) -> pl.DataFrame:
    """Every interval of one data set, as `studies.covered.measured`, and those of the effects."""
    made, votes = trial.drawn()
    ranking = answered(trial, votes)
    frames = (beside_truth(made, votes, ranking), effects_beside_truth(made, ranking))
    frame = pl.concat(frames, how="diagonal")
    return labelled(frame, trial.kind.name, trial.model, trial.way, trial.number)


def answered(trial: Trial, votes: Votes) -> Ranking:
    """The answer with its intervals."""
    kind = trial.kind
    if trial.way != TRUE_SPREADS:
        return trial.way.ranking(votes, trial.model, kind.ties, kind.order)
    task = task_of(votes, trial.model, ties=kind.ties, order=kind.order, threads=1)
    part = kind.parts[0]
    known = replace(fit(task).prior, tie_sd=part.tie_sd, order_sd=part.left_sd)
    held = replace(task, prior=known)
    return answer(held, fit(held), "information", CONFIDENCE)


def effects_beside_truth(made: Simulation, ranking: Ranking) -> pl.DataFrame:
    """Intervals of all effects, less the true common value; ties as logarithms."""
    found = []
    told = ranking.effects.select("effect", "judge", "value", "low", "high")
    for effect, judge, *ends in told.iter_rows():
        common = made.effects.row(by_predicate=pl.col("effect") == effect, named=True)["value"]
        truth = common
        if judge is not None:
            column = "tie" if effect == TIES else "left"
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


def measure(
    kinds: Sequence[Kind],
    models: Sequence[str],
    way: Way,
    count: int,
    seed: int,
    jobs: int | None = None,
) -> pl.DataFrame:
    """Every interval of `count` data sets of each kind and of each of its models."""
    trials = [
        Trial(kind, model, way, number, seed)
        for kind in kinds
        for model in kind.models
        if model in models
        for number in range(count)
    ]
    return pl.concat(all_results(measured, trials, f"Covering: {way.name}", jobs))


@dataclass(frozen=True)
class Counts:
    """Data sets of each kind and model, and for each of the causes."""

    data_sets: int = 200
    causes: int = 200


def study(
    counts: Counts, seed: int = 0, models: Sequence[str] = MODELS, jobs: int | None = None
) -> pl.DataFrame:
    """How often intervals cover, for each kind, model and quantity, and what moves that."""
    parts: tuple[tuple[Sequence[Kind], Sequence[str], Way, int], ...] = (
        (KINDS, models, DEFAULT, counts.data_sets),
        ((CHOICES,), ("hbtl",), WIDER, counts.causes),
        ((OF_EACH_JUDGE,), models, TRUE_SPREADS, counts.causes),
    )
    return pl.concat(
        [summary(measure(kinds, some, way, count, seed, jobs)) for kinds, some, way, count in parts]
    )


# --- the page ------------------------------------------------------------------------------------


def _cells(
    table: pl.DataFrame, kinds: Sequence[Kind] = KINDS, way: Way = DEFAULT
) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Setting, model, and its rows of the table by quantity."""
    for kind in kinds:
        for model in kind.models:
            rows = table.filter(setting=kind.name, model=model, way=way.name)
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


def _stretch_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for way in (DEFAULT, WIDER):
        for setting, model, cells in _cells(table, way=way):
            if "accuracies" in cells:
                cell = cells["accuracies"]
                prior = "as chosen" if way is DEFAULT else way.name
                numbers = (f"{cell[name]:.1%}" for name in ("too_small", "too_large"))
                slope = (f"{cell['stretch']:.2f}", f"{cell['stretched']:.1%}")
                yield [setting, model, prior, percent(cell), *numbers, *slope]


def _judges_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for way, spreads in ((DEFAULT, "as chosen"), (TRUE_SPREADS, "true ones held")):
        for setting, model, cells in _cells(table, (OF_EACH_JUDGE,), way):
            shown = (f"{percent(cells[what])}, z {cells[what]['sd_z']:.2f}" for what in EFFECTS)
            yield [setting, model, spreads, *shown]


def page(table: pl.DataFrame, counts: Counts, command: str) -> Iterator[str]:
    """The study in words and tables."""
    yield from _beginning(table, counts, command)
    yield from _causes(table, counts)


def _beginning(table: pl.DataFrame, counts: Counts, command: str) -> Iterator[str]:
    usual, backwards = (", ".join(f"{a:g}" for a in some) for some in (JUDGES, BACKWARDS))
    yield from (
        "# Coverage of rankings, choices, ties and sides",
        "",
        f"Made by `{command}` (juryrank {__version__}). How often the {CONFIDENCE:.0%} intervals "
        f"of `rank` hold the truth, over {counts.data_sets:,} simulated data sets of each setting "
        f"and model, as in the study of [pairs](coverage.md): {ITEMS} items with scores drawn from "
        f"N(0, 1) for each data set; {len(JUDGES)} judges with accuracies {usual} (some backwards: "
        f"{backwards}; in btl all are 1). The truth is brought to the answer's scale. Ties and "
        "sides have no scale; intervals of ties are looked at as those of log t. Standard errors "
        "take data sets, not intervals, as independent.",
        "",
        *markdown(("setting", "votes of each judge", "judges", "effects", "asked for"),
                  map(_in_words, KINDS)),
        "",
        "![Coverage](kinds.png)",
        "",
        f"Bold: outside {LEAST:.0%} to {MOST:.0%}. Ranks are whole numbers, and cover more than "
        "asked for by construction ([why](coverage.md)).",
        "",
        *markdown(("setting", "model", *QUANTITIES), coverage_rows(table)),
        "",
        "Mean width of the intervals / standard deviation of `z = (estimate - truth) / error`, "
        "which is 1 if errors are of the right size:",
        "",
        *markdown(("setting", "model", *NUMBERS, *EFFECTS), _size_rows(table)),
    )  # fmt: skip


def _causes(table: pl.DataFrame, counts: Counts) -> Iterator[str]:
    usual = table.filter(pl.col("way") == DEFAULT.name)
    shown = usual.filter(pl.col("what").is_in((*NUMBERS, *EFFECTS)))
    best = usual.filter(pl.col("what") == "best judge")["coverage"].to_numpy()
    yield from (
        "",
        "## Where coverage is off, and why",
        "",
        *outside(shown),
        "",
        "An effect that all judges share has one interval in each data set, so that its coverage "
        f"is known to about {100 * np.sqrt(0.05 * 0.95 / counts.data_sets):.1f} points only.",
        "",
        "**Accuracies** are shrunk a little too far, as with pairs, and the truly most accurate "
        f"judge, picked by the truth, most of all: it is covered in {best.min():.0%} to "
        f"{best.max():.0%} of data sets, by setting. The stretch is the slope of truth on estimate "
        "(of their distances from 1): above 1, estimates lie too close to 1. The last column is "
        "the coverage when estimates and errors are multiplied by it, which needs the truth. That "
        "mends choices, best 2 and the common ties and sides, and the others in part. The last "
        "row has the accuracies' prior scale 1.5 times the one that the data chose "
        f"({counts.causes:,} data sets).",
        "",
        *markdown(
            ("setting", "model", "prior", "coverage", "too low", "too high", "stretch",
             "coverage if stretched"),
            _stretch_rows(table),
        ),
        "",
        "**Ties and sides by judge.** The common value is the mean of all judges there could be, "
        f"of whom {len(JUDGES)} are seen, and how far judges differ is estimated from the same "
        "few. Errors widen this spread by its own standard error. (Were each judge known exactly, "
        "1.96 errors without that would hold the mean in "
        f"{_held_by_normal(len(JUDGES)):.0%} of data sets.) Beside it, the true spreads in place "
        f"of those chosen, and not widened ({counts.causes:,} data sets):",
        "",
        *markdown(("setting", "model", "spreads", *EFFECTS), _judges_rows(table)),
    )  # fmt: skip


def _held_by_normal(judges: int) -> float:
    """Coverage of the mean of so many normal numbers by 1.96 errors of estimated size."""
    return float(2.0 * student_t.cdf(half_width(CONFIDENCE), judges - 1) - 1.0)


def save(table: pl.DataFrame, counts: Counts, folder: Path, command: str) -> list[Path]:
    """Write kinds.csv, .md and .png; the files written."""
    shown = table.filter(pl.col("way") == DEFAULT.name)
    chart = coverage_chart(shown, [kind.name for kind in KINDS], QUANTITIES)
    return save_study(folder, "kinds", table, list(page(table, counts, command)), chart)


def main() -> None:
    """Run the study and write its results."""
    parser = options(__doc__)
    usual = Counts()
    parser.add_argument("--data-sets", type=int, default=usual.data_sets)
    parser.add_argument("--causes", type=int, default=usual.causes)
    parser.add_argument("--models", default=",".join(MODELS), help="such as hbtl,btl,htcv")
    asked = parser.parse_args()
    counts = Counts(asked.data_sets, asked.causes)
    command = (
        f"python -m studies.kinds --data-sets {counts.data_sets} --causes {counts.causes} "
        f"--models {asked.models} --seed {asked.seed}"
    )
    table = study(counts, asked.seed, asked.models.split(","), asked.jobs)
    for path in save(table, counts, asked.out, command):
        print(path)


if __name__ == "__main__":
    main()
