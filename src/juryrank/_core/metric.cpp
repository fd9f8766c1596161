#include "metric.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cpus.hpp"

namespace juryrank {
namespace {

constexpr double kLeastPivot = 1e-14;  // of what it is before others are taken off, in rounding

// A dot product in a fixed number of lanes, enough of them that sums need not wait for each other.
JURYRANK_FOR_MORE_CPUS
double product_of_rows(const double* a, const double* b, std::size_t n) {
  constexpr std::size_t kWide = 16, kLanes = 4;
  double lane[kWide] = {};
  std::size_t k = 0;
  for (; k + kWide <= n; k += kWide)
    for (std::size_t l = 0; l < kWide; ++l) lane[l] += a[k + l] * b[k + l];
  for (std::size_t half = kWide / 2; half >= kLanes; half /= 2)
    for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  for (; k + kLanes <= n; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += a[k + l] * b[k + l];
  double rest = 0.0;
  for (; k < n; ++k) rest += a[k] * b[k];
  return ((lane[0] + lane[2]) + (lane[1] + lane[3])) + rest;
}

}  // namespace

Metric::Metric(Numbers information, std::size_t n, double factor, double prior, Numbers effects)
    : n_(n), dense_(information.size() != n || n == 1), effects_(effects.begin(), effects.end()) {
  root_.resize(information.size());
  for (std::size_t k = 0; k < root_.size(); ++k) root_[k] = factor * information[k];
  for (std::size_t i = 0; i < n; ++i) root_[dense_ ? i * n + i : i] += prior;
  factorise();
}

// M = R R', row by row.
void Metric::factorise() {
  inverse_.resize(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    double* row = root_.data() + (dense_ ? i * n_ : i);
    double& pivot = dense_ ? row[i] : row[0];
    const double least = kLeastPivot * pivot;
    if (dense_) {
      for (std::size_t j = 0; j < i; ++j)
        row[j] = (row[j] - product_of_rows(row, root_.data() + j * n_, j)) * inverse_[j];
      pivot -= product_of_rows(row, row, i);
    }
    pivot = std::max(pivot, least);
    if (!(pivot > 0.0)) throw std::domain_error("The metric is not positive definite.");
    pivot = std::sqrt(pivot);
    inverse_[i] = 1.0 / pivot;
  }
  if (!dense_) return;
  upper_.assign(root_.size(), 0.0);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t j = 0; j <= i; ++j) upper_[j * n_ + i] = root_[i * n_ + j];
}

void Metric::make_momentum(std::span<double> normal) const {
  // From the last row on, so that no number is overwritten before it is used.
  for (std::size_t i = n_; i-- > 0;)
    normal[i] = dense_ ? product_of_rows(root_.data() + i * n_, normal.data(), i + 1)
                       : root_[i] * normal[i];
  for (std::size_t k = 0; k < effects_.size(); ++k) normal[n_ + k] *= std::sqrt(effects_[k]);
}

void Metric::velocity(Numbers momentum, std::span<double> found) const {
  for (std::size_t i = 0; i < n_; ++i) {  // R y = p
    const double known = dense_ ? product_of_rows(root_.data() + i * n_, found.data(), i) : 0.0;
    found[i] = (momentum[i] - known) * inverse_[i];
  }
  for (std::size_t i = n_; i-- > 0;) {  // R' v = y
    const double* row = dense_ ? upper_.data() + i * n_ : nullptr;
    const double known =
        dense_ ? product_of_rows(row + i + 1, found.data() + i + 1, n_ - i - 1) : 0.0;
    found[i] = (found[i] - known) * inverse_[i];
  }
  for (std::size_t k = 0; k < effects_.size(); ++k) found[n_ + k] = momentum[n_ + k] / effects_[k];
}

}  // namespace juryrank
