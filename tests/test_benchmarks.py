"""The benchmarks themselves: right votes, right verdicts, a page. Nothing is timed here."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from benchmarks import agree, data, outcomes, worker
from benchmarks.__main__ import main
from benchmarks.adapters import ADAPTERS, Answer, coded
from benchmarks.agree_cases import cases, written
from benchmarks.goals import verdicts
from benchmarks.grid import Case, only, read_grid, short_number
from benchmarks.install import FIRST, INSTALL, LATER
from benchmarks.kernel import CPass, NoCompilerError, numpy_pass, objective_of
from benchmarks.page import NOTHING, number, page_lines, write_page
from benchmarks.passes import counting
from benchmarks.rankings import KINDS
from benchmarks.regress import case_of
from benchmarks.results import read_results, slope, steepest, summary
from benchmarks.running import RUNS, TABLES, Bench, in_process, result_of
from juryrank.model.noise import NOISES

SMALL = Case("small", votes=3_000, items=6, judges=9, backwards=1 / 3)
MODULES = {
    "evalica": "evalica",
    "arena-rank": "arena_rank",
    "choix": "choix",
    "crowd-kit": "crowdkit",
    "openskill": "openskill",
}


# --- the votes -----------------------------------------------------------------------------------


def test_the_same_case_gives_the_same_votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "PART", 1_000)
    made = data.files_of(SMALL, tmp_path / "one")
    written = pl.read_parquet(made.votes)
    assert written.equals(data.frame_of(SMALL))
    assert written.equals(pl.read_parquet(data.files_of(SMALL, tmp_path / "other").votes))
    assert written.columns == ["judge", "left", "right", "winner"]
    assert len(written) == SMALL.votes
    assert (written["left"] != written["right"]).all()
    other = data.frame_of(replace(SMALL, seed=2))
    assert not written.equals(other)


def test_files_are_made_once_and_are_whole(tmp_path: Path) -> None:
    made = data.files_of(SMALL, tmp_path)
    before = made.votes.stat().st_mtime_ns
    assert data.files_of(SMALL, tmp_path) == made
    assert made.votes.stat().st_mtime_ns == before
    assert sorted(tmp_path.iterdir()) == sorted([made.votes, made.truth])


def test_the_truth_counts_the_wins(tmp_path: Path) -> None:
    files = data.files_of(SMALL, tmp_path)
    truth, votes = pl.read_parquet(files.truth), pl.read_parquet(files.votes)
    won = pl.when(pl.col("winner") == "left").then("left").otherwise("right").alias("item")
    counted = votes.select(won).group_by("item").len()
    both = truth.join(counted, on="item")
    assert both["won"].to_list() == both["len"].to_list()
    assert truth["seen"].sum() == 2 * SMALL.votes


def test_votes_follow_scores_and_accuracies() -> None:
    case = Case("many", votes=200_000, items=2, judges=6, backwards=1 / 3)
    truth = data.truth_of(case)
    assert (truth.accuracy < 0.0).sum() == 2
    part = next(data.parts_of(case))
    first_won = part.left_won == (part.left == 0)
    for judge in range(case.judges):
        mine = part.judge == judge
        chance = 1.0 / (1.0 + np.exp(-truth.accuracy[judge] * (truth.score[0] - truth.score[1])))
        error = np.sqrt(chance * (1.0 - chance) / mine.sum())
        assert abs(first_won[mine].mean() - chance) < 4.5 * error


# --- the adapters --------------------------------------------------------------------------------


def fitted(name: str, frame: pl.DataFrame) -> Answer:
    adapter = ADAPTERS[name]
    module = MODULES.get(adapter.package)
    if module and find_spec(module) is None:
        pytest.skip(f"{adapter.package} is not installed")
    return adapter.run(frame)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in ADAPTERS if name != "crowd-kit-noisy"])
def test_adapters_find_the_order_of_the_items(name: str) -> None:
    case = replace(SMALL, backwards=0.0)
    answer = fitted(name, data.frame_of(case))
    truth = pl.DataFrame({"item": data.names_of(case)[0], "score": data.truth_of(case).score})
    both = truth.join(answer.scores, on="item", suffix="_found")
    assert len(both) == case.items
    assert np.corrcoef(both["score"], both["score_found"])[0, 1] > 0.9


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["evalica", "arena-rank", "choix", "choix-dense"])
def test_peers_reach_the_maximum_of_the_likelihood(name: str) -> None:
    frame = data.frame_of(replace(SMALL, backwards=0.0))
    answer = fitted(name, frame)
    assert answer.likelihood
    assert answer.converged is not False
    assert outcomes.largest_step(frame, answer.scores) < outcomes.STEP


def test_coding_keeps_who_won() -> None:
    frame = pl.DataFrame({"left": ["b", "a"], "right": ["c", "b"], "winner": ["right", "left"]})
    votes = coded(frame)
    assert votes.items.to_list() == ["a", "b", "c"]
    assert votes.winner.tolist() == [2, 0]
    assert votes.loser.tolist() == [1, 1]


# --- outcomes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tau", "converged", "step", "expected"),
    [
        (0.9, True, None, outcomes.OK),
        (0.9, None, None, outcomes.OK),
        (0.9, None, 0.01, outcomes.OK),
        (0.86, True, 0.01, outcomes.OK),
        (0.9, False, None, outcomes.NOT_CONVERGED),
        (0.9, True, 3.0, outcomes.NOT_CONVERGED),
        (0.9, None, float("nan"), outcomes.NOT_CONVERGED),
        (0.8, True, 0.01, outcomes.WRONG),
        (-0.9, False, None, outcomes.WRONG),
        (float("nan"), True, None, outcomes.WRONG),
    ],
)
def test_what_a_run_is_called(
    tau: float, converged: bool | None, step: float | None, expected: str
) -> None:
    assert outcomes.outcome(tau, 0.9, converged=converged, step=step) == expected


def test_steps_are_those_of_newton_in_standard_errors() -> None:
    frame = pl.DataFrame(
        {"left": ["a"] * 4, "right": ["b"] * 4, "winner": ["left"] * 3 + ["right"]}
    )
    equal = pl.DataFrame({"item": ["a", "b"], "score": [0.0, 0.0]})
    # Three wins where two were expected; curvature 4 x 1/4.
    assert outcomes.largest_step(frame, equal) == pytest.approx(1.0)
    best = pl.DataFrame({"item": ["b", "a"], "score": [0.0, np.log(3.0)]})
    assert outcomes.largest_step(frame, best) == pytest.approx(0.0, abs=1e-12)


def test_items_nobody_saw_do_not_count_and_missing_ones_do() -> None:
    truth = pl.DataFrame(
        {"item": list("abc"), "score": [1.0, 0.0, -1.0], "won": [3, 1, 0], "seen": [3, 3, 0]}
    )
    scores = pl.DataFrame({"item": ["a", "b"], "score": [2.0, 1.0]})
    assert outcomes.agreement(scores, truth) == outcomes.Agreement(1.0, 1.0)
    assert np.isnan(outcomes.agreement(scores[:1], truth).answer)


def test_a_run_that_breaks_says_why() -> None:
    assert worker.done({"job": "adapter", "adapter": "floor", "votes": "nowhere.parquet"})[
        "outcome"
    ].startswith("failed: FileNotFoundError")
    assert result_of(-9, "", "")["outcome"] == "failed: ended by SIGKILL"
    assert result_of(1, "", "Traceback\nMemoryError: no\n")["outcome"] == "failed: MemoryError: no"
    assert result_of(0, 'noise\n{"cpu": 1.0}\n', "") == {"cpu": 1.0}
    assert len(outcomes.failed("x " * 500)) < 200


def test_a_run_that_takes_too_long_is_stopped() -> None:
    assert in_process({"job": "adapter"}, limit=0.01) == {"outcome": outcomes.TIMED_OUT}


def test_an_adapter_is_measured(tmp_path: Path) -> None:
    files = data.files_of(SMALL, tmp_path)
    job = {"job": "adapter", "adapter": "floor"}
    row = worker.done({**job, "votes": str(files.votes), "truth": str(files.truth)})
    assert row["outcome"] == outcomes.OK
    assert row["tau"] == row["tau_wins"]
    assert row["cpu"] >= 0.0
    assert row["peak_mb"] > 0.0
    assert set(row) <= set(RUNS)


# --- the grid ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["short", "full"])
def test_the_grids_name_adapters_that_exist(name: str) -> None:
    grid = read_grid(name)
    assert grid.plans
    assert {adapter for plan in grid.plans for adapter in plan.adapters} <= set(ADAPTERS)
    names = [(plan.study, plan.case.name) for plan in grid.plans]
    assert len(names) == len(set(names))


def test_growth_makes_a_case_of_every_size() -> None:
    grown = [plan.case for plan in read_grid("full").plans if plan.study == "votes"]
    assert max(case.votes for case in grown) == 1_000 * min(case.votes for case in grown)
    assert {(case.items, case.judges) for case in grown} == {(100, 1_000)}


def test_some_cases_of_a_grid() -> None:
    assert [plan.case.name for plan in only(read_grid("short"), ["3k"]).plans] == ["3k"]
    alone = only(read_grid("short"), ["shell"])
    assert (alone.plans, alone.kernel) == ((), None)
    assert alone.shell is not None
    with pytest.raises(SystemExit, match="no case 4k"):
        only(read_grid("short"), ["4k"])
    with pytest.raises(SystemExit, match="no grid 'shrt'"):
        read_grid("shrt")


def test_numbers_as_people_say_them() -> None:
    assert [short_number(n) for n in (50, 3_000, 2_000_000)] == ["50", "3k", "2M"]
    assert [number(x) for x in (1234.5, 12.34, 1.234, 0.0234, 0.00012)] == [
        "1,234", "12.3", "1.23", "0.023", "0.00012",
    ]  # fmt: skip
    assert case_of(100_000) == Case("100k", 100_000, 100, 1_000)


# --- passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_the_pass_in_c_is_ours(threads: int) -> None:
    try:
        in_c = CPass()
    except NoCompilerError as error:
        pytest.skip(str(error))
    objective = objective_of(data.frame_of(SMALL), "gumbel")
    rng = np.random.default_rng(3)
    point = rng.normal(0.0, 3.0, objective.n_items), rng.normal(0.0, 2.0, objective.n_judges)
    ours = objective.gradients(*point)
    assert np.nextafter(0.0, 1.0) * 1.0 > 0.0, "the C library changes how the process computes"
    for other in (in_c.gradients(objective, *point, threads), numpy_pass(objective, *point)):
        assert other.value == pytest.approx(ours.value, rel=1e-12)
        np.testing.assert_allclose(other.state, ours.state, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(other.accuracy, ours.accuracy, rtol=1e-9, atol=1e-9)


def test_passes_are_counted_and_the_code_is_left_as_it_was() -> None:
    objective = objective_of(data.frame_of(SMALL), "gumbel")
    assert objective.noise is NOISES["gumbel"]
    before = type(objective).profile
    with counting(SMALL.votes) as passes:
        objective.profile(objective.start_state(), objective.start_accuracy())
        objective.gradients(objective.start_state(), objective.start_accuracy())
    assert (passes.evaluations, passes.work, passes.per_start) == (1, 2.0, 1.0)
    assert type(objective).profile is before


# --- the page ------------------------------------------------------------------------------------


def compared(adapter: str, cpu: float | None, outcome: str, repeat: int) -> dict[str, object]:
    """A row of a run in the comparison with peers."""
    return {
        "grid": "short", "study": "peers", "case": "2M", "votes": 2_000_000, "items": 1_000,
        "judges": 10_000, "backwards": 0.0, "adapter": adapter, "version": "1.0",
        "repeat": repeat, "outcome": outcome, "limit": 60.0, "cpu": cpu and cpu * repeat,
        "cpu_conversion": cpu and 0.1 * cpu, "wall": cpu, "peak_mb": 100.0, "rise_mb": 50.0,
        "rise_fit_mb": 40.0, "tau": 0.9, "tau_wins": 0.9, "evaluations": 60, "starts": 2,
        "evaluations_per_start": 30.0, "work": 70.0,
    }  # fmt: skip


def grown(votes: int) -> dict[str, object]:
    """A row of a run in the study of growth."""
    return {
        "study": "votes", "case": f"votes-{votes}", "votes": votes, "items": 10, "judges": 10,
        "adapter": "juryrank", "repeat": 1, "outcome": "ok", "cpu": votes / 1e5,
        "rise_mb": votes**1.2,
    }  # fmt: skip


def measured_rows() -> pl.DataFrame:
    ends = (
        ("juryrank", 1.0, "ok"),
        ("juryrank-btl", 0.5, "ok"),
        ("evalica", 4.0, "ok"),
        ("choix", 1.5, "ok"),
        ("crowd-kit", 9.0, "not converged"),
        ("arena-rank", None, "timed out"),
    )
    rows = [compared(name, cpu, end, repeat) for name, cpu, end in ends for repeat in (1, 2)]
    rows += [grown(votes) for votes in (1_000, 10_000, 100_000)]
    return pl.DataFrame(rows, schema=RUNS)


@pytest.fixture
def results_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    measured_rows().write_csv(folder / "runs.csv")
    kernel = [
        {"pass": name, "threads": 1, "votes": 10, "ns_per_vote": speed, "outcome": "ok"}
        for name, speed in (("juryrank-hbtl", 6.5), ("juryrank-htcv", 30.0), ("c", 6.0))
    ]
    pl.DataFrame(kernel, schema=TABLES["kernel"]).write_csv(folder / "kernel.csv")
    install = [
        {"what": what, "cpu": cpu, "size_mb": size, "outcome": "ok"}
        for what, cpu, size in (
            (FIRST, 1.2, None), (LATER, 1.0, None), (LATER, 1.1, None), (INSTALL, 60.0, 500.0),
        )
    ]  # fmt: skip
    pl.DataFrame(install, schema=TABLES["install"]).write_csv(folder / "install.csv")
    ranked = [{"what": name, "wall": 7.0, "outcome": "ok"} for name in KINDS]
    pl.DataFrame(ranked, schema=TABLES["rankings"]).write_csv(folder / "rankings.csv")
    profile = [{"case": "2M", "function": "code", "calls": 1, "own": 1.0, "total": 2.0}]
    pl.DataFrame(profile, schema=TABLES["profile"]).write_csv(folder / "profile.csv")
    return folder


def test_goals_are_judged_by_the_rows(results_folder: Path) -> None:
    found = {one.goal: one for one in verdicts(read_results(results_folder))}
    said = {goal: one.word for goal, one in found.items()}
    assert said["HBTL pass to the pass in C, threads: 1, 10 votes"] == "reached"
    assert said["HTCV pass to HBTL pass, threads: 1, 10 votes"] == "missed"
    assert said["HBTL pass to the pass in C, threads: 2, 10 votes"] == "not measured"
    assert said["2M: CPU of HBTL with intervals to evalica"] == "reached"
    assert said["2M: CPU of HBTL with intervals to choix"] == "missed"
    assert said["2M: CPU of HBTL with intervals to arena-rank"] == "reached"
    assert found["2M: CPU of HBTL with intervals to crowd-kit"].remark == "theirs: not converged"
    assert said["2M: CPU of BTL to evalica"] == "reached"
    assert said["2M: evaluations over all votes per starting point"] == "missed"
    assert said["2M: starting points at full price"] == "missed"
    assert said[f"{FIRST}, to later ones (CPU)"] == "reached"
    assert said[f"{INSTALL}: MB"] == "missed"
    assert [said[f"{name}, seconds (wall)"] for name in KINDS] == [
        "missed", "missed", "missed", "reached",
    ]  # fmt: skip
    assert said["log-log slope of CPU time in the number of votes"] == "reached"
    assert said["log-log slope of memory in the number of votes"] == "missed"


def test_cases_measured_anew_leave_the_others_as_they_are(results_folder: Path) -> None:
    facts = {"grid": "short", "commit": "before", "versions": {}}
    (results_folder / "machine.json").write_text(json.dumps(facts))
    bench = Bench(only(read_grid("short"), ["2M", "kernel"]), results_folder, results_folder)
    bench.keep_others(["2M", "kernel"])
    assert {row["case"] for row in bench.rows["runs"]} == {
        "votes-1000", "votes-10000", "votes-100000",
    }  # fmt: skip
    assert bench.rows["kernel"] == bench.rows["profile"] == []
    assert bench.facts["commit"] == "before"
    assert set(bench.facts["measured_anew"]) == {"2M", "kernel"}


def test_the_best_and_the_median_are_told(results_folder: Path) -> None:
    row = summary(read_results(results_folder).runs).filter(adapter="evalica").to_dicts()[0]
    assert (row["cpu"], row["cpu_median"], row["repeats"]) == (4.0, 6.0, 2)


def test_slopes_are_those_of_logarithms() -> None:
    x = pl.Series([1.0, 10.0, 100.0])
    assert slope(x, x**1.5) == pytest.approx(1.5)
    assert steepest(x, pl.Series([1.0, 1.0, 100.0])) == pytest.approx(2.0)


def test_the_page_is_made_of_the_rows(
    results_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "benchmarks.md"
    main(["page", "--results", str(results_folder), "--page", str(page)])
    text = page.read_text(encoding="utf-8")
    assert "| crowd-kit 1.0 | not converged | 9.00 |" in text
    assert "arena-rank 1.0 | timed out (60 s)" in text
    assert "## Where the time goes" in text
    for picture in ("cpu-time", "growth-cpu", "growth-rise"):
        assert f"(benchmarks/{picture}.png)" in text
        assert (page.parent / "benchmarks" / f"{picture}.png").read_bytes()[1:4] == b"PNG"
    assert str(page) in capsys.readouterr().out


def test_the_page_has_what_was_measured_beyond_memory(results_folder: Path) -> None:
    row = {
        "votes": 2_000_000, "items": 1_000, "judges": 10_000, "memory": "2GB", "load": 1.0,
        "cpu_s": 3.0, "wall_s": 2.0, "peak_mb": 500, "outcome": "ok",
    }  # fmt: skip
    mapped = {"rows": [row, row | {"votes": 20_000_000}], "slope": 1.02, "off_by": [0.01, -0.01]}
    mapped["steepest"] = 1.04
    of_two = {
        "workers": 2, "load": 1.0, "cpu_s": 2.5, "cpu_to_that_of_threads": 1.25, "wall_s": 2.0,
        "peak_of_a_worker_mb": 400, "tasks_per_round": 5.0, "sent_per_round_bytes": 1e5,
        "received_per_round_bytes": 2e5, "client_and_scheduler_cpu_per_round_ms": 9.0,
    }  # fmt: skip
    cluster = {
        "votes": 2_000_000, "items": 1_000, "judges": 10_000, "threads": 2, "threads_cpu_s": 2.0,
        "threads_wall_s": 1.0, "on_workers": [of_two], "same_bits": True,
    }  # fmt: skip
    for name, found in (("mapped", mapped), ("cluster", cluster)):
        (results_folder / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    text = "\n".join(page_lines(read_results(results_folder)))
    assert "the power 1.02 of the number of votes; it is off that line by +1%, -1%" in text
    assert "| 2 | 2.50 | 1.25 |" in text
    assert "All numbers of workers give the same bits." in text


def test_no_page_of_a_folder_without_results(tmp_path: Path) -> None:
    """A folder that is misspelt must not cost what is on the page."""
    page = tmp_path / "page.md"
    page.write_text("measured")
    with pytest.raises(SystemExit, match="no results in"):
        main(["page", "--results", str(tmp_path / "ful"), "--page", str(page)])
    assert page.read_text() == "measured"


def test_a_page_without_results_says_so(tmp_path: Path) -> None:
    empty = read_results(tmp_path)
    assert list(page_lines(empty))[-1] == NOTHING
    assert {one.word for one in verdicts(empty)} == {"not measured"}
    assert write_page(tmp_path, tmp_path / "page.md") == [tmp_path / "page.md"]


def test_a_worker_prints_one_line_of_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {"name": "x", "votes": 10, "items": 2, "judges": 1}
    job = {"job": "make", "case": case, "folder": str(tmp_path)}
    monkeypatch.setattr("sys.argv", ["worker", json.dumps(job)])
    with warnings.catch_warnings():
        worker.main()
    assert Path(json.loads(capsys.readouterr().out)["votes"]).exists()


# --- agreement of two commits --------------------------------------------------------------------


ANSWER = {
    "items": [{"item": "a", "score": 1.25, "tier": 1}, {"item": "b", "score": -1.25, "tier": 2}],
    "judges": [{"judge": "u", "accuracy": 1.0, "verdict": "reliable"}],
    "warnings": ["There is only one judge."],
    "fit": {"converged": True, "taste_sd": None},
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The answer with another value at ``items.0.score`` or the like."""
    answer = copy.deepcopy(ANSWER)
    *above, last = path.split(".")
    place: Any = answer
    for name in above:
        place = place[int(name)] if name.isdigit() else place[name]
    place[int(last) if last.isdigit() else last] = value
    return answer


