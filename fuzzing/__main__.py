"""Read mutants for some minutes, on all cores, and keep what breaks.

python -m fuzzing --minutes 30
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from fuzzing.corpus import FINDINGS, Seed
from fuzzing.trying import Share, tried

COMMANDS_SHARE = 0.25
"""Of the time, for the command line."""


def run(minutes: float, most: int, seed: int, jobs: int, out: Path) -> int:
    """Try mutants on all cores; how many broke something."""
    total = 0
    for through_commands in (False, True):
        part = COMMANDS_SHARE if through_commands else 1.0 - COMMANDS_SHARE
        begun = time.monotonic()
        shares = [
            Share(seed, number, begun + 60.0 * part * minutes, most // jobs, through_commands)
            for number in range(jobs)
        ]
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(tried, shares))
        count = sum(one.mutants for one in found)
        broken = [case for one in found for case in one.broken]
        where = "through the command line" if through_commands else "in-process"
        seconds = time.monotonic() - begun
        print(f"{count:,} mutants {where} in {seconds:,.0f} s: {len(broken):,} broke something")
        _kept(broken, out)
        total += len(broken)
    return total


def _kept(broken: list[tuple[Seed, str]], out: Path) -> None:
    """Write one file for each way to break; the names say what they are."""
    known: set[str] = set()
    for seed, said in broken:
        kind = said.splitlines()[-1][:200]
        if kind in known:
            continue
        known.add(kind)
        out.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(seed.content).hexdigest()[:8]
        (out / f"{digest}-{seed.name}").write_bytes(seed.content)
        print(json.dumps({"file": f"{digest}-{seed.name}", "problem": said}, indent=1))


def main() -> None:
    """Read the options, and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="mutants of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=FINDINGS)
    given = parser.parse_args()
    print(f"Seed {given.seed}")
    sys.exit(run(given.minutes, given.most, given.seed, given.jobs, given.out) > 0)


if __name__ == "__main__":
    main()
