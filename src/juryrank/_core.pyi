from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
VotesCallable = Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]

def exp(x: Floats) -> Floats: ...
def exp_minus(t: Floats) -> Floats: ...
def log(x: Floats) -> Floats: ...
def log_1p_of_share(z: Floats) -> Floats: ...
def log_gamma(x: Floats) -> Floats: ...
def accuracy_magnitude(theta: Floats) -> Floats: ...
def accuracy_gradient(theta: Floats) -> Floats: ...
def accuracy_theta(magnitude: Floats) -> Floats: ...
def accuracy_log_density(magnitude: Floats, spread: float) -> Floats: ...

# --- votes, effects, noise -----------------------------------------------------------------------

class PairVotes:
    def __init__(
        self,
        *,
        start: Codes,
        winner: NDArray[np.int32],
        loser: NDArray[np.int32],
        weight: Floats | None,
        tied: NDArray[np.bool_] | None,
        side: NDArray[np.int8] | None,
        n_items: int,
    ) -> None: ...

class ListVotes:
    def __init__(
        self,
        *,
        start: Codes,
        begin: Codes,
        item: NDArray[np.int32],
        level: NDArray[np.int32],
        ranked: NDArray[np.int32],
        weight: Floats,
        n_items: int,
    ) -> None: ...

class Effects:
    def __init__(self, *, sizes: Codes, tie: Floats, order: Floats, as_one: bool) -> None: ...

class AccuracyRule:
    free: bool
    mean: float
    precision: float
    bound: float
    def __init__(self, *, free: bool, mean: float, precision: float, bound: float) -> None: ...

class Noise:
    is_gumbel: bool
    width: float
    @staticmethod
    def of_family(family: str, *, width: float, kinks: Floats) -> Noise: ...
    @staticmethod
    def of_tables(
        *,
        knots: Floats,
        tail: Floats,
        width: float,
        kinks: Floats,
        cells: Floats,
        density: Floats,
        below: Floats,
        farthest: float,
    ) -> Noise: ...

# --- sums over votes on pairs --------------------------------------------------------------------

cpu_level: str

def noise_terms(
    noise: Noise, x: Floats, value: Floats, gradient: Floats, curvature: Floats
) -> None: ...
def pairs_pass(
    noise: Noise,
    rule: AccuracyRule,
    pairs: PairVotes,
    effects: Effects | None,
    first: int,
    last: int,
    score: Floats,
    accuracy: Floats,
    score_gradient: Floats,
    judge_value: Floats,
    accuracy_gradient: Floats,
    tie_gradient: Floats,
    order_gradient: Floats,
    *,
    portable: bool = False,
) -> float: ...
def pair_derivatives(
    noise: Noise, pairs: PairVotes, effects: Effects | None, score: Floats, accuracy: Floats
) -> tuple[Floats, Floats]: ...
def add_to_both(pairs: PairVotes, first: int, last: int, factor: Floats, total: Floats) -> None: ...
def count_wins(pairs: PairVotes, first: int, last: int, counts: Floats) -> None: ...
def pair_agreement(
    pairs: PairVotes, first: int, last: int, counts: Floats, say: Floats, score: Floats
) -> tuple[float, float]: ...
def set_elsewhere(pairs: PairVotes, first: int, last: int, share: Floats) -> None: ...
def crowd_scores_pass(
    noise: Noise, pairs: PairVotes, score: Floats, reliability: Floats, score_gradient: Floats
) -> float: ...
def set_reliabilities(
    noise: Noise, pairs: PairVotes, score: Floats, reliability: Floats
) -> None: ...
def position_sums(
    noise: Noise,
    *,
    start: Codes,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    outcome: NDArray[np.int8],
    weight: Floats | None,
    score: Floats,
    accuracy: Floats,
    order: Floats,
    ties_count: bool,
    excess: Floats,
    information: Floats,
    third: Floats,
    won: Floats,
) -> None: ...
def counting_order(codes: NDArray[np.int32], groups: int) -> Codes: ...
def scatter_by_group(
    values: NDArray[Any],
    table: NDArray[Any] | None,
    group: NDArray[np.int32],
    first: Codes,
    out: NDArray[Any],
) -> None: ...

# --- lists ---------------------------------------------------------------------------------------

