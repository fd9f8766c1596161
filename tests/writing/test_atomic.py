"""Outputs are whole or not there, and never take the place of an input."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app
from juryrank.writing.atomic import whole_file, write_whole
from juryrank.writing.destination_checks import check_savable
from juryrank.writing.formats import SAVED_AS

VOTES = "judge,winner,loser\n" + "".join(
    f"j{k % 6},{pair[0]},{pair[1]}\n"
    for k, pair in enumerate(["ab", "bc", "ac", "ab", "bc", "ac", "ab", "ca", "cb", "ba"] * 12)
)
OLD = "what stood there before"


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    made = jr.simulate(4, 6, votes_per_judge=60, seed=1)
    return jr.rank(made.votes)


def parts(folder: Path) -> list[Path]:
    return list(folder.glob(".*.part"))


# --- one file ------------------------------------------------------------------------------------


def test_a_file_is_there_only_when_it_is_complete(tmp_path: Path) -> None:
    place = tmp_path / "out.csv"
    with whole_file(place) as part:
        part.write_text("half")
        assert not place.exists()
        part.write_text("whole")
    assert place.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_old_file_stands_if_something_goes_wrong(
    tmp_path: Path, problem: type[BaseException]
) -> None:
    place = tmp_path / "out.csv"
    place.write_text(OLD)

    def write() -> None:
        with whole_file(place) as part:
            part.write_text("half")
            raise problem

    with pytest.raises(problem):
        write()
    assert place.read_text() == OLD
    assert list(tmp_path.iterdir()) == [place]


def test_permissions_are_kept_and_links_followed(tmp_path: Path) -> None:
    place, link = tmp_path / "real.csv", tmp_path / "folder" / "link.csv"
    link.parent.mkdir()
    place.write_text(OLD)
    place.chmod(0o640)
    link.symlink_to(place)
    with whole_file(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert place.read_text() == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    usual, place = tmp_path / "usual", tmp_path / "new"
    usual.write_text("")
    with whole_file(place) as part:
        part.write_text("")
    assert place.stat().st_mode == usual.stat().st_mode


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", "print(open(0).read())"],
                          stdin=os.open(pipe, os.O_RDONLY | os.O_NONBLOCK),
                          stdout=subprocess.PIPE, text=True) as reader:  # fmt: skip
        with whole_file(pipe) as part:
            part.write_text("through the pipe")
        assert reader.stdout is not None
        assert "through the pipe" in reader.stdout.read()
    assert pipe.is_fifo()


def test_a_file_that_cannot_be_renamed_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that is mounted by itself into a container."""

    def busy(self: Path, target: Path) -> Path:
        raise OSError(errno.EBUSY, "busy")

    monkeypatch.setattr(Path, "replace", busy)
    place = tmp_path / "out.csv"
    place.write_text(OLD)
    with whole_file(place) as part:
        part.write_text("new")
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


def test_a_very_long_name_has_room_for_its_part(tmp_path: Path) -> None:
    place = tmp_path / ("é" * 120 + ".csv")
    with whole_file(place) as part:
        part.write_text("new")
    assert place.read_text() == "new"


