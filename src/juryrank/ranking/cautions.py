"""What must be said about an answer, in sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import ConvergenceWarning, JuryrankWarning, counted, listing
from juryrank.inference.sampling import Sample
from juryrank.judging.accounts import Voice
from juryrank.model.objective import Objective
from juryrank.ranking.direction import direction_is_sure, who_objects
from juryrank.ranking.task import Task
from juryrank.solvers.search import votes_for
from juryrank.solvers.solution import Solution
from juryrank.text import WIDEST_NAME, short
from juryrank.votes.connectivity import linking_pairs
from juryrank.votes.lists import tie_sizes
from juryrank.votes.votes import Votes

ENDLESS = 12.0
"""Log-odds that no honest number of votes can show; a fit that gets there would go on for ever."""
FEW_JUDGES = 5
"""With fewer, hardly anything is known of how judges differ."""
NAMED_BY_RANK = ("one-sided", "position-biased")
LARGE_TASTE = 5.0
"""So many times the noise of a vote, tastes are all that counts: nobody contradicts themselves."""
MOST_LINKS = 3
MOST_SETS_SAID = 3
"""Sets of items that never lose, or never win, are named up to so many."""
SPLIT = "opinions split"
MOST_CAMPS = 5
MOST_VOICES = 3
AS_ONE = "and count as one judge"


def issue(remarks: Iterable[str], unfinished: Iterable[str], stacklevel: int) -> None:
    """Issue remarks as warnings.

    Args:
        remarks: What is to be said.
        unfinished: How those end that say that a fit did not converge; empty ones are none.
        stacklevel: As for `warnings.warn`, counted from here.
    """
    endings = tuple(filter(None, unfinished))
    for remark in remarks:
        kind = ConvergenceWarning if remark.endswith(endings) else JuryrankWarning
        warnings.warn(remark, kind, stacklevel=stacklevel)


def remarks_on_votes(task: Task) -> tuple[str, ...]:
    """What is odd about the votes themselves."""
    votes = task.votes
    remarks = [*votes.left_out.sentences, *votes.notices]
    if task.model.has_accuracies or not votes.judges_known:
        remarks += votes.remarks_on_one_judge()
    if len(tie_sizes(votes.lists)) and task.unasked_half and not task.noise.is_gumbel:
        remarks.append(
            f"Ties in rankings are not an outcome of their own with {task.noise.name} noise: "
            "every order of tied items counts equally. With Gumbel noise (hbtl, btl) they are."
        )
    remarks += _remarks_on_groups(task)
    apart = task.connection.sentences_within_groups(votes.items)
    if apart and task.model.odds:
        who = "the prior" if task.regularised else "nothing"
        rest = len(apart) - MOST_SETS_SAID
        more = f"; and {counted(rest, 'more set')} (juryrank check names them)" if rest > 0 else ""
        remarks.append(
            f"The votes do not link all items both ways, so {who} decides how far apart some of "
            f"them are: {'; '.join(apart[:MOST_SETS_SAID])}{more}."
        )
    return tuple(remarks)


def _remarks_on_groups(task: Task) -> Iterator[str]:
    """Whether there are items that were never compared, and what would change that."""
    found, votes = task.connection, task.votes
    if found.n_groups < 2:
        return
    pairs = [
        " against ".join(short(votes.items[item], WIDEST_NAME) for item in pair)
        for pair in linking_pairs(found, votes)
    ]
    yield (
        f"{found.n_groups:,} groups of items were never compared with each other, so each is "
        f"ranked by itself. Votes on {listing(pairs, MOST_LINKS)} would connect them."
    )


def remarks_on_direction(objective: Objective, solution: Solution) -> tuple[str, ...]:
    """Whether it is clear which end is up."""
    if direction_is_sure(objective, solution):
        return ()
    objection = who_objects(objective, solution.score)
    if objection is None:
        doubt = (
            "Which end is up is a close call: the votes agree with this ranking by only "
            f"{votes_for(objective, solution.score):.1f} standard errors. If most judges vote "
            "backwards it is upside down."
        )
    else:
        doubt = (
            f"Which end is up depends on who counts: {objection}. If these are the honest ones, it "
            "is upside down."
        )
    return (f"{doubt} So no item is called surely better: all are in one tier.",)


def remarks_on_sample(task: Task, objective: Objective, found: Sample) -> tuple[str, ...]:
    """What the draws leave open."""
    remarks = []
    objection = who_objects(objective, found.score.mean(axis=0)) if task.accuracies_free else None
    if found.is_close_call:
        remarks.append(
            f"Which end is up is a close call: with a chance of {found.upside_down:.0%} most "
            "judges vote backwards and the ranking is upside down. The intervals allow for it, and "
            "no item is called surely better: all are in one tier."
        )
    elif objection is not None:
        remarks.append(
            f"Which end is up depends on who counts: {objection}. If these are the honest ones, it "
            "is upside down."
        )
    return (*remarks, *_remarks_on_scale(found), *remarks_on_jury(task, found))


def _remarks_on_scale(found: Sample) -> tuple[str, ...]:
    """That scores are large where nothing but tastes tells votes of one pair apart."""
    if not found.has_tastes or found.typical_taste < LARGE_TASTE:
        return ()
    return (
        "Judges hardly ever contradict themselves (they cannot, where pairs are made of ratings). "
        "The unit of scores is the noise of a single vote, and there is hardly any, so the scores "
        f"are large: compare them with the ±{found.typical_taste:.2g} by which judges differ in "
        "taste. Ranks, tiers and predictions are not affected.",
    )


def remarks_on_jury(task: Task, found: Sample) -> tuple[str, ...]:
    """What so few judges cannot tell."""
    if not found.has_tastes or task.votes.n_judges >= FEW_JUDGES:
        return ()
    return (
        f"With {task.votes.n_judges} judges it is hard to say how far another jury would agree: "
        "how much judges differ in taste, and so how wide the intervals are, is estimated from "
        "few opinions of each item.",
    )


def not_settled(found: Sample) -> str:
    """What to say of a chain that moves too slowly."""
    return (
        f"The sampler has not settled: {found.rounds:,} rounds are worth only "
        f"{found.effective:.0f} independent draws of a score, so intervals are rough. The votes "
        "may fit several orders; more of them, or tastes=False (--no-tastes), will help."
    )


def remarks_on_held(task: Task, solution: Solution, held: NDArray[np.bool_]) -> tuple[str, ...]:
    """Which accuracies have no finite estimate."""
    if not held.any():
        return ()
    names = task.votes.judges.gather(np.flatnonzero(held)).to_list()
    at = float(np.abs(solution.accuracy[held]).max())
    return (
        f"Without a prior the accuracy of {len(names):,} of {task.votes.n_judges:,} judges has no "
        f"finite estimate (their votes fit the order, or its reverse, too well): {listing(names)}. "
        f"It was held at {at:.3g}. Use prior='auto' (--prior auto).",
    )


def remarks_on_effects(objective: Objective, solution: Solution) -> tuple[str, ...]:
    """Which effects have no finite estimate."""
    if np.isfinite(objective.prior.effect_sd):
        return ()
    layout, state = objective.layout, solution.state
    parts = {"the weight of ties": layout.tie, "the advantage of the left side": layout.order}
    endless = [name for name, part in parts.items() if (np.abs(state[part]) > ENDLESS).any()]
    if not endless:
        return ()
    return (
        f"Without a prior there is no finite estimate of {' and of '.join(endless)}: the votes all "
        "say the same. Use prior='auto' (--prior auto).",
    )


def many_judges_disagree(chance: float) -> str:
    """What to say where the ranking may follow a minority."""
    return (
        f"Which end is up depends on who counts: with a chance of {chance:.0%} two judges in five "
        "or more, by their number, vote against this ranking, which follows those who agree best "
        "with each other. If the others are right, it is upside down. So no item is called surely "
        "better, all are in one tier, and nothing is said of the judges."
    )


def remarks_on_voices(votes: Votes, voices: Sequence[Voice]) -> tuple[str, ...]:
    """Which accounts count as one judge."""
    remarks = []
    for voice in voices[:MOST_VOICES]:
        names = listing([_who(votes.judges[u]) for u in voice.judges.tolist()])
        many = counted(len(voice.judges), "account")
        what = "cast exactly the same votes"
        if voice.item is not None:
            what = f"only ever vote on {short(votes.items[voice.item], WIDEST_NAME)}"
        remarks.append(f"{many} {what} {AS_ONE}: {names}.")
    rest = voices[MOST_VOICES:]
    if rest:
        accounts = sum(len(voice.judges) for voice in rest)
        remarks.append(
            f"{counted(accounts, 'more account')} count as {counted(len(rest), 'judge')} for such "
            "reasons."
        )
    return tuple(remarks)


def _remark_on_camps(judges: pl.DataFrame) -> Iterator[str]:
    """Who differs in which way where so many do that nobody is odd."""
    split = judges.filter(pl.col("verdict") == SPLIT)
    camps = [
        f"{listing([_who(judge) for judge in rows['judge']])}: {reason}"
        for (reason,), rows in split.group_by("reason", maintain_order=True)
    ]
    rest = f"; and {len(camps) - MOST_CAMPS:,} more" if len(camps) > MOST_CAMPS else ""
    yield (
        f"Opinions split: {len(split):,} of {counted(len(judges), 'judge')} differ from the "
        f"others, too many to call any of them odd. {'; '.join(camps[:MOST_CAMPS])}{rest}."
    )


def remarks_on_judges(judges: pl.DataFrame, set_aside: int) -> tuple[str, ...]:
    """Name the judges who differ on an item or lean to a side, and the camps of a split jury."""
    verdicts = set(judges["verdict"].unique())
    sentences = [*_remark_on_camps(judges)] if SPLIT in verdicts else []
    for verdict in NAMED_BY_RANK:
        if verdict not in verdicts:
            continue
        named = judges.filter(pl.col("verdict") == verdict)
        cases = [f"{_who(row['judge'])} {row['reason']}" for row in named.iter_rows(named=True)]
        many = counted(len(named), f"{verdict} judge")
        aside = ""
        if verdict == "one-sided":
            votes = f"Their {counted(set_aside, 'vote')}" if set_aside else "Their votes"
            what = "are set aside" if set_aside else "count as tastes of their own"
            aside = f" {votes} on these items {what}."
        sentences.append(f"{many}: {listing(cases)}.{aside}")
    return tuple(sentences)


def remarks_beside_verdicts(
    warnings: Sequence[str], judges: pl.DataFrame, set_aside: int
) -> list[str]:
    """Those of the warnings that say more than the verdicts do."""
    of_judges = remarks_on_judges(judges, set_aside)
    return [one for one in warnings if one not in of_judges and AS_ONE not in one]


def _who(judge: object) -> str:
    """A judge by name; a mere number could be taken for a number of judges."""
    return f"judge {judge}" if str(judge).isdigit() else short(judge, WIDEST_NAME)