def lists_pass(
    *,
    noise: Noise,
    rule: AccuracyRule,
    pairs: PairVotes,
    lists: ListVotes,
    effects: Effects,
    likeness: Floats | None,
    first: int,
    last: int,
    score: Floats,
    accuracy: Floats,
    score_gradient: Floats,
    judge_value: Floats,
    accuracy_gradient: Floats,
    tie_gradient: Floats,
    order_gradient: Floats,
    portable: bool = False,
) -> float: ...
def chain_terms(
    noise: Noise,
    lists: ListVotes,
    *,
    first: int,
    last: int,
    location: Floats,
    value: Floats,
    gradient: Floats,
) -> None: ...
def chain_hessians(
    noise: Noise,
    lists: ListVotes,
    *,
    first: int,
    last: int,
    location: Floats,
    value: Floats,
    gradient: Floats,
    begin: Codes,
    hessian: Floats,
) -> None: ...
def chain_pass(noise: Noise, location: Floats, ranked: int, gradient: Floats) -> float: ...
def luce_pass(location: Floats, ranked: int, gradient: Floats) -> float: ...
def list_agreement(
    lists: ListVotes, score: Floats, agreement: Floats, variance: Floats
) -> None: ...
def list_losses(
    lists: ListVotes,
    effects: Effects,
    *,
    score: Floats,
    accuracy: Floats,
    taste: Floats,
    loss: Floats,
) -> None: ...
def list_hessian(
    location: Floats,
    level: NDArray[np.int32],
    ranked: int,
    effects: Effects,
    gradient: Floats,
    hessian: Floats,
) -> None: ...

# --- curvature and information -------------------------------------------------------------------

Sparse = tuple[Codes, NDArray[np.int32], Floats]

class LikelihoodAt:
    def __init__(
        self,
        *,
        noise: Noise,
        pairs: PairVotes,
        lists: ListVotes | None,
        effects: Effects | None,
        indices: tuple[int, int, int, int],
        size: int,
        score: Floats,
        accuracy: Floats,
        likeness: Floats | None = None,
        ready: tuple[Floats, Floats, Codes] | None = None,
    ) -> None: ...

def add_curvature(
    at: LikelihoodAt,
    rule: AccuracyRule,
    first: int,
    last: int,
    diagonal: Floats,
    accuracy_curvature: Floats,
) -> None: ...
def add_blocks(
    at: LikelihoodAt, judges: Codes, upper: Floats | None, rows: Floats, accuracy_curvature: Floats
) -> None: ...
def sparse_blocks(
    at: LikelihoodAt, judges: Codes, upper: Floats | None, entries: Floats | None = None
) -> tuple[Codes, NDArray[np.int32], Floats, Floats]: ...
def subtract_squares(rows: Sparse, share: Floats, upper: Floats) -> None: ...
def set_squares(rows: Sparse, covariance: Floats, square: Floats) -> None: ...
def add_profile_product(
    at: LikelihoodAt,
    first: int,
    last: int,
    share: Floats,
    vectors: Floats,
    judged: Floats | None,
    product: Floats,
) -> None: ...
def add_profile_energy(
    at: LikelihoodAt,
    first: int,
    last: int,
    share: Floats,
    vectors: Floats,
    judged: Floats | None,
    energy: Floats,
) -> None: ...
def add_mixed_sum(
    at: LikelihoodAt, first: int, last: int, factor: Floats, total: Floats
) -> None: ...
def set_mixed_squares(
    at: LikelihoodAt,
    first: int,
    last: int,
    of_lists: Sparse | None,
    variance: Floats,
    square: Floats,
) -> None: ...
def taste_moments(
    at: LikelihoodAt,
    first: int,
    last: int,
    *,
    size: Floats,
    length: Floats,
    curvature: Floats,
    opinions: Codes,
) -> tuple[Floats, Floats, Floats, Codes]: ...
def moment_sums(
    excess: Floats, expected: Floats, own: Floats, variance: float
) -> tuple[float, float, float]: ...
def taste_size(at: LikelihoodAt, judge: int) -> float: ...
def add_tastes(
    at: LikelihoodAt,
    first: int,
    last: int,
    *,
    weight: Floats,
    accuracy_curvature: Floats,
    upper: Floats,
    pull: Floats,
    moved: Floats,
) -> int: ...

