#include "tied_lists.hpp"

#include <algorithm>
#include <cmath>

#include "elementary.hpp"
#include "scratch.hpp"

namespace juryrank {
namespace {

double mean_of(Numbers values, std::size_t j, std::size_t count) {
  double total = 0.0;
  for (std::size_t i = j; i < j + count; ++i) total += values[i];
  return total / static_cast<double>(count);
}

double highest(Numbers values) { return *std::max_element(values.begin(), values.end()); }

std::size_t largest(Codes sizes) {
  return static_cast<std::size_t>(*std::max_element(sizes.begin(), sizes.end()));
}

// The mass of a choice, over exp(top), and its derivatives along a direction.
struct Mass {
  double value, first, second;
};

// Adds t_k e_k(exp((y - top) / k)): `poly` has the coefficients up to degree k and, in further
// rows, their derivatives.
void add_ties_along(Numbers location, Numbers direction, double top, std::size_t k, double log_tie,
                    Matrix poly, Mass& mass) {
  double *p = poly.row(0), *p1 = poly.row(1), *p2 = poly.row(2);
  for (std::size_t d = 0; d <= k; ++d) p[d] = p1[d] = p2[d] = 0.0;
  p[0] = 1.0;
  const double over = 1.0 / static_cast<double>(k);
  for (std::size_t i = 0; i < location.size(); ++i) {
    const double step = direction[i] * over;
    const double b = exp_of((location[i] - top) * over), b1 = b * step, b2 = b1 * step;
    for (std::size_t d = std::min(i + 1, k); d > 0; --d) {
      p2[d] += b2 * p[d - 1] + 2.0 * b1 * p1[d - 1] + b * p2[d - 1];
      p1[d] += b1 * p[d - 1] + b * p1[d - 1];
      p[d] += b * p[d - 1];
    }
  }
  const double weight = exp_of(log_tie);
  mass.value += weight * p[k];
  mass.first += weight * p1[k];
  mass.second += weight * p2[k];
}

Mass mass_along(Numbers location, Numbers direction, double top, const TieWeights& ties,
                Matrix poly) {
  Mass mass{0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < location.size(); ++i) {
    const double e = exp_of(location[i] - top), d = direction[i];
    mass.value += e;
    mass.first += e * d;
    mass.second += e * d * d;
  }
  for (std::size_t t = 0; t < ties.sizes.size(); ++t) {
    const auto k = static_cast<std::size_t>(ties.sizes[t]);
    if (k <= location.size()) add_ties_along(location, direction, top, k, ties.log[t], poly, mass);
  }
  return mass;
}

// The sum of all the bases but each one.
void sum_others(Numbers base, Room left) {
  double total = 0.0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    left[i] = total;
    total += base[i];
  }
  total = 0.0;
  for (std::size_t i = base.size(); i-- > 0;) {
    left[i] += total;
    total += base[i];
  }
}

// left_i = e_degree of all the bases but the i-th; nothing is ever subtracted. `before` has room
// for a row for each base, `after` for one.
void leave_one_out(Numbers base, std::size_t degree, Matrix before, Room after, Room left) {
  const std::size_t n = base.size();
  if (degree == 1) return sum_others(base, left);
  std::fill_n(before.row(0), degree + 1, 0.0);
  before.at(0, 0) = 1.0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double* row = before.row(i);
    double* next = before.row(i + 1);
    next[0] = 1.0;
    for (std::size_t d = 1; d <= degree; ++d) next[d] = row[d] + base[i] * row[d - 1];
  }
  std::fill_n(after.begin(), degree + 1, 0.0);
  after[0] = 1.0;
  for (std::size_t i = n; i-- > 0;) {
    const double* row = before.row(i);
    double total = 0.0;
    for (std::size_t d = 0; d <= degree; ++d) total += row[d] * after[degree - d];
    left[i] = total;
    for (std::size_t d = degree; d > 0; --d) after[d] += base[i] * after[d - 1];
  }
}

// One choice after the other, from ever fewer items: their derivatives, and room for them.
class Choices {
 public:
  Choices(const TieWeights& ties, Numbers location)
      : ties_(ties),
        location_(location),
        widest_(largest(ties.sizes) + 1),
        scratch_(room_for(location.size(), ties.sizes.size(), widest_)),
        share(scratch_.take(location.size())),
        by_size(scratch_.take(ties.sizes.size(), location.size())),
        chance(scratch_.take(ties.sizes.size())),
        single_(scratch_.take(location.size())),
        base_(scratch_.take(ties.sizes.size(), location.size())),
        scaled_(scratch_.take(location.size())),
        left_(scratch_.take(location.size())),
        before_(scratch_.take(location.size(), widest_)),
        after_(scratch_.take(widest_)) {
    if (location.empty()) return;
    const double low = *std::min_element(location.begin(), location.end());
    close_ = highest(location) - low < kClose;
    set_exponentials(0);
  }

