#include "pair_sums.hpp"

#include <algorithm>
#include <cmath>

#include "accuracy_search.hpp"
#include "lanes.hpp"
#include "pair_terms.hpp"

// The votes of a judge are worked on in runs: gather the differences of scores, do the arithmetic
// without branches, so that it vectorises, and scatter what it gives.
namespace juryrank::JURYRANK_LEVEL {
namespace {

// Votes in a run. The search for the accuracy of a judge with no more than that gathers once, and
// need not go over them again after its last step.
constexpr std::size_t kMost = 4096;

// What is known of each of a run of votes. Up to a whole row of lanes it is filled with votes that
// add nothing to a sum.
struct Run {
  std::size_t count, rows;
  const std::int32_t *winner, *loser;
  alignas(64) double gap[kMost];  // s_winner - s_loser
  alignas(64) double weight[kMost];
  alignas(64) double gradient[kMost], curvature[kMost];  // in x = a gap, times the weight
};

// One judge's, at some accuracy.
struct Found {
  double accuracy, value, accuracy_gradient;
};

JURYRANK_LOOP void gather(const PairVotes& pairs, std::size_t at, std::size_t count,
                          const double* score, Run& run) {
  const auto *winner = pairs.winner.data() + at, *loser = pairs.loser.data() + at;
  double* __restrict gap = run.gap;
  run.winner = winner;
  run.loser = loser;
  run.count = count;
  run.rows = whole_rows(count);
  for (std::size_t k = 0; k < count; ++k)
    gap[k] =
        score[static_cast<std::uint32_t>(winner[k])] - score[static_cast<std::uint32_t>(loser[k])];
  for (std::size_t k = count; k < run.rows; ++k) gap[k] = 0.0;
  if (!pairs.weight) return;
  std::copy_n(pairs.weight->data() + at, count, run.weight);
  std::fill(run.weight + count, run.weight + run.rows, 0.0);
}

// --- pairs that nothing but scores and accuracies decides ----------------------------------------

struct PlainRun : Run {
  alignas(64) double odds[kMost], first[kMost];  // of the tail
};

template <typename Family>
class PlainTerms {
 public:
  using RunType = PlainRun;

  PlainTerms(const Family& family, const VotesSum& sum, std::size_t)
      : family_(family), weighted_(sum.pairs.weight.has_value()) {}

  void gather(std::size_t, RunType&) const {}

  JURYRANK_LOOP void set(double accuracy, RunType& run) const {
    for (std::size_t k = 0; k < run.rows; ++k) {
      const double x = accuracy * run.gap[k];
      const Tail tail = family_.tail(std::abs(x));
      run.odds[k] = tail.odds;
      run.first[k] = tail.first;
      run.gradient[k] = gradient_of(x, tail);
      run.curvature[k] = family_.curvature(x, tail);
    }
    for (std::size_t k = run.count; k < run.rows; ++k)
      run.odds[k] = run.gradient[k] = run.curvature[k] = 0.0;
    if (!weighted_) return;
    for (std::size_t k = 0; k < run.rows; ++k) {
      run.gradient[k] *= run.weight[k];
      run.curvature[k] *= run.weight[k];
    }
  }

  // sum w g(x).
  JURYRANK_LOOP double value(double accuracy, const RunType& run) const {
    if (!weighted_) return unweighted_value(accuracy, run);
    return sum_over(run.rows, [&](std::size_t k) {
      return run.weight[k] * family_.value(accuracy * run.gap[k], {run.odds[k], run.first[k], 0.0});
    });
  }

  void move(double, RunType&) const {}
  void add(const RunType&) const {}

 private:
  // sum g(x) = sum exponents + log of the product of factors: few logarithms.
  JURYRANK_LOOP double unweighted_value(double accuracy, const RunType& run) const {
    alignas(64) double exponent[kMost], factor[kMost];
    for (std::size_t k = 0; k < run.rows; ++k) {
      const double x = accuracy * run.gap[k];
      const Tail tail{run.odds[k], run.first[k], 0.0};
      exponent[k] = family_.exponent(x, tail);
      factor[k] = family_.factor(x, tail);
    }
    double logarithm[kLanes] = {};
    for (std::size_t k = 0; k < run.rows;) {
      const std::size_t end = std::min(run.rows, k + kLanes * Family::kRun);
      double product[kLanes] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
      for (; k < end; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) product[l] *= factor[k + l];
      for (std::size_t l = 0; l < kLanes; ++l) logarithm[l] += log_of_normal(product[l]);
    }
    return sum_over(run.rows, [&](std::size_t k) { return exponent[k]; }) + sum_of_lanes(logarithm);
  }

