// Lists without ties under Gumbel noise (Plackett-Luce): the first item is chosen from all, the
// second from those that are left, and so on, each with probability
//
//   P(j of those from j on) = exp(y_j) / sum_{i >= j} exp(y_i).
#pragma once

#include "arrays.hpp"
#include "lists.hpp"

namespace juryrank {

Along luce_along(Numbers location, Numbers direction, std::size_t ranked);

// -log P; sets its gradient.
double luce_pass(Numbers location, std::size_t ranked, Room gradient);

// As many lists as there are lanes, all of one length: first the first items of all, then the
// second ones, and so on.
struct ListsInLanes {
  std::size_t length, ranked;
  const double* location;
  double* gradient;
  double* value;  // of each list; null if values are not wanted
};

// The same, bit for bit, of many at once. False, and nothing is set, if one of the lists needs
// `luce_pass`: its locations are too far apart, or not numbers.
bool luce_pass_in_lanes(const ListsInLanes& lists);

// Sets the gradient, and adds the second derivatives to the first rows and columns of `hessian`.
void luce_hessian(Numbers location, std::size_t ranked, Room gradient, Matrix hessian);

}  // namespace juryrank