  // The logarithm of the mass of a choice from the items from `first` on. Sets
  // share_i = d log mass / d y_i, its part by_size(t, i) from ties of each size, and chance_t, the
  // probability of such a tie; i counts from `first`.
  double look_at(std::size_t first) {
    if (!close_) set_exponentials(first);
    const std::size_t r = location_.size() - first;
    double mass = 0.0;
    for (std::size_t i = 0; i < r; ++i) mass += share[i] = single_[first + i];
    for (std::size_t t = 0; t < ties_.sizes.size(); ++t) mass += chance[t] = add_ties(first, t);
    const double over = 1.0 / mass;
    for (std::size_t i = 0; i < r; ++i) share[i] *= over;
    for (std::size_t t = 0; t < ties_.sizes.size(); ++t) {
      chance[t] *= over;
      for (std::size_t i = 0; i < r; ++i) by_size.at(t, i) *= over;
    }
    return top_ + log_of(mass);
  }

  // Adds the second derivatives of the mass, over the mass.
  void add_second_derivatives(std::size_t first, double log_mass, Matrix hessian) {
    for (std::size_t i = first; i < location_.size(); ++i)
      hessian.at(i, i) += exp_of(location_[i] - log_mass);
    for (std::size_t t = 0; t < ties_.sizes.size(); ++t)
      if (size_of(t) <= location_.size() - first) add_second_of_size(first, log_mass, t, hessian);
  }

 private:
  // Locations that differ by no more have exponentials that are numbers.
  static constexpr double kClose = 300.0;

  static std::size_t room_for(std::size_t items, std::size_t kinds, std::size_t widest) {
    return (4 + 2 * kinds + widest) * items + kinds + widest;
  }
  std::size_t size_of(std::size_t t) const { return static_cast<std::size_t>(ties_.sizes[t]); }

  // exp(y - top) and exp((y - top) / k) of the items from `first` on.
  void set_exponentials(std::size_t first) {
    top_ = highest(location_.subspan(first));
    for (std::size_t i = first; i < location_.size(); ++i)
      single_[i] = exp_minus(top_ - location_[i]);
    for (std::size_t t = 0; t < ties_.sizes.size(); ++t) {
      const double over = 1.0 / static_cast<double>(size_of(t));
      for (std::size_t i = first; i < location_.size(); ++i)
        base_.at(t, i) = exp_minus((top_ - location_[i]) * over);
    }
  }

  // Adds to the shares; the mass of ties of this size, a k-th of each group from each of its items.
  double add_ties(std::size_t first, std::size_t t) {
    const std::size_t r = location_.size() - first, k = size_of(t);
    double* own = by_size.row(t);
    std::fill_n(own, r, 0.0);
    if (k > r) return 0.0;
    const double weight = exp_of(ties_.log[t]) / static_cast<double>(k);
    const Numbers base(base_.row(t) + first, r);
    leave_one_out(base, k - 1, before_, after_, left_);
    double total = 0.0;
    for (std::size_t i = 0; i < r; ++i) {
      own[i] = weight * base[i] * left_[i];
      total += own[i];
      share[i] += own[i];
    }
    return total;
  }

  void add_second_of_size(std::size_t first, double log_mass, std::size_t t, Matrix hessian) {
    const std::size_t r = location_.size() - first, k = size_of(t);
    const double over = 1.0 / static_cast<double>(k);
    const double weight = exp_of(ties_.log[t]) * over * over;
    const Room base = scaled_.first(r);
    for (std::size_t i = 0; i < r; ++i) base[i] = exp_of((location_[first + i] - log_mass) * over);
    leave_one_out(base, k - 1, before_, after_, left_);
    for (std::size_t i = 0; i < r; ++i)
      hessian.at(first + i, first + i) += weight * base[i] * left_[i];
    for (std::size_t i = 0; i < r; ++i) {
      const double own = base[i];
      base[i] = 0.0;
      leave_one_out(base, k - 2, before_, after_, left_);
      for (std::size_t o = 0; o < r; ++o)
        if (o != i) hessian.at(first + i, first + o) += weight * own * base[o] * left_[o];
      base[i] = own;
    }
  }

