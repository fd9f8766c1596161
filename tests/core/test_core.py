"""The compiled core: random numbers, the pass over pairs, and calls that are wrong."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics_help import with_pairs
from scipy import special, stats

import juryrank as jr
from juryrank import _core
from juryrank.inference.chain import BACKWARDS, DEGREES, PRIORS, Chain, Draws, votes_of
from juryrank.inference.opinions import Opinions, opinions_of, rounded
from juryrank.model.objective import Objective
from juryrank.model.prior import EFFECT_SD
from juryrank.ranking.request import task_of
from juryrank.solvers.search import ROUGH, search
from juryrank.types import Floats

DRAWN = 40_000


# --- elementary functions ------------------------------------------------------------------------


def test_elementary_functions_are_those_of_the_library() -> None:
    x = np.concatenate((np.linspace(-707.0, 707.0, 20_001), np.linspace(-1.0, 1.0, 2_001)))
    np.testing.assert_allclose(_core.exp(x), np.exp(x), rtol=4e-16)
    np.testing.assert_allclose(_core.exp_minus(np.abs(x)), np.exp(-np.abs(x)), rtol=4e-16)
    y = np.concatenate((np.exp(x), np.linspace(0.5, 2.0, 10_001), [5e-324, 1e-310, 1.7e308]))
    np.testing.assert_allclose(_core.log(y), np.log(y), rtol=4e-16, atol=1e-18)
    z = np.concatenate((np.linspace(0.0, 1.0, 10_001), np.geomspace(1e-300, 1.0, 1_001)))
    np.testing.assert_allclose(_core.log_1p_of_share(z), np.log1p(z), rtol=5e-16)
    shape = np.geomspace(0.01, 1e6, 2_001)
    np.testing.assert_allclose(
        _core.log_gamma(shape), special.gammaln(shape), rtol=1e-13, atol=2e-14
    )


def test_elementary_functions_at_the_ends() -> None:
    ends = np.array([np.nan, np.inf, -np.inf, 1e4, -1e4, 0.0, -1.0])
    np.testing.assert_array_equal(_core.exp(ends)[:6], [np.nan, np.inf, 0.0, np.inf, 0.0, 1.0])
    expected = [np.nan, np.inf, np.nan, np.log(1e4), np.nan, -np.inf, np.nan]
    np.testing.assert_array_equal(_core.log(ends), expected)
    assert np.isnan(_core.exp_minus(ends[:1]))[0]
    assert _core.exp_minus(ends[1:2])[0] < 1e-300


# --- random numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda r: r.uniform(DRAWN), stats.uniform()),
        (lambda r: r.normal(DRAWN), stats.norm()),
        (lambda r: r.cauchy(DRAWN), stats.cauchy()),
        *((lambda r, a=a: r.gamma(a, DRAWN), stats.gamma(a)) for a in (0.1, 0.5, 1.0, 2.5, 300.0)),
        *(
            (lambda r, a=a, b=b: r.beta(a, b, DRAWN), stats.beta(a, b))
            for a, b in ((1.0, 9.0), (31.0, 10.5), (0.4, 2.0))
        ),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_random_numbers_have_their_law(
    draw: Callable[[_core.Random], Floats], law: Any, seed: int
) -> None:
    """Kolmogorov's distance, of the numbers and of the products of neighbours' ranks."""
    share = law.cdf(draw(_core.Random(seed)))
    assert stats.kstest(share, "uniform").pvalue > 1e-4
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(share[lag:], share[:-lag])[0, 1]) < 4.5 / np.sqrt(DRAWN)


def test_normal_numbers_have_the_moments_and_the_tails() -> None:
    x = _core.Random(5).normal(1_000_000)
    for power, moment in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0)):
        error = float(np.std(x**power)) / 1_000.0
        assert np.mean(x**power) == pytest.approx(moment, abs=4.5 * error)
    beyond = int((np.abs(x) > 4.0).sum())
    assert abs(beyond - 1e6 * 2.0 * stats.norm.sf(4.0)) < 4.5 * np.sqrt(64.0)


def test_choices_are_as_likely_as_their_weights() -> None:
    weight = np.array([0.0, 1.0, 2.0, 0.0, 5.0, 0.0])
    found = np.bincount(_core.Random(1).choice(weight, DRAWN).astype(np.int64), minlength=6)
    assert found[weight == 0.0].sum() == 0
    expected = DRAWN * weight[weight > 0.0] / weight.sum()
    assert stats.chisquare(found[weight > 0.0], expected).pvalue > 1e-4
    count = np.bincount(_core.Random(2).below(7, DRAWN).astype(np.int64), minlength=7)
    assert stats.chisquare(count).pvalue > 1e-4


def test_the_generator_is_xoshiro() -> None:
    """The first numbers for the state that splitmix64 makes of 0, written out in Python."""
    mask, seed, state = (1 << 64) - 1, 0, []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        state.append(z ^ (z >> 31))
    found = []
    for _ in range(50):
        s0, s1, s2, s3 = state
        total = (s0 + s3) & mask
        rotated = (((total << 23) | (total >> 41)) + s0) & mask
        found.append((rotated >> 11) * 2.0**-53)
        s2, s3 = s2 ^ s0, s3 ^ s1
        state = [s0 ^ s3, s1 ^ s2, s2 ^ ((s1 << 17) & mask), ((s3 << 45) | (s3 >> 19)) & mask]
    np.testing.assert_array_equal(_core.Random(0).uniform(50), found)


# --- the pass over pairs -------------------------------------------------------------------------


def objective_of(seed: int = 2, effects: str = "plain") -> Objective:
    asked = EFFECTS[effects]
    made = jr.simulate(6, 5, adversaries=1, votes_per_judge=20, seed=seed, **asked)
    options: dict[str, Any] = (
        {"ties": "davidson-by-judge" if "tie_sd" in asked else "davidson"} if asked else {}
    )
    if "left" in asked:
        options["order"] = "by-judge" if "left_sd" in asked else "common"
    objective = task_of(jr.votes_from(made.votes), "hbtl", **options).objective()
    return replace(objective, votes=objective.votes.merged())


def pairs_of(opinions: Opinions) -> _core.Pairs:
    found = votes_of(opinions)
    assert isinstance(found, _core.Pairs)
    return found


EFFECTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "ties": {"tie": 0.6},
    "ties by judge": {"tie": 0.6, "tie_sd": 0.5},
    "sides": {"left": 0.4},
    "all by judge": {"tie": 0.6, "tie_sd": 0.5, "left": 0.4, "left_sd": 0.5},
}


@pytest.mark.parametrize("effects", EFFECTS)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-320, 1e-9, 0.1, 1.0, 10.0, 300.0]),
    tastes=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_pairs_are_those_of_the_other_kernel(
    effects: str, seed: int, scale: float, tastes: bool
) -> None:
    rng = np.random.default_rng(seed)
    objective = objective_of(seed % 7, effects)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0, 1e4], objective.votes.pairs.number)
    objective = replace(objective, votes=with_pairs(objective.votes, given_weight=weight))
    opinions = opinions_of(objective, tastes=tastes)
    state = np.concatenate(
        (
            scale * rng.standard_normal(len(opinions)),
            rng.standard_normal(opinions.objective.layout.size - len(opinions)),
        )
    )
    accuracy = rng.choice([-2.0, -0.3, 0.0, 0.7, 1.5], objective.n_judges)
    found = pairs_of(opinions).at(state, accuracy)
    for ours, theirs in zip(found, opinions.objective.votes_alone(state, accuracy), strict=True):
        size = 1e-300 + np.abs(theirs).max()
        np.testing.assert_allclose(ours / size, theirs / size, rtol=1e-12, atol=1e-12)


def test_pairs_against_the_formula_and_finite_differences() -> None:
    """Davidson's model with sides, in the classical form of it."""
    rng = np.random.default_rng(0)
    opinions = opinions_of(objective_of(2, "all by judge"), tastes=False)
    wins, pairs, m = opinions.objective.votes.pairs, pairs_of(opinions), 5
    assert wins.tied is not None
    assert wins.side is not None
    tied, side = wins.tied, wins.side
    layout = opinions.objective.layout
    judge = np.repeat(np.arange(m), np.diff(wins.start))
    state, accuracy = rng.standard_normal(layout.size), rng.standard_normal(m)

    def loss(state: Floats, accuracy: Floats) -> Floats:
        score, left = state[:6], state[layout.order] + state[layout.own_order]
        x = accuracy[judge] * (score[wins.winner] - score[wins.loser]) + side * left[judge]
        tie = np.exp(state[layout.tie] + state[layout.own_tie])[judge]
        chance = np.where(tied, tie, np.exp(0.5 * x))
        chance = chance / (np.exp(0.5 * x) + np.exp(-0.5 * x) + tie)
        return np.asarray(np.bincount(judge, -wins.weight * np.log(chance), m))

    value, of_state, of_accuracy = pairs.at(state, accuracy)
    np.testing.assert_allclose(value, loss(state, accuracy), rtol=1e-12)
    for at, gradient in ((0, of_state), (1, of_accuracy)):
        for k in range(len(gradient)):
            ends = []
            for sign in (1e-6, -1e-6):
                point = [state.copy(), accuracy.copy()]
                point[at][k] += sign
                ends.append(loss(*point).sum())
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[k], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("what", [0.0, 5e-324, 1e308, np.inf, -np.inf, np.nan])
def test_pairs_take_any_number(what: float) -> None:
    opinions = opinions_of(objective_of(), tastes=False)
    score, accuracy = np.zeros(6), np.ones(5)
    score[2] = what
    for part in pairs_of(opinions).at(score, accuracy):
        assert len(part) in (5, 6)
    accuracy[1] = what
    pairs_of(opinions).at(score, accuracy)


