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
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "likelihood.hpp"

namespace juryrank {

// Of opinions (a judge's of an item) that have something shared.
struct TasteMoments {
  std::vector<double> excess;  // the square of the gradient less the squares of single votes
  std::vector<double> shared;
  std::vector<double> own;  // (A_u)_ii
  std::vector<std::int64_t> item;
};
TasteMoments taste_moments(const LikelihoodAt& at, Range judges);

// size_u of a judge.
double taste_size(const LikelihoodAt& at, std::size_t judge);

// What tastes add, for some judges. The part of Q that is not sparse is
// -(w v' + v w') summed over judges, with rows
//
//   v = rho_u v_u,    w = rho_u k (A_u v_u - k |v_u|^2 v_u / 2).
struct TasteSums {
  double variance;
  Numbers accuracy_curvature;  // C of all judges
  Room weight, own;            // rho, and the variance that tastes add to accuracies: of all judges
  Room diagonal;               // of Q without that part: added to, if it has a size
  std::optional<Matrix> upper;        // Q without that part: added to, if it is there
  std::optional<Matrix> pull, moved;  // v and w, a row for each of the judges; 0 before
};
void add_tastes(const LikelihoodAt& at, Range judges, const TasteSums& sums);

}  // namespace juryrank
