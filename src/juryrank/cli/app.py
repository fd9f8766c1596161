"""The command line: a thin layer that reads options, calls the library and shows the answer.

Importing numba takes most of a second, so whatever needs it is imported inside the commands, after
the votes have been read.
"""

from __future__ import annotations

import atexit
import gc
import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from juryrank import __version__
from juryrank.cli.apart import versus as compared_items
from juryrank.cli.apart import votes_apart
from juryrank.cli.exits import exits_politely
from juryrank.cli.helping import (
    EXPERTS,
    HELP,
    MODELLING,
    TO_COMPARE,
    TO_RANK,
    TO_WRITE,
    HelpfulCommand,
    HelpfulGroup,
)
from juryrank.cli.paper import paper
from juryrank.cli.source import Source, file_name, with_source
from juryrank.errors import InputError, JuryrankWarning, counted
from juryrank.labels import literal
from juryrank.models import DEFAULT_MODEL, MODELS, model_named
from juryrank.pace import long_work
from juryrank.replacing import STDOUT, own_stream
from juryrank.saving import (
    SEPARATORS,
    check_ending,
    check_report_can_be_made,
    check_savable,
    is_any_of,
    saved_as,
)
from juryrank.scaling import anchor_in, check_anchor, check_scale
from juryrank.terminal import (
    answer_view,
    check_view,
    comparison_view,
    console,
    progress,
    report_view,
    show_note,
    show_warning,
)

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from juryrank.comparing import Comparison
    from juryrank.judging.report import JudgeReport
    from juryrank.ranking import Ranking
    from juryrank.rankings import Rankings
    from juryrank.scaling import Anchor
    from juryrank.simulation import Simulation
    from juryrank.votes import ByValue, Votes

DEFAULT_TOP, MOST_SHOWN = 20, 10**9
VOTES_SAVED_AS = (".csv", ".tsv", ".json", ".parquet")
OBJECTS_BEFORE_COLLECTION = 300_000

app = typer.Typer(
    cls=HelpfulGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

JUDGES_ARE = {"equal": "alike", "accuracy": "differ", "reliability": "differ"}
SIMULATED = "What to simulate"
VOTING = "How judges vote"
MODEL_LIST = "Models:\n" + "\n".join(
    f"{model.name:<16} {model.title}: judges {JUDGES_ARE[model.judges]}"
    for model in MODELS.values()
)

AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object and nothing else on stdout.",
        rich_help_panel=TO_WRITE,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many threads to use.",
        show_default="all cores",
        rich_help_panel=EXPERTS,
    ),
]
NOISES = "For the model htm: gumbel, normal or exponential."
Noise = Annotated[str | None, typer.Option(help=NOISES, metavar="NAME", rich_help_panel=EXPERTS)]
Accuracies = Annotated[
    str | None,
    typer.Option(
        help="The judges' accuracies, such as 3,2,1,0,-1.",
        metavar="NUMBER,...",
        show_default="drawn around 1",
        rich_help_panel=VOTING,
    ),
]
Tastes = Annotated[
    bool | None,
    typer.Option(
        "--tastes/--no-tastes",
        help="Whether judges may have likings of their own for single items; their size is told by "
        "the data.",
        show_default="tastes where the model can",
        rich_help_panel=MODELLING,
    ),
]
Ties = Annotated[
    Literal["davidson", "davidson-by-judge", "half"] | None,
    typer.Option(
        help="davidson: ties are an outcome, how often is estimated; davidson-by-judge: for each "
        "judge; half: half a win for each side.",
        show_default="an outcome where the model can, for each judge if the data say so",
        rich_help_panel=MODELLING,
    ),
]
Order = Annotated[
    Literal["none", "common", "by-judge"],
    typer.Option(
        help="Estimate what an item gains on the left side, in common or for each judge too.",
        rich_help_panel=MODELLING,
    ),
]
Confidence = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="The chance with which each interval should contain the truth.",
        rich_help_panel=MODELLING,
    ),
]
TableOut = Annotated[
    Path | None,
    typer.Option(
        help="Save the table: .csv, .tsv, .json, .parquet, .html, .md, .tex or .xlsx.",
        metavar="FILE",
        rich_help_panel=TO_WRITE,
    ),
]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="In .csv and .tsv files, put an apostrophe before names that a spreadsheet would take "
        "for formulas, and show control characters as escapes.",
        rich_help_panel=EXPERTS,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="The same seed gives the same result.",
        rich_help_panel=EXPERTS,
    ),
]


