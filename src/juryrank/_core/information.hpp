// All second derivatives of the likelihood, for errors: A, b_u and C_u as in curvature.hpp. Of
// symmetric matrices only the upper triangle is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arrays.hpp"
#include "likelihood.hpp"

namespace juryrank {

// b_u of some judges: those of the p-th stand from start[p] to start[p + 1], with the unknowns that
// they are about, ascending.
struct SparseRows {
  Codes start;
  Items index;
  Numbers mixed;

  std::size_t rows() const { return start.size() - 1; }
  Range of(std::size_t row) const {
    return {static_cast<std::size_t>(start[row]), static_cast<std::size_t>(start[row + 1])};
  }
};

// The same, to be set. There must be room for `most_unknowns` of all judges together.
struct SparseRoom {
  std::span<std::int64_t> start;
  std::span<std::int32_t> index;
  Room mixed;
};

// How many unknowns each of the judges' votes can be about, all together.
std::size_t most_unknowns(const LikelihoodAt& at, Codes judges);

// Adds A to `upper`, unless it is null, and b_u to a row for each of the judges; sets C_u, without
// the prior.
void add_blocks(const LikelihoodAt& at, Codes judges, const Matrix* upper, Matrix rows,
                Room accuracy_curvature);

// The same with sparse rows. Where `entries` has a size, lists set the entries of their items in A
// there, row by row, and not in `upper`.
void set_sparse_blocks(const LikelihoodAt& at, Codes judges, const Matrix* upper, Room entries,
                       const SparseRoom& rows, Room accuracy_curvature);

// Subtracts sum_u share_u b_u b_u'.
void subtract_squares(const SparseRows& rows, Numbers share, Matrix upper);

// Sets b_u' covariance b_u.
void set_squares(const SparseRows& rows, ConstMatrix covariance, Room square);

}  // namespace juryrank