def test_equal_answers_agree() -> None:
    assert list(agree.differences(ANSWER, copy.deepcopy(ANSWER))) == []
    lines, same = agree.report({"one": ANSWER}, {"one": ANSWER})
    assert same
    assert lines == ["1 of 1 data sets agree (numbers to 1e-09)."]


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("items.0.score", 1.25 + 1e-6, "items[0].score"),
        ("items.0.score", float("nan"), "items[0].score"),
        ("items.1.item", "c", "items[1].item"),
        ("items.0.tier", 2, "items[0].tier"),
        ("judges.0.verdict", "guessing", "judges[0].verdict"),
        ("judges.0.accuracy", None, "judges[0].accuracy"),
        ("warnings", [], "warnings"),
        ("warnings.0", "There is one judge.", "warnings[0]"),
        ("fit.converged", False, "fit.converged"),
        ("fit.converged", 1, "fit.converged"),
        ("fit.more", 1.0, "fit.more"),
        ("error", "InputError: no", "error"),
    ],
)
def test_every_difference_of_answers_is_found(path: str, value: object, where: str) -> None:
    other = changed(path, value)
    for pair in ((ANSWER, other), (other, ANSWER)):
        (found,) = agree.differences(*pair)
        assert found.where == where
    lines, same = agree.report({"one": ANSWER, "two": ANSWER}, {"one": ANSWER, "two": other})
    assert not same
    assert lines[0].startswith("two: 1 differences")
    assert where in lines[1]
    assert lines[-1].startswith("1 of 2 data sets agree")