def main() -> None:
    """Run the command line."""
    _start_no_blas_threads()
    _rarely_collect_garbage()
    _never_fail_to_encode(sys.stdout, sys.stderr)
    app(prog_name="juryrank")


def _start_no_blas_threads() -> None:
    """Tell OpenBLAS, before numpy loads it, to start no threads, unless the user wants some.

    They would never get any work (see `juryrank.threads`), but wait for it in a busy loop that
    takes a fifth of the time of a small ranking.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _rarely_collect_garbage() -> None:
    """Do not search modules for garbage while they are imported, nor once more at the end.

    Nearly all that a command makes is either freed at once or lives as long as the process. To
    look through it all again and again takes a quarter of the time of a small ranking.
    """
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    atexit.register(gc.freeze)


def _never_fail_to_encode(*streams: Any) -> None:
    """Let a terminal that knows no unicode show a question mark instead of an error."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


# --- the commands --------------------------------------------------------------------------------


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"juryrank {__version__}")
        raise typer.Exit


@app.callback()
def juryrank(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_show_version,
            is_eager=True,
            rich_help_panel=HELP,
        ),
    ] = False,
) -> None:
    """Votes by many judges in, one ranking out, and how far to trust every judge.

    A vote is a row: judge, winner, loser; or judge, left, right, winner; or judge, ranking.

    Examples:
      juryrank rank --example             the bundled example: try this first
      juryrank check votes.csv            what is in your votes
      juryrank rank votes.csv             the ranking, and the judges worth a look
      juryrank rank votes.csv --report report.html
    """


