"""A file that is read more than once is told, however it is named: its votes count each time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app

VOTES = "judge,winner,loser\n" + "a,x,y\nb,y,z\nc,x,z\na,z,y\nb,x,y\n" * 3
SAID = "read more than once, so that votes are counted more than once: "


@pytest.fixture
def votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    monkeypatch.chdir(tmp_path)
    return path


def warnings_of(*arguments: str) -> list[str]:
    """What `rank` says in its JSON; all of it is on stderr, too."""
    result = CliRunner().invoke(app, ["rank", *arguments, "--json"])
    assert result.exit_code == 0, result.stderr
    warned: list[str] = json.loads(result.stdout)["warnings"]
    said = [one for one in warned if SAID in one]
    assert all(one in " ".join(result.stderr.split()) for one in said)
    return said


def same(path: Path) -> str:
    return str(path)


def by_symbolic_link(path: Path) -> str:
    Path("link.csv").symlink_to(path)
    return "link.csv"


def by_hard_link(path: Path) -> str:
    os.link(path, "hard.csv")
    return "hard.csv"


def by_another_spelling(path: Path) -> str:
    return f"../{path.parent.name}/votes.csv"


@pytest.mark.parametrize("memory", [(), ("--memory", "100MB")])
@pytest.mark.parametrize("other", [same, by_symbolic_link, by_hard_link, by_another_spelling])
def test_a_file_given_twice(
    votes: Path, other: Callable[[Path], str], memory: tuple[str, ...]
) -> None:
    name = other(votes)
    how = "2 times" if name == str(votes) else f"also as {name}"
    said = warnings_of(str(votes), name, *memory)
    assert said == [f"A file is {SAID}{votes} ({how}). Give each file once."]


def test_a_file_beside_its_folder(votes: Path) -> None:
    votes.with_name("more.csv").write_text(VOTES)
    assert warnings_of(".", "votes.csv", "more.csv") == [
        f"2 files are {SAID}more.csv (2 times), votes.csv (2 times). Give each file once."
    ]


def test_a_file_twice_in_a_folder(votes: Path) -> None:
    by_hard_link(votes)
    said = f"A file is {SAID}hard.csv (also as votes.csv). Give each file once."
    assert said in warnings_of(".")
    assert said in warnings_of("*.csv", "--memory", "100MB")
    assert (
        said.replace("hard.csv", str(Path.cwd() / "hard.csv")).replace(
            "as votes.csv", f"as {votes}"
        )
        in jr.read_votes(votes.parent).remarks
    )


def test_a_ranking_by_value_tells_it_too(votes: Path) -> None:
    result = CliRunner().invoke(app, ["rank", "votes.csv", "votes.csv", "--by", "judge"])
    assert SAID in " ".join(result.stderr.split())


def test_copies_are_other_files(votes: Path) -> None:
    votes.with_name("copy.csv").write_text(VOTES)
    assert not warnings_of("votes.csv", "copy.csv")
    assert not warnings_of(".")
