"""Odd files, options and environments end in an answer or in one message."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from errno import EMFILE
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app
from juryrank.reading import files

VOTES = "judge,winner,loser\n" + "a,x,y\nb,y,z\nc,x,z\na,z,y\nb,x,y\n" * 3


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def program(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", "juryrank", *map(str, arguments)],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    )  # fmt: skip


@pytest.mark.parametrize("value", ["0", "-1", "many", "", "²"])
def test_a_number_of_threads_that_is_none(votes: Path, value: str) -> None:
    name = "POLARS_MAX_THREADS"
    done = program("check", votes, **{name: value})
    assert done.returncode == 2
    assert done.stderr == f"Error: {name}={value} must be a whole number of at least 1. Unset it.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have not all of the devices")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_a_device_without_an_end_is_not_read(device: str) -> None:
    with pytest.raises(jr.InputError, match="is a device, not a file of votes"):
        jr.read_votes(device)


def test_a_device_with_nothing_in_it_is_empty() -> None:
    with pytest.raises(jr.InputError, match="is empty"):
        jr.read_votes(os.devnull)


@pytest.mark.parametrize("option", ["--out", "--judges-out"])
def test_an_output_with_an_impossible_name(votes: Path, option: str) -> None:
    result = CliRunner().invoke(app, ["rank", str(votes), option, "a" * 5_000 + ".csv"])
    assert result.exit_code == 2
    assert "File name too long" in result.stderr
    assert len(result.stderr) < 500


def test_links_that_lead_nowhere(votes: Path, tmp_path: Path) -> None:
    circle, dangling = tmp_path / "circle.csv", tmp_path / "dangling.csv"
    circle.symlink_to(circle)
    dangling.symlink_to(tmp_path / "gone.csv")
    for link in (circle, dangling):
        with pytest.raises(jr.InputError, match=r"is a link to .* where there is no file"):
            jr.read_votes(link)
    result = CliRunner().invoke(app, ["rank", str(votes), "--out", str(circle)])
    assert result.exit_code == 2
    assert "Too many levels of symbolic links" in result.stderr


def test_columns_of_one_name_do_not_take_each_others_place() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"judge": ["a", "b"], "winner": ["x", "y"], "loser": ["y", "z"], "by": 0})
    frame.columns = ["judge", "winner", "loser", "winner"]
    with pytest.raises(
        jr.InputError, match=r"2 columns that may be .*: winner \(1\), winner \(2\)"
    ):
        jr.votes_from(frame)
    assert len(jr.votes_from(frame, winner="winner (1)")) == 2
    frame.columns = ["judge", "winner", "loser", "loser"]
    with pytest.raises(jr.InputError, match="2 columns that may be"):
        jr.votes_from(frame)


def test_a_column_of_pandas_is_no_table() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(jr.InputError, match="Votes cannot be taken from a"):
        jr.votes_from(pd.Index(["a", "b"]))
    with pytest.raises(jr.InputError):
        jr.votes_from(pd.Series(["a", "b"], name="winner"))


@pytest.mark.parametrize(
    ("kind", "megabytes"),
    [("AS", 300), ("AS", 400), ("AS", 1_000), ("AS", 1_600), ("DATA", 256)],
)
def test_less_memory_than_libraries_need_is_refused(votes: Path, kind: str, megabytes: int) -> None:
    """They break in many ways where they cannot even be loaded, end the process, or hang."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (megabytes << 20, megabytes << 20))

    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "juryrank", "check", str(votes)],
        capture_output=True, text=True, check=False, preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("Error: There is not enough memory")
    assert f"limited to {megabytes:,} MB" in " ".join(done.stderr.split())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems load fewer or more files")