# --- cells, crowds and the coding of votes -------------------------------------------------------

def cell_counts(pairs: PairVotes, lists: ListVotes | None, most: int) -> Codes: ...
def capped_weights(
    pairs: PairVotes, lists: ListVotes | None, cap: float
) -> tuple[Floats, Floats]: ...
def item_totals(pairs: PairVotes, lists: ListVotes | None) -> tuple[Floats, Floats, Codes]: ...
def heavy_cells(
    pairs: PairVotes, lists: ListVotes | None, least: float
) -> tuple[Codes, Codes, Floats, Floats]: ...
def consistency(
    *,
    winner: NDArray[np.int32],
    loser: NDArray[np.int32],
    better: NDArray[np.int32],
    worse: NDArray[np.int32],
) -> tuple[int, int, int, int]: ...

# --- random numbers and the sampler --------------------------------------------------------------

class Random:
    def __init__(self, seed: int) -> None: ...
    def uniform(self, count: int) -> Floats: ...
    def normal(self, count: int) -> Floats: ...
    def cauchy(self, count: int) -> Floats: ...
    def gamma(self, shape: float, count: int) -> Floats: ...
    def beta(self, a: float, b: float, count: int) -> Floats: ...
    def below(self, n: int, count: int) -> Floats: ...
    def choice(self, weight: Floats, count: int) -> Floats: ...

class Pairs:
    def __init__(
        self,
        *,
        start: Codes,
        winner: NDArray[np.int32],
        loser: NDArray[np.int32],
        weight: Floats | None,
        tied: NDArray[np.bool_] | None,
        side: NDArray[np.int8] | None,
        n_opinions: int,
        n_effects: int,
        effects: tuple[int, int, int, int],
    ) -> None: ...
    def at(self, state: Floats, accuracy: Floats) -> tuple[Floats, Floats, Floats]: ...

class Rankings:
    def __init__(
        self,
        *,
        lists: ListVotes,
        pairs: Pairs | None,
        n_effects: int,
        sizes: Codes,
        as_one: bool,
        effects: tuple[int, int, int, int],
    ) -> None: ...
    def at(self, state: Floats, accuracy: Floats) -> tuple[Floats, Floats, Floats]: ...
    def rise(
        self, state: Floats, accuracy: Floats, cells: Codes, judge: Codes, by: float
    ) -> Floats: ...

class Priors:
    def __init__(
        self,
        *,
        score: tuple[float, float],
        accuracy: tuple[float, float],
        taste: tuple[float, float],
        own: tuple[float, float],
        backwards: tuple[float, float],
        degrees: Floats,
        effect_sd: float,
    ) -> None: ...

class Scales:
    def __init__(
        self,
        *,
        score: float,
        accuracy: float,
        taste: float,
        own: Floats,
        degrees: float,
        backwards: float,
    ) -> None: ...

class Opinions:
    def __init__(self, item: Codes, judge: Codes, n_items: int, n_judges: int) -> None: ...

class Juries:
    def __init__(self, item: Codes, judge: Codes, number: int) -> None: ...

class EffectLayout:
    def __init__(self, size: int, common: Codes, own: Codes, n_judges: int) -> None: ...

class Chain:
    def __init__(
        self,
        *,
        votes: Pairs | Rankings | VotesCallable,
        opinions: Opinions,
        juries: Juries,
        layout: EffectLayout,
        fixed_accuracy: Floats | None,
        say: Floats,
        priors: Priors,
        score: Floats,
        effects: Floats,
        accuracy: Floats,
        scales: Scales,
        seed: int,
    ) -> None: ...
    def measure(self, own: Floats, common: Floats, score: Floats) -> None: ...
    def rounds(self, count: int) -> None: ...
    def draws(self, count: int) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]: ...
    def stop_adapting(self) -> None: ...
    @property
    def number(self) -> int: ...
    @property
    def opinion(self) -> Floats: ...
    @property
    def accuracy(self) -> Floats: ...
    @property
    def known_votes(self) -> tuple[Floats, Floats, Floats]: ...
    def votes_anew(self) -> tuple[Floats, Floats, Floats]: ...
    @property
    def accepted(self) -> dict[str, float]: ...
    @property
    def position_together(self) -> Floats: ...
    def potential_together(self, position: Floats) -> tuple[float, Floats]: ...
