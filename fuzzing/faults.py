"""Faults of the machine: processes killed while they write, full disks, closed streams, signals.

python -m fuzzing.faults
"""

from __future__ import annotations

import argparse
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import juryrank as jr
from fuzzing.faults_writer import PICTURES, Written, save, write_for_ever, written
from fuzzing.scratch import scratch_folder
from juryrank.writing.formats import SAVED_AS

OLD = b"what stood there before\n"
LONGEST = 120
"""Seconds for one command."""
SOON = 1.0
"""Seconds after which it is asked again whether a process has begun."""
LITTLE_DISK = 2_000
"""Bytes that a file may have where the disk is full."""
LITTLE_MEMORY = 2_100 << 20
FEW_FILES = (6, 12, 20, 32, 40)
"""Open files, of which Python itself needs five."""
BEGUN = "from juryrank.cli import main; print('begun', flush=True); main()"
"""Until then it is Python that starts, and answers signals in its own way."""


def killed_while_writing(
    folder: Path, answer: Written, ending: str, times: int, rng: random.Random
) -> Iterator[str]:
    """After ``kill -9`` at any moment there is the old file or a whole new one."""
    whole, place, kept = folder / f"whole{ending}", folder / f"out{ending}", folder / "answer"
    kept.write_bytes(pickle.dumps(answer))
    save(answer, whole)
    begun = time.monotonic()
    save(answer, whole)
    longest = max(0.1, 2.0 * (time.monotonic() - begun))
    size, cut_off = whole.stat().st_size, 0
    for _ in range(times):
        place.write_bytes(OLD)
        _kill_a_writer(kept, place, rng.uniform(0.0, longest))
        found = place.read_bytes()
        cut_off += any(folder.glob(f".{place.name}.*.part"))
        if found != OLD and abs(len(found) - size) > size // 100 + 16:
            yield f"{ending}: {len(found):,} bytes of {size:,}"
    print(f"{ending}: {cut_off:,} of {times:,} left a part file", flush=True)
    save(answer, place)
    left = [path.name for path in folder.glob(".*.part")]
    if left:
        yield f"{ending}: left over after the next run: {left}"


def _kill_a_writer(kept: Path, place: Path, after: float) -> None:
    """Kill a process that writes again and again: a fork of one that has imported all it needs."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["fuzzing.faults_writer"])
    ready = context.Event()
    writer = context.Process(target=write_for_ever, args=(kept, place, ready))
    writer.start()
    while not ready.wait(SOON):
        assert writer.exitcode is None, f"it ended by itself: {writer.exitcode}"
    time.sleep(after)
    writer.kill()
    writer.join()


def full_disk(folder: Path, votes: Path) -> Iterator[str]:
    """A limit on the size of files ends in a message and leaves the old file."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE_DISK, LITTLE_DISK))

    for ending in SAVED_AS:
        place = folder / f"full{ending}"
        place.write_bytes(OLD)
        code, said = _command(["rank", str(votes), "--out", str(place)], limit)
        if code == 0 and place.read_bytes() == OLD:
            yield f"{ending}: said to be saved"
        if code != 0 and place.read_bytes() != OLD:
            yield f"{ending}: the old file is gone"
        yield from _unexpected(f"full disk {ending}", code, said, (0, 1, 2))


def no_right_to_write(folder: Path, votes: Path) -> Iterator[str]:
    """A folder, or a file, that may not be written to."""
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    for place in (closed / "out.csv", folder / "no such folder" / "out.csv", folder):
        code, said = _command(["rank", str(votes), "--out", str(place)])
        yield from _unexpected(f"no right to write {place.name}", code, said, (0, 2))


def closed_streams(_folder: Path, votes: Path) -> Iterator[str]:
    """Streams that a shell has closed, and readers that go away."""
    for shut in (">&-", "2>&-", "<&-", "<&- >&- 2>&-", "| true", "> /dev/full", "2> /dev/full"):
        for what in ("rank", "check", "rank --json"):
            command = f"{sys.executable} -m juryrank {what} {votes} {shut}"
            done = subprocess.run(  # noqa: S602
                command, shell=True, capture_output=True, text=True, timeout=LONGEST, check=False
            )
            yield from _unexpected(f"{what} {shut}", done.returncode, done.stderr, (0, 1))


