#include "pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "cpus.hpp"
#include "elementary.hpp"

namespace juryrank {
namespace {

// Sums are taken in so many lanes whatever the machine can do, so that they have the same bits.
constexpr std::size_t kLanes = 8;
using Lanes = std::array<double, kLanes>;

double sum(const Lanes& lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// Of whole rows of lanes.
double sum(const double* values, std::size_t count) {
  Lanes lane{};
  for (std::size_t k = 0; k < count; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += values[k + l];
  return sum(lane);
}

double dot(const double* a, const double* b, std::size_t count) {
  Lanes lane{};
  for (std::size_t k = 0; k < count; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += a[k + l] * b[k + l];
  return sum(lane);
}

struct Pair {
  std::int32_t first, second;
  double won, lost;
};

// Votes of one judge with equal items, as one pair.
std::vector<Pair> merged(std::vector<Pair> pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  std::vector<Pair> found;
  for (const Pair& pair : pairs) {
    if (!found.empty() && found.back().first == pair.first && found.back().second == pair.second) {
      found.back().won += pair.won;
      found.back().lost += pair.lost;
    } else {
      found.push_back(pair);
    }
  }
  return found;
}

// With z = e^-|x|, the larger of F(x) and F(-x) is 1 / (1 + z) and the smaller z / (1 + z):
//
//   d -log P / dx = lost F(x) - won F(-x)
JURYRANK_FOR_MORE_CPUS
void set_gradients(std::size_t count, double accuracy, const double* __restrict gap,
                   const double* __restrict won, const double* __restrict lost,
                   double* __restrict gradient) {
  for (std::size_t k = 0; k < count; ++k) {
    const double x = accuracy * gap[k];
    const double z = exp_minus(std::abs(x));
    const double large = 1.0 / (1.0 + z);
    const double small = z * large;
    const double below = x > 0.0 ? large : small;
    const double above = x > 0.0 ? small : large;
    gradient[k] = lost[k] * below - won[k] * above;
  }
}

// -log P = (won + lost) log(1 + z) + won max(-x, 0) + lost max(x, 0)
JURYRANK_FOR_MORE_CPUS
void set_losses(std::size_t count, double accuracy, const double* __restrict gap,
                const double* __restrict won, const double* __restrict lost,
                double* __restrict loss) {
  for (std::size_t k = 0; k < count; ++k) {
    const double x = accuracy * gap[k];
    const double z = exp_minus(std::abs(x));
    const double against = x > 0.0 ? lost[k] : won[k];
    loss[k] = (won[k] + lost[k]) * log_1p_of_share(z) + against * std::abs(x);
  }
}

}  // namespace

PlainPairs::PlainPairs(const Wins& wins, std::size_t opinions) : begin_{0} {
  for (std::size_t u = 0; u + 1 < wins.start.size(); ++u) {
    const auto a = static_cast<std::size_t>(wins.start[u]);
    const auto count = static_cast<std::size_t>(wins.start[u + 1]) - a;
    add_judge(wins.winner.subspan(a, count), wins.loser.subspan(a, count),
              wins.weight.empty() ? wins.weight : wins.weight.subspan(a, count));
  }
  std::size_t longest = 0;
  for (std::size_t u = 0; u + 1 < begin_.size(); ++u)
    longest = std::max(longest, begin_[u + 1] - begin_[u]);
  gap_.resize(longest);
  gradient_.resize(longest);
  loss_.resize(longest);
  index_by_opinion(opinions);
}

void PlainPairs::add_judge(std::span<const std::int32_t> winner,
                           std::span<const std::int32_t> loser, Numbers weight) {
  std::vector<Pair> pairs(winner.size());
  for (std::size_t k = 0; k < winner.size(); ++k) {
    const double w = weight.empty() ? 1.0 : weight[k];
    pairs[k] = winner[k] < loser[k] ? Pair{winner[k], loser[k], w, 0.0}
                                    : Pair{loser[k], winner[k], 0.0, w};
  }
  pairs = merged(std::move(pairs));
  while (pairs.size() % kLanes) pairs.push_back({pairs[0].first, pairs[0].first, 0.0, 0.0});
  // Neighbours in this order have different items: sums by item need not wait for each other.
  const std::size_t rows = pairs.size() / kLanes;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const Pair& pair = pairs[k % kLanes * rows + k / kLanes];
    first_.push_back(pair.first);
    second_.push_back(pair.second);
    won_.push_back(pair.won);
    lost_.push_back(pair.lost);
  }
  begin_.push_back(first_.size());
}

void PlainPairs::index_by_opinion(std::size_t opinions) {
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

bool PlainPairs::are_of(const Opinions& opinions) const {
  for (std::size_t u = 0; u + 1 < begin_.size(); ++u)
    for (std::size_t k = begin_[u]; k < begin_[u + 1]; ++k)
      for (const std::int32_t opinion : {first_[k], second_[k]})
        if (opinions.judge[static_cast<std::size_t>(opinion)] != static_cast<std::int64_t>(u))
          return false;
  return true;
}

void PlainPairs::at(Numbers state, Numbers accuracy, bool values, VotesAt& found) {
  std::fill(found.state.begin(), found.state.end(), 0.0);
  for (std::size_t u = 0; u + 1 < begin_.size(); ++u) {
    if (values)
      judge_at<true>(u, state.data(), accuracy[u], found);
    else
      judge_at<false>(u, state.data(), accuracy[u], found);
  }
}

template <bool kValues>
void PlainPairs::judge_at(std::size_t judge, const double* opinion, double accuracy,
                          VotesAt& found) {
  const std::size_t begin = begin_[judge];
  const std::size_t count = begin_[judge + 1] - begin;
  const std::int32_t* first = first_.data() + begin;
  const std::int32_t* second = second_.data() + begin;
  const double* won = won_.data() + begin;
  const double* lost = lost_.data() + begin;
  double* gap = gap_.data();
  double* gradient = gradient_.data();
  for (std::size_t k = 0; k < count; ++k) gap[k] = opinion[first[k]] - opinion[second[k]];
  set_gradients(count, accuracy, gap, won, lost, gradient);
  if constexpr (kValues) {
    set_losses(count, accuracy, gap, won, lost, loss_.data());
    found.value[judge] = sum(loss_.data(), count);
  }
  found.accuracy[judge] = dot(gradient, gap, count);
  double* state = found.state.data();
  for (std::size_t k = 0; k < count; ++k) {
    const double pull = accuracy * gradient[k];
    state[first[k]] += pull;
    state[second[k]] -= pull;
  }
}

double PlainPairs::loss(std::size_t pair, double x) const {
  const double z = exp_minus(std::abs(x));
  return (won_[pair] + lost_[pair]) * log_1p_of_share(z) +
         (x > 0.0 ? lost_[pair] : won_[pair]) * std::abs(x);
}

void PlainPairs::rise(const VotesAt&, Numbers state, Numbers accuracy, const Raise& raise,
                      std::span<double> change) {
  for (std::size_t c = 0; c < raise.cells.size(); ++c) {
    const auto cell = static_cast<std::size_t>(raise.cells[c]);
    const double g = accuracy[static_cast<std::size_t>(raise.judge[c])];
    double total = 0.0;
    for (std::size_t k = pairs_begin_[cell]; k < pairs_begin_[cell + 1]; ++k) {
      const std::size_t pair = pairs_of_[k];
      const auto i = static_cast<std::size_t>(first_[pair]);
      const auto j = static_cast<std::size_t>(second_[pair]);
      const double gap = state[i] - state[j];
      const double raised = i == cell ? gap + raise.by : gap - raise.by;
      total += loss(pair, g * raised) - loss(pair, g * gap);
    }
    change[c] = total;
  }
}

}  // namespace juryrank
