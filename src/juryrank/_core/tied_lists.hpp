// Lists in which items can be tied, under Gumbel noise. A list is a row of choices, each of a group
// of the items that are left. With ties of k items as likely as their weight t_k says, a group C is
// chosen from R with probability
//
//   t_|C| exp(mean of y over C) / (sum_{i in R} exp(y_i) + sum_k t_k e_k(exp(y / k))),
//
// where e_k is the elementary symmetric polynomial of R, which costs no more than k times R.
#pragma once

#include "arrays.hpp"
#include "lists.hpp"

namespace juryrank {

// The weights of ties of each size, as logarithms.
struct TieWeights {
  Codes sizes;
  Numbers log;

  // Of a group of so many.
  double of(std::size_t count) const;
};

// How many ranked items, from j on, share its level.
std::size_t tied_with(Items level, std::size_t j, std::size_t ranked);

Along tied_along(const OneList& list, Numbers direction, const TieWeights& ties);

// -log P; sets its gradient in the locations, and adds to that in the weights of ties.
double tied_pass(const OneList& list, const TieWeights& ties, Room gradient, Room tie_gradient);

// Sets the gradient, and adds the second derivatives in the locations and, after them, in the
// weights of ties.
void tied_hessian(const OneList& list, const TieWeights& ties, Room gradient, Matrix hessian);

}  // namespace juryrank
