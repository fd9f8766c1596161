#include "luce.hpp"

#include <algorithm>
#include <cmath>

#include "cpus.hpp"
#include "elementary.hpp"
#include "lanes.hpp"
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

// The ends of each list; whether all are close.
JURYRANK_FOR_MORE_CPUS
bool set_tops(std::size_t length, const double* __restrict location, double* __restrict top) {
  double low[kLanes], total[kLanes] = {};
  for (std::size_t l = 0; l < kLanes; ++l) {
    low[l] = kInfinity;
    top[l] = -kInfinity;
  }
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double y = location[i * kLanes + l];
      low[l] = y < low[l] ? y : low[l];
      top[l] = top[l] < y ? y : top[l];
      total[l] += y;
    }
  bool close = true;
  for (std::size_t l = 0; l < kLanes; ++l)
    close &= top[l] - low[l] < Ends::kClose && !std::isnan(total[l]);
  return close;
}

// exp(y_i - top), and their sums from each item on.
JURYRANK_FOR_MORE_CPUS
void set_masses(std::size_t length, const double* __restrict location, const double* __restrict top,
                double* __restrict share, double* __restrict mass) {
  double total[kLanes] = {};
  for (std::size_t i = length; i-- > 0;)
    for (std::size_t l = 0; l < kLanes; ++l) {
      share[i * kLanes + l] = exp_minus(top[l] - location[i * kLanes + l]);
      mass[i * kLanes + l] = total[l] += share[i * kLanes + l];
    }
}

// Of shares, which become gradients.
JURYRANK_FOR_MORE_CPUS
void set_gradients(std::size_t length, std::size_t choices, const double* __restrict mass,
                   double* __restrict gradient) {
  double inverses[kLanes] = {};
  for (std::size_t i = 0; i < choices; ++i)
    for (std::size_t l = 0; l < kLanes; ++l) {
      inverses[l] += 1.0 / mass[i * kLanes + l];
      gradient[i * kLanes + l] = gradient[i * kLanes + l] * inverses[l] - 1.0;
    }
  for (std::size_t i = choices; i < length; ++i)
    for (std::size_t l = 0; l < kLanes; ++l) gradient[i * kLanes + l] *= inverses[l];
}

JURYRANK_FOR_MORE_CPUS
void set_values(std::size_t choices, const double* __restrict location,
                const double* __restrict top, const double* __restrict mass,
                double* __restrict value) {
  double total[kLanes] = {};
  for (std::size_t i = 0; i < choices; ++i)
    for (std::size_t l = 0; l < kLanes; ++l)
      total[l] += (top[l] - location[i * kLanes + l]) + log_of_normal(mass[i * kLanes + l]);
  for (std::size_t l = 0; l < kLanes; ++l) value[l] = total[l];
}

}  // namespace

bool luce_pass_in_lanes(const ListsInLanes& lists) {
  double top[kLanes];
  if (!set_tops(lists.length, lists.location, top)) return false;
  const std::size_t choices = choices_of(lists.length, lists.ranked);
  Scratch scratch(lists.length * kLanes);
  double* mass = scratch.take(scratch.size()).data();
  set_masses(lists.length, lists.location, top, lists.gradient, mass);
  set_gradients(lists.length, choices, mass, lists.gradient);
  if (lists.value) set_values(choices, lists.location, top, mass, lists.value);
  return true;
}

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
