"""Which questions tell most? Ways to choose pairs, and judges, on simulated and on real juries.

    python -m studies.active --programs FOLDER --trials trials.jsonl

A truth answers every policy alike: the answer to the k-th time that a judge is asked about a pair
is drawn from the truth, the judge, the pair and k. All policies' votes are ranked in the same way.
`FOLDER` has the programs of others as they are published, ASAP's asap_cpu.py and Hybrid-MST's
Hybrid-MST.py as hybrid_mst.py; without one, what it does is left out. With --trials, what each
trial found is kept in a file, and trials that it has are not run again: a study can be stopped,
continued and extended, and the page is about all trials in the file.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit, ndtr
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.active.questions import RANDOM_SHARE
from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from studies.bound import best_design, information, least_rmse, shape_only
from studies.jury import code_of
from studies.pages import markdown
from studies.policies import (
    Answer,
    Asap,
    CrowdBt,
    EqualCounts,
    Floats,
    HybridMst,
    HybridMstProgram,
    Policy,
    Question,
    Quicksort,
    Random,
    Rng,
    Study,
    Swiss,
    asap_in,
    program_in,
)
from studies.running import all_results, options
from studies.stress import gauge_scale

TOP = 5
ASAP_SD = 1.4865
"""Of the difference of two observations in ASAP's simulator."""


class Truth(NamedTuple):
    """What is true of a data set."""

    score: Floats
    accuracy: Floats
    item_sd: Floats
    """How much each item varies from one look to the next."""
    taste: Floats | None = None
    """Judges x items: what each judge thinks of an item beyond its score; None if nothing."""

    def gap(self, question: Question) -> float:
        """How far above the right item the judge sees the left one, in units of its noise."""
        judge, i, j = question
        seen = self.score if self.taste is None else self.score + self.taste[judge]
        return float(self.accuracy[judge] * (seen[i] - seen[j]))


@dataclass(frozen=True)
class Setting:
    """A kind of jury, how it answers, and what is measured when."""

    name: str
    what: str
    truth: Callable[[Rng], Truth]
    checks: tuple[int, ...]
    """Numbers of votes after which policies are compared."""
    policies: tuple[str, ...]
    model: str = "hbtl"
    """By which all votes are ranked."""
    noise: str = "logistic"
    flipped: float = 0.0
    """How often an answer is turned round."""
    batch: int = 36

    def chance(self, truth: Truth, question: Question) -> float:
        """That the left item wins."""
        i, j = question.left, question.right
        gap = truth.gap(question)
        if self.noise == "logistic":
            chance = float(expit(gap))
        else:
            sd = np.hypot(truth.item_sd[i], truth.item_sd[j])
            chance = float(ndtr(gap / sd))
        return chance * (1.0 - self.flipped) + (1.0 - chance) * self.flipped


def jury(*accuracies: float, taste_sd: float = 0.0) -> Callable[[Rng], Truth]:
    """20 items, and judges of these accuracies, with tastes of this spread."""

    def truth(rng: Rng) -> Truth:
        score = rng.normal(size=20)
        taste = taste_sd * rng.normal(size=(len(accuracies), 20)) if taste_sd else None
        return Truth(score, np.array(accuracies), np.zeros(20), taste)

    return truth


def _alone(items: int) -> Callable[[Rng], Truth]:
    """Scores of a normal, as the prior has them, and one judge whose noise is the model's."""

    def truth(rng: Rng) -> Truth:
        return Truth(rng.normal(0.0, 2.0, items), np.ones(1), np.zeros(items))

    return truth


def _uniform(items: int) -> Callable[[Rng], Truth]:
    """ASAP's truth: scores between 0 and 5, one judge."""

    def truth(rng: Rng) -> Truth:
        sd = np.full(items, ASAP_SD / np.sqrt(2.0))
        return Truth(rng.uniform(0.0, 5.0, items), np.ones(1), sd)

    return truth


def _varying(items: int) -> Callable[[Rng], Truth]:
    """Hybrid-MST's truth: items vary, each by its own standard deviation up to 0.7."""

    def truth(rng: Rng) -> Truth:
        score = rng.uniform(0.0, 5.0, items)
        return Truth(score, np.ones(1), rng.uniform(0.0, 0.7, items))

    return truth


