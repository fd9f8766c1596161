"""Damaged files are complained about, and the panics of their readers are not seen."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

import pytest

import juryrank as jr
from fuzzing.corpus import FINDINGS
from juryrank.reading.rust_panics import without_panics

DAMAGED = sorted(path for path in FINDINGS.iterdir() if path.name.startswith("panic"))
PANIC = (
    b"\nthread 'tokio-rt-worker' (57) panicked at crates/x/src/range.rs:10:9:\nrange end index 9\n"
    b"stack backtrace:\n   0: rust_begin_unwind\n   1: panic_fmt\nnote: Some details are omitted.\n"
)


@pytest.fixture(autouse=True)
def no_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JURYRANK_DEBUG", raising=False)


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.name)
def test_a_damaged_file_gives_one_message(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reason = "its description of its own parts is wrong|it does not follow the rules of its format"
    with pytest.raises(jr.InputError, match=reason):
        jr.read_votes(path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.name)
def test_a_command_says_no_more_than_that(path: Path) -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "juryrank", "check", str(path)],
        capture_output=True, text=True, check=False, env=os.environ | {"RUST_BACKTRACE": "1"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: {path.name} cannot be read as ")
    assert done.stderr.count("\n") == 1


def test_what_others_say_meanwhile_is_handed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with without_panics():
        for said in (b"one\n", PANIC, b"two\n", PANIC, PANIC, b"three\n"):
            os.write(2, said)
    os.write(2, b"four\n")
    assert capfd.readouterr().err == "one\ntwo\nthree\nfour\n"


def test_a_panic_without_a_note_is_one_too(capfd: pytest.CaptureFixture[str]) -> None:
    with without_panics():
        os.write(2, PANIC.rpartition(b"\nnote")[0] + PANIC)
    assert capfd.readouterr().err == ""


def test_stderr_is_restored_after_the_last_of_several_reads(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with without_panics():
        other = Thread(target=_one_more)
        other.start()
        other.join()
        os.write(2, PANIC)
    os.write(2, b"said\n")
    assert capfd.readouterr().err == "said\n"


def _one_more() -> None:
    with without_panics():
        pass


def test_stderr_is_restored_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="bad"), without_panics():
        raise ValueError("bad")
    os.write(2, b"said\n")
    assert capfd.readouterr().err == "said\n"


def test_who_looks_for_a_bug_sees_panics(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JURYRANK_DEBUG", "1")
    with without_panics():
        os.write(2, PANIC)
    assert "panicked" in capfd.readouterr().err


def test_where_nothing_can_be_kept_files_are_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full() -> None:
        raise OSError("full")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with without_panics():
        os.write(2, b"said\n")
    assert capfd.readouterr().err == "said\n"
