#include "pair_sums.hpp"

#include <cmath>

#include "elementary.hpp"

// Slow and obvious, until sums over pairs are worth more.
namespace juryrank::JURYRANK_LEVEL {
namespace {

// -log P of one vote, with derivatives in x and log t.
struct Terms {
  double value, x, xx, tie;
};

template <typename NoiseFamily>
Terms terms_at(const NoiseFamily& family, double x, bool can_tie, bool tied, double log_tie) {
  const auto g = [&](double at) {
    const Tail tail = family.tail(std::abs(at));
    return Terms{family.exponent(at, tail) + std::log(family.factor(at, tail)),
                 gradient_of(at, tail), family.curvature(at, tail), 0.0};
  };
  const Terms won = g(x);
  if (!can_tie) return won;
  const Terms lost = g(-x);
  const double a = log_tie - 0.5 * (won.value + lost.value), a1 = -0.5 * (won.x - lost.x);
  const double a2 = -0.5 * (won.xx + lost.xx), rare = exp_minus(std::abs(a));
  const double chance = (a > 0.0 ? 1.0 : rare) / (1.0 + rare),
               spread = rare / ((1.0 + rare) * (1.0 + rare));
  const double pull = chance - (tied ? 1.0 : 0.0), log_all = (a > 0.0 ? a : 0.0) + std::log1p(rare);
  if (tied) return {log_all - a, pull * a1, pull * a2 + spread * a1 * a1, pull};
  return {won.value + log_all, won.x + chance * a1, won.xx + chance * a2 + spread * a1 * a1, pull};
}

// `work` for each vote of a judge: its number, gap, and terms.
template <typename Work>
void over_votes(const Noise& noise, const PairVotes& pairs, const Effects* effects,
                std::size_t judge, Numbers score, double accuracy, Work work) {
  with_family(noise, [&](const auto& family) {
    const Range own = pairs.of(judge);
    for (std::size_t k = own.first; k < own.last; ++k) {
      const double gap = score[static_cast<std::size_t>(pairs.winner[k])] -
                         score[static_cast<std::size_t>(pairs.loser[k])];
      double x = accuracy * gap;
      if (pairs.side && effects) x += (*pairs.side)[k] * effects->order_of(judge);
      const bool can_tie = pairs.tied.has_value();
      work(k, gap,
           terms_at(family, x, can_tie, can_tie && (*pairs.tied)[k],
                    effects ? effects->pair_tie_of(judge) : 0.0));
    }
  });
}

}  // namespace

Derivatives pair_derivatives(const Noise& noise, const PairVotes& pairs, const Effects* effects,
                             std::size_t judge, Numbers score, double accuracy) {
  Derivatives found{0.0, 0.0};
  over_votes(noise, pairs, effects, judge, score, accuracy,
             [&](std::size_t k, double gap, const Terms& terms) {
               found.first += pairs.weight_of(k) * gap * terms.x;
               found.second += pairs.weight_of(k) * gap * gap * terms.xx;
             });
  return found;
}

double votes_sum(const VotesSum& sum) {
  double total = 0.0;
  for (std::size_t u = sum.judges.first; u < sum.judges.last; ++u) {
    double value = 0.0, of_accuracy = 0.0, of_tie = 0.0, of_order = 0.0;
    over_votes(sum.noise, sum.pairs, sum.effects, u, sum.score, sum.accuracy[u],
               [&](std::size_t k, double gap, const Terms& terms) {
                 const double weight = sum.pairs.weight_of(k), pull = weight * terms.x;
                 value += weight * terms.value;
                 of_accuracy += pull * gap;
                 of_tie += weight * terms.tie;
                 if (sum.pairs.side) of_order += pull * (*sum.pairs.side)[k];
                 const double push = pull * sum.accuracy[u];
                 sum.score_gradient[static_cast<std::size_t>(sum.pairs.winner[k])] += push;
                 sum.score_gradient[static_cast<std::size_t>(sum.pairs.loser[k])] -= push;
               });
    sum.judge_value[u] = value;
    sum.accuracy_gradient[u] = of_accuracy;
    for (std::size_t t = 0; t < sum.tie_gradient.columns; ++t) sum.tie_gradient.at(u, t) = 0.0;
    if (sum.tie_gradient.columns) sum.tie_gradient.at(u, 0) = of_tie;
    if (!sum.order_gradient.empty()) sum.order_gradient[u] = of_order;
    total += value;
  }
  return total;
}

}  // namespace juryrank::JURYRANK_LEVEL
