#include "random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cpus.hpp"
#include "elementary.hpp"

namespace juryrank {

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {  // splitmix64
    seed += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Random::next() {
  auto& s = state_;
  const std::uint64_t found = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return found;
}

std::size_t Random::below(std::size_t n) {
  const auto index = static_cast<std::size_t>(uniform() * static_cast<double>(n));
  return index < n ? index : n - 1;
}

// A point uniform in the unit disc, its middle and the axes left out.
Random::Point Random::in_unit_disc() {
  for (;;) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    if (square < 1.0 && x != 0.0 && y != 0.0) return {x, y, square};
  }
}

namespace {

// Marsaglia's polar method: what the coordinates of a point in the unit disc are multiplied by.
inline double polar_factor(double square) {
  return std::sqrt(-2.0 * log_of_normal(square) / square);
}

JURYRANK_FOR_MORE_CPUS
void set_polar_factors(std::size_t count, double* __restrict square) {
  for (std::size_t k = 0; k < count; ++k) square[k] = polar_factor(square[k]);
}

}  // namespace

// Two at a time.
double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const Point at = in_unit_disc();
  const double factor = polar_factor(at.square);
  spare_ = at.y * factor;
  has_spare_ = true;
  return at.x * factor;
}

// The same numbers as one by one, their logarithms many at a time.
void Random::fill_normal(std::span<double> numbers) {
  constexpr std::size_t kPairs = 128;
  std::size_t next = 0;
  if (has_spare_ && !numbers.empty()) numbers[next++] = normal();
  while (numbers.size() - next >= 2) {
    const std::size_t pairs = std::min(kPairs, (numbers.size() - next) / 2);
    double factor[kPairs];
    for (std::size_t k = 0; k < pairs; ++k) {
      const Point at = in_unit_disc();
      numbers[next + 2 * k] = at.x;
      numbers[next + 2 * k + 1] = at.y;
      factor[k] = at.square;
    }
    set_polar_factors(pairs, factor);
    for (std::size_t k = 0; k < 2 * pairs; ++k) numbers[next + k] *= factor[k / 2];
    next += 2 * pairs;
  }
  if (next < numbers.size()) numbers[next] = normal();
}

// The tangent of a uniform direction.
double Random::cauchy() {
  const Point at = in_unit_disc();
  return at.y / at.x;
}

double Random::beta(double a, double b) {
  const double x = Gamma(a)(*this);
  const double y = Gamma(b)(*this);
  return x / (x + y);
}

std::size_t Random::choice(std::span<const double> weight) {
  double total = 0.0;
  for (const double w : weight) total += w;
  double left = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!(weight[i] > 0.0)) continue;
    last = i;
    left -= weight[i];
    if (left < 0.0) break;
  }
  return last;
}

Gamma::Gamma(double shape) {
  // Gamma(a) = Gamma(a + 1) U^(1/a) where a < 1.
  inverse_ = shape < 1.0 ? 1.0 / shape : 0.0;
  d_ = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
  c_ = 1.0 / std::sqrt(9.0 * d_);
}

double Gamma::operator()(Random& random) const {
  for (;;) {
    const double x = random.normal();
    const double root = 1.0 + c_ * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double u = random.uniform();
    const double square = x * x;
    // The squeeze spares nearly all logarithms.
    const bool accepted =
        u < 1.0 - 0.0331 * square * square || log_of(u) < 0.5 * square + d_ * (1.0 - v + log_of(v));
    if (!accepted) continue;
    const double found = d_ * v;
    return inverse_ == 0.0 ? found : found * exp_of(inverse_ * log_of(1.0 - random.uniform()));
  }
}

}  // namespace juryrank
