"""Ways to choose the next questions, beside the package's own, each by its published formula.

A policy sees the answers so far and gives the next questions. Those that do not choose the judge
ask judges in turn. `Asap` and `HybridMstProgram` run their authors' programs, from a folder that is
given.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import betaln, digamma, entr, expit

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Rng = np.random.Generator


class Question(NamedTuple):
    """Who is asked, and about which items."""

    judge: int
    left: int
    right: int


class Answer(NamedTuple):
    """A question and what came of it."""

    question: Question
    left_won: bool

    @property
    def winner(self) -> int:
        """The item that was preferred."""
        return self.question.left if self.left_won else self.question.right

    @property
    def loser(self) -> int:
        """The item that was not."""
        return self.question.right if self.left_won else self.question.left


@dataclass
class Study:
    """Who can be asked, about how many items, and the answers so far."""

    items: int
    judges: int
    answers: list[Answer] = field(default_factory=list)

    @property
    def wins(self) -> Floats:
        """How often the item of the row was preferred to that of the column."""
        wins = np.zeros((self.items, self.items))
        for answer in self.answers:
            wins[answer.winner, answer.loser] += 1.0
        return wins

    def in_turn(self, pairs: Iterable[tuple[int, int]], rng: Rng) -> list[Question]:
        """These pairs for judges in turn, sides by lot."""
        first, found = len(self.answers), []
        for number, (i, j) in enumerate(pairs):
            one, other = (int(i), int(j)) if rng.random() < 0.5 else (int(j), int(i))
            found.append(Question((first + number) % self.judges, one, other))
        return found


class Policy(Protocol):
    """Chooses questions: about `count` of them, or as many as belong together."""

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """The next questions."""


class Random:
    """Pairs at random."""

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """Any pairs."""
        first = rng.integers(0, study.items, count)
        second = (first + rng.integers(1, study.items, count)) % study.items
        return study.in_turn(zip(first, second, strict=True), rng)


class EqualCounts:
    """The item shown least, with the one that it met least and, of these, was shown least."""

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """One pair after the other."""
        met = study.wins + study.wins.T
        pairs = []
        for _ in range(count):
            shown = met.sum(axis=1)
            lot = rng.random(study.items)
            i = int(np.lexsort((lot, shown))[0])
            others = np.lexsort((lot, shown, met[i]))
            j = int(others[others != i][0])
            pairs.append((i, j))
            met[i, j] += 1.0
            met[j, i] += 1.0
        return study.in_turn(pairs, rng)


class Swiss:
    """Rounds in which items meet others with about as many wins."""

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """Rounds until there are enough questions."""
        wins = study.wins.sum(axis=1)
        pairs: list[tuple[int, int]] = []
        while len(pairs) < min(count, study.items // 2):
            order = np.lexsort((rng.random(study.items), -wins))[: 2 * (study.items // 2)]
            pairs += zip(order[::2].tolist(), order[1::2].tolist(), strict=True)
        return study.in_turn(pairs, rng)


class Quicksort:
    """Quicksort again and again, each on the answers as they come (Maystre and Grossglauser)."""

    def __init__(self) -> None:
        self._steps: Iterator[list[tuple[int, int]]] = iter(())
        self._won: dict[int, bool] = {}
        self._asked = 0

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """All comparisons with one pivot."""
        del count
        self._take(study)
        pairs = next(self._steps, None)
        if pairs is None:
            self._steps = self._sorted(rng.permutation(study.items).tolist(), rng)
            pairs = next(self._steps)
        self._asked = len(pairs)
        return study.in_turn(pairs, rng)

    def _take(self, study: Study) -> None:
        """Note which of the items compared with the pivot, asked last, were preferred to it."""
        self._won = {}
        for answer in study.answers[len(study.answers) - self._asked :]:
            for item in answer.question[1:]:
                self._won[item] = answer.winner == item

    def _sorted(self, items: list[int], rng: Rng) -> Iterator[list[tuple[int, int]]]:
        if len(items) < 2:
            return
        pivot = items[int(rng.integers(len(items)))]
        others = [item for item in items if item != pivot]
        yield [(item, pivot) for item in others]
        better = [item for item in others if self._won[item]]
        worse = [item for item in others if not self._won[item]]
        yield from self._sorted(better, rng)
        yield from self._sorted(worse, rng)


# --- Hybrid-MST (Li et al., 2018) ----------------------------------------------------------------

NODES = 30
PSEUDO_VOTES = 0.5
NEWTON_STEPS = 50


def bradley_terry(wins: Floats) -> tuple[Floats, Floats]:
    """The best fit of Bradley-Terry to a matrix of wins, and its covariance (mean score 0)."""
    n = len(wins)
    met, score = wins + wins.T, np.zeros(n)
    for _ in range(NEWTON_STEPS):
        chance = expit(score[:, None] - score[None, :])
        gradient = (wins - met * chance).sum(axis=1)
        weight = met * chance * (1.0 - chance)
        information = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.solve(information + 1.0 / n, gradient)
        score += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-8:
            break
    return score, np.asarray(np.linalg.inv(information + 1.0 / n) - 1.0 / n)


def mutual_information(mean: Floats, sd: Floats) -> Floats:
    """Between the answer and a normal log-odds: ``H(E p) - E H(p)``, by Gauss and Hermite."""
    node, weight = np.polynomial.hermite.hermgauss(NODES)
    chance = expit(mean[..., None] + np.sqrt(2.0) * sd[..., None] * node)
    weight = weight / np.sqrt(np.pi)
    expected = chance @ weight
    entropy = (entr(chance) + entr(1.0 - chance)) @ weight
    return np.asarray(entr(expected) + entr(1.0 - expected) - entropy)


class HybridMst:
    """Most information one by one for a standard trial, then spanning trees of most information."""

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """One pair, or a tree."""
        del count
        n = study.items
        score, covariance = bradley_terry(study.wins + PSEUDO_VOTES * (1.0 - np.eye(n)))
        variance = np.diag(covariance)
        sd = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 0.0))
        gain = mutual_information(score[:, None] - score[None, :], sd)
        np.fill_diagonal(gain, 0.0)
        if len(study.answers) < n * (n - 1) // 2:
            return study.in_turn([np.unravel_index(int(np.argmax(gain)), gain.shape)], rng)  # type: ignore[list-item]
        return study.in_turn(spanning_tree(gain), rng)


def spanning_tree(gain: Floats) -> list[tuple[int, int]]:
    """The pairs of the tree with the smallest sum of 1 / gain."""
    tree = minimum_spanning_tree(1.0 / np.maximum(np.triu(gain, 1), 1e-12) * np.triu(gain > 0.0, 1))
    return list(zip(*(some.tolist() for some in tree.nonzero()), strict=True))


# --- Crowd-BT (Chen et al., 2013) ----------------------------------------------------------------


@dataclass
class CrowdBt:
    """The pair and judge from whom most is expected to be learnt, by moments, one vote at a time.

    Scores are normal, and a judge votes as it means to with a chance that is beta. What is learnt
    is the divergence of both items' scores, and `gamma` times that of the judge's chance.
    """

    gamma: float = 5.0
    prior: tuple[float, float] = (10.0, 1.0)
    least_variance: float = 1e-4
    _taken: int = 0
    _mean: Floats = field(default_factory=lambda: np.zeros(0))
    _variance: Floats = field(default_factory=lambda: np.zeros(0))
    _right: Floats = field(default_factory=lambda: np.zeros(0))
    _wrong: Floats = field(default_factory=lambda: np.zeros(0))

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """One question."""
        del count
        if not self._mean.size:
            self._mean, self._variance = np.zeros(study.items), np.ones(study.items)
            self._right = np.full(study.judges, self.prior[0])
            self._wrong = np.full(study.judges, self.prior[1])
        for answer in study.answers[self._taken :]:
            self._learn(answer)
        self._taken = len(study.answers)
        gain = self.gains()
        best = np.flatnonzero(gain >= gain.max() - 1e-12)
        judge, i, j = np.unravel_index(int(rng.choice(best)), gain.shape)
        return [Question(int(judge), int(i), int(j))]

    def accuracy_of(self, judge: int) -> float:
        """The mean chance that a judge votes as it means to."""
        return float(self._right[judge] / (self._right[judge] + self._wrong[judge]))

    def mean_of(self, item: int) -> float:
        """The mean of an item's score."""
        return float(self._mean[item])

    def _learn(self, answer: Answer) -> None:
        u, i, j = answer.question.judge, answer.winner, answer.loser
        after = self._after(self._right[u], self._wrong[u], *self._of(i), *self._of(j))
        self._right[u], self._wrong[u] = after.right, after.wrong
        self._mean[i], self._mean[j] = after.winner_mean, after.loser_mean
        self._variance[i], self._variance[j] = after.winner_variance, after.loser_variance

    def _of(self, item: int) -> tuple[Any, Any]:
        return self._mean[item], self._variance[item]

    def gains(self) -> Floats:
        """Of every judge and pair; -inf where an item would meet itself."""
        mean, variance = self._mean, self._variance
        right, wrong = self._right[:, None, None], self._wrong[:, None, None]
        rows, columns = (mean[:, None], variance[:, None]), (mean[None, :], variance[None, :])
        won = self._after(right, wrong, *rows, *columns)
        learnt = (
            _normal_divergence(won.winner_mean, won.winner_variance, *rows)
            + _normal_divergence(won.loser_mean, won.loser_variance, *columns)
            + self.gamma * _beta_divergence(won.right, won.wrong, right, wrong)
        )
        expected = won.chance * learnt
        gain = np.array(expected + expected.transpose(0, 2, 1))
        gain[:, np.arange(len(mean)), np.arange(len(mean))] = -np.inf
        return gain

    def _after(
        self, right: Any, wrong: Any, mean: Any, variance: Any, loser_mean: Any, loser_variance: Any
    ) -> _Learnt:
        """The moments after the first item has won."""
        chance = expit(mean - loser_mean)
        curvature = chance * (1.0 - chance)
        meant = chance + 0.5 * (variance + loser_variance) * curvature * (1.0 - 2.0 * chance)
        total = right + wrong
        said = (meant * right + (1.0 - meant) * wrong) / total
        first = right * (meant * (right + 1.0) + (1.0 - meant) * wrong)
        first = first / (said * (total + 1.0) * total)
        second = (right + 1.0) * right * (meant * (right + 2.0) + (1.0 - meant) * wrong)
        second = second / (said * (total + 2.0) * (total + 1.0) * total)
        spread = second - first**2
        both = right * np.exp(mean - loser_mean)
        share = both / (both + wrong)
        step, change = share - chance, share * (1.0 - share) - curvature
        return _Learnt(
            said,
            (first - second) * first / spread,
            (first - second) * (1.0 - first) / spread,
            mean + variance * step,
            loser_mean - loser_variance * step,
            variance * np.maximum(1.0 + variance * change, self.least_variance),
            loser_variance * np.maximum(1.0 + loser_variance * change, self.least_variance),
        )


