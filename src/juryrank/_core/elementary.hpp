// Elementary functions of our own: they vectorise, and give the same bits with every C library.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "levels.hpp"

JURYRANK_BEGIN_LEVEL

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace detail {
inline constexpr double kLog2E = 1.4426950408889634;
// ln 2 in two parts, the first with trailing zeros, so that k * kLn2High is exact.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;
// 1.5 * 2^52: adding it rounds to an integer, which stands in the low bits.
inline constexpr double kRoundToInteger = 6755399441055744.0;
inline constexpr double kLargestExponent = 708.0;

// exp(x) for |x| <= 708, by 2^k e^r with |r| <= ln(2)/2.
// e^r = 1 + r + r^2 q(r), with q interpolated at Chebyshev's points: an error of 2e-17.
inline double exp_within(double x) {
  const double shifted = kRoundToInteger + x * kLog2E;
  const double k = shifted - kRoundToInteger;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // Estrin's scheme: short chains of operations that wait for each other.
  const double r2 = r * r, r4 = r2 * r2;
  const double p0 = (1.0 + r) + r2 * (5.0000000000000010e-01 + r * 1.6666666666666667e-01);
  const double p4 = (4.1666666666624128e-02 + r * 8.3333333333300618e-03) +
                    r2 * (1.3888888917213717e-03 + r * 1.9841269863053617e-04);
  const double p8 = (2.4801521295954375e-05 + r * 2.7557268459997065e-06) +
                    r2 * (2.7620088445409748e-07 + r * 2.5100385495510319e-08);
  const double p = p0 + r4 * (p4 + r4 * p8);
  const auto bits = std::bit_cast<std::uint64_t>(shifted);
  return p * std::bit_cast<double>((bits + 1023) << 52);
}
}  // namespace detail

// c[K] + c[K + 2] v + c[K + 4] v^2 + ...
template <std::size_t K, std::size_t N>
inline double every_second(const double (&c)[N], double v) {
  if constexpr (K + 2 < N)
    return every_second<K + 2>(c, v) * v + c[K];
  else
    return c[K];
}

// c[0] + c[1] x + c[2] x^2 + ..., even and odd powers apart: two shorter chains of operations that
// wait for each other.
template <std::size_t N>
inline double polynomial(const double (&c)[N], double x) {
  return every_second<0>(c, x * x) + x * every_second<1>(c, x * x);
}

// exp(-t) for t >= 0; next to nothing (3e-308) where it would be less. NaN stays NaN.
inline double exp_minus(double t) {
  return detail::exp_within(-(t > detail::kLargestExponent ? detail::kLargestExponent : t));
}

// exp(x) for any x.
inline double exp_of(double x) {
  if (x > detail::kLargestExponent) return kInfinity;
  if (x < -detail::kLargestExponent) return 0.0;
  return detail::exp_within(x);
}

// log(1 + z) for 0 <= z <= 1, as 2 artanh(w) with w = z / (2 + z); an error of 3e-18 in
// artanh(w) / w.
inline double log_1p_of_share(double z) {
  const double w = z / (2.0 + z);
  const double v = w * w;
  double p = 0.078152889004614252;
  p = p * v + 0.037460718977753837;
  p = p * v + 0.054225891974400074;
  p = p * v + 0.058671395306515987;
  p = p * v + 0.066675893157246279;
  p = p * v + 0.076922719824302746;
  p = p * v + 0.090909099489813572;
  p = p * v + 0.11111111099118385;
  p = p * v + 0.1428571428580005;
  p = p * v + 0.19999999999999761;
  p = p * v + 0.33333333333333333;
  p = p * v + 1.0;
  return 2.0 * w * p;
}

// log(x) for normal x > 0: e ln 2 + 2 artanh((f - 1) / (f + 1)) for x = 2^e f, f in
// [sqrt(1/2), sqrt(2)). NaN and infinity stay as they are.
inline double log_of_normal(double x) {
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCDULL;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t above = bits - kRootHalf;
  // The exponent, moved to where it is not negative, becomes a double by the bits of 2^52.
  const std::uint64_t moved = (above + (1024ULL << 52)) >> 52;
  const double e =
      std::bit_cast<double>(moved | 0x4330000000000000ULL) - (4503599627370496.0 + 1024.0);
  const double f = std::bit_cast<double>(bits - ((moved - 1024ULL) << 52));
  const double w = (f - 1.0) / (f + 1.0);
  const double v = w * w;
  double p = 0.065433835049740869;
  p = p * v + 0.066343798342803063;
  p = p * v + 0.076931201029067389;
  p = p * v + 0.090908978154423766;
  p = p * v + 0.11111111195900235;
  p = p * v + 0.14285714285401615;
  p = p * v + 0.20000000000000439;
  p = p * v + 0.33333333333333333;
  const double found = e * detail::kLn2High + (2.0 * w * (p * v) + (e * detail::kLn2Low + 2.0 * w));
  return x <= std::numeric_limits<double>::max() ? found : x;
}

// log(x) for any x.
inline double log_of(double x) {
  if (x < 0.0) return kNan;
  if (x == 0.0) return -kInfinity;
  if (x < std::numeric_limits<double>::min()) {
    constexpr double kTwoTo54 = 18014398509481984.0;
    return log_of_normal(x * kTwoTo54) - 54.0 * 0.6931471805599453;
  }
  return log_of_normal(x);
}

// log(e^a + e^b).
inline double log_sum(double a, double b) {
  const double high = a > b ? a : b;
  const double gap = std::abs(a - b);
  if (std::isnan(gap)) return a == b ? a : kNan;  // both -infinity, or NaN
  return high + log_1p_of_share(exp_minus(gap));
}

// log Gamma(x) for x > 0: Stirling's series from 12 on, x Gamma(x) = Gamma(x + 1) below.
inline double log_gamma(double x) {
  double product = 1.0;
  for (; x < 12.0; x += 1.0) product *= x;
  constexpr double kHalfLogTwoPi = 0.91893853320467274;
  const double y = 1.0 / (x * x);
  double series = -691.0 / 360360.0;
  series = series * y + 1.0 / 1188.0;
  series = series * y - 1.0 / 1680.0;
  series = series * y + 1.0 / 1260.0;
  series = series * y - 1.0 / 360.0;
  series = series * y + 1.0 / 12.0;
  return (x - 0.5) * log_of(x) - x + kHalfLogTwoPi + series / x - log_of(product);
}

// log B(a, b).
inline double log_beta(double a, double b) {
  return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

JURYRANK_END_LEVEL
