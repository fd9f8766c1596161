// Curvature of the likelihood in each unknown, the free accuracies profiled out.
//
// Let A be the second derivatives in the state (scores, ties, order), C those in the accuracies (a
// diagonal, prior included) and B the mixed ones, a column b_u for each judge.
#pragma once

#include "likelihood.hpp"

namespace juryrank {

// Adds some judges' part of the diagonal of A - B C^-1 B' to `diagonal`, and sets their C.
void add_curvature(const LikelihoodAt& at, const AccuracyRule& rule, Range judges, Room diagonal,
                   Room accuracy_curvature);

}  // namespace juryrank
