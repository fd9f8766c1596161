// Random numbers: the same for the same seed on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace juryrank {

// Blackman and Vigna's xoshiro256++, its state filled by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // An index below n > 0.
  std::size_t below(std::size_t n);
  double normal();
  void fill_normal(std::span<double> numbers);
  double cauchy();
  double beta(double a, double b);
  // An index, as likely as its weight says; weights are not negative, and not all 0.
  std::size_t choice(std::span<const double> weight);

 private:
  struct Point {
    double x, y, square;
  };

  std::uint64_t next();
  Point in_unit_disc();

  std::array<std::uint64_t, 4> state_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

// Gamma(shape, 1), by Marsaglia and Tsang (2000).
class Gamma {
 public:
  explicit Gamma(double shape);
  double operator()(Random& random) const;

 private:
  double d_, c_;
  double inverse_;  // 1 / shape below 1, else 0
};

}  // namespace juryrank