@app.command(cls=HelpfulCommand, epilog=MODEL_LIST)
@exits_politely
@with_source
def rank(
    source: Source,
    model: Annotated[
        str,
        typer.Option(
            help="What is assumed of votes and judges; listed below.",
            metavar="NAME",
            rich_help_panel=MODELLING,
        ),
    ] = DEFAULT_MODEL,
    noise: Noise = None,
    prior: Annotated[
        str,
        typer.Option(
            help="auto: scales chosen by the data; none: maximum likelihood; or the standard "
            "deviations of scores and accuracies, such as 1.5,0.5.",
            metavar="auto|none|SIGMA,TAU",
            rich_help_panel=EXPERTS,
        ),
    ] = "auto",
    lambda0: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="Weight of the paper's virtual node, instead of a score prior.",
            rich_help_panel=EXPERTS,
        ),
    ] = 0.0,
    solver: Annotated[
        Literal["profile", "paper"],
        typer.Option(
            help="profile is fast and sure; paper is the paper's Algorithm 1.",
            rich_help_panel=EXPERTS,
        ),
    ] = "profile",
    guard: Annotated[
        bool,
        typer.Option(
            "--guard/--no-guard",
            help="Count accounts that speak with one voice as one judge and, without tastes, set "
            "aside votes with which a judge pushes a single item; or let all count.",
            rich_help_panel=EXPERTS,
        ),
    ] = True,
    tastes: Tastes = None,
    ties: Ties = None,
    order: Order = "none",
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Rank each value of this column apart, with judges of its own.",
            rich_help_panel=TO_RANK,
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JUDGE",
            help="Leave this judge out. May be repeated.",
            rich_help_panel=TO_RANK,
        ),
    ] = None,
    confidence: Confidence = 0.95,
    intervals: Annotated[
        Literal["posterior", "information", "sandwich", "bootstrap", "none"],
        typer.Option(
            help="Where errors come from: the posterior; or, of the best fit of the plain model, "
            "its curvature or, with judges instead of votes as the independent draws, a sandwich "
            "or 200 resamples.",
            rich_help_panel=EXPERTS,
        ),
    ] = "posterior",
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write a report with charts, one .html page.",
            metavar="FILE",
            rich_help_panel=TO_WRITE,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Save the items as .csv, .tsv or .parquet, with the judges as .md, .tex or .xlsx, "
            "or everything as .json or .html.",
            metavar="FILE",
            rich_help_panel=TO_WRITE,
        ),
    ] = None,
    judges_out: Annotated[
        Path | None,
        typer.Option(
            help="Save the judges, with the same endings.",
            metavar="FILE",
            rich_help_panel=TO_WRITE,
        ),
    ] = None,
    safe_csv: SafeCsv = False,
    top: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="How many items to show.", rich_help_panel=TO_WRITE),
    ] = DEFAULT_TOP,
    versus: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Say how much better item A is than item B.",
            rich_help_panel=TO_WRITE,
        ),
    ] = None,
    scale: Annotated[
        Literal["model", "elo"],
        typer.Option(
            help="elo: points, of which 400 are odds of ten to one; 1000 is average.",
            rich_help_panel=TO_WRITE,
        ),
    ] = "model",
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="ITEM=POINTS",
            help="With --scale elo: so many points for this item instead.",
            rich_help_panel=TO_WRITE,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="The title of the report.", metavar="TEXT")
    ] = None,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Rank the items, and say how accurate each judge is.

    Examples:
      juryrank rank --example
      juryrank rank votes.csv --report report.html
      juryrank rank votes.csv --out ranking.csv --judges-out judges.csv
      juryrank rank votes.csv --by language --where 'round > 3'
      juryrank rank battles.parquet --judge rater --scale elo --anchor gpt-4=1200
      juryrank rank 'votes/*.csv.gz' --json | jq .items
    """
    check_scale(scale, model_named(model), anchor)
    asked_anchor = None if anchor is None else anchor_in(anchor)
    chosen_prior = _prior(prior)
    _check_report(out, report, title)
    _check_destinations(source, out, judges_out, report)
    _check_safe_csv(safe_csv, out, judges_out)
    _check_confidence(confidence)
    read = source.keeping(by).read()
    votes = read.without(without or ())
    chosen_anchor = None if asked_anchor is None else _anchor(asked_anchor, votes)
    options: dict[str, Any] = {
        "noise": noise, "prior": chosen_prior, "lambda0": lambda0, "solver": solver,
        "guard": guard, "tastes": tastes, "ties": ties, "order": order, "confidence": confidence,
        "intervals": None if intervals == "none" else intervals, "threads": threads,
    }  # fmt: skip
    answer: Ranking | Rankings
    if by is None:
        answer = _fitted(votes, model, **options)
    else:
        answer = _fitted_apart(votes_apart(votes, by, chosen_anchor), model, **options)
    answer = answer.scaled(scale, chosen_anchor)
    compared = None if versus is None else compared_items(answer, versus)
    _save_ranking(answer, out, judges_out, safe_csv=safe_csv)
    for path in _reports(out, report):
        _save_report(answer, path, title, source, [*source.paths, out, judges_out, report])
    if as_json:
        from juryrank.writing import finite

        _print_json(finite(answer.to_dict() if compared is None else compared.answer))
    elif not _is_stdout(out, judges_out, report):
        _show(answer_view(answer, min(top, MOST_SHOWN)))
        if compared is not None:
            said = "\n".join(literal(sentence) for sentence in compared.sentences)
            console().print(f"\n{said}", soft_wrap=True)
    _show_warnings(answer, said=read.remarks)


@app.command(cls=HelpfulCommand)
@exits_politely
@with_source
def judges(
    source: Source,
    model: Annotated[
        str,
        typer.Option(help="hbtl, htcv or htm.", metavar="NAME", rich_help_panel=MODELLING),
    ] = DEFAULT_MODEL,
    noise: Noise = None,
    tastes: Tastes = None,
    ties: Ties = None,
    order: Order = "none",
    confidence: Confidence = 0.95,
    top: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="How many judges to show.", rich_help_panel=TO_WRITE),
    ] = DEFAULT_TOP,
    out: TableOut = None,
    safe_csv: SafeCsv = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Say how far each judge can be trusted and why, those who need attention first.

    Examples:
      juryrank judges --example
      juryrank judges votes.csv --out judges.csv
    """
    model_named(model)
    _check_confidence(confidence)
    _check_destinations(source, out)
    _check_safe_csv(safe_csv, out)
    votes = source.read()
    report = _judged(
        votes, model, noise=noise, tastes=tastes, ties=ties, order=order, confidence=confidence,
        threads=threads,
    )  # fmt: skip
    _save_table(report.table, "judges", out, safe_csv=safe_csv)
    if as_json:
        from juryrank.writing import finite

        _print_json(finite(report.to_dict()))
    elif not _is_stdout(out):
        _show(report_view(report, min(top, MOST_SHOWN)))
    _show_warnings(report.ranking, said=votes.remarks)


