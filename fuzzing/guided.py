"""Mutants chosen by the code they reach, with atheris, where that is installed.

Only the readers, which are plain Python, tell what was reached; polars' and compiled code does not.

python -m fuzzing.guided --minutes 10 FINDINGS SCRATCH
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

from fuzzing.corpus import Seed, corpus
from fuzzing.keeping import Keeper
from fuzzing.scratch import scratch_folder

NAMES = (
    "votes.csv", "votes.tsv", "votes.json", "votes.ndjson", "votes.parquet", "votes.arrow",
    "votes.soc", "votes.toi", "votes.xlsx", "votes.ods", "votes.csv.gz", "votes.zip", "votes.txt",
    "votes",
)  # fmt: skip
LONGEST = 4_096
EXECUTED = re.compile(r"stat::number_of_executed_units: (\d+)")


def is_available() -> bool:
    """Whether atheris is installed."""
    return find_spec("atheris") is not None


def run(minutes: float, most: int, seed: int, out: Path) -> tuple[int, int]:
    """Try mutants in a process of its own; how many, and how many broke something."""
    before = set(out.iterdir()) if out.is_dir() else set()
    with scratch_folder() as scratch:
        command = [
            sys.executable, "-m", "fuzzing.guided", "--minutes", str(minutes), "--most", str(most),
            "--seed", str(seed), str(out), scratch,
        ]  # fmt: skip
        done = subprocess.run(  # noqa: S603
            command, stderr=subprocess.PIPE, text=True, errors="replace", check=False
        )
    executed = EXECUTED.search(done.stderr)
    if executed is None:
        print(done.stderr[-2_000:], file=sys.stderr)
        return 0, 1
    after = set(out.iterdir()) if out.is_dir() else set()
    return int(executed[1]), len(after - before)


def as_bytes(seed: Seed, choice: int) -> bytes:
    """A file as atheris has it: a byte for how it is read, one for its name, and the content."""
    endings = [Path(name).suffix for name in NAMES]
    ending = Path(seed.name).suffix
    name = endings.index(ending) if ending in endings else len(NAMES) - 1
    return bytes([choice % 256, name]) + seed.content


def as_seed(data: bytes) -> tuple[int, Seed]:
    """Undo `as_bytes`: how it is read, and the file."""
    choice, name, content = (*data[:2], data[2:]) if len(data) >= 2 else (0, 0, data)
    return int(choice), Seed(NAMES[int(name) % len(NAMES)], bytes(content))


def functions_of(prefix: str) -> Iterator[FunctionType]:
    """All functions and methods of the modules that are loaded.

    To let atheris change modules as they are imported does nothing to those of an editable
    install, without a word: all mutants would be chosen by chance.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix):
            for value in list(vars(module).values()):
                members = vars(value).values() if isinstance(value, type) else (value,)
                yield from (
                    member
                    for member in map(_behind, members)
                    if member is not None and member.__module__ == name
                )


def _behind(member: object) -> FunctionType | None:
    """The function that a member of a module or class is, or is made from."""
    inner = next(
        (getattr(member, made) for made in ("fget", "func", "__func__") if hasattr(member, made)),
        member,
    )
    return inner if isinstance(inner, FunctionType) else None


def _fuzz(minutes: float, most: int, seed: int, out: Path, folder: Path) -> None:
    """Fuzz until the time is over; atheris ends the process."""
    import atheris

    from fuzzing.oracle import problem_in_process

    importlib.import_module("juryrank.reading.reader")
    for function in functions_of("juryrank.reading."):
        atheris.instrument_func(function)

    begun_with = folder / "corpus"
    begun_with.mkdir()
    for number, one in enumerate(corpus()):
        (begun_with / f"{number:04}").write_bytes(as_bytes(one, 0)[:LONGEST])
    keeper = Keeper(out)

    def try_one(data: bytes) -> None:
        choice, one = as_seed(data)
        said = problem_in_process(one, random.Random(choice), folder)  # noqa: S311
        if said is not None:
            keeper.keep(one, said)

    flags = [
        f"-max_total_time={round(60 * minutes)}", f"-seed={seed % 2**31 or 1}", f"-runs={most}",
        f"-max_len={LONGEST}", "-timeout=0", "-rss_limit_mb=0", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags, str(begun_with)], try_one)
    atheris.Fuzz()


def main() -> None:
    """Read the options, and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--most", type=int, default=-1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out", type=Path, help="where to keep what breaks")
    parser.add_argument("folder", type=Path, help="where to write what is tried")
    given = parser.parse_args()
    os.environ["RUST_BACKTRACE"] = "0"
    _fuzz(given.minutes, given.most, given.seed, given.out, given.folder)


if __name__ == "__main__":
    main()