BESIDE = ("random", "equal counts", "quicksort", "Swiss", "Crowd-BT", "Hybrid-MST")
OURS = ("juryrank", "juryrank, judges in turn")
NONE_AT_RANDOM = "juryrank, none at random"
ASAP, ASAP_APPROXIMATE = "ASAP (program)", "ASAP, approximate (program)"
HYBRID_MST_PROGRAM = "Hybrid-MST (program)"
PROGRAMS = (ASAP, ASAP_APPROXIMATE, HYBRID_MST_PROGRAM)
PROGRAMS_PAGE = "active-programs"
BOUND = "bound: the best design"
SETTINGS = (
    Setting("unequal", "20 items; 9 judges, three of accuracy 2.5 and six of 0.5",
            jury(*[2.5] * 3, *[0.5] * 6), (200, 300, 500, 750, 1000), (*OURS, *BESIDE)),
    Setting("backwards", "20 items; 9 judges, three of accuracy 2.5, three of 0.5, three of -1",
            jury(*[2.5] * 3, *[0.5] * 3, *[-1.0] * 3), (200, 300, 500, 750, 1000),
            (*OURS, *BESIDE)),
    Setting("ASAP 20", "ASAP's small set: 20 items between 0 and 5, one judge, normal noise",
            _uniform(20), (190, 380, 570, 760, 950),
            ("juryrank", NONE_AT_RANDOM, *BESIDE[:4], "Hybrid-MST", *PROGRAMS, BOUND),
            model="tcv", noise="normal", batch=19),
    Setting("Hybrid-MST 60", "Hybrid-MST's set: 60 items between 0 and 5 that vary, one judge who "
            "errs in 10 %", _varying(60), (1770, 3540, 5310),
            ("juryrank", NONE_AT_RANDOM, *BESIDE[:4], "Hybrid-MST", HYBRID_MST_PROGRAM),
            model="btl", noise="normal", flipped=0.1, batch=59),
    Setting("ASAP 200", "ASAP's large set: 200 items between 0 and 5, one judge, normal noise",
            _uniform(200), (3000, 5000, 7065, 10550),
            ("juryrank", NONE_AT_RANDOM, "random", "quicksort", "Swiss", "Hybrid-MST",
             ASAP_APPROXIMATE, HYBRID_MST_PROGRAM, BOUND),
            model="tcv", noise="normal", batch=199),
    Setting("alone", "20 items with scores drawn from N(0, 4); one judge, the noise that of the "
            "model", _alone(20), (100, 200, 400), ("juryrank", NONE_AT_RANDOM, "random"),
            model="btl", batch=19),
    Setting("tastes", "20 items; 9 judges, three of accuracy 2.5, three of 0.5, three of -1, with "
            "tastes of standard deviation 0.5",
            jury(*[2.5] * 3, *[0.5] * 3, *[-1.0] * 3, taste_sd=0.5), (200, 300, 500),
            (*OURS, "random")),
)  # fmt: skip
BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass
class Ours:
    """The package's own choice; also of the judge, or for judges in turn.

    A judge who is alone is asked about pairs again.
    """

    model: str
    turn: bool
    random_share: float
    seed: int

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """A batch."""
        del rng
        names = [judge_name(judge) for judge in range(study.judges)]
        first = len(study.answers)
        if self.turn:
            in_turn = (names[(first + number) % study.judges] for number in range(count))
            judges: Any = dict(Counter(in_turn))
        else:
            judges = names
        options: dict[str, Any] = {
            "judges": judges, "seed": self.seed + first, "repeats": study.judges == 1,
            "random_share": self.random_share,
        }  # fmt: skip
        if not first:
            items = [item_name(item) for item in range(study.items)]
            chosen = jr.next_pairs(items, count, **options)
        else:
            ranking = jr.rank(votes_of(study.answers), self.model, threads=1)
            missing = _unseen(study)
            chosen = ranking.next_pairs(count, items=missing or None, **options)
        rows = chosen.select("judge", "left", "right").iter_rows()
        return [Question(*(code_of(name) for name in row)) for row in rows]


def _unseen(study: Study) -> list[str]:
    seen = {item for answer in study.answers for item in answer.question[1:]}
    return [item_name(item) for item in range(study.items) if item not in seen]


def item_name(code: int) -> str:
    """What the item of this code is called."""
    return f"item {code:05}"


def judge_name(code: int) -> str:
    """What the judge of this code is called."""
    return f"judge {code:05}"


def votes_of(answers: Sequence[Answer]) -> pl.DataFrame:
    """The answers as votes."""
    return pl.DataFrame(
        {
            "judge": [judge_name(answer.question.judge) for answer in answers],
            "left": [item_name(answer.question.left) for answer in answers],
            "right": [item_name(answer.question.right) for answer in answers],
            "winner": ["left" if answer.left_won else "right" for answer in answers],
        }
    )


