"""The paper's studies in small: direction and magnitude, resuming, and what is written."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from juryrank import InputError
from juryrank.cli.app import app
from juryrank.paper import TABLES, synthetic
from juryrank.paper.published import synthetic_tables
from juryrank.paper.synthetic import Cell, cells, gap_closed, run_table, summary, verdict
from juryrank.paper.tables import save_table
from juryrank.progress import Progress

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _: str(tmp_path / "cache"))


def made_up(table: str, trials: int = 4) -> pl.DataFrame:
    """Trials in which every published method gives exactly what the paper prints."""
    printed = synthetic_tables().filter(setting=table.replace("-", "_"))
    published = {
        (row["alpha"], row["gamma_b"], row["gamma_a"], row["method"].lower()): row["tau_mean"]
        for row in printed.iter_rows(named=True)
    }
    methods = synthetic.PUBLISHED_METHODS[table.split("-")[0]]
    rows = []
    for cell in cells(table):
        key = (cell.alpha, cell.gamma_b, cell.gamma_a)
        taus = {method: published[(*key, method)] for method in methods}
        taus |= {"juryrank": 0.9, "oracle": 1.0, "oriented": -0.1}
        for trial in range(trials):
            noise = 0.01 * (-1) ** trial
            noisy = {method: tau + noise for method, tau in taus.items()}
            rows.append(asdict(cell) | {"trial": trial} | noisy)
    return pl.DataFrame(rows)


def test_the_package_has_the_published_numbers(data: Path) -> None:
    original = pl.read_csv(data.parent / "paper" / "synthetic_tables.csv")
    assert synthetic_tables().equals(original)
    assert len(original) == 432


@pytest.mark.parametrize(
    ("cell", "trials"),
    [
        (Cell("gumbel-benign", 0.8, 0.25, 10.0), 6),
        (Cell("normal-adversarial", 0.6, 1.0, 5.0), 6),
    ],
)
def test_few_trials_land_near_the_published_means(cell: Cell, trials: int) -> None:
    runs = [asdict(cell) | {"trial": t} | synthetic.run_trial(cell, 1, t) for t in range(trials)]
    table = summary(pl.DataFrame(runs))
    by_method = {row["method"]: row for row in table.iter_rows(named=True)}
    for method in synthetic.PUBLISHED_METHODS[cell.noise]:
        row = by_method[method]
        assert abs(row["tau_mean"] - row["published_mean"]) < 4 * row["published_std"] / 6**0.5
    equal, _, algorithm = synthetic.PUBLISHED_METHODS[cell.noise]
    mean = {method: row["tau_mean"] for method, row in by_method.items()}
    assert mean["juryrank"] > mean[equal] + 0.03
    assert mean["juryrank"] > mean[algorithm] - 0.02
    assert mean["oracle"] > mean["juryrank"] - 0.03


def test_a_trial_follows_its_seed_and_nothing_else() -> None:
    cell = Cell("gumbel-adversarial", 0.2, 1.0, 5.0)
    assert synthetic.run_trial(cell, 0, 3) == synthetic.run_trial(cell, 0, 3)
    assert synthetic.run_trial(cell, 0, 3) != synthetic.run_trial(cell, 0, 4)
    assert synthetic.run_trial(cell, 0, 3) != synthetic.run_trial(cell, 1, 3)


def test_adversaries_are_a_third_of_the_judges() -> None:
    assert np.sign(Cell("gumbel-benign", 0.2, 1.0, 5.0).accuracies()).tolist() == [1] * 9
    signs = np.sign(Cell("normal-adversarial", 0.2, 1.0, 5.0).accuracies()).tolist()
    assert signs == [-1, 1, 1, -1, -1, 1, 1, 1, 1]


def test_an_interrupted_run_continues_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[tuple[Cell, int]] = []

    def trial(cell: Cell, seed: int, number: int) -> dict[str, float]:
        ran.append((cell, number))
        if len(ran) == 31:
            raise KeyboardInterrupt
        return {"btl": 0.5, "juryrank": 0.6, "oracle": 0.7}

    monkeypatch.setattr(synthetic, "run_trial", trial)
    with pytest.raises(KeyboardInterrupt):
        run_table("gumbel-benign", trials=2, jobs=1)
    kept = synthetic._kept_file("gumbel-benign", 0)
    with kept.open("a", encoding="utf-8") as lines:
        lines.write('{"cell": {"table"')  # a line that was cut off
    seen: list[Progress] = []
    table = run_table("gumbel-benign", trials=2, jobs=1, progress=seen.append)
    assert len(table) == 72
    assert len(ran) - 31 == 72 - 30
    assert [(event.done, event.total) for event in (seen[0], seen[-1])] == [(31, 72), (72, 72)]
    assert not kept.exists()


def test_processes_give_what_one_process_gives() -> None:
    keys = [(cell, 0) for cell in cells("gumbel-benign")[-7:]]
    alone = dict(synthetic._computed(keys, 5, 1))
    together = dict(synthetic._computed(keys, 5, 2))
    assert alone == together


@pytest.mark.parametrize("table", TABLES)
def test_equal_means_agree_in_every_cell(table: str) -> None:
    found = summary(made_up(table))
    assert verdict(found).startswith("108 of 108 published cells agree")
    assert found.filter(method="oriented")["upside_down"].to_list() == [1.0] * 36
    equal = synthetic.PUBLISHED_METHODS[table.split("-")[0]][0]
    lost = found.filter(method=equal)["tau_mean"].to_numpy()
    expected = (0.9 - lost) / (1.0 - lost)
    np.testing.assert_allclose(gap_closed(found)["gap_closed"].to_numpy(), expected)


def test_a_table_is_written_as_csv_markdown_and_picture(tmp_path: Path) -> None:
    csv, page, picture = save_table(made_up("normal-benign"), tmp_path, "juryrank paper ...")
    assert len(pl.read_csv(csv)) == 36 * 6
    text = page.read_text(encoding="utf-8")
    assert "Made by `juryrank paper ...`. 108 of 108" in text
    assert text.count("\n| 0.") == 36
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_shows_the_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("juryrank.paper.synthetic.run_table", lambda name, **_: made_up(name))
    done = CliRunner().invoke(app, ["paper", "gumbel-benign", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "108 of 108 published cells agree" in done.stdout
    assert "hbtl" in done.stdout
    assert (tmp_path / "gumbel-benign.md").exists()


def test_what_is_not_a_table_is_refused() -> None:
    assert CliRunner().invoke(app, ["paper", "cauchy-benign"]).exit_code == 2
    with pytest.raises(InputError, match="gumbel-benign"):
        run_table("cauchy-benign")
    with pytest.raises(InputError, match="at least 2"):
        run_table("gumbel-benign", trials=1)