class _Learnt(NamedTuple):
    """What is known after a vote, and how likely it was."""

    chance: Any
    right: Any
    wrong: Any
    winner_mean: Any
    loser_mean: Any
    winner_variance: Any
    loser_variance: Any


def _normal_divergence(mean: Any, variance: Any, mean_before: Any, variance_before: Any) -> Any:
    ratio = variance / variance_before
    gap = mean - mean_before
    return gap**2 / (2.0 * variance_before) + 0.5 * (ratio - 1.0 - np.log(ratio))


def _beta_divergence(a: Any, b: Any, a_before: Any, b_before: Any) -> Any:
    return (
        betaln(a_before, b_before)
        - betaln(a, b)
        + (a - a_before) * digamma(a)
        + (b - b_before) * digamma(b)
        + (a_before - a + b_before - b) * digamma(a + b)
    )


# --- programs of others --------------------------------------------------------------------------


class Asap:
    """ASAP (Mikhailiuk et al., 2020) as its authors run it: trees of the expected information."""

    def __init__(self, program: ModuleType, items: int, *, approximate: bool) -> None:
        self._program = program.ASAP(items, selective_eig=True, approx=approximate)

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """A tree."""
        del count
        draws_of_programs_begin(rng)
        pairs = self._program.run_asap(study.wins.astype(int), mst_mode=True)
        return study.in_turn([(int(i), int(j)) for i, j in pairs], rng)


