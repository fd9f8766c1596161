"""The options that say how votes are modelled, shared by commands that fit models."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from juryrank.cli.help import EXPERTS, MODELLING
from juryrank.errors import InputError
from juryrank.model.registry import MODELS

JUDGES_ARE = {"equal": "alike", "accuracy": "differ", "reliability": "differ"}
MODEL_LIST = "Models:\n" + "\n".join(
    f"{model.name:<16} {model.title}: judges {JUDGES_ARE[model.judges]}"
    for model in MODELS.values()
)
NOISES = "For the model htm: gumbel, normal or exponential."

Noise = Annotated[str | None, typer.Option(help=NOISES, metavar="NAME", rich_help_panel=EXPERTS)]
Tastes = Annotated[
    bool | None,
    typer.Option(
        "--tastes/--no-tastes",
        help="Whether judges may have likings of their own for single items; their size is "
        "estimated from the votes.",
        show_default="tastes where the model can",
        rich_help_panel=MODELLING,
    ),
]
Ties = Annotated[
    Literal["davidson", "davidson-by-judge", "half"] | None,
    typer.Option(
        help="davidson: ties are an outcome, its frequency estimated; davidson-by-judge: for each "
        "judge; half: half a win for each side.",
        show_default="an outcome where the model can, for each judge if the data say so",
        rich_help_panel=MODELLING,
    ),
]
Order = Annotated[
    Literal["none", "common", "by-judge"],
    typer.Option(
        help="Estimate the advantage of the left side, common to all judges or for each judge too.",
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


def check_confidence(confidence: float) -> None:
    """Complain if a confidence is no chance."""
    if not 0.0 < confidence < 1.0:
        raise InputError(f"--confidence {confidence:g} must lie between 0 and 1, such as 0.95.")


def numbers_in(option: str, text: str) -> list[float]:
    """The numbers that an option was given, with commas between them."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise InputError(
            f"{option} {text} must be numbers with commas between them, such as 1.5,0.5."
        ) from None