# --- the chain -----------------------------------------------------------------------------------


def chain_of(objective: Objective, *, tastes: bool = True, seed: int = 0) -> Chain:
    start = search(objective, ROUGH)
    state = (start.score, start.effects, start.accuracy, np.ones(objective.n_judges))
    opinions = opinions_of(objective, tastes=tastes)
    return Chain(opinions, objective.n_items, *state, seed=seed)


def test_the_same_seed_draws_the_same_bits_however_rounds_are_divided() -> None:
    objective, found = objective_of(), []
    for seed, parts in ((1, (60,)), (1, (7, 1, 40, 12)), (2, (60,))):
        chain = chain_of(objective, seed=seed)
        chain.rounds(30)
        chain.stop_adapting()
        runs = [chain.draws(count) for count in parts]
        found.append(Draws(*(np.concatenate(part) for part in zip(*runs, strict=True))))
    for one, same in zip(found[0], found[1], strict=True):
        np.testing.assert_array_equal(one, same)
    assert (found[0].score != found[2].score).all()


def test_a_start_that_differs_by_rounding_draws_the_same_bits() -> None:
    objective = objective_of()
    start, opinions = search(objective, ROUGH), opinions_of(objective, tastes=True)
    found = []
    for factor in (1.0, 1.0 + 1e-13):
        state = (factor * start.score, start.effects, factor * start.accuracy, np.ones(5))
        found.append(Chain(opinions, 6, *state, seed=0).draws(20))
    np.testing.assert_array_equal(found[0].score, found[1].score)
    x = np.array([0.0, 1e-9, 0.123456789, 123456.789, -7.7])
    np.testing.assert_allclose(rounded(x), x, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("effects", EFFECTS)
def test_called_votes_make_the_same_chain_as_compiled_ones(
    monkeypatch: pytest.MonkeyPatch, effects: str
) -> None:
    """Until rounding tells them apart."""
    objective = objective_of(effects=effects)
    ours = chain_of(objective).draws(3)
    monkeypatch.setattr("juryrank.inference.chain.votes_of", lambda o: o.objective.votes_alone)
    theirs = chain_of(objective).draws(3)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_what_votes_raise_passes_through_the_chain() -> None:
    chain = chain_of(objective_of())

    def interrupted(_state: Floats, _accuracy: Floats) -> tuple[Floats, Floats, Floats]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.Chain(**_arguments(), votes=interrupted)
    for answer in ((np.zeros(2),) * 3, "nothing", (np.zeros(2), np.zeros(3)), (1, 2, 3)):
        with pytest.raises((ValueError, TypeError, IndexError, RuntimeError)):
            _core.Chain(**_arguments(), votes=lambda *_, answer=answer: answer)
    assert chain.number == 0


def _arguments(**changed: Any) -> dict[str, Any]:
    """Of a chain about three items and two judges, each with opinions of two items."""
    own = np.empty(0)
    usual: dict[str, Any] = {
        "opinions": _core.Opinions(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), 3, 2),
        "juries": _core.Juries(np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64), 1),
        "layout": _core.EffectLayout(0, np.empty(0, np.int64), np.empty(0, np.int64), 2),
        "fixed_accuracy": None,
        "say": np.ones(2),
        "priors": _core.Priors(**PRIORS, backwards=BACKWARDS, degrees=DEGREES, effect_sd=EFFECT_SD),
        "score": np.array([0.5, 0.0, -0.5]),
        "effects": np.empty(0),
        "accuracy": np.ones(2),
        "scales": _core.Scales(
            score=1.0, accuracy=0.5, taste=0.3, own=own, degrees=3.0, backwards=0.1
        ),
        "seed": 0,
    }
    return usual | changed


