#include "pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "cpus.hpp"
#include "elementary.hpp"
#include "lanes.hpp"

namespace juryrank {
namespace {

// Of whole rows of lanes.
JURYRANK_FOR_MORE_CPUS
double sum(const double* values, std::size_t count) {
  return sum_over(count, [=](std::size_t k) { return values[k]; });
}

JURYRANK_FOR_MORE_CPUS
double dot(const double* a, const double* b, std::size_t count) {
  return sum_over(count, [=](std::size_t k) { return a[k] * b[k]; });
}

// With z = e^-|x|, the larger of F(x) and F(-x) is 1 / (1 + z) and the smaller z / (1 + z):
//
//   d -log P / dx = lost F(x) - won F(-x)
JURYRANK_FOR_MORE_CPUS
void set_gradients(std::size_t count, const double* __restrict xs, const double* __restrict won,
                   const double* __restrict lost, double* __restrict gradient) {
  for (std::size_t k = 0; k < count; ++k) {
    const double x = xs[k];
    const double z = exp_minus(std::abs(x));
    const double large = 1.0 / (1.0 + z);
    const double small = z * large;
    const double below = x > 0.0 ? large : small;
    const double above = x > 0.0 ? small : large;
    gradient[k] = lost[k] * below - won[k] * above;
  }
}

// The same, and
//
//   -log P = (won + lost) log(1 + z) + won max(-x, 0) + lost max(x, 0)
JURYRANK_FOR_MORE_CPUS
void set_gradients_and_losses(std::size_t count, const double* __restrict xs,
                              const double* __restrict won, const double* __restrict lost,
                              double* __restrict gradient, double* __restrict loss) {
  for (std::size_t k = 0; k < count; ++k) {
    const double x = xs[k];
    const double z = exp_minus(std::abs(x));
    const double large = 1.0 / (1.0 + z);
    const double small = z * large;
    const double below = x > 0.0 ? large : small;
    const double above = x > 0.0 ? small : large;
    const double against = x > 0.0 ? lost[k] : won[k];
    gradient[k] = lost[k] * below - won[k] * above;
    loss[k] = (won[k] + lost[k]) * log_1p_of_share(z) + against * std::abs(x);
  }
}

// What ties add, with a = log(t q) and all = won + lost + tied:
//
//   -log P += all log(1 + e^a) - tied a,    da/dx = -tanh(x / 2) / 2
struct TieTerms {
  double loss, x, tie;  // and derivatives
};

inline TieTerms tie_terms(double x, double tie, double all, double tied) {
  const double z = exp_minus(std::abs(x));
  const double a = tie - 0.5 * std::abs(x) - log_1p_of_share(z);
  const double gradient = (x > 0.0 ? -0.5 : 0.5) * (1.0 - z) / (1.0 + z);
  const double rare = exp_minus(std::abs(a));
  const double chance = (a > 0.0 ? 1.0 : rare) / (1.0 + rare);
  const double pull = all * chance - tied;
  const double larger = (a > 0.0 ? a : 0.0) + log_1p_of_share(rare);
  return {all * larger - tied * a, pull * gradient, pull};
}

JURYRANK_FOR_MORE_CPUS
void add_tie_gradients(std::size_t count, double tie, const double* __restrict x,
                       const double* __restrict won, const double* __restrict lost,
                       const double* __restrict tied, double* __restrict gradient,
                       double* __restrict of_tie) {
  for (std::size_t k = 0; k < count; ++k) {
    const TieTerms terms = tie_terms(x[k], tie, won[k] + lost[k] + tied[k], tied[k]);
    gradient[k] += terms.x;
    of_tie[k] = terms.tie;
  }
}

JURYRANK_FOR_MORE_CPUS
void add_tie_losses(std::size_t count, double tie, const double* __restrict x,
                    const double* __restrict won, const double* __restrict lost,
                    const double* __restrict tied, double* __restrict loss) {
  for (std::size_t k = 0; k < count; ++k)
    loss[k] += tie_terms(x[k], tie, won[k] + lost[k] + tied[k], tied[k]).loss;
}

}  // namespace

Pairs::Pairs(const PairVotes& votes, std::size_t opinions, const EffectIndex& effects)
    : ties_(votes.tied.has_value()), sides_(votes.side.has_value()), effects_(effects), begin_{0} {
  for (std::size_t u = 0; u + 1 < votes.start.size(); ++u)
    add_judge(votes, static_cast<std::size_t>(votes.start[u]),
              static_cast<std::size_t>(votes.start[u + 1]));
  std::size_t longest = 0;
  for (std::size_t u = 0; u + 1 < begin_.size(); ++u)
    longest = std::max(longest, begin_[u + 1] - begin_[u]);
  for (auto* room : {&gap_, &x_, &gradient_, &of_tie_, &loss_}) room->resize(longest);
  index_by_opinion(opinions);
}

void Pairs::add_judge(const PairVotes& votes, std::size_t begin, std::size_t end) {
  std::vector<Pair> pairs;
  for (std::size_t k = begin; k < end; ++k) {
    const double w = votes.weight_of(k);
    const double side = sides_ ? (*votes.side)[k] : 0.0;
    const bool tied = ties_ && (*votes.tied)[k];
    Pair pair{votes.winner[k], votes.loser[k], side, tied ? 0.0 : w, 0.0, tied ? w : 0.0};
    if (pair.first > pair.second) {
      std::swap(pair.first, pair.second);
      std::swap(pair.won, pair.lost);
      pair.side = -pair.side;
    }
    pairs.push_back(pair);
  }
  pairs = merged(std::move(pairs));
  while (pairs.size() % kLanes) pairs.push_back({pairs[0].first, pairs[0].first, 0, 0, 0, 0});
  // Neighbours in this order have different items: sums by item need not wait for each other.
  const std::size_t rows = pairs.size() / kLanes;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const Pair& pair = pairs[k % kLanes * rows + k / kLanes];
    first_.push_back(pair.first);
    second_.push_back(pair.second);
    side_.push_back(pair.side);
    won_.push_back(pair.won);
    lost_.push_back(pair.lost);
    tied_.push_back(pair.tied);
  }
  begin_.push_back(first_.size());
}

