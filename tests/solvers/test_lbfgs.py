from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from juryrank.solvers.lbfgs import Function, Point, minimised
from juryrank.types import Floats

WEIGHT = np.logspace(0.0, 3.0, 30)
CENTRE = np.linspace(-3.0, 3.0, 30)


def valley(x: Floats) -> tuple[float, Floats]:
    return float(rosen(x)), np.asarray(rosen_der(x))


def bowl(x: Floats) -> tuple[float, Floats]:
    pull = WEIGHT * (x - CENTRE)
    return 0.5 * float(pull @ (x - CENTRE)), pull


def funnel(x: Floats) -> tuple[float, Floats]:
    root = np.sqrt(1.0 + (x - 1e4) ** 2)
    return float(root.sum()), (x - 1e4) / root


def needle(x: Floats) -> tuple[float, Floats]:
    return float(1e8 * np.sum(x**4)), 4e8 * x**3


def log_barrier(x: Floats) -> tuple[float, Floats]:
    if np.any(x <= 0.0):
        return np.inf, np.full(len(x), np.nan)
    return float(np.sum(0.01 * x - np.log(x))), 0.01 - 1.0 / x


PROBLEMS: dict[str, tuple[Function, Floats, Floats]] = {
    "curved": (valley, np.full(10, -1.2), np.ones(10)),
    "uneven": (bowl, np.zeros(30), CENTRE),
    "far": (funnel, np.zeros(2), np.full(2, 1e4)),
    "steep": (needle, np.array([1.0, -2.0]), np.zeros(2)),
    "forbidden": (log_barrier, np.array([0.5, 0.01]), np.full(2, 100.0)),
}


def found(function: Function, start: Floats, **options: float) -> Point:
    return minimised(
        function,
        start,
        tolerance=options.get("tolerance", 1e-6),
        max_iterations=int(options.get("max_iterations", 1000)),
        memory=12,
    )


def counted(function: Function) -> tuple[Function, Callable[[], int]]:
    calls = []

    def counting(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        return function(x)

    return counting, lambda: len(calls)


@pytest.mark.parametrize(("function", "start", "best"), PROBLEMS.values(), ids=PROBLEMS)
def test_the_minimum_is_found(function: Function, start: Floats, best: Floats) -> None:
    there = found(function, start)
    assert np.abs(there.gradient).max() <= 1e-6
    np.testing.assert_allclose(there.position, best, atol=2e-2 if function is log_barrier else 1e-4)
    value, gradient = function(there.position)
    assert there.value == value
    np.testing.assert_array_equal(there.gradient, gradient)


@pytest.mark.parametrize("name", ["curved", "uneven", "far", "steep"])
def test_it_takes_no_more_evaluations_than_scipy(name: str) -> None:
    function, start, _ = PROBLEMS[name]
    ours, count = counted(function)
    found(ours, start)
    theirs = minimize(
        function, start, jac=True, method="L-BFGS-B",
        options={"maxcor": 12, "ftol": 0.0, "gtol": 1e-6, "maxiter": 1000},
    )  # fmt: skip
    assert count() <= 1.1 * theirs.nfev + 2


def test_the_first_move_has_a_length_of_1() -> None:
    calls: list[Floats] = []

    def watched(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        return bowl(x)

    found(watched, np.zeros(30), max_iterations=1)
    assert np.linalg.norm(calls[1]) == pytest.approx(1.0)
    np.testing.assert_allclose(calls[1] / calls[1][-1], bowl(calls[0])[1] / bowl(calls[0])[1][-1])


def test_nothing_is_evaluated_twice_where_the_gradient_is_small() -> None:
    function, count = counted(bowl)
    there = found(function, CENTRE.copy())
    assert count() == 1
    np.testing.assert_array_equal(there.position, CENTRE)


def test_it_ends_where_rounding_hides_progress() -> None:
    function, count = counted(lambda x: (1e12 + bowl(x)[0], bowl(x)[1]))
    there = found(function, np.zeros(30), tolerance=1e-12)
    assert count() < 100
    assert there.value == pytest.approx(1e12, abs=0.01)


def test_it_ends_where_there_is_no_minimum() -> None:
    there = found(lambda x: (-float(x.sum()), -np.ones(len(x))), np.zeros(3), max_iterations=5)
    assert np.isfinite(there.value)
    assert there.value < -1e3
