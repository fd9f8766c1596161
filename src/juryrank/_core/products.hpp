// What A - B C^-1 B' (see curvature.hpp) does to vectors, where there are too many items for a
// matrix of them: the part of votes on pairs, with the effects held. What a pair adds to the
// product with v is, at its winner and with the other sign at its loser,
//
//   a^2 w g'' (v_winner - v_loser) - mixed share_u b_u'v.
//
// So a judge's votes are gone through twice, for b_u'v and for this, with many v at a time: they
// are the columns of a matrix, of which a vote needs two rows.
#pragma once

#include <cstddef>

#include "arrays.hpp"
#include "information.hpp"
#include "levels.hpp"
#include "likelihood.hpp"
#include "pair_curvature.hpp"

namespace juryrank {

// Room for one judge.
struct ProductRoom {
  Matrix step;  // PairBlock::kMost rows: v_winner - v_loser of each vote
  Room along;   // b_u'v
};

struct ProfileProduct {
  const LikelihoodAt& at;
  Range judges;
  Numbers share;         // C^-1, or 0 where the accuracies are known
  ConstMatrix vectors;   // items x vectors
  const Matrix* judged;  // the lists' part of b_u'v, a row for each judge; null: there are no lists
  ProductRoom room;
};

}  // namespace juryrank

JURYRANK_BEGIN_LEVEL

// Adds to (A - B C^-1 B') vectors, and sets `judged` to the whole of b_u'v.
void add_profile_product(const ProfileProduct& wanted, Matrix product);

// Adds to v' (A - B C^-1 B') v for each vector. What lists add to A is left out.
void add_profile_energy(const ProfileProduct& wanted, Room energy);

// Adds sum_u factor_u b_u over some judges.
void add_mixed_sum(const LikelihoodAt& at, Range judges, Numbers factor, Room total);

// Sets sum_i b_ui^2 variance_i of some judges. `of_lists` has the lists' part of b_u of all judges,
// or is null; `column` is room of an entry for each item, 0 before and after.
void set_mixed_squares(const LikelihoodAt& at, Range judges, const SparseRows* of_lists,
                       Numbers variance, Room column, Room square);

JURYRANK_END_LEVEL