@dataclass
class Oracle:
    """Answers questions, to every policy alike."""

    setting: Setting
    truth: Truth
    key: tuple[int, ...]
    times: Counter[tuple[int, int, int]] = field(default_factory=Counter)

    def answer(self, question: Question) -> Answer:
        """What this judge says of this pair this time."""
        judge, i, j = question
        low, high = sorted((i, j))
        self.times[judge, low, high] += 1
        lot = np.random.default_rng([*self.key, judge, low, high, self.times[judge, low, high]])
        chance = self.setting.chance(self.truth, Question(judge, low, high))
        low_won = bool(lot.random() < chance)
        return Answer(question, low_won == (i == low))


class Trial(NamedTuple):
    """One policy on one data set."""

    setting: str
    policy: str
    seed: int
    number: int
    programs: str
    until: int | None = None
    """The most votes; None for all that the setting has."""


def _policy(trial: Trial, setting: Setting, study: Study) -> Policy | None:
    if trial.policy in (*OURS, NONE_AT_RANDOM):
        share = 0.0 if trial.policy == NONE_AT_RANDOM else RANDOM_SHARE
        turn = trial.policy == OURS[1]
        return Ours(setting.model, turn, share, trial.seed + 1000 * trial.number)
    if trial.policy in PROGRAMS:
        return _program(trial, study) if trial.programs else None
    made: dict[str, Callable[[], Policy]] = {
        "random": Random, "equal counts": EqualCounts, "quicksort": Quicksort, "Swiss": Swiss,
        "Crowd-BT": CrowdBt, "Hybrid-MST": HybridMst,
    }  # fmt: skip
    return made[trial.policy]()


def _program(trial: Trial, study: Study) -> Policy | None:
    """What others published, if it is in the folder."""
    folder = Path(trial.programs)
    if trial.policy == HYBRID_MST_PROGRAM:
        program = program_in(folder, "hybrid_mst")
        return None if program is None else HybridMstProgram(program)
    program = asap_in(folder)
    approximate = trial.policy == ASAP_APPROXIMATE
    return None if program is None else Asap(program, study.items, approximate=approximate)


def measured(trial: Trial) -> list[dict[str, Any]]:
    """What a policy's votes tell after so many of them."""
    setting = BY_NAME[trial.setting]
    key = (trial.seed, trial.number, SETTINGS.index(setting))
    checks = [votes for votes in setting.checks if trial.until is None or votes <= trial.until]
    truth = setting.truth(np.random.default_rng(key))
    study = Study(len(truth.score), len(truth.accuracy))
    if trial.policy == BOUND:
        return _bound(trial, setting, truth, checks)
    policy, rng = _policy(trial, setting, study), np.random.default_rng([*key, 1])
    if policy is None:
        return []
    oracle, found, cpu, choices = Oracle(setting, truth, key), [], 0.0, 0
    for check in checks:
        while len(study.answers) < check:
            begun = time.process_time()
            questions = policy.ask(study, setting.batch, rng)
            cpu += time.process_time() - begun
            choices += len(questions)
            study.answers += [oracle.answer(question) for question in questions]
        told = about(setting, truth, study.answers[:check])
        found.append(
            {"setting": setting.name, "policy": trial.policy, "number": trial.number,
             "votes": check, "cpu": cpu / choices, **told}
        )  # fmt: skip
    return found


def _bound(
    trial: Trial, setting: Setting, truth: Truth, checks: Sequence[int]
) -> list[dict[str, Any]]:
    """What nobody can be below, who chooses pairs for one judge with normal noise."""
    sd = np.hypot(truth.item_sd[:, None], truth.item_sd[None, :])
    design = best_design(information(truth.score, sd), shape_only(truth.score))
    return [
        {"setting": setting.name, "policy": trial.policy, "number": trial.number, "votes": votes,
         **dict.fromkeys(MEASURES), "rmse": least_rmse(design.least, truth.score, votes)}
        for votes in checks
    ]  # fmt: skip


def about(setting: Setting, truth: Truth, answers: Sequence[Answer]) -> dict[str, float]:
    """How near the ranking of these votes is to the truth."""
    ranking = jr.rank(votes_of(answers), setting.model, threads=1)
    items = np.array([code_of(name) for name in ranking.items["item"]])
    score, true = ranking.items["score"].to_numpy(), truth.score[items]
    best = set(np.argsort(-truth.score)[:TOP].tolist())
    return {
        "tau": float(kendalltau(score, true).statistic),
        "rmse": float(np.sqrt(np.mean((_standardised(score) - _standardised(true)) ** 2))),
        "top": len(best & set(items[:TOP].tolist())) / TOP,
        "covered": _covered(ranking, truth, items, answers),
    }


