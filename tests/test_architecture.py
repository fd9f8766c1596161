"""What is said about the code itself is true: files that are named exist, commands can be run."""

from __future__ import annotations

import re
import runpy
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from absent import absent
from test_rooms import PACKAGE, ROOMS

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md")
FILE = re.compile(r"`([\w./-]+(?:\.(?:py|md|toml|svg|cpp|hpp)|/))`")
"""A file or a folder, in backticks."""
MAKE = re.compile(r"(?<![\w`-])make ([a-z][\w-]*)")
WITH_MAKE = (".ci/run", ".pre-commit-config.yaml", ".github/workflows/tests.yml",
             ".github/workflows/docs.yml", "CONTRIBUTING.md")  # fmt: skip


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def loaded(path: str) -> Any:
    return import_module("yaml").safe_load(text_of(path))


def missing(page: str) -> list[str]:
    """The files that a page names, and that are neither in the project nor in the package."""
    named = FILE.findall(page)
    elsewhere = ("../shared/data", "site/")
    return [
        name
        for name in named
        if not any((root / name).exists() for root in (ROOT, PACKAGE, PACKAGE / "_core"))
        and name not in elsewhere
    ]


@pytest.mark.parametrize("page", PAGES)
def test_files_that_pages_name_exist(page: str) -> None:
    assert missing(text_of(page)) == []
    assert FILE.findall(text_of(page))


def test_a_file_that_does_not_exist_would_be_seen() -> None:
    assert missing("see `votes/votes.py`, `votes/gone.py`, `gone/` and `tests/`") == [
        "votes/gone.py", "gone/",
    ]  # fmt: skip


def drawing() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "pictures" / "rooms.py"))


def test_every_room_is_on_the_page_from_the_top_down() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {"data"}
    shown = drawing()["rooms"](text_of("docs/architecture.md"))
    assert set(shown) == folders
    assert shown == [room for room in reversed(ROOMS) if room in folders]


def test_the_picture_shows_what_the_page_says() -> None:
    found = drawing()
    page = text_of("docs/architecture.md")
    assert found["picture"](page) == text_of("docs/pictures/rooms.svg"), (
        "run: python docs/pictures/rooms.py"
    )
    numbers = [step.number for step in found["steps"](page)]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("path", WITH_MAKE)
def test_what_is_to_be_made_can_be_made(path: str) -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", text_of("Makefile"), re.M))
    asked = set(MAKE.findall(text_of(path)))
    assert asked
    assert asked <= targets


def test_workflows_run_everything_on_every_system_and_python() -> None:
    tests = loaded(".github/workflows/tests.yml")["jobs"]["test"]
    matrix = tests["strategy"]["matrix"]
    systems = {name.split("-")[0] for name in matrix["system"]}
    assert systems == {"ubuntu", "macos", "windows"}
    least = tomllib.loads(text_of("pyproject.toml"))["project"]["requires-python"]
    assert matrix["python"][0] == least.removeprefix(">=")
    assert "make test" in " ".join(step.get("run", "") for step in tests["steps"])
    docs = loaded(".github/workflows/docs.yml")["jobs"]["docs"]
    assert "make docs" in " ".join(step.get("run", "") for step in docs["steps"])


def test_hooks_do_what_ci_does() -> None:
    (repo,) = loaded(".pre-commit-config.yaml")["repos"]
    assert [hook["entry"] for hook in repo["hooks"]] == ["make format", "make lint"]
    assert re.search(r"^test: lint$", text_of("Makefile"), re.M)
    width = tomllib.loads(text_of("pyproject.toml"))["tool"]["ruff"]["line-length"]
    assert f"max_line_length = {width}\n" in text_of(".editorconfig")


def test_with_ci_nothing_is_skipped_for_want_of_something() -> None:
    with pytest.raises(pytest.fail.Exception, match="no data here"):
        absent("no data here", everything=True)
    with pytest.raises(pytest.skip.Exception, match="no data here"):
        absent("no data here", everything=False)
