"""Votes as other tools write them: LMArena, Label Studio, Argilla, crowd-kit, evalica."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pandas as pd
import polars as pl
import pytest
from reading_help import bytes_of, complaint, rankings, read, rows

from juryrank.reading import read_votes, votes_from
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE, Votes


def read_json(records: object, **options: Any) -> Votes:
    return read_votes(io.BytesIO(json.dumps(records, indent=1).encode()), **options)


def read_parquet(frame: pl.DataFrame, **options: Any) -> Votes:
    return read_votes(io.BytesIO(bytes_of(frame.write_parquet)), **options)


class TestArena:
    BATTLES = (
        {
            "question_id": "58210e39",
            "model_a": "koala-13b",
            "model_b": "vicuna-13b",
            "winner": "model_b",
            "judge": "arena_user_973",
            "conversation_a": [{"role": "user", "content": "Hi"}],
            "turn": 1,
            "anony": True,
            "language": "English",
            "tstamp": 1682351591.1322,
            "conv_metadata": {"sum_user_tokens": 3, "bold_count_a": {"**": 1}},
        },
        {
            "question_id": "2cb0",
            "model_a": "vicuna-13b",
            "model_b": "alpaca-13b",
            "winner": "tie (bothbad)",
            "judge": "arena_user_12",
            "conversation_a": [
                {"role": "user", "content": [{"type": "text", "text": "What is it?"}, None]}
            ],
            "turn": 2,
            "anony": False,
            "language": "unknown",
            "tstamp": 1682351654,
            "conv_metadata": {"sum_user_tokens": "many", "bold_count_a": 4},
        },
    )
    WANT = (
        ("arena_user_12", "vicuna-13b", "alpaca-13b", TIE, 1.0),
        ("arena_user_973", "koala-13b", "vicuna-13b", RIGHT_WON, 1.0),
    )

    def test_clean_battles(self) -> None:
        votes = read_json(self.BATTLES)
        assert rows(votes) == list(self.WANT)
        assert votes.both_bad == 1
        lines = "\n".join(json.dumps(battle) for battle in self.BATTLES)
        assert rows(read(lines)) == rows(votes_from(list(self.BATTLES))) == list(self.WANT)

    @pytest.mark.parametrize("judge", ["judge_hash", "evaluation_session_id"])
    def test_parquet_of_later_releases(self, judge: str) -> None:
        frame = pl.DataFrame(
            {
                "id": ["a", "b", "c"],
                "model_a": ["x", "x", "y"],
                "model_b": ["y", "z", "z"],
                "winner": ["model_a", "both_bad", "tie"],
                judge: ["p", "q", "p"],
                "evaluation_order": [1, 1, 2],
                "conversation_a": [[{"role": "user", "content": "Hi", "num_tokens": 1}]] * 3,
                "category_tag": [{"math_v0.1": {"math": False}}] * 3,
                "language": ["en"] * 3,
                "is_code": [False] * 3,
            }
        )
        votes = read_parquet(frame)
        assert votes.judges.to_list() == ["p", "q"]
        assert votes.outcome.tolist() == [LEFT_WON, TIE, TIE]
        assert votes.both_bad == 1

    HEADER = (
        "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
    )

    def test_an_outcome_in_three_columns(self) -> None:
        text = self.HEADER + '1,x,y,"[""a, b""]",r,s,1,0,0\n2,x,z,p,r,s,0,1,0\n3,y,z,p,r,s,0,0,1\n'
        votes = read(text)
        assert rows(votes) == [
            ("(all)", "x", "y", LEFT_WON, 1.0),
            ("(all)", "x", "z", RIGHT_WON, 1.0),
            ("(all)", "y", "z", TIE, 1.0),
        ]
        flags = pl.read_csv(io.StringIO(text)).with_columns(pl.col("^winner_.*$").cast(pl.Boolean))
        assert rows(read_parquet(flags)) == rows(votes)

    def test_an_outcome_that_is_none_or_two(self) -> None:
        text = (
            self.HEADER + "1,x,y,p,r,s,1,0,0\n2,x,z,p,r,s,1,0,1\n3,y,z,p,r,s,0,0,0\n4,y,z,p,,,,,\n"
        )
        said = complaint(lambda: read(text))
        assert (
            "3 of 4 rows have an unknown outcome: '1,0,1' (row 2), '0,0,0' (row 3), nothing (row 4)"
            in said
        )

    def test_larger_than_memory(self, tmp_path: Any) -> None:
        path = tmp_path / "train.csv"
        path.write_text(self.HEADER + "1,x,y,p,r,s,1,0,0\n2,x,z,p,r,s,0,1,0\n")
        assert rows(read_votes(path, memory="100MB")) == rows(read_votes(path))

    def test_columns_that_mix_types_become_text(self) -> None:
        battles = [dict(battle) for battle in self.BATTLES]
        battles[0] |= {"judge": 12, "n": 1.5}
        assert read_json(battles).judges.to_list() == ["12", "arena_user_12"]


def annotation(number: int, selected: str | None, by: object, **more: object) -> dict[str, Any]:
    result = {
        "value": {"selected": selected},
        "id": "Xq1",
        "from_name": "pw",
        "to_name": "pw",
        "type": "pairwise",
        "origin": "manual",
    }
    return {
        "id": number,
        "completed_by": by,
        "result": [] if selected is None else [result],
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": 4.1,
    } | more


def task(number: int, data: dict[str, Any], *annotations: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": number,
        "data": data,
        "annotations": list(annotations),
        "predictions": [],
        "meta": {},
        "project": 1,
    }


class TestLabelStudio:
    ANN = {"id": 4, "email": "ann@example.org", "first_name": "Ann"}  # noqa: RUF012
    DATA = {"prompt": "Why?", "model_a": "x", "model_b": "y", "meta": {"k": [1]}}  # noqa: RUF012

    def test_tasks(self) -> None:
        tasks = [
            task(7, self.DATA, annotation(31, "left", 9), annotation(32, "right", self.ANN)),
            task(8, {"prompt": 5, "model_a": "y", "model_b": "z", "meta": "none"}),
            task(9, {"model_a": "z", "model_b": "x"}, annotation(33, "left", self.ANN)),
        ]
        tasks[2]["annotations"].append(annotation(34, "right", 9, was_cancelled=True))
        votes = read_json(tasks)
        assert rows(votes) == rows(votes_from(tasks)) == rows(votes_from(pd.DataFrame(tasks)))
        assert rows(votes) == [
            ("9", "x", "y", LEFT_WON, 1.0),
            ("ann@example.org", "x", "y", RIGHT_WON, 1.0),
            ("ann@example.org", "z", "x", LEFT_WON, 1.0),
        ]
        assert votes.sides_known
        assert votes.left_out.total == 1
        cancelled = "Left out: 1 of 4 annotations, cancelled; first annotation 34 (task 9)."
        assert votes.left_out.sentences == (cancelled,)
        assert votes.notices == ("1 of 3 tasks has no annotation.",)

    def test_an_answer_that_has_the_name_of_an_item(self) -> None:
        marked = annotation(1, "left", 9)
        marked["result"][0]["from_name"] = "model_a"
        tasks = [task(7, self.DATA, marked)]
        assert "One column cannot be two things: left='model_a'" in complaint(
            lambda: votes_from(tasks)
        )
        assert rows(votes_from(tasks, left="data.model_a")) == [(9, "x", "y", LEFT_WON, 1.0)]

    def test_annotators_by_id(self) -> None:
        votes = read_json([task(7, self.DATA, annotation(1, "left", 9), annotation(2, "left", 10))])
        assert votes.judges.to_list() == [9, 10]

    def test_an_annotation_without_a_choice(self) -> None:
        tasks = [task(7, self.DATA, annotation(1, "left", 9), annotation(2, None, 10))]
        said = complaint(lambda: read_json(tasks))
        assert "1 of 2 rows has an unknown outcome: nothing (annotation 2 (task 7))" in said
        assert len(read_json(tasks, skip_bad=True)) == 1

    def test_a_missing_field_and_annotator(self) -> None:
        tasks = [
            task(7, self.DATA, annotation(1, "left", None)),
            task(8, {"model_a": "x"}, annotation(2, "right", 3)),
        ]
        said = complaint(lambda: read_json(tasks))
        assert "nothing in the column 'annotator': annotation 1 (task 7)." in said
        assert "nothing in the column 'model_b': annotation 2 (task 8)." in said

    def test_the_items_have_to_be_named_if_nothing_tells_them(self) -> None:
        fields = {"question": "Why?", "one": "x", "other": "y", "chosen": "p", "rejected": "q"}
        tasks = [task(1, fields, annotation(1, "right", 3))]
        said = complaint(lambda: read_json(tasks))
        assert "no column for the left item and the right item" in said
        assert "question, one, other, chosen, rejected" in said
        assert "--left" in said
        votes = read_json(tasks, left="one", right="other")
        assert rows(votes) == [(3, "x", "y", RIGHT_WON, 1.0)]

    def test_texts_are_items_where_no_models_are_named(self) -> None:
        tasks = [task(1, {"text1": "long", "text2": "short"}, annotation(1, "right", 3))]
        assert rows(read_json(tasks)) == [(3, "long", "short", RIGHT_WON, 1.0)]

    def test_two_comparisons_in_one_task(self) -> None:
        one = annotation(1, "left", 3)
        other = one["result"][0] | {"from_name": "kinder", "value": {"selected": "right"}}
        one["result"].append(other)
        said = complaint(lambda: read_json([task(1, self.DATA, one)]))
        assert "2 columns that may be the outcome: pw, kinder" in said
        votes = read_json([task(1, self.DATA, one)], winner="kinder")
        assert votes.outcome.tolist() == [RIGHT_WON]

    def test_two_answers_to_one_comparison(self) -> None:
        one = annotation(1, "left", 3)
        one["result"] += [one["result"][0] | {"value": {"selected": "right"}}]
        said = complaint(lambda: read_json([task(1, self.DATA, one)]))
        assert "unknown outcome: 'left, right' (annotation 1 (task 1))" in said
        one["result"][1]["value"]["selected"] = "left"
        assert read_json([task(1, self.DATA, one)]).outcome.tolist() == [LEFT_WON]

    def test_choices_have_words_of_their_own(self) -> None:
        result = {"from_name": "preference", "to_name": "text", "type": "choices"}
        one = annotation(1, None, 3)
        one["result"] = [result | {"value": {"choices": ["Both the same"]}}]
        votes = read_json([task(1, self.DATA, one)], outcome_map={"Both the same": "tie"})
        assert votes.outcome.tolist() == [TIE]

    @pytest.mark.parametrize(
        ("tasks", "said"),
        [
            ([task(1, {})], "holds 1 task without any annotation"),
            ([task(1, {}, annotation(1, "left", 3, result=[{"type": "rating"}]))], "Pairwise"),
            (
                [task(1, DATA, annotation(5, "left", 3, was_cancelled=True))],
                "has no votes to rank. Left out: 1 of 1 annotations, cancelled; first annotation 5",
            ),
            (
                [task(1, DATA, annotation(5, "up", 3))],
                "unknown outcome: 'up' (annotation 5 (task 1))",
            ),
            (
                [task(1, DATA), 3],
                "cannot be read as JSON: 1 of 2 entries are not objects; first entry 2",
            ),
        ],
    )
    def test_bad_exports(self, tasks: list[Any], said: str) -> None:
        assert said in complaint(lambda: read_json(tasks))

    def test_no_limit_of_memory(self) -> None:
        tasks = [task(1, self.DATA, annotation(1, "left", 3))]
        assert "omit the limit" in complaint(lambda: read_json(tasks, memory="1GB"))

    MIN = (
        {
            "text1": "x",
            "text2": "y",
            "id": 1,
            "pw": [{"selected": "left"}],
            "annotator": 1,
            "annotation_id": 31,
            "created_at": "2024-05-11T13:00:11Z",
            "updated_at": "2024-05-11T13:00:11Z",
            "lead_time": 6.4,
        },
        {
            "text1": "y",
            "text2": "x",
            "id": 2,
            "pw": [{"selected": "right"}],
            "annotator": 2,
            "annotation_id": 32,
            "created_at": "2024-05-11T13:00:12Z",
            "updated_at": "2024-05-11T13:00:12Z",
            "lead_time": 2.0,
        },
    )

    def test_json_min(self) -> None:
        want = [(1, "x", "y", LEFT_WON, 1.0), (2, "y", "x", RIGHT_WON, 1.0)]
        assert rows(read_json(self.MIN)) == want

    @pytest.mark.parametrize("write", [json.dumps, lambda cell: cell[0]["selected"]])
    def test_csv(self, write: Any) -> None:
        file = io.StringIO()
        table = [row | {"pw": write(row["pw"]), "was_cancelled": False} for row in self.MIN]
        table.append(table[0] | {"was_cancelled": True, "annotation_id": 33})
        writer = csv.DictWriter(file, sorted(table[0]), quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows(table)
        votes = read(file.getvalue())
        assert rows(votes) == [(1, "x", "y", LEFT_WON, 1.0), (2, "y", "x", RIGHT_WON, 1.0)]
        assert votes.left_out.skipped == 1


def record(responses: dict[str, Any], **metadata: str) -> dict[str, Any]:
    return {
        "id": "3f",
        "fields": {"prompt": "Why?", "response-1": "So.", "response-2": "Thus."},
        "metadata": metadata,
        "suggestions": {"ranking": {"value": ["response-1"], "score": None, "agent": "gpt"}},
        "responses": responses,
        "vectors": {},
        "status": "completed",
        "_server_id": "1",
    }


class TestArgilla:
    def test_records_with_models_in_the_metadata(self) -> None:
        first = {"value": ["response-2", "response-1"], "user_id": "u1"}
        note = {"value": "The second is shorter.", "user_id": "u1"}
        records = [
            record({"ranking": [first], "why": [note]}, **{"model-1": "x", "model-2": "y"}),
            record({"ranking": [first | {"user_id": "u2"}]}, **{"model-1": "z", "model-2": "x"}),
        ]
        votes = read_json(records)
        assert rows(votes) == [("u1", "y", "x", LEFT_WON, 1.0), ("u2", "x", "z", LEFT_WON, 1.0)]
        assert len(votes.notices) == 1
        assert "no status" in votes.notices[0]

    def test_ranks_with_ties_drafts_and_discarded(self) -> None:
        def answer(user: str, status: str, *ranks: int) -> dict[str, Any]:
            options = [f"response-{number}" for number in (1, 2, 3)]
            value = [{"rank": r, "value": o} for r, o in zip(ranks, options, strict=True)]
            return {"user_id": user, "status": status, "value": value}

        answers = [
            answer("u1", "submitted", 2, 1, 2),
            answer("u2", "draft", 1, 2, 3),
            answer("u3", "discarded", 1, 2, 3),
            answer("u4", "submitted", 3, 1, 2),
        ]
        votes = read_json([record({"ranking": answers})])
        assert rankings(votes) == [
            ("u1", [["response-2"], ["response-1", "response-3"]], [], 1.0),
            ("u4", [["response-2"], ["response-3"], ["response-1"]], [], 1.0),
        ]
        assert votes.left_out.sentences == (
            "Left out: 2 of 4 responses, discarded or drafts; first record 1 (user u2).",
        )
        assert (
            "The items are the options of the question (response-1, response-2" in votes.notices[0]
        )

    V1 = {  # noqa: RUF012
        "prompt": "Why?",
        "response1": "So.",
        "response2": "Thus.",
        "preference": [
            {
                "user_id": "u1",
                "value": {"rank": [2, 1], "value": ["response1", "response2"]},
                "status": "submitted",
            },
            {
                "user_id": "u2",
                "value": {"rank": [1, 1], "value": ["response1", "response2"]},
                "status": "submitted",
            },
            {"user_id": "u3", "value": None, "status": "discarded"},
        ],
        "preference-suggestion": {"rank": [1, 2], "value": ["response1", "response2"]},
        "preference-suggestion-metadata": {"type": None, "score": None, "agent": None},
        "external_id": None,
        "metadata": '{"response1-model": "x", "response2-model": "y"}',
    }

    def test_feedback_datasets_of_version_1(self) -> None:
        want = [("u1", "y", "x", LEFT_WON, 1.0), ("u2", "x", "y", TIE, 1.0)]
        for votes in (
            read_json([self.V1]),
            read_parquet(pl.DataFrame([self.V1])),
            votes_from(pl.DataFrame([self.V1]).to_arrow()),
        ):
            assert rows(votes) == want
            assert votes.left_out.total == 1
            assert not votes.notices

    FLAT = {  # noqa: RUF012
        "id": ["a", "b"],
        "prompt": ["Why?", "How?"],
        "ranking.responses": [[["r1", "r2"], ["r2", "r1"]], [["r1", "r2"]]],
        "ranking.responses.users": [["u1", "u2"], ["u1"]],
        "ranking.responses.status": [["submitted", "draft"], ["submitted"]],
        "labels.responses": [[["short", "kind"]], [["kind"]]],
        "labels.responses.users": [["u1"], ["u1"]],
        "labels.responses.status": [["submitted"], ["submitted"]],
        "model_1": ["x", "y"],
        "model_2": ["y", "z"],
    }

    def test_tables_of_version_2(self) -> None:
        want = [("u1", "x", "y", LEFT_WON, 1.0), ("u1", "y", "z", LEFT_WON, 1.0)]
        frame = pl.DataFrame(self.FLAT).drop("labels.responses", "labels.responses.users")
        assert rows(votes_from(frame)) == rows(read_parquet(frame)) == want
        columns = frame.to_dict(as_series=False)
        assert rows(votes_from(columns)) == want
        ragged = columns | {"id": ["a"]}
        assert "all columns must be of one length" in complaint(lambda: votes_from(ragged))

    def test_ranks_decide_and_not_the_order_in_which_options_are_listed(self) -> None:
        def answered(*ranks: object) -> list[dict[str, Any]]:
            value = [{"rank": r, "value": o} for r, o in zip(ranks, "abc", strict=True)]
            return [record({"rank": [{"user_id": "u", "value": value, "status": "submitted"}]})]

        for upside_down in (answered(3, 2, 1), answered(3.0, 2.0, 1.0)):
            assert rankings(read_json(upside_down)) == [("u", [["c"], ["b"], ["a"]], [], 1.0)]
        as_listed = rankings(read_json(answered(None, None, None)))
        assert as_listed == [("u", [["a"], ["b"], ["c"]], [], 1.0)]

    @pytest.mark.parametrize("rank", [None, "3", float("nan")])
    def test_an_option_without_a_rank_is_named(self, rank: object) -> None:
        ranks = [{"rank": 2, "value": "a"}, {"rank": 1, "value": "b"}, {"rank": rank, "value": "c"}]
        answers = [
            {"user_id": "u", "value": ranks, "status": "submitted"},
            {"user_id": "v", "value": ranks[:2], "status": "submitted"},
        ]
        said = complaint(lambda: read_json([record({"rank": answers})]))
        assert "1 of 2 rows has an empty ranking: record 1 (user u)." in said

    def test_labels_are_no_ranking_unless_the_user_says_so(self) -> None:
        frame = pl.DataFrame(self.FLAT).drop("model_1", "model_2")
        assert votes_from(frame).items.to_list() == ["r1", "r2"]
        votes = votes_from(frame, ranking="labels", skip_bad=True)
        assert votes.items.to_list() == ["kind", "short"]

    def test_two_ranking_questions(self) -> None:
        answer = {"value": ["a", "b"], "user_id": "u1"}
        other = {"value": ["b", "a"], "user_id": "u1"}
        records = [record({"true": [answer], "kind": [other]})]
        assert "2 columns that may be the ranking: true, kind" in complaint(
            lambda: read_json(records)
        )
        assert rows(read_json(records, ranking="kind")) == [("u1", "b", "a", LEFT_WON, 1.0)]

    def test_nameless_users_do_not_overwrite_each_other(self) -> None:
        answers = [{"value": list(pair), "user_id": None} for pair in ("ab", "ba")]
        said = complaint(lambda: read_json([record({"ranking": answers})]))
        assert "2 of 2 rows have nothing in the column 'user_id': record 1 (user None)" in said

    @pytest.mark.parametrize(
        ("records", "said"),
        [
            ([record({})], "holds 1 record without any response"),
            ([record({"why": [{"value": "So", "user_id": "u"}]})], "only those to why"),
            (
                [record({"r": [{"value": ["a", "b"], "user_id": "u", "status": "draft"}]})],
                "has no votes to rank. Left out: 1 of 1 responses, discarded or drafts; first",
            ),
            (
                [
                    record({"r": [{"value": ["o-1", "o-2"], "user_id": "u"}]}, model_1="x"),
                    record(
                        {"r": [{"value": ["o-1", "o-2"], "user_id": "u"}]}, model_1="x", model_2="y"
                    ),
                ],
                "1 of 2 rankings do not say which model is behind each option, where the others "
                "do: record 1 (user u).",
            ),
            (
                [
                    record({"r": [{"value": ["o-1", "o-2"], "user_id": "u"}]}),
                    record({"r": [{"value": None, "user_id": "v"}]}),
                ],
                "1 of 2 rows has an empty ranking: record 2 (user v).",
            ),
            (
                [record({"r": [{"value": [{"rank": 1, "value": "o"}] * 2, "user_id": "u"}]})],
                "an item twice in the ranking: record 1 (user u) 'o'",
            ),
        ],
    )
    def test_bad_exports(self, records: list[Any], said: str) -> None:
        assert said in complaint(lambda: read_json(records))


class TestTables:
    @pytest.mark.parametrize("columns", ["data,annotations", "fields,responses"])
    def test_columns_that_have_the_names_of_an_export(self, columns: str) -> None:
        votes = read(f"judge,winner,loser,{columns}\nu,a,b,x,1\nv,b,c,y,2\n")
        assert len(votes) == 2

    def test_crowd_kit(self) -> None:
        votes = read("task,worker,left,right,label\nt1,w1,x,y,x\nt2,w1,z,x,x\nt3,w2,y,z,z\n")
        assert rows(votes) == [
            ("w1", "x", "y", LEFT_WON, 1.0),
            ("w1", "z", "x", RIGHT_WON, 1.0),
            ("w2", "y", "z", RIGHT_WON, 1.0),
        ]
        bad = "worker,left,right,label\nw1,x,y,x\nw1,z,x,y\n"
        assert "unknown outcome: 'y' (row 2)" in complaint(lambda: read(bad))

    @pytest.mark.parametrize("header", ["left,right,winner", "xs,ys,winners"])
    def test_evalica(self, header: str) -> None:
        votes = read(f"{header}\nx,y,left\ny,z,right\nz,x,tie\nz,x,draw\nx,y,ignore\n")
        assert votes.outcome.tolist() == [LEFT_WON, RIGHT_WON, TIE, TIE]
        assert votes.left_out.skipped == 1
