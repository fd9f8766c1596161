"""The names of columns as the file has them, told apart where several are the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence

_RENAMED = re.compile(r"(.*)_duplicated_([0-9]+)", re.DOTALL)
_NUMBERED = re.compile(r"(.*) \(([0-9]+)\)", re.DOTALL)


def told_apart(names: Sequence[str]) -> list[str]:
    """Number columns of the same name in their order: ``model (1)``, ``model (2)``."""
    total = Counter(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        numbered = f"{name} ({seen[name]})" if name.strip() else f"(unnamed {seen[name]})"
        found.append(name if total[name] == 1 else numbered)
    return found


def as_in_the_file(names: Sequence[str]) -> list[str]:
    """Undo polars' renaming of the second of two columns of one name."""
    known = set(names)
    matches = [(name, _RENAMED.fullmatch(name)) for name in names]
    return [match[1] if match and match[1] in known else name for name, match in matches]


def shared_name(name: str, names: Container[str]) -> str:
    """Give the name that a column has in the file, where several columns share it."""
    match = _NUMBERED.fullmatch(name)
    is_shared = match is not None and match[1] not in names and f"{match[1]} (2)" in names
    return match[1] if match is not None and is_shared else name
