"""The log: whole after whatever happens, and never of two studies or two processes."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import juryrank as jr
from juryrank.active.journal import Journal, JournalClosed, open_journal
from juryrank.errors import InputError, JuryrankError

STUDY: dict[str, Any] = {
    "items": ["a", "b", "c"], "contents": [None, "11", "22"], "judges": ["u", "v"], "seed": 0,
}  # fmt: skip
ROUND = [
    {"kind": "round", "round": 1, "questions": 2},
    {"kind": "question", "id": 1, "round": 1, "judge": "u", "left": "a", "right": "b",
     "chosen": "opening", "propensity": 0.5},
    {"kind": "question", "id": 2, "round": 1, "judge": "v", "left": "c", "right": "b",
     "chosen": "random", "propensity": 0.25},
]  # fmt: skip


def answer(question: int, outcome: str = "left", cost: float = 0.1) -> dict[str, Any]:
    return {"kind": "answer", "id": question, "outcome": outcome, "cost": cost, "attempt": 1,
            "seconds": 0.5}  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with two questions, one of which is answered."""
    path = tmp_path / "run.jsonl"
    with open_journal(path, STUDY) as journal:
        journal.write(*ROUND)
        journal.write(answer(1))
    return path


def test_a_journal_is_taken_up_as_it_was_left(log: Path) -> None:
    with open_journal(log, STUDY) as journal:
        history = journal.history
        assert list(history.answers) == [1]
        assert list(history.out) == [2]
        assert history.rounds == 1
        assert not journal.remarks
        journal.write(answer(2, "tie"))
        assert str(history.spent) == "0.2"
    with open_journal(log, STUDY) as journal:
        assert journal.history == history


def test_however_much_of_the_end_is_missing_the_rest_is_taken_up(log: Path) -> None:
    """What is missing was not acted on: a round counts when all its questions are there."""
    content = log.read_bytes()
    ends = [0, *(at + 1 for at, sign in enumerate(content) if sign == ord("\n"))]
    whole_until = [0, ends[1], ends[4], ends[5]]  # header, round with its questions, answer
    sizes = {at + step for at in ends for step in (-9, -1, 0, 1, 30)} & {*range(len(content) + 1)}
    for size in sorted(sizes):
        log.write_bytes(content[:size])
        aside = log.with_name("run.jsonl.torn")
        aside.unlink(missing_ok=True)
        whole = max(end for end in whole_until if end <= size)
        with open_journal(log, STUDY) as journal:
            known = journal.history
            assert (len(known.questions), len(known.answers)) == (
                2 * (whole >= ends[4]), whole >= ends[5],
            )  # fmt: skip
            assert bool(journal.remarks) == aside.exists() == (size > whole)
            if size > whole:
                assert aside.read_bytes() == content[whole:size] + b"\n"
                assert "torn" in journal.remarks[0]
                assert "run.jsonl.torn" in journal.remarks[0]
            journal.write(*([] if known.questions else ROUND))
            journal.write(*([] if known.answers else [answer(1)]))
        assert log.read_bytes().count(b"\n") == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense\n", "line 6 (Expecting value): nonsense"),
        ('{"kind": "answer"}\n', "line 6"),
        ('{"kind": "opinion"}\n', "no lines of the kind 'opinion'"),
        (json.dumps(answer(1)) + "\n", "question 1 is already closed"),
        (json.dumps(answer(9)) + "\n", "question 9 was never asked"),
        (json.dumps(answer(2, "maybe")) + "\n", "no outcome 'maybe'"),
        (json.dumps(ROUND[1]) + "\n", "a round does not have the questions"),
        (json.dumps(ROUND[0]) + "\n" + json.dumps(answer(2)) + "\n", "line 7"),
        ("[1]\n", "line 6 (it is no object with a 'kind')"),
        ("null\n", "line 6 (it is no object with a 'kind')"),
        ('{"kind": "answer", "id": 2}\n', "line 6 (it has no 'attempt')"),
        ('{"kind": "round", "round": "x", "questions": 0}\n', "'round' is 'x', no whole number"),
        ('{"kind": "round", "round": 2}\n', "'questions' is None, no whole number"),
        ('{"kind": "resumed"}\n', "'cost' is None"),
        (json.dumps({**answer(2), "cost": None}) + "\n", "'cost' is None"),
        (json.dumps({**answer(2), "id": [2]}) + "\n", "'id' is [2]"),
        (json.dumps({**answer(2), "cost": 10**400}) + "\n", "'cost' is 1000"),
        (json.dumps({**answer(2), "more": 1}) + "\n", "'more' is unknown"),
        (
            "".join(
                json.dumps(one) + "\n"
                for one in ({**ROUND[0], "questions": 1}, {**ROUND[1], "id": 7, "judge": "strange"})
            ),
            "'strange' is none of the judges of the study",
        ),
    ],
)
def test_a_log_that_was_changed_is_refused(log: Path, line: str, said: str) -> None:
    before = log.read_text()
    log.write_text(before + line)
    for read in (lambda: open_journal(log, STUDY), lambda: jr.read_votes(log)):
        with pytest.raises(InputError, match="is damaged in") as caught:
            read()
        assert said in str(caught.value)
    assert log.read_text() == before + line


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"items": ["a", "b", "d"]}, "items: without c and with d now"),
        ({"judges": ["u"]}, "judges: without v now"),
        ({"seed": 1}, "seed 0 then, 1 now"),
        ({"target": "top:1"}, "target None then, 'top:1' now"),
        ({"contents": [None, "11", "33"]}, "other contents of 1 item (c)"),
    ],
)
def test_a_log_of_another_study_is_refused(log: Path, changed: dict[str, Any], said: str) -> None:
    before = log.read_bytes()
    with pytest.raises(InputError, match="is of another study") as caught:
        open_journal(log, STUDY | changed)
    assert said in str(caught.value)
    assert log.read_bytes() == before


