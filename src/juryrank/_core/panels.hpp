// Panels: where the integrals of a list are worked out (list_integrals.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "noise.hpp"

namespace juryrank {

inline constexpr std::size_t kNodes = 12;
// Where a panel's running integral is wanted: at the nodes, and at the end. Rows of them are filled
// up.
inline constexpr std::size_t kTargets = kNodes + 1, kTargetsRow = 16;
inline constexpr std::size_t kOrders = 36;

// Weights of integrals from a panel's start on the values at the nodes, a row for each node, a
// column for each target; the last row is what is left of a start of 1.
using Weights = double[kNodes + 1][kTargetsRow];

// Gauss-Legendre quadrature on [-1, 1].
struct Quadrature {
  double node[kTargetsRow];  // the last target is 1
  double weight[kNodes];
  double step[kOrders][kTargetsRow];  // P_{m+1} - P_{m-1} at the targets, from m = 1 on
  double lagrange[kNodes][kNodes];    // the m-th Legendre coefficient of node j's own polynomial
  Weights plain;                      // of integrals without decay
};
const Quadrature& quadrature();

// Items out of order are pooled into blocks that share one y.
struct Panels {
  std::vector<std::size_t> first;  // block b holds the ranked items first[b] to first[b + 1]
  std::vector<double> y;           // of each block
  std::vector<double> tilt;        // tilt[j + 1] ties item j to the next; 0 between blocks
  std::vector<Range> span;         // panels of each block
  std::vector<double> middle, half;
};

// For a list with a rest, under normal noise or one from tables.
void lay_panels(const Noise& noise, Numbers location, std::size_t ranked, Panels& panels);

// The same, as the chain sees it.
struct PanelView {
  std::span<const std::size_t> first;
  Numbers y, tilt;
  std::span<const Range> span;
  Numbers middle, half;
  std::size_t columns;  // room for the panels of any block, whole rows of lanes

  std::size_t ranked() const { return first.back(); }
};

// How many numbers the chain works with.
std::size_t room_for(const PanelView& panels, std::size_t items);
// With second derivatives.
std::size_t room_for_hessian(const PanelView& panels, std::size_t items);

}  // namespace juryrank
