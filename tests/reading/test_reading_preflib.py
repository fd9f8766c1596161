"""PrefLib's files of orders: new and old, complete and not, with ties and without."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from reading_help import assert_same, complaint, rankings, read, rows

from juryrank.errors import InputError
from juryrank.reading import read_votes
from juryrank.votes.votes import LEFT_WON, TIE, Votes

NEW = """\
# FILE NAME: tiny.toi
# TITLE: Tiny
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Tea
# ALTERNATIVE NAME 2: Mission: Coffee, black
# ALTERNATIVE NAME 3: Milk > Water
# ALTERNATIVE NAME 4: Water
3: 1,2,{3,4}
2: 4,1
1: {1, 2}
5: {2,1},3
"""
OLD = """\
4
1,Tea
2,Mission: Coffee, black
3,Milk > Water
4,Water
11,11,4
3,1,2,{3,4}
2,4,1
1,{1,2}
5,{2,1},3
"""
COFFEE, MILK = "Mission: Coffee, black", "Milk > Water"


def new(text: str, **options: object) -> Votes:
    return read(text, format="soc", **options)


def test_new_and_old_files() -> None:
    votes = new(NEW)
    assert rankings(votes) == [
        ("(all)", [["Tea"], [COFFEE], [MILK, "Water"]], [], 3.0),
        ("(all)", [[COFFEE, "Tea"], [MILK]], [], 5.0),
    ]
    assert rows(votes) == [
        ("(all)", "Water", "Tea", LEFT_WON, 2.0),
        ("(all)", COFFEE, "Tea", TIE, 1.0),
    ]
    assert not votes.judges_known
    assert_same(votes, new(OLD))


@pytest.mark.parametrize("ending", ["soc", "soi", "toc", "toi"])
def test_endings(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a.{ending}").write_text(NEW)
    (tmp_path / f"b.{ending}.gz").write_bytes(gzip.compress(OLD.encode()))
    assert_same(new(NEW), read_votes(tmp_path / f"a.{ending}"))
    assert_same(new(NEW), read_votes(tmp_path / f"b.{ending}.gz"))
    assert len(read_votes(tmp_path)) == 8


def test_a_new_file_is_known_by_its_content() -> None:
    assert_same(new(NEW), read_votes(io.BytesIO(NEW.encode())))


def test_names_that_are_missing_give_way_to_numbers() -> None:
    said = "Not every alternative has a name: all are called by their numbers."
    no_line = "\n".join(line for line in NEW.splitlines() if "NAME 1" not in line)
    for some_missing in (NEW.replace(" Tea", ""), no_line):
        votes = new(some_missing)
        assert votes.items.to_list() == [1, 2, 3, 4]
        assert said in votes.remarks


def test_without_any_names_there_is_nothing_to_say_of_them() -> None:
    votes = new("# TITLE: x\n2: 10,9,{2,1}\n")
    assert votes.items.to_list() == [1, 2, 9, 10]
    assert not votes.notices


def test_alternatives_of_the_same_name_are_refused() -> None:
    alike = "alternatives of the same name: 'Water' (3, 4)."
    assert alike in complaint(lambda: new(NEW.replace("Milk > Water", "Water")))
    old = "3\n1,a\n2,a\n3,a\n2,2,1\n2,1,2,3\n"
    assert "'a' (1, 2, 3). Give each a name of its own" in complaint(lambda: new(old))
    assert new(old.replace("a", "")).items.to_list() == [1, 2, 3]


def test_names_that_are_numbers() -> None:
    names = NEW.replace("Tea", "10").replace(COFFEE, "9").replace(MILK, "8").replace("Water", "7")
    assert new(names).items.to_list() == [7, 8, 9, 10]


def test_files_that_are_not_utf8() -> None:
    content = NEW.replace("Tea", "Thé").encode("latin-1")
    assert "Thé" in read_votes(io.BytesIO(content), format="soc").items


def test_every_voter_may_be_a_judge() -> None:
    votes = new(NEW, judge_per_row=True)
    assert votes.judges.to_list() == list(range(1, 12))
    assert votes.start.tolist() == [0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]
    assert votes.lists.start.tolist() == [0, 1, 2, 3, 3, 3, 3, 4, 5, 6, 7, 8]
    assert votes.weight.tolist() == [1.0] * 3
    assert votes.lists.weight.tolist() == [1.0] * 8
    assert votes.lists.item.tolist() == [2, 1, 0, 3] * 3 + [1, 2, 0] * 5


def test_voters_who_are_not_whole_are_no_judges() -> None:
    said = complaint(lambda: new(NEW.replace("5: ", "5.5: "), judge_per_row=True))
    assert "a count that is not a whole number" in said


BAD = NEW + "x: 1,2\n2: 1,,2\n1: 1,9\n1: {1,{2,3}}\n2 1,2\n4: 3\n0: 1,2\n1: 1,2,1\n\n# end\n2:\n"


def test_bad_lines_are_named() -> None:
    said = complaint(lambda: new(BAD))
    assert "6 of 13 rows have an order that cannot be read: 'x: 1,2' (line 12), " in said
    assert "a weight that is not a positive number (of at most 1e+12): '0' (line 18)" in said
    assert "an item twice in the ranking: line 19 'Tea'" in said
    assert "--skip-bad" in said


def test_bad_lines_can_be_left_out() -> None:
    votes = new(BAD, skip_bad="most")
    assert_same(votes, new(NEW))
    assert votes.left_out.bad_rows == 8


def test_orders_of_one_alternative_compare_nothing() -> None:
    votes = new(NEW + "4: 3\n")
    assert_same(votes, new(NEW))
    assert votes.left_out.sentences == (
        "Left out: 1 of 5 rows, which rank only one item and so compare nothing; first line 12.",
    )


def test_lines_of_a_folder_are_named_with_their_file(tmp_path: Path) -> None:
    (tmp_path / "a.soc").write_text(NEW)
    (tmp_path / "b.soc").write_text(OLD + "oops\n")
    assert "'oops' (line 11 of b.soc)" in complaint(lambda: read_votes(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("judge,winner,loser\n", "line 1 is neither a comment nor the number of alternatives"),
        ("3\n1,a\nb\n", "line 3 is not the number and name of an alternative"),
        ("3\n1,a\n2,b\n", "line 4 is not the number and name of an alternative"),
        ("2\n1,a\n2,b\n1,1,1\n", "a header but no votes"),
        ("# TITLE: x\n", "a header but no votes"),
    ],
)
def test_files_that_are_something_else(content: str, said: str) -> None:
    assert said in complaint(lambda: new(content))


def test_there_are_no_columns_to_name() -> None:
    assert "has no columns: omit judge" in complaint(lambda: new(NEW, judge="voter"))


class TestPublicData:
    def test_netflix(self, data: Path) -> None:
        votes = read_votes(data / "netflix.soc")
        assert (votes.n_items, votes.lists.number) == (4, 24)
        assert votes.lists.weight.sum() == 588
        assert "Mission: Impossible II" in votes.items

    def test_sushi(self, data: Path) -> None:
        votes = read_votes(data / "sushi.soc")
        assert (votes.n_items, votes.lists.number) == (10, 4926)
        assert votes.lists.weight.sum() == 5000
        assert (votes.lists.ranked == 10).all()


def test_what_a_header_claims_is_not_allocated(tmp_path: Path) -> None:
    """The file's size bounds what is read, not a number in it."""
    path = tmp_path / "huge.soc"
    path.write_text(
        "# NUMBER ALTERNATIVES: 300000000\n# ALTERNATIVE NAME 99999999999999999999: far\n"
        "5: 1,2,3\n3: 2,1,3\n900000000000: 3,1,2\n"
    )
    assert read_votes(path).n_items == 3
    with pytest.raises(InputError, match="900,000,000,008 voters"):
        read_votes(path, judge_per_row=True)