// Votes of one judge with equal items and sides, as one pair.
std::vector<Pairs::Pair> Pairs::merged(std::vector<Pair> pairs) {
  const auto key = [](const Pair& pair) { return std::tie(pair.first, pair.second, pair.side); };
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const Pair& a, const Pair& b) { return key(a) < key(b); });
  std::vector<Pair> found;
  for (const Pair& pair : pairs) {
    if (!found.empty() && key(found.back()) == key(pair)) {
      found.back().won += pair.won;
      found.back().lost += pair.lost;
      found.back().tied += pair.tied;
    } else {
      found.push_back(pair);
    }
  }
  return found;
}

void Pairs::index_by_opinion(std::size_t opinions) {
  pairs_begin_.assign(opinions + 1, 0);
  for (std::size_t k = 0; k < first_.size(); ++k) {
    if (first_[k] == second_[k]) continue;
    ++pairs_begin_[static_cast<std::size_t>(first_[k]) + 1];
    ++pairs_begin_[static_cast<std::size_t>(second_[k]) + 1];
  }
  std::partial_sum(pairs_begin_.begin(), pairs_begin_.end(), pairs_begin_.begin());
  pairs_of_.resize(pairs_begin_.back());
  std::vector<std::size_t> next(pairs_begin_.begin(), pairs_begin_.end() - 1);
  for (std::size_t k = 0; k < first_.size(); ++k) {
    if (first_[k] == second_[k]) continue;
    for (const std::int32_t opinion : {first_[k], second_[k]})
      pairs_of_[next[static_cast<std::size_t>(opinion)]++] = static_cast<std::uint32_t>(k);
  }
}

bool Pairs::are_of(const Opinions& opinions) const {
  for (std::size_t u = 0; u + 1 < begin_.size(); ++u)
    for (std::size_t k = begin_[u]; k < begin_[u + 1]; ++k)
      for (const std::int32_t opinion : {first_[k], second_[k]})
        if (opinions.judge[static_cast<std::size_t>(opinion)] != static_cast<std::int64_t>(u))
          return false;
  return true;
}

