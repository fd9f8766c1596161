"""Every example in README and docs is run, and what it prints is what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
ON_PUBLIC_DATA = {
    "mt-bench.md": "mt_bench/votes.csv",
    "llmfao.md": "llmfao/votes.csv",
    "potato.md": "potato_visual.csv",
}
"""Pages whose examples are run in the folder with public data, and what they read of it."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def folder_of(page: Path, request: pytest.FixtureRequest) -> Path:
    """Where the examples of a page are run."""
    if page.name not in ON_PUBLIC_DATA:
        return ROOT
    data: Path = request.getfixturevalue("data")
    if not (data / ON_PUBLIC_DATA[page.name]).exists():
        pytest.skip(f"the public data has no {ON_PUBLIC_DATA[page.name]}")
    return data


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(
    page: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(folder_of(page, request))
    code = "\n".join(blocks(page, "python"))
    exec(compile(code, str(page), "exec"), {})  # noqa: S102


def sessions() -> list[tuple[Path, str, str]]:
    found = []
    for page in PAGES:
        for block in blocks(page, "console"):
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block, re.M):
                found.append((page, command, output))
    return found


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.mark.parametrize(
    ("page", "command", "shown"),
    [pytest.param(*session, id=f"{session[0].name}: {session[1]}") for session in sessions()],
)
def test_commands_print_what_the_page_shows(
    page: Path, command: str, shown: str, request: pytest.FixtureRequest
) -> None:
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    folder = folder_of(page, request)
    done = subprocess.run(  # noqa: S602
        command,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert tidy(done.stdout) == tidy(shown)


def test_the_examples_are_found() -> None:
    assert len(sessions()) >= 3
    assert all(page.exists() for page in PAGES)
    assert {page.name for page in PAGES} >= set(ON_PUBLIC_DATA)


def test_the_bundled_votes_are_those_their_script_makes() -> None:
    scope: dict[str, object] = {"__name__": "example", "__file__": "examples/make_llm_judges.py"}
    exec((ROOT / "examples" / "make_llm_judges.py").read_text(encoding="utf-8"), scope)  # noqa: S102
    made = scope["example_votes"]().write_csv()  # type: ignore[operator]
    assert made == (ROOT / "examples" / "llm_judges.csv").read_text(encoding="utf-8")


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