def test_numbers_may_differ_within_the_tolerance_and_a_data_set_may_not_be_missing() -> None:
    near = changed("items.0.score", 1.25 + 1e-10)
    assert list(agree.differences(ANSWER, near)) == []
    assert len(list(agree.differences(ANSWER, near, tolerance=1e-11))) == 1
    large = changed("items.0.score", 1e12), changed("items.0.score", 1e12 + 1.0)
    assert list(agree.differences(*large)) == []
    assert not agree.report({"one": ANSWER}, {})[1]
    assert not agree.report({}, {"one": ANSWER})[1]


def test_two_commits_that_differ_end_with_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"one": changed("items.0.score", 2.0)}
    answers: Iterator[dict[str, Any]] = iter([{"one": ANSWER}, other, {}, {}])
    monkeypatch.setattr(agree, "built", lambda names: nullcontext(names))
    monkeypatch.setattr(agree, "answers_of", lambda *_: next(answers))
    with pytest.raises(SystemExit) as ended:
        agree.main(["before", "after", "--only", "choices"])
    assert ended.value.code == 1
    agree.main(["before", "after", "--only", "choices"])
    with pytest.raises(SystemExit, match="No data set"):
        agree.main(["before", "after", "--only", "no such name"])


def test_the_data_sets_of_two_commits_are_many_of_every_kind_and_the_same_every_time(
    tmp_path: Path,
) -> None:
    every = cases()
    assert len({case.name for case in every}) == len(every) >= 40
    models = {case.rank.get("model", "hbtl") for case in every}
    assert models == set(jr.MODELS)
    assert {case.rank.get("solver") for case in every} >= {None, "paper"}
    assert {"memory", "by", "where"} <= {name for case in every for name in case.read}
    some = [case for case in every if case.name in ("pairs and rankings", "weights")]
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    jobs = [written(folder, some) for folder in folders]
    assert jobs[0] == jobs[1]
    files = [name for job in jobs[0] for name in job["files"]]
    assert len(files) == 3
    for name in files:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert len(jr.read_votes(folders[0] / files[0])) > 100
