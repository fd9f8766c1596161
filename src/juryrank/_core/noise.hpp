// The noise families. F, the distribution of the difference of two noises, is symmetric, so its
// lower tail says everything. With t = |x| each family gives h(t) = -log F(-t), its derivatives h'
// and h'' and the odds z = F(-t) / F(t); then g(x) = -log F(x) is, for x < 0,
//
//   g = h,           g' = -h',      g'' = h''
//
// and for x >= 0
//
//   g = log(1 + z),  g' = -h' z,    g'' = h'^2 z (1 + z) - h'' z.
//
// To add a family: a struct here, a line in `with_family`, and an entry in model/noise.py. Its
// functions have no branches but choices between two numbers, so that loops over them vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "arrays.hpp"
#include "elementary.hpp"
#include "levels.hpp"

namespace juryrank {

enum class Family { gumbel, normal, exponential, table };

// A noise with its tables, which only matter to the family `table`. `knots` and `tail` are of the
// difference of two noises, all that pairs need; what follows is of one noise, for rankings.
struct Noise {
  Family family;
  Numbers knots;
  Numbers tail;     // coefficients of h after each knot, lowest power first; the last row goes on
  double width;     // the widest panel on which a polynomial through the nodes is the density
  Numbers kinks;    // where the density is not smooth, its jumps and ends included
  Numbers cells;    // ends of the cells of the next two tables; outside of them the density is 0
  Numbers density;  // coefficients of log f in u from -1 to 1 across each cell, lowest power first
  Numbers below;    // the same for log F of one noise
  double farthest;  // a worse item may be ranked above another this far from it before -log P is
                    // extrapolated
};

}  // namespace juryrank

JURYRANK_BEGIN_LEVEL

// Of one argument t = |x|.
struct Tail {
  double odds, first, second;  // z, h', h''
};

// g'(x).
inline double gradient_of(double x, const Tail& tail) {
  return -tail.first * (x >= 0.0 ? tail.odds : 1.0);
}

// g''(x).
inline double curvature_of(double x, const Tail& tail) {
  const double pull = tail.first * tail.odds;
  const double above = pull * (tail.first * (1.0 + tail.odds)) - tail.second * tail.odds;
  return x >= 0.0 ? above : tail.second;
}

// In every family, g(x) = exponent + log(factor), where the product of `kRun` factors is a number:
// sums of g need one logarithm for so many votes. `value` is g(x) itself, of full relative accuracy
// where it is next to nothing too.

// F is logistic: z = e^-t, h' = 1 / (1 + z), h'' = z / (1 + z)^2, and g'' = h'' on both sides of 0.
struct Gumbel {
  static constexpr std::size_t kRun = 256;

  Tail tail(double t) const {
    const double z = exp_minus(t), inverse = 1.0 / (1.0 + z);
    return {z, inverse, z * inverse * inverse};
  }
  double curvature(double, const Tail& tail) const { return tail.second; }
  double exponent(double x, const Tail&) const { return x < 0.0 ? -x : 0.0; }
  double factor(double, const Tail& tail) const { return 1.0 + tail.odds; }
  double value(double x, const Tail& tail) const {
    return exponent(x, tail) + log_1p_of_share(tail.odds);
  }
};

// F = Phi(x / sqrt 2): with a = t / 2, h' = a + q(a) and h'' = h' q(a), where
// q(a) = exp(-a^2) / (sqrt(pi) erfc(a)) - a.
struct Normal {
  static constexpr std::size_t kRun = 32;  // factors are at most 1e9
  static constexpr double kTwoRootPi = 3.5449077018110318;

  // From here on a + q = a and a q = 1 / 2.
  static constexpr double kLargest = 1e8;

  static double q(double a) {
    const double b = std::min(a, kLargest);
    return polynomial(kAbove, b) / polynomial(kBelow, b);
  }

