// The metric of scores and common effects, in which Hamiltonian steps are taken.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "votes_pass.hpp"

namespace juryrank {

// M for a kinetic energy p' M^-1 p / 2: a matrix or a diagonal for the scores, a diagonal for the
// effects.
class Metric {
 public:
  Metric() = default;
  // Of `factor` times the information (n x n by rows, or a diagonal of n) plus `prior` in every
  // diagonal entry. Throws std::domain_error if that is not positive definite.
  Metric(Numbers information, std::size_t n, double factor, double prior, Numbers effects);

  // A momentum from standard normal numbers, in place.
  void make_momentum(std::span<double> normal) const;
  // M^-1 p.
  void velocity(Numbers momentum, std::span<double> found) const;

 private:
  void factorise();

  std::size_t n_ = 0;
  bool dense_ = false;
  std::vector<double> root_;     // Cholesky factor, lower, by rows; or the roots of a diagonal
  std::vector<double> upper_;    // its transpose, by rows, where dense
  std::vector<double> inverse_;  // 1 / diagonal of the root
  std::vector<double> effects_;
};

}  // namespace juryrank
