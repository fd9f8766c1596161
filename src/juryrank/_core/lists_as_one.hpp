// Lists whose tied items count as one, under Gumbel noise. Items that a judge ties, if only because
// they are nearly the same, come in first or last together. So they stand in the list as one item
// at their mean location, and the list that is left is one without ties (luce.hpp). Whether two of
// the k ranked items are tied at all, their locations being x apart, is decided as for a pair, each
// of the k (k - 1) / 2 pairs with a weight of 2 / k, so that they count for the k - 1 ties that
// there can be:
//
//   P(tied) = t q / (1 + t q),    q = sqrt(F(x) F(-x)) = 1 / (2 cosh(x / 2)).
//
// For two items both together are Davidson's model.
#pragma once

#include "arrays.hpp"
#include "lists.hpp"

namespace juryrank {

// `tie` is log t.
Along as_one_along(const OneList& list, Numbers direction, double tie);

// -log P; sets its gradient in the locations, and adds to that in the tie.
double as_one_pass(const OneList& list, double tie, Room gradient, double& tie_gradient);

// Sets the gradient, and adds the second derivatives in the locations and, after them, in the tie.
void as_one_hessian(const OneList& list, double tie, Room gradient, Matrix hessian);

}  // namespace juryrank