def little_memory(folder: Path, _votes: Path) -> Iterator[str]:
    """Votes for which there is not enough memory."""
    large = folder / "large.csv"
    row = b"judge,some item,some other item\n"
    large.write_bytes(b"judge,winner,loser\n" + row * 3_000_000)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (LITTLE_MEMORY, LITTLE_MEMORY))

    code, said = _command(["check", str(large)], limit)
    if "Something went wrong inside" in said:
        yield f"little memory: exit code {code}: {said[-300:]}"


def few_files(folder: Path, votes: Path) -> Iterator[str]:
    """Fewer open files than libraries need, and hardly enough of them."""
    report = folder / "few.html"
    for most in FEW_FILES:

        def limit(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        for what in (["check"], ["rank"], ["rank", "--report", str(report)]):
            code, said = _command([*what, str(votes)], limit)
            yield from _unexpected(f"{most} files, {what}", code, said, (0, 1))


def signals(folder: Path, votes: Path, rng: random.Random, times: int) -> Iterator[str]:
    """An interrupt, or the wish to end, at any moment, also while code is compiled."""
    orders = folder / "orders.csv"
    orders.write_text("judge,ranking\n" + "ann,tea>milk>coffee\nbob,milk>coffee>tea\n" * 3)
    compiled = ["rank", str(orders), "--model", "htm", "--noise", "normal"]
    for arguments, longest in ((["rank", str(votes)], 3.0), (compiled, 12.0)):
        yield from _signalled(arguments, longest, rng, times)


def _signalled(
    arguments: list[str], longest: float, rng: random.Random, times: int
) -> Iterator[str]:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for _ in range(times):
            with subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", BEGUN, *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            ) as program:  # fmt: skip
                assert program.stdout is not None
                program.stdout.readline()
                time.sleep(rng.uniform(0.0, longest))
                program.send_signal(number)
                _, said = program.communicate(timeout=LONGEST)
            codes = (0, 128 + number, -number)
            yield from _unexpected(signal.Signals(number).name, program.returncode, said, codes)


def _command(arguments: list[str], before: Callable[[], None] | None = None) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "juryrank", *arguments],
        capture_output=True, text=True, timeout=LONGEST, check=False,
        preexec_fn=before,
    )  # fmt: skip
    return done.returncode, done.stderr


def _unexpected(what: str, code: int, said: str, codes: tuple[int, ...]) -> Iterator[str]:
    if code not in codes or "Traceback" in said or "Something went wrong inside" in said:
        yield f"{what}: exit code {code}: {said[-300:]}"


def main() -> None:
    """Try everything, and tell what went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=200, help="processes killed for each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="what has this in its name, such as signals")
    given = parser.parse_args()
    rng = random.Random(given.seed)  # noqa: S311
    with scratch_folder() as scratch:
        folder = Path(scratch)
        votes = folder / "votes.csv"
        jr.simulate(30, 10, votes_per_judge=60, seed=1).votes.write_csv(votes)
        answer = written(jr.rank(jr.read_votes(votes), intervals=None))
        tried: dict[str, Iterator[str]] = {
            **{
                f"{given.times} processes killed while they write {ending}": (
                    killed_while_writing(folder, answer, ending, given.times, rng)
                )
                for ending in (*SAVED_AS, *PICTURES)
            },
            "full disks": full_disk(folder, votes),
            "folders that may not be written to": no_right_to_write(folder, votes),
            "closed streams": closed_streams(folder, votes),
            "little memory": little_memory(folder, votes),
            "few open files": few_files(folder, votes),
            "signals": signals(folder, votes, rng, max(given.times // 20, 1)),
        }
        wrong = 0
        for what, problems in tried.items():
            if given.only not in what:
                continue
            found = list(problems)
            print(f"{what}: {len(found)} went wrong", *found, sep="\n  ", flush=True)
            wrong += len(found)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
