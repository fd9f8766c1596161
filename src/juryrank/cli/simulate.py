"""`juryrank simulate`: votes whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli.exits import exits_politely
from juryrank.cli.help import TO_WRITE
from juryrank.cli.model_options import NOISES, numbers_in
from juryrank.cli.terminal.console import print_text
from juryrank.cli.terminal.messages import show_note
from juryrank.errors import counted
from juryrank.model.registry import DEFAULT_MODEL, model_named, models_that
from juryrank.writing.destination_checks import check_savable

if TYPE_CHECKING:
    from juryrank.simulation.simulation import Simulation

VOTES_SAVED_AS = (".csv", ".tsv", ".json", ".parquet")
SIMULATED = "What to simulate"
VOTING = "How judges vote"

Items = Annotated[
    int, typer.Option(min=2, metavar="N", help="Number of items.", rich_help_panel=SIMULATED)
]
Judges = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of judges.",
        show_default="10, or one per accuracy",
        rich_help_panel=SIMULATED,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        help=f"{models_that(lambda model: model.odds, 'or')}.",
        metavar="NAME",
        rich_help_panel=VOTING,
    ),
]
Noise = Annotated[str | None, typer.Option(help=NOISES, metavar="NAME", rich_help_panel=VOTING)]
Accuracies = Annotated[
    str | None,
    typer.Option(
        help="The judges' accuracies, such as 3,2,1,0,-1.",
        metavar="NUMBER,...",
        show_default="drawn around 1",
        rich_help_panel=VOTING,
    ),
]
Adversaries = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="How many of the judges vote backwards.",
        rich_help_panel=VOTING,
    ),
]
VotesPerJudge = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Votes per judge.",
        show_default="100",
        rich_help_panel=SIMULATED,
    ),
]
Density = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Instead of votes per judge: the chance that a judge is asked about a pair, in each "
        "order.",
        rich_help_panel=SIMULATED,
    ),
]
ScoreSd = Annotated[
    float,
    typer.Option(
        min=0.0, metavar="X", help="Spread of the items' scores.", rich_help_panel=SIMULATED
    ),
]
PerVote = Annotated[
    int,
    typer.Option(
        min=2,
        metavar="N",
        help="Items in each vote; more than 2 makes votes rankings.",
        rich_help_panel=SIMULATED,
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many of them are ranked, from the best; 1 is a choice from a set.",
        show_default="all",
        rich_help_panel=SIMULATED,
    ),
]
Tie = Annotated[
    float,
    typer.Option(
        min=0.0,
        metavar="T",
        help="Weight of ties: equal items tie with chance T / (2 + T).",
        rich_help_panel=VOTING,
    ),
]
TieSd = Annotated[
    float,
    typer.Option(min=0.0, metavar="X", help="Spread of log T over judges.", rich_help_panel=VOTING),
]
Left = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="What the left item of a pair gains, in log-odds.",
        rich_help_panel=VOTING,
    ),
]
LeftSd = Annotated[
    float,
    typer.Option(min=0.0, metavar="X", help="Spread of that over judges.", rich_help_panel=VOTING),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="The same seed gives the same votes.",
        rich_help_panel=SIMULATED,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Save the votes as .csv, .tsv, .json or .parquet, and the truth beside them.",
        metavar="FILE",
        show_default="CSV on stdout",
        rich_help_panel=TO_WRITE,
    ),
]


@exits_politely
def simulate(
    items: Items = 20,
    judges: Judges = None,
    model: Model = DEFAULT_MODEL,
    noise: Noise = None,
    accuracies: Accuracies = None,
    adversaries: Adversaries = 0,
    votes: VotesPerJudge = None,
    density: Density = None,
    score_sd: ScoreSd = 1.0,
    per_vote: PerVote = 2,
    top: Top = None,
    tie: Tie = 0.0,
    tie_sd: TieSd = 0.0,
    left: Left = 0.0,
    left_sd: LeftSd = 0.0,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Simulate votes whose truth is known.

    Examples:
      juryrank simulate --items 20 --accuracies 3,2,1,0,-1 --out votes.csv
      juryrank simulate --judges 50 --adversaries 5 --seed 7 | juryrank rank -
      juryrank simulate --per-vote 6 --top 2 --out rankings.csv
      juryrank simulate --tie 0.8 --left 0.5 | juryrank rank -
    """
    known = None if accuracies is None else numbers_in("--accuracies", accuracies)
    model_named(model)
    for path in () if out is None else _files(out):
        check_savable(path, VOTES_SAVED_AS)
    from juryrank.simulation.simulation import simulate as simulated

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
        print_text(made.votes.write_csv())
    else:
        _save(made, out)


def _files(out: Path) -> tuple[Path, ...]:
    """Give the files of the votes, the true scores, accuracies and effects."""
    beside = ("items", "judges", "effects")
    return out, *(out.with_name(f"{out.stem}.{it}{out.suffix}") for it in beside)


def _save(made: Simulation, out: Path) -> None:
    from juryrank.writing.save import save_frame

    files = _files(out)
    frames = [made.votes, made.items, made.judges, *([made.effects] if len(made.effects) else [])]
    for frame, path in zip(frames, files, strict=False):
        save_frame(frame, path)
    truths = [f"the true scores to {files[1]}", f"the true accuracies to {files[2]}"]
    truths += [f"the true effects to {files[3]}"] if len(made.effects) else []
    show_note(
        f"Saved {counted(len(made.votes), 'vote')} to {files[0]}, {', '.join(truths[:-1])} "
        f"and {truths[-1]}."
    )
