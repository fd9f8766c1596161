"""Ways to spoil a file."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence

from fuzzing.corpus import Seed

MOST_CHANGES = 4
LONGEST = 20_000
"""Bytes of a mutant; longer ones are cut."""
ODD = (
    b"", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\x00", b'"', b"'", b"\\", b",", b";", b"|", b"{",
    b"}", b"[", b"]", b"[" * 300, b'{"a":' * 300, b"#", b"%", b"=CMD()", b"@SUM(A1)", b"-", b"+",
    b"NaN", b"nan", b"inf", b"-inf", b"1e400", b"1" + b"0" * 400, b"-1", b"0", b"1.5", b"1,5",
    b"99999999999999999999", b"9223372036854775808", b"2026-01-01", b"PT1H", b"true", b"null",
    b"None", b"N/A", b"tie", b"both bad", b"left", b"right", b"A>B", b"[[A]]", b"tea>milk>coffee",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xff", b"\xc3", b"\\ud800", b"\xe2\x80\x8b",
    b"\xe2\x80\xae", b"\xcc\x81", b"\x1b[31m", b"</script>", b"$x$", b"x" * 3_000, b"judge",
    b"winner", b"loser", b"rank", b"item", b"rating", b"weight", b"model_a", b"model_b",
    b"timestamp",
)  # fmt: skip
"""What files should not have in them, or not there."""

Rng = random.Random


def mutant(corpus: Sequence[Seed], rng: Rng) -> Seed:
    """One of the files, spoilt in a few ways."""
    seed = rng.choice(corpus)
    name, content = seed
    compressed = name.endswith(".gz") and rng.random() < 0.8
    if compressed:
        content = _opened(content)
    ways = BYTES if seed.is_binary and not compressed else (*BYTES, *LINES, *CELLS)
    for _ in range(rng.randint(1, MOST_CHANGES)):
        content = rng.choice(ways)(content, rng)[:LONGEST]
    if rng.random() < 0.03:
        content = content + rng.choice(corpus).content[:LONGEST]
    if compressed:
        content = gzip.compress(content, 1, mtime=0)
    if rng.random() < 0.05:
        name = rng.choice(corpus).name
    return Seed(name, content)


def _opened(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError):
        return content


# --- bytes ---------------------------------------------------------------------------------------


def _flip(content: bytes, rng: Rng) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def _cut(content: bytes, rng: Rng) -> bytes:
    a, b = _span(content, rng)
    return content[:a] + content[b:]


def _repeat(content: bytes, rng: Rng) -> bytes:
    a, b = _span(content, rng)
    return content[:b] + content[a:b] * rng.choice((1, 1, 2, 30)) + content[b:]


def _truncate(content: bytes, rng: Rng) -> bytes:
    return content[: rng.randint(0, len(content))]


def _insert(content: bytes, rng: Rng) -> bytes:
    at = rng.randint(0, len(content))
    return content[:at] + rng.choice(ODD) + content[at:]


def _span(content: bytes, rng: Rng) -> tuple[int, int]:
    a = rng.randint(0, len(content))
    return a, min(len(content), a + rng.choice((1, 2, 8, 64, 512)))


# --- lines and cells -----------------------------------------------------------------------------


def _without_line(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def _line_again(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"\n".join(lines)


def _swapped_lines(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _changed_cell(content: bytes, rng: Rng) -> bytes:
    cells, separator = _cells(content)
    cells[rng.randrange(len(cells))] = rng.choice(ODD)
    return separator.join(cells)


def _moved_cell(content: bytes, rng: Rng) -> bytes:
    cells, separator = _cells(content)
    cells[rng.randrange(len(cells))] = rng.choice(cells)
    return separator.join(cells)


def _without_cell(content: bytes, rng: Rng) -> bytes:
    cells, separator = _cells(content)
    del cells[rng.randrange(len(cells))]
    return separator.join(cells)


def _other_separator(content: bytes, rng: Rng) -> bytes:
    _, separator = _cells(content)
    return content.replace(separator, rng.choice((b",", b";", b"\t", b"|", b" ")))


def _cells(content: bytes) -> tuple[list[bytes], bytes]:
    """What lies between the commonest separators."""
    separator = max((b",", b";", b"\t", b":"), key=content.count)
    return content.split(separator), separator


Way = Callable[[bytes, Rng], bytes]
BYTES: tuple[Way, ...] = (_flip, _flip, _cut, _repeat, _truncate, _insert)
LINES: tuple[Way, ...] = (_without_line, _line_again, _swapped_lines)
CELLS: tuple[Way, ...] = (
    _changed_cell, _changed_cell, _changed_cell, _moved_cell, _without_cell, _other_separator,
)  # fmt: skip
