#include "luce.hpp"

#include <algorithm>
#include <cmath>

#include "cpus.hpp"
#include "elementary.hpp"
#include "scratch.hpp"

namespace juryrank {
namespace {

// The last item is not chosen from others.
std::size_t choices_of(std::size_t items, std::size_t ranked) {
  return items ? std::min(ranked, items - 1) : 0;
}

// log sum_{i >= j} exp(y_i) for every j.
void set_log_masses(Numbers location, Room log_mass) {
  double total = -kInfinity;
  for (std::size_t j = location.size(); j-- > 0;) {
    total = log_sum(total, location[j]);
    log_mass[j] = total;
  }
}

// exp(y_i - top) for every i.
JURYRANK_FOR_MORE_CPUS
void set_exponentials(std::size_t count, const double* __restrict location, double top,
                      double* __restrict found) {
  for (std::size_t i = 0; i < count; ++i) found[i] = exp_minus(top - location[i]);
}

JURYRANK_FOR_MORE_CPUS
void set_logs_and_inverses(std::size_t count, const double* __restrict mass,
                           double* __restrict log_mass, double* __restrict inverse) {
  for (std::size_t i = 0; i < count; ++i) {
    log_mass[i] = log_of_normal(mass[i]);
    inverse[i] = 1.0 / mass[i];
  }
}

// Item i is in the choices up to its own: sum_{j <= i} exp(y_i) / mass_j, minus 1 if it is chosen.
double pass_of_close(Numbers location, std::size_t choices, double top, Room gradient) {
  const std::size_t h = location.size();
  Scratch scratch(3 * h);
  const Room mass = scratch.take(h), log_mass = scratch.take(h), inverse = scratch.take(h);
  set_exponentials(h, location.data(), top, gradient.data());
  double total = 0.0;
  for (std::size_t j = h; j-- > 0;) mass[j] = total += gradient[j];
  set_logs_and_inverses(choices, mass.data(), log_mass.data(), inverse.data());
  double value = 0.0, inverses = 0.0;
  for (std::size_t i = 0; i < choices; ++i) {
    value += (top - location[i]) + log_mass[i];
    inverses += inverse[i];
    gradient[i] = gradient[i] * inverses - 1.0;
  }
  for (std::size_t i = choices; i < h; ++i) gradient[i] *= inverses;
  return value;
}

double pass_of_distant(Numbers location, std::size_t choices, Room gradient) {
  set_log_masses(location, gradient);
  double value = 0.0, inverse = -kInfinity;
  for (std::size_t i = 0; i < location.size(); ++i) {
    const bool chosen = i < choices;
    if (chosen) {
      value += gradient[i] - location[i];
      inverse = log_sum(inverse, -gradient[i]);
    }
    gradient[i] = exp_of(location[i] + inverse) - (chosen ? 1.0 : 0.0);
  }
  return value;
}

struct Ends {
  // Locations that differ by no more have exponentials whose products with the inverse squares of
  // others are numbers.
  static constexpr double kClose = 300.0;
  double low, high;
  bool are_close() const { return high - low < kClose; }  // not if one is not a number
};

Ends ends_of(Numbers location) {
  Ends ends{kInfinity, -kInfinity};
  double total = 0.0;
  for (const double y : location) {
    ends.low = std::min(ends.low, y);
    ends.high = std::max(ends.high, y);
    total += y;
  }
  return std::isnan(total) ? Ends{-kInfinity, kInfinity} : ends;
}

}  // namespace

Along luce_along(Numbers location, Numbers direction, std::size_t ranked) {
  const std::size_t choices = choices_of(location.size(), ranked);
  double top = -kInfinity, mass = 0.0, first = 0.0, second = 0.0;
  Along along{0.0, 0.0, 0.0};
  for (std::size_t j = location.size(); j-- > 0;) {
    const double y = location[j], d = direction[j];
    double own = 1.0;
    if (y > top) {
      const double shrink = exp_of(top - y);
      mass *= shrink;
      first *= shrink;
      second *= shrink;
      top = y;
    } else {
      own = exp_of(y - top);
    }
    mass += own;
    first += own * d;
    second += own * d * d;
    if (j < choices) {
      const double mean = first / mass;
      along.value += (top - y) + log_of_normal(mass);
      along.first += mean - d;
      along.second += std::max(second / mass - mean * mean, 0.0);
    }
  }
  return along;
}

double luce_pass(Numbers location, std::size_t ranked, Room gradient) {
  const std::size_t choices = choices_of(location.size(), ranked);
  const Ends ends = ends_of(location);
  return ends.are_close() ? pass_of_close(location, choices, ends.high, gradient)
                          : pass_of_distant(location, choices, gradient);
}

// sum_j diag(p_j) - p_j p_j', where item i is in the choices up to its own.
void luce_hessian(Numbers location, std::size_t ranked, Room gradient, Matrix hessian) {
  const std::size_t h = location.size(), choices = choices_of(h, ranked);
  Scratch scratch(h);
  const Room log_mass = scratch.take(h);
  set_log_masses(location, log_mass);
  luce_pass(location, ranked, gradient);
  double squared = -kInfinity;  // log sum_{j <= i} 1 / mass_j^2
  for (std::size_t i = 0; i < h; ++i) {
    if (i < choices) squared = log_sum(squared, -2.0 * log_mass[i]);
    const double chance = gradient[i] + (i < choices ? 1.0 : 0.0);
    hessian.at(i, i) += chance - exp_of(2.0 * location[i] + squared);
    for (std::size_t later = i + 1; later < h; ++later) {
      const double joint = exp_of(location[i] + location[later] + squared);
      hessian.at(i, later) -= joint;
      hessian.at(later, i) -= joint;
    }
  }
}

}  // namespace juryrank
