"""Files in a `.zip`, unpacked in memory, within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from juryrank.errors import InputError
from juryrank.reading.formats import ENDINGS, ZIP_MAGIC, ending_of
from juryrank.reading.passed_over import is_about, is_hidden, remarks_on

MOST_FILES = 10_000
MOST_BYTES = 4 << 30
"""What may be unpacked in memory; more is a mistake or a zip bomb."""
_SPREADSHEETS = {"xl/workbook.xml", "xl/workbook.bin"}


class Unpacked(NamedTuple):
    """The files of votes in an archive, and what is to be said of the others."""

    files: list[tuple[str, bytes]]
    remarks: tuple[str, ...]


def is_archive(where: Path | bytes) -> bool:
    """Tell whether a file is a zip archive that is not a spreadsheet, which is one too."""
    if not _begins_as_zip(where):
        return False
    try:
        with _opened(where) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError):
        return True
    return not names & _SPREADSHEETS and not {"mimetype", "content.xml"} <= names


def unpacked(
    name: str, where: Path | bytes, *, unpack_all: bool, most_bytes: int = MOST_BYTES
) -> Unpacked:
    """Give the files of votes in an archive by their names, in the order of these."""
    try:
        with _opened(where) as archive:
            # Not is_dir, which fails where there is no name.
            files = [info for info in archive.infolist() if not info.filename.endswith("/")]
            members = [info for info in files if _may_hold_votes(info)]
            _check_claims(where, members)
            if not unpack_all:
                _check_size(name, members, most_bytes)
            members.sort(key=lambda info: info.filename)
            others = [PurePosixPath(one.filename) for one in files if not _may_hold_votes(one)]
            return Unpacked(
                [(PurePosixPath(one.filename).name, archive.read(one)) for one in members],
                remarks_on(others),
            )
    except InputError:
        raise
    except RuntimeError as error:
        why = "it has a password" if "password" in str(error) else str(error)
        raise InputError(f"{name} cannot be unpacked: {why}. Unpack it first.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise InputError(
            f"{name} cannot be unpacked: {error}. It may be damaged or cut off: write or download "
            "it again."
        ) from error


def _may_hold_votes(info: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(info.filename)
    return ending_of(path.name) in ENDINGS and not is_hidden(path) and not is_about(path.name)


def _check_claims(where: Path | bytes, members: list[zipfile.ZipInfo]) -> None:
    """Refuse members that claim to be longer than the archive: as much memory would be taken."""
    size = len(where) if isinstance(where, bytes) else where.stat().st_size
    if any(info.compress_size > size for info in members):
        raise zipfile.BadZipFile("a file in it claims to be longer than the archive")


def _check_size(name: str, members: list[zipfile.ZipInfo], most_bytes: int) -> None:
    total = sum(info.file_size for info in members)  # zipfile never unpacks more than that
    if len(members) > MOST_FILES or total > most_bytes:
        raise InputError(
            f"{name} would unpack to {len(members):,} files of {total / 1e9:,.1f} GB in all, more "
            f"than the {MOST_FILES:,} files or {most_bytes / 1e9:,.1f} GB that are unpacked in "
            "memory. If that is right, unpack it and give the folder, or say --unpack-all "
            "(unpack_all=True)."
        )


def _begins_as_zip(where: Path | bytes) -> bool:
    if isinstance(where, bytes):
        return where.startswith(ZIP_MAGIC)
    with where.open("rb") as file:
        return file.read(len(ZIP_MAGIC)) == ZIP_MAGIC


def _opened(where: Path | bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(where) if isinstance(where, bytes) else where)
