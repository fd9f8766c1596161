// What tastes do to a best fit of votes on pairs: see inference/many_votes.py for the model. With
// z = e_winner - e_loser, q = w g'' the curvature of a vote, a_u the accuracy and C_u its
// curvature,
//
//   A_u = sum q a_u^2 z z',    v_u = A_u s,    K_u = A_u - k v_u v_u',    k = 1 / (a_u^2 C_u),
//   Q = sum_u rho_u^2 [K_u K_u - sum 2 q^2 a_u^4 z z'],    rho_u = 1 / (1 + variance size_u),
//
// and size_u is the mean over a judge's votes, and both items of each, of (shared / A)_ii, where
// shared_ii = (A_u^2)_ii - sum 2 q^2 a_u^4 over the votes on i. Effects are held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "likelihood.hpp"

namespace juryrank {

// Of opinions (a judge's of an item) of several votes, judge by judge.
struct TasteMoments {
  std::vector<double> excess;  // the square of the gradient less the squares of single votes
  std::vector<double> shared;
  std::vector<double> own;  // (A_u)_ii
  std::vector<std::int64_t> item;
};

// Of all judges.
struct JudgesTastes {
  Room size;
  Room length;                       // |v_u|^2 less what is of single votes
  Room curvature;                    // C_u without the prior
  std::span<std::int64_t> opinions;  // how many of the judge's are among the moments
};

// Sets what is found of some judges.
TasteMoments taste_moments(const LikelihoodAt& at, Range judges, const JudgesTastes& found);

// size_u of a judge.
double taste_size(const LikelihoodAt& at, std::size_t judge);

// Of moments, with weight = (1 + variance own)^-2:
struct MomentSums {
  double observed;  // sum weight excess
  double expected;  // sum weight expected
  double square;    // sum (weight expected)^2
};
MomentSums moment_sums(Numbers excess, Numbers expected, Numbers own, double variance);

// What some judges add to Q. With
//
//   v = rho_u v_u,    w = rho_u k (A_u v_u - k |v_u|^2 v_u / 2),
//
// the part that is not sparse is -(w v' + v w') summed over judges. It is added to Q for those with
// opinions of few items; of the others, rows are found, to be multiplied all together.
struct TasteMatrix {
  Numbers weight, accuracy_curvature;  // rho and C of all judges
  Matrix upper;                        // Q: added to
  Matrix pull, moved;                  // room for v and w, a row for each of these judges
};
// How many rows have been set.
std::size_t add_tastes(const LikelihoodAt& at, Range judges, const TasteMatrix& matrix);

}  // namespace juryrank