def _standardised(score: Floats) -> Floats:
    return np.asarray((score - score.mean()) / score.std())


def _covered(ranking: jr.Ranking, truth: Truth, items: Any, answers: Sequence[Answer]) -> float:
    """The share of true scores, in the gauge of the answer, within their intervals."""
    count = np.bincount([a.question.judge for a in answers], minlength=len(truth.accuracy))
    true = truth.score[items] - truth.score[items].mean()
    if truth.item_sd.any():  # another noise has another unit
        score = ranking.items["score"].to_numpy()
        true = true * float(score @ true) / float(true @ true)
    else:
        true = true * gauge_scale(truth.accuracy, count.astype(np.float64))
    low, high = (ranking.items[name].to_numpy() for name in ("score_low", "score_high"))
    return float(np.mean((low <= true) & (true <= high)))


# --- trials that are kept ------------------------------------------------------------------------


class Kept(NamedTuple):
    """A trial, the command that asked for it, and where what it found is kept, if anywhere."""

    trial: Trial
    command: str
    file: str


def kept(asked: Kept) -> list[dict[str, Any]]:
    """Run a trial, and keep what it found."""
    rows = measured(asked.trial)
    if asked.file and rows:
        line = {"trial": asked.trial._asdict(), "command": asked.command, "rows": rows}
        with Path(asked.file).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return rows


def _name(trial: Trial) -> tuple[str, str, int, int]:
    return trial.setting, trial.policy, trial.seed, trial.number


