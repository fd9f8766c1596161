"""Files of a folder or an archive that are not read are told of, and so are guesses on each."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from reading_help import complaint

import juryrank as jr

CSV = b"judge,winner,loser\nann,tea,milk\n"


def told(source: Path | io.BytesIO) -> str:
    return str(jr.read_votes(source).reading[0])


def archive(*names: str) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name in names:
            opened.writestr(name, CSV)
    packed.seek(0)
    return packed


def test_files_of_an_archive_that_are_not_read() -> None:
    said = told(archive("a.csv", "in.zip", "../b.csv", "votes.csv.bz2", "c.dat"))
    assert "passed over 4 other files (in.zip, ../b.csv, votes.csv.bz2 and 1 more)" in said


def test_files_of_a_folder_that_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "sub/b.csv", "votes.dat", ".old.csv"):
        (tmp_path / name).write_bytes(CSV)
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nothing.csv")
    (tmp_path / "linked").symlink_to(tmp_path / "sub")
    assert told(tmp_path) == (
        "Read a.csv and 1 more file: 2 rows as pairs (judge, winner, loser); passed over 4 other "
        "files (.old.csv, gone.csv, linked and 1 more)."
    )


@pytest.mark.parametrize(
    "name", ["README.txt", ".DS_Store", "_SUCCESS", "__MACOSX/a.csv", "~$a.csv", "._a.csv"]
)
def test_files_that_nobody_misses(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    for one in ("a.csv", name):
        (tmp_path / one).write_bytes(CSV)
    for source in (tmp_path, archive("a.csv", name)):
        assert "passed over" not in told(source)


def test_archives_in_a_folder_each_say_what_they_pass_over(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        (tmp_path / name).write_bytes(archive("a.csv", f"of-{name}.dat").getvalue())
    said = told(tmp_path)
    assert "; passed over 1 other file (of-a.zip.dat); b.zip/a.csv: passed over 1 other" in said


def test_a_folder_within_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def refused(path: str) -> object:
        if Path(path).name in ("closed", ".closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / ".closed").mkdir()
    monkeypatch.setattr(os, "scandir", refused)
    assert "passed over" not in told(tmp_path)
    (tmp_path / "closed").mkdir()
    said = complaint(lambda: jr.read_votes(tmp_path))
    assert said.startswith(f"{tmp_path / 'closed'} may not be read: permission denied.")


def test_what_was_guessed_of_each_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CSV)
    for name in "bcdef":
        (tmp_path / f"{name}.csv").write_bytes(CSV.replace(b"tea", b"caf\xe9"))
    said = told(tmp_path)
    assert "; b.csv: not UTF-8, so read as Windows-1252 (" in said
    assert said.count("Windows-1252") == 3
    assert "; 2 more such remarks." in said