  Family family_;
  bool weighted_;
};

// --- pairs that can be tied, or whose sides matter -----------------------------------------------

struct EffectRun : Run {
  const std::int8_t* side;
  alignas(64) double shift[kMost];  // what the side adds to x
  alignas(64) double tied[kMost];   // 1 or 0
  alignas(64) double loss[kMost];
  alignas(64) double tie[kMost], tie_gradient[kMost];  // d / d tie, and its gradient in x
};

template <typename Family>
class EffectTerms {
 public:
  using RunType = EffectRun;

  EffectTerms(const Family& family, const VotesSum& sum, std::size_t judge)
      : family_(family),
        pairs_(sum.pairs),
        tie_(sum.effects->pair_tie_of(judge)),
        order_(sum.effects->order_of(judge)),
        own_tie_(sum.tie_gradient.columns ? sum.tie_gradient.row(judge) : nullptr),
        own_order_(sum.order_gradient.empty() ? nullptr : &sum.order_gradient[judge]) {}

  void gather(std::size_t at, RunType& run) const {
    std::fill_n(run.shift, run.rows, 0.0);
    run.side = pairs_.side ? pairs_.side->data() + at : nullptr;
    if (run.side)
      for (std::size_t k = 0; k < run.count; ++k) run.shift[k] = run.side[k] * order_;
    if (!pairs_.weight) {
      std::fill_n(run.weight, run.count, 1.0);
      std::fill(run.weight + run.count, run.weight + run.rows, 0.0);
    }
    if (!pairs_.tied) return;
    std::copy_n(pairs_.tied->data() + at, run.count, run.tied);
    std::fill(run.tied + run.count, run.tied + run.rows, 0.0);
  }

  void set(double accuracy, RunType& run) const {
    if (pairs_.tied)
      set_with_ties(accuracy, run);
    else
      set_without_ties(accuracy, run);
  }

  double value(double, const RunType& run) const {
    return sum_over(run.rows, [&](std::size_t k) { return run.loss[k]; });
  }

  // Once the accuracy has moved.
  void move(double by, RunType& run) const {
    if (!pairs_.tied) return;
    for (std::size_t k = 0; k < run.rows; ++k) run.tie[k] += run.tie_gradient[k] * run.gap[k] * by;
  }

  void add(const RunType& run) const {
    if (pairs_.tied && own_tie_)
      *own_tie_ += sum_over(run.rows, [&](std::size_t k) { return run.tie[k]; });
    if (run.side && own_order_)
      for (std::size_t k = 0; k < run.count; ++k) *own_order_ += run.side[k] * run.gradient[k];
  }

 private:
  JURYRANK_LOOP void set_without_ties(double accuracy, RunType& run) const {
    for (std::size_t k = 0; k < run.rows; ++k) {
      const double x = accuracy * run.gap[k] + run.shift[k], w = run.weight[k];
      const Tail tail = family_.tail(std::abs(x));
      run.loss[k] = w * family_.value(x, tail);
      run.gradient[k] = w * gradient_of(x, tail);
      run.curvature[k] = w * family_.curvature(x, tail);
    }
  }

  JURYRANK_LOOP void set_with_ties(double accuracy, RunType& run) const {
    for (std::size_t k = 0; k < run.rows; ++k) {
      const double x = accuracy * run.gap[k] + run.shift[k], w = run.weight[k];
      const PairTerms terms = pair_terms(family_, x, run.tied[k] > 0.0, tie_);
      run.loss[k] = w * terms.value;
      run.gradient[k] = w * terms.x;
      run.curvature[k] = w * terms.xx;
      run.tie[k] = w * terms.tie;
      run.tie_gradient[k] = w * terms.x_tie;
    }
  }

  Family family_;
  const PairVotes& pairs_;
  double tie_, order_;
  double *own_tie_, *own_order_;
};

// --- one judge -----------------------------------------------------------------------------------

// In the accuracy.
JURYRANK_LOOP Derivatives derivatives(const Run& run) {
  return {sum_over(run.rows, [&](std::size_t k) { return run.gradient[k] * run.gap[k]; }),
          sum_over(run.rows,
                   [&](std::size_t k) { return run.curvature[k] * run.gap[k] * run.gap[k]; })};
}

JURYRANK_LOOP void scatter(const Run& run, double accuracy, double* __restrict score_gradient) {
  for (std::size_t k = 0; k < run.count; ++k) {
    const double pull = accuracy * run.gradient[k];
    score_gradient[static_cast<std::uint32_t>(run.winner[k])] += pull;
    score_gradient[static_cast<std::uint32_t>(run.loser[k])] -= pull;
  }
}

// The pass over one judge's votes.
template <typename Terms>
class JudgePass {
 public:
  using RunType = typename Terms::RunType;

  JudgePass(const Terms& terms, const VotesSum& sum, std::size_t judge, RunType& run)
      : terms_(terms), sum_(sum), own_(sum.pairs.of(judge)), run_(run) {}