  const TieWeights& ties_;
  Numbers location_;
  std::size_t widest_;
  Scratch scratch_;
  bool close_ = true;
  double top_ = 0.0;

 public:
  const Room share;
  const Matrix by_size;
  const Room chance;

 private:
  Room single_;
  Matrix base_;
  Room scaled_, left_;
  Matrix before_;
  Room after_;
};

// What one choice adds to the second derivatives, the part of the mass's own second derivatives
// left out.
void subtract_squares(const Choices& choice, std::size_t j, std::size_t h, std::size_t kinds,
                      Matrix hessian) {
  for (std::size_t i = j; i < h; ++i) {
    const double share = choice.share[i - j];
    for (std::size_t o = j; o < h; ++o) hessian.at(i, o) -= share * choice.share[o - j];
    for (std::size_t t = 0; t < kinds; ++t) {
      const double mixed = choice.by_size.at(t, i - j) - choice.chance[t] * share;
      hessian.at(i, h + t) += mixed;
      hessian.at(h + t, i) += mixed;
    }
  }
  for (std::size_t t = 0; t < kinds; ++t) {
    hessian.at(h + t, h + t) += choice.chance[t];
    for (std::size_t o = 0; o < kinds; ++o)
      hessian.at(h + t, h + o) -= choice.chance[t] * choice.chance[o];
  }
}

// A choice is made as long as two items are left.
bool is_choice(const OneList& list, std::size_t j) {
  return j < list.ranked && list.location.size() - j >= 2;
}

}  // namespace

double TieWeights::of(std::size_t count) const {
  for (std::size_t t = 0; t < sizes.size(); ++t)
    if (static_cast<std::size_t>(sizes[t]) == count) return log[t];
  return 0.0;
}

std::size_t tied_with(Items level, std::size_t j, std::size_t ranked) {
  std::size_t count = 1;
  while (j + count < ranked && level[j + count] == level[j]) ++count;
  return count;
}

Along tied_along(const OneList& list, Numbers direction, const TieWeights& ties) {
  const std::size_t widest = largest(ties.sizes) + 1;
  Scratch scratch(3 * widest);
  const Matrix poly = scratch.take(3, widest);
  Along along{0.0, 0.0, 0.0};
  for (std::size_t j = 0, count; is_choice(list, j); j += count) {
    count = tied_with(list.level, j, list.ranked);
    const Numbers left = list.location.subspan(j);
    const double top = highest(left);
    const Mass mass = mass_along(left, direction.subspan(j), top, ties, poly);
    const double mean = mass.first / mass.value;
    along.value += top + log_of(mass.value) - mean_of(list.location, j, count) - ties.of(count);
    along.first += mean - mean_of(direction, j, count);
    along.second += std::max(mass.second / mass.value - mean * mean, 0.0);
  }
  return along;
}

double tied_pass(const OneList& list, const TieWeights& ties, Room gradient, Room tie_gradient) {
  const std::size_t h = list.location.size();
  Choices choice(ties, list.location);
  std::fill_n(gradient.begin(), h, 0.0);
  double value = 0.0;
  for (std::size_t j = 0, count; is_choice(list, j); j += count) {
    count = tied_with(list.level, j, list.ranked);
    value += choice.look_at(j);
    value -= mean_of(list.location, j, count) + ties.of(count);
    for (std::size_t i = j; i < h; ++i) gradient[i] += choice.share[i - j];
    for (std::size_t i = j; i < j + count; ++i) gradient[i] -= 1.0 / static_cast<double>(count);
    for (std::size_t t = 0; t < ties.sizes.size(); ++t)
      tie_gradient[t] +=
          choice.chance[t] - (static_cast<std::size_t>(ties.sizes[t]) == count ? 1.0 : 0.0);
  }
  return value;
}

void tied_hessian(const OneList& list, const TieWeights& ties, Room gradient, Matrix hessian) {
  const std::size_t h = list.location.size(), kinds = ties.sizes.size();
  Choices choice(ties, list.location);
  for (std::size_t j = 0; is_choice(list, j); j += tied_with(list.level, j, list.ranked)) {
    const double log_mass = choice.look_at(j);
    choice.add_second_derivatives(j, log_mass, hessian);
    subtract_squares(choice, j, h, kinds, hessian);
  }
  Scratch scratch(kinds);
  const Room unused = scratch.take(kinds);
  std::fill(unused.begin(), unused.end(), 0.0);
  tied_pass(list, ties, gradient, unused);
}

}  // namespace juryrank
