"""`juryrank rank`: the items ranked, and how accurate each judge is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from juryrank.cli.by_value import votes_by_value
from juryrank.cli.exits import exits_politely
from juryrank.cli.fitting import fitting, say_if_long, watcher
from juryrank.cli.help import EXPERTS, MODELLING, TO_RANK, TO_WRITE
from juryrank.cli.model_options import (
    Confidence,
    Noise,
    Order,
    Tastes,
    Threads,
    Ties,
    check_confidence,
    numbers_in,
)
from juryrank.cli.output_options import DEFAULT_TOP, MOST_SHOWN, AsJson, SafeCsv, show_warnings
from juryrank.cli.ranking_files import RankingFiles
from juryrank.cli.reading_options import with_source
from juryrank.cli.source import Source
from juryrank.cli.terminal.console import console, print_json, show
from juryrank.cli.terminal.messages import show_note
from juryrank.cli.terminal.ranking import answer_view
from juryrank.cli.versus import versus as compared_items
from juryrank.cluster.possible import check_possible
from juryrank.errors import InputError, JuryrankError
from juryrank.model.points import anchor_in, check_anchor, check_scale
from juryrank.model.registry import DEFAULT_MODEL, model_named
from juryrank.text import literal

if TYPE_CHECKING:
    import polars as pl

    from juryrank.cluster.scanned import ScannedVotes
    from juryrank.model.points import Anchor
    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.ranking import Ranking
    from juryrank.votes.votes import ByValue, Votes

Model = Annotated[
    str,
    typer.Option(
        help="What is assumed about votes and judges; listed below.",
        metavar="NAME",
        rich_help_panel=MODELLING,
    ),
]
Prior = Annotated[
    str,
    typer.Option(
        help="auto: scales chosen by the data; none: maximum likelihood; or the standard "
        "deviations of scores and accuracies, such as 1.5,0.5.",
        metavar="auto|none|SIGMA,TAU",
        rich_help_panel=EXPERTS,
    ),
]
Lambda0 = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="Weight of the paper's virtual node, instead of a score prior.",
        rich_help_panel=EXPERTS,
    ),
]
Solver = Annotated[
    Literal["profile", "paper"],
    typer.Option(
        help="profile is fast and reliable; paper is the paper's Algorithm 1.",
        rich_help_panel=EXPERTS,
    ),
]
Guard = Annotated[
    bool,
    typer.Option(
        "--guard/--no-guard",
        help="Count accounts that speak with one voice as one judge and, without tastes, set "
        "aside votes with which a judge pushes a single item; or let all count.",
        rich_help_panel=EXPERTS,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rank each value of this column separately, with judges of its own.",
        rich_help_panel=TO_RANK,
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JUDGE",
        help="Leave this judge out. May be repeated.",
        rich_help_panel=TO_RANK,
    ),
]
Intervals = Annotated[
    Literal["posterior", "information", "sandwich", "bootstrap", "none"],
    typer.Option(
        help="Where errors come from: the posterior; or, for the best fit of the plain model, "
        "its curvature; or a sandwich or 200 resamples, with judges instead of votes as the "
        "independent draws.",
        rich_help_panel=EXPERTS,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        help="Write a report with charts, one .html page.",
        metavar="FILE",
        rich_help_panel=TO_WRITE,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Save the items as .csv, .tsv or .parquet, with the judges as .md, .tex or .xlsx, "
        "or everything as .json or .html.",
        metavar="FILE",
        rich_help_panel=TO_WRITE,
    ),
]
JudgesOut = Annotated[
    Path | None,
    typer.Option(
        help="Save the judges, with the same endings.",
        metavar="FILE",
        rich_help_panel=TO_WRITE,
    ),
]
Top = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="How many items to show.", rich_help_panel=TO_WRITE),
]
Versus = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="A B",
        help="Say how much better item A is than item B.",
        rich_help_panel=TO_WRITE,
    ),
]
ScaleName = Annotated[
    Literal["model", "elo"],
    typer.Option(
        help="elo: points, of which 400 are odds of ten to one; 1000 is average.",
        rich_help_panel=TO_WRITE,
    ),
]
AnchorText = Annotated[
    str | None,
    typer.Option(
        metavar="ITEM=POINTS",
        help="With --scale elo: give this item these points instead.",
        rich_help_panel=TO_WRITE,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(help="The title of the report.", metavar="TEXT", rich_help_panel=TO_WRITE),
]


Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Rank on a cluster of Dask, tcp://HOST:PORT, or on N processes here, local:N.",
        rich_help_panel=EXPERTS,
    ),
]


Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep the progress of a long fit in this file; if the file exists, go on from there.",
        rich_help_panel=EXPERTS,
    ),
]


@exits_politely
@with_source
def rank(
    source: Source,
    model: Model = DEFAULT_MODEL,
    noise: Noise = None,
    prior: Prior = "auto",
    lambda0: Lambda0 = 0.0,
    solver: Solver = "profile",
    guard: Guard = True,
    tastes: Tastes = None,
    ties: Ties = None,
    order: Order = "none",
    by: By = None,
    without: Without = None,
    confidence: Confidence = 0.95,
    intervals: Intervals = "posterior",
    report: Report = None,
    out: Out = None,
    judges_out: JudgesOut = None,
    safe_csv: SafeCsv = False,
    top: Top = DEFAULT_TOP,
    versus: Versus = None,
    scale: ScaleName = "model",
    anchor: AnchorText = None,
    title: Title = None,
    as_json: AsJson = False,
    threads: Threads = None,
    cluster: Cluster = None,
    resume: Resume = None,
) -> None:
    """Rank the items, and say how accurate each judge is.

    Examples:
      juryrank rank --example
      juryrank rank votes.csv --report report.html
      juryrank rank votes.csv --out ranking.csv --judges-out judges.csv
      juryrank rank votes.csv --by language --where 'round > 3'
      juryrank rank battles.parquet --judge rater --scale elo --anchor gpt-4=1200
      juryrank rank 'votes/*.csv.gz' --json | jq .items
      juryrank rank 'votes/*.parquet' --cluster tcp://scheduler:8786
      juryrank rank votes.parquet --memory 4GB --resume votes.fit
    """
    check_scale(scale, model_named(model), anchor)
    if by is not None and resume is not None:
        raise InputError(
            "--resume keeps a single fit, and --by makes one for each value: omit one of the two."
        )
    asked_anchor = None if anchor is None else anchor_in(anchor)
    options: dict[str, Any] = {
        "noise": noise, "prior": _prior(prior), "lambda0": lambda0, "solver": solver,
        "guard": guard, "tastes": tastes, "ties": ties, "order": order, "confidence": confidence,
        "intervals": None if intervals == "none" else intervals, "threads": threads,
    }  # fmt: skip
    files = RankingFiles(out, judges_out, report, title, safe_csv)
    files.check(source)
    check_confidence(confidence)
    answer: Ranking | Rankings
    remarks: tuple[str, ...] = ()
    if cluster is not None:
        check_possible({**options, "by": by, "without": without, "report": report})
        answer = _fitted(source.scanned(), model, **options, cluster=cluster, resume=resume)
        chosen_anchor = (
            None if asked_anchor is None else _anchor(asked_anchor, answer.items["item"])
        )
        show_note(str(answer.reading[0]))
    else:
        read = source.keeping(by).read()
        votes, remarks = read.without(without or ()), read.remarks
        chosen_anchor = None if asked_anchor is None else _anchor(asked_anchor, votes.items)
        if by is None:
            answer = _fitted(votes, model, **options, resume=resume)
        else:
            answer = _fitted_by_value(votes_by_value(votes, by, chosen_anchor), model, **options)
    answer = answer.scaled(scale, chosen_anchor)
    compared = None if versus is None else compared_items(answer, versus)
    files.save(answer, source)
    if as_json:
        print_json(answer.to_dict() if compared is None else compared.answer)
    elif not files.hold_stdout:
        show(answer_view(answer, min(top, MOST_SHOWN)))
        if compared is not None:
            said = "\n".join(literal(sentence) for sentence in compared.sentences)
            console().print(f"\n{said}", soft_wrap=True)
    show_warnings(answer, said=remarks)


def _prior(text: str) -> Literal["auto"] | tuple[float, float] | None:
    if text.strip().lower() == "auto":
        return "auto"
    if text.strip().lower() == "none":
        return None
    scales = numbers_in("--prior", text)
    if len(scales) != 2:
        raise InputError(
            f"--prior {text} must be auto, none, or two numbers: the standard deviations of scores "
            "and accuracies, such as 1.5,0.5."
        )
    return scales[0], scales[1]


def _anchor(asked: tuple[str, float], items: pl.Series) -> Anchor:
    """Find the item of an anchor, whatever the type of the labels."""
    known = {str(item): item for item in items}
    item, points = asked
    return check_anchor((known.get(item, item), points), items.to_list())


def _fitted_by_value(by: ByValue, model: str, **options: Any) -> Rankings:
    from juryrank.ranking.by_value import rank_each

    return rank_each(by, lambda what, votes: _fitted(votes, model, f"{what}: ", **options))


def _fitted(votes: Votes | ScannedVotes, model: str, what: str = "", **options: Any) -> Ranking:
    from juryrank.ranking.rank import rank as fit
    from juryrank.votes.votes import Votes

    if isinstance(votes, Votes):
        say_if_long(votes, model, options["noise"])
    with (
        _saying_how_to_go_on(options.get("resume")),
        fitting(f"{what}Fitting {model}") as say,
    ):  # its warnings are in ranking.warnings too
        return fit(votes, model, by=None, **options, progress=watcher(say, what))


@contextmanager
def _saying_how_to_go_on(resume: Path | None) -> Iterator[None]:
    """Say what to do about a fit that was stopped, but for what was given being wrong."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, JuryrankError) as error:
        if resume is not None and resume.exists() and not isinstance(error, InputError):
            show_note(
                f"The fit was stopped; {str(resume)!r} keeps its progress: the same command goes "
                "on from there."
            )
        raise
