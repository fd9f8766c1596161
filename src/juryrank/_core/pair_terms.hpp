// A vote on a pair that can be tied: with q = sqrt(F(x) F(-x)) it is won with probability
// F(x) / (1 + t q) and tied with t q / (1 + t q).
#pragma once

#include <cmath>

#include "noise.hpp"

JURYRANK_BEGIN_LEVEL

// -log P of a vote, and its derivatives in x and in `tie` = log t.
struct PairTerms {
  double value, x, xx, tie, x_tie, tie_tie;
};

// With y = tie + log q:
//
//   -log P(won) = g(x) + log(1 + e^y),   -log P(tied) = log(1 + e^y) - y.
template <typename Family>
inline PairTerms pair_terms(const Family& family, double x, bool tied, double tie) {
  const double t = std::abs(x);
  const Tail tail = family.tail(t);
  const double above = family.value(t, tail), below = family.value(-t, tail);  // g(t), g(-t)
  const double side = x >= 0.0 ? 1.0 : -1.0;
  const double q1 = -0.5 * side * tail.first * (1.0 - tail.odds);  // derivatives of log q
  const double q2 = -0.5 * (family.curvature(t, tail) + tail.second);
  const double y = tie - 0.5 * (above + below), small = exp_minus(std::abs(y));
  const double more = log_1p_of_share(small) + (y > 0.0 ? y : 0.0);  // log(1 + e^y)
  const double inverse = 1.0 / (1.0 + small);
  const double chance = (y > 0.0 ? 1.0 : small) * inverse, spread = small * inverse * inverse;
  const double decided = tied ? 0.0 : 1.0, pull = tied ? chance - 1.0 : chance;
  return {
      more + (tied ? -y : (x >= 0.0 ? above : below)),
      decided * gradient_of(x, tail) + pull * q1,
      decided * family.curvature(x, tail) + pull * q2 + spread * q1 * q1,
      pull,
      spread * q1,
      spread,
  };
}

JURYRANK_END_LEVEL