  // F(-t) = e / (c h') gives z = e / (c h' - e).
  Tail tail(double t) const {
    const double a = 0.5 * t, excess = q(a), first = a + excess, e = exp_minus(a * a);
    return {e / (kTwoRootPi * first - e), first, (std::min(a, kLargest) + excess) * excess};
  }
  double curvature(double x, const Tail& tail) const { return curvature_of(x, tail); }
  double exponent(double x, const Tail&) const { return x < 0.0 ? 0.25 * x * x : 0.0; }
  // Where it would be more than 1e9, x^2 / 4 is so much more that no digit of the sum is lost.
  double factor(double x, const Tail& tail) const {
    return x < 0.0 ? std::min(kTwoRootPi * tail.first, 1e9) : 1.0 + tail.odds;
  }
  double value(double x, const Tail& tail) const {
    const double below = exponent(x, tail) + log_of_normal(kTwoRootPi * tail.first);
    return x < 0.0 ? below : log_1p_of_share(tail.odds);
  }

  // q(a) as a ratio of polynomials for all a >= 0; error 7e-17, and no number is subtracted.
  static constexpr double kAbove[12] = {
      0.5641895835477563,   2.288845531316793,    3.524695417094297,     3.2210384825471436,
      2.019727617457955,    0.9261671806648425,   0.3194145526472516,    0.08334391540719024,
      0.016225754356422508, 0.002263064419651145, 0.0002059657256231818, 9.462035661730037e-06};
  static constexpr double kBelow[13] = {1.0,
                                        4.7009477599203295,
                                        9.001881862640941,
                                        10.290350030057404,
                                        8.067649391153177,
                                        4.631769873032964,
                                        2.0123323436204785,
                                        0.6706627170306668,
                                        0.17118557354268885,
                                        0.03286344016413994,
                                        0.004545052910625445,
                                        0.00041193145124636437,
                                        1.8924071323460074e-05};
};

// F is Laplace's: F(-t) = e^-t / 2, so that h' = 1 and h'' = 0.
struct Exponential {
  static constexpr std::size_t kRun = 256;
  static constexpr double kLogTwo = 0.6931471805599453;

  Tail tail(double t) const {
    const double below = 0.5 * exp_minus(t);
    return {below / (1.0 - below), 1.0, 0.0};
  }
  double curvature(double x, const Tail& tail) const { return curvature_of(x, tail); }
  double exponent(double x, const Tail&) const { return x < 0.0 ? kLogTwo - x : 0.0; }
  double factor(double x, const Tail& tail) const { return x < 0.0 ? 1.0 : 1.0 + tail.odds; }
  double value(double x, const Tail& tail) const {
    return x < 0.0 ? kLogTwo - x : log_1p_of_share(tail.odds);
  }
};

// h is a cubic spline, a parabola after the last knot.
struct Table {
  static constexpr std::size_t kRun = 256;
  const double* knots;
  const double* coefficients;
  std::size_t rows;

  explicit Table(const Noise& noise)
      : knots(noise.knots.data()), coefficients(noise.tail.data()), rows(noise.knots.size()) {}

  Tail tail(double t) const {
    const std::size_t row = row_of(t);
    const double *c = coefficients + 4 * row, u = t - knots[row];
    const double below = std::min(std::exp(-h(t)), 0.5);
    return {below / (1.0 - below), (3.0 * c[3] * u + 2.0 * c[2]) * u + c[1],
            6.0 * c[3] * u + 2.0 * c[2]};
  }
  double curvature(double x, const Tail& tail) const { return curvature_of(x, tail); }
  double exponent(double x, const Tail&) const { return x < 0.0 ? h(-x) : 0.0; }
  double factor(double x, const Tail& tail) const { return x < 0.0 ? 1.0 : 1.0 + tail.odds; }
  double value(double x, const Tail& tail) const {
    return x < 0.0 ? h(-x) : log_1p_of_share(tail.odds);
  }

  double h(double t) const {
    const std::size_t row = row_of(t);
    const double *c = coefficients + 4 * row, u = t - knots[row];
    return ((c[3] * u + c[2]) * u + c[1]) * u + c[0];
  }

 private:
  // The last knot at or below t; the first one for what is not a number.
  std::size_t row_of(double t) const {
    std::size_t low = 0, high = rows;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      if (t >= knots[middle])
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

// What `work` gives for the family of a noise.
template <typename Work>
auto with_family(const Noise& noise, Work&& work) {
  switch (noise.family) {
    case Family::gumbel:
      return work(Gumbel{});
    case Family::normal:
      return work(Normal{});
    case Family::exponential:
      return work(Exponential{});
    case Family::table:
      break;
  }
  return work(Table(noise));
}

JURYRANK_END_LEVEL
