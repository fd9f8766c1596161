"""A score as a bar."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

NARROWEST_BAR, WIDEST_BAR = 8, 44


@dataclass(frozen=True)
class ScoreBar:
    """A score as a bar that starts at zero; it takes the width it is given, if that will do."""

    score: float
    low: float
    high: float
    """The lowest and highest score (or zero) among those shown."""

    def __rich_measure__(self, _console: Console, options: ConsoleOptions) -> Measurement:
        widest = min(WIDEST_BAR, options.max_width)
        return Measurement(min(NARROWEST_BAR, widest), widest)

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < NARROWEST_BAR:
            yield Text("", end="")
            return
        cells = min(WIDEST_BAR, options.max_width) - 1
        span = self.high - self.low
        left = round(cells * -self.low / span) if span else 0
        halves = round(2 * cells * abs(self.score) / span) if span else 0
        full, start, end, axis = "==-|" if options.ascii_only else "━╺╸│"
        if self.score < 0.0:
            bar = (start * (halves % 2) + full * (halves // 2))[-left:] if left else ""
            yield Text.assemble((bar.rjust(left), "magenta"), (axis, "dim"), end="")
        else:
            bar = (full * (halves // 2) + end * (halves % 2))[: cells - left]
            yield Text.assemble(" " * left, (axis, "dim"), (bar, "cyan"), end="")
