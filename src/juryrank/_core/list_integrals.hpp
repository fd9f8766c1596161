// Lists under any noise: chains of integrals. A judge sees y_i = m_i + e_i, with noises of density
// f and distribution F, and ranks by decreasing y. The first k items are ranked, the rest lie
// below. With
//
//   L_{k+1}(t) = prod_q F(t - m_q),        L_j(t) = int_{-inf}^t f(v - m_j) L_{j+1}(v) dv,
//   U_1(t) = 1,                            U_{j+1}(t) = int_t^inf f(v - m_j) U_j(v) dv,
//
// the probability is P = int U_j f_j L_{j+1} dv for any j; moving an item changes it by the density
// of its coincidences with its neighbours,
//
//   K_{j,j+1} = int U_j f_j f_{j+1} L_{j+2} dv,     K_{k,q} = int U_k f_k (f_q / F_q) L_{k+1} dv,
//   dP/dm_j = K_{j,j+1} - K_{j-1,j},  dP/dm_k = sum_q K_{k,q} - K_{k-1,k},  dP/dm_q = -K_{k,q},
//
// which needs no f', so that densities may jump. All functions live on the Gauss nodes of panels
// (panels.hpp).
//
// Far out of order: where a worse item is ranked above a much better one, all the mass lies in the
// tails: no fixed grid sees it, and L rises like e^(lambda t) with a large lambda. So the panels
// are laid around the most likely y that obeys the ranking (the isotonic regression of m: items out
// of order are pooled into blocks that share one y), and the chain is run for
//
//   f_j = e^((lambda_{j-1} - lambda_j) t) g_j,   L_j = e^(lambda_{j-1} t) l_j,
//   U_j = e^(-lambda_{j-1} t) u_j,
//
// where the lambda (`tilt`) are the multipliers of the isotonic regression: the tilted density g_j
// has its peak at the block's y, and l_j, u_j hardly vary over a panel, whatever the locations are:
//
//   l_j(t) = int_{-inf}^t e^(-lambda_{j-1} (t - v)) g_j(v) l_{j+1}(v) dv.
//
// The integral over the decaying factor is exact for a polynomial g l, for any lambda. The powers
// of e cancel in P and K; any lambda would do in exact arithmetic.
#pragma once

#include "arrays.hpp"
#include "levels.hpp"
#include "noise.hpp"
#include "panels.hpp"

namespace juryrank {

struct PanelChain {
  const Noise& noise;
  Numbers location;
  const PanelView& panels;
  Room room;  // as much as `room_for` says
};

}  // namespace juryrank

JURYRANK_BEGIN_LEVEL

// -log P, where there is a rest and the noise is normal or a table; sets its gradient.
double panel_chain(const PanelChain& chain, Room gradient);

// Sets the second derivatives too; under normal noise, with room for them.
double panel_hessian(const PanelChain& chain, Room gradient, Matrix hessian);

JURYRANK_END_LEVEL