@dataclass(frozen=True)
class HybridMstProgram:
    """Hybrid-MST as its authors' Python program has it: a tree each time, from the first on.

    Half a vote for and against each pair stands before the votes, as in their Matlab program: the
    scores of an item that has never won would be without end.
    """

    program: ModuleType

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """A tree."""
        del count
        known = study.wins + PSEUDO_VOTES * (1.0 - np.eye(study.items))
        pairs = self.program.GeneratePlaylist_Hybrid_MST(known)
        return study.in_turn([(int(i), int(j)) for i, j in pairs], rng)


def draws_of_programs_begin(rng: Rng) -> None:
    """Programs that draw without a seed of their own draw the same again."""
    random.seed(int(rng.integers(2**32)))
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002


def program_in(folder: Path, name: str) -> ModuleType | None:
    """A program of others, from a folder that they were put in; None if it is not there."""
    path = folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asap_in(folder: Path) -> ModuleType | None:
    """ASAP's program, `asap_cpu.py`, which needs networkx."""
    program = program_in(folder, "asap_cpu")
    if program is None:
        return None
    import networkx

    # The program was written for a version in which the function still had its old name.
    if not hasattr(networkx, "from_numpy_matrix"):
        networkx.from_numpy_matrix = networkx.from_numpy_array
    return program
