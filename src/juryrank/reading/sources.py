"""Where votes come from: a file, a folder, a glob, standard input, an open file."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from errno import EIO, EMFILE, ENFILE, ENOMEM
from pathlib import Path
from typing import IO

from juryrank.errors import InputError, JuryrankError, listing, system_number
from juryrank.hints import near_names
from juryrank.reading.archives import is_archive, unpacked
from juryrank.reading.formats import ARCHIVE, ENDINGS, ending_of
from juryrank.reading.passed_over import is_about, is_hidden, remarks_on
from juryrank.reading.read_twice import notices_on
from juryrank.text import LONGEST_PATH, within

GLOB_SIGNS = frozenset("*?[")
LIMITS_AND_FAILURES = (EMFILE, ENFILE, ENOMEM, EIO)
"""What is wrong with the machine, and not with what the user gave."""
STANDARD_INPUT = Path("/dev/stdin")
"""A name for what a shell has put there, which may be a file; some systems have none."""


@dataclass(frozen=True)
class FoundFile:
    """One file, or the bytes of something that is no file."""

    name: str
    where: Path | bytes
    in_folder: bool = False
    """Whether the folders of the path may hold columns, as in ``judge=ann/part-0.parquet``."""
    remarks: tuple[str, ...] = ()
    """What is to be said of the files beside it."""
    notices: tuple[str, ...] = ()
    """What is to be warned of."""


def found_files(
    source: str | os.PathLike[str] | IO[bytes], *, unpack_all: bool = False
) -> list[FoundFile]:
    """Find the file or files a source stands for, in a fixed order."""
    if isinstance(source, str) and source == "-":
        if sys.stdin is None:
            raise InputError("There is no standard input to read votes from.")
        content = _content(sys.stdin.buffer, "Standard input")
        return _unpacked([FoundFile("Standard input", content)], unpack_all)
    if isinstance(source, str | os.PathLike):
        return _files_at(os.fspath(source), unpack_all)
    if hasattr(source, "read"):
        return _unpacked([_opened(source)], unpack_all)
    raise InputError(
        f"Votes cannot be read from a {type(source).__name__}. "
        "Give a file name or an open file; for data frames there is votes_from."
    )


def _opened(file: IO[bytes]) -> FoundFile:
    path = getattr(file, "name", None)
    name = Path(path).name if isinstance(path, str) else "The open file"
    return FoundFile(name, _content(file, name))


def _content(file: IO[bytes], name: str) -> bytes:
    """Read an open file, which may turn out to be a folder, closed, or only to be written."""
    try:
        content: bytes | str = file.read()
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    return content.encode() if isinstance(content, str) else content


def _files_at(text: str, unpack_all: bool) -> list[FoundFile]:
    if not text.strip():
        raise InputError("The name of the file of votes is empty.")
    path = Path(text).expanduser()
    try:
        found = _found(path)
        if not found and not path.is_dir():
            raise _not_there(text, path)
        found = _unpacked(found, unpack_all)
    except JuryrankError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(text, error) from error
    if path.is_dir():
        return _one_format(f"The folder {path}", found)
    return found if len(found) == 1 else _one_format(text, found)


def _unpacked(found: list[FoundFile], unpack_all: bool) -> list[FoundFile]:
    """Replace archives by the files in them."""
    return [inner for file in found for inner in _files_of(file, unpack_all)]


def _files_of(file: FoundFile, unpack_all: bool) -> list[FoundFile]:
    if not is_archive(file.where):
        return [file]
    members = unpacked(file.name, file.where, unpack_all=unpack_all)
    found = _one_format(
        f"The archive {file.name}",
        [FoundFile(f"{file.name}/{name}", content) for name, content in members.files],
        "Unpack it and give the files of one format",
    )
    return _told(found, (*file.remarks, *members.remarks), file.notices)


def _told(
    found: list[FoundFile], remarks: tuple[str, ...], notices: tuple[str, ...]
) -> list[FoundFile]:
    """Let what is to be said of all files be said with the first that is read."""
    first = [replace(file, remarks=remarks, notices=notices) for file in found[:1]]
    return [*first, *found[1:]]


def files_at(source: str) -> list[Path]:
    """The files that a name stands for, archives as they are; none if it stands for nothing."""
    if source == "-":
        return [STANDARD_INPUT] if STANDARD_INPUT.exists() else []
    with suppress(OSError, ValueError, RuntimeError):  # reading it will say what is wrong
        return _paths(Path(source).expanduser())
    return []


def _found(path: Path) -> list[FoundFile]:
    if not path.is_dir():
        paths = _paths(path)
        return _told([_file(file, in_folder=file != path) for file in paths], (), notices_on(paths))
    walked = _walked(path)
    kept = [file for file in walked if _holds_votes(file, path)]
    others = [file.relative_to(path) for file in sorted({*walked} - {*kept})]
    in_folder = [_file(file, in_folder=True) for file in kept]
    return _told(in_folder, remarks_on(others), notices_on(kept))


def _paths(path: Path) -> list[Path]:
    """The file of this name, those in the folder of this name, or those that match."""
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        _check_ends(path)
        return [path]
    return _matching(path) if GLOB_SIGNS & set(str(path)) else []


def _check_ends(path: Path) -> None:
    """Refuse a device, which may have no end; a terminal, and what has nothing, do."""
    mode = path.stat().st_mode
    endless = stat.S_ISCHR(mode) and not path.samefile(os.devnull) and not _is_terminal(path)
    if endless or stat.S_ISBLK(mode):
        raise InputError(f"{path} is a device, not a file of votes. Give a file, or - for a pipe.")


def _is_terminal(path: Path) -> bool:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    try:
        return os.isatty(handle)
    finally:
        os.close(handle)


def _matching(pattern: Path) -> list[Path]:
    root = Path(pattern.anchor or ".")
    found = root.glob(str(pattern.relative_to(pattern.anchor)))
    return sorted(path for path in found if not path.is_dir())


def _file(path: Path, in_folder: bool = False) -> FoundFile:
    # Polars would expand these signs, cannot map a pipe into memory, and wants names in UTF-8.
    name = os.fsencode(path.name).decode(errors="backslashreplace")
    as_bytes = GLOB_SIGNS & set(str(path)) or not path.is_file() or not _is_utf8(path)
    return FoundFile(name, path.read_bytes() if as_bytes else path, in_folder)


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _files_in(folder: Path) -> list[Path]:
    return [path for path in _walked(folder) if _holds_votes(path, folder)]


def _walked(folder: Path) -> list[Path]:
    """All that is in a folder and in those within, but for these; what is hidden may be closed."""

    def refuse(error: OSError) -> None:
        if not is_hidden(Path(error.filename).relative_to(folder)):
            raise unreadable(error.filename, error) from error

    found = []
    for root, folders, files in os.walk(folder, onerror=refuse):
        inside = [Path(root, name) for name in (*files, *folders)]
        found += [path for path in inside if path.is_symlink() or not path.is_dir()]
    return sorted(found)


def _holds_votes(path: Path, folder: Path) -> bool:
    return (
        ending_of(path.name) in (*ENDINGS, ARCHIVE)
        and not is_hidden(path.relative_to(folder))
        and not is_about(path.name)
        and path.is_file()
    )


def _one_format(
    name: str,
    found: list[FoundFile],
    way_out: str = "Choose those of one format with a glob, such as 'folder/*.parquet'",
) -> list[FoundFile]:
    if not found:
        raise InputError(
            f"{name} holds no files of votes. Known endings: {', '.join(sorted(ENDINGS))}, "
            "each also with .gz or .zst; and .zip."
        )
    formats = sorted({ENDINGS.get(ending_of(file.name), "unknown") for file in found})
    if len(formats) > 1:
        raise InputError(
            f"{name} holds files of several formats ({', '.join(formats)}). {way_out}."
        )
    return found


def _not_there(text: str, path: Path) -> InputError:
    if path.is_symlink():
        target = within(str(path.readlink()), LONGEST_PATH)
        return InputError(
            f"{text!r} is a link to {target!r}, where there is no file. Fix the link."
        )
    if GLOB_SIGNS & set(text):
        return InputError(f"No file matches {text!r}. Check the folder and the pattern.")
    if not path.parent.is_dir():
        return InputError(f"There is no file {text!r}: there is no folder {str(path.parent)!r}.")
    neighbours = sorted(other.name for other in path.parent.iterdir())
    # Without their endings, which make names look alike that are not.
    stems = {_stem(name): name for name in reversed(neighbours)}
    near = near_names(_stem(path.name), stems)
    if near:
        return InputError(
            f"There is no file {text!r}. Did you mean {str(path.parent / stems[near[0]])!r}?"
        )
    known = [name for name in neighbours if ending_of(name) in (*ENDINGS, ARCHIVE)]
    has = f"its folder has {listing(known)}" if known else "its folder has no files of votes"
    return InputError(f"There is no file {text!r}; {has}.")


def _stem(name: str) -> str:
    ending = ending_of(name)
    return name[: name.lower().rindex(ending)] if ending else name


def unreadable(name: str, error: BaseException) -> JuryrankError:
    """Say that the operating system does not let us read something."""
    name = within(name, LONGEST_PATH)
    if system_number(error) in LIMITS_AND_FAILURES:
        return JuryrankError(
            f"{name} cannot be read: {_reason(error)}. This is a limit or a failure of the "
            "machine, not a fault of the file."
        )
    if isinstance(error, PermissionError):
        return InputError(f"{name} may not be read: permission denied. Change its permissions.")
    return InputError(f"{name} cannot be read: {_reason(error)}.")


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")
