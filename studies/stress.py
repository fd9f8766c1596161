"""Does it say more than the votes do? Juries that are hard on it, in tables and a picture.

python -m studies.stress
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from studies.jury import BY_NAME, SETTINGS, Asked, Jury, Setting, asked, code_of, drawn
from studies.pages import markdown
from studies.running import all_results, options

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
LEAST, MOST, MOST_OF_FEW, LEAST_OF_RANKS = 0.93, 0.97, 0.99, 0.95
LEAST_OF_FIVE_JUDGES = 0.91
WRONG_TIERS = 0.05
HELD_OUT = 2_000
MOST_WORSE = 0.005
BTL_SCALES = (0.1, 0.3, 0.6, 1.0, 2.0, 4.0)
"""Of the prior of plain Bradley-Terry: the best of them on the held-out votes counts."""
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
MOST_OF_MEAN = 2.0


@dataclass(frozen=True)
class Trial:
    """One data set of a setting."""

    setting: str
    seed: int
    number: int


def gauge_scale(accuracy: Floats, votes: Floats) -> float:
    """The mean |accuracy| by votes, no judge counting for more than twice the mean."""
    size = np.abs(accuracy)
    scale = float(np.average(size, weights=votes))
    for _ in range(500):
        scale = float(np.average(np.minimum(size, MOST_OF_MEAN * scale), weights=votes))
    return scale or 1.0


def measured(trial: Trial) -> dict[str, Any]:
    """What one data set shows."""
    setting = BY_NAME[trial.setting]
    rng = np.random.default_rng([trial.seed, trial.number, SETTINGS.index(setting)])
    jury, votes = drawn(setting, rng)
    ranking = jr.rank(votes.frame(), threads=1)
    items = np.array([code_of(name) for name in ranking.items["item"]])
    judges = np.array([code_of(name) for name in ranking.judges["judge"]])
    count = np.bincount(votes.judge, minlength=setting.judges).astype(np.float64)
    scale = gauge_scale(jury.accuracy[judges], count[judges])
    truth = scale * (jury.score[items] - jury.score[items].mean())
    if setting.noise != "gumbel":  # another noise has another unit
        score = ranking.items["score"].to_numpy()
        truth *= float(score @ truth) / max(float(truth @ truth), 1e-12)
    found = _about_items(ranking, truth) | _about_judges(ranking, jury.accuracy[judges] / scale)
    found |= _on_new_votes(ranking, jury, votes, items, judges, rng)
    return found | {
        "setting": setting.name,
        "number": trial.number,
        "taste": ranking.fit.taste_sd,
        "effective": ranking.fit.effective_draws,
        "converged": ranking.fit.converged,
    }


def _about_items(ranking: jr.Ranking, truth: Floats) -> dict[str, Any]:
    """Coverage of scores, differences, ranks; tiers; the chance to be the best."""
    items, draws = ranking.items, ranking.posterior.scores
    low, high = (items[name].to_numpy() for name in ("score_low", "score_high"))
    rank = len(truth) - truth.argsort().argsort()
    rank_low, rank_high = (items[name].to_numpy() for name in ("rank_low", "rank_high"))
    tier = items["tier"].to_numpy()
    first = np.concatenate(([True], np.diff(tier) > 0))
    wrong = first[:, None] & (tier[None, :] > tier[:, None]) & (truth[None, :] > truth[:, None])
    tail = 0.5 * (1.0 - CONFIDENCE)
    one, other = np.triu_indices(len(truth), 1)
    some = np.random.default_rng(0).permutation(len(one))[:200]
    gaps = draws[:, one[some]] - draws[:, other[some]]
    ends = np.quantile(gaps, (tail, 1.0 - tail), axis=0)
    gap = truth[one[some]] - truth[other[some]]
    all_equal = bool((truth == truth[0]).all())
    tau = kendalltau(items["score"].to_numpy(), truth).statistic
    return {
        "scores": float(np.mean((low <= truth) & (truth <= high))),
        "differences": float(np.mean((ends[0] <= gap) & (gap <= ends[1]))),
        "ranks": None if all_equal else float(np.mean((rank_low <= rank) & (rank <= rank_high))),
        "wrong_tier": bool(wrong.any() or (all_equal and tier.max() > 1)),
        "tiers": int(tier.max()),
        "p_best": float(items["p_best"][0]),
        "is_best": not all_equal and bool(truth[0] == truth.max()),
        "tau": None if all_equal else float(tau),
        "width": float(np.mean(high - low)),
    }


def _about_judges(ranking: jr.Ranking, truth: Floats) -> dict[str, Any]:
    low, high = (ranking.judges[name].to_numpy() for name in ("accuracy_low", "accuracy_high"))
    verdict = ranking.judges["verdict"].to_numpy()
    return {
        "accuracies": float(np.mean((low <= truth) & (truth <= high))),
        "guessing": float(np.sum(verdict[truth >= 0.5] == "guessing") / len(truth)),
    }


def _on_new_votes(
    ranking: jr.Ranking,
    jury: Jury,
    votes: Asked,
    items: NDArray[np.int64],
    judges: NDArray[np.int64],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Log-loss of new votes beside that of plain Bradley-Terry, and calibration."""
    new = asked(jury, rng.choice(votes.judge, HELD_OUT), None, rng)
    seen = np.isin(new.winner, items) & np.isin(new.loser, items) & np.isin(new.judge, judges)
    new = Asked(new.judge[seen], new.winner[seen], new.loser[seen])
    frame = new.frame()
    who, winner, loser = (frame[name] for name in ("judge", "winner", "loser"))
    known = np.asarray(ranking.predict(who, winner, loser))
    average = np.asarray(ranking.predict([None] * len(frame), winner, loser))
    losses = []
    for scale in BTL_SCALES:
        plain = jr.rank(votes.frame(), "btl", prior=(scale, 1.0), intervals=None, threads=1)
        losses.append(_loss(np.asarray(plain.predict(None, winner, loser))))
    return {
        "log_loss": _loss(known),
        "btl_loss": min(losses),
        "slope": _calibration(known),
        "average_slope": _calibration(average),
    }


