"""`run`: judges that are programs are asked until the ranking is known, or the budget is spent."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from numbers import Integral
from typing import Any, TypedDict, Unpack

import polars as pl

from juryrank.active.display import Display, Shown, display_of, quietly
from juryrank.active.journal import open_journal
from juryrank.active.judge import Judges, judges_by_name
from juryrank.active.judge_calls import Prompt, Stopped
from juryrank.active.loop import EXPECTED, Ended, Study, conduct
from juryrank.active.loop_policy import Policy
from juryrank.active.own_thread import OwnThread
from juryrank.active.ranking_policy import RankingPolicy
from juryrank.active.spending import Purse, checked_budget
from juryrank.errors import InputError, JuryrankError, counted, listing, require_seed
from juryrank.model.registry import DEFAULT_MODEL
from juryrank.ranking.cautions import issue
from juryrank.ranking.ranking import Ranking
from juryrank.reading.nesting import has_half_character
from juryrank.reading.run_log import Failure, History, Label
from juryrank.text import WIDEST_NAME, short

Items = Mapping[Label, Any] | Iterable[Label]
"""Labels of items, or for each label what judges see."""
DIGITS = 16
"""Of the fingerprints of contents, in the log."""
MOST_SAID = 3
LARGEST = 2**63
TERMS = (
    "budget", "spend", "log", "seed", "stop_when_settled", "batch", "concurrency", "most_failures",
)  # fmt: skip


@dataclass(frozen=True)
class Terms:
    """What is asked for, beside items and judges."""

    budget: int | None
    spend: float | None
    log: str | os.PathLike[str] | None
    policy: Policy
    settings: Mapping[str, Any]
    """What must be the same for a log to be taken up again: target, model and the like."""
    seed: int = 0
    stop_when_settled: bool = True
    batch: int | None = None
    concurrency: int | None = None
    most_failures: int = 5


@contextmanager
def begun(items: Items, judges: Judges, terms: Terms) -> Iterator[Study]:
    """Check everything, and open the journal."""
    require_seed(terms.seed)
    for name in ("batch", "concurrency", "most_failures"):
        _require_positive(name, getattr(terms, name))
    contents, named = contents_of(items), judges_by_name(judges)
    votes, money = checked_budget(terms.budget, terms.spend, named)
    terms.policy.require_possible(list(named))
    with open_journal(terms.log, _header(contents, list(named), terms)) as journal:
        yield Study(
            contents, named, journal, Purse(named, journal.history, votes, money), terms.policy,
            terms.seed, terms.stop_when_settled, terms.batch, terms.concurrency,
            terms.most_failures,
        )  # fmt: skip


def _require_positive(name: str, value: object) -> None:
    if value is None and name != "most_failures":
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name}={value!r} must be a whole number of at least 1.")


def _header(contents: Mapping[Label, Any], judges: Sequence[str], terms: Terms) -> dict[str, Any]:
    return {
        "items": list(contents),
        "contents": [
            None if isinstance(content, str | int) and content == label else _fingerprint(content)
            for label, content in contents.items()
        ],
        "judges": list(judges),
        "seed": terms.seed,
        **terms.settings,
    }


def _fingerprint(content: Any) -> str | None:
    """What tells a content from another; None of objects that cannot be told apart for sure."""
    if not isinstance(content, bytes):
        try:
            content = json.dumps(content, sort_keys=True).encode()
        except (TypeError, ValueError, RecursionError):
            return None
    return hashlib.sha256(content).hexdigest()[:DIGITS]


# --- items ---------------------------------------------------------------------------------------


def contents_of(items: Items) -> dict[Label, Any]:
    """What judges see of each item: sorted by label, so that the order decides nothing."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise InputError(
            f"items must be a list of labels or a mapping of labels to contents, not {items!r}."
        )
    pairs = [*items.items()] if isinstance(items, Mapping) else [(label, label) for label in items]
    labels = [_label(label) for label, _ in pairs]
    if len({type(label) for label in labels}) > 1:
        raise InputError("Some labels of items are numbers and some are text: make all text.")
    if len(set(labels)) < len(labels):
        twice = sorted({label for label in labels if labels.count(label) > 1}, key=str)
        raise InputError(f"Items occur more than once: {listing(twice)}.")
    if len(labels) < 2:
        raise InputError(
            f"There is nothing to compare in {counted(len(labels), 'item')}: give at least two."
        )
    shown = (content if isinstance(items, Mapping) else label
             for label, (_, content) in zip(labels, pairs, strict=True))  # fmt: skip
    return dict(sorted(zip(labels, shown, strict=True)))


def _label(label: Any) -> Label:
    if isinstance(label, str) and label.strip() and not has_half_character(label):
        return str(label)
    is_whole = isinstance(label, Integral) and not isinstance(label, bool)
    if is_whole and abs(int(label)) < LARGEST:
        return int(label)
    raise InputError(
        f"An item is labelled {label!r}: labels must be text that is not blank, or whole numbers."
    )