@pytest.mark.parametrize("files", [6, 7, 12])
@pytest.mark.parametrize(
    "command", [("rank", "votes.csv"), ("rank", "--example", "--report", "r.html"), ("simulate",)]
)
def test_fewer_open_files_than_libraries_need_are_refused(
    votes: Path, command: tuple[str, ...], files: int
) -> None:
    """They panic where they may open no more, and even say that the votes are damaged."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "juryrank", *command],
        capture_output=True, text=True, check=False, preexec_fn=limit, cwd=votes.parent,
    )  # fmt: skip
    assert done.returncode == 1
    said = f"This process may have only {files} files open (ulimit -n), and the libraries"
    assert " ".join(done.stderr.split()).startswith(f"Error: {said}")


@pytest.mark.parametrize(
    "error",
    [
        OSError(EMFILE, "Too many open files"),
        pl.exceptions.PanicException('failed to create: Os { message: "Too many open files" }'),
    ],
)
def test_too_many_files_are_told_wherever_they_are_opened(
    votes: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("juryrank.cli.rank._fitted", refuse)
    result = CliRunner().invoke(app, ["rank", str(votes)])
    assert result.exit_code == 1
    assert "Error: Too many files are open" in " ".join(result.stderr.split())


def test_a_panic_of_a_library_is_a_message(votes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr("juryrank.cli.rank._fitted", panic)
    result = CliRunner().invoke(app, ["rank", str(votes)])
    assert result.exit_code == 1
    assert "(PanicException: index out of bounds)" in " ".join(result.stderr.split())


def test_an_input_with_an_impossible_name() -> None:
    with pytest.raises(jr.InputError, match="File name too long") as error:
        jr.read_votes("a" * 5_000)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("command", ["rank", "judges"])
def test_more_rows_than_any_table_has(votes: Path, command: str) -> None:
    result = CliRunner().invoke(app, [command, str(votes), "--top", "9" * 30])
    assert result.exit_code == 0, result.stderr


def test_an_outcome_column_without_any_number() -> None:
    frame = pl.DataFrame({"left": ["a", "b"], "right": ["b", "c"], "winner": [float("nan")] * 2})
    with pytest.raises(jr.InputError, match="2 of 2 rows"):
        jr.votes_from(frame)


@pytest.mark.parametrize(
    "options",
    [{"items": 10**9}, {"judges": 10**9}, {"votes_per_judge": 10**9},
     {"items": 10**6, "density": 1.0}],
)  # fmt: skip
def test_more_votes_than_memory_holds_are_not_simulated(options: dict[str, float]) -> None:
    with pytest.raises(jr.InputError, match="simulate fewer"):
        jr.simulate(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["score_sd", "tie", "tie_sd", "left", "left_sd"])
@pytest.mark.parametrize("value", [1e308, float("nan"), float("inf")])
def test_numbers_beyond_all_bounds_are_not_simulated(option: str, value: float) -> None:
    with pytest.raises(jr.InputError, match=f"{option}="):
        jr.simulate(**{option: value})  # type: ignore[arg-type]


def test_standard_input_that_is_only_written_to(tmp_path: Path) -> None:
    with (tmp_path / "written.csv").open("wb") as written:
        done = subprocess.run(
            [sys.executable, "-m", "juryrank", "check", "-"],
            stdin=written, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "Error: Standard input cannot be read: Bad file descriptor.\n"


def test_an_open_file_that_cannot_be_read() -> None:
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(jr.InputError, match=r"The open file cannot be read: I/O operation on clo"):
        jr.read_votes(closed)


@pytest.mark.parametrize(
    "error",
    [
        OSError(EMFILE, "Too many open files"),
        pl.exceptions.ComputeError(f"Too many open files (os error {EMFILE})"),
    ],
)
def test_what_the_machine_refuses_is_not_the_files_fault(
    votes: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(files, "head_of", refuse)
    result = CliRunner().invoke(app, ["check", str(votes)])
    assert result.exit_code == 1
    assert "a limit or a failure of the machine" in " ".join(result.stderr.split())


@pytest.mark.parametrize("source", ["votes.csv", ".", "-", "linked.csv"])
@pytest.mark.parametrize("command", ["check", "rank"])
def test_the_answer_is_not_added_to_the_votes(votes: Path, source: str, command: str) -> None:
    votes.with_name("linked.csv").symlink_to(votes)
    before = votes.read_bytes()
    with votes.open("rb") as read, votes.open("ab") as added:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "juryrank", command, source],
            stdin=read, stdout=added, stderr=subprocess.PIPE, text=True, check=False,
            cwd=votes.parent,
        )  # fmt: skip
    assert done.returncode == 2
    assert "which is among the votes" in " ".join(done.stderr.split())
    assert votes.read_bytes() == before


@pytest.mark.parametrize("inside", ["", "made/later"])
def test_a_study_is_not_run_if_it_cannot_be_saved(
    votes: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("juryrank.cli.paper._run", lambda *_: pytest.fail("it ran"))
    out = votes / inside
    result = CliRunner().invoke(app, ["paper", "gumbel-benign", "--out", str(out)])
    assert result.exit_code == 2
    assert "'votes.csv' is a file, not a folder" in " ".join(result.stderr.split())
