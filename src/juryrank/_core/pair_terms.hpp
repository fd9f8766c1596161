// -log P of one vote on a pair, and its derivatives. With g = -log F of the noise and
// q = sqrt(F(x) F(-x)), that is g(x) where votes cannot be tied, and where they can
//
//   log(1 + t q) + g(x) if one item won,    log(1 + t q) - log(t q) if they were tied.
//
// There are no branches but choices between two numbers, so that loops over votes vectorise.
#pragma once

#include <cmath>

#include "elementary.hpp"
#include "levels.hpp"
#include "noise.hpp"

JURYRANK_BEGIN_LEVEL

// In x and in log t.
struct PairTerms {
  double value, x, xx, tie, x_tie, tie_tie;
};

// g(x), for the tail at |x|.
template <typename F>
inline double value_of(const F& family, double x, const Tail& tail) {
  return family.exponent(x, tail) + log_of_normal(family.factor(x, tail));
}

// `tie` is log t.
template <typename F>
inline PairTerms pair_terms(const F& family, double x, bool tied, double tie) {
  const Tail tail = family.tail(std::abs(x));
  const double value = value_of(family, x, tail);
  const double gradient = gradient_of(x, tail), curvature = family.curvature(x, tail);
  const double log_q = -0.5 * (value + value_of(family, -x, tail));
  const double first_q = -0.5 * (gradient - gradient_of(-x, tail));
  const double second_q = -0.5 * (curvature + family.curvature(-x, tail));
  const double a = tie + log_q, rare = exp_minus(std::abs(a));
  const double chance = (a > 0.0 ? 1.0 : rare) / (1.0 + rare);  // of a tie
  const double spread = rare / ((1.0 + rare) * (1.0 + rare));
  const double residual = tied ? chance - 1.0 : chance;
  const double log_sum = (a > 0.0 ? a : 0.0) + log_1p_of_share(rare);
  return {log_sum + (tied ? -a : value),
          residual * first_q + (tied ? 0.0 : gradient),
          residual * second_q + spread * first_q * first_q + (tied ? 0.0 : curvature),
          residual,
          spread * first_q,
          spread};
}

JURYRANK_END_LEVEL