@pytest.mark.parametrize("contents", [None, [], "zz"])
def test_a_damaged_header_is_of_another_study(log: Path, contents: Any) -> None:
    header, *lines = log.read_text().splitlines(keepends=True)
    log.write_text(json.dumps({**json.loads(header), "contents": contents}) + "\n" + "".join(lines))
    with pytest.raises(InputError, match="is of another study: other contents"):
        open_journal(log, STUDY)


@pytest.mark.parametrize("what", ["items", "judges"])
def test_a_header_without_lists_of_names_is_damaged(log: Path, what: str) -> None:
    header, *lines = log.read_text().splitlines(keepends=True)
    log.write_text(json.dumps({**json.loads(header), what: None}) + "\n" + "".join(lines))
    for read in (lambda: open_journal(log, STUDY), lambda: jr.read_votes(log)):
        with pytest.raises(InputError, match=f"damaged in line 1 \\('{what}' is no list"):
            read()


def test_another_file_is_never_written_to(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("judge,winner,loser\n")
    with pytest.raises(InputError, match=r"not a log of jr\.run"):
        open_journal(votes, STUDY)
    assert votes.read_text() == "judge,winner,loser\n"
    with pytest.raises(InputError, match="Is a directory"):
        open_journal(tmp_path, STUDY)
    with pytest.raises(InputError, match="No such file"):
        open_journal(tmp_path / "absent" / "run.jsonl", STUDY)
    if sys.platform != "win32":
        with pytest.raises(InputError, match="not a file that can be added to"):
            open_journal(os.devnull, STUDY)


def test_a_folder_that_nobody_may_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # a superuser would not be refused by a real one
    with pytest.raises(InputError, match=r"Cannot write the log '.*': Permission denied"):
        open_journal(tmp_path / "run.jsonl", STUDY)


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_text('{"juryrank_log": 2}\n')
    with pytest.raises(InputError, match="version 2"):
        open_journal(log, STUDY)


def test_a_log_in_use_is_refused_and_free_afterwards(log: Path) -> None:
    with open_journal(log, STUDY), pytest.raises(InputError, match="is in use"):
        open_journal(log, STUDY)
    open_journal(log, STUDY).close()


def test_what_cannot_be_written_does_not_count(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle of a line: the log stays whole, and the user is told."""
    before = log.read_bytes()
    real = os.write

    def full(handle: int, content: memoryview) -> int:
        if len(content) > 20:
            return real(handle, content[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_journal(log, STUDY) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda handle, content: full(handle, content[:30]))
            with pytest.raises(JuryrankError, match="No space left"):
                journal.write(answer(2))
        assert log.read_bytes() == before
        assert list(journal.history.out) == [2]


def test_nothing_is_written_after_the_end(log: Path) -> None:
    journal = open_journal(log, STUDY)
    journal.close()
    with pytest.raises(JournalClosed):
        journal.write(answer(2))
    assert list(journal.history.out) == [2]


def test_without_a_path_a_journal_is_kept_in_memory() -> None:
    journal = open_journal(None, STUDY)
    journal.write(*ROUND)
    journal.write(answer(2, "refused"))
    assert isinstance(journal, Journal)
    assert [one.id for one in journal.history.refusals()] == [2]
    journal.close()


def test_a_log_is_read_as_votes(log: Path) -> None:
    with open_journal(log, STUDY) as journal:
        journal.write(
            {"kind": "round", "round": 2, "questions": 2},
            {**ROUND[1], "id": 3, "right": "c"},
            {**ROUND[2], "id": 4, "left": "a"},
        )
        journal.write(answer(2, "right"), answer(3, "refused"))
        journal.write({"kind": "failure", "id": 4, "reason": "Oops", "cost": 0.0, "attempt": 1,
                       "given_up": True})  # fmt: skip
    with log.open("a") as file:
        file.write('{"kind": "ans')
    votes = jr.read_votes(log)
    assert votes.judges.to_list() == ["u", "v"]
    assert [votes.items[code] for code in votes.winner.tolist()] == ["a", "b"]
    assert votes.left_out.skipped == 1
    said = " ".join(votes.left_out.sentences)
    assert "1 of 3 answers, refused by the judge; first question 3" in said
    assert any("1 question of run.jsonl failed" in one for one in votes.notices)
    assert any("is cut off: its last 13 bytes" in one for one in votes.notices)
    told = str(votes.reading[0])
    assert "a log of jr.run" in told
    assert "ignored: chosen, propensity, cost" in told


def test_a_log_without_answers_is_no_votes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    open_journal(path, STUDY).close()
    with pytest.raises(InputError, match="without any answer"):
        jr.read_votes(path)
