"""Every example in README and docs is run, and what it prints is what the page shows."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from absent import absent

from juryrank.data import EXAMPLE_VOTES

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
ON_PUBLIC_DATA = {
    "mt-bench.md": "mt_bench/votes.csv",
    "llmfao.md": "llmfao/votes.csv",
    "potato.md": "potato_visual.csv",
}
"""Pages whose examples are run in the folder with public data, and what they read of it."""


def examples(page: Path) -> Iterator[tuple[str, str]]:
    """The language and the text of the examples of a page, in its order.

    Python has empty lines before it, so that complaints name the line of the page.
    """
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(python|console)\n(.*?)^```", text, re.S | re.M):
        above = "\n" * text.count("\n", 0, found.start(2)) if found[1] == "python" else ""
        yield found[1], above + found[2]


def sessions(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is said to print."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block, re.M)


def folder_of(page: Path, fresh: Path, request: pytest.FixtureRequest) -> Path:
    """Where the examples of a page are run: a new folder, or the one with public data."""
    if page.name not in ON_PUBLIC_DATA:
        return fresh
    data: Path = request.getfixturevalue("data")
    if not (data / ON_PUBLIC_DATA[page.name]).exists():
        absent(f"the public data has no {ON_PUBLIC_DATA[page.name]}")
    return data


BARS = str.maketrans(dict.fromkeys("━╸╺│", " "))
RANGE = r"(?<![\w.+-])\d+-\d+(?![\w.-])"
NUMBER = r"[+-]?\d+(?:,\d{3})*(?:\.\d+)?%?"


def agree(shown: str, printed: str) -> bool:
    """Whether two texts say the same: the same words, and numbers within Monte Carlo error.

    Draws depend on the last bits of the votes' likelihood, and these on the processor.
    """
    lines = [text.translate(BARS).strip().splitlines() for text in (shown, printed)]
    return len(lines[0]) == len(lines[1]) and all(map(lines_agree, *lines))


def lines_agree(shown: str, printed: str) -> bool:
    if shown.split() == printed.split():
        return True
    token = f"({RANGE}|{NUMBER})"
    pairs = [re.split(token, " ".join(text.split())) for text in (shown, printed)]
    words, numbers = ([part[first::2] for part in pairs] for first in (0, 1))
    return words[0] == words[1] and all(map(numbers_agree, *numbers))


def numbers_agree(shown: str, printed: str) -> bool:
    """Ends of ranges of ranks are sampled, as are decimals; other whole numbers are counts."""
    if shown == printed:
        return True
    if re.fullmatch(RANGE, shown) and re.fullmatch(RANGE, printed):
        ends = zip(shown.split("-"), printed.split("-"), strict=True)
        return all(abs(int(one) - int(other)) <= 2 for one, other in ends)
    if "." not in shown or "." not in printed:
        return False
    one, other = (float(text.rstrip("%").replace(",", "")) for text in (shown, printed))
    if shown.endswith("%"):
        return printed.endswith("%") and abs(one - other) <= 5.0
    digits = len(shown.partition(".")[2])
    most = max(50 * 10.0**-digits, 0.01 * abs(one)) if digits > 2 else max(0.1, 0.1 * abs(one))
    return abs(one - other) <= most


def check_command(command: str, shown: str, page: Path) -> None:
    """Run a command; a page may leave out what goes to standard error, but no failure.

    How the votes were read is said by every command, and never on a page.
    """
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S602
        command, shell=True, env=environment, capture_output=True, text=True, check=False
    )
    said = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("Read "))
    in_full = (said + done.stdout, done.stdout + said) if said else ()
    if not any(agree(shown, printed) for printed in in_full):
        where = f"{page.name}: $ {command}"
        assert done.returncode == 0, f"{where}\n{done.stderr}"
        assert agree(shown, done.stdout), f"{where}\n{done.stdout}"


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(examples(page))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_examples_do_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(folder_of(page, tmp_path, request))
    scope: dict[str, object] = {}
    for language, block in examples(page):
        if language == "python":
            exec(compile(block, str(page), "exec"), scope)  # noqa: S102
        else:
            for command, shown in sessions(block):
                check_command(command, shown, page)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("1  a  +1.28  +1.03 to +1.48  2-3 │━━╸", "1  a  +1.31  +1.00 to +1.5  2-4 │━━━", True),
        ("1  a  +1.28", "1  a  +1.58", False),
        ("1  a  +1.28", "1  b  +1.28", False),
        ("1  a  2-3", "1  a  2-6", False),
        ("720 votes", "721 votes", False),
        ("log-loss 0.5209", "log-loss 0.5218", True),
        ("log-loss 0.5209", "log-loss 0.5309", False),
        ("p = 0.27, chance of 86.4%", "p = 0.25, chance of 88.0%", True),
        ("chance of 86.4%", "chance of 76.4%", False),
        ("one line", "one line\nand another", False),
    ],
)
def test_pages_may_differ_from_a_run_by_monte_carlo_error_alone(
    shown: str, printed: str, same: bool
) -> None:
    assert agree(shown, printed) is same


def test_the_examples_are_found() -> None:
    commands = [
        command
        for page in PAGES
        for language, block in examples(page)
        if language == "console"
        for command in sessions(block)
    ]
    assert len(commands) >= 3
    assert {page.name for page in PAGES} >= set(ON_PUBLIC_DATA)


def test_the_bundled_votes_are_those_their_script_makes() -> None:
    made = runpy.run_path(str(ROOT / "examples" / "make_llm_judges.py"))["example_votes"]()
    assert made.write_csv() == EXAMPLE_VOTES.read_text(encoding="utf-8")


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_of_the_command_line_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "reference" / "make_cli.py"))["reference"]()
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert made == page, "run: python docs/reference/make_cli.py"


def test_the_reference_of_the_package_has_every_public_name() -> None:
    import juryrank

    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^::: juryrank\.(\w+)$", page, re.M))
    assert shown == {*juryrank.__all__, "datasets"}


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    if find_spec("mkdocs") is None:
        absent("mkdocs is not here: install juryrank[docs]")
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("**/*.html")}
    assert pages >= {"index.html", "tutorials/llm-judges.html", "reference/api.html"}
    loaded = r"<(?:script|img|link)[^>]+(?:src|href)=\"?(?:https?:)?//"
    for page in pages:
        assert not re.search(loaded, (tmp_path / page).read_text(encoding="utf-8")), page
