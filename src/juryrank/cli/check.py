"""`juryrank check`: what is in the votes, and whether they can rank the items."""

from __future__ import annotations

from juryrank.cli.exits import exits_politely
from juryrank.cli.output_options import AsJson
from juryrank.cli.reading_options import with_source
from juryrank.cli.source import Source
from juryrank.cli.terminal.check import check_view
from juryrank.cli.terminal.console import print_json, show


@exits_politely
@with_source
def check(source: Source, as_json: AsJson = False) -> None:
    """Say what is in the votes, and whether they can rank the items.

    Examples:
      juryrank check --example
      juryrank check votes.csv
    """
    votes = source.read(with_remarks=False)
    from juryrank.reading.checks import check as checked

    found = checked(votes)
    if as_json:
        print_json(found.to_dict())
    else:
        show(check_view(found))
