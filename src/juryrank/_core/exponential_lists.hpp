// Lists under exponential noise, without quadrature. An item at m is seen at y with density
// exp(m - y) above m. In w = exp(-y), with the last items below the ranked ones,
//
//   L_{k+1}(w) = prod_q (1 - w exp(m_q)),    L_j(w) = exp(m_j) int_w^{W_j} L_{j+1}(v) dv
//
// up to W_j = exp(-M_j), where M_j is the largest of m_j and all after it, and L_j is 0 beyond: a
// polynomial, and P = L_1(0). In Bernstein's basis on [0, W_j] its coefficients are not negative,
// and so nothing is ever subtracted: the integral is a sum of them, and going from [0, W_{j+1}] to
// [0, W_j] is de Casteljau's means.
#pragma once

#include "arrays.hpp"

namespace juryrank {

// -log P(y_1 > ... > y_ranked > max of the rest), where there is a rest; sets its gradient.
double exponential_pass(Numbers location, std::size_t ranked, Room gradient);

}  // namespace juryrank
