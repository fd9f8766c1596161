// Sums over votes of judges that have lists: the objective's value and gradients, and the search
// for the accuracies.
#pragma once

#include "arrays.hpp"
#include "lists.hpp"
#include "noise.hpp"
#include "pair_sums.hpp"
#include "votes.hpp"

namespace juryrank {

struct ListsSum {
  const VotesSum& votes;  // what is asked for, and the pairs; its effects are not null
  const ListVotes& lists;
  // How much more each list tells about scores than it would under Gumbel noise; empty if the noise
  // is Gumbel's.
  Numbers likeness;
};

// The value, summed over the judges.
double lists_sum(const ListsSum& sum);

// What some lists say where each of their items is at the location of its entry.
struct ListTerms {
  const ListVotes& lists;
  Range which;
  Numbers location;
  Room value;     // set for each of these lists: -log P
  Room gradient;  // set for each of their entries
};

// Under any noise.
void chain_terms(const Noise& noise, const ListTerms& terms);

// Sets the second derivatives of list k in its locations, a square from begin[k] on.
void chain_hessians(const Noise& noise, const ListTerms& terms, Codes begin, Room hessian);

// Sets, for each list, the gradient of the log-likelihood in an accuracy at 0, and its variance
// there. A choice of C from R adds the mean of s over C minus that over R; its variance under
// random choice is that of s in R, divided by the size of C.
void list_agreement(const ListVotes& lists, Numbers score, Room agreement, Room variance);

// Sets -log P of every list under Gumbel noise, weights left out, with each item at
// accuracy * score + taste.
void list_losses(const ListVotes& lists, const Effects& effects, Numbers score, Numbers accuracy,
                 Numbers taste, Room loss);

}  // namespace juryrank