def test_threads_that_write_one_file_do_not_mix(tmp_path: Path) -> None:
    place, both_write = tmp_path / "out.txt", threading.Barrier(2)

    def write(part: Path, letter: str) -> None:
        with part.open("w") as file:
            file.write(letter)
            file.flush()
            both_write.wait()
            file.write(letter)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: write_whole(place, lambda part: write(part, one)), "ab"))
    assert place.read_text() in ("aa", "bb")
    assert list(tmp_path.iterdir()) == [place]


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    place = tmp_path / "out.csv"
    place.write_text(OLD)
    script = (
        "import sys, time; from juryrank.writing.atomic import whole_file\n"
        "with whole_file(sys.argv[1]) as part:\n"
        "    part.write_text('half'); print('ready', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", script, str(place)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with whole_file(place) as part:  # one that is still written is left alone
            part.write_text("by another")
        assert len(parts(tmp_path)) == 1
        writer.kill()
    assert place.read_text() == "by another"
    assert len(parts(tmp_path)) == 1
    with whole_file(place) as part:
        part.write_text("new")
    assert not parts(tmp_path)


# --- every format --------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", SAVED_AS)
def test_a_full_disk_leaves_the_old_file(
    ranking: jr.Ranking, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / f"out{ending}"
    place.write_text(OLD)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(jr.JuryrankError, match="No space left") as error:
        ranking.save(place)
    assert place.read_text() == OLD
    assert list(tmp_path.iterdir()) == [place]
    assert error.value.exit_code == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has such a device")
def test_a_full_device_is_a_failure_and_no_bad_input(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("judge,winner,loser\nann,tea,milk\nbob,milk,tea\n")
    result = CliRunner().invoke(app, ["rank", str(votes), "--out", "/dev/full"])
    assert result.exit_code == 1
    assert "Cannot write '/dev/full': No space left" in result.stderr


def test_a_link_into_a_folder_that_is_missing_is_refused_before_the_work(tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "nowhere" / "out.csv")
    with pytest.raises(jr.InputError, match=r"there is no folder .*nowhere"):
        check_savable(link)
    link.unlink()
    link.symlink_to(tmp_path / "out.csv")
    check_savable(link)


# --- inputs --------------------------------------------------------------------------------------


def _as_is(folder: Path) -> str:
    return str(folder / "a.csv")


def _hard_link(folder: Path) -> str:
    os.link(folder / "a.csv", folder / "hard.csv")
    return str(folder / "hard.csv")


def _symbolic_link(folder: Path) -> str:
    (folder.parent / "soft.csv").symlink_to(folder / "a.csv")
    return str(folder.parent / "soft.csv")


def _another_spelling(folder: Path) -> str:
    return str(folder / ".." / folder.name / "a.csv")


@pytest.mark.parametrize("named", [_as_is, _hard_link, _symbolic_link, _another_spelling])
@pytest.mark.parametrize("source", ["", "/a.csv", "/*.csv", "/?.csv"])
def test_no_output_replaces_an_input(
    tmp_path: Path, source: str, named: Callable[[Path], str]
) -> None:
    folder = tmp_path / "votes"
    folder.mkdir()
    (folder / "a.csv").write_text(VOTES)
    out = named(folder)
    for option in ("--out", "--judges-out"):
        result = CliRunner().invoke(app, ["rank", f"{folder}{source}", option, out])
        assert result.exit_code == 2
        assert "would overwrite the votes" in result.stderr
    assert (folder / "a.csv").read_text() == VOTES


@pytest.mark.parametrize("option", ["--out", "--judges-out"])
def test_no_output_replaces_what_a_shell_reads_from(tmp_path: Path, option: str) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text(VOTES)
    with votes.open() as opened:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "juryrank", "rank", "-", option, str(votes)],
            stdin=opened, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "would overwrite the votes" in done.stderr
    assert votes.read_text() == VOTES


# --- streams -------------------------------------------------------------------------------------


def _on_stdout(*arguments: str, to: Path | None = None) -> str:
    """What standard output has in the end: a pipe, or a file as a shell redirects it."""
    command = [sys.executable, "-m", "juryrank", *arguments]
    if to is None:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    with to.open("w") as opened:
        subprocess.run(command, stdout=opened, stderr=subprocess.DEVNULL, check=True)  # noqa: S603
    return to.read_text()


@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_has_the_table_alone(tmp_path: Path, redirected: bool) -> None:
    votes, place = tmp_path / "votes.csv", tmp_path / "place.csv"
    votes.write_text(VOTES)
    subprocess.run(  # noqa: S603
        [sys.executable, "-m", "juryrank", "rank", str(votes), "--out", str(place)],
        capture_output=True, check=True,
    )  # fmt: skip
    to = tmp_path / "stdout" if redirected else None
    assert _on_stdout("rank", str(votes), "--out", "/dev/stdout", to=to) == place.read_text()


@pytest.mark.parametrize("redirected", [False, True])
def test_nothing_is_lost_of_two_things_on_standard_output(tmp_path: Path, redirected: bool) -> None:
    votes, link = tmp_path / "votes.csv", tmp_path / "link.md"
    votes.write_text(VOTES)
    link.symlink_to("/dev/stdout")
    to = tmp_path / "stdout" if redirected else None
    both = _on_stdout("rank", str(votes), "--json", "--out", str(link), to=to)
    assert both.startswith("## Items")
    assert '{"' in both
    assert link.is_symlink()


def test_a_report_goes_to_standard_output(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    page = _on_stdout("rank", str(tmp_path / "votes.csv"), "--report", "/dev/stdout")
    assert page.startswith("<!")
    assert page.rstrip().endswith("</html>")


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    command = f"{sys.executable} -m juryrank rank {tmp_path}/votes.csv --report /dev/stdout | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert "rror" not in done.stderr


# --- how commands end ----------------------------------------------------------------------------


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_a_callback_of_a_library_is_not_lost(number: int, code: int) -> None:
    """What is raised there is thrown away."""
    script = (
        "import ctypes, os, sys, time\n"
        "from juryrank.cli import starting\n"
        "starting.start()\n"
        "def callback():\n"
        "    os.kill(os.getpid(), int(sys.argv[1]))\n"
        "    time.sleep(1)\n"
        "try:\n"
        "    ctypes.CFUNCTYPE(None)(callback)()\n"
        "    time.sleep(30)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script, str(int(number))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert done.stderr == ""


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_error_that_a_signal_has_made_is_no_bug(number: int, code: int) -> None:
    """As where a library misses what its callback should have kept."""
    script = (
        "import ctypes, os, sys, time, typer\n"
        "from juryrank.cli import exits, starting\n"
        "starting.start()\n"
        "def callback():\n"
        "    os.kill(os.getpid(), int(sys.argv[1]))\n"
        "    time.sleep(1)\n"
        "@exits.exits_politely\n"
        "def command():\n"
        "    ctypes.CFUNCTYPE(None)(callback)()\n"
        "    raise RuntimeError('no compiled object yet')\n"
        "try:\n"
        "    command()\n"
        "except typer.Exit as end:\n"
        "    time.sleep(0.2)\n"
        "    sys.exit(end.exit_code)\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script, str(int(number))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")


def _program(*arguments: str, **how: int) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "juryrank", *arguments],
        text=True, stdin=subprocess.DEVNULL,
        stdout=how.get("stdout", subprocess.PIPE), stderr=how.get("stderr", subprocess.PIPE),
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_quietly_at_any_moment(number: int, code: int) -> None:
    begun = "import sys; from juryrank.cli import main; print('begun', flush=True); main()"
    for seconds in (0.0, 0.15, 0.3, 0.6):
        with subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", begun, "simulate", "--items", "2000", "--judges", "20000"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as program:  # fmt: skip
            assert program.stdout is not None
            assert program.stdout.readline() == "begun\n"  # until then it is Python that starts
            time.sleep(seconds)
            program.send_signal(number)
            _, said = program.communicate(timeout=60)
        assert "Traceback" not in said
        assert program.returncode in (code, -number, 0)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2> /dev/full"])
def test_closed_streams_are_no_bug(tmp_path: Path, closed: str) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    out = tmp_path / "out.csv"
    command = f"{sys.executable} -m juryrank rank {tmp_path}/votes.csv --out {out} {closed}"
    done = subprocess.run(  # noqa: S602
        command, shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "This is a bug" not in done.stderr
    assert out.read_text().startswith("rank,item")
