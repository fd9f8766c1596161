"""Which column is what, what outcomes mean, and every complaint about rows and files."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from reading_help import FILES, WINS, complaint, read, rows

from juryrank.reading import read_votes, votes_from
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE

SIDES = {"left": ["x", "y", "x"], "right": ["y", "z", "z"]}


class TestColumns:
    @pytest.mark.parametrize(
        ("header", "options"),
        [
            ("worker,left,right,label", {}),
            ("Annotator ID,Model A,Model B,Winner", {}),
            ("rater,item1,item2,choice", {}),
            (" user-id ,a,b,preference", {}),
            ("who,this,that,what", {"judge": "who", "left": "this", "right": "that"}),
        ],
    )
    def test_names_people_use(self, header: str, options: dict[str, str]) -> None:
        named = options | ({"winner": "what"} if "what" in header else {})
        votes = read(f"{header}\nann,x,y,left\nbob,x,y,Right\nbob,y,x,tie\n", **named)
        assert [(row[0], row[3]) for row in rows(votes)] == [
            ("ann", LEFT_WON),
            ("bob", RIGHT_WON),
            ("bob", TIE),
        ]
        assert votes.sides_known

    def test_chosen_and_rejected(self) -> None:
        assert rows(read("chosen,rejected\nx,y\n")) == [("(all)", "x", "y", LEFT_WON, 1.0)]

    def test_no_judge(self) -> None:
        votes = read("winner,loser\nx,y\n")
        assert not votes.judges_known
        assert not votes.sides_known
        assert votes.n_judges == 1

    def test_the_exact_name_wins(self) -> None:
        votes = read("worker,judge,winner,loser\nw,j,x,y\n")
        assert votes.judges.to_list() == ["j"]

    def test_two_candidates_are_a_question(self) -> None:
        said = complaint(lambda: read("worker,user,winner,loser\nw,u,x,y\n"))
        assert "2 columns that may be the judge: worker, user" in said
        assert "--judge worker (judge='worker')" in said
        votes = read("worker,user,winner,loser\nw,u,x,y\n", judge="user")
        assert votes.judges.to_list() == ["u"]

    def test_a_missing_column_names_what_is_there(self) -> None:
        said = complaint(lambda: read("judge,winner,looser\nj,x,y\n"))
        assert "no column for the loser. Columns found: judge, winner, looser." in said
        assert "'looser' is close to the loser: if that is it, say --loser looser" in said

    def test_all_missing_columns_are_named_and_only_near_ones_suggested(self) -> None:
        said = complaint(lambda: read("judge,left,rigth,comment\nj,x,y,z\n"))
        assert "no column for the right item and the outcome." in said
        assert "--right rigth" in said
        assert "comment" not in said.split("Columns found: judge, left, rigth, comment.")[1]

    def test_all_missing_columns_are_named_at_once(self) -> None:
        said = complaint(lambda: read("judge,pair_id,x\nj,1,2\n"))
        assert "do not tell how to read it. Columns found: judge, pair_id, x." in said
        assert "pairs (--winner and --loser, or --left, --right and --winner)" in said
        assert "is close to" not in said

    @pytest.mark.parametrize("name", ["wnner", "human_winner"])
    def test_a_near_name_is_suggested(self, name: str) -> None:
        said = complaint(lambda: read(f"judge,pair_id,{name},loser\nj,1,x,y\n"))
        assert f"{name!r} is close to the winner: if that is it, say --winner {name}" in said

    def test_the_columns_of_a_wide_file_are_named(self) -> None:
        names = [f"c{number}" for number in range(50)]
        said = complaint(lambda: read(f"judge,{','.join(names)}\n"))
        assert f"Columns found: judge, {', '.join(names)}." in said

    def test_a_missing_outcome(self) -> None:
        said = complaint(lambda: read("judge,left,right\nj,x,y\n"))
        assert "no column for the outcome" in said
        assert "--winner" in said

    def test_a_wrong_keyword(self) -> None:
        said = complaint(lambda: read("worker,winner,loser\nj,x,y\n", judge="wroker"))
        assert "no column 'wroker', asked for as the judge" in said
        assert "Did you mean 'worker'?" in said

    def test_one_column_for_two_things(self) -> None:
        act = lambda: read("a,b\nx,y\n", winner="a", loser="a")  # noqa: E731
        assert "One column cannot be two things" in complaint(act)

    def test_two_shapes_at_once(self) -> None:
        act = lambda: read("a,b,c\nx,y,x\n", left="a", loser="b")  # noqa: E731
        assert "but not both" in complaint(act)

    def test_files_of_a_folder_agree_on_the_columns_used(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("winner,loser,note\nx,y,hm\n")
        (tmp_path / "b.csv").write_text("loser,winner\nx,y\n")
        assert len(read_votes(tmp_path)) == 2
        (tmp_path / "b.csv").write_text("loser,winner,weight\nx,y,2\n")
        assert "a.csv and b.csv have different columns" in complaint(lambda: read_votes(tmp_path))

    def test_a_column_twice(self) -> None:
        said = complaint(lambda: read("winner,loser,loser\nx,y,z\n"))
        assert "2 columns that may be the loser: loser (1), loser (2)" in said
        votes = read("winner,loser,loser\nx,y,z\n", loser="loser (2)")
        assert votes.items.to_list() == ["x", "z"]


class TestOutcomes:
    @pytest.mark.parametrize(
        ("words", "want"),
        [
            (["left", "RIGHT", " Tie "], [1, -1, 0]),
            (["model_a", "model_b", "tie (bothbad)"], [1, -1, 0]),
            (["model_a", "model_b", "tie (inconsistent)"], [1, -1, 0]),
            (["Model A", "model-b", "both_bad"], [1, -1, 0]),
            (["a", "B", "draw"], [1, -1, 0]),
            (["x", "z", "tie"], [1, -1, 0]),
            (["x", "right", "equal"], [1, -1, 0]),
        ],
    )
    def test_words(self, words: list[str], want: list[int]) -> None:
        assert votes_from({**SIDES, "winner": words}).outcome.tolist() == want

    def test_the_names_of_the_columns(self) -> None:
        frame = {"Answer 1": ["x", "y"], "Answer 2": ["y", "x"], "pick": ["answer_1", "Answer 2"]}
        votes = votes_from(frame, left="Answer 1", right="Answer 2", winner="pick")
        assert votes.outcome.tolist() == [LEFT_WON, RIGHT_WON]

    def test_numbered_items_with_gaps_from_pandas(self) -> None:
        frame = pd.DataFrame({"left": [1, 2, 3], "right": [2, 3, 1], "winner": [2, 2, None]})
        votes = votes_from(frame, outcome_map={"": "tie"})
        assert votes.outcome.tolist() == [RIGHT_WON, LEFT_WON, TIE]

    def test_numbers_need_a_map(self) -> None:
        frame = {**SIDES, "winner": [1, 2, 0]}
        assert "unknown outcome: '1' (row 1), '2' (row 2)" in complaint(lambda: votes_from(frame))
        mapped = votes_from(frame, outcome_map={"1": "left", "2": "right", "0": "skip"})
        assert mapped.outcome.tolist() == [LEFT_WON, RIGHT_WON]
        assert mapped.left_out.skipped == mapped.left_out.total == 1
        assert "mapped to skip; first row 3" in mapped.left_out.sentences[0]

    def test_the_map_is_checked(self) -> None:
        frame = {**SIDES, "winner": [1, 2, 0]}
        said = complaint(lambda: votes_from(frame, outcome_map={"1": "first"}))
        assert "cannot be mapped to 'first'" in said
        said = complaint(lambda: votes_from(WINS, outcome_map={"1": "left"}))
        assert "no outcome column to map" in said

    def test_items_named_like_sides_when_the_column_holds_names(self) -> None:
        frame = {"left": ["b", "c"], "right": ["a", "b"], "winner": ["a", "c"]}
        assert votes_from(frame).outcome.tolist() == [RIGHT_WON, LEFT_WON]

    def test_items_named_like_sides_when_the_column_holds_sides(self) -> None:
        frame = {"left": ["b", "c"], "right": ["a", "d"], "winner": ["a", "b"]}
        assert votes_from(frame).outcome.tolist() == [LEFT_WON, RIGHT_WON]

    def test_items_named_like_sides_when_nobody_can_tell(self) -> None:
        frame = {"left": ["b", "c", "c"], "right": ["a", "d", "e"], "winner": ["a", "b", "e"]}
        said = complaint(lambda: votes_from(frame))
        assert "1 of 3 rows has an ambiguous outcome: 'a' (row 1)" in said
        votes = votes_from(frame, outcome_map={"a": "left", "b": "right"})
        assert votes.outcome.tolist() == [LEFT_WON, RIGHT_WON, RIGHT_WON]

    def test_an_item_named_tie(self) -> None:
        frame = {"left": ["tie", "x"], "right": ["x", "y"], "winner": ["tie", "tie"]}
        assert "ambiguous outcome: 'tie' (row 1)" in complaint(lambda: votes_from(frame))


class TestBadRows:
    def test_unknown_outcomes_as_in_the_design(self) -> None:
        words = ["left"] * 1204
        words[6], words[11], words[89], words[90] = "upper", "", "both", "upper"
        frame = {"left": ["x"] * 1204, "right": ["y"] * 1204, "winner": words}
        said = complaint(lambda: votes_from(frame))
        assert said.startswith(
            "4 of 1,204 rows have an unknown outcome: 'upper' (2 rows, first row 7), nothing "
            "(row 12), 'both' (row 90). "
            "Known outcomes: left, right, tie (or the winning item's name). "
            "Fix the file or map them with --outcome-map."
        )

    BAD = (
        "judge,left,right,winner,weight\n"
        "j,x,y,left,1\n"
        ",x,y,left,1\n"
        "j,x,,left,1\n"
        "j,x,y,who,0\n"
        "j,x,y,left,two\n"
        "j,x,x,left,1\n"
        "j,x,y,right, 2.5 \n"
        "j,x,y,left,inf\n"
    )

    def test_all_kinds_in_one_message(self) -> None:
        said = complaint(lambda: read(self.BAD))
        assert "1 of 8 rows has an unknown outcome: 'who' (row 4)." in said
        assert "1 of 8 rows has nothing in the column 'judge': row 2." in said
        assert "1 of 8 rows has nothing in the column 'right': row 3." in said
        assert (
            "3 of 8 rows have a weight that is not a positive number (of at most 1e+12): "
            "'0' (row 4), 'two' (row 5), 'inf' (row 8)." in said
        )
        assert "--skip-bad" in said

    def test_to_leave_all_rows_out_is_no_way_out(self) -> None:
        said = complaint(lambda: read("left,right,winner\nx,y,0\ny,x,1\n"))
        assert "--outcome-map" in said
        assert "--skip-bad" not in said

    def test_skipped_they_are_counted_and_named(self) -> None:
        votes = read(self.BAD, skip_bad="most")
        assert rows(votes) == [("j", "x", "y", LEFT_WON, 1.0), ("j", "x", "y", RIGHT_WON, 2.5)]
        assert votes.left_out.bad_rows == 5
        assert votes.left_out.self_comparisons == 1
        assert votes.left_out.total == 6
        assert votes.left_out.sentences[0] == "Left out: 5 of 8 rows (62%) in all."
        assert any("'who' (row 4)" in sentence for sentence in votes.left_out.sentences)
        assert any("itself" in s and "row 6" in s for s in votes.left_out.sentences)

    def test_more_than_half_is_not_left_out_unless_told_again(self) -> None:
        said = complaint(lambda: read(self.BAD, skip_bad=True))
        assert said.startswith("--skip-bad would leave out 5 of 8 rows (62%), more than half.")
        assert "--skip-most (skip_bad='most')" in said
        assert "skip_bad='all'" in complaint(lambda: read(self.BAD, skip_bad="all"))

    def test_a_share_is_said_first(self) -> None:
        votes = read("winner,loser\nx,y\ny,x\nx,\n", skip_bad=True)
        assert votes.left_out.sentences == (
            "Left out: 1 of 3 rows (33%) has nothing in the column 'loser': row 3.",
        )

    def test_a_blank_item_is_not_an_unknown_outcome(self) -> None:
        said = complaint(lambda: read("left,right,winner\nx,y,x\nx,,y\n,y,x\n"))
        assert "unknown outcome" not in said
        assert "1 of 3 rows has nothing in the column 'right': row 2." in said

    def test_items_of_rows_left_out_are_no_items(self) -> None:
        votes = read("judge,winner,loser\nj,10,9\n,z,9\nk,w,w\n", skip_bad=True)
        assert votes.items.to_list() == [9, 10]
        assert votes.judges.to_list() == ["j"]

    def test_nothing_left(self) -> None:
        said = complaint(lambda: read("winner,loser\nx,\n,y\n", skip_bad=True))
        assert "No votes are left" in said

    def test_missing_ids_of_every_kind(self) -> None:
        frame = pl.DataFrame({"winner": [1.0, float("nan"), None], "loser": [2.0, 1.0, 1.0]})
        assert "2 of 3 rows have nothing in the column 'winner': row 2, row 3." in complaint(
            lambda: votes_from(frame)
        )
        nothing = pl.DataFrame({"winner": ["a"], "loser": [None]})
        assert "1 of 1 rows has nothing" in complaint(lambda: votes_from(nothing))


class TestBadFiles:
    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("a.csv", b"", "a.csv is empty"),
            ("a.csv", b" \n\n", "a.csv is empty"),
            ("a.csv", b"judge,winner,loser\n", "has a header but no votes"),
            ("a.csv", b"winner,loser\nx,x\n", "There is only one item, 'x'"),
            ("a.csv", bytes(range(256)), "binary data"),
            ("a.xlsx", b"PK\x03\x04rest", "damaged"),
            ("a.bin", b"\x7fELF\x00\x01", "binary data"),
            ("a.csv", b"winner,loser\n\xc6\xee\xe7\xe5,x\n", "not UTF-8 text (byte 14"),
            ("a.csv", b"winner,loser\nx,y\nx,y,z\nx,y\n", "a.csv: 1 of 3 rows has more fields"),
            ("a.csv", b'winner,loser\n"x,y\n', "a quote is opened and not closed"),
            ("a.csv.gz", gzip.compress(FILES["votes.csv"], mtime=0)[:-12], "cut off"),
            ("a.csv.gz", b"\x1f\x8brubbish", "cannot be read"),
            ("a.parquet", FILES["votes.parquet"][:-9], "cannot be read as Parquet"),
            ("a.parquet", FILES["votes.csv"], "is text, not Parquet"),
            ("a.arrow", FILES["votes.csv"], "is text, not Arrow IPC"),
            ("a.parquet.gz", gzip.compress(FILES["votes.parquet"], mtime=0)[:-9], "as Parquet"),
            ("a.arrow", FILES["votes.arrow"][:-30], "cannot be read as Arrow IPC"),
            ("a.arrow", FILES["votes.feather"][:-100], "cannot be read as Arrow IPC"),
            ("a.ndjson", b'{"winner": "x"}\n\n{"wi', "line 3 is not a JSON object: '{\"wi'"),
            ("a.json", b'[{"winner": "x"}', "cannot be read as JSON"),
            ("a.json", b"[]", "a.json is empty"),
            ("a.json", b"[1, 2]", "cannot be read as JSON"),
        ],
    )
    def test_complaint(self, tmp_path: Path, name: str, content: bytes, said: str) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        assert said in complaint(lambda: read_votes(path))

    def test_not_there(self, tmp_path: Path) -> None:
        (tmp_path / "votes.csv").touch()
        assert "Did you mean" in complaint(lambda: read_votes(tmp_path / "vots.csv"))
        assert "its folder has votes.csv" in complaint(lambda: read_votes(tmp_path / "q"))
        assert "there is no folder" in complaint(lambda: read_votes(tmp_path / "no" / "v.csv"))

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("vots.csv", "votes.csv"), ("votes.tsv", "votes.csv"), ("Judges.CSV", "judges.csv.gz"),
            ("nosuch.csv", None), ("ces.csv", "spaces.csv"), ("es.csv", None),
        ],
    )  # fmt: skip
    def test_only_near_names_are_suggested(
        self, tmp_path: Path, name: str, hint: str | None
    ) -> None:
        for there in ("votes.csv", "spaces.csv", "judges.csv.gz"):
            (tmp_path / there).touch()
        said = complaint(lambda: read_votes(tmp_path / name))
        if hint is None:
            assert "Did you mean" not in said
        else:
            assert f"Did you mean {str(tmp_path / hint)!r}?" in said
        assert "No file matches" in complaint(lambda: read_votes(str(tmp_path / "*.pq")))

    def test_folders_without_votes_or_of_several_formats(self, tmp_path: Path) -> None:
        said = complaint(lambda: read_votes(tmp_path))
        assert said.startswith(f"The folder {tmp_path} holds no files of votes.")
        (tmp_path / "a.csv").write_bytes(FILES["votes.csv"])
        (tmp_path / "a.parquet").write_bytes(FILES["votes.parquet"])
        assert "several formats (csv, parquet)" in complaint(lambda: read_votes(tmp_path))

    def test_a_file_that_may_not_be_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        path = tmp_path / "votes.csv"
        path.write_bytes(FILES["votes.csv"])
        monkeypatch.setattr(Path, "open", refuse)
        assert "permission denied" in complaint(lambda: read_votes(path))

    def test_complaints_come_without_scipy(self) -> None:
        code = (
            "import sys\nfrom juryrank.reading import read_votes\n"
            "try: read_votes('nowhere.csv')\nexcept ValueError: print('scipy' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True)  # noqa: S603
        assert done.stdout.strip() == b"False"