def earlier(file: str) -> list[dict[str, Any]]:
    """The trials in a file."""
    path = Path(file)
    if not file or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def all_rows(
    trials: Sequence[Trial], command: str, file: str, jobs: int | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """What all trials found, those before included, and the commands that asked for them."""
    before = earlier(file)
    done = {_name(Trial(**one["trial"])) for one in before}
    asked = [Kept(trial, command, file) for trial in trials if _name(trial) not in done]
    found = [row for one in before for row in one["rows"]]
    found += [row for rows in all_results(kept, asked, "Active", jobs) for row in rows]
    commands = [one["command"] for one in before] + ([command] if asked else [])
    return sorted(found, key=_order), list(dict.fromkeys(commands))


def _order(row: dict[str, Any]) -> tuple[int, int, int, int]:
    setting = BY_NAME[row["setting"]]
    policy = setting.policies.index(row["policy"])
    return SETTINGS.index(setting), policy, row["number"], row["votes"]


# --- the page ------------------------------------------------------------------------------------

MEASURES = ("tau", "rmse", "top", "covered", "cpu")


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Means over data sets, and their standard errors."""
    return rows.group_by("setting", "policy", "votes", maintain_order=True).agg(
        pl.len().alias("data_sets"),
        *(pl.col(name).mean() for name in MEASURES),
        *((pl.col(name).std() / pl.len().sqrt()).alias(f"{name}_se") for name in MEASURES[:4]),
    )


def page(table: pl.DataFrame, commands: Sequence[str], name: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Which questions tell most" + (": programs of others" if name == PROGRAMS_PAGE else "")
    yield ""
    yield (
        f"Made by {' and '.join(f'`{one}`' for one in commands)}. "
        "Votes are asked for one batch after the other, by the package's "
        "`next_pairs` and by other policies, and answered by simulated judges. The answer to the "
        "k-th time that a judge is asked about a pair is the same for every policy. All votes are "
        "ranked in the same way, by `jr.rank` with the model given."
    )
    yield ""
    head = ("setting", "what", "model", "batch")
    yield from markdown(
        head, ((s.name, s.what, s.model, str(s.batch)) for s in SETTINGS if _has(table, s))
    )
    yield ""
    yield (
        "Of each policy after so many votes: Kendall's tau to the true order, ± one standard "
        "error; the root mean square error of standardised scores; how many of the true best five "
        "are among the first five; how many true scores are within their 95 % intervals; and the "
        "CPU time of a choice, in milliseconds, what it takes to fit the votes so far included. "
        'Crowd-BT and juryrank choose the judge, too, as long as it does not say "judges in '
        'turn"; for the others judges take turns. A "(program)" was published by its authors, and '
        "is run as it is; the others follow formulas. ± 0 stands for a single data set."
    )
    if BOUND in table["policy"]:
        yield ""
        yield (
            '"bound: the best design" is no policy: it knows the scores, and shares the votes out '
            "among the pairs so that unbiased estimates have the smallest error that there can be "
            "(the information of normal noise, A-optimal for standardised scores; "
            "`studies/bound.py`). What is below it is by chance, or by what a prior knows."
        )
    yield ""
    yield f"![Kendall's tau against votes]({name}.png)"
    yield ""
    yield (
        'juryrank asks 15 % of its questions at random, as long as it does not say "none at '
        'random", and no judge about a pair twice, unless there is one judge alone: of 20 items '
        "three judges can be asked about 570 pairs, and then others must be asked."
    )
    for setting in SETTINGS:
        if _has(table, setting):
            yield from _section(table.filter(pl.col("setting") == setting.name), setting)
    yield ""


def _has(table: pl.DataFrame, setting: Setting) -> bool:
    return setting.name in table["setting"]


def _section(table: pl.DataFrame, setting: Setting) -> Iterator[str]:
    data_sets = sorted(set(table["data_sets"].to_list()))
    yield ""
    yield f"## {setting.name}"
    yield ""
    yield f"{setting.what}. Data sets: {', '.join(map(str, data_sets))}."
    yield ""
    head = ("policy", "data sets", "votes", "tau", "rmse", "best 5", "covered", "ms")
    yield from markdown(head, map(_row, table.iter_rows(named=True)))


def _row(row: dict[str, Any]) -> list[str]:
    first = [row["policy"], str(row["data_sets"]), f"{row['votes']:,}"]
    rmse = f"{row['rmse']:.3f} ± {row['rmse_se'] or 0.0:.3f}"
    if row["tau"] is None:
        return [*first, "", rmse, "", "", ""]
    return [
        *first, f"{row['tau']:.3f} ± {row['tau_se'] or 0.0:.3f}", rmse, f"{row['top']:.2f}",
        f"{100.0 * row['covered']:.1f} ± {100.0 * (row['covered_se'] or 0.0):.1f}",
        _milliseconds(1e3 * row["cpu"]),
    ]  # fmt: skip


def _milliseconds(time: float) -> str:
    return f"{time:,.0f}" if time >= 10.0 else f"{time:.2g}"


def chart(table: pl.DataFrame) -> object:
    """Kendall's tau against votes, for each setting."""
    alt = altair()
    base = alt.Chart(table, width=360, height=240)
    line = base.mark_line(point=True).encode(
        x=alt.X("votes:Q", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("tau:Q", title="Kendall's tau", scale=alt.Scale(zero=False)),
        color=alt.Color("policy:N", title=None),
    )
    names = [setting.name for setting in SETTINGS]
    facet = alt.Facet("setting:N", title=None, sort=names)
    return line.facet(facet=facet, columns=2).resolve_scale(x="independent", y="independent")


def main() -> None:
    """Run the study and write its page."""
    parser = options(__doc__)
    parser.add_argument("--data-sets", type=int, default=20)
    parser.add_argument("--settings", nargs="*", default=list(BY_NAME))
    parser.add_argument("--policies", nargs="*", help="only these")
    parser.add_argument("--until", type=int, help="the most votes")
    parser.add_argument("--programs", default="", help="a folder with programs of others")
    parser.add_argument("--name", default="active", help="of the page")
    parser.add_argument("--trials", default="", help="a file that keeps what each trial found")
    given = parser.parse_args()
    trials = [
        Trial(name, policy, given.seed, number, given.programs, given.until)
        for name in given.settings
        for policy in BY_NAME[name].policies
        if not given.policies or policy in given.policies
        for number in range(given.data_sets)
    ]
    rows, commands = all_rows(trials, _command(sys.argv[1:]), given.trials, given.jobs)
    table = summary(pl.DataFrame(rows))
    lines = list(page(table, commands, given.name))
    for path in save_study(given.out, given.name, table, lines, chart(table)):
        print(path)


def _command(arguments: Sequence[str]) -> str:
    """How the study was called, without the names of files and folders."""
    shown, rest = ["python", "-m", "studies.active"], iter(arguments)
    for one in rest:
        if one in ("--trials", "--out", "--jobs", "--name"):
            next(rest)
        elif one == "--programs":
            next(rest)
            shown += [one, "FOLDER"]
        else:
            shown.append(one)
    return shlex.join(shown)


if __name__ == "__main__":
    main()