def _pairs(**changed: Any) -> _core.Pairs:
    usual: dict[str, Any] = {
        "start": np.array([0, 2, 3]),
        "winner": np.array([0, 1, 2], dtype=np.int32),
        "loser": np.array([1, 0, 3], dtype=np.int32),
        "weight": None,
        "tied": None,
        "side": None,
        "n_opinions": 4,
        "n_effects": 0,
        "effects": (-1, -1, -1, -1),
    }
    return _core.Pairs(**(usual | changed))


def _measured(**changed: Any) -> _core.Chain:
    chain = _core.Chain(**_arguments(), votes=_pairs())
    usual: dict[str, Any] = {"own": np.ones(6), "common": np.empty(0), "score": np.eye(3)}
    chain.measure(**(usual | changed))
    return chain


def test_a_right_call_is_one() -> None:
    draws = Draws(*_measured().draws(50))
    assert draws.score.shape == (50, 3)
    assert draws.taste.shape == (50, 4)
    assert all(np.isfinite(part).all() for part in draws)
    assert np.isfinite(Draws(*_measured(score=np.ones(3)).draws(50)).score).all()
    for empty in _measured().draws(0):
        assert len(empty) == 0


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="known for x86-64")
def test_draws_are_the_same_on_every_machine() -> None:
    """To the last bit, after 300 rounds: known numbers."""
    draws = Draws(*_measured().draws(300))
    known = [0.05336962957431483, 0.3519758741833399, -0.20987130789908132]
    np.testing.assert_array_equal(draws.score[-1], known)
    np.testing.assert_array_equal(draws.accuracy[-1], [1.3322213447375608, 1.214686663998881])


