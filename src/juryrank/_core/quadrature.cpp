#include <cmath>

#include "panels.hpp"

namespace juryrank {
namespace {

// Those of positive nodes; the others are their mirror images.
constexpr double kHalfNodes[kNodes / 2] = {0.12523340851146891547, 0.36783149899818019375,
                                           0.58731795428661744730, 0.76990267419430468704,
                                           0.90411725637047485668, 0.98156063424671925069};
constexpr double kHalfWeights[kNodes / 2] = {0.24914704581340278500, 0.23349253653835480876,
                                             0.20316742672306592175, 0.16007832854334622633,
                                             0.10693932599531843096, 0.04717533638651182719};

// Legendre polynomials at the targets.
struct Legendre {
  double at[kOrders + 2][kTargetsRow];

  explicit Legendre(const double (&x)[kTargetsRow]) {
    for (std::size_t i = 0; i < kTargetsRow; ++i) {
      at[0][i] = 1.0;
      at[1][i] = x[i];
      for (std::size_t m = 1; m <= kOrders; ++m) {
        const auto n = static_cast<double>(m);
        at[m + 1][i] = ((2.0 * n + 1.0) * x[i] * at[m][i] - n * at[m - 1][i]) / (n + 1.0);
      }
    }
  }
};

void set_plain_weights(const Legendre& legendre, Quadrature& q) {
  for (std::size_t j = 0; j < kNodes; ++j)
    for (std::size_t i = 0; i < kTargetsRow; ++i) {
      double total = q.lagrange[0][j] * (1.0 + q.node[i]);
      for (std::size_t m = 1; m < kNodes; ++m)
        total += q.lagrange[m][j] * (legendre.at[m + 1][i] - legendre.at[m - 1][i]) /
                 static_cast<double>(2 * m + 1);
      q.plain[j][i] = total;
    }
  for (double& left : q.plain[kNodes]) left = 1.0;
}

Quadrature made_quadrature() {
  Quadrature q{};
  for (std::size_t j = 0; j < kNodes / 2; ++j) {
    const std::size_t above = kNodes / 2 + j, below = kNodes / 2 - 1 - j;
    q.node[above] = kHalfNodes[j];
    q.node[below] = -kHalfNodes[j];
    q.weight[above] = q.weight[below] = kHalfWeights[j];
  }
  for (std::size_t i = kNodes; i < kTargetsRow; ++i) q.node[i] = 1.0;
  const Legendre legendre(q.node);
  for (std::size_t m = 1; m < kOrders; ++m)
    for (std::size_t i = 0; i < kTargetsRow; ++i)
      q.step[m][i] = legendre.at[m + 1][i] - legendre.at[m - 1][i];
  for (std::size_t m = 0; m < kNodes; ++m)
    for (std::size_t j = 0; j < kNodes; ++j)
      q.lagrange[m][j] = (static_cast<double>(m) + 0.5) * q.weight[j] * legendre.at[m][j];
  set_plain_weights(legendre, q);
  return q;
}

}  // namespace

const Quadrature& quadrature() {
  static const Quadrature kept = made_quadrature();
  return kept;
}

}  // namespace juryrank
