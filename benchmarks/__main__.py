"""`python -m benchmarks run | page | regress`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import default_folder
from benchmarks.grid import DEFAULT, read_grid
from benchmarks.machine import ROOT

RESULTS = ROOT / "docs" / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks.md"


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line and do it."""
    options = parser().parse_args(words)
    options.do(options)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = top.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure, and write CSV files and machine.json")
    run.add_argument("--grid", default="short", help="short or full")
    run.add_argument("--config", type=Path, default=DEFAULT, help="another grid.toml")
    run.add_argument(
        "--cases",
        nargs="*",
        help="only these cases, or kernel, shell, rankings, install; other results there stay",
    )
    run.add_argument("--out", type=Path, help="default: docs/benchmarks/GRID")
    _data_option(run)
    run.set_defaults(do=_run)
    page = commands.add_parser("page", help="make docs/benchmarks.md of the CSV files")
    page.add_argument("--results", type=Path, help="default: docs/benchmarks/full, else short")
    page.add_argument("--page", type=Path, default=PAGE)
    page.set_defaults(do=_page)
    regress = commands.add_parser("regress", help="compare two commits by ratio")
    regress.add_argument("base")
    regress.add_argument("head", nargs="?", default="HEAD")
    regress.add_argument("--repeats", type=int, default=5)
    regress.add_argument("--votes", type=int, nargs="+", default=[3_000, 100_000])
    regress.add_argument("--fail-above", type=float, help="exit with 1 if a ratio is above this")
    _data_option(regress)
    regress.set_defaults(do=_regress)
    return top


def _data_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data", type=Path, default=default_folder(), help="where simulated votes are kept"
    )


def _run(options: argparse.Namespace) -> None:
    from benchmarks.grid import only
    from benchmarks.running import Bench, progress

    grid = read_grid(options.grid, options.config)
    if options.cases:
        grid = only(grid, options.cases)
    bench = Bench(grid, options.out or RESULTS / grid.name, options.data)
    if options.cases:
        bench.keep_others(options.cases)
    with progress(bench.steps) as say:
        bench.run(say)
    print(f"Results are in {bench.out}.")


def _page(options: argparse.Namespace) -> None:
    from benchmarks.page import write_page

    if options.results is not None and not (options.results / "runs.csv").is_file():
        raise SystemExit(f"There are no results in {options.results}: the page stays as it is.")
    results = options.results or next(
        (RESULTS / name for name in ("full", "short") if (RESULTS / name).is_dir()),
        RESULTS / "full",
    )
    for path in write_page(results, options.page):
        print(f"Wrote {path}.")


def _regress(options: argparse.Namespace) -> None:
    from benchmarks.regress import compare

    worst = compare(options.base, options.head, options.votes, options.repeats, options.data)
    if options.fail_above is not None and worst > options.fail_above:
        raise SystemExit(f"{worst:.2f} is above {options.fail_above:.2f}.")


if __name__ == "__main__":
    main()