void Pairs::at(Numbers state, Numbers accuracy, bool values, VotesAt& found) {
  std::fill(found.state.begin(), found.state.end(), 0.0);
  for (std::size_t u = 0; u + 1 < begin_.size(); ++u) {
    if (values)
      judge_at<true>(u, state, accuracy[u], found);
    else
      judge_at<false>(u, state, accuracy[u], found);
  }
}

template <bool kValues>
void Pairs::judge_at(std::size_t judge, Numbers state, double accuracy, VotesAt& found) {
  const std::size_t begin = begin_[judge];
  const std::size_t count = begin_[judge + 1] - begin;
  const std::int32_t* first = first_.data() + begin;
  const std::int32_t* second = second_.data() + begin;
  const double* won = won_.data() + begin;
  const double* lost = lost_.data() + begin;
  const double* tied = tied_.data() + begin;
  const double* side = side_.data() + begin;
  const double tie = effects_.tie_of(judge, state);
  const double* opinion = state.data();
  double *gap = gap_.data(), *x = x_.data(), *gradient = gradient_.data();
  for (std::size_t k = 0; k < count; ++k) {
    gap[k] = opinion[first[k]] - opinion[second[k]];
    x[k] = accuracy * gap[k];
  }
  if (sides_) {
    const double order = effects_.order_of(judge, state);
    for (std::size_t k = 0; k < count; ++k) x[k] += side[k] * order;
  }
  if constexpr (kValues)
    set_gradients_and_losses(count, x, won, lost, gradient, loss_.data());
  else
    set_gradients(count, x, won, lost, gradient);
  if (ties_) add_tie_gradients(count, tie, x, won, lost, tied, gradient, of_tie_.data());
  if constexpr (kValues) {
    if (ties_) add_tie_losses(count, tie, x, won, lost, tied, loss_.data());
    found.value[judge] = sum(loss_.data(), count);
  }
  found.accuracy[judge] = dot(gradient, gap, count);
  for (std::size_t k = 0; k < count; ++k) {
    const double pull = accuracy * gradient[k];
    found.state[first[k]] += pull;
    found.state[second[k]] -= pull;
  }
  const auto add = [&](std::optional<std::size_t> at, std::size_t offset, double amount) {
    if (at) found.state[*at + offset] += amount;
  };
  if (ties_) {
    const double of_tie = sum(of_tie_.data(), count);
    add(effects_.tie, 0, of_tie);
    add(effects_.own_tie, judge, of_tie);
  }
  if (sides_) {
    const double of_order = dot(gradient, side, count);
    add(effects_.order, 0, of_order);
    add(effects_.own_order, judge, of_order);
  }
}

double Pairs::loss(std::size_t pair, double x, double tie) const {
  const double z = exp_minus(std::abs(x));
  const double decided = won_[pair] + lost_[pair];
  double found = decided * log_1p_of_share(z) + (x > 0.0 ? lost_[pair] : won_[pair]) * std::abs(x);
  if (ties_) found += tie_terms(x, tie, decided + tied_[pair], tied_[pair]).loss;
  return found;
}

void Pairs::rise(const VotesAt&, Numbers state, Numbers accuracy, const Raise& raise,
                 std::span<double> change) {
  for (std::size_t c = 0; c < raise.cells.size(); ++c) {
    const auto cell = static_cast<std::size_t>(raise.cells[c]);
    const auto judge = static_cast<std::size_t>(raise.judge[c]);
    const double g = accuracy[judge], tie = effects_.tie_of(judge, state);
    const double order = effects_.order_of(judge, state);
    double total = 0.0;
    for (std::size_t k = pairs_begin_[cell]; k < pairs_begin_[cell + 1]; ++k) {
      const std::size_t pair = pairs_of_[k];
      const auto i = static_cast<std::size_t>(first_[pair]);
      const auto j = static_cast<std::size_t>(second_[pair]);
      const double gap = state[i] - state[j], left = side_[pair] * order;
      const double raised = i == cell ? gap + raise.by : gap - raise.by;
      total += loss(pair, g * raised + left, tie) - loss(pair, g * gap + left, tie);
    }
    change[c] = total;
  }
}

}  // namespace juryrank
