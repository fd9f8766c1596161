// Plain sums over the votes of some judges on pairs.
#pragma once

#include "arrays.hpp"
#include "votes.hpp"

namespace juryrank {

// Adds to both items of every vote its weight times the judge's factor.
void add_to_both(const PairVotes& pairs, Range judges, Numbers factor, Room total);

// Adds the weight of every vote to counts[winner, loser].
void count_wins(const PairVotes& pairs, Range judges, Matrix counts);

// How far votes agree with scores: with d half of s_winner - s_loser, c a judge's share of votes
// that counts and q what it has to say, sum c q w d over votes that are no ties, and
// sum c q^2 w d^2.
struct Agreement {
  double sum, variance;
};
Agreement pair_agreement(const PairVotes& pairs, Range judges, Numbers counts, Numbers say,
                         Numbers score);

// Sets the share of each judge's votes that are not on the item on which it has most of them.
void set_elsewhere(const PairVotes& pairs, Range judges, std::size_t n_items, Room share);

}  // namespace juryrank
