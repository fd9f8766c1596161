// Lists of more than two items: -log P of one list, and its derivatives.
//
// A judge of accuracy a sees item i at the location y_i = a s_i, plus noise. Under Gumbel noise a
// list is a row of choices, whose probability has a formula (luce.hpp; with ties, tied_lists.hpp);
// under any other it is a chain of integrals (list_integrals.hpp), and has no ties.
#pragma once

#include <cstddef>

#include "arrays.hpp"
#include "noise.hpp"
#include "votes.hpp"

namespace juryrank {

// One list: what stands where, the best first.
struct OneList {
  Numbers location;
  Items level;
  std::size_t ranked;
};

// -log P, and its first and second derivative along a direction.
struct Along {
  double value, first, second;
};

// Under Gumbel noise, for a judge whose weights of ties are `tie` (empty: nothing is tied).
Along list_along(const OneList& list, Numbers direction, const Effects& effects, Numbers tie);

// -log P under Gumbel noise; sets its gradient in the locations, and adds to that in the weights of
// ties.
double list_pass(const OneList& list, const Effects& effects, Numbers tie, Room gradient,
                 Room tie_gradient);

// Sets the gradient in the locations, and the second derivatives in them and, after them, in the
// weights of ties: `hessian` has as many rows and columns. Under Gumbel noise.
void list_hessian(const OneList& list, const Effects& effects, Numbers tie, Room gradient,
                  Matrix hessian);

// -log P(y_1 > ... > y_ranked > max of the rest) under any noise; sets its gradient.
double chain_pass(const Noise& noise, Numbers location, std::size_t ranked, Room gradient);

// Sets the second derivatives: under normal noise by integrals, under others by differences.
void chain_hessian(const Noise& noise, Numbers location, std::size_t ranked, Matrix hessian);

}  // namespace juryrank