@app.command(cls=HelpfulCommand)
@exits_politely
@with_source
def check(source: Source, as_json: AsJson = False) -> None:
    """Say what is in the votes, and whether they can rank the items.

    Examples:
      juryrank check --example
      juryrank check votes.csv
    """
    votes = source.read(with_remarks=False)
    from juryrank.checking import check as checked

    found = checked(votes)
    if as_json:
        _print_json(found.to_dict())
    else:
        _show(check_view(found))


@app.command(cls=HelpfulCommand, epilog=MODEL_LIST)
@exits_politely
@with_source
def compare(
    source: Source,
    models: Annotated[
        str | None,
        typer.Option(
            help="The models to compare, with commas between them; --help-all lists them.",
            metavar="NAME,...",
            show_default="all but htm that know the kind of votes",
            rich_help_panel=TO_COMPARE,
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="N",
            help="Into how many parts the votes are split.",
            rich_help_panel=TO_COMPARE,
        ),
    ] = 5,
    seed: Seed = 0,
    out: TableOut = None,
    safe_csv: SafeCsv = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Compare models by how well they predict unseen votes.

    Examples:
      juryrank compare --example
      juryrank compare votes.csv --models hbtl,btl --folds 10
    """
    chosen = None if models is None else _models(models)
    _check_destinations(source, out)
    _check_safe_csv(safe_csv, out)
    votes = source.read()
    comparison = _compared(votes, chosen, folds, seed, threads)
    _save_table(comparison.table, "comparison", out, safe_csv=safe_csv)
    if as_json:
        _print_json(comparison.to_dict())
    elif not _is_stdout(out):
        _show(comparison_view(comparison))


@app.command(cls=HelpfulCommand)
@exits_politely
def simulate(
    items: Annotated[
        int, typer.Option(min=2, metavar="N", help="Number of items.", rich_help_panel=SIMULATED)
    ] = 20,
    judges: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of judges.",
            show_default="10, or one per accuracy",
            rich_help_panel=SIMULATED,
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="hbtl, htcv, htm, btl, tcv, crowdbt or crowdtcv.",
            metavar="NAME",
            rich_help_panel=VOTING,
        ),
    ] = DEFAULT_MODEL,
    noise: Annotated[
        str | None, typer.Option(help=NOISES, metavar="NAME", rich_help_panel=VOTING)
    ] = None,
    accuracies: Accuracies = None,
    adversaries: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="How many of the judges vote backwards.",
            rich_help_panel=VOTING,
        ),
    ] = 0,
    votes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Votes per judge.",
            show_default="100",
            rich_help_panel=SIMULATED,
        ),
    ] = None,
    density: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Instead: the chance that a judge is asked a pair, each way.",
            rich_help_panel=SIMULATED,
        ),
    ] = None,
    score_sd: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="X", help="Spread of the items' scores.", rich_help_panel=SIMULATED
        ),
    ] = 1.0,
    per_vote: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="N",
            help="Items in each vote; more than 2 makes votes rankings.",
            rich_help_panel=SIMULATED,
        ),
    ] = 2,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many of them are ranked, the best; 1 is a choice from a set.",
            show_default="all",
            rich_help_panel=SIMULATED,
        ),
    ] = None,
    tie: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="T",
            help="Weight of ties: equal items tie with chance T / (2 + T).",
            rich_help_panel=VOTING,
        ),
    ] = 0.0,
    tie_sd: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="X", help="Spread of log T over judges.", rich_help_panel=VOTING
        ),
    ] = 0.0,
    left: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="What the left item of a pair gains, in log-odds.",
            rich_help_panel=VOTING,
        ),
    ] = 0.0,
    left_sd: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="X", help="Spread of that over judges.", rich_help_panel=VOTING
        ),
    ] = 0.0,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="The same seed gives the same votes.",
            rich_help_panel=SIMULATED,
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Save the votes as .csv, .tsv, .json or .parquet, and the truth beside them.",
            metavar="FILE",
            show_default="CSV on stdout",
            rich_help_panel=TO_WRITE,
        ),
    ] = None,
) -> None:
    """Make up votes whose truth is known.

    Examples:
      juryrank simulate --items 20 --accuracies 3,2,1,0,-1 --out votes.csv
      juryrank simulate --judges 50 --adversaries 5 --seed 7 | juryrank rank -
      juryrank simulate --per-vote 6 --top 2 --out rankings.csv
      juryrank simulate --tie 0.8 --left 0.5 | juryrank rank -
    """
    known = None if accuracies is None else _numbers("--accuracies", accuracies)
    model_named(model)
    for path in () if out is None else _simulation_files(out):
        check_savable(path, VOTES_SAVED_AS)
    from juryrank.simulation import simulate as simulated

    made = simulated(
        items,
        judges,
        model=model,
        noise=noise,
        score_sd=score_sd,
        accuracies=known,
        adversaries=adversaries,
        votes_per_judge=votes,
        density=density,
        per_vote=per_vote,
        top=top,
        tie=tie,
        tie_sd=tie_sd,
        left=left,
        left_sd=left_sd,
        seed=seed,
    )
    if out is None:
        _print_text(made.votes.write_csv())
    else:
        _save_simulation(made, out)


app.command(cls=HelpfulCommand)(paper)


# --- options into values -------------------------------------------------------------------------


def _prior(text: str) -> Literal["auto"] | tuple[float, float] | None:
    if text.strip().lower() == "auto":
        return "auto"
    if text.strip().lower() == "none":
        return None
    scales = _numbers("--prior", text)
    if len(scales) != 2:
        raise InputError(
            f"--prior {text} must be auto, none, or two numbers: the standard deviations of scores "
            "and accuracies, such as 1.5,0.5."
        )
    return scales[0], scales[1]


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise InputError(f"--confidence {confidence:g} must lie between 0 and 1, such as 0.95.")


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise InputError(
            f"{option} {text} must be numbers with commas between them, such as 1.5,0.5."
        ) from None


def _models(text: str) -> list[str]:
    from juryrank.comparing import NO_TASTES

    found = []
    for name in (part.strip() for part in text.split(",")):
        suffix = NO_TASTES if name.endswith(NO_TASTES) else ""
        found.append(model_named(name.removesuffix(suffix)).name + suffix)
    return list(dict.fromkeys(found))


# --- the work ------------------------------------------------------------------------------------


def _say_if_long(said: str | None) -> None:
    if said is not None:
        show_note(said)


def _fitted_apart(by: ByValue, model: str, **options: Any) -> Rankings:
    from juryrank.rankings import rank_each

    return rank_each(by, lambda what, votes: _fitted(votes, model, f"{what}: ", **options))


def _fitted(votes: Votes, model: str, what: str = "", **options: Any) -> Ranking:
    from juryrank.fitting import rank as fit

    _say_if_long(long_work(votes.lists, options["noise"] or model_named(model).noise))
    with progress(f"{what}Fitting {model}") as say, warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)  # they are in ranking.warnings too

        def watch(evaluation: int, objective: float, gradient: float) -> None:
            slope = "" if math.isnan(gradient) else f", gradient {gradient:.2g}"
            state = f"evaluation {evaluation}, objective {objective:,.2f}{slope}"
            say(f"{what}Fitting {model}: {state}")

        def watch_draws(done: int, total: int) -> None:
            text = f"{what}Sampling the posterior: {done:,} of {total:,} rounds"
            say(text, done, total)

        def watch_resamples(done: int, total: int) -> None:
            say(f"{what}Resampling judges: {done:,} of {total:,}", done, total)

        def watch_steps(step: str) -> None:
            say(f"{what}{step}")

        return fit(
            votes, model, by=None, **options,
            watch=watch, watch_draws=watch_draws, watch_resamples=watch_resamples,
            watch_steps=watch_steps,
        )  # fmt: skip


def _judged(votes: Votes, model: str, **options: Any) -> JudgeReport:
    from juryrank.judging.report import judges as look_at

    _say_if_long(long_work(votes.lists, options["noise"] or model_named(model).noise))
    with progress("Looking at judges") as say, warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)  # they are in ranking.warnings too

        def watch(what: str, done: int, total: int) -> None:
            say(f"{what}: {done:,} of {total:,}", done, total)

        return look_at(votes, model, **options, watch=watch)


def _anchor(asked: tuple[str, float], votes: Votes) -> Anchor:
    """Find the item of an anchor, whatever the type of the labels."""
    known = {str(item): item for item in votes.items}
    item, points = asked
    return check_anchor((known.get(item, item), points), votes.items.to_list())


def _compared(
    votes: Votes, chosen: Sequence[str] | None, folds: int, seed: int, threads: int | None
) -> Comparison:
    from juryrank.comparing import compare as fit_and_compare
    from juryrank.comparing import long_comparison

    _say_if_long(long_comparison(votes, chosen, folds))
    with progress("Comparing models") as say, warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)  # it was said just now

        def watch(done: int, total: int, model: str) -> None:
            say(f"Comparing models: {model}, fit {done + 1:,} of {total:,}", done, total)

        return fit_and_compare(votes, chosen, folds=folds, seed=seed, threads=threads, watch=watch)


# --- the answer ----------------------------------------------------------------------------------


def _check_destinations(source: Source, *paths: Path | None) -> None:
    """Complain before the long work about files that could not be saved after it."""
    given = [path for path in paths if path is not None]
    for path in given:
        check_savable(path)
        if is_any_of(path, source.files):
            raise InputError(f"Saving to {str(path)!r} would overwrite the votes.")
    if len({path.resolve() for path in given}) < len(given):
        raise InputError(f"Two things cannot both be saved to {str(given[0])!r}.")


def _is_stdout(*paths: Path | None) -> bool:
    """Whether a file that was asked for is standard output, which then has nothing else."""
    return any(path is not None and own_stream(path) == STDOUT for path in paths)


def _check_safe_csv(safe_csv: bool, *paths: Path | None) -> None:
    """Complain if there is no file that could be made safe."""
    if safe_csv and not any(path is not None and saved_as(path) in SEPARATORS for path in paths):
        raise InputError(
            "--safe-csv is for .csv and .tsv files, and none is written: name one with --out FILE, "
            "or omit it. Other formats need no such care."
        )


def _reports(out: Path | None, report: Path | None = None) -> list[Path]:
    """Those of the files that hold a report."""
    also = [] if out is None or saved_as(out) != ".html" else [out]
    return also if report is None else [*also, report]


def _check_report(out: Path | None, report: Path | None, title: str | None) -> None:
    """Complain before the long work if there can be no report after it."""
    if report is not None:
        check_ending(report, (".html",))
    if _reports(out, report):
        check_report_can_be_made()
    elif title is not None:
        raise InputError("--title is for the report: say with --report FILE where to write it.")


def _save_ranking(
    ranking: Ranking | Rankings, out: Path | None, judges_out: Path | None, *, safe_csv: bool
) -> None:
    if out is not None and not _reports(out):
        ranking.save(out, safe_csv=safe_csv)
        show_note(f"Saved the ranking to {out}.")
    _save_table(ranking.judges, "judges", judges_out, safe_csv=safe_csv)


def _save_report(
    ranking: Ranking | Rankings,
    path: Path,
    title: str | None,
    source: Source,
    files: Sequence[object],
) -> None:
    from juryrank.writing import write_text

    command = _command_without_folders([str(file) for file in files if file is not None])
    with progress("Writing the report"):
        write_text(path, ranking.report(command, title=title, source=source.name))
    show_note(f"Saved the report to {path}.")


def _command_without_folders(files: Sequence[str]) -> str:
    """What was typed, for others to read: where the files are on this machine is not for them."""
    names = {Path(file): name for file in files if (name := file_name(file))}
    typed = []
    for argument in sys.argv[1:]:
        option, equals, value = argument.partition("=")
        if Path(argument) in names:
            typed.append(names[Path(argument)])
        elif option.startswith("--") and Path(value) in names:
            typed.append(f"{option}{equals}{names[Path(value)]}")
        else:
            typed.append(argument)
    return shlex.join(["juryrank", *typed])


def _save_table(frame: pl.DataFrame, what: str, out: Path | None, *, safe_csv: bool) -> None:
    if out is None:
        return
    from juryrank.writing import save_frame

    save_frame(frame, out, safe_csv=safe_csv)
    show_note(f"Saved the {what} to {out}.")


def _simulation_files(out: Path) -> tuple[Path, ...]:
    """Give the files of the votes, the true scores, accuracies and effects."""
    beside = ("items", "judges", "effects")
    return out, *(out.with_name(f"{out.stem}.{it}{out.suffix}") for it in beside)


def _save_simulation(made: Simulation, out: Path) -> None:
    from juryrank.writing import save_frame

    files = _simulation_files(out)
    frames = [made.votes, made.items, made.judges, *([made.effects] if len(made.effects) else [])]
    for frame, path in zip(frames, files, strict=False):
        save_frame(frame, path)
    truths = [f"the true scores to {files[1]}", f"the true accuracies to {files[2]}"]
    truths += [f"the true effects to {files[3]}"] if len(made.effects) else []
    show_note(
        f"Saved {counted(len(made.votes), 'vote')} to {files[0]}, {', '.join(truths[:-1])} "
        f"and {truths[-1]}."
    )


def _show_warnings(answer: Ranking | Rankings, said: Sequence[str]) -> None:
    """Show the warnings, but for what was said when the votes had been read."""
    for warning in answer.warnings:
        if warning not in said:
            show_warning(warning)


def _show(parts: Iterable[RenderableType]) -> None:
    stdout = console()
    for part in parts:
        stdout.print(part)


def _print_json(answer: dict[str, Any]) -> None:
    _print_text(json.dumps(answer, ensure_ascii=False, allow_nan=False, default=str) + "\n")


def _print_text(text: str) -> None:
    """Print for programs: always UTF-8, whatever the terminal would like."""
    sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
