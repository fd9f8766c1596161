// One noise, not the difference of two: what rankings need of a noise that is known by its tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "elementary.hpp"
#include "levels.hpp"
#include "noise.hpp"

JURYRANK_BEGIN_LEVEL

inline constexpr std::size_t kCellTerms = 8;

class TabulatedNoise {
 public:
  explicit TabulatedNoise(const Noise& noise)
      : cells_(noise.cells.data()),
        number_(noise.cells.size() - 1),
        density_(noise.density.data()),
        below_(noise.below.data()) {}

  double low() const { return cells_[0]; }
  double high() const { return cells_[number_]; }

  // log f(x).
  double log_density(double x) const {
    return x < low() || x > high() ? -kInfinity : polynomial(density_, cell_of(x), x);
  }

  // log F(x).
  double log_below(double x) const {
    if (x <= low()) return -kInfinity;
    return x >= high() ? 0.0 : polynomial(below_, cell_of(x), x);
  }

  // (log f)'(x); at the ends of the table as just inside.
  double density_gradient(double x) const {
    const std::size_t cell = cell_of(x);
    const double* c = density_ + cell * kCellTerms;
    const double u = std::min(std::max(within(cell, x), -1.0), 1.0);
    double value = 0.0;
    for (std::size_t m = kCellTerms - 1; m > 0; --m)
      value = value * u + static_cast<double>(m) * c[m];
    const double found = 2.0 * value / (cells_[cell + 1] - cells_[cell]);
    return std::min(std::max(found, -kSteepest), kSteepest);
  }

  static constexpr double kSteepest = 1e12;

 private:
  // The one that holds x, or the nearest one.
  std::size_t cell_of(double x) const {
    std::size_t from = 0, to = number_;
    while (to - from > 1) {
      const std::size_t middle = from + (to - from) / 2;
      if (x >= cells_[middle])
        from = middle;
      else
        to = middle;
    }
    return from;
  }
  // From -1 to 1 across the cell.
  double within(std::size_t cell, double x) const {
    const double left = cells_[cell], right = cells_[cell + 1];
    return (2.0 * x - left - right) / (right - left);
  }
  double polynomial(const double* table, std::size_t cell, double x) const {
    const double *c = table + cell * kCellTerms, u = within(cell, x);
    double value = c[kCellTerms - 1];
    for (std::size_t m = kCellTerms - 1; m-- > 0;) value = value * u + c[m];
    return value;
  }

  const double* cells_;
  std::size_t number_;
  const double *density_, *below_;
};

JURYRANK_END_LEVEL