  Found at(double accuracy) const {
    double value = 0.0, gradient = 0.0;
    for (std::size_t begin = own_.first; begin < own_.last; begin += kMost) {
      know(begin, accuracy);
      value += terms_.value(accuracy, run_);
      gradient +=
          sum_over(run_.rows, [&](std::size_t k) { return run_.gradient[k] * run_.gap[k]; });
      scatter(run_, accuracy, sum_.score_gradient.data());
      terms_.add(run_);
    }
    return {accuracy, value, gradient};
  }

  Derivatives derivatives_at(double accuracy) const {
    Derivatives found{0.0, 0.0};
    for (std::size_t begin = own_.first; begin < own_.last; begin += kMost) {
      know(begin, accuracy);
      const Derivatives part = derivatives(run_);
      found.first += part.first;
      found.second += part.second;
    }
    return found;
  }

  // Where value and prior are least.
  Found at_best(double guess) const {
    const bool one_run = own_.last - own_.first <= kMost;
    if (one_run) gather_run(own_.first);
    AccuracySearch search(sum_.rule, guess);
    for (int step = 0; step < AccuracySearch::kMostSteps; ++step) {
      const double accuracy = search.accuracy();
      if (one_run) terms_.set(accuracy, run_);
      const Derivatives known = one_run ? derivatives(run_) : derivatives_at(accuracy);
      const bool done = search.step(known.first + sum_.rule.precision * (accuracy - sum_.rule.mean),
                                    known.second + sum_.rule.precision);
      if (done && one_run) return moved(accuracy, search.accuracy() - accuracy, known);
      if (done) break;
    }
    return at(search.accuracy());
  }

 private:
  void gather_run(std::size_t begin) const {
    gather(sum_.pairs, begin, std::min(own_.last - begin, kMost), sum_.score.data(), run_);
    terms_.gather(begin, run_);
  }

  void know(std::size_t begin, double accuracy) const {
    gather_run(begin);
    terms_.set(accuracy, run_);
  }

  // The last step of a search is so small that nothing need be computed anew after it: with d what
  // it adds to the argument of a vote, g(x + d) = g + g' d + g'' d^2 / 2, g'(x + d) = g' + g'' d.
  Found moved(double accuracy, double by, const Derivatives& known) const {
    const double value =
        terms_.value(accuracy, run_) + by * (known.first + 0.5 * by * known.second);
    for (std::size_t k = 0; k < run_.rows; ++k)
      run_.gradient[k] += run_.curvature[k] * run_.gap[k] * by;
    terms_.move(by, run_);
    scatter(run_, accuracy + by, sum_.score_gradient.data());
    terms_.add(run_);
    return {accuracy + by, value, known.first + by * known.second};
  }

  Terms terms_;
  const VotesSum& sum_;
  Range own_;
  RunType& run_;
};

template <typename Terms, typename Family>
double sum_with(const Family& family, const VotesSum& sum) {
  typename Terms::RunType run;
  double total = 0.0;
  for (std::size_t u = sum.judges.first; u < sum.judges.last; ++u) {
    std::fill_n(sum.tie_gradient.row(u), sum.tie_gradient.columns, 0.0);
    if (!sum.order_gradient.empty()) sum.order_gradient[u] = 0.0;
    const JudgePass<Terms> pass(Terms(family, sum, u), sum, u, run);
    const Found found = sum.rule.free ? pass.at_best(sum.accuracy[u]) : pass.at(sum.accuracy[u]);
    sum.accuracy[u] = found.accuracy;
    sum.judge_value[u] = found.value;
    sum.accuracy_gradient[u] = found.accuracy_gradient;
    total += found.value;
  }
  return total;
}

}  // namespace

double votes_sum(const VotesSum& sum) {
  return with_family(sum.noise, [&]<typename Family>(const Family& family) {
    return sum.effects && !sum.pairs.are_plain() ? sum_with<EffectTerms<Family>>(family, sum)
                                                 : sum_with<PlainTerms<Family>>(family, sum);
  });
}

Derivatives pair_derivatives(const Noise& noise, const PairVotes& pairs, const Effects* effects,
                             std::size_t judge, Numbers score, double accuracy) {
  const VotesSum sum{noise, {}, pairs, effects, {judge, judge + 1}, score, {}, {}, {}, {}, {}, {}};
  const auto with = [&]<typename Terms>(const Terms& terms) {
    typename Terms::RunType run;
    return JudgePass<Terms>(terms, sum, judge, run).derivatives_at(accuracy);
  };
  return with_family(noise, [&]<typename Family>(const Family& family) {
    return effects && !pairs.are_plain() ? with(EffectTerms<Family>(family, sum, judge))
                                         : with(PlainTerms<Family>(family, sum, judge));
  });
}

}  // namespace juryrank::JURYRANK_LEVEL