# --- to the end ----------------------------------------------------------------------------------


def conducted(study: Study, display: Display) -> Ended:
    """Ask to the end, in an event loop of its own; people at a prompt are asked in this thread."""

    def in_loop(prompt: Prompt) -> Coroutine[Any, Any, Ended]:
        return conduct(study, display.tell, lambda ask: prompt(quietly(display, ask)))

    try:
        return OwnThread(in_loop).result()
    except Stopped as stop:
        raise stop.error from None
    finally:
        study.journal.close()  # before an answer that is on its way could come
        display.close()


async def conducted_here(study: Study, display: Display) -> Ended:
    """Ask to the end, in the event loop that is running."""
    try:
        return await conduct(study, display.tell)
    except Stopped as stop:
        raise stop.error from None
    finally:
        study.journal.close()
        display.close()


def outcome(study: Study, ended: Ended) -> Ranking:
    """The ranking by all votes, with what must be said about how they came about."""
    said, ranking = tuple(remarks(study, ended)), ended.known.ranking
    if ranking is None and (unpaid := study.purse.too_dear()):
        raise InputError(unpaid)
    if ranking is None:
        raise JuryrankError(
            " ".join(["There are no votes to rank by.", *said])
        ) from ended.last_error
    unfinished = [] if ranking.fit.converged else [ranking.warnings[-1]]
    found = replace(ranking, warnings=(*ranking.warnings, *said))
    issue(found.warnings, unfinished, stacklevel=3)
    return found


def remarks(study: Study, ended: Ended) -> Iterator[str]:
    """Why the loop ended, what judges failed at and refused, and what nobody was asked about."""
    history = study.journal.history
    yield from study.journal.remarks
    if ended.reason not in EXPECTED:
        yield f"No more was asked. {ended.reason}"
    yield from _failures(history, ended)
    refused = Counter(question.judge for question in history.refusals())
    if refused:
        cases = [f"{short(name, WIDEST_NAME)} {number:,}" for name, number in refused.items()]
        yield f"{counted(refused.total(), 'refusal')}, which are no votes: {listing(cases)}."
    yield from _not_asked_about(study)
    money = study.purse.money
    if money is not None and history.spent > money:
        yield (
            f"The cost is {float(history.spent):.6g}, above the limit of {money}: some answers "
            "cost more than their judge's `cost`, which should be the most that a call can cost."
        )


def _failures(history: History, ended: Ended) -> Iterator[str]:
    given_up = [one for one in history.failures if one.given_up and one.attempt]
    if not given_up:
        return
    by_judge: dict[str, list[Failure]] = {}
    for one in given_up:
        by_judge.setdefault(history.questions[one.id].judge, []).append(one)
    cases = [
        f"{short(name, WIDEST_NAME)} {len(own):,}"
        f"{', and was set aside' if name in ended.aside else ''} ({own[0].reason})"
        for name, own in sorted(by_judge.items())
    ]
    yield f"{counted(len(given_up), 'question')} failed and are no votes: {listing(cases)}."


def _not_asked_about(study: Study) -> Iterator[str]:
    votes = study.journal.history.votes()
    seen = set(votes["left"]) | set(votes["right"]) if len(votes) else set()
    missing = [label for label in study.contents if label not in seen]
    if missing and seen:
        names = [short(label, WIDEST_NAME) for label in missing]
        yield f"Items that are in no vote, and so not in the ranking: {listing(names)}."


# --- what users call -----------------------------------------------------------------------------


class RunOptions(TypedDict, total=False):
    """The keywords that `run` and `run_async` have in common."""

    budget: int | None
    spend: float | None
    target: Any
    log: str | os.PathLike[str] | None
    stop_when_settled: bool
    model: str
    batch: int | None
    concurrency: int | None
    most_failures: int
    random_share: float
    least_views: int
    most_views: int | None
    repeats: bool
    barred: object
    seed: int
    progress: Shown


