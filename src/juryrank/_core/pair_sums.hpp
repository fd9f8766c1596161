// Sums over votes on pairs: the objective's value and gradients. For plain pairs the value is
//
//   sum_u sum_k w_k g(a_u (s_winner - s_loser));
//
// with x = a_u (s_winner - s_loser) + side * order and q = sqrt(F(x) F(-x)), a pair that can be
// tied is won with probability F(x) / (1 + t q) and tied with t q / (1 + t q): for Gumbel noise
// Davidson's model, for any other its like.
#pragma once

#include "arrays.hpp"
#include "levels.hpp"
#include "noise.hpp"
#include "votes.hpp"

namespace juryrank {

// What a pass over the votes of some judges is about, and what it finds. The prior is not part of
// it.
struct VotesSum {
  const Noise& noise;
  AccuracyRule rule;
  const PairVotes& pairs;
  const Effects* effects;  // null: nothing but scores and accuracies decides votes
  Range judges;
  Numbers score;
  Room accuracy;        // where it is free: a guess, which becomes the minimum of value and prior
  Room score_gradient;  // added to
  Room judge_value;     // set for each of the judges, as is what follows
  Room accuracy_gradient;
  Matrix tie_gradient;  // judges x sizes of ties
  Room order_gradient;  // empty if sides do not matter
};

// In a judge's accuracy.
struct Derivatives {
  double first, second;
};

}  // namespace juryrank

JURYRANK_BEGIN_LEVEL

// The value, summed over the judges.
double votes_sum(const VotesSum& sum);

// Of the loss of one judge's pairs in its accuracy, the scores held.
Derivatives pair_derivatives(const Noise& noise, const PairVotes& pairs, const Effects* effects,
                             std::size_t judge, Numbers score, double accuracy);

JURYRANK_END_LEVEL