@pytest.mark.parametrize(
    "changed",
    [
        {"start": np.array([0, 2, 4])},
        {"start": np.array([1, 2, 3])},
        {"start": np.array([0, 4, 3])},
        {"start": np.array([0, -1, 3])},
        {"start": np.empty(0, dtype=np.int64)},
        {"start": np.array([0, 2, 3], dtype=np.int32)},
        {"winner": np.array([0, 1, 4], dtype=np.int32)},
        {"loser": np.array([0, -1, 3], dtype=np.int32)},
        {"loser": np.array([0, 1], dtype=np.int32)},
        {"winner": np.array([0, 1, 2])},
        {"winner": np.zeros((3, 1), dtype=np.int32)},
        {"winner": np.zeros(6, dtype=np.int32)[::2]},
        {"weight": np.ones(2)},
        {"weight": np.array([1.0, -1.0, 1.0])},
        {"weight": np.array([1.0, np.nan, 1.0])},
        {"weight": np.ones(3, dtype=np.float32)},
        {"tied": np.ones(2, dtype=np.bool_)},
        {"tied": np.ones(3)},
        {"side": np.ones(4, dtype=np.int8)},
        {"effects": (4, -1, -1, -1)},
        {"effects": (3, -1, -1, -1), "n_effects": 1},
        {"effects": (-1, 4, -1, -1), "n_effects": 1},
        {"n_opinions": -1},
        {"winner": None},
    ],
)
def test_wrong_pairs_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        _pairs(**changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"score": np.zeros(4)},
        {"score": np.array([0.0, np.nan, 0.0])},
        {"score": np.zeros(3, dtype=np.float32)},
        {"score": np.zeros(6)[::2]},
        {"accuracy": np.ones(3)},
        {"accuracy": np.array([1.0, np.inf])},
        {"effects": np.zeros(1)},
        {"say": np.ones(1)},
        {"say": np.array([1.0, -1.0])},
        {"fixed_accuracy": np.ones(3)},
        {"juries": _core.Juries(np.zeros(2, np.int64), np.zeros(2, np.int64), 1)},
        {"opinions": _core.Opinions(np.array([0, 1, 1, 2]), np.array([0, 0, 2, 2]), 3, 3)},
        {"opinions": _core.Opinions(np.array([0, 1, 2, 1]), np.array([0, 0, 0, 1]), 3, 2)},
        {"opinions": _core.Opinions(np.array([0, 1]), np.array([0, 1]), 3, 2)},
        {"opinions": _core.Opinions(np.arange(3), np.empty(0, np.int64), 3, 2)},
        {"layout": _core.EffectLayout(1, np.array([0]), np.empty(0, np.int64), 2)},
        {"seed": -1},
        {"votes": 3},
    ],
)
def test_wrong_chains_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.Chain(**({"votes": _pairs()} | _arguments(**changed)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.Opinions(np.array([0, 3]), np.array([0, 0]), 3, 2),
        lambda: _core.Opinions(np.array([0, 1]), np.array([0, 2]), 3, 2),
        lambda: _core.Opinions(np.array([1, 0]), np.array([0, 0]), 3, 2),
        lambda: _core.Opinions(np.array([0, 0]), np.array([0, 0]), 3, 2),
        lambda: _core.Opinions(np.array([0, 0]), np.array([1, 0]), 3, 2),
        lambda: _core.Opinions(np.array([0, 2, 1]), np.empty(0, np.int64), 3, 2),
        lambda: _core.Juries(np.array([0, 2]), np.array([0]), 2),
        lambda: _core.EffectLayout(2, np.array([2]), np.empty(0, np.int64), 2),
        lambda: _core.EffectLayout(2, np.empty(0, np.int64), np.array([1]), 2),
        lambda: _core.EffectLayout(2, np.empty(0, np.int64), np.array([-1]), 2),
        lambda: _measured(own=np.ones(5)),
        lambda: _measured(own=np.full(6, -1.0)),
        lambda: _measured(common=np.ones(1)),
        lambda: _measured(score=np.eye(2)),
        lambda: _measured(score=-np.eye(3) * 10.0),
        lambda: _measured(score=np.full((3, 3), np.nan)),
        lambda: _measured(score=np.ones((3, 3, 1))),
        lambda: _measured().rounds(-1),
        lambda: _measured().potential_together(np.zeros(3)),
        lambda: _pairs().at(np.zeros(3), np.ones(2)),
        lambda: _pairs().at(np.zeros(4), np.ones(3)),
        lambda: _core.Random(1).gamma(-1.0, 5),
        lambda: _core.Random(1).choice(np.array([-1.0]), 5),
        lambda: _core.Random(1).choice(np.empty(0), 5),
        lambda: _core.Random(1).below(0, 5),
        lambda: _core.Priors(**PRIORS, backwards=(0.0, 1.0), degrees=DEGREES, effect_sd=1.0),
        lambda: _core.Priors(**PRIORS, backwards=BACKWARDS, degrees=np.empty(0), effect_sd=1.0),
    ],
)
def test_wrong_calls_raise(call: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        call()


def test_a_chain_without_a_metric_does_not_run() -> None:
    chain = _core.Chain(**_arguments(), votes=_pairs())
    with pytest.raises(RuntimeError, match="measured"):
        chain.rounds(1)


def test_a_chain_is_used_by_one_thread_at_a_time() -> None:
    chain, refused = _measured(), []

    def run() -> None:
        try:
            chain.rounds(20_000)
        except RuntimeError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert chain.number + 20_000 * len(refused) == 80_000
    assert all("another thread" in sentence for sentence in refused)


@pytest.mark.parametrize("position", [0.0, 5e-324, 300.0, 1e308, np.inf, np.nan])
def test_energies_of_absurd_positions_do_no_harm(position: float) -> None:
    chain = _measured()
    size = len(chain.position_together)
    chain.potential_together(np.full(size, position))
    chain.rounds(2)
    assert all(np.isfinite(part).all() for part in chain.draws(3))


def test_absurd_weights_do_no_harm() -> None:
    for weight in (5e-324, 1e-300, 1e12, 1e300):
        chain = _core.Chain(**_arguments(), votes=_pairs(weight=np.full(3, weight)))
        chain.measure(np.ones(6), np.empty(0), np.eye(3))
        assert all(np.isfinite(part).all() for part in chain.draws(200))