def run(
    items: Items,
    judges: Judges,
    *,
    budget: int | None = None,
    spend: float | None = None,
    target: Any = "order",
    log: str | os.PathLike[str] | None = None,
    stop_when_settled: bool = True,
    model: str = DEFAULT_MODEL,
    batch: int | None = None,
    concurrency: int | None = None,
    most_failures: int = 5,
    random_share: float = 0.15,
    least_views: int | None = None,
    most_views: int | None = None,
    repeats: bool = False,
    barred: object = None,
    seed: int = 0,
    progress: Shown = True,
) -> Ranking:
    """Ask judges that are programs, always what tells most, until enough is known.

    Questions are chosen in batches by `next_pairs`: which pair, and which judge. All of a batch are
    asked at the same time; when each has an answer or has failed, the votes are ranked, and the
    next batch is chosen. Which questions are asked depends on the seed and on the answers in the
    order of their questions, not on the order in which they arrive. (It does if a judge fails at
    some questions and is set aside in the midst of a batch.)

    With `log`, every question and every answer is on the disk before it counts. After a crash, a
    power cut or an interrupt, the same call goes on where it was: nothing is lost, no question
    that has an answer is asked again, and those that were out are asked again once. A log is used
    by one process at a time. ``jr.read_votes(log)`` reads its votes.

    An interrupt (Ctrl-C) ends it at once; the log is whole.

    Args:
        items: Labels of the items, text or whole numbers, which are what judges see; or a mapping
            of labels to what judges see.
        judges: A mapping of names to functions of two items, left and right, which return "left",
            "right", "tie" or None (a refusal); or a list of `Judge`, which has settings for each:
            cost, time-out, repetitions and more. Functions may be sync or async.
        budget: How many answers to ask for at most. Ties and refusals count, failures do not.
        spend: How much money to spend at most, in the unit of the judges' costs. It is not
            exceeded as long as no answer costs more than its judge's `cost`. What counts: answers,
            calls that timed out or gave nothing that could be read, and calls that were out when
            an earlier process was killed, but not calls that raised an exception. With `budget`
            alone, judges are chosen by what their answers tell; with `spend`, by what they tell
            for their cost; with both, the one that is shorter counts for more.
        target: What is to be known, as for `next_pairs`.
        log: The file for questions and answers (JSON, one object a line), conventionally
            ``.jsonl``. None: nothing is kept beyond this call.
        stop_when_settled: Whether to stop before the budget is spent if the target is settled.
        model: The model to rank by, one of `juryrank.MODELS`.
        batch: How many questions at a time; None for as many as judges can work on at the same
            time, at least half as many as there are items, and a tenth of the answers so far.
        concurrency: How many calls may be out at the same time, of all judges; None for no limit
            but the judges' own.
        most_failures: After so many failures in a row, each with all its repetitions, a judge is
            not asked any more.
        random_share: As for `next_pairs`, and so are the following.
        least_views: How many questions each item is in at least.
        most_views: How many questions each item is in at most.
        repeats: Whether a judge may be asked about a pair again.
        barred: What judges may not see.
        seed: The same seed and the same answers give the same questions.
        progress: Whether to show votes, cost, the leaders and what is settled (on stderr: a bar in
            a terminal, else a line now and then); or a function that is called with `Progress`
            events instead.

    Returns:
        The `Ranking` by all votes of the log. Its `warnings`, issued as `JuryrankWarning`, say what
        failed or was refused, which judges were set aside, and why no more was asked, if it is
        not the budget or the target.

    Raises:
        InputError: Something about the arguments, or the log, is wrong; nobody was asked.
        JuryrankError: There are no votes, since all judges failed or refused; or the log cannot be
            written any more.
    """
    terms = _terms(locals())
    with begun(items, judges, terms) as study:
        return outcome(study, conducted(study, display_of(progress)))


async def run_async(items: Items, judges: Judges, **options: Unpack[RunOptions]) -> Ranking:
    """Do the same as `run` in the event loop that is running: ``await jr.run_async(...)``.

    For async judges that use what belongs to this loop, such as a session of an HTTP client.
    Votes are ranked in a thread, so the loop is not blocked. `run` itself works in Jupyter, too:
    there it has an event loop of its own.

    Args:
        items: As for `run`.
        judges: As for `run`. Judges at a prompt are asked in a thread.
        **options: The other arguments of `run`.
    """
    given = signature(run).bind(items, judges, **options)
    given.apply_defaults()
    with begun(items, judges, _terms(given.arguments)) as study:
        display = display_of(given.arguments["progress"])
        return outcome(study, await conducted_here(study, display))


def _terms(given: Mapping[str, Any]) -> Terms:
    """What the arguments of `run` ask for."""
    names = ("random_share", "least_views", "most_views", "repeats")
    options = {name: given[name] for name in names if given[name] is not None}
    barred, target = _barred(given["barred"]), given["target"]
    items = tuple(contents_of(given["items"]))
    return Terms(
        policy=RankingPolicy(items, target, given["model"], barred, options),
        settings={
            "target": target if isinstance(target, str) else repr(target),
            "model": given["model"],
            **options,
            "barred": None if barred is None else _fingerprint(barred.rows()),
        },
        **{name: given[name] for name in TERMS},
    )


def _barred(barred: Any) -> pl.DataFrame | None:
    """What judges may not see, as a frame."""
    if barred is None or isinstance(barred, pl.DataFrame):
        return barred
    try:
        return pl.DataFrame(barred)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        kind = type(barred).__name__
        raise InputError(
            f"barred must be a data frame with the columns judge and item, or judge, left and "
            f"right, not {kind}."
        ) from error
