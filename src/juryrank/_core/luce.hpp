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

// Sets the gradient, and adds the second derivatives to the first rows and columns of `hessian`.
void luce_hessian(Numbers location, std::size_t ranked, Room gradient, Matrix hessian);

}  // namespace juryrank