def _loss(chance: Floats) -> float:
    """The mean log-loss of votes that went as they did with these chances."""
    return float(-np.log(np.clip(chance, 1e-12, 1.0)).mean())


def _calibration(chance: Floats) -> float:
    """The slope of a logistic regression on the predicted log-odds: 1 if they are right."""
    x = np.log(chance) - np.log1p(-chance)
    slope = 1.0
    for _ in range(50):
        miss = 1.0 / (1.0 + np.exp(slope * x))
        curvature = float(np.sum(miss * (1.0 - miss) * x * x))
        step = float(np.sum(miss * x)) / max(curvature, 1e-9)
        slope += float(np.clip(step, -0.5, 0.5))
        if abs(step) < 1e-8:
            break
    return slope


def study(settings: Sequence[Setting], data_sets: int, seed: int, jobs: int | None) -> pl.DataFrame:
    """A row for each data set."""
    trials = [Trial(setting.name, seed, k) for setting in settings for k in range(data_sets)]
    rows = all_results(measured, trials, "Stress test", jobs)
    return pl.DataFrame(rows, infer_schema_length=None)


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each setting: means over data sets, and standard errors of the coverages."""
    names = ("scores", "differences", "accuracies", "ranks")
    means = (
        "wrong_tier", "tiers", "p_best", "is_best", "tau", "width", "guessing", "log_loss",
        "btl_loss", "slope", "average_slope", "taste", "effective",
    )  # fmt: skip
    return rows.group_by("setting", maintain_order=True).agg(
        pl.len().alias("data_sets"),
        *(pl.col(name).cast(pl.Float64).mean() for name in names),
        *(_standard_error(name).alias(f"{name}_se") for name in names),
        *(pl.col(name).cast(pl.Float64).mean() for name in means),
        pl.col("converged").mean().alias("settled"),
    )


def _standard_error(name: str) -> pl.Expr:
    return pl.col(name).std() / pl.col(name).count().sqrt()


# --- the page ------------------------------------------------------------------------------------


def _limits(row: dict[str, Any], what: str) -> tuple[float, float]:
    if what == "ranks":
        return LEAST_OF_RANKS, 1.0
    least = LEAST_OF_FIVE_JUDGES if "5 judges" in row["setting"] else LEAST
    return least, MOST_OF_FEW if BY_NAME[row["setting"]].few else MOST


def _covered(row: dict[str, Any], what: str) -> str:
    if row[what] is None:
        return "-"
    text = f"{100 * row[what]:.1f} ± {100 * (row[f'{what}_se'] or 0.0):.1f}"
    low, high = _limits(row, what)
    return text if low <= row[what] <= high else f"**{text}**"


def _coverage_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for row in table.iter_rows(named=True):
        wrong = f"{100 * row['wrong_tier']:.1f}"
        worse = row["log_loss"] / row["btl_loss"] - 1.0
        yield [
            row["setting"],
            *(_covered(row, what) for what in ("scores", "differences", "accuracies", "ranks")),
            wrong if row["wrong_tier"] <= WRONG_TIERS else f"**{wrong}**",
            f"{row['p_best']:.2f} / {row['is_best']:.2f}",
            "-" if row["tau"] is None else f"{row['tau']:.3f}",
            f"{100 * worse:+.1f}" if worse <= MOST_WORSE else f"**{100 * worse:+.1f}**",
            f"{row['slope']:.2f} / {row['average_slope']:.2f}",
            f"{row['taste']:.2f}",
            f"{100 * row['settled']:.0f}",
        ]


def _best_rows(rows: pl.DataFrame) -> Iterator[list[str]]:
    known = rows.filter(pl.col("setting") != "c0")
    for low, high in pairwise(BINS):
        some = known.filter(pl.col("p_best").is_between(low, high, closed="right"))
        if not len(some):
            continue
        said, right = some["p_best"].to_numpy().mean(), some["is_best"].to_numpy().mean()
        error = np.sqrt(max(right * (1.0 - right), 0.25 / len(some)) / len(some))
        bounds = f"{low:g} to {high:g}"
        yield [bounds, f"{len(some):,}", f"{said:.3f}", f"{right:.3f} ± {error:.3f}"]


def _missed(table: pl.DataFrame) -> Iterator[str]:
    """Every number outside its limits, as a line of a list."""
    for row in table.iter_rows(named=True):
        for what in ("scores", "differences", "accuracies", "ranks"):
            if "**" in _covered(row, what):
                yield f"- {row['setting']}, {what}: {_covered(row, what).strip('*')} %"
        if row["wrong_tier"] > WRONG_TIERS:
            yield f"- {row['setting']}, wrong tiers: {100 * row['wrong_tier']:.1f} %"
        worse = row["log_loss"] / row["btl_loss"] - 1.0
        if worse > MOST_WORSE:
            yield f"- {row['setting']}, loss: {100 * worse:+.1f} %"


def page(rows: pl.DataFrame, table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Stress test"
    yield ""
    yield (
        f"Made by `{command}`. Juries that are hard on a ranking, from a simulator apart from the "
        "package's own (`studies/jury.py`): each has true scores, accuracies and, in some, "
        "tastes, and votes on pairs. `jr.rank` is called with no argument but the votes, and what "
        "it says is held against the truth, in the gauge of the answer."
    )
    yield ""
    yield from markdown(("setting", "what"), ((one.name, one.what) for one in SETTINGS))
    yield ""
    yield (
        "20 items with scores from N(0, 1) and log-normal(0, .5) accuracies, unless said. "
        "Coverage of 95 % intervals in %, ± one standard error (data sets are independent, "
        "intervals of one are not). Bold: outside of 93 to 97 % (ranks: below 95 %; up to 99 "
        "% where votes are very few or items nearly equal; from 91 % with 5 judges). Wrong "
        "tiers: the share of data sets, in %, in which an item is truly better than the first"
        " of a tier above its own. P(best): what is said of the leader, and how often it is "
        "right. Loss: by how many % the log-loss of new votes is above that of plain "
        f"Bradley-Terry with the best of {len(BTL_SCALES)} prior scales, chosen on the new "
        "votes. Slope: of predictions for known judges and for an unseen one, 1 if "
        "calibrated. Settled: data sets, in %, in which the sampler had enough draws."
    )
    yield ""
    yield "![Coverage of scores](stress.png)"
    yield ""
    head = (
        "setting", "scores", "differences", "accuracies", "ranks", "wrong tiers", "P(best)", "tau",
        "loss", "slope", "tastes found", "settled",
    )  # fmt: skip
    yield from markdown(head, _coverage_rows(table))
    yield ""
    yield "## Where it falls short"
    yield ""
    yield from _missed(table)
    yield ""
    yield (
        "With 5 to 10 votes of each judge the spread of accuracies is known by little more "
        "than its prior, and comes out too small: intervals of accuracies are then too short "
        "(longer chains give the same). Where all judges are alike, or all items nearly so, the "
        "prior expects them to differ, and intervals are too wide. Tastes as large as the scores "
        "themselves (sd 1) take more than 8 judges to be known. "
        "Predictions at 5 to 8 votes for each item are held against the best of several "
        "scales of Bradley-Terry, chosen on the very votes that are predicted, which no "
        "method knows."
    )
    yield ""
    yield "The chance to be the best that is said of the leader, over all settings:"
    yield ""
    yield from markdown(("said", "data sets", "mean said", "right"), _best_rows(rows))
    yield ""


def chart(table: pl.DataFrame) -> object:
    """Coverage of scores and accuracies by setting."""
    alt = altair()
    long = pl.concat(
        [
            table.select(
                "setting", pl.lit(name).alias("what"), pl.col(name).alias("coverage"),
                (pl.col(name) - 2.0 * pl.col(f"{name}_se")).alias("low"),
                (pl.col(name) + 2.0 * pl.col(f"{name}_se")).clip(None, 1.0).alias("high"),
            )
            for name in ("scores", "accuracies")
        ]
    )  # fmt: skip
    order = [setting.name for setting in SETTINGS]
    base = alt.Chart(long, width=620, height=260)
    scale = alt.Scale(domain=[0.85, 1.0], nice=False, zero=False)
    x = alt.X("setting:N", sort=order, title=None, axis=alt.Axis(labelAngle=-45))
    y = alt.Y("low:Q", title="coverage", scale=scale, axis=alt.Axis(format=".0%"))
    offset, colour = alt.XOffset("what:N"), alt.Color("what:N", title=None)
    bars = base.mark_rule(strokeWidth=2, clip=True).encode(
        x=x, xOffset=offset, y=y, y2="high:Q", color=colour
    )
    dots = base.mark_circle(size=50, opacity=1.0, clip=True).encode(
        x=x, xOffset=offset, y=alt.Y("coverage:Q", scale=scale), color=colour
    )
    wanted = base.mark_rule(strokeDash=[4, 3]).encode(y=alt.datum(CONFIDENCE))
    return alt.layer(bars, dots, wanted)


def main() -> None:
    """Run the study and write its page."""
    parser = options(__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--settings", nargs="*", default=[setting.name for setting in SETTINGS])
    asked_for = parser.parse_args()
    chosen = [BY_NAME[name] for name in asked_for.settings]
    rows = study(chosen, asked_for.data_sets, asked_for.seed, asked_for.jobs)
    command = f"python -m studies.stress --data-sets {asked_for.data_sets} --seed {asked_for.seed}"
    if len(chosen) < len(SETTINGS):
        command += f" --settings {' '.join(repr(setting.name) for setting in chosen)}"
    table = summary(rows)
    lines = list(page(rows, table, command))
    for path in save_study(Path(asked_for.out), "stress", table, lines, chart(table)):
        print(path)


if __name__ == "__main__":
    main()
